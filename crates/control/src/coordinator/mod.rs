//! Runs cases over a group of ranks: threads, local processes, or two machines. It starts the ranks, lets them meet,
//! passes their reports on, and brings every run to an end: by itself, by the user's wish, or by a rank's death.
//!
//! The coordinator sleeps on one channel while ranks measure; it must never poll.

mod drive;

use crate::auth::Identity;
use crate::client::{Server, ServerHeard};
use crate::error::ControlError;
use crate::job::{JobKind, JobRanks};
use crate::launch::local::{Heard, RankSet};
use crate::launch::program::RankProgram;
use crate::launch::seam::Launch;
use crate::launch::threads;
use crate::session::Timing;
use crate::session::group::{Blamed, Failure};
use crate::stop::StopFlag;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed::transport::Service;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::message::{FailureClass, Refusal, ServerLimits, SessionMessage};
use wirespeed_schema::outcome::{Interval, Outcome};

/// Where the ranks live.
#[derive(Debug, Clone)]
pub enum GroupSpec {
    /// Threads of this process.
    Threads,
    /// Processes of this machine.
    Processes,
    /// This machine and a server.
    Hosts(HostsSpec),
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

/// A group over two machines.
#[derive(Debug, Clone)]
pub struct HostsSpec {
    /// The server: `HOST`, `HOST:PORT` or `[IPv6]:PORT`.
    pub address: String,
    /// What proves each end to the other.
    pub identity: Identity,
    /// Ranks that the server runs; [`default_remote_ranks`] where absent.
    pub remote_ranks: Option<Vec<u32>>,
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
            bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        })
    }
}

/// What happens to a group, in the coordinator's thread.
#[derive(Debug)]
#[non_exhaustive]
pub enum GroupEvent<'a> {
    /// The server is there; these are its limits.
    Connected {
        /// Its build.
        build: &'a str,
        /// Its limits.
        limits: &'a ServerLimits,
    },
    /// The server measures others first.
    Queued {
        /// Sessions ahead.
        ahead: u32,
        /// Time that will pass at least, where known.
        wait_ns_min: Option<u64>,
    },
    /// Every rank has its case.
    Started,
    /// A rank reports a slice of time.
    Interval {
        /// The rank.
        rank: u32,
        /// The slice.
        interval: &'a Interval,
    },
    /// The ranks are asked to end in order.
    Stopping,
    /// A rank is gone.
    RankLost {
        /// The rank.
        rank: u32,
        /// How it ended.
        reason: &'a str,
    },
}

/// What a run came to.
#[derive(Debug)]
pub struct GroupResult {
    /// What every rank saw, by rank; absent where a rank delivered nothing.
    pub outcomes: Vec<Option<Outcome>>,
    /// Why it failed, if it did. Outcomes may be there nevertheless.
    pub error: Option<Failure>,
    /// Ranks that broke it by themselves, so far as they are processes.
    pub blamed: Vec<Blamed>,
    /// From the start of the ranks to the first barrier.
    pub setup_ns: u64,
    /// Other sessions on the same server at some time of the run.
    pub overlapping_sessions: u32,
}

impl GroupResult {
    fn failed(size: usize, error: &ControlError) -> Self {
        let class = match error {
            ControlError::Interrupted => FailureClass::PeerLost,
            other => other.class(),
        };
        let blamed = match error {
            ControlError::Rank { rank, error } => vec![Blamed {
                rank: *rank,
                reason: error.to_string(),
                gone: true,
            }],
            _ => Vec::new(),
        };
        GroupResult {
            outcomes: vec![None; size],
            error: Some(Failure {
                class,
                message: error.to_string(),
                remedy: Some(error.remedy()),
            }),
            blamed,
            setup_ns: 0,
            overlapping_sessions: 0,
        }
    }
}

/// What reaches the coordinator's channel.
pub(crate) enum Incoming {
    /// Of a process started by generation `.0` of the local ranks.
    Local(u64, u32, Heard),
    /// Of connection `.0` to the server.
    Server(u64, ServerHeard),
    Stop,
}

