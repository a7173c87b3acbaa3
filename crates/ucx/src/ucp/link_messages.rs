//! Active messages of UCP. Short and packed ones are copied into storage of the port, for UCP may read them later; zero-copy
//! ones are handed over where they are. What arrives is `link_arrivals`'s.

use super::link_arrivals::Arrivals;
use super::link_endpoint::{Endpoint, Exposed, connect};
use super::link_memory::{allocate, tell};
use super::link_sends::Sends;
use super::link_worker::{Context, Flush, Worker};
use super::{COPIED_BYTES_MAX, UcpOptions};
use crate::link_inbox::{Inbox, KEPT_BYTES_MAX};
use crate::options::{HEADER_BYTES, IN_FRONT_BYTES_MAX};
use crate::pieces::{Apart, Spans};
use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use wirespeed::sync::{SharedBytes, put};
use wirespeed::transport::port::{Facts, LinkError, MessagePort, OnMessage, Posted};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, MessageRunner, Ran};
use wirespeed_schema::test::Layout;
use wirespeed_ucx_sys as sys;

/// Bytes in front of the buffer of zero-copy messages, for a header; the buffer begins a page.
const IN_FRONT_AT: usize = 4096;
/// Operations under way at once.
const UNDER_WAY: u64 = 256;
/// Least message that is provided for.
const SMALLEST: usize = 64;

/// Connect and run.
pub fn open<R: MessageRunner>(ctx: &Connect, options: &UcpOptions, runner: R) -> Ran<R::Output> {
    // Long messages of a whole window may be on their way from each peer at once, each with a place of its own.
    let window_bytes = (ctx.needs.message_bytes as u64)
        .saturating_mul(ctx.needs.window_msgs)
        .saturating_mul(ctx.peers.len() as u64);
    if window_bytes > KEPT_BYTES_MAX as u64 {
        return Err(ConnectError::Memory {
            what: "a window of messages from each peer",
            bytes: window_bytes,
        });
    }
    let loaded = options.library()?;
    let context = Context::open(loaded, options, sys::UCP_FEATURE_AM)?;
    let worker = Worker::new(context.clone(), options, &ctx.cancel)?;
    let size = ctx.needs.message_bytes.max(SMALLEST);
    let (header_bytes, peers) = (options.header_bytes, ctx.peers.len());
    let inbox = Inbox::new(size, ctx.needs.window_msgs, peers, header_bytes);
    let copied_bytes = options.receive_copy.then_some(size);
    let arrivals = Arrivals::new(loaded, worker.worker, inbox, (header_bytes, peers), copied_bytes);
    let (buffer, handle) = zero_copy_buffer(ctx, options, &context)?.unzip();
    let zcopy = buffer.is_some();
    let copied = if zcopy {
        SMALLEST
    } else {
        size.min(COPIED_BYTES_MAX as usize)
    };
    let mut direct = Sends::new(&worker, UNDER_WAY, 0).with_headers(header_bytes);
    if zcopy && options.lists()[1] {
        direct = direct.with_lists();
    }
    let (spans, apart) = pieces(ctx, options, &context, zcopy.then_some(direct.places()))?;
    let mut port = UcpMessages {
        flush: Flush::new(&worker),
        endpoints: Vec::new(),
        copied: Sends::new(&worker, UNDER_WAY, header_bytes + copied),
        worker,
        direct,
        buffer,
        handle: handle.filter(|_| options.register),
        arrivals,
        header_bytes,
        listed: options.lists()[1],
        puts_in_front: header_bytes == HEADER_BYTES && !options.lists()[1],
        spans,
        apart,
        send: loaded.ucx.ucp_am_send_nbx,
        waiter: ctx.waiter(),
        facts: options.facts(loaded),
    };
    port.arrivals
        .begin()
        .map_err(|e| ConnectError::Other(e.to_string()))?;
    let workers = [port.worker.clone()];
    port.endpoints = connect(ctx, options, &workers, Exposed::default())?;
    drop(workers);
    if port.endpoints.iter().any(|to| to.is_far) {
        port.arrivals.come_from_far();
    }
    Ok(runner.run(port))
}

/// Memory for zero-copy messages and UCX's handle of it, where the case has such messages.
fn zero_copy_buffer(
    ctx: &Connect,
    options: &UcpOptions,
    context: &Arc<Context>,
) -> Result<Option<(SharedBytes, sys::ucp_mem_h)>, ConnectError> {
    let len = ctx.needs.buffer_bytes;
    if len == 0 || ctx.case.test.layout() != Some(Layout::Zcopy) {
        return Ok(None);
    }
    let (bytes, handle) = allocate(context, options, IN_FRONT_AT + len)?;
    Ok(Some((bytes.slice(IN_FRONT_AT, len), handle)))
}

/// How zero-copy messages are cut, and memory for pieces that lie apart, for so many messages at once; no message is cut
/// where there is none.
fn pieces(
    ctx: &Connect,
    options: &UcpOptions,
    context: &Arc<Context>,
    places: Option<usize>,
) -> Result<(Spans, Option<Apart<sys::ucp_mem_h>>), ConnectError> {
    let Some(places) = places else {
        return Ok((Spans::of(&options.iov, 0)?, None));
    };
    let spans = Spans::of(&options.iov, ctx.needs.message_bytes)?;
    let memory = |len| allocate(context, options, len);
    let apart = Apart::new(&options.iov, &spans, places, ctx.case.check, memory)?;
    Ok((spans, apart))
}

