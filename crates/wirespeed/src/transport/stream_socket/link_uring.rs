//! The message port over stream sockets that waits in io_uring: a send is queued and goes out by the system call that
//! waits for the answer, so a ping-pong costs one system call a message.
//!
//! For each peer at most one receive and one send are in the kernel's hands at a time, so the stream keeps its order.
//! It must never touch the bytes that an operation under way works on, nor let go of them before it has ended.

use super::inbox::Inbox;
use super::outbox::Outbox;
use super::setup::{Describe, Link, Setup};
use crate::transport::ConnectError;
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use crate::transport::waiter::Waiter;
use io_uring::squeue::Flags;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsRawFd;

/// Rounds in which a closing port waits for its operations to end.
const CLOSING_ROUNDS: usize = 1000;

/// How long one of those rounds takes at most.
const CLOSING_ROUND: Timespec = Timespec::new().nsec(1_000_000);

/// Bytes of one operation at most: the kernel cuts longer ones short (at 2 GiB less a page), and what is not reported counts as
/// whole.
const OPERATION_BYTES_MAX: usize = 1 << 30;

/// A send that the kernel may be working on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    No,
    /// So many bytes, all of them within the call that submits it. Only a failure to do so is reported, so that success
    /// does not end a wait for the answer.
    AtOnce(usize),
    /// In the kernel until it gets room; reported in any case.
    Patient,
}

struct Peer {
    link: Link,
    inbox: Inbox,
    out: Outbox,
    receiving: bool,
    sending: Sending,
    /// The last send did not go through at once.
    blocked: bool,
    /// Bytes that a receive brought and that are not yet handed out.
    arrived: usize,
}

/// A port over stream sockets and one ring.
pub struct UringPort {
    ring: IoUring,
    peers: Vec<Peer>,
    waiter: Waiter,
    message_bytes_max: usize,
    describe: Describe,
}

fn build(entries: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .build(entries)
}

/// Whether this kernel lets us have a ring, or why not.
pub fn available() -> Result<(), &'static str> {
    match build(2) {
        Ok(ring) if ring.params().is_feature_skip_cqe_on_success() => Ok(()),
        Ok(_) => Err("io_uring of this kernel is too old (Linux 6.1 will do)"),
        Err(error) => Err(match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => {
                "the kernel forbids io_uring (see sysctl kernel.io_uring_disabled, or the container's seccomp profile)"
            }
            Some(Errno::NOSYS) => "this kernel has no io_uring",
            Some(Errno::INVAL) => "io_uring of this kernel is too old: deferred task work needs Linux 6.1",
            Some(Errno::NOMEM) => "no memory may be locked for io_uring (see ulimit -l)",
            _ => "the kernel refuses to set up io_uring",
        }),
    }
}

/// A port over `links`, by slot. It stays in the thread that made it.
pub fn open(links: Vec<Link>, setup: Setup) -> Result<UringPort, ConnectError> {
    UringPort::new(links, setup)
}

impl UringPort {
    fn new(links: Vec<Link>, setup: Setup) -> Result<Self, ConnectError> {
        // At most one send and one receive a peer are queued.
        let entries = (2 * links.len()).next_power_of_two().max(4) as u32;
        let ring = build(entries).map_err(|e| ConnectError::os("setting up io_uring", e))?;
        let mut peers = Vec::with_capacity(links.len());
        for link in links {
            peers.push(Peer {
                link,
                inbox: Inbox::new(setup.message_bytes_max)?,
                out: Outbox::new(setup.message_bytes_max, setup.coalesce_bytes)?,
                receiving: false,
                sending: Sending::No,
                blocked: false,
                arrived: 0,
            });
        }
        Ok(UringPort {
            ring,
            peers,
            waiter: setup.waiter,
            message_bytes_max: setup.message_bytes_max,
            describe: setup.describe,
        })
    }

