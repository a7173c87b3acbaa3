//! What a rank says to its PMIx server past the MPI library: that it is here, before the first message, and that it leaves, where
//! the library hangs.
//!
//! `MPI_Init` ends with a fence that carries none, and a server may let each node pass it alone: the plugin `pmix` of Slurm
//! 22.05 does. A rank whose node is ahead then sends while another is still inside of `MPI_Init`, and Open MPI 4 hands the
//! message to a handler that is not there yet: a jump to address 0. A fence that carries data waits for every node.
//!
//! Open MPI's launchers call a job a failure in which a process ends that has not left, whatever it returns.
//! Nothing here may load a library, or be called while messages flow.

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null;

/// The name under which the client library is in this process, if the MPI library brought it.
const LIBRARY: &CStr = c"libpmix.so.2";
/// "Collect the data of all and give it to all": `PMIX_COLLECT_DATA`.
const COLLECT_DATA: &CStr = c"pmix.collect";
/// `PMIX_BOOL`.
const BOOL: u16 = 1;
/// `PMIX_MAX_KEYLEN` and the end.
const KEY_BYTES: usize = 512;

/// `pmix_value_t`: a kind, and room for the largest value.
#[repr(C)]
struct Value {
    kind: u16,
    data: [u64; 3],
}

/// `pmix_info_t`, the same in PMIx 2 to 6.
#[repr(C)]
struct Info {
    key: [u8; KEY_BYTES],
    flags: u32,
    value: Value,
}

/// `PMIx_Fence`: processes and their number (none: all of the job), wishes and their number.
type Fence = unsafe extern "C" fn(*const c_void, usize, *const Info, usize) -> c_int;

/// `PMIx_Initialized`.
type Initialised = unsafe extern "C" fn() -> c_int;
/// `PMIx_Finalize`: wishes and their number.
type Finalise = unsafe extern "C" fn(*const Info, usize) -> c_int;

/// Most initialisations of the client that one process is thought to have: the library counts them.
const INITIALISED_MAX: usize = 8;

/// Wait until every rank of the job is here. Returns whether they have met: false where the process has no PMIx client of
/// its own, or the server cannot do it.
pub fn meet() -> bool {
    let Some(found) = function(c"PMIx_Fence") else {
        return false;
    };
    // SAFETY: the function of that name has these parameters in every version of the library with this name.
    let fence: Fence = unsafe { core::mem::transmute::<*mut c_void, Fence>(found) };
    let wish = collect_data();
    // SAFETY: the MPI library has initialised the client; no processes mean all of the job; one wish lies at the address.
    unsafe { fence(null(), 0, &raw const wish, 1) == 0 }
}

/// Tell the server that this process leaves, though the MPI library has not: it may hang in another thread. May take as long as
/// the server takes. Does nothing where there is no client. For a process that ends next: the library may be within the client
/// at that moment, and what it then makes of the client's end, a crash included, is no worse than what a launcher makes of a
/// rank that never left.
pub fn leave() {
    let (Some(initialised), Some(finalise)) = (function(c"PMIx_Initialized"), function(c"PMIx_Finalize"))
    else {
        return;
    };
    // SAFETY: the function of that name has no parameter in every version of the library with this name.
    let initialised = unsafe { core::mem::transmute::<*mut c_void, Initialised>(initialised) };
    // SAFETY: the same of wishes and their number.
    let finalise = unsafe { core::mem::transmute::<*mut c_void, Finalise>(finalise) };
    for _ in 0..INITIALISED_MAX {
        // SAFETY: no wishes lie at no address. Another thread may be within the client, which counts under a lock who has
        // initialised it; whatever that thread then meets, the process ends next, as said above.
        let is_left = unsafe { initialised() == 0 || finalise(null(), 0) != 0 };
        if is_left {
            return;
        }
    }
}

/// The function `name` of the client library, where the MPI library has brought one.
fn function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a constant text; with NOLOAD nothing is loaded and no initialiser runs.
    let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: an open library and a text that ends. The library is never closed, so what is found stays.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn collect_data() -> Info {
    let mut key = [0; KEY_BYTES];
    let name = COLLECT_DATA.to_bytes();
    key[..name.len()].copy_from_slice(name);
    Info {
        key,
        flags: 0,
        value: Value {
            kind: BOOL,
            data: [1u64.to_le(), 0, 0],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    #[test]
    fn a_wish_has_the_layout_of_the_library() {
        assert_eq!((size_of::<Info>(), size_of::<Value>()), (552, 32));
        assert_eq!((offset_of!(Info, flags), offset_of!(Info, value)), (512, 520));
        assert_eq!(offset_of!(Value, data), 8);
    }

    #[test]
    fn without_the_library_nobody_is_met() {
        assert!(!meet());
        leave();
    }
}
