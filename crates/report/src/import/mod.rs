//! Results of other tools as run documents, so that `compare` and `report` work against what users already have.
//!
//! Only what a file states is taken: its figures become figures of the same definition, never of a similar one, and what
//! has no counterpart is left out. A file that is none of these is refused by name of what was looked for.

mod arras;
mod iperf3;
mod iperf3_text;
mod lines;
mod possible;
mod tables;
mod told;
mod ucx;
mod ucx_typed;

pub use told::{Told, Unsaid};

use crate::figures::{figure_text, spoken};
use std::collections::BTreeMap;
use told::Assumed;
use wirespeed_schema::case::{Case, GroupKind, RankSpec, Stop};
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Remark, Repetition, Run, Severity, Tool};
use wirespeed_schema::section::{Imported, Sections};
use wirespeed_schema::test::{Layout, PingPong, Stream, Test};

/// Largest file that is read: those of other tools are small.
pub const FILE_BYTES_MAX: usize = 64 << 20;
/// What stands where a file does not say when or through what it measured.
pub const UNKNOWN: &str = "unknown";
/// The remark of every case that another tool measured.
pub const IMPORTED: &str = "imported";
/// Most cases of one file.
const CASES_MAX: usize = 10_000;

/// A tool whose files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// iperf3, `--json` or what it prints.
    Iperf3,
    /// `osu_latency`, `osu_bw`, `osu_bibw`, `osu_mbw_mr`.
    Osu,
    /// IMB-MPI1 `PingPong`, `PingPing`, `Uniband`, `Biband`.
    Imb,
    /// Sandia's `msgrate`, its text or `-o`.
    Smb,
    /// `sockperf ping-pong` and `under-load`.
    Sockperf,
    /// `ucx_perftest`, its table or `-v`.
    UcxPerftest,
    /// The workers' log: one round-trip time in ns a line.
    Workers,
    /// `arras4benchmark`.
    Arras,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 8] = [
        Format::Iperf3,
        Format::Osu,
        Format::Imb,
        Format::Smb,
        Format::Sockperf,
        Format::UcxPerftest,
        Format::Workers,
        Format::Arras,
    ];

    /// Its name as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Iperf3 => "iperf3",
            Format::Osu => "osu",
            Format::Imb => "imb",
            Format::Smb => "smb",
            Format::Sockperf => "sockperf",
            Format::UcxPerftest => "ucx_perftest",
            Format::Workers => "workers",
            Format::Arras => "arras",
        }
    }

    fn read(self, text: &str, told: &Told) -> Result<Vec<Figures>, ImportError> {
        if told.test.is_some() && self != Format::UcxPerftest {
            return Err(ImportError::stated(self, Unsaid::Test));
        }
        match self {
            Format::Iperf3 => iperf3::read(text),
            Format::Osu => tables::osu(text),
            Format::Imb => tables::imb(text),
            Format::Smb => lines::smb(text),
            Format::Sockperf => lines::sockperf(text),
            Format::UcxPerftest => ucx::read(text, told.test.as_deref()),
            Format::Workers => lines::workers(text),
            Format::Arras => arras::read(text),
        }
    }
}

/// Why a file is no result of another tool. Displays as one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Not text.
    #[error("the file is not text")]
    NotText,
    /// Too large.
    #[error("the file is larger than {} MiB", FILE_BYTES_MAX >> 20)]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// Too many results.
    #[error("the file has {found} results, more than {CASES_MAX}")]
    TooMany {
        /// How many.
        found: usize,
    },
    /// None of the formats.
    #[error("the file is a result of no tool that is known here: {}", Format::ALL.map(Format::name).join(", "))]
    Unknown,
    /// A line that the format does not have.
    #[error("{format}: line {line}: {what}")]
    Line {
        /// The format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The tool says that its run failed.
    #[error("{format}: the run failed there: {said}")]
    Failed {
        /// The format.
        format: &'static str,
        /// In its own words, shortened.
        said: String,
    },
    /// The file does not say what is needed, and nobody else did.
    #[error("{format}: the file does not say which {what} it was")]
    Unsaid {
        /// The format.
        format: &'static str,
        /// What.
        what: &'static str,
    },
    /// The user says what the file says itself.
    #[error("{format}: {option}: the file itself says its {what}")]
    Stated {
        /// The format.
        format: &'static str,
        /// What.
        what: &'static str,
        /// The option.
        option: &'static str,
    },
    /// No test that the tool has.
    #[error("{format}: there is no test {name:?}")]
    NoTest {
        /// The format.
        format: &'static str,
        /// As it was given.
        name: String,
    },
    /// A figure that no run can have, such as a time below zero.
    #[error("{format}: {figure} of {value}: no run can have that")]
    Impossible {
        /// The format.
        format: &'static str,
        /// Which, in words.
        figure: String,
        /// The value, with its unit where it is a number that can be read.
        value: String,
    },
    /// The format is right, but there is no figure in it.
    #[error("{format}: the file holds no figure")]
    Empty {
        /// The format.
        format: &'static str,
    },
}

