//! `wirespeed lab`: a command at one end of a path of known speed.

use super::byteio::{congestion, size, time};
use super::speed::speed;
use crate::args::LabArgs;
use crate::errors::{Ended, Failure, exit};
use crate::stderr;
use std::time::{Duration, Instant};
use wirespeed_byteio::lab::{Counts, FAR, Lab, Link, Shape};

/// Smallest queue: a burst of a few uncut packets.
const QUEUE_BYTES_MIN: u64 = 256 << 10;
/// Longest delay that is believed.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Set the path up, run, and end as the command ended.
pub fn lab(arguments: &LabArgs) -> Result<Ended, Failure> {
    if arguments.check {
        return super::lab_check::check();
    }
    let link = link(arguments)?;
    congestion(arguments.congestion.as_deref())?;
    let ready = time("far-ready", &arguments.far_ready)?;
    let lab = Lab::new(&link, arguments.congestion.as_deref()).map_err(|e| {
        Failure::failed(
            format!("cannot make two networks: {e}"),
            "run it as root; it needs iproute2 and, for delay and loss, /dev/net/tun",
        )
    })?;
    let failed = |what: &str, e: std::io::Error| {
        Failure::failed(format!("cannot start {what}: {e}"), "check that it is installed")
    };
    let far = match &arguments.far {
        None => None,
        Some(line) => {
            let mut command = lab.command("sh");
            command
                // What the command here says on stdout must stay readable by programs.
                .args(["-c", &format!("exec {line} >&2")])
                .stdin(std::process::Stdio::null());
            let mut child = lab.start_far(command).map_err(|e| failed(line, e))?;
            let deadline = Instant::now() + ready;
            while Instant::now() < deadline {
                if let Ok(Some(status)) = child.try_wait() {
                    return Err(Failure::failed(
                        format!("the far end's command ended with {status}"),
                        "try it without the lab first",
                    ));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            Some(child)
        }
    };
    let mut command = lab.command(&arguments.command[0]);
    command
        .args(&arguments.command[1..])
        .env("WIRESPEED_LAB_FAR", FAR.to_string())
        .env("WIRESPEED_LAB_RUN", lab.far_words());
    let ended = lab.start_near(command).and_then(|mut child| child.wait());
    if let Some(mut child) = far {
        // It may have ended with its client.
        let _ = child.kill();
        let _ = child.wait();
    }
    report(&lab.finish());
    let status = ended.map_err(|e| failed(&arguments.command[0], e))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Ended::with(code.unwrap_or(exit::FAILED)))
}

fn link(arguments: &LabArgs) -> Result<Link, Failure> {
    let rate = arguments.rate.as_deref().map(speed).transpose()?;
    let rate_bits_per_s = rate.map(|bytes| bytes.get() * 8.0);
    if arguments.lan {
        return Ok(Link::Lan {
            rate_bits_per_s: rate_bits_per_s.map(|bits| bits as u64),
        });
    }
    let delay = arguments
        .delay
        .as_deref()
        .map(|text| time("delay", text))
        .transpose()?;
    let delay = delay.unwrap_or(Duration::ZERO);
    if delay > DELAY_MAX {
        return Err(Failure::usage(
            "--delay: no path takes longer than a minute",
            "write it like 15ms",
        ));
    }
    let loss_ratio = arguments.loss.unwrap_or(0.0);
    if !(0.0..1.0).contains(&loss_ratio) {
        return Err(Failure::usage(
            "--loss is a share of packets, from 0 to below 1",
            "write it like 2e-4",
        ));
    }
    let round_trip = rate_bits_per_s.map_or(0.0, |bits| bits / 8.0 * 2.0 * delay.as_secs_f64());
    let queue_bytes = match &arguments.queue {
        Some(text) => size("queue", text)?,
        None => QUEUE_BYTES_MIN.max(round_trip as u64),
    };
    let shape = Shape {
        rate_bits_per_s,
        delay_ns: u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX),
        loss_ratio,
        queue_bytes,
    };
    Ok(Link::Wan([shape, shape]))
}

/// The truth about the path, to hold what was measured against.
fn report(counts: &[Counts]) {
    for (direction, count) in ["there", "back"].iter().zip(counts) {
        stderr::say(&format!(
            "lab: {direction}: {} packets, {} lost, {} dropped by the full queue",
            count.packets, count.lost_packets, count.dropped_packets
        ));
    }
}
