//! The operations of both port types on files. Reads only find out where the bytes lie; writes place what comes.

use super::exchange::{Asked, Shared};
use super::failed::{Failed, storage_fault};
use super::files::{self, Access};
use super::intake::Intake;
use super::layout::{Blocks, Placement, total_bytes};
use super::properties;
use super::spool::Spool;
use super::stage::{self, Stage};
use super::streams::Stream;
use super::versions::InUse;
use crate::http::range::Span;
use crate::soap::escape::escape;
use crate::soap::names::{ADDRESSING, LIFETIME, STREAM_FACTORY};
use crate::soap::write::{action_of, plain_response};
use crate::soap::{Fault, Operation, Origin, Request, SoapError};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;

/// What is answered.
pub(super) enum Reply {
    /// An envelope.
    Envelope(String),
    /// An empty transfer-information.
    Written,
    /// Bytes of a file.
    Data(File, Vec<Span>),
}

/// Do what a request says.
pub(super) fn perform(
    shared: &Shared,
    asked: &Asked,
    request: &Request,
    intake: &mut Intake<'_, '_>,
) -> Result<Reply, Failed> {
    let limits = &shared.limits;
    let stream = asked.parameter("stream");
    let stores = matches!(
        request.operation,
        Operation::Write { .. }
            | Operation::Append
            | Operation::TruncAppend { .. }
            | Operation::SeekWrite { .. }
    );
    if !stores {
        intake.without_data()?;
    }
    match (&request.operation, stream) {
        (Operation::Properties { names, multiple }, stream) => {
            properties::reply(shared, asked, names, *multiple, stream.as_deref()).map(Reply::Envelope)
        }
        (Operation::OpenStream, None) => open_stream(shared, asked),
        (Operation::Destroy, Some(id)) => match shared.streams.close(&id) {
            true => Ok(Reply::Envelope(plain_response(
                &format!("{LIFETIME}/DestroyResponse"),
                &format!("<d:DestroyResponse xmlns:d=\"{LIFETIME}\"/>"),
                None,
            ))),
            false => Err(no_stream()),
        },
        (
            Operation::SeekRead {
                offset,
                origin,
                bytes,
            },
            Some(id),
        ) => {
            if *bytes > limits.read_bytes_max {
                return Err(Fault::custom("num-bytes is above this service's limit").into());
            }
            seek_read(shared, &id, *offset, *origin, *bytes)
        }
        (Operation::SeekWrite { offset, origin }, Some(id)) => {
            seek_write(shared, &id, *offset, *origin, intake)
        }
        (Operation::SeekRead { .. } | Operation::SeekWrite { .. } | Operation::Destroy, None) => {
            Err(Fault::client("this operation is one of a stream; open one with openStream").into())
        }
        (_, Some(_)) => {
            Err(Fault::client("a stream knows seekRead, seekWrite, Destroy and resource properties").into())
        }
        (operation, None) => random(shared, asked, operation, intake),
    }
}

/// The random-access port type.
fn random(
    shared: &Shared,
    asked: &Asked,
    operation: &Operation,
    intake: &mut Intake<'_, '_>,
) -> Result<Reply, Failed> {
    let limits = &shared.limits;
    let stage = shared.stage_of(asked).map_err(Fault::from)?;
    let target = Target {
        path: &asked.path,
        stage: stage.as_deref(),
    };
    match *operation {
        Operation::Read {
            start_offset,
            block_bytes,
            blocks,
            stride_bytes,
        } => {
            let file = target.open(shared)?;
            let blocks = Blocks {
                start_offset,
                block_bytes,
                blocks,
                stride_bytes,
            };
            let places = blocks.places(size_of(&file)?, limits.read_bytes_max)?;
            Ok(Reply::Data(file, places))
        }
        Operation::Write {
            start_offset,
            block_bytes,
            stride_bytes,
        } => {
            store(shared, target, intake, |file| {
                Placement::new(
                    file,
                    start_offset,
                    block_bytes,
                    stride_bytes,
                    limits.write_bytes_max,
                )
            })?;
            Ok(Reply::Written)
        }
        Operation::Append => {
            let data = spooled(shared, target, intake)?;
            write(shared, target, |file| {
                locked(file)?;
                append(file, size_of(file)?, &data)
            })?;
            Ok(Reply::Written)
        }
        Operation::TruncAppend { offset } => {
            let data = spooled(shared, target, intake)?;
            write(shared, target, |file| {
                locked(file)?;
                truncate_and_append(file, offset, &data)
            })?;
            Ok(Reply::Written)
        }
        _ => Err(Fault::client("no operation of a random-access resource").into()),
    }
}

