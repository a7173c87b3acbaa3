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
    longer || other
}

/// What tells versions apart: the tag, or else the date of the last change.
pub(super) fn tag(headers: &Headers) -> Option<&str> {
    headers.get("etag").or_else(|| headers.get("last-modified"))
}
