//! The instrument against laws that are known: a simulated transport runs in virtual time through the engine's own loops,
//! the recorder, the statistics and the published document, and what is published is compared with the truth.
//!
//! Nothing here measures the machine, and nothing depends on how fast or busy it is: the same build gives the same answer
//! everywhere (of the lossy transport, which two threads share, within what chance allows). `wirespeed selftest` is this crate on the user's machine.
#![forbid(unsafe_code)]

mod checks;
mod coverage;
mod curves;
mod law;
mod lossy;
mod open_loop;
mod pipeline;
mod port;

use serde::{Deserialize, Serialize};
use std::time::Duration;
use wirespeed_schema::section::Section;
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// What a self-test found, as a section of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelftestSection {
    /// Samples drawn for each quantity.
    pub replicates: u32,
    /// Every comparison.
    pub checks: Vec<Check>,
}

impl Section for SelftestSection {
    const NAME: &'static str = "selftest";
}

/// One comparison with the truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked: `lognormal p99`.
    pub name: String,
    /// What must come out.
    pub expected: String,
    /// What came out.
    pub got: String,
    /// Whether it did.
    pub passed: bool,
}

impl Check {
    /// A figure within `tolerance_ratio` of the truth.
    fn near(name: &str, unit: &str, expected: f64, got: f64, tolerance_ratio: f64) -> Check {
        let text = |value: f64| match unit {
            " ns" => format_ns(value),
            " B/s" => format_rate(value, "B/s"),
            unit => format!("{}{unit}", significant(value, 4)),
        };
        Check {
            name: name.to_owned(),
            expected: format!(
                "{} ± {} %",
                text(expected),
                significant(tolerance_ratio * 100.0, 2)
            ),
            got: text(got),
            passed: (got / expected - 1.0).abs() <= tolerance_ratio,
        }
    }

    /// Something that is so, or is not.
    fn holds(name: &str, expected: &str, got: String, passed: bool) -> Check {
        Check {
            name: name.to_owned(),
            expected: expected.to_owned(),
            got,
            passed,
        }
    }

    /// A check whose pipeline did not even run.
    fn broken(name: &str, error: &str) -> Check {
        Check::holds(name, "a result", error.to_owned(), false)
    }
}

/// A group of checks: how it is called, what it does, and how long that takes about, by the replicates: in milliseconds for all
/// else, and in microseconds for each of them.
type Part = (&'static str, fn(&Effort) -> Vec<Check>, (u64, u64));

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Replicates of each coverage.
    pub replicates: u32,
}

impl Effort {
    /// All of it.
    pub const FULL: Effort = Effort { replicates: 1000 };
    /// A fifth of the replicates, and as much more room for chance: for builds without optimisation.
    pub const QUICK: Effort = Effort { replicates: 200 };

    /// How far a coverage may be off: 2 points at 1000 replicates, wider with the root of fewer.
    fn coverage_slack(&self) -> f64 {
        0.02 * (1000.0 / f64::from(self.replicates)).sqrt()
    }
}

/// Between two looks whether a part has ended.
const LOOK: Duration = Duration::from_millis(10);

const PARTS: [Part; 5] = [
    ("laws", checks::all, (1200, 0)),
    ("coverage of intervals", coverage::all, (0, 18_000)),
    ("open loop", open_loop::all, (2200, 0)),
    ("curves", curves::all, (900, 0)),
    ("loss", lossy::all, (1300, 0)),
];

/// How long each part that [`run`] goes through takes, about: all of them tell what is left when one has ended.
pub fn times(effort: Effort) -> Vec<Duration> {
    let time = |(_, _, (all_ms, each_us)): &Part| {
        Duration::from_millis(*all_ms) + Duration::from_micros(*each_us) * effort.replicates
    };
    PARTS.iter().map(time).collect()
}

/// Every check, as long as `goes_on` says so: then those of the parts that ended. `progress` is told what comes next.
pub fn run(effort: Effort, goes_on: &dyn Fn() -> bool, progress: &mut dyn FnMut(&str)) -> Vec<Check> {
    let mut all = Vec::new();
    for (name, part, _) in PARTS {
        progress(name);
        // Virtual time belongs to a thread: each part has its own.
        let done = std::thread::Builder::new().spawn(move || part(&effort));
        let part = match done {
            Ok(part) => part,
            Err(error) => {
                all.push(Check::broken(name, &error.to_string()));
                continue;
            }
        };
        while !part.is_finished() {
            // What goes on ends with the process.
            if !goes_on() {
                return all;
            }
            std::thread::sleep(LOOK);
        }
        match part.join() {
            Ok(checks) => all.extend(checks),
            Err(_) => all.push(Check::broken(name, "it panicked")),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_recovered() {
        let checks = run(Effort::QUICK, &|| true, &mut |_| ());
        let failed: Vec<&Check> = checks.iter().filter(|check| !check.passed).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(checks.len() >= 25, "only {} checks", checks.len());
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let mut parts = 0;
        let checks = run(Effort::QUICK, &|| false, &mut |_| parts += 1);
        assert!(checks.is_empty() && parts == 1, "{parts}: {checks:#?}");
        assert_eq!(times(Effort::QUICK).len(), PARTS.len());
    }

    #[test]
    fn a_figure_that_is_off_fails() {
        assert!(Check::near("x", " ns", 100.0, 101.0, 0.02).passed);
        assert!(!Check::near("x", " ns", 100.0, 103.0, 0.02).passed);
        assert!(!Check::near("x", " ns", 100.0, f64::NAN, 0.02).passed);
    }
}
