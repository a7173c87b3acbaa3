//! Active messages over one device: the header travels before the payload, and the number of UCX's message is the
//! sender's place in the receiver's list.
//!
//! UCX calls back with the handler's own type: it is set anew when another loop begins to poll, so that no call goes
//! through a pointer of ours.

use super::link_completions::Completions;
use super::link_connect::{self, Endpoint};
use super::link_interface::Interface;
use super::link_memory::allocate;
use super::link_pieces::List;
use super::{Chosen, UctOptions};
use crate::link_inbox::{Inbox, Nobody};
use crate::link_status::{cold_error, posted};
use crate::options::HEADER_BYTES;
use crate::pieces::{Apart, Iov, Spans};
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{Connect, ConnectError, MessageRunner, Ran};
use wirespeed_schema::test::Layout;
use wirespeed_ucx_sys as sys;
use wirespeed_ucx_sys::ops;

/// Bytes of acknowledgements, which have no payload, and of the least message that is provided for.
const SMALLEST: usize = 64;
/// Zero-copy sends under way at once.
const ZCOPY_UNDER_WAY: u64 = 256;

/// What UCX's callback is given: whose message it is, and where it goes.
struct From {
    slot: usize,
    inbox: *const Inbox,
}

/// # Safety
/// UCX calls it in the port's thread with a `From` that lives as long as the interface polls.
unsafe extern "C" fn arrived<H: OnMessage>(
    from: *mut c_void,
    data: *mut c_void,
    len: usize,
    _flags: c_uint,
) -> sys::ucs_status_t {
    // SAFETY: as above; the inbox lives in the same port. The handler's type is that of the poll that runs: `listen`.
    unsafe {
        let from = &*from.cast::<From>();
        (*from.inbox).arrived::<H>(from.slot, data.cast::<u8>(), len);
    }
    sys::UCS_OK
}

type Handler = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, c_uint) -> sys::ucs_status_t;

/// Connect over `chosen` and run.
pub fn open<R: MessageRunner>(
    ctx: &Connect,
    options: &UctOptions,
    chosen: &Chosen,
    runner: R,
) -> Ran<R::Output> {
    if !chosen.caps.has_messages() {
        let what = chosen.what();
        return Err(ConnectError::Other(format!(
            "UCX has no active messages on {what}"
        )));
    }
    let interface = chosen.open(options)?;
    let size = ctx.needs.message_bytes.max(SMALLEST);
    let header = vec![0; options.header_bytes].into_boxed_slice();
    let inbox = Box::new(Inbox::new(
        size,
        ctx.needs.window_msgs,
        ctx.peers.len(),
        header.len(),
    ));
    let froms = (0..ctx.peers.len())
        .map(|slot| From {
            slot,
            inbox: &raw const *inbox,
        })
        .collect();
    let zcopy = ctx.needs.buffer_bytes > 0 && ctx.case.test.layout() == Some(Layout::Zcopy);
    let (buffer, handle) = match zcopy {
        true => {
            let (bytes, handle) = allocate(&interface, ctx.needs.buffer_bytes)?;
            (Some(bytes), handle)
        }
        false => (None, std::ptr::null_mut()),
    };
    let is_cut = zcopy || ctx.case.test.layout() == Some(Layout::Shortiov);
    let (iov, total) = match is_cut {
        true => (options.iov.clone(), ctx.needs.message_bytes),
        false => (Iov::default(), 0),
    };
    let spans = Spans::of(&iov, total)?;
    let memory = |len| allocate(&interface, len);
    // A message waits in its place until its operation is complete.
    let apart = Apart::new(&iov, &spans, ZCOPY_UNDER_WAY as usize, ctx.case.check, memory)?;
    let caps = &chosen.caps;
    let room = |cap: Option<u64>| cap.map_or(0, |max| usize::try_from(max).unwrap_or(usize::MAX));
    let mut port = UctMessages {
        endpoints: Vec::new(),
        completions: Completions::new(ZCOPY_UNDER_WAY),
        buffer,
        handle,
        froms,
        inbox,
        handler: arrived::<Nobody>,
        loopback: chosen.is_loopback(),
        header,
        short_max: room(caps.am_short),
        bcopy_max: room(caps.am_bcopy),
        spans,
        apart,
        waiter: ctx.waiter(),
        facts: chosen.facts(options),
        interface,
    };
    port.cold_set_handler(arrived::<Nobody>)
        .map_err(|e| ConnectError::Other(e.to_string()))?;
    port.endpoints = link_connect::connect(ctx, &port.interface, &chosen.name.tl, None)?;
    Ok(runner.run(port))
}