/// Two appends at once would write over each other; readers and writers by position take no lock.
fn locked(file: &File) -> Result<(), Fault> {
    flock(file, FlockOperation::LockExclusive)
        .map_err(|e| Fault::server(format!("cannot lock the resource: {e}")))
}

fn append(file: &File, end: u64, data: &Spool) -> Result<(), Failed> {
    let mut placement = Placement::in_a_row(file, end, u64::MAX);
    let placed = place(&mut placement, data);
    // An append that failed in the middle leaves nothing behind; should this fail too, the resource is longer than was
    // ever reported. What others have stored further on meanwhile stays.
    let own_end = end + placement.written_bytes;
    if placed.is_err() && own_end > end && file.metadata().is_ok_and(|now| now.len() == own_end) {
        drop(file.set_len(end));
    }
    placed
}

/// Nothing is cut before the data are in their place.
fn truncate_and_append(file: &File, offset: u64, data: &Spool) -> Result<(), Failed> {
    place(&mut Placement::in_a_row(file, offset, u64::MAX), data)?;
    let cut = file.set_len(offset.saturating_add(data.bytes));
    cut.map_err(|_| Fault::truncate_not_permitted("the resource cannot have that length").into())
}

/// What an operation is done to.
#[derive(Clone, Copy)]
struct Target<'a> {
    path: &'a str,
    /// A version of it that is being written, instead of what is there.
    stage: Option<&'a Stage>,
}

impl Target<'_> {
    fn open(self, shared: &Shared) -> Result<File, Fault> {
        Ok(match self.stage {
            Some(stage) => stage.file.try_clone().map_err(|e| storage_fault(&e))?,
            None => shared.root.resource(self.path, Access::Read)?,
        })
    }

    /// Its length; none while it is not there.
    fn size(self, shared: &Shared) -> Result<u64, Fault> {
        match (self.stage, shared.root.existing(self.path)) {
            (Some(stage), _) => size_of(&stage.file),
            (None, Ok(Some(file))) => size_of(&file),
            (None, Ok(None)) => Ok(0),
            (None, Err(denied)) => Err(denied.into()),
        }
    }
}

/// All of a request's data, once it is understood to its end. Whether they may be written is known before they are read.
fn spooled(shared: &Shared, target: Target<'_>, intake: &mut Intake<'_, '_>) -> Result<Spool, Failed> {
    if target.stage.is_none() {
        shared.root.existing(target.path).map_err(Fault::from)?;
    }
    let mut spool = Spool::default();
    let bytes_max = shared.limits.write_bytes_max;
    feed(intake, |piece| spool.put(&shared.root, piece, bytes_max))?;
    Ok(spool)
}

/// Do `how` to the target.
fn write(
    shared: &Shared,
    target: Target<'_>,
    how: impl FnMut(&File) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut how = how;
    match target.stage {
        Some(stage) => how(&stage.file),
        None => {
            let _others = shared.writes.read();
            stage::write_to(&shared.root, target.path, how)
        }
    }
}

/// A request's data in their places, all or none of them. Those of a version that nobody sees need not wait for the end of
/// the request. Returns how many there were.
fn store(
    shared: &Shared,
    target: Target<'_>,
    intake: &mut Intake<'_, '_>,
    placement: impl for<'a> Fn(&'a File) -> Placement<'a>,
) -> Result<u64, Failed> {
    if let Some(stage) = target.stage {
        let mut placement = placement(&stage.file);
        feed(intake, |piece| placement.put(piece))?;
        return Ok(placement.written_bytes);
    }
    let data = spooled(shared, target, intake)?;
    write(shared, target, |file| place(&mut placement(file), &data))?;
    Ok(data.bytes)
}

fn place(placement: &mut Placement<'_>, data: &Spool) -> Result<(), Failed> {
    let placed = placement
        .reserve(data.bytes)
        .and_then(|()| data.copy(|piece| placement.put(piece)));
    placed.map_err(|error| storage_fault(&error).into())
}

