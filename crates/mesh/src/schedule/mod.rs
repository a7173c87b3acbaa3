//! Which pairs are measured in which round. Rounds are made as they are asked for: all pairs must never be held at once.

mod circle;
mod pack;

use crate::MeshError;
use circle::Circle;
pub use pack::pack;
use std::collections::BTreeSet;
use wirespeed_report::stats::Random;

/// An ordered pair of hosts, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
}

impl Pair {
    /// The other direction.
    pub fn back(self) -> Pair {
        Pair {
            from: self.to,
            to: self.from,
        }
    }
}

/// How much runs at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All pairs of a round.
    Loaded,
    /// One pair.
    Isolated,
}

/// Which pairs are measured. Of `All` and `Budget` each pair is, in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Every pair.
    All,
    /// The pairs of this many matchings, at least 2; all pairs where there are no more matchings.
    Budget(usize),
    /// These pairs, in the directions given.
    Given(Vec<Pair>),
}

/// Rounds and pairs of one cycle of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Rounds, one after the other.
    pub rounds: usize,
    /// Pairs in all rounds; the two directions count as two.
    pub pairs: usize,
}

/// A schedule of rounds, of which each host is in one pair at most.
#[derive(Debug, Clone)]
pub struct Schedule {
    mode: Mode,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Circle {
        circle: Circle,
        /// The host that stands at each place of the circle.
        labels: Vec<usize>,
        /// The rounds of the circle that are taken, in order.
        order: Vec<usize>,
    },
    Given(Vec<Vec<Pair>>),
}

impl Schedule {
    /// A schedule of `hosts` hosts. `seed` decides who meets whom when.
    ///
    /// A budget takes two neighbouring rounds of the circle and others at random. Two neighbouring rounds connect all
    /// hosts: going along one and then the other moves a host by one place around the circle. No pair is in two rounds, so
    /// that a budget buys as many different partners as it can.
    ///
    /// # Errors
    /// A pair that is unknown, of a host with itself or given twice; a budget below two matchings.
    pub fn new(hosts: usize, plan: Plan, mode: Mode, seed: u64) -> Result<Schedule, MeshError> {
        let mut random = Random::new(seed);
        let circle = Circle::new(hosts);
        let taken = match plan {
            Plan::Given(pairs) => {
                let pairs = checked(hosts, pairs)?;
                let rounds = pack(hosts, &pairs).into_iter();
                let rounds = rounds.map(|round| round.into_iter().map(|at| pairs[at]).collect());
                return Ok(Schedule {
                    mode,
                    source: Source::Given(rounds.collect()),
                });
            }
            Plan::All => circle.rounds(),
            Plan::Budget(matchings) if matchings < 2 => return Err(MeshError::Budget { matchings }),
            Plan::Budget(matchings) => matchings.min(circle.rounds()),
        };
        let mut labels: Vec<usize> = (0..hosts).collect();
        random.shuffle(&mut labels);
        let first = random.below(circle.rounds());
        let mut order: Vec<usize> = (0..circle.rounds())
            .map(|round| (first + round) % circle.rounds())
            .collect();
        if let Some(others) = order.get_mut(2..) {
            random.shuffle(others);
        }
        order.truncate(taken);
        let source = Source::Circle {
            circle,
            labels,
            order,
        };
        Ok(Schedule { mode, source })
    }

    /// One cycle of rounds: each pair once, the other directions after all first ones.
    pub fn rounds(&self) -> Box<dyn Iterator<Item = Vec<Pair>> + '_> {
        let whole: Box<dyn Iterator<Item = Vec<Pair>>> = match &self.source {
            Source::Given(rounds) => Box::new(rounds.iter().cloned()),
            Source::Circle {
                circle,
                labels,
                order,
            } => {
                let directions = [false, true].into_iter();
                Box::new(directions.flat_map(move |back| {
                    let labelled = move |[a, b]: [usize; 2]| {
                        let pair = Pair {
                            from: labels[a],
                            to: labels[b],
                        };
                        if back { pair.back() } else { pair }
                    };
                    let rounds = order.iter();
                    rounds.map(move |round| circle.round(*round).map(labelled).collect())
                }))
            }
        };
        match self.mode {
            Mode::Loaded => whole,
            Mode::Isolated => Box::new(whole.flatten().map(|pair| vec![pair])),
        }
    }

    /// Rounds and pairs of a cycle, without making them.
    pub fn estimate(&self) -> Estimate {
        let (rounds, pairs) = match &self.source {
            Source::Given(rounds) => (rounds.len(), rounds.iter().map(Vec::len).sum()),
            Source::Circle { circle, order, .. } => {
                (2 * order.len(), 2 * order.len() * circle.pairs_a_round())
            }
        };
        let rounds = match self.mode {
            Mode::Loaded => rounds,
            Mode::Isolated => pairs,
        };
        Estimate { rounds, pairs }
    }
}

