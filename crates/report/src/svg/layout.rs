//! Where things stand, from the top down: heading, label of the vertical axis, flags, plot, ticks, legend, scale. Margins come
//! from the widths of what must fit. It never draws.

use super::labels::{
    Anchor, Entry, LINE, LINE_WITHIN, TEXT_SIZE, TITLE_SIZE, Text, flags, legend, notes, title_lines,
};
use super::scale::Span;
use super::text::{shortened, width, wrapped};
use super::ticks::{Tick, ticks};
use super::{Axis, Chart, Look, Mark, Point, Scale, Series};

const TITLE_LINE: f64 = 21.0;
const EDGE: f64 = 14.0;
/// Pixels for each tick of the vertical axis.
const TICK_HEIGHT: f64 = 46.0;
/// Names of rows that take more of the width than this stand above their rows.
const BESIDE_MAX: f64 = 0.3;
/// What a row takes beside the lines of a name above it.
const ROW_HEIGHT: f64 = 30.0;
/// Lines of a name of a row.
const NAME_LINES_MAX: usize = 2;
/// Names of columns that are turned are cut to this.
const UPRIGHT_MAX: f64 = 130.0;

/// A chart laid out.
pub struct Layout {
    /// Width of all.
    pub width: f64,
    /// Height of all.
    pub height: f64,
    /// Horizontal axis; pixels from the left to the right end of the plot.
    pub x: Span,
    /// Vertical axis; pixels from the bottom to the top of the plot.
    pub y: Span,
    /// Where lines of the grid cross the horizontal axis.
    pub x_lines: Vec<f64>,
    /// Where they cross the vertical axis.
    pub y_lines: Vec<f64>,
    /// Texts below the data.
    pub texts: Vec<Text>,
    /// Texts on the data.
    pub notes: Vec<Text>,
    /// Samples of the legend.
    pub legend: Vec<Entry>,
    /// Left end and top of the shades below a heat map.
    pub scale: Option<(f64, f64)>,
}

/// The points of `series` that both axes can show.
pub fn shown(chart: &Chart, series: &Series) -> Vec<Point> {
    let on_axes = |point: &&Point| {
        super::scale::shows(chart.x.scale, point.x) && super::scale::shows(chart.y.scale, point.y)
    };
    series.points.iter().filter(on_axes).copied().collect()
}

/// Lay `chart` out; with its title and what it shows, where these do not stand beside it.
pub fn layout(chart: &Chart, with_heading: bool) -> Layout {
    let all = f64::from(chart.width.max(240));
    let mut column = Column {
        width: all,
        at: EDGE / 2.0,
        texts: Vec::new(),
    };
    if with_heading {
        column.heading(chart);
    }
    column.say("ws-text", &axis_label(&chart.y));
    let names = Names::of(chart, all);
    let plot = names.plot_height(chart);
    let left = EDGE + names.beside;
    let x = span(chart, true).between(left, all - EDGE - 8.0);
    let (labels, rows) = flags(chart, &x, column.at, (EDGE, all - EDGE));
    column.texts.extend(labels);
    let top = column.at + rows as f64 * LINE + 8.0;
    let bottom = top + plot;
    let y = span(chart, false).between(bottom, top);
    let mut texts = column.texts;
    let y_lines = names.place(&y, left, x.to, &mut texts);
    let (x_lines, ticks_end) = x_labels(chart, &x, bottom, all, &mut texts);
    let mut column = Column {
        width: all,
        at: ticks_end,
        texts,
    };
    column.middle(&x, &axis_label(&chart.x));
    let (entries, words, legend_end) = legend(chart, column.at + 8.0, (EDGE, all - EDGE));
    column.texts.extend(words);
    column.at = legend_end;
    let scale = column.scale(chart);
    let notes = notes(chart, &x, &y, &column.texts);
    Layout {
        width: all,
        height: column.at + EDGE / 2.0,
        x,
        y,
        x_lines,
        y_lines,
        texts: column.texts,
        notes,
        legend: entries,
        scale,
    }
}

/// Texts below each other.
struct Column {
    width: f64,
    /// Where the next one begins.
    at: f64,
    texts: Vec<Text>,
}

impl Column {
    fn heading(&mut self, chart: &Chart) {
        for line in title_lines(&chart.title, self.width - 2.0 * EDGE, 3) {
            let base = self.at + EDGE / 2.0 + TITLE_SIZE * 0.8;
            self.texts
                .push(Text::new("ws-title", Anchor::Start, (EDGE, base), line));
            self.at += TITLE_LINE;
        }
        self.at += EDGE / 2.0;
        self.say("ws-label", &chart.subtitle);
    }

