//! What one of two meshes has and the other lacks: hosts, once each with the reason, and links that failed, together where all
//! between the same hosts did. It must never look at a figure.

use crate::mesh::Probed;
use crate::mesh::gaps::grouped_reasons;
use crate::view::listed;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::mesh::{MeshPair, MeshSection};
use wirespeed_schema::order::map_of;

/// Hosts that stand for those at one end of many links.
const NAMED_MAX: usize = 3;
/// Partners with figures, of which a host that is well has one with some: of one alone the link may be to blame.
const PARTNERS_MIN: usize = 2;

/// The name of what a side lacks, and what became of it there, as far as that is known.
pub type Lost = (String, Option<String>);

/// A probe on both sides.
pub struct Both<'a> {
    /// Its name among several; empty where it is the only one.
    pub label: String,
    /// The side that has figures.
    pub here: &'a Probed<'a>,
    /// The side that may lack some of them.
    pub there: &'a Probed<'a>,
}

/// Hosts of `section` that the other side lacks, or lost where this side did not.
pub fn hosts(section: &MeshSection, other: &MeshSection, letter: &str) -> Vec<Lost> {
    let lost = |section: &MeshSection| -> BTreeMap<String, Option<String>> {
        let hosts = (0..).zip(&section.hosts);
        map_of(hosts.map(|(number, host)| (section.host_name(number), host.lost.clone())))
    };
    let lost_there = lost(other);
    let hosts = lost(section).into_iter();
    hosts
        .filter_map(|(name, lost_here)| match lost_there.get(&name) {
            None => Some((format!("host {name}"), None)),
            Some(Some(why)) if lost_here.is_none() => {
                Some((format!("host {name}"), Some(format!("lost in {letter}: {why}"))))
            }
            Some(_) => None,
        })
        .collect()
}

/// What failed on the other side and has figures on this one. A host without any figure there is said once for all of its links,
/// and for all probes where it is so in each. Whether it answered, only the reason tells.
pub fn failed(probes: &[Both], letter: &str) -> Vec<Lost> {
    let found: Vec<Failed> = probes.iter().map(Failed::of).collect();
    let is_everywhere = |host: &String| found.iter().all(|failed| failed.hosts.contains_key(host));
    let mut said = Vec::new();
    for (number, (both, failed)) in probes.iter().zip(&found).enumerate() {
        let labelled = |text: String| match both.label.is_empty() {
            true => text,
            false => format!("{}: {text}", both.label),
        };
        for (host, why) in &failed.hosts {
            let (text, why) = (
                format!("host {host}"),
                format!("has no figure in {letter}: {why}"),
            );
            match is_everywhere(host) {
                true if number > 0 => {}
                true => said.push((text, Some(why))),
                false => said.push((labelled(text), Some(why))),
            }
        }
        let links = failed.links.iter();
        said.extend(links.map(|(links, why)| {
            let why = format!("failed in {letter}: {why}");
            (labelled(links.clone()), Some(why))
        }));
    }
    said
}

/// What failed in a probe, by name, each with the most frequent reason.
#[derive(Debug, Default)]
struct Failed {
    hosts: BTreeMap<String, String>,
    links: Vec<(String, String)>,
}

