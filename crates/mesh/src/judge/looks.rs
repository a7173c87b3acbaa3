//! What to measure next. It must never depend on how slow a suspect is, only on whether it still is one.

use super::candidates::{Candidates, PARTNERS};
use super::links::Contrast;
use super::polish::Effects;
use crate::Pair;
use wirespeed_report::stats::Random;

/// Where more fails than this, the contrasts are not made up for.
const FAILING_MAX: f64 = 0.3;

/// Hosts above suspicion in an order that chance made, dealt around and around.
struct Deck {
    hosts: Vec<usize>,
    next: usize,
}

impl Deck {
    /// `count` hosts other than `apart`: different ones while there are so many, then again; none where there is no other.
    fn deal(&mut self, apart: [usize; 2], count: usize) -> Vec<usize> {
        let mut dealt = Vec::with_capacity(count);
        if self.hosts.iter().take(3).all(|host| apart.contains(host)) {
            return dealt;
        }
        while dealt.len() < count {
            let host = self.hosts[self.next % self.hosts.len()];
            self.next += 1;
            if !apart.contains(&host) {
                dealt.push(host);
            }
        }
        dealt
    }
}

/// Hosts that suspects are measured with: those above suspicion, unless most are suspect.
pub fn trusted(candidates: &Candidates, effects: &Effects) -> Vec<usize> {
    let suspect = |host: usize| candidates.all_hosts.get(host).is_some_and(|of| *of != [false; 2]);
    let has_figures = |host: &usize| effects.counts[0][*host] + effects.counts[1][*host] > 0;
    let mut hosts: Vec<usize> = (0..effects.counts[0].len()).filter(has_figures).collect();
    if hosts.iter().filter(|host| suspect(**host)).count() <= hosts.len() / 2 {
        hosts.retain(|host| !suspect(*host));
    }
    hosts
}

/// Contrasts of a link that a look is to have: each look twice as many as the one before.
pub fn contrasts(look: usize) -> usize {
    2 << look
}

/// Pairs of a look, a pair as often as it is to be measured, and the contrasts that are among them. `failing`: the share of
/// figures that are to be expected to fail. A contrast needs four, so more are asked for.
pub fn wanted(
    candidates: &Candidates,
    effects: &Effects,
    (look, failing): (usize, f64),
    random: &mut Random,
) -> (Vec<Pair>, Vec<Contrast>) {
    let mut hosts = trusted(candidates, effects);
    random.shuffle(&mut hosts);
    let mut deck = Deck { hosts, next: 0 };
    let mut pairs = Vec::new();
    for &(host, side) in &candidates.hosts {
        let others = deck.deal([host, host], PARTNERS);
        for other in &others {
            let sent = Pair {
                from: host,
                to: *other,
            };
            pairs.push(if side == 0 { sent } else { sent.back() });
        }
        // The partners without the suspect.
        let between = others.windows(2).filter(|ends| ends[0] != ends[1]);
        pairs.extend(between.map(|ends| Pair {
            from: ends[0],
            to: ends[1],
        }));
    }
    let mut contrasts = Vec::new();
    let whole = (1.0 - failing.min(FAILING_MAX)).powi(4);
    let count = (self::contrasts(look) as f64 / whole).ceil() as usize;
    for &link in &candidates.links {
        for ends in deck.deal([link.from, link.to], 2 * count).chunks_exact(2) {
            let others = Pair {
                from: ends[0],
                to: ends[1],
            };
            if others.from != others.to {
                contrasts.push(Contrast { link, others });
            }
        }
    }
    pairs.extend(contrasts.iter().flat_map(|contrast| contrast.pairs()));
    (pairs, contrasts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_partners_are_dealt_as_asked_for_where_there_is_any() {
        let deck = |hosts: &[usize]| Deck {
            hosts: hosts.to_vec(),
            next: 0,
        };
        assert_eq!(deck(&[4, 7, 2, 5]).deal([7, 7], 5), [4, 2, 5, 4, 2]);
        assert_eq!(deck(&[4, 7, 2]).deal([7, 4], 2), [2, 2]);
        assert!(deck(&[4, 7]).deal([7, 4], 2).is_empty());
        assert!(deck(&[]).deal([7, 4], 2).is_empty());
    }
}
