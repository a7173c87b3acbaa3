//! The result of `msgrate`: wirespeed's own table with a plot over sizes, and the original's text.

use super::plot::{self, Axes, Series};
use super::style::{Style, wrap};
use super::table::{finish, table};
use crate::assemble::unfinished;
use wirespeed_schema::case::Stop;
use wirespeed_schema::posted::{CacheState, MsgRate, Pattern};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_rate, format_size};
use wirespeed_schema::{Run, Test};

/// The table of every case, and where there are several sizes the figure of merit over them: the pre-posted rate, or
/// that of the first pattern measured.
pub fn msgrate(run: &Run, style: &Style) -> String {
    let plotted = plot(run, style);
    let gap = if plotted.is_empty() {
        Vec::new()
    } else {
        vec![String::new()]
    };
    let conditions: Vec<String> = conditions(run)
        .iter()
        .map(|line| wrap(line, style.width, 2))
        .collect();
    finish([plotted, gap, conditions].concat(), style) + &table(run, style)
}

/// What columns of the table say only where there is room: ranks, and the caches at the start of an iteration.
fn conditions(run: &Run) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (result, test) in run
        .cases
        .iter()
        .filter_map(|result| Some((result, parameters(result)?)))
    {
        let caches = match test.cache_state {
            CacheState::Hot => "caches hot: all messages leave from one place and arrive in one".to_owned(),
            CacheState::Touched => {
                "caches touched: what is sent was just written, what came was read".to_owned()
            }
            CacheState::Rotating => format!(
                "caches rotating: iterations walk through at least {} a rank",
                format_size(test.cache_bytes)
            ),
            CacheState::Flushed => format!(
                "caches flushed: each rank fills {} of other memory between iterations",
                format_size(test.cache_bytes)
            ),
        };
        let line = format!("{} ranks; {caches}", result.case.ranks.len());
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}

fn plot(run: &Run, style: &Style) -> Vec<String> {
    let cases = || {
        run.cases
            .iter()
            .filter_map(|result| Some((result, parameters(result)?)))
    };
    let has_pre_post = cases().any(|(_, test)| test.pattern == Pattern::PrePost);
    let first = cases().map(|(_, test)| test.pattern).next();
    let Some(pattern) = first.map(|first| if has_pre_post { Pattern::PrePost } else { first }) else {
        return Vec::new();
    };
    let mut series: Vec<Series> = Vec::new();
    for (result, test) in cases().filter(|(_, test)| test.pattern == pattern) {
        let label = format!(
            "{} {} p={} {}",
            result.case.transport,
            test.grid.name(),
            test.peers,
            test.cache_state.name()
        );
        let Some(rate) = result.metrics.get("rate_msg_per_s") else {
            continue;
        };
        let point = (test.size_bytes as f64, rate.value.get());
        match series.iter_mut().find(|known| known.label == label) {
            Some(known) => known.points.push(point),
            None => series.push(Series {
                label,
                points: vec![point],
            }),
        }
    }
    if series.iter().all(|series| series.points.len() < 2) {
        return Vec::new();
    }
    let title = match pattern {
        Pattern::Single => "single direction: messages per second of all ranks, by size",
        Pattern::Pair => "pair-based: messages per second of all ranks, by size",
        Pattern::PrePost => "pre-post: messages per second of all ranks, by size",
        Pattern::AllStart => "all-start: messages per second of all ranks, by size",
    };
    let axes = Axes {
        title,
        x_text: |size| format_size(size.round() as u64),
        y_text: |rate| format_rate(rate, ""),
    };
    plot::log_log(&series, &axes, style)
}

fn parameters(result: &CaseResult) -> Option<&MsgRate> {
    match &result.case.test {
        Test::Msgrate(test) => Some(test),
        _ => None,
    }
}

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
        .filter_map(|result| Some((result, parameters(result)?)))
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
            ("job size:", point.ranks as u64),
            ("npeers:", u64::from(point.test.peers)),
            ("niters:", point.iterations),
            ("nmsgs:", point.test.window_msgs),
            ("nbytes:", point.test.size_bytes),
            ("cache size:", point.test.cache_bytes),
            ("ppn:", u64::from(point.test.stride_ranks)),
        ];
        for (name, value) in header {
            text.push_str(&format!("{name:<12}{value}\n"));
        }
        let names = ["single direction:", "pair-based:", "  pre-post:", " all-start:"];
        for (name, rate) in names.iter().zip(point.rates) {
            if let Some((rate, unfinished)) = rate {
                let word = unfinished.map(|word| format!(" {word}")).unwrap_or_default();
                text.push_str(&format!("{name} {rate:.2}{word}\n"));
            }
        }
    }
    text
}

/// The original's line for programs, one for each point: ranks, peers, iterations, messages, bytes, cache, ranks a node,
/// and the four rates. A rate that was not measured is 0.00; a line with one that was not finished says so at its end.
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
        text.push_str(
            point
                .rates
                .iter()
                .flatten()
                .find_map(|(_, word)| *word)
                .unwrap_or_default(),
        );
        text.push('\n');
    }
    text
}
