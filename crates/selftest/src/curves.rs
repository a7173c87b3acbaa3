//! Sweeps over sizes and windows: what is there is found, and nothing is invented.

use crate::law::Law;
use crate::pipeline::{figure, one, ping_pong, stream};
use crate::port::Medium;
use crate::{Check, Effort};
use wirespeed_report::curve::{InUse, Segments, SizePoint, WindowPoint, enough, segments};
use wirespeed_schema::units::format_size;

/// Thresholds and windows.
pub fn all(_: &Effort) -> Vec<Check> {
    let parts = [thresholds(), windows()];
    parts
        .into_iter()
        .flat_map(|part| part.unwrap_or_else(|error| vec![Check::broken("curves", &error)]))
        .collect()
}

/// The pieces of a curve of sizes from 8 B to 1 MiB over a law.
fn pieces(law: Law, seed: u64) -> Result<Segments, String> {
    let mut points = Vec::new();
    for exponent in 3..=20u64 {
        let size_bytes = 1 << exponent;
        let result = one(
            &ping_pong(size_bytes, 64),
            Medium::Law(law, seed * 100 + exponent),
        )?;
        let metric = result.metrics.get("rtt_p50_ns").ok_or("no median")?;
        let half_width = metric
            .lower
            .zip(metric.upper)
            .map(|(low, high)| (high.get() - low.get()) / 2.0);
        points.push(SizePoint {
            size_bytes,
            time_ns: metric.value.get(),
            uncertainty_ratio: half_width.map(|half| half / metric.value.get()),
        });
    }
    segments(&points).ok_or_else(|| "no pieces".to_owned())
}

fn thresholds() -> Result<Vec<Check>, String> {
    let switch = Law::Protocol {
        latency_ns: [1000.0, 9000.0],
        ns_per_byte: [1.0, 0.2],
        threshold_bytes: 8192.0,
    };
    let found = pieces(switch, 1)?;
    let said: Vec<String> = found
        .changes
        .iter()
        .map(|change| {
            format!(
                "{} .. {}",
                format_size(change.above_bytes),
                format_size(change.until_bytes)
            )
        })
        .collect();
    let right =
        matches!(found.changes[..], [change] if (change.above_bytes, change.until_bytes) == (8192, 16_384));
    let last = found
        .pieces
        .last()
        .and_then(|piece| piece.fit.bandwidth_bytes_per_s);
    let smooth = Law::Protocol {
        latency_ns: [1000.0; 2],
        ns_per_byte: [0.3; 2],
        threshold_bytes: 0.0,
    };
    let mut invented = 0;
    for seed in 2..32 {
        invented += usize::from(!pieces(smooth, seed)?.changes.is_empty());
    }
    Ok(vec![
        Check::holds(
            "a threshold of size is found",
            "8 KiB .. 16 KiB alone",
            said.join(", "),
            right,
        ),
        Check::near("bandwidth behind it", " B/s", 5e9, last.unwrap_or(f64::NAN), 0.03),
        Check::holds(
            "none invented on a smooth curve",
            "at most 1 of 30",
            invented.to_string(),
            invented <= 1,
        ),
    ])
}

/// A server of 1 µs at a distance of 50 µs: fifty messages fill it. Acknowledgements come for half a window, so the next
/// power of two is enough, or the one after.
fn windows() -> Result<Vec<Check>, String> {
    let mut points = Vec::new();
    for exponent in 0..=10 {
        let window_msgs = 1 << exponent;
        let medium = Medium::Server {
            service_ns: 1000,
            distance_ns: 50_000,
            stall: None,
        };
        let result = one(&stream(8, window_msgs, None, 20_000), medium)?;
        points.push(WindowPoint {
            window_msgs,
            rate_msg_per_s: figure(&result, "rate_msg_per_s"),
            interval: None,
            acknowledged_mean_ns: Some(figure(&result, "ack_mean_ns")),
            in_use: InUse::of(&result),
        });
    }
    let found = enough(&points, 0.95).ok_or("nothing is enough")?;
    Ok(vec![
        Check::holds(
            "the window that fills a pipe of 50 messages",
            "64 or 128",
            found.window_msgs.to_string(),
            [64, 128].contains(&found.window_msgs),
        ),
        Check::near("its best rate", " msg/s", 1e6, found.peak_msg_per_s, 0.03),
    ])
}
