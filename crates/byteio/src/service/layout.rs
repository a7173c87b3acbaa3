//! Which bytes of a file an operation means: blocks of a read with their stride, pieces of a write. Arithmetic only; what
//! overflows or leads before the file's first byte is refused.

use crate::http::range::Span;
use crate::room::reserve;
use crate::soap::Fault;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Separate places that one request may name; more is a way to keep a service busy.
const PLACES_MAX: usize = 65_536;
/// Why a place is none.
const OUTSIDE: &str = "the stride leads before the first byte or beyond the last offset";

/// Blocks of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Offset of the first.
    pub start_offset: u64,
    /// Bytes of each.
    pub block_bytes: u64,
    /// How many.
    pub blocks: u64,
    /// From start to start.
    pub stride_bytes: i64,
}

impl Blocks {
    /// Where the bytes lie in a file of `size_bytes`: up to and with the first block that is short.
    pub fn places(&self, size_bytes: u64, read_bytes_max: u64) -> Result<Vec<Span>, Fault> {
        let total = u128::from(self.block_bytes) * u128::from(self.blocks);
        if total > u128::from(read_bytes_max) {
            return Err(Fault::custom(format!(
                "bytes-per-block times num-blocks is above this service's limit of {read_bytes_max} bytes"
            )));
        }
        let mut places: Vec<Span> = Vec::new();
        if self.block_bytes == 0 {
            return Ok(places);
        }
        for block in 0..self.blocks {
            let start_bytes = offset(self.start_offset, block, self.stride_bytes);
            let start_bytes = start_bytes.ok_or_else(|| Fault::custom(OUTSIDE))?;
            let there = size_bytes.saturating_sub(start_bytes).min(self.block_bytes);
            let count = places.len();
            match places.last_mut() {
                Some(last) if last.start_bytes + last.size_bytes == start_bytes => last.size_bytes += there,
                _ if there == 0 => {}
                _ if count == PLACES_MAX => {
                    return Err(Fault::custom("a read of more than 65536 separate places"));
                }
                _ => places.push(Span {
                    start_bytes,
                    size_bytes: there,
                }),
            }
            if there < self.block_bytes {
                break;
            }
        }
        Ok(places)
    }
}

/// Where a block begins; `None` before the first byte or beyond the last offset.
fn offset(start_offset: u64, block: u64, stride_bytes: i64) -> Option<u64> {
    u64::try_from(i128::from(start_offset) + i128::from(block) * i128::from(stride_bytes)).ok()
}

/// Bytes of all places.
pub fn total_bytes(places: &[Span]) -> u64 {
    places.iter().map(|place| place.size_bytes).sum()
}

/// A write: data that come in pieces of any size are placed block by block.
pub struct Placement<'a> {
    file: &'a File,
    start_offset: u64,
    block_bytes: u64,
    stride_bytes: i64,
    /// Data placed so far.
    pub written_bytes: u64,
    write_bytes_max: u64,
}

impl<'a> Placement<'a> {
    /// Everything in a row from `offset`.
    pub fn in_a_row(file: &'a File, offset: u64, write_bytes_max: u64) -> Self {
        Self::new(file, offset, u64::MAX, 0, write_bytes_max)
    }

    /// Blocks of `block_bytes`, a stride from start to start; a block of 0 bytes means all in a row.
    pub fn new(
        file: &'a File,
        start_offset: u64,
        block_bytes: u64,
        stride_bytes: i64,
        write_bytes_max: u64,
    ) -> Self {
        let one_row = block_bytes == 0 || u64::try_from(stride_bytes) == Ok(block_bytes);
        Placement {
            file,
            start_offset,
            block_bytes: if one_row { u64::MAX } else { block_bytes },
            stride_bytes,
            written_bytes: 0,
            write_bytes_max,
        }
    }

