//! Master and workers: the grid of latencies and bandwidths, the price of the first round trip, the fit, a row for each
//! worker.

use super::model::{Line, Part};
use crate::charts::Picture;
use crate::figures::with_interval;
use crate::labels::Input;
use crate::standings::{ends, is_close};
use crate::table::{Column, Row, Table, Tone, key, number, text};
use crate::thresholds::LEVEL_TOLERANCE;
use crate::wording::{against, counted, percent};
use crate::workers::{Cell, Interval, Workers, WorkersSection};
use wirespeed_schema::Run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// Bytes of the integers that payloads are counted in.
const INT_BYTES: u64 = 4;

/// How fast the workers answer, which of them are slow, and whether the bandwidth has levelled off.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let section = WorkersSection::of(input.run);
    let measured = section.groups.iter().filter(|group| !group.cells.is_empty());
    let mut said = Vec::new();
    for group in measured {
        said.extend(speed(group));
        said.extend(slow(group));
    }
    said
}

/// The grid, the price of the first round trip, the fit, a row for each worker and host.
pub fn parts(run: &Run) -> Vec<Part> {
    let section = WorkersSection::of(run);
    let mut parts = Vec::new();
    for group in section.groups.iter().filter(|group| !group.cells.is_empty()) {
        parts.push(Part::Lines(vec![Line::toned(Tone::Strong, heading(group))]));
        parts.extend(latency(group).into_iter().map(Part::Table));
        parts.extend(bandwidth(group).map(Part::Table));
        let said = sentences(group);
        if !said.is_empty() {
            parts.push(Part::Lines(said.into_iter().map(Line::plain).collect()));
        }
        parts.push(Part::Table(worker_rows(group)));
        parts.extend(host_rows(group).map(Part::Table));
    }
    parts
}

