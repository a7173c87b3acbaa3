//! What a port does when it has nothing to do: spin or yield, and look at the cancel flag now and then. It never sleeps: that
//! a port does itself, woken through [`Cancel::wake_on_cancel`].

use super::cancel::Cancel;
use super::port::LinkError;
use wirespeed_schema::case::IdlePolicy;

/// Empty polls between two looks at the cancel flag while spinning, of one peer (well below 100 ms even when each poll is a
/// system call).
const POLLS_PER_LOOK: usize = 1024;

/// Counts empty polls of one port.
///
/// ```
/// use wirespeed::Cancel;
/// use wirespeed::schema::case::IdlePolicy;
/// use wirespeed::transport::cancel::CancelReason;
/// use wirespeed::transport::port::LinkError;
/// use wirespeed::transport::waiter::Waiter;
///
/// let cancel = Cancel::new();
/// let mut waiter = Waiter::new(IdlePolicy::Yield, cancel.clone());
/// assert_eq!(waiter.idle(), Ok(()));
/// cancel.cancel(CancelReason::Interrupted);
/// assert_eq!(waiter.idle(), Err(LinkError::Cancelled));
/// ```
#[derive(Clone)]
pub struct Waiter {
    policy: IdlePolicy,
    cancel: Cancel,
    empty_polls: u32,
    /// A look is due where none of these bits of the count is set.
    mask: u32,
}

impl Waiter {
    /// A waiter with the case's policy.
    pub fn new(policy: IdlePolicy, cancel: Cancel) -> Self {
        Waiter {
            policy,
            cancel,
            empty_polls: 0,
            mask: POLLS_PER_LOOK as u32 - 1,
        }
    }

    /// With the looks of a port whose polls ask so many peers.
    #[must_use]
    pub(crate) fn of_peers(mut self, peers: usize) -> Self {
        let polls = POLLS_PER_LOOK / peers.clamp(1, POLLS_PER_LOOK);
        self.mask = (1 << polls.ilog2()) - 1;
        self
    }

    /// Call after every empty poll.
    #[inline(always)]
    pub fn idle(&mut self) -> Result<(), LinkError> {
        if matches!(self.policy, IdlePolicy::Spin) {
            core::hint::spin_loop();
        }
        self.empty_polls = self.empty_polls.wrapping_add(1);
        if matches!(self.policy, IdlePolicy::Yield) {
            std::thread::yield_now();
            // On a busy machine each yield may cost a time slice; beside it the look costs nothing.
            return self.look();
        }
        if self.empty_polls & self.mask == 0 {
            self.look()
        } else {
            Ok(())
        }
    }

    /// Look at the cancel flag now: for ports that slept.
    #[cold]
    #[inline(never)]
    pub fn look(&self) -> Result<(), LinkError> {
        if self.cancel.reason().is_some() {
            Err(LinkError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// What `error` means for a port that a cancel shuts: that it was cancelled, where it was.
    #[cold]
    pub(crate) fn explain(&self, error: LinkError) -> LinkError {
        match self.look() {
            Err(cancelled) if error == LinkError::Closed => cancelled,
            _ => error,
        }
    }

    /// The policy.
    #[inline(always)]
    pub fn policy(&self) -> IdlePolicy {
        self.policy
    }

    /// The flag.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::cancel::CancelReason;

    #[test]
    fn the_more_peers_a_poll_asks_the_sooner_a_cancel_is_heard() {
        for (peers, polls) in [
            (0, 1024),
            (1, 1024),
            (2, 512),
            (3, 256),
            (512, 2),
            (1024, 1),
            (5000, 1),
        ] {
            let cancel = Cancel::new();
            let mut waiter = Waiter::new(IdlePolicy::Spin, cancel.clone()).of_peers(peers);
            cancel.cancel(CancelReason::PeerLost);
            let heard = (1..).find(|_| waiter.idle().is_err());
            assert_eq!(heard, Some(polls), "{peers} peers");
        }
    }
}
