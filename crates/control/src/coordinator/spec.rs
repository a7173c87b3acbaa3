//! What a group is made of and how it is run, as a caller says it. Nothing here connects or starts anything.

use crate::auth::Identity;
use crate::error::ControlError;
use crate::job::{JobKind, JobRanks};
use crate::launch::program::RankProgram;
use crate::launch::seam::Launch;
use crate::session::Timing;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use wirespeed::transport::Service;
use wirespeed_schema::case::{Case, Role};

/// Where the ranks live.
#[derive(Debug, Clone)]
pub enum GroupSpec {
    /// Threads of this process.
    Threads,
    /// Processes of this machine.
    Processes,
    /// Servers, each with ranks of its own; the other ranks are processes of this machine.
    Hosts(Vec<ServerSpec>),
    /// The ranks of the job that this process is rank 0 of.
    Job(JobRanks),
    /// A job that is started for the purpose, on this machine: a launcher starts all ranks at once.
    Launched(Launcher),
    /// Ranks that somebody else starts or has started, one by one, here or elsewhere.
    Started(Arc<dyn Launch>),
    /// Threads of this process, and a service that is no rank.
    Service(Service),
}

/// What starts jobs.
#[derive(Clone, Copy)]
pub struct Launcher(pub &'static dyn JobKind);

impl std::fmt::Debug for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Launcher")
    }
}

/// A server of a group over several machines.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerSpec {
    /// The server: `HOST`, `HOST:PORT` or `[IPv6]:PORT`.
    pub address: String,
    /// What proves each end to the other.
    pub identity: Identity,
    /// Ranks that the server runs, possibly none; where absent, those of [`default_remote_ranks`] that no other server was
    /// given.
    pub ranks: Option<Vec<u32>>,
}

impl ServerSpec {
    /// The server at `address`, with the ranks of [`default_remote_ranks`].
    pub fn new(address: impl Into<String>, identity: Identity) -> Self {
        ServerSpec {
            address: address.into(),
            identity,
            ranks: None,
        }
    }

    /// It runs these ranks.
    #[must_use]
    pub fn with_ranks(mut self, ranks: Vec<u32>) -> Self {
        self.ranks = Some(ranks);
        self
    }
}

/// How a group is run.
#[derive(Debug, Clone)]
pub struct GroupOptions {
    /// How long to wait for what.
    pub timing: Timing,
    /// The program that becomes a rank.
    pub program: RankProgram,
    /// Start new processes for every run.
    pub fresh: bool,
    /// The ranks of each end are threads of one process.
    pub together: bool,
    /// Groups with the same number have one turn at a server: nobody else guesses it, and they are measured side by side.
    pub turn: Option<u64>,
    /// Address for data between ranks of this machine.
    pub bind_address: IpAddr,
}

impl GroupOptions {
    /// Defaults: this program, processes reused between runs, 127.0.0.1.
    pub fn new() -> Result<Self, ControlError> {
        Ok(GroupOptions {
            timing: Timing::default(),
            program: RankProgram::this()?,
            fresh: false,
            together: false,
            turn: None,
            bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        })
    }
}

/// Ranks of `case` that a server runs unless told otherwise: sinks and workers; where that would be all or none, every
/// second rank.
pub fn default_remote_ranks(case: &Case) -> Vec<u32> {
    let numbered = || (0u32..).zip(&case.ranks);
    let answering: Vec<u32> = numbered()
        .filter(|(_, rank)| matches!(rank.role, Role::Sink | Role::Worker))
        .map(|(number, _)| number)
        .collect();
    if answering.is_empty() || answering.len() == case.ranks.len() {
        return numbered()
            .map(|(number, _)| number)
            .filter(|n| n % 2 == 1)
            .collect();
    }
    answering
}
