//! Links against what their own ends do with others. It must never use effects of the survey: a link is suspect, among
//! other reasons, because the survey has its ends faster than they are.

use super::candidates::Candidates;
use super::confirm::{LIKELY, in_family};
use super::pairs::ByPair;
use super::polish::Cell;
use super::verdict::{Culprit, Verdict};
use crate::Pair;
use std::collections::BTreeMap;
use wirespeed_report::stats::{LEVEL, Shift, median, paired_shift};
use wirespeed_report::thresholds::FINDABLE_RATIO;

/// A suspected link, and another pair of hosts that its ends are measured with.
#[derive(Debug, Clone, Copy)]
pub struct Contrast {
    pub link: Pair,
    pub others: Pair,
}

impl Contrast {
    /// What is measured: the link, the others, and each end of the link with one of them. Whatever the four hosts do as
    /// senders and receivers stands in the first two as often as in the last two.
    pub fn pairs(self) -> [Pair; 4] {
        let Contrast { link, others } = self;
        let sent = Pair {
            from: link.from,
            to: others.to,
        };
        let received = Pair {
            from: others.from,
            to: link.to,
        };
        [link, others, sent, received]
    }
}

/// What contrasts say of each link, as logarithms: below 0 is slow.
pub type Differences = BTreeMap<Pair, Vec<f64>>;

/// Add what `cells`, one look's, say of the contrasts that were asked for. One that lacks a figure says nothing, and its link
/// is known to have been looked at.
pub fn add(differences: &mut Differences, asked: &[Contrast], cells: &[Cell]) {
    let mut figures = ByPair::new(cells);
    // No figure is used twice, so that differences are independent of each other.
    let mut taken = |pair: Pair| figures.take(pair);
    for contrast in asked {
        let of_link = differences.entry(contrast.link).or_default();
        if let [Some(link), Some(others), Some(sent), Some(received)] = contrast.pairs().map(&mut taken) {
            of_link.push(link + others - sent - received);
        }
    }
}

/// Links that no contrast can be had of: nothing is known of them, which does not clear them.
pub fn add_unknown(differences: &mut Differences, links: Vec<Pair>) {
    for link in links {
        differences.entry(link).or_default();
    }
}

/// New verdicts of links; what is settled or cleared leaves `candidates`, and what could not be measured stays. `family` and
/// `worth`: the probability of a false alarm of all links, and the logarithm of the share that is worth naming.
///
/// Signed ranks and no law of the noise: where the link is as its ends, a difference of equally distributed figures is as
/// likely to be above zero as below by the same, whatever their tails.
pub fn confirm(
    differences: &Differences,
    candidates: &mut Candidates,
    (family, worth): (f64, f64),
) -> Vec<Verdict> {
    let tested = |link: &Pair| {
        let values = differences.get(link)?;
        let shift = paired_shift(values, LEVEL)?;
        let lowest = 0.5_f64.powi(i32::try_from(values.len()).unwrap_or(i32::MAX));
        Some((*link, shift, lower_tail(&shift), lowest))
    };
    let suspects: Vec<(Pair, Shift, f64, f64)> = candidates.links.iter().filter_map(tested).collect();
    let adjusted = in_family(
        suspects.iter().map(|(_, _, p, _)| *p),
        candidates.all_links.as_slice().len(),
    );
    let mut order: Vec<f64> = suspects.iter().map(|(_, shift, ..)| shift.estimate).collect();
    let half = if order.is_empty() { 0.0 } else { median(&mut order) };
    let mut verdicts = Vec::new();
    let is_unknown = |link: &Pair| differences.get(link).is_some_and(Vec::is_empty);
    let unknown = candidates.links.iter().copied().filter(is_unknown);
    let mut kept: Vec<Pair> = unknown.collect();
    for ((link, shift, p, lowest), adjusted) in suspects.into_iter().zip(adjusted) {
        let is_slow = adjusted <= family && shift.estimate <= worth;
        match shift.interval.filter(|_| is_slow) {
            Some((lower, upper, _)) => verdicts.push(Verdict {
                culprit: Culprit::Link {
                    from: link.from,
                    to: link.to,
                    both: false,
                },
                ratio: shift.estimate.exp(),
                interval: [lower.exp(), upper.exp()],
                false_alarm: adjusted,
                shown_by: 1,
                partners: 1,
            }),
            // One that is slow in all differences stays, however many others are slower.
            None if shift.estimate < worth / 2.0 && (shift.estimate <= half || p <= LIKELY.max(lowest)) => {
                kept.push(link);
            }
            None => {}
        }
    }
    kept.sort_unstable();
    candidates.links = kept;
    verdicts
}

/// Suspects whose contrasts gave nothing, or too little to name one whose figures are those of a slow link.
pub fn unsettled(differences: &Differences, candidates: &Candidates) -> Vec<Pair> {
    let is_unsettled = |link: &&Pair| {
        let known = differences.get(link);
        known.is_some_and(|values| values.is_empty() || median(&mut values.clone()) < FINDABLE_RATIO.ln())
    };
    candidates.links.iter().filter(is_unsettled).copied().collect()
}

/// Probability of a shift as low as this where there is none.
fn lower_tail(shift: &Shift) -> f64 {
    match shift.estimate < 0.0 {
        true => shift.p_value / 2.0,
        false => 1.0 - shift.p_value / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contrast_takes_hosts_out_and_uses_no_figure_twice() {
        let asked = Contrast {
            link: Pair { from: 0, to: 1 },
            others: Pair { from: 2, to: 3 },
        };
        // Host 0 sends at -1 and host 3 receives at -2; the link adds -5.
        let cell = |Pair { from, to }: Pair| {
            let log = [-1.0, 0.0, 0.0, 0.0][from] + [0.0, 0.0, 0.0, -2.0][to];
            let link = if (from, to) == (0, 1) { -5.0 } else { 0.0 };
            Cell {
                from,
                to,
                log: log + link,
            }
        };
        let cells: Vec<Cell> = asked.pairs().map(cell).to_vec();
        let mut found = Differences::new();
        add(&mut found, &[asked, asked], &cells);
        add(&mut found, &[asked], &cells[1..]);
        assert_eq!(found, Differences::from([(asked.link, vec![-5.0])]));
    }
}
