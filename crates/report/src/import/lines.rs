//! Lines of sockperf, Sandia's msgrate and of the workers' log.

use super::told::test_of;
use super::{Figures, Format, ImportError, UNKNOWN, Unsaid, bad_line, ping_pong};
use crate::smb::{COUNTS, RATES};
use std::collections::BTreeMap;
use wirespeed_schema::HistogramData;
use wirespeed_schema::case::{RankSpec, Role};
use wirespeed_schema::posted::Pattern;
use wirespeed_schema::units::significant;

/// Size of sockperf's messages unless its command, which its output does not repeat, says otherwise.
const SOCKPERF_BYTES: f64 = 14.0;

/// The last line of a run's figures.
const SOCKPERF_LAST: &str = "<MIN> observation";

/// sockperf: each run of the text.
pub fn sockperf(text: &str) -> Result<Vec<Figures>, ImportError> {
    let (mut found, mut first) = (Vec::new(), 0);
    let mut run = String::new();
    for (number, line) in text.lines().enumerate() {
        run.push_str(line);
        run.push('\n');
        if line.contains(SOCKPERF_LAST) {
            found.push(sockperf_run(&run, first)?);
            (run, first) = (String::new(), number + 1);
        }
    }
    if found.is_empty() || run.contains("> percentile ") {
        found.push(sockperf_run(&run, first)?);
    }
    Ok(found)
}

/// `sockperf: ---> percentile 50.000 =   4.321`, in µs: half of the round trip, or with --full-rtt all of it. `first`: lines
/// before the run.
fn sockperf_run(text: &str, first: usize) -> Result<Figures, ImportError> {
    let is_whole = text.contains("Summary: Round trip is") || text.contains("avg-rtt=");
    let ns_per_value = if is_whole { 1000.0 } else { 2000.0 };
    let size = ["--msg-size=", "--msg-size ", " -m "]
        .iter()
        .find_map(|option| after(text, option));
    let transport = ["TCP", "UDP"].iter().find(|name| text.contains(**name));
    let mut found = Figures::new(
        ping_pong(size.unwrap_or(SOCKPERF_BYTES) as u64),
        transport.map_or(UNKNOWN.to_owned(), |name| name.to_lowercase()),
    );
    if size.is_none() {
        found = found.assuming(Unsaid::Size, "taken as 14 B, the tool's default");
    }
    if transport.is_none() {
        found = found.assuming(Unsaid::Transport, UNKNOWN);
    }
    let percentiles = [
        ("percentile 50.000", "rtt_p50_ns"),
        ("percentile 90.000", "rtt_p90_ns"),
        ("percentile 99.000", "rtt_p99_ns"),
        ("percentile 99.900", "rtt_p999_ns"),
        ("percentile 99.990", "rtt_p9999_ns"),
        (SOCKPERF_LAST, "rtt_min_ns"),
        ("<MAX> observation", "rtt_max_ns"),
    ];
    for (number, line) in text.lines().enumerate() {
        let Some((_, tag)) = percentiles.iter().find(|(name, _)| line.contains(name)) else {
            continue;
        };
        let value = line
            .rsplit('=')
            .next()
            .and_then(|value| value.trim().parse::<f64>().ok());
        let value = value.ok_or_else(|| bad_line(Format::Sockperf, first + number, "no number after ="))?;
        found = found.with(tag, value * ns_per_value);
    }
    found = found.with_options(sockperf_load(text));
    let counted = text
        .split(" observations")
        .next()
        .and_then(|before| before.rsplit(' ').next());
    found.samples = counted.and_then(|count| count.parse().ok()).unwrap_or(0);
    Ok(found)
}

/// Under load only some of the messages are answered, and a stream goes on meanwhile: another question than a ping-pong, told by
/// its rate.
fn sockperf_load(text: &str) -> BTreeMap<String, String> {
    let of = |name| after(text.split("[Valid Duration]").nth(1)?, name);
    let counts = of("SentMessages=")
        .zip(of("ReceivedMessages="))
        .zip(of("RunTime="));
    let load = counts.filter(|((sent, received), seconds)| sent >= &(2.0 * received) && *seconds > 0.0);
    let rate = load.map(|((sent, _), seconds)| format!("{} msg/s", significant(sent / seconds, 2)));
    rate.into_iter()
        .map(|rate| ("under-load".to_owned(), rate))
        .collect()
}

/// The number that follows `name` somewhere in the text.
fn after(text: &str, name: &str) -> Option<f64> {
    let rest = text.split(name).nth(1)?.trim_start();
    let digits: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits.parse().ok()
}

/// What only msgrate's text has.
pub const SMB_RATE: &str = "single direction:";

/// Its rates by their titles, and the pattern of each.
fn patterns() -> impl Iterator<Item = (&'static str, Pattern)> {
    RATES.into_iter().zip(Pattern::ALL)
}

/// Most ranks of a job.
const RANKS_MAX: f64 = 1e6;

