//! What to measure next. It must never depend on how slow a suspect is, only on whether it still is one and whether it lives.

use super::candidates::{Candidates, PARTNERS};
use super::links::Contrast;
use super::pairs::PairSet;
use super::polish::Effects;
use crate::{Figure, Pair};
use std::collections::BTreeMap;
use wirespeed_report::stats::Random;

/// Where more fails than this, the contrasts are not made up for.
const FAILING_MAX: f64 = 0.3;

/// Failures of a pair, one after the other, from which on it is dead although it once gave a figure.
const DEAD_AFTER: u32 = 4;

/// Pairs that fail, with the failures since the last figure: what is dead would cost a look the time in which nobody
/// answers, and tell nothing.
#[derive(Debug, Default)]
pub struct Failing(BTreeMap<Pair, u32>);

impl Failing {
    /// Add what came of a pair, in order.
    pub fn add(&mut self, figure: &Figure) {
        match figure.value {
            Some(_) => drop(self.0.remove(&figure.pair)),
            None => *self.0.entry(figure.pair).or_default() += 1,
        }
    }

    /// Whether a pair failed each time, and more than once: once may be chance.
    pub fn has_only_failed(&self, pair: Pair, measured: &PairSet) -> bool {
        self.0.get(&pair).is_some_and(|failures| *failures > 1) && !measured.contains(pair)
    }

    /// Whether a pair is not worth asking for; `measured`: those that ever gave a figure.
    fn is_dead(&self, pair: Pair, measured: &PairSet) -> bool {
        let failures = self.0.get(&pair);
        failures.is_some_and(|failures| *failures >= DEAD_AFTER || !measured.contains(pair))
    }
}

/// Hosts above suspicion in an order that chance made, dealt around and around.
struct Deck {
    hosts: Vec<usize>,
    next: usize,
}

impl Deck {
    fn of(mut hosts: Vec<usize>, random: &mut Random) -> Deck {
        random.shuffle(&mut hosts);
        Deck { hosts, next: 0 }
    }

    /// The next of the hosts that suit; `None` where there is none.
    fn deal(&mut self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.hosts.len() {
            let host = self.hosts[self.next % self.hosts.len()];
            self.next += 1;
            if suits(host) {
                return Some(host);
            }
        }
        None
    }
}

/// Hosts that suspects are measured with: those above suspicion, unless most are suspect.
pub fn trusted(candidates: &Candidates, effects: &Effects) -> Vec<usize> {
    let suspect = |host: usize| candidates.all_hosts.get(host).is_some_and(|of| *of != [false; 2]);
    let mut hosts = with_figures(effects);
    if hosts.iter().filter(|host| suspect(**host)).count() <= hosts.len() / 2 {
        hosts.retain(|host| !suspect(*host));
    }
    hosts
}

fn with_figures(effects: &Effects) -> Vec<usize> {
    let has_figures = |host: &usize| effects.counts[0][*host] + effects.counts[1][*host] > 0;
    (0..effects.counts[0].len()).filter(has_figures).collect()
}

/// Contrasts of a link that a look is to have: each look twice as many as the one before.
pub fn contrasts(look: usize) -> usize {
    2 << look
}

/// What a look is to measure.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Pairs, each as often as it is to be measured.
    pub pairs: Vec<Pair>,
    /// The contrasts that are among them.
    pub contrasts: Vec<Contrast>,
    /// Suspected links without a contrast, because pairs that it needs are dead.
    pub barred: Vec<Pair>,
    /// Suspected hosts that nobody can be measured with any more.
    pub barred_hosts: Vec<usize>,
}

/// What is known of failures: the pairs, those that ever gave a figure, and the share of figures to be expected to fail.
pub type Failures<'a> = (&'a Failing, &'a PairSet, f64);

