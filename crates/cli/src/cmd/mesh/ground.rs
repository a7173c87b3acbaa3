//! Where the ranks of a mesh live: processes of this machine, the ranks of a job, servers. It must never decide which pairs are
//! measured.

use super::roster::{Roster, Source};
use super::rounds::Ground;
use crate::args::HostsArgs;
use crate::errors::Failure;
use crate::group::{Groups, Reach, parse_silence};
use wirespeed::Registry;
use wirespeed_control::Identity;

/// The hosts of a mesh, ready to have ranks.
pub struct Hosts<'a> {
    registry: &'a Registry,
    source: Source,
    /// What reaches each.
    addresses: Vec<String>,
    reach: Reach,
}

impl<'a> Hosts<'a> {
    /// Those of `roster`. Errors where words make no sense, or nothing proves this end to servers.
    pub fn of(registry: &'a Registry, words: &HostsArgs, roster: &Roster) -> Result<Self, Failure> {
        let silence = words.silence.as_deref().map(parse_silence).transpose()?;
        if roster.source == Source::Servers {
            Identity::find(words.identity.as_deref(), None)?;
        }
        Ok(Hosts {
            registry,
            source: roster.source,
            addresses: roster.hosts.iter().map(|host| host.reached_as.clone()).collect(),
            reach: Reach {
                identity: words.identity.clone(),
                ranks_have_names: true,
                silence,
                ..Reach::default()
            },
        })
    }
}

impl<'a> Ground<'a> for Hosts<'a> {
    fn groups(&self, seats: &[usize]) -> Groups<'a> {
        let reach = self.reach.clone();
        match self.source {
            Source::Servers => {
                let servers = seats.iter().map(|seat| self.addresses[*seat].clone());
                Groups::at_servers(self.registry, reach, servers.collect())
            }
            Source::Here | Source::Job | Source::Ssh => Groups::new(self.registry, reach),
        }
    }

    fn gone(&self, _host: usize) -> Option<String> {
        None
    }
}
