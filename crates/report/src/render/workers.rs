//! Master and workers: the grid of latencies and bandwidths, the price of the first round trip, the fit, a row for each
//! worker.

use super::style::{Style, Tone, clean, wrap};
use super::{grid, table};
use crate::thresholds::LEVEL_TOLERANCE;
use crate::wording::{against, percent};
use crate::workers::{Cell, Interval, Workers, WorkersSection};
use wirespeed_schema::Run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::units::{format_ns, format_rate, significant};

/// Bytes of the integers that payloads are counted in.
const INT_BYTES: u64 = 4;

/// The whole result for people.
pub fn workers(run: &Run, style: &Style) -> String {
    let section = WorkersSection::of(run);
    let mut lines = Vec::new();
    for group in section.groups.iter().filter(|group| !group.cells.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(style.paint(Tone::Strong, &wrap(&heading(group), style.width, 2)));
        lines.extend(latency(group, style));
        lines.extend(bandwidth(group, style));
        lines.extend(sentences(group).iter().map(|line| wrap(line, style.width, 2)));
        lines.extend(worker_rows(group, style));
        lines.extend(host_rows(group, style));
    }
    lines.extend(table::unmeasured(&run.cases, style));
    lines.extend(
        table::trust_line(&run.cases).map(|line| style.paint(Tone::Faint, &wrap(&line, style.width, 2))),
    );
    lines.extend(table::remark_lines(&table::all_remarks(run), style));
    lines.extend(table::run_end(run, style));
    table::finish(lines, style)
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
    let plural = if group.workers == 1 { "" } else { "s" };
    format!(
        "{} worker{plural} over {}, {order}, {payload}",
        group.workers,
        clean(&group.transport)
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
fn latency(group: &Workers, style: &Style) -> Vec<String> {
    let by = group.divisor();
    let mean = |cell: &Cell| Some(format!("{:.0}", cell.rtt_mean_ns.get() / by));
    let median = |cell: &Cell| cell.rtt_p50_ns.map(|p50| format!("{:.0}", p50.value.get() / by));
    let name = time_name(group);
    let mut lines = vec![String::new(), format!("Figure 1: average latency in ns ({name})")];
    lines.extend(by_tests(group, style, &mean));
    if group.cells.iter().any(|cell| cell.rtt_p50_ns.is_some()) {
        lines.push(String::new());
        lines.push(format!("median latency in ns ({name})"));
        lines.extend(by_tests(group, style, &median));
    }
    lines
}

fn by_tests(group: &Workers, style: &Style, text: &dyn Fn(&Cell) -> Option<String>) -> Vec<String> {
    let sizes = values(group, |cell| cell.size_bytes);
    let mut rows = vec![vec!["tests per worker".to_owned()]];
    rows[0].extend(sizes.iter().map(|size| payload_title(*size)));
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
        rows.push(row);
    }
    aligned(&rows, style.width)
}

/// A bandwidth of a cell, where it has one.
type SpeedOf = fn(&Cell) -> Option<f64>;

/// Figure 2: bandwidth at most tests, in units that say what they are.
fn bandwidth(group: &Workers, style: &Style) -> Vec<String> {
    let cells = group.longest();
    let has = |cell: &&Cell| cell.bandwidth_bytes_per_s.is_some();
    if !cells.iter().any(has) {
        return Vec::new();
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
    let mut rows = vec![vec!["bandwidth".to_owned()]];
    rows[0].extend(cells.iter().map(|cell| format_rate(cell.size_bytes as f64, "B")));
    for (unit, divisor, of) in units {
        if cells.iter().any(|cell| of(cell).is_some()) {
            let mut row = vec![unit.to_owned()];
            row.extend(cells.iter().map(|cell| match of(cell) {
                Some(speed) => significant(speed / divisor, 4),
                None => "-".to_owned(),
            }));
            rows.push(row);
        }
    }
    let tests = group.tests_max();
    let mut lines = vec![String::new()];
    lines.push(match tests {
        0 => format!("Figure 2: bandwidth ({what})"),
        _ => format!("Figure 2: bandwidth at {tests} tests per worker ({what})"),
    });
    lines.extend(aligned(&rows, style.width));
    lines.push(String::new());
    lines
}

/// Rows of one width; where they do not fit, columns go on below, the first repeated.
fn aligned(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let long = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut lines = Vec::new();
    let mut next = 1;
    while next < columns {
        let (first, mut used) = (next, long(0) + 2 + long(next));
        next += 1;
        while next < columns && used + 2 + long(next) <= width {
            used += 2 + long(next);
            next += 1;
        }
        for row in rows {
            let mut line = format!("{:<1$}", row[0], long(0));
            for (column, cell) in row.iter().enumerate().take(next).skip(first) {
                line.push_str(&format!("  {cell:>0$}", long(column)));
            }
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
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
    cells.sort_by_key(|cell| cell.tests);
    let (fewest, most) = (cells.first()?, cells.last()?);
    let later = most.rtt_p50_ns.map_or(most.rtt_mean_ns, |p50| p50.value).get();
    let first = fewest.first_ns?.get();
    let times = significant(first / later, 3);
    let mut text = format!(
        "the first round trip with a worker takes {}, {times} x the median of later ones ({}; connection, first touch, cold caches); \
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
    let Interval { value, lower, upper } = fit.rtt_ns;
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
    let (from, to) = (
        format_rate(end.from_bytes as f64, "B"),
        format_rate(end.to_bytes as f64, "B"),
    );
    let said = against(end.ratio.get());
    Some(if change.abs() <= LEVEL_TOLERANCE {
        format!(
            "the bandwidth has levelled off: from {from} to {to} it changes by {}",
            percent(change.abs())
        )
    } else if change > 0.0 {
        format!("the bandwidth still rises: with {to} it is {said} that with {from}")
    } else {
        format!("the bandwidth falls again: with {to} it is {said} that with {from}")
    })
}

const WORKER_COLUMNS: [grid::Column; 11] = [
    grid::text("worker", 0),
    grid::text("host", 3),
    grid::number("cpu", 6),
    grid::number("trips", 5),
    grid::number("RTT min", 4),
    grid::number("p50", 0),
    grid::number("mean", 2),
    grid::number("p99", 2),
    grid::number("max", 3),
    grid::number("first", 1),
    grid::number("x median", 0),
];

fn worker_rows(group: &Workers, style: &Style) -> Vec<String> {
    let ns = |value: Option<Finite>| value.map(|ns| format_ns(ns.get())).unwrap_or_default();
    let row = |row: &crate::workers::WorkerRow| {
        let ratio = row
            .ratio
            .map(|ratio| significant(ratio.get(), 3))
            .unwrap_or_default();
        vec![
            row.worker.to_string(),
            // One host for all says nothing.
            row.host
                .as_deref()
                .filter(|_| !group.hosts.is_empty())
                .map(clean)
                .unwrap_or_default(),
            row.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
            row.trips.to_string(),
            ns(row.rtt_min_ns),
            ns(row.rtt_p50_ns.map(|p50| p50.value)),
            ns(row.rtt_mean_ns),
            ns(row.rtt_p99_ns),
            ns(row.rtt_max_ns),
            ns(row.first_ns),
            ratio,
        ]
    };
    let rows: Vec<Vec<String>> = group.rows.iter().map(row).collect();
    let payload = group
        .reference_bytes()
        .map_or(String::new(), |bytes| format_rate(bytes as f64, "B"));
    let heading = match values(group, |cell| cell.size_bytes).len() {
        0 | 1 => "each worker".to_owned(),
        _ => format!("each worker at {payload} and most tests; the last column over all payloads"),
    };
    let mut lines = vec![String::new(), wrap(&heading, style.width, 2)];
    let (shown, _) = grid::render(&WORKER_COLUMNS, &rows, style.width.saturating_sub(8));
    let slow = std::iter::once(false).chain(group.rows.iter().map(|row| row.slow));
    lines.extend(shown.into_iter().zip(slow).map(|(line, slow)| match slow {
        true => style.paint(Tone::Warning, &format!("{line}  slow")),
        false => line,
    }));
    lines.push(String::new());
    lines
}

const HOST_COLUMNS: [grid::Column; 4] = [
    grid::text("host", 0),
    grid::number("workers", 0),
    grid::number("RTT p50", 0),
    grid::number("x median", 0),
];

fn host_rows(group: &Workers, style: &Style) -> Vec<String> {
    if group.hosts.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> = group
        .hosts
        .iter()
        .map(|host| {
            vec![
                clean(&host.host),
                host.workers.len().to_string(),
                host.rtt_p50_ns.map(|ns| format_ns(ns.get())).unwrap_or_default(),
                host.ratio
                    .map(|ratio| significant(ratio.get(), 3))
                    .unwrap_or_default(),
            ]
        })
        .collect();
    let (shown, _) = grid::render(&HOST_COLUMNS, &rows, style.width.saturating_sub(8));
    let slow = std::iter::once(false).chain(group.hosts.iter().map(|host| host.slow));
    let mut lines = vec!["each host".to_owned()];
    lines.extend(shown.into_iter().zip(slow).map(|(line, slow)| match slow {
        true => style.paint(Tone::Warning, &format!("{line}  slow")),
        false => line,
    }));
    lines.push(String::new());
    lines
}
