//! The human table: headline, one table for each kind of test, what was withheld, trust line, remarks.

use super::cases::{self, Kind};
use super::figures::{count, duration_with_interval, rate, rate_with_interval};
use super::style::{Style, Tone, clean, wrap};
use super::{grid, plot};
use crate::checks::run_remarks;
use crate::html::{Input, labels};
use crate::wording::percent;
use std::collections::BTreeMap;
use wirespeed_schema::host::Noise;
use wirespeed_schema::run::{CaseResult, CaseStatus, Metric, Remark, Severity, Status};
use wirespeed_schema::units::{format_ns, significant};
use wirespeed_schema::{Outcome, Run};

/// The human table of a run.
pub fn table(run: &Run, style: &Style) -> String {
    let mut lines = Vec::new();
    if let [only] = run.cases.as_slice() {
        lines.extend(headline(only, style));
    }
    for kind in Kind::ALL {
        lines.extend(kind_table(run, kind, style));
    }
    lines.extend(unmeasured(&run.cases, style));
    lines.extend(resampled(run, style));
    lines.extend(withheld(&run.cases, style));
    lines.extend(trust_line(&run.cases).map(|line| style.paint(Tone::Faint, &wrap(&line, style.width, 2))));
    lines.extend(remark_lines(&all_remarks(run), style));
    lines.extend(run_end(run, style));
    finish(lines, style)
}

/// One line on a finished case, for progress output, without a line end.
pub fn case_line(result: &CaseResult, style: &Style) -> String {
    let label = clean(&result.case.label());
    let text = match result.status {
        CaseStatus::Failed | CaseStatus::Skipped => format!("{label}: {}", cause(result)),
        _ => {
            let status = cases::status(result.status);
            let gap = if status.is_empty() { "" } else { "  " };
            format!("{label}: {}{gap}{status}", headline_figures(result))
        }
    };
    style.finish(text)
}

/// Lines as one text in the style, each with its end.
pub(super) fn finish(lines: Vec<String>, style: &Style) -> String {
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    style.finish(text)
}

/// A figure that the headline of this kind of test can show.
fn kind_figure(result: &CaseResult) -> Option<&Metric> {
    let tags: &[&str] = match Kind::of(&result.case.test) {
        Kind::RoundTrip => &["rtt_p50_ns"],
        Kind::Completion => &["completion_p50_ns"],
        Kind::Bulk => &["bandwidth_bytes_per_s"],
        Kind::Rate | Kind::Iterations => &["rate_msg_per_s", "bandwidth_bytes_per_s"],
    };
    tags.iter().find_map(|tag| result.metrics.get(*tag))
}

fn headline_figures(result: &CaseResult) -> String {
    let metric = |tag: &str| result.metrics.get(tag);
    match Kind::of(&result.case.test) {
        // Results of other tools may have the mean alone.
        Kind::RoundTrip if metric("rtt_p50_ns").is_none() && metric("rtt_mean_ns").is_some() => {
            format!("RTT mean {}", duration_with_interval(metric("rtt_mean_ns")))
        }
        Kind::Completion
            if metric("completion_p50_ns").is_none() && metric("completion_mean_ns").is_some() =>
        {
            format!("mean {}", duration_with_interval(metric("completion_mean_ns")))
        }
        _ if kind_figure(result).is_none() => "no headline figure".to_owned(),
        Kind::RoundTrip => format!("RTT p50 {}", duration_with_interval(metric("rtt_p50_ns"))),
        Kind::Completion => format!("p50 {}", duration_with_interval(metric("completion_p50_ns"))),
        Kind::Bulk => rate_with_interval(metric("bandwidth_bytes_per_s"), "B/s"),
        Kind::Rate | Kind::Iterations => {
            let figures = [
                rate_with_interval(metric("rate_msg_per_s"), "msg/s"),
                rate(metric("bandwidth_bytes_per_s"), "B/s"),
            ];
            figures
                .into_iter()
                .filter(|figure| !figure.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
        }
    }
}

/// The headline of a run of one case: its figure, what its interval means, and the shape of its samples.
fn headline(result: &CaseResult, style: &Style) -> Vec<String> {
    let kind = Kind::of(&result.case.test);
    let Some(metric) = result.metrics.get(kind.headline()) else {
        return Vec::new();
    };
    let runs = result.repetitions.len();
    let percent = |level: f64| format!("{} %", significant(level * 100.0, 3));
    let meaning = match (metric.level, runs) {
        (Some(level), 0 | 1) => format!("{} interval within one run", percent(level.get())),
        (Some(level), runs) => format!("{} interval over {runs} runs", percent(level.get())),
        (None, 0 | 1) => "one run".to_owned(),
        (None, runs) => format!("braces: smallest and largest of {runs} runs; an interval needs 6"),
    };
    let figures = format!("{}: {}", clean(&result.case.label()), headline_figures(result));
    let mut lines = vec![style.paint(
        Tone::Strong,
        &wrap(&format!("{figures} ({meaning})"), style.width, 2),
    )];
    lines.extend(plot::percentile_bar(result, style));
    lines.extend(interval_line(result, style));
    if let Some(worth) = labels::worth(result) {
        lines.push(wrap(&worth, style.width, 2));
    }
    lines.push(String::new());
    lines
}

/// Messages in each slice of time of the first repetition, where reports were asked for.
fn interval_line(result: &CaseResult, style: &Style) -> Option<String> {
    let outcomes = &result.repetitions.first()?.outcomes;
    let intervals = &outcomes
        .iter()
        .find(|outcome| outcome.intervals.len() > 1)?
        .intervals;
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.duration_ns > 0)
        .map(|slice| slice.sent.messages.max(slice.received.messages) as f64 / slice.duration_ns as f64)
        .collect();
    let line = plot::sparkline(&rates, style.width.saturating_sub(16).max(8), style);
    Some(format!("over time  {line}"))
}

