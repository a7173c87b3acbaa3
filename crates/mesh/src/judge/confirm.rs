//! Verdicts of hosts and units from fresh figures. It must never use a figure that made something suspect to convict it.

use super::candidates::{Candidates, PARTNERS_MIN};
use super::polish::{Cell, Effects, OF_MEDIAN, middle};
use super::reference::{self, FEW, Suspected, lower_tail};
use super::verdict::{Culprit, Side, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_report::stats::{holm, median};

/// Fresh figures that a verdict rests on, at least.
const FRESH_MIN: usize = 6;
/// Probability below which a suspected link is kept whatever its rank, and a unit explains its hosts.
pub const LIKELY: f64 = 0.01;
/// Probability above which a suspect is one no more.
pub const CLEARED: f64 = 0.2;
const Z: f64 = 1.959_963_984_540_054;

/// An effect as a logarithm, with its errors. That of a host in a slow unit is beside its unit.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    effect: f64,
    /// Standard error of the effect.
    error: f64,
    /// Effect and standard error beside the median host of all, whatever the unit explains: what is published.
    of_median: [f64; 2],
    /// Probability of an effect this low where nothing is slow.
    p: f64,
    /// Degrees of freedom of the error.
    freedom: f64,
    /// Fresh figures.
    count: usize,
}

/// A suspect, what is known of it, and how many of its partners show it.
type Suspect = (Culprit, Estimate, [usize; 2]);

/// The fresh figures by sender and by receiver.
type Fresh<'a> = BTreeMap<(usize, usize), Vec<&'a Cell>>;

/// Take the median of a look's controls off its cells: conditions may have changed for all.
pub fn rebase(cells: &mut [Cell], effects: &Effects, candidates: &mut Candidates) {
    let left = |cell: &Cell| cell.log - effects.hosts[0][cell.from] - effects.hosts[1][cell.to];
    let is_control = |cell: &&Cell| {
        !candidates.all_links.contains(cell.pair())
            && !candidates.all_hosts[cell.from][0]
            && !candidates.all_hosts[cell.to][1]
    };
    let mut controls: Vec<f64> = cells.iter().filter(is_control).map(left).collect();
    candidates.controls += controls.len();
    let base = match controls.is_empty() {
        true => effects.grand,
        false => median(&mut controls),
    };
    cells.iter_mut().for_each(|cell| cell.log -= base);
}

/// New verdicts of hosts and units; what is settled or cleared leaves `candidates`. `family` and `worth`: the probability
/// of a false alarm of all of them, and the logarithm of the share that is worth naming.
pub fn confirm(
    effects: &Effects,
    fresh: &[Cell],
    units: &[usize],
    candidates: &mut Candidates,
    (family, worth): (f64, f64),
) -> Vec<Verdict> {
    let ends = by_end(effects, fresh, units, candidates);
    let estimate = |end: (usize, usize)| -> Option<Estimate> {
        Some(of_host(effects, ends.get(&end)?, end.1, candidates.controls))
    };
    let (mut suspects, explained) = of_units(effects, units, candidates, worth, estimate);
    for side in [0, 1] {
        let unit = |host: usize| explained.get(&(*units.get(host)?, side)).copied();
        let shift = |host: usize| unit(host).map_or(0.0, |unit: Estimate| unit.effect);
        let hosts = candidates.hosts.iter().filter(|(_, of)| *of == side);
        let mut found: Vec<(usize, Estimate)> = hosts
            .filter_map(|&(host, _)| {
                let found = estimate((host, side))?;
                let error = found.error.hypot(unit(host).map_or(0.0, |unit| unit.error));
                let effect = found.effect - shift(host);
                Some((
                    host,
                    Estimate {
                        effect,
                        error,
                        ..found
                    },
                ))
            })
            .collect();
        let named = |host: usize| candidates.named_hosts.contains_key(&(host, side));
        compare(effects, (side, worth), &mut found, named, shift);
        for (host, found) in found {
            let shown = partners(
                effects,
                &ends[&(host, side)],
                side,
                shift(host) + found.effect / 2.0,
            );
            let side = name(side);
            let culprit = match shown[1] < PARTNERS_MIN {
                true => Culprit::Undecided { host, side },
                false => Culprit::Host { host, side },
            };
            suspects.push((culprit, found, shown));
        }
    }
    settle(suspects, candidates, (family, worth))
}

