//! The live view of `--live`: the lines of the run that goes on, drawn over each other on stderr. It is fed by the events
//! that every run makes anyway, in the control thread: nothing of it runs in a rank.

use crate::args::ColorChoice;
use crate::progress::Plan;
use crate::stderr;
use crate::terminal::{self, Stream};
use std::ops::Range;
use wirespeed_report::render::{self, LiveRun, Style};
use wirespeed_schema::case::Case;
use wirespeed_schema::run::{CaseResult, Event};
use wirespeed_schema::units;

/// Draws on stderr while it lives; what it drew is gone afterwards.
pub struct Watch {
    color: ColorChoice,
    plan: Plan,
    /// Cases whose runs are shown; those of another arm are not.
    shown: Range<u32>,
    run: Option<LiveRun>,
}

/// Why there is no view although one was asked for; `None` where it can be drawn.
pub fn obstacle() -> Option<&'static str> {
    match (terminal::is_terminal(Stream::Stderr), terminal::is_dumb()) {
        (false, _) => Some("stderr is no terminal"),
        (true, true) => Some("this terminal (TERM=dumb) cannot move its cursor"),
        (true, false) => None,
    }
}

impl Watch {
    /// A view, where somebody can see it; else why not, on stderr.
    pub fn open(color: ColorChoice) -> Option<Self> {
        if let Some(why) = obstacle() {
            stderr::say(&format!("note: --live shows nothing: {why}"));
            return None;
        }
        stderr::view_begins(width);
        Some(Watch {
            color,
            plan: Plan::new(std::iter::empty()),
            shown: 0..u32::MAX,
            run: None,
        })
    }

    /// These runs come next, in whatever order.
    pub fn expect<'a>(&mut self, runs: impl Iterator<Item = &'a Case>) {
        self.plan.expect(runs);
    }

    /// Show only cases of these numbers.
    #[must_use]
    pub fn showing(mut self, cases: Range<u32>) -> Self {
        self.shown = cases;
        self
    }

    /// What a run tells of itself.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::CaseStarted {
                case,
                cases,
                label,
                repetition,
            } => {
                self.plan.begin_next();
                self.run = self.shown.contains(case).then(|| {
                    let number = repetition + 1;
                    LiveRun::new(format!("case {} of {cases} · {label} · run {number}", case + 1))
                });
                self.draw();
            }
            Event::Interval {
                case, rank, interval, ..
            } if self.shown.contains(case) => {
                if *rank == 0 {
                    self.plan.hear(interval);
                }
                if let Some(run) = &mut self.run {
                    run.add(*rank, interval);
                }
                self.draw();
            }
            Event::Interval { .. } | Event::PairMeasured { .. } | Event::CaseFinished { .. } => {}
            Event::RunFinished { .. } => {
                self.run = None;
                self.write("");
            }
        }
    }

    /// A case is done: its line stays above the view.
    pub fn finished(&mut self, result: &CaseResult) {
        let style = self.style();
        self.write(&(render::case_line(result, &style) + "\n"));
    }

    /// How text may look on this terminal.
    fn style(&self) -> Style {
        terminal::style(Stream::Stderr, self.color)
    }

    fn draw(&mut self) {
        self.write("");
    }

    /// Wipe the view, write `above` where it began, and draw it again below.
    fn write(&mut self, above: &str) {
        let style = Style {
            width: width(),
            ..self.style()
        };
        let mut text = stderr::above() + above;
        let mut drawn = Vec::new();
        if let Some(run) = &mut self.run {
            run.left = match self.plan.left().filter(|left| !left.is_zero()) {
                Some(left) => units::format_ns(left.as_nanos() as f64),
                None => String::new(),
            };
            for line in render::live(run, &style) {
                drawn.push(columns(&line));
                text.push_str(&line);
                text.push('\n');
            }
        }
        stderr::draw(&text, drawn);
    }
}

/// Columns that the view has now.
fn width() -> usize {
    terminal::seen_columns(Stream::Stderr).unwrap_or(terminal::PAPER.width)
}

impl Drop for Watch {
    fn drop(&mut self) {
        stderr::view_ends();
    }
}

/// Columns of a line, colours not counted.
fn columns(line: &str) -> usize {
    let mut inside = false;
    line.chars()
        .filter(|&c| {
            let hidden = inside || c == '\u{1b}';
            inside = hidden && c != 'm';
            !hidden
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(columns("\u{1b}[1mabc\u{1b}[0m"), 3);
        assert_eq!(columns("▁█ x"), 4);
    }
}
