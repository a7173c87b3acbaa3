//! The port that moves several datagrams with one system call: sendmmsg and recvmmsg.
//!
//! A send only queues; the queue goes out when it is full, and whenever the engine polls, waits or flushes.

use super::connect::Ends;
use super::link::datagram_bytes;
use super::wire::{HEADER_BYTES, PAYLOAD_BYTES_MAX};
use crate::sync::put;
use crate::transport::link_errno::last_errno;
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use crate::transport::waiter::Waiter;
use rustix::io::Errno;
use socket2::{SockAddr, SockAddrStorage};
use std::os::fd::AsRawFd;

/// Headers, parts and datagrams for one call, all on the heap: the pointers between them hold when the port moves.
struct Batch {
    headers: Box<[libc::mmsghdr]>,
    parts: Box<[libc::iovec]>,
    bytes: Box<[u8]>,
    stride: usize,
}

impl Batch {
    /// Room for `count` datagrams of up to `stride` bytes, each header pointing at its part.
    fn new(count: usize, stride: usize) -> Self {
        let mut bytes = vec![0u8; count * stride].into_boxed_slice();
        let base = bytes.as_mut_ptr();
        let mut parts: Box<[libc::iovec]> = (0..count)
            .map(|i| libc::iovec {
                // Within `bytes`, so no wrap.
                iov_base: base.wrapping_add(i * stride).cast(),
                iov_len: stride,
            })
            .collect();
        let first = parts.as_mut_ptr();
        let headers = (0..count)
            .map(|i| {
                // SAFETY: all zeroes is a valid mmsghdr: null pointers and zero lengths.
                let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
                header.msg_hdr.msg_iov = first.wrapping_add(i);
                header.msg_hdr.msg_iovlen = 1;
                header
            })
            .collect();
        Batch {
            headers,
            parts,
            bytes,
            stride,
        }
    }

    /// Datagram `i`, its first `len` bytes.
    #[inline(always)]
    fn datagram(&mut self, i: usize, len: usize) -> &mut [u8] {
        &mut self.bytes[i * self.stride..][..len]
    }
}

/// Up to N datagrams a system call.
pub struct BatchPort {
    ends: Ends,
    /// By slot, on the heap: queued headers point at them.
    addresses: Box<[SockAddr]>,
    outgoing: Batch,
    incoming: Batch,
    /// Where what came was sent from; unused when there is one peer.
    senders: Box<[SockAddrStorage]>,
    /// Next of the queue to go out.
    sent: usize,
    /// End of the queue.
    queued: usize,
    /// Sleeps in the kernel.
    blocks: bool,
    waiter: Waiter,
}

impl BatchPort {
    /// A port for messages of up to `message_bytes`, `batch` of them a call. `blocks`: it sleeps in the kernel.
    pub fn new(ends: Ends, message_bytes: usize, batch: usize, blocks: bool, waiter: Waiter) -> Self {
        let stride = datagram_bytes(message_bytes);
        BatchPort {
            addresses: ends.peers.iter().map(|p| SockAddr::from(p.address)).collect(),
            ends,
            outgoing: Batch::new(batch, stride),
            incoming: Batch::new(batch, stride),
            senders: (0..batch).map(|_| SockAddrStorage::zeroed()).collect(),
            sent: 0,
            queued: 0,
            blocks,
            waiter,
        }
    }

