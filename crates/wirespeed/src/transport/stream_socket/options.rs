//! Options of every stream socket transport: how to wait, buffer sizes, coalescing, encryption. It must never hold an option that
//! only one kind of socket knows.

use super::setup::Link;
use crate::transport::options::{OptionError, OptionReader, OptionSpec};
use crate::transport::port::Facts;
use crate::transport::seal::{self, Cipher};
use crate::transport::{ConnectError, Room};
use socket2::SockRef;
use std::os::fd::BorrowedFd;

/// How a rank waits for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Ask again and again, never sleep.
    Poll,
    /// Sleep in the receiving system call.
    Block,
    /// Sleep in io_uring: one system call sends and waits.
    Uring,
}

impl Wait {
    const CHOICES: [(&'static str, Option<Wait>); 4] = [
        ("auto", None),
        ("poll", Some(Wait::Poll)),
        ("block", Some(Wait::Block)),
        ("uring", Some(Wait::Uring)),
    ];

    fn name(self) -> &'static str {
        let named = Self::CHOICES.iter().find(|c| c.1 == Some(self));
        named.map_or("", |c| c.0)
    }
}

/// The options of every stream socket, for a transport's own list.
pub const COMMON_OPTIONS: [OptionSpec; 5] = [
    OptionSpec::new(
        "wait",
        "auto|poll|block|uring",
        "busy-poll, sleep in recv, or sleep in io_uring; auto: poll where each rank has a CPU of its own, else block",
    )
    .with_default("auto"),
    OptionSpec::new(
        "sndbuf",
        "SIZE",
        "SO_SNDBUF; the kernel doubles it for its own book-keeping and bounds it by wmem_max",
    ),
    OptionSpec::new(
        "rcvbuf",
        "SIZE",
        "SO_RCVBUF; the kernel doubles it for its own book-keeping and bounds it by rmem_max",
    ),
    OptionSpec::new(
        "coalesce",
        "SIZE",
        "gather small sends until this many bytes are there; 0 writes every message by itself",
    )
    .with_default("0"),
    seal::OPTION,
];

/// Largest socket buffer or coalescing that makes sense to ask for.
const BUFFER_BYTES_MAX: u64 = 1 << 30;

/// Parsed options of every stream socket.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// How to wait; absent where the room decides.
    pub wait: Option<Wait>,
    /// Send buffer.
    pub sndbuf: Option<usize>,
    /// Receive buffer.
    pub rcvbuf: Option<usize>,
    /// Bytes to gather before a send; 0 for none.
    pub coalesce_bytes: usize,
    /// What to encrypt the data with.
    pub cipher: Option<Cipher>,
}

impl StreamOptions {
    /// Read them.
    pub fn read(reader: &OptionReader) -> Result<Self, OptionError> {
        let size = |name, least| match reader.size(name)? {
            Some(bytes) if bytes < least || bytes > BUFFER_BYTES_MAX => {
                Err(reader.refuse(name, format!("a size from {least} to 1GiB")))
            }
            bytes => Ok(bytes.map(|b| b as usize)),
        };
        Ok(StreamOptions {
            wait: reader.choice("wait", &Wait::CHOICES)?,
            sndbuf: size("sndbuf", 1)?,
            rcvbuf: size("rcvbuf", 1)?,
            coalesce_bytes: size("coalesce", 0)?.unwrap_or(0),
            cipher: Cipher::read(reader)?,
        })
    }

    /// How to wait in `room`.
    pub fn wait_in(&self, room: Room) -> Wait {
        self.wait.unwrap_or(match room.is_crowded() {
            true => Wait::Block,
            false => Wait::Poll,
        })
    }

    /// Set the buffer sizes. Before connecting, so that TCP chooses its window scale by them.
    pub fn apply(&self, fd: BorrowedFd<'_>) -> Result<(), ConnectError> {
        let socket = SockRef::from(&fd);
        if let Some(bytes) = self.sndbuf {
            socket
                .set_send_buffer_size(bytes)
                .map_err(|e| ConnectError::os("setting SO_SNDBUF", e))?;
        }
        if let Some(bytes) = self.rcvbuf {
            socket
                .set_recv_buffer_size(bytes)
                .map_err(|e| ConnectError::os("setting SO_RCVBUF", e))?;
        }
        Ok(())
    }

    /// What they are in truth, read back from the first link's sockets.
    pub fn facts(&self, links: &[&Link], room: Room) -> Facts {
        let mut facts = Facts::new();
        facts.insert("wait".into(), self.wait_in(room).name().into());
        facts.insert("coalesce_bytes".into(), self.coalesce_bytes.to_string());
        let Some(link) = links.first() else {
            return facts;
        };
        if let Ok(bytes) = SockRef::from(&link.tx()).send_buffer_size() {
            facts.insert("sndbuf_bytes".into(), bytes.to_string());
        }
        if let Ok(bytes) = SockRef::from(&link.rx()).recv_buffer_size() {
            facts.insert("rcvbuf_bytes".into(), bytes.to_string());
        }
        facts
    }
}
