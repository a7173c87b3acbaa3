//! wirespeed's own bulk stream: after an upgrade, 24 bytes ask and 16 answer, and data follow either. The least that a
//! protocol over TCP can cost, to compare the others with.
//!
//! Request: operation (1 read, 2 write, 3 counters of the connection), seven zero bytes, offset, size, little-endian. Answer: status (0 whole, 1 the
//! resource ends before, 2 refused), seven zero bytes, size; data of a read follow.

use super::exchange::{After, Asked, Reader, Shared, say};
use super::failed::is_connection_error;
use super::files::{self, Access, Trouble};
use super::layout::Placement;
use super::plain;
use super::versions::InUse;
use crate::http::body::{Body, Framing};
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};
use wirespeed::sync;

/// The protocol's name in `Upgrade`.
pub(crate) const PROTOCOL: &str = "wirespeed-bulk/1";
/// Bytes of a request's head.
pub(crate) const ASK_BYTES: usize = 24;
/// Bytes of an answer's head.
pub(crate) const ANSWER_BYTES: usize = 16;
/// The operation that reads.
pub(crate) const READ: u8 = 1;
/// The operation that writes.
pub(crate) const WRITE: u8 = 2;
/// The operation that tells what the kernel says of this connection, as JSON.
pub(crate) const INFO: u8 = 3;
/// All of it.
pub(crate) const WHOLE: u8 = 0;
/// The resource ends before.
pub(crate) const SHORT: u8 = 1;
/// Not possible.
pub(crate) const REFUSED: u8 = 2;

/// What a connection reads or writes.
enum Target {
    /// This file.
    Read(File),
    /// A version that is being written.
    Stage(InUse),
    /// What the path names, whenever it is written.
    Resource,
}

/// Upgrade, then serve until the client closes.
pub(super) fn serve(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let write = asked.head.headers.has("wirespeed-access", "write");
    let opened = match (write, shared.stage_of(asked)) {
        (_, Err(denied)) => Err(denied),
        (false, Ok(_)) => shared.readable(asked).map(Target::Read),
        (true, Ok(Some(stage))) => Ok(Target::Stage(stage)),
        (true, Ok(None)) => shared.root.existing(&asked.path).map(|_| Target::Resource),
    };
    let target = match opened {
        Ok(target) => target,
        Err(files::Denied::Unknown) => return say(reader, "404 Not Found", "no such resource"),
        Err(files::Denied::NoFolder) => {
            return say(
                reader,
                "409 Conflict",
                "the folder that it goes into is not there",
            );
        }
        Err(_) => return say(reader, "403 Forbidden", "this resource may not be opened so"),
    };
    let accepted =
        format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: {PROTOCOL}\r\nConnection: Upgrade\r\n\r\n");
    reader.get_mut().write_all(accepted.as_bytes())?;
    // Whatever ends it from here on, no HTTP may be said into the stream.
    requests(shared, reader, (asked, &target), write).map_err(|_| io::ErrorKind::ConnectionAborted.into())
}

fn requests(
    shared: &Shared,
    reader: &mut Reader,
    (asked, target): (&Asked, &Target),
    write: bool,
) -> io::Result<After> {
    loop {
        // Requests are few bytes and may be far apart: the time between them is not that of slow data.
        let begun = !reader.buffer().is_empty();
        reader.get_mut().awaits(begun);
        if reader.fill_buf()?.is_empty() {
            return Ok(After::Close);
        }
        let mut ask = [0; ASK_BYTES];
        reader.read_exact(&mut ask)?;
        let number = |at: usize| u64::from_le_bytes(sync::take(&ask, at));
        match ask[0] {
            READ => {
                let file = match target {
                    Target::Read(file) => Ok(file.try_clone()?),
                    Target::Stage(stage) => Ok(stage.file.try_clone()?),
                    Target::Resource => shared.root.resource(&asked.path, Access::Read),
                };
                match file {
                    Ok(file) => read(reader, &file, number(8), number(16))?,
                    Err(_) => answer(reader, REFUSED, 0, false)?,
                }
            }
            WRITE if write => take(shared, reader, (asked, target), number(8), number(16))?,
            INFO => {
                let info = serde_json::json!(crate::sys::tcp_info(reader.get_ref().socket())).to_string();
                answer(reader, WHOLE, info.len() as u64, true)?;
                reader.get_mut().write_all(info.as_bytes())?;
            }
            _ => {
                answer(reader, REFUSED, 0, false)?;
                return Ok(After::Close);
            }
        }
    }
}

fn answer(reader: &mut Reader, status: u8, size_bytes: u64, more: bool) -> io::Result<()> {
    let mut head = [0; ANSWER_BYTES];
    head[0] = status;
    sync::put(&mut head, 8, size_bytes.to_le_bytes());
    match more {
        true => reader.get_mut().write_more(&head),
        false => reader.get_mut().write_all(&head),
    }
}

fn read(reader: &mut Reader, file: &File, offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
    let there = file
        .metadata()?
        .len()
        .saturating_sub(offset_bytes)
        .min(size_bytes);
    let status = if there == size_bytes { WHOLE } else { SHORT };
    answer(reader, status, there, there > 0)?;
    reader.get_mut().send_file(file, offset_bytes, there)
}

fn take(
    shared: &Shared,
    reader: &mut Reader,
    (asked, target): (&Asked, &Target),
    offset_bytes: u64,
    size_bytes: u64,
) -> io::Result<()> {
    let mut body = Body::new(reader, Framing::Length(size_bytes));
    let stored = match target {
        Target::Stage(stage) => plain::store(
            &mut body,
            &mut Placement::in_a_row(&stage.file, offset_bytes, size_bytes),
        ),
        _ => plain::spool_and_store(shared, &mut body, asked, (offset_bytes, size_bytes)),
    };
    match stored {
        Ok(()) => answer(reader, WHOLE, size_bytes, false),
        Err(Trouble::Failed(error)) if is_connection_error(&error) => Err(error),
        Err(_) => {
            // What is left of the data would be taken for the next request.
            answer(reader, REFUSED, 0, false)?;
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}