/// `pairs`, if all of them can be measured.
fn checked(hosts: usize, pairs: Vec<Pair>) -> Result<Vec<Pair>, MeshError> {
    let mut seen = BTreeSet::new();
    for &pair in &pairs {
        let Pair { from, to } = pair;
        if let Some(host) = [from, to].into_iter().find(|host| *host >= hosts) {
            return Err(MeshError::UnknownHost { host, hosts });
        }
        if from == to {
            return Err(MeshError::SelfPair { host: from });
        }
        if !seen.insert(pair) {
            return Err(MeshError::Duplicate { from, to });
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(hosts: usize, plan: Plan) -> Schedule {
        Schedule::new(hosts, plan, Mode::Loaded, 7).unwrap()
    }

    /// The pairs of a cycle, after a look that nobody is in two pairs of a round and that the estimate holds.
    fn pairs(hosts: usize, schedule: &Schedule) -> Vec<Pair> {
        let rounds: Vec<Vec<Pair>> = schedule.rounds().collect();
        for round in &rounds {
            let mut busy = vec![false; hosts];
            for host in round.iter().flat_map(|pair| [pair.from, pair.to]) {
                assert!(!std::mem::replace(&mut busy[host], true), "{round:?}");
            }
        }
        let pairs: Vec<Pair> = rounds.concat();
        let estimate = schedule.estimate();
        assert_eq!((estimate.rounds, estimate.pairs), (rounds.len(), pairs.len()));
        pairs
    }

    #[test]
    fn every_pair_is_measured_once_in_each_direction() {
        for hosts in 0..=40 {
            let all = schedule(hosts, Plan::All);
            let mut found = pairs(hosts, &all);
            found.sort_unstable();
            let each = |from| {
                (0..hosts)
                    .filter(move |to| *to != from)
                    .map(move |to| Pair { from, to })
            };
            assert_eq!(found, (0..hosts).flat_map(each).collect::<Vec<_>>(), "{hosts}");
            let rounds = if hosts < 2 { 0 } else { 2 * (hosts - 1 + hosts % 2) };
            assert_eq!(all.estimate().rounds, rounds);
        }
    }

    #[test]
    fn a_budget_of_two_matchings_connects_all_hosts() {
        for hosts in 2..=40 {
            for (seed, budget) in [(1, 2), (2, 2), (3, 5), (4, 100)] {
                let schedule = Schedule::new(hosts, Plan::Budget(budget), Mode::Loaded, seed).unwrap();
                let found = pairs(hosts, &schedule);
                assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
                let mut reached = BTreeSet::from([0]);
                while let Some(pair) = found
                    .iter()
                    .find(|pair| reached.contains(&pair.from) && !reached.contains(&pair.to))
                {
                    reached.insert(pair.to);
                }
                assert_eq!(reached.len(), hosts, "{budget} matchings, seed {seed}");
                assert_eq!(schedule.estimate().rounds, 2 * budget.min(hosts - 1 + hosts % 2));
            }
        }
    }

    #[test]
    fn seeds_decide_and_isolated_pairs_are_alone() {
        let made = |seed, mode| -> Vec<Vec<Pair>> {
            let schedule = Schedule::new(12, Plan::Budget(3), mode, seed).unwrap();
            assert_eq!(schedule.estimate().rounds, schedule.rounds().count());
            schedule.rounds().collect()
        };
        assert_eq!(made(5, Mode::Loaded), made(5, Mode::Loaded));
        assert_ne!(made(5, Mode::Loaded), made(6, Mode::Loaded));
        let alone = made(5, Mode::Isolated);
        assert!(alone.iter().all(|round| round.len() == 1));
        assert_eq!(alone.concat(), made(5, Mode::Loaded).concat());
    }

    #[test]
    fn ten_thousand_hosts_are_never_held_as_pairs() {
        let all = schedule(10_000, Plan::All);
        assert_eq!(all.estimate().pairs, 99_990_000);
        assert_eq!(all.rounds().next().unwrap().len(), 5000);
    }

    #[test]
    fn given_pairs_are_checked_and_packed() {
        let pair = |from, to| Pair { from, to };
        let made = |pairs: &[Pair]| Schedule::new(4, Plan::Given(pairs.to_vec()), Mode::Loaded, 1);
        let packed = made(&[pair(0, 1), pair(0, 2), pair(2, 3), pair(1, 3)]).unwrap();
        assert_eq!((pairs(4, &packed).len(), packed.estimate().rounds), (4, 2));
        let error = |pairs: &[Pair]| made(pairs).unwrap_err();
        assert_eq!(error(&[pair(0, 4)]), MeshError::UnknownHost { host: 4, hosts: 4 });
        assert_eq!(error(&[pair(1, 1)]), MeshError::SelfPair { host: 1 });
        let twice = MeshError::Duplicate { from: 0, to: 1 };
        assert_eq!(error(&[pair(0, 1), pair(1, 0), pair(0, 1)]), twice);
        let poor = Schedule::new(4, Plan::Budget(1), Mode::Loaded, 1).unwrap_err();
        assert_eq!(poor, MeshError::Budget { matchings: 1 });
    }
}
