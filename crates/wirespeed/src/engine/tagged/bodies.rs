//! Posted tests as one rank takes part in them: memory and caches before a round, its iterations, counts and checks
//! after it. Nothing here runs inside a sample but the call of the loop.

use super::super::meter::{Meter, Tally};
use super::super::rank::Rank;
use super::super::series::Series;
use super::cache::Caches;
use super::defined::{Definition, Pair};
use super::group::Group;
use super::patterns::{Iteration, Messages};
use super::phase::{Iterations, Meeting};
use super::places::Places;
use crate::clock::Clock;
use crate::transport::port::{LinkError, TaggedPort};
use std::marker::PhantomData;
use wirespeed_schema::outcome::SampleKind;

/// A sample of a ping-pong whose definition reads the clock once covers at least so much, so that our reads hardly add.
const AROUND_SAMPLE_NS: f64 = 4000.0;
const AROUND_BATCH_MAX: u64 = 16;

/// What messages carry where contents are checked: bytes computed from round, sender and place.
pub struct Contents {
    check: bool,
    me: u32,
    from: Vec<u32>,
}

impl Contents {
    /// For a rank that receives from the ranks `from`, in the order of its places.
    pub fn of(rank: &Rank, from: &[u32]) -> Self {
        Contents {
            check: rank.case.check,
            me: rank.bootstrap.rank(),
            from: from.to_vec(),
        }
    }

    fn number(places: &Places, round: u64, sender: u32, index: usize) -> u64 {
        // Whoever shares a place must write the same.
        match places.is_shared() {
            true => round << 44,
            false => (round << 44) ^ (u64::from(sender) << 32) ^ index as u64,
        }
    }

    fn fill<P: TaggedPort>(&self, group: &Group<P>, places: &Places, round: u64) {
        if self.check {
            let me = self.me;
            places.fill(group.port.buffer(), |index| {
                Self::number(places, round, me, index)
            });
        }
    }

    /// Count what arrived with other contents than were sent; `each` messages came from every neighbour.
    fn verify<P: TaggedPort>(&self, group: &mut Group<P>, places: &Places, round: u64, each: usize) {
        if self.check && !self.from.is_empty() {
            let from = &self.from;
            let wrong = places.wrong(group.port.buffer(), |index| {
                Self::number(places, round, from[index / each.max(1)], index)
            });
            group.tally.faults.corrupt_messages += wrong;
        }
    }
}

fn count(tally: &mut Tally, size: usize, sent: u64, received: u64) {
    tally.sent.messages += sent;
    tally.sent.bytes += sent * size as u64;
    tally.received.messages += received;
    tally.received.bytes += received * size as u64;
}

/// `msgrate` in one of its patterns.
pub struct Patterned<I> {
    /// Contents, where they are checked.
    pub contents: Contents,
    /// The rank's messages.
    pub messages: Messages,
    /// State of the caches.
    pub caches: Caches,
    /// The pattern.
    pub pattern: PhantomData<I>,
}

impl<P: TaggedPort, I: Iteration> Iterations<P> for Patterned<I> {
    fn meeting(&self) -> Meeting {
        Meeting::EachIteration
    }

    fn series(&self, meter: &Meter) -> Series {
        meter.series(SampleKind::Iteration)
    }

    fn begin(&mut self, group: &mut Group<P>, clock: Clock) -> Result<(), LinkError> {
        group.ticks += I::begin(&mut self.messages, group, clock)?;
        Ok(())
    }

    fn prepare(&mut self, group: &mut Group<P>, round: u64) -> Result<(), LinkError> {
        self.caches
            .prepare(&mut self.messages.places, group.port.buffer());
        if !self.messages.to.is_empty() {
            self.contents.fill(group, &self.messages.places, round);
        }
        Ok(())
    }

    fn round(
        &mut self,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        (count, last): (u64, bool),
    ) -> Result<(), LinkError> {
        let mut total = 0;
        for left in (0..count).rev() {
            let ticks = I::hot_run(&mut self.messages, group, clock, last && left == 0)?;
            // What a rank without messages took is no part of anybody's iteration: the scheduler may have held it up.
            if !(self.messages.to.is_empty() && self.messages.from.is_empty()) {
                total += ticks;
                series.record(ticks);
            }
        }
        group.ticks += total;
        Ok(())
    }

    fn settle(&mut self, group: &mut Group<P>, round: u64, iterations: u64) {
        let messages = &self.messages;
        let (places, each) = (messages.places, messages.each as u64 * iterations);
        let (sent, received) = (messages.to.len() as u64 * each, messages.from.len() as u64 * each);
        self.contents.verify(group, &places, round, messages.each);
        count(&mut group.tally, places.size, sent, received);
    }

    fn batch(&self, _: &Rank, _: f64) -> u64 {
        1
    }
}

/// A test by a benchmark's own definition.
pub struct Defined {
    /// Contents, where they are checked.
    pub contents: Contents,
    /// This end of the pair.
    pub pair: Pair,
    /// Whether it is the end that sends first.
    pub source: bool,
    /// Which definition.
    pub definition: Definition,
}

