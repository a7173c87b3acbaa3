//! What a screen showed from when to when. It must never know what a picture looks like.

use super::cast::Cast;
use std::num::NonZeroU16;
use vt100::{Color, Parser, Screen};

/// A screen that changes sooner than this is not shown by itself, in milliseconds.
const SHORTEST_MS: u32 = 400;
/// The longest that a screen stays before the last one, in milliseconds.
const LONGEST_MS: u32 = 900;
/// How long the last one stays, in milliseconds.
const LAST_MS: u32 = 8000;
/// Rows of a screen from which nothing scrolls away.
const TALL: u16 = 500;

/// How a stretch of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// One of the terminal's 16 colours; None for that of plain text.
    pub colour: Option<u8>,
    /// Heavier.
    pub bold: bool,
    /// Fainter.
    pub dim: bool,
}

/// A row: stretches of text of one look each.
pub type Row = Vec<(Look, String)>;

/// A screen, shown until the next one begins.
pub struct Frame {
    /// When it begins, in milliseconds.
    pub at_ms: u32,
    /// Its rows from the top; the lowest are empty where nothing was written yet.
    pub rows: Vec<Row>,
}

/// All screens of a recording, and when the last one ends, in milliseconds.
pub fn frames(cast: &Cast) -> (Vec<Frame>, u32) {
    let mut parser = parser(cast, cast.rows);
    let mut found: Vec<Frame> = Vec::new();
    let (mut now_ms, mut before_s) = (0, 0.0);
    for (number, (at_s, said)) in cast.events.iter().enumerate() {
        parser.process(said.as_bytes());
        now_ms += (((at_s - before_s) * 1000.0) as u32).min(LONGEST_MS);
        before_s = *at_s;
        let next_s = cast.events.get(number + 1).map(|(next_s, _)| *next_s);
        let shown_ms = found.last().map_or(0, |frame| frame.at_ms + SHORTEST_MS);
        if next_s.is_none() || now_ms >= shown_ms {
            found.push(Frame {
                at_ms: now_ms,
                rows: rows(parser.screen()),
            });
        }
    }
    (found, now_ms + LAST_MS)
}

/// Everything that was on the screen in the end, line by line, also what has scrolled away.
pub fn last_text(cast: &Cast) -> String {
    let mut parser = parser(cast, TALL);
    for (_, said) in &cast.events {
        parser.process(said.as_bytes());
    }
    let lines = parser
        .screen()
        .rows(0, cast.columns)
        .map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn parser(cast: &Cast, rows: u16) -> Parser {
    let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    Parser::new(size(rows), size(cast.columns), 0)
}

/// The rows of a screen, without blanks at their ends.
fn rows(screen: &Screen) -> Vec<Row> {
    let (rows, columns) = screen.size();
    (0..rows.get())
        .map(|row| self::row(screen, row, columns.get()))
        .collect()
}

fn row(screen: &Screen, row: u16, columns: u16) -> Row {
    let mut found: Row = Vec::new();
    for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
        if cell.is_wide_continuation() {
            continue;
        }
        let look = Look {
            colour: match cell.fgcolor() {
                Color::Idx(index @ 0..16) => Some(index),
                _ => None,
            },
            bold: cell.bold(),
            dim: cell.dim(),
        };
        let text = match cell.contents() {
            "" => " ",
            text => text,
        };
        match found.last_mut() {
            // A blank looks the same in every look.
            Some((last, said)) if *last == look || text == " " => said.push_str(text),
            _ => found.push((look, text.to_owned())),
        }
    }
    if let Some((_, said)) = found.last_mut() {
        said.truncate(said.trim_end().len());
    }
    found.retain(|(_, said)| !said.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(events: &[(f64, &str)]) -> Cast {
        Cast {
            columns: 20,
            rows: 2,
            title: String::new(),
            events: events
                .iter()
                .map(|(at_s, said)| (*at_s, (*said).to_owned()))
                .collect(),
        }
    }

    fn plain(frame: &Frame) -> Vec<String> {
        let text = |row: &Row| row.iter().map(|(_, said)| said.as_str()).collect();
        frame.rows.iter().map(text).collect()
    }

    #[test]
    fn screens_follow_each_other_and_pauses_are_bounded() {
        let cast = cast(&[
            (0.0, "a"),
            (0.01, "b"),
            (30.0, "\r\u{1b}[2Kc"),
            (30.5, "\r\n1\r\n2"),
        ]);
        let (frames, end_ms) = frames(&cast);
        let times: Vec<u32> = frames.iter().map(|frame| frame.at_ms).collect();
        assert_eq!(
            times,
            [0, 910, 1410],
            "what comes at once with another is not shown by itself"
        );
        assert_eq!(end_ms, 1410 + LAST_MS);
        assert_eq!(plain(&frames[1]), ["c", ""]);
        assert_eq!(plain(&frames[2]), ["1", "2"]);
        assert_eq!(last_text(&cast), "c\n1\n2", "nothing scrolls away");
    }

    #[test]
    fn looks_are_those_of_the_terminal() {
        let (frames, _) = frames(&cast(&[(
            0.0,
            "\u{1b}[1mab\u{1b}[0m \u{1b}[31mc \u{1b}[2;39md\u{1b}[0m  ",
        )]));
        let looks: Vec<_> = frames[0].rows[0]
            .iter()
            .map(|(look, said)| (*look, said.as_str()))
            .collect();
        let look = Look::default();
        let bold = Look { bold: true, ..look };
        let red = Look {
            colour: Some(1),
            ..look
        };
        let dim = Look { dim: true, ..look };
        assert_eq!(looks, [(bold, "ab "), (red, "c "), (dim, "d")]);
    }
}
