//! Verdicts of hosts and units from fresh figures. It must never use a figure that made something suspect to convict it.

use super::candidates::{Candidates, PARTNERS, PARTNERS_MIN};
use super::polish::{Cell, Effects, MANY, OF_MEDIAN};
use super::verdict::{Culprit, Side, Verdict};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;
use wirespeed_report::stats::{holm, median};

/// Fresh figures that a verdict rests on, at least.
const FRESH_MIN: usize = 6;
/// Probability below which a suspected link is kept whatever its rank, and a unit explains its hosts.
pub const LIKELY: f64 = 0.01;
/// The share of normal values that their median absolute deviation makes use of.
const EFFICIENCY: f64 = 0.37;
/// The same of the distances between them.
const EFFICIENCY_OF_QN: f64 = 0.82;
const Z: f64 = 1.959_963_984_540_054;

/// An effect as a logarithm, with its errors.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    effect: f64,
    /// Standard error of the effect.
    error: f64,
    /// Probability of an effect this low where nothing is slow.
    p: f64,
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
    let ends = by_end(fresh, units, candidates);
    let estimate = |(host, side): (usize, usize)| -> Option<Estimate> {
        let cells = ends.get(&(host, side))?;
        let mut values: Vec<f64> = cells.iter().map(|cell| of_end(effects, cell, side)).collect();
        Some(tested(effects, side, &mut values, (1.0, candidates.controls)))
    };
    let (mut suspects, explained) = of_units(effects, units, candidates, worth, estimate);
    for &(host, side) in &candidates.hosts {
        let Some(found) = estimate((host, side)) else {
            continue;
        };
        let unit = units.get(host).and_then(|unit| explained.get(&(*unit, side)));
        let found = unit.map_or(found, |unit| shifted(effects, side, found, *unit));
        let shown = partners(effects, &ends[&(host, side)], side, found.effect / 2.0);
        let side = name(side);
        let culprit = match shown[1] < PARTNERS_MIN {
            true => Culprit::Undecided { host, side },
            false => Culprit::Host { host, side },
        };
        suspects.push((culprit, found, shown));
    }
    settle(suspects, candidates, (family, worth))
}

/// The figures of what is suspect, by end, but for those of suspected links.
fn by_end<'a>(fresh: &'a [Cell], units: &[usize], candidates: &Candidates) -> Fresh<'a> {
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
        if ours.peek().is_some() && !candidates.all_links.contains(cell.pair()) {
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
        let mut each: Vec<f64> = members
            .iter()
            .filter_map(|host| Some(estimate((*host, side))?.effect))
            .collect();
        if each.is_empty() {
            continue;
        }
        let shown = each.iter().filter(|effect| **effect < worth).count();
        let found = tested(effects, side, &mut each, (PARTNERS as f64, candidates.controls));
        if found.p <= LIKELY || candidates.named_units.contains(&(unit, side)) {
            explained.insert((unit, side), found);
        }
        if candidates.units.contains(&(unit, side)) {
            let side = name(side);
            let count = FRESH_MIN;
            suspects.push((
                Culprit::Unit { unit, side },
                Estimate { count, ..found },
                [shown, members.len()],
            ));
        }
    }
    (suspects, explained)
}

