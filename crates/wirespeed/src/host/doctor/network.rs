//! The way to another machine: socket buffers against rate x round-trip time, and the MTU.

use super::{Patient, cannot_tell, ok, warn};
use crate::host::files::Files;
use wirespeed_schema::checkup::Check;
use wirespeed_schema::units::{format_ns, format_rate, format_size};

/// Of a receive buffer, TCP offers half as its window, and keeps the rest for headers (tcp_adv_win_scale = 1).
const BUFFER_PER_WINDOW: f64 = 2.0;
const BITS_PER_BYTE: f64 = 8.0;
/// From this speed on, frames of 1500 bytes cost more packets a second than one core handles well.
const JUMBO_MBIT_PER_S: u64 = 10_000;
const JUMBO_BYTES: u64 = 9000;
/// The MTU of Ethernet as it comes.
const PLAIN_BYTES: u64 = 1500;
/// A window is at most this, whatever the product says: beyond it lies a mistyped rate.
const BUFFER_BYTES_MAX: f64 = 2e9;

pub(super) fn checks(patient: &Patient) -> Vec<Check> {
    vec![socket_buffers(patient), mtu(patient)]
}

/// Interfaces that are up and have a device of their own.
pub(super) fn interfaces(files: &Files) -> Vec<String> {
    let mut found: Vec<String> = files
        .names("/sys/class/net")
        .into_iter()
        .filter(|name| {
            let folder = format!("/sys/class/net/{name}");
            let up = files.line(&format!("{folder}/operstate")).as_deref() == Some("up");
            up && files.exists(&format!("{folder}/device"))
        })
        .collect();
    found.sort();
    found
}

/// The rate of the path in bytes per second: as asked, or that of the fastest interface.
fn path_bytes_per_s(patient: &Patient) -> Option<f64> {
    let asked = patient.asked.rate_bytes_per_s;
    let speeds = patient
        .interfaces
        .iter()
        .filter_map(|name| speed_mbit_per_s(patient, name));
    asked.or_else(|| speeds.max().map(|mbit| mbit as f64 * 1e6 / BITS_PER_BYTE))
}

/// Interfaces without a speed of their own say -1, which is no number here.
fn speed_mbit_per_s(patient: &Patient, interface: &str) -> Option<u64> {
    patient.files.number(&format!("/sys/class/net/{interface}/speed"))
}

fn socket_buffers(patient: &Patient) -> Check {
    const NAME: &str = "socket_buffers";
    const WHY: &str =
        "TCP has at most a buffer in flight: below rate x round-trip time it waits for acknowledgements";
    let largest = |name: &str| {
        let line = patient.files.line(&format!("/proc/sys/net/ipv4/{name}"))?;
        line.split(' ').nth(2)?.parse::<u64>().ok()
    };
    let (Some(receive), Some(send)) = (largest("tcp_rmem"), largest("tcp_wmem")) else {
        return cannot_tell(NAME, "tcp_rmem and tcp_wmem cannot be read", WHY);
    };
    let has = format!(
        "receive up to {}, send up to {}",
        format_size(receive),
        format_size(send)
    );
    let (Some(rate), Some(rtt_ns)) = (path_bytes_per_s(patient), patient.asked.rtt_ns) else {
        return cannot_tell(
            NAME,
            format!("{has}; what is needed follows from --rate and --rtt"),
            WHY,
        );
    };
    let window = rate * rtt_ns as f64 / 1e9;
    let needed = (window * BUFFER_PER_WINDOW).min(BUFFER_BYTES_MAX).ceil() as u64;
    let found = format!(
        "{has}; {} x {} keeps {} in flight, which takes buffers of {}",
        format_rate(rate, "B/s"),
        format_ns(rtt_ns as f64),
        format_size(window.min(BUFFER_BYTES_MAX) as u64),
        format_size(needed)
    );
    match receive.min(send) >= needed {
        true => ok(NAME, found, WHY),
        false => warn(
            NAME,
            found,
            WHY,
            format!(
                "sudo sysctl -w net.ipv4.tcp_rmem='4096 131072 {0}' net.ipv4.tcp_wmem='4096 16384 {0}' \
                 net.core.rmem_max={0} net.core.wmem_max={0}",
                needed.max(receive).max(send)
            ),
        ),
    }
}

fn mtu(patient: &Patient) -> Check {
    const NAME: &str = "mtu";
    const WHY: &str = "small frames bound a fast link by packets a second; two ends that differ lose or fragment large ones";
    let of = |name: &String| {
        Some((
            name.clone(),
            patient.files.number(&format!("/sys/class/net/{name}/mtu"))?,
        ))
    };
    let found: Vec<(String, u64)> = patient.interfaces.iter().filter_map(of).collect();
    let words: Vec<String> = found.iter().map(|(name, mtu)| format!("{name} {mtu}")).collect();
    let lacking = patient
        .interfaces
        .iter()
        .find(|name| !found.iter().any(|(found, _)| found == *name));
    if let Some(name) = lacking {
        return cannot_tell(NAME, format!("there is no interface {name}"), WHY);
    }
    let slow = found.iter().find(|(name, mtu)| {
        *mtu <= PLAIN_BYTES && speed_mbit_per_s(patient, name).is_some_and(|speed| speed >= JUMBO_MBIT_PER_S)
    });
    match (found.is_empty(), slow) {
        (true, _) => cannot_tell(NAME, "no interface with a device is up", WHY),
        (_, Some((name, _))) => warn(
            NAME,
            words.join(", "),
            WHY,
            format!("sudo ip link set dev {name} mtu {JUMBO_BYTES}   (on every host and switch of the path)"),
        ),
        (_, None) => ok(NAME, words.join(", "), WHY),
    }
}
