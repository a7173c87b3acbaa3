//! How the ranks of one measurement meet: a number, a barrier, and an exchange of small blobs. Nothing else of a
//! launcher, session or job is known to the library.

use super::cancel::{Cancel, CancelReason};
use super::service::Service;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Largest blob that a rank may exchange.
pub const BLOB_BYTES_MAX: usize = 64 << 10;

/// Why the ranks could not meet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The cancel flag was set while waiting.
    #[error("cancelled while the ranks were meeting")]
    Cancelled,
    /// A rank is gone.
    #[error("rank {rank} went away")]
    PeerLost {
        /// The rank, where known.
        rank: u32,
    },
    /// The channel between ranks failed.
    #[error("the control channel failed: {0}")]
    Channel(String),
}

/// What the library needs to know of the group it runs in. Callers may bring their own; every method is collective
/// except `rank`, `size`, `leave`, `cancel`, `bind_address`, `busy_threads` and `service`. Tokens of data connections, and the public
/// keys of encrypted ones, go through `exchange`: between machines it must be a channel that strangers neither read nor change.
///
/// ```
/// use wirespeed::{Bootstrap, ThreadBootstrap};
///
/// // Every rank calls in its own thread; a group of one meets itself.
/// let alone = ThreadBootstrap::group(1).remove(0);
/// assert_eq!((alone.rank(), alone.size()), (0, 1));
/// assert_eq!(alone.exchange(b"my address")?, [b"my address"]);
/// alone.barrier(&mut || ())?;
/// # Ok::<(), wirespeed::BootstrapError>(())
/// ```
pub trait Bootstrap {
    /// Number of ranks.
    fn size(&self) -> u32;

    /// This rank, from 0.
    fn rank(&self) -> u32;

    /// Wait until every rank is here, calling `progress` again and again meanwhile (at least every 10 ms).
    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError>;

    /// As [`Bootstrap::barrier`], with nothing to progress meanwhile: a rank that takes no part in a test sleeps until the others
    /// are here, or its flag is set. Where a bootstrap does not say how, as in the barrier.
    fn barrier_asleep(&self) -> Result<(), BootstrapError> {
        self.barrier(&mut || ())
    }

    /// Give `blob` (at most [`BLOB_BYTES_MAX`]) to every rank; returns the blobs of all ranks by rank, the own included.
    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError>;

    /// As [`Bootstrap::exchange`] among the ranks that name the same `color`; in place of the blobs of others there may be empty
    /// ones, so that in a large group of pairs each rank gets those of its own. Where a bootstrap does not say how, everybody's.
    fn exchange_among(&self, color: u64, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        let _ = color;
        self.exchange(blob)
    }

    /// This rank has no part in the measurement: from now on the others meet without it, and in its place they find an empty
    /// blob. Returns whether that is so; where it is not, it must go on meeting them.
    fn leave(&self) -> bool {
        false
    }

    /// The flag that ends this measurement early.
    fn cancel(&self) -> Cancel;

    /// Address to listen on for data of this session. Loopback unless the group spans machines.
    fn bind_address(&self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    }

    /// Threads that the caller keeps busy beside this rank, on the CPUs that the rank may use: how ranks wait depends on it.
    fn busy_threads(&self) -> u32 {
        0
    }

    /// The service at the far end, where data go to or come from one that is no rank of the group.
    fn service(&self) -> Option<&Service> {
        None
    }
}

#[derive(Default)]
struct Meeting {
    arrived: u32,
    left: u32,
    generation: u64,
    blobs: Vec<Brought>,
    done: Vec<Brought>,
}

/// A blob, and whom it is for.
type Brought = (Option<u64>, Vec<u8>);

/// What those of `color` find.
fn seen(done: &[Brought], color: Option<u64>) -> Vec<Vec<u8>> {
    let blob = |(of, blob): &Brought| match *of == color {
        true => blob.clone(),
        false => Vec::new(),
    };
    done.iter().map(blob).collect()
}

