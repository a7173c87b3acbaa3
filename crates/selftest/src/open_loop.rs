//! Paced streams: response time counts from the moment at which a message was due, so a stall cannot hide behind itself.

use crate::pipeline::{figure, one, stream};
use crate::port::Medium;
use crate::{Check, Effort};
use wirespeed_report::curve::{LoadPoint, capacity, knee};
use wirespeed_report::stats::Random;
use wirespeed_schema::units::format_rate;

/// Coordinated omission, and the knee of a queue.
pub fn all(effort: &Effort) -> Vec<Check> {
    let mut checks = omission().unwrap_or_else(|error| vec![Check::broken("coordinated omission", &error)]);
    checks.extend(queue());
    checks.extend(
        shared(effort).unwrap_or_else(|error| vec![Check::broken("M/D/1 through the engine", &error)]),
    );
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
        Medium::Server {
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
        Medium::Server {
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
            let count = 60_000u32;
            for _ in 0..count {
                responses.push(wait + 1000.0);
                sum += wait + 1000.0;
                wait = (wait + 1000.0 - gap_ns * random.exponential()).max(0.0);
            }
            responses.sort_by(f64::total_cmp);
            LoadPoint {
                offered_per_s,
                achieved_per_s: offered_per_s.min(0.98e6),
                achieved_upper_per_s: None,
                messages: u64::from(count),
                response_ns: sum / f64::from(count),
                response_p99_ns: responses.get(responses.len() * 99 / 100).copied(),
            }
        })
        .collect();
    let truth = (2.0 - 2f64.sqrt()) * 1e6;
    let found = knee(&points);
    let bound = capacity(&points, 6000.0);
    let light = knee(&points[..4]);
    let rate = |per_s: f64| format_rate(per_s, "msg/s");
    vec![
        Check::near(
            "knee of M/D/1",
            " msg/s",
            truth,
            found.as_ref().map_or(f64::NAN, |k| k.offered_per_s),
            0.05,
        ),
        Check::near(
            "limit of M/D/1",
            " msg/s",
            1e6,
            found.as_ref().map_or(f64::NAN, |k| k.limit_per_s),
            0.05,
        ),
        Check::holds(
            "no knee under a light load",
            "none",
            light
                .as_ref()
                .map_or("none".to_owned(), |knee| rate(knee.offered_per_s)),
            light.is_err(),
        ),
        Check::holds(
            "highest rate with p99 under 6 µs",
            "a bracket around 0.7 M/s",
            format!(
                "{} .. {}",
                bound.passes_per_s.map_or("none".to_owned(), rate),
                bound.fails_per_s.map_or("none".to_owned(), rate)
            ),
            bound.passes_per_s.is_some_and(|p| p < 0.85e6) && bound.fails_per_s.is_some_and(|f| f > 0.6e6),
        ),
    ]
}

/// A service of 20 µs that others use too, so that ours waits as in M/D/1: mean response s·(1 + ρ/(2(1-ρ))), by Pollaczek
/// and Khinchine, measured by a paced stream whose messages add next to nothing. The knee of what is published lies at 2 - √2.
fn shared(effort: &Effort) -> Result<Vec<Check>, String> {
    let service_ns = 20_000;
    let mean_ns = |utilisation: f64| service_ns as f64 * (1.0 + utilisation / (2.0 * (1.0 - utilisation)));
    // Messages 37 µs apart: in no step with the service.
    let messages = u64::from(effort.replicates) * 60;
    let case = stream(8, 1024, Some(27_027), messages);
    let (mut checks, mut points) = (Vec::new(), Vec::new());
    for tenth in 1..=9u32 {
        let utilisation = f64::from(tenth) / 10.0;
        let medium = Medium::Shared {
            service_ns,
            utilisation,
            seed: u64::from(tenth),
        };
        let result = one(&case, medium)?;
        let response_ns = figure(&result, "response_mean_ns");
        if [3, 6].contains(&tenth) {
            checks.push(Check::near(
                &format!("M/D/1 through the engine, ρ = {utilisation}"),
                " ns",
                mean_ns(utilisation),
                response_ns,
                0.06,
            ));
        }
        let offered_per_s = utilisation * 1e9 / service_ns as f64;
        points.push(LoadPoint {
            offered_per_s,
            achieved_per_s: offered_per_s,
            achieved_upper_per_s: None,
            messages,
            response_ns,
            response_p99_ns: None,
        });
    }
    let truth = (2.0 - 2f64.sqrt()) * 1e9 / service_ns as f64;
    let found = knee(&points);
    checks.push(Check::near(
        "its knee",
        " msg/s",
        truth,
        found.as_ref().map_or(f64::NAN, |knee| knee.offered_per_s),
        0.08,
    ));
    Ok(checks)
}
