//! Media types with their parameters, as the stacks in use spell them: tabs and blanks anywhere, quoted or not.

/// A parsed `Content-Type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    /// `type/subtype` in lower case.
    pub essence: String,
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Read a header's value; `None` when it is not a media type.
    pub fn parse(value: &str) -> Option<MediaType> {
        let (essence, mut rest) = value.split_once(';').unwrap_or((value, ""));
        let essence = essence.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        let token = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !token(kind) || !token(subtype) {
            return None;
        }
        let mut parameters = Vec::new();
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ';']);
            if rest.is_empty() {
                return Some(MediaType { essence, parameters });
            }
            let (name, after) = rest.split_once('=')?;
            let (value, after) = parameter(after.trim_start())?;
            parameters.push((name.trim().to_ascii_lowercase(), value));
            rest = after;
        }
    }

    /// The value of a parameter, by its name in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A value at the start of `text`, and what follows it.
fn parameter(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return Some((text[..end].trim().to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// A content ID without the angle brackets that some write and some do not.
pub fn bare_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<')
        .and_then(|id| id.strip_suffix('>'))
        .unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_real_stacks() {
        let axis = "multipart/related;type=\"application/xop+xml\"; start=\"<A1>\"; start-info=\"text/xml; charset=utf-8\"; \tboundary=\"----=_Part_0_1\"";
        let media = MediaType::parse(axis).unwrap();
        assert_eq!(media.essence, "multipart/related");
        assert_eq!(media.parameter("boundary"), Some("----=_Part_0_1"));
        assert_eq!(media.parameter("start-info"), Some("text/xml; charset=utf-8"));
        assert_eq!(bare_id(media.parameter("start").unwrap()), "A1");
        let bare = MediaType::parse("Multipart/Related; BOUNDARY=uuid:1; x=\"a\\\"b\"").unwrap();
        assert_eq!(
            (bare.parameter("boundary"), bare.parameter("x")),
            (Some("uuid:1"), Some("a\"b"))
        );
        for bad in ["", "text", "/x", "text/", "a/b; c", "a/b; c=\"d"] {
            assert_eq!(MediaType::parse(bad), None, "{bad}");
        }
    }
}