struct Shared {
    size: u32,
    meeting: Mutex<Meeting>,
    moved: Condvar,
    cancel: Cancel,
    address: IpAddr,
    first_barrier: Arc<OnceLock<Instant>>,
}

impl Shared {
    /// Whether all are there who have not left; then the others go on.
    fn completes(&self, meeting: &mut Meeting) -> bool {
        if meeting.arrived == 0 || meeting.arrived + meeting.left < self.size {
            return false;
        }
        meeting.arrived = 0;
        meeting.generation += 1;
        meeting.done = std::mem::replace(&mut meeting.blobs, vec![Brought::default(); self.size as usize]);
        self.moved.notify_all();
        true
    }
}

/// The bootstrap of threads of one process.
pub struct ThreadBootstrap {
    rank: u32,
    service: Option<Service>,
    shared: Arc<Shared>,
}

impl ThreadBootstrap {
    /// One bootstrap a rank for a group of `size` threads. When one is dropped while its thread panics, the others are
    /// cancelled.
    pub fn group(size: u32) -> Vec<ThreadBootstrap> {
        Self::group_with(size, Cancel::new(), IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    /// As `group`, with a flag of the caller's and the loopback address to use.
    pub fn group_with(size: u32, cancel: Cancel, address: IpAddr) -> Vec<ThreadBootstrap> {
        let meeting = Meeting {
            blobs: vec![Brought::default(); size as usize],
            ..Meeting::default()
        };
        let shared = Arc::new(Shared {
            size,
            meeting: Mutex::new(meeting),
            moved: Condvar::new(),
            cancel,
            address,
            first_barrier: Arc::default(),
        });
        shared.cancel.wake_on_cancel(&shared, |shared| {
            // Under the lock, so that nobody is between looking at the flag and sleeping.
            drop(shared.meeting.lock());
            shared.moved.notify_all();
        });
        (0..size)
            .map(|rank| ThreadBootstrap {
                rank,
                service: None,
                shared: shared.clone(),
            })
            .collect()
    }

    /// With a service at the far end.
    #[must_use]
    pub fn with_service(mut self, service: impl Into<Option<Service>>) -> Self {
        self.service = service.into();
        self
    }

    /// Where the group notes when it has passed its first barrier, which ends its set-up.
    pub fn first_barrier(&self) -> Arc<OnceLock<Instant>> {
        self.shared.first_barrier.clone()
    }

    fn pass(&self, progress: Option<&mut dyn FnMut()>) -> Result<(), BootstrapError> {
        self.meet((None, &[]), progress)?;
        self.shared.first_barrier.get_or_init(Instant::now);
        Ok(())
    }

    /// Asleep where there is nothing to progress.
    fn meet(
        &self,
        (color, blob): (Option<u64>, &[u8]),
        mut progress: Option<&mut dyn FnMut()>,
    ) -> Result<Vec<Vec<u8>>, BootstrapError> {
        let shared = &*self.shared;
        let mut meeting = shared.meeting.lock();
        let generation = meeting.generation;
        meeting.blobs[self.rank as usize] = (color, blob.to_vec());
        meeting.arrived += 1;
        if shared.completes(&mut meeting) {
            return Ok(seen(&meeting.done, color));
        }
        while meeting.generation == generation {
            if shared.cancel.reason().is_some() {
                return Err(BootstrapError::Cancelled);
            }
            let Some(progress) = &mut progress else {
                shared.moved.wait(&mut meeting);
                continue;
            };
            shared.moved.wait_for(&mut meeting, Duration::from_micros(200));
            MutexGuard::unlocked(&mut meeting, &mut *progress);
        }
        // Nobody can start the next meeting before all have gone from this one: it needs all who have not left.
        Ok(seen(&meeting.done, color))
    }
}

impl Drop for ThreadBootstrap {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.cancel.cancel(CancelReason::PeerLost);
        }
    }
}

