//! Pairs that somebody chose, in few rounds. It must never judge whether a pair makes sense.

use super::Pair;
use super::circle::Circle;

/// Rounds of indices into `pairs` of which no host is in two pairs of a round: as few as there can be where all pairs of
/// `hosts` hosts are given, `n - 1` of an even number `n` of hosts, `n` of an odd one, and as many for the other direction.
/// A pair that is given again counts as a direction more. Pairs are taken in the order of the circle method, each into the
/// first round that has room for it, so that a part of all pairs needs no more rounds than all.
///
/// # Panics
/// Where a pair names a host that is not below `hosts`.
pub fn pack(hosts: usize, pairs: &[Pair]) -> Vec<Vec<usize>> {
    let circle = Circle::new(hosts);
    // The second time that two meet it is the other direction, in a tournament of its own.
    let ends = |at: usize| [pairs[at].from.min(pairs[at].to), pairs[at].from.max(pairs[at].to)];
    let mut met: Vec<([usize; 2], usize)> = (0..pairs.len()).map(|at| (ends(at), at)).collect();
    met.sort_unstable();
    let mut ordered: Vec<(usize, usize, usize)> = Vec::with_capacity(pairs.len());
    for same in met.chunk_by(|(a, _), (b, _)| a == b) {
        let meetings = same.iter().enumerate();
        ordered.extend(
            meetings.map(|(meeting, ([low, high], at))| (meeting, circle.round_of(*low, *high), *at)),
        );
    }
    drop(met);
    ordered.sort_unstable();
    let mut busy: Vec<Vec<u64>> = vec![Vec::new(); hosts];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for (_, _, at) in ordered {
        let Pair { from, to } = pairs[at];
        let round = first_free(&busy[from], &busy[to]);
        for host in [from, to] {
            let words = &mut busy[host];
            words.resize(words.len().max(round / 64 + 1), 0);
            words[round / 64] |= 1 << (round % 64);
        }
        rounds.resize_with(rounds.len().max(round + 1), Vec::new);
        rounds[round].push(at);
    }
    rounds
}

/// The first round in which neither is busy; a bit a round.
fn first_free(a: &[u64], b: &[u64]) -> usize {
    let word = |words: &[u64], at: usize| words.get(at).copied().unwrap_or(0);
    let mut at = 0;
    loop {
        let both = word(a, at) | word(b, at);
        if both != u64::MAX {
            return at * 64 + both.trailing_ones() as usize;
        }
        at += 1;
    }
}
