//! Sentences on a mesh: each verdict, or that there is none, with the figures that it rests on.

use super::{Cases, Sentence};
use crate::mesh::{Probed, silence, words};
use crate::wording::{counted, percent};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshSection, MeshVerdict};
use wirespeed_schema::units::significant;

/// The rule: verdicts of every probe, hosts before links, and for a probe without any what was found instead.
pub(super) fn mesh(run: &Run, _: &Cases) -> Vec<Sentence> {
    let Some(section) = run.sections.get::<MeshSection>() else {
        return Vec::new();
    };
    let section = section.with_short_names();
    let probed = Probed::all(run, &section);
    let several = probed.len() > 1;
    let mut found = Vec::new();
    for one in probed.iter().filter(|probed| probed.median.is_some()) {
        let verdicts = words::ordered(one.probe);
        let named = |text: String| match several {
            true => format!("{}: {text}.", one.label),
            false => format!("{text}."),
        };
        found.extend(verdicts.iter().map(|verdict| Sentence {
            rule: "mesh",
            text: named(words::sentence(one, verdict)),
            evidence: evidence(one, verdict),
        }));
        let unnamed = match verdicts.is_empty() {
            true => Some(silence::nothing_named(one)),
            false => silence::of_others(one),
        };
        found.extend(unnamed.map(|text| Sentence {
            rule: "mesh",
            text: named(words::capital(&text)),
            evidence: whole(one),
        }));
    }
    found
}

/// What a verdict rests on.
fn evidence(probed: &Probed, verdict: &MeshVerdict) -> Vec<String> {
    let [ratio, lower, upper] = words::ratios(probed, verdict);
    let mut cited = vec![
        format!("of the median {ratio:.3} [{lower:.3}, {upper:.3}]"),
        format!(
            "shown by {} of {}",
            verdict.shown_by_partners,
            counted(verdict.partners.into(), "partner")
        ),
        format!(
            "false_alarm_ratio {}",
            significant(verdict.false_alarm_ratio.get(), 2)
        ),
    ];
    cited.extend(whole(probed));
    cited
}

/// What all pairs are at.
fn whole(probed: &Probed) -> Vec<String> {
    let median = probed
        .median
        .map(|median| probed.text(median))
        .unwrap_or_default();
    let mut cited = vec![format!(
        "{} {} median of {} {median}",
        probed.label,
        probed.probe.tag,
        counted(probed.pairs.len() as u64, "pair"),
    )];
    let noise = probed.probe.noise_ratio.get();
    if noise > 0.0 {
        cited.push(format!("noise_ratio {}", percent(noise)));
    }
    let detectable = [
        ("detectable_host_ratio", probed.probe.detectable_host_ratio),
        ("detectable_link_ratio", probed.probe.detectable_link_ratio),
    ];
    for (key, ratio) in detectable {
        cited.extend(ratio.map(|ratio| format!("{key} {:.3}", ratio.get())));
    }
    cited
}
