//! How ranks connect: each opens the device, tells where it is and where its memory is, and connects to its peers.
//!
//! UCX trusts the bytes of an address; so lengths are compared with our own before it sees them.

use super::link_interface::Interface;
use super::link_memory::{Key, NO_KEY, pack};
use crate::error::{UcxError, check};
use crate::region::{Region, roomy};
use serde::{Deserialize, Serialize};
use std::ptr::null_mut;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed::transport::{Connect, ConnectError};
use wirespeed_ucx_sys as sys;

/// What a rank tells the others.
#[derive(Debug, Serialize, Deserialize)]
struct Address {
    /// UCX's release.
    ucx: String,
    /// UCX's transport.
    tl: String,
    device: Vec<u8>,
    iface: Vec<u8>,
    /// One for each peer where endpoints are connected one by one.
    endpoints: Vec<Vec<u8>>,
    /// The rank's peers; the place of each is its slot there.
    peers: Vec<u32>,
    region_base: u64,
    region_bytes: u64,
    region_key: Option<Vec<u8>>,
}

/// Memory of this rank that its peers may reach.
pub struct Exposed {
    /// The memory.
    pub bytes: SharedBytes,
    /// UCX's handle of it.
    pub handle: sys::uct_mem_h,
}

/// A connection to a peer.
pub struct Endpoint {
    interface: Arc<Interface>,
    /// UCX's endpoint.
    pub ep: sys::uct_ep_h,
    /// The place that this rank has in the peer's list.
    pub slot_there: u8,
    /// The peer's region.
    pub region: Region,
    /// Its key.
    pub rkey: sys::uct_rkey_t,
    key: Option<Key>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.key = None;
        // SAFETY: made here, destroyed once, before its interface: it holds a count of it.
        unsafe { self.interface.domain.loaded.ucx.uct_ep_destroy(self.ep) };
    }
}

/// Connect to all peers. Collective. Handlers of messages must be set before.
pub fn connect(
    ctx: &Connect,
    interface: &Arc<Interface>,
    tl: &str,
    exposed: Option<&Exposed>,
) -> Result<Vec<Endpoint>, ConnectError> {
    let to_iface = interface.has(sys::UCT_IFACE_FLAG_CONNECT_TO_IFACE);
    let mut waiting = Vec::new();
    if !to_iface {
        for _ in ctx.peers {
            waiting.push(unconnected(interface)?);
        }
    }
    let own = address(ctx, interface, tl, &waiting, exposed)?;
    let addresses = ctx.exchange_addresses(&own)?;
    let me = ctx.bootstrap.rank();
    let mut waiting = waiting.into_iter();
    let mut endpoints = Vec::with_capacity(ctx.peers.len());
    for (&rank, theirs) in ctx.peers.iter().zip(addresses) {
        let bad = |what: String| ConnectError::BadPeer { rank, what };
        let slot = compare(&own, &theirs, me).map_err(bad)?;
        let mut endpoint = match waiting.next() {
            Some(endpoint) => {
                join(&endpoint, &theirs, slot).map_err(|e| bad(e.to_string()))?;
                endpoint
            }
            None => reach(interface, &theirs).map_err(|e| bad(e.to_string()))?,
        };
        endpoint.slot_there = slot as u8;
        endpoint.region = Region::new(theirs.region_base, theirs.region_bytes);
        if exposed.is_some() {
            let key = Key::unpack(interface, theirs.region_key.as_deref())?;
            endpoint.rkey = key.rkey();
            endpoint.key = Some(key);
        }
        endpoints.push(endpoint);
    }
    // After this everybody is connected.
    ctx.exchange(&[])?;
    Ok(endpoints)
}

/// The slot that `me` has at the peer, if its address is one that UCX can be shown.
fn compare(own: &Address, theirs: &Address, me: u32) -> Result<usize, String> {
    if theirs.tl != own.tl {
        return Err(format!(
            "it uses {}, this rank {}: name the same tl= on both",
            theirs.tl, own.tl
        ));
    }
    if theirs.ucx != own.ucx {
        return Err(format!(
            "it has UCX {}, this rank {}: use the same",
            theirs.ucx, own.ucx
        ));
    }
    let slot = theirs.peers.iter().position(|peer| *peer == me);
    let slot = slot.ok_or_else(|| format!("rank {me} is none of its peers"))?;
    let ours = |bytes: &Vec<Vec<u8>>| bytes.first().map(Vec::len);
    let same = theirs.device.len() == own.device.len()
        && theirs.iface.len() == own.iface.len()
        && theirs.region_key.as_ref().map(Vec::len) == own.region_key.as_ref().map(Vec::len)
        && theirs.endpoints.get(slot).map(Vec::len) == ours(&own.endpoints);
    if !same || slot >= sys::UCT_AM_ID_MAX as usize {
        return Err("its address has another length".to_owned());
    }
    Ok(slot)
}

