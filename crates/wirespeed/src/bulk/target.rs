//! Where the bytes of blocks go: nowhere, into a file, or into a mapping of one, through a window of fixed size.

use super::port::{Block, BlockDigest, BulkError, Receiver};
use crate::clock::Clock;
use crate::sync::SharedBytes;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Bytes that a worker holds at most, whatever the size of file and block.
pub const WINDOW_BYTES: usize = 256 << 10;

/// What helps where bytes cannot be stored.
const ROOM: &str = "check the disk of the file and its room, then give the same command again";

/// Where a transfer's bytes go.
pub enum Destination {
    /// Nowhere: they were in user space, that is all.
    Discard,
    /// Into a file, by position.
    File(File),
    /// Into a mapping of the whole.
    Map(SharedBytes),
}

/// What one worker receives with.
pub(super) struct Window<'a, D> {
    destination: &'a Destination,
    buffer: Vec<u8>,
    digest: D,
    at_bytes: u64,
    left_bytes: u64,
    clock: Clock,
    /// When the block's first byte came, in ticks.
    pub first_byte: Option<u64>,
    pub store_ticks: u64,
    pub verify_ticks: u64,
}

impl<'a, D: BlockDigest> Window<'a, D> {
    pub fn new(destination: &'a Destination, clock: Clock) -> Self {
        Window {
            destination,
            buffer: vec![0; WINDOW_BYTES],
            digest: D::default(),
            at_bytes: 0,
            left_bytes: 0,
            clock,
            first_byte: None,
            store_ticks: 0,
            verify_ticks: 0,
        }
    }

    /// The next block, of which `expected` bytes are to come.
    pub fn begin(&mut self, block: Block, expected: u64) {
        self.at_bytes = block.offset_bytes;
        self.left_bytes = expected;
        self.first_byte = None;
        // What is left of a block that failed.
        self.digest = D::default();
    }

    /// The block's digest, once it is whole.
    pub fn finish(&mut self) -> Result<Vec<u8>, BulkError> {
        match self.left_bytes {
            0 => Ok(self.digest.finish()),
            left => Err(BulkError::passing(format!("the answer was {left} bytes short"))),
        }
    }
}

impl<D: BlockDigest> Receiver for Window<'_, D> {
    fn space(&mut self, want: usize) -> &mut [u8] {
        self.first_byte.get_or_insert_with(|| self.clock.now());
        let len = want.min(self.buffer.len());
        &mut self.buffer[..len]
    }

    fn filled(&mut self, len: usize) -> Result<(), BulkError> {
        if len as u64 > self.left_bytes {
            return Err(BulkError::passing(
                "the answer had more bytes than were asked for",
            ));
        }
        let bytes = &self.buffer[..len];
        let began = self.clock.now();
        store(self.destination, self.at_bytes, bytes)
            .map_err(|e| BulkError::lasting(format!("cannot store: {e}")).with_remedy(ROOM))?;
        let stored = self.clock.now();
        self.digest.update(bytes);
        self.store_ticks += stored.saturating_sub(began);
        self.verify_ticks += self.clock.now().saturating_sub(stored);
        self.at_bytes += len as u64;
        self.left_bytes -= len as u64;
        Ok(())
    }
}

fn store(destination: &Destination, at_bytes: u64, bytes: &[u8]) -> io::Result<()> {
    match destination {
        Destination::Discard => Ok(()),
        Destination::File(file) => file.write_all_at(bytes, at_bytes),
        Destination::Map(map) => {
            let at = usize::try_from(at_bytes).map_err(io::Error::other)?;
            if at.checked_add(bytes.len()).is_none_or(|end| end > map.len()) {
                return Err(io::Error::other("beyond the end of the mapping"));
            }
            map.write(at, bytes);
            Ok(())
        }
    }
}
