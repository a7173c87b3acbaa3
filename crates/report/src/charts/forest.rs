//! The pictures of comparisons: every figure as a ratio with its interval, on either side of 1.

use super::{Picture, titled};
use crate::compare::{Comparison, Row, Verdict, words::answer};
use crate::figures::spoken;
use crate::interference::words::{interference_answers, load_subject};
use crate::interference::{Interference, InterferenceRow, figure_name};
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};

/// Figures that are drawn; more could not be told apart.
const ROWS_MAX: usize = 80;

/// Every figure of a comparison as a ratio with its interval, on either side of 1.
pub fn forest(comparison: &Comparison) -> Option<Picture> {
    let answer = answer(comparison);
    let chart = Chart {
        title: answer.first().map_or_else(String::new, |line| titled(line)),
        subtitle: "B against A".into(),
        description: "The ratio B/A of each figure with its interval; the shade is what counts as the same."
            .into(),
        x: Axis::log("ratio B/A", Unit::Plain),
        ..Chart::new("")
    };
    let name = |row: &Row| format!("{} {}", row.label, spoken(&row.tag));
    let within = comparison.within_ratio.get();
    picture(&comparison.rows, within, chart, name, answer)
}

/// Every figure with load against without.
pub fn under_load(found: &Interference) -> Option<Picture> {
    let chart = Chart {
        subtitle: "With load against without".into(),
        description: "The ratio of each figure under load to that without, with its interval; the shade is what counts \
                      as the same."
            .into(),
        x: Axis::log("ratio on/off", Unit::Plain),
        ..Chart::new("")
    };
    let named = |one: &InterferenceRow| Row {
        label: load_subject(one),
        ..one.row.clone()
    };
    let rows: Vec<Row> = found.rows.iter().map(named).collect();
    let answer = interference_answers(found);
    let chart = Chart {
        title: match answer.as_slice() {
            [only] => titled(only),
            _ => verdicts(&rows),
        },
        ..chart
    };
    // The figure first: long names lose their ends.
    let name = |row: &Row| format!("{}, {}", figure_name(&row.tag), row.label);
    picture(&rows, found.within_ratio.get(), chart, name, answer)
}

/// `Of 4 figures under load 3 are slower, 1 is faster`, `All 4 figures under load are inconclusive`.
fn verdicts(rows: &[Row]) -> String {
    let kinds = [
        (Verdict::Slower, "slower"),
        (Verdict::Faster, "faster"),
        (Verdict::Same, "the same"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let counted = kinds.into_iter().map(|(verdict, name)| {
        let count = rows.iter().filter(|row| row.verdict == verdict).count();
        (count, name)
    });
    let counted: Vec<(usize, &str)> = counted.filter(|(count, _)| *count > 0).collect();
    match counted.as_slice() {
        [(1, name)] => return format!("The figure under load is {name}"),
        [(2, name)] => return format!("Both figures under load are {name}"),
        [(all, name)] => return format!("All {all} figures under load are {name}"),
        _ => {}
    }
    let told = counted.iter().map(|(count, name)| match count {
        1 => format!("1 is {name}"),
        _ => format!("{count} are {name}"),
    });
    let told: Vec<String> = told.collect();
    format!("Of {} figures under load {}", rows.len(), told.join(", "))
}

fn picture(
    all: &[Row],
    within: f64,
    chart: Chart,
    name: impl Fn(&Row) -> String,
    answer: Vec<String>,
) -> Option<Picture> {
    if all.is_empty() {
        return None;
    }
    let rows = &all[..all.len().min(ROWS_MAX)];
    let place = |index: usize| (rows.len() - 1 - index) as f64;
    let chart = Chart {
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
                label: String::new(),
            },
        ],
        interval_label: "95 % interval of the ratio".into(),
        plot_height: (28 * rows.len() as u32).clamp(110, 2400),
        ..chart
    };
    let cut = (rows.len() < all.len()).then(|| {
        format!(
            "The picture shows the first {ROWS_MAX} of {} figures; the table has all.",
            all.len()
        )
    });
    Some(Picture {
        chart,
        answer,
        words: cut.into_iter().collect(),
        ..Picture::default()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_and_one_alone_is_of_all() {
        let rows = |verdicts: &[Verdict]| -> Vec<Row> {
            let row = |verdict: &Verdict| Row {
                verdict: *verdict,
                ..Row::default()
            };
            verdicts.iter().map(row).collect()
        };
        let said = |all: &[Verdict]| verdicts(&rows(all));
        assert_eq!(
            said(&[Verdict::Slower, Verdict::Slower, Verdict::Same]),
            "Of 3 figures under load 2 are slower, 1 is the same"
        );
        assert_eq!(
            said(&[Verdict::Inconclusive, Verdict::Inconclusive]),
            "Both figures under load are inconclusive"
        );
        assert_eq!(said(&[Verdict::Faster]), "The figure under load is faster");
    }
}
