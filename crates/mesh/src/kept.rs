//! What is known of the pairs of a mesh, of a case alone or under a load: their figures, why others gave none, and which pairs and
//! hosts are not worth asking again. It must never judge a figure.

use crate::Pair;
use std::collections::BTreeMap;
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::MeshPair;

/// Failures of a pair that never answered, from which on it is dead: once may be chance.
const DEAD_AFTER: u64 = 2;
/// Partners that answer others, of which a host that is well answers one.
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

/// Partners that a host failed with, and whether as sender, and as receiver: who cannot be reached may well reach others.
type FailedWith = BTreeMap<usize, [bool; 2]>;

/// Who answered a host.
#[derive(Debug, Default)]
struct Tried {
    has_answered: bool,
    /// Until the first answer: ever, and in the cycle under way. A host that stood still for one cycle is tried in the next.
    failed_ever: FailedWith,
    failed_now: FailedWith,
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
            for failed_with in [&mut tried.failed_ever, &mut tried.failed_now] {
                match tried.has_answered {
                    true => failed_with.clear(),
                    false => failed_with.entry(partner).or_default()[side] = true,
                }
            }
        }
    }

    /// A cycle over all pairs begins.
    pub fn begin_cycle(&mut self) {
        self.hosts.values_mut().for_each(|tried| tried.failed_now.clear());
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

    /// Whether a host is asked no more in this cycle: it answered nobody in it, nor ever before.
    pub fn is_aside(&self, host: usize) -> bool {
        self.silent_with(host, |tried| &tried.failed_now).is_some()
    }

    /// With how many partners a host was tried that answered none of them, where it was or would be set aside for it.
    pub fn answered_none_of(&self, host: usize) -> Option<usize> {
        self.silent_with(host, |tried| &tried.failed_ever)
    }

    /// Only who answers others tells something of a host: where half of a mesh is dead, those of the other half meet many of it.
    /// Where partners are few, each pair is judged by itself.
    fn silent_with(&self, host: usize, failed_with: impl Fn(&Tried) -> &FailedWith) -> Option<usize> {
        let tried = self.hosts.get(&host).filter(|tried| !tried.has_answered)?;
        let answers = |partner: &usize| self.hosts.get(partner).is_some_and(|tried| tried.has_answered);
        let with = failed_with(tried).iter().filter(|(partner, _)| answers(partner));
        let sides: Vec<[bool; 2]> = with.map(|(_, sides)| *sides).collect();
        let both = (0..2).all(|side| sides.iter().any(|sides| sides[side]));
        (both && sides.len() >= PARTNERS_ASKED).then_some(sides.len())
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

    /// Hosts from 0 to 7 that answer each other.
    fn well() -> Kept {
        let mut kept = Kept::default();
        for host in 0..8 {
            kept.keep(pair(host, (host + 1) % 8), Ok(1.0));
        }
        kept
    }

    #[test]
    fn a_host_is_tried_with_a_few_partners_both_ways() {
        let mut kept = well();
        for partner in 0..6 {
            kept.keep(pair(9, partner), failed());
            assert!(!kept.is_aside(9), "nobody knows whether it can be reached");
        }
        kept.keep(pair(5, 9), failed());
        assert!(kept.is_aside(9) && !kept.is_aside(5));
        assert_eq!(kept.answered_none_of(9), Some(6));
        kept.begin_cycle();
        assert!(!kept.is_aside(9), "it may have stood still");
        assert_eq!(kept.answered_none_of(9), Some(6));
        kept.keep(pair(7, 9), Err(Lack::NoFigure("too few samples".to_owned())));
        assert_eq!(kept.answered_none_of(9), None, "that is an answer");
        let mut lost = well();
        for pair in (0..8).flat_map(|partner| [pair(9, partner), pair(partner, 9)]) {
            lost.keep(pair, Err(Lack::Lost("killed".to_owned())));
        }
        assert_eq!(lost.answered_none_of(9), None, "nobody tried it");
    }

    #[test]
    fn who_answers_nobody_proves_nothing_of_others() {
        let mut kept = Kept::default();
        for dead in 10..20 {
            kept.keep(pair(0, dead), failed());
            kept.keep(pair(dead, 0), failed());
        }
        assert!(!kept.is_aside(0), "of ten that may all be dead");
        kept.keep(pair(0, 1), Ok(1.0));
        for host in 1..7 {
            kept.keep(pair(host, 0), Ok(1.0));
            kept.keep(pair(host, 10), failed());
        }
        assert!(!kept.is_aside(0) && kept.is_aside(10));
        assert_eq!(
            kept.answered_none_of(10),
            Some(7),
            "and the host that met it first"
        );
    }
}
