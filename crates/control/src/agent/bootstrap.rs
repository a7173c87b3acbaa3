//! The library's [`Bootstrap`] over a rank's control channel.

use super::shared::{Blobs, Shared};
use crate::session::agent::Start;
use std::cell::Cell;
use std::net::IpAddr;
use std::time::Duration;
use wirespeed::transport::bootstrap::BLOB_BYTES_MAX;
use wirespeed::{Bootstrap, BootstrapError, Cancel};
use wirespeed_schema::message::{Blob, RankMessage};

/// How often a waiting rank gives its transport a chance to make progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(1);
/// How often one that has nothing to progress looks around: what it waits for wakes it.
const REST_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct AgentBootstrap<'a> {
    shared: &'a Shared,
    run: u64,
    rank: u32,
    size: u32,
    bind_address: IpAddr,
    busy_threads: u32,
    cancel: Cancel,
    round: Cell<u64>,
}

impl<'a> AgentBootstrap<'a> {
    pub(super) fn new(shared: &'a Shared, start: &Start, busy_threads: u32) -> Self {
        AgentBootstrap {
            shared,
            run: start.run,
            rank: start.rank,
            size: start.case.ranks.len() as u32,
            bind_address: start.bind_address,
            busy_threads,
            cancel: shared.cancel_flag(),
            round: Cell::new(0),
        }
    }

    /// Asleep where there is nothing to progress.
    fn meet(
        &self,
        say: RankMessage,
        mut progress: Option<&mut dyn FnMut()>,
    ) -> Result<Blobs, BootstrapError> {
        let interval = progress.as_ref().map_or(REST_INTERVAL, |_| PROGRESS_INTERVAL);
        let round = self.round.replace(self.round.get() + 1);
        let sent = self.shared.sender().message(&say);
        sent.map_err(|e| BootstrapError::Channel(e.to_string()))?;
        loop {
            if let Some(blobs) = self.shared.take_delivered(round, interval) {
                return Ok(blobs);
            }
            if self.cancel.reason().is_some() {
                return Err(BootstrapError::Cancelled);
            }
            if self.shared.is_closed() {
                return Err(BootstrapError::Channel("the coordinator went away".into()));
            }
            if let Some(progress) = &mut progress {
                progress();
            }
        }
    }

    fn barrier_with(&self, progress: Option<&mut dyn FnMut()>) -> Result<(), BootstrapError> {
        let say = RankMessage::Barrier {
            run: self.run,
            round: self.round.get(),
        };
        self.meet(say, progress).map(drop)
    }

    /// By rank, the blobs of those that name the same color; empty ones for the others.
    fn exchange_for(&self, color: Option<u64>, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        if blob.len() > BLOB_BYTES_MAX {
            return Err(BootstrapError::Channel(format!(
                "a blob of {} bytes, at most {BLOB_BYTES_MAX} can be exchanged",
                blob.len()
            )));
        }
        let say = RankMessage::Exchange {
            run: self.run,
            round: self.round.get(),
            blob: Blob(blob.to_vec()),
            color,
        };
        let (mut by_rank, mut is_there) = (vec![Vec::new(); self.size as usize], false);
        for (rank, blob) in self.meet(say, None)? {
            is_there |= rank == self.rank;
            if let Some(place) = by_rank.get_mut(rank as usize) {
                *place = blob;
            }
        }
        match is_there {
            true => Ok(by_rank),
            false => Err(BootstrapError::Channel("the ranks do not do the same".into())),
        }
    }
}

impl Bootstrap for AgentBootstrap<'_> {
    fn size(&self) -> u32 {
        self.size
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        self.barrier_with(Some(progress))
    }

    fn barrier_asleep(&self) -> Result<(), BootstrapError> {
        self.barrier_with(None)
    }

    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.exchange_for(None, blob)
    }

    fn exchange_among(&self, color: u64, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.exchange_for(Some(color), blob)
    }

    /// The coordinator excuses an idle rank that has delivered its outcome.
    fn leave(&self) -> bool {
        true
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    fn bind_address(&self) -> IpAddr {
        self.bind_address
    }

    fn busy_threads(&self) -> u32 {
        self.busy_threads
    }
}
