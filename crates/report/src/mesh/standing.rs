//! Where each host stands in a probe and over all of a mesh, and the lists that follow: hosts to use, hosts to leave out. A host of
//! which nothing is known is on neither list.

use super::outcome::{doubtful, finds_hosts, is_named};
use wirespeed_schema::mesh::{MeshCulprit, MeshHost, MeshProbe, MeshSection};

/// Where a host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It was judged, is not slow, and would have been named if it were. A single link of it may be slow.
    Good,
    /// It was not judged, or too much noise hides whether it is slow, or it was slow with too few partners to tell whether its
    /// links are.
    Unknown,
    /// It or its unit is slow.
    Slow,
    /// It was lost.
    Lost,
}

impl Standing {
    /// The word in tables; nothing where all is well.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Good => "",
            Standing::Unknown => "not known",
            Standing::Slow => "slow",
            Standing::Lost => "lost",
        }
    }
}

/// The standing of every host in one probe, by number, whatever it does in others.
pub fn of_probe(section: &MeshSection, probe: &MeshProbe) -> Vec<Standing> {
    let mut found = unless_lost(section, Standing::Good);
    add(section, probe, &mut found);
    found
}

/// The worst of all probes.
fn standings(section: &MeshSection) -> Vec<Standing> {
    let start = match section.probes.is_empty() {
        true => Standing::Unknown,
        false => Standing::Good,
    };
    let mut found = unless_lost(section, start);
    for probe in &section.probes {
        add(section, probe, &mut found);
    }
    found
}

fn unless_lost(section: &MeshSection, standing: Standing) -> Vec<Standing> {
    let of_host = |host: &MeshHost| match host.lost {
        Some(_) => Standing::Lost,
        None => standing,
    };
    section.hosts.iter().map(of_host).collect()
}

fn add(section: &MeshSection, probe: &MeshProbe, found: &mut [Standing]) {
    let mut say = |host: usize, standing: Standing| {
        if let Some(known) = found.get_mut(host) {
            *known = standing.max(*known);
        }
    };
    for host in 0..section.hosts.len() {
        let effect = probe.effects.get(host).copied().unwrap_or_default();
        if effect.sends_ratio.is_none() && effect.receives_ratio.is_none() {
            say(host, Standing::Unknown);
        }
    }
    for host in 0..section.hosts.len() as u32 {
        if !finds_hosts(probe) && !is_named(section, probe, host) {
            say(host as usize, Standing::Unknown);
        }
    }
    let doubtful = doubtful(section, probe).into_iter();
    doubtful.for_each(|host| say(host as usize, Standing::Unknown));
    let not_judged_hosts = probe.not_judged_hosts.iter();
    not_judged_hosts.for_each(|host| say(*host as usize, Standing::Unknown));
    for verdict in &probe.verdicts {
        match verdict.culprit {
            MeshCulprit::Host { host, .. } => say(host as usize, Standing::Slow),
            MeshCulprit::Undecided { host, .. } => say(host as usize, Standing::Unknown),
            MeshCulprit::Unit { unit, .. } => {
                let hosts = section.hosts.iter().enumerate();
                let of_unit = hosts.filter(|(_, host)| host.unit == Some(unit));
                of_unit.for_each(|(number, _)| say(number, Standing::Slow));
            }
            MeshCulprit::Link { .. } => {}
        }
    }
}

/// Names of hosts that were judged and are not slow, in their order: lines of a hostfile.
pub fn good(section: &MeshSection) -> Vec<String> {
    named(section, |standing| standing == Standing::Good)
}

/// Names of hosts that are slow or were lost.
pub fn drained(section: &MeshSection) -> Vec<String> {
    named(section, |standing| standing >= Standing::Slow)
}

fn named(section: &MeshSection, is: impl Fn(Standing) -> bool) -> Vec<String> {
    let all = standings(section).into_iter().zip(0..);
    let kept = all.filter(|(standing, _)| is(*standing));
    kept.map(|(_, number)| section.host_name(number)).collect()
}
