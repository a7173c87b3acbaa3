//! Look-up: what there is to transfer, and who serves it, before the clock runs.

use super::faults::refused;
use super::found::is_own;
use super::receive;
use super::session::{Session, insist};
use super::{ClientOptions, Direction, Found, Url, Way};
use crate::congestion::{self, Controls};
use crate::http::body::{Body, Framing};
use crate::http::head::ResponseHead;
use crate::http::range;
use crate::soap::names::{Mechanism, RANDOM, STREAM};
use crate::soap::write::{Data, request};
use crate::soap::{Name, Opening, Operation};
use serde::Deserialize;
use std::time::{Duration, Instant};
use wirespeed::bulk::{BulkError, BulkErrorKind};
use wirespeed_control::StopFlag;
use wirespeed_schema::host::HostFingerprint;

/// The slowest disk on which a service may copy a version into its place.
const COPY_MIN_BYTES_PER_S: u64 = 1 << 20;
/// What is said where there is nothing to transfer.
const NONE: &str = "no resource that can be transferred";
/// How long a last word may take.
const PARTING: Duration = Duration::from_millis(300);

/// What a service of ours says of itself.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Facts {
    pub cpu_ns: u64,
    pub host: HostFingerprint,
    #[serde(default)]
    pub congestion: Controls,
}

/// Ask. `size_known`: the user said how large it is, so that nobody has to.
pub(super) fn find(options: &ClientOptions, size_known: bool) -> Result<Found, BulkError> {
    let mut session = Session::connect(options)?;
    let target = &options.url.target;
    // A foreign SOAP service need not know HEAD.
    let is_soap = matches!(options.way, Way::Soap(_));
    let head = match session.small("HEAD", target, "", "") {
        // Who was silent for as long as that is borne is not asked a second time.
        Err(error) if error.kind == BulkErrorKind::Silent && !is_soap => return Err(error),
        head => head,
    };
    let mut missing = Found::default();
    if let Ok(answer) = &head {
        let size = length(&answer.head);
        if answer.head.status == 401 {
            return Err(refused(&answer.head, "the service needs a token"));
        }
        let own = is_own(&answer.head.headers);
        missing.own = own;
        let asks = options.direction == Direction::Get && options.way == Way::Http && !own;
        let decisive = own || !is_soap;
        if answer.head.status == 404 && options.direction == Direction::Get && decisive {
            return Err(refused(&answer.head, "no such resource"));
        }
        if answer.head.status == 200 && (own || options.way == Way::Http) {
            // Some say 0 to HEAD whatever they have.
            let told = size.is_some_and(|size| size > 0) && answer.head.headers.has("accept-ranges", "bytes");
            return match asks && !told {
                true => probed(options, size),
                false => Ok(Found::told(&answer.head.headers, size, options.direction)),
            };
        }
        // What it refuses to HEAD (405, 501) it may give.
        if asks && answer.head.status >= 400 {
            return probed(options, None);
        }
    }
    if options.direction == Direction::Put || options.way == Way::Http {
        return match head.map(|answer| answer.head) {
            Ok(head) => match (head.status, options.way) {
                // A put makes it. Some know no HEAD, or forbid to ask for what is not there (S3).
                (200 | 404, _) => Ok(missing),
                (403 | 405 | 501, _) if options.direction == Direction::Put => Ok(Found::default()),
                (_, Way::Soap(_)) => Ok(Found::default()),
                _ => Err(refused(&head, NONE)),
            },
            // Who closes at HEAD, or says something else than HTTP, may answer GET.
            Err(_) if options.direction == Direction::Get => probed(options, None),
            Err(_) => Ok(Found::default()),
        };
    }
    let size_bytes = if size_known { None } else { property(options)? };
    Ok(Found {
        size_bytes,
        ..Found::default()
    })
}

/// What a service has now of what was found `before`, asked for in the same way: a tag that GET tells says nothing of one that
/// HEAD told.
pub(super) fn again(options: &ClientOptions, before: &Found) -> Result<Found, BulkError> {
    if before.by_get {
        return probed(options, before.size_bytes.filter(|bytes| *bytes == 0));
    }
    let mut session = Session::connect(options)?;
    let head = session.small("HEAD", &options.url.target, "", "")?.head;
    match head.status {
        200 => Ok(Found::told(&head.headers, length(&head), options.direction)),
        _ => Err(refused(&head, NONE)),
    }
}

