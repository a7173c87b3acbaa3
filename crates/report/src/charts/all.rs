//! Which pictures results have: what is swept, what stands alone, and how many are drawn.

use super::Picture;
use super::sweeps::{self, Swept};
use super::{forest, histogram, load, loggp, mesh, pairs, shapes, window};
use crate::compare::Comparison;
use crate::curve;
use crate::curve::section::{LoadSection, Probe, SweepSection};
use crate::interference::{Interference, undisturbed};
use crate::labels::Input;
use crate::names::{self, Parameters, alike};
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::host::Floor;
use wirespeed_schema::plan::takes;
use wirespeed_schema::run::CaseResult;

/// Lines of one chart: all transports of a machine, which six colours with markers of their own still tell apart. More would be
/// a thicket; further ones get charts of their own.
const LINES: usize = 8;
/// Cases whose distribution and slices of time are drawn one by one.
pub const SINGLE_MAX: usize = 12;
/// Charts of sweeps at most.
const SWEEP_CHARTS_MAX: usize = 24;

type Found<'a> = Vec<(&'a Input<'a>, &'a CaseResult)>;

/// Every picture, in the order of the page.
pub fn all(inputs: &[Input]) -> Vec<Picture> {
    let several = inputs.len() > 1;
    let undisturbed: Vec<_> = inputs.iter().map(|input| undisturbed(input.run)).collect();
    let cases: Found = inputs
        .iter()
        .zip(&undisturbed)
        .flat_map(|(input, cases)| cases.iter().map(move |case| (input, case)))
        .filter(|(_, case)| !case.metrics.is_empty() && case.case.transport != Floor::TRANSPORT)
        .collect();
    let comparisons = inputs
        .iter()
        .filter_map(|input| input.run.sections.get::<Comparison>());
    let mut pictures: Vec<Picture> = comparisons.filter_map(|found| forest::forest(&found)).collect();
    let disturbed = inputs
        .iter()
        .filter_map(|input| input.run.sections.get::<Interference>());
    pictures.extend(disturbed.filter_map(|found| forest::under_load(&found)));
    pictures.extend(mesh::pictures(inputs));
    let smallest = smallest_latencies(&cases);
    pictures.extend(shapes::ladder(&smallest, several, "rtt_p50_ns"));
    for (input, cases) in inputs.iter().zip(&undisturbed) {
        if let Some(section) = input.run.sections.get::<LoadSection>() {
            pictures.extend(load::against_load(input.name, cases, &section));
        }
    }
    let curves = Curves::of(&cases, several);
    pictures.extend(swept(&cases, &curves));
    pictures.extend(loggp::pictures(&cases, &|case| curves.name(case)));
    pictures.extend(distributions(&cases, &smallest, several));
    pictures.extend(pairs::pictures(&cases, inputs));
    let timed = cases
        .iter()
        .filter_map(|(input, case)| shapes::over_time(input, case, several));
    pictures.extend(timed.take(SINGLE_MAX));
    for (number, picture) in pictures.iter_mut().enumerate() {
        // Names of files and cases may hold anything; numbers tell charts apart for certain.
        picture.chart.id = format!("chart-{number}");
        if picture.chart.title.is_empty() {
            picture.chart.title = std::mem::take(&mut picture.chart.subtitle);
        }
    }
    pictures
}

/// Percentile curves and distributions; with many cases those of the smallest sizes stand for the others.
fn distributions(cases: &Found, smallest: &Found, several: bool) -> Vec<Picture> {
    let with_samples = || {
        cases
            .iter()
            .copied()
            .filter(|(_, case)| shapes::samples(case).is_some())
    };
    let mut latencies: Found = with_samples()
        .filter(|(_, case)| !case.metrics.contains_key("ack_max_ns"))
        .collect();
    if latencies.is_empty() {
        latencies = with_samples().collect();
    }
    let few = |most: usize| {
        if latencies.len() > most {
            smallest
        } else {
            &latencies
        }
    };
    let curves = few(2 * LINES).chunks(LINES).take(2);
    let mut pictures: Vec<Picture> = curves
        .filter_map(|part| shapes::percentiles(part, several))
        .collect();
    let singles = few(SINGLE_MAX);
    let named = shapes::names(singles, several)
        .into_iter()
        .zip(singles)
        .take(SINGLE_MAX);
    pictures.extend(named.filter_map(|(name, (_, case))| histogram::histogram(&name, case)));
    pictures
}