type Send = unsafe extern "C" fn(
    sys::ucp_ep_h,
    u32,
    *const c_void,
    usize,
    *const c_void,
    usize,
    *const sys::ucp_request_param_t,
) -> sys::ucs_status_ptr_t;

/// Endpoints to every peer of one worker. Dropped in this order: endpoints while the worker still makes progress, what
/// UCX calls back with after it.
pub struct UcpMessages {
    flush: Flush,
    endpoints: Vec<Endpoint>,
    worker: Arc<Worker>,
    copied: Box<Sends>,
    direct: Box<Sends>,
    buffer: Option<SharedBytes>,
    /// UCX's handle of the buffer, where it is to be told.
    handle: Option<sys::ucp_mem_h>,
    arrivals: Arrivals,
    header_bytes: usize,
    /// Data are handed over as lists.
    listed: bool,
    /// The header may be the last bytes in front of zero-copy data.
    puts_in_front: bool,
    spans: Spans,
    apart: Option<Apart<sys::ucp_mem_h>>,
    send: Send,
    waiter: Waiter,
    facts: Facts,
}

impl MessagePort for UcpMessages {
    const SLOW: bool = true;
    const ZCOPY: bool = true;

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let to = &self.endpoints[peer];
        let header_bytes = self.header_bytes;
        self.copied.post("ucp_am_send_nbx", |room, parameters| {
            let copy = room.copy(header_bytes + len)?;
            put(copy, 0, header.to_ne_bytes());
            pack(&mut copy[header_bytes..]);
            let whole: (*const c_void, usize) = (copy.as_ptr().cast(), copy.len());
            let (header, header_bytes, data, len) =
                if header_bytes == HEADER_BYTES && len <= IN_FRONT_BYTES_MAX {
                    (null(), 0, whole.0, whole.1)
                } else {
                    (
                        whole.0,
                        header_bytes,
                        whole.0.wrapping_byte_add(header_bytes),
                        len,
                    )
                };
            // SAFETY: a live endpoint of this thread; header and data stay in their place until the completion.
            Ok(unsafe { (self.send)(to.ep, to.slot_there, header, header_bytes, data, len, parameters) })
        })
    }

    #[inline(always)]
    fn send_zcopy(&mut self, peer: usize, header: u64, offset: usize, len: usize) -> Posted {
        let Some(buffer) = &self.buffer else {
            return Err(LinkError::Unsupported("zcopy on this port"));
        };
        let Some(at) = buffer.place(offset, len) else {
            return Err(LinkError::Unsupported("memory outside the buffer"));
        };
        let to = &self.endpoints[peer];
        self.direct.post("ucp_am_send_nbx", |room, parameters| {
            let (mut data, mut count): (*const c_void, usize) = (at.cast(), len);
            let mut header_bytes = self.header_bytes;
            // Nothing under way reads what is in front of the buffer.
            let in_front =
                offset == 0 && len <= IN_FRONT_BYTES_MAX && self.puts_in_front && self.direct.is_empty();
            let header = if in_front {
                let front = at.wrapping_sub(HEADER_BYTES);
                // SAFETY: the end of the bytes in front of the buffer, which are this port's alone; see above.
                unsafe { front.cast::<u64>().write_unaligned(header) };
                (data, count) = (front.cast_const().cast(), HEADER_BYTES + len);
                header_bytes = 0;
                null()
            } else {
                room.header(header)
            };
            let mut handle = self.handle;
            if self.listed && self.spans.are_of(len) {
                let mut first = at;
                if let Some(apart) = &self.apart {
                    let place = apart.place(room.number(), 0);
                    apart.fill(place, buffer, offset);
                    first = apart.start(place);
                    handle = handle.map(|_| apart.handle);
                }
                (data, count) = room.list(first, &self.spans);
                parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_DATATYPE;
                parameters.datatype = u64::from(sys::UCP_DATATYPE_IOV);
            }
            tell(parameters, handle);
            // SAFETY: a live endpoint of this thread; header, list and data stay until the completion.
            Ok(unsafe {
                (self.send)(
                    to.ep,
                    to.slot_there,
                    header,
                    header_bytes,
                    data,
                    count,
                    parameters,
                )
            })
        })
    }

    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        self.direct.completed()
    }

    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        self.buffer.as_ref()
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.arrivals.listen::<H>()?;
        let inbox = self.arrivals.inbox();
        let mut handled = inbox.during(on, || self.worker.progress())?;
        while self.arrivals.fetch() {
            handled += inbox.during(on, || ())?;
        }
        self.worker.trouble()?;
        Ok(handled)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled > 0 {
            return Ok(handled);
        }
        if self.worker.sleeps() {
            self.waiter.look()?;
            self.worker.cold_sleep()?;
            return self.poll(on);
        }
        self.waiter.idle()?;
        Ok(0)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        // Also without sends: a peer's connection may need our answers. What arrives is kept: there is no handler.
        let flushed = self.flush.step(&self.worker, 0)?;
        self.worker.progress();
        self.arrivals.fetch();
        self.worker.trouble()?;
        let done = flushed && self.copied.is_empty() && self.direct.is_empty();
        self.arrivals.inbox().fault().map_or(Ok(done), Err)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}

impl Drop for UcpMessages {
    fn drop(&mut self) {
        self.arrivals.close();
    }
}
