//! The attempts at one round: who is to blame for a failure costs itself, and the other pairs run again. It must never let a
//! figure that a pair had alone stand for one beside the others, unless they do not run beside each other at all.

use super::figures::Figures;
use std::collections::BTreeMap;
use wirespeed_mesh::{Lack, Pair};

/// A pair, and its figures or why it has none.
pub type Ended = (Pair, Result<Figures, Lack>);

/// Why an attempt runs.
#[derive(Debug)]
enum Purpose {
    /// To measure all pairs of the round that are left.
    Round,
    /// To see whether a pair alone fails, which nobody was blamed for.
    Search,
    /// To measure together the pairs that ran well alone, which have these figures of that.
    Again(BTreeMap<Pair, Figures>),
}

/// Pairs to be run at the same time.
#[derive(Debug)]
pub struct Attempt {
    /// The pairs; none where the hosts of all are lost.
    pub pairs: Vec<Pair>,
    purpose: Purpose,
}

/// Why an attempt failed.
#[derive(Debug)]
pub struct Broken<'r> {
    /// Hosts that are to blame, each with its reason.
    pub blamed: BTreeMap<usize, &'r str>,
    /// Whether hosts are lost that were not before.
    pub has_lost: bool,
    /// What the group says of it.
    pub cause: &'r str,
}

/// What a round came to, and what is still to run.
#[derive(Debug)]
pub struct Attempts {
    /// Pairs that are known, or failed.
    pub ended: Vec<Ended>,
    /// The next is the last.
    waiting: Vec<Attempt>,
    /// Figures of pairs that ran well alone, to be run together once more.
    alone: BTreeMap<Pair, Figures>,
}

impl Attempts {
    /// All pairs of a round at once.
    pub fn of(pairs: Vec<Pair>) -> Attempts {
        Attempts {
            ended: Vec::with_capacity(pairs.len()),
            waiting: vec![Attempt {
                pairs,
                purpose: Purpose::Round,
            }],
            alone: BTreeMap::new(),
        }
    }