/// Bytes that an answer to HEAD tells of.
fn length(head: &ResponseHead) -> Option<u64> {
    head.headers
        .get("content-length")
        .and_then(|text| text.parse().ok())
}

/// What a service has that does not tell all of it to HEAD: the head of its answer to a request for the first byte does.
/// Of services that keep silent about ranges, some ignore them (Python's `http.server`).
fn probed(options: &ClientOptions, size_bytes: Option<u64>) -> Result<Found, BulkError> {
    let mut session = Session::connect(options)?;
    session.send("GET", &options.url.target, "Range: bytes=0-0\r\n", "")?;
    // What follows may be the whole: the connection is of no more use.
    let head = session.answer()?;
    let range = head.headers.get("content-range");
    let told = match (head.status, head.framing) {
        (200, Framing::Length(size)) => Some(size),
        (200, _) => None,
        (206, _) => range.and_then(range::carried).and_then(|(_, total)| total),
        // There is no first byte.
        (416, _) if size_bytes.map_or(range.is_some_and(range::is_of_nothing), |size| size == 0) => Some(0),
        _ => return Err(refused(&head, NONE)),
    };
    Ok(Found {
        whole_only: head.status == 200 && told != Some(0),
        by_get: true,
        ..Found::told(&head.headers, told.or(size_bytes), options.direction)
    })
}

/// The property `Size` of a foreign service; `None` where it does not know resource properties. A service that wants a token
/// for it wants one for all.
fn property(options: &ClientOptions) -> Result<Option<u64>, BulkError> {
    let space = if options.stream { STREAM } else { RANDOM };
    let operation = Operation::Properties {
        names: vec![Name::new(space, "Size")],
        multiple: false,
    };
    match exchange(options, &operation, Data::Elsewhere) {
        Ok(opening) => Ok(opening.field("Size").and_then(|text| text.parse().ok())),
        Err(error)
            if error.retry || matches!(error.kind, BulkErrorKind::Unspoken | BulkErrorKind::Refused) =>
        {
            Err(error)
        }
        // A fault: the first read finds out what the service can do, where it speaks SOAP at all.
        Err(_) => Ok(None),
    }
}

/// A SOAP exchange without data to speak of.
fn exchange(options: &ClientOptions, operation: &Operation, data: Data<'_>) -> Result<Opening, BulkError> {
    let mut session = Session::connect(options)?;
    let to = options.url.to_string();
    let envelope = request(operation, Mechanism::Simple, data, &to, "urn:wirespeed:exchange").whole();
    let more = format!(
        "Content-Type: text/xml; charset=utf-8\r\nSOAPAction: \"{}\"\r\n",
        crate::soap::write::action_of(operation)
    );
    session.send("POST", &options.url.target, &more, &envelope)?;
    let head = session.answer()?;
    let mut body = Body::new(&mut session.reader, head.framing);
    receive::message(
        &head,
        &mut body,
        (options.direction, None),
        &mut receive::Nowhere::default(),
    )
}

/// What a service of ours says of itself now.
pub(super) fn facts(options: &ClientOptions) -> Option<Facts> {
    let mut session = Session::connect(options).ok()?;
    let answer = session
        .small("GET", &options.url.with_query("wirespeed=facts"), "", "")
        .ok()?;
    serde_json::from_slice(answer.body.as_bytes()).ok()
}

/// Before blocks are put in their places: make the resource, empty.
pub(super) fn clear(options: &ClientOptions) -> Result<(), BulkError> {
    let mut session = Session::connect(options)?;
    let Way::Soap(_) = options.way else {
        let answer = session.small("PUT", &options.url.target, "", "")?;
        return match answer.head.status {
            200 | 201 | 204 => Ok(()),
            _ => Err(refused(&answer.head, answer.body.trim())),
        };
    };
    exchange(options, &Operation::TruncAppend { offset: 0 }, Data::Inline).map(drop)
}

