//! The run document: the one thing that every verb publishes and every renderer reads.

use crate::case::Case;
use crate::finite::Finite;
use crate::host::HostFingerprint;
use crate::order::InOrder as _;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::section::Sections;
use crate::version::DOCUMENT_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the whole run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every case completed.
    #[default]
    Ok,
    /// Some case failed, was skipped by an error, or ended early.
    Failed,
    /// The user stopped it; what was measured is here.
    Interrupted,
    /// Refused: identity or limits.
    Refused,
    /// Wrong data: loss where none may be, corruption, or ends that disagree.
    WrongData,
}

impl Status {
    /// The exit code of the program: 0 ok, 1 run failed, 5 refused, 6 wrong data, 130 interrupted.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Ok => 0,
            Status::Failed => 1,
            Status::Refused => 5,
            Status::WrongData => 6,
            Status::Interrupted => 130,
        }
    }
}

/// How much weight a remark has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The number may mislead.
    Warning,
    /// The result is suspect: an invariant is broken.
    Suspect,
}

/// A remark on a result: what was seen and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Its weight.
    pub severity: Severity,
    /// Stable name: `involuntary_switches`, `ends_disagree`.
    pub code: String,
    /// One line of cause.
    pub message: String,
    /// One line of remedy, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// How much it is about, in a unit of its code: of several remarks with one code that with the most is the worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Finite>,
}

impl Remark {
    /// A remark that is the only one of its code.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>, remedy: Option<&str>) -> Remark {
        Remark {
            severity,
            code: code.to_owned(),
            message: message.into(),
            remedy: remedy.map(str::to_owned),
            weight: None,
        }
    }
}

/// One published figure. Its tag (the map's key), formula and source are in docs/metrics.md.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// The value, in the unit that the tag ends with.
    pub value: Finite,
    /// Lower end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<Finite>,
    /// Upper end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<Finite>,
    /// Confidence level that the interval itself has (order statistics are discrete).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Finite>,
    /// Samples behind it.
    pub samples: u64,
    /// True for a figure computed from another, such as one-way = RTT/2.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

impl Metric {
    /// A figure without an interval, where it is a finite number.
    pub fn of(value: f64, samples: u64) -> Option<Metric> {
        Some(Metric {
            value: Finite::maybe(value)?,
            lower: None,
            upper: None,
            level: None,
            samples,
            derived: false,
        })
    }
}

/// A quantile that was not printed because there are too few samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Withheld {
    /// Tag of the figure.
    pub tag: String,
    /// Samples that it needs.
    pub samples_needed: u64,
    /// Samples there are.
    pub samples: u64,
}

/// One repetition of a case: fresh connections, one outcome a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// Number of the repetition, from 0.
    pub index: u32,
    /// What every rank saw, by rank.
    pub outcomes: Vec<Outcome>,
    /// Figures of this repetition.
    pub metrics: BTreeMap<String, Metric>,
    /// Set-up time: from the start of the ranks to the first barrier.
    pub setup_ns: u64,
    /// Other sessions on the same server during this run, 0 when it was alone.
    #[serde(default)]
    pub overlapping_sessions: u32,
}

impl Repetition {
    /// The figure `tag`, where it has one.
    pub fn figure(&self, tag: &str) -> Option<f64> {
        Some(self.metrics.get(tag)?.value.get())
    }
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// Measured to its end.
    Ok,
    /// Measured in part.
    Partial,
    /// Not measured: an error.
    Failed,
    /// Not measured: the transport cannot do it here; the reason is in `error`.
    Skipped,
    /// Measured, but the data were wrong.
    WrongData,
}

impl CaseStatus {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            CaseStatus::Ok => "ok",
            CaseStatus::Partial => "partial",
            CaseStatus::Failed => "failed",
            CaseStatus::Skipped => "skipped",
            CaseStatus::WrongData => "WRONG DATA",
        }
    }
}