/// Of each transport (with its options) the round-trip cases of the smallest size.
fn smallest_latencies<'a>(cases: &Found<'a>) -> Found<'a> {
    let timed = |(_, case): &(&Input, &CaseResult)| case.metrics.contains_key("rtt_p50_ns");
    let timed: Found = cases.iter().copied().filter(timed).collect();
    let size = |case: &CaseResult| case.case.test.size_bytes();
    let is_least = |(input, case): &(&'a Input<'a>, &'a CaseResult)| {
        let alike = |(other_input, other): &&(&Input, &CaseResult)| {
            std::ptr::eq(*other_input, *input)
                && other.case.transport == case.case.transport
                && other.case.options == case.case.options
                && other.case.test.name() == case.case.test.name()
        };
        timed
            .iter()
            .filter(alike)
            .all(|(_, other)| size(other) >= size(case))
    };
    let mut least: Vec<(Parameters, (&'a Input<'a>, &'a CaseResult))> = Vec::new();
    for one in timed.iter().copied().filter(is_least) {
        // How long one ran makes no other question of it.
        let own = Parameters::of(one.1);
        let is_same = |(known, (input, _)): &(Parameters, (&Input, &CaseResult))| {
            std::ptr::eq(*input, one.0) && known.asks_the_same(&own)
        };
        if !least.iter().any(is_same) {
            least.push((own, one));
        }
    }
    least.into_iter().map(|(_, one)| one).collect()
}

/// What is drawn against the size of messages.
#[derive(Clone, Copy)]
enum Against {
    Bandwidth,
    Rate,
    Latency,
}

impl Against {
    fn of(case: &CaseResult) -> Against {
        match case.metrics.contains_key("bandwidth_bytes_per_s") {
            _ if case.case.test.msgrate().is_some() => Against::Rate,
            true => Against::Bandwidth,
            false => Against::Latency,
        }
    }
}

/// Charts of everything that is swept over sizes or windows.
fn swept(cases: &Found, curves: &Curves) -> Vec<Picture> {
    // Both by name, then by number: one kind of map.
    let mut by_size: BTreeMap<(String, u64), BTreeMap<u64, &CaseResult>> = BTreeMap::new();
    let mut by_window = by_size.clone();
    let mut probes: BTreeMap<String, Vec<Probe>> = BTreeMap::new();
    for (input, case) in cases {
        let name = curves.name(case);
        let sweep = || input.run.sections.get::<SweepSection>();
        probes
            .entry(name.clone())
            .or_insert_with(|| sweep().map_or(Vec::new(), |section| section.probes));
        let size = case.case.test.size_bytes();
        let slot = by_size
            .entry((name.clone(), Against::of(case) as u64))
            .or_default()
            .entry(size)
            .or_insert(case);
        // Of several windows the best stands for a size.
        let bandwidth = |case: &CaseResult| case.figure("bandwidth_bytes_per_s");
        if bandwidth(case) > bandwidth(slot) {
            *slot = case;
        }
        let test = &case.case.test;
        let paced = test
            .stream()
            .is_some_and(|stream| stream.pace_msg_per_s.is_some());
        if !paced && takes(test.name(), "window") {
            by_window
                .entry((name, size))
                .or_default()
                .insert(case.case.test.window(), case);
        }
    }
    let mut pictures = Vec::new();
    for (against, tag) in [
        (Against::Bandwidth, "bandwidth_bytes_per_s"),
        (Against::Rate, "rate_msg_per_s"),
        (Against::Latency, "rtt_p50_ns"),
        (Against::Latency, "completion_p50_ns"),
    ] {
        let all: Vec<Swept> = by_size
            .iter()
            .filter(|((_, of), cases)| {
                *of == against as u64
                    && cases.len() > 2
                    && cases.values().all(|case| case.metrics.contains_key(tag))
            })
            .map(|((label, _), cases)| Swept {
                probes: probes.get(label).cloned().unwrap_or_default(),
                ..as_swept(label, cases)
            })
            .collect();
        for part in all.chunks(LINES) {
            pictures.extend(sweeps::against_size(part, tag));
        }
    }
    for ((name, size), cases) in by_window.iter().filter(|(_, cases)| cases.len() > 2) {
        let label = format!("{name} {}", wirespeed_schema::units::format_asked_size(*size));
        pictures.extend(window::against_window(&as_swept(&label, cases)));
    }
    pictures.truncate(SWEEP_CHARTS_MAX);
    pictures
}

fn as_swept<'a>(label: &str, cases: &BTreeMap<u64, &'a CaseResult>) -> Swept<'a> {
    Swept::of(label, cases.iter().map(|(at, case)| (*at, *case)).collect())
}

