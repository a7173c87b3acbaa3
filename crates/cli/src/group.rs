//! The one place that starts ranks: threads, local processes or two hosts, as the case says. Everything of the control
//! crate that a measurement needs is called from here.

use crate::args::GroupArgs;
use crate::errors::{Failure, exit};
use std::io::Write as _;
use std::net::{IpAddr, Ipv6Addr, ToSocketAddrs};
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_control::auth::Identity;
use wirespeed_control::coordinator::{Group, GroupEvent, GroupOptions, GroupSpec, HostsSpec};
use wirespeed_control::{ControlError, StopFlag};
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::units::{self, format_ns};

/// What a group brings back from one run of a case.
pub struct GroupRun {
    /// What the ranks saw, by rank; those that delivered nothing are absent.
    pub outcomes: Vec<Outcome>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
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
    /// Who we are to a server, as text.
    pub identity: Option<String>,
    /// IPv4 or IPv6 only.
    pub family: Option<Family>,
    /// New processes for every run.
    pub fresh: bool,
    /// An end that says nothing for so long is lost.
    pub silence: Option<Duration>,
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
    /// What the arguments of `run` say.
    pub fn of(arguments: &GroupArgs) -> Result<Self, Failure> {
        let silence = arguments.silence.as_deref().map(parse_silence).transpose()?;
        if let Some(text) = &arguments.identity {
            Identity::from_text(text).map_err(|e| {
                Failure::usage(
                    format!("--identity: {e}"),
                    "copy the line that `wirespeed serve --print-identity` shows, in full",
                )
            })?;
        }
        let family = match (arguments.ipv4, arguments.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        };
        Ok(Reach {
            identity: arguments.identity.clone(),
            family,
            fresh: true,
            silence,
        })
    }
}

/// Starts groups of ranks, one after the other. The last one is kept, so that a server's session lasts for all cases.
pub struct Groups<'a> {
    registry: &'a Registry,
    reach: Reach,
    open: Option<((GroupKind, Option<String>), Group)>,
    /// A server that could not be reached is not tried again for every case.
    unreachable: Option<(String, Failure)>,
}

impl<'a> Groups<'a> {
    /// Groups that know the transports of `registry`.
    pub fn new(registry: &'a Registry, reach: Reach) -> Self {
        Groups {
            registry,
            reach,
            open: None,
            unreachable: None,
        }
    }

