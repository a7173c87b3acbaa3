//! The human report of bulk transfers: the pairs with their figures, the experiment of 2009 as it was printed, phases of
//! the run in the middle, and the verdict. CSV: one row a run.

use super::RenderError;
use super::grid::{self, number, text};
use super::style::{Style, Tone, clean, wrap};
use crate::byteio::{WIRE_OVERHEAD, connection_time, section};
use crate::thresholds::PHASE_TOLD_SHARE;
use crate::wording::fine_percent;
use std::fmt::Write as _;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::{ByteioSection, Connection, Pair, Summary, Transfer};
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::units::{format_ns, format_size, significant};

/// The name of the profile that prints the tables of 2009.
pub const PROFILE_2009: &str = "byteio2009";

/// The name of a sweep over shapes, which says which one the path wants.
pub const PROFILE_SWEEP: &str = "sweep";
/// The pair of a sweep that is recommended.
pub const RECOMMENDED: &str = "recommended";

/// The report of a run with a section `byteio`.
pub fn byteio(run: &Run, style: &Style) -> String {
    let Some(section) = section(run) else {
        return super::table(run, style);
    };
    let mut lines = Vec::new();
    if section.profile.as_deref() == Some(PROFILE_2009) {
        lines.extend(tables_of_2009(&section));
    }
    if !section.pairs.is_empty() {
        lines.extend(pairs(&section, style));
    }
    let sweep = section.profile.as_deref() == Some(PROFILE_SWEEP);
    for pair in section
        .pairs
        .iter()
        .filter(|pair| !sweep || pair.name == RECOMMENDED)
    {
        lines.extend(details(pair, section.pairs.len() > 1, style));
    }
    let under_load = super::interference::comparison(run, style);
    if under_load.is_empty() {
        let mut remarks = super::table::all_remarks(run);
        remarks.retain(|remark| remark.code == WIRE_OVERHEAD);
        lines.extend(super::table::remark_lines(&remarks, style));
    }
    lines.extend(under_load);
    lines.extend(super::table::run_end(run, style));
    super::table::finish(lines, style)
}

/// Mb/s, the field's unit for links: powers of ten.
pub(super) fn megabits(bytes_per_s: f64) -> String {
    format!("{:.2}", bytes_per_s * 8.0 / 1e6)
}

/// Tables 1 and 2 and the results, with the columns of the original paper.
fn tables_of_2009(section: &ByteioSection) -> Vec<String> {
    let mut lines = machines_of_2009(section);
    lines.extend(speeds_of_2009(section));
    lines.extend(results_of_2009(section));
    lines
}

fn machines_of_2009(section: &ByteioSection) -> Vec<String> {
    let mut lines = Vec::new();
    let mut machines: Vec<Vec<String>> = Vec::new();
    let mut machine = |name: &str, host: Option<&HostFingerprint>| {
        let Some(host) = host else {
            return;
        };
        if machines.iter().all(|row| row[0] != name) {
            machines.push(vec![
                clean(name),
                host.cpu_model
                    .clone()
                    .unwrap_or_else(|| host.architecture.clone()),
                host.kernel.clone(),
                host.cpus_online.to_string(),
                format_size(host.memory_bytes),
            ]);
        }
    };
    for pair in &section.pairs {
        let (reader, server) = pair.name.split_once(" -> ").unwrap_or((&pair.name, "server"));
        machine(reader, pair.near.as_deref());
        machine(server, pair.far.as_deref());
    }
    let columns = [
        text("Machine", 0),
        text("Architecture", 0),
        text("Operating System", 0),
        number("Cores", 0),
        number("Memory", 0),
    ];
    if !machines.is_empty() {
        lines.extend(grid::render(&columns, &machines, 200).0);
        lines.extend([
            "Table 1: Hardware Characteristics of Machines Involved in Performance Tests".to_owned(),
            String::new(),
        ]);
    }
    lines
}

fn speeds_of_2009(section: &ByteioSection) -> Vec<String> {
    let speeds: Vec<Vec<String>> = section
        .pairs
        .iter()
        .map(|pair| {
            let speed = pair.nominal_bytes_per_s.map_or("not given".to_owned(), |n| {
                format!("{} Mb/s", grouped((n.get() * 8.0 / 1e6).round() as u64))
            });
            let speed = match &pair.emulated {
                Some(how) => format!("{speed}, emulated: {}", clean(how)),
                None => speed,
            };
            vec![clean(&pair.name), speed]
        })
        .collect();
    let columns = [text("Machine Pair", 0), text("Minimum Interconnect Speed", 0)];
    let mut lines = grid::render(&columns, &speeds, 200).0;
    lines.extend([
        "Table 2: Interconnect Speeds Involved in Performance Tests".to_owned(),
        String::new(),
    ]);
    lines
}

