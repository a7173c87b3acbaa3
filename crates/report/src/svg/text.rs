//! Text in a drawing: escaping, an estimate of its width, wrapping and shortening.

use std::fmt::Write as _;
use wirespeed_schema::shown::is_obeyed;

/// From here on scripts have characters as wide as high.
const WIDE_FROM: char = '\u{2e80}';

/// `text` with everything that XML or HTML could take for markup written as entities. Characters that XML forbids, and those
/// that reorder the text around them, become U+FFFD: a name cannot make a page or a copied command read as what it is not.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            _ if is_obeyed(character) => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A coordinate with one decimal, without trailing `.0` and without minus zero.
pub fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    let mut text = String::new();
    // Writing to a String cannot fail; adding zero turns minus zero into zero.
    let _ = write!(text, "{:.1}", rounded + 0.0);
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

/// Parts of the font's size that a character takes: those of DejaVu Sans, the widest of the usual fonts, or a little more.
fn em(character: char) -> f64 {
    match character {
        ' ' | '.' | ',' | ':' | ';' | '|' | '\'' | '/' | 'i' | 'j' | 'l' | 'I' | 'J' => 0.34,
        '!' | '(' | ')' | '[' | ']' | '-' | 'f' | 't' | 'r' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' | '→' => 1.0,
        '#' | '+' | '<' | '=' | '>' | '~' => 0.84,
        'A'..='Z' | '&' => 0.79,
        ' '..='~' | 'µ' => 0.64,
        WIDE_FROM.. => 1.0,
        _ => 0.8,
    }
}

/// Width that `text` takes at most in a font of `size` pixels, whichever of the usual ones it is.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// `text`, shortened with an ellipsis to at most `room` pixels.
pub fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let short = &text[..fitting(text, size, room - size)];
    format!("{}…", short.trim_end())
}

/// Bytes of the longest beginning of `text` that takes at most `room` pixels.
fn fitting(text: &str, size: f64, room: f64) -> usize {
    let mut taken = 0.0;
    for (at, character) in text.char_indices() {
        taken += em(character) * size;
        if taken > room {
            return at;
        }
    }
    text.len()
}

/// `text` in lines of at most `room` pixels, broken at spaces, and within words that are longer; at most `lines_max` of
/// them, the last one shortened.
pub fn wrapped(text: &str, size: f64, room: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for mut word in text.split_whitespace() {
        while !word.is_empty() {
            let full = lines.len() >= lines_max;
            let fits = |line: &String| width(line, size) + width(word, size) + em(' ') * size <= room;
            match lines.last_mut() {
                Some(line) if full || fits(line) => {
                    line.push(' ');
                    line.push_str(word);
                    break;
                }
                _ => {}
            }
            // At least one character, so that it ends.
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (line, rest) = word.split_at(fitting(word, size, room).max(first));
            lines.push(line.to_owned());
            word = rest;
        }
    }
    lines.iter().map(|line| shortened(line, size, room)).collect()
}

/// `id` as it may stand in an attribute that others refer to.
pub fn identifier(id: &str) -> String {
    let kept = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let text: String = kept.take(80).collect();
    format!("ws-{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escape("<a href='x'>&\"\u{7}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\u{fffd}"
        );
        assert_eq!(identifier("Figure 3: <x>"), "ws-Figure-3---x-");
    }

    #[test]
    fn text_cannot_reorder_what_stands_beside_it() {
        assert_eq!(escape("a\u{202e}b\u{2066}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn long_words_are_broken() {
        let lines = wrapped("of abcdefghijklmnop", 10.0, 60.0, 9);
        assert_eq!(lines.concat().replace(' ', ""), "ofabcdefghijklmnop");
        assert!(lines.len() > 2, "{lines:?}");
        assert!(wrapped("abcdefghijklmnop", 10.0, 60.0, 1)[0].ends_with('…'));
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            (number(-0.01), number(12.0), number(1.26)),
            ("0".into(), "12".into(), "1.3".into())
        );
    }

    proptest! {
        #[test]
        fn lines_keep_to_their_room(text in ".{0,200}", room in 60.0..500.0f64) {
            let lines = wrapped(&text, 12.0, room, 2);
            prop_assert!(lines.len() <= 2);
            prop_assert!(lines.iter().all(|line| width(line, 12.0) <= room + 12.0));
        }
    }
}