/// The curve that each case is a point of.
struct Curves<'a>(Vec<(&'a CaseResult, String)>);

impl<'a> Curves<'a> {
    /// Curves over sizes or windows; where two cases have both the same, they are points of two curves, which tell what else they
    /// differ in.
    fn of(cases: &Found<'a>, several: bool) -> Curves<'a> {
        let following = following(cases);
        let name = |(input, case): &(&'a Input<'a>, &'a CaseResult)| {
            (*case, sweep_name(input, case, several, &following))
        };
        let mut curves: Vec<(&CaseResult, String)> = cases.iter().map(name).collect();
        let place = |(case, name): &(&CaseResult, String)| {
            let test = &case.case.test;
            (
                name.clone(),
                Against::of(case) as u64,
                test.size_bytes(),
                test.window(),
            )
        };
        let mut differing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for group in alike(curves.iter().map(place)) {
            let own: Vec<Parameters> = group.iter().map(|at| Parameters::of(curves[*at].0)).collect();
            let names = names::differing(&own.iter().collect::<Vec<_>>());
            differing
                .entry(curves[group[0]].1.clone())
                .or_default()
                .extend(names);
        }
        for (case, name) in &mut curves {
            let own = differing.get(name).map(|names| (names, Parameters::of(case)));
            let told = own
                .iter()
                .flat_map(|(names, own)| names.iter().map(move |name| (name, own.get(name))));
            let told: String = told
                .filter_map(|(name, value)| Some(format!(" {name} {}", value?)))
                .collect();
            name.push_str(&told);
        }
        // What is the same in everything was measured again.
        for group in alike(curves.iter().map(place)) {
            for (number, at) in group.into_iter().enumerate().skip(1) {
                curves[at].1.push_str(&format!(" ({})", number + 1));
            }
        }
        Curves(curves)
    }

    fn name(&self, case: &CaseResult) -> String {
        let known = self.0.iter().find(|(one, _)| std::ptr::eq(*one, case));
        known.map_or_else(String::new, |(_, name)| name.clone())
    }
}

/// A result, and of it transport, test and name of an option.
type OptionOf<'a> = (*const Input<'a>, String, &'static str, String);

/// Options of one result that are there or not by size and window alone: a session gathers small messages of more than one
/// credit. They are one curve's; where two cases of one size and window differ in an option, it makes two.
fn following<'a>(cases: &Found<'a>) -> BTreeSet<OptionOf<'a>> {
    type Values<'a> = BTreeSet<Option<&'a String>>;
    let names: BTreeSet<&String> = cases
        .iter()
        .flat_map(|(_, case)| case.case.options.keys())
        .collect();
    let mut values: BTreeMap<OptionOf<'a>, BTreeMap<(u64, u64), Values<'_>>> = BTreeMap::new();
    for (input, case) in cases {
        let (case, test) = (&case.case, &case.case.test);
        for name in &names {
            let key = option_of(input, (&case.transport, test.name()), name);
            let places = values.entry(key).or_default();
            let at = places.entry((test.size_bytes(), test.window())).or_default();
            at.insert(case.options.get(*name));
        }
    }
    let follows = |(_, places): &(OptionOf<'a>, BTreeMap<(u64, u64), Values<'_>>)| {
        let all: Values<'_> = places.values().flatten().copied().collect();
        all.len() == 2 && all.contains(&None) && places.values().all(|at| at.len() == 1)
    };
    let found = values.into_iter().filter(follows);
    found.map(|(key, _)| key).collect()
}