fn results_of_2009(section: &ByteioSection) -> Vec<String> {
    let results: Vec<Vec<String>> = section
        .pairs
        .iter()
        .map(|pair| {
            let figure = |value: Option<f64>| value.map_or("-".to_owned(), megabits);
            let summary = pair.summary.as_ref();
            vec![
                clean(&pair.name),
                figure(summary.and_then(|s| s.trimmed_mean_bytes_per_s).map(|v| v.get())),
                figure(summary.and_then(|s| s.trimmed_sd_bytes_per_s).map(|v| v.get())),
            ]
        })
        .collect();
    let columns = [
        text("Machine Pair", 0),
        number("Average Bandwidth (Mb/s)", 0),
        number("Standard Deviation (Mb/s)", 0),
    ];
    let mut lines = grid::render(&columns, &results, 200).0;
    lines.extend([
        "best and worst of all runs left out, as in 2009; below, all runs are kept".to_owned(),
        String::new(),
    ]);
    lines
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn interval(summary: &Summary) -> String {
    let (lower, upper) = (
        megabits(summary.lower_bytes_per_s.get()),
        megabits(summary.upper_bytes_per_s.get()),
    );
    match (summary.level_ratio, summary.runs_count) {
        (Some(_), _) => format!("[{lower} .. {upper}]"),
        (None, 0 | 1) => String::new(),
        (None, _) => format!("{{{lower} .. {upper}}}"),
    }
}

fn pairs(section: &ByteioSection, style: &Style) -> Vec<String> {
    let columns = [
        text("pair", 0),
        text("way", 1),
        text("shape", 2),
        number("Mb/s", 0),
        number("interval", 3),
        number("sd", 6),
        number("runs", 5),
        number("of nominal", 4),
        number("of ceiling", 7),
        number("RTT", 8),
        number("sent again", 9),
        text("control", 10),
    ];
    let rows: Vec<Vec<String>> = section
        .pairs
        .iter()
        .map(|pair| {
            let mut row = vec![
                clean(&pair.name),
                format!("{} {}", pair.direction, pair.mechanism),
                format!(
                    "{} x {} x {}",
                    pair.threads,
                    format_size(pair.block_bytes),
                    pair.depth_ops
                ),
            ];
            match &pair.summary {
                None => row.push("failed".to_owned()),
                Some(summary) => row.extend([
                    megabits(summary.median_bytes_per_s.get()),
                    interval(summary),
                    summary
                        .sd_bytes_per_s
                        .map_or(String::new(), |sd| megabits(sd.get())),
                    summary.runs_count.to_string(),
                    summary
                        .nominal_ratio
                        .map_or(String::new(), |r| fine_percent(r.get())),
                    summary
                        .ceiling_ratio
                        .map_or(String::new(), |r| fine_percent(r.get())),
                    summary.rtt_ns.map_or(String::new(), |ns| format_ns(ns as f64)),
                    summary
                        .retransmitted_ratio
                        .map_or(String::new(), |r| fine_percent(r.get())),
                    summary.congestion.clone().unwrap_or_default(),
                ]),
            }
            row
        })
        .collect();
    let (mut lines, dropped) = grid::render(&columns, &rows, style.width);
    if !dropped.is_empty() {
        lines.push(format!(
            "left out for lack of room: {}; --json has all",
            dropped.join(", ")
        ));
    }
    lines.push("Mb/s: 10^6 bits of payload a second; shape: connections x block x outstanding on each; [ ] interval of the median, { } slowest and fastest".to_owned());
    let last = lines.len() - 1;
    lines[last] = style.paint(Tone::Faint, &wrap(&lines[last], style.width, 2));
    lines
}

fn details(pair: &Pair, named: bool, style: &Style) -> Vec<String> {
    let mut lines = vec![String::new()];
    if named {
        lines.push(clean(&pair.name));
    }
    let all: Vec<String> = pair
        .runs
        .iter()
        .map(|run| match &run.error {
            None => megabits(run.bandwidth_bytes_per_s.get()),
            Some(_) => "broken".to_owned(),
        })
        .collect();
    if !all.is_empty() {
        lines.push(wrap(&format!("all runs: {} Mb/s", all.join(" ")), style.width, 2));
    }
    let mut whole: Vec<&Transfer> = pair.runs.iter().filter(|run| run.error.is_none()).collect();
    whole.sort_by(|a, b| {
        a.bandwidth_bytes_per_s
            .get()
            .total_cmp(&b.bandwidth_bytes_per_s.get())
    });
    if let Some(run) = whole.get(whole.len() / 2) {
        lines.push(wrap(&phases(pair, run), style.width, 2));
    }
    for run in &pair.runs {
        if let Some(error) = &run.error {
            lines.push(wrap(&format!("broken off: {}", clean(error)), style.width, 2));
        }
    }
    if let Some(error) = &pair.error {
        lines.push(wrap(&format!("error: {}", clean(error)), style.width, 2));
    }
    if let Some(verdict) = &pair.verdict {
        let line = format!("verdict: {} - {}", verdict.limit, clean(&verdict.text));
        lines.push(style.paint(Tone::Strong, &wrap(&line, style.width, 2)));
    }
    lines
}

/// A part of a connection's time.
type Part = fn(&Connection) -> u64;

/// Where the time of a run went: look-up, connections and comparison by the clock, the rest as shares of the connections'
/// time. Requests that are outstanding together spend more than that: then as shares of the time of all requests.
fn phases(pair: &Pair, run: &Transfer) -> String {
    let mut line = format!(
        "middle run: look-up {}, connect {}, transfer {}",
        format_ns(run.lookup_ns as f64),
        format_ns(run.connect_ns as f64),
        format_ns(run.elapsed_ns as f64)
    );
    let mut shares = String::new();
    let parts: [(&str, Part); 6] = [
        ("request", |c| c.request_ns),
        ("first byte", |c| c.first_byte_ns),
        ("stream", |c| c.stream_ns),
        ("store", |c| c.store_ns),
        ("digest", |c| c.digest_ns),
        ("idle", |c| c.idle_ns),
    ];
    let spent: Vec<u64> = parts
        .iter()
        .map(|(_, part)| run.connections.iter().map(part).fold(0, u64::saturating_add))
        .collect();
    let time = connection_time(pair, run);
    for ((name, _), spent) in parts.iter().zip(spent) {
        let share = spent as f64 / time;
        if share >= PHASE_TOLD_SHARE {
            let gap = if shares.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(shares, "{gap}{name} {}", fine_percent(share));
        }
    }
    let _ = write!(line, " ({shares})");
    let compared = match (run.verified, pair.digest.as_str()) {
        (true, digest) => format!(
            ", every block compared by {digest} in {}",
            format_ns(run.verify_ns as f64)
        ),
        (false, "none" | "") => String::new(),
        (false, _) => ", not compared: the service gives no digests".to_owned(),
    };
    line.push_str(&compared);
    let retries: u64 = run.connections.iter().map(|c| c.retries_count).sum();
    if retries > 0 {
        let lost: u64 = run.connections.iter().map(|c| c.retries_ns).sum();
        let _ = write!(line, ", {retries} retries cost {}", format_ns(lost as f64));
    }
    if run.steals_count > 0 {
        let _ = write!(line, ", {} blocks taken over", run.steals_count);
    }
    if let Some(ratio) = run.wire_ratio() {
        let _ = write!(line, "; {ratio:.4} bytes on the sockets for each byte of payload");
    }
    let seconds = run.elapsed_ns.max(1) as f64;
    let _ = write!(
        line,
        "; CPU client {} cores",
        significant(run.cpu_near_ns as f64 / seconds, 2)
    );
    if let Some(far) = run.cpu_far_ns {
        let _ = write!(line, ", service {}", significant(far as f64 / seconds, 2));
    }
    line
}

const COLUMNS: [&str; 27] = [
    "pair",
    "url",
    "direction",
    "mechanism",
    "run",
    "total_bytes",
    "block_bytes",
    "threads",
    "depth_ops",
    "destination",
    "payload_bytes",
    "elapsed_ns",
    "bandwidth_bytes_per_s",
    "socket_read_bytes",
    "socket_written_bytes",
    "wire_ratio",
    "repeated_bytes",
    "lookup_ns",
    "connect_ns",
    "verify_ns",
    "verified",
    "retries_count",
    "steals_count",
    "cpu_near_ns",
    "cpu_far_ns",
    "nominal_bytes_per_s",
    "error",
];

/// One row a run.
pub(super) fn csv(section: &ByteioSection) -> Result<String, RenderError> {
    let failed = |reason: String| RenderError { form: "CSV", reason };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).map_err(|e| failed(e.to_string()))?;
    for pair in &section.pairs {
        for (number, run) in pair.runs.iter().enumerate() {
            let retries: u64 = run.connections.iter().map(|c| c.retries_count).sum();
            let sum = |part: Part| run.connections.iter().map(part).sum::<u64>().to_string();
            let optional = |value: Option<String>| value.unwrap_or_default();
            let row = [
                pair.name.clone(),
                pair.url.clone(),
                pair.direction.clone(),
                pair.mechanism.clone(),
                number.to_string(),
                pair.total_bytes.to_string(),
                pair.block_bytes.to_string(),
                pair.threads.to_string(),
                pair.depth_ops.to_string(),
                pair.destination.clone(),
                run.payload_bytes.to_string(),
                run.elapsed_ns.to_string(),
                run.bandwidth_bytes_per_s.get().to_string(),
                sum(|c| c.socket_read_bytes),
                sum(|c| c.socket_written_bytes),
                optional(run.wire_ratio().map(|ratio| ratio.to_string())),
                sum(|c| c.repeated_bytes),
                run.lookup_ns.to_string(),
                run.connect_ns.to_string(),
                run.verify_ns.to_string(),
                run.verified.to_string(),
                retries.to_string(),
                run.steals_count.to_string(),
                run.cpu_near_ns.to_string(),
                optional(run.cpu_far_ns.map(|ns| ns.to_string())),
                optional(pair.nominal_bytes_per_s.map(|n| n.get().to_string())),
                optional(run.error.clone()),
            ];
            writer.write_record(row).map_err(|e| failed(e.to_string()))?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}
