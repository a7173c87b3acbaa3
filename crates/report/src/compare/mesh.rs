//! Two meshes: which hosts and links changed, by their names. A host has a value a cycle of the survey, over the pairs that both
//! meshes measured, each beside itself; a link has its own figures. Where these are too few there is an estimate and no verdict.

use super::lacking::{self, Both, Lost};
use super::matching::{Question, disturbed_cases, disturbed_hosts, is_same_question};
use super::section::{Difference, MeshChange, Row, Verdict};
use super::verdict::Sides;
use crate::mesh::{Probed, words};
use crate::stats::median;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshCulprit, MeshPair, MeshSection};
use wirespeed_schema::order::map_of;

/// What there is to judge of two meshes.
#[derive(Debug, Default)]
pub struct Meshes {
    /// Hosts as senders and receivers.
    pub hosts: Vec<Sides>,
    /// Links.
    pub links: Vec<Sides>,
    /// Of each link, whether either side judged it.
    judged_links: Vec<bool>,
    /// Hosts that B lacks or lost or that have no figure in it, links that failed in B; the same of A.
    pub lost: [Vec<Lost>; 2],
    /// What was judged slow on either side.
    judged: Vec<Difference>,
}

/// Hosts and links of the probes that `a` and `b` share; `None` where one of them is no mesh.
pub fn meshes(a: &Run, b: &Run, question: &Question) -> Option<Meshes> {
    let sections = (a.sections.get::<MeshSection>()?, b.sections.get::<MeshSection>()?);
    let (of_a, of_b) = (Probed::all(a, &sections.0), Probed::all(b, &sections.1));
    let mut found = Meshes {
        lost: [
            lacking::hosts(&sections.0, &sections.1, "B"),
            lacking::hosts(&sections.1, &sections.0, "A"),
        ],
        ..Meshes::default()
    };
    let case = |run: &Run, probed: &Probed| run.cases.get(probed.probe.case as usize).cloned();
    let (mut of_a_in_b, mut of_b_in_a) = (Vec::new(), Vec::new());
    for one in &of_a {
        let partner = of_b.iter().find(|other| {
            let same = case(a, one).zip(case(b, other));
            other.probe.tag == one.probe.tag && same.is_some_and(|(a, b)| is_same_question(&a, &b, question))
        });
        if let Some(other) = partner.filter(|_| question.asks_for(&one.probe.tag)) {
            let of_cases = case(a, one).zip(case(b, other));
            let mut disturbed = disturbed_hosts(a, b);
            disturbed.extend(of_cases.iter().flat_map(|(a, b)| disturbed_cases(a, b)));
            let label = one.name_among(of_a.len() > 1);
            found.add(one, other, (&label, &disturbed));
            let both = |here, there| Both {
                label: label.clone(),
                here,
                there,
            };
            of_a_in_b.push(both(one, other));
            of_b_in_a.push(both(other, one));
        }
    }
    found.lost[0].extend(lacking::failed(&of_a_in_b, "B"));
    found.lost[1].extend(lacking::failed(&of_b_in_a, "A"));
    Some(found)
}

type Pairs<'a> = BTreeMap<(String, String), &'a MeshPair>;

fn pairs<'a>(probed: &Probed<'a>) -> Pairs<'a> {
    let name = |host| probed.section.host_name(host);
    let all = probed.probe.pairs.iter().filter(|pair| !pair.values.is_empty());
    map_of(all.map(|pair| ((name(pair.from), name(pair.to)), pair)))
}

impl Meshes {
    fn add(&mut self, a: &Probed, b: &Probed, (probe, disturbed): (&str, &[String])) {
        let (of_a, of_b) = (pairs(a), pairs(b));
        let shared = of_a
            .iter()
            .filter_map(|(key, pair)| Some((key, (*pair, *of_b.get(key)?))));
        let shared: Vec<_> = shared.collect();
        let label = |what: String| match probe.is_empty() {
            true => what,
            false => format!("{probe}: {what}"),
        };
        let sides = |what: String, a_values, b_values| Sides {
            label: label(what),
            tag: a.probe.tag.clone(),
            a: a_values,
            b: b_values,
            disturbed: disturbed.to_vec(),
            ..Sides::default()
        };
        let mut by_host: BTreeMap<(String, &str), Vec<(&MeshPair, &MeshPair)>> = BTreeMap::new();
        for ((from, to), both) in &shared {
            by_host.entry((from.clone(), "sends")).or_default().push(*both);
            by_host.entry((to.clone(), "receives")).or_default().push(*both);
        }
        for ((host, does), both) in by_host {
            let [a_values, b_values] = cycles(&both);
            self.hosts
                .push(sides(format!("{host} {does}"), a_values, b_values));
        }
        let judged: BTreeSet<(String, String)> = links(a).chain(links(b)).collect();
        let values = |pair: &MeshPair| pair.values.iter().map(|value| value.get()).collect();
        for (key, (a, b)) in shared {
            self.links
                .push(sides(format!("{} -> {}", key.0, key.1), values(a), values(b)));
            self.judged_links.push(judged.contains(key));
        }
        self.judged
            .extend(verdicts(a, b).into_iter().map(|one| Difference {
                name: label(one.name),
                ..one
            }));
    }

