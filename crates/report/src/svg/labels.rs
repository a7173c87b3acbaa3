//! The texts of a drawing and the places that they take. Texts never cover each other: what finds no place is left out here,
//! and is said in the words beside the chart. It never draws.

use super::cover::{covered, drawn};
use super::scale::Span;
use super::text::{shortened, width, wrapped};
use super::{Chart, Look, Mark, Series};

/// Size of titles in pixels, as in the style sheet.
pub const TITLE_SIZE: f64 = 15.0;
/// Size of all other text.
pub const TEXT_SIZE: f64 = 12.0;
/// Height of a line of text.
pub const LINE: f64 = 17.0;
/// Height of a line of a text of several lines.
pub const LINE_WITHIN: f64 = 15.0;
/// Left of everything, and right of it.
pub const EDGE: f64 = 14.0;
/// Length of the sample of a series in the legend.
pub const SAMPLE: f64 = 26.0;
/// How much wider bold letters are.
const BOLD: f64 = 1.13;
/// Rows of labels above the plot; more would push the data aside.
const FLAG_ROWS_MAX: usize = 4;
/// Lines of an entry of the legend.
const ENTRY_LINES_MAX: usize = 2;

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A text, placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Its class in the style sheet.
    pub class: &'static str,
    /// What of it stands at `x`.
    pub anchor: Anchor,
    /// Its place from the left.
    pub x: f64,
    /// Its base line.
    pub y: f64,
    /// What it says.
    pub words: String,
    /// Whether it is read from the bottom to the top, its end at `(x, y)`.
    pub is_upright: bool,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub top: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Area {
    /// Whether the two have a piece in common.
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Text {
    /// A text of one line.
    pub fn new(class: &'static str, anchor: Anchor, (x, y): (f64, f64), words: impl Into<String>) -> Text {
        Text {
            class,
            anchor,
            x,
            y,
            words: words.into(),
            is_upright: false,
        }
    }

    /// What it takes at most, whatever the font.
    pub fn area(&self) -> Area {
        let size = if self.class == "ws-title" {
            TITLE_SIZE * BOLD
        } else {
            TEXT_SIZE
        };
        let long = width(&self.words, size);
        if self.is_upright {
            return Area {
                left: self.x - size,
                right: self.x + 0.25 * size,
                top: self.y,
                bottom: self.y + long,
            };
        }
        let left = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - long / 2.0,
            Anchor::End => self.x - long,
        };
        Area {
            left,
            right: left + long,
            top: self.y - 0.95 * size,
            bottom: self.y + 0.25 * size,
        }
    }

    /// Whether it covers none of `others`.
    pub fn is_clear_of(&self, others: &[Text]) -> bool {
        let area = self.area();
        others.iter().all(|other| !other.area().meets(&area))
    }
}

/// Lines of a title that fit into `room`.
pub fn title_lines(title: &str, room: f64, lines_max: usize) -> Vec<String> {
    wrapped(title, TITLE_SIZE * BOLD, room, lines_max)
}

/// Labels of vertical marks and shades above the plot, in as many rows as keep them apart; how many rows.
pub fn flags(chart: &Chart, x: &Span, top: f64, (left, right): (f64, f64)) -> (Vec<Text>, usize) {
    let mut rows = 0;
    let mut flags = Vec::new();
    for mark in &chart.marks {
        let (at, label) = match mark {
            Mark::Vertical { x: at, label } if x.holds(*at) => (x.place(*at), label),
            Mark::Shade { from, to, label } => {
                let ends = x.place(*from).zip(x.place(*to));
                let within = |at: f64| at.clamp(x.from, x.to);
                (ends.map(|(a, b)| (within(a) + within(b)) / 2.0), label)
            }
            _ => continue,
        };
        let Some(at) = at.filter(|_| !label.is_empty()) else {
            continue;
        };
        let text = shortened(label, TEXT_SIZE, right - left);
        let long = width(&text, TEXT_SIZE);
        let begin = (at - long / 2.0).clamp(left, (right - long).max(left));
        let in_row = |row: usize| Text::new("ws-label", Anchor::Start, (begin, row_y(top, row)), &*text);
        // Labels come in any order: a row is free where no other label of it is.
        let free = |row: &usize| {
            let area = in_row(*row).area();
            let apart = Area {
                left: area.left - 8.0,
                right: area.right + 8.0,
                ..area
            };
            flags.iter().all(|flag: &Text| !flag.area().meets(&apart))
        };
        if let Some(row) = (0..FLAG_ROWS_MAX).find(free) {
            rows = rows.max(row + 1);
            flags.push(in_row(row));
        }
    }
    (flags, rows)
}

fn row_y(top: f64, row: usize) -> f64 {
    top + (row as f64 + 0.8) * LINE
}

