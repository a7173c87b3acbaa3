//! The proof that an address is its owner's: hellos with a nonce, and answers that return it.
//!
//! It must never send more than handshake datagrams to an address that has not answered, and no more answers than it
//! got hellos: a group member that names a victim's address gains nothing.

use super::connect::{Ends, Peer};
use super::wire::{HEADER_BYTES, Head, Kind};
use crate::transport::bootstrap::BootstrapError;
use crate::transport::{Connect, ConnectError};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use socket2::{SockAddr, Socket};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Time for all peers to prove their addresses.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(5);
/// Time before the first hello is repeated; doubled each time.
const HELLO_REPEAT_MIN: Duration = Duration::from_millis(20);
/// Longest time between two hellos.
const HELLO_REPEAT_MAX: Duration = Duration::from_millis(400);

/// The exchange of hellos and answers.
pub struct Handshake<'a> {
    ends: &'a mut Ends,
    proven: Vec<bool>,
    /// Known to nobody until it is in a hello, so that only who receives hellos can answer.
    nonce: u64,
}

impl<'a> Handshake<'a> {
    /// With the peers of `ends`; `nonce` is random.
    pub fn new(ends: &'a mut Ends, nonce: u64) -> Self {
        Handshake {
            proven: vec![false; ends.peers.len()],
            ends,
            nonce,
        }
    }

    /// Ask until every peer has answered.
    pub fn run(&mut self, ctx: &Connect) -> Result<(), ConnectError> {
        let start = Instant::now();
        let mut repeat = HELLO_REPEAT_MIN;
        let mut next_hello = start;
        while let Some(missing) = self.proven.iter().position(|proven| !proven) {
            let now = Instant::now();
            if ctx.cancel.reason().is_some() {
                return Err(BootstrapError::Cancelled.into());
            }
            if now - start >= HANDSHAKE_TIME_MAX {
                let peer = &self.ends.peers[missing];
                return Err(ConnectError::Other(format!(
                    "rank {} at {} answers no datagrams within {} s; is UDP blocked on the way?",
                    peer.rank,
                    peer.address,
                    HANDSHAKE_TIME_MAX.as_secs()
                )));
            }
            if now >= next_hello {
                self.send_hellos()?;
                next_hello = now + repeat;
                repeat = (repeat * 2).min(HELLO_REPEAT_MAX);
            }
            wait_readable(&self.ends.socket)?;
            self.take_datagrams()?;
        }
        Ok(())
    }

    fn send_hellos(&self) -> Result<(), ConnectError> {
        for (peer, _) in self.ends.peers.iter().zip(&self.proven).filter(|(_, p)| !**p) {
            self.send(peer, Kind::Hello, self.nonce)?;
        }
        Ok(())
    }

    fn send(&self, peer: &Peer, kind: Kind, value: u64) -> Result<(), ConnectError> {
        let head = Head {
            kind,
            rank: self.ends.rank,
            tag: peer.tag,
            value,
        };
        let address = SockAddr::from(peer.address);
        match self
            .ends
            .socket
            .send_to_with_flags(&head.encode(0), &address, libc::MSG_DONTWAIT)
        {
            Ok(_) => Ok(()),
            // No room now: as good as lost on the way, it is repeated.
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            Err(e) => Err(ConnectError::os(format!("sending to rank {}", peer.rank), e)),
        }
    }

    /// Take what has arrived: answer hellos, note answers.
    pub fn take_datagrams(&mut self) -> Result<(), ConnectError> {
        // One byte more than a handshake has, so that a longer datagram is seen to be one.
        let mut buffer = [0; HEADER_BYTES + 1];
        loop {
            match rustix::net::recvfrom(&self.ends.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((len, _, from)) => {
                    let from = from.and_then(|a| SocketAddr::try_from(a).ok());
                    self.take(&buffer[..len], from)?;
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(ConnectError::os("receiving a handshake datagram", e.into())),
            }
        }
    }

    fn take(&mut self, datagram: &[u8], from: Option<SocketAddr>) -> Result<(), ConnectError> {
        let known = Head::decode(datagram).and_then(|head| Some((head, self.ends.slot(&head, from?)?)));
        match known {
            Some((head, slot)) if head.kind == Kind::Hello => {
                self.send(&self.ends.peers[slot], Kind::Answer, head.value)?;
            }
            Some((head, slot)) if head.kind == Kind::Answer && head.value == self.nonce => {
                self.proven[slot] = true;
            }
            // Data cannot come yet: nobody has passed the barrier.
            _ => self.ends.stray_datagrams += 1,
        }
        Ok(())
    }
}

/// Sleep until a datagram is there, at most 10 ms.
fn wait_readable(socket: &Socket) -> Result<(), ConnectError> {
    let mut fds = [PollFd::new(socket, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: 10_000_000,
    };
    match rustix::event::poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(e) => Err(ConnectError::os("waiting for a handshake datagram", e.into())),
    }
}
