//! Where the memory comes from: the heap, handed to peers as a counted pointer.
//!
//! A pointer must never be used before its process has been found to be this one, and is used once by each peer.

use crate::sync::SharedBytes;
use crate::transport::local::{Address, Medium, Place};
use crate::transport::{ConnectError, buffer, check_available};
use parking_lot::Mutex;
use std::sync::Arc;

/// Memory of this process.
pub struct Heap;

/// What peers point to: the memory, until the offer is withdrawn.
type Shelf = Mutex<Option<SharedBytes>>;

/// Withdraws the memory when dropped. A peer that never came leaves its share of the shelf behind, some 100 bytes, but
/// not the memory.
pub struct Offer(Arc<Shelf>);

impl Drop for Offer {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

impl Medium for Heap {
    const PRIVATE: bool = true;
    type Offer = Offer;

    fn offer(&self, len: usize, peers: usize) -> Result<(SharedBytes, Offer, u64), ConnectError> {
        const WHAT: &str = "the rings or the region";
        check_available(WHAT, len)?;
        let bytes = buffer(WHAT, len)?;
        // Touch every page now, not in the measured loop.
        for page in (0..len).step_by(4096) {
            bytes.store_u8(page, 0);
        }
        let shelf = Arc::new(Mutex::new(Some(bytes.clone())));
        for _ in 0..peers {
            // One count for each peer, given back in `take`.
            let _ = Arc::into_raw(shelf.clone());
        }
        let handle = Arc::as_ptr(&shelf).expose_provenance() as u64;
        Ok((bytes, Offer(shelf), handle))
    }

    fn take(&self, rank: u32, here: &Place, address: &Address) -> Result<SharedBytes, ConnectError> {
        let bad = |what: &str| ConnectError::BadPeer {
            rank,
            what: what.to_owned(),
        };
        if *here != address.place {
            return Err(bad("it is not a thread of this process"));
        }
        let pointer = core::ptr::with_exposed_provenance::<Shelf>(address.handle as usize);
        // SAFETY: the address comes from this very process (machine, namespace, number and start time agree), so it
        // was made in `offer`, which left one count for each peer of that rank; peers are distinct and each comes here
        // once for each offer, so the count that is taken over is this rank's own.
        let shelf = unsafe { Arc::from_raw(pointer) };
        let bytes = shelf.lock().clone();
        bytes.ok_or_else(|| bad("it gave up before all ranks had connected"))
    }
}