/// Begin a new version of the resource at a service of ours: the options with its address. `None`: the service knows no
/// versions, and has emptied the resource.
pub(super) fn begin_version(options: &ClientOptions) -> Result<Option<ClientOptions>, BulkError> {
    let mut session = Session::connect(options)?;
    let answer = session.small("PUT", &options.url.with_query("wirespeed=stage"), "", "")?;
    let id = answer.body.trim();
    match (answer.head.status, id) {
        (200, "") => Ok(None),
        (200, id) if id.bytes().all(|b| b.is_ascii_hexdigit()) => {
            let mut version = options.clone();
            version.url.target = options.url.with_query(&format!("stage={id}"));
            Ok(Some(version))
        }
        (_, why) => Err(refused(&answer.head, why)),
    }
}

/// Put a version of so many bytes in place.
pub(super) fn commit_version(version: &ClientOptions, total_bytes: u64) -> Result<(), BulkError> {
    // Where no new file of that name is possible, the service copies all of it before it answers.
    let copying = Duration::from_secs(total_bytes / COPY_MIN_BYTES_PER_S);
    let patient = ClientOptions {
        patience: version.patience + copying,
        ..version.clone()
    };
    let began = Instant::now();
    // The last connections of the comparison may still have all places.
    let waited = || began.elapsed();
    insist(version, waited, || end_version(&patient, "wirespeed=commit"))
}

/// Have the service forget a version.
pub(super) fn drop_version(version: &ClientOptions) {
    // The service forgets it by itself, only later.
    let _ = end_version(&parting(version), "wirespeed=drop");
}

/// End a version. An error may only be tried again where nothing can have been done.
fn end_version(version: &ClientOptions, wish: &str) -> Result<(), BulkError> {
    let lasting = |error| BulkError {
        retry: false,
        ..error
    };
    let mut session = Session::connect(version)?;
    let ended = session.small("PUT", &version.url.with_query(wish), "", "");
    let answer = ended.map_err(lasting)?;
    match (answer.head.status, answer.body.trim()) {
        (200, _) => Ok(()),
        (503, why) => Err(refused(&answer.head, why)),
        (_, why) => Err(lasting(refused(&answer.head, why))),
    }
}

/// Options for a last word, which may be said after the wish to stop but keeps nobody.
fn parting(options: &ClientOptions) -> ClientOptions {
    ClientOptions {
        stop: StopFlag::new(),
        patience: options.patience.min(PARTING),
        ..options.clone()
    }
}

/// A stream of the resource, where the service opens one (Genesis II and wirespeed do); else the address is taken to be a
/// stream itself.
pub(super) fn open_stream(options: &ClientOptions) -> Result<Option<Url>, BulkError> {
    match exchange(options, &Operation::OpenStream, Data::Elsewhere) {
        Ok(opening) => Ok(opening.field("Address").and_then(|text| Url::parse(text).ok())),
        Err(error) if !error.retry => Ok(None),
        Err(error) => Err(error),
    }
}

/// Give a stream back that was opened here. One that is not goes after an idle hour.
pub(super) fn close_stream(options: &ClientOptions, opened: bool) {
    if opened {
        let _ = exchange(&parting(options), &Operation::Destroy, Data::Elsewhere);
    }
}

