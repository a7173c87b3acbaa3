//! Pictures of pairs: which rank, worker or machine is slow, and with whom.

use super::{Picture, behind};
use crate::assemble::peer_of;
use crate::byteio::ends_of;
use crate::labels::Input;
use crate::labels::label;
use crate::stats::{self, LEVEL};
use crate::svg::{Axis, Cell, Chart, Heat, Unit};
use crate::thresholds::SLOW_RATIO;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::HistogramData;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::neighbours;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::run::{CaseResult, Run};
use wirespeed_schema::units::{format_asked_size, significant};

/// Fewer cells are a table, not a map.
const CELLS_MIN: usize = 3;
/// Names on a side; more rows or columns could not be read.
const SIDE_MAX: usize = 64;
/// Maps of single cases that are drawn.
const CASES_MAX: usize = 4;

/// What a cell is compared with.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    /// The median of all cells.
    All,
    /// The median of its column, of the middle two the lower, as a worker's row has it.
    Column,
}

/// A value for a row and a column.
struct Entry {
    row: String,
    column: String,
    value: f64,
}

/// Maps of ranks that exchange data in pairs, of workers by payload, and of the machine pairs of bulk transfers.
pub fn pictures(cases: &[(&Input, &CaseResult)], inputs: &[Input]) -> Vec<Picture> {
    let several = inputs.len() > 1;
    let mut found: Vec<Picture> = cases
        .iter()
        .filter_map(|(input, case)| ranks(&label(input, several, case), case))
        .take(CASES_MAX)
        .collect();
    for input in inputs {
        let of_input = cases.iter().filter(|(other, _)| other.name == input.name);
        let hubs: Vec<&CaseResult> = of_input
            .map(|(_, case)| *case)
            .filter(|case| case.case.test.hub().is_some())
            .collect();
        found.extend(workers(input.name, &hubs));
        found.extend(machines(input.name, input.run));
    }
    found
}

/// Each source with its sink: median round trip, else rate.
fn ranks(name: &str, case: &CaseResult) -> Option<Picture> {
    let mut trips: BTreeMap<(u32, u32), HistogramData> = BTreeMap::new();
    let mut rates: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for outcome in case.outcomes().filter(|outcome| outcome.sent.messages > 0) {
        let peer = peer_of(&case.case, outcome.rank).or_else(|| posted_peer(case, outcome.rank));
        let Some(peer) = peer else {
            continue;
        };
        let pair = (outcome.rank, peer);
        if let Some(samples) = outcome
            .samples_of(SampleKind::RoundTrip)
            .filter(|s| s.histogram.check().is_ok())
        {
            trips.entry(pair).or_default().merge(&samples.histogram);
        } else if outcome.elapsed_ns > 0 {
            let rate = outcome.sent.messages as f64 * 1e9 / outcome.elapsed_ns as f64;
            rates.entry(pair).or_default().push(rate);
        }
    }
    let rank = |rank: u32| format!("rank {rank}");
    let median = |values: &Vec<f64>| stats::summarize(values, LEVEL).map(|over| over.median);
    let (entries, what, unit): (Vec<Entry>, _, _) = match trips.is_empty() {
        false => (
            trips
                .iter()
                .filter_map(|((from, to), data)| {
                    Some(Entry {
                        row: rank(*from),
                        column: rank(*to),
                        value: data.quantile_ns(0.5)?,
                    })
                })
                .collect(),
            "median round trip",
            Unit::Nanoseconds,
        ),
        true => (
            rates
                .iter()
                .filter_map(|((from, to), values)| {
                    Some(Entry {
                        row: rank(*from),
                        column: rank(*to),
                        value: median(values)?,
                    })
                })
                .collect(),
            "messages sent",
            Unit::Si("msg/s"),
        ),
    };
    map(
        &format!("pairs of ranks: {name}"),
        ("to", "from"),
        (what, unit),
        (&entries, Against::All),
    )
}

