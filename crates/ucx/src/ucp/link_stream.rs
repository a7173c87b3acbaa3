//! Matched messages in the byte stream of an endpoint: a receive takes as many bytes as the send has, in the order of
//! sending, so it serves tests in which both ends know what comes next. A message without bytes is one byte.
//!
//! It must never touch a range of the buffer that a request uses.

use super::UcpOptions;
use super::link_endpoint::{Endpoint, Exposed, connect};
use super::link_inflow::{Awaited, Inflow};
use super::link_memory::allocate;
use super::link_requests::{Requests, sent, streamed};
use super::link_worker::{Context, Flush, Worker};
use std::ffi::c_void;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{Facts, LinkError, Request, TaggedPort};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, Ran, TaggedRunner};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Of messages no longer than this some are words that ranks tell each other, which are read.
const WORDS_BYTES_MAX: usize = 64;

/// What stands for a message without bytes, at the sender and at the receiver.
const EMPTY: [usize; 2] = [0, 64];

/// What UCX is given: the data of a message, or, for one without, the byte at `empty`, which no handle covers.
#[inline(always)]
fn one_byte_at_least(
    (data, count): (*mut c_void, usize),
    empty: *mut u8,
    parameters: &mut sys::ucp_request_param_t,
) -> (*mut c_void, usize) {
    if count > 0 {
        return (data, count);
    }
    parameters.op_attr_mask &= !sys::UCP_OP_ATTR_FIELD_MEMH;
    (empty.cast(), 1)
}

/// Connect and run. `DATA`: receive where UCX has the data.
pub fn open<R: TaggedRunner, const DATA: bool>(
    ctx: &Connect,
    options: &UcpOptions,
    runner: R,
) -> Ran<R::Output> {
    if ctx.needs.message_bytes == 0 {
        return Err(ConnectError::Other(
            "a stream has no messages of 0 bytes: use a size of 1 or more".to_owned(),
        ));
    }
    let loaded = options.library()?;
    let context = Context::open(loaded, options, sys::UCP_FEATURE_STREAM)?;
    let worker = Worker::new(context.clone(), options, &ctx.cancel)?;
    let mut requests = Requests::new(ctx, options, &context)?;
    if DATA {
        requests.receive_in_one();
    }
    let (empty, _) = allocate(&context, options, EMPTY[1] + 1)?;
    let workers = [worker];
    let endpoints = connect(ctx, options, &workers, Exposed::default())?;
    let [worker] = workers;
    let inflow = |endpoint: &Endpoint| Inflow::new(loaded, endpoint.ep, &requests);
    let port = UcpStream::<DATA> {
        inflows: endpoints.iter().map(inflow).collect(),
        listed: requests.are_receives_listed(),
        checks: ctx.case.check,
        flush: Flush::new(&worker),
        endpoints,
        worker,
        loaded,
        requests,
        empty,
        waiter: ctx.waiter(),
        facts: options.facts(loaded),
    };
    Ok(runner.run(port))
}

/// Endpoints to every peer of one worker. Dropped in this order, after UCX's data were given back; what UCX calls back with is
/// dropped after the worker.
pub struct UcpStream<const DATA: bool> {
    flush: Flush,
    endpoints: Vec<Endpoint>,
    worker: Arc<Worker>,
    loaded: &'static Loaded,
    inflows: Box<[Inflow]>,
    /// Receives are lists, each of which UCX fills as a whole.
    listed: bool,
    /// Payloads are checked where they were received.
    checks: bool,
    requests: Requests,
    empty: SharedBytes,
    waiter: Waiter,
    facts: Facts,
}

impl<const DATA: bool> Drop for UcpStream<DATA> {
    fn drop(&mut self) {
        self.inflows.iter_mut().for_each(Inflow::release);
    }
}

impl<const DATA: bool> UcpStream<DATA> {
    #[inline(always)]
    fn advance(&mut self) -> Result<(), LinkError> {
        self.worker.progress();
        self.worker.trouble()?;
        for inflow in &mut self.inflows {
            inflow.advance::<DATA>(&self.requests)?;
        }
        Ok(())
    }

    /// Post a receive into the pieces of a list.
    #[inline(never)]
    fn post_list(&mut self, peer: usize, offset: usize, len: usize) -> Result<Request, LinkError> {
        let empty = self.empty.as_ptr().wrapping_add(EMPTY[1]);
        let (ucx, ep) = (&self.loaded.ucx, self.endpoints[peer].ep);
        let part = (false, offset, len);
        self.requests
            .post("ucp_stream_recv_nbx", part, |data, count, parameters| {
                let (data, count) = one_byte_at_least((data, count), empty, parameters);
                parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_FLAGS;
                parameters.flags = sys::UCP_STREAM_RECV_FLAG_WAITALL;
                parameters.cb.recv_stream = Some(streamed);
                let mut length = 0;
                // SAFETY: a live endpoint of this thread, a range of the buffer that this request owns until it is done.
                unsafe { ucx.ucp_stream_recv_nbx(ep, data, count, &mut length, parameters) }
            })
    }
}

impl<const DATA: bool> TaggedPort for UcpStream<DATA> {
    const SLOW: bool = true;

    #[inline(always)]
    fn buffer(&self) -> &SharedBytes {
        &self.requests.buffer
    }

    #[inline(always)]
    fn post_recv(&mut self, peer: usize, _: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        if self.listed {
            return self.post_list(peer, offset, len);
        }
        let request = self.requests.take(false, offset, len)?;
        let at = match len {
            0 => self.empty.as_ptr().wrapping_add(EMPTY[1]),
            _ => self.requests.buffer.as_ptr().wrapping_add(offset),
        };
        let inflow = &mut self.inflows[peer];
        inflow.wait(Awaited {
            request,
            at,
            len: len.max(1),
            is_mapped: len > 0,
            is_read: self.checks || len <= WORDS_BYTES_MAX,
        })?;
        if !DATA {
            inflow.advance::<DATA>(&self.requests)?;
        }
        Ok(request)
    }

    #[inline(always)]
    fn post_send(&mut self, peer: usize, _: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let empty = self.empty.as_ptr().wrapping_add(EMPTY[0]);
        let (ucx, ep) = (&self.loaded.ucx, self.endpoints[peer].ep);
        let part = (true, offset, len);
        self.requests
            .post("ucp_stream_send_nbx", part, |data, count, parameters| {
                let (data, count) = one_byte_at_least((data, count), empty, parameters);
                parameters.cb.send = Some(sent);
                // SAFETY: a live endpoint of this thread, a range of the buffer that this request owns until it is done.
                unsafe { ucx.ucp_stream_send_nbx(ep, data, count, parameters) }
            })
    }

    #[inline(always)]
    fn done(&mut self, request: Request) -> Result<bool, LinkError> {
        if self.requests.is_under_way(request) {
            self.advance()?;
        }
        self.requests.done(request)
    }

    #[inline(always)]
    fn wait_all(&mut self, requests: &mut Vec<Request>) -> Result<(), LinkError> {
        while let Some(&request) = requests.last() {
            if self.done(request)? {
                requests.pop();
            } else if self.worker.sleeps() {
                self.waiter.look()?;
                self.worker.cold_sleep()?;
            } else {
                self.waiter.idle()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.advance()?;
        let flushed = self.flush.step(&self.worker, 0)?;
        Ok(flushed && !self.requests.are_sends_under_way())
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