    /// The rows that are worth showing, and what beside them changed: links are listed where there is a verdict on them here or
    /// in either mesh; the others are counted.
    pub fn shown(self, hosts: Vec<Option<Row>>, links: Vec<Option<Row>>) -> (Vec<Row>, MeshChange) {
        let mut rows: Vec<Row> = hosts.into_iter().flatten().collect();
        let mut unlisted = 0;
        for (row, judged) in links.into_iter().zip(self.judged_links) {
            match row {
                Some(row) if judged || matches!(row.verdict, Verdict::Faster | Verdict::Slower) => {
                    rows.push(row)
                }
                _ => unlisted += 1,
            }
        }
        let change = MeshChange {
            judged: self.judged,
            unlisted_links: unlisted,
        };
        (rows, change)
    }
}

/// A value a cycle of the survey on either side, of cycles that at least half of the pairs have. Each pair is compared with itself
/// on the other side: what is missing of one, in whichever cycle it failed, leaves the others as they are.
fn cycles(pairs: &[(&MeshPair, &MeshPair)]) -> [Vec<f64>; 2] {
    let survey = |pair: &MeshPair| -> Vec<f64> {
        let values = pair.values.iter().take(pair.survey_count as usize);
        values
            .map(|value| value.get())
            .filter(|value| *value > 0.0)
            .collect()
    };
    // The values of a pair on both sides, and what is usual for it on both together.
    let known: Vec<([Vec<f64>; 2], f64)> = pairs
        .iter()
        .filter_map(|(a, b)| {
            let both = [survey(a), survey(b)];
            let usual = both.each_ref().map(|values| median(&mut values.clone()));
            let usual = (usual[0] * usual[1]).sqrt();
            (usual.is_finite() && usual > 0.0).then_some((both, usual))
        })
        .collect();
    let level = median(&mut known.iter().map(|(_, usual)| *usual).collect::<Vec<f64>>());
    [0, 1].map(|side| {
        let most = known.iter().map(|(values, _)| values[side].len()).max();
        let of_cycle = |cycle: usize| {
            let ratios = known
                .iter()
                .filter_map(|(values, usual)| Some(values[side].get(cycle)? / usual));
            let mut ratios: Vec<f64> = ratios.collect();
            (2 * ratios.len() >= known.len()).then(|| level * median(&mut ratios))
        };
        (0..most.unwrap_or(0)).filter_map(of_cycle).collect()
    })
}

/// Names of the ends of the links that were judged slow.
fn links(probed: &Probed) -> impl Iterator<Item = (String, String)> {
    let section = probed.section;
    let verdicts = probed.probe.verdicts.iter();
    verdicts
        .flat_map(|verdict| words::directions(verdict.culprit))
        .filter_map(|culprit| match culprit {
            MeshCulprit::Link { from, to, .. } => Some((section.host_name(from), section.host_name(to))),
            _ => None,
        })
}

/// What was judged slow on either side, with its ratio where it was. Each direction counts by itself: one that is slow on both
/// sides is, whatever the other direction does, and the order of the hosts is no difference.
fn verdicts(a: &Probed, b: &Probed) -> Vec<Difference> {
    let named = |probed: &Probed| -> BTreeMap<String, String> {
        let all = probed.probe.verdicts.iter();
        let said = all.flat_map(|verdict| {
            let [ratio, ..] = words::ratios(probed, verdict);
            let directions = words::directions(verdict.culprit).into_iter();
            directions.map(move |culprit| (words::culprit(probed.section, culprit), format!("{ratio:.2}")))
        });
        map_of(said)
    };
    let (of_a, of_b) = (named(a), named(b));
    let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let difference = |name: &String| Difference {
        name: name.clone(),
        a: of_a.get(name).cloned(),
        b: of_b.get(name).cloned(),
    };
    names.into_iter().map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::finite::Finite;

    fn pair(values: &[f64]) -> MeshPair {
        MeshPair {
            values: values.iter().copied().filter_map(Finite::maybe).collect(),
            survey_count: values.len() as u32,
            ..MeshPair::default()
        }
    }

    #[test]
    fn a_pair_that_failed_in_a_cycle_changes_nothing_of_its_host() {
        let near = [pair(&[10.0; 3]), pair(&[10.0; 3])];
        let far = [pair(&[20.0; 3]), pair(&[20.0; 2])];
        let both = [(&near[0], &near[1]), (&far[0], &far[1])];
        let [a, b] = cycles(&both);
        assert_eq!((a.len(), b.len()), (3, 3));
        for value in a.iter().chain(&b) {
            assert!((value - 15.0).abs() < 1e-9, "{a:?} {b:?}");
        }
        // Of a host at half its rate everything halves, and the ratio is that.
        let slow = [pair(&[5.0; 3]), pair(&[10.0])];
        let [a, b] = cycles(&[(&near[0], &slow[0]), (&far[0], &slow[1])]);
        for (a, b) in a.iter().zip(&b) {
            assert!((b / a - 0.5).abs() < 1e-9, "{a} {b}");
        }
        assert_eq!(cycles(&[(&pair(&[]), &near[0])]), [Vec::<f64>::new(), Vec::new()]);
    }
}