/// The only rank that `rank` posts sends to. Of several its figures are a sum, and belong to no pair.
fn posted_peer(case: &CaseResult, rank: u32) -> Option<u32> {
    let ranks = case.case.ranks.len() as u32;
    let lists = match case.case.test.msgrate() {
        Some(test) if neighbours::check(test, ranks).is_ok() => neighbours::neighbours(test, ranks, rank),
        _ => return None,
    };
    match lists.to_ranks.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Samples of each worker at each payload.
fn workers(name: &str, cases: &[&CaseResult]) -> Option<Picture> {
    let mut all: BTreeMap<(String, u64), BTreeMap<u32, HistogramData>> = BTreeMap::new();
    let transports: BTreeSet<&str> = cases.iter().map(|case| case.case.transport.as_str()).collect();
    for case in cases {
        let key = (case.case.transport.clone(), case.case.test.size_bytes());
        for peer in case.outcomes().flat_map(|hub| &hub.peers) {
            if peer.samples.check().is_ok() {
                all.entry(key.clone())
                    .or_default()
                    .entry(peer.peer)
                    .or_default()
                    .merge(&peer.samples);
            }
        }
    }
    let cell = |(transport, size): &(String, u64), worker: u32, data: &HistogramData| {
        let column = match transports.len() {
            1 => format_asked_size(*size),
            _ => format!("{transport} {}", format_asked_size(*size)),
        };
        Some(Entry {
            row: format!("worker {worker}"),
            column,
            value: data.quantile_ns(0.5)?,
        })
    };
    let entries: Vec<Entry> = all
        .iter()
        .flat_map(|(key, workers)| {
            workers
                .iter()
                .filter_map(move |(worker, data)| cell(key, *worker, data))
        })
        .collect();
    let title = format!("workers by payload: {name}");
    map(
        &title,
        ("payload", ""),
        ("median round trip", Unit::Nanoseconds),
        (&entries, Against::Column),
    )
}

/// Median bandwidth of each reader with each server.
fn machines(name: &str, run: &Run) -> Option<Picture> {
    let section = run.sections.get::<ByteioSection>()?;
    let entry = |pair: &wirespeed_schema::byteio::Pair| {
        // Shapes of a sweep, and the same pair under load or at a rate, are no further machines.
        let (reader, server) = ends_of(&pair.name)?;
        if pair.pace_interval_ns.is_some() {
            return None;
        }
        Some(Entry {
            row: reader.to_owned(),
            column: format!("{server} {}", pair.mechanism),
            value: pair.summary.as_ref()?.median_bytes_per_s.get(),
        })
    };
    let entries: Vec<Entry> = section.pairs.iter().filter_map(entry).collect();
    let title = format!("pairs of machines: {name}");
    map(
        &title,
        ("server and mechanism", "reader"),
        ("median bandwidth", Unit::Si("B/s")),
        (&entries, Against::All),
    )
}

/// The map of `entries`, rows and columns in their order, the first row at the top. Of several values in one cell the last.
fn map(
    title: &str,
    (x, y): (&str, &str),
    (what, unit): (&str, Unit),
    (entries, against): (&[Entry], Against),
) -> Option<Picture> {
    let rows = in_order(entries.iter().map(|entry| &entry.row));
    let columns = in_order(entries.iter().map(|entry| &entry.column));
    let cells: BTreeSet<(&str, &str)> = entries
        .iter()
        .map(|entry| (entry.row.as_str(), entry.column.as_str()))
        .collect();
    if cells.len() < CELLS_MIN || rows.len() > SIDE_MAX || columns.len() > SIDE_MAX {
        return None;
    }
    let place =
        |names: &[String], name: &String| names.iter().position(|other| other == name).unwrap_or(0) as f64;
    let top = rows.len() as f64 - 1.0;
    // Shades of payloads would say that large ones take longer; those of ratios say who is slow.
    let shaded = |entry: &Entry| match against {
        Against::All => Some(entry.value),
        Against::Column => middle(entries, entry, against).map(|middle| entry.value / middle),
    };
    let cells = entries.iter().filter_map(|entry| {
        Some(Cell {
            x: place(&columns, &entry.column),
            y: top - place(&rows, &entry.row),
            value: shaded(entry)?,
        })
    });
    let (label, shade_unit) = match against {
        Against::All => (what.to_owned(), unit),
        Against::Column => (format!("{what} over the median of its column"), Unit::Plain),
    };
    let chart = Chart {
        title: title.to_owned(),
        description: format!("A cell a pair: its {label}."),
        x: named(x, &columns, |index| index as f64),
        y: named(y, &rows, |index| top - index as f64),
        heat: Some(Heat {
            cells: cells.collect(),
            ..Heat::new(label, shade_unit)
        }),
        plot_height: (34 * rows.len() as u32).clamp(90, 1600),
        ..Chart::new("")
    };
    let text = |entry: &Entry| vec![entry.row.clone(), entry.column.clone(), unit.text(entry.value)];
    Some(
        Picture {
            chart,
            answer: words(what, unit, entries, against),
            table: behind(
                &[if y.is_empty() { "row" } else { y }, x, what],
                entries.iter().map(text).collect(),
            ),
            ..Picture::default()
        }
        .under_its_answer(),
    )
}

/// An axis with a name at each place.
fn named(label: &str, names: &[String], at: impl Fn(usize) -> f64) -> Axis {
    let ticks = names.iter().enumerate();
    Axis {
        range: Some((-0.5, names.len() as f64 - 0.5)),
        ticks: ticks.map(|(index, name)| (at(index), name.clone())).collect(),
        ..Axis::linear(label, Unit::Plain)
    }
}

fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(name) {
            known.push(name.clone());
        }
    }
    // Ranks of a ring are first met in another order than they count.
    let number = |name: &String| name.strip_prefix("rank ")?.parse::<u32>().ok();
    if known.iter().all(|name| number(name).is_some()) {
        known.order_by_key(number);
    }
    known
}

