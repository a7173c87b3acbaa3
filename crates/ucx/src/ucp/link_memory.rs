//! Memory that UCP allocates and registers.

use super::UcpOptions;
use super::link_endpoint::Exposed;
use super::link_worker::Context;
use crate::error::{UcxError, check};
use std::ptr::null_mut;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed_ucx_sys as sys;

struct Mapping {
    context: Arc<Context>,
    handle: sys::ucp_mem_h,
}

// SAFETY: given back once; UCX's function for that may be called by any thread.
unsafe impl Send for Mapping {}
// SAFETY: it offers no access.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `allocate`, given back once, before its context: it holds a count.
        unsafe {
            self.context
                .loaded
                .ucx
                .ucp_mem_unmap(self.context.context, self.handle)
        };
    }
}

/// Zeroed memory of `len` bytes, registered, and UCX's handle of it.
pub fn allocate(
    context: &Arc<Context>,
    options: &UcpOptions,
    len: usize,
) -> Result<(SharedBytes, sys::ucp_mem_h), UcxError> {
    let loaded = context.loaded;
    let len = len.max(64);
    // SAFETY: plain data, all-zero is valid; the mask says what is in it.
    let mut parameters: sys::ucp_mem_map_params_t = unsafe { std::mem::zeroed() };
    parameters.field_mask = u64::from(
        sys::UCP_MEM_MAP_PARAM_FIELD_ADDRESS
            | sys::UCP_MEM_MAP_PARAM_FIELD_LENGTH
            | sys::UCP_MEM_MAP_PARAM_FIELD_FLAGS,
    );
    parameters.length = len;
    parameters.flags = sys::UCP_MEM_MAP_ALLOCATE;
    if options.nonblock {
        parameters.flags |= sys::UCP_MEM_MAP_NONBLOCK;
    }
    let mut handle = null_mut();
    // SAFETY: a live context, whole parameters, a place to write to.
    let status = unsafe { loaded.ucx.ucp_mem_map(context.context, &parameters, &mut handle) };
    check(loaded, &format!("allocating {len} bytes"), status)?;
    let mapping = Mapping {
        context: context.clone(),
        handle,
    };
    // SAFETY: plain data, all-zero is valid; the mask says what UCX fills.
    let mut attributes: sys::ucp_mem_attr_t = unsafe { std::mem::zeroed() };
    attributes.field_mask = u64::from(sys::UCP_MEM_ATTR_FIELD_ADDRESS);
    // SAFETY: a live handle, room for the answer.
    let status = unsafe { loaded.ucx.ucp_mem_query(handle, &mut attributes) };
    check(loaded, "asking where memory is", status)?;
    let base = attributes.address.cast::<u8>();
    // SAFETY: just allocated, at least so long, nobody else knows it; it stays until the mapping is dropped.
    let bytes = unsafe {
        base.write_bytes(0, len);
        SharedBytes::from_raw(base, len, Arc::new(mapping))
    };
    Ok((bytes, handle))
}

/// Tell UCX with an operation whose memory its data are, where it is to be told.
#[inline(always)]
pub fn tell(parameters: &mut sys::ucp_request_param_t, handle: Option<sys::ucp_mem_h>) {
    if let Some(handle) = handle {
        parameters.op_attr_mask |= sys::UCP_OP_ATTR_FIELD_MEMH;
        parameters.memh = handle;
    }
}

/// What peers need to reach memory of ours.
pub fn expose(context: &Context, bytes: &SharedBytes, handle: sys::ucp_mem_h) -> Result<Exposed, UcxError> {
    let loaded = context.loaded;
    let (mut key, mut len) = (null_mut(), 0);
    // SAFETY: a live context and handle, two places to write to.
    let status = unsafe {
        loaded
            .ucx
            .ucp_rkey_pack(context.context, handle, &mut key, &mut len)
    };
    check(loaded, "packing the key of memory", status)?;
    // SAFETY: UCX's buffer and its length, given back once.
    let packed = unsafe {
        let packed = std::slice::from_raw_parts(key.cast::<u8>(), len).to_vec();
        loaded.ucx.ucp_rkey_buffer_release(key);
        packed
    };
    Ok(Exposed {
        base: bytes.as_ptr() as u64,
        bytes: bytes.len() as u64,
        key: packed,
    })
}
