//! `--dry-run`: every case with all its parameters, and nothing measured.

use crate::args::ColorChoice;
use crate::errors::{Ended, Failure};
use crate::experiment::Prepared;
use crate::terminal::{self, Stream};
use crate::{output, view};
use std::fmt::Write as _;
use wirespeed_report::curve::rate_offered_per_s;
use wirespeed_report::view::Part;
use wirespeed_schema::case::{Case, GroupKind, Load, RankSpec, Stop};
use wirespeed_schema::plan::{Plan, takes};
use wirespeed_schema::test::Test;
use wirespeed_schema::units::{counted, format_asked_size, format_ns};

/// Print the cases, for people or as JSON. The error is also that of a case that cannot run.
pub fn show(plan: &Plan, cases: Vec<Prepared>, json: bool) -> Result<Ended, Failure> {
    show_about(plan, cases, json, "")
}

/// [`show`], where `about` says more of the cases: where they are, or which ones follow from what is measured.
pub fn show_about(plan: &Plan, cases: Vec<Prepared>, json: bool, about: &str) -> Result<Ended, Failure> {
    if let Some(failure) = cases.iter().find_map(|case| case.failure.clone()) {
        return Err(failure);
    }
    let is_told = !about.is_empty();
    if json {
        return show_as_json(plan, &cases, is_told.then(|| ("about", about.into())));
    }
    let mut answer = sum(plan, &cases);
    if is_told {
        answer = format!("{answer}: {about}");
    }
    tell(answer, vec![lines(&cases)])
}

/// Print what would be measured in a sentence, then the rest.
pub fn tell(answer: String, parts: Vec<Part>) -> Result<Ended, Failure> {
    let style = terminal::style(Stream::Stdout, ColorChoice::Never);
    output::print(&view::told(answer, parts, &style)).map(|()| Ended::OK)
}

/// Print the cases as JSON, with what only one verb knows under its name.
pub fn show_as_json(
    plan: &Plan,
    cases: &[Prepared],
    beside: Option<(&str, serde_json::Value)>,
) -> Result<Ended, Failure> {
    let case = |prepared: &Prepared| {
        let case = &prepared.planned.case;
        let mut value = serde_json::json!({
            "case": case,
            "skipped": prepared.skip.as_ref().map(|(reason, _)| reason),
        });
        if is_unasked(&case.test) {
            value["case"]["total_bytes"] = serde_json::Value::Null;
            if let Stop::Iterations { .. } = case.stop {
                value["case"]["stop"] = serde_json::Value::Null;
            }
        }
        value
    };
    let mut document = serde_json::json!({
        "plan": plan,
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    });
    if let Some((name, value)) = beside {
        document[name] = value;
    }
    let text = serde_json::to_string_pretty(&document).map_err(Failure::defect)?;
    output::print(&(text + "\n")).map(|()| Ended::OK)
}

/// Every case in two lines.
pub fn lines(cases: &[Prepared]) -> Part {
    let mut text = String::new();
    for (number, prepared) in cases.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:>4}  {}", number + 1, test(prepared));
        let _ = writeln!(text, "      {}", ranks(&prepared.planned.case));
        if let Some((reason, _)) = &prepared.skip {
            let _ = writeln!(text, "      skipped: {reason}");
        }
    }
    view::lines(&text)
}

/// How many there are, and how often each will run.
fn sum(plan: &Plan, cases: &[Prepared]) -> String {
    let skipped = cases.iter().filter(|c| c.skip.is_some()).count();
    let noun = if cases.len() == 1 { "case" } else { "cases" };
    let mut text = format!("{} {noun}", cases.len());
    if plan.repeats > 1 || plan.until.is_some() {
        let _ = write!(text, ", {} each", counted(plan.repeats.into(), "repetition"));
        if let Some(until) = &plan.until {
            let _ = write!(
                text,
                " at most, until {} is known within ±{}",
                until.statistic, until.within
            );
        }
    }
    if skipped > 0 {
        let _ = write!(text, ", {skipped} skipped");
    }
    text
}