/// The words of ours behind rates of runs that were not finished, or beside which others are missing.
const UNFINISHED: [&str; 2] = ["interrupted", "partial"];

/// What stands before such a word, and whether its rates are of a run that was cut short.
fn without_word(text: &str) -> (&str, bool) {
    let text = text.trim();
    let before = UNFINISHED.iter().find_map(|word| text.strip_suffix(word));
    (before.unwrap_or(text).trim_end(), text.ends_with(UNFINISHED[0]))
}

/// Whether it is a line of `-o`.
pub fn is_smb_line(line: &str) -> bool {
    let (numbers, _) = without_word(line);
    let words = || numbers.split_whitespace();
    words().count() == COUNTS.len() + RATES.len() && words().all(|word| word.parse::<f64>().is_ok())
}

/// Sandia's msgrate: its text, or what `-o` wrote.
pub fn smb(text: &str) -> Result<Vec<Figures>, ImportError> {
    match text.contains(SMB_RATE) {
        true => smb_text(text),
        false => smb_lines(text),
    }
}

/// A name and a number a line; a job size begins what belongs together.
fn smb_text(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut found = Vec::new();
    let mut counts = [0.0; COUNTS.len()];
    for (number, line) in text.lines().enumerate() {
        let Some((title, value)) = line.split_once(':') else {
            continue;
        };
        let title = title.trim();
        let place = COUNTS.iter().position(|known| *known == title);
        let pattern = patterns().find(|(known, _)| *known == title);
        if place.is_none() && pattern.is_none() {
            continue;
        }
        let (value, unfinished) = without_word(value);
        let value = value.parse::<f64>();
        let value = value.map_err(|_| bad_line(Format::Smb, number, "no number after :"))?;
        match (place, pattern) {
            (Some(at), _) => counts[at] = value,
            (None, Some((_, pattern))) => {
                found.extend(smb_figures((counts, unfinished), pattern.name(), value));
            }
            (None, None) => {}
        }
    }
    Ok(found)
}

/// Eleven numbers a line: the counts, then the rates; of ours a word may follow.
fn smb_lines(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (line, unfinished) = without_word(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let refused = || bad_line(Format::Smb, number, "a line has eleven numbers");
        let values: Result<Vec<f64>, _> = words.iter().map(|word| word.parse()).collect();
        let values = values.map_err(|_| refused())?;
        let Some((counts, rates)) = values.split_first_chunk::<{ COUNTS.len() }>() else {
            return Err(refused());
        };
        if rates.len() != RATES.len() {
            return Err(refused());
        }
        let rows = patterns().zip(rates);
        let of = (*counts, unfinished);
        found.extend(rows.filter_map(|((_, pattern), rate)| smb_figures(of, pattern.name(), *rate)));
    }
    Ok(found)
}

/// A rate as it is printed there, of one rank; none of a job or a message that there cannot be, nor 0, which stands for a
/// pattern that was not measured.
fn smb_figures(
    (counts, unfinished): ([f64; COUNTS.len()], bool),
    pattern: &str,
    rate: f64,
) -> Option<Figures> {
    let [ranks, peers, iterations, messages, size, cache, stride] = counts;
    if rate == 0.0 {
        return None;
    }
    let words = [
        ("test", "msgrate"),
        ("pattern", pattern),
        ("grid", "ring"),
        ("cache_state", "flushed"),
    ];
    let counts = [
        ("size_bytes", size),
        ("window_msgs", messages),
        ("peers", peers),
        ("stride_ranks", stride),
        ("cache_bytes", cache),
    ];
    let test = test_of(&words, &counts.map(|(name, count)| (name, count as u64)))?;
    let ranks = (2.0..=RANKS_MAX).contains(&ranks).then_some(ranks as usize)?;
    let ranks = vec![RankSpec::new(Role::Neighbour); ranks];
    let mut figures = Figures::of_job(test, ranks).with("classic_rate_msg_per_s", rate);
    figures.samples = (iterations * messages) as u64;
    figures.unfinished = unfinished;
    Some(figures)
}

