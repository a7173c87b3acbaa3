//! Picks the loops of a test once, opens the port with the sizes that it needs, runs the phases.

use super::super::payload::{Asked, Check, Never};
use super::super::phases::{drive, idle};
use super::super::rank::{Finished, Rank};
use super::bodies::{Contents, Defined, Patterned};
use super::cache::Caches;
use super::defined::{Definition, Pair};
use super::group::{Group, Tree};
use super::matched::Matched;
use super::patterns;
use super::patterns::{AllStart, Iteration, Messages, PrePost, Single};
use super::peers::{lists_of, tree_of};
use super::phase::{Iterations, Member};
use super::places::Places;
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::TaggedPort;
use crate::transport::{Needs, Tagged, TaggedRunner, options_at};
use std::marker::PhantomData;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::neighbours::Neighbours;
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::posted::{Buffers, CacheState, MsgRate, Pattern};
use wirespeed_schema::test::Test;

/// Most messages of a window of a test on matched messages: each is a request that the port keeps.
const WINDOW_MAX: u64 = 1 << 20;
/// Requests beside those of such a window.
const EXTRA_REQUESTS: u64 = 4;
/// Most requests that one rank of a posted test may have posted at once.
const REQUESTS_MAX: u64 = 1 << 23;

/// Run a test on tagged messages as one rank of the group.
pub fn tagged<T: Tagged>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = options_at::<T>(case, bootstrap.rank())?;
    let lists = lists_of(case, bootstrap.rank());
    let widest = lists.from_ranks.len().max(lists.to_ranks.len()) as u64;
    let requests = requests_of(case, widest)?;
    let places = places_of(case, widest);
    let rank = Rank::begin(case, bootstrap)?;
    if !case.test.is_posted() && rank.is_own_peer() {
        return Err(MeasureError::Usage(format!(
            "{} needs two ranks: a rank cannot wait for its own answer",
            case.test.name()
        )));
    }
    let caches = match case.test.msgrate() {
        Some(test) => Caches::new(test.cache_state, test.cache_bytes)?,
        None => Caches::default(),
    };
    let window = case.test.window();
    // Those of meetings come beside a posted test's own, and only there is it known how far ahead a peer may be.
    let (meetings, unexpected) = match case.test.is_posted() {
        true => (2 * u64::from(u32::BITS), window),
        false => (0, 0),
    };
    let needs = Needs {
        message_bytes: case.test.size_bytes() as usize,
        window_msgs: window,
        buffer_bytes: places.bytes(),
        requests_max: (requests + meetings) as usize,
        unexpected_msgs: unexpected as usize,
        ..Needs::default()
    };
    let run = Run {
        rank: &rank,
        lists,
        places,
        caches,
        requests: requests as usize,
        report,
    };
    let finished = <T as Tagged>::open(&rank.connect(needs), &options, run)??;
    Ok(rank.finish(finished))
}

/// Requests that a rank with so many peers may have posted at once.
fn requests_of(case: &Case, peers: u64) -> Result<u64, MeasureError> {
    let window = case.test.window();
    if !case.test.is_posted() {
        return match window <= WINDOW_MAX {
            true => Ok(window + EXTRA_REQUESTS),
            false => Err(MeasureError::Usage(format!(
                "{} takes windows of at most {WINDOW_MAX} messages",
                case.test.name()
            ))),
        };
    }
    // Receives of the next iteration may be posted while this one's messages are under way.
    let requests = peers.saturating_mul(window).saturating_mul(2).saturating_add(4);
    match requests <= REQUESTS_MAX {
        true => Ok(requests),
        false => Err(MeasureError::Usage(format!(
            "{}: {peers} peers with {window} messages each are more than {REQUESTS_MAX} requests",
            case.label()
        ))),
    }
}

fn places_of(case: &Case, peers: u64) -> Places {
    let size = case.test.size_bytes() as usize;
    let window = case.test.window() as usize;
    match &case.test {
        Test::TagLat(_) => Places::lines(size, 1, true, false),
        // Where payloads are checked, each message of a window has a place of its own.
        Test::TagBw(_) => Places::lines(size, window, !case.check, true),
        Test::Msgrate(p) if p.cache_state == CacheState::Hot => Places::shared(size, window * peers as usize),
        Test::Msgrate(p) => Places::own(size, window * peers as usize, p.rotations(peers) as usize),
        other if other.defined().is_some_and(|p| p.buffers == Buffers::Multiple) => {
            Places::own(size, window, 1)
        }
        _ => Places::shared(size, window),
    }
}