/// Ranks that can run several cases, one after the other. Data connections are new for every run; processes and the
/// server's session stay, unless [`GroupOptions::fresh`].
pub struct Group {
    spec: GroupSpec,
    options: GroupOptions,
    registry: Registry,
    origin: Instant,
    sender: mpsc::Sender<Incoming>,
    incoming: mpsc::Receiver<Incoming>,
    runs: u64,
    generation: u64,
    connections: u64,
    local: Option<RankSet>,
    server: Option<Server>,
}

impl Group {
    /// A group as `spec` says; a server is connected to here, processes are started by the first run.
    pub fn open(
        spec: &GroupSpec,
        registry: &Registry,
        options: GroupOptions,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Result<Self, ControlError> {
        let (sender, incoming) = mpsc::channel();
        let mut group = Group {
            spec: spec.clone(),
            options,
            registry: registry.clone(),
            origin: Instant::now(),
            sender,
            incoming,
            runs: 0,
            generation: 0,
            connections: 0,
            local: None,
            server: None,
        };
        group.connect(events, stop)?;
        Ok(group)
    }

    /// Run `case` to its end. Never hangs: a rank that does not end is given up after the times of [`Timing`].
    pub fn run(&mut self, case: &Case, events: &mut dyn FnMut(GroupEvent), stop: &StopFlag) -> GroupResult {
        let options = &self.options;
        let service = match &self.spec {
            GroupSpec::Threads => Some(None),
            GroupSpec::Service(service) => Some(Some(service)),
            _ => None,
        };
        if let Some(service) = service {
            let around = threads::Around {
                timing: options.timing,
                bind_address: options.bind_address,
                service,
            };
            return threads::run(case, &self.registry, &around, events, stop);
        }
        let result = drive::run(self, case, events, stop);
        result.unwrap_or_else(|error| GroupResult::failed(case.ranks.len(), &error))
    }

    /// Tell the server, if there is one, that nothing will be run and why; it says so, too.
    pub fn refuse(&self, refusal: Refusal) {
        if let Some(server) = &self.server {
            // A server that is gone needs no word.
            let _ = server.send(&SessionMessage::Refused(refusal));
        }
    }

    /// The server's limits, in a group over two machines.
    pub fn server_limits(&self) -> Option<&ServerLimits> {
        self.server.as_ref().map(Server::limits)
    }

    /// Identifiers of the local ranks' processes.
    pub fn process_ids(&self) -> Vec<u32> {
        self.local.as_ref().map(RankSet::process_ids).unwrap_or_default()
    }

    /// Connect to the server, if there is one and no connection is open.
    fn connect(&mut self, events: &mut dyn FnMut(GroupEvent), stop: &StopFlag) -> Result<(), ControlError> {
        let GroupSpec::Hosts(hosts) = &self.spec else {
            return Ok(());
        };
        if self.server.as_ref().is_some_and(Server::is_open) {
            return Ok(());
        }
        self.server = None;
        self.connections += 1;
        let (connection, tx) = (self.connections, self.sender.clone());
        let server = Server::connect(
            &hosts.address,
            &hosts.identity,
            self.options.timing,
            stop,
            move |heard| {
                // Nobody listens any more when the group is gone.
                let _ = tx.send(Incoming::Server(connection, heard));
            },
        )?;
        events(GroupEvent::Connected {
            build: server.build(),
            limits: server.limits(),
        });
        self.server = Some(server);
        Ok(())
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// Run one case over a group of its own: [`Group::open`], [`Group::run`].
pub fn run_case(
    spec: &GroupSpec,
    case: &Case,
    registry: &Registry,
    options: GroupOptions,
    events: &mut dyn FnMut(GroupEvent),
    stop: &StopFlag,
) -> GroupResult {
    match Group::open(spec, registry, options, events, stop) {
        Ok(mut group) => group.run(case, events, stop),
        Err(error) => GroupResult::failed(case.ranks.len(), &error),
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