fn kind_table(run: &Run, kind: Kind, style: &Style) -> Vec<String> {
    let of_kind = run
        .cases
        .iter()
        .filter(|result| Kind::of(&result.case.test) == kind);
    let rows: Vec<Vec<String>> = of_kind
        .filter(|result| !result.metrics.is_empty())
        .map(|result| cases::row(result, kind))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let (mut lines, dropped) = grid::render(&cases::columns(kind), &rows, style.width);
    lines[0] = style.paint(Tone::Faint, &lines[0]);
    lines.insert(0, style.paint(Tone::Strong, &wrap(kind.title(), style.width, 2)));
    if !dropped.is_empty() {
        let note = format!(
            "left out for lack of room: {}; --csv and --json have all",
            dropped.join(", ")
        );
        lines.push(style.paint(Tone::Faint, &wrap(&note, style.width, 2)));
    }
    lines.push(String::new());
    lines
}

/// Intervals by resampling, each with its method.
fn resampled(run: &Run, style: &Style) -> Vec<String> {
    let rows = labels::resampled(&Input { name: "", run }, false);
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = [
        grid::text("case", 0),
        grid::text("figure", 0),
        grid::number("value", 2),
        grid::text("interval", 0),
        grid::text("bootstrap", 1),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| clean(cell)).collect())
        .collect();
    let (mut lines, _) = grid::render(&columns, &rows, style.width);
    if lines.iter().any(|line| line.chars().count() > style.width) {
        lines = rows
            .iter()
            .map(|row| wrap(&row.join(" "), style.width, 2))
            .collect();
    } else {
        lines[0] = style.paint(Tone::Faint, &lines[0]);
    }
    let title = "intervals by resampling (95 %, percentile bootstrap)";
    lines.insert(0, style.paint(Tone::Strong, &wrap(title, style.width, 2)));
    lines.push(String::new());
    lines
}

fn cause(result: &CaseResult) -> String {
    let status = cases::status(result.status);
    format!(
        "{status}: {}",
        clean(result.error.as_deref().unwrap_or("no reason was given"))
    )
}

