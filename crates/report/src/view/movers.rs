//! This project's ways of moving data beside other people's movers: one table, the fastest first.

use super::bulk::{between, megabits};
use super::model::Part;
use crate::charts::Picture;
use crate::labels::Input;
use crate::table::{Row, Table, key, number, text};
use crate::wording::{fine_percent, times};
use wirespeed_schema::Run;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;

/// The fastest, and how far the slowest is behind it.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let measured = fastest_first(input.run);
    let (Some(first), Some(last)) = (measured.first(), measured.last()) else {
        return Vec::new();
    };
    let said = |case: &CaseResult| {
        let ends = interval(case).unwrap_or_default();
        format!("{} {} Mb/s {ends}", case.case.transport, megabits(rate_of(case)))
            .trim_end()
            .to_owned()
    };
    vec![match measured.len() {
        1 => format!("{}.", said(first)),
        _ => format!(
            "Fastest: {}; slowest: {}, {} less.",
            said(first),
            said(last),
            times(rate_of(first) / rate_of(last))
        ),
    }]
}

/// A row a mover.
pub fn parts(run: &Run) -> Vec<Part> {
    let measured = fastest_first(run);
    let best = measured.first().map_or(0.0, |case| rate_of(case));
    let rows: Vec<Row> = measured.iter().map(|case| row(case, best).into()).collect();
    let columns = vec![
        key("mover"),
        number("Mb/s", 0),
        number("interval", 1),
        number("of the best", 0),
        number("of ceiling", 3),
        number("runs", 5),
        number("connections", 4),
        text("clock", 2),
        number("sent again", 7),
        text("control", 6),
    ];
    let note = "Mb/s: 10^6 bits of payload a second, median; connections: x requests outstanding on each; [ ] interval \
                of the median, { } slowest and fastest; clock: transfer, from the request to the last byte, or command, \
                the whole of it with its start";
    match rows.is_empty() {
        true => Vec::new(),
        false => vec![Part::Table(Table::new("", columns, rows).noted(note))],
    }
}

fn fastest_first(run: &Run) -> Vec<&CaseResult> {
    let mut measured: Vec<&CaseResult> = run.cases.iter().filter(|case| rate_of(case) > 0.0).collect();
    measured.order_by(|a, b| rate_of(b).total_cmp(&rate_of(a)));
    measured
}

/// The ends of the bandwidth's interval.
fn interval(case: &CaseResult) -> Option<String> {
    let metric = case.metrics.get("bandwidth_bytes_per_s")?;
    Some(between(
        (metric.lower?.get(), metric.upper?.get()),
        metric.level.is_some(),
    ))
}

fn rate_of(case: &CaseResult) -> f64 {
    let metric = case.metrics.get("bandwidth_bytes_per_s");
    metric.map_or(0.0, |metric| metric.value.get())
}

fn row(case: &CaseResult, best: f64) -> Vec<String> {
    let metric = |tag: &str| case.metrics.get(tag);
    let ratio = |tag: &str| metric(tag).map_or(String::new(), |m| fine_percent(m.value.get()));
    let facts = case.repetitions.first().and_then(|run| run.outcomes.first());
    let control = facts.and_then(|outcome| outcome.transport_facts.get("congestion_control"));
    let connections = case
        .case
        .test
        .bulk()
        .map_or(String::new(), |bulk| match bulk.outstanding_ops {
            1 => bulk.connections.to_string(),
            depth => format!("{} x {depth}", bulk.connections),
        });
    vec![
        case.case.transport.clone(),
        megabits(rate_of(case)),
        interval(case).unwrap_or_default(),
        fine_percent(rate_of(case) / best),
        ratio("ceiling_ratio"),
        case.repetitions.len().to_string(),
        connections,
        case.case
            .options
            .get("clock")
            .map_or("transfer", String::as_str)
            .to_owned(),
        ratio("retransmitted_ratio"),
        control.cloned().unwrap_or_default(),
    ]
}
