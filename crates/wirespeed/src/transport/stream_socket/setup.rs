//! What a port over stream sockets is made from: its connections, and what it is told about them.

use crate::transport::cancel::Cancel;
use crate::transport::port::Facts;
use crate::transport::waiter::Waiter;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A connection to one peer. To oneself there are two ends: what goes into one comes out of the other.
pub struct Link {
    tx: Arc<OwnedFd>,
    rx: Arc<OwnedFd>,
}

impl Link {
    /// One socket for both directions.
    pub fn to_peer(socket: OwnedFd) -> Self {
        let socket = Arc::new(socket);
        Link {
            tx: socket.clone(),
            rx: socket,
        }
    }

    /// A connection to oneself.
    pub fn to_self(tx: OwnedFd, rx: OwnedFd) -> Self {
        Link {
            tx: Arc::new(tx),
            rx: Arc::new(rx),
        }
    }

    /// The end to send into.
    #[inline(always)]
    pub fn tx(&self) -> BorrowedFd<'_> {
        self.tx.as_fd()
    }

    /// The end to receive from.
    #[inline(always)]
    pub fn rx(&self) -> BorrowedFd<'_> {
        self.rx.as_fd()
    }

    /// Whether it leads back to this rank.
    pub fn is_loop(&self) -> bool {
        !Arc::ptr_eq(&self.tx, &self.rx)
    }

    /// Have the sockets shut down when the run is cancelled, which wakes whoever sleeps on them. The hooks do not keep
    /// the sockets open.
    pub fn wake_on(&self, cancel: &Cancel) {
        for socket in [&self.tx, &self.rx] {
            cancel.wake_on_cancel(socket, |socket| {
                // A socket that is down already needs no waking.
                let _ = socket2::SockRef::from(socket).shutdown(Shutdown::Both);
            });
        }
    }
}

/// Says what the sockets of a port are like, for the result.
pub type Describe = Box<dyn Fn(&[&Link]) -> Facts>;

/// What every port over stream sockets is given.
pub struct Setup {
    /// Largest message.
    pub message_bytes_max: usize,
    /// Bytes to gather before a send; 0 sends every message by itself.
    pub coalesce_bytes: usize,
    /// Size of the buffer for zero-copy sends, where they are wanted.
    pub zerocopy_bytes: Option<usize>,
    /// What to do on empty polls.
    pub waiter: Waiter,
    /// Facts.
    pub describe: Describe,
}
