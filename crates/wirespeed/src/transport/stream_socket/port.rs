//! The message port over connected stream sockets, waiting by busy polling or asleep in the kernel.
//!
//! A send is one system call, and so is a receive; what the kernel did not take is kept and moved by `poll`, and meanwhile
//! sends are `Busy`. Only a long payload of which it took a part is sent in several calls, so that the peer has something
//! to read while the rest is kept. It must never know which kind of socket it has.

use super::frame;
use super::inbox::Inbox;
use super::link::{self, PollSet};
use super::outbox::Outbox;
use super::setup::{Describe, Link, Setup};
use super::zerocopy::ZeroCopy;
use crate::sync::{SharedBytes, copy};
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use crate::transport::waiter::Waiter;
use crate::transport::{ConnectError, buffer};
use std::os::fd::BorrowedFd;

/// Up to this size a short payload is put behind its header and sent by `send`; above, `sendmsg` spares the copy.
const STAGED_BYTES_MAX: usize = 2 << 10;

/// The rest of a long payload is kept in pieces of this size: they stay in a core's own cache on their way to the kernel,
/// and the kernel is asked again before it has run dry.
const PIECE_BYTES: usize = 256 << 10;

/// So often the kernel is asked whether it has room again before a piece is kept: about as long as keeping it takes.
const TRIES: u32 = 64;

/// Reports of finished zero-copy sends that one `poll` takes from one peer.
const REPORTS_PER_POLL: usize = 16;

struct Peer {
    link: Link,
    inbox: Inbox,
    out: Outbox,
    zero: Option<Box<ZeroCopy>>,
}

/// A port over stream sockets.
pub struct StreamPort {
    peers: Vec<Peer>,
    waiter: Waiter,
    message_bytes_max: usize,
    buffer: Option<SharedBytes>,
    ready: PollSet,
    describe: Describe,
    /// Sleeps in `recv`, or in `poll` where there is more than one thing to wait for; else polls.
    sleeps: bool,
}

impl Peer {
    /// Whether something is to be sent or reported as sent.
    #[inline(always)]
    fn is_moving(&self) -> bool {
        !self.out.is_empty() || self.zero.as_ref().is_some_and(|z| z.is_outstanding())
    }

    #[inline(always)]
    fn is_unsent(&self) -> bool {
        !self.out.is_empty() || self.zero.as_ref().is_some_and(|z| z.is_pending())
    }

    /// Changes when a sender that found no room, or awaits a completion, should look again.
    fn progress(&self) -> (bool, u64) {
        (self.is_unsent(), self.zero.as_ref().map_or(0, |z| z.completed()))
    }

    #[inline(always)]
    fn can_send(&self) -> bool {
        self.out.has_room() && !self.zero.as_ref().is_some_and(|z| z.is_pending())
    }

    /// Send staged frames, as many as the kernel takes.
    #[inline(always)]
    fn push(&mut self) -> Result<(), LinkError> {
        let count = link::send_now(self.link.tx(), self.out.unsent())?;
        self.out.taken(count);
        Ok(())
    }

    #[inline(always)]
    fn push_when_due(&mut self) -> Posted {
        if self.out.is_due() {
            self.push()?;
        }
        Ok(Post::Done)
    }

    /// Send what is left of `payload` after the kernel took `count` bytes of its frame: from the payload itself as long as
    /// the peer reads, else it is kept piece by piece. Never waits longer than keeping takes, for the peer may itself be
    /// sending. Only when nothing was staged.
    #[cold]
    #[inline(never)]
    fn keep_rest(&mut self, head: &[u8], payload: &[u8], count: usize) -> Result<(), LinkError> {
        let head = head.get(count..).unwrap_or_default();
        self.out.extend(head.len()).copy_from_slice(head);
        let mut rest = &payload[count.saturating_sub(frame::HEADER_BYTES)..];
        let mut tries = TRIES;
        while !rest.is_empty() {
            if self.out.is_empty() {
                let taken = link::send_now(self.link.tx(), rest)?;
                rest = &rest[taken..];
                if taken != 0 {
                    tries = TRIES;
                    continue;
                }
                if tries != 0 {
                    tries -= 1;
                    std::hint::spin_loop();
                    continue;
                }
            }
            let (piece, later) = rest.split_at(rest.len().min(PIECE_BYTES));
            self.out.extend(piece.len()).copy_from_slice(piece);
            rest = later;
            self.push()?;
        }
        Ok(())
    }

