//! A context and workers of UCP, and endpoints to every peer.
//!
//! It must never be used by two threads; only the signal that wakes a sleeping worker comes from another one.

use super::{UcpOptions, Wait};
use crate::error::{UcxError, check};
use crate::link_status::posted;
use crate::region::{Region, roomy};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, Ordering};
use wirespeed::host::boot_id;
use wirespeed::transport::cancel::Cancel;
use wirespeed::transport::port::{LinkError, Post, Posted};
use wirespeed::transport::{Connect, ConnectError};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Times that a closing endpoint is helped along; a peer that is gone answers no more.
const CLOSING_ROUNDS: usize = 100_000;

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

    fn address(&self) -> Result<Vec<u8>, UcxError> {
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

/// What a rank tells the others.
#[derive(Debug, Serialize, Deserialize)]
struct Address {
    ucx: String,
    /// The machine, where it has a name.
    machine: Option<String>,
    /// One for all peers, or one for each.
    workers: Vec<Vec<u8>>,
    peers: Vec<u32>,
    region_base: u64,
    region_bytes: u64,
    region_key: Vec<u8>,
}

/// Memory of this rank that its peers may reach.
#[derive(Default)]
pub struct Exposed {
    /// Where it begins.
    pub base: u64,
    /// Its length.
    pub bytes: u64,
    /// Its key, packed.
    pub key: Vec<u8>,
}

/// An endpoint to a peer.
pub struct Endpoint {
    worker: Arc<Worker>,
    /// UCP's endpoint.
    pub ep: sys::ucp_ep_h,
    /// The place that this rank has in the peer's list.
    pub slot_there: c_uint,
    /// The peer is on another machine, or nobody knows.
    pub is_far: bool,
    /// The peer's region.
    pub region: Region,
    /// Its key; null for none.
    pub rkey: sys::ucp_rkey_h,
    forced: bool,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let ucx = &self.worker.context.loaded.ucx;
        // SAFETY: plain data, all-zero is valid.
        let mut parameters: sys::ucp_request_param_t = unsafe { std::mem::zeroed() };
        if self.forced && self.worker.trouble().is_err() {
            parameters.op_attr_mask = sys::UCP_OP_ATTR_FIELD_FLAGS;
            parameters.flags = sys::UCP_EP_CLOSE_FLAG_FORCE;
        }
        // SAFETY: the key is given back once, before its endpoint, which is closed once, before its worker; the request
        // is given back once.
        unsafe {
            if !self.rkey.is_null() {
                ucx.ucp_rkey_destroy(self.rkey);
            }
            let request = ucx.ucp_ep_close_nbx(self.ep, &parameters);
            if request.is_null() || failed(request).is_some() {
                return;
            }
            for _ in 0..CLOSING_ROUNDS {
                if ucx.ucp_request_check_status(request) != sys::UCS_INPROGRESS {
                    break;
                }
                self.worker.progress();
            }
            ucx.ucp_request_free(request);
        }
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

/// Connect `workers` (one for all peers, or one for each) to all peers. Collective.
pub fn connect(
    ctx: &Connect,
    options: &UcpOptions,
    workers: &[Arc<Worker>],
    exposed: Exposed,
) -> Result<Vec<Endpoint>, ConnectError> {
    let loaded = workers.first().map(|w| w.context.loaded);
    let own = Address {
        ucx: loaded.map(|l| l.version.to_string()).unwrap_or_default(),
        machine: boot_id().ok(),
        workers: workers.iter().map(|w| w.address()).collect::<Result<_, _>>()?,
        peers: ctx.peers.to_vec(),
        region_base: exposed.base,
        region_bytes: exposed.bytes,
        region_key: exposed.key,
    };
    let blob = serde_json::to_vec(&own).map_err(|e| ConnectError::Other(e.to_string()))?;
    let blobs = ctx.exchange(&blob)?;
    let me = ctx.bootstrap.rank();
    let mut endpoints = Vec::with_capacity(ctx.peers.len());
    for (slot, &rank) in ctx.peers.iter().enumerate() {
        let bad = |what: String| ConnectError::BadPeer { rank, what };
        let blob = blobs
            .get(rank as usize)
            .ok_or_else(|| bad("there is no such rank".into()))?;
        let theirs: Address =
            serde_json::from_slice(blob).map_err(|e| bad(format!("an unreadable address: {e}")))?;
        if theirs.ucx != own.ucx {
            let both = (theirs.ucx, own.ucx);
            return Err(bad(format!(
                "it has UCX {}, this rank {}: use the same",
                both.0, both.1
            )));
        }
        let there = theirs.peers.iter().position(|peer| *peer == me);
        let there = there.ok_or_else(|| bad(format!("rank {me} is none of its peers")))?;
        let address = theirs
            .workers
            .get(there.min(theirs.workers.len().saturating_sub(1)));
        let address = address.ok_or_else(|| bad("it has no worker".into()))?;
        let worker = &workers[slot.min(workers.len() - 1)];
        let mut endpoint = reach(worker, options, address)?;
        endpoint.slot_there = there as c_uint;
        endpoint.is_far = own.machine.is_none() || theirs.machine != own.machine;
        endpoint.region = Region::new(theirs.region_base, theirs.region_bytes);
        if !theirs.region_key.is_empty() {
            unpack(&mut endpoint, &theirs.region_key)?;
        }
        endpoints.push(endpoint);
    }
    // After this everybody has everybody's address.
    ctx.exchange(&[])?;
    Ok(endpoints)
}

fn reach(worker: &Arc<Worker>, options: &UcpOptions, address: &[u8]) -> Result<Endpoint, UcxError> {
    let loaded = worker.context.loaded;
    let address = roomy(address);
    // SAFETY: plain data, all-zero is valid; the mask says what is in it.
    let mut parameters: sys::ucp_ep_params_t = unsafe { std::mem::zeroed() };
    parameters.field_mask = u64::from(
        sys::UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
            | sys::UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
            | sys::UCP_EP_PARAM_FIELD_ERR_HANDLER,
    );
    parameters.address = address.as_ptr().cast();
    parameters.err_mode = match options.peer_errors {
        true => sys::UCP_ERR_HANDLING_MODE_PEER,
        false => sys::UCP_ERR_HANDLING_MODE_NONE,
    };
    parameters.err_handler = sys::ucp_err_handler_t {
        cb: Some(note_trouble),
        arg: (&raw const worker.trouble).cast_mut().cast(),
    };
    let mut ep = null_mut();
    // SAFETY: a live worker, whole parameters, the address of a worker of the same release, a place to write to.
    let status = unsafe { loaded.ucx.ucp_ep_create(worker.worker, &parameters, &mut ep) };
    check(loaded, "making an endpoint", status)?;
    Ok(Endpoint {
        worker: worker.clone(),
        ep,
        slot_there: 0,
        is_far: false,
        region: Region::default(),
        rkey: null_mut(),
        forced: options.peer_errors,
    })
}

fn unpack(endpoint: &mut Endpoint, key: &[u8]) -> Result<(), UcxError> {
    let loaded = endpoint.worker.context.loaded;
    let key = roomy(key);
    // SAFETY: a live endpoint, the key of a peer of the same release, a place to write to.
    let status = unsafe {
        loaded
            .ucx
            .ucp_ep_rkey_unpack(endpoint.ep, key.as_ptr().cast(), &mut endpoint.rkey)
    };
    check(loaded, "unpacking the key of a peer's memory", status)
}