impl<P: TaggedPort> Iterations<P> for Defined {
    fn meeting(&self) -> Meeting {
        match self.definition.in_step {
            true => Meeting::EachIteration,
            false => Meeting::EachRound,
        }
    }

    fn series(&self, meter: &Meter) -> Series {
        meter.series(match self.definition.ping_pong {
            true => SampleKind::RoundTrip,
            false => SampleKind::Iteration,
        })
    }

    fn prepare(&mut self, group: &mut Group<P>, round: u64) -> Result<(), LinkError> {
        self.contents.fill(group, &self.pair.places, round);
        Ok(())
    }

    fn round(
        &mut self,
        group: &mut Group<P>,
        series: &mut Series,
        clock: Clock,
        (count, _): (u64, bool),
    ) -> Result<(), LinkError> {
        let part = (count, self.source);
        group.ticks += self.definition.run(&self.pair, group, series, clock, part)?;
        Ok(())
    }

    fn settle(&mut self, group: &mut Group<P>, round: u64, iterations: u64) {
        let (places, each) = (self.pair.places, self.pair.window as u64 * iterations);
        let both = self.definition.both || self.definition.ping_pong;
        let (sends, receives) = (both || self.source, both || !self.source);
        if receives {
            self.contents.verify(group, &places, round, self.pair.window);
        }
        count(
            &mut group.tally,
            places.size,
            if sends { each } else { 0 },
            if receives { each } else { 0 },
        );
    }

    fn batch(&self, rank: &Rank, op_ticks: f64) -> u64 {
        if !(self.definition.ping_pong && self.definition.around) {
            return 1;
        }
        let op_ns = (op_ticks * rank.timebase.ns_per_tick()).max(1.0);
        ((AROUND_SAMPLE_NS / op_ns) as u64)
            .clamp(1, AROUND_BATCH_MAX)
            .next_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timebase;
    use crate::engine::example::{case, pingpong};
    use crate::engine::tagged::group::Tree;
    use crate::sync::SharedBytes;
    use crate::transport::cancel::Cancel;
    use crate::transport::port::Request;
    use crate::transport::waiter::Waiter;
    use wirespeed_schema::case::IdlePolicy;
    use wirespeed_schema::posted::CacheState;

    /// A port through which nothing goes.
    struct Nothing(SharedBytes);

    const NONE: LinkError = LinkError::Unsupported("messages");

    impl TaggedPort for Nothing {
        fn buffer(&self) -> &SharedBytes {
            &self.0
        }

        fn post_recv(&mut self, _: usize, _: u64, _: usize, _: usize) -> Result<Request, LinkError> {
            Err(NONE)
        }

        fn post_send(&mut self, _: usize, _: u64, _: usize, _: usize) -> Result<Request, LinkError> {
            Err(NONE)
        }

        fn done(&mut self, _: Request) -> Result<bool, LinkError> {
            Err(NONE)
        }

        fn wait_all(&mut self, _: &mut Vec<Request>) -> Result<(), LinkError> {
            Err(NONE)
        }

        fn flush(&mut self) -> Result<bool, LinkError> {
            Ok(true)
        }
    }

    /// An iteration that the scheduler held up.
    struct HeldUp;

    impl Iteration for HeldUp {
        fn hot_run<P: TaggedPort>(
            _: &mut Messages,
            _: &mut Group<P>,
            _: Clock,
            _: bool,
        ) -> Result<u64, LinkError> {
            Ok(57_000)
        }
    }

    /// Ticks of three iterations, and their samples, of a rank that sends to the slots `to`.
    fn three_iterations(to: Vec<usize>) -> (u64, usize) {
        let mut case = case(pingpong(), 3);
        case.raw_samples_max = 8;
        let (timebase, cancel) = (Timebase::start(), Cancel::new());
        let mut report = |_: &wirespeed_schema::outcome::Interval| ();
        let meter = Meter::new(&case, None, &timebase, &cancel, &mut report);
        let mut series = meter.series(SampleKind::Iteration);
        let waiter = Waiter::new(IdlePolicy::Yield, cancel.clone());
        let port = Nothing(SharedBytes::heap(4096).unwrap());
        let mut group = Group::new(port, waiter, Tree::default(), 4);
        let mut body = Patterned::<HeldUp> {
            contents: Contents {
                check: false,
                me: 0,
                from: Vec::new(),
            },
            messages: Messages {
                from: Vec::new(),
                to,
                each: 1,
                places: Places::shared(8, 1),
            },
            caches: Caches::new(CacheState::Hot, 0).unwrap(),
            pattern: PhantomData,
        };
        body.round(&mut group, &mut series, timebase.clock, (3, false))
            .unwrap();
        let samples = meter.finish(vec![series]).samples;
        (group.ticks, samples.iter().map(|s| s.raw_ns.len()).sum())
    }

    #[test]
    fn a_rank_without_messages_has_no_time_to_tell() {
        assert_eq!(three_iterations(vec![0]), (3 * 57_000, 3));
        assert_eq!(three_iterations(Vec::new()), (0, 0));
    }
}
