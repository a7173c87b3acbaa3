//! What is said of hosts and links that no verdict names: that they are not slow, and how slow they would have to be to be named;
//! or that nobody can tell, and why. It must never decide which of them holds: that is `outcome`.

use super::outcome::{doubtful, finds_hosts, finds_links, unsettled};
use super::probed::Probed;
use crate::thresholds::POWER;
use crate::view::listed;
use crate::wording::{counted, fine_percent, percent};
use wirespeed_schema::finite::Finite;
use wirespeed_schema::mesh::{MeshCulprit, MeshPair};

/// Hosts in a sentence.
const NAMED_MAX: usize = 2;
/// Ratios below this have no two digits that say anything.
const RATIO_MIN: f64 = 0.01;

/// What is said where nothing is named.
pub fn nothing_named(probed: &Probed) -> String {
    let median = probed.typical().unwrap_or_default();
    if judged_hosts(probed) == 0 {
        let fails = probed.probe.pairs.iter().any(|pair| pair.failure().is_some());
        let answer = if fails { " that answer" } else { "" };
        return format!("no host could be judged, each has too few partners{answer}; {median}{FEW}");
    }
    match why_not(probed) {
        Some((who, why)) => format!(
            "cannot tell whether {who} is slow: {why}; {median}{}",
            remedy(probed)
        ),
        None => format!("{}: {median}; {}", not_slow(probed), detectable(probed)),
    }
}

/// The same in few words, for a title.
pub fn title(probed: &Probed) -> String {
    let median = probed.typical().unwrap_or_default();
    match why_not(probed) {
        _ if judged_hosts(probed) == 0 => format!("no host could be judged; {median}"),
        Some((who, _)) => format!("cannot tell whether {who} is slow; {median}"),
        None => format!("{}: {median}", not_slow(probed)),
    }
}

/// What is said of the others where something is named: only that nobody can tell.
pub fn of_others(probed: &Probed) -> Option<String> {
    if judged_hosts(probed) == 0 {
        return None;
    }
    let names_a_host = |culprit| !matches!(culprit, MeshCulprit::Link { .. });
    let verdicts = &probed.probe.verdicts;
    let (who, why) = why_not(probed)?;
    let who = match who == "a host" && verdicts.iter().any(|verdict| names_a_host(verdict.culprit)) {
        true => "another host",
        false => &who,
    };
    Some(format!(
        "cannot tell whether {who} is slow: {why}{}",
        remedy(probed)
    ))
}

fn judged_hosts(probed: &Probed) -> usize {
    let is_judged =
        |host: &u32| !probed.section.is_lost(*host) && !probed.probe.not_judged_hosts.contains(host);
    (0..probed.section.hosts.len() as u32).filter(is_judged).count()
}

/// Of whom nobody can tell, and why; nothing where silence says that all are well.
fn why_not(probed: &Probed) -> Option<(String, String)> {
    let probe = probed.probe;
    if !finds_hosts(probe) {
        return Some(("a host".to_owned(), noise(probed)));
    }
    let doubtful = doubtful(probed.section, probe);
    let names: Vec<String> = doubtful
        .iter()
        .map(|host| probed.section.host_name(*host))
        .collect();
    let ratio = |host: &u32| {
        format!(
            "{:.2}",
            probed.of_figures(probed.slower_side(*host).unwrap_or(1.0))
        )
    };
    let ratios: Vec<String> = doubtful.iter().map(ratio).collect();
    if names.is_empty() {
        let links = unsettled(probe).map(|link| probed.pair_name(link.from, link.to));
        let links: Vec<String> = links.collect();
        // Of a link that only pairs could clear that do not answer, there is no figure but those of the survey.
        let has_checks = |link: &MeshPair| link.values.len() > link.survey_count as usize;
        let why = match probe.complete && !unsettled(probe).any(has_checks) {
            true => "it seemed so and could not be checked, since pairs that this takes do not answer",
            false => "it seemed so, and its checks neither confirmed nor cleared that",
        };
        return (!links.is_empty()).then(|| (listed(&links, NAMED_MAX), why.to_owned()));
    }
    let of = of_what(probed);
    let (who, at) = (listed(&names, NAMED_MAX), listed(&ratios, NAMED_MAX));
    let checked = match probe.looks_count {
        0 => "was not checked",
        _ => "the checks did not confirm",
    };
    Some((who, format!("at {at} of {of}, which {checked}")))
}