/// Cases without figures, each with its reason and remedy.
pub(super) fn unmeasured(results: &[CaseResult], style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for result in results
        .iter()
        .filter(|result| result.error.is_some() || result.metrics.is_empty())
    {
        let tone = match result.status {
            CaseStatus::Skipped => Tone::Faint,
            _ => Tone::Bad,
        };
        let text = format!("{}: {}", clean(&result.case.label()), cause(result));
        lines.push(style.paint(tone, &wrap(&text, style.width, 2)));
        if let Some(remedy) = &result.remedy {
            lines.push(wrap(&format!("  remedy: {}", clean(remedy)), style.width, 4));
        }
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// What each withheld quantile needs; figures of one family and quantile once.
fn withheld(results: &[CaseResult], style: &Style) -> Vec<String> {
    let mut needs: BTreeMap<(u64, String), u64> = BTreeMap::new();
    for withheld in results.iter().flat_map(|result| &result.withheld) {
        let key = (withheld.samples_needed, clean(&withheld.tag));
        let fewest = needs.entry(key).or_insert(u64::MAX);
        *fewest = (*fewest).min(withheld.samples);
    }
    let parts: Vec<String> = needs
        .iter()
        .map(|((needed, tag), samples)| format!("{tag} (needs {needed} samples, has {samples})"))
        .collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let text = format!("withheld for lack of samples: {}", parts.join(", "));
    vec![
        style.paint(Tone::Faint, &wrap(&text, style.width, 2)),
        String::new(),
    ]
}

/// `timer 11 ns · step 1 ns · harness 24 ns · noise 0.3 % before, 0.1 % after · 1 M samples · 7 runs`: the worst of all
/// cases.
pub(super) fn trust_line(results: &[CaseResult]) -> Option<String> {
    let outcomes: Vec<_> = results
        .iter()
        .flat_map(|r| &r.repetitions)
        .flat_map(|r| &r.outcomes)
        .collect();
    // Nought: nobody said.
    let worst = |values: Vec<f64>| values.into_iter().reduce(f64::max).filter(|value| *value > 0.0);
    let mut parts = Vec::new();
    if let Some(cost) = worst(
        outcomes
            .iter()
            .map(|outcome| outcome.clock.cost_ns.get())
            .collect(),
    ) {
        parts.push(format!("timer {}", format_ns(cost)));
    }
    if let Some(step) = worst(
        outcomes
            .iter()
            .map(|outcome| outcome.clock.step_ns.get())
            .collect(),
    ) {
        parts.push(format!("step {}", format_ns(step)));
    }
    let floors = outcomes.iter().filter_map(|outcome| outcome.floor.as_ref());
    if let Some(floor) = worst(floors.map(|floor| floor.loop_ns.get()).collect()) {
        parts.push(format!("harness {}", format_ns(floor)));
    }
    parts.extend(noise_part(&outcomes));
    parts.extend(samples_part(results));
    let runs = || {
        results
            .iter()
            .filter(|r| !r.metrics.is_empty())
            .map(|r| r.repetitions.len())
    };
    let (fewest, most) = (runs().min()?, runs().max()?);
    parts.push(match (fewest, most) {
        (_, 1) => "1 run (--repeats 6 for an interval over runs)".to_owned(),
        (fewest, most) if fewest == most => format!("{most} runs"),
        (fewest, most) => format!("{fewest} to {most} runs"),
    });
    Some(parts.join(" · "))
}

/// The noisiest scans before and after the runs.
fn noise_part(outcomes: &[&Outcome]) -> Option<String> {
    let lost = |of: fn(&Outcome) -> &Option<Noise>| {
        let scans = outcomes.iter().filter_map(|outcome| of(outcome).as_ref());
        scans.map(|noise| noise.lost_ratio.get()).reduce(f64::max)
    };
    match (lost(|o| &o.noise), lost(|o| &o.noise_after)) {
        (Some(before), Some(after)) => Some(format!(
            "noise {} before, {} after",
            percent(before.max(0.0)),
            percent(after.max(0.0))
        )),
        (one, other) => Some(format!("noise {}", percent(one.or(other)?.max(0.0)))),
    }
}

/// The fewest samples of a headline; neighbouring ones that resemble each other tell less than as many independent ones.
fn samples_part(results: &[CaseResult]) -> Option<String> {
    let headlines = results
        .iter()
        .filter_map(|r| r.metrics.get(Kind::of(&r.case.test).headline()));
    let samples = headlines.map(|metric| metric.samples).min()?;
    let shares = results
        .iter()
        .filter_map(|r| r.metrics.get("effective_samples_ratio"));
    let worth = shares
        .map(|share| share.value.get())
        .reduce(f64::min)
        .filter(|share| *share < 1.0);
    let worth = worth.map(|share| format!(", worth {}", count((samples as f64 * share).max(1.0) as u64)));
    Some(format!("{} samples{}", count(samples), worth.unwrap_or_default()))
}

/// Remarks of the run and of its cases, each code once, worst first.
pub(super) fn all_remarks(run: &Run) -> Vec<Remark> {
    let mut remarks = run.remarks.clone();
    for remark in run_remarks(&run.cases) {
        if !remarks.iter().any(|known| known.code == remark.code) {
            remarks.push(remark);
        }
    }
    remarks.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
    remarks
}

/// One line of cause and one of remedy for each remark.
pub(super) fn remark_lines(remarks: &[Remark], style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for remark in remarks {
        let (word, tone) = match remark.severity {
            Severity::Suspect => ("suspect", Tone::Bad),
            Severity::Warning => ("warning", Tone::Warning),
            Severity::Note => ("note", Tone::Faint),
        };
        let text = wrap(
            &format!("{word}: {} [{}]", clean(&remark.message), clean(&remark.code)),
            style.width,
            2,
        );
        lines.push(style.paint(tone, &text));
        if let Some(remedy) = &remark.remedy {
            lines.push(wrap(&format!("  remedy: {}", clean(remedy)), style.width, 4));
        }
    }
    lines
}

/// How the run ended, where it did not end well.
pub(super) fn run_end(run: &Run, style: &Style) -> Vec<String> {
    let text = match run.status {
        Status::Ok => return Vec::new(),
        Status::Failed => "the run failed",
        Status::Interrupted => "the run was interrupted; what was measured is above",
        Status::Refused => "the run was refused",
        Status::WrongData => "the data were wrong: do not use these numbers",
    };
    let text = match &run.error {
        Some(error) => format!("{text}: {}", clean(error)),
        None => text.to_owned(),
    };
    vec![style.paint(Tone::Bad, &wrap(&text, style.width, 2))]
}