    /// Move what is to be sent. Staged frames and a zero-copy message are never there at once.
    #[cold]
    #[inline(never)]
    fn advance(&mut self, buffer: Option<&SharedBytes>) -> Result<(), LinkError> {
        if !self.out.is_empty() {
            self.push()?;
        }
        let (Some(zero), Some(buffer)) = (self.zero.as_mut(), buffer) else {
            return Ok(());
        };
        for _ in 0..REPORTS_PER_POLL {
            if !zero.is_outstanding() {
                break;
            }
            match link::finished_zerocopy(self.link.tx())? {
                Some(report) => zero.finish(report.first, report.last, report.copied),
                None => break,
            }
        }
        push_zerocopy(zero, self.link.tx(), buffer)
    }
}

#[inline(always)]
fn push_zerocopy(zero: &mut ZeroCopy, fd: BorrowedFd<'_>, buffer: &SharedBytes) -> Result<(), LinkError> {
    let Some((head, rest)) = zero.to_send() else {
        return Ok(());
    };
    let (offset, len) = rest.payload();
    match link::send_zerocopy_now(fd, head, buffer, offset, len)? {
        0 => {}
        count => zero.taken(count),
    }
    Ok(())
}

impl StreamPort {
    /// A port over `links`, by slot. `sleeps`: it waits in the kernel.
    pub fn new(links: Vec<Link>, sleeps: bool, setup: Setup) -> Result<Self, ConnectError> {
        let zerocopy = |bytes| buffer("the buffer for zero-copy sends", bytes);
        let buffer = setup.zerocopy_bytes.map(zerocopy).transpose()?;
        let ready = PollSet::new(2 * links.len());
        let mut peers = Vec::with_capacity(links.len());
        for link in links {
            if buffer.is_some() {
                link::enable_zerocopy(link.tx())
                    .map_err(|e| ConnectError::os("asking the socket for zero-copy sends", e))?;
            }
            peers.push(Peer {
                link,
                inbox: Inbox::new(setup.message_bytes_max)?,
                out: Outbox::new(setup.message_bytes_max, setup.coalesce_bytes)?,
                zero: buffer.as_ref().map(|_| Box::new(ZeroCopy::new())),
            });
        }
        Ok(StreamPort {
            peers,
            waiter: setup.waiter,
            message_bytes_max: setup.message_bytes_max,
            buffer,
            ready,
            describe: setup.describe,
            sleeps,
        })
    }

    #[inline(always)]
    fn is_moving(&self) -> bool {
        self.peers.iter().any(Peer::is_moving)
    }

    #[inline(always)]
    fn poll_peers<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let mut handled = 0;
        for (slot, peer) in self.peers.iter_mut().enumerate() {
            if peer.is_moving() {
                peer.advance(self.buffer.as_ref())?;
            }
            let count = link::receive_now(peer.link.rx(), peer.inbox.space())?;
            if count != 0 {
                handled += peer.inbox.arrived(count, slot, on)?;
            }
        }
        Ok(handled)
    }

    #[inline(always)]
    fn check_len(&self, len: usize) -> Result<(), LinkError> {
        if len > self.message_bytes_max {
            return Err(LinkError::Unsupported(
                "a message longer than the port was opened for",
            ));
        }
        Ok(())
    }

    #[inline(always)]
    fn wait_polling<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        loop {
            // Room for a send, or a completion, may come by polling, and is news too.
            let was_moving = self.is_moving();
            let handled = self.poll_peers(on)?;
            if handled != 0 {
                return Ok(handled);
            }
            self.waiter.idle()?;
            if was_moving {
                return Ok(0);
            }
        }
    }

    #[inline(always)]
    fn wait_asleep<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        if let [peer] = &mut self.peers[..]
            && !peer.is_moving()
        {
            let result = loop {
                let received = link::receive_asleep(peer.link.rx(), peer.inbox.space());
                let handled = match received {
                    Ok(count) if count != 0 => peer.inbox.arrived(count, 0, on),
                    // A signal: whoever sent it may have set the flag.
                    Ok(_) => self.waiter.look().map(|()| 0),
                    Err(error) => Err(error),
                };
                match handled {
                    Ok(0) => {}
                    other => break other,
                }
            };
            return result.map_err(|e| self.waiter.explain(e));
        }
        wait_for_any(self, on).map_err(|e| self.waiter.explain(e))
    }
}

