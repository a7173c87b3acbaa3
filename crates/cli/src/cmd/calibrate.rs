//! `wirespeed calibrate`: the instrument and the machine without any transport: what every number stands on.

use crate::args::{CalibrateArgs, ColorChoice};
use crate::errors::{Ended, Failure};
use crate::group::{Groups, Reach};
use crate::progress::Progress;
use crate::terminal::{self, Stream};
use crate::{output, view};
use serde_json::json;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed::calibrate::{copy_bytes_per_s, line_round_trip_ns};
use wirespeed::host::HostError;
use wirespeed_control::StopFlag;
use wirespeed_report::render::Style;
use wirespeed_report::table::{self, Table};
use wirespeed_report::view::Part;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::plan::{Plan, PlanError, Template, expand};
use wirespeed_schema::units::{format_ns, format_rate, format_size, format_size_exact, significant};

/// Block sizes of the copy: within the first cache, within the last, and beyond most of them.
const COPY_SIZES: [usize; 3] = [16 << 10, 1 << 20, 64 << 20];

struct Found {
    cpus: (u32, Option<u32>),
    floor: Outcome,
    bounce_ns: Option<f64>,
    copies: Vec<(usize, f64)>,
    /// The user ended it before all was measured.
    interrupted: bool,
}

/// What each step takes, about: the floor, the cache line, each copy.
const STEPS_MS: [u64; 2 + COPY_SIZES.len()] = [250, 250, 90, 90, 120];

/// Calibrate and print.
pub fn calibrate(
    registry: &Registry,
    arguments: &CalibrateArgs,
    color: ColorChoice,
) -> Result<Ended, Failure> {
    let cpus = cpus(arguments.cpus.as_deref())?;
    let stop = super::stop_on_signals()?;
    let mut progress = Progress::of_times(STEPS_MS.into_iter().map(Duration::from_millis), false);
    progress.start_as("clock, floor and noise");
    let floor = floor(registry, cpus.0, &stop)?;
    let mut found = Found {
        cpus,
        floor,
        bounce_ns: None,
        copies: Vec::new(),
        interrupted: false,
    };
    if let Some(second) = cpus.1.filter(|_| !stop.is_requested()) {
        progress.start_as("cache line between two CPUs");
        let bounce_ns = line_round_trip_ns(cpus.0, second).map_err(|e| refused(&e))?;
        found.bounce_ns = Some(bounce_ns);
    }
    for size in COPY_SIZES {
        if stop.is_requested() {
            found.interrupted = true;
            break;
        }
        progress.start_as(&format!("copy in blocks of {}", format_size(size as u64)));
        let speed = copy_bytes_per_s(cpus.0, size).map_err(|e| refused(&e))?;
        found.copies.push((size, speed));
    }
    progress.finish();
    let text = if arguments.json {
        as_json(&found)
    } else {
        as_text(&found, &terminal::style(Stream::Stdout, color))
    };
    output::print(&text)?;
    Ok(match found.interrupted {
        false => Ended::OK,
        true => Ended::badly(Failure::interrupted("run again for a whole result")),
    })
}

fn refused(error: &HostError) -> Failure {
    Failure::usage(
        error.to_string(),
        "choose CPUs that this process may use, such as --cpus 0,1",
    )
}

/// The CPUs named, or two on different cores; one where there is no other.
fn cpus(text: Option<&str>) -> Result<(u32, Option<u32>), Failure> {
    let cpus = match text {
        Some(text) => wirespeed::host::parse_cpu_list(text).map_err(|e| refused(&e))?,
        None => wirespeed::host::default_cpus(2).unwrap_or_else(wirespeed::host::allowed_cpus),
    };
    match cpus[..] {
        [first] => Ok((first, None)),
        [first, second] => Ok((first, (second != first).then_some(second))),
        [_, _, ..] => Err(Failure::usage(
            format!("--cpus names {} CPUs, and a line moves between two", cpus.len()),
            "name one CPU or two, such as --cpus 0,1",
        )),
        [] => Err(Failure::failed(
            "no CPU may be used",
            "check this process's CPU affinity",
        )),
    }
}

