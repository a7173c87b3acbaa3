//! Paced streams: response time counts from the moment at which a message was due, so a stall cannot hide behind itself.

use crate::pipeline::{figure, one, stream};
use crate::port::Road;
use crate::{Check, Effort};
use wirespeed_report::curve::{LoadPoint, capacity, knee};
use wirespeed_report::stats::Random;

/// Coordinated omission, and the knee of a queue.
pub fn all(_: &Effort) -> Vec<Check> {
    let mut checks = omission().unwrap_or_else(|error| vec![Check::broken("coordinated omission", &error)]);
    checks.extend(queue());
    checks
}

/// 10 000 messages a second for 0.4 s through a server of 20 µs that stands still for 40 ms. Of the 4000 messages those
/// that were due in the stall, 400 of them, wait up to 40 ms: p99 is that of the worst tenth of them.
fn omission() -> Result<Vec<Check>, String> {
    let (rate, count) = (10_000, 4000);
    let case = stream(8, 2, Some(rate), count);
    let stall = Some((200_000_000, 40_000_000));
    let result = one(
        &case,
        Road::Server {
            service_ns: 20_000,
            distance_ns: 20_000,
            stall,
        },
    )?;
    // Backlog falls by 80 µs a message after the stall, so waits fall in a line from 40 ms to nothing over 500 messages;
    // the worst hundredth of all, 40 messages, waited longer than 40 ms · (1 - 40/500).
    let truth = 40e6 * (1.0 - 40.0 / 500.0);
    let (response, service) = (figure(&result, "response_p99_ns"), figure(&result, "ack_p99_ns"));
    let quiet = one(
        &case,
        Road::Server {
            service_ns: 20_000,
            distance_ns: 20_000,
            stall: None,
        },
    )?;
    Ok(vec![
        Check::near("a stall is in response_p99_ns", " ns", truth, response, 0.05),
        Check::holds(
            "service time is published beside it",
            "far below the response time",
            wirespeed_schema::units::format_ns(service),
            service < response / 10.0,
        ),
        Check::near(
            "without a stall response_p50_ns is the service",
            " ns",
            20_000.0,
            figure(&quiet, "response_p50_ns"),
            0.05,
        ),
        Check::near(
            "achieved is offered",
            " msg/s",
            rate as f64,
            figure(&quiet, "rate_msg_per_s"),
            0.01,
        ),
    ])
}

/// M/D/1 with a service of 1 µs by Lindley's recursion; the knee is at 2 - √2 of what can be carried.
fn queue() -> Vec<Check> {
    let mut random = Random::new(9);
    let points: Vec<LoadPoint> = (1..=11)
        .map(|tenth| {
            let offered_per_s = f64::from(tenth) * 0.1e6;
            let gap_ns = 1e9 / offered_per_s;
            let (mut wait, mut sum, mut responses) = (0.0f64, 0.0, Vec::new());
            let count = 60_000;
            for _ in 0..count {
                responses.push(wait + 1000.0);
                sum += wait + 1000.0;
                wait = (wait + 1000.0 - gap_ns * random.exponential()).max(0.0);
            }
            responses.sort_by(f64::total_cmp);
            LoadPoint {
                offered_per_s,
                achieved_per_s: offered_per_s.min(0.98e6),
                response_ns: sum / f64::from(count),
                response_p99_ns: responses.get(responses.len() * 99 / 100).copied(),
            }
        })
        .collect();
    let truth = (2.0 - 2f64.sqrt()) * 1e6;
    let found = knee(&points);
    let bound = capacity(&points, 6000.0);
    let light = knee(&points[..4]);
    vec![
        Check::near(
            "knee of M/D/1",
            " msg/s",
            truth,
            found.map_or(f64::NAN, |k| k.offered_per_s),
            0.05,
        ),
        Check::near(
            "limit of M/D/1",
            " msg/s",
            1e6,
            found.map_or(f64::NAN, |k| k.limit_per_s),
            0.05,
        ),
        Check::holds(
            "no knee under a light load",
            "none",
            format!("{light:?}"),
            light.is_none(),
        ),
        Check::holds(
            "highest rate with p99 under 6 µs",
            "a bracket around 0.7 M/s",
            format!("{:?} .. {:?}", bound.passes_per_s, bound.fails_per_s),
            bound.passes_per_s.is_some_and(|p| p < 0.85e6) && bound.fails_per_s.is_some_and(|f| f > 0.6e6),
        ),
    ]
}