    /// Before anything is placed: room for so many bytes, every one in a place that there is.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let wrong = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        let blocks = bytes.div_ceil(self.block_bytes);
        if blocks > PLACES_MAX as u64 {
            return Err(wrong("a write of more than 65536 separate places"));
        }
        for block in 0..blocks {
            let size = self.block_bytes.min(bytes - block * self.block_bytes);
            let at = offset(self.start_offset, block, self.stride_bytes);
            let at = at.filter(|at| at.checked_add(size).is_some_and(|end| end <= i64::MAX as u64));
            reserve(self.file, at.ok_or_else(|| wrong(OUTSIDE))?, size)?;
        }
        Ok(())
    }

    /// Place the next piece.
    pub fn put(&mut self, mut piece: &[u8]) -> io::Result<()> {
        if piece.len() as u64 > self.write_bytes_max - self.written_bytes.min(self.write_bytes_max) {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                "more data than this service takes at once",
            ));
        }
        while !piece.is_empty() {
            let (block, within) = (
                self.written_bytes / self.block_bytes,
                self.written_bytes % self.block_bytes,
            );
            let offset = i128::from(self.start_offset)
                + i128::from(block) * i128::from(self.stride_bytes)
                + i128::from(within);
            let offset = u64::try_from(offset).ok().filter(|o| *o <= i64::MAX as u64);
            let offset = offset.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, OUTSIDE))?;
            let room = usize::try_from(self.block_bytes - within).unwrap_or(usize::MAX);
            match self.file.write_at(&piece[..piece.len().min(room)], offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    // What a full disk took of a piece counts too.
                    self.written_bytes += count as u64;
                    piece = &piece[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(start: u64, block: u64, blocks: u64, stride: i64) -> Result<Vec<(u64, u64)>, Fault> {
        let blocks = Blocks {
            start_offset: start,
            block_bytes: block,
            blocks,
            stride_bytes: stride,
        };
        let found = blocks.places(100, 1000)?;
        Ok(found.iter().map(|p| (p.start_bytes, p.size_bytes)).collect())
    }

    #[test]
    fn blocks_of_a_read() {
        assert_eq!(places(10, 5, 1, 0).unwrap(), [(10, 5)]);
        assert_eq!(places(10, 5, 3, 5).unwrap(), [(10, 15)]);
        assert_eq!(places(10, 5, 3, 10).unwrap(), [(10, 5), (20, 5), (30, 5)]);
        assert_eq!(places(10, 5, 3, 0).unwrap(), [(10, 5), (10, 5), (10, 5)]);
        assert_eq!(places(90, 5, 3, -40).unwrap(), [(90, 5), (50, 5), (10, 5)]);
        assert_eq!(places(80, 15, 3, 15).unwrap(), [(80, 20)], "short at the end");
        assert_eq!(
            places(200, 5, 3, 5).unwrap(),
            [],
            "beyond the end: nothing, and no fault"
        );
        assert_eq!(
            places(200, 5, 3, -150).unwrap(),
            [],
            "the first short block ends it"
        );
        assert_eq!(places(10, 0, 1_000_000, 5).unwrap(), []);
        assert!(places(10, 5, 3, -10).is_err());
        assert!(places(10, 101, 10, 0).is_err());
        let many = Blocks {
            start_offset: 0,
            block_bytes: 1,
            blocks: 70_000,
            stride_bytes: 2,
        };
        assert!(many.places(u64::MAX, u64::MAX).is_err());
    }

    #[test]
    fn pieces_of_a_write() {
        let file = tempfile::tempfile().unwrap();
        let mut placement = Placement::new(&file, 2, 3, 5, 100);
        for piece in [&b"ab"[..], b"cde", b"fgh"] {
            placement.put(piece).unwrap();
        }
        let mut found = [0; 14];
        file.read_exact_at(&mut found, 0).unwrap();
        assert_eq!(&found, b"\0\0abc\0\0def\0\0gh");
        assert!(Placement::new(&file, 2, 3, -5, 100).put(b"abcdef").is_err());
        assert!(Placement::in_a_row(&file, u64::MAX, 100).put(b"a").is_err());
        assert!(Placement::in_a_row(&file, 0, 3).put(b"abcd").is_err());
    }
}
