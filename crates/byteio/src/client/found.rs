//! What a service was found to have, and whether an answer is still of that: blocks of two versions must never be joined.

use super::Direction;
use crate::http::head::Headers;
use wirespeed::bulk::{BulkError, BulkErrorKind};
use wirespeed_schema::shown::quoted;

/// Codings have short names.
const CODING_CHARACTERS_MAX: usize = 40;
/// What is said when blocks of two versions came.
const CHANGED: &str = "the resource changed while it was read";
/// And where there is no block any more.
const SHORTER: &str = "the resource ends before the block; it became shorter";
/// What helps: the blocks of the earlier version are forgotten.
const ANEW: &str = "give the same command again when nothing writes the resource: it begins anew";

/// What ends a transfer whose blocks are of two versions.
pub(super) fn changed() -> BulkError {
    outdated(CHANGED)
}

/// The same where a block is beyond the end.
pub(super) fn shorter() -> BulkError {
    outdated(SHORTER)
}

fn outdated(why: &str) -> BulkError {
    let error = BulkError::lasting(why).with_remedy(ANEW);
    error.of_kind(BulkErrorKind::Outdated)
}

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
    /// Whether HEAD did not tell enough, and GET was asked: the two may tell of different tags.
    pub by_get: bool,
    /// How what it sends is coded (gzip, ..), where it says so though nobody asked for it. It is stored as it is sent, and all of
    /// it must be coded alike.
    pub coding: Option<String>,
}

impl Found {
    /// What the headers of an answer tell of a resource of so many bytes. What is sent to a service has no coding of its own.
    pub(super) fn told(headers: &Headers, size_bytes: Option<u64>, direction: Direction) -> Self {
        Found {
            size_bytes,
            tag: tag(headers).map(str::to_owned),
            own: is_own(headers),
            coding: coding(headers).filter(|_| direction == Direction::Get),
            ..Found::default()
        }
    }
}

/// Whether an answer is of wirespeed.
pub(super) fn is_own(headers: &Headers) -> bool {
    headers.get("wirespeed") == Some("byteio")
}

/// An error where an answer is of another version than was found, or coded otherwise: its blocks fit no others.
pub(super) fn fits(found: &Found, headers: &Headers, total_bytes: Option<u64>) -> Result<(), BulkError> {
    let is = coding(headers);
    if found.coding != is {
        let [was, is] = [&found.coding, &is].map(|coding| coding.as_deref().unwrap_or("identity"));
        let why = format!("the service sends it now as {was}, now as {is}: no block fits another");
        return Err(BulkError::lasting(why).with_remedy("fetch it in one piece by other means, such as curl"));
    }
    let longer = found
        .size_bytes
        .zip(total_bytes)
        .is_some_and(|(was, is)| was != is);
    let other = found.tag.as_deref().zip(tag(headers)).is_some_and(|(was, is)| {
        // A date says nothing of a tag.
        was != is && was.ends_with('"') == is.ends_with('"')
    });
    match longer || other {
        true => Err(changed()),
        false => Ok(()),
    }
}

/// The coding that an answer names.
pub(super) fn coding(headers: &Headers) -> Option<String> {
    let coding = headers.get("content-encoding").map(str::trim);
    let coding = coding.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    coding.map(|coding| quoted(coding, CODING_CHARACTERS_MAX))
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
        let why = |found: &Found, headers: &Headers| fits(found, headers, None).map_err(|error| error.why);
        assert!(same.iter().all(|lines| why(&plain, &headers(lines)).is_ok()));
        let coded = headers("Content-Encoding: gzip");
        let packed = Found {
            coding: coding(&coded),
            ..Found::default()
        };
        for (found, headers) in [(&plain, &coded), (&packed, &headers("X: y"))] {
            let why = why(found, headers).unwrap_err();
            assert!(why.contains("gzip") && why.contains("identity"), "{why}");
        }
        assert_eq!(why(&packed, &coded), Ok(()));
        assert_eq!(why(&plain, &headers("ETag: \"2\"")), Err(CHANGED.to_owned()));
    }
}