    /// What runs next, without the pairs of hosts that are `lost` by now.
    pub fn next(&mut self, lost: impl Fn(usize) -> Option<String>) -> Option<Attempt> {
        let Attempt { pairs, purpose } = self.waiting.pop().or_else(|| self.again())?;
        let mut rest = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match lost(pair.from).or_else(|| lost(pair.to)) {
                Some(reason) => self.ended.push((pair, Err(Lack::Lost(reason)))),
                None => rest.push(pair),
            }
        }
        match purpose {
            Purpose::Again(alone) if rest.len() == 1 => {
                // Nothing is left to be beside: it would only run alone once more.
                self.keep(alone, &rest);
                self.next(lost)
            }
            purpose => Some(Attempt { pairs: rest, purpose }),
        }
    }

    /// The pairs that ran well alone, together; none where there are none.
    fn again(&mut self) -> Option<Attempt> {
        let alone = std::mem::take(&mut self.alone);
        (!alone.is_empty()).then(|| Attempt {
            pairs: alone.keys().copied().collect(),
            purpose: Purpose::Again(alone),
        })
    }

    /// Let the figures that `pairs` had alone stand.
    fn keep(&mut self, mut alone: BTreeMap<Pair, Figures>, pairs: &[Pair]) {
        let figures = pairs.iter().filter_map(|pair| Some((*pair, alone.remove(pair)?)));
        self.ended
            .extend(figures.map(|(pair, figures)| (pair, Ok(figures))));
    }

    /// Nothing further runs: what was to be run together once more has no figure.
    pub fn give_up(&mut self) {
        self.alone.clear();
    }

    /// An attempt ended well with what it `found` of each pair.
    pub fn ran(&mut self, attempt: &Attempt, found: Vec<Ended>) {
        for (pair, found) in found {
            match (found, &attempt.purpose) {
                (Ok(figures), Purpose::Search) => {
                    self.alone.insert(pair, figures);
                }
                (found, _) => self.ended.push((pair, found)),
            }
        }
    }

    /// An attempt failed, of which only `certain` is known. It runs again without the pairs that failed by themselves; where
    /// nobody is named, each pair runs alone.
    pub fn failed(&mut self, attempt: Attempt, certain: Vec<Ended>, broken: &Broken) {
        let Attempt { pairs, purpose } = attempt;
        let count = pairs.len();
        let mut rest = Vec::with_capacity(count);
        for pair in pairs {
            if certain.iter().any(|(known, _)| *known == pair) {
                continue;
            }
            match broken.blamed.get(&pair.from).or(broken.blamed.get(&pair.to)) {
                Some(reason) => self.ended.push((pair, Err((*reason).to_owned().into()))),
                None => rest.push(pair),
            }
        }
        self.ended.extend(certain);
        let is_explained = broken.has_lost || rest.len() < count;
        match purpose {
            _ if rest.is_empty() => {}
            purpose if is_explained => self.waiting.push(Attempt { pairs: rest, purpose }),
            // They run, but not beside each other, and nobody knows because of whom.
            Purpose::Again(alone) => self.keep(alone, &rest),
            _ if count == 1 => {
                let failed = |pair| (pair, Err(broken.cause.to_owned().into()));
                self.ended.extend(rest.into_iter().map(failed));
            }
            _ => self.waiting.extend(rest.into_iter().map(|pair| Attempt {
                pairs: vec![pair],
                purpose: Purpose::Search,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pair of hosts 2n and 2n + 1.
    fn pair(number: usize) -> Pair {
        Pair {
            from: 2 * number,
            to: 2 * number + 1,
        }
    }

    /// How a group of these pairs, by number, fails: the pairs that are to blame; `None` where it does not.
    type Fails = fn(&[usize]) -> Option<&'static [usize]>;

    /// The groups that ran in turn, and of each pair how many ran beside it when it got its figure, or why it has none.
    fn run(count: usize, fails: Fails) -> (Vec<Vec<usize>>, Vec<Result<u64, String>>) {
        let mut attempts = Attempts::of((0..count).map(pair).collect());
        let mut ran = Vec::new();
        while let Some(attempt) = attempts.next(|_| None) {
            let numbers: Vec<usize> = attempt.pairs.iter().map(|pair| pair.from / 2).collect();
            let beside = numbers.len() as u64 - 1;
            match fails(&numbers) {
                None => {
                    let figures = Figures::from([("rtt_p50_ns".to_owned(), (1.0, beside))]);
                    let found = attempt.pairs.iter().map(|pair| (*pair, Ok(figures.clone())));
                    let found = found.collect();
                    attempts.ran(&attempt, found);
                }
                Some(blamed) => {
                    let broken = Broken {
                        blamed: blamed.iter().map(|number| (2 * number, "killed")).collect(),
                        has_lost: false,
                        cause: "refused",
                    };
                    attempts.failed(attempt, Vec::new(), &broken);
                }
            }
            ran.push(numbers);
        }
        attempts.ended.sort_by_key(|(pair, _)| *pair);
        let told = |(_, ended): Ended| match ended {
            Ok(figures) => Ok(figures["rtt_p50_ns"].1),
            Err(lack) => Err(lack.why().to_owned()),
        };
        (ran, attempts.ended.into_iter().map(told).collect())
    }

    fn refused<T>() -> Result<T, String> {
        Err("refused".to_owned())
    }

    #[test]
    fn who_ran_alone_in_search_of_a_failure_runs_beside_the_others_once_more() {
        let (ran, found) = run(3, |pairs| pairs.contains(&1).then_some(&[]));
        assert_eq!(ran, [vec![0, 1, 2], vec![2], vec![1], vec![0], vec![0, 2]]);
        assert_eq!(found, [Ok(1), refused(), Ok(1)]);
        // One that is left alone has its figure already.
        let (ran, found) = run(2, |pairs| pairs.contains(&1).then_some(&[]));
        assert_eq!(ran, [vec![0, 1], vec![1], vec![0]]);
        assert_eq!(found, [Ok(0), refused()]);
    }

    #[test]
    fn what_fails_together_again_keeps_what_it_had_alone() {
        let (ran, found) = run(3, |pairs| (pairs.len() > 1).then_some(&[]));
        assert_eq!(ran, [vec![0, 1, 2], vec![2], vec![1], vec![0], vec![0, 1, 2]]);
        assert_eq!(found, vec![Ok(0); 3]);
        // Whoever is blamed then costs itself alone.
        let (ran, found) = run(3, |pairs| match pairs {
            [0, 1, 2] => Some(&[]),
            [1] => Some(&[]),
            [0, 2] => Some(&[2]),
            _ => None,
        });
        assert_eq!(ran.last(), Some(&vec![0, 2]));
        assert_eq!(found, [Ok(0), refused(), Err("killed".to_owned())]);
    }

    #[test]
    fn a_round_of_one_pair_runs_once() {
        assert_eq!(run(1, |_| None), (vec![vec![0]], vec![Ok(0)]));
        assert_eq!(run(1, |_| Some(&[])), (vec![vec![0]], vec![refused()]));
    }

    #[test]
    fn the_others_run_on_without_who_is_to_blame() {
        let (ran, found) = run(3, |pairs| pairs.contains(&1).then_some(&[1]));
        assert_eq!(ran, [vec![0, 1, 2], vec![0, 2]]);
        assert_eq!(found, [Ok(1), Err("killed".to_owned()), Ok(1)]);
    }

    #[test]
    fn a_round_that_is_broken_off_has_no_figures_of_pairs_alone() {
        let mut attempts = Attempts::of(vec![pair(0), pair(1)]);
        let silent = Broken {
            blamed: BTreeMap::new(),
            has_lost: false,
            cause: "silent",
        };
        let together = attempts.next(|_| None).unwrap();
        attempts.failed(together, Vec::new(), &silent);
        let alone = attempts.next(|_| None).unwrap();
        let found = vec![(alone.pairs[0], Ok(Figures::new()))];
        attempts.ran(&alone, found);
        attempts.give_up();
        // The host of the other is gone meanwhile.
        let rest = attempts.next(|_| Some("gone".to_owned())).unwrap();
        assert!(rest.pairs.is_empty() && attempts.next(|_| None).is_none());
        let gone: Ended = (pair(0), Err(Lack::Lost("gone".to_owned())));
        assert_eq!(attempts.ended, [gone]);
    }
}