impl ImportError {
    fn stated(format: Format, what: Unsaid) -> ImportError {
        ImportError::Stated {
            format: format.name(),
            what: what.name(),
            option: what.option(),
        }
    }

    /// What the user can do about it, one line.
    pub fn remedy(&self) -> &'static str {
        match self {
            ImportError::NotText | ImportError::Unknown => {
                "name the tool with --format, or give a file that it wrote"
            }
            ImportError::TooLarge { .. } | ImportError::TooMany { .. } => "split the file",
            ImportError::Unsaid { .. } => "say it: wirespeed import FILE --test tag_lat -o FILE.json",
            ImportError::Stated { .. } => "leave the option out",
            ImportError::NoTest { .. } => {
                "name the test as ucx_perftest -t does, such as tag_lat or ucp_am_bw"
            }
            ImportError::Line { .. } => "take the file as the tool wrote it: it may be cut off or edited",
            ImportError::Impossible { .. } => "measure again, or leave that part of the file out",
            ImportError::Failed { .. } | ImportError::Empty { .. } => {
                "run the tool to its end, and keep all of its output"
            }
        }
    }
}

/// One line of another tool: what was measured and the figures that it states.
#[derive(Debug, Clone, PartialEq)]
struct Figures {
    test: Test,
    transport: String,
    /// The transport's options.
    options: BTreeMap<String, String>,
    group: GroupKind,
    ranks: Vec<RankSpec>,
    figures: Vec<(&'static str, f64)>,
    samples: u64,
    /// Connections at once.
    streams: u64,
    /// Whether a part of the run was cut short.
    unfinished: bool,
    /// What the file does not say.
    assumed: Vec<Assumed>,
    /// When it was measured, where the file says so: RFC 3339.
    started_at: Option<String>,
}

impl Figures {
    fn new(test: Test, transport: impl Into<String>) -> Figures {
        Figures {
            test,
            transport: transport.into(),
            options: BTreeMap::new(),
            assumed: Vec::new(),
            started_at: None,
            group: GroupKind::Processes,
            ranks: RankSpec::pair(),
            figures: Vec::new(),
            samples: 0,
            streams: 1,
            unfinished: false,
        }
    }

    /// Measured over MPI, by these ranks of a job.
    fn of_job(test: Test, ranks: Vec<RankSpec>) -> Figures {
        Figures {
            group: GroupKind::Job,
            ranks,
            ..Figures::new(test, "mpi")
        }
    }

    fn with_options(mut self, options: BTreeMap<String, String>) -> Figures {
        self.options = options;
        self
    }

    fn assuming(mut self, what: Unsaid, taken: impl Into<String>) -> Figures {
        let taken = taken.into();
        self.assumed.push(Assumed { what, taken });
        self
    }

