//! What silence of a mesh is worth: whether hosts and links that are not named are well, or whether nobody can tell. It follows
//! from what the judgement says it would have named. It must never judge a figure anew.

use crate::thresholds::FINDABLE_RATIO;
use wirespeed_schema::finite::Finite;
use wirespeed_schema::mesh::{MeshCulprit, MeshPair, MeshPairs, MeshProbe, MeshSection};

/// Hosts of which each has the partners that it needs to be judged.
const JUDGED_FROM: usize = 4;

/// Whether a host that is much slower than the median would have been named.
pub fn finds_hosts(probe: &MeshProbe) -> bool {
    is_findable(probe.detectable_host_ratio)
}

/// The same of a link.
pub fn finds_links(probe: &MeshProbe) -> bool {
    is_findable(probe.detectable_link_ratio)
}

fn is_findable(ratio: Option<Finite>) -> bool {
    ratio.is_some_and(|ratio| ratio.get() >= FINDABLE_RATIO)
}

/// Whether a verdict is of this host, or of its unit.
pub fn is_named(section: &MeshSection, probe: &MeshProbe, host: u32) -> bool {
    let unit = section.hosts.get(host as usize).and_then(|host| host.unit);
    probe.verdicts.iter().any(|verdict| match verdict.culprit {
        MeshCulprit::Host { host: named, .. } | MeshCulprit::Undecided { host: named, .. } => named == host,
        MeshCulprit::Unit { unit: named, .. } => unit == Some(named),
        MeshCulprit::Link { .. } => false,
    })
}

/// Hosts that were judged and not named, though their figures are those of a slow host: their checks did not confirm it.
pub fn doubtful(section: &MeshSection, probe: &MeshProbe) -> Vec<u32> {
    let is_slow = |ratio: Option<Finite>| ratio.is_some_and(|ratio| ratio.get() < FINDABLE_RATIO);
    let hosts = (0..).zip(&probe.effects).take(section.hosts.len());
    hosts
        .filter(|(_, effect)| is_slow(effect.sends_ratio) || is_slow(effect.receives_ratio))
        .map(|(host, _)| host)
        .filter(|host| !probe.not_judged_hosts.contains(host) && !is_named(section, probe, *host))
        .filter(|host| !section.is_lost(*host))
        .collect()
}

/// Links that seemed slow, which their checks neither confirmed nor cleared.
pub fn unsettled(probe: &MeshProbe) -> impl Iterator<Item = &MeshPair> {
    probe.pairs.iter().filter(|pair| pair.unsettled)
}

/// Whether nobody can tell if what was not named is slow: for noise, for a host or link that seems so, or since none was judged.
pub fn cannot_tell(section: &MeshSection, probe: &MeshProbe) -> bool {
    !finds_hosts(probe) || !doubtful(section, probe).is_empty() || unsettled(probe).next().is_some()
}

/// The same of a whole mesh that was to judge its hosts: one of few hosts, or of given pairs, shows figures alone.
pub fn is_open(section: &MeshSection) -> bool {
    let is_to_judge = section.hosts.len() >= JUDGED_FROM && section.pairs != MeshPairs::Given;
    is_to_judge && section.probes.iter().any(|probe| cannot_tell(section, probe))
}
