//! Sets of pairs that are asked millions of times whether a pair is in them. It must never give an order that depends on
//! how the pairs came in.

use super::polish::Cell;
use crate::Pair;

/// Where each sender's pairs begin, in pairs sorted by sender; the end last.
fn starts(hosts: usize, senders: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0; hosts + 1];
    for sender in senders {
        starts[sender + 1] += 1;
    }
    for host in 0..hosts {
        starts[host + 1] += starts[host];
    }
    starts
}

/// A set of pairs, sorted.
#[derive(Debug, Default)]
pub struct PairSet {
    pairs: Vec<Pair>,
    starts: Vec<usize>,
}

impl PairSet {
    /// Add pairs of hosts below `hosts`.
    pub fn extend(&mut self, hosts: usize, more: impl Iterator<Item = Pair>) {
        self.pairs.extend(more);
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.starts = starts(hosts, self.pairs.iter().map(|pair| pair.from));
    }

    /// In order.
    pub fn as_slice(&self) -> &[Pair] {
        &self.pairs
    }

    /// Whether it has the pair.
    pub fn contains(&self, pair: Pair) -> bool {
        let row = self.starts.get(pair.from..pair.from + 2);
        row.is_some_and(|row| self.pairs[row[0]..row[1]].binary_search(&pair).is_ok())
    }
}

/// Figures of a look, by pair.
pub struct ByPair {
    starts: Vec<usize>,
    /// Receiver, place in the look, figure.
    rows: Vec<(usize, usize, f64)>,
    taken: Vec<bool>,
}

impl ByPair {
    /// The figures of `cells`.
    pub fn new(cells: &[Cell]) -> ByPair {
        let hosts = cells.iter().map(|cell| cell.from + 1).max().unwrap_or(0);
        let starts = starts(hosts, cells.iter().map(|cell| cell.from));
        let (mut next, mut rows) = (starts.clone(), vec![(0, 0, 0.0); cells.len()]);
        for (at, cell) in cells.iter().enumerate() {
            rows[next[cell.from]] = (cell.to, at, cell.log);
            next[cell.from] += 1;
        }
        for host in 0..hosts {
            rows[starts[host]..starts[host + 1]].sort_unstable_by_key(|(to, at, _)| (*to, *at));
        }
        let taken = vec![false; cells.len()];
        ByPair { starts, rows, taken }
    }

    /// The last figure of a pair that was not taken yet.
    pub fn take(&mut self, pair: Pair) -> Option<f64> {
        let row = self.starts.get(pair.from..pair.from + 2)?;
        let end = row[0] + self.rows[row[0]..row[1]].partition_point(|(to, ..)| *to <= pair.to);
        let of_pair = (row[0]..end).rev().take_while(|at| self.rows[*at].0 == pair.to);
        let at = of_pair.into_iter().find(|at| !self.taken[*at])?;
        self.taken[at] = true;
        Some(self.rows[at].2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(from: usize, to: usize) -> Pair {
        Pair { from, to }
    }

    #[test]
    fn a_set_has_what_was_added_once() {
        let mut set = PairSet::default();
        assert!(!set.contains(pair(0, 1)));
        set.extend(3, [pair(2, 0), pair(0, 1)].into_iter());
        set.extend(3, [pair(2, 1), pair(0, 1)].into_iter());
        assert_eq!(set.as_slice(), [pair(0, 1), pair(2, 0), pair(2, 1)]);
        assert!(set.contains(pair(2, 1)) && !set.contains(pair(1, 2)) && !set.contains(pair(9, 2)));
    }

    #[test]
    fn figures_are_taken_once_the_last_first() {
        let cell = |from, to, log| Cell { from, to, log };
        let mut found = ByPair::new(&[cell(1, 0, 1.0), cell(0, 1, 2.0), cell(1, 0, 3.0), cell(1, 2, 4.0)]);
        let taken =
            [(1, 0), (1, 0), (1, 0), (0, 2), (0, 1), (3, 1)].map(|(from, to)| found.take(pair(from, to)));
        assert_eq!(taken, [Some(3.0), Some(1.0), None, None, Some(2.0), None]);
    }
}
