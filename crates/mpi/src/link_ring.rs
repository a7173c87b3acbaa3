//! Requests of MPI used in turn: each has a place in memory, and they are completed in the order in which they began. It
//! must never reuse a place whose request is under way.

use crate::link::Comm;
use core::ffi::c_int;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::{ConnectError, buffer};
use wirespeed_mpi_sys::{Handle, Mpi, SUCCESS, Status};

const LINE: usize = 64;

/// Requests used in turn, each with a place in memory of its own.
pub struct Ring<H> {
    /// One for each place.
    pub requests: Vec<H>,
    /// The places.
    pub memory: SharedBytes,
    /// Bytes from one place to the next.
    pub stride: usize,
    /// The oldest one under way.
    pub first: usize,
    /// From the oldest on.
    pub under_way: usize,
}

impl<H: Handle> Ring<H> {
    /// `count` places of `bytes` each; an error without the memory.
    pub fn new(count: usize, bytes: usize, null: H, what: &'static str) -> Result<Self, ConnectError> {
        let stride = bytes.saturating_add(LINE - 1) & !(LINE - 1);
        let total = stride.saturating_mul(count);
        Ok(Ring {
            requests: vec![null; count],
            memory: buffer(what, total)?,
            stride,
            first: 0,
            under_way: 0,
        })
    }

    /// All places are under way.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.under_way == self.requests.len()
    }

    /// The place behind the last one under way.
    #[inline(always)]
    pub fn next(&self) -> usize {
        let next = self.first + self.under_way;
        if next >= self.requests.len() {
            next - self.requests.len()
        } else {
            next
        }
    }

    /// The oldest one is done.
    #[inline(always)]
    pub fn forget_first(&mut self) {
        self.first += 1;
        if self.first == self.requests.len() {
            self.first = 0;
        }
        self.under_way -= 1;
    }

    /// Where place `index` lies.
    #[inline(always)]
    pub fn at(&self, index: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(index * self.stride)
    }

    /// Post the receive of up to `len` bytes into the next place. Gives MPI's code.
    ///
    /// # Safety
    /// Not all places are under way, and each has `len` bytes.
    #[inline(always)]
    pub unsafe fn receive(&mut self, comm: &Comm<H>, len: usize, rank: c_int, tag: c_int) -> c_int {
        let (f, byte) = (&comm.mpi.functions, comm.mpi.constants.byte);
        let index = self.next();
        let (place, request) = (self.at(index).cast(), &raw mut self.requests[index]);
        // SAFETY: the caller's promise; nothing else uses the place until the request is done, and the ring outlives it.
        let code = unsafe { (f.irecv)(place, len as c_int, byte, rank, tag, comm.handle, request) };
        self.under_way += usize::from(code == SUCCESS);
        code
    }

    /// Post the send of `len` bytes at `data` as the next request. Gives MPI's code.
    ///
    /// # Safety
    /// Not all places are under way; the data stay as they are until the request is done.
    #[inline(always)]
    pub unsafe fn send(
        &mut self,
        comm: &Comm<H>,
        (data, len): (*const u8, usize),
        rank: c_int,
        tag: c_int,
    ) -> c_int {
        let (f, byte) = (&comm.mpi.functions, comm.mpi.constants.byte);
        let index = self.next();
        let request = &raw mut self.requests[index];
        // SAFETY: the caller's promise; the place of the request holds none that is under way.
        let code = unsafe { (f.isend)(data.cast(), len as c_int, byte, rank, tag, comm.handle, request) };
        self.under_way += usize::from(code == SUCCESS);
        code
    }

    /// Whether the oldest request is done; its status. Errors with MPI's code.
    #[inline(always)]
    pub fn oldest_done(&mut self, mpi: &'static Mpi<H>, status: &mut Status) -> Result<bool, c_int> {
        let mut done = 0;
        let request = &raw mut self.requests[self.first];
        // SAFETY: a request of this port that is under way; the status has room for one of any family.
        let code = unsafe { (mpi.functions.test)(request, &mut done, (&raw mut *status).cast()) };
        if code == SUCCESS { Ok(done != 0) } else { Err(code) }
    }

    /// Take back receives that nothing will come for; false when the library does not give them back.
    pub fn cancel_all(&mut self, mpi: &'static Mpi<H>) -> bool {
        /// Tests of one cancelled receive before it is given up.
        const TESTS_MAX: u32 = 100_000;
        let (f, c) = (&mpi.functions, &mpi.constants);
        while self.under_way > 0 {
            let request = &raw mut self.requests[self.first];
            // SAFETY: a request of this port that is under way.
            if unsafe { (f.cancel)(request) } != SUCCESS {
                return false;
            }
            let mut done = 0;
            for _ in 0..TESTS_MAX {
                // SAFETY: as above.
                let code = unsafe { (f.test)(request, &mut done, c.status_ignore) };
                if code != SUCCESS {
                    return false;
                }
                if done != 0 {
                    break;
                }
            }
            if done == 0 {
                return false;
            }
            self.forget_first();
        }
        true
    }
}