/// The congestion controls of the end that sends; none where that is a service other than wirespeed.
pub fn congestion_controls(options: &ClientOptions) -> Controls {
    match options.direction {
        Direction::Put => congestion::here(),
        Direction::Get => facts(options).unwrap_or_default().congestion,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PATIENCE, answering, scripted};
    use super::*;
    use std::net::TcpListener;
    use std::sync::atomic::Ordering;

    /// The connection ends without an answer, or with none of HTTP.
    const CLOSED: &str = "closed";
    const GARBAGE: &str = "garbage";

    /// What a get by ranges finds at a service with these answers: bytes, and whether only the whole is to be had.
    fn found(answers: &[&str]) -> Result<(Option<u64>, bool), BulkError> {
        let whole = |answer: &&str| match *answer {
            CLOSED => String::new(),
            GARBAGE => "?\r\n\r\n".to_owned(),
            answer => format!("HTTP/1.1 {answer}\r\n\r\n"),
        };
        let answers = answers.iter().map(whole);
        let (mut options, _) = answering(answers.collect(), Duration::ZERO);
        options.direction = Direction::Get;
        find(&options, false).map(|found| (found.size_bytes, found.whole_only))
    }

    #[test]
    fn what_a_service_does_not_tell_to_head_its_answer_to_get_does() {
        let part = "206 X\r\nContent-Range: bytes 0-0/7\r\nContent-Length: 1";
        let whole = "200 X\r\nContent-Length: 7";
        let chunked = "200 X\r\nTransfer-Encoding: chunked";
        let beyond = "416 X\r\nContent-Range: bytes */0";
        let empty = "200 X\r\nContent-Length: 0";
        let no_length = "200 X\r\nContent-Length: 0";
        for silent in ["405 X", "501 X", "403 X", "200 X", no_length, CLOSED, GARBAGE] {
            for (answer, expected) in [
                (part, (Some(7), false)),
                (whole, (Some(7), true)),
                (beyond, (Some(0), false)),
                (empty, (Some(0), false)),
            ] {
                assert_eq!(found(&[silent, answer]).unwrap(), expected, "{silent}: {answer}");
            }
        }
        assert_eq!(found(&["405 X", chunked]).unwrap(), (None, true));
        assert_eq!(
            found(&["200 X\r\nContent-Length: 7", chunked]).unwrap(),
            (Some(7), true)
        );
        assert!(found(&["200 X\r\nContent-Length: 7", beyond]).is_err());
        let never = found(&[CLOSED, CLOSED]).unwrap_err();
        assert!(
            never.why.contains("closed") && never.remedy.is_some(),
            "{never:?}"
        );
        // Bytes that are there are not called none.
        for other in ["403 X", "416 X", "416 X\r\nContent-Range: bytes */7"] {
            let why = found(&["405 X", other]).unwrap_err().why;
            assert!(why.contains(&format!("HTTP {}", &other[..3])), "{why}");
        }
    }

    #[test]
    fn what_is_sent_has_no_coding() {
        let coded =
            "HTTP/1.1 200 X\r\nAccept-Ranges: bytes\r\nContent-Length: 7\r\nContent-Encoding: gzip\r\n\r\n";
        for (direction, coding) in [(Direction::Put, None), (Direction::Get, Some("gzip"))] {
            let (mut options, _) = answering(vec![coded.to_owned()], Duration::ZERO);
            options.direction = direction;
            assert_eq!(find(&options, false).unwrap().coding.as_deref(), coding);
        }
    }

    #[test]
    fn who_was_silent_is_asked_once() {
        for direction in [Direction::Get, Direction::Put] {
            // It takes connections and never looks at them.
            let silent = TcpListener::bind("127.0.0.1:0").unwrap();
            let (mut options, _) = scripted(vec![(200, String::new())], Duration::ZERO);
            options.url = Url::parse(&format!("http://{}/x", silent.local_addr().unwrap())).unwrap();
            (options.direction, options.patience) = (direction, PATIENCE);
            let error = find(&options, false).unwrap_err();
            assert_eq!(error.kind, BulkErrorKind::Silent, "{error}");
            silent.set_nonblocking(true).unwrap();
            assert!(
                silent.accept().is_ok() && silent.accept().is_err(),
                "{}",
                direction.name()
            );
        }
    }

    /// What a SOAP service with this answer says of its size.
    fn sized(answer: &str) -> Result<Option<u64>, BulkError> {
        let (mut options, _) = answering(vec![format!("HTTP/1.1 {answer}\r\n\r\n")], Duration::ZERO);
        (options.direction, options.way) = (Direction::Get, Way::Soap(Mechanism::Simple));
        property(&options)
    }

    #[test]
    fn a_property_that_is_kept_back_is_unknown_unless_a_token_is_wanted() {
        for coding in ["", "\r\nContent-Encoding: gzip"] {
            let error = sized(&format!("401 X{coding}\r\nContent-Length: 0")).unwrap_err();
            assert_eq!(error.kind, BulkErrorKind::Refused, "{error}");
        }
        for status in [403, 410, 413] {
            for coding in ["", "Content-Encoding: gzip\r\n"] {
                assert_eq!(
                    sized(&format!("{status} X\r\n{coding}Content-Length: 0")),
                    Ok(None)
                );
            }
        }
        for other in [
            "404 X",
            "501 X",
            "404 X\r\nContent-Encoding: gzip",
            "200 X\r\nContent-Type: text/html",
        ] {
            let error = sized(&format!("{other}\r\nContent-Length: 0")).unwrap_err();
            assert_eq!(error.kind, BulkErrorKind::Unspoken, "{other}");
            assert!(
                error.remedy.is_some_and(|told| told.contains("mechanism http")),
                "{other}"
            );
        }
        for (other, helps) in [
            ("302 X\r\nLocation: http://other/a", "that address"),
            ("200 X\r\nContent-Encoding: gzip", "as it is"),
        ] {
            let error = sized(&format!("{other}\r\nContent-Length: 0")).unwrap_err();
            assert!(error.remedy.is_some_and(|told| told.contains(helps)), "{other}");
        }
        let coded = |status| {
            sized(&format!(
                "{status} X\r\nContent-Encoding: gzip\r\nContent-Length: 0"
            ))
        };
        for status in [500, 503] {
            let error = coded(status).unwrap_err();
            assert!(
                error.retry && error.why.contains(&format!("HTTP {status}")),
                "{error}"
            );
        }
    }

    #[test]
    fn another_place_is_named_and_nothing_in_its_name_is_obeyed() {
        let named = |head: &str, remedy: &str| {
            let error = found(&[head]).unwrap_err();
            assert!(!error.retry && error.remedy.is_some_and(|told| told.contains(remedy)));
            error.why
        };
        named(
            "302 X\r\nLocation: https://other/a",
            "spoken with services of wirespeed alone",
        );
        named("302 X\r\nLocation: /it's", "behind http://HOST:PORT");
        for status in [301, 302, 303, 307, 308] {
            let why = named(
                &format!("{status} X\r\nLocation: http://other:80/a%20b"),
                "that address",
            );
            let expected = format!("HTTP {status}: the resource is at http://other:80/a%20b");
            assert!(why.ends_with(&expected), "{why}");
        }
        let long = format!("301 X\r\nLocation: /\u{202e}\u{9b}2Jit's{}", "x".repeat(5000));
        let why = named(&long, "its owner");
        assert!(
            why.contains("/2Jit'sxxx") && why.ends_with("..") && why.len() < 3000,
            "{why}"
        );
    }

    #[test]
    fn a_page_that_cannot_be_read_hides_no_status() {
        for (head, page, said) in [
            (
                "Content-Encoding: gzip\r\n",
                "\u{1f}\u{8b}",
                "a page coded as gzip",
            ),
            ("", &*"long ".repeat(1 << 18), "HTTP 403"),
            ("Content-Encoding: br\r\n", "", "a page coded as br"),
        ] {
            let answer = format!(
                "HTTP/1.1 403 X\r\n{head}Content-Length: {}\r\n\r\n{page}",
                page.len()
            );
            let (options, _) = answering(vec![answer], Duration::ZERO);
            for error in [
                clear(&options).unwrap_err(),
                begin_version(&options).unwrap_err(),
                commit_version(&options, 0).unwrap_err(),
            ] {
                assert!(
                    error.why.contains("HTTP 403") && error.why.ends_with(said),
                    "{error}"
                );
                assert!(!error.retry && error.remedy.is_some(), "{error:?}");
            }
        }
    }

    #[test]
    fn a_service_may_copy_a_version_into_its_place_for_as_long_as_that_takes() {
        let (mut slow, _) = scripted(vec![(200, String::new())], PATIENCE * 2);
        slow.patience = PATIENCE;
        assert!(commit_version(&slow, 100 * COPY_MIN_BYTES_PER_S).is_ok());
        assert!(commit_version(&slow, 0).is_err());
    }

    #[test]
    fn a_commit_is_tried_again_only_where_nothing_was_done() {
        for (answers, ends_well, asked) in [(vec![503, 200], true, 2), (vec![507, 200], false, 1)] {
            let answers = answers.into_iter().map(|status| (status, String::new()));
            let (options, given) = scripted(answers.collect(), Duration::ZERO);
            assert_eq!(commit_version(&options, 0).is_ok(), ends_well);
            assert_eq!(given.load(Ordering::SeqCst), asked);
        }
    }
}
