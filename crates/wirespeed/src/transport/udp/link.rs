//! The port that makes one system call a datagram.
//!
//! How it waits, and whether the socket is connected to its only peer, are branches that always go the same way: nothing
//! beside a system call, and a quarter of the types to compile.

use super::connect::Ends;
use super::wire::{HEADER_BYTES, Head, Kind, PAYLOAD_BYTES_MAX};
use crate::sync::put;
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use crate::transport::waiter::Waiter;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};
use std::io::IoSlice;
use std::net::SocketAddr;

/// Shortest receive buffer, so that the engine's acknowledgements fit whatever the case's message size is.
const PAYLOAD_BYTES_MIN: usize = 64;

/// One datagram a system call.
pub struct UdpPort {
    ends: Ends,
    outgoing: Box<[u8]>,
    incoming: Box<[u8]>,
    /// A packed datagram that the kernel had no room for: its bytes (0 for none) and its peer.
    unsent: (usize, usize),
    /// Sleeps in the kernel.
    blocks: bool,
    waiter: Waiter,
}

/// Bytes that a buffer for messages of `message_bytes` needs.
pub(super) fn datagram_bytes(message_bytes: usize) -> usize {
    HEADER_BYTES + message_bytes.max(PAYLOAD_BYTES_MIN)
}

impl Ends {
    /// What an error of a socket call means for the port: nothing moved, or why it ends.
    #[cold]
    pub(super) fn refused(&self, op: &'static str, error: Errno) -> Result<(), LinkError> {
        match error {
            // The peer's machine says that nobody listens there any more.
            Errno::CONNREFUSED => Err(LinkError::Closed),
            // No message is above the limit of datagrams: a router told of an earlier one, and the kernel cuts the next.
            Errno::MSGSIZE if self.may_fragment => Ok(()),
            Errno::MSGSIZE => Err(LinkError::Unsupported(
                "messages that do not fit the path MTU unfragmented; use df=off or a smaller size",
            )),
            other => Err(LinkError::from_errno(op, other.raw_os_error())),
        }
    }

    /// What `datagram` is: the slot and header of a message, or nothing for the engine.
    #[inline(always)]
    pub(super) fn message(&mut self, datagram: &[u8], from: Option<SocketAddr>) -> Option<(usize, u64)> {
        if let Some(head) = Head::decode(datagram) {
            let slot = match from {
                Some(from) => self.slot(&head, from),
                // The kernel lets only the peer of a connected socket through.
                None => (head.tag == self.tag).then_some(0),
            };
            match slot {
                Some(slot) if head.kind == Kind::Data => return Some((slot, head.value)),
                // A hello or answer that came twice or late.
                Some(_) => return None,
                None => {}
            }
        }
        self.stray_datagrams += 1;
        None
    }

    /// The header of a message to `peer`, as it travels.
    #[inline(always)]
    pub(super) fn head(&self, peer: usize, value: u64, len: usize) -> [u8; HEADER_BYTES] {
        let head = Head {
            kind: Kind::Data,
            rank: self.rank,
            tag: self.peers[peer].tag,
            value,
        };
        head.encode(len)
    }
}

impl UdpPort {
    /// A port for messages of up to `message_bytes`. `blocks`: it sleeps in the kernel.
    pub fn new(ends: Ends, message_bytes: usize, blocks: bool, waiter: Waiter) -> Self {
        let bytes = datagram_bytes(message_bytes);
        UdpPort {
            ends,
            outgoing: vec![0; bytes].into_boxed_slice(),
            incoming: vec![0; bytes].into_boxed_slice(),
            unsent: (0, 0),
            blocks,
            waiter,
        }
    }

