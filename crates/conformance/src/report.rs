//! What came of a check.

use std::fmt;

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The contract is kept.
    Passed,
    /// It could not run, and why.
    Skipped(String),
    /// The contract is broken, and how.
    Failed(String),
}

/// One check on one transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The transport.
    pub transport: String,
    /// The capability, or `measured`.
    pub suite: &'static str,
    /// The check.
    pub check: String,
    /// What came of it.
    pub verdict: Verdict,
}

impl Report {
    /// From the result of a check that ran.
    pub fn of(
        transport: &str,
        suite: &'static str,
        check: impl Into<String>,
        result: Result<(), String>,
    ) -> Self {
        let verdict = match result {
            Ok(()) => Verdict::Passed,
            Err(why) => Verdict::Failed(why),
        };
        Report {
            transport: transport.to_owned(),
            suite,
            check: check.into(),
            verdict,
        }
    }

    /// Of a check that could not run.
    pub fn skipped(transport: &str, suite: &'static str, check: impl Into<String>, why: String) -> Self {
        Report {
            transport: transport.to_owned(),
            suite,
            check: check.into(),
            verdict: Verdict::Skipped(why),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}: ", self.transport, self.suite, self.check)?;
        match &self.verdict {
            Verdict::Passed => f.write_str("passed"),
            Verdict::Skipped(why) => write!(f, "skipped: {why}"),
            Verdict::Failed(why) => write!(f, "FAILED: {why}"),
        }
    }
}

/// The reports that failed, a line each.
pub fn failures(reports: &[Report]) -> Vec<String> {
    let failed = |report: &&Report| matches!(report.verdict, Verdict::Failed(_));
    reports.iter().filter(failed).map(Report::to_string).collect()
}
