//! What a service was found to have, and whether an answer is still of that: blocks of two versions must never be joined.

use crate::http::head::Headers;

/// What is said when blocks of two versions came.
pub(super) const CHANGED: &str = "the resource changed while it was read";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Bytes of the resource; absent where the service does not say.
    pub size_bytes: Option<u64>,
    /// Changes when the resource does, where the service says.
    pub tag: Option<String>,
    /// Whether the service is wirespeed: digests, facts and counters are to be had.
    pub own: bool,
    /// Whether the service sends the whole resource, whatever range is asked for.
    pub whole_only: bool,
    /// How what it sends is coded (gzip, ..), where it says so though nobody asked for it. It is stored as it is sent, and all of
    /// it must be coded alike.
    pub coding: Option<String>,
}

impl Found {
    /// What the headers of an answer tell of a resource of so many bytes.
    pub(super) fn told(headers: &Headers, size_bytes: Option<u64>) -> Self {
        Found {
            size_bytes,
            tag: tag(headers).map(str::to_owned),
            coding: coding(headers),
            ..Found::default()
        }
    }
}

/// Whether an answer is of another version than was found: its blocks fit no others.
pub(super) fn is_another(found: &Found, headers: &Headers, total_bytes: Option<u64>) -> bool {
    let longer = found
        .size_bytes
        .zip(total_bytes)
        .is_some_and(|(was, is)| was != is);
    let other = found.tag.as_deref().zip(tag(headers)).is_some_and(|(was, is)| {
        // A date says nothing of a tag.
        was != is && was.ends_with('"') == is.ends_with('"')
    });
    longer || other || found.coding != coding(headers)
}

/// The coding that an answer names.
fn coding(headers: &Headers) -> Option<String> {
    let coding = headers.get("content-encoding").map(str::trim);
    let coding = coding.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    coding.map(str::to_owned)
}

/// What tells versions apart: the tag, or else the date of the last change.
fn tag(headers: &Headers) -> Option<&str> {
    headers.get("etag").or_else(|| headers.get("last-modified"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::head::ResponseHead;

    #[test]
    fn blocks_of_another_version_or_coding_fit_no_others() {
        let headers = |lines: &str| {
            let head = format!("HTTP/1.1 200 X\r\n{lines}\r\n\r\n");
            ResponseHead::read(&mut head.as_bytes()).unwrap().headers
        };
        let same = ["ETag: \"1\"", "ETag: \"1\"\r\nContent-Encoding: identity", "X: y"];
        let plain = Found {
            tag: Some("\"1\"".to_owned()),
            ..Found::default()
        };
        assert!(
            same.iter()
                .all(|lines| !is_another(&plain, &headers(lines), None))
        );
        let coded = headers("Content-Encoding: gzip");
        let packed = Found {
            coding: coding(&coded),
            ..Found::default()
        };
        assert!(is_another(&plain, &coded, None) && is_another(&packed, &headers("X: y"), None));
        assert!(!is_another(&packed, &coded, None));
        assert!(is_another(&plain, &headers("ETag: \"2\""), None));
    }
}
