//! Matched messages in the byte stream of an endpoint: a receive takes as many bytes as the send has, in the order of
//! sending, so it serves tests in which both ends know what comes next. A message without bytes is one byte.
//!
//! It must never touch a range of the buffer that a request uses.

use super::UcpOptions;
use super::link_memory::allocate;
use super::link_requests::{Requests, sent, streamed};
use super::link_worker::{Context, Endpoint, Exposed, Flush, Worker, connect, failed};
use crate::link_status::cold_error;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::adapt::FixedQueue;
use wirespeed::transport::port::{Facts, LinkError, Request, TaggedPort};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, Ran, TaggedRunner};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

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

/// A receive that waits for UCX's data.
#[derive(Clone, Copy)]
struct Awaited {
    request: Request,
    at: *mut u8,
    len: usize,
}

/// Data of UCX's that no receive has taken yet.
struct Held {
    data: *mut u8,
    len: usize,
    used: usize,
}

/// What comes from one peer.
struct Inflow {
    awaited: FixedQueue<Awaited>,
    held: Held,
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
    let inflow = |_| Inflow {
        awaited: FixedQueue::new(if DATA { requests.count() } else { 0 }),
        held: Held {
            data: null_mut(),
            len: 0,
            used: 0,
        },
    };
    let port = UcpStream::<DATA> {
        inflows: endpoints.iter().map(inflow).collect(),
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

/// Endpoints to every peer of one worker. Dropped in this order, after UCX's data were given back.
pub struct UcpStream<const DATA: bool> {
    flush: Flush,
    endpoints: Vec<Endpoint>,
    worker: Arc<Worker>,
    loaded: &'static Loaded,
    inflows: Box<[Inflow]>,
    requests: Requests,
    empty: SharedBytes,
    waiter: Waiter,
    facts: Facts,
}

impl<const DATA: bool> Drop for UcpStream<DATA> {
    fn drop(&mut self) {
        for (inflow, endpoint) in self.inflows.iter().zip(&self.endpoints) {
            if !inflow.held.data.is_null() {
                // SAFETY: data of this live endpoint, given back once.
                unsafe {
                    self.loaded
                        .ucx
                        .ucp_stream_data_release(endpoint.ep, inflow.held.data.cast())
                };
            }
        }
    }
}

impl<const DATA: bool> UcpStream<DATA> {
    #[inline(always)]
    fn advance(&mut self) -> Result<(), LinkError> {
        self.worker.progress();
        self.worker.trouble()?;
        if DATA {
            for peer in 0..self.inflows.len() {
                self.take_data(peer)?;
            }
        }
        Ok(())
    }

    /// Copy what has come of `peer` to the receives that wait for it.
    #[inline(always)]
    fn take_data(&mut self, peer: usize) -> Result<(), LinkError> {
        let ep = self.endpoints[peer].ep;
        let ucx = &self.loaded.ucx;
        let Inflow { awaited, held } = &mut self.inflows[peer];
        while let Some(first) = awaited.front_mut() {
            if held.data.is_null() {
                let mut len = 0;
                // SAFETY: a live endpoint of this thread, a place to write to.
                let data = unsafe { ucx.ucp_stream_recv_data_nb(ep, &mut len) };
                if data.is_null() {
                    return Ok(());
                }
                if let Some(status) = failed(data) {
                    return Err(cold_error("ucp_stream_recv_data_nb", status));
                }
                *held = Held {
                    data: data.cast(),
                    len,
                    used: 0,
                };
            }
            let part = first.len.min(held.len - held.used);
            // SAFETY: `part` bytes of UCX's data and of the receive's own memory are left.
            unsafe { std::ptr::copy_nonoverlapping(held.data.add(held.used), first.at, part) };
            held.used += part;
            first.at = first.at.wrapping_add(part);
            first.len -= part;
            if held.used == held.len {
                // SAFETY: data of this live endpoint, given back once.
                unsafe { ucx.ucp_stream_data_release(ep, held.data.cast()) };
                held.data = null_mut();
            }
            if first.len == 0 {
                self.requests.fulfil(first.request);
                awaited.pop();
            }
        }
        Ok(())
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
        let empty = self.empty.as_ptr().wrapping_add(EMPTY[1]);
        if DATA {
            let request = self.requests.take(false, offset, len)?;
            let at = match len {
                0 => empty,
                _ => self.requests.buffer.as_ptr().wrapping_add(offset),
            };
            let awaited = &mut self.inflows[peer].awaited;
            let piece = Awaited {
                request,
                at,
                len: len.max(1),
            };
            // There is room for every request.
            return match awaited.push(piece) {
                true => Ok(request),
                false => Err(LinkError::Exhausted("requests outstanding")),
            };
        }
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
