//! What is known of the pairs of a mesh, of a case alone or under a load: their figures, why others gave none, and which pairs and
//! hosts are not worth asking again. It must never judge a figure.

use crate::Pair;
use std::collections::BTreeMap;
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::MeshPair;

/// Failures of a pair that never answered, from which on it is dead: once may be chance.
const DEAD_AFTER: u64 = 2;
/// The time until a pair that answered once is asked again doubles with each further silence, this often.
const DOUBLINGS_MAX: u32 = 16;
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
    /// Cycles that left it out since the last answer: had they asked, nobody would have answered.
    pub left_out_since: u64,
    /// The cycle under way asked for it.
    is_asked: bool,
    has_answered: bool,
    /// How often nobody answered, since the last answer.
    silences: u32,
    /// The cycle that may ask for it again.
    asked_from: u64,
}

/// Partners that a host failed with, and whether as sender, and as receiver: who cannot be reached may well reach others.
type FailedWith = BTreeMap<usize, [bool; 2]>;

/// Whether anybody answered a host, and until then who did not.
#[derive(Debug, Default)]
struct Answers {
    any: bool,
    failed_with: FailedWith,
}

/// Who answered a host: ever, and in the cycle under way. One that stood still for a cycle is tried in the next.
#[derive(Debug, Default)]
struct Tried {
    ever: Answers,
    now: Answers,
}

/// What is known of all pairs.
#[derive(Debug, Default)]
pub struct Kept {
    pairs: BTreeMap<Pair, Known>,
    hosts: BTreeMap<usize, Tried>,
    /// Cycles that have begun.
    cycle: u64,
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
        let cycle = self.cycle;
        let known = self.of(pair);
        known.is_asked = true;
        known.has_answered |= answers;
        if answers {
            (known.silences, known.left_out_since) = (0, 0);
        } else if !is_lost {
            known.asked_from = cycle + (1 << known.silences.min(DOUBLINGS_MAX));
            known.silences += 1;
        }
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
            for of in [&mut tried.ever, &mut tried.now] {
                of.any |= answers;
                match of.any {
                    true => of.failed_with.clear(),
                    false => of.failed_with.entry(partner).or_default()[side] = true,
                }
            }
        }
    }

    /// A cycle over all pairs begins.
    pub fn begin_cycle(&mut self) {
        self.cycle += 1;
        self.hosts
            .values_mut()
            .for_each(|tried| tried.now = Answers::default());
        self.pairs.values_mut().for_each(|known| known.is_asked = false);
    }

    /// The cycle has come to its end: count the pairs that answered once and that it left out.
    pub fn end_cycle(&mut self) {
        let known = self.pairs.values_mut();
        for left_out in known.filter(|known| known.has_answered && !known.is_asked) {
            left_out.told.left_out_count += 1;
            left_out.left_out_since += 1;
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

    /// Whether a pair is not worth asking in this cycle. One that never answered is not from its second failure on, one that did
    /// is 1, 2, 4 .. cycles after one silence, two, three in turn.
    pub fn is_silent(&self, pair: Pair) -> bool {
        let known = self.pairs.get(&pair);
        known.is_some_and(|known| match known.has_answered {
            true => known.asked_from > self.cycle,
            false => known.told.failed_count >= DEAD_AFTER,
        })
    }

    /// Whether one of the hosts of a pair is asked no more in this cycle.
    pub fn is_of_one_aside(&self, pair: Pair) -> bool {
        self.is_aside(pair.from) || self.is_aside(pair.to)
    }

    /// Whether a host is asked no more in this cycle: it answered nobody in it.
    fn is_aside(&self, host: usize) -> bool {
        self.silent_with(host, |tried| &tried.now).is_some()
    }

    /// With how many partners a host was tried that answered none of them, where it was or would be set aside for it.
    pub fn answered_none_of(&self, host: usize) -> Option<usize> {
        self.silent_with(host, |tried| &tried.ever)
    }

    /// Only who answers others tells something of a host: where half of a mesh is dead, those of the other half meet many of it.
    /// Where partners are few, each pair is judged by itself.
    fn silent_with(&self, host: usize, when: impl Fn(&Tried) -> &Answers) -> Option<usize> {
        let of = |host: &usize| self.hosts.get(host).map(&when);
        let tried = of(&host).filter(|tried| !tried.any)?;
        let answers = |partner: &usize| of(partner).is_some_and(|tried| tried.any);
        let with = tried.failed_with.iter().filter(|(partner, _)| answers(partner));
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
            assert_eq!(kept.is_silent(dead), expected);
            kept.begin_cycle();
        }
        assert!(
            [short, wrong, dead.back()]
                .iter()
                .all(|pair| !kept.is_silent(*pair))
        );
    }

    #[test]
    fn a_pair_that_fell_silent_is_asked_more_and_more_rarely_until_it_answers() {
        let mut kept = Kept::default();
        let (flaky, lost) = (pair(0, 1), pair(2, 3));
        kept.keep(lost, Ok(1.0));
        let mut asked = |cycles: std::ops::Range<u64>, measured: Result<f64, Lack>| -> Vec<u64> {
            let cycles = cycles.filter(|_| {
                kept.begin_cycle();
                kept.keep(lost, Err(Lack::Lost("killed".to_owned())));
                assert!(!kept.is_silent(lost), "nobody tried it");
                let asks = !kept.is_silent(flaky);
                if asks {
                    kept.keep(flaky, measured.clone());
                }
                kept.end_cycle();
                asks
            });
            cycles.collect()
        };
        assert_eq!(asked(1..3, Ok(1.0)), [1, 2]);
        assert_eq!(asked(3..20, failed()), [3, 4, 6, 10, 18]);
        // An answer wipes that out.
        assert_eq!(asked(20..35, Ok(1.0)), [34]);
        assert_eq!(asked(35..39, failed()), [35, 36, 38]);
        assert_eq!(kept.of(flaky).left_out_since, 1, "the answer wiped out the rest");
        // One that was broken off left nothing out.
        kept.begin_cycle();
        let told = &kept.of(flaky).told;
        assert_eq!(
            (told.values.len(), told.failed_count, told.left_out_count),
            (3, 8, 27)
        );
    }

    #[test]
    fn a_host_that_falls_silent_is_set_aside_within_the_cycle() {
        let mut kept = well();
        kept.keep(pair(9, 0), Ok(1.0));
        kept.begin_cycle();
        for host in 0..8 {
            kept.keep(pair(host, (host + 1) % 8), Ok(1.0));
        }
        for partner in 0..6 {
            assert!(!kept.is_aside(9));
            kept.keep(pair(9, partner), failed());
        }
        kept.keep(pair(5, 9), failed());
        assert!(kept.is_aside(9) && kept.is_of_one_aside(pair(7, 9)));
        assert_eq!(kept.answered_none_of(9), None, "it answered before");
        kept.begin_cycle();
        assert!(!kept.is_aside(9), "it may have stood still");
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