    /// Run a case once, over new connections.
    pub fn run(&mut self, planned: &PlannedCase, stop: &StopFlag, on_interval: OnInterval) -> GroupRun {
        let mut events = |event: GroupEvent| match event {
            GroupEvent::Interval { rank, interval } => on_interval(rank, interval),
            other => tell(&other),
        };
        let group = match self.group(planned, stop, &mut events) {
            Ok(group) => group,
            Err(failure) => return GroupRun::failed(failure),
        };
        let result = group.run(&planned.case, &mut events, stop);
        let failure = result.error.map(|error| {
            let remedy = error.remedy.clone().unwrap_or_else(|| remedy_for(planned));
            Failure::with(wirespeed_control::exit_code(error.class), error.message, remedy)
        });
        GroupRun {
            outcomes: result.outcomes.into_iter().flatten().collect(),
            failure,
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
        let key = (planned.case.group, planned.to.clone());
        if let Some((host, failure)) = &self.unreachable
            && planned.to.as_ref() == Some(host)
        {
            return Err(failure.clone());
        }
        let fits = self.open.as_ref().is_some_and(|(open, _)| *open == key);
        if !fits {
            // The old group's processes end before new ones start.
            self.open = None;
            let opened = self.open_group(planned, stop, events);
            if let (Err(failure), Some(host)) = (&opened, &planned.to)
                && failure.code != exit::INTERRUPTED
            {
                self.unreachable = Some((host.clone(), failure.clone()));
            }
            self.open = Some((key, opened?));
        }
        match &mut self.open {
            Some((_, group)) => Ok(group),
            None => Err(Failure::failed("no group of ranks is open", "run again")),
        }
    }

    fn open_group(
        &self,
        planned: &PlannedCase,
        stop: &StopFlag,
        events: &mut dyn FnMut(GroupEvent),
    ) -> Result<Group, Failure> {
        let mut options = GroupOptions::new()?;
        options.fresh = self.reach.fresh;
        if let Some(silence) = self.reach.silence {
            options.timing.silence = silence;
        }
        if self.reach.family == Some(Family::V6) {
            options.bind_address = IpAddr::V6(Ipv6Addr::LOCALHOST);
        }
        let spec = match (planned.case.group, &planned.to) {
            (GroupKind::Threads, _) => GroupSpec::Threads,
            (GroupKind::Hosts, Some(to)) => GroupSpec::Hosts(HostsSpec {
                address: self.address(to)?,
                identity: Identity::find(self.reach.identity.as_deref(), None)?,
                remote_ranks: Some(vec![1]),
            }),
            _ => GroupSpec::Processes,
        };
        Ok(Group::open(&spec, self.registry, options, events, stop)?)
    }

    /// The server's address; of the family that the user wants, if any.
    fn address(&self, to: &str) -> Result<String, Failure> {
        let Some(family) = self.reach.family else {
            return Ok(to.to_owned());
        };
        let (host, port) = split_port(to);
        let found = (host, 0u16).to_socket_addrs().map_err(|source| {
            Failure::from(ControlError::UnknownHost {
                host: host.to_owned(),
                source,
            })
        })?;
        let wanted = |ip: &IpAddr| ip.is_ipv6() == (family == Family::V6);
        let ip = found.map(|a| a.ip()).find(wanted).ok_or_else(|| {
            let name = if family == Family::V6 { "IPv6" } else { "IPv4" };
            Failure::failed(
                format!("{host} has no {name} address"),
                "leave --ipv4 and --ipv6 out",
            )
        })?;
        Ok(match (ip, port) {
            (IpAddr::V6(ip), Some(port)) => format!("[{ip}]:{port}"),
            (ip, Some(port)) => format!("{ip}:{port}"),
            (ip, None) => ip.to_string(),
        })
    }
}

impl GroupRun {
    fn failed(failure: Failure) -> Self {
        GroupRun {
            outcomes: Vec::new(),
            failure: Some(failure),
            setup_ns: 0,
            overlapping_sessions: 0,
        }
    }
}

fn parse_silence(text: &str) -> Result<Duration, Failure> {
    match units::parse_duration_ns(text) {
        Ok(ns @ 100_000_000..=3_600_000_000_000) => Ok(Duration::from_nanos(ns)),
        _ => Err(Failure::usage(
            format!("--silence {text} makes no sense"),
            "give a duration from 100ms to 1h, such as 10s",
        )),
    }
}

/// `host:7` and `[::1]:7` have a port, `host` and `::1` have none.
fn split_port(to: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = to.strip_prefix('[').and_then(|t| t.split_once(']')) {
        return (host, rest.strip_prefix(':'));
    }
    match to.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (to, None),
    }
}

/// Things that a waiting user wants to know, on stderr.
fn tell(event: &GroupEvent) {
    let line = match event {
        GroupEvent::Queued { ahead, wait_ns_min } => {
            let wait = wait_ns_min.map(|ns| format!(", at least {}", format_ns(ns as f64)));
            let wait = wait.unwrap_or_default();
            format!("the server measures others first: {ahead} ahead{wait}")
        }
        GroupEvent::Stopping => "stopping: the running case ends in order; again: at once".to_owned(),
        GroupEvent::RankLost { rank, reason } => format!("rank {rank} is gone: {reason}"),
        _ => return,
    };
    // Nobody is left to be told that stderr is gone.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn remedy_for(planned: &PlannedCase) -> String {
    match planned.case.group {
        GroupKind::Hosts => "look at the far end's messages and run again".to_owned(),
        _ => format!("run again, or see `wirespeed list {}`", planned.case.transport),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_found() {
        assert_eq!(split_port("host"), ("host", None));
        assert_eq!(split_port("host:7"), ("host", Some("7")));
        assert_eq!(split_port("::1"), ("::1", None));
        assert_eq!(split_port("[::1]:7"), ("::1", Some("7")));
        assert_eq!(split_port("[::1]"), ("::1", None));
    }

    #[test]
    fn a_family_chooses_among_addresses() {
        let registry = Registry::empty();
        let reach = |family| Reach {
            family: Some(family),
            ..Reach::default()
        };
        let v4 = Groups::new(&registry, reach(Family::V4));
        assert_eq!(v4.address("127.0.0.1:9").unwrap(), "127.0.0.1:9");
        let v6 = Groups::new(&registry, reach(Family::V6));
        assert_eq!(v6.address("[::1]:9").unwrap(), "[::1]:9");
        assert!(v6.address("127.0.0.1").is_err());
    }
}
