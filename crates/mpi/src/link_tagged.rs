//! The port of matched messages: `MPI_Isend`, `MPI_Irecv` and their completion, nothing between.
//!
//! Requests lie side by side in the order in which they were posted, so that those which are waited for at once go to the
//! library where they lie, in one piece or a few. With `wait=poll` completion is tested for, so that a cancelled run ends; with
//! `wait=block` the library waits, as the incumbents let it.

use crate::link::{Comm, abandon};
use crate::link_error::cold_error;
use crate::link_lanes::{Lane, Peer};
use crate::options::{MpiOptions, WaitMode};
use core::ffi::{c_int, c_void};
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{Facts, LinkError, Request, TaggedPort};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, buffer};
use wirespeed_mpi_sys::functions::Count;
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS};

/// Arrays longer than this are tested whole only once the request that should complete last has: the last receive (sends
/// complete early), else the last one.
const FEW: usize = 4;
/// Largest count of the functions with `int` counts.
const COUNT_MAX: usize = c_int::MAX as usize;

/// What a kept persistent request does.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Repeated {
    send: bool,
    peer: usize,
    tag: u64,
    offset: usize,
    len: usize,
}

/// A port on one communicator.
pub struct TaggedLink<H: Handle, const PERSISTENT: bool> {
    comm: Comm<H>,
    peers: Vec<Peer<H>>,
    /// What is added to the tags of this rank's messages.
    tag_base: c_int,
    buffer: SharedBytes,
    /// Requests by their numbers; null where none is under way. Used in turn.
    slots: Vec<H>,
    /// Which of them are receives: these complete last.
    receives: Box<[bool]>,
    /// The number behind that of the last request.
    next: usize,
    /// What the persistent requests do, by their numbers; whether each is under way.
    repeated: Vec<(Repeated, bool)>,
    cursor: usize,
    under_way: usize,
    block: bool,
    waiter: Waiter,
    tag_max: u64,
    requests_max: usize,
    /// A datatype of one message that is too long for an `int`.
    large: Option<(usize, H)>,
    is_long: bool,
}

impl<H: Handle, const PERSISTENT: bool> TaggedLink<H, PERSISTENT> {
    /// Open it for the sizes that `ctx` needs.
    pub fn open(mpi: &'static Mpi<H>, ctx: &Connect, options: &MpiOptions) -> Result<Self, ConnectError> {
        let needs = &ctx.needs;
        // First what all ranks do together: what fails here alone then leaves nobody waiting in it.
        let Lane {
            comm,
            tag_base,
            tag_max,
            peers,
        } = Lane::open(mpi, ctx)?;
        let buffer = buffer("the buffer of tagged messages", needs.buffer_bytes)?;
        let null = mpi.constants.request_null;
        let is_long = needs.message_bytes > COUNT_MAX;
        let large = match is_long && mpi.functions.isend_c.is_none() {
            true => Some((needs.message_bytes, large_type(mpi, needs.message_bytes)?)),
            false => None,
        };
        Ok(TaggedLink {
            tag_max,
            tag_base,
            comm,
            peers,
            buffer,
            slots: vec![null; needs.requests_max],
            receives: vec![false; needs.requests_max].into_boxed_slice(),
            next: 0,
            repeated: Vec::with_capacity(needs.requests_max * 2),
            cursor: 0,
            under_way: 0,
            block: options.wait == WaitMode::Block,
            waiter: ctx.waiter(),
            requests_max: needs.requests_max,
            large,
            is_long,
        })
    }

    #[inline(always)]
    fn checked(&self, op: &'static str, code: c_int) -> Result<(), LinkError> {
        if code == SUCCESS {
            Ok(())
        } else {
            Err(cold_error(self.comm.mpi, op, code))
        }
    }

    /// A number for one more request: the next one, or else the first from there on, and round, that is free.
    #[inline(always)]
    fn number(&mut self) -> Result<usize, LinkError> {
        let null = self.comm.mpi.constants.request_null;
        let number = match self.slots.get(self.next) {
            Some(slot) if *slot == null => self.next,
            _ => self.cold_number(null)?,
        };
        self.next = number + 1;
        Ok(number)
    }