/// The median that `entry` is compared with.
fn middle(entries: &[Entry], entry: &Entry, against: Against) -> Option<f64> {
    let alike = entries
        .iter()
        .filter(|other| against == Against::All || other.column == entry.column);
    let mut values: Vec<f64> = alike.map(|other| other.value).collect();
    let middle = match against {
        Against::All => stats::median(&mut values),
        Against::Column => stats::nearest_rank(&mut values, 0.5),
    };
    (middle > 0.0).then_some(middle)
}

/// The worst cell against the median of all, or of its own column where columns are different questions.
fn words(what: &str, unit: Unit, entries: &[Entry], against: Against) -> Vec<String> {
    let more_is_better = unit != Unit::Nanoseconds;
    let worse = |entry: &Entry| {
        let middle = middle(entries, entry, against)?;
        let ratio = if more_is_better {
            middle / entry.value
        } else {
            entry.value / middle
        };
        ratio.is_finite().then_some((ratio, middle))
    };
    let rated = entries.iter().filter_map(|entry| Some((entry, worse(entry)?)));
    let Some((worst, (ratio, middle))) = rated.max_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
        return Vec::new();
    };
    let alike = match against {
        Against::All => "of all pairs",
        Against::Column => "of its column",
    };
    vec![match ratio > SLOW_RATIO {
        true => format!(
            "The slowest is {}, {} with {}, {} times worse than the median {alike}, {}.",
            worst.row,
            worst.column,
            unit.text(worst.value),
            significant(ratio, 4),
            unit.text(middle)
        ),
        false => format!(
            "None of the {} pairs is slow: no {what} is more than {SLOW_RATIO} times worse than the median {alike}.",
            entries.len()
        ),
    }]
}
