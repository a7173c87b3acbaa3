//! An open interface of UCX: one device under one transport, for one thread.
//!
//! It must never be dropped before what was made from it: endpoints, memory and keys hold a count of it.

use super::caps::{Caps, Zcopy};
use super::link_walk::{Domain, Name, terminated};
use crate::error::{UcxError, check};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, Ordering};
use wirespeed::transport::Atomics;
use wirespeed::transport::port::{AtomicOp, Width};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::ops;

/// A structure that UCX fills, with room behind it: later releases may have longer ones.
#[repr(C)]
pub struct Padded<T> {
    /// As this release knows it.
    pub value: T,
    spare: [u64; 64],
}

impl<T> Padded<T> {
    /// All zero.
    ///
    /// # Safety
    /// All-zero must be a valid `T`.
    pub unsafe fn zeroed() -> Box<Self> {
        // SAFETY: the caller's promise.
        Box::new(unsafe { std::mem::zeroed() })
    }
}

/// How UCX is to work for an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ways {
    /// What serves events outside our calls.
    pub events: sys::ucs_async_mode_t,
    /// How the worker guards itself against other threads.
    pub threads: sys::ucs_thread_mode_t,
    /// Flags for memory beside its access.
    pub memory: u32,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
            events: sys::UCS_ASYNC_MODE_THREAD_SPINLOCK,
            threads: sys::UCS_THREAD_MODE_SINGLE,
            memory: 0,
        }
    }
}

/// An interface, its worker and what UCX says about it.
pub struct Interface {
    /// How it works.
    pub ways: Ways,
    /// Where its memory is registered.
    pub domain: Arc<Domain>,
    /// It.
    pub iface: sys::uct_iface_h,
    /// What it can do.
    pub attributes: Box<Padded<sys::uct_iface_attr_t>>,
    /// What its memory domain can do.
    pub memory: Box<Padded<sys::uct_md_attr_t>>,
    worker: sys::uct_worker_h,
    events: *mut sys::ucs_async_context_t,
    /// The first error that UCX reported about an endpoint; 0 for none.
    trouble: Box<AtomicI8>,
}

// SAFETY: only the thread that opened it calls it (a rank's own); other threads at most drop a count of it, and the
// last count is the port's, which that thread drops.
unsafe impl Send for Interface {}
// SAFETY: as for Send.
unsafe impl Sync for Interface {}

/// # Safety
/// UCX calls it with the pointer that `open` gave it.
unsafe extern "C" fn note_trouble(
    trouble: *mut c_void,
    _ep: sys::uct_ep_h,
    status: sys::ucs_status_t,
) -> sys::ucs_status_t {
    // SAFETY: the flag lives as long as the interface.
    let trouble = unsafe { &*trouble.cast::<AtomicI8>() };
    let _ = trouble.compare_exchange(0, status, Ordering::AcqRel, Ordering::Relaxed);
    sys::UCS_OK
}

impl Interface {
    /// Open the device called `name`.
    pub fn open(domain: Arc<Domain>, name: &Name, ways: Ways) -> Result<Self, UcxError> {
        let loaded = domain.loaded;
        let ucx = &loaded.ucx;
        let mut this = Interface {
            ways,
            // SAFETY: plain data, all-zero is valid.
            attributes: unsafe { Padded::zeroed() },
            // SAFETY: plain data, all-zero is valid.
            memory: unsafe { Padded::zeroed() },
            domain,
            iface: null_mut(),
            worker: null_mut(),
            events: null_mut(),
            trouble: Box::new(AtomicI8::new(0)),
        };
        // SAFETY: a place to write to; a thread of UCX serves what happens outside our calls, as in ucx_perftest.
        let status = unsafe { ucx.ucs_async_context_create(ways.events, &mut this.events) };
        check(loaded, "making its event context", status)?;
        // SAFETY: the context of above, which outlives the worker.
        let status = unsafe { ucx.uct_worker_create(this.events, ways.threads, &mut this.worker) };
        check(loaded, "making a worker", status)?;
        let (tl, device) = (terminated(&name.tl), terminated(&name.device));
        let mut config = null_mut();
        // SAFETY: an open domain, a name with its end, no prefix, no file, a place to write to.
        let status = unsafe {
            ucx.uct_md_iface_config_read(this.domain.md, tl.as_ptr().cast(), null(), null(), &mut config)
        };
        check(loaded, "reading the configuration of a transport", status)?;
        // SAFETY: plain data, all-zero is valid.
        let mut parameters: Box<Padded<sys::uct_iface_params_t>> = unsafe { Padded::zeroed() };
        let asked = &mut parameters.value;
        asked.field_mask = u64::from(
            sys::UCT_IFACE_PARAM_FIELD_OPEN_MODE
                | sys::UCT_IFACE_PARAM_FIELD_DEVICE
                | sys::UCT_IFACE_PARAM_FIELD_STATS_ROOT
                | sys::UCT_IFACE_PARAM_FIELD_RX_HEADROOM
                | sys::UCT_IFACE_PARAM_FIELD_CPU_MASK
                | sys::UCT_IFACE_PARAM_FIELD_ERR_HANDLER
                | sys::UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG
                | sys::UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS,
        );
        asked.open_mode = u64::from(sys::UCT_IFACE_OPEN_MODE_DEVICE);
        asked.mode.device = sys::uct_iface_params__bindgen_ty_1__bindgen_ty_1 {
            tl_name: tl.as_ptr().cast(),
            dev_name: device.as_ptr().cast(),
        };
        asked.err_handler = Some(note_trouble);
        asked.err_handler_arg = (&raw const *this.trouble).cast_mut().cast();
        // SAFETY: domain and worker are open, parameters and configuration are whole; the configuration is given back
        // once.
        let status = unsafe {
            let status = ucx.uct_iface_open(this.domain.md, this.worker, asked, config, &mut this.iface);
            ucx.uct_config_release(config.cast());
            status
        };
        check(loaded, &format!("opening {}/{}", name.tl, name.device), status)?;
        // SAFETY: an open interface and room for more than its attributes.
        let status = unsafe { ucx.uct_iface_query(this.iface, &mut this.attributes.value) };
        check(loaded, "asking what a transport can do", status)?;
        // SAFETY: an open domain and room for more than its attributes.
        let status = unsafe { ucx.uct_md_query(this.domain.md, &mut this.memory.value) };
        check(loaded, "asking what a memory domain can do", status)?;
        // SAFETY: an open interface of this thread.
        unsafe {
            ops::iface_progress_enable(this.iface, sys::UCT_PROGRESS_SEND | sys::UCT_PROGRESS_RECV);
        }
        Ok(this)
    }

