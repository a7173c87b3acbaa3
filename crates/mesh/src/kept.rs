//! What is known of the pairs of a mesh, of a case alone or under a load: their figures, why others gave none, and which pairs and
//! hosts are not worth asking again. It must never judge a figure.

use crate::Pair;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::MeshPair;

/// Failures of a pair that never answered, from which on it is dead: once may be chance.
const DEAD_AFTER: u64 = 2;
/// Partners, one after the other, of which a host that is well answers one.
const PARTNERS_ASKED: usize = 6;

/// Why a measurement of a pair gave no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// It failed: nobody answered, or it broke off.
    Failed(String),
    /// It was not tried, since one of the two is lost.
    Lost(String),
    /// It ended well, and what came of it makes no figure.
    NoFigure(String),
    /// Data arrived other than they were sent: no good measurement makes up for that.
    WrongData(String),
}

impl Lack {
    /// The reason.
    pub fn why(&self) -> &str {
        match self {
            Lack::Failed(why) | Lack::Lost(why) | Lack::NoFigure(why) | Lack::WrongData(why) => why,
        }
    }
}

impl From<String> for Lack {
    fn from(why: String) -> Lack {
        Lack::Failed(why)
    }
}

/// What is known of an ordered pair: what is published, and what that does not say.
#[derive(Debug, Default)]
pub struct Known {
    pub told: MeshPair,
    /// Failures since the last figure.
    pub failed_since: u64,
    has_answered: bool,
}

/// Who answered a host.
#[derive(Debug, Default)]
struct Tried {
    has_answered: bool,
    /// Partners that it failed with, until the first answer.
    failed_with: BTreeSet<usize>,
    /// Whether as sender, and as receiver: who cannot be reached may well reach others.
    sides: [bool; 2],
}

/// What is known of all pairs.
#[derive(Debug, Default)]
pub struct Kept {
    pairs: BTreeMap<Pair, Known>,
    hosts: BTreeMap<usize, Tried>,
}

impl Kept {
    /// What a pair was measured at, or why it was not; gives the figure, where it is one: that is above zero.
    pub fn keep(&mut self, pair: Pair, measured: Result<f64, Lack>) -> Option<f64> {
        let measured = measured.and_then(|value| {
            let figure = Finite::maybe(value).filter(|_| value > 0.0);
            figure.ok_or_else(|| Lack::NoFigure(format!("its figure is {value}")))
        });
        let is_lost = matches!(measured, Err(Lack::Lost(_)));
        let answers = !is_lost && !matches!(measured, Err(Lack::Failed(_)));
        if !is_lost {
            self.tried(pair, answers);
        }
        let known = self.of(pair);
        known.has_answered |= answers;
        match measured {
            Ok(value) => {
                known.told.values.push(value);
                known.failed_since = 0;
                Some(value.get())
            }
            Err(lack) => {
                known.failed_since += 1;
                known.told.failed_count += 1;
                known.told.failed = Some(lack.why().to_owned());
                if let Lack::WrongData(how) = lack {
                    known.told.wrong_data = Some(how);
                }
                None
            }
        }
    }

    fn tried(&mut self, Pair { from, to }: Pair, answers: bool) {
        for (side, [host, partner]) in [[from, to], [to, from]].into_iter().enumerate() {
            let tried = self.hosts.entry(host).or_default();
            tried.has_answered |= answers;
            if tried.has_answered {
                tried.failed_with.clear();
            } else {
                tried.failed_with.insert(partner);
                tried.sides[side] = true;
            }
        }
    }

    /// A pair.
    pub fn of(&mut self, pair: Pair) -> &mut Known {
        self.pairs.entry(pair).or_insert_with(|| Known {
            told: MeshPair {
                from: pair.from as u32,
                to: pair.to as u32,
                ..MeshPair::default()
            },
            ..Known::default()
        })
    }

    /// Whether a pair failed each time that it was measured, and more than once.
    pub fn is_dead(&self, pair: Pair) -> bool {
        let known = self.pairs.get(&pair);
        known.is_some_and(|known| known.told.failed_count >= DEAD_AFTER && !known.has_answered)
    }