/// Verdicts of hosts and units; these and what looks healthy leave `candidates`.
fn settle(suspects: Vec<Suspect>, candidates: &mut Candidates, (family, worth): (f64, f64)) -> Vec<Verdict> {
    let adjusted = in_family(suspects.iter().map(|(_, found, _)| found.p), candidates.looked_at);
    let mut verdicts = Vec::new();
    for ((culprit, found, shown), p) in suspects.into_iter().zip(adjusted) {
        let key = |side| usize::from(side == Side::Receives);
        let is_named = p <= family && found.effect <= worth && found.count >= FRESH_MIN;
        let is_cleared = found.p > 0.2;
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

/// The median of `values`, each of which is the median of `weight` figures, against noise, that of the `controls` included,
/// and the spread of hosts.
fn tested(effects: &Effects, side: usize, values: &mut [f64], (weight, controls): (f64, usize)) -> Estimate {
    let (count, spread) = (values.len(), effects.spread[side]);
    let share = 1.0 / (count as f64 * weight) + 1.0 / controls.max(1) as f64;
    let own = OF_MEDIAN * effects.noise * share.sqrt();
    let found = Estimate {
        effect: median(values),
        error: own,
        p: 1.0,
        count,
    };
    // Hosts of a unit differ by their spread, of which a median over them has its part.
    let spread = if weight > 1.0 {
        OF_MEDIAN * spread / (count as f64).sqrt()
    } else {
        spread
    };
    Estimate {
        p: lower_tail(found.effect, own.hypot(spread), welch(effects, side, own, spread)),
        ..found
    }
}

/// `found` beside what its unit explains.
fn shifted(effects: &Effects, side: usize, found: Estimate, unit: Estimate) -> Estimate {
    let (effect, spread) = (found.effect - unit.effect, effects.spread[side]);
    let error = found.error.hypot(unit.error);
    let freedom = welch(effects, side, error, spread);
    Estimate {
        effect,
        error,
        p: lower_tail(effect, error.hypot(spread), freedom),
        ..found
    }
}

/// Degrees of freedom of the noise.
pub fn freedom(effects: &Effects) -> f64 {
    (EFFICIENCY * effects.free as f64).max(1.0)
}

/// Degrees of freedom of noise and spread together (Welch and Satterthwaite).
fn welch(effects: &Effects, side: usize, error: f64, spread: f64) -> f64 {
    let hosts = effects.counts[side].iter().filter(|count| **count > 0).count();
    let efficiency = if hosts > MANY {
        EFFICIENCY
    } else {
        EFFICIENCY_OF_QN
    };
    let of_spread = (efficiency * hosts.saturating_sub(1) as f64).max(1.0);
    let (noise, spread) = (error * error, spread * spread);
    let whole = noise + spread;
    if whole <= 0.0 {
        return freedom(effects);
    }
    whole * whole / (noise * noise / freedom(effects) + spread * spread / of_spread)
}

/// Probability of `effect` or less, of Student's t. Without any noise an effect is certain.
fn lower_tail(effect: f64, error: f64, freedom: f64) -> f64 {
    match error > 1e-9 {
        true => StudentsT::new(0.0, error, freedom).map_or(1.0, |law| law.cdf(effect)),
        false if effect < -1e-6 => 0.0,
        false => 1.0,
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
    let at = |sigmas: f64| (found.effect + sigmas * found.error).exp();
    Verdict {
        culprit,
        ratio: at(0.0),
        interval: [at(-Z), at(Z)],
        false_alarm: p,
        shown_by,
        partners,
    }
}

/// Both directions of the same thing as one verdict, with the figures of the slower.
pub fn merged(verdicts: &[Verdict]) -> Vec<Verdict> {
    let both = |culprit: Culprit| match culprit {
        Culprit::Unit { unit, .. } => Culprit::Unit {
            unit,
            side: Side::Both,
        },
        Culprit::Host { host, .. } => Culprit::Host {
            host,
            side: Side::Both,
        },
        Culprit::Undecided { host, .. } => Culprit::Undecided {
            host,
            side: Side::Both,
        },
        Culprit::Link { from, to, .. } => Culprit::Link {
            from: from.min(to),
            to: from.max(to),
            both: true,
        },
    };
    let mut found: BTreeMap<Culprit, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        found.entry(both(verdict.culprit)).or_default().push(verdict);
    }
    let one = |(culprit, all): (Culprit, Vec<&Verdict>)| {
        let slowest = all.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
        let culprit = if all.len() > 1 { culprit } else { slowest.culprit };
        Some(Verdict { culprit, ..**slowest })
    };
    found.into_iter().filter_map(one).collect()
}
