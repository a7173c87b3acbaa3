//! The one place that starts ranks: threads, local processes or two hosts, as the case says. Everything of the control
//! crate that a measurement needs is called from here.

mod open;
mod queue;
mod reach;

pub use reach::{Family, Reach, parse_silence};

use crate::errors::{Failure, exit};
use crate::job;
use queue::{Queue, tell};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use wirespeed::Registry;
use wirespeed::transport::Service;
use wirespeed_control::address::{Address, is_of_this_machine};
use wirespeed_control::coordinator::{Group, GroupEvent};
use wirespeed_control::{Blamed, Launch, StopFlag};
use wirespeed_schema::case::{Case, GroupKind};
use wirespeed_schema::message::{Refusal, RefusalCode};
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::test::Capability;

/// How long a server that is told of a refusal may take to be found.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(1);

/// How long one on this machine may take to hear it.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);

/// What a group brings back from one run of a case.
pub struct GroupRun {
    /// What the ranks saw, by rank; those that delivered nothing are absent.
    pub outcomes: Vec<Outcome>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// Ranks that broke it by themselves.
    pub blamed: Vec<Blamed>,
    /// How long servers kept it waiting, since they measured others.
    pub queued: Duration,
    /// From the start of the ranks to the first barrier.
    pub setup_ns: u64,
    /// Other sessions on the same server meanwhile.
    pub overlapping_sessions: u32,
}

/// Receives interval reports: the rank and its slice.
pub type OnInterval<'a> = &'a mut dyn FnMut(u32, &Interval);

/// Starts groups of ranks, one after the other. The last one is kept, so that a server's session lasts for all cases.
pub struct Groups<'a> {
    registry: &'a Registry,
    reach: Reach,
    /// Who starts the ranks, where it is not this program alone.
    started_by: Option<Arc<dyn Launch>>,
    /// The server of each rank; empty where the case names its far end.
    servers: Vec<String>,
    /// Ranks that a group could not be opened for.
    missing: Vec<Blamed>,
    open: Option<((GroupKind, Option<String>), Group)>,
    /// The ranks of a job are had once: their group stays open.
    job: Option<Group>,
    /// A server that could not be reached is not tried again for every case.
    unreachable: Option<(String, Failure)>,
}

impl<'a> Groups<'a> {
    /// Groups that know the transports of `registry`.
    pub fn new(registry: &'a Registry, reach: Reach) -> Self {
        Groups {
            registry,
            reach,
            started_by: None,
            servers: Vec::new(),
            missing: Vec::new(),
            open: None,
            job: None,
            unreachable: None,
        }
    }

    /// Groups with a rank at each of `servers`, several at one that is named several times.
    pub fn at_servers(registry: &'a Registry, reach: Reach, servers: Vec<String>) -> Self {
        Groups {
            servers,
            ..Groups::new(registry, reach)
        }
    }

    /// Groups whose ranks `launcher` starts or has started. Processes stay from case to case.
    pub fn launched_by(registry: &'a Registry, launcher: Arc<dyn Launch>) -> Self {
        Groups {
            started_by: Some(launcher),
            ..Groups::new(registry, Reach::default())
        }
    }

    /// The same, which are reached so.
    #[must_use]
    pub fn reached_by(self, reach: Reach) -> Self {
        Groups { reach, ..self }
    }