    /// With how many partners a host was tried that answered none of them, as sender and as receiver; `None` where it did, or
    /// where too few were tried of the `partners` that it has.
    pub fn answered_none_of(&self, host: usize, partners: impl FnOnce() -> usize) -> Option<usize> {
        let tried = self.hosts.get(&host).filter(|tried| !tried.has_answered)?;
        let count = tried.failed_with.len();
        let is_enough = tried.sides == [true; 2] && (count >= PARTNERS_ASKED || count >= partners());
        is_enough.then_some(count)
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&Pair, &Known)> {
        self.pairs.iter()
    }

    /// The same, to be published.
    pub fn told(self) -> Vec<MeshPair> {
        self.pairs.into_values().map(|known| known.told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(from: usize, to: usize) -> Pair {
        Pair { from, to }
    }

    fn failed() -> Result<f64, Lack> {
        Err(Lack::Failed("silent".to_owned()))
    }

    #[test]
    fn pairs_are_counted_with_their_reasons() {
        let (flaky, broken) = (pair(0, 1), pair(1, 0));
        let mut kept = Kept::default();
        assert_eq!(kept.keep(flaky, Ok(2.0)), Some(2.0));
        kept.keep(flaky, failed());
        assert_eq!(kept.keep(broken, Ok(0.0)), None);
        kept.keep(broken, Err(Lack::WrongData("2 messages".to_owned())));
        kept.keep(broken, Ok(f64::NAN));
        assert_eq!(
            [kept.of(flaky).failed_since, kept.of(broken).failed_since],
            [1, 3]
        );
        let [flaky, broken] = &kept.told()[..] else {
            panic!("two pairs");
        };
        assert_eq!(
            (flaky.values.len(), flaky.failed_count, flaky.failure()),
            (1, 1, None)
        );
        assert_eq!(flaky.failed.as_deref(), Some("silent"));
        assert_eq!(
            (broken.failed_count, broken.failure()),
            (3, Some("its figure is NaN"))
        );
        assert_eq!(broken.wrong_data.as_deref(), Some("2 messages"));
    }

    #[test]
    fn a_pair_is_dead_that_failed_twice_and_never_answered() {
        let mut kept = Kept::default();
        let (dead, flaky, short, wrong) = (pair(0, 1), pair(2, 3), pair(1, 2), pair(3, 0));
        kept.keep(flaky, Ok(1.0));
        for expected in [false, true, true] {
            kept.keep(dead, failed());
            kept.keep(flaky, failed());
            kept.keep(short, Err(Lack::NoFigure("too few samples".to_owned())));
            kept.keep(wrong, Err(Lack::WrongData("2 messages".to_owned())));
            assert_eq!(kept.is_dead(dead), expected);
        }
        assert!(
            [flaky, short, wrong, dead.back()]
                .iter()
                .all(|pair| !kept.is_dead(*pair))
        );
    }

    #[test]
    fn a_host_is_tried_with_a_few_partners_both_ways() {
        let mut kept = Kept::default();
        let mut tried = |pair, partners| {
            kept.keep(pair, failed());
            kept.answered_none_of(9, || partners)
        };
        for partner in 0..6 {
            assert_eq!(
                tried(pair(9, partner), 20),
                None,
                "nobody knows whether it can be reached"
            );
        }
        assert_eq!(tried(pair(5, 9), 20), Some(6));
        kept.keep(pair(8, 9), Err(Lack::NoFigure("too few samples".to_owned())));
        assert_eq!(kept.answered_none_of(9, || 20), None, "that is an answer");
        let mut lost = Kept::default();
        for pair in (0..8)
            .map(|partner| pair(9, partner))
            .flat_map(|pair| [pair, pair.back()])
        {
            lost.keep(pair, Err(Lack::Lost("killed".to_owned())));
        }
        assert_eq!(lost.answered_none_of(9, || 20), None, "nobody tried it");
        // Of three hosts each has two partners.
        let mut few = Kept::default();
        few.keep(pair(0, 1), failed());
        assert_eq!(few.answered_none_of(0, || 2), None);
        few.keep(pair(2, 0), failed());
        let found = [0, 1, 2].map(|host| few.answered_none_of(host, || 2));
        assert_eq!(found, [Some(2), None, None]);
    }
}
