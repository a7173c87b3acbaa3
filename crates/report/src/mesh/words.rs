//! Meshes in sentences: a verdict each, or that nothing is slow; what was measured, and how sure that is. Every figure comes from
//! the section, so that a sentence cannot differ from the table beside it. It must never decide anything.

use super::gaps;
use super::outcome;
use super::probed::Probed;
use super::silence;
use crate::wording::{counted, grouped, percent};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshCulprit, MeshMode, MeshProbe, MeshSection, MeshSide, MeshVerdict};
use wirespeed_schema::order::InOrder;

/// Verdicts that are sentences; tables have all.
const SENTENCES_MAX: usize = 4;
/// The same for each of several probes.
const SENTENCES_OF_EACH_MAX: usize = 2;

/// What the mesh of `run` says, a sentence each, the gravest first.
pub fn answers(run: &Run, section: &MeshSection) -> Vec<String> {
    let probed = Probed::all(run, section);
    if let Some(why) = gaps::nothing(&probed, section) {
        return vec![why];
    }
    let several = probed.len() > 1;
    let with_figures = || probed.iter().filter(|probed| probed.median.is_some());
    let mut said: Vec<String> = with_figures()
        .flat_map(|probed| of_probe(probed, several))
        .collect();
    // What helps all of them is said once.
    for remedy in silence::REMEDIES {
        let last = said.iter().rposition(|text| text.contains(remedy));
        for text in &mut said[..last.unwrap_or_default()] {
            *text = text.replace(remedy, "");
        }
    }
    said.push(measured(&probed, section));
    said.extend(gaps::gaps(&probed, section));
    said
}

/// The verdicts of `probe`, hosts before links, the slowest first.
pub fn ordered(probe: &MeshProbe) -> Vec<&MeshVerdict> {
    let rank = |verdict: &MeshVerdict| match verdict.culprit {
        MeshCulprit::Unit { .. } => 0,
        MeshCulprit::Host { .. } => 1,
        MeshCulprit::Undecided { .. } => 2,
        MeshCulprit::Link { .. } => 3,
    };
    let mut verdicts: Vec<&MeshVerdict> = probe.verdicts.iter().collect();
    verdicts.order_by(|a, b| {
        rank(a)
            .cmp(&rank(b))
            .then(a.ratio.get().total_cmp(&b.ratio.get()))
    });
    verdicts
}

/// What a probe says: its verdicts, or that there are none.
pub fn of_probe(probed: &Probed, several: bool) -> Vec<String> {
    let named = |text: String, begins: bool| match several {
        true => format!("{}: {text}.", probed.label),
        false => format!("{}.", if begins { capital(&text) } else { text }),
    };
    let verdicts = ordered(probed.probe);
    let most = match several {
        true => SENTENCES_OF_EACH_MAX,
        false => SENTENCES_MAX,
    };
    if verdicts.is_empty() {
        return vec![named(silence::nothing_named(probed), true)];
    }
    let shown = verdicts.iter().take(most);
    let mut said: Vec<String> = shown
        .map(|verdict| named(sentence(probed, verdict), false))
        .collect();
    if verdicts.len() > most {
        said.push(named(further(&verdicts[most..]), false));
    }
    said.extend(silence::of_others(probed).map(|text| named(text, true)));
    said
}

/// The same with a capital, which names of hosts do not get.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// `3 hosts and 2 links more are slow, see the table of suspects`.
fn further(verdicts: &[&MeshVerdict]) -> String {
    type Is = fn(&MeshCulprit) -> bool;
    let kinds: [(&str, Is); 4] = [
        ("unit", |culprit| matches!(culprit, MeshCulprit::Unit { .. })),
        ("host", |culprit| matches!(culprit, MeshCulprit::Host { .. })),
        ("undecided host", |culprit| {
            matches!(culprit, MeshCulprit::Undecided { .. })
        }),
        ("link", |culprit| matches!(culprit, MeshCulprit::Link { .. })),
    ];
    let count = |is: Is| verdicts.iter().filter(|v| is(&v.culprit)).count() as u64;
    let told = kinds
        .into_iter()
        .map(|(kind, is)| (count(is), kind))
        .filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, kind)| counted(count, kind)).collect();
    let verb = match verdicts.len() {
        1 => "is",
        _ => "are",
    };
    format!(
        "{} more {verb} slow, see the table of suspects",
        told.join(" and ")
    )
}

