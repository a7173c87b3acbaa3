//! The human report of `byteio peers`: this project's ways beside other people's movers of data.

use super::byteio::megabits;
use super::grid::{self, number, text};
use super::style::{Style, Tone, clean, wrap};
use crate::wording::fine_percent;
use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseResult, CaseStatus};

/// This project's ways beside other movers: one table over the cases, the fastest first.
pub fn movers(run: &Run, style: &Style) -> String {
    let mut measured: Vec<&CaseResult> = run.cases.iter().filter(|case| rate_of(case) > 0.0).collect();
    measured.sort_by(|a, b| rate_of(b).total_cmp(&rate_of(a)));
    let best = measured.first().map_or(0.0, |case| rate_of(case));
    let rows: Vec<Vec<String>> = measured.iter().map(|case| peers_row(case, best)).collect();
    let columns = [
        text("mover", 0),
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
    let (mut lines, dropped) = grid::render(&columns, &rows, style.width);
    if rows.is_empty() {
        lines = vec!["nothing was measured".to_owned()];
    }
    if !dropped.is_empty() {
        lines.push(format!(
            "left out for lack of room: {}; --json has all",
            dropped.join(", ")
        ));
    }
    for case in &run.cases {
        if let Some(error) = &case.error {
            let word = match case.status {
                CaseStatus::Skipped => "skipped",
                CaseStatus::Partial => "broken off",
                _ => "failed",
            };
            lines.push(wrap(
                &format!("{word}: {}: {}", clean(&case.case.transport), clean(error)),
                style.width,
                2,
            ));
        }
    }
    let legend = "Mb/s: 10^6 bits of payload a second, median; connections: x requests outstanding on each; [ ] interval \
                  of the median, { } slowest and fastest; clock: transfer, from the request to the last byte, or command, \
                  the whole of it with its start";
    lines.push(style.paint(Tone::Faint, &wrap(legend, style.width, 2)));
    super::table::finish(lines, style)
}

fn rate_of(case: &CaseResult) -> f64 {
    let metric = case.metrics.get("bandwidth_bytes_per_s");
    metric.map_or(0.0, |metric| metric.value.get())
}

fn peers_row(case: &CaseResult, best: f64) -> Vec<String> {
    let metric = |tag: &str| case.metrics.get(tag);
    let interval = metric("bandwidth_bytes_per_s").and_then(|metric| {
        let (lower, upper) = (metric.lower?.get(), metric.upper?.get());
        let ends = format!("{} .. {}", megabits(lower), megabits(upper));
        Some(match metric.level {
            Some(_) => format!("[{ends}]"),
            None => format!("{{{ends}}}"),
        })
    });
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
        clean(&case.case.transport),
        megabits(rate_of(case)),
        interval.unwrap_or_default(),
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
        control.map(|name| clean(name)).unwrap_or_default(),
    ]
}
