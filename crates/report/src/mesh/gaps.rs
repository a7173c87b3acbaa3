//! What a mesh does not say: pairs without a figure, pairs that failed, hosts that were lost or not judged, a run that was
//! interrupted; and why nothing was measured at all. A sentence each; nothing is said of what is whole.

use super::probed::Probed;
use super::words::of_pairs;
use crate::view::listed;
use crate::wording::{counted, grouped};
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::mesh::{MeshPair, MeshPairs, MeshProbe, MeshSection};
use wirespeed_schema::order::InOrder;

/// Names in a sentence.
const NAMED_MAX: usize = 3;
/// Partners in each direction that a host needs to be judged.
const PARTNERS_MIN: usize = 3;

/// Why there is no figure of any pair; `None` where there is one.
pub fn nothing(probed: &[Probed], section: &MeshSection) -> Option<String> {
    match section.hosts.as_slice() {
        [] => return Some("Nothing was measured: the mesh has no host.".to_owned()),
        [_] => {
            let name = section.host_name(0);
            return Some(format!(
                "Nothing was measured: the mesh has one host, {name}, and a pair needs two."
            ));
        }
        _ => {}
    }
    if probed.iter().any(|probed| probed.median.is_some()) {
        return None;
    }
    let hosts = section.hosts.len() as u64;
    let lost = grouped_reasons(section.hosts.iter().filter_map(|host| host.lost.as_deref()));
    if lost.iter().map(|(_, count)| count).sum::<u64>() == hosts {
        return Some(format!(
            "Nothing was measured: all {} were lost: {}.",
            counted(hosts, "host"),
            reasons(&lost)
        ));
    }
    let pairs: u64 = probed.iter().map(|probed| probed.probe.pairs.len() as u64).sum();
    let failed = failures(probed);
    let failed_pairs: u64 = failed.iter().map(|(_, count)| count).sum();
    Some(match failed_pairs {
        0 => format!(
            "Nothing was measured: the run ended before any pair of {} was.",
            counted(hosts, "host")
        ),
        all if all == pairs => format!(
            "Nothing was measured: all {} failed: {}.",
            counted(all, "pair"),
            reasons(&failed)
        ),
        some => format!(
            "Nothing was measured: {} of {} failed, and the run ended before the others: {}.",
            grouped(some),
            counted(pairs, "pair"),
            reasons(&failed)
        ),
    })
}

/// What weakens the answer.
pub fn gaps(probed: &[Probed], section: &MeshSection) -> Vec<String> {
    let mut said = Vec::new();
    let partial: Vec<String> = probed
        .iter()
        .filter(|probed| !probed.probe.complete)
        .map(|probed| probed.label.clone())
        .collect();
    if !partial.is_empty() {
        let of = match partial.len() == probed.len() {
            true => String::new(),
            false => format!(" of {}", listed(&partial, NAMED_MAX)),
        };
        said.push(format!(
            "The run ended early: the judgement{of} is of the part that was measured."
        ));
    }
    said.extend(unmeasured(probed, section));
    let failed = failures(probed);
    if !failed.is_empty() {
        let count = failed.iter().map(|(_, count)| count).sum();
        said.push(format!(
            "{} failed: {}.",
            counted(count, "pair"),
            reasons(&failed)
        ));
    }
    let (again, why) = failed_beside_figures(probed);
    if again > 0 {
        said.push(format!(
            "{} of pairs with other figures failed: {}.",
            counted(again, "measurement"),
            listed(&why, NAMED_MAX)
        ));
    }
    said.extend(left_out(probed));
    let lost = section.hosts.iter().zip(0..);
    let lost: Vec<String> = lost
        .filter_map(|(host, number)| {
            let why = host.lost.as_deref()?;
            Some(format!("{} ({})", section.host_name(number), or_unknown(why)))
        })
        .collect();
    if !lost.is_empty() {
        said.push(format!(
            "{} lost: {}.",
            counted(lost.len() as u64, "host"),
            listed(&lost, NAMED_MAX)
        ));
    }
    said.extend(not_judged_hosts(probed, section));
    said
}

/// Pairs without a figure, of the probe that has most.
fn unmeasured(probed: &[Probed], section: &MeshSection) -> Option<String> {
    let counts = probed.iter().map(|probed| probed.probe.unmeasured_count);
    let most = counts.max().filter(|most| *most > 0)?;
    let why = match section.pairs {
        MeshPairs::All => "",
        MeshPairs::Matchings => " (some matchings of them were to be measured)",
        MeshPairs::Given => " (the given pairs were to be measured)",
    };
    let verb = if most == 1 { "has" } else { "have" };
    Some(format!(
        "{} {verb} no figure{why}: slow links among them stay unseen.",
        of_pairs(most, section)
    ))
}

