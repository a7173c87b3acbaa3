//! Bulk transfers: how fast each pair moved data and what limits it, then every run and where its time went.

use super::model::{Line, Part};
use super::tables_2009;
use crate::byteio::{RECOMMENDED, connection_time, was_reached};
use crate::charts::Picture;
use crate::labels::Input;
use crate::table::{Row, Table, Tone, key, number, text};
use crate::thresholds::PHASE_TOLD_SHARE;
use crate::wording::{counted, fine_percent};
use std::fmt::Write as _;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::{ByteioSection, Connection, Pair, Summary, Transfer};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{format_asked_size, format_ns, significant};

/// The name of the profile that prints the tables of 2009.
pub const PROFILE_2009: &str = "byteio2009";
/// The name of a sweep over shapes, which says which one the path wants.
pub const PROFILE_SWEEP: &str = "sweep";

/// Pairs that are told one by one in the answer.
const NAMED_MAX: usize = 4;

/// The bandwidth of each pair and what limits it; of many pairs the slowest and the fastest; of a sweep the shape to use.
pub fn answers(input: &Input, _: &[Picture]) -> Vec<String> {
    let section = input.run.sections.get::<ByteioSection>().unwrap_or_default();
    let sweep = is_sweep(&section);
    let told = |pair: &&Pair| pair.summary.is_some() && (!sweep || pair.name == RECOMMENDED);
    let mut pairs: Vec<&Pair> = section.pairs.iter().filter(told).collect();
    let mut said = Vec::from_iter(unmoved_answer(&section));
    if pairs.len() > NAMED_MAX {
        pairs.order_by(|a, b| rate(a).total_cmp(&rate(b)));
        said.push(format!("{} pairs; the slowest and the fastest:", pairs.len()));
        pairs = pairs.first().into_iter().chain(pairs.last()).copied().collect();
    }
    said.extend(pairs.into_iter().filter_map(|pair| pair_answer(pair, sweep)));
    said
}

fn is_sweep(section: &ByteioSection) -> bool {
    section.profile.as_deref() == Some(PROFILE_SWEEP)
}

fn rate(pair: &Pair) -> f64 {
    let summary = pair.summary.as_ref();
    summary.map_or(0.0, |summary| summary.median_bytes_per_s.get())
}

fn pair_answer(pair: &Pair, sweep: bool) -> Option<String> {
    let summary = pair.summary.as_ref()?;
    let figure = format!("{} Mb/s {}", megabits(rate(pair)), interval(summary));
    let name = match sweep {
        true => format!("{}: {}", pair.name, shape(pair)),
        false => pair.name.clone(),
    };
    let limit = pair.verdict.as_ref().map_or(String::new(), |verdict| {
        format!("; limit: {}, {}", verdict.limit, verdict.text)
    });
    Some(format!("{name}: {}{limit}.", figure.trim_end()))
}

/// The first pair of which no run moved anything, and how many there are: of one file they are all the same.
fn unmoved_answer(section: &ByteioSection) -> Option<String> {
    let mut all = section
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, unmoved(pair)?)));
    let (pair, run) = all.next()?;
    let why = match run.resumed_bytes {
        0 => "there was nothing to move",
        _ => "all of it was there",
    };
    let took = format_ns((run.lookup_ns + run.connect_ns + run.elapsed_ns + run.verify_ns) as f64);
    let more = match all.count() {
        0 => String::new(),
        more => format!("; likewise {} more", counted(more as u64, "pair")),
    };
    let name = &pair.name;
    Some(format!(
        "{name}: 0 bytes, {why}; {took} from look-up to end{more}."
    ))
}

/// The middle run of a pair of which none moved anything.
fn unmoved(pair: &Pair) -> Option<&Transfer> {
    let whole = pair.runs.iter().filter(|run| run.error.is_none());
    let whole: Vec<&Transfer> = whole.filter(|_| pair.summary.is_none()).collect();
    whole.get(whole.len() / 2).copied()
}

