//! Rows of the human table: which columns each kind of test has and what stands in them.

use crate::figures::{duration, duration_interval, rate, rate_interval};
use crate::names::{Parameters, alike, differing};
use crate::table::{Column, Row, Table, Tone, key, key_number, number, text};
use crate::thresholds::INTERVAL_RUNS_MIN;
use crate::wording::percent;
use wirespeed_schema::Test;
use wirespeed_schema::case::{GroupKind, Role};
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric};
use wirespeed_schema::units::{format_asked_size, format_size};

/// Kinds of test that share columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    RoundTrip,
    Completion,
    Rate,
    Iterations,
    Bulk,
}

impl Kind {
    pub const ALL: [Kind; 5] = [
        Kind::RoundTrip,
        Kind::Completion,
        Kind::Rate,
        Kind::Iterations,
        Kind::Bulk,
    ];

    pub fn of(test: &Test) -> Kind {
        match test {
            Test::Get(_) | Test::Fadd(_) | Test::Swap(_) | Test::Cswap(_) => Kind::Completion,
            _ if test.is_round_trip() => Kind::RoundTrip,
            _ if test.is_posted() => Kind::Iterations,
            _ if test.bulk().is_some() => Kind::Bulk,
            _ => Kind::Rate,
        }
    }

    /// Heading above the table.
    pub fn title(self) -> &'static str {
        match self {
            Kind::RoundTrip => "Round trips",
            Kind::Completion => "Operations completed at the origin",
            Kind::Rate => "Rates",
            Kind::Bulk => "Bulk transfers",
            Kind::Iterations => "Message rates",
        }
    }

    /// What the figures of the table are, where their names do not say it.
    fn note(self) -> Option<&'static str> {
        match self {
            Kind::RoundTrip | Kind::Completion => None,
            Kind::Rate => {
                Some("rate: messages delivered, over the sender's time to the last acknowledgement")
            }
            Kind::Bulk => Some(
                "bandwidth: payload over the time from the first request byte to the last payload byte; sRTT, ends: TCP's \
                     smoothed round-trip time, median over the ends that tell it",
            ),
            Kind::Iterations => {
                Some("rate: all ranks together, by the median iteration; classic: by the original's formula")
            }
        }
    }

    /// The headline figure in words.
    pub fn figure(self) -> &'static str {
        match self {
            Kind::RoundTrip => "RTT p50",
            Kind::Completion => "completion p50",
            Kind::Rate | Kind::Iterations => "message rate",
            Kind::Bulk => "bandwidth",
        }
    }

    /// Tag of the headline figure.
    pub fn headline(self) -> &'static str {
        match self {
            Kind::RoundTrip => "rtt_p50_ns",
            Kind::Completion => "completion_p50_ns",
            Kind::Rate | Kind::Iterations => "rate_msg_per_s",
            Kind::Bulk => "bandwidth_bytes_per_s",
        }
    }
}

/// What braces hold, `of` of all runs that there are.
pub(super) fn braces(of: &str) -> String {
    format!("braces: smallest and largest {of}; an interval needs {INTERVAL_RUNS_MIN}")
}

/// A table for each kind of test among `results`, of those that have figures.
pub(super) fn tables<'a>(results: impl Iterator<Item = &'a CaseResult> + Clone) -> Vec<Table> {
    let several = results.clone().count() > 1;
    let of = |kind: Kind| {
        let measured = results.clone().filter(|result| !result.metrics.is_empty());
        let ours = measured.filter(|result| Kind::of(&result.case.test) == kind);
        // A window of one is said beside larger ones only.
        let windows = ours.clone().any(|result| result.case.test.window() > 1);
        let mut rows: Vec<Row> = ours.clone().map(|result| row(result, kind, windows)).collect();
        tell_apart(&mut rows, ours);
        let is_spread = |row: &Row| row.cells.iter().any(|cell| cell.starts_with('{'));
        // Of one case the answer says it.
        let spread = several && rows.iter().any(is_spread);
        let mut table = (!rows.is_empty()).then(|| Table::new(kind.title(), columns(kind), rows))?;
        if let Some(note) = kind.note() {
            table.notes.push(note.to_owned());
        }
        if spread {
            table.notes.push(braces("of all runs"));
        }
        Some(table)
    };
    Kind::ALL.into_iter().filter_map(of).collect()
}