/// One sentence about a verdict, without a full stop.
pub fn sentence(probed: &Probed, verdict: &MeshVerdict) -> String {
    let figure = figure(probed, verdict);
    let partners = |side: MeshSide| {
        let kind = partner(side);
        match verdict.shown_by_partners == verdict.partners {
            true => format!("all {} {kind}s", verdict.partners),
            false => format!("{} of {} {kind}s", verdict.shown_by_partners, verdict.partners),
        }
    };
    let what = culprit(probed.section, verdict.culprit);
    let said = match verdict.culprit {
        MeshCulprit::Unit { .. } => format!(
            "{what} {figure}, {} of its {} hosts: the unit, not one host",
            verdict.shown_by_partners, verdict.partners
        ),
        MeshCulprit::Host { side, .. } => {
            format!("{what} {figure} with {}: the host, not a link", partners(side))
        }
        MeshCulprit::Link { .. } => format!("{what} {figure}: the link, not a host"),
        MeshCulprit::Undecided { side, .. } => format!(
            "{what} {figure} with {}: the host or its links, too few partners to tell",
            partners(side)
        ),
    };
    match is_of_this_rail(probed, verdict.culprit) {
        true => format!("{said}; on this rail only"),
        false => said,
    }
}

/// Whether the other rails were judged, and nothing of the same is slow there.
fn is_of_this_rail(probed: &Probed, culprit: MeshCulprit) -> bool {
    let of = |culprit: MeshCulprit| match culprit {
        MeshCulprit::Unit { unit, .. } => (0, unit, unit),
        MeshCulprit::Host { host, .. } | MeshCulprit::Undecided { host, .. } => (1, host, host),
        MeshCulprit::Link { from, to, .. } => (2, from.min(to), from.max(to)),
    };
    let own = of(culprit);
    // A link without a figure there was not found well.
    let has_figures = |other: &MeshProbe| {
        let is_measured = |link: &MeshCulprit| {
            let mut measured = other.pairs.iter().filter(|pair| !pair.values.is_empty());
            matches!(*link, MeshCulprit::Link { from, to, .. }
                if measured.any(|pair| (pair.from, pair.to) == (from, to)))
        };
        directions(culprit).iter().all(is_measured)
    };
    let is_well = |other: &&MeshProbe| {
        let slow = other.verdicts.iter().any(|verdict| of(verdict.culprit) == own);
        let is_judged = |host| !other.not_judged_hosts.contains(&host);
        let is_told = match own.0 {
            2 => {
                outcome::finds_links(other)
                    && outcome::unsettled(other).next().is_none()
                    && has_figures(other)
            }
            _ => !outcome::cannot_tell(probed.section, other),
        };
        other.complete && !slow && is_told && (own.0 == 0 || is_judged(own.1) && is_judged(own.2))
    };
    !probed.on_other_rails.is_empty() && probed.on_other_rails.iter().all(is_well)
}

/// The directions of a culprit, each as one of its own.
pub(crate) fn directions(culprit: MeshCulprit) -> Vec<MeshCulprit> {
    let each = |side: MeshSide, of: &dyn Fn(MeshSide) -> MeshCulprit| match side {
        MeshSide::Both => vec![of(MeshSide::Sends), of(MeshSide::Receives)],
        one => vec![of(one)],
    };
    match culprit {
        MeshCulprit::Unit { unit, side } => each(side, &|side| MeshCulprit::Unit { unit, side }),
        MeshCulprit::Host { host, side } => each(side, &|side| MeshCulprit::Host { host, side }),
        MeshCulprit::Undecided { host, side } => each(side, &|side| MeshCulprit::Undecided { host, side }),
        MeshCulprit::Link { from, to, both } => {
            let link = |from, to| MeshCulprit::Link {
                from,
                to,
                both: false,
            };
            let back = both.then(|| link(to, from));
            std::iter::once(link(from, to)).chain(back).collect()
        }
    }
}

/// `node7 receives`, `node1 <-> node2`.
pub fn culprit(section: &MeshSection, culprit: MeshCulprit) -> String {
    let name = named(section, culprit);
    match culprit {
        MeshCulprit::Unit { side, .. }
        | MeshCulprit::Host { side, .. }
        | MeshCulprit::Undecided { side, .. } => format!("{name} {}", does(side)),
        MeshCulprit::Link { .. } => name,
    }
}