/// The pairs with their figures, and each pair's runs.
pub fn parts(run: &Run) -> Vec<Part> {
    let section = run.sections.get::<ByteioSection>().unwrap_or_default();
    let mut parts = Vec::new();
    if section.profile.as_deref() == Some(PROFILE_2009) {
        parts.extend(tables_2009::tables(&section).into_iter().map(Part::Table));
    }
    if !section.pairs.is_empty() {
        parts.push(Part::Table(pairs(&section)));
    }
    let told = section
        .pairs
        .iter()
        .filter(|pair| !is_sweep(&section) || pair.name == RECOMMENDED);
    parts.extend(told.map(|pair| Part::Lines(details(pair, section.pairs.len() > NAMED_MAX))));
    parts.retain(|part| !matches!(part, Part::Lines(lines) if lines.is_empty()));
    parts
}

/// Mb/s, the field's unit for links: powers of ten.
pub(super) fn megabits(bytes_per_s: f64) -> String {
    format!("{:.2}", bytes_per_s * 8.0 / 1e6)
}

/// `4 x 8 MiB x 2`: connections, block, requests outstanding on each.
fn shape(pair: &Pair) -> String {
    let block = format_asked_size(pair.block_bytes);
    format!("{} x {block} x {}", pair.threads, pair.depth_ops)
}

fn interval(summary: &Summary) -> String {
    let ends = (summary.lower_bytes_per_s.get(), summary.upper_bytes_per_s.get());
    match (summary.level_ratio, summary.runs_count) {
        (None, 0 | 1) => String::new(),
        (level, _) => between(ends, level.is_some()),
    }
}

/// The ends of an interval in Mb/s; in braces where they are the slowest and the fastest run.
pub(super) fn between((lower, upper): (f64, f64), has_level: bool) -> String {
    let ends = format!("{} .. {}", megabits(lower), megabits(upper));
    match has_level {
        true => format!("[{ends}]"),
        false => format!("{{{ends}}}"),
    }
}

fn pairs(section: &ByteioSection) -> Table {
    let columns = vec![
        key("pair"),
        key("way"),
        key("shape"),
        number("Mb/s", 0),
        number("interval", 3),
        number("sd", 6),
        number("runs", 5),
        number("of nominal", 4),
        number("of ceiling", 7),
        number("sRTT", 8),
        number("sent again", 9),
        text("control", 10),
    ];
    let note = "Mb/s: 10^6 bits of payload a second; shape: connections x block x outstanding on each; [ ] interval of \
                the median, { } slowest and fastest; sRTT: TCP's smoothed round-trip time at the sender, or here \
                where that is not known";
    Table::new("", columns, section.pairs.iter().map(row).collect()).noted(note)
}

fn row(pair: &Pair) -> Row {
    let mut cells = vec![
        pair.name.clone(),
        format!("{} {}", pair.direction, pair.mechanism),
        shape(pair),
    ];
    let Some(summary) = &pair.summary else {
        let (word, tone) = match (unmoved(pair), was_reached(pair)) {
            (Some(_), _) => ("0 bytes", None),
            (None, true) => ("failed", Some(Tone::Bad)),
            (None, false) => ("not measured", None),
        };
        cells.push(word.to_owned());
        return Row { cells, tone };
    };
    let share = |ratio: Option<f64>| ratio.map(fine_percent).unwrap_or_default();
    cells.extend([
        megabits(summary.median_bytes_per_s.get()),
        interval(summary),
        summary
            .sd_bytes_per_s
            .map_or(String::new(), |sd| megabits(sd.get())),
        summary.runs_count.to_string(),
        share(summary.nominal_ratio.map(|ratio| ratio.get())),
        share(summary.ceiling_ratio.map(|ratio| ratio.get())),
        summary.rtt_ns.map_or(String::new(), |ns| format_ns(ns as f64)),
        share(summary.retransmitted_ratio.map(|ratio| ratio.get())),
        summary.congestion.clone().unwrap_or_default(),
    ]);
    cells.into()
}

