//! Ranks that a launcher started: mpiexec, srun. Every rank is the same program with the same words; the front, a process
//! that rank 0 starts, plans, reports and writes; the ranks are silent and get their cases from it.
//!
//! The launcher's library is used for what only it knows (who is there, on which node) and to pass on where rank 0
//! listens; after that the ranks talk over control connections like those of any other group, in threads that sleep. So
//! a rank that dies, fails or is interrupted is noticed whatever the library does meanwhile. Nothing here may know
//! which library or launcher it is.

mod address;
mod admit;
mod deadline;
pub(crate) mod error;
mod front;
mod launch;
mod run;
mod shelter;
mod visit;

pub(crate) use admit::Arrived;
pub use deadline::Joining;
pub use error::JobError;
pub use front::{Front, is_front};
pub(crate) use launch::LauncherProcess;
pub use launch::{INVITATION_VARIABLE, LaunchCommand};
pub use run::{run_front, run_rank};
pub use shelter::sheltered;
pub use visit::run_launched_rank;

use crate::error::ControlError;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use wirespeed_schema::job::JobSection;
use wirespeed_schema::message::RankMessage;

/// This process's place in its job, as the launcher's variables say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// Its rank.
    pub rank: u32,
    /// Ranks of the job, where the variables say.
    pub size: Option<u32>,
    /// Who started it, in words.
    pub launcher: String,
    /// Whether it kills all ranks without warning when one of them dies.
    pub kills_at_once: bool,
}

/// A job that this process has joined. Its functions are collective: every process calls them in the same order, from the
/// thread that joined. Ranks here are processes.
pub trait Job {
    /// This rank.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Threads of every process that measure as ranks of their own: those of process p are ranks p x threads and up.
    fn threads(&self) -> u32;
    /// The lowest rank of this rank's node, and the node's name.
    fn node(&self) -> (u32, String);
    /// What this rank's node shares with its neighbours, such as a switch, where the launcher says.
    fn unit(&self) -> Option<String> {
        None
    }
    /// Rank 0's bytes, at every rank. What the others give is ignored.
    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, JobError>;
    /// Every rank's bytes at every rank, by rank.
    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, JobError>;
    /// What is known of library and launcher, for results.
    fn facts(&self) -> BTreeMap<String, String>;
    /// Leave: nothing of the job is used after it. Returns also when other ranks are gone, soon where it is known that one `is_lost`;
    /// a process that cannot leave in time ends with `code`, which says how its work ended. The code to end with: not 0 where operations had to be abandoned
    /// because another rank was lost.
    fn leave(&self, code: u8, is_lost: bool) -> u8;
}

/// A kind of jobs that this program can be part of, or start by itself.
pub trait JobKind: Sync {
    /// This process's place in a job, if it is in one.
    fn detect(&self) -> Option<Detected>;
    /// Join the job that was detected, or the one that [`JobKind::command`] started.
    fn join(&self) -> Result<Box<dyn Job>, JobError>;
    /// How to start `ranks` ranks of a program on this machine.
    fn command(&self, ranks: u32) -> Result<LaunchCommand, JobError>;
}

/// What the ranks of a job have told each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Who is where.
    section: JobSection,
    /// The unit of each node, where it has one.
    units: Vec<Option<String>>,
}

/// The ranks of a job as its front has them: connected, waiting for cases. Clones are the same ranks.
#[derive(Clone)]
pub struct JobRanks {
    waiting: Arc<Mutex<Waiting>>,
    known: Arc<Known>,
}

/// Ranks that no group has taken yet; told to go when nobody ever does.
struct Waiting(Vec<Arrived>);

impl Waiting {
    fn dismiss(&mut self) {
        for rank in self.0.drain(..) {
            // It may be gone already.
            let _ = rank.sender.message(&RankMessage::Bye);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl std::fmt::Debug for JobRanks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JobRanks({})", self.section().ranks.len())
    }
}

impl JobRanks {
    fn new(arrived: Vec<Arrived>, known: Known) -> Self {
        JobRanks {
            waiting: Arc::new(Mutex::new(Waiting(arrived))),
            known: Arc::new(known),
        }
    }

    /// Who is where.
    pub fn section(&self) -> &JobSection {
        &self.known.section
    }

    /// The unit of each node, such as its switch, where the launcher says.
    pub fn units(&self) -> &[Option<String>] {
        &self.known.units
    }

    /// Let the ranks go that no group has taken: the program ends without a measurement.
    pub(crate) fn dismiss(&self) {
        self.waiting.lock().dismiss();
    }

    /// The connections; once.
    pub(crate) fn take(&self) -> Result<Vec<Arrived>, ControlError> {
        let mut waiting = self.waiting.lock();
        match std::mem::take(&mut waiting.0) {
            ranks if ranks.is_empty() => Err(ControlError::lost("the job", "its ranks are in use already")),
            ranks => Ok(ranks),
        }
    }
}
