//! Endpoints of UCP to every peer: what ranks tell each other of their workers and memory, and how they close.
//!
//! It must never be used by two threads.

use super::UcpOptions;
use super::link_worker::{Worker, failed};
use crate::error::{UcxError, check};
use crate::region::{Region, roomy};
use serde::{Deserialize, Serialize};
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::Arc;
use wirespeed::host::boot_id;
use wirespeed::transport::{Connect, ConnectError};
use wirespeed_ucx_sys as sys;

/// Times that a closing endpoint is helped along; a peer that is gone answers no more.
const CLOSING_ROUNDS: usize = 100_000;

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
    let addresses = ctx.exchange_addresses(&own)?;
    let me = ctx.bootstrap.rank();
    let mut endpoints = Vec::with_capacity(ctx.peers.len());
    for (slot, (&rank, theirs)) in ctx.peers.iter().zip(addresses).enumerate() {
        let bad = |what: String| ConnectError::BadPeer { rank, what };
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
    parameters.err_handler = worker.error_handler();
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