/// `tcp am_bw size=64B layout=short window=128 ...`: every parameter of the test under the name of its option.
fn test(prepared: &Prepared) -> String {
    let case = &prepared.planned.case;
    let mut words = vec![case.transport.clone(), case.test.name().to_owned()];
    words.extend(test_words(&case.test));
    words.push(match case.stop {
        Stop::Iterations { .. } if is_unasked(&case.test) => "iters=?".to_owned(),
        Stop::Iterations { count } => format!("iters={count}"),
        Stop::Duration { duration_ns } => format!("duration={}", time(duration_ns)),
    });
    words.push(format!("warmup={}", case.warmup_text()));
    words.push(place(case));
    words.extend(case.rail.iter().map(|rail| format!("rail={rail}")));
    words.join(" ")
}

/// `check [0 source cpu=0 peer=1] ...`: what holds whatever the test is, and each rank.
fn ranks(case: &Case) -> String {
    let idle = case.idle.map(|idle| format!("idle={}", idle.name()));
    let mut words: Vec<String> = idle.into_iter().collect();
    if case.check {
        words.push("check".to_owned());
    }
    if case.report_interval_ns > 0 {
        words.push(format!("interval={}", time(case.report_interval_ns)));
    }
    if case.raw_samples_max > 0 {
        words.push(format!("raw={}", case.raw_samples_max));
    }
    words.extend(case.options.iter().map(|(name, value)| format!("{name}={value}")));
    words.extend(
        case.ranks
            .iter()
            .enumerate()
            .map(|(number, spec)| rank(number, spec)),
    );
    words.join(" ")
}

/// Whether the far end alone knows how much there is to move, and how often: a dry run does not ask it.
fn is_unasked(test: &Test) -> bool {
    test.bulk().is_some_and(|bulk| bulk.total_bytes == 0)
}

/// The parameters that the test takes.
fn test_words(test: &Test) -> impl Iterator<Item = String> + '_ {
    let taken = |key: &str| test.kind().is_none() || takes(test.name(), key);
    let values = test
        .values()
        .into_iter()
        .filter(move |(parameter, _)| taken(parameter.key));
    values.map(|(parameter, value)| match parameter.key {
        "size" => format!("size={}", format_asked_size(test.size_bytes()).replace(' ', "")),
        "total" if is_unasked(test) => "total=?".to_owned(),
        "pace" if rate_offered_per_s(test).is_none() => "pace=none".to_owned(),
        key => format!("{key}={value}"),
    })
}

fn place(case: &Case) -> String {
    match case.group {
        GroupKind::Threads => format!("threads={}", case.ranks.len()),
        GroupKind::Processes => format!("procs={}", case.ranks.len()),
        GroupKind::Job => format!("procs={} (started by a launcher)", case.ranks.len()),
        GroupKind::Hosts => format!("to={}", case.to.as_deref().unwrap_or("?")),
    }
}

/// `[0 source cpu=0 peer=1]`
fn rank(number: usize, spec: &RankSpec) -> String {
    let mut text = format!("[{number} {}", spec.role.name());
    if let Some(cpu) = spec.cpu {
        let _ = write!(text, " cpu={cpu}");
    }
    if let Some(peer) = spec.peer {
        let _ = write!(text, " peer={peer}");
    }
    if !spec.load.is_idle() {
        text.push_str(&load(&spec.load));
    }
    text + "]"
}

fn load(load: &Load) -> String {
    let touch = if load.touch_once { "touch-once" } else { "touch" };
    let parts = [
        (load.cpu_threads > 0, format!(" cpu-load={}", load.cpu_threads)),
        (load.memory_bytes > 0, format!(" memory={}", load.memory_bytes)),
        (load.touch_bytes > 0, format!(" {touch}={}", load.touch_bytes)),
        (load.log_threads > 0, format!(" log={}", load.log_threads)),
        (
            load.bandwidth_threads > 0,
            format!(" bandwidth={}", load.bandwidth_threads),
        ),
        (load.cache_threads > 0, format!(" cache={}", load.cache_threads)),
        (!load.place.is_beside(), format!(" place={}", load.place.name())),
    ];
    let said = parts.into_iter().filter(|(there, _)| *there);
    said.map(|(_, text)| text).collect()
}

fn time(ns: u64) -> String {
    format_ns(ns as f64).replace(' ', "")
}
