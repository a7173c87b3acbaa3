//! The labels of both axes: as many values as there is room for; names of rows beside or above them, names of columns level or
//! upright. It never draws.

use super::Chart;
use super::labels::{Anchor, EDGE, LINE, LINE_WITHIN, TEXT_SIZE, Text};
use super::scale::Span;
use super::text::{shortened, width, wrapped};
use super::ticks::{Tick, ticks};
use super::unit::Unit;

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

/// The labels of the vertical axis: values beside the plot, names beside it or, where these are long, each above its row.
pub struct Names {
    ticks: Vec<(Tick, Vec<String>)>,
    /// What they take beside the plot.
    pub beside: f64,
    /// Height of a row with its name above it.
    above: Option<f64>,
    /// Whether its rows are cells.
    is_map: bool,
}

impl Names {
    /// Those of `chart`, whose vertical axis has the range `y` and which is `all` pixels wide.
    pub fn of(chart: &Chart, y: &Span, all: f64) -> Names {
        let plot = f64::from(chart.plot_height.max(80));
        let found = ticks(&chart.y, y, (plot / TICK_HEIGHT) as usize);
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
            is_map: chart.heat.is_some(),
            above: above.then_some(ROW_HEIGHT + lines as f64 * LINE_WITHIN),
        }
    }

    /// Height of the plot: the chart's, or what the rows with their names need.
    pub fn plot_height(&self, chart: &Chart) -> f64 {
        match self.above {
            Some(row) => row * self.ticks.len() as f64,
            None => f64::from(chart.plot_height.max(80)),
        }
    }

    /// Add the texts, those that have room; where lines of the grid belong.
    pub fn place(&self, y: &Span, left: f64, right: f64, texts: &mut Vec<Text>) -> Vec<f64> {
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
            let is_clear = label.iter().all(|text| text.is_clear_of(texts));
            // Lines of hundreds of rows without a name would be a grey area.
            if is_clear || !self.is_map {
                at_lines.push(at);
            }
            if is_clear {
                texts.extend(label);
            }
        }
        at_lines
    }
}

/// Labels of the horizontal axis: as many values as there is room for; names upright where they would meet. Where lines of the
/// grid belong, and where the labels end.
pub fn x_labels(chart: &Chart, x: &Span, bottom: f64, all: f64, texts: &mut Vec<Text>) -> (Vec<f64>, f64) {
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
    // Values may be left out; a place without its name says nothing.
    let is_named = !chart.x.ticks.is_empty() && chart.x.unit == Unit::Plain;
    if chart.heat.is_some() || is_named {
        let (shown, long) = upright(&all_ticks, x, bottom + 8.0, texts);
        return (shown, bottom + 12.0 + long);
    }
    let mut kept: Vec<Text> = Vec::new();
    for text in all_ticks.iter().filter_map(level) {
        let area = text.area();
        if kept
            .last()
            .is_none_or(|last| last.area().right + 6.0 <= area.left)
            && area.right <= all
        {
            kept.push(text);
        }
    }
    texts.extend(kept);
    (lines(&all_ticks), base + 4.0)
}

/// Names of columns read from the bottom to the top, every one, every second and so on until they keep apart; where these are,
/// and how long.
fn upright(ticks: &[Tick], x: &Span, top: f64, texts: &mut Vec<Text>) -> (Vec<f64>, f64) {
    let step = (x.to - x.from) / ticks.len().max(1) as f64;
    let every = (LINE / step.max(0.1)).ceil().max(1.0) as usize;
    let mut longest = 0.0;
    let mut lines = Vec::new();
    for tick in ticks.iter().step_by(every) {
        let Some(at) = x.place(tick.value) else {
            continue;
        };
        let words = shortened(&tick.label, TEXT_SIZE, UPRIGHT_MAX);
        longest = width(&words, TEXT_SIZE).max(longest);
        lines.push(at);
        texts.push(Text {
            is_upright: true,
            ..Text::new("ws-label", Anchor::End, (at + 4.0, top), words)
        });
    }
    (lines, longest)
}