/// What the next look is to measure, without pairs that are dead. A contrast needs four figures, so more are asked for where
/// some fail.
pub fn wanted(
    candidates: &Candidates,
    effects: &Effects,
    (look, (failing, measured, share)): (usize, Failures),
    random: &mut Random,
) -> Wanted {
    let mut deck = Deck::of(trusted(candidates, effects), random);
    let is_alive = |from: usize, to: usize| !failing.is_dead(Pair { from, to }, measured);
    let mut wanted = Wanted::default();
    for &(host, side) in &candidates.hosts {
        let with = |other: usize| match side {
            0 => [host, other],
            _ => [other, host],
        };
        let suits = |other: usize| other != host && is_alive(with(other)[0], with(other)[1]);
        let mut others: Vec<usize> = (0..PARTNERS).filter_map(|_| deck.deal(suits)).collect();
        if others.is_empty() {
            // Nobody above suspicion answers it.
            let mut all = Deck::of(with_figures(effects), random);
            others.extend((0..PARTNERS).filter_map(|_| all.deal(suits)));
        }
        if others.is_empty() {
            wanted.barred_hosts.push(host);
        }
        let with_others = others.iter().map(|other| with(*other));
        // The partners without the suspect.
        let between = others.windows(2).map(|ends| [ends[0], ends[1]]);
        let between = between.filter(|[from, to]| from != to && is_alive(*from, *to));
        let pairs = with_others.chain(between);
        wanted.pairs.extend(pairs.map(|[from, to]| Pair { from, to }));
    }
    let whole = (1.0 - share.min(FAILING_MAX)).powi(4);
    let count = (contrasts(look) as f64 / whole).ceil() as usize;
    for &link in &candidates.links {
        let found = of_link(link, &mut deck, (count, &is_alive));
        let others = deck
            .hosts
            .iter()
            .filter(|host| ![link.from, link.to].contains(host));
        if found.is_empty() && others.count() >= 2 {
            wanted.barred.push(link);
        }
        wanted.contrasts.extend(found);
    }
    let pairs = wanted.contrasts.iter().flat_map(|contrast| contrast.pairs());
    wanted.pairs.extend(pairs);
    wanted
}

/// At most `count` contrasts of a link, of living pairs: fewer where the hosts that are dealt do not make one.
fn of_link(
    link: Pair,
    deck: &mut Deck,
    (count, is_alive): (usize, &impl Fn(usize, usize) -> bool),
) -> Vec<Contrast> {
    let mut found = Vec::with_capacity(count);
    // One of these in two may have been dealt a dead pair.
    for _ in 0..2 * count {
        if found.len() == count || !is_alive(link.from, link.to) {
            break;
        }
        let is_end = |host: usize| [link.from, link.to].contains(&host);
        let sends = |host: usize| !is_end(host) && is_alive(host, link.to);
        let receives = |host: usize| !is_end(host) && is_alive(link.from, host);
        let (Some(from), Some(to)) = (deck.deal(sends), deck.deal(receives)) else {
            break;
        };
        if from != to && is_alive(from, to) {
            let others = Pair { from, to };
            found.push(Contrast { link, others });
        } else {
            // Of an even number of hosts the same two would meet again.
            deck.deal(sends);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_suit_are_dealt_around_where_there_is_any() {
        let dealt = |hosts: &[usize], apart: [usize; 2], count: usize| {
            let hosts = hosts.to_vec();
            let mut deck = Deck { hosts, next: 0 };
            (0..count)
                .filter_map(|_| deck.deal(|host| !apart.contains(&host)))
                .collect::<Vec<_>>()
        };
        assert_eq!(dealt(&[4, 7, 2, 5], [7, 7], 5), [4, 2, 5, 4, 2]);
        assert_eq!(dealt(&[4, 7, 2], [7, 4], 2), [2, 2]);
        assert!(dealt(&[4, 7], [7, 4], 2).is_empty());
        assert!(dealt(&[], [7, 4], 2).is_empty());
    }

    #[test]
    fn a_pair_is_dead_that_never_gave_a_figure_or_has_long_given_none() {
        let (never, once) = (Pair { from: 0, to: 1 }, Pair { from: 1, to: 0 });
        let (mut failing, mut measured) = (Failing::default(), PairSet::default());
        measured.extend(2, [once].into_iter());
        let mut dead = |pair: Pair, value: Option<f64>| {
            failing.add(&Figure { pair, value });
            failing.is_dead(pair, &measured)
        };
        assert!(dead(never, None));
        let long = [None, None, None, Some(1.0), None, None, None, None];
        let found = long.map(|value| dead(once, value));
        assert_eq!(found, [false, false, false, false, false, false, false, true]);
    }
}