    /// Up to two lines at the left edge.
    fn say(&mut self, class: &'static str, words: &str) {
        for line in wrapped(words, TEXT_SIZE, self.width - 2.0 * EDGE, 2) {
            let base = self.at + TEXT_SIZE;
            self.texts
                .push(Text::new(class, Anchor::Start, (EDGE, base), line));
            self.at += LINE;
        }
    }

    /// Up to two lines below the middle of the plot.
    fn middle(&mut self, x: &Span, words: &str) {
        let room = self.width - 2.0 * EDGE;
        for line in wrapped(words, TEXT_SIZE, room, 2) {
            let base = self.at + TEXT_SIZE + 2.0;
            let half = width(&line, TEXT_SIZE) / 2.0;
            let at = ((x.from + x.to) / 2.0).clamp(EDGE + half, (self.width - EDGE - half).max(EDGE + half));
            self.texts
                .push(Text::new("ws-text", Anchor::Middle, (at, base), line));
            self.at += LINE;
        }
    }

    /// The scale of a heat map: what the shades mean, then the least value, the shades, and the greatest.
    fn scale(&mut self, chart: &Chart) -> Option<(f64, f64)> {
        let heat = chart.heat.as_ref()?;
        let (low, high) = heat.range()?;
        self.at += LINE / 2.0;
        self.say("ws-text", &heat.label);
        let base = self.at + TEXT_SIZE;
        let (low, high) = (heat.unit.text(low), heat.unit.text(high));
        let from = EDGE + width(&low, TEXT_SIZE) + 8.0;
        let to = from + super::heat::SCALE_WIDTH + 8.0;
        self.texts
            .push(Text::new("ws-text", Anchor::Start, (EDGE, base), low));
        let high = shortened(&high, TEXT_SIZE, (self.width - to).max(0.0));
        self.texts
            .push(Text::new("ws-text", Anchor::Start, (to, base), high));
        self.at += LINE;
        Some((from, base - 10.0))
    }
}

fn axis_label(axis: &Axis) -> String {
    match axis.scale {
        _ if axis.label.is_empty() => String::new(),
        Scale::Linear => axis.label.clone(),
        Scale::Log => format!("{} (log scale)", axis.label),
    }
}

/// The range of an axis: that of the data and of the marks along it.
fn span(chart: &Chart, horizontal: bool) -> Span {
    let axis = if horizontal { &chart.x } else { &chart.y };
    let values = values(chart, horizontal);
    Span::new(axis, values.into_iter().chain(marked(chart, horizontal)))
}

/// Values of all points on one axis, with the ends of those intervals that lie along it.
fn values(chart: &Chart, horizontal: bool) -> Vec<f64> {
    let mut values = Vec::new();
    for series in &chart.series {
        let along = (series.look == Look::Across) == horizontal;
        for point in shown(chart, series) {
            values.push(if horizontal { point.x } else { point.y });
            if let Some((low, high)) = point.interval.filter(|_| along) {
                values.extend([low, high]);
            }
        }
    }
    values
}

/// Values that marks add to the range of an axis.
fn marked(chart: &Chart, horizontal: bool) -> impl Iterator<Item = f64> + '_ {
    chart.marks.iter().flat_map(move |mark| match mark {
        Mark::Vertical { x, .. } if horizontal => vec![*x],
        Mark::Shade { from, to, .. } if horizontal => vec![*from, *to],
        Mark::Spot { x, .. } if horizontal => vec![*x],
        Mark::Horizontal { y, .. } | Mark::Spot { y, .. } if !horizontal => vec![*y],
        _ => Vec::new(),
    })
}

/// The labels of the vertical axis: values beside the plot, names beside it or, where these are long, each above its row.
struct Names {
    ticks: Vec<(Tick, Vec<String>)>,
    /// What they take beside the plot.
    beside: f64,
    /// Height of a row with its name above it.
    above: Option<f64>,
}

impl Names {
    fn of(chart: &Chart, all: f64) -> Names {
        let plot = f64::from(chart.plot_height.max(80));
        let found = ticks(&chart.y, &span(chart, false), (plot / TICK_HEIGHT) as usize);
        let widest = |lines: &mut dyn Iterator<Item = &String>| {
            lines.map(|line| width(line, TEXT_SIZE)).fold(0.0, f64::max)
        };
        let long = widest(&mut found.iter().map(|tick| &tick.label));
        let is_named = !chart.y.ticks.is_empty() && chart.heat.is_none();
        let above = is_named && long > all * BESIDE_MAX;
        let row = plot / found.len().max(1) as f64;
        let (room, lines_max) = match above {
            true => (all - 2.0 * EDGE - 16.0, NAME_LINES_MAX),
            false => (
                all * BESIDE_MAX,
                ((row / LINE_WITHIN) as usize).clamp(1, NAME_LINES_MAX),
            ),
        };
        let split = |tick: Tick| {
            let lines = wrapped(&tick.label, TEXT_SIZE, room, lines_max);
            (tick, lines)
        };
        let ticks: Vec<(Tick, Vec<String>)> = found.into_iter().map(split).collect();
        let lines = ticks.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let beside = match above {
            true => 0.0,
            false => widest(&mut ticks.iter().flat_map(|(_, lines)| lines)) + 8.0,
        };
        Names {
            ticks,
            beside,
            above: above.then_some(ROW_HEIGHT + lines as f64 * LINE_WITHIN),
        }
    }