fn feed(intake: &mut Intake<'_, '_>, mut put: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Failed> {
    let mut stored = Ok(());
    let fed = intake.feed(&mut |piece| match put(piece) {
        Ok(()) => Ok(()),
        Err(error) => {
            stored = Err(storage_fault(&error));
            Err(SoapError::malformed("not stored"))
        }
    });
    // The disk's own reason is the one that counts.
    stored?;
    Ok(fed?)
}

fn size_of(file: &File) -> Result<u64, Fault> {
    let facts = files::facts(file);
    facts
        .map(|facts| facts.size_bytes)
        .map_err(|_| Fault::server("cannot look at the resource"))
}

fn no_stream() -> Failed {
    Fault::resource_unknown("no such stream; it may have ended").into()
}

fn open_stream(shared: &Shared, asked: &Asked) -> Result<Reply, Failed> {
    let version = asked.parameter("stage");
    if shared.version(version.as_deref(), &asked.path)?.is_none() {
        shared
            .root
            .resource(&asked.path, Access::Read)
            .map_err(Fault::from)?;
    }
    let id = shared.streams.open(&asked.path, version);
    let id = id.ok_or_else(|| Fault::server("this service has as many streams as it bears"))?;
    let address = escape(&format!(
        "{}?stream={id}",
        asked.location(shared.secure.is_some())
    ));
    let content = format!(
        "<f:openStreamResponse xmlns:f=\"{STREAM_FACTORY}\"><f:endpoint>\
         <wsa:Address xmlns:wsa=\"{ADDRESSING}\">{address}</wsa:Address></f:endpoint></f:openStreamResponse>"
    );
    let action = format!("{}Response", action_of(&Operation::OpenStream));
    Ok(Reply::Envelope(plain_response(&action, &content, None)))
}

/// Where a seek leads; before the first byte is no place.
fn target(offset: i64, origin: Origin, position: u64, size: u64) -> Result<u64, Fault> {
    let base = match origin {
        Origin::Beginning => 0,
        Origin::Current => position,
        Origin::End => size,
    };
    base.checked_add_signed(offset)
        .filter(|target| *target <= i64::MAX as u64)
        .ok_or_else(|| {
            Fault::seek_not_permitted("the seek leads before the first byte or beyond the last offset")
        })
}

fn seek_read(shared: &Shared, id: &str, offset: i64, origin: Origin, bytes: u64) -> Result<Reply, Failed> {
    let stream = shared.streams.find(id).ok_or_else(no_stream)?;
    let mut stream = stream.lock();
    let version = version_of(shared, &stream)?;
    let target = Target {
        path: &stream.path,
        stage: version.as_deref(),
    };
    let file = target.open(shared)?;
    let size = size_of(&file)?;
    let at = self::target(offset, origin, stream.position, size)?;
    let blocks = Blocks {
        start_offset: at,
        block_bytes: bytes,
        blocks: 1,
        stride_bytes: 0,
    };
    let places = blocks.places(size, shared.limits.read_bytes_max)?;
    stream.position = at + total_bytes(&places);
    Ok(Reply::Data(file, places))
}

fn seek_write(
    shared: &Shared,
    id: &str,
    offset: i64,
    origin: Origin,
    intake: &mut Intake<'_, '_>,
) -> Result<Reply, Failed> {
    let stream = shared.streams.find(id).ok_or_else(no_stream)?;
    let (path, version) = {
        let stream = stream.lock();
        (stream.path.clone(), version_of(shared, &stream)?)
    };
    let target = Target {
        path: &path,
        stage: version.as_deref(),
    };
    // Its sender may take its time: until the data are here, the stream is free for others.
    let data = spooled(shared, target, intake)?;
    let mut stream = stream.lock();
    let at = self::target(offset, origin, stream.position, target.size(shared)?)?;
    write(shared, target, |file| {
        place(
            &mut Placement::in_a_row(file, at, shared.limits.write_bytes_max),
            &data,
        )
    })?;
    stream.position = at + data.bytes;
    stream.touch();
    Ok(Reply::Written)
}

/// The version that a stream writes, if it writes one; it may have been forgotten, or be in its place.
fn version_of(shared: &Shared, stream: &Stream) -> Result<Option<InUse>, Failed> {
    let found = shared.version(stream.version.as_deref(), &stream.path);
    found.map_err(|_| no_stream())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    /// A spool that ends behind its first window, of `bytes` as it says.
    fn torn(bytes: u64) -> Spool {
        let there = tempfile::tempfile().unwrap();
        there.write_all_at(&[b'a'; 300_000], 0).unwrap();
        Spool::torn(there, bytes)
    }

    #[test]
    fn an_append_that_fails_leaves_nothing_and_takes_nothing_of_others() {
        let no_room = 1 << 61;
        for (bytes, other) in [
            (1 << 20, None),
            (1 << 20, Some(2 << 20)),
            (no_room, None),
            (no_room, Some(200)),
        ] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(100).unwrap();
            if let Some(at) = other {
                file.write_all_at(b"stored", at).unwrap();
            }
            assert!(append(&file, 100, &torn(bytes)).is_err());
            let length = other.map_or(100, |at| at + 6);
            assert_eq!(file.metadata().unwrap().len(), length, "{bytes} {other:?}");
        }
    }
}