    /// The first error that UCX reported about an endpoint.
    #[inline(always)]
    pub fn trouble(&self) -> Option<sys::ucs_status_t> {
        match self.trouble.load(Ordering::Relaxed) {
            0 => None,
            status => Some(status),
        }
    }

    /// Whether it has a flag of UCX's list of capabilities.
    pub fn has(&self, flag: u64) -> bool {
        self.attributes.value.cap.flags & flag != 0
    }

    /// What it can do, as plain data.
    pub fn caps(&self) -> Caps {
        let cap = &self.attributes.value.cap;
        let when = |flag: u32, size: usize| self.has(u64::from(flag)).then_some(size as u64);
        let zcopy = |flag: u32, min: usize, max: usize, pieces: usize| {
            when(flag, max).map(|max| Zcopy {
                min: min as u64,
                max,
                pieces,
            })
        };
        let host = 1u64 << sys::UCS_MEMORY_TYPE_HOST;
        let memory = &self.memory.value.cap;
        Caps {
            am_short: when(sys::UCT_IFACE_FLAG_AM_SHORT, cap.am.max_short),
            am_bcopy: when(sys::UCT_IFACE_FLAG_AM_BCOPY, cap.am.max_bcopy),
            am_zcopy: zcopy(
                sys::UCT_IFACE_FLAG_AM_ZCOPY,
                cap.am.min_zcopy,
                cap.am.max_zcopy,
                cap.am.max_iov,
            ),
            am_header: cap.am.max_hdr as u64,
            am_pieces: cap.am.max_iov,
            put_short: when(sys::UCT_IFACE_FLAG_PUT_SHORT, cap.put.max_short),
            put_bcopy: when(sys::UCT_IFACE_FLAG_PUT_BCOPY, cap.put.max_bcopy),
            put_zcopy: zcopy(
                sys::UCT_IFACE_FLAG_PUT_ZCOPY,
                cap.put.min_zcopy,
                cap.put.max_zcopy,
                cap.put.max_iov,
            ),
            get_bcopy: when(sys::UCT_IFACE_FLAG_GET_BCOPY, cap.get.max_bcopy),
            get_zcopy: zcopy(
                sys::UCT_IFACE_FLAG_GET_ZCOPY,
                cap.get.min_zcopy,
                cap.get.max_zcopy,
                cap.get.max_iov,
            ),
            atomics: self.atomics(),
            host_memory: memory.access_mem_types & host != 0,
            connects: self.has(sys::UCT_IFACE_FLAG_CONNECT_TO_IFACE)
                || self.has(sys::UCT_IFACE_FLAG_CONNECT_TO_EP),
            latency_ns: (self.attributes.value.latency.c * 1e9) as u64,
        }
    }

    fn atomics(&self) -> Atomics {
        let cap = &self.attributes.value.cap;
        let mut atomics = Atomics::NONE;
        let widths = [
            (Width::W4, cap.atomic32.op_flags, cap.atomic32.fop_flags),
            (Width::W8, cap.atomic64.op_flags, cap.atomic64.fop_flags),
        ];
        for (width, posted, fetching) in widths {
            let table = [
                (AtomicOp::Add, posted, sys::UCT_ATOMIC_OP_ADD),
                (AtomicOp::FetchAdd, fetching, sys::UCT_ATOMIC_OP_ADD),
                (AtomicOp::Swap, fetching, sys::UCT_ATOMIC_OP_SWAP),
                (AtomicOp::CompareSwap, fetching, sys::UCT_ATOMIC_OP_CSWAP),
            ];
            for (op, flags, bit) in table {
                if flags & (1 << bit) != 0 {
                    atomics = atomics.with(op, width);
                }
            }
        }
        atomics
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        let ucx = &self.domain.loaded.ucx;
        // SAFETY: each was made in `open`, as far as it got, and is given back once, in reverse order; nothing that was
        // made from the interface is left, for it would hold a count.
        unsafe {
            if !self.iface.is_null() {
                ucx.uct_iface_close(self.iface);
            }
            if !self.worker.is_null() {
                ucx.uct_worker_destroy(self.worker);
            }
            if !self.events.is_null() {
                ucx.ucs_async_context_destroy(self.events);
            }
        }
    }
}
