//! Laws of single cases: quantiles, extremes, modes, warm-up, stalls, correlation, loss.

use crate::law::Law;
use crate::pipeline::{figure, one, outcome, ping_pong, published, stream};
use crate::port::Medium;
use crate::{Check, Effort};
use statrs::distribution::{ContinuousCDF, Normal};
use wirespeed_report::repetition;
use wirespeed_schema::run::{CaseResult, CaseStatus};
use wirespeed_schema::units::format_ns;

/// The clock read of each round trip, which takes one nanosecond of virtual time.
const READ_NS: f64 = 1.0;
/// A value read back from the histogram is within this of the sample.
const BUCKET_RATIO: f64 = 0.0025;

/// What is checked of a law, or why its pipeline did not run.
type Part = (&'static str, fn() -> Result<Vec<Check>, String>);

/// Everything about single cases.
pub fn all(_: &Effort) -> Vec<Check> {
    let parts: [Part; 7] = [
        ("constant", constant),
        ("lognormal", lognormal),
        ("two modes", two_modes),
        ("drift", drift),
        ("stalls", stalls),
        ("autocorrelation", correlated),
        ("loss", loss),
    ];
    let checked = parts
        .into_iter()
        .flat_map(|(name, part)| part().unwrap_or_else(|error| vec![Check::broken(name, &error)]));
    checked.collect()
}

fn constant() -> Result<Vec<Check>, String> {
    let result = one(
        &ping_pong(8, 40_000),
        Medium::Law(Law::Constant { ns: 1000.0 }, 1),
    )?;
    let near = |tag: &str| {
        Check::near(
            &format!("constant {tag}"),
            " ns",
            1000.0 + READ_NS,
            figure(&result, tag),
            BUCKET_RATIO,
        )
    };
    let mut checks = vec![
        near("rtt_min_ns"),
        near("rtt_p50_ns"),
        near("rtt_p9999_ns"),
        near("rtt_max_ns"),
        near("rtt_mean_ns"),
    ];
    checks.push(Check::near(
        "constant one_way_p50_ns",
        " ns",
        500.5,
        figure(&result, "one_way_p50_ns"),
        BUCKET_RATIO,
    ));
    checks.push(no_remark("constant", &result, &["modes", "not_steady"]));
    // What is too short for the clock is timed in batches, and said so.
    let short = one(&ping_pong(8, 40_000), Medium::Law(Law::Constant { ns: 4.0 }, 1))?;
    let batched = short.remarks.iter().any(|remark| remark.code == "batched");
    checks.push(Check::near(
        "4 ns in batches of 4, and the read",
        " ns",
        4.0 + READ_NS / 4.0,
        figure(&short, "rtt_p50_ns"),
        0.01,
    ));
    checks.push(Check::holds(
        "5 ns says that it was batched",
        "a remark",
        format!("{batched}"),
        batched,
    ));
    Ok(checks)
}

fn lognormal() -> Result<Vec<Check>, String> {
    let (median_ns, sigma) = (2000.0, 0.5);
    let result = one(
        &ping_pong(8, 400_000),
        Medium::Law(Law::Lognormal { median_ns, sigma }, 2),
    )?;
    let normal = Normal::new(0.0, 1.0).map_err(|e| e.to_string())?;
    let mut checks = Vec::new();
    for (tag, p) in [
        ("rtt_p50_ns", 0.5),
        ("rtt_p90_ns", 0.9),
        ("rtt_p99_ns", 0.99),
        ("rtt_p999_ns", 0.999),
        ("rtt_p9999_ns", 0.9999),
    ] {
        let truth = median_ns * (sigma * normal.inverse_cdf(p)).exp() + READ_NS;
        let Some(metric) = result.metrics.get(tag) else {
            checks.push(Check::broken(tag, "not published"));
            continue;
        };
        // One interval in twenty may miss: twice its width is a bound that chance does not reach.
        let (lower, upper) = (
            metric.lower.map_or(0.0, |v| v.get()),
            metric.upper.map_or(0.0, |v| v.get()),
        );
        let width = upper - lower;
        checks.push(Check::holds(
            &format!("lognormal {tag}"),
            &format!("{} within twice its interval", format_ns(truth)),
            format!(
                "{} [{}, {}]",
                format_ns(metric.value.get()),
                format_ns(lower),
                format_ns(upper)
            ),
            lower - width / 2.0 <= truth && truth <= upper + width / 2.0,
        ));
    }
    let mean = median_ns * (sigma * sigma / 2.0).exp() + READ_NS;
    checks.push(Check::near(
        "lognormal rtt_mean_ns",
        " ns",
        mean,
        figure(&result, "rtt_mean_ns"),
        0.005,
    ));
    checks.push(no_remark("lognormal", &result, &["modes"]));
    Ok(checks)
}

fn two_modes() -> Result<Vec<Check>, String> {
    let law = Law::TwoModes {
        medians_ns: [1900.0, 6800.0],
        first_share: 0.71,
    };
    let result = one(&ping_pong(8, 50_000), Medium::Law(law, 3))?;
    let said = remark(&result, "modes");
    let near_second = ["6.7", "6.8", "6.9"].iter().any(|place| said.contains(place));
    let named = said.contains("2 modes") && said.contains("1.9") && near_second && said.contains("71 %");
    Ok(vec![Check::holds(
        "two modes are named",
        "2 modes: 1.9 µs (71 %), 6.8 µs (29 %)",
        said,
        named,
    )])
}

fn drift() -> Result<Vec<Check>, String> {
    let mut case = ping_pong(8, 4000);
    case.raw_samples_max = 4000;
    let slow = one(
        &case,
        Medium::Law(
            Law::Drift {
                ns: 1000.0,
                decay_ops: 200.0,
            },
            4,
        ),
    )?;
    let said = remark(&slow, "not_steady");
    let steady = one(
        &case,
        Medium::Law(
            Law::Lognormal {
                median_ns: 1000.0,
                sigma: 0.05,
            },
            4,
        ),
    )?;
    Ok(vec![
        Check::holds(
            "a slow start is found",
            "a remark on the first samples",
            said.clone(),
            said.contains("not yet steady"),
        ),
        no_remark("a steady series", &steady, &["not_steady"]),
    ])
}

fn stalls() -> Result<Vec<Check>, String> {
    let law = Law::Stalls {
        ns: 1000.0,
        every: 1000,
        stall_ns: 5e6,
    };
    let result = one(&ping_pong(8, 100_000), Medium::Law(law, 5))?;
    let near = |tag: &str, truth: f64| {
        Check::near(
            &format!("stalls {tag}"),
            " ns",
            truth,
            figure(&result, tag),
            BUCKET_RATIO,
        )
    };
    Ok(vec![
        near("rtt_p50_ns", 1001.0),
        near("rtt_max_ns", 5_001_001.0),
        near("rtt_p9999_ns", 5_001_001.0),
        near("rtt_mean_ns", 1001.0 + 5e6 / 1000.0),
    ])
}

fn correlated() -> Result<Vec<Check>, String> {
    let mut case = ping_pong(8, 40_000);
    case.raw_samples_max = 40_000;
    let mut checks = Vec::new();
    for (phi, tolerance) in [(0.0, 0.15), (0.9, 0.3)] {
        let result = one(
            &case,
            Medium::Law(
                Law::Correlated {
                    median_ns: 5000.0,
                    phi,
                },
                6,
            ),
        )?;
        let truth = (1.0 - phi) / (1.0 + phi);
        let got = figure(&result, "effective_samples_ratio");
        checks.push(Check::near(
            &format!("effective samples, φ = {phi}"),
            "",
            truth,
            got,
            tolerance,
        ));
    }
    Ok(checks)
}

/// Messages that a receiver counts as lost: a ratio where that may be, wrong data where not.
fn loss() -> Result<Vec<Check>, String> {
    let case = stream(8, 16, None, 10_000);
    let mut seen = outcome(
        &case,
        Medium::Server {
            service_ns: 1000,
            distance_ns: 5000,
            stall: None,
        },
    )?;
    seen.faults.lost_messages = 37;
    seen.received.messages -= 37;
    seen.received.bytes -= 37 * 8;
    let reliable = published(&case, vec![repetition(&case, 0, vec![seen.clone()], 0, 0)])?;
    seen.transport_facts
        .insert("delivery".to_owned(), "unreliable".to_owned());
    let lossy = published(&case, vec![repetition(&case, 0, vec![seen], 0, 0)])?;
    Ok(vec![
        Check::near(
            "loss of 37 in 10,000",
            "",
            0.0037,
            figure(&lossy, "loss_ratio"),
            1e-6,
        ),
        Check::holds(
            "loss where none may be",
            "wrong data",
            reliable.status.name().to_owned(),
            reliable.status == CaseStatus::WrongData,
        ),
    ])
}

fn remark(result: &CaseResult, code: &str) -> String {
    let found = result.remarks.iter().find(|remark| remark.code == code);
    found.map_or("no such remark".to_owned(), |remark| remark.message.clone())
}

fn no_remark(name: &str, result: &CaseResult, codes: &[&str]) -> Check {
    let found: Vec<&str> = result
        .remarks
        .iter()
        .map(|r| r.code.as_str())
        .filter(|code| codes.contains(code))
        .collect();
    Check::holds(
        &format!("{name}: nothing invented"),
        &format!("none of {}", codes.join(", ")),
        if found.is_empty() {
            "none".to_owned()
        } else {
            found.join(", ")
        },
        found.is_empty(),
    )
}
