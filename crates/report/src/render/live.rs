//! A run while it goes on, in a few lines: what it does now, how it went so far, how long it may still take. It must never
//! be wider than the terminal: a line that wraps cannot be drawn over.

use super::plot::sparkline;
use super::style::{Style, clean, shortened};
use crate::table::Tone;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::units::{format_ns, format_rate};

/// Slices that are kept; of a longer run the oldest go.
const SLICES_MAX: usize = 4096;
/// Columns of a row's name and of its figure.
const NAME_WIDTH: usize = 6;
const FIGURE_WIDTH: usize = 14;

/// What is known of the run that goes on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRun {
    /// Which of how many, and what: `3 of 12 · shm am_lat 8 B · run 2`.
    pub heading: String,
    /// Time that all of it may still take, in words; empty where nobody knows.
    pub left: String,
    rank: Option<u32>,
    slices: Vec<Interval>,
}

impl LiveRun {
    /// A run begins.
    pub fn new(heading: String) -> Self {
        LiveRun {
            heading,
            ..LiveRun::default()
        }
    }

    /// A slice of `rank`. The first rank that has latencies speaks for all; until then the first that reports.
    pub fn add(&mut self, rank: u32, slice: &Interval) {
        let has_times = |slices: &[Interval]| slices.iter().any(|slice| slice.p50_ns.is_some());
        let better = slice.p50_ns.is_some() && !has_times(&self.slices);
        if self.rank.is_none() || (better && self.rank != Some(rank)) {
            self.rank = Some(rank);
            self.slices.clear();
        }
        if self.rank == Some(rank) {
            if self.slices.len() == SLICES_MAX {
                self.slices.remove(0);
            }
            self.slices.push(slice.clone());
        }
    }
}

/// A row: its name, its latest figure, and the figures so far.
type Row = (&'static str, String, Vec<f64>);

/// A figure of a slice, where it has one.
type Figure = fn(&Interval) -> Option<f64>;

/// The lines of the view, each at most `style.width - 1` columns.
pub fn live(run: &LiveRun, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let tail = match run.left.is_empty() {
        true => String::new(),
        false => format!(" · about {} left", clean(&run.left)),
    };
    // A narrow terminal takes from the name of the case: the time is what changes.
    let room = style.width.saturating_sub(1 + tail.chars().count());
    let heading = shortened(&clean(&run.heading), room) + &tail;
    lines.push(style.paint(Tone::Strong, &cut(&heading, style)));
    for (name, figure, values) in rows(&run.slices) {
        let head = format!("{name:<NAME_WIDTH$}{figure:>FIGURE_WIDTH$}  ");
        let room = style.width.saturating_sub(head.chars().count() + 1);
        let line = match room >= 4 {
            // The latest slices where not all have room: a view is about now.
            true => format!(
                "{head}{}",
                sparkline(&values[values.len().saturating_sub(room)..], room, style)
            ),
            false => head,
        };
        lines.push(cut(&line, style));
    }
    lines.iter().map(|line| style.finish(line.clone())).collect()
}

fn rows(slices: &[Interval]) -> Vec<Row> {
    let rates = slices.iter().filter(|slice| slice.duration_ns > 0);
    let rates: Vec<f64> = rates
        .map(|slice| slice.sent.messages.max(slice.received.messages) as f64 * 1e9 / slice.duration_ns as f64)
        .collect();
    let mut rows = Vec::new();
    if let Some(&last) = rates.last() {
        rows.push(("rate", format_rate(last, "msg/s"), rates));
    }
    let times: [(&'static str, Figure); 3] = [
        ("p50", |slice| Some(slice.p50_ns?.get())),
        ("p99", |slice| Some(slice.p99_ns?.get())),
        ("max", |slice| Some(slice.max_ns?.get())),
    ];
    for (name, of) in times {
        let values: Vec<f64> = slices.iter().filter_map(of).collect();
        if !values.is_empty() {
            // The latest slice may have too few samples for this figure.
            let last = slices
                .last()
                .and_then(of)
                .map_or_else(|| "-".to_owned(), format_ns);
            rows.push((name, last, values));
        }
    }
    rows
}

/// The text without what goes beyond the last column but one: a full line makes some terminals wrap.
fn cut(text: &str, style: &Style) -> String {
    text.chars().take(style.width.saturating_sub(1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::finite::Finite;
    use wirespeed_schema::outcome::Count;

    fn slice(messages: u64, p50_ns: Option<f64>) -> Interval {
        Interval {
            start_ns: 0,
            duration_ns: 1_000_000_000,
            sent: Count { messages, bytes: 0 },
            received: Count::default(),
            p50_ns: p50_ns.and_then(Finite::maybe),
            p99_ns: None,
            max_ns: p50_ns.and_then(Finite::maybe),
        }
    }

    #[test]
    fn the_rank_with_times_speaks() {
        let mut run = LiveRun::new("1 of 1 · shm".to_owned());
        run.add(1, &slice(10, None));
        run.add(0, &slice(20, Some(500.0)));
        run.add(1, &slice(30, None));
        run.add(0, &slice(40, Some(700.0)));
        run.left = "3 s".to_owned();
        let lines = live(&run, &Style::PLAIN);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[0], "1 of 1 · shm · about 3 s left");
        assert!(
            lines[1].starts_with("rate") && lines[1].contains("40 msg/s"),
            "{lines:?}"
        );
        assert!(
            lines[2].contains("700 ns") && lines[2].ends_with("▁█"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_narrow_terminal_keeps_the_time_left() {
        let mut run = LiveRun::new("3 of 12 · tcp am_bw 128 KiB, window 64, to far".to_owned());
        run.left = "3 s".to_owned();
        for width in [30, 40, 60, 80] {
            let line = &live(
                &run,
                &Style {
                    width,
                    ..Style::PLAIN
                },
            )[0];
            assert!(
                line.starts_with("3 of 12") && line.ends_with(" · about 3 s left"),
                "{line}"
            );
            assert!(line.chars().count() < width, "{line}");
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut run = LiveRun::new("a heading that is longer than any narrow terminal \u{1b}[2J".to_owned());
        for number in 0..5000 {
            run.add(0, &slice(number, Some(number as f64 + 1.0)));
        }
        for width in [1, 2, 10, 24, 40, 80, 400] {
            for unicode in [true, false] {
                let style = Style {
                    width,
                    color: false,
                    unicode,
                };
                for line in live(&run, &style) {
                    assert!(line.chars().count() < width.max(2), "{width}: {line:?}");
                    assert!(
                        !line.contains('\u{1b}') && (unicode || line.is_ascii()),
                        "{line:?}"
                    );
                }
            }
        }
        assert_eq!(live(&LiveRun::default(), &Style::PLAIN), [""]);
    }
}