    /// Hand the queue to the kernel; whether all of it went.
    #[inline(always)]
    fn submit(&mut self) -> Result<bool, LinkError> {
        if self.queued == 0 {
            return Ok(true);
        }
        let waiting = &mut self.outgoing.headers[self.sent..self.queued];
        // SAFETY: `waiting` are valid headers, as many as said; their parts, bytes and addresses are owned by this
        // port, and each part's length is within its datagram's stride.
        let sent = unsafe {
            libc::sendmmsg(
                self.ends.socket.as_raw_fd(),
                waiting.as_mut_ptr(),
                waiting.len() as libc::c_uint,
                // The type of the flags differs between C libraries.
                (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
            )
        };
        if sent < 0 {
            return match last_errno() {
                Errno::AGAIN | Errno::NOBUFS | Errno::INTR => Ok(false),
                error => self.ends.refused("sendmmsg", error).map(|()| false),
            };
        }
        self.sent += sent as usize;
        if self.sent < self.queued {
            return Ok(false);
        }
        (self.sent, self.queued) = (0, 0);
        Ok(true)
    }

    #[inline(always)]
    fn receive<H: OnMessage>(&mut self, flags: libc::c_int, on: &mut H) -> Result<usize, LinkError> {
        if !self.ends.is_connected() {
            for (header, name) in self.incoming.headers.iter_mut().zip(&mut self.senders) {
                header.msg_hdr.msg_name = std::ptr::from_mut(name).cast();
                header.msg_hdr.msg_namelen = size_of::<SockAddrStorage>() as libc::socklen_t;
            }
        }
        // SAFETY: the headers are valid, as many as said; each points at its own part of `stride` bytes within
        // `incoming.bytes` and, if at all, at a name of the length said; the kernel writes no more than that.
        let received = unsafe {
            libc::recvmmsg(
                self.ends.socket.as_raw_fd(),
                self.incoming.headers.as_mut_ptr(),
                self.incoming.headers.len() as libc::c_uint,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        if received < 0 {
            return match last_errno() {
                Errno::AGAIN | Errno::INTR => Ok(0),
                error => self.ends.refused("recvmmsg", error).map(|()| 0),
            };
        }
        let mut handled = 0;
        for i in 0..received as usize {
            handled += usize::from(self.hand_over(i, on));
        }
        Ok(handled)
    }

    /// Give datagram `i` to the engine, if it is a message.
    #[inline(always)]
    fn hand_over<H: OnMessage>(&mut self, i: usize, on: &mut H) -> bool {
        let header = &self.incoming.headers[i];
        let len = header.msg_len as usize;
        let is_cut = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        let from = if self.ends.is_connected() {
            None
        } else {
            let name = std::mem::replace(&mut self.senders[i], SockAddrStorage::zeroed());
            // SAFETY: the kernel wrote an address of `msg_namelen` bytes into this name.
            let address = unsafe { SockAddr::new(name, header.msg_hdr.msg_namelen) };
            address.as_socket()
        };
        if is_cut || len > self.incoming.stride || (!self.ends.is_connected() && from.is_none()) {
            self.ends.stray_datagrams += 1;
            return false;
        }
        let datagram = &self.incoming.bytes[i * self.incoming.stride..][..len];
        match self.ends.message(datagram, from) {
            Some((slot, value)) => {
                on.message(slot, value, &datagram[HEADER_BYTES..]);
                true
            }
            None => false,
        }
    }
}

impl MessagePort for BatchPort {
    const SLOW: bool = true;
    const LOSSY: bool = true;

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        if len > PAYLOAD_BYTES_MAX || HEADER_BYTES + len > self.outgoing.stride {
            return Err(LinkError::Unsupported("a message larger than the case's"));
        }
        if self.queued == self.outgoing.headers.len() && !self.submit()? {
            return Ok(Post::Busy);
        }
        let at = self.queued;
        let head = self.ends.head(peer, header, len);
        let datagram = self.outgoing.datagram(at, HEADER_BYTES + len);
        put(datagram, 0, head);
        pack(&mut datagram[HEADER_BYTES..]);
        self.outgoing.parts[at].iov_len = HEADER_BYTES + len;
        if !self.ends.is_connected() {
            let address = &self.addresses[peer];
            let outgoing = &mut self.outgoing.headers[at].msg_hdr;
            // The kernel only reads the names of what is sent.
            outgoing.msg_name = address.as_ptr().cast_mut().cast();
            outgoing.msg_namelen = address.len();
        }
        self.queued = at + 1;
        if self.queued == self.outgoing.headers.len() {
            self.submit()?;
        }
        Ok(Post::Done)
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.submit()?;
        self.receive(libc::MSG_DONTWAIT, on)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        // Room for what is still in hand wakes nobody.
        let sleeps = self.submit()? && self.blocks;
        let flags = if sleeps {
            libc::MSG_WAITFORONE
        } else {
            libc::MSG_DONTWAIT
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
        self.submit()
    }

    fn facts(&self) -> Facts {
        self.ends.facts()
    }
}
