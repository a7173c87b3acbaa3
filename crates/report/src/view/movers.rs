//! This project's ways of moving data beside other people's movers: one table, the fastest first.

use super::bulk::{between, megabits};
use super::model::Part;
use crate::charts::Picture;
use crate::interference::undisturbed;
use crate::labels::Input;
use crate::names::Names;
use crate::table::{Row, Table, key, number, text};
use crate::wording::{fine_percent, times};
use wirespeed_schema::Run;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;

/// The fastest, and how far the slowest is behind it.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let cases = undisturbed(input.run);
    let measured = fastest_first(&cases);
    let (Some(first), Some(last)) = (measured.first(), measured.last()) else {
        return Vec::new();
    };
    let names = Movers::among(&measured);
    let said = |case: &CaseResult| {
        let ends = interval(case).unwrap_or_default();
        format!("{} {} Mb/s {ends}", names.of(case), megabits(rate_of(case)))
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
    let cases = undisturbed(run);
    let measured = fastest_first(&cases);
    let names = Movers::among(&measured);
    let best = measured.first().map_or(0.0, |case| rate_of(case));
    let rows: Vec<Row> = measured
        .iter()
        .map(|case| row(names.of(case), case, best).into())
        .collect();
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

/// What movers are called: by their transport, and by more where it moves data in several ways.
struct Movers<'a>(Names<'a>, Vec<&'a str>);

impl<'a> Movers<'a> {
    fn among(cases: &[&'a CaseResult]) -> Self {
        let transports = cases.iter().map(|case| case.case.transport.as_str());
        Movers(Names::among(cases.iter().copied()), transports.collect())
    }

    fn of(&self, case: &CaseResult) -> String {
        let transport = &case.case.transport;
        match self.1.iter().filter(|other| *other == transport).count() {
            0 | 1 => transport.clone(),
            _ => self.0.of(case),
        }
    }
}

fn fastest_first(cases: &[CaseResult]) -> Vec<&CaseResult> {
    let mut measured: Vec<&CaseResult> = cases.iter().filter(|case| rate_of(case) > 0.0).collect();
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
    case.figure("bandwidth_bytes_per_s").unwrap_or(0.0)
}

fn row(name: String, case: &CaseResult, best: f64) -> Vec<String> {
    let ratio = |tag: &str| case.figure(tag).map_or(String::new(), fine_percent);
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
        name,
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

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::case::Case;
    use wirespeed_schema::run::{CaseStatus, Metric};
    use wirespeed_schema::test::{Bulk, Test};

    fn moved(transport: &str, block_bytes: u64, rate: f64) -> CaseResult {
        let case = Case::new(Test::BulkGet(Bulk::new(block_bytes, 64 << 20, 4, 1)), transport);
        let mut result = crate::failed_case(case, "", None);
        result.status = CaseStatus::Ok;
        let metric = Metric::of(rate, 1);
        result
            .metrics
            .extend(metric.map(|metric| ("bandwidth_bytes_per_s".to_owned(), metric)));
        result
    }

    #[test]
    fn a_mover_is_named_by_what_tells_it_from_others() {
        let cases = [
            moved("byteio-http", 1 << 20, 2e9),
            moved("byteio-http", 8 << 20, 1e9),
            moved("curl", 8 << 20, 5e8),
        ];
        let measured = fastest_first(&cases);
        let names = Movers::among(&measured);
        let shown: Vec<String> = measured.iter().map(|case| names.of(case)).collect();
        assert!(
            shown[0].contains("1 MiB") && shown[1].contains("8 MiB"),
            "{shown:?}"
        );
        assert_eq!(shown[2], "curl");
    }
}
