//! Sweeps and load curves for people: the table, then what the curve says, then its picture.

use super::grid::{self, number};
use super::plot_chart::chart;
use super::style::{Style, Tone, clean, wrap};
use super::{interference, table};
use crate::curve::load_words;
use crate::curve::section::{LoadSection, SweepSection, load_point, load_rows};
use crate::html::sweeps::probe_words;
use crate::html::{Input, pictures, words};
use crate::interference::undisturbed;
use wirespeed_schema::Run;
use wirespeed_schema::units::{format_ns, format_rate};

/// A sweep: the table of `run`, and what the curve says.
pub fn sweep(run: &Run, style: &Style) -> String {
    let idle = Run {
        cases: undisturbed(run).into_owned(),
        ..run.clone()
    };
    let mut lines: Vec<String> = table::table(&idle, style).lines().map(str::to_owned).collect();
    lines.push(String::new());
    let name = run.sections.get("sweep").map_or("run", |_| "sweep");
    lines.extend(curve_lines(run, name, style));
    let said: Vec<String> = pictures(&[Input { name, run }])
        .into_iter()
        .flat_map(|picture| picture.words)
        .collect();
    let section = SweepSection::of(run).unwrap_or_default();
    if section.over == "loggp" && !lines.iter().any(|line| line.contains("LogGP")) {
        let why = "No parameters of LogGP: they need three sizes at which the larger window took longer than one message. \
                   Measure longer (-t), more often (--repeats), or on a quieter machine.";
        lines.push(wrap(why, style.width, 2));
    }
    let probes = section.probes;
    for probe in probes.iter().filter(|probe| !said.contains(&probe_words(probe))) {
        let tone = if probe.confirmed {
            Tone::Strong
        } else {
            Tone::Faint
        };
        lines.push(style.paint(tone, &wrap(&probe_words(probe), style.width, 2)));
    }
    lines.extend(interference::comparison(run, style));
    table::finish(lines, style)
}

/// The pictures of sweeps in `run`, with their words.
fn curve_lines(run: &Run, name: &str, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let curves = pictures(&[Input { name, run }]).into_iter().filter(|picture| {
        ["against message size", "against window", "against offered load"]
            .iter()
            .any(|part| picture.chart.title.contains(part))
    });
    for picture in curves {
        lines.extend(chart(&picture.chart, style));
        lines.extend(
            picture
                .words
                .iter()
                .map(|line| wrap(&clean(line), style.width, 2)),
        );
        lines.push(String::new());
    }
    lines
}

/// A load curve: offered and achieved rates, service and response times, the knee, what keeps the bound.
pub fn load(run: &Run, style: &Style) -> String {
    let section = LoadSection::of(run).unwrap_or_default();
    let unit = section.offers.unit();
    let columns = [
        number("offered", 0),
        number("achieved", 0),
        number("service p50", 3),
        number("service p99", 4),
        number("response p50", 1),
        number("response p99", 0),
        number("response max", 2),
        number("", 0),
    ];
    let cases = undisturbed(run);
    let rows: Vec<Vec<String>> = cases
        .iter()
        .filter_map(|case| {
            let point = load_point(case)?;
            let time = |tag: &str| {
                case.metrics
                    .get(tag)
                    .map(|m| format_ns(m.value.get()))
                    .unwrap_or_default()
            };
            let service = section.offers.service();
            Some(vec![
                format_rate(point.offered_per_s, unit),
                format_rate(point.achieved_per_s, unit),
                time(&format!("{service}_p50_ns")),
                time(&format!("{service}_p99_ns")),
                time("response_p50_ns"),
                time("response_p99_ns"),
                time("response_max_ns"),
                if point.is_saturated() {
                    "saturated".to_owned()
                } else {
                    String::new()
                },
            ])
        })
        .collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        let (mut shown, _) = grid::render(&columns, &rows, style.width);
        shown[0] = style.paint(Tone::Faint, &shown[0]);
        lines.append(&mut shown);
        lines.push(String::new());
    }
    let curve = curve_lines(run, "load", style);
    if curve.is_empty() {
        let words = load_words(&section, &load_rows(&cases));
        lines.extend(
            words
                .iter()
                .map(|line| style.paint(Tone::Strong, &wrap(line, style.width, 2))),
        );
    }
    lines.extend(curve);
    lines.extend(interference::comparison(run, style));
    if let Some(trust) = table::trust_line(&run.cases) {
        lines.push(style.paint(Tone::Faint, &wrap(&trust, style.width, 2)));
    }
    lines.extend(table::remark_lines(&words::remarks(run), style));
    lines.extend(table::run_end(run, style));
    table::finish(lines, style)
}