/// Hosts that were not judged, a sentence for each reason; why a lost one is not is said already.
fn not_judged_hosts(probed: &[Probed], section: &MeshSection) -> Vec<String> {
    let mut found: BTreeMap<NotJudged, BTreeSet<u32>> = BTreeMap::new();
    for probe in probed.iter().map(|probed| probed.probe) {
        let hosts = probe.not_judged_hosts.iter();
        for host in hosts.filter(|host| !section.is_lost(**host)) {
            found
                .entry(why_not_judged(probe, *host))
                .or_default()
                .insert(*host);
        }
    }
    let said = found.into_iter().map(|(why, hosts)| {
        let names: Vec<String> = hosts.iter().map(|host| section.host_name(*host)).collect();
        let why = match why {
            NotJudged::Silent => "which nobody answers",
            NotJudged::FewPartners => "with too few partners",
            NotJudged::SilentSince => "which seemed slow and nobody answers any more",
        };
        let hosts = counted(names.len() as u64, "host");
        format!("{hosts} not judged, {why}: {}.", listed(&names, NAMED_MAX))
    });
    said.collect()
}

/// Why a host was not judged.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NotJudged {
    /// It was measured, and has no figure.
    Silent,
    FewPartners,
    /// It had partners enough, until it was to be measured again.
    SilentSince,
}

fn why_not_judged(probe: &MeshProbe, host: u32) -> NotJudged {
    let of_host = || {
        probe
            .pairs
            .iter()
            .filter(|pair| [pair.from, pair.to].contains(&host))
    };
    let with_figures = || of_host().filter(|pair| pair.survey_count > 0);
    let sends = with_figures().filter(|pair| pair.from == host).count();
    match sends.min(with_figures().count() - sends) {
        _ if of_host().all(|pair| pair.failure().is_some()) && of_host().next().is_some() => {
            NotJudged::Silent
        }
        few if few < PARTNERS_MIN => NotJudged::FewPartners,
        _ => NotJudged::SilentSince,
    }
}

/// Reasons of failed pairs over all probes with how many pairs have them, the most frequent first.
pub fn failures(probed: &[Probed]) -> Vec<(String, u64)> {
    let pairs = probed.iter().flat_map(|probed| &probed.probe.pairs);
    grouped_reasons(pairs.filter_map(MeshPair::failure))
}

/// How many measurements failed of pairs that have figures all the same, and the last reason of each.
fn failed_beside_figures(probed: &[Probed]) -> (u64, Vec<String>) {
    let pairs = probed.iter().flat_map(|probed| &probed.probe.pairs);
    let again = pairs.filter(|pair| pair.failed_count > 0 && pair.failure().is_none());
    let count = again.clone().map(|pair| pair.failed_count).sum();
    let why = grouped_reasons(again.filter_map(|pair| pair.failed.as_deref()));
    (count, why.into_iter().map(|(why, _)| why).collect())
}

/// How many measurements there were not of pairs that had answered, since they or their hosts had fallen silent.
fn left_out(probed: &[Probed]) -> Option<String> {
    let (mut count, mut names, mut known) = (0, Vec::new(), BTreeSet::new());
    for one in probed {
        for pair in one.probe.pairs.iter().filter(|pair| pair.left_out_count > 0) {
            let name = one.pair_name(pair.from, pair.to);
            if known.insert(name.clone()) {
                names.push(name);
            }
            count += pair.left_out_count;
        }
    }
    let verb = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| {
        format!(
            "{} {verb} left out, since pairs or their hosts had fallen silent: {}.",
            counted(count, "measurement"),
            listed(&names, NAMED_MAX)
        )
    })
}

/// Reasons with how often each is given, the most frequent first.
pub fn grouped_reasons<'a>(all: impl Iterator<Item = &'a str>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for reason in all {
        *counts.entry(or_unknown(reason)).or_default() += 1;
    }
    let mut found: Vec<(String, u64)> = counts
        .into_iter()
        .map(|(reason, count)| (reason.to_owned(), count))
        .collect();
    found.order_by_key(|(_, count)| std::cmp::Reverse(*count));
    found
}

fn or_unknown(reason: &str) -> &str {
    match reason.trim() {
        "" => "no reason stated",
        reason => reason,
    }
}

/// `refused (12), timeout (1) and 2 more`.
fn reasons(counts: &[(String, u64)]) -> String {
    let told: Vec<String> = counts
        .iter()
        .map(|(reason, count)| format!("{reason} ({})", grouped(*count)))
        .collect();
    listed(&told, NAMED_MAX)
}