    /// The same, which tell the user nothing of what happens to them.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.reach.is_silent = true;
        self
    }

    /// Groups of one rank that moves data between here and `service`.
    pub fn with_service(registry: &'a Registry, service: Service) -> Self {
        let reach = Reach {
            service: Some(service),
            ..Reach::default()
        };
        Groups::new(registry, reach)
    }

    /// Tell the server at `to` that nothing will be run there, and why: it need not wait for us. A server that does not listen
    /// soon is none.
    pub fn refuse(self, to: &str, failure: &Failure) {
        let refusal = Refusal {
            code: RefusalCode::Other,
            reason: failure.cause.clone(),
            remedy: failure.remedy.clone(),
        };
        let (registry, mut reach, to) = (self.registry.clone(), self.reach, to.to_owned());
        reach.patience = REFUSAL_PATIENCE;
        let (told, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let found = Address::parse(&to).and_then(|address| address.resolve(&StopFlag::new()));
            let is_here = found.is_ok_and(|found| found.iter().all(|at| is_of_this_machine(at.ip())));
            let _ = told.send(is_here);
            let groups = Groups::new(&registry, reach);
            if let Ok(group) = groups.open_session(&to) {
                group.refuse(refusal);
            }
            // Whoever waited has given up.
            let _ = told.send(is_here);
        });
        // A server of this machine listens or does not; how long it takes to answer is no sign of anything.
        let limit = match heard.recv_timeout(REFUSAL_PATIENCE) {
            Ok(true) => ANSWER_PATIENCE,
            Ok(false) => REFUSAL_PATIENCE,
            Err(_) => return,
        };
        let _ = heard.recv_timeout(limit);
    }

    /// The transports.
    pub fn registry(&self) -> &Registry {
        self.registry
    }

    /// Run a case once, over new connections.
    pub fn run(&mut self, planned: &PlannedCase, stop: &StopFlag, on_interval: OnInterval) -> GroupRun {
        let (named, silent) = (self.reach.ranks_have_names, self.reach.is_silent);
        let mut queue = Queue::default();
        let mut events = |event: GroupEvent| {
            queue.hear(&event);
            match event {
                GroupEvent::Interval { rank, interval } => on_interval(rank, &interval),
                GroupEvent::RankLost { .. } if named => {}
                _ if silent => {}
                other => tell(&other),
            }
        };
        let group = match self.group(planned, stop, &mut events) {
            Ok(group) => group,
            Err(failure) => {
                return GroupRun {
                    blamed: std::mem::take(&mut self.missing),
                    queued: queue.left(),
                    ..GroupRun::failed(failure)
                };
            }
        };
        let result = group.run(&planned.case, &mut events, stop);
        let failure = result.error.map(|error| {
            let known = error.remedy.clone();
            let remedy = known.unwrap_or_else(|| remedy_for(&planned.case));
            Failure::with(wirespeed_control::exit_code(error.class), error.message, remedy)
        });
        let mut outcomes: Vec<Outcome> = result.outcomes.into_iter().flatten().collect();
        label_paths(&planned.case, &mut outcomes);
        if self.reach.together && planned.case.group != GroupKind::Threads && planned.case.ranks.len() > 2 {
            for outcome in &mut outcomes {
                let end = "threads of one process".to_owned();
                outcome.transport_facts.insert("ranks_of_an_end".to_owned(), end);
            }
        }
        GroupRun {
            outcomes,
            failure,
            blamed: result.blamed,
            queued: queue.left(),
            setup_ns: result.setup_ns,
            overlapping_sessions: result.overlapping_sessions,
        }
    }

    /// The group for a case: the open one where it fits.
    fn group(
        &mut self,
        planned: &PlannedCase,
        stop: &StopFlag,
        events: &mut dyn FnMut(GroupEvent),
    ) -> Result<&mut Group, Failure> {
        if planned.case.group == GroupKind::Job && job::current().is_some() {
            if self.job.is_none() {
                self.job = Some(self.open_group(planned, stop, events)?);
            }
            return self.job.as_mut().ok_or_else(no_group);
        }
        let key = (planned.case.group, planned.case.to.clone());
        if let Some((host, failure)) = &self.unreachable
            && planned.case.to.as_ref() == Some(host)
        {
            return Err(failure.clone());
        }
        let fits = self.open.as_ref().is_some_and(|(open, _)| *open == key);
        if !fits {
            // The old group's processes end before new ones start.
            self.open = None;
            let opened = self.open_group(planned, stop, events);
            if let (Err(failure), Some(host)) = (&opened, &planned.case.to)
                && failure.code != exit::INTERRUPTED
            {
                self.unreachable = Some((host.clone(), failure.clone()));
            }
            self.open = Some((key, opened?));
        }
        match &mut self.open {
            Some((_, group)) => Ok(group),
            None => Err(no_group()),
        }
    }
}

impl GroupRun {
    fn failed(failure: Failure) -> Self {
        GroupRun {
            outcomes: Vec::new(),
            failure: Some(failure),
            blamed: Vec::new(),
            queued: Duration::ZERO,
            setup_ns: 0,
            overlapping_sessions: 0,
        }
    }
}

fn no_group() -> Failure {
    Failure::failed("no group of ranks is open", "run again")
}

/// Say of every rank of a job on which node it is, and of every pair whether it is on one.
fn label_paths(case: &Case, outcomes: &mut [Outcome]) {
    let Some(job) = job::current().filter(|_| case.group == GroupKind::Job) else {
        return;
    };
    for outcome in outcomes {
        if let Some(seat) = job.section().ranks.get(outcome.rank as usize) {
            let facts = &mut outcome.transport_facts;
            facts.insert("node".to_owned(), seat.node.to_string());
        }
        let peer = case.ranks.get(outcome.rank as usize).and_then(|rank| rank.peer);
        let path = peer.and_then(|peer| job.section().path(outcome.rank, peer));
        if let Some(path) = path {
            let facts = &mut outcome.transport_facts;
            facts.insert("path".to_owned(), path.name().to_owned());
        }
    }
}

/// What helps where `case` failed, and no more is known.
fn remedy_for(case: &Case) -> String {
    match case.group {
        _ if case.test.capability() == Capability::Bulk => wirespeed_byteio::client::AGAIN.to_owned(),
        GroupKind::Hosts => "look at the far end's messages and run again".to_owned(),
        _ => format!("run again, or see `wirespeed list {}`", case.transport),
    }
}
