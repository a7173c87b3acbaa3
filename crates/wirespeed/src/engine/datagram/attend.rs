//! What every rank over a lossy medium does beside its own loop: answer what is due, and count what went wrong.

use super::sequence::Tracker;
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage};
use wirespeed_schema::outcome::Faults;

/// What must be answered even between phases, because the answer before may have been lost.
pub trait Attend: OnMessage {
    /// Answer what is due; sends that find no room are left out, the peer asks again.
    fn attend<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError>;
}

/// What a `tracker` of `total` messages makes of them, `corrupt` ones counted.
pub fn faults_of(tracker: &Tracker, total: u64, corrupt: u64) -> Faults {
    Faults {
        lost_messages: tracker.lost(total),
        reordered_messages: tracker.reordered,
        duplicate_messages: tracker.duplicates,
        corrupt_messages: corrupt,
    }
}

/// While ranks meet: the peer may lack an answer that was lost.
pub fn progress<P: MessagePort, A: Attend>(link: &mut Wired<P>, on: &mut A) -> Result<(), LinkError> {
    let mut step = || -> Result<(), LinkError> {
        link.port.poll(on)?;
        on.attend(&mut link.port)?;
        link.port.flush().map(drop)
    };
    // A broken port shows in the next phase; at the last barrier a peer may have closed its port already.
    let _ = step();
    Ok(())
}
