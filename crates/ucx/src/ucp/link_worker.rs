//! A context and workers of UCP, and endpoints to every peer.
//!
//! It must never be used by two threads; only the signal that wakes a sleeping worker comes from another one.

use super::{UcpOptions, Wait};
use crate::error::{UcxError, check};
use crate::link_status::posted;
use parking_lot::Mutex;
use std::ffi::{CString, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, Ordering};
use wirespeed::transport::cancel::Cancel;
use wirespeed::transport::port::{LinkError, Post, Posted};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// A context of UCP: the devices that its workers use.
pub struct Context {
    /// The library.
    pub loaded: &'static Loaded,
    /// It.
    pub context: sys::ucp_context_h,
}

// SAFETY: one rank's thread uses it; other threads at most drop a count, and the last is the port's.
unsafe impl Send for Context {}
// SAFETY: as for Send.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made in `open`, given back once, after its workers: they hold a count.
        unsafe { self.loaded.ucx.ucp_cleanup(self.context) };
    }
}

impl Context {
    /// With the features of the port that will use it.
    pub fn open(loaded: &'static Loaded, options: &UcpOptions, features: u32) -> Result<Arc<Self>, UcxError> {
        let ucx = &loaded.ucx;
        let mut config = null_mut();
        // SAFETY: no prefix, no file, a place to write to.
        let status = unsafe { ucx.ucp_config_read(null(), null(), &mut config) };
        check(loaded, "reading its configuration", status)?;
        let settings = [("TLS", &options.tls), ("NET_DEVICES", &options.devices)];
        let mut result = Ok(());
        for (name, value) in settings {
            let Some(value) = value else { continue };
            let words = (CString::new(name), CString::new(value.as_str()));
            if let (Ok(name), Ok(text)) = words {
                // SAFETY: a live configuration and two strings with their ends.
                let status = unsafe { ucx.ucp_config_modify(config, name.as_ptr(), text.as_ptr()) };
                result = result.and(check(loaded, &format!("setting {name:?} to {value}"), status));
            }
        }
        // SAFETY: plain data, all-zero is valid; the mask says what is in it.
        let mut parameters: sys::ucp_params_t = unsafe { std::mem::zeroed() };
        parameters.field_mask = u64::from(sys::UCP_PARAM_FIELD_FEATURES);
        parameters.features = u64::from(features);
        if options.wait == Wait::Sleep {
            parameters.features |= u64::from(sys::UCP_FEATURE_WAKEUP);
        }
        let mut context = null_mut();
        if result.is_ok() {
            let (major, minor) = (sys::UCP_API_MAJOR, sys::UCP_API_MINOR);
            // SAFETY: whole parameters of this interface's version, a live configuration, a place to write to.
            let status = unsafe { ucx.ucp_init_version(major, minor, &parameters, config, &mut context) };
            result = check(loaded, "starting its protocol layer", status);
        }
        // SAFETY: read above, given back once.
        unsafe { ucx.ucp_config_release(config) };
        result.map(|()| Arc::new(Context { loaded, context }))
    }
}