/// One short run on `null`: it carries the clock, the floor and the noise of its CPU.
fn floor(registry: &Registry, cpu: u32, stop: &StopFlag) -> Result<Outcome, Failure> {
    let words = [("via", "null"), ("test", "am_lat"), ("duration", "200ms")];
    let template = Template::of(words.into_iter().chain([("cpus", cpu.to_string().as_str())]))?;
    let plan = Plan::of(vec![template]);
    let cases = expand(&plan, &wirespeed::Machine::new(registry))?;
    let Some(planned) = cases.first() else {
        return Err(PlanError::unknown("transport", "null", &[]).into());
    };
    let mut groups = Groups::new(registry, Reach::default());
    let run = groups.run(planned, stop, &mut |_, _| ());
    match (run.outcomes.into_iter().next(), run.failure) {
        (_, Some(failure)) => Err(failure),
        (Some(outcome), None) => Ok(outcome),
        (None, None) => Err(Failure::failed("the floor gave no outcome", "run again")),
    }
}

fn as_text(found: &Found, style: &Style) -> String {
    let clock = &found.floor.clock;
    let ns = |value: f64| format!("{} ns", significant(value, 3));
    let mut rows = vec![
        ("clock", clock.source.clone()),
        ("clock read", ns(clock.cost_ns.get())),
        ("clock step", ns(clock.step_ns.get())),
        (
            "calibration error",
            format!("{} ppm", significant(clock.calibration_error_ppm.get(), 3)),
        ),
    ];
    if let Some(floor) = &found.floor.floor {
        rows.push((
            "loop floor",
            format!("{} a turn, clock and recording included", ns(floor.loop_ns.get())),
        ));
        rows.push(("recording", ns(floor.record_ns.get())));
    }
    let cpus = found.cpus;
    rows.push(match (cpus.1, found.bounce_ns) {
        (Some(second), Some(bounce)) => (
            "cache line",
            format!("{} from CPU {} to CPU {second} and back", ns(bounce), cpus.0),
        ),
        (Some(_), None) => ("cache line", "not measured".to_owned()),
        (None, _) => ("cache line", "not measured: there is only one CPU".to_owned()),
    });
    for (size, speed) in &found.copies {
        rows.push((
            "copy",
            format!(
                "{} in blocks of {}",
                format_rate(*speed, "B/s"),
                format_size(*size as u64)
            ),
        ));
    }
    if let Some(noise) = &found.floor.noise {
        let lost = significant(noise.lost_ratio.get() * 100.0, 3);
        let longest = format_ns(noise.detour_max_ns.get());
        rows.push((
            "noise",
            format!("{lost} % of CPU {} lost, longest detour {longest}", noise.cpu),
        ));
    }
    let rows = rows
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value].into());
    let columns = vec![table::key("what"), table::text("found", 0)];
    let table = Table::new("", columns, rows.collect());
    view::told(answer(found), vec![Part::Table(table)], style)
}

/// What the instrument adds to a figure, and whether all of it was measured.
fn answer(found: &Found) -> String {
    let step = format_ns(found.floor.clock.step_ns.get());
    let mut text = match &found.floor.floor {
        Some(floor) => format!(
            "The instrument adds {} to each operation that is timed by itself, and its clock moves in steps of {step}.",
            format_ns(floor.loop_ns.get())
        ),
        None => format!("The clock moves in steps of {step}."),
    };
    if found.interrupted {
        text += " Incomplete: it was interrupted, and this is what was measured until then.";
    }
    text
}

fn as_json(found: &Found) -> String {
    // One tag a block size, `copy_1m_bytes_per_s`, so that a figure can be found by its name alone.
    let copies: serde_json::Map<_, _> = found
        .copies
        .iter()
        .map(|(size, speed)| {
            let size = format_size_exact(*size as u64).to_lowercase();
            (format!("copy_{size}_bytes_per_s"), json!(speed.round()))
        })
        .collect();
    let document = json!({
        "clock": found.floor.clock,
        "floor": found.floor.floor,
        "noise": found.floor.noise,
        "cpus": [found.cpus.0, found.cpus.1],
        "cache_line_round_trip_ns": found.bounce_ns,
        "copies": copies,
        "interrupted": found.interrupted,
    });
    format!("{document:#}\n")
}
