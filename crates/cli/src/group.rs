//! The one place that starts ranks: threads, local processes or two hosts, as the case says. Everything of the control
//! crate that a measurement needs is called from here.

use crate::args::FarArgs;
use crate::errors::{Failure, exit};
use crate::job;
use crate::stderr;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed::transport::Service;
use wirespeed_control::address::{Address, is_of_this_machine};
use wirespeed_control::auth::Identity;
use wirespeed_control::coordinator::{
    Group, GroupEvent, GroupOptions, GroupSpec, Launcher, ServerSpec, default_remote_ranks,
};
use wirespeed_control::watch::Watch;
use wirespeed_control::{Blamed, ControlError, Launch, StopFlag};
use wirespeed_schema::case::{Case, GroupKind, Role};
use wirespeed_schema::message::{Refusal, RefusalCode};
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::test::Capability;
use wirespeed_schema::units::{self, format_ns};

/// Between two attempts to reach a server.
const AGAIN: Duration = Duration::from_millis(50);

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

/// How the user wants groups to be reached.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The credential for a server, as text.
    pub identity: Option<String>,
    /// IPv4 or IPv6 only.
    pub family: Option<Family>,
    /// New processes for every run.
    pub fresh: bool,
    /// The ranks of each end are threads of one process.
    pub together: bool,
    /// What becomes of a rank is told by whoever asked for the group, under a name of its own.
    pub ranks_have_names: bool,
    /// The user is told nothing of what happens to it.
    pub is_silent: bool,
    /// What groups share one turn at a server by.
    pub turn: Option<u64>,
    /// An end that says nothing for so long is lost.
    pub silence: Option<Duration>,
    /// A server that is not there yet gets so long to come.
    pub patience: Duration,
    /// The command that starts a server; `wirespeed serve` where nothing is said.
    pub server_command: Option<&'static str>,
    /// The service that bulk transfers go to or come from; at the case's address where nothing is said.
    pub service: Option<Service>,
}