    fn with(mut self, tag: &'static str, value: f64) -> Figures {
        self.figures.push((tag, value));
        self
    }
}

fn ping_pong(size_bytes: u64) -> Test {
    Test::AmLat(PingPong::new(size_bytes, Layout::Short))
}

fn stream(size_bytes: u64, window_msgs: u64) -> Test {
    Test::AmBw(Stream::new(size_bytes, Layout::Short, window_msgs))
}

/// Read a file of another tool; `format` where the user names it, else whichever fits. The document says where it comes
/// from. What the file measured more than once is one case of several runs, so that outputs put together in one file have
/// intervals and verdicts; what it measured once has a figure alone.
pub fn import(bytes: &[u8], format: Option<Format>) -> Result<(Format, Run), ImportError> {
    import_told(bytes, format, &Told::default())
}

/// The same, with what the user says of what the file does not.
pub fn import_told(bytes: &[u8], format: Option<Format>, told: &Told) -> Result<(Format, Run), ImportError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ImportError::TooLarge { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ImportError::NotText)?;
    let format = match format {
        Some(format) => format,
        None => detect(text).ok_or(ImportError::Unknown)?,
    };
    let mut found = format.read(text, told)?;
    if found.len() > CASES_MAX {
        return Err(ImportError::TooMany { found: found.len() });
    }
    if let Some((tag, value)) = found.iter().find_map(possible::none_can_have) {
        return Err(ImportError::Impossible {
            format: format.name(),
            figure: spoken(tag),
            value: match value.abs() < possible::FIGURE_MAX {
                true => figure_text(tag, value),
                false => format!("{value:e}"),
            },
        });
    }
    told::apply(&mut found, told, format)?;
    let started_at = found.iter().find_map(|figures| figures.started_at.clone());
    let cases: Vec<CaseResult> = alike(found)
        .iter()
        .filter_map(|runs| case_result(runs, format))
        .collect();
    if cases.is_empty() {
        return Err(ImportError::Empty {
            format: format.name(),
        });
    }
    Ok((format, document(cases, format, started_at)))
}

/// Which tool wrote the text, by what only it writes.
fn detect(text: &str) -> Option<Format> {
    let has = |needle: &str| text.contains(needle);
    if text.trim_start().starts_with('{') {
        return (has("\"start\"") && has("\"end\"") && has("\"intervals\"")).then_some(Format::Iperf3);
    }
    let marks = [
        (Format::Osu, "# OSU MPI"),
        (Format::Imb, "# Benchmarking "),
        (Format::Sockperf, "sockperf"),
        (Format::Smb, lines::SMB_RATE),
        (Format::Iperf3, "\niperf Done."),
        (Format::Iperf3, "iperf3: error"),
        (Format::Iperf3, "\n[ ID] Interval"),
        (Format::Iperf3, "\n[ ID][Role] Interval"),
    ];
    if let Some((format, _)) = marks.iter().find(|(_, mark)| has(mark)) {
        return Some(*format);
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let all = |fits: &dyn Fn(&str) -> bool| !lines.is_empty() && lines.iter().all(|line| fits(line));
    if all(&lines::is_smb_line) {
        return Some(Format::Smb);
    }
    if lines.iter().any(|line| arras::is_line(line)) {
        return Some(Format::Arras);
    }
    if all(&|line| line.parse::<u64>().is_ok()) {
        return Some(Format::Workers);
    }
    lines
        .iter()
        .any(|line| ucx::is_header(line))
        .then_some(Format::UcxPerftest)
}

/// Figures of the same question together, in the order of the file.
fn alike(found: Vec<Figures>) -> Vec<Vec<Figures>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<Figures>> = Vec::new();
    for figures in found {
        let question = format!(
            "{:?} {} {:?} {:?} {} {}",
            figures.test,
            figures.transport,
            figures.options,
            figures.group,
            figures.ranks.len(),
            figures.streams
        );
        let at = *places.entry(question).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(figures),
            None => groups.push(vec![figures]),
        }
    }
    groups
}

/// The figures of one run: those above 0, because a table that rounds writes 0 for what it cannot show, and shares, of which 0 is
/// one. `None` without any that is above.
fn metrics(figures: &Figures) -> Option<BTreeMap<String, Metric>> {
    let is_shown = |(tag, value): &&(&str, f64)| *value > 0.0 || tag.ends_with("_ratio");
    if figures.figures.iter().all(|(_, value)| *value <= 0.0) {
        return None;
    }
    let shown = figures.figures.iter().filter(is_shown);
    let metric = |(tag, value): &(&str, f64)| Some(((*tag).to_owned(), Metric::of(*value, figures.samples)?));
    Some(map_of(shown.filter_map(metric)))
}