/// Endpoints to every peer over one interface. Fields are dropped in this order: what was made from the interface
/// before the interface, what UCX calls back with after it.
pub struct UctMessages {
    endpoints: Vec<Endpoint>,
    interface: Arc<Interface>,
    completions: Box<Completions>,
    buffer: Option<SharedBytes>,
    handle: sys::uct_mem_h,
    froms: Box<[From]>,
    inbox: Box<Inbox>,
    handler: Handler,
    /// Messages arrive within the send, so a send needs room in the inbox.
    loopback: bool,
    /// Where headers are put together that are longer than the engine's, or that lie apart from the data.
    header: Box<[u8]>,
    /// Longest message of each kind, header included; 0 for none.
    short_max: usize,
    bcopy_max: usize,
    spans: Spans,
    apart: Option<Apart<sys::uct_mem_h>>,
    waiter: Waiter,
    facts: Facts,
}

/// Packs a header and what `pack` writes.
struct Packing<P> {
    header: u64,
    header_bytes: usize,
    len: usize,
    pack: Option<P>,
}

/// # Safety
/// UCX calls it within the send, with the `Packing` of the send and room for what was found to fit.
unsafe extern "C" fn pack_message<P: FnOnce(&mut [u8])>(room: *mut c_void, packing: *mut c_void) -> usize {
    // SAFETY: as above; nobody else refers to either meanwhile.
    unsafe {
        let packing = &mut *packing.cast::<Packing<P>>();
        room.cast::<u64>().write_unaligned(packing.header);
        if packing.header_bytes > HEADER_BYTES {
            // What lies there now may be anybody's.
            let rest = packing.header_bytes - HEADER_BYTES;
            room.cast::<u8>().add(HEADER_BYTES).write_bytes(0, rest);
        }
        let payload =
            std::slice::from_raw_parts_mut(room.cast::<u8>().add(packing.header_bytes), packing.len);
        if let Some(pack) = packing.pack.take() {
            pack(payload);
        }
        packing.header_bytes + packing.len
    }
}

impl UctMessages {
    #[cold]
    #[inline(never)]
    fn cold_set_handler(&mut self, handler: Handler) -> Result<(), LinkError> {
        let loaded = self.interface.domain.loaded;
        for (id, from) in self.froms.iter().enumerate() {
            // SAFETY: an open interface; what the handler is given lives as long as the port.
            let status = unsafe {
                loaded.ucx.uct_iface_set_am_handler(
                    self.interface.iface,
                    id as u8,
                    Some(handler),
                    (&raw const *from).cast_mut().cast(),
                    0,
                )
            };
            if status < 0 {
                return Err(cold_error("uct_iface_set_am_handler", status));
            }
        }
        self.handler = handler;
        Ok(())
    }

    /// From now on messages are for handlers of this type.
    #[inline(always)]
    fn listen<H: OnMessage>(&mut self) -> Result<(), LinkError> {
        if self.handler as usize != arrived::<H> as Handler as usize {
            return self.cold_set_handler(arrived::<H>);
        }
        Ok(())
    }

    #[inline(always)]
    fn trouble(&self) -> Result<(), LinkError> {
        match self.interface.trouble().or(self.completions.failed()) {
            None => Ok(()),
            Some(status) => Err(cold_error("an endpoint", status)),
        }
    }

    /// Where short messages do not go, an empty one (an acknowledgement) goes packed.
    #[cold]
    #[inline(never)]
    fn send_empty(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        if !payload.is_empty() {
            return Err(LinkError::Unsupported("a short message of this size"));
        }
        self.send_bcopy(peer, header, 0, |_| ())
    }

    /// Where a header lies that begins with `header`, until the next one is asked for.
    #[inline(always)]
    fn whole_header(&mut self, header: u64) -> *const c_void {
        let at = self.header.as_mut_ptr();
        // SAFETY: eight bytes at least, which belong to this port alone.
        unsafe { at.cast::<u64>().write_unaligned(header) };
        at.cast_const().cast()
    }
}

impl MessagePort for UctMessages {
    const ZCOPY: bool = true;
    const SHORTIOV: bool = true;
    // Storage begins at a line, the payload behind the header.
    const PLACE: usize = HEADER_BYTES;