/// The round trip of the smallest payload, and the bandwidth of the largest.
fn speed(group: &Workers) -> Option<String> {
    let cells = group.longest();
    let smallest = cells.iter().min_by_key(|cell| cell.size_bytes)?;
    let payload = |bytes: u64| format_rate(bytes as f64, "B");
    let workers = counted(u64::from(group.workers), "worker");
    let trip = match &smallest.rtt_p50_ns {
        Some(p50) => with_interval("rtt_p50_ns", &p50.metric()),
        None => format!("{} on average", format_ns(smallest.rtt_mean_ns.get())),
    };
    let mut text = format!(
        "{workers} over {}: round trip of {} {trip}",
        group.name(),
        payload(smallest.size_bytes)
    );
    // By the median where there is one, as of the round trip.
    let bandwidth = |cell: &&Cell| cell.bandwidth_p50_bytes_per_s.map(|p50| p50.value);
    let fastest = cells
        .iter()
        .filter_map(|cell| Some((bandwidth(cell).or(cell.bandwidth_bytes_per_s)?.get(), cell)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((value, cell)) = fastest {
        let bandwidth = match &cell.bandwidth_p50_bytes_per_s {
            Some(p50) => with_interval("bandwidth_bytes_per_s", &p50.metric()),
            None => format!("{} on average", format_rate(value, "B/s")),
        };
        text.push_str(&format!(
            "; at most {bandwidth} (with {})",
            payload(cell.size_bytes)
        ));
    }
    Some(text + ".")
}

/// The workers that are slow, or that none is.
fn slow(group: &Workers) -> Option<String> {
    let judged = group.rows.iter().filter(|row| row.ratio.is_some());
    let judged = judged.count();
    if judged < 2 {
        return None;
    }
    let slow = group.rows.iter().filter(|row| row.slow);
    let named: Vec<String> = slow
        .map(|row| {
            let ratio = row.ratio.map_or(0.0, Finite::get);
            format!("worker {} ({} x the median)", row.worker, significant(ratio, 3))
        })
        .collect();
    Some(match named.is_empty() {
        true => format!("None of {judged} workers is slow in most of its cells."),
        false => format!("Slow: {}.", named.join(", ")),
    })
}

fn heading(group: &Workers) -> String {
    let order = if group.fan_out {
        "all at once"
    } else {
        "one after the other"
    };
    let payload = match (group.both_ways, group.cells.first()) {
        (true, _) => "payload both ways".to_owned(),
        (false, Some(cell)) if cell.reply_bytes == 0 => "payload to the worker, empty answers".to_owned(),
        _ => "answers of another size than requests".to_owned(),
    };
    format!(
        "{} over {}, {order}, {payload}",
        counted(u64::from(group.workers), "worker"),
        group.name()
    )
}

/// What the time of a cell is called, which depends on what half of a round trip means.
fn time_name(group: &Workers) -> &'static str {
    if group.divisor() > 1.0 {
        "round trip / 2"
    } else {
        "round trip, not halved"
    }
}

/// `250 (1 kB)`, or the bytes alone where they are no whole number of integers.
fn payload_title(bytes: u64) -> String {
    let size = format_rate(bytes as f64, "B");
    match bytes.is_multiple_of(INT_BYTES) {
        true => format!("{} ({size})", bytes / INT_BYTES),
        false => size,
    }
}

/// Each value of the cells once, in rising order.
fn values(group: &Workers, of: fn(&Cell) -> u64) -> Vec<u64> {
    let mut values: Vec<u64> = group.cells.iter().map(of).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Figure 1: tests down, payloads across; means as always, and medians.
fn latency(group: &Workers) -> Vec<Table> {
    let by = group.divisor();
    let mean = |cell: &Cell| Some(format!("{:.0}", cell.rtt_mean_ns.get() / by));
    let median = |cell: &Cell| cell.rtt_p50_ns.map(|p50| format!("{:.0}", p50.value.get() / by));
    let name = time_name(group);
    let title = format!("Figure 1: average latency in ns ({name})");
    let mut tables = vec![by_tests(group, &title, &mean)];
    if group.cells.iter().any(|cell| cell.rtt_p50_ns.is_some()) {
        tables.push(by_tests(
            group,
            &format!("median latency in ns ({name})"),
            &median,
        ));
    }
    tables
}

fn by_tests(group: &Workers, title: &str, text: &dyn Fn(&Cell) -> Option<String>) -> Table {
    let sizes = values(group, |cell| cell.size_bytes);
    let mut rows: Vec<Row> = Vec::new();
    for tests in values(group, |cell| cell.tests) {
        let mut row = vec![if tests == 0 {
            "by time".to_owned()
        } else {
            tests.to_string()
        }];
        for size in &sizes {
            let cell = group
                .cells
                .iter()
                .find(|cell| cell.tests == tests && cell.size_bytes == *size);
            row.push(cell.and_then(text).unwrap_or_else(|| "-".to_owned()));
        }
        rows.push(row.into());
    }
    let columns = grid("tests per worker", sizes.iter().map(|size| payload_title(*size)));
    Table::new(title, columns, rows)
}

/// Columns of a grid: its rows' name, then a column a payload.
fn grid(first: &str, others: impl Iterator<Item = String>) -> Vec<Column> {
    let mut columns = vec![text(first, 0)];
    columns.extend(others.map(|title| number(&title, 0)));
    columns
}

/// A bandwidth of a cell, where it has one.
type SpeedOf = fn(&Cell) -> Option<f64>;

/// Figure 2: bandwidth at most tests, in units that say what they are.
fn bandwidth(group: &Workers) -> Option<Table> {
    let cells = group.longest();
    let has = |cell: &&Cell| cell.bandwidth_bytes_per_s.is_some();
    if !cells.iter().any(has) {
        return None;
    }
    let what = match (group.fan_out, group.both_ways) {
        (true, true) => "payload of all workers, both ways, over the time of the run",
        (true, false) => "payload of all workers over the time of the run",
        (false, true) => "payload / (round trip / 2)",
        (false, false) => "payload of a round trip / round trip",
    };
    let of_mean: SpeedOf = |cell| cell.bandwidth_bytes_per_s.map(Finite::get);
    let of_median: SpeedOf = |cell| cell.bandwidth_p50_bytes_per_s.map(|p50| p50.value.get());
    let units: [(&str, f64, SpeedOf); 5] = [
        ("kB/s  (10^3)", 1e3, of_mean),
        ("MB/s  (10^6)", 1e6, of_mean),
        ("MiB/s (2^20)", 1_048_576.0, of_mean),
        ("Mbit/s", 1e6 / 8.0, of_mean),
        ("MB/s, median", 1e6, of_median),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (unit, divisor, of) in units {
        if cells.iter().any(|cell| of(cell).is_some()) {
            let mut row = vec![unit.to_owned()];
            row.extend(cells.iter().map(|cell| match of(cell) {
                Some(speed) => significant(speed / divisor, 4),
                None => "-".to_owned(),
            }));
            rows.push(row.into());
        }
    }
    let title = match group.tests_max() {
        0 => format!("Figure 2: bandwidth ({what})"),
        tests => format!(
            "Figure 2: bandwidth at {} per worker ({what})",
            counted(tests, "test")
        ),
    };
    let columns = grid(
        "bandwidth",
        cells.iter().map(|cell| format_rate(cell.size_bytes as f64, "B")),
    );
    Some(Table::new(&title, columns, rows))
}

/// What the figures answer, in words with their numbers.
fn sentences(group: &Workers) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(first_trip(group));
    lines.extend(group.connect_ns.map(|ns| {
        format!(
            "opening the port: {} (connections, and the wait for ranks that start later)",
            format_ns(ns.get())
        )
    }));
    lines.extend(fitted(group));
    lines.extend(levelled(group));
    lines
}

/// Why few tests look slow.
fn first_trip(group: &Workers) -> Option<String> {
    let reference = group.reference_bytes()?;
    let mut cells: Vec<&Cell> = group
        .cells
        .iter()
        .filter(|cell| cell.size_bytes == reference)
        .collect();
    cells.order_by_key(|cell| cell.tests);
    let (fewest, most) = (cells.first()?, cells.last()?);
    let (later, what) = match most.rtt_p50_ns {
        Some(p50) => (p50.value.get(), "median"),
        None => (most.rtt_mean_ns.get(), "mean"),
    };
    let first = fewest.first_ns?.get();
    let times = significant(first / later, 3);
    let mut text = format!(
        "the first round trip with a worker takes {}, {times} x the {what} of later ones ({}; connection, first touch, cold caches); \
         warm-up leaves it out of the figures above",
        format_ns(first),
        format_rate(reference as f64, "B"),
    );
    if let (Some(few), Some(many)) = (fewest.rtt_mean_with_first_ns, most.rtt_mean_with_first_ns)
        && fewest.tests < most.tests
    {
        let by = group.divisor();
        text.push_str(&format!(
            "; counted in, {} tests average {} and {} tests {}",
            fewest.tests,
            format_ns(few.get() / by),
            most.tests,
            format_ns(many.get() / by)
        ));
    }
    Some(text)
}

fn fitted(group: &Workers) -> Option<String> {
    if let Some(poor) = group.fit.as_ref().filter(|fit| !fit.holds()) {
        return Some(format!(
            "no fit: T = a + s/b misses one of {} payloads by {}; look at the figures themselves",
            poor.points,
            percent(poor.worst_residual_ratio.get())
        ));
    }
    let Some(fit) = &group.fit else {
        let sizes = values(group, |cell| cell.size_bytes).len();
        return (sizes > 2 && group.fan_out).then(|| "no fit: round trips of all workers overlap".to_owned());
    };
    let level = significant(fit.level.get() * 100.0, 3);
    let Interval {
        value, lower, upper, ..
    } = fit.rtt_ns;
    let mut text = format!(
        "fit T = a + s/b over {} payloads: a = {} [{}, {}] for a round trip",
        fit.points,
        format_ns(value.get()),
        format_ns(lower.get()),
        format_ns(upper.get()),
    );
    match fit.bandwidth_bytes_per_s {
        Some(bandwidth) => {
            let end =
                |end: Option<Finite>| end.map_or("unbounded".to_owned(), |b| format_rate(b.get(), "B/s"));
            text.push_str(&format!(
                ", b = {} [{}, {}]",
                format_rate(bandwidth.get(), "B/s"),
                end(fit.bandwidth_lower_bytes_per_s),
                end(fit.bandwidth_upper_bytes_per_s)
            ));
        }
        None => text.push_str(", no b: time does not grow with size"),
    }
    if let Some(half) = fit.half_size_bytes {
        text.push_str(&format!(", half of b at {}", format_rate(half.get(), "B")));
    }
    text.push_str(&format!(
        " ({level} % intervals; largest residual {})",
        percent(fit.worst_residual_ratio.get())
    ));
    Some(text)
}

/// Has the rate levelled off?
fn levelled(group: &Workers) -> Option<String> {
    let end = group.at_the_end.as_ref()?;
    let change = end.ratio.get() - 1.0;
    let interval = |cell: &Cell| ends(&cell.bandwidth_p50_bytes_per_s?.metric());
    let is_level = match group.longest().as_slice() {
        [.., before, last] => is_close(interval(before), interval(last)),
        _ => false,
    };
    let goes = match change {
        _ if change.abs() <= LEVEL_TOLERANCE => "has levelled off",
        _ if is_level => "may have levelled off",
        _ if change > 0.0 => "still rises",
        _ => "falls again",
    };
    // Published grids have means alone.
    let has_median = |cell: &&Cell| cell.bandwidth_p50_bytes_per_s.is_some();
    let it = match group.longest().iter().rev().take(2).all(has_median) {
        true => "its median",
        false => "it",
    };
    Some(format!(
        "the bandwidth {goes}: with {} {it} is {} that with {}",
        format_rate(end.to_bytes as f64, "B"),
        against(end.ratio.get()),
        format_rate(end.from_bytes as f64, "B")
    ))
}

fn worker_rows(group: &Workers) -> Table {
    let columns = vec![
        text("worker", 0),
        text("host", 3),
        number("cpu", 6),
        number("trips", 5),
        number("RTT min", 4),
        number("p50", 0),
        number("mean", 2),
        number("p99", 2),
        number("max", 3),
        number("first", 1),
        number("x median", 0),
        text("verdict", 0),
    ];
    let ns = |value: Option<Finite>| value.map(|ns| format_ns(ns.get())).unwrap_or_default();
    let row = |row: &crate::workers::WorkerRow| {
        let host = row.host.clone();
        let cells = vec![
            row.worker.to_string(),
            // One host for all says nothing.
            host.filter(|_| !group.hosts.is_empty()).unwrap_or_default(),
            row.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
            row.trips.to_string(),
            ns(row.rtt_min_ns),
            ns(row.rtt_p50_ns.map(|p50| p50.value)),
            ns(row.rtt_mean_ns),
            ns(row.rtt_p99_ns),
            ns(row.rtt_max_ns),
            ns(row.first_ns),
            times_median(row.ratio),
        ];
        marked(cells, row.slow)
    };
    let payload = group
        .reference_bytes()
        .map_or(String::new(), |bytes| format_rate(bytes as f64, "B"));
    let title = match values(group, |cell| cell.size_bytes).len() {
        0 | 1 => "each worker".to_owned(),
        _ => format!("each worker at {payload} and most tests; x median over all payloads"),
    };
    Table::new(&title, columns, group.rows.iter().map(row).collect())
}

fn host_rows(group: &Workers) -> Option<Table> {
    let columns = vec![
        key("host"),
        number("workers", 0),
        number("RTT p50", 0),
        number("x median", 0),
        text("verdict", 0),
    ];
    let row = |host: &crate::workers::HostRow| {
        let cells = vec![
            host.host.clone(),
            host.workers.len().to_string(),
            host.rtt_p50_ns.map(|ns| format_ns(ns.get())).unwrap_or_default(),
            times_median(host.ratio),
        ];
        marked(cells, host.slow)
    };
    (!group.hosts.is_empty()).then(|| Table::new("each host", columns, group.hosts.iter().map(row).collect()))
}

fn times_median(ratio: Option<Finite>) -> String {
    ratio.map(|ratio| significant(ratio.get(), 3)).unwrap_or_default()
}

/// A row with the word for what is slow.
fn marked(mut cells: Vec<String>, slow: bool) -> Row {
    cells.push(if slow { "slow".to_owned() } else { String::new() });
    Row {
        cells,
        tone: slow.then_some(Tone::Warning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::Levelling;
    use wirespeed_schema::Finite;

    fn number(value: f64) -> Finite {
        Finite::maybe(value).unwrap()
    }

    fn cell(size_bytes: u64, median: f64, width: f64) -> Cell {
        Cell {
            size_bytes,
            bandwidth_bytes_per_s: Some(number(median * 3.0)),
            bandwidth_p50_bytes_per_s: Some(Interval {
                value: number(median),
                lower: number(median * (1.0 - width)),
                upper: number(median * (1.0 + width)),
                level: None,
            }),
            ..Cell::default()
        }
    }

    #[test]
    fn the_answer_has_the_median_where_there_is_one() {
        let mut group = Workers {
            cells: vec![cell(1000, 100.0, 0.1), cell(2000, 200.0, 0.1)],
            ..Workers::default()
        };
        // A slow start may leave the means in another order.
        group.cells[0].bandwidth_bytes_per_s = Some(number(1000.0));
        let said = speed(&group).unwrap();
        assert!(said.contains("; at most 200 B/s {180 .. 220"), "{said}");
        group.cells[1].bandwidth_p50_bytes_per_s = None;
        let said = speed(&group).unwrap();
        assert!(
            said.ends_with("; at most 600 B/s on average (with 2 kB)."),
            "{said}"
        );
    }

    #[test]
    fn a_rate_goes_on_only_beyond_its_intervals() {
        let said = |last: f64, width: f64| {
            let group = Workers {
                cells: vec![cell(1000, 100.0, width), cell(2000, last, width)],
                at_the_end: Some(Levelling {
                    from_bytes: 1000,
                    to_bytes: 2000,
                    ratio: number(last / 100.0),
                }),
                ..Workers::default()
            };
            levelled(&group).unwrap()
        };
        assert!(said(150.0, 0.01).starts_with("the bandwidth still rises: with 2 kB its median is"));
        assert!(said(60.0, 0.01).starts_with("the bandwidth falls again: "));
        assert!(said(101.0, 0.01).starts_with("the bandwidth has levelled off: "));
        for last in [150.0, 60.0] {
            assert!(said(last, 0.5).starts_with("the bandwidth may have levelled off: "));
        }
    }
}