/// Give suspects their probabilities. How much healthy hosts differ cannot be known from a few: of these, what is slower by
/// more than is worth naming, beyond noise, is named, and that they might all differ so much is not considered.
fn compare(
    effects: &Effects,
    (side, worth): (usize, f64),
    found: &mut [(usize, Estimate)],
    named: impl Fn(usize) -> bool,
    explained: impl Fn(usize) -> f64,
) {
    if effects.measured(side) < FEW {
        for (_, found) in found {
            found.p = lower_tail(found.effect - worth, found.error, found.freedom);
        }
        return;
    }
    let suspects: Vec<Suspected> = found
        .iter()
        .map(|&(host, Estimate { effect, error, .. })| Suspected { host, effect, error })
        .collect();
    let all = reference::probabilities(effects, side, &suspects, named, explained);
    found.iter_mut().zip(all).for_each(|((_, found), p)| found.p = p);
}

/// The figures of what is suspect, by end, but for those of suspected links: of few hosts these too, since too few partners
/// would be left.
fn by_end<'a>(effects: &Effects, fresh: &'a [Cell], units: &[usize], candidates: &Candidates) -> Fresh<'a> {
    let is_few = effects.measured(0) < FEW;
    let mut wanted = vec![[false; 2]; candidates.all_hosts.len()];
    for &(host, side) in &candidates.hosts {
        wanted[host][side] = true;
    }
    for (host, unit) in units.iter().enumerate() {
        for side in [0, 1] {
            let key = (*unit, side);
            wanted[host][side] |= candidates.units.contains(&key) || candidates.named_units.contains(&key);
        }
    }
    let mut ends: Fresh<'_> = BTreeMap::new();
    for cell in fresh {
        let ours = [(cell.from, 0), (cell.to, 1)].into_iter();
        let mut ours = ours.filter(|(host, side)| wanted[*host][*side]).peekable();
        if ours.peek().is_some() && (is_few || !candidates.all_links.contains(cell.pair())) {
            ours.for_each(|end| ends.entry(end).or_default().push(cell));
        }
    }
    ends
}

/// What a fresh figure says of one of its ends.
pub fn of_end(effects: &Effects, cell: &Cell, side: usize) -> f64 {
    cell.log - effects.hosts[1 - side][[cell.to, cell.from][side]]
}

/// Suspected units, and what a unit explains of its hosts: that, too, of units that have a verdict.
fn of_units(
    effects: &Effects,
    units: &[usize],
    candidates: &Candidates,
    worth: f64,
    estimate: impl Fn((usize, usize)) -> Option<Estimate>,
) -> (Vec<Suspect>, BTreeMap<(usize, usize), Estimate>) {
    let mut explained = BTreeMap::new();
    let mut suspects = Vec::new();
    for &(unit, side) in candidates.units.union(&candidates.named_units) {
        let members: Vec<usize> = (0..units.len()).filter(|host| units[*host] == unit).collect();
        let each: Vec<Estimate> = members
            .iter()
            .filter_map(|host| estimate((*host, side)))
            .collect();
        if each.is_empty() {
            continue;
        }
        let shown = each.iter().filter(|host| host.effect < worth).count();
        let found = of_members(effects, side, &each);
        if found.p <= LIKELY || candidates.named_units.contains(&(unit, side)) {
            explained.insert((unit, side), found);
        }
        if candidates.units.contains(&(unit, side)) {
            let side = name(side);
            suspects.push((Culprit::Unit { unit, side }, found, [shown, members.len()]));
        }
    }
    (suspects, explained)
}

/// Verdicts of hosts and units; these and what looks healthy leave `candidates`.
///
/// The other direction of a host that is named pays for itself alone and not for all hosts: where nothing is slow it can be
/// named only with the first, which paid (a gate: Dmitrienko, Offen and Westfall, Statistics in Medicine 22, 2003).
fn settle(suspects: Vec<Suspect>, candidates: &mut Candidates, (family, worth): (f64, f64)) -> Vec<Verdict> {
    let adjusted = in_family(suspects.iter().map(|(_, found, _)| found.p), candidates.looked_at);
    let mut verdicts = Vec::new();
    let mut all: Vec<(Suspect, f64)> = suspects.into_iter().zip(adjusted).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    for ((culprit, found, shown), p) in all {
        let key = |side| usize::from(side == Side::Receives);
        let named = |host, side| candidates.named_hosts.get(&(host, 1 - key(side)));
        let other = match culprit {
            Culprit::Host { host, side } | Culprit::Undecided { host, side } => named(host, side).copied(),
            _ => None,
        };
        let p = other.map_or(p, |other: f64| p.min(found.p.max(other)));
        let is_named = p <= family && found.effect <= worth && found.count >= FRESH_MIN;
        let is_cleared = found.p > CLEARED;
        if is_named {
            verdicts.push(verdict(culprit, found, p, shown));
        }
        match culprit {
            Culprit::Unit { unit, side } if is_named || is_cleared => {
                candidates.units.remove(&(unit, key(side)));
                if is_named {
                    candidates.named_units.insert((unit, key(side)));
                }
            }
            Culprit::Host { host, side } | Culprit::Undecided { host, side } if is_named || is_cleared => {
                candidates.hosts.remove(&(host, key(side)));
                if is_named {
                    candidates.named_hosts.insert((host, key(side)), p);
                }
            }
            _ => {}
        }
    }
    verdicts
}

