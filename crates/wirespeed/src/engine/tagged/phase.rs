//! A test as the driver of phases sees it: rounds of iterations, before each of which ranks meet or hear of it. The root
//! of the tree leads: it decides how many iterations a round has, and everybody follows.

use super::super::meter::{Meter, Tally};
use super::super::phases::{Body, Left, Phase, SETTLE_ROUND_TRIPS};
use super::super::rank::Rank;
use super::super::series::Series;
use super::group::Group;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};
use wirespeed_schema::outcome::SampleKind;

/// How the ranks of a test come to a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// The root announces it, and waits for nobody.
    Announced,
    /// All ranks meet before some milliseconds of iterations.
    EachRound,
    /// All ranks meet before each iteration.
    EachIteration,
}

/// The iterations of a test as one rank takes part in them. Where ranks meet, they add their time to the group's.
pub trait Iterations<P: TaggedPort> {
    /// What comes before a round.
    fn meeting(&self) -> Meeting;

    /// A series for this rank's samples.
    fn series(&self, meter: &Meter) -> Series;

    /// Before the first round of a phase.
    fn begin(&mut self, group: &mut Group<P>, clock: Clock) -> Result<(), LinkError> {
        let _ = (group, clock);
        Ok(())
    }

    /// Before the meeting of every round: memory and caches.
    fn prepare(&mut self, group: &mut Group<P>, round: u64) -> Result<(), LinkError>;

    /// `count` iterations. `last`: they end the phase.
    fn round(
        &mut self,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        part: (u64, bool),
    ) -> Result<(), LinkError>;

    /// After every round: counts, and the check of what arrived, where the loops do not see to that.
    fn settle(&mut self, group: &mut Group<P>, round: u64, count: u64) {
        let _ = (group, round, count);
    }

    /// Iterations that a sample covers, when one takes `op_ticks`.
    fn batch(&self, rank: &Rank, op_ticks: f64) -> u64;
}

/// One rank of the group. Compiled once a port: a test's loops are behind one call a round, outside of every sample.
pub struct Member<'a, P> {
    rank: &'a Rank<'a>,
    group: Group<P>,
    test: Box<dyn Iterations<P> + 'a>,
    /// Of this rank.
    own: Series,
    /// At the root, where every iteration begins with a meeting: the slowest rank of each iteration.
    slowest: Option<Series>,
    /// Rounds of all phases.
    rounds: u64,
    /// Iterations of this phase, and the time of its last round.
    done: u64,
    round_ticks: u64,
}

impl<'a, P: TaggedPort> Member<'a, P> {
    /// Takes part in `test` through `group`.
    pub fn new(rank: &'a Rank, meter: &Meter, group: Group<P>, test: Box<dyn Iterations<P> + 'a>) -> Self {
        let own = test.series(meter);
        let in_step = test.meeting() == Meeting::EachIteration;
        let slowest = group.is_root() && in_step && own.kind() == SampleKind::Iteration;
        Member {
            rank,
            group,
            test,
            own,
            slowest: slowest.then(|| meter.series(SampleKind::SlowestIteration)),
            rounds: 0,
            done: 0,
            round_ticks: 0,
        }
    }

    /// One round; whether it was the last of the phase. The root says what follows: `count` iterations, the `last` ones.
    fn round(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        let Rank { timebase, .. } = self.rank;
        let Member {
            group, test, slowest, ..
        } = self;
        let mut note = |longest_ns: u64| {
            if let Some(series) = slowest {
                series.record(timebase.to_ticks(longest_ns));
            }
        };
        test.prepare(group, self.rounds)?;
        let meets = test.meeting() != Meeting::Announced;
        let any = self.done > 0;
        let part = match meets {
            false => group.announce(&mut || (count, last)),
            true => group.agree(timebase.to_ns(self.round_ticks), &mut |longest_ns| {
                if any {
                    note(longest_ns);
                }
                (count, last)
            }),
        }?;
        let before = group.ticks;
        test.round(group, &mut self.own, timebase.clock, part)?;
        self.round_ticks = group.ticks - before;
        self.done += part.0;
        test.settle(group, self.rounds, part.0);
        self.rounds += 1;
        if part.1 && meets {
            note(group.gather(timebase.to_ns(self.round_ticks))?);
        }
        Ok(part.1)
    }
}

impl<P: TaggedPort> Body for Member<'_, P> {
    fn leads(&self) -> bool {
        self.group.is_root()
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        self.group.port.flush().map(drop)
    }

    fn begin(&mut self, _: Phase) -> Result<(), LinkError> {
        (self.done, self.round_ticks) = (0, 0);
        (self.group.tally, self.group.ticks) = (Tally::default(), 0);
        self.own.clear();
        self.slowest.iter_mut().for_each(Series::clear);
        self.test.begin(&mut self.group, self.rank.timebase.clock)
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        if !(self.leads() && self.test.meeting() == Meeting::EachIteration) {
            return self.round(count, last);
        }
        for left in (0..count).rev() {
            self.round(1, last && left == 0)?;
        }
        Ok(last)
    }

    fn close(&mut self, _: Phase) -> Result<(), LinkError> {
        self.group.drain()
    }

    /// Figures by others' definitions count the first iteration where there is no warm-up.
    fn starts_cold(&self) -> bool {
        self.test.meeting() != Meeting::Announced
    }

    /// A meeting in-band needs no settling.
    fn settling(&self) -> u64 {
        match self.test.meeting() {
            Meeting::Announced => SETTLE_ROUND_TRIPS,
            _ => 0,
        }
    }

    fn arm(&mut self, meter: &Meter, op_ticks: f64) {
        let batch = meter.whole(self.test.batch(self.rank, op_ticks));
        self.own = self.test.series(meter).in_batches(batch);
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn tally(&self) -> Tally {
        self.group.tally
    }

    fn series(&mut self) -> Option<&mut Series> {
        Some(&mut self.own)
    }

    /// Others' definitions add up their iterations; ours has what lies between rounds too.
    fn elapsed_ticks(&self) -> Option<u64> {
        (self.test.meeting() != Meeting::Announced).then_some(self.group.ticks)
    }

    fn first_ticks(&self, wall_ticks: u64) -> Option<u64> {
        match self.test.meeting() {
            Meeting::Announced => self.leads().then_some(wall_ticks),
            _ => Some(self.group.ticks),
        }
    }

    fn finish(self: Box<Self>) -> Left {
        let series = std::iter::once(self.own).chain(self.slowest).collect();
        Left::new(series, self.group.port.facts())
    }
}
