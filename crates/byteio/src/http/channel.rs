//! A connection, plain or inside TLS, with a time limit on every read and write; and sending a file's bytes over it.

use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;
use wirespeed_control::auth::http::SecureStream;

/// Bytes of a reader's buffer: small heads and envelopes; large reads pass it by.
pub const BUFFER_BYTES: usize = 64 << 10;
/// Bytes copied at once where the kernel cannot send a file by itself.
const COPY_BYTES: usize = 256 << 10;
/// The most that one call may take, so that a slow reader is noticed between calls.
const SENDFILE_BYTES: u64 = 4 << 20;

/// A connection.
pub enum Channel {
    /// TCP.
    Plain(TcpStream),
    /// TLS over TCP.
    Secure(Box<SecureStream>),
}

impl Channel {
    /// The socket, for its options and counters.
    pub fn socket(&self) -> &TcpStream {
        match self {
            Channel::Plain(stream) => stream,
            Channel::Secure(stream) => stream.socket(),
        }
    }

    /// No read and no write may wait longer.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.socket().set_read_timeout(Some(patience))?;
        self.socket().set_write_timeout(Some(patience))
    }

    /// Send bytes of which more will follow at once: they may wait for those.
    pub fn write_more(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let stream = match self {
            Channel::Plain(stream) => stream,
            Channel::Secure(stream) => return stream.write_all(bytes),
        };
        while !bytes.is_empty() {
            match rustix::net::send(&*stream, bytes, SendFlags::MORE | SendFlags::NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Send `size_bytes` of `file` from `offset_bytes`, out of the page cache where the kernel can. An error, when the
    /// file ends before: then the connection must be closed, because the promised length cannot be kept.
    pub fn send_file(&mut self, file: &File, mut offset_bytes: u64, size_bytes: u64) -> io::Result<()> {
        let mut left = size_bytes;
        while left > 0 {
            let Channel::Plain(stream) = &*self else {
                return self.copy_file(file, offset_bytes, left);
            };
            match sendfile(
                stream,
                file,
                Some(&mut offset_bytes),
                left.min(SENDFILE_BYTES) as usize,
            ) {
                Ok(0) => return Err(shrunk()),
                Ok(count) => left -= count as u64,
                Err(Errno::INTR) => {}
                // The file's system cannot do it.
                Err(Errno::INVAL | Errno::NOSYS) => return self.copy_file(file, offset_bytes, left),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, file: &File, mut offset_bytes: u64, mut left: u64) -> io::Result<()> {
        let mut buffer = vec![0; COPY_BYTES.min(left as usize)];
        while left > 0 {
            let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = file.read_at(&mut buffer[..want], offset_bytes)?;
            if count == 0 {
                return Err(shrunk());
            }
            self.write_all(&buffer[..count])?;
            offset_bytes += count as u64;
            left -= count as u64;
        }
        Ok(())
    }
}

/// The file that is sent ended before the length that was promised.
pub fn shrunk() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file became shorter while it was sent",
    )
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(stream) => stream.read(buffer),
            Channel::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(stream) => stream.write(bytes),
            Channel::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Channel::Plain(stream) => stream.flush(),
            Channel::Secure(stream) => stream.flush(),
        }
    }
}
