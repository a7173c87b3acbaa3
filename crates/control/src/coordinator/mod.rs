//! Runs cases over a group of ranks: threads, local processes, or several machines. It starts the ranks, lets them meet,
//! passes their reports on, and brings every run to an end: by itself, by the user's wish, or by a rank's death.
//!
//! The coordinator sleeps on one channel while ranks measure; it must never poll.

mod begin;
mod drive;
pub(crate) mod event;
mod local;
mod servers;
mod spec;

use crate::error::ControlError;
use crate::launch::local::RankSet;
use crate::launch::threads;
use crate::stop::StopFlag;
use crate::watch::Watch;
use event::Incoming;
pub use event::{GroupEvent, GroupResult};
pub use servers::ServerState;
use servers::{Around, Far, Servers};
pub use spec::{GroupOptions, GroupSpec, Launcher, ServerSpec, default_remote_ranks};
use std::sync::mpsc;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_schema::case::Case;
use wirespeed_schema::message::Refusal;

/// Ranks that can run several cases, one after the other. Data connections are new for every run; processes and the
/// servers' sessions stay, unless [`GroupOptions::fresh`].
pub struct Group {
    spec: GroupSpec,
    options: GroupOptions,
    registry: Registry,
    watch: Watch,
    sender: mpsc::Sender<Incoming>,
    incoming: mpsc::Receiver<Incoming>,
    runs: u64,
    generation: u64,
    local: Option<RankSet>,
    servers: Servers,
}

impl Group {
    /// A group as `spec` says; servers are connected to here, processes are started by the first run. The first server that
    /// cannot be reached is the error.
    pub fn open(
        spec: &GroupSpec,
        registry: &Registry,
        options: GroupOptions,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Result<Self, ControlError> {
        let (group, errors) = Group::open_each(spec, registry, options, events, stop);
        match errors.into_iter().flatten().next() {
            Some(error) => Err(error),
            None => Ok(group),
        }
    }

    /// As [`Group::open`], with what became of each server that cannot be reached, in the order of `spec`. The group has a
    /// session with each of the others; [`Group::assign`] leaves out those that failed.
    pub fn open_each(
        spec: &GroupSpec,
        registry: &Registry,
        options: GroupOptions,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> (Self, Vec<Option<ControlError>>) {
        let (sender, incoming) = mpsc::channel();
        let servers: &[ServerSpec] = match spec {
            GroupSpec::Hosts(servers) => servers,
            _ => &[],
        };
        let mut group = Group {
            spec: spec.clone(),
            watch: Watch::new(options.timing.silence),
            options,
            registry: registry.clone(),
            sender,
            incoming,
            runs: 0,
            generation: 0,
            local: None,
            servers: Servers::new(servers),
        };
        let mut errors: Vec<_> = servers.iter().map(|_| None).collect();
        for (number, error) in group.connect(|_| true, events, stop) {
            errors[number] = Some(error);
        }
        (group, errors)
    }

    /// From the next run on, server N of the group runs the ranks `ranks[N]`. One without ranks is left alone; its session
    /// stays as it is.
    pub fn assign(&mut self, ranks: &[Vec<u32>]) {
        self.servers.assign(ranks);
    }

    /// Run `case` to its end. Never hangs: a rank that does not end is given up after the times of [`crate::Timing`], however
    /// long `events` takes, which is called in this thread.
    pub fn run(&mut self, case: &Case, events: &mut dyn FnMut(GroupEvent), stop: &StopFlag) -> GroupResult {
        let size = case.ranks.len();
        let result = event::apart(events, |events| self.run_here(case, events, stop));
        let no_thread = |source| ControlError::Launch {
            program: "a thread".into(),
            source,
        };
        result
            .map_err(no_thread)
            .flatten()
            .unwrap_or_else(|error| GroupResult::failed(size, &error))
    }

    fn run_here(
        &mut self,
        case: &Case,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Result<GroupResult, ControlError> {
        let service = match &self.spec {
            GroupSpec::Threads => None,
            GroupSpec::Service(service) => Some(service),
            _ => return drive::run(self, case, events, stop),
        };
        let around = threads::Around {
            timing: self.options.timing,
            bind_address: self.options.bind_address,
            service,
        };
        Ok(threads::run(case, &self.registry, &around, events, stop))
    }

    /// Tell the servers that nothing will be run and why; they say so, too.
    pub fn refuse(&self, refusal: Refusal) {
        // A server that is gone needs no word.
        self.servers.refuse(&refusal);
    }

    /// The servers as they are now, in the order in which they were named.
    pub fn servers(&self) -> Vec<ServerState<'_>> {
        self.servers.states()
    }

    /// Identifiers of the local ranks' processes.
    pub fn process_ids(&self) -> Vec<u32> {
        self.local.as_ref().map(RankSet::process_ids).unwrap_or_default()
    }

    /// Connect to those servers that `wanted` names and that have no open session.
    fn connect(
        &mut self,
        wanted: impl Fn(&Far) -> bool,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Vec<(usize, ControlError)> {
        let around = Around {
            timing: self.options.timing,
            stop,
            sender: &self.sender,
        };
        self.servers.connect(wanted, &around, events)
    }

    fn now(&self) -> Duration {
        self.watch.now()
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