/// Why a slow host might not have been named.
fn noise(probed: &Probed) -> String {
    let probe = probed.probe;
    let Some(ratio) = probe.detectable_host_ratio else {
        return match probe.complete {
            true => "this result does not say how slow it would have to be to be named".to_owned(),
            false => "the run ended before what seemed slow was measured again".to_owned(),
        };
    };
    let hosts = probe
        .effects
        .iter()
        .filter(|effect| effect.sends_ratio.is_some() || effect.receives_ratio.is_some());
    let partners = probed.pairs.len() / hosts.count().max(1);
    let seen = match at(probed, ratio) {
        Some(at) => format!(
            "only one at {at} of {} or slower would be named in {} of such meshes",
            of_what(probed),
            percent(POWER)
        ),
        None => "even a very slow one could pass unseen".to_owned(),
    };
    format!(
        "with {} each and figures that vary by {}, {seen}",
        counted(partners as u64, "partner"),
        match probe.noise_ratio.get() {
            noise if noise < 1.0 => fine_percent(noise),
            _ => "more than their size".to_owned(),
        }
    )
}

/// What helps against noise.
const NOISY: &str =
    ". Measure each pair longer (--duration or -n behind the `--`), on quieter hosts, or more hosts";
/// What helps where nobody has partners enough.
const FEW: &str = ". A host needs three partners: measure more hosts, or more pairs of these";
/// All of these.
pub const REMEDIES: [&str; 2] = [NOISY, FEW];

/// What helps against noise.
fn remedy(probed: &Probed) -> &'static str {
    match probed.probe.detectable_host_ratio {
        Some(_) if !finds_hosts(probed.probe) => NOISY,
        _ => "",
    }
}

/// `no host or link of 16 hosts is slow`, as far as that is known.
fn not_slow(probed: &Probed) -> String {
    let (section, probe) = (probed.section, probed.probe);
    let hosts = section.hosts.len();
    let judged = match judged_hosts(probed) == hosts {
        true => "no host",
        false => "no host that was judged",
    };
    let links = match (finds_links(probe), probe.unmeasured_count) {
        (false, _) => "",
        (true, 0) => " or link",
        (true, _) => " and no measured link",
    };
    format!("{judged}{links} of {} is slow", counted(hosts as u64, "host"))
}

/// `a host at 0.83 of the median or slower would have been named, a link at 0.70, in 90 % of such meshes`.
fn detectable(probed: &Probed) -> String {
    let probe = probed.probe;
    let told = |ratio: Option<Finite>| ratio.and_then(|ratio| at(probed, ratio));
    let host = told(probe.detectable_host_ratio).unwrap_or_default();
    let link = match told(probe.detectable_link_ratio) {
        Some(link) if finds_links(probe) => format!(", a link at {link}"),
        Some(link) => format!("; of links only one at {link}"),
        None => String::new(),
    };
    let of = of_what(probed);
    let share = percent(POWER);
    let said =
        format!("a host at {host} of {of} or slower would have been named{link}, in {share} of such meshes");
    match probe.detectable_link_ratio {
        Some(_) => said,
        None => format!("{said}; links could not be judged"),
    }
}

fn of_what(probed: &Probed) -> &'static str {
    match probed.probe.higher_is_better {
        true => "the median",
        false => "the median latency",
    }
}

/// A ratio of figures, rounded so that no more is promised than holds.
fn at(probed: &Probed, ratio: Finite) -> Option<String> {
    let ratio = ratio.get();
    let rounded = match probed.probe.higher_is_better {
        true => (ratio * 100.0).floor() / 100.0,
        false => (probed.of_figures(ratio) * 100.0).ceil() / 100.0,
    };
    (ratio >= RATIO_MIN).then(|| format!("{rounded:.2}"))
}