/// Addresses of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Reach {
    /// Fresh processes of this machine for every run.
    pub fn of_processes() -> Self {
        Reach {
            fresh: true,
            ..Reach::default()
        }
    }

    /// What the options say.
    pub fn of(arguments: &FarArgs) -> Result<Self, Failure> {
        let silence = arguments.silence.as_deref().map(parse_silence).transpose()?;
        Identity::check(arguments.identity.as_deref())?;
        let family = match (arguments.ipv4, arguments.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        };
        Ok(Reach {
            identity: arguments.identity.clone(),
            family,
            silence,
            ..Reach::of_processes()
        })
    }

    /// The failure of reaching a server, with a remedy that names its command.
    fn failure(&self, error: &ControlError) -> Failure {
        let remedy = error.remedy();
        let remedy = match self.server_command {
            Some(command) => remedy.replace("wirespeed serve", command),
            None => remedy,
        };
        Failure::with(error.exit_code(), error.to_string(), remedy)
    }
}

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

    fn open_group(
        &mut self,
        planned: &PlannedCase,
        stop: &StopFlag,
        events: &mut dyn FnMut(GroupEvent),
    ) -> Result<Group, Failure> {
        let mut options = GroupOptions::new()?;
        options.fresh = self.reach.fresh;
        options.together = self.reach.together;
        options.turn = self.reach.turn;
        if let Some(silence) = self.reach.silence {
            options.timing.silence = silence;
        }
        if self.reach.family == Some(Family::V6) {
            options.bind_address = IpAddr::V6(Ipv6Addr::LOCALHOST);
        }
        if let Some(launcher) = &self.started_by {
            let spec = GroupSpec::Started(launcher.clone());
            return Ok(Group::open(&spec, self.registry, options, events, stop)?);
        }
        if !self.servers.is_empty() {
            return self.open_at_servers(options, events, stop);
        }
        if planned.case.test.capability() == Capability::Bulk {
            let spec = GroupSpec::Service(self.service(planned)?);
            return Ok(Group::open(&spec, self.registry, options, events, stop)?);
        }
        let address = planned
            .case
            .to
            .as_deref()
            .map(|to| self.address(to, stop))
            .transpose()?;
        let spec = || self.spec(planned, address.as_deref());
        self.open_when_there(spec, &options, events, stop)
            .map_err(|error| self.reach.failure(&error))
    }

    /// A group whose ranks are at servers; the ranks of those that cannot be reached are to blame.
    fn open_at_servers(
        &mut self,
        options: GroupOptions,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Result<Group, Failure> {
        let identity = Identity::find(self.reach.identity.as_deref(), None)?;
        let seated = by_server(&self.servers);
        let server = |(address, ranks): &(&str, Vec<u32>)| {
            ServerSpec::new(*address, identity.clone()).with_ranks(ranks.clone())
        };
        let spec = GroupSpec::Hosts(seated.iter().map(server).collect());
        let (group, errors) = Group::open_each(&spec, self.registry, options, events, stop);
        let errors = seated.iter().zip(errors);
        let errors: Vec<_> = errors
            .filter_map(|((_, ranks), error)| Some((ranks, error?)))
            .collect();
        let blame = |(ranks, error): &(&Vec<u32>, ControlError)| {
            let blamed = |rank: &u32| Blamed {
                rank: *rank,
                reason: error.to_string(),
                gone: true,
            };
            ranks.iter().map(blamed).collect::<Vec<_>>()
        };
        self.missing = errors.iter().flat_map(blame).collect();
        match errors.first() {
            Some((_, error)) => Err(self.reach.failure(error)),
            None => Ok(group),
        }
    }

    /// Open a group; a server that does not listen yet gets the time that the user has for it.
    fn open_when_there(
        &self,
        spec: impl Fn() -> Result<GroupSpec, ControlError>,
        options: &GroupOptions,
        events: &mut dyn FnMut(GroupEvent),
        stop: &StopFlag,
    ) -> Result<Group, ControlError> {
        let watch = Watch::new(self.reach.patience);
        loop {
            let opened =
                spec().and_then(|spec| Group::open(&spec, self.registry, options.clone(), events, stop));
            match opened {
                Err(error)
                    if is_not_there_yet(&error)
                        && watch.now() < self.reach.patience
                        && !stop.is_requested() =>
                {
                    watch.wait(AGAIN, std::thread::sleep);
                }
                opened => return opened,
            }
        }
    }

    /// The session with a server, for ranks that are not known yet.
    fn open_session(&self, to: &str) -> Result<Group, Failure> {
        let address = self.address(to, &StopFlag::new())?;
        let spec = || {
            let identity = Identity::find(self.reach.identity.as_deref(), None)?;
            Ok(GroupSpec::Hosts(vec![ServerSpec::new(&address, identity)]))
        };
        let opened = self.open_when_there(spec, &GroupOptions::new()?, &mut |_| (), &StopFlag::new());
        Ok(opened?)
    }

    fn spec(&self, planned: &PlannedCase, address: Option<&str>) -> Result<GroupSpec, ControlError> {
        Ok(match (planned.case.group, address) {
            (GroupKind::Threads, _) => GroupSpec::Threads,
            (GroupKind::Job, _) => match job::current() {
                Some(ranks) => GroupSpec::Job(ranks.clone()),
                None => GroupSpec::Launched(Launcher(crate::mpi::jobs())),
            },
            (_, Some(address)) => {
                let identity = Identity::find(self.reach.identity.as_deref(), None)?;
                let server = ServerSpec::new(address, identity);
                GroupSpec::Hosts(vec![server.with_ranks(far_ranks(&planned.case))])
            }
            _ => GroupSpec::Processes,
        })
    }

    /// The service of a bulk transfer.
    fn service(&self, planned: &PlannedCase) -> Result<Service, Failure> {
        if let Some(service) = &self.reach.service {
            return Ok(service.clone());
        }
        let case = &planned.case;
        let destination = case.options.get("destination").map_or("discard", String::as_str);
        if case.ranks.iter().any(|rank| rank.role == Role::Source) || destination != "discard" {
            return Err(Failure::usage(
                format!(
                    "{} moves a file of this machine, and the case names no file",
                    case.test.name()
                ),
                "measure it with wirespeed byteio bench URL --put FILE, or --into FILE",
            ));
        }
        let address = planned.case.to.as_deref().unwrap_or_default();
        let service = Service::at(address);
        match address.starts_with("https://") {
            true => {
                let identity = Identity::find(self.reach.identity.as_deref(), None)?;
                Ok(service.with_identity(identity.to_text()))
            }
            false => Ok(service),
        }
    }

    /// The server's address; of the family that the user wants, if any.
    fn address(&self, to: &str, stop: &StopFlag) -> Result<String, Failure> {
        let Some(family) = self.reach.family else {
            return Ok(to.to_owned());
        };
        // No server has port 0.
        let named = Address::parse_or(to, 0)?;
        let wanted = |ip: &IpAddr| ip.is_ipv6() == (family == Family::V6);
        let mut ips = named.resolve(stop)?.into_iter().map(|at| at.ip());
        let ip = ips.find(wanted).ok_or_else(|| {
            let name = if family == Family::V6 { "IPv6" } else { "IPv4" };
            Failure::failed(
                format!("{} has no {name} address", named.host),
                "ask for the other family, or for none",
            )
        })?;
        Ok(match named.port {
            0 => ip.to_string(),
            port => SocketAddr::new(ip, port).to_string(),
        })
    }
}

