//! wirespeed's own bulk stream: after an upgrade, 24 bytes ask and 16 answer, and data follow either. The least that a
//! protocol over TCP can cost, to compare the others with.
//!
//! Request: operation (1 read, 2 write, 3 counters of the connection), seven zero bytes, offset, size, little-endian. Answer: status (0 whole, 1 the
//! resource ends before, 2 refused), seven zero bytes, size; data of a read follow.

use super::Shared;
use super::connection::{After, Asked, Reader, say};
use super::files::{self, Access};
use super::layout::Placement;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};

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

/// Upgrade, then serve until the client closes.
pub(super) fn serve(shared: &Shared, reader: &mut Reader, asked: &Asked) -> io::Result<After> {
    let write = asked.head.headers.has("wirespeed-access", "write");
    let access = if write { Access::Write } else { Access::Read };
    let file = match shared.root.resource(&asked.path, access) {
        Ok(file) => file,
        Err(files::Denied::Unknown) => return say(reader, "404 Not Found", "no such resource"),
        Err(_) => return say(reader, "403 Forbidden", "this resource may not be opened so"),
    };
    let accepted =
        format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: {PROTOCOL}\r\nConnection: Upgrade\r\n\r\n");
    reader.get_mut().write_all(accepted.as_bytes())?;
    while !reader.fill_buf()?.is_empty() {
        let mut ask = [0; ASK_BYTES];
        reader.read_exact(&mut ask)?;
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&ask[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        match ask[0] {
            READ => read(reader, &file, number(8), number(16))?,
            WRITE if write => take(reader, &file, number(8), number(16))?,
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
    Ok(After::Close)
}

fn answer(reader: &mut Reader, status: u8, size_bytes: u64, more: bool) -> io::Result<()> {
    let mut head = [0; ANSWER_BYTES];
    head[0] = status;
    head[8..].copy_from_slice(&size_bytes.to_le_bytes());
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

fn take(reader: &mut Reader, file: &File, offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
    let mut placement = Placement::in_a_row(file, offset_bytes, size_bytes);
    let mut left = size_bytes;
    while left > 0 {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let count = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if placement.put(&piece[..count]).is_err() {
            // What is left of the data would be taken for the next request.
            answer(reader, REFUSED, 0, false)?;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        reader.consume(count);
        left -= count as u64;
    }
    answer(reader, WHOLE, size_bytes, false)
}
