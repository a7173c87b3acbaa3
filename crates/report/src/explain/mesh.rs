//! Sentences on a mesh: each verdict, or that there is none, with the figures that it rests on.

use super::Sentence;
use crate::mesh::{Probed, words};
use crate::wording::{counted, percent};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshSection, MeshVerdict};
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::significant;

/// The rule: verdicts of every probe, hosts before links, and for a probe without any what was found instead.
pub(super) fn mesh(run: &Run, _: &[&CaseResult]) -> Vec<Sentence> {
    let Some(section) = run.sections.get::<MeshSection>() else {
        return Vec::new();
    };
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
        if verdicts.is_empty() {
            found.extend(words::of_probe(one, several).into_iter().map(|text| Sentence {
                rule: "mesh",
                text,
                evidence: whole(one),
            }));
        }
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
    cited
}