/// Every run of a pair, the phases of the middle one, and what went wrong; what limits it where the answer does not say.
fn details(pair: &Pair, many: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let all: Vec<String> = pair
        .runs
        .iter()
        .map(|run| match &run.error {
            None => run.rate_bytes_per_s().map_or("-".to_owned(), megabits),
            Some(_) => "broken".to_owned(),
        })
        .collect();
    if pair.summary.is_some() {
        lines.push(Line::plain(format!(
            "{}, all runs: {} Mb/s",
            pair.name,
            all.join(" ")
        )));
    }
    let mut whole: Vec<&Transfer> = pair.runs.iter().filter(|run| run.error.is_none()).collect();
    whole.order_by(|a, b| {
        let rate = |run: &Transfer| run.rate_bytes_per_s().unwrap_or_default();
        rate(a).total_cmp(&rate(b))
    });
    if let Some(run) = whole.get(whole.len() / 2) {
        lines.push(Line::plain(phases(pair, run)));
    }
    let of = match many {
        true => format!("{}, ", pair.name),
        false => String::new(),
    };
    let broken = pair.runs.iter().filter_map(|run| run.error.as_ref());
    lines.extend(broken.map(|error| Line::toned(Tone::Bad, format!("{of}broken off: {error}"))));
    // Which the run did not reach, the answer says.
    let failed = pair.error.iter().filter(|_| was_reached(pair));
    lines.extend(failed.map(|error| Line::toned(Tone::Bad, format!("{of}error: {error}"))));
    if let Some(verdict) = pair.verdict.as_ref().filter(|_| many) {
        let text = format!("limit: {}, {}", verdict.limit, verdict.text);
        lines.push(Line::toned(Tone::Strong, text));
    }
    lines
}

/// A part of a connection's time.
type PartOf = fn(&Connection) -> u64;

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
    let parts: [(&str, PartOf); 6] = [
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
    let rest = time - spent.iter().sum::<u64>() as f64;
    let named = parts
        .iter()
        .zip(spent)
        .map(|((name, _), spent)| (*name, spent as f64));
    for (name, spent) in named.chain([("other", rest)]) {
        let share = spent / time;
        if share >= PHASE_TOLD_SHARE {
            let gap = if shares.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(shares, "{gap}{name} {}", fine_percent(share));
        }
    }
    if run.elapsed_ns > 0 {
        let _ = write!(line, " ({shares})");
    }
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
        let _ = write!(line, ", {} taken over", counted(run.steals_count, "block"));
    }
    if let Some(ratio) = run.wire_ratio() {
        let _ = write!(line, "; {ratio:.4} bytes on the sockets for each byte of payload");
    }
    if let Some(near) = run.cores_of(run.cpu_near_ns) {
        let who = match pair.load.is_idle() {
            true => "client",
            false => "client with its load",
        };
        let _ = write!(line, "; CPU {who} {} cores", significant(near, 2));
    }
    if let Some(far) = run.cpu_far_ns.and_then(|ns| run.cores_of(ns)) {
        let _ = write!(line, ", service {}", significant(far, 2));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::UNREACHED;

    #[test]
    fn a_pair_that_the_run_did_not_reach_is_no_failure() {
        for (error, word, is_bad) in [(UNREACHED, "not measured", false), ("cut", "failed", true)] {
            let pair = Pair {
                name: "a -> b".to_owned(),
                error: Some(error.to_owned()),
                ..Pair::default()
            };
            let row = row(&pair);
            assert_eq!(row.cells.last().map(String::as_str), Some(word));
            assert_eq!(row.tone.is_some(), is_bad, "{error}");
            assert_eq!(details(&pair, true).is_empty(), !is_bad, "{error}");
        }
    }
}
