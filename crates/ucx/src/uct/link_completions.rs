//! Completions of operations, counted in the order in which they were posted, as the engine counts them.
//!
//! UCX keeps pointers to them while operations are under way, so they never move.

use crate::link_status::cold_error;
use crate::order::Order;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use wirespeed::transport::port::{Post, Posted};
use wirespeed_ucx_sys as sys;

/// One operation under way.
#[repr(C)]
pub struct Pending {
    /// UCX's part; first, so that its address is that of the whole.
    completion: sys::uct_completion_t,
    list: *const Completions,
    /// Which of the list's places it is.
    pub index: usize,
    /// Where fetched data go, for operations that UCX unpacks.
    pub target: *mut u8,
}

/// A completion that nobody has touched, as each is between two operations: what completes at once writes nothing here.
const NEW: sys::uct_completion_t = sys::uct_completion_t {
    func: Some(complete),
    count: 1,
    status: sys::UCS_OK,
};

/// A ring of operations under way.
pub struct Completions {
    pending: Box<[UnsafeCell<Pending>]>,
    order: Order,
    failed: Cell<sys::ucs_status_t>,
}

/// # Safety
/// UCX calls it with the completion that it was given, in the port's thread.
unsafe extern "C" fn complete(completion: *mut sys::uct_completion_t) {
    // SAFETY: the completion is the first field of a `Pending` of a live list; no other reference to it exists now.
    let pending = unsafe { &mut *completion.cast::<Pending>() };
    // SAFETY: the list outlives its operations.
    let list = unsafe { &*pending.list };
    if pending.completion.status < 0 {
        list.failed.set(pending.completion.status);
    }
    pending.completion = NEW;
    list.order.finish(pending.index);
}

impl Completions {
    /// For `under_way` operations at once.
    pub fn new(under_way: u64) -> Box<Self> {
        let order = Order::new(under_way);
        let pending = |index| {
            UnsafeCell::new(Pending {
                completion: NEW,
                list: std::ptr::null(),
                index,
                target: std::ptr::null_mut(),
            })
        };
        let mut list = Box::new(Completions {
            pending: (0..order.places()).map(pending).collect(),
            order,
            failed: Cell::new(sys::UCS_OK),
        });
        let address: *const Completions = &raw const *list;
        for pending in &mut list.pending {
            pending.get_mut().list = address;
        }
        list
    }

    /// Post an operation with a completion of its own; `post` gets it. Busy when there are too many.
    #[inline(always)]
    pub fn post(
        &self,
        operation: &'static str,
        post: impl FnOnce(*mut Pending, *mut sys::uct_completion_t) -> sys::ucs_status_t,
    ) -> Posted {
        let Some(number) = self.order.next() else {
            return Ok(Post::Busy);
        };
        let pending = self.pending[self.order.place(number)].get();
        match post(pending, pending.cast()) {
            sys::UCS_INPROGRESS => {
                self.order.begin(number);
                Ok(Post::Done)
            }
            sys::UCS_OK => {
                self.order.at_once(number);
                Ok(Post::Done)
            }
            sys::UCS_ERR_NO_RESOURCE => Ok(Post::Busy),
            status => Err(cold_error(operation, status)),
        }
    }

    /// Operations completed so far.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        self.order.completed()
    }

    /// Whether none is under way.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The first error of an operation under way.
    #[inline(always)]
    pub fn failed(&self) -> Option<sys::ucs_status_t> {
        match self.failed.get() {
            sys::UCS_OK => None,
            status => Some(status),
        }
    }
}

/// # Safety
/// UCX calls it with the argument of the get: a `Pending` with room for `len` bytes at its target.
pub unsafe extern "C" fn unpack(pending: *mut c_void, data: *const c_void, len: usize) {
    // SAFETY: the pending operation is live until it completes, and its target was checked for `len` bytes.
    unsafe {
        let target = (*pending.cast::<Pending>()).target;
        std::ptr::copy_nonoverlapping(data.cast::<u8>(), target, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::transport::port::LinkError;

    fn finish(pending: *mut Pending, status: sys::ucs_status_t) {
        // SAFETY: as UCX does: the completion of an operation under way.
        unsafe {
            (*pending).completion.status = status;
            complete(pending.cast());
        }
    }

    #[test]
    fn completions_are_counted_in_order() {
        let list = Completions::new(4);
        let mut under_way = Vec::new();
        for _ in 0..3 {
            let post = list.post("get", |pending, _| {
                under_way.push(pending);
                sys::UCS_INPROGRESS
            });
            assert_eq!(post, Ok(Post::Done));
        }
        assert_eq!(list.post("get", |_, _| sys::UCS_OK), Ok(Post::Done));
        assert_eq!(list.post("get", |_, _| unreachable!()), Ok(Post::Busy));
        finish(under_way[1], sys::UCS_OK);
        assert_eq!(list.completed(), 0);
        finish(under_way[0], sys::UCS_OK);
        assert_eq!(list.completed(), 2);
        finish(under_way[2], sys::UCS_OK);
        assert_eq!((list.completed(), list.is_empty()), (4, true));
        assert_eq!(list.post("get", |_, _| sys::UCS_OK), Ok(Post::Done));
        assert_eq!(list.completed(), 5);
        assert_eq!(list.post("get", |_, _| sys::UCS_ERR_NO_RESOURCE), Ok(Post::Busy));
        assert_eq!(list.failed(), None);
    }

    #[test]
    fn a_failed_operation_is_known() {
        let list = Completions::new(1);
        let mut it = std::ptr::null_mut();
        let post = list.post("put", |pending, _| {
            it = pending;
            sys::UCS_INPROGRESS
        });
        assert_eq!(post, Ok(Post::Done));
        finish(it, sys::UCS_ERR_CONNECTION_RESET);
        assert_eq!(list.failed(), Some(sys::UCS_ERR_CONNECTION_RESET));
        assert_eq!(
            list.post("put", |_, _| sys::UCS_ERR_CONNECTION_RESET),
            Err(LinkError::Closed)
        );
    }
}