/// Sleep until a socket can be read, or written where something is to be sent; then serve those that woke it.
#[inline(never)]
fn wait_for_any<H: OnMessage>(port: &mut StreamPort, on: &mut H) -> Result<usize, LinkError> {
    port.waiter.look()?;
    let mut news = false;
    for (slot, peer) in port.peers.iter_mut().enumerate() {
        if peer.is_moving() {
            let before = peer.progress();
            peer.advance(port.buffer.as_ref())?;
            news |= before != peer.progress();
        }
        let (unsent, is_loop) = (peer.is_unsent(), peer.link.is_loop());
        port.ready.set(2 * slot, peer.link.rx(), true, unsent && !is_loop);
        // Only a link to oneself has a second socket; the place stays empty for others.
        if is_loop {
            port.ready.set(2 * slot + 1, peer.link.tx(), false, unsent);
        }
    }
    if news {
        return Ok(0);
    }
    port.ready.sleep()?;
    let mut handled = 0;
    for (slot, peer) in port.peers.iter_mut().enumerate() {
        if peer.is_moving() {
            peer.advance(port.buffer.as_ref())?;
        }
        if port.ready.woke(2 * slot) {
            let count = link::receive_now(peer.link.rx(), peer.inbox.space())?;
            if count != 0 {
                handled += peer.inbox.arrived(count, slot, on)?;
            }
        }
    }
    Ok(handled)
}

impl MessagePort for StreamPort {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn send_short(&mut self, slot: usize, header: u64, payload: &[u8]) -> Posted {
        self.check_len(payload.len())?;
        let peer = &mut self.peers[slot];
        if !peer.can_send() {
            return Ok(Post::Busy);
        }
        if payload.len() > STAGED_BYTES_MAX && peer.out.is_empty() {
            let head = frame::encode(payload.len(), header);
            let count = link::send_both_now(peer.link.tx(), &head, payload)?;
            if count != head.len() + payload.len() {
                peer.keep_rest(&head, payload, count)?;
            }
            return Ok(Post::Done);
        }
        copy(payload, peer.out.stage(header, payload.len()));
        peer.push_when_due()
    }

    #[inline(always)]
    fn send_bcopy(&mut self, slot: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        self.check_len(len)?;
        let peer = &mut self.peers[slot];
        if !peer.can_send() {
            return Ok(Post::Busy);
        }
        pack(peer.out.stage(header, len));
        peer.push_when_due()
    }

    #[inline(always)]
    fn send_zcopy(&mut self, slot: usize, header: u64, offset: usize, len: usize) -> Posted {
        self.check_len(len)?;
        let peer = &mut self.peers[slot];
        let (Some(zero), Some(buffer)) = (peer.zero.as_mut(), self.buffer.as_ref()) else {
            return Err(LinkError::Unsupported("zcopy on this port"));
        };
        if !zero.has_room() || !peer.out.is_empty() {
            return Ok(Post::Busy);
        }
        zero.accept(header, offset, len);
        push_zerocopy(zero, peer.link.tx(), buffer)?;
        Ok(Post::Done)
    }

    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        let of = |p: &Peer| p.zero.as_ref().map_or(0, |z| z.completed());
        self.peers.iter().map(of).sum()
    }

    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        self.buffer.as_ref()
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.poll_peers(on).map_err(|e| self.waiter.explain(e))
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.sleeps {
            true => self.wait_asleep(on),
            false => self.wait_polling(on),
        }
    }

    #[inline(always)]
    fn wait_for_room<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.wait(on)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        for peer in &mut self.peers {
            if peer.is_moving() {
                peer.advance(self.buffer.as_ref())?;
            }
        }
        Ok(!self.is_moving())
    }

    fn facts(&self) -> Facts {
        let links: Vec<&Link> = self.peers.iter().map(|p| &p.link).collect();
        let mut facts = (self.describe)(&links);
        if self.buffer.is_some() {
            let copied = |p: &Peer| p.zero.as_ref().map_or(0, |z| z.copied());
            let copied: u64 = self.peers.iter().map(copied).sum();
            facts.insert("zcopy_copied".into(), copied.to_string());
        }
        facts
    }
}
