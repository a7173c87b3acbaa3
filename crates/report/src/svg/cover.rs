//! What a text on the plot would cover: the data and the lines that are drawn there. It never draws.

use super::labels::Area;
use super::scale::Span;
use super::{Chart, Look, Mark};

/// A piece of a line, in pixels; of no length for a point alone.
pub type Piece = ((f64, f64), (f64, f64));

/// The data as it is drawn, and the vertical lines.
pub fn drawn(chart: &Chart, x: &Span, y: &Span) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for series in &chart.series {
        let placed = series
            .points
            .iter()
            .filter_map(|point| x.place(point.x).zip(y.place(point.y)));
        let placed: Vec<(f64, f64)> = placed.collect();
        match series.look {
            Look::Line | Look::Fit => pieces.extend(placed.windows(2).map(|pair| (pair[0], pair[1]))),
            Look::Points | Look::Across | Look::Steps => pieces.extend(placed.iter().map(|at| (*at, *at))),
        }
    }
    for mark in &chart.marks {
        if let Mark::Vertical { x: at, .. } = mark
            && let Some(at) = x.place(*at)
        {
            pieces.push(((at, y.to), (at, y.from)));
        }
    }
    pieces
}

/// How many of `pieces` pass through `area`, with the room that a marker takes.
pub fn covered(area: &Area, pieces: &[Piece]) -> usize {
    let room = 4.0;
    let passes = |(from, to): &&Piece| {
        // Liang and Barsky 1984: what of the way from one end to the other lies within each pair of edges.
        let within = |from: f64, to: f64, low: f64, high: f64| match to == from {
            true => (low..=high).contains(&from).then_some((0.0, 1.0)),
            false => {
                let (a, b) = ((low - from) / (to - from), (high - from) / (to - from));
                Some((a.min(b).max(0.0), a.max(b).min(1.0)))
            }
        };
        let across = within(from.0, to.0, area.left - room, area.right + room);
        let down = within(from.1, to.1, area.top - room, area.bottom + room);
        across
            .zip(down)
            .is_some_and(|(a, b)| a.0.max(b.0) <= a.1.min(b.1))
    };
    pieces.iter().filter(passes).count()
}

#[cfg(test)]
mod tests {
    use super::super::layout::layout;
    use super::super::{Axis, Point, Series, Unit};
    use super::*;

    /// A bound at 10 that the data cross in `points`.
    fn bounded(look: Look, points: &[(f64, f64)], width: u32) -> Chart {
        Chart {
            x: Axis::linear("rate", Unit::Plain),
            y: Axis::log("time", Unit::Nanoseconds),
            series: vec![Series::new(
                "measured",
                look,
                points.iter().map(|(x, y)| Point::new(*x, *y)).collect(),
            )],
            marks: vec![Mark::Horizontal {
                y: 10.0,
                label: "bound of p99".into(),
            }],
            width,
            ..Chart::new("")
        }
    }

    #[test]
    fn the_label_of_a_line_stands_where_no_data_are() {
        let rising = [(0.0, 2.0), (8.0, 3.0), (9.0, 9.0), (10.0, 40.0)];
        let falling = [(0.0, 40.0), (1.0, 9.0), (10.0, 2.0)];
        let cloud = [
            (0.2, 9.0),
            (0.5, 10.5),
            (1.5, 11.0),
            (9.5, 9.5),
            (9.8, 11.0),
            (5.0, 2.0),
        ];
        let charts = [
            (Look::Line, &rising[..]),
            (Look::Line, &falling),
            (Look::Points, &cloud),
        ];
        for (look, points) in charts {
            for width in [360, 640] {
                let chart = bounded(look, points, width);
                let laid = layout(&chart, false);
                let [note] = laid.notes.as_slice() else {
                    panic!("{:?}", laid.notes);
                };
                let pieces = drawn(&chart, &laid.x, &laid.y);
                assert_eq!(
                    covered(&note.area(), &pieces),
                    0,
                    "{look:?} {points:?} {width}: {note:?}"
                );
            }
        }
    }

    #[test]
    fn what_passes_through_an_area_covers_it() {
        let area = Area {
            left: 10.0,
            right: 50.0,
            top: 10.0,
            bottom: 20.0,
        };
        for (piece, count) in [
            (((0.0, 0.0), (60.0, 30.0)), 1),
            (((30.0, 0.0), (30.0, 40.0)), 1),
            (((12.0, 12.0), (12.0, 12.0)), 1),
            (((0.0, 30.0), (60.0, 30.0)), 0),
            (((0.0, 0.0), (5.0, 40.0)), 0),
            (((0.0, 20.0), (5.0, 60.0)), 0),
        ] {
            assert_eq!(covered(&area, &[piece]), count, "{piece:?}");
        }
    }
}
