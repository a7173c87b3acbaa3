//! Memory that UCX gives and knows, and the keys by which peers reach it.

use super::link_interface::{Interface, Padded};
use crate::error::{UcxError, check};
use crate::region::roomy;
use std::sync::Arc;
use wirespeed::sync::SharedBytes;
use wirespeed_ucx_sys as sys;

/// What a device without keys is given in place of one.
pub const NO_KEY: sys::uct_rkey_t = sys::uct_rkey_t::MAX;

/// Allocated by UCX in the way that suits the interface, and registered there.
struct Allocation {
    interface: Arc<Interface>,
    memory: Box<Padded<sys::uct_allocated_memory_t>>,
}

// SAFETY: freed once, by whoever drops the last count; UCX's functions for that may be called by any thread.
unsafe impl Send for Allocation {}
// SAFETY: it offers no access.
unsafe impl Sync for Allocation {}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate`, freed once, before the interface: it holds a count of it.
        unsafe {
            self.interface
                .domain
                .loaded
                .ucx
                .uct_iface_mem_free(&self.memory.value);
        }
    }
}

/// Zeroed memory of `len` bytes, and UCX's handle of it.
pub fn allocate(interface: &Arc<Interface>, len: usize) -> Result<(SharedBytes, sys::uct_mem_h), UcxError> {
    let loaded = interface.domain.loaded;
    // SAFETY: plain data, all-zero is valid; UCX from release 1.19 on writes more than the bindings know.
    let mut memory: Box<Padded<sys::uct_allocated_memory_t>> = unsafe { Padded::zeroed() };
    // SAFETY: an open interface, a name with its end, room for the answer.
    let status = unsafe {
        loaded.ucx.uct_iface_mem_alloc(
            interface.iface,
            len.max(64),
            sys::UCT_MD_MEM_ACCESS_ALL | interface.ways.memory,
            c"wirespeed".as_ptr(),
            &mut memory.value,
        )
    };
    check(loaded, &format!("allocating {len} bytes"), status)?;
    let (base, handle) = (memory.value.address.cast::<u8>(), memory.value.memh);
    // SAFETY: just allocated, at least so long, nobody else knows it.
    unsafe { base.write_bytes(0, len) };
    let allocation = Arc::new(Allocation {
        interface: interface.clone(),
        memory,
    });
    // SAFETY: the memory stays until the allocation is dropped, is page- or heap-aligned, and no reference to it exists.
    Ok((unsafe { SharedBytes::from_raw(base, len, allocation) }, handle))
}

/// The key of a peer's memory, ready for use.
pub struct Key {
    interface: Arc<Interface>,
    bundle: Option<Box<Padded<sys::uct_rkey_bundle_t>>>,
}

impl Key {
    /// From what the peer packed; nothing where its device has no keys. A key of no bytes is a key.
    pub fn unpack(interface: &Arc<Interface>, packed: Option<&[u8]>) -> Result<Self, UcxError> {
        let loaded = interface.domain.loaded;
        let Some(packed) = packed else {
            return Ok(Key {
                interface: interface.clone(),
                bundle: None,
            });
        };
        let room = roomy(packed);
        // SAFETY: plain data, all-zero is valid.
        let mut bundle: Box<Padded<sys::uct_rkey_bundle_t>> = unsafe { Padded::zeroed() };
        // SAFETY: a component of UCX's list, bytes of a peer under the same transport, room for the answer.
        let status = unsafe {
            loaded.ucx.uct_rkey_unpack(
                interface.domain.component,
                room.as_ptr().cast(),
                &mut bundle.value,
            )
        };
        check(loaded, "unpacking the key of a peer's memory", status)?;
        Ok(Key {
            interface: interface.clone(),
            bundle: Some(bundle),
        })
    }

    /// The key for operations.
    pub fn rkey(&self) -> sys::uct_rkey_t {
        self.bundle.as_ref().map_or(NO_KEY, |b| b.value.rkey)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if let Some(bundle) = &self.bundle {
            let domain = &self.interface.domain;
            // SAFETY: unpacked once, released once.
            unsafe {
                domain
                    .loaded
                    .ucx
                    .uct_rkey_release(domain.component, &bundle.value)
            };
        }
    }
}

/// The key of memory of ours, for peers; nothing where the device has no keys.
pub fn pack(interface: &Interface, handle: sys::uct_mem_h) -> Result<Option<Vec<u8>>, UcxError> {
    let domain = &interface.domain;
    let memory = &interface.memory.value;
    if memory.cap.flags & u64::from(sys::UCT_MD_FLAG_NEED_RKEY) == 0 {
        return Ok(None);
    }
    let mut packed = vec![0u8; memory.rkey_packed_size + 256];
    // SAFETY: a handle of this domain, and more room than UCX asked for.
    let status = unsafe {
        domain
            .loaded
            .ucx
            .uct_md_mkey_pack(domain.md, handle, packed.as_mut_ptr().cast())
    };
    check(domain.loaded, "packing the key of memory", status)?;
    packed.truncate(memory.rkey_packed_size);
    Ok(Some(packed))
}