/// The column of options, which is the last one of what was measured.
const OPTIONS: usize = 12;

/// Beside the options of rows that look alike otherwise stands what tells them apart.
fn tell_apart<'a>(rows: &mut [Row], of: impl Iterator<Item = &'a CaseResult>) {
    let groups = alike(rows.iter().map(|row| &row.cells[..=OPTIONS]));
    if groups.is_empty() {
        return;
    }
    let parameters: Vec<Parameters> = of.map(Parameters::of).collect();
    for group in groups {
        let names = differing(&group.iter().map(|at| &parameters[*at]).collect::<Vec<_>>());
        for at in group {
            let told = names
                .iter()
                .filter_map(|name| Some(format!("{name}={}", parameters[at].get(name)?)));
            let options = std::mem::take(&mut rows[at].cells[OPTIONS]);
            let words: Vec<String> = Some(options)
                .into_iter()
                .filter(|text| !text.is_empty())
                .chain(told)
                .collect();
            rows[at].cells[OPTIONS] = words.join(" ");
        }
    }
}

/// Columns of every kind's table: first what was measured.
fn columns(kind: Kind) -> Vec<Column> {
    let mut columns = vec![
        key("transport"),
        key("route"),
        key("test"),
        key("layout"),
        key("pattern"),
        key("grid"),
        key_number("peers"),
        key_number("size"),
        key_number("window"),
        key("cache"),
        key("group"),
        key_number("ranks"),
        key("options"),
    ];
    columns.extend(match kind {
        Kind::RoundTrip => vec![
            number("RTT p50", 0),
            number("RTT mean", 0),
            text("interval", 3),
            number("one-way (RTT/2)", 4),
            number("p90", 6),
            number("p99", 1),
            number("p99.9", 3),
            number("p99.99", 5),
            number("max", 2),
            number("classic", 2),
        ],
        Kind::Completion => vec![
            number("p50", 0),
            number("mean", 0),
            text("interval", 3),
            number("p90", 6),
            number("p99", 1),
            number("p99.9", 3),
            number("max", 2),
            number("rate", 4),
        ],
        Kind::Rate => vec![
            number("rate", 0),
            text("interval", 3),
            number("bandwidth", 0),
            number("ack p50", 4),
            number("ack p99", 5),
            number("loss", 1),
            number("cpu/msg", 6),
        ],
        Kind::Iterations => vec![
            number("rate", 0),
            text("interval", 1),
            number("per rank", 3),
            number("bandwidth", 2),
            number("first", 5),
            number("classic", 2),
        ],
        Kind::Bulk => vec![
            number("bandwidth", 0),
            text("interval", 1),
            number("of ceiling", 2),
            number("sRTT, ends", 4),
            number("sent again", 5),
        ],
    });
    columns.extend([number("runs", 3), text("status", 0)]);
    columns
}

/// The row of one measured case, in the order of [`columns`].
fn row(result: &CaseResult, kind: Kind, windows: bool) -> Row {
    let case = &result.case;
    let group = match case.group {
        GroupKind::Threads => "threads",
        GroupKind::Processes => "processes",
        GroupKind::Hosts => "hosts",
        GroupKind::Job => "job",
    };
    let [pattern, grid, peers, cache] = arrangement(&case.test);
    let mut row = vec![
        case.transport.clone(),
        // Only sessions have another one than from peer to peer.
        match case.ranks.iter().any(|rank| rank.role == Role::Relay) {
            true => "daemon".to_owned(),
            false => String::new(),
        },
        case.test.name().to_owned(),
        case.test
            .layout()
            .map(|layout| layout.name().to_owned())
            .unwrap_or_default(),
        pattern,
        grid,
        peers,
        format_asked_size(case.test.size_bytes()),
        if windows {
            case.test.window().to_string()
        } else {
            String::new()
        },
        cache,
        group.to_owned(),
        if case.ranks.len() > 2 {
            case.ranks.len().to_string()
        } else {
            String::new()
        },
        options(result),
    ];
    row.extend(figures(result, kind));
    let runs = result.repetitions.len();
    row.push(if runs > 1 { runs.to_string() } else { String::new() });
    row.push(status(result.status).to_owned());
    let tone = match result.status {
        CaseStatus::Ok | CaseStatus::Partial | CaseStatus::Skipped => None,
        CaseStatus::Failed | CaseStatus::WrongData => Some(Tone::Bad),
    };
    Row { cells: row, tone }
}