    /// Queue a send of what is staged for `slot`, if none is under way.
    #[inline(always)]
    fn queue_send(&mut self, slot: usize) -> Result<(), LinkError> {
        let peer = &mut self.peers[slot];
        if peer.sending != Sending::No || peer.out.is_empty() {
            return Ok(());
        }
        let unsent = peer.out.unsent();
        let len = unsent.len().min(OPERATION_BYTES_MAX);
        let (sending, message_flags, flags) = if peer.blocked {
            (Sending::Patient, libc::MSG_NOSIGNAL, Flags::empty())
        } else {
            let at_once = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL;
            (Sending::AtOnce(len), at_once, Flags::SKIP_SUCCESS)
        };
        peer.sending = sending;
        let entry = opcode::Send::new(Fd(peer.link.tx().as_raw_fd()), unsent.as_ptr(), len as u32)
            .flags(message_flags)
            .build()
            .flags(flags)
            .user_data(2 * slot as u64 + 1);
        // SAFETY: the bytes stay where they are and unchanged until the operation ends: `taken` is called only then, what
        // is staged meanwhile goes behind them, and drop waits for it. The socket lives as long as the port.
        unsafe { self.ring.submission().push(&entry) }.map_err(|_| QUEUE_FULL)
    }

    /// Queue a receive from `slot`, if none is under way.
    #[inline(always)]
    fn queue_receive(&mut self, slot: usize) -> Result<(), LinkError> {
        let peer = &mut self.peers[slot];
        if peer.receiving || peer.arrived != 0 {
            return Ok(());
        }
        peer.receiving = true;
        let space = peer.inbox.space();
        let len = space.len().min(OPERATION_BYTES_MAX) as u32;
        let entry = opcode::Recv::new(Fd(peer.link.rx().as_raw_fd()), space.as_mut_ptr(), len)
            .build()
            .user_data(2 * slot as u64);
        // SAFETY: the inbox is not touched while `receiving` is set, which its completion clears, and drop waits for the
        // operation. The socket lives as long as the port.
        unsafe { self.ring.submission().push(&entry) }.map_err(|_| QUEUE_FULL)
    }

    /// Take note of what has completed.
    #[inline(always)]
    fn reap(&mut self) -> Result<(), LinkError> {
        let mut result = Ok(());
        for completion in self.ring.completion() {
            let slot = completion.user_data() as usize / 2;
            let is_send = completion.user_data() % 2 == 1;
            let peer = &mut self.peers[slot];
            let count = usize::try_from(completion.result());
            if is_send {
                peer.sending = Sending::No;
            } else {
                peer.receiving = false;
            }
            match count {
                Ok(count) if is_send => peer.out.taken(count),
                Ok(0) => result = Err(LinkError::Closed),
                Ok(count) => peer.arrived = count,
                Err(_) => result = result.and(retry_or_fail(is_send, -completion.result())),
            }
            // What goes through at once and whole is not reported, so this transport is full or was.
            peer.blocked = !peer.out.is_empty() && (is_send || peer.blocked);
        }
        self.settle();
        result
    }

    /// Once the queue was submitted, sends at once are over: a failure was reported, so the others went through.
    #[inline(always)]
    fn settle(&mut self) {
        if !self.ring.submission().is_empty() {
            return;
        }
        for peer in &mut self.peers {
            if let Sending::AtOnce(count) = peer.sending {
                peer.out.taken(count);
                peer.sending = Sending::No;
            }
        }
    }

    /// Hand out what arrived.
    #[inline(always)]
    fn deliver<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let mut handled = 0;
        for (slot, peer) in self.peers.iter_mut().enumerate() {
            let count = std::mem::take(&mut peer.arrived);
            if count != 0 {
                handled += peer.inbox.arrived(count, slot, on)?;
            }
        }
        Ok(handled)
    }

    /// Queue whatever can be queued.
    #[inline(always)]
    fn queue_all(&mut self) -> Result<(), LinkError> {
        for slot in 0..self.peers.len() {
            self.queue_send(slot)?;
            self.queue_receive(slot)?;
        }
        Ok(())
    }

    /// Submit what is queued, and run the kernel's deferred work for this ring, without waiting.
    #[inline(always)]
    fn submit(&mut self) -> Result<(), LinkError> {
        let queue = self.ring.submission();
        if queue.is_empty() && !queue.taskrun() && !queue.cq_overflow() {
            return Ok(());
        }
        drop(queue);
        entered(self.ring.submit())
    }

    #[inline(always)]
    fn is_unsent(&self) -> bool {
        self.peers.iter().any(|p| !p.out.is_empty())
    }

    fn poll_ring<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.queue_all()?;
        self.submit()?;
        self.reap()?;
        self.deliver(on)
    }

    #[inline(always)]
    fn wait_ring<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        loop {
            // A send may have found that something arrived; the next receive is queued only after that is handed out.
            let handled = self.deliver(on)?;
            let was_unsent = self.is_unsent();
            self.queue_all()?;
            if handled != 0 {
                self.submit()?;
                return Ok(handled);
            }
            if self.ring.completion().is_empty() {
                entered(self.ring.submit_and_wait(1))?;
            } else {
                self.submit()?;
            }
            self.reap()?;
            let handled = self.deliver(on)?;
            if handled != 0 {
                return Ok(handled);
            }
            self.waiter.look()?;
            if was_unsent {
                return Ok(0);
            }
        }
    }

    /// Room to stage one more frame for `slot`, after looking whether the last one went out.
    #[inline(always)]
    fn has_room(&mut self, slot: usize) -> Result<bool, LinkError> {
        if self.peers[slot].out.has_room() {
            return Ok(true);
        }
        self.queue_send(slot)?;
        self.submit()?;
        self.reap()?;
        Ok(self.peers[slot].out.has_room())
    }
}