/// How repeating "until it is known well enough" ended for a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Convergence {
    /// Tag of the figure that was waited for.
    pub tag: String,
    /// Half of the interval's width over the median that was asked for.
    pub target_ratio: Finite,
    /// What was reached; absent where there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_ratio: Option<Finite>,
    /// Repetitions that it took.
    pub repetitions: u32,
    /// Whether the target was reached.
    pub reached: bool,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What was drawn anew to get an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resampling {
    /// Runs.
    Runs,
    /// Blocks of neighbouring raw samples of the one run.
    BlocksOfSamples,
    /// Blocks of neighbouring slices of time of the one run.
    BlocksOfSlices,
    /// Runs, and in each drawn run blocks of neighbouring raw samples.
    RunsThenBlocksOfSamples,
    /// Runs, and in each drawn run blocks of neighbouring slices of time.
    RunsThenBlocksOfSlices,
}

/// The interval of a figure by the bootstrap, beside the one that the figure itself carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resampled {
    /// What was drawn.
    pub method: Resampling,
    /// Lower end, in the unit of the figure.
    pub lower: Finite,
    /// Upper end.
    pub upper: Finite,
    /// Level that it has at least, where runs are independent: of a median of few runs it holds more.
    pub level: Finite,
    /// How often it was drawn.
    pub draws_count: u32,
    /// Which sequence of random numbers drew, so that it can be repeated.
    pub seed_sequence: u64,
}

/// A case with everything measured of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// The arm of an experiment that it was measured in, `A` or `B`; absent where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The load that it was measured under to be compared with the same case without, as it was asked for: `cpu`, `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// How it ended.
    pub status: CaseStatus,
    /// Why, when it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the user can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Figures over all repetitions.
    pub metrics: BTreeMap<String, Metric>,
    /// Intervals by resampling, by the tag of their figure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resampled: BTreeMap<String, Resampled>,
    /// How repeating ended, where it went on until the figure was known well enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// Quantiles that lack samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
    /// Remarks, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// Each repetition that the figures are over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repetitions: Vec<Repetition>,
    /// Repetitions that did not come to their end, beside others that did. No figure is over them: they saw a part, and
    /// lack the quantiles that need more samples. Where none came to its end, `repetitions` has what there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_short: Vec<Repetition>,
}

impl CaseResult {
    /// Every repetition that left something, in order of time: those that the figures are over, and those that were cut short.
    pub fn seen(&self) -> impl Iterator<Item = &Repetition> + Clone {
        let mut all: Vec<&Repetition> = self.repetitions.iter().chain(&self.cut_short).collect();
        all.order_by_key(|repetition| repetition.index);
        all.into_iter()
    }

    /// The same, to be changed.
    pub fn seen_mut(&mut self) -> impl Iterator<Item = &mut Repetition> {
        let mut all: Vec<&mut Repetition> = self.repetitions.iter_mut().chain(&mut self.cut_short).collect();
        all.order_by_key(|repetition| repetition.index);
        all.into_iter()
    }

    /// What every rank saw in every repetition that the figures are over.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> + Clone {
        self.repetitions
            .iter()
            .flat_map(|repetition| &repetition.outcomes)
    }

    /// The figure `tag` over all repetitions, where it has one.
    pub fn figure(&self, tag: &str) -> Option<f64> {
        Some(self.metrics.get(tag)?.value.get())
    }
}

/// The program that measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `wirespeed`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its commit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The run document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Version of this document's format, "major.minor".
    pub document_version: String,
    /// What wrote it.
    pub tool: Tool,
    /// The exact command that repeats it.
    pub command: Vec<String>,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Wall time of all of it.
    pub duration_ns: u64,
    /// How it ended.
    pub status: Status,
    /// The error that it ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The machine that the plan was given to.
    pub host: HostFingerprint,
    /// Remarks on the run as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// Every case, in the plan's order; those that the end of the run kept from being measured are skipped.
    pub cases: Vec<CaseResult>,
    /// What only one kind of result has.
    #[serde(default, skip_serializing_if = "Sections::is_empty")]
    pub sections: Sections,
}

