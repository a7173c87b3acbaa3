//! The picture of LogGP: the gap between messages of windows against their size, with the line whose ends are g and G.

use super::sweeps::Swept;
use super::{Picture, behind};
use crate::assemble::sleeps;
use crate::figures::figure_text;
use crate::fit::{LogGp, Parameter, Windows, loggp};
use crate::labels::Input;
use crate::stats::LEVEL;
use crate::svg::{Axis, Chart, Look, Point, Series, Unit};
use crate::thresholds::{BUSY_SHARE, FIT_POINTS_MIN, FIT_RESIDUAL_MAX};
use crate::wording::counted;
use std::collections::BTreeMap;
use wirespeed_schema::Test;
use wirespeed_schema::order::{InOrder, map_of};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_asked_size, format_ns, format_rate, significant};

/// Sizes with their cases, by window.
type ByWindow<'a> = BTreeMap<u64, Vec<(u64, &'a CaseResult)>>;

/// One picture for each transport whose windows of one and of several messages were measured over sizes.
pub fn pictures(cases: &[(&Input, &CaseResult)], name: &dyn Fn(&CaseResult) -> String) -> Vec<Picture> {
    let mut transports: BTreeMap<String, ByWindow> = BTreeMap::new();
    for (_, case) in cases {
        if let Test::OsuBw(test) = &case.case.test {
            let windows = transports.entry(name(case)).or_default();
            windows
                .entry(test.window_msgs)
                .or_default()
                .push((test.size_bytes, *case));
        }
    }
    let drawn = transports.iter().filter_map(|(label, windows)| {
        let (one, many) = (
            windows.get(&1)?,
            windows.last_key_value().filter(|(window, _)| **window > 1)?,
        );
        let [few, several] = [one, many.1].map(|cases| Swept::of(label, cases.clone()));
        picture(label, &few, &several, *many.0)
    });
    drawn.collect()
}

fn picture(label: &str, one: &Swept, many: &Swept, window_msgs: u64) -> Option<Picture> {
    let of_many: BTreeMap<u64, &CaseResult> = map_of(many.cases.iter().copied());
    let with = one.cases.iter().filter_map(|(size, case)| {
        Some(Windows {
            size_bytes: *size,
            one_ns: case.figure("iteration_p50_ns")?,
            many_ns: of_many.get(size)?.figure("iteration_p50_ns")?,
        })
    });
    let mut points: Vec<Windows> = with.collect();
    points.order_by_key(|point| point.size_bytes);
    let found = loggp(&points, window_msgs, overhead_ns(one, many), LEVEL).ok()?;
    let measured = found
        .gaps
        .iter()
        .map(|(size, gap)| Point::new(*size as f64, *gap));
    let fitted = found
        .gaps
        .iter()
        .map(|(size, _)| Point::new(*size as f64, found.gap_at_ns(*size as f64)));
    let chart = Chart {
        title: match holds(&found) {
            true => format!(
                "{label}: {}, {}",
                gap(&found.gap_ns),
                gap_per_byte(&found.gap_per_byte_ns)
            ),
            false => format!("{label}: no parameters of LogGP"),
        },
        subtitle: format!("LogGP, gap between messages against message size: {label}"),
        description: format!(
            "(PRTT({window_msgs}) - PRTT(1)) / {}; dashed: g + (s - 1) G.",
            window_msgs - 1
        ),
        x: Axis::log("message size", Unit::BinaryBytes),
        y: Axis::log("gap between messages", Unit::Nanoseconds),
        series: vec![
            Series::new("measured", Look::Line, measured.collect()),
            Series::new(
                "g + (s - 1) G",
                Look::Fit,
                fitted.filter(|point| point.y > 0.0).collect(),
            )
            .colored(0),
        ]
        .into_iter()
        .filter(|series| series.look != Look::Fit || holds(&found))
        .collect(),
        ..Chart::new("")
    };
    let columns = ["size", "PRTT(1)", "PRTT(n)", "gap", "g + (s - 1) G", "residual"];
    Some(Picture {
        chart,
        answer: words(label, &found),
        table: behind(
            &columns,
            points.iter().filter_map(|point| row(point, &found)).collect(),
        ),
        is_curve: true,
        is_loggp: true,
        ..Picture::default()
    })
}

fn row(point: &Windows, found: &LogGp) -> Option<Vec<String>> {
    let (_, gap) = found.gaps.iter().find(|(size, _)| *size == point.size_bytes)?;
    let fitted = found.gap_at_ns(point.size_bytes as f64);
    Some(vec![
        format_asked_size(point.size_bytes),
        format_ns(point.one_ns),
        format_ns(point.many_ns),
        format_ns(*gap),
        format_ns(fitted),
        significant((gap - fitted) / gap, 2),
    ])
}