struct Run<'a, 'r> {
    rank: &'a Rank<'a>,
    lists: Neighbours,
    places: Places,
    caches: Caches,
    requests: usize,
    report: Report<'r>,
}

impl TaggedRunner for Run<'_, '_> {
    type Output = Result<Finished, MeasureError>;

    fn run<P: TaggedPort>(self, port: P) -> Self::Output {
        self.rank.connected();
        let check = self.rank.case.check;
        match &self.rank.case.test {
            // A slow port's loops decide about the check as they run, others are compiled with and without.
            Test::TagLat(_) | Test::TagBw(_) => match P::SLOW || check {
                true => self.matched(port, Asked(check)),
                false => self.matched(port, Never),
            },
            Test::Msgrate(test) => match test.pattern {
                Pattern::Single => self.pattern::<P, Single>(port, test),
                Pattern::Pair => self.pattern::<P, patterns::Pair>(port, test),
                Pattern::PrePost => self.pattern::<P, PrePost>(port, test),
                Pattern::AllStart => self.pattern::<P, AllStart>(port, test),
            },
            test => match Definition::of(test) {
                Some(definition) => self.defined(port, definition),
                None => Err(MeasureError::Usage(format!(
                    "{} is not a test on tagged messages",
                    test.name()
                ))),
            },
        }
    }
}

impl<'a> Run<'a, '_> {
    /// Slot of a rank in the port.
    fn slot(&self, rank: u32) -> usize {
        let found = self.rank.peers.iter().position(|peer| *peer == rank);
        // The list of peers was made from the same neighbours and the same tree.
        found.unwrap_or_default()
    }

    fn slots(&self, ranks: &[u32]) -> Vec<usize> {
        ranks.iter().map(|&rank| self.slot(rank)).collect()
    }

    fn group<P: TaggedPort>(&self, port: P) -> Group<P> {
        self.places.touch_all(port.buffer());
        let (parent, children) = tree_of(self.rank.case, self.rank.bootstrap.rank());
        let tree = Tree {
            parent: parent.map(|rank| self.slot(rank)),
            children: self.slots(&children),
        };
        Group::new(port, self.rank.waiter(), tree, self.requests)
    }

    fn pattern<P: TaggedPort, I: Iteration>(
        mut self,
        port: P,
        test: &MsgRate,
    ) -> Result<Finished, MeasureError> {
        let messages = Messages {
            from: self.slots(&self.lists.from_ranks),
            to: self.slots(&self.lists.to_ranks),
            each: test.window_msgs as usize,
            places: self.places,
        };
        let patterned = Patterned::<I> {
            contents: Contents::of(self.rank, &self.lists.from_ranks),
            messages,
            caches: std::mem::take(&mut self.caches),
            pattern: PhantomData,
        };
        Ok(self.through(port, Box::new(patterned)))
    }

    fn defined<P: TaggedPort>(self, port: P, definition: Definition) -> Result<Finished, MeasureError> {
        let pair = Pair {
            peer: self
                .slots(&self.lists.to_ranks)
                .first()
                .copied()
                .unwrap_or_default(),
            window: self.rank.case.test.window() as usize,
            places: self.places,
        };
        let defined = Defined {
            contents: Contents::of(self.rank, &self.lists.from_ranks),
            pair,
            source: self.rank.spec.role == Role::Source,
            definition,
        };
        Ok(self.through(port, Box::new(defined)))
    }

    fn matched<P: TaggedPort, C: Check>(self, port: P, checks: C) -> Result<Finished, MeasureError> {
        let test = &self.rank.case.test;
        let window = (!test.is_round_trip()).then(|| test.window());
        let source = match self.rank.spec.role {
            Role::Source => true,
            Role::Sink | Role::Idle => false,
            _ => return Err(self.rank.has_no_part()),
        };
        let matched = Matched::new(source, window, self.places, checks);
        Ok(self.through(port, Box::new(matched)))
    }

    fn through<'b, P: TaggedPort>(self, port: P, test: Box<dyn Iterations<P> + 'b>) -> Finished {
        let group = self.group(port);
        let Run { rank, report, .. } = self;
        let meter = rank.meter(report);
        if rank.spec.role == Role::Idle {
            let facts = group.port.facts();
            return idle(rank, meter, facts);
        }
        let member = Member::new(rank, &meter, group, test);
        drive(rank, meter, Box::new(member))
    }
}
