//! The texts of the original `msgrate`, as its users' scripts read them.

use super::style::Style;
use crate::assemble::unfinished;
use crate::smb::{COUNTS, RATES};
use wirespeed_schema::Run;
use wirespeed_schema::case::Stop;
use wirespeed_schema::posted::{MsgRate, Pattern};
use wirespeed_schema::run::CaseResult;

/// One point of the original: its parameters, and the mean rate of each pattern in the order of the original.
struct Point<'a> {
    ranks: usize,
    test: &'a MsgRate,
    iterations: u64,
    /// Each with the word that it needs where its case was not finished.
    rates: [Option<(f64, Option<&'static str>)>; 4],
}

/// The points in the order in which they were asked for.
fn points(run: &Run) -> Vec<Point<'_>> {
    let mut points: Vec<Point> = Vec::new();
    for (result, test) in run
        .cases
        .iter()
        .filter_map(|result| Some((result, result.case.test.msgrate()?)))
    {
        let same = |point: &Point| {
            let mut any_pattern = test.clone();
            any_pattern.pattern = point.test.pattern;
            point.test == &any_pattern && point.ranks == result.case.ranks.len()
        };
        let at = points.iter().position(same).unwrap_or_else(|| {
            points.push(Point {
                ranks: result.case.ranks.len(),
                test,
                iterations: iterations(result),
                rates: [None; 4],
            });
            points.len() - 1
        });
        let rate = result.metrics.get("classic_rate_msg_per_s");
        let pattern = Pattern::ALL.iter().position(|pattern| *pattern == test.pattern);
        if let (Some(rate), Some(pattern)) = (rate, pattern) {
            points[at].rates[pattern] = Some((rate.value.get(), unfinished(result)));
        }
    }
    points
}

/// Iterations as the original counts them: the first, which is apart here, is one of them.
fn iterations(result: &CaseResult) -> u64 {
    let apart = u64::from(result.case.warmup_iterations == 0);
    let outcome = result.repetitions.first().and_then(|r| r.outcomes.first());
    let measured = outcome.and_then(|o| o.samples.first()).map(|s| s.histogram.count);
    match result.case.stop {
        Stop::Iterations { count } => count.saturating_add(apart),
        Stop::Duration { .. } => measured.unwrap_or(0).saturating_add(apart),
    }
}

/// The original's text, a block for each point. A pattern that was not measured has no line.
pub fn msgrate_classic(run: &Run, _: &Style) -> String {
    let mut text = String::new();
    for point in points(run) {
        let header = [
            point.ranks as u64,
            u64::from(point.test.peers),
            point.iterations,
            point.test.window_msgs,
            point.test.size_bytes,
            point.test.cache_bytes,
            u64::from(point.test.stride_ranks),
        ];
        for (name, value) in COUNTS.iter().zip(header) {
            text.push_str(&format!("{:<12}{value}\n", format!("{name}:")));
        }
        for (name, rate) in RATES.iter().zip(point.rates) {
            if let Some((rate, unfinished)) = rate {
                let word = unfinished.map(|word| format!(" {word}")).unwrap_or_default();
                text.push_str(&format!("{name:>10}: {rate:.2}{word}\n"));
            }
        }
    }
    text
}

/// The original's line for programs, one for each point: ranks, peers, iterations, messages, bytes, cache, ranks a node,
/// and the four rates. A rate that was not measured is 0.00; a line with one, or with one that was not finished, says so at
/// its end.
pub fn msgrate_line(run: &Run, _: &Style) -> String {
    let mut text = String::new();
    for point in points(run) {
        let test = point.test;
        text.push_str(&format!(
            "{} {} {} {} {} {} {} ",
            point.ranks,
            test.peers,
            point.iterations,
            test.window_msgs,
            test.size_bytes,
            test.cache_bytes,
            test.stride_ranks
        ));
        for rate in point.rates {
            text.push_str(&format!("{:.2} ", rate.map_or(0.0, |(rate, _)| rate)));
        }
        let unfinished = point.rates.iter().flatten().find_map(|(_, word)| *word);
        let missing = point.rates.iter().any(Option::is_none).then_some("partial");
        text.push_str(unfinished.or(missing).unwrap_or_default());
        text.push('\n');
    }
    text
}