/// One round-trip time in ns a line.
pub fn workers(text: &str) -> Result<Vec<Figures>, ImportError> {
    let mut samples = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let value = line
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0);
        samples.push(value.ok_or_else(|| bad_line(Format::Workers, number, "not a time in ns"))?);
    }
    let data = HistogramData::from_samples_ns(&samples);
    let mut found = Figures::new(ping_pong(0), UNKNOWN)
        .assuming(Unsaid::Size, "unknown, shown as 0 B")
        .assuming(Unsaid::Transport, UNKNOWN);
    found.samples = data.count;
    for (tag, p) in [("rtt_p50_ns", 0.5), ("rtt_p90_ns", 0.9), ("rtt_p99_ns", 0.99)] {
        if let Ok(estimate) = crate::stats::quantile(&data, p, crate::stats::LEVEL) {
            found = found.with(tag, estimate.value_ns);
        }
    }
    if data.count > 0 {
        found = found
            .with("rtt_mean_ns", data.mean_ns())
            .with("rtt_max_ns", data.max_ns.get());
    }
    Ok(vec![found])
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::test::Test;

    #[test]
    fn sockperf_halves_are_doubled() {
        let text = "sockperf: == version 3.7 ==\nsockperf[CLIENT] send on: IP = 127.0.0.1 PORT = 11111 # TCP\nsockperf: Total 100 observations; each percentile contains 1.00 observations\nsockperf: ---> <MAX> observation =  123.5\nsockperf: ---> percentile 99.000 =   9.250\nsockperf: ---> percentile 50.000 =    4.500\n";
        let found = sockperf(text).unwrap();
        assert_eq!(found[0].transport, "tcp");
        assert!(found[0].figures.contains(&("rtt_p50_ns", 9000.0)));
        assert!(found[0].figures.contains(&("rtt_max_ns", 247_000.0)));
        assert_eq!((found[0].samples, found[0].test.size_bytes()), (100, 14));
        let with_command = format!("$ sockperf pp --tcp -m 64 -t 2\n{text}");
        assert_eq!(sockperf(&with_command).unwrap()[0].test.size_bytes(), 64);
        assert!(sockperf("sockperf: ---> percentile 50.000 = x").is_err());
    }

    #[test]
    fn sockperf_runs_are_apart_and_whole_round_trips_are_not_doubled() {
        let run = |count: u32, p50: f64, more: &str| {
            format!(
                "sockperf: == version 3.7 ==\n{more}sockperf: Total {count} observations; each\n\
                 sockperf: ---> percentile 50.000 = {p50}\nsockperf: ---> <MIN> observation = 1.0\n"
            )
        };
        let text = run(100, 4.5, "")
            + &run(300, 5.5, "sockperf: Summary: Round trip is 11 usec\n")
            + &run(200, 6.5, "");
        let found = sockperf(&text).unwrap();
        let seen: Vec<_> = found.iter().map(|run| (run.samples, run.figures[0])).collect();
        let p50 = |ns| ("rtt_p50_ns", ns);
        assert_eq!(
            seen,
            [(100, p50(9000.0)), (300, p50(5500.0)), (200, p50(13_000.0))]
        );
        // The last one was cut off.
        let cut = run(100, 4.5, "") + "sockperf: ---> percentile 50.000 = 7.5\n";
        assert_eq!(sockperf(&cut).unwrap().len(), 2);
        let bad = text + "sockperf: ---> percentile 50.000 = x\n";
        assert!(
            sockperf(&bad).unwrap_err().to_string().contains("line 14"),
            "{:?}",
            sockperf(&bad)
        );
    }

    #[test]
    fn msgrate_lines_and_the_workers_log_are_read() {
        let found = smb("8 6 4096 128 8 8388608 1 1000000.0 2000000.0 3000000.0 4000000.0 \n").unwrap();
        assert_eq!(found[0].figures, [("classic_rate_msg_per_s", 1e6)]);
        let patterns = found.iter().map(|row| match &row.test {
            Test::Msgrate(test) => (test.pattern.name(), test.peers, row.ranks.len()),
            other => panic!("{}", other.name()),
        });
        let expected = ["single", "pair", "pre-post", "all-start"];
        assert_eq!(Vec::from_iter(patterns), expected.map(|name| (name, 6, 8)));
        let text = "job size:   8\nnpeers:     6\nniters:     4096\nnmsgs:      128\nnbytes:     8\ncache size: 8388608\n\
                    ppn:        1\nsingle direction: 1000000.00\npair-based: 2000000.00\n  pre-post: 3000000.00\n\
                    \x20all-start: 4000000.00\n";
        assert_eq!(smb(text).unwrap(), found);
        assert_eq!(smb("0 6 1 1 8 0 1 1.0 2.0 3.0 4.0\n").unwrap(), []);
        assert_eq!(smb("8 6 4 128 8 1 1 0.00 2.0 0.00 4.0\n").unwrap().len(), 2);
        assert!(smb("1 2 3\n").is_err() && smb("single direction: x\n").is_err());
        // What we write of a run that ended early.
        let is_unfinished = |text: &str| Vec::from_iter(smb(text).unwrap().iter().map(|row| row.unfinished));
        assert_eq!(
            is_unfinished("8 6 4 128 8 1 1 1.00 2.0 0.00 0.00 partial\n"),
            [false; 2]
        );
        let cut = text.replace("2000000.00", "2000000.00 interrupted");
        assert_eq!(is_unfinished(&cut), [false, true, false, false]);
        assert!(is_smb_line("8 6 4 128 8 1 1 1.00 2.0 0.00 0.00 partial") && !is_smb_line("1 2 partial"));
        let log: String = (1..=100).map(|i| format!("{}\n", i * 1000)).collect();
        let found = workers(&log).unwrap();
        assert!((found[0].figures[0].1 - 50_500.0).abs() < 200.0);
        assert!(matches!(
            workers("12\nx\n"),
            Err(ImportError::Line { line: 2, .. })
        ));
    }
}
