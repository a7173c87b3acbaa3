//! A client's connection that counts its bytes, and its line for the engine: how far it has come, and its end from another
//! thread. Inside TLS it counts what is encrypted, not the records around it.

use crate::http::channel::Channel;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use wirespeed::bulk::{Line, Wire};

/// Bytes of a file that are sent between two counts.
const PIECE_BYTES: u64 = 1 << 20;

/// A connection with its counters.
pub(super) struct Metered {
    channel: Channel,
    wire: Arc<Wire>,
}

impl Metered {
    /// Count what passes over `channel` in `wire`, and let the engine look at it.
    pub fn new(channel: Channel, wire: &Arc<Wire>) -> io::Result<Metered> {
        wire.attach(Box::new(Socket(channel.socket().try_clone()?)));
        Ok(Metered {
            channel,
            wire: wire.clone(),
        })
    }

    /// The socket, for its counters.
    pub fn socket(&self) -> &TcpStream {
        self.channel.socket()
    }

    /// The next message is awaited; `begun`: some of it is here already.
    pub fn awaits(&mut self, begun: bool) {
        self.channel.awaits(begun);
    }

    /// Send bytes of which more will follow at once.
    pub fn write_more(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.channel.write_more(bytes)?;
        self.wire.add_written(bytes.len() as u64);
        Ok(())
    }

    /// Send `size_bytes` of `file` from `offset_bytes`.
    pub fn send_file(&mut self, file: &File, offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
        let mut sent = 0;
        while sent < size_bytes {
            let piece = PIECE_BYTES.min(size_bytes - sent);
            self.channel.send_file(file, offset_bytes + sent, piece)?;
            self.wire.add_written(piece);
            sent += piece;
        }
        Ok(())
    }
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.channel.read(buffer)?;
        self.wire.add_read(count as u64);
        Ok(count)
    }
}

impl Write for Metered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.channel.write(bytes)?;
        self.wire.add_written(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.channel.flush()
    }
}

struct Socket(TcpStream);

impl Line for Socket {
    fn moved_bytes(&self) -> u64 {
        crate::sys::moved_bytes(&self.0).unwrap_or_default()
    }

    fn cut(&self) {
        // One that is closed already needs no end.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