    #[cold]
    #[inline(never)]
    fn cold_number(&self, null: H) -> Result<usize, LinkError> {
        let (before, from) = self.slots.split_at(self.next.min(self.slots.len()));
        let free = |slots: &[H]| slots.iter().position(|slot| *slot == null);
        let number = free(from).map(|at| before.len() + at).or_else(|| free(before));
        number.ok_or(LinkError::Exhausted("requests outstanding"))
    }

    #[inline(always)]
    fn place(&self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<*mut c_void, LinkError> {
        let Some(place) = self.buffer.place(offset, len) else {
            return Err(LinkError::Unsupported("a range outside of the buffer"));
        };
        if tag > self.tag_max || peer >= self.peers.len() {
            return Err(LinkError::Unsupported("a tag or peer that MPI has not"));
        }
        Ok(place.cast())
    }

    /// Process, tag and communicator of a message to or from `peer`.
    #[inline(always)]
    fn address(&self, send: bool, peer: usize, tag: u64) -> (c_int, c_int, H) {
        let peer = &self.peers[peer];
        match send {
            true => (peer.process, tag as c_int + self.tag_base, peer.comm),
            false => (peer.process, tag as c_int + peer.tag_base, self.comm.handle),
        }
    }

    #[inline(always)]
    fn post(
        &mut self,
        send: bool,
        peer: usize,
        tag: u64,
        offset: usize,
        len: usize,
    ) -> Result<Request, LinkError> {
        let data = self.place(peer, tag, offset, len)?;
        if PERSISTENT {
            return self.start(
                data,
                Repeated {
                    send,
                    peer,
                    tag,
                    offset,
                    len,
                },
            );
        }
        let number = self.number()?;
        let (f, c) = (&self.comm.mpi.functions, &self.comm.mpi.constants);
        let (rank, tag, comm) = self.address(send, peer, tag);
        let request = &raw mut self.slots[number];
        let code = if len > COUNT_MAX {
            self.cold_post_large(send, data, len, (rank, tag, comm), request)?
        } else if send {
            // SAFETY: `data` has `len` bytes in the buffer, which lives until no request is under way; the engine leaves
            // them alone until the request is done. The slot holds no request that is under way.
            unsafe { (f.isend)(data, len as c_int, c.byte, rank, tag, comm, request) }
        } else {
            // SAFETY: as for the send.
            unsafe { (f.irecv)(data, len as c_int, c.byte, rank, tag, comm, request) }
        };
        self.checked(if send { "MPI_Isend" } else { "MPI_Irecv" }, code)?;
        if let Some(receive) = self.receives.get_mut(number) {
            *receive = !send;
        }
        self.under_way += 1;
        Ok(Request(number as u32))
    }

    /// A message whose length is beyond an `int`: the function with a large count, else one element of a large type.
    #[cold]
    #[inline(never)]
    fn cold_post_large(
        &self,
        send: bool,
        data: *mut c_void,
        len: usize,
        (rank, tag, comm): (c_int, c_int, H),
        request: *mut H,
    ) -> Result<c_int, LinkError> {
        let (f, c) = (&self.comm.mpi.functions, &self.comm.mpi.constants);
        Ok(match (send, f.isend_c, f.irecv_c, self.large) {
            // SAFETY: as for the shorter message.
            (true, Some(isend), ..) => unsafe { isend(data, len as Count, c.byte, rank, tag, comm, request) },
            // SAFETY: as for the shorter message.
            (false, _, Some(irecv), _) => unsafe {
                irecv(data, len as Count, c.byte, rank, tag, comm, request)
            },
            (_, _, _, Some((bytes, kind))) if bytes == len => match send {
                // SAFETY: as for the shorter message; the type spans `len` bytes.
                true => unsafe { (f.isend)(data, 1, kind, rank, tag, comm, request) },
                // SAFETY: as above.
                false => unsafe { (f.irecv)(data, 1, kind, rank, tag, comm, request) },
            },
            _ => {
                return Err(LinkError::Unsupported(
                    "a message of 2 GiB or more in another size than the test's",
                ));
            }
        })
    }

    /// Start the persistent request that does `what`, made at its first use. The loops repeat themselves, so the next one
    /// is most often the one behind the last.
    #[inline(always)]
    fn start(&mut self, data: *mut c_void, what: Repeated) -> Result<Request, LinkError> {
        let count = self.repeated.len();
        let mut number = usize::MAX;
        for step in 0..count {
            let at = (self.cursor + step) % count;
            if self.repeated[at] == (what, false) {
                number = at;
                break;
            }
        }
        if number == usize::MAX {
            number = self.cold_make(data, what)?;
        }
        // SAFETY: an inactive persistent request of this library.
        let code = unsafe { (self.comm.mpi.functions.start)(&raw mut self.slots[number]) };
        self.checked("MPI_Start", code)?;
        self.repeated[number].1 = true;
        self.cursor = number + 1;
        self.under_way += 1;
        Ok(Request(number as u32))
    }

    #[cold]
    #[inline(never)]
    fn cold_make(&mut self, data: *mut c_void, what: Repeated) -> Result<usize, LinkError> {
        if what.len > COUNT_MAX {
            return Err(LinkError::Unsupported("persistent requests of 2 GiB or more"));
        }
        let (f, c) = (&self.comm.mpi.functions, &self.comm.mpi.constants);
        let (rank, tag, comm) = self.address(what.send, what.peer, what.tag);
        let mut request = c.request_null;
        let code = match what.send {
            // SAFETY: the range lies in the buffer, which lives until no request is under way.
            true => unsafe { (f.send_init)(data, what.len as c_int, c.byte, rank, tag, comm, &mut request) },
            // SAFETY: as above.
            false => unsafe { (f.recv_init)(data, what.len as c_int, c.byte, rank, tag, comm, &mut request) },
        };
        self.checked("MPI_Send_init", code)?;
        let number = self.repeated.len();
        if number < self.slots.len() {
            self.slots[number] = request;
        } else {
            self.slots.push(request);
        }
        self.repeated.push((what, false));
        Ok(number)
    }

    /// Wait until `count` requests from number `first` on are done.
    #[inline(always)]
    fn wait_for(&mut self, first: usize, count: usize) -> Result<(), LinkError> {
        let f = self.comm.mpi.functions;
        let ignore = self.comm.mpi.constants.status_ignore;
        let Some(array) = self.slots.get_mut(first..first + count).map(<[H]>::as_mut_ptr) else {
            return Err(LinkError::Unsupported("a request that was not posted"));
        };
        if self.block {
            // SAFETY: `count` requests of this port lie there; statuses are not wanted.
            let code = unsafe { (f.waitall)(count as c_int, array, ignore) };
            return self.checked("MPI_Waitall", code);
        }
        let mut done: c_int = 0;
        if count == 1 || count > FEW {
            // Testing all again and again would cost their number each time.
            let receives = self.receives.get(first..first + count).unwrap_or_default();
            let last = receives.iter().rposition(|receive| *receive);
            let last = array.wrapping_add(last.unwrap_or(count - 1));
            loop {
                // SAFETY: a request of this port; a done one becomes null (a persistent one inactive), which tests as done.
                let code = unsafe { (f.test)(last, &mut done, ignore) };
                self.checked("MPI_Test", code)?;
                if done != 0 {
                    break;
                }
                self.waiter.idle()?;
            }
            if count == 1 {
                return Ok(());
            }
        }
        loop {
            // SAFETY: as for the call that waits.
            let code = unsafe { (f.testall)(count as c_int, array, &mut done, ignore) };
            self.checked("MPI_Testall", code)?;
            if done != 0 {
                return Ok(());
            }
            self.waiter.idle()?;
        }
    }

    /// The library has taken `count` requests from number `first` on for done.
    #[inline(always)]
    fn forget(&mut self, first: usize, count: usize) {
        self.under_way -= count;
        if PERSISTENT {
            for (_, is_under_way) in &mut self.repeated[first..first + count] {
                *is_under_way = false;
            }
        } else if self.under_way == 0 {
            self.next = 0;
        }
    }
}

impl<H: Handle, const PERSISTENT: bool> TaggedPort for TaggedLink<H, PERSISTENT> {
    const SLOW: bool = true;

