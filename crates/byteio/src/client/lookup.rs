//! Look-up: what there is to transfer, and who serves it, before the clock runs.

use super::link::refused;
use super::receive;
use super::session::Session;
use super::{ClientOptions, Direction, Found, Url, Way};
use crate::congestion::{self, Controls};
use crate::http::body::Body;
use crate::http::head::ResponseHead;
use crate::soap::names::{Mechanism, RANDOM, STREAM};
use crate::soap::write::{Data, request};
use crate::soap::{Name, Opening, Operation};
use serde::Deserialize;
use std::time::Duration;
use wirespeed::bulk::BulkError;
use wirespeed_control::StopFlag;
use wirespeed_schema::host::HostFingerprint;

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
    let head = session.small("HEAD", target, "", "");
    let mut missing = Found::default();
    if let Ok(answer) = &head {
        let own = answer.head.headers.get("wirespeed") == Some("byteio");
        let size = answer
            .head
            .headers
            .get("content-length")
            .and_then(|text| text.parse().ok());
        if answer.head.status == 401 {
            return Err(refused(401, "the service needs a token"));
        }
        missing.own = own;
        // A foreign SOAP service need not know HEAD.
        let decisive = own || !matches!(options.way, Way::Soap(_));
        if answer.head.status == 404 && options.direction == Direction::Get && decisive {
            return Err(refused(404, "no such resource"));
        }
        if answer.head.status == 200 && (own || options.way == Way::Http) {
            let tag = super::found::tag(&answer.head.headers).map(str::to_owned);
            let told = answer.head.headers.has("accept-ranges", "bytes");
            let asks = options.direction == Direction::Get && size != Some(0);
            return Ok(Found {
                size_bytes: size,
                tag,
                own,
                whole_only: !own && !told && asks && options.way == Way::Http && knows_no_ranges(options)?,
            });
        }
    }
    if options.direction == Direction::Put || options.way == Way::Http {
        let status = head.map(|answer| answer.head.status);
        return match status {
            // A put makes it.
            Ok(200 | 404) => Ok(missing),
            Ok(_) if matches!(options.way, Way::Soap(_)) => Ok(Found::default()),
            Ok(status) => Err(refused(status, "no resource that can be transferred")),
            Err(error) if options.direction == Direction::Get => Err(error),
            Err(_) => Ok(Found::default()),
        };
    }
    let size_bytes = if size_known { None } else { property(options)? };
    Ok(Found {
        size_bytes,
        ..Found::default()
    })
}

/// Whether a service that does not speak of ranges ignores them: Python's `http.server` does, some others only keep silent.
fn knows_no_ranges(options: &ClientOptions) -> Result<bool, BulkError> {
    let mut session = Session::connect(options)?;
    session.send("GET", &options.url.target, "Range: bytes=0-0\r\n", "")?;
    session.awaits();
    // The whole would follow: the connection is of no more use.
    Ok(ResponseHead::read(&mut session.reader)?.status == 200)
}

/// The property `Size` of a foreign service; `None` where it does not know resource properties.
fn property(options: &ClientOptions) -> Result<Option<u64>, BulkError> {
    let space = if options.stream { STREAM } else { RANDOM };
    let operation = Operation::Properties {
        names: vec![Name::new(space, "Size")],
        multiple: false,
    };
    match exchange(options, &operation, Data::Elsewhere) {
        Ok(opening) => Ok(opening.field("Size").and_then(|text| text.parse().ok())),
        // A fault: the first read finds out what the service can do. Where no SOAP is spoken, a remedy is known.
        Err(error) if !error.retry && error.remedy.is_none() => Ok(None),
        Err(error) => Err(error),
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
    session.awaits();
    let head = ResponseHead::read(&mut session.reader)?;
    let mut body = Body::new(&mut session.reader, head.framing);
    receive::message(&head, &mut body, None, &mut receive::Nowhere::default())
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
            status => Err(refused(status, answer.body.trim())),
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
        (status, why) => Err(refused(status, why)),
    }
}

/// Put a version in place, or have the service forget it.
pub(super) fn end_version(version: &ClientOptions, commits: bool) -> Result<(), BulkError> {
    let wish = if commits {
        "wirespeed=commit"
    } else {
        "wirespeed=drop"
    };
    let parting = parting(version);
    let options = if commits { version } else { &parting };
    let mut session = Session::connect(options)?;
    let answer = session.small("PUT", &options.url.with_query(wish), "", "")?;
    match answer.head.status {
        200 => Ok(()),
        status => Err(refused(status, answer.body.trim())),
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
