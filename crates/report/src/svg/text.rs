//! Text in a drawing: escaping, an estimate of its width, wrapping and shortening.

use std::fmt::Write as _;

/// Width of a character in parts of the font's size: wide enough for the usual sans-serif fonts.
const CHARACTER_EM: f64 = 0.58;
/// From here on scripts have characters as wide as high.
const WIDE_FROM: char = '\u{2e80}';

/// `text` with everything that XML or HTML could take for markup written as entities; characters that XML forbids
/// become U+FFFD.
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
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
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

/// Estimated width of `text` in a font of `size` pixels.
pub fn width(text: &str, size: f64) -> f64 {
    let em = |character: char| if character >= WIDE_FROM { 1.0 } else { CHARACTER_EM };
    text.chars().map(em).sum::<f64>() * size
}

/// `text`, shortened with an ellipsis to at most `room` pixels.
pub fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        if width(&short, size) + 2.0 * size > room {
            break;
        }
        short.push(character);
    }
    format!("{}…", short.trim_end())
}

/// `text` in lines of at most `room` pixels, broken at spaces; at most `lines_max` of them.
pub fn wrapped(text: &str, size: f64, room: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() >= lines_max;
        match lines.last_mut() {
            Some(line) if full || width(line, size) + width(word, size) + size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
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