/// The ranks of each server, given the server of each rank.
fn by_server(servers: &[String]) -> Vec<(&str, Vec<u32>)> {
    let mut seated: Vec<(&str, Vec<u32>)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (rank, address) in (0..).zip(servers.iter().map(String::as_str)) {
        let number = *known.entry(address).or_insert(seated.len());
        match seated.get_mut(number) {
            Some((_, ranks)) => ranks.push(rank),
            None => seated.push((address, vec![rank])),
        }
    }
    seated
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

/// A server that is just being started listens soon, and makes the key first.
fn is_not_there_yet(error: &ControlError) -> bool {
    match error {
        ControlError::NoKey { .. } => true,
        ControlError::Connect { source, .. } => source.kind() == ErrorKind::ConnectionRefused,
        _ => false,
    }
}

/// Ranks of the far end: the workers of a master, else the second half, whatever they do.
fn far_ranks(case: &Case) -> Vec<u32> {
    let ranks = case.ranks.len() as u32;
    match case.ranks.iter().any(|rank| rank.role == Role::Worker) {
        true => default_remote_ranks(case),
        false => (ranks / 2..ranks).collect(),
    }
}

/// How long an end may say nothing, as typed.
pub fn parse_silence(text: &str) -> Result<Duration, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns @ 100_000_000..=3_600_000_000_000) => Ok(Duration::from_nanos(ns)),
        _ => Err(Failure::usage(
            format!("invalid --silence {text}"),
            "give a duration from 100ms to 1h, such as 10s",
        )),
    }
}

/// The time for which servers keep a run waiting, since they measure others first.
#[derive(Debug, Default)]
struct Queue {
    since: Option<Instant>,
    waited: Duration,
}

impl Queue {
    /// Every server says of itself that it keeps the run waiting, and says so again when the queue moves.
    fn hear(&mut self, event: &GroupEvent) {
        match event {
            GroupEvent::Queued { .. } => drop(self.since.get_or_insert_with(Instant::now)),
            GroupEvent::Started => self.waited = self.left(),
            _ => {}
        }
    }

    /// All of it, when there is none to be in any more.
    fn left(&mut self) -> Duration {
        let last = self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.waited + last
    }
}

/// Things that a waiting user wants to know, on stderr.
fn tell(event: &GroupEvent) {
    let line = match event {
        GroupEvent::Queued {
            ahead, wait_ns_min, ..
        } => {
            let wait = wait_ns_min.map(|ns| format!(", at least {}", format_ns(ns as f64)));
            let wait = wait.unwrap_or_default();
            format!("queued: {ahead} ahead{wait}")
        }
        GroupEvent::Stopping => "stopping: this case ends in order; Ctrl-C aborts".to_owned(),
        GroupEvent::RankLost { rank, reason } => format!("rank {rank} is gone: {reason}"),
        _ => return,
    };
    stderr::say(&line);
}

/// What helps where `case` failed, and no more is known.
fn remedy_for(case: &Case) -> String {
    match case.group {
        _ if case.test.capability() == Capability::Bulk => wirespeed_byteio::client::AGAIN.to_owned(),
        GroupKind::Hosts => "look at the far end's messages and run again".to_owned(),
        _ => format!("run again, or see `wirespeed list {}`", case.transport),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_a_queue_ends_with_the_start_of_the_run() {
        let queued = || GroupEvent::Queued {
            server: "a".to_owned(),
            ahead: 1,
            wait_ns_min: None,
        };
        let step = Duration::from_millis(20);
        let mut queue = Queue::default();
        queue.hear(&GroupEvent::Started);
        assert_eq!(queue.left(), Duration::ZERO, "there was none");
        queue.hear(&queued());
        std::thread::sleep(step);
        queue.hear(&queued());
        queue.hear(&GroupEvent::Started);
        let waited = queue.left();
        assert!(waited >= step);
        std::thread::sleep(step);
        assert_eq!(queue.left(), waited, "measuring is no waiting");
        queue.hear(&queued());
        std::thread::sleep(step);
        assert!(
            queue.left() >= waited + step,
            "a run that never started waited too"
        );
    }

    #[test]
    fn a_server_has_all_the_ranks_that_name_it() {
        let servers = ["a", "b", "a", "c"].map(str::to_owned);
        let seated = by_server(&servers);
        assert_eq!(seated, [("a", vec![0, 2]), ("b", vec![1]), ("c", vec![3])]);
    }

    #[test]
    fn a_family_chooses_among_addresses() {
        let registry = Registry::empty();
        let reach = |family| Reach {
            family: Some(family),
            ..Reach::default()
        };
        let v4 = Groups::new(&registry, reach(Family::V4));
        let unwatched = StopFlag::new();
        assert_eq!(v4.address("127.0.0.1:9", &unwatched).unwrap(), "127.0.0.1:9");
        let v6 = Groups::new(&registry, reach(Family::V6));
        assert_eq!(v6.address("[::1]:9", &unwatched).unwrap(), "[::1]:9");
        assert!(v6.address("127.0.0.1", &unwatched).is_err());
    }
}