fn address(
    ctx: &Connect,
    interface: &Interface,
    tl: &str,
    endpoints: &[Endpoint],
    exposed: Option<&Exposed>,
) -> Result<Address, ConnectError> {
    let loaded = interface.domain.loaded;
    let attributes = &interface.attributes.value;
    let of = |len: usize, what: &str, ask: &dyn Fn(*mut u8) -> sys::ucs_status_t| {
        let mut bytes = vec![0u8; len + 256];
        let status = ask(bytes.as_mut_ptr());
        bytes.truncate(len);
        check(loaded, what, status).map(|()| bytes)
    };
    let device = of(
        attributes.device_addr_len,
        "asking for the device's address",
        &|room| {
            // SAFETY: an open interface, and more room than UCX asked for.
            unsafe {
                loaded
                    .ucx
                    .uct_iface_get_device_address(interface.iface, room.cast())
            }
        },
    )?;
    let iface = match interface.has(sys::UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        true => of(
            attributes.iface_addr_len,
            "asking for the interface's address",
            &|room| {
                // SAFETY: as above.
                unsafe { loaded.ucx.uct_iface_get_address(interface.iface, room.cast()) }
            },
        )?,
        false => Vec::new(),
    };
    let endpoint_address = |endpoint: &Endpoint| {
        of(
            attributes.ep_addr_len,
            "asking for an endpoint's address",
            &|room| {
                // SAFETY: as above, of a live endpoint.
                unsafe { loaded.ucx.uct_ep_get_address(endpoint.ep, room.cast()) }
            },
        )
    };
    Ok(Address {
        ucx: loaded.version.to_string(),
        tl: tl.to_owned(),
        device,
        iface,
        endpoints: endpoints.iter().map(endpoint_address).collect::<Result<_, _>>()?,
        peers: ctx.peers.to_vec(),
        region_base: exposed.map_or(0, |e| e.bytes.as_ptr() as u64),
        region_bytes: exposed.map_or(0, |e| e.bytes.len() as u64),
        region_key: exposed.map_or(Ok(None), |e| pack(interface, e.handle))?,
    })
}

fn endpoint(interface: &Arc<Interface>, parameters: &sys::uct_ep_params_t) -> Result<Endpoint, UcxError> {
    let loaded = interface.domain.loaded;
    let mut ep = null_mut();
    // SAFETY: whole parameters, a place to write to.
    let status = unsafe { loaded.ucx.uct_ep_create(parameters, &mut ep) };
    check(loaded, "making an endpoint", status)?;
    Ok(Endpoint {
        interface: interface.clone(),
        ep,
        slot_there: 0,
        region: Region::default(),
        rkey: NO_KEY,
        key: None,
    })
}

/// An endpoint that will be connected to one of a peer.
fn unconnected(interface: &Arc<Interface>) -> Result<Endpoint, UcxError> {
    // SAFETY: plain data, all-zero is valid; the mask says what is in it.
    let mut parameters: sys::uct_ep_params_t = unsafe { std::mem::zeroed() };
    parameters.field_mask = u64::from(sys::UCT_EP_PARAM_FIELD_IFACE);
    parameters.iface = interface.iface;
    endpoint(interface, &parameters)
}

/// Connect an endpoint to that of a peer.
fn join(endpoint: &Endpoint, theirs: &Address, slot: usize) -> Result<(), UcxError> {
    let loaded = endpoint.interface.domain.loaded;
    let (device, address) = (roomy(&theirs.device), roomy(&theirs.endpoints[slot]));
    // SAFETY: addresses of the lengths that this transport has.
    let status = unsafe {
        loaded
            .ucx
            .uct_ep_connect_to_ep(endpoint.ep, device.as_ptr().cast(), address.as_ptr().cast())
    };
    check(loaded, "connecting an endpoint", status)
}

/// An endpoint to a peer's interface.
fn reach(interface: &Arc<Interface>, theirs: &Address) -> Result<Endpoint, UcxError> {
    let loaded = interface.domain.loaded;
    let (device, iface) = (roomy(&theirs.device), roomy(&theirs.iface));
    // SAFETY: addresses of the lengths that this transport has.
    let reachable = unsafe {
        loaded
            .ucx
            .uct_iface_is_reachable(interface.iface, device.as_ptr().cast(), iface.as_ptr().cast())
    };
    if reachable == 0 {
        return Err(UcxError::new(
            "connecting",
            "the peer cannot be reached over this device",
        ));
    }
    // SAFETY: plain data, all-zero is valid; the mask says what is in it.
    let mut parameters: sys::uct_ep_params_t = unsafe { std::mem::zeroed() };
    parameters.field_mask = u64::from(
        sys::UCT_EP_PARAM_FIELD_IFACE | sys::UCT_EP_PARAM_FIELD_DEV_ADDR | sys::UCT_EP_PARAM_FIELD_IFACE_ADDR,
    );
    parameters.iface = interface.iface;
    parameters.dev_addr = device.as_ptr().cast();
    parameters.iface_addr = iface.as_ptr().cast();
    endpoint(interface, &parameters)
}