/// Pattern, grid, neighbours and cache state of a test between many ranks.
fn arrangement(test: &Test) -> [String; 4] {
    let Some(test) = test.msgrate() else {
        return Default::default();
    };
    let cache = match test.cache_state.has_size() {
        true => format!("{} {}", test.cache_state.name(), format_size(test.cache_bytes)),
        false => test.cache_state.name().to_owned(),
    };
    [
        test.pattern.name().to_owned(),
        test.grid.name().to_owned(),
        test.neighbours().to_string(),
        cache,
    ]
}

fn figures(result: &CaseResult, kind: Kind) -> Vec<String> {
    let metric = |tag: &str| result.metrics.get(tag);
    // A quantile that was withheld for lack of samples is a dash; the reason stands below the table.
    let quantile = |tag: &str| match result.withheld.iter().any(|withheld| withheld.tag == tag) {
        true => "–".to_owned(),
        false => duration(metric(tag)),
    };
    // The file of another tool may have the mean alone.
    let mean = |family: &str| match metric(&format!("{family}_p50_ns")) {
        Some(_) => String::new(),
        None => duration(metric(&format!("{family}_mean_ns"))),
    };
    match kind {
        Kind::RoundTrip => vec![
            quantile("rtt_p50_ns"),
            mean("rtt"),
            duration_interval(metric("rtt_p50_ns")),
            duration(metric("one_way_p50_ns")),
            quantile("rtt_p90_ns"),
            quantile("rtt_p99_ns"),
            quantile("rtt_p999_ns"),
            quantile("rtt_p9999_ns"),
            duration(metric("rtt_max_ns")),
            duration(metric("classic_latency_ns")),
        ],
        Kind::Completion => vec![
            quantile("completion_p50_ns"),
            mean("completion"),
            duration_interval(metric("completion_p50_ns")),
            quantile("completion_p90_ns"),
            quantile("completion_p99_ns"),
            quantile("completion_p999_ns"),
            duration(metric("completion_max_ns")),
            rate(metric("rate_msg_per_s"), "op/s"),
        ],
        Kind::Rate => vec![
            rate(metric("rate_msg_per_s"), "msg/s"),
            rate_interval(metric("rate_msg_per_s"), "msg/s"),
            rate(metric("bandwidth_bytes_per_s"), "B/s"),
            quantile("ack_p50_ns"),
            quantile("ack_p99_ns"),
            ratio(metric("loss_ratio")),
            duration(metric("cpu_ns_per_message")),
        ],
        Kind::Iterations => vec![
            rate(metric("rate_msg_per_s"), "msg/s"),
            rate_interval(metric("rate_msg_per_s"), "msg/s"),
            rate(metric("rank_rate_msg_per_s"), "msg/s"),
            rate(metric("bandwidth_bytes_per_s"), "B/s"),
            duration(metric("first_operation_ns")),
            rate(metric("classic_rate_msg_per_s"), "msg/s"),
        ],
        Kind::Bulk => vec![
            rate(metric("bandwidth_bytes_per_s"), "B/s"),
            rate_interval(metric("bandwidth_bytes_per_s"), "B/s"),
            ratio(metric("ceiling_ratio")),
            duration(metric("tcp_rtt_ns")),
            ratio(metric("retransmitted_ratio")),
        ],
    }
}

/// A ratio in percent; nothing for nought, which would only fill a column.
fn ratio(metric: Option<&Metric>) -> String {
    metric
        .map(|metric| metric.value.get())
        .filter(|&value| value > 0.0)
        .map(percent)
        .unwrap_or_default()
}

fn options(result: &CaseResult) -> String {
    result.case.options_text().trim_start().to_owned()
}

/// The word for a status; nothing where all is well.
pub(crate) fn status(status: CaseStatus) -> &'static str {
    match status {
        CaseStatus::Ok => "",
        status => status.name(),
    }
}