    #[inline(always)]
    fn buffer(&self) -> &SharedBytes {
        &self.buffer
    }

    #[inline(always)]
    fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        self.post(false, peer, tag, offset, len)
    }

    #[inline(always)]
    fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        self.post(true, peer, tag, offset, len)
    }

    #[inline(always)]
    fn done(&mut self, request: Request) -> Result<bool, LinkError> {
        let number = request.0 as usize;
        let mut done = 0;
        let ignore = self.comm.mpi.constants.status_ignore;
        // SAFETY: a request of this port that is under way.
        let code = unsafe { (self.comm.mpi.functions.test)(&raw mut self.slots[number], &mut done, ignore) };
        self.checked("MPI_Test", code)?;
        if done != 0 {
            self.forget(number, 1);
        } else {
            self.waiter.idle()?;
        }
        Ok(done != 0)
    }

    #[inline(always)]
    fn wait_all(&mut self, requests: &mut Vec<Request>) -> Result<(), LinkError> {
        let mut left = requests.as_slice();
        while let Some(first) = left.first() {
            let first = first.0 as usize;
            let follows = |(number, request): (usize, &Request)| request.0 as usize == number;
            let count = (first..).zip(left).take_while(|pair| follows(*pair)).count();
            let waited = self.wait_for(first, count);
            if waited.is_err() {
                let done = requests.len() - left.len();
                cold_forget(requests, done);
                return waited;
            }
            self.forget(first, count);
            left = &left[count..];
        }
        requests.clear();
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        // Sends are requests, and those are waited for one by one; beside them the library is given a turn.
        self.checked("MPI_Iprobe", self.comm.turn())?;
        Ok(true)
    }

    fn facts(&self) -> Facts {
        let mut facts = crate::options::facts();
        facts.insert(
            "requests".into(),
            if PERSISTENT { "persistent" } else { "plain" }.into(),
        );
        facts.insert(
            "completion".into(),
            if self.block { "MPI_Waitall" } else { "MPI_Testall" }.into(),
        );
        if self.is_long {
            let how = match self.large {
                Some(_) => "a datatype that spans the message",
                None => "MPI_Isend_c",
            };
            facts.insert("large_counts".into(), how.into());
        }
        facts.insert("requests_max".into(), self.requests_max.to_string());
        facts
    }
}

