//! Tagged messages of UCP, matched by UCX. Each peer has a worker of its own, for UCX's tags do not say who sent.
//!
//! It must never touch a range of the buffer that a request uses.

use super::UcpOptions;
use super::link_endpoint::{Endpoint, Exposed, connect};
use super::link_requests::{Requests, received, sent};
use super::link_worker::{Context, Flush, Worker};
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{Facts, LinkError, Request, TaggedPort};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, Ran, TaggedRunner};
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::Loaded;

/// Any tag.
const WILDCARD: u64 = 0;
/// This tag only.
const EXACT: u64 = u64::MAX;

/// A receive that waits until its message has come: option `unexpected`.
struct Awaited {
    peer: usize,
    tag: u64,
    request: Request,
}

/// Connect and run.
pub fn open<R: TaggedRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
    let loaded = options.library()?;
    let context = Context::open(loaded, options, sys::UCP_FEATURE_TAG)?;
    let worker = || Worker::new(context.clone(), options, &ctx.cancel);
    let workers = ctx
        .peers
        .iter()
        .map(|_| worker())
        .collect::<Result<Vec<_>, _>>()?;
    let requests = Requests::new(ctx, options, &context)?;
    let endpoints = connect(ctx, options, &workers, Exposed::default())?;
    let port = UcpTagged {
        loaded,
        flushes: workers.iter().map(|w| Flush::new(w)).collect(),
        endpoints,
        workers,
        awaited: Vec::with_capacity(requests.count()),
        requests,
        mask: if options.wildcard { WILDCARD } else { EXACT },
        sync: options.sync,
        unexpected: options.unexpected,
        waiter: ctx.waiter(),
        facts: options.facts(loaded),
    };
    Ok(runner.run(port))
}

/// Workers and endpoints to every peer. Dropped in this order.
pub struct UcpTagged {
    flushes: Vec<Flush>,
    endpoints: Vec<Endpoint>,
    workers: Vec<Arc<Worker>>,
    loaded: &'static Loaded,
    requests: Requests,
    awaited: Vec<Awaited>,
    mask: u64,
    sync: bool,
    unexpected: bool,
    waiter: Waiter,
    facts: Facts,
}

impl UcpTagged {
    #[inline(always)]
    fn advance(&mut self) -> Result<(), LinkError> {
        for worker in &self.workers {
            worker.progress();
            worker.trouble()?;
        }
        if !self.awaited.is_empty() {
            self.cold_fetch_unexpected()?;
        }
        Ok(())
    }

    /// Put a receive aside. There is room for every request, so the list never grows.
    #[inline(never)]
    fn cold_await(&mut self, awaited: Awaited) {
        self.awaited.push(awaited);
    }

    /// Receive those messages that have come; in the order of their receives.
    #[inline(never)]
    fn cold_fetch_unexpected(&mut self) -> Result<(), LinkError> {
        let mut index = 0;
        while index < self.awaited.len() {
            let awaited = &self.awaited[index];
            let worker = self.workers[awaited.peer].worker;
            // SAFETY: plain data, all-zero is valid.
            let mut info: sys::ucp_tag_recv_info_t = unsafe { std::mem::zeroed() };
            // SAFETY: a live worker of this thread, a place to write to.
            let message = unsafe {
                self.loaded
                    .ucx
                    .ucp_tag_probe_nb(worker, awaited.tag, self.mask, 1, &mut info)
            };
            if message.is_null() {
                index += 1;
                continue;
            }
            let awaited = self.awaited.remove(index);
            let (data, count, parameters) = self.requests.data(awaited.request);
            parameters.cb.recv = Some(received);
            // SAFETY: a message taken from this worker, a range of the buffer that this request owns.
            let pointer = unsafe {
                self.loaded
                    .ucx
                    .ucp_tag_msg_recv_nbx(worker, data, count, message, parameters)
            };
            self.requests
                .began("ucp_tag_msg_recv_nbx", awaited.request, pointer)?;
        }
        Ok(())
    }

    /// Give way after nothing was done.
    #[inline(always)]
    fn pause(&mut self) -> Result<(), LinkError> {
        match &self.workers[..] {
            [worker] if worker.sleeps() => {
                self.waiter.look()?;
                worker.cold_sleep()
            }
            _ => self.waiter.idle(),
        }
    }
}

impl TaggedPort for UcpTagged {
    const SLOW: bool = true;

    #[inline(always)]
    fn buffer(&self) -> &SharedBytes {
        &self.requests.buffer
    }

    #[inline(always)]
    fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        if self.unexpected {
            let request = self.requests.take(false, offset, len)?;
            self.cold_await(Awaited { peer, tag, request });
            return Ok(request);
        }
        let (ucx, worker, mask) = (&self.loaded.ucx, self.workers[peer].worker, self.mask);
        let part = (false, offset, len);
        self.requests
            .post("ucp_tag_recv_nbx", part, |data, count, parameters| {
                parameters.cb.recv = Some(received);
                // SAFETY: a live worker of this thread, a range of the buffer that this request owns until it is done.
                unsafe { ucx.ucp_tag_recv_nbx(worker, data, count, tag, mask, parameters) }
            })
    }

    #[inline(always)]
    fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError> {
        let (ucx, ep, sync) = (&self.loaded.ucx, self.endpoints[peer].ep, self.sync);
        let part = (true, offset, len);
        self.requests
            .post("ucp_tag_send_nbx", part, |data, count, parameters| {
                parameters.cb.send = Some(sent);
                // SAFETY: a live endpoint of this thread, a range of the buffer that this request owns until it is done.
                unsafe {
                    match sync {
                        true => ucx.ucp_tag_send_sync_nbx(ep, data, count, tag, parameters),
                        false => ucx.ucp_tag_send_nbx(ep, data, count, tag, parameters),
                    }
                }
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
            } else {
                self.pause()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.advance()?;
        let mut flushed = true;
        for (flush, worker) in self.flushes.iter_mut().zip(&self.workers) {
            flushed &= flush.step(worker, 0)?;
        }
        Ok(flushed && !self.requests.are_sends_under_way())
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
