//! Verdicts of `wirespeed ab` where the truth is known: a thing against itself, and against itself made 3 % slower.

use super::Context;
use super::archive::Archive;
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use wirespeed_report::compare::{Comparison, Question, Row, Verdict, compare_arms};
use wirespeed_report::read_run;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::run::{CaseResult, Run};

/// Comparisons of a thing with itself.
const CONTROLS: u32 = 200;
/// False verdicts that chance explains: 5 % and its sampling error.
const FALSE_MAX: u32 = 16;
/// Trials of the known difference.
const TRIALS: u32 = 20;
/// B is so many times as slow as A.
const INJECTED: f64 = 1.03;
const PAIRS: u32 = 10;
/// More pairs are not measured: the announcement was that the difference cannot be told here.
const PAIRS_MAX: u64 = 400;
/// Ratios within this are the same: below half of what is injected.
const WITHIN: f64 = 0.01;
/// What is measured.
const ARM: [&str; 8] = [
    "latency",
    "--via",
    "shm",
    "--size",
    "8",
    "-t",
    "20ms",
    "--warmup=5ms",
];

/// A result of `pairs` pairs of the same arm.
fn control(context: &Context, pairs: u64) -> Result<Run> {
    let output = Command::new(&context.binary)
        .args([
            "ab",
            "--aa",
            "--json",
            "-q",
            "--within",
            "1%",
            "--pairs",
            &pairs.to_string(),
            "--",
        ])
        .args(ARM)
        .stdin(Stdio::null())
        .output()
        .context("cannot start wirespeed")?;
    // A verdict has an exit code of its own.
    if !matches!(output.status.code(), Some(0 | 3 | 4)) {
        bail!(
            "wirespeed ab failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    read_run(&output.stdout).context("wirespeed ab wrote no result")
}

/// The number of false verdicts.
pub fn controls(context: &Context, archive: &mut Archive) -> Result<()> {
    let (mut wrong, mut values) = (0, "comparison,ratio,lower,upper,verdict\n".to_owned());
    for number in 0..CONTROLS {
        let run = control(context, u64::from(PAIRS))?;
        let comparison = run
            .sections
            .get::<Comparison>()
            .context("the result has no comparison")?;
        for row in &comparison.rows {
            wrong += u32::from(matches!(row.verdict, Verdict::Faster | Verdict::Slower));
            let end = |value: Option<Finite>| value.map_or(String::new(), |value| value.get().to_string());
            // Writing to a String cannot fail.
            let _ = writeln!(
                values,
                "{number},{},{},{},{}",
                row.ratio.get(),
                end(row.lower),
                end(row.upper),
                row.verdict.name()
            );
        }
    }
    archive.values("aa.csv", &values)?;
    let met = if wrong <= FALSE_MAX { "met" } else { "missed" };
    archive.note(&format!(
        "{wrong} of {CONTROLS} comparisons of {PAIRS} pairs called a thing faster or slower than itself: {met}."
    ));
    Ok(())
}

/// Make B slower: its latencies times the factor, as if it had been measured so.
fn slowed(mut run: Run) -> Run {
    let half = run.cases.len() / 2;
    for case in run.cases.iter_mut().skip(half) {
        let repetitions = case
            .repetitions
            .iter_mut()
            .map(|repetition| &mut repetition.metrics);
        for metrics in repetitions.chain([&mut case.metrics]) {
            for (_, metric) in metrics.iter_mut().filter(|(tag, _)| tag.ends_with("_ns")) {
                metric.value = Finite::maybe(metric.value.get() * INJECTED).unwrap_or_default();
            }
        }
    }
    run
}

fn judged(run: &Run) -> Result<Row> {
    let comparison = compare_arms(run, ("A", "B"), &Question::default(), WITHIN)?;
    comparison.rows.into_iter().next().context("no figure to compare")
}

/// The repetitions of `more` behind those of `run`.
fn joined(mut run: Run, more: Run) -> Run {
    let add = |(case, further): (&mut CaseResult, CaseResult)| {
        let known = u32::try_from(case.repetitions.len()).unwrap_or(u32::MAX);
        let renumbered = further.repetitions.into_iter().map(|mut repetition| {
            repetition.index += known;
            repetition
        });
        case.repetitions.extend(renumbered);
    };
    run.cases.iter_mut().zip(more.cases).for_each(add);
    run
}

/// How often the difference is found with the pairs that the first verdict announced.
pub fn injected(context: &Context, archive: &mut Archive) -> Result<()> {
    let (mut found, mut out_of_reach) = (0, 0);
    let mut values = "trial,announced,ratio,verdict\n".to_owned();
    for trial in 0..TRIALS {
        let mut run = slowed(control(context, u64::from(PAIRS))?);
        let mut row = judged(&run)?;
        let announced = if row.verdict == Verdict::Inconclusive {
            row.more_runs
        } else {
            Some(0)
        };
        match announced {
            Some(0) => {}
            Some(more) if more <= PAIRS_MAX => {
                run = joined(run, slowed(control(context, more)?));
                row = judged(&run)?;
            }
            _ => out_of_reach += 1,
        }
        found += u32::from(row.verdict == Verdict::Slower);
        let told = announced.map_or("none".to_owned(), |more| more.to_string());
        let _ = writeln!(
            values,
            "{trial},{told},{},{}",
            row.ratio.get(),
            row.verdict.name()
        );
    }
    archive.values("injected.csv", &values)?;
    archive.note(&format!(
        "{found} of {TRIALS} times B, made {INJECTED} times as slow as it was measured, was called slower after {PAIRS} pairs and \
         as many more as announced; {out_of_reach} announcements were above {PAIRS_MAX} pairs and not followed. Announcements \
         promise a chance of 90 %."
    ));
    Ok(())
}
