//! The pictures of comparisons: every figure as a ratio with its interval, on either side of 1.

use super::Picture;
use super::words::ratio;
use crate::compare::{Comparison, Row, Verdict};
use crate::interference::{Interference, InterferenceRow, figure_name};
use crate::render::{figure_text, interference_answers, load_subject};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};

/// Figures that are drawn; more could not be told apart.
const ROWS_MAX: usize = 80;

/// What the two sides of a picture are called.
struct Sides {
    title: &'static str,
    description: &'static str,
    /// The first, the second, and their ratio.
    columns: [&'static str; 3],
}

/// Every figure of a comparison as a ratio with its interval, on either side of 1.
pub fn forest(comparison: &Comparison) -> Option<Picture> {
    let sides = Sides {
        title: "B against A",
        description: "The ratio B/A of each figure with its interval; the shade is what counts as the same.",
        columns: ["A", "B", "B/A"],
    };
    let words = crate::render::answer(comparison);
    let name = |row: &Row| format!("{} {}", row.label, row.tag);
    picture(
        &comparison.rows,
        comparison.within_ratio.get(),
        &sides,
        name,
        words,
    )
}

/// Every figure with load against without.
pub fn under_load(found: &Interference) -> Option<Picture> {
    let sides = Sides {
        title: "With load against without",
        description: "The ratio of each figure under load to that without, with its interval; the shade is what counts as \
                      the same.",
        columns: ["off", "on", "on/off"],
    };
    let named = |one: &InterferenceRow| Row {
        label: load_subject(one),
        ..one.row.clone()
    };
    let rows: Vec<Row> = found.rows.iter().map(named).collect();
    let words = interference_answers(found);
    // The figure first: long names lose their ends.
    let name = |row: &Row| format!("{}, {}", figure_name(&row.tag), row.label);
    picture(&rows, found.within_ratio.get(), &sides, name, words)
}

fn picture(
    all: &[Row],
    within: f64,
    sides: &Sides,
    name: impl Fn(&Row) -> String,
    mut words: Vec<String>,
) -> Option<Picture> {
    if all.is_empty() {
        return None;
    }
    let rows = &all[..all.len().min(ROWS_MAX)];
    let place = |index: usize| (rows.len() - 1 - index) as f64;
    let [a, b, quotient] = sides.columns;
    let chart = Chart {
        title: sides.title.into(),
        description: sides.description.into(),
        x: Axis::log(format!("ratio {quotient}"), Unit::Plain),
        y: Axis {
            range: Some((-0.6, rows.len() as f64 - 0.4)),
            ticks: rows
                .iter()
                .enumerate()
                .map(|(index, row)| (place(index), name(row)))
                .collect(),
            ..Axis::linear("", Unit::Plain)
        },
        series: by_verdict(rows),
        marks: vec![
            Mark::Shade {
                from: 1.0 / (1.0 + within),
                to: 1.0 + within,
                label: "the same".into(),
            },
            Mark::Vertical {
                x: 1.0,
                label: "equal".into(),
            },
        ],
        interval_label: "95 % interval of the ratio".into(),
        plot_height: (28 * rows.len() as u32).clamp(110, 2400),
        ..Chart::new("")
    };
    let columns = [
        "case",
        "figure",
        a,
        b,
        "runs",
        quotient,
        "interval",
        "verdict",
        "more runs needed",
    ];
    if rows.len() < all.len() {
        words.push(format!(
            "The picture has the first {ROWS_MAX} of {} figures; the table has all.",
            all.len()
        ));
    }
    Some(Picture {
        words,
        columns: columns.map(str::to_owned).to_vec(),
        rows: all.iter().map(forest_row).collect(),
        chart,
    })
}

fn forest_row(row: &Row) -> Vec<String> {
    let ends = row.lower.zip(row.upper);
    let interval = ends.map(|(low, high)| format!("[{}, {}]", ratio(low.get()), ratio(high.get())));
    vec![
        row.label.clone(),
        row.tag.clone(),
        figure_text(&row.tag, row.a.get()),
        figure_text(&row.tag, row.b.get()),
        format!("{}/{}", row.a_runs, row.b_runs),
        ratio(row.ratio.get()),
        interval.unwrap_or_default(),
        row.verdict.name().to_owned(),
        row.more_runs.map(|more| more.to_string()).unwrap_or_default(),
    ]
}

/// The rows as points with intervals, one series a kind of verdict, first row at the top.
fn by_verdict(rows: &[Row]) -> Vec<Series> {
    let kinds: [(&[Verdict], &str); 3] = [
        (&[Verdict::Faster, Verdict::Same], "faster or same"),
        (&[Verdict::Slower], "slower"),
        (&[Verdict::Inconclusive], "inconclusive"),
    ];
    let mut all = Vec::new();
    for (color, (verdicts, label)) in kinds.into_iter().enumerate() {
        let of_kind = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| verdicts.contains(&row.verdict));
        let points: Vec<Point> = of_kind
            .map(|(index, row)| Point {
                x: row.ratio.get(),
                y: (rows.len() - 1 - index) as f64,
                interval: row
                    .lower
                    .zip(row.upper)
                    .map(|(low, high)| (low.get(), high.get())),
            })
            .collect();
        if !points.is_empty() {
            all.push(Series::new(label, Look::Across, points).colored(color));
        }
    }
    all
}
