//! How text may look, and the small helpers that keep every renderer within it.

use crate::table::Tone;
use wirespeed_schema::shown::is_obeyed;

/// How text may look. The caller decides (terminal, NO_COLOR, locale); renderers only obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// ANSI colours allowed.
    pub color: bool,
    /// Characters beyond ASCII allowed (µ, ·, braille).
    pub unicode: bool,
}

/// Sentences are broken here, however wide the terminal is: longer lines are hard to read.
const PROSE_MAX: usize = 80;

impl Style {
    /// Columns that sentences take.
    pub(crate) fn prose(&self) -> usize {
        self.width.min(PROSE_MAX)
    }

    /// No colour, 100 columns: for files and pipes.
    pub const PLAIN: Style = Style {
        width: 100,
        color: false,
        unicode: true,
    };

    /// `text` in `tone` where colour is allowed.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Warning => "33",
            Tone::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// `text` of one line as this style can show it, whoever wrote it.
    pub fn line(&self, text: &str) -> String {
        self.finish(clean(text))
    }

    /// The text as this style can show it: beyond ASCII only where that is allowed.
    pub(crate) fn finish(&self, text: String) -> String {
        if self.unicode {
            return text;
        }
        text.chars()
            .map(|c| match c {
                'µ' => 'u',
                '·' => '|',
                '–' | '─' => '-',
                c if c.is_ascii() => c,
                _ => '?',
            })
            .collect()
    }
}

/// Text from a document without characters that could move the cursor or change the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { '?' } else { c }).collect()
}

/// `text` in at most `room` characters: what does not fit gives way to two dots.
pub fn shortened(text: &str, room: usize) -> String {
    match text.chars().count() > room {
        true => text.chars().take(room.saturating_sub(2)).collect::<String>() + "..",
        false => text.to_owned(),
    }
}

/// `text` broken at spaces into lines of at most `width` characters (longer words stay whole). The first line keeps its
/// leading spaces, each later one starts with `indent` spaces.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let lead = text.len() - words.len();
    let mut lines = " ".repeat(lead);
    let (mut used, mut line_start) = (lead, true);
    for word in words.split(' ') {
        let length = word.chars().count();
        if !line_start && used + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if !line_start {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
        line_start = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\n\u{9b}"), "a?[2Jb???");
    }

    #[test]
    fn long_text_is_wrapped_at_spaces() {
        assert_eq!(wrap("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrap("  one two three", 9, 4), "  one two\n    three");
        assert_eq!(wrap("unbreakable", 4, 2), "unbreakable");
    }

    #[test]
    fn ascii_only_where_asked() {
        let ascii = Style {
            unicode: false,
            ..Style::PLAIN
        };
        assert!(ascii.finish("1 µs · ⣿ █".to_owned()).is_ascii());
        assert_eq!(Style::PLAIN.paint(Tone::Bad, "x"), "x");
    }
}
