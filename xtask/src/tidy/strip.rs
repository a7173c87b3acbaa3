//! Blanks out comments, strings and character literals, so that rules see code alone. Lines keep their numbers.

/// `text` with every byte of comments and literals replaced by a space; newlines stay.
pub fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(bytes, at);
        if end > at {
            code.extend(bytes[at..end].iter().map(|&b| if b == b'\n' { b } else { b' ' }));
            at = end;
        } else {
            // Bytes of non-ASCII identifiers are of no interest to any rule.
            code.push(if bytes[at].is_ascii() { bytes[at] } else { b' ' });
            at += 1;
        }
    }
    String::from_utf8(code).unwrap_or_default()
}

/// End of the comment or literal that starts at `at`, or `at` when none does.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let after_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment(rest),
        [b'"', ..] => at + quoted(rest, 1),
        [b'b' | b'c', b'"', ..] if !after_word => at + quoted(rest, 2),
        [b'r', b'"' | b'#', ..] if !after_word => at + raw(rest, 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if !after_word => at + raw(rest, 2),
        [b'\'', ..] => at + character(rest),
        _ => at,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw(rest: &[u8], start: usize) -> usize {
    let hashes = rest[start..].iter().take_while(|&&b| b == b'#').count();
    let open = start + hashes;
    if rest.get(open) != Some(&b'"') {
        // A raw identifier such as `r#type`.
        return 0;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let length = body.windows(close.len()).position(|w| w == close);
    length.map_or(rest.len(), |l| open + 1 + l + close.len())
}

fn character(rest: &[u8]) -> usize {
    if rest.get(1) == Some(&b'\\') {
        let close = rest.iter().skip(3).position(|&b| b == b'\'');
        return close.map_or(0, |c| c + 4);
    }
    let text = std::str::from_utf8(&rest[1..rest.len().min(6)])
        .or_else(|e| std::str::from_utf8(&rest[1..1 + e.valid_up_to()]));
    let width = text.ok().and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
    // Without a closing quote it is a lifetime.
    if rest.get(1 + width) == Some(&b'\'') {
        width + 2
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::blank;

    #[test]
    fn literals_and_comments_go_code_stays() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"x}\\\"y\") + 1", "f(       ) + 1"),
            ("r#\"{\"# r#type", "       r#type"),
            ("let c = '{'; &'a str", "let c =    ; &'a str"),
            ("b'\\n' '\\'' 'é' x", "b               x"),
        ] {
            assert_eq!(blank(text).trim_end(), code.trim_end(), "{text}");
        }
    }
}