impl Run {
    /// The document that `bytes` hold: read here, so that what reads it is compiled once.
    pub fn read(bytes: &[u8]) -> Result<Run, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// A document that `tool` began at `started_at`, with nothing in it yet.
    pub fn of(tool: Tool, started_at: String) -> Run {
        Run {
            document_version: DOCUMENT_VERSION.to_owned(),
            tool,
            command: Vec::new(),
            started_at,
            duration_ns: 0,
            status: Status::Ok,
            error: None,
            plan: None,
            host: HostFingerprint::default(),
            remarks: Vec::new(),
            cases: Vec::new(),
            sections: Sections::default(),
        }
    }
}

/// One line of `--ndjson`: an event while the run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A case begins.
    CaseStarted {
        /// Its number, from 0.
        case: u32,
        /// Of how many.
        cases: u32,
        /// Its label.
        label: String,
        /// Number of the repetition.
        repetition: u32,
    },
    /// A slice of time of a running case.
    Interval {
        /// The case.
        case: u32,
        /// The repetition.
        repetition: u32,
        /// The rank that reports.
        rank: u32,
        /// The slice.
        #[serde(flatten)]
        interval: crate::outcome::Interval,
    },
    /// A pair of hosts of a mesh was measured in a case, or could not be.
    PairMeasured {
        /// The case.
        case: u32,
        /// The repetition.
        repetition: u32,
        /// Name of the host that sends.
        from: String,
        /// Name of the host that receives.
        to: String,
        /// Tag of the figure.
        tag: String,
        /// The figure, in the unit that the tag ends with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Finite>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// A case ended.
    CaseFinished {
        /// The case.
        case: u32,
        /// Its result without the raw outcomes.
        result: Box<CaseResult>,
    },
    /// The run ended; always the last line.
    RunFinished {
        /// How.
        status: Status,
        /// The error, if one ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_finite_number() {
        let metric = Metric::of(1.5, 7).unwrap();
        assert_eq!((metric.value.get(), metric.samples, metric.lower), (1.5, 7, None));
        assert_eq!(Metric::of(f64::NAN, 7), None);
        assert_eq!(Metric::of(f64::INFINITY, 7), None);
    }

    #[test]
    fn a_document_reads_back_with_its_figures() {
        let tool = Tool {
            name: "wirespeed".to_owned(),
            ..Tool::default()
        };
        let run = Run::of(tool, "2026-11-20T19:21:06Z".to_owned());
        assert_eq!(
            (run.document_version.as_str(), run.status),
            (DOCUMENT_VERSION, Status::Ok)
        );
        let text = serde_json::to_vec(&run).unwrap();
        assert_eq!(Run::read(&text).unwrap(), run);
        assert!(Run::read(&text[1..]).is_err());
        let repetition = Repetition {
            index: 0,
            outcomes: Vec::new(),
            metrics: BTreeMap::from([("rate".to_owned(), Metric::of(2.5, 1).unwrap())]),
            setup_ns: 0,
            overlapping_sessions: 0,
        };
        assert_eq!(
            ["rate", "p50"].map(|tag| repetition.figure(tag)),
            [Some(2.5), None]
        );
        use CaseStatus::{Failed, Ok, Partial, Skipped, WrongData};
        let names = [Ok, Partial, Failed, Skipped, WrongData].map(CaseStatus::name);
        assert_eq!(names, ["ok", "partial", "failed", "skipped", "WRONG DATA"]);
    }

    #[test]
    fn each_way_to_end_has_an_exit_code_of_its_own() {
        use Status::{Failed, Interrupted, Ok, Refused, WrongData};
        let codes = [Ok, Failed, Refused, WrongData, Interrupted].map(Status::exit_code);
        assert_eq!(codes, [0, 1, 5, 6, 130]);
    }
}