/// Half of the CPU time of a message of the smallest size, where both ends sleep while they wait for it.
fn overhead_ns(one: &Swept, many: &Swept) -> Option<f64> {
    let (alone, stream) = (busiest_share(least(one))?, least(many)?);
    let each = stream.figure("cpu_ns_per_message")?;
    (alone < BUSY_SHARE && sleeps(stream)).then_some(each / 2.0)
}

/// The case of the smallest size.
fn least<'a>(swept: &Swept<'a>) -> Option<&'a CaseResult> {
    swept
        .cases
        .iter()
        .min_by_key(|(size, _)| *size)
        .map(|(_, case)| *case)
}

/// The largest share of its time for which a rank of the case used a CPU; `None` without outcomes.
fn busiest_share(case: Option<&CaseResult>) -> Option<f64> {
    let shares = case?
        .outcomes()
        .filter(|outcome| outcome.elapsed_ns > 0)
        .map(|outcome| {
            let used = outcome.disturbance.user_ns as f64 + outcome.disturbance.system_ns as f64;
            used / outcome.elapsed_ns as f64
        });
    shares.reduce(f64::max)
}

/// g with its interval, or what it is at most where it cannot be told from nought.
fn gap(found: &Parameter) -> String {
    let [value, lower, upper] = [found.value, found.lower, found.upper].map(format_ns);
    match found.lower > 0.0 {
        true => format!("g = {value} [{lower}, {upper}]"),
        false => format!("g is at most {upper}"),
    }
}

/// The same of G, which as a speed is what long messages reach.
fn gap_per_byte(found: &Parameter) -> String {
    let [value, lower, upper] = [found.value, found.lower, found.upper].map(|ns| significant(ns, 3));
    let speed = |ns: f64| format_rate(1e9 / ns, "B/s");
    match (found.lower > 0.0, found.upper > 0.0) {
        (true, _) => format!(
            "G = {value} ns a byte [{lower} ns, {upper} ns] ({})",
            speed(found.value)
        ),
        (false, true) => format!(
            "G cannot be told from 0: at most {upper} ns a byte (at least {}); larger sizes would tell",
            speed(found.upper)
        ),
        (false, false) => {
            "G is not known, because the gaps fall with size here; larger sizes would tell".to_owned()
        }
    }
}

/// Whether the parameters describe the gaps and are such as a path can have.
fn holds(found: &LogGp) -> bool {
    found.gaps.len() >= FIT_POINTS_MIN && found.residual_ratio <= FIT_RESIDUAL_MAX && found.gap_ns.upper > 0.0
}

fn words(label: &str, found: &LogGp) -> Vec<String> {
    if !holds(found) {
        let why = match found.gaps.len() {
            gaps @ ..FIT_POINTS_MIN => format!(
                "{} above 0, and a line needs {FIT_POINTS_MIN}: name more sizes",
                counted(gaps as u64, "gap")
            ),
            gaps if found.residual_ratio > FIT_RESIDUAL_MAX => format!(
                "one line misses the gaps of {gaps} sizes by {}, more than {}. A threshold may lie among the sizes: `wirespeed \
                 sweep` finds it",
                figure_text("_ratio", found.residual_ratio),
                figure_text("_ratio", FIT_RESIDUAL_MAX)
            ),
            _ => "the line through the gaps goes below 0 towards small sizes, where no gap can be".to_owned(),
        };
        return vec![format!("{label}: no parameters of LogGP: {why}.")];
    }
    let latency = match (found.overhead_ns, found.latency_ns) {
        (Some(overhead), (latency, _)) => format!(
            "o = {} (half of the CPU time of a message), L = {}",
            format_ns(overhead),
            format_ns(latency)
        ),
        (None, (low, high)) => format!(
            "o is not known: the ends do not sleep while they wait, or used more CPU time than g and L + 2 o leave room for; \
             it is at most g, so L lies between {} and {}",
            format_ns(low),
            format_ns(high)
        ),
    };
    vec![format!(
        "{label}: {}, {}, L + 2 o = {}; {latency}; residuals {}.",
        gap(&found.gap_ns),
        gap_per_byte(&found.gap_per_byte_ns),
        format_ns(found.one_way_ns),
        figure_text("_ratio", found.residual_ratio)
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_from_nought_is_a_bound() {
        let parameter = |value, lower, upper| Parameter { value, lower, upper };
        assert_eq!(gap(&parameter(50.0, 40.0, 60.0)), "g = 50 ns [40 ns, 60 ns]");
        assert_eq!(gap(&parameter(5.0, -40.0, 60.0)), "g is at most 60 ns");
        let told = gap_per_byte(&parameter(0.5, 0.25, 1.0));
        assert!(
            told.starts_with("G = 0.5 ns a byte") && told.contains("2 GB/s"),
            "{told}"
        );
        let bound = gap_per_byte(&parameter(-0.1, -0.5, 1.0));
        assert!(bound.contains("at most 1 ns a byte (at least 1 GB/s)"), "{bound}");
        assert!(gap_per_byte(&parameter(-0.2, -0.3, -0.1)).contains("not known"));
    }
}
