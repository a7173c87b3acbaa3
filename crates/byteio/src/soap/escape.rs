//! Text in XML.

/// `text` as XML text or attribute value.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has no other control characters, escaped or not.
            c if c.is_control() && !matches!(c, '\n' | '\r' | '\t') => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}