/// Labels of horizontal marks and of spots, each at that of its places that covers none of `taken` and the least of the data.
pub fn notes(chart: &Chart, x: &Span, y: &Span, taken: &[Text]) -> Vec<Text> {
    let (mut known, lines) = (taken.to_vec(), drawn(chart, x, y));
    let mut notes = Vec::new();
    for mark in &chart.marks {
        let places = match mark {
            Mark::Horizontal { y: value, label } if y.holds(*value) => beside_line(label, x, y.place(*value)),
            Mark::Spot {
                x: at_x,
                y: at_y,
                label,
            } if x.holds(*at_x) && y.holds(*at_y) => around(label, x, x.place(*at_x).zip(y.place(*at_y))),
            _ => Vec::new(),
        };
        let inside = |text: &&Text| {
            let area = text.area();
            area.left >= x.from && area.right <= x.to && area.top >= y.to - LINE && area.bottom <= y.from
        };
        let free = places
            .iter()
            .filter(|text| inside(text) && text.is_clear_of(&known));
        let found = free.min_by_key(|text| covered(&text.area(), &lines));
        if let Some(text) = found {
            known.push(text.clone());
            notes.push(text.clone());
        }
    }
    notes
}

/// Places of the label of a horizontal line: above and below it, at both ends and between.
fn beside_line(label: &str, x: &Span, at: Option<f64>) -> Vec<Text> {
    let Some(at) = at.filter(|_| !label.is_empty()) else {
        return Vec::new();
    };
    let words = shortened(label, TEXT_SIZE, (x.to - x.from) * 0.7);
    let part = |part: f64| (Anchor::Middle, x.from + (x.to - x.from) * part);
    let sides = [
        (Anchor::End, x.to - 6.0),
        (Anchor::Start, x.from + 6.0),
        part(0.5),
        part(0.25),
        part(0.75),
    ];
    let heights = [at - 5.0, at + LINE - 3.0];
    let places = heights
        .iter()
        .flat_map(|y| sides.iter().map(move |side| (side, *y)));
    places
        .map(|((anchor, x), y)| Text::new("ws-note", *anchor, (*x, y), &*words))
        .collect()
}

/// Places of the label of a point: on its four sides.
fn around(label: &str, x: &Span, at: Option<(f64, f64)>) -> Vec<Text> {
    let Some((at_x, at_y)) = at.filter(|_| !label.is_empty()) else {
        return Vec::new();
    };
    let words = shortened(
        label,
        TEXT_SIZE,
        ((at_x - x.from).max(x.to - at_x) - 12.0).max(0.0),
    );
    let places = [
        (Anchor::Start, at_x + 11.0, at_y - 7.0),
        (Anchor::End, at_x - 11.0, at_y - 7.0),
        (Anchor::Start, at_x + 11.0, at_y + LINE),
        (Anchor::End, at_x - 11.0, at_y + LINE),
    ];
    places
        .map(|(anchor, x, y)| Text::new("ws-note", anchor, (x, y), &*words))
        .into()
}

/// One entry of the legend, placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Index of its series; `None`: the entry that explains intervals.
    pub series: Option<usize>,
    /// Left end of its sample.
    pub x: f64,
    /// Middle of its first line.
    pub y: f64,
}

/// The legend below `top`: samples, their texts, and where it ends.
pub fn legend(chart: &Chart, top: f64, (left, right): (f64, f64)) -> (Vec<Entry>, Vec<Text>, f64) {
    let (mut x, mut y, mut lines_of_row) = (left, top, 0);
    let (mut entries, mut texts) = (Vec::new(), Vec::new());
    for (series, name) in named(chart) {
        let lines = wrapped(name, TEXT_SIZE, right - left - SAMPLE - 6.0, ENTRY_LINES_MAX);
        let widest = lines
            .iter()
            .map(|line| width(line, TEXT_SIZE))
            .fold(0.0, f64::max);
        let long = SAMPLE + 6.0 + widest;
        if x > left && x + long > right {
            y += row_height(lines_of_row);
            (x, lines_of_row) = (left, 0);
        }
        entries.push(Entry {
            series,
            x,
            y: y + 0.5 * LINE,
        });
        for (number, line) in lines.iter().enumerate() {
            let base = y + 0.5 * LINE + 4.0 + number as f64 * LINE_WITHIN;
            texts.push(Text::new(
                "ws-text",
                Anchor::Start,
                (x + SAMPLE + 6.0, base),
                &**line,
            ));
        }
        lines_of_row = lines_of_row.max(lines.len());
        x += long + 14.0;
    }
    (entries, texts, y + row_height(lines_of_row))
}

fn row_height(lines: usize) -> f64 {
    match lines {
        0 => 0.0,
        lines => LINE + (lines - 1) as f64 * LINE_WITHIN,
    }
}

/// The series with a name, and what intervals are where there are some.
fn named(chart: &Chart) -> Vec<(Option<usize>, &str)> {
    let series = chart.series.iter().enumerate();
    let mut entries: Vec<(Option<usize>, &str)> = series
        .filter(|(_, series)| !series.label.trim().is_empty())
        .map(|(index, series)| (Some(index), series.label.as_str()))
        .collect();
    let has_interval = |series: &Series| {
        series.look != Look::Fit && series.points.iter().any(|point| point.interval.is_some())
    };
    if !chart.interval_label.trim().is_empty() && chart.series.iter().any(has_interval) {
        entries.push((None, &chart.interval_label));
    }
    entries
}