fn case_result(runs: &[Figures], format: Format) -> Option<CaseResult> {
    let (figures, samples) = (runs.first()?, runs.iter().map(|run| run.samples).max()?);
    let whole = runs.iter().filter_map(metrics);
    let repetitions: Vec<Repetition> = whole
        .zip(0..)
        .map(|(metrics, index)| run(index, metrics))
        .collect();
    let (metrics, resampled) = match repetitions.as_slice() {
        [] => return None,
        [only] => (only.metrics.clone(), BTreeMap::new()),
        several => crate::assemble::over_repetitions(several),
    };
    let mut case = Case::new(figures.test.clone(), figures.transport.clone())
        .with_group(figures.group)
        .with_ranks(figures.ranks.clone())
        .with_stop(Stop::Iterations {
            count: samples.max(1),
        })
        .with_warmup(0, 0);
    case.options.clone_from(&figures.options);
    let mut result = crate::failed_case(case, "", None);
    result.status = CaseStatus::Ok;
    result.error = None;
    (result.metrics, result.resampled) = (metrics, resampled);
    if repetitions.len() > 1 {
        result.repetitions = repetitions;
    }
    let streams = match figures.streams {
        0 | 1 => String::new(),
        several => format!(" of {several} connections together"),
    };
    let early = match runs.iter().any(|run| run.unfinished) {
        true => " of a run of which a part was cut short",
        false => "",
    };
    let message = format!(
        "as {} states it{streams}{early}; nothing is known of its clock or disturbances",
        format.name()
    );
    result
        .remarks
        .push(Remark::new(Severity::Note, IMPORTED, message, None));
    if !figures.assumed.is_empty() {
        let taken: Vec<String> = figures
            .assumed
            .iter()
            .map(|assumed| format!("{} ({})", assumed.what.name(), assumed.taken))
            .collect();
        let options: Vec<&str> = figures
            .assumed
            .iter()
            .map(|assumed| assumed.what.option())
            .collect();
        let message = format!("the file does not say its {}", taken.join(", "));
        let remedy = format!("say it: wirespeed import FILE {}", options.join(" .. "));
        let remark = Remark::new(Severity::Note, "assumed", message, Some(&remedy));
        result.remarks.push(remark);
    }
    Some(result)
}

/// A run of which nothing but its figures is known.
fn run(index: u32, metrics: BTreeMap<String, Metric>) -> Repetition {
    Repetition {
        index,
        outcomes: Vec::new(),
        metrics,
        setup_ns: 0,
        overlapping_sessions: 0,
    }
}

fn document(cases: Vec<CaseResult>, format: Format, started_at: Option<String>) -> Run {
    let mut sections = Sections::default();
    sections.put(&Imported {
        format: format.name().to_owned(),
    });
    let tool = Tool {
        name: format.name().to_owned(),
        version: "imported".to_owned(),
        commit: None,
    };
    Run {
        cases,
        sections,
        ..Run::of(tool, started_at.unwrap_or_else(|| UNKNOWN.to_owned()))
    }
}

/// The error for a line that does not fit.
fn bad_line(format: Format, line: usize, what: &'static str) -> ImportError {
    ImportError::Line {
        format: format.name(),
        line: line + 1,
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_nobodys_is_refused_by_name() {
        let error = import(b"hello\nworld\n", None).unwrap_err();
        assert_eq!(error, ImportError::Unknown);
        assert!(error.to_string().contains("iperf3, osu, imb"), "{error}");
        assert_eq!(import(&[0xff, 0xfe], None).unwrap_err(), ImportError::NotText);
        assert_eq!(import(b"", None).unwrap_err(), ImportError::Unknown);
        for format in Format::ALL {
            assert!(import(b"", Some(format)).is_err(), "{}", format.name());
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_only_listed_figures_come_out(text in "[ -~\n]{0,300}", at in 0..8usize) {
            for format in [None, Some(Format::ALL[at])] {
                if let Ok((_, run)) = import(text.as_bytes(), format) {
                    for case in &run.cases {
                        prop_assert!(case.metrics.keys().all(|tag| crate::tags::find(tag).is_some()));
                    }
                }
            }
        }
    }
}