/// `node7`, `node1 <-> node2`: without what it does.
pub fn named(section: &MeshSection, culprit: MeshCulprit) -> String {
    let host = |number| section.host_name(number);
    match culprit {
        MeshCulprit::Unit { unit, .. } => section.unit_name(unit),
        MeshCulprit::Host { host: at, .. } | MeshCulprit::Undecided { host: at, .. } => host(at),
        MeshCulprit::Link { from, to, both } => {
            let arrow = if both { "<->" } else { "->" };
            format!("{} {arrow} {}", host(from), host(to))
        }
    }
}

/// The other end of a host's traffic.
pub fn partner(side: MeshSide) -> &'static str {
    match side {
        MeshSide::Sends => "receiver",
        MeshSide::Receives => "sender",
        MeshSide::Both => "partner",
    }
}

fn does(side: MeshSide) -> &'static str {
    match side {
        MeshSide::Sends => "sends",
        MeshSide::Receives => "receives",
        MeshSide::Both => "sends and receives",
    }
}

/// `at 0.61 [0.58 .. 0.64] of the median`: of a latency as its ratio, which is above one. A link has its hosts beside it.
fn figure(probed: &Probed, verdict: &MeshVerdict) -> String {
    let [ratio, lower, upper] = ratios(probed, verdict);
    let is_link = matches!(verdict.culprit, MeshCulprit::Link { .. });
    let of = match (is_link, probed.probe.higher_is_better) {
        (true, true) => "what its hosts reach with others",
        (true, false) => "the latency of its hosts with others",
        (false, true) => "the median",
        (false, false) => "the median latency",
    };
    format!("at {ratio:.2} [{lower:.2} .. {upper:.2}] of {of}")
}

/// The ratio of a verdict to the median and the ends of its interval, as ratios of figures.
pub fn ratios(probed: &Probed, verdict: &MeshVerdict) -> [f64; 3] {
    let of_figures = |ratio: wirespeed_schema::Finite| probed.of_figures(ratio.get());
    let ends = [verdict.lower_ratio, verdict.upper_ratio].map(of_figures);
    [
        of_figures(verdict.ratio),
        ends[0].min(ends[1]),
        ends[0].max(ends[1]),
    ]
}

/// What was measured, what would have been named, and how often that is wrong.
fn measured(probed: &[Probed], section: &MeshSection) -> String {
    let pairs: u64 = probed
        .iter()
        .map(|probed| probed.pairs.len() as u64)
        .max()
        .unwrap_or(0);
    let slow = probed.iter().any(|probed| !probed.probe.verdicts.is_empty());
    let mut text = format!(
        "Measured: {} of {}",
        counted(pairs, "ordered pair"),
        counted(section.hosts.len() as u64, "host"),
    );
    if probed.len() > 1 {
        text.push_str(&format!(" in each of {} probes", probed.len()));
    }
    text.push_str(match section.mode {
        MeshMode::Loaded => ", all pairs of a round at the same time",
        MeshMode::Isolated => ", one pair at a time",
    });
    let cycles = probed.iter().flat_map(|probed| &probed.probe.pairs);
    let most = cycles.map(|pair| pair.survey_count).max().unwrap_or(0);
    if most < section.cycles {
        text.push_str(&format!(
            ", in {most} of {}",
            counted(section.cycles.into(), "cycle")
        ));
    }
    if let ([only], true) = (probed, slow) {
        text.extend(only.typical().map(|median| format!("; {median}")));
    }
    text.push('.');
    let (material, alarm) = (section.material_ratio.get(), section.false_alarm_ratio.get());
    if alarm > 0.0 {
        let each = if probed.len() > 1 { " of a probe" } else { "" };
        let least = match material > 0.0 {
            true => format!(
                " Differences below {} of the median are not reported.",
                percent(material)
            ),
            false => String::new(),
        };
        text.push_str(&format!(
            "{least} In a healthy mesh at most {} of such judgements{each} name anything.",
            percent(alarm)
        ));
    }
    text
}

/// `12 of 240 ordered pairs`.
pub(super) fn of_pairs(count: u64, section: &MeshSection) -> String {
    let hosts = section.hosts.len() as u64;
    let all = hosts * hosts.saturating_sub(1);
    format!("{} of {}", grouped(count), counted(all, "ordered pair"))
}