    #[inline(always)]
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        // The call's own header is the engine's; a longer one goes packed.
        if payload.len() + HEADER_BYTES > self.short_max || self.header.len() > HEADER_BYTES {
            return self.send_empty(peer, header, payload);
        }
        if self.loopback && self.inbox.is_full() {
            return Ok(Post::Busy);
        }
        let to = &self.endpoints[peer];
        // SAFETY: a live endpoint of this thread; the payload is read within the call, and fits.
        let status = unsafe {
            ops::ep_am_short(
                to.ep,
                to.slot_there,
                header,
                payload.as_ptr().cast(),
                payload.len() as c_uint,
            )
        };
        posted("uct_ep_am_short", status)
    }

    #[inline(always)]
    fn send_shortiov(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        if payload.len() + self.header.len() > self.short_max {
            return self.send_empty(peer, header, payload);
        }
        if self.loopback && self.inbox.is_full() {
            return Ok(Post::Busy);
        }
        let at = self.whole_header(header);
        let to = &self.endpoints[peer];
        let none = std::ptr::null_mut();
        let mut list = List::new();
        list.push(at.cast(), self.header.len(), none);
        let mut first = payload.as_ptr();
        if let Some(apart) = &self.apart
            && self.spans.are_of(payload.len())
        {
            apart.fill_from(0, payload);
            first = apart.start(0);
        }
        list.cut(first, payload.len(), none, &self.spans);
        // SAFETY: as above; header, payload and list are read within the call.
        let status = unsafe { ops::ep_am_short_iov(to.ep, to.slot_there, list.as_ptr(), list.len()) };
        posted("uct_ep_am_short_iov", status)
    }

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        #[inline(always)]
        fn packer<P: FnOnce(&mut [u8])>(_: &Packing<P>) -> sys::uct_pack_callback_t {
            Some(pack_message::<P>)
        }
        let header_bytes = self.header.len();
        if len + header_bytes > self.bcopy_max {
            return Err(LinkError::Unsupported("a packed message of this size"));
        }
        if self.loopback && self.inbox.is_full() {
            return Ok(Post::Busy);
        }
        let to = &self.endpoints[peer];
        let mut packing = Packing {
            header,
            header_bytes,
            len,
            pack: Some(pack),
        };
        let callback = packer(&packing);
        // SAFETY: a live endpoint of this thread; the callback is called within the call, if at all.
        let result =
            unsafe { ops::ep_am_bcopy(to.ep, to.slot_there, callback, (&raw mut packing).cast(), 0) };
        if result >= 0 {
            return Ok(Post::Done);
        }
        posted("uct_ep_am_bcopy", result as sys::ucs_status_t)
    }

    #[inline(always)]
    fn send_zcopy(&mut self, peer: usize, header: u64, offset: usize, len: usize) -> Posted {
        let (header, header_bytes) = (self.whole_header(header), self.header.len());
        let Some(buffer) = &self.buffer else {
            return Err(LinkError::Unsupported("zcopy on this port"));
        };
        let Some(at) = buffer.place(offset, len) else {
            return Err(LinkError::Unsupported("memory outside the buffer"));
        };
        if self.loopback && self.inbox.is_full() {
            return Ok(Post::Busy);
        }
        let to = &self.endpoints[peer];
        let mut list = List::new();
        let Self {
            spans, apart, handle, ..
        } = self;
        self.completions.post("uct_ep_am_zcopy", |pending, done| {
            let (mut first, mut handle) = (at.cast_const(), *handle);
            if let Some(apart) = apart
                && spans.are_of(len)
            {
                // SAFETY: the place of this operation, which is not under way yet.
                let place = apart.place(unsafe { (*pending).index }, 0);
                apart.fill(place, buffer, offset);
                (first, handle) = (apart.start(place).cast_const(), apart.handle);
            }
            list.cut(first, len, handle, spans);
            // SAFETY: a live endpoint of this thread; the header is read within the call; the data are registered, in
            // bounds, and stay until the completion.
            unsafe {
                ops::ep_am_zcopy(
                    to.ep,
                    to.slot_there,
                    header,
                    header_bytes as c_uint,
                    list.as_ptr(),
                    list.len(),
                    0,
                    done,
                )
            }
        })
    }

    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        self.completions.completed()
    }

    #[inline(always)]
    fn hearing<H: OnMessage>(&mut self, on: &mut H, send: impl FnOnce(&mut Self) -> Posted) -> Posted {
        if self.loopback {
            self.listen::<H>()?;
            // SAFETY: closed below; `send` has the port alone.
            unsafe { self.inbox.open(on) };
        }
        // Called in one place, so that it becomes part of the loop.
        let post = send(self);
        self.inbox.close();
        post
    }

    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        self.buffer.as_ref()
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.listen::<H>()?;
        let iface = self.interface.iface;
        let handled = self.inbox.during(on, || {
            // SAFETY: an open interface of this thread.
            unsafe { ops::iface_progress(iface) };
        })?;
        self.trouble()?;
        Ok(handled)
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled == 0 {
            self.waiter.idle()?;
        }
        Ok(handled)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        // SAFETY: an open interface of this thread.
        let status = unsafe { ops::iface_flush(self.interface.iface) };
        let is_flushed = match status {
            sys::UCS_OK => self.completions.is_empty(),
            sys::UCS_INPROGRESS | sys::UCS_ERR_NO_RESOURCE => false,
            status => return Err(cold_error("uct_iface_flush", status)),
        };
        // Also without sends: a peer may need our answers. What arrives meanwhile is kept: there is no handler.
        // SAFETY: as above.
        unsafe { ops::iface_progress(self.interface.iface) };
        self.trouble()?;
        self.inbox.fault().map_or(Ok(is_flushed), Err)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}