/// What another thread may do to a worker: wake it.
struct Waker(Mutex<Option<(&'static Loaded, sys::ucp_worker_h)>>);

// SAFETY: the only call through it is one that UCX lets any thread make; the worker is taken away before it ends.
unsafe impl Send for Waker {}
// SAFETY: as for Send.
unsafe impl Sync for Waker {}

impl Waker {
    fn wake(&self) {
        if let Some((loaded, worker)) = *self.0.lock() {
            // SAFETY: a live worker: it is taken away, under the lock, before it is destroyed.
            unsafe { loaded.ucx.ucp_worker_signal(worker) };
        }
    }
}

/// The first error that UCX reported about an endpoint or an operation under way; 0 for none.
#[derive(Clone, Default)]
pub struct Trouble(Arc<AtomicI8>);

impl Trouble {
    /// Something failed.
    #[cold]
    pub fn cold_note(&self, status: sys::ucs_status_t) {
        let _ = self
            .0
            .compare_exchange(0, status, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// A worker of UCP: what makes progress.
pub struct Worker {
    /// What it belongs to.
    pub context: Arc<Context>,
    /// It.
    pub worker: sys::ucp_worker_h,
    progress: unsafe extern "C" fn(sys::ucp_worker_h) -> c_uint,
    waker: Arc<Waker>,
    sleeps: bool,
    trouble: Trouble,
}

// SAFETY: as for `Context`.
unsafe impl Send for Worker {}
// SAFETY: as for `Context`.
unsafe impl Sync for Worker {}

impl Worker {
    /// A worker of `context` that `cancel` wakes.
    pub fn new(context: Arc<Context>, options: &UcpOptions, cancel: &Cancel) -> Result<Arc<Self>, UcxError> {
        let loaded = context.loaded;
        // SAFETY: plain data, all-zero is valid; the mask says what is in it.
        let mut parameters: sys::ucp_worker_params_t = unsafe { std::mem::zeroed() };
        parameters.field_mask = u64::from(sys::UCP_WORKER_PARAM_FIELD_THREAD_MODE);
        parameters.thread_mode = options.thread_mode;
        let mut worker = null_mut();
        // SAFETY: a live context, whole parameters, a place to write to.
        let status = unsafe {
            loaded
                .ucx
                .ucp_worker_create(context.context, &parameters, &mut worker)
        };
        check(loaded, "making a worker", status)?;
        let sleeps = options.wait == Wait::Sleep;
        let waker = Arc::new(Waker(Mutex::new(sleeps.then_some((loaded, worker)))));
        cancel.wake_on_cancel(&waker, Waker::wake);
        Ok(Arc::new(Worker {
            progress: loaded.ucx.ucp_worker_progress,
            context,
            worker,
            waker,
            sleeps,
            trouble: Trouble::default(),
        }))
    }

    /// Move what is under way.
    #[inline(always)]
    pub fn progress(&self) {
        // SAFETY: a live worker of this thread.
        unsafe { (self.progress)(self.worker) };
    }

    /// Whether it sleeps when there is nothing to do.
    #[inline(always)]
    pub fn sleeps(&self) -> bool {
        self.sleeps
    }

    /// Sleep until something happens.
    #[cold]
    #[inline(never)]
    pub fn cold_sleep(&self) -> Result<(), LinkError> {
        // SAFETY: a live worker of this thread with the wake-up feature.
        let status = unsafe { self.context.loaded.ucx.ucp_worker_wait(self.worker) };
        if status < 0 {
            return Err(crate::link_status::cold_error("ucp_worker_wait", status));
        }
        Ok(())
    }

    /// Where the first error is noted that UCX reports.
    pub fn noted(&self) -> Trouble {
        self.trouble.clone()
    }

    /// The first error that UCX reported about an endpoint or an operation under way.
    #[inline(always)]
    pub fn trouble(&self) -> Result<(), LinkError> {
        match self.trouble.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            status => Err(crate::link_status::cold_error("an operation under way", status)),
        }
    }

    /// What UCX calls where an endpoint fails; the worker must outlive its endpoints.
    pub fn error_handler(&self) -> sys::ucp_err_handler_t {
        sys::ucp_err_handler_t {
            cb: Some(note_trouble),
            arg: (&raw const self.trouble).cast_mut().cast(),
        }
    }

    /// What a peer needs to make an endpoint to it.
    pub fn address(&self) -> Result<Vec<u8>, UcxError> {
        let ucx = &self.context.loaded.ucx;
        let (mut address, mut len) = (null_mut(), 0);
        // SAFETY: a live worker, two places to write to.
        let status = unsafe { ucx.ucp_worker_get_address(self.worker, &mut address, &mut len) };
        check(self.context.loaded, "asking for a worker's address", status)?;
        // SAFETY: UCX's address and its length; given back once.
        unsafe {
            let bytes = std::slice::from_raw_parts(address.cast::<u8>(), len).to_vec();
            ucx.ucp_worker_release_address(self.worker, address);
            Ok(bytes)
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        *self.waker.0.lock() = None;
        // SAFETY: made in `new`, destroyed once, after its endpoints: they hold a count.
        unsafe { self.context.loaded.ucx.ucp_worker_destroy(self.worker) };
    }
}

/// # Safety
/// UCX calls it with what the endpoint was given, the worker's.
unsafe extern "C" fn note_trouble(trouble: *mut c_void, _ep: sys::ucp_ep_h, status: sys::ucs_status_t) {
    // SAFETY: it lives as long as the worker.
    unsafe { &*trouble.cast::<Trouble>() }.cold_note(status);
}

/// A flush of a worker: everything that was posted before it has left, or taken effect.
pub struct Flush {
    loaded: &'static Loaded,
    worker: sys::ucp_worker_h,
    request: *mut c_void,
    /// Operations that the one under way answers for.
    covers: u64,
}

impl Flush {
    /// For `worker`, which must outlive it.
    pub fn new(worker: &Worker) -> Self {
        Flush {
            loaded: worker.context.loaded,
            worker: worker.worker,
            request: null_mut(),
            covers: 0,
        }
    }

    /// Begin one if none is under way; whether one is done that was begun after all operations `posted_so_far`. A port
    /// that knows by itself which of its sends are under way gives 0.
    pub fn step(&mut self, worker: &Worker, posted_so_far: u64) -> Result<bool, LinkError> {
        let ucx = &self.loaded.ucx;
        if self.request.is_null() {
            // SAFETY: plain data, all-zero is valid.
            let parameters: sys::ucp_request_param_t = unsafe { std::mem::zeroed() };
            // SAFETY: a live worker of this thread.
            let request = unsafe { ucx.ucp_worker_flush_nbx(self.worker, &parameters) };
            if let Some(status) = failed(request) {
                return refused("ucp_worker_flush_nbx", status).map(|_| false);
            }
            self.request = request;
            self.covers = posted_so_far;
        }
        worker.progress();
        if self.request.is_null() {
            return Ok(true);
        }
        // SAFETY: UCX's request, given back once, when it is done.
        let status = unsafe { ucx.ucp_request_check_status(self.request) };
        if status == sys::UCS_INPROGRESS {
            return Ok(false);
        }
        self.release();
        let covers_all = self.covers == posted_so_far;
        posted("ucp_worker_flush_nbx", status).map(|post| post == Post::Done && covers_all)
    }

    fn release(&mut self) {
        let request = std::mem::replace(&mut self.request, null_mut());
        if !request.is_null() {
            // SAFETY: UCX's request, given back once; it may still be under way.
            unsafe { self.loaded.ucx.ucp_request_free(request) };
        }
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        self.release();
    }
}

/// The error that UCX returned in place of a request, if it did.
#[inline(always)]
pub fn failed(request: sys::ucs_status_ptr_t) -> Option<sys::ucs_status_t> {
    let number = request as isize;
    (sys::UCS_ERR_LAST as isize..0)
        .contains(&number)
        .then_some(number as sys::ucs_status_t)
}

/// As [`wirespeed_ucx_sys::ops`]'s statuses: whether an operation was taken at all.
#[inline(always)]
pub fn refused(operation: &'static str, status: sys::ucs_status_t) -> Posted {
    match status {
        sys::UCS_ERR_NO_RESOURCE => Ok(Post::Busy),
        status => Err(crate::link_status::cold_error(operation, status)),
    }
}
