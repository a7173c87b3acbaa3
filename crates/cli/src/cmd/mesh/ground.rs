//! Where the ranks of a mesh live: processes of this machine, the ranks of a job, hosts that ssh reaches, servers. It must never
//! decide which pairs are measured.

use super::case::is_of_jobs;
use super::roster::{Host, Roster, Source};
use crate::args::HostsArgs;
use crate::errors::Failure;
use crate::experiment::fresh_seed;
use crate::group::{Groups, Reach};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_control::launch::all_hosts::{Started, end_all, start_all};
use wirespeed_control::launch::files::{HOSTS, check_files, check_ranks};
use wirespeed_control::launch::hosts::{Carrier, HostAsked, OnHosts, RankHost};
use wirespeed_control::launch::slurm::{self, Step};
use wirespeed_control::launch::ssh::SshHost;
use wirespeed_control::{Identity, RankProgram, StopFlag};
use wirespeed_schema::case::Case;

/// Open files of one server here: the connection, and its copies for who reads and who writes.
const FILES_OF_SERVER: u64 = 4;

/// Gives ranks to hosts.
pub trait Ground<'a> {
    /// Groups with a rank for each of these hosts, in this order, whose data take `rail`; a host may have several.
    fn groups(&self, seats: &[usize], rail: Option<&str>) -> Groups<'a>;

    /// The same beside those that measure, whose ranks are others; nothing is told of what happens to them.
    fn beside(&self, seats: &[usize], rail: Option<&str>) -> Groups<'a>;

    /// Why a host can have no rank any more, where that is known without trying.
    fn gone(&self, host: usize) -> Option<String>;

    /// Whether ranks that are left when others are lost can measure `case`.
    fn goes_on(&self, case: &Case) -> bool;
}

/// The hosts of a mesh, ready to have ranks.
pub struct Hosts<'a> {
    registry: &'a Registry,
    source: Source,
    hosts: &'a [Host],
    reach: Reach,
    /// By number, what starts ranks there, or why nothing can; empty where ssh starts none.
    started: Vec<Result<Arc<RankHost>, String>>,
    /// By number, what starts ranks beside those of a job; empty where they are processes of this machine, or not wanted.
    beside: Vec<Arc<RankHost>>,
}