/// The queue has a place for every operation that can be under way, so this cannot be met.
const QUEUE_FULL: LinkError = LinkError::Corrupt("the io_uring queue is full");

#[cold]
fn retry_or_fail(is_send: bool, errno: i32) -> Result<(), LinkError> {
    match Errno::from_raw_os_error(errno) {
        Errno::AGAIN | Errno::INTR => Ok(()),
        _ => Err(LinkError::from_errno(
            if is_send { "send" } else { "recv" },
            errno,
        )),
    }
}

#[inline(always)]
fn entered(result: io::Result<usize>) -> Result<(), LinkError> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => cold_not_entered(error),
    }
}

/// Takes the error by value: to look at an `io::Error`, and to drop it, is not for a loop.
#[cold]
#[inline(never)]
fn cold_not_entered(error: io::Error) -> Result<(), LinkError> {
    match Errno::from_io_error(&error) {
        Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
        errno => Err(LinkError::from_errno(
            "io_uring_enter",
            errno.unwrap_or(Errno::IO).raw_os_error(),
        )),
    }
}

impl MessagePort for UringPort {
    const SLOW: bool = true;
    #[inline(always)]
    fn send_bcopy(&mut self, slot: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        if len > self.message_bytes_max {
            return Err(LinkError::Unsupported(
                "a message longer than the port was opened for",
            ));
        }
        if !self.has_room(slot).map_err(|e| self.waiter.explain(e))? {
            return Ok(Post::Busy);
        }
        let peer = &mut self.peers[slot];
        pack(peer.out.stage(header, len));
        if peer.out.is_due() {
            self.queue_send(slot)?;
        }
        Ok(Post::Done)
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.poll_ring(on).map_err(|e| self.waiter.explain(e))
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.wait_ring(on).map_err(|e| self.waiter.explain(e))
    }

    #[inline(always)]
    fn wait_for_room<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.wait(on)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        for slot in 0..self.peers.len() {
            self.queue_send(slot)?;
        }
        self.submit()?;
        self.reap()?;
        Ok(!self.is_unsent())
    }

    fn facts(&self) -> Facts {
        let links: Vec<&Link> = self.peers.iter().map(|p| &p.link).collect();
        (self.describe)(&links)
    }
}

impl Drop for UringPort {
    fn drop(&mut self) {
        for peer in &self.peers {
            for end in [peer.link.tx(), peer.link.rx()] {
                // A socket that is down already ends its operations by itself.
                let _ = socket2::SockRef::from(&end).shutdown(Shutdown::Both);
            }
        }
        let under_way = |peers: &[Peer]| peers.iter().any(|p| p.receiving || p.sending == Sending::Patient);
        for _ in 0..CLOSING_ROUNDS {
            if !under_way(&self.peers) {
                return;
            }
            let args = SubmitArgs::new().timespec(&CLOSING_ROUND);
            // Whatever ended the wait, the completions tell.
            let _ = self.ring.submitter().submit_with_args(1, &args);
            let _ = self.reap();
        }
        // The kernel still writes to the buffers: to lose them, and the sockets, is the lesser evil.
        #[allow(clippy::disallowed_methods)]
        std::mem::forget(std::mem::take(&mut self.peers));
    }
}
