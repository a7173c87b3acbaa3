//! Opens groups of ranks: threads, local processes, a job's, a service's or those of servers, as the case says.

use super::Groups;
use super::reach::Family;
use crate::errors::Failure;
use crate::job;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use wirespeed::transport::Service;
use wirespeed_control::address::Address;
use wirespeed_control::auth::Identity;
use wirespeed_control::coordinator::{
    Group, GroupEvent, GroupOptions, GroupSpec, Launcher, ServerSpec, default_remote_ranks,
};
use wirespeed_control::watch::Watch;
use wirespeed_control::{Blamed, ControlError, StopFlag};
use wirespeed_schema::case::{Case, GroupKind, Role};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::test::Capability;

/// Between two attempts to reach a server.
const AGAIN: Duration = Duration::from_millis(50);

impl Groups<'_> {
    pub(super) fn open_group(
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
    pub(super) fn open_session(&self, to: &str) -> Result<Group, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Reach;
    use wirespeed::Registry;

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
