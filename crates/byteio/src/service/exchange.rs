//! A request and its answer, and what every connection may look at.

use super::answer::Answer;
use super::files::{Access, Denied, Root};
use super::limits::Limits;
use super::places::Places;
use super::streams::Streams;
use super::versions::{InUse, Versions};
use crate::http::body::Body;
use crate::http::channel::Channel;
use crate::http::head::RequestHead;
use parking_lot::RwLock;
use percent_encoding::percent_decode_str;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, BufReader};
use wirespeed_control::StopFlag;
use wirespeed_control::auth::http::SecureServer;

/// Bytes of a refused body that are read, so that the client can read why it was refused.
const DRAIN_BYTES_MAX: u64 = 1 << 20;

/// What every connection may look at.
pub(super) struct Shared {
    pub root: Root,
    pub limits: Limits,
    pub secure: Option<SecureServer>,
    pub streams: Streams,
    pub versions: Versions,
    /// Writers share it; one on a condition has it alone.
    pub writes: RwLock<()>,
    pub places: Places,
    pub stop: StopFlag,
}

impl Shared {
    /// The version being written that a request is about, if it is about one.
    pub fn stage_of(&self, asked: &Asked) -> Result<Option<InUse>, Denied> {
        self.version(asked.parameter("stage").as_deref(), &asked.path)
    }

    /// The version of `path` with this name, if there is a name.
    pub fn version(&self, id: Option<&str>, path: &str) -> Result<Option<InUse>, Denied> {
        id.map(|id| self.versions.find(id, path).ok_or(Denied::Unknown))
            .transpose()
    }

    /// What a request reads.
    pub fn readable(&self, asked: &Asked) -> Result<File, Denied> {
        self.file(asked.parameter("stage").as_deref(), &asked.path)
    }

    /// The version of `path` with this name; without a name, what is there.
    pub fn file(&self, id: Option<&str>, path: &str) -> Result<File, Denied> {
        match self.version(id, path)? {
            Some(stage) => stage.file.try_clone().map_err(|_| Denied::Failed(Errno::MFILE)),
            None => self.root.resource(path, Access::Read),
        }
    }
}

pub(super) type Reader = BufReader<Channel>;

/// Whether the connection can carry another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Yes.
    Keep,
    /// No: the answer is out, or cannot be finished.
    Close,
}

/// A request, its target taken apart.
pub(super) struct Asked {
    pub head: RequestHead,
    /// Decoded path.
    pub path: String,
    /// Query as sent, without the question mark.
    pub query: String,
}

impl Asked {
    pub fn of(head: RequestHead) -> Option<Asked> {
        // Some clients send the absolute form, as to a proxy.
        let target = match head
            .target
            .strip_prefix("http://")
            .or(head.target.strip_prefix("https://"))
        {
            Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => &head.target,
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = percent_decode_str(path).decode_utf8().ok()?.into_owned();
        let query = query.to_owned();
        path.starts_with('/').then_some(Asked { head, path, query })
    }

    /// The value of a parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self
            .query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let value = pairs
            .into_iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))?
            .1;
        Some(percent_decode_str(value).decode_utf8().ok()?.into_owned())
    }

    /// The address that the client used, for documents that have to name it.
    pub fn location(&self, secure: bool) -> String {
        let scheme = if secure { "https" } else { "http" };
        let host = self.head.headers.get("host").unwrap_or("localhost");
        let path = self.head.target.split('?').next().unwrap_or_default();
        format!("{scheme}://{host}{path}")
    }
}

/// A plain refusal, after which the connection ends.
pub(super) fn say(reader: &mut Reader, status: &str, why: &str) -> io::Result<After> {
    let answer = Answer::new(status, "text/plain; charset=utf-8", false);
    answer.send(reader.get_mut(), format!("{why}\n").as_bytes())?;
    Ok(After::Close)
}

/// Read what is left of a request's body, if it is little; else the connection ends behind the answer.
pub(super) fn drained(body: &mut Body<'_, Reader>) -> After {
    match body.drain(DRAIN_BYTES_MAX) {
        Ok(true) => After::Keep,
        _ => After::Close,
    }
}