    #[inline(always)]
    fn receive<H: OnMessage>(&mut self, flags: RecvFlags, on: &mut H) -> Result<usize, LinkError> {
        // With TRUNC the kernel tells the whole length of a datagram that does not fit: it is not one of ours.
        let flags = flags | RecvFlags::TRUNC;
        let (len, from) = if self.ends.is_connected() {
            match rustix::net::recv(&self.ends.socket, &mut self.incoming[..], flags) {
                Ok((_, len)) => (len, None),
                Err(error) => return nothing(&self.ends, error),
            }
        } else {
            match rustix::net::recvfrom(&self.ends.socket, &mut self.incoming[..], flags) {
                Ok((_, len, from)) => match from.and_then(|a| SocketAddr::try_from(a).ok()) {
                    Some(from) => (len, Some(from)),
                    None => return self.stray(),
                },
                Err(error) => return nothing(&self.ends, error),
            }
        };
        let Some(datagram) = self.incoming.get(..len) else {
            return self.stray();
        };
        match self.ends.message(datagram, from) {
            Some((slot, value)) => {
                on.message(slot, value, &datagram[HEADER_BYTES..]);
                Ok(1)
            }
            None => Ok(0),
        }
    }

    #[cold]
    fn send_unsent(&mut self) -> Result<bool, LinkError> {
        let (bytes, peer) = self.unsent;
        let sent = Self::send(&self.ends, peer, &[IoSlice::new(&self.outgoing[..bytes])])? == Post::Done;
        if sent {
            self.unsent = (0, 0);
        }
        Ok(sent)
    }

    #[cold]
    fn stray(&mut self) -> Result<usize, LinkError> {
        self.ends.stray_datagrams += 1;
        Ok(0)
    }

    #[inline(always)]
    fn send(ends: &Ends, peer: usize, parts: &[IoSlice]) -> Posted {
        let mut control = SendAncillaryBuffer::default();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = if ends.is_connected() {
            rustix::net::sendmsg(&ends.socket, parts, &mut control, flags)
        } else {
            let address = &ends.peers[peer].address;
            rustix::net::sendmsg_addr(&ends.socket, address, parts, &mut control, flags)
        };
        match sent {
            Ok(_) => Ok(Post::Done),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Ok(Post::Busy),
            Err(error) => ends.refused("sendmsg", error).map(|()| Post::Busy),
        }
    }
}

/// A receive that brought nothing: a reason to wait, or an error.
#[inline(always)]
fn nothing(ends: &Ends, error: Errno) -> Result<usize, LinkError> {
    match error {
        Errno::AGAIN | Errno::INTR => Ok(0),
        error => ends.refused("recvmsg", error).map(|()| 0),
    }
}

impl MessagePort for UdpPort {
    const SLOW: bool = true;
    const LOSSY: bool = true;

    #[inline(always)]
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(LinkError::Unsupported("a message larger than a datagram"));
        }
        if !self.flush()? {
            return Ok(Post::Busy);
        }
        let head = self.ends.head(peer, header, payload.len());
        Self::send(&self.ends, peer, &[IoSlice::new(&head), IoSlice::new(payload)])
    }

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        if !self.flush()? {
            return Ok(Post::Busy);
        }
        let Some(datagram) = self.outgoing.get_mut(..HEADER_BYTES + len) else {
            return Err(LinkError::Unsupported("a message larger than the case's"));
        };
        put(datagram, 0, self.ends.head(peer, header, len));
        pack(&mut datagram[HEADER_BYTES..]);
        // Whether the kernel has room is known only now. A message once packed is accepted: it waits here.
        if Self::send(&self.ends, peer, &[IoSlice::new(datagram)])? == Post::Busy {
            self.unsent = (HEADER_BYTES + len, peer);
        }
        Ok(Post::Done)
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.flush()?;
        self.receive(RecvFlags::DONTWAIT, on)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        // Room for what is still in hand wakes nobody.
        let sleeps = self.flush()? && self.blocks;
        let flags = if sleeps {
            RecvFlags::empty()
        } else {
            RecvFlags::DONTWAIT
        };
        let handled = self.receive(flags, on)?;
        if handled == 0 {
            if sleeps {
                self.waiter.look()?;
            } else {
                self.waiter.idle()?;
            }
        }
        Ok(handled)
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        // The kernel copies what it accepts, so only what it has not accepted is in the way.
        if self.unsent.0 == 0 {
            return Ok(true);
        }
        self.send_unsent()
    }

    fn facts(&self) -> Facts {
        self.ends.facts()
    }
}