impl<H: Handle, const PERSISTENT: bool> Drop for TaggedLink<H, PERSISTENT> {
    fn drop(&mut self) {
        if self.under_way > 0 {
            // The library may still read and write there.
            self.comm.quiet = false;
            abandon(self.buffer.clone());
            abandon(std::mem::take(&mut self.slots));
            return;
        }
        let f = &self.comm.mpi.functions;
        if PERSISTENT {
            for request in &mut self.slots[..self.repeated.len()] {
                // SAFETY: an inactive persistent request of this port.
                unsafe { (f.request_free)(request) };
            }
        }
        if let Some((_, mut kind)) = self.large {
            // SAFETY: a type that this port made; no message uses it any more.
            unsafe { (f.type_free)(&mut kind) };
        }
    }
}

/// The first `done` of them are waited for.
#[cold]
#[inline(never)]
fn cold_forget(requests: &mut Vec<Request>, done: usize) {
    requests.drain(..done);
}

/// A type of `bytes` bytes in one piece: blocks of 1 GiB and a rest.
fn large_type<H: Handle>(mpi: &'static Mpi<H>, bytes: usize) -> Result<H, ConnectError> {
    const BLOCK: usize = 1 << 30;
    let (f, c) = (&mpi.functions, &mpi.constants);
    let checked = |op: &'static str, code: c_int| match code {
        SUCCESS => Ok(()),
        code => Err(ConnectError::Other(cold_error(mpi, op, code).to_string())),
    };
    let (blocks, rest) = (bytes / BLOCK, bytes % BLOCK);
    let (mut block, mut whole) = (H::BLANK, H::BLANK);
    // SAFETY: plain numbers, and a handle that the call writes.
    checked("MPI_Type_contiguous", unsafe {
        (f.type_contiguous)(BLOCK as c_int, c.byte, &mut block)
    })?;
    let lengths = [blocks as c_int, rest as c_int];
    let places = [0, (blocks * BLOCK) as isize];
    let kinds = [block, c.byte];
    // SAFETY: the three arrays have two elements each.
    let code =
        unsafe { (f.type_create_struct)(2, lengths.as_ptr(), places.as_ptr(), kinds.as_ptr(), &mut whole) };
    checked("MPI_Type_create_struct", code)?;
    // SAFETY: a type made above, not yet used.
    checked("MPI_Type_commit", unsafe { (f.type_commit)(&mut whole) })?;
    // SAFETY: the whole keeps what it needs of it.
    checked("MPI_Type_free", unsafe { (f.type_free)(&mut block) })?;
    Ok(whole)
}