fn option_of<'a>(input: &'a Input<'a>, (via, test): (&str, &'static str), name: &str) -> OptionOf<'a> {
    (std::ptr::from_ref(input), via.to_owned(), test, name.to_owned())
}

fn sweep_name<'a>(
    input: &'a Input<'a>,
    case: &CaseResult,
    several: bool,
    following: &BTreeSet<OptionOf<'a>>,
) -> String {
    let mut told = case.case.clone();
    let key = |name: &String| option_of(input, (&case.case.transport, case.case.test.name()), name);
    told.options.retain(|name, _| !following.contains(&key(name)));
    let options = told.options_text();
    let file = if several {
        format!("{}: ", input.name)
    } else {
        String::new()
    };
    let test = match case.case.test.msgrate() {
        Some(test) => format!(
            "{} {} p={} {}",
            test.pattern.name(),
            test.grid.name(),
            test.peers,
            test.cache_state.name()
        ),
        None => case.case.test.name().to_owned(),
    };
    format!("{file}{} {test}{options}", curve::transport_of(case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::stream;
    use serde_json::json;
    use wirespeed_schema::Run;

    /// Streams of these windows and sizes, with these values of an option.
    fn streams(of: &[(u64, u64, Option<&str>)]) -> Vec<CaseResult> {
        let case = |(window, size, value): &(u64, u64, Option<&str>)| {
            let fields = json!({"window_msgs": window, "size_bytes": size, "options": {}});
            let mut case = stream(fields, &[("rate_msg_per_s", 1e6)]);
            let option = value.map(|value| ("coalesce".to_owned(), value.to_owned()));
            case.case.options.extend(option);
            case
        };
        of.iter().map(case).collect()
    }

    /// The curves that they are points of.
    fn curves(of: &[(u64, u64, Option<&str>)]) -> BTreeSet<String> {
        let cases = streams(of);
        let run = Run::of(Default::default(), String::new());
        let input = Input { name: "a", run: &run };
        let found: Found = cases.iter().map(|case| (&input, case)).collect();
        let curves = Curves::of(&found, false);
        cases.iter().map(|case| curves.name(case)).collect()
    }

    #[test]
    fn an_option_that_follows_from_size_and_window_makes_no_curve_of_its_own() {
        let (none, some) = (None, Some("16K"));
        let one = BTreeSet::from(["tcp am_bw".to_owned()]);
        for of in [
            [(1, 8, none), (8, 8, some), (64, 8, some)],
            [(8, 8, some), (8, 64, some), (8, 1 << 20, none)],
        ] {
            assert_eq!(curves(&of), one, "{of:?}");
        }
        assert_eq!(curves(&[(1, 8, none), (8, 8, some), (8, 8, none)]).len(), 2);
        assert_eq!(curves(&[(1, 8, Some("4K")), (8, 8, some)]).len(), 2);
        let same = BTreeSet::from(["tcp am_bw coalesce 16K".to_owned()]);
        assert_eq!(curves(&[(1, 8, some), (8, 8, some)]), same);
    }

    /// What an option follows from is asked of each result alone: another may have been told otherwise.
    #[test]
    fn a_result_beside_another_has_the_curves_that_it_has_alone() {
        let (none, some) = (None, Some("16K"));
        let [of_a, of_b] =
            [[(1, 8, none), (8, 8, some)], [(1, 8, some), (8, 8, some)]].map(|of| streams(&of));
        let run = Run::of(Default::default(), String::new());
        let [a, b] = ["a", "b"].map(|name| Input { name, run: &run });
        let of = |input| move |case| (input, case);
        let found: Found = of_a.iter().map(of(&a)).chain(of_b.iter().map(of(&b))).collect();
        let curves = Curves::of(&found, true);
        let names = |cases: &[CaseResult]| BTreeSet::from_iter(cases.iter().map(|case| curves.name(case)));
        assert_eq!(names(&of_a), BTreeSet::from(["a: tcp am_bw".to_owned()]));
        assert_eq!(
            names(&of_b),
            BTreeSet::from(["b: tcp am_bw coalesce 16K".to_owned()])
        );
    }
}