/// Holm's adjustment within a family of which only the suspects are at hand; the others count as 1.
pub fn in_family(p: impl Iterator<Item = f64>, size: usize) -> Vec<f64> {
    let mut all: Vec<f64> = p.collect();
    let suspects = all.len();
    all.resize(size.max(suspects), 1.0);
    let mut adjusted = holm(&all);
    adjusted.truncate(suspects);
    adjusted
}

/// A host by its fresh figures, not yet compared with anybody.
fn of_host(effects: &Effects, cells: &[&Cell], side: usize, controls: usize) -> Estimate {
    let mut values: Vec<f64> = cells.iter().map(|cell| of_end(effects, cell, side)).collect();
    let distinct: BTreeSet<usize> = cells.iter().map(|cell| [cell.to, cell.from][side]).collect();
    let effect = middle(&mut values, effects.noise);
    let (noise, freedom) = pooled(effects, side, &values, effect);
    let error = noise * effects.fresh_error(side, [cells.len(), distinct.len(), controls]);
    Estimate {
        effect,
        error,
        of_median: [effect, error],
        p: 1.0,
        freedom,
        count: cells.len(),
    }
}

/// How much larger the noise is when what a host's fresh `values` say of it is pooled with the survey's, and the degrees of
/// freedom of both: a survey of few hosts has hardly any. That of many hosts knows enough.
fn pooled(effects: &Effects, side: usize, values: &[f64], effect: f64) -> (f64, f64) {
    let (of_survey, of_fresh) = (reference::freedom(effects), values.len() as f64 - 1.0);
    if effects.measured(side) >= FEW || effects.single <= 0.0 {
        return (1.0, of_survey);
    }
    let squares: f64 = values
        .iter()
        .map(|value| ((value - effect) / effects.single).powi(2))
        .sum();
    let freedom = of_survey + of_fresh;
    (((of_survey + squares) / freedom).sqrt(), freedom)
}

/// The median of a unit's hosts against their errors and the spread of all hosts.
fn of_members(effects: &Effects, side: usize, each: &[Estimate]) -> Estimate {
    let mut values: Vec<f64> = each.iter().map(|host| host.effect).collect();
    let mut errors: Vec<f64> = each.iter().map(|host| host.error).collect();
    let share = OF_MEDIAN / (each.len() as f64).sqrt();
    let (error, spread) = (share * median(&mut errors), share * effects.spread[side]);
    let effect = median(&mut values);
    let freedom = reference::of_unit(effects, side, error, spread);
    Estimate {
        effect,
        error,
        of_median: [effect, error],
        p: lower_tail(effect, error.hypot(spread), freedom),
        freedom,
        count: FRESH_MIN,
    }
}

/// Distinct partners that show an effect below `limit`, and all.
fn partners(effects: &Effects, cells: &[&Cell], side: usize, limit: f64) -> [usize; 2] {
    let mut by_partner: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for cell in cells {
        let partner = [cell.to, cell.from][side];
        by_partner
            .entry(partner)
            .or_default()
            .push(of_end(effects, cell, side));
    }
    let all = by_partner.len();
    let shown = by_partner
        .into_values()
        .filter_map(|mut values| (median(&mut values) < limit).then_some(()));
    [shown.count(), all]
}

fn name(side: usize) -> Side {
    [Side::Sends, Side::Receives][side]
}

fn verdict(culprit: Culprit, found: Estimate, p: f64, [shown_by, partners]: [usize; 2]) -> Verdict {
    let [effect, error] = found.of_median;
    let at = |sigmas: f64| (effect + sigmas * error).exp();
    Verdict {
        culprit,
        ratio: at(0.0),
        interval: [at(-Z), at(Z)],
        false_alarm: p,
        shown_by,
        partners,
    }
}
