//! The operations of both port types on files. Reads only find out where the bytes lie; writes place what comes.

use super::Shared;
use super::connection::Asked;
use super::files::{self, Access};
use super::intake::Intake;
use super::layout::{Blocks, Place, Placement, total_bytes};
use super::properties;
use super::soap::Failed;
use super::streams::Stream;
use crate::soap::names::{ADDRESSING, LIFETIME, STREAM_FACTORY};
use crate::soap::write::{action_of, escape, plain_response};
use crate::soap::{Fault, Operation, Origin, Request, SoapError};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::sync::{MutexGuard, PoisonError};

/// What is answered.
pub(super) enum Reply {
    /// An envelope.
    Envelope(String),
    /// An empty transfer-information.
    Written,
    /// Bytes of a file.
    Data(File, Vec<Place>),
}

/// Whether the connection is at fault, so that nobody can be told.
pub(super) fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
    )
}

/// What a failed write means to the client.
pub(super) fn storage_fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull => Fault::server("the service's disk is full"),
        io::ErrorKind::InvalidInput
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::InvalidData
        | io::ErrorKind::Other => Fault::custom(error.to_string()),
        _ => Fault::server("the service could not store the data"),
    }
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
    let open = |access| shared.root.resource(&asked.path, access).map_err(Fault::from);
    match *operation {
        Operation::Read {
            start_offset,
            block_bytes,
            blocks,
            stride_bytes,
        } => {
            let file = open(Access::Read)?;
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
            let file = open(Access::Write)?;
            let mut placement = Placement::new(
                &file,
                start_offset,
                block_bytes,
                stride_bytes,
                limits.write_bytes_max,
            );
            feed(intake, &mut placement)?;
            Ok(Reply::Written)
        }
        Operation::Append => {
            let file = open(Access::Write)?;
            locked(&file)?;
            let end = size_of(&file)?;
            append(&file, end, limits.write_bytes_max, intake).inspect_err(|_| undo(&file, end))?;
            Ok(Reply::Written)
        }
        Operation::TruncAppend { offset } => {
            let file = open(Access::Write)?;
            locked(&file)?;
            file.set_len(offset)
                .map_err(|_| Fault::truncate_not_permitted("the resource cannot have that length"))?;
            append(&file, offset, limits.write_bytes_max, intake).inspect_err(|_| undo(&file, offset))?;
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

fn append(file: &File, at: u64, write_bytes_max: u64, intake: &mut Intake<'_, '_>) -> Result<(), Failed> {
    feed(intake, &mut Placement::in_a_row(file, at, write_bytes_max))
}

/// An append that failed in the middle leaves nothing behind.
fn undo(file: &File, length: u64) {
    // Should this fail too, the resource is longer than was ever reported.
    let _ = file.set_len(length);
}

fn feed(intake: &mut Intake<'_, '_>, placement: &mut Placement<'_>) -> Result<(), Failed> {
    let mut stored = Ok(());
    let fed = intake.feed(&mut |piece| match placement.put(piece) {
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
    shared
        .root
        .resource(&asked.path, Access::Read)
        .map_err(Fault::from)?;
    let id = shared.streams.open(&asked.path);
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

fn hold(stream: &std::sync::Mutex<Stream>) -> MutexGuard<'_, Stream> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
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
    let mut stream = hold(&stream);
    let file = shared
        .root
        .resource(&stream.path, Access::Read)
        .map_err(Fault::from)?;
    let size = size_of(&file)?;
    let at = target(offset, origin, stream.position, size)?;
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
    let mut stream = hold(&stream);
    let file = shared
        .root
        .resource(&stream.path, Access::Write)
        .map_err(Fault::from)?;
    let at = target(offset, origin, stream.position, size_of(&file)?)?;
    let mut placement = Placement::in_a_row(&file, at, shared.limits.write_bytes_max);
    feed(intake, &mut placement)?;
    stream.position = at + placement.written_bytes;
    Ok(Reply::Written)
}