impl Failed {
    fn of(both: &Both) -> Failed {
        let (here, there) = (both.here, both.there);
        let name = |host| there.section.host_name(host);
        let known: BTreeSet<(String, String)> = here
            .pairs
            .iter()
            .map(|pair| (here.section.host_name(pair.from), here.section.host_name(pair.to)))
            .collect();
        // A host that was lost is named itself, and what was not to be measured here has not failed.
        let is_lost = |pair: &MeshPair| there.section.is_lost(pair.from) || there.section.is_lost(pair.to);
        let pairs = there.probe.pairs.iter();
        let failed = pairs
            .filter(|pair| pair.failure().is_some() && !is_lost(pair))
            .filter(|pair| known.contains(&(name(pair.from), name(pair.to))));
        let mut failed: Vec<&MeshPair> = failed.collect();
        if there.pairs.is_empty() && !failed.is_empty() {
            let links = (
                format!("all {}", counted(failed.len() as u64, "link")),
                why(failed.iter().copied()),
            );
            return Failed {
                links: vec![links],
                ..Failed::default()
            };
        }
        let bare = bare(there, &failed);
        let of_host = |host: u32| {
            let pairs = failed.iter().copied();
            let why = why(pairs.filter(|pair| [pair.from, pair.to].contains(&host)));
            (name(host), why)
        };
        let hosts = map_of(bare.iter().map(|host| of_host(*host)));
        failed.retain(|pair| !bare.contains(&pair.from) && !bare.contains(&pair.to));
        Failed {
            hosts,
            links: links(there, &failed),
        }
    }
}

/// Hosts without any figure, though those that they failed with have some with others.
fn bare(there: &Probed, failed: &[&MeshPair]) -> BTreeSet<u32> {
    let measured: BTreeSet<u32> = there.pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    let mut partners: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for pair in failed {
        for (host, partner) in [(pair.from, pair.to), (pair.to, pair.from)] {
            if !measured.contains(&host) && measured.contains(&partner) {
                partners.entry(host).or_default().insert(partner);
            }
        }
    }
    let bare = partners
        .into_iter()
        .filter(|(_, with)| with.len() >= PARTNERS_MIN);
    bare.map(|(host, _)| host).collect()
}

/// Failed links in words, those together that all of some hosts have with all of some others: a mesh that is cut in two fails
/// between its halves.
fn links(there: &Probed, failed: &[&MeshPair]) -> Vec<(String, String)> {
    type Hosts = BTreeSet<u32>;
    let mut receivers: BTreeMap<u32, Hosts> = BTreeMap::new();
    for pair in failed {
        receivers.entry(pair.from).or_default().insert(pair.to);
    }
    let mut senders: BTreeMap<Hosts, Hosts> = BTreeMap::new();
    for (from, to) in receivers {
        senders.entry(to).or_default().insert(from);
    }
    let names = |hosts: &Hosts| {
        let names: Vec<String> = hosts.iter().map(|host| there.section.host_name(*host)).collect();
        listed(&names, NAMED_MAX)
    };
    let mut said = Vec::new();
    for (to, from) in &senders {
        let is_both = senders.get(from) == Some(to);
        if is_both && to < from {
            continue;
        }
        let count = from.len() * to.len();
        let of = |count: usize| counted(count as u64, "link");
        let (from_names, to_names) = (names(from), names(to));
        let links = match (count, is_both) {
            (1, true) => format!("link {from_names} <-> {to_names}"),
            (1, false) => format!("link {from_names} -> {to_names}"),
            (_, true) => format!("{} of {from_names} with {to_names}", of(2 * count)),
            (_, false) => format!("{} from {from_names} to {to_names}", of(count)),
        };
        let is_among = |pair: &&&MeshPair| {
            let is = |from: &Hosts, to: &Hosts| from.contains(&pair.from) && to.contains(&pair.to);
            is(from, to) || is_both && is(to, from)
        };
        let among = failed.iter().filter(is_among).copied();
        said.push((from.first().copied(), links, why(among)));
    }
    said.sort();
    said.into_iter().map(|(_, links, why)| (links, why)).collect()
}

/// The most frequent reason of failed pairs: of those that were tried, where any was.
fn why<'a>(failed: impl Iterator<Item = &'a MeshPair> + Clone) -> String {
    let tried = failed.clone().filter(|pair| pair.failed_count > 0);
    let reasons = grouped_reasons(tried.filter_map(MeshPair::failure));
    let reasons = match reasons.is_empty() {
        true => grouped_reasons(failed.filter_map(MeshPair::failure)),
        false => reasons,
    };
    reasons
        .into_iter()
        .next()
        .map_or_else(String::new, |(why, _)| why)
}