impl Bootstrap for ThreadBootstrap {
    fn size(&self) -> u32 {
        self.shared.size
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        self.pass(Some(progress))
    }

    fn barrier_asleep(&self) -> Result<(), BootstrapError> {
        self.pass(None)
    }

    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.meet((None, blob), None)
    }

    fn exchange_among(&self, color: u64, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.meet((Some(color), blob), None)
    }

    fn leave(&self) -> bool {
        let shared = &*self.shared;
        let mut meeting = shared.meeting.lock();
        meeting.left += 1;
        shared.completes(&mut meeting);
        true
    }

    fn cancel(&self) -> Cancel {
        self.shared.cancel.clone()
    }

    fn bind_address(&self) -> IpAddr {
        self.shared.address
    }

    fn service(&self) -> Option<&Service> {
        self.service.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_meet_and_exchange() {
        let ranks = ThreadBootstrap::group(3);
        std::thread::scope(|scope| {
            for rank in &ranks {
                scope.spawn(move || {
                    for round in 0..50u8 {
                        let blobs = rank.exchange(&[rank.rank() as u8, round]).unwrap();
                        assert_eq!(blobs, [[0, round], [1, round], [2, round]]);
                        rank.barrier(&mut || ()).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn blobs_go_to_those_of_the_same_color() {
        let ranks = ThreadBootstrap::group(4);
        std::thread::scope(|scope| {
            for rank in &ranks {
                scope.spawn(move || {
                    let me = rank.rank();
                    let blobs = rank.exchange_among(u64::from(me % 2), &[me as u8]).unwrap();
                    let expected = |of: u32| {
                        if of % 2 == me % 2 {
                            vec![of as u8]
                        } else {
                            Vec::new()
                        }
                    };
                    assert_eq!(blobs, (0..4).map(expected).collect::<Vec<_>>());
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_who_has_left() {
        let ranks = ThreadBootstrap::group(3);
        assert!(ranks[2].leave());
        std::thread::scope(|scope| {
            scope.spawn(|| ranks[1].exchange(b"1").unwrap());
            assert_eq!(ranks[0].exchange(b"0").unwrap(), [&b"0"[..], b"1", b""]);
        });
        // Who waits already goes on when another leaves.
        let ranks = ThreadBootstrap::group(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ranks[0].exchange(b"0").unwrap());
            ranks[1].leave();
            assert_eq!(waiting.join().unwrap(), [&b"0"[..], b""]);
        });
    }

    #[test]
    fn a_cancelled_barrier_ends() {
        let ranks = ThreadBootstrap::group(2);
        ranks[0].cancel().cancel(CancelReason::Interrupted);
        assert!(matches!(
            ranks[0].barrier(&mut || ()),
            Err(BootstrapError::Cancelled)
        ));
        let ranks = ThreadBootstrap::group(2);
        ranks[0].cancel().cancel(CancelReason::Interrupted);
        let cancelled = ranks[0].barrier_asleep();
        assert!(matches!(cancelled, Err(BootstrapError::Cancelled)));
    }

    #[test]
    fn who_sleeps_is_woken_by_those_who_come_and_by_the_flag() {
        let ranks = ThreadBootstrap::group(3);
        std::thread::scope(|scope| {
            let sleepers = ranks[1..]
                .iter()
                .map(|rank| scope.spawn(|| rank.barrier_asleep()));
            let sleepers: Vec<_> = sleepers.collect();
            ranks[0].barrier(&mut || ()).unwrap();
            assert!(
                sleepers
                    .into_iter()
                    .all(|sleeper| sleeper.join().unwrap().is_ok())
            );
        });
        for _ in 0..200 {
            let ranks = ThreadBootstrap::group(2);
            std::thread::scope(|scope| {
                let sleeper = scope.spawn(|| ranks[1].barrier_asleep());
                ranks[0].cancel().cancel(CancelReason::PeerLost);
                assert!(matches!(sleeper.join().unwrap(), Err(BootstrapError::Cancelled)));
            });
        }
    }
}