    fn plot_height(&self, chart: &Chart) -> f64 {
        match self.above {
            Some(row) => row * self.ticks.len() as f64,
            None => f64::from(chart.plot_height.max(80)),
        }
    }

    /// Add the texts, those that have room; where lines of the grid belong.
    fn place(&self, y: &Span, left: f64, right: f64, texts: &mut Vec<Text>) -> Vec<f64> {
        let mut at_lines = Vec::new();
        for (tick, lines) in &self.ticks {
            let Some(at) = y.place(tick.value) else {
                continue;
            };
            let count = lines.len() as f64;
            let label = lines.iter().enumerate().map(|(number, line)| {
                let below = number as f64 * LINE_WITHIN;
                match self.above {
                    Some(_) => {
                        let base = at - 9.0 - (count - 1.0) * LINE_WITHIN + below;
                        let line = shortened(line, TEXT_SIZE, right - left - 4.0);
                        Text::new("ws-note", Anchor::Start, (left + 4.0, base), line)
                    }
                    None => {
                        let base = at + 4.0 - (count - 1.0) * LINE_WITHIN / 2.0 + below;
                        Text::new("ws-label", Anchor::End, (left - 8.0, base), &**line)
                    }
                }
            });
            let label: Vec<Text> = label.collect();
            at_lines.push(at);
            if label.iter().all(|text| text.is_clear_of(texts)) {
                texts.extend(label);
            }
        }
        at_lines
    }
}

/// Labels of the horizontal axis: as many values as there is room for; names upright where they would meet. Where lines of the
/// grid belong, and where the labels end.
fn x_labels(chart: &Chart, x: &Span, bottom: f64, all: f64, texts: &mut Vec<Text>) -> (Vec<f64>, f64) {
    let base = bottom + LINE + 3.0;
    let level = |tick: &Tick| {
        let half = width(&tick.label, TEXT_SIZE) / 2.0;
        let at = x
            .place(tick.value)?
            .clamp(2.0 + half, (all - 2.0 - half).max(2.0 + half));
        Some(Text::new("ws-label", Anchor::Middle, (at, base), &*tick.label))
    };
    let apart = |ticks: &[Tick]| {
        let placed: Vec<Text> = ticks.iter().filter_map(level).collect();
        let ends = placed
            .windows(2)
            .all(|pair| pair[0].area().right + 6.0 <= pair[1].area().left);
        ends.then_some(placed)
    };
    let most = ((x.to - x.from) / 50.0) as usize;
    let counts = (2..=most.clamp(2, 12)).rev();
    let tried = counts.map(|count| ticks(&chart.x, x, count));
    let found = tried.filter_map(|ticks| Some((apart(&ticks)?, ticks))).next();
    let lines = |ticks: &[Tick]| ticks.iter().filter_map(|tick| x.place(tick.value)).collect();
    if let Some((placed, ticks)) = found {
        texts.extend(placed);
        return (lines(&ticks), base + 4.0);
    }
    let all_ticks = ticks(&chart.x, x, 2);
    if chart.heat.is_some() {
        let long = upright(&all_ticks, x, bottom + 8.0, texts);
        return (lines(&all_ticks), bottom + 12.0 + long);
    }
    let mut kept: Vec<Text> = Vec::new();
    for text in all_ticks.iter().filter_map(level) {
        let area = text.area();
        if kept.last().is_none_or(|last| last.area().right + 6.0 <= area.left) && area.right <= all {
            kept.push(text);
        }
    }
    texts.extend(kept);
    (lines(&all_ticks), base + 4.0)
}

/// Names of columns read from the bottom to the top, every one, every second and so on until they keep apart; how long they
/// are.
fn upright(ticks: &[Tick], x: &Span, top: f64, texts: &mut Vec<Text>) -> f64 {
    let step = (x.to - x.from) / ticks.len().max(1) as f64;
    let every = (LINE / step.max(0.1)).ceil().max(1.0) as usize;
    let mut longest = 0.0;
    for tick in ticks.iter().step_by(every) {
        let Some(at) = x.place(tick.value) else {
            continue;
        };
        let words = shortened(&tick.label, TEXT_SIZE, UPRIGHT_MAX);
        longest = width(&words, TEXT_SIZE).max(longest);
        texts.push(Text {
            is_upright: true,
            ..Text::new("ws-label", Anchor::End, (at + 4.0, top), words)
        });
    }
    longest
}