impl<'a> Hosts<'a> {
    /// Those of `roster`, with ranks beside those that measure where there are `storms`. Errors where words make no sense,
    /// nothing proves this end to servers, or all hosts fail at once.
    pub fn of(
        registry: &'a Registry,
        words: &HostsArgs,
        (roster, storms, silence): (&'a Roster, bool, Option<Duration>),
        stop: &StopFlag,
    ) -> Result<Self, Failure> {
        if roster.source == Source::Servers {
            Identity::find(words.identity.as_deref(), None)?;
            check_files(HOSTS, roster.hosts.len(), FILES_OF_SERVER)?;
        }
        if roster.source == Source::Here {
            check_ranks(roster.hosts.len())?;
        }
        let started = match roster.source {
            Source::Ssh => start(&roster.hosts, words, stop)?,
            Source::Here | Source::Job | Source::Servers => Vec::new(),
        };
        let beside = match (roster.source, roster.beside()) {
            (Source::Job, Source::Ssh) if storms => start_beside(&roster.hosts, words, stop)?,
            _ => Vec::new(),
        };
        Ok(Hosts {
            registry,
            source: roster.source,
            hosts: &roster.hosts,
            reach: Reach {
                identity: words.identity.clone(),
                ranks_have_names: true,
                turn: Some(fresh_seed()),
                silence,
                ..Reach::default()
            },
            started,
            beside,
        })
    }
}

/// A starter on every node of a job, beside its ranks: a step of Slurm's where it gave us the nodes, else by ssh, as launchers do.
fn start_beside(hosts: &[Host], words: &HostsArgs, stop: &StopFlag) -> Result<Vec<Arc<RankHost>>, Failure> {
    let nodes: BTreeSet<&str> = hosts.iter().map(|host| host.reached_as.as_str()).collect();
    let asked = |node: &&str| {
        let carrier = match slurm::is_in_allocation() {
            true => Carrier::Slurm(Step {
                name: "storm".to_owned(),
                // Slurm's names of nodes have no domain.
                node: node.split('.').next().map(str::to_owned),
                ..Step::default()
            }),
            false => Carrier::Ssh(SshHost::parse(node, words.ssh_config.clone())?),
        };
        Ok(HostAsked {
            carrier,
            address: None,
        })
    };
    let asked = nodes.iter().map(asked).collect::<Result<Vec<_>, Failure>>()?;
    let started = start_all(&asked, &RankProgram::this()?, stop, &mut |_, _| ())?;
    let mut of_node = BTreeMap::new();
    for (node, host) in nodes.into_iter().zip(started) {
        let host = host.map_err(|failure| {
            let failure = Failure::from(failure);
            Failure {
                cause: format!("--pattern needs ranks beside those of the job: {}", failure.cause),
                ..failure
            }
        })?;
        of_node.insert(node, host);
    }
    let of = |host: &Host| of_node.get(host.reached_as.as_str()).cloned();
    Ok(hosts.iter().filter_map(of).collect())
}

/// A starter on every host, side by side. A host that cannot be had costs itself alone, unless none can.
fn start(
    hosts: &[Host],
    words: &HostsArgs,
    stop: &StopFlag,
) -> Result<Vec<Result<Arc<RankHost>, String>>, Failure> {
    let asked = |host: &Host| {
        let carrier = Carrier::Ssh(SshHost::parse(&host.reached_as, words.ssh_config.clone())?);
        Ok(HostAsked {
            carrier,
            address: host.address,
        })
    };
    let asked = hosts.iter().map(asked).collect::<Result<Vec<_>, Failure>>()?;
    let started = start_all(&asked, &RankProgram::this()?, stop, &mut |_, _| ())?;
    if let Err(failure) = apart(hosts, &started) {
        end_all(started.into_iter().flatten());
        return Err(failure);
    }
    match started.iter().any(Result::is_ok) {
        true => Ok(started
            .into_iter()
            .map(|host| host.map_err(|failure| failure.message))
            .collect()),
        false => Err(match started.into_iter().find_map(Result::err) {
            Some(failure) => failure.into(),
            None => Failure::usage("there are no hosts", "name some: --hosts a,b"),
        }),
    }
}

/// No two names of one machine: its traffic with itself would pass for a network's.
fn apart(hosts: &[Host], started: &Started) -> Result<(), Failure> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for (host, started) in hosts.iter().zip(started) {
        let Ok(started) = started else {
            continue;
        };
        let name = host.reached_as.as_str();
        let first = known.entry(started.machine()).or_insert(name);
        if *first != name {
            return Err(Failure::usage(
                format!("{first} and {name} are one machine"),
                "name each machine once; several ranks of one: slots=N in a host file",
            ));
        }
    }
    Ok(())
}

impl<'a> Ground<'a> for Hosts<'a> {
    fn groups(&self, seats: &[usize], rail: Option<&str>) -> Groups<'a> {
        let reach = self.reach.clone();
        match self.source {
            Source::Servers => {
                let servers = seats.iter().map(|seat| self.hosts[*seat].reached_as.clone());
                Groups::at_servers(self.registry, reach, servers.collect())
            }
            Source::Ssh => {
                let hosts = seats.iter().filter_map(|seat| self.started[*seat].as_ref().ok());
                let mut launch = OnHosts::new(hosts.cloned().collect());
                if let Some(rail) = rail {
                    // Every host has an address on a rail that is measured.
                    let rails = seats.iter().map(|seat| self.hosts[*seat].rails.get(rail));
                    launch = launch.with_addresses(rails.flatten().copied().collect());
                }
                Groups::launched_by(self.registry, Arc::new(launch)).reached_by(reach)
            }
            Source::Here | Source::Job => Groups::new(self.registry, reach),
        }
    }

    fn beside(&self, seats: &[usize], rail: Option<&str>) -> Groups<'a> {
        let groups = match self.source {
            Source::Job if !self.beside.is_empty() => {
                let hosts = seats.iter().map(|seat| self.beside[*seat].clone());
                let launch = Arc::new(OnHosts::new(hosts.collect()));
                Groups::launched_by(self.registry, launch).reached_by(self.reach.clone())
            }
            _ => self.groups(seats, rail),
        };
        groups.silent()
    }

    /// A library whose ranks are those of the job has no number for what is left of it.
    fn goes_on(&self, case: &Case) -> bool {
        self.source != Source::Job || !is_of_jobs(self.registry, case)
    }

    fn gone(&self, host: usize) -> Option<String> {
        match self.started.get(host)? {
            Ok(host) => host.lost(),
            Err(why) => Some(why.clone()),
        }
    }
}

impl Drop for Hosts<'_> {
    fn drop(&mut self) {
        end_all(self.started.drain(..).flatten().chain(self.beside.drain(..)));
    }
}
