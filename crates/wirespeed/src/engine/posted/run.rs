//! Picks the loop of a posted test once, opens the port with the sizes that it needs, runs the phases.

use super::super::phases::{drive, idle};
use super::super::rank::{Finished, Rank};
use super::bodies::{Contents, Defined, Patterned};
use super::cache::Caches;
use super::defined::{Definition, Pair};
use super::group::{Group, Tree};
use super::patterns;
use super::patterns::{AllStart, Iteration, Messages, PrePost, Single};
use super::peers::{lists_of, tree_of};
use super::phase::{Iterations, Member};
use super::places::Places;
use crate::engine::report::Report;
use crate::error::MeasureError;
use crate::transport::bootstrap::Bootstrap;
use crate::transport::port::TaggedPort;
use crate::transport::{Needs, Tagged, TaggedRunner};
use std::marker::PhantomData;
use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::neighbours::Neighbours;
use wirespeed_schema::outcome::{Outcome, SampleKind};
use wirespeed_schema::posted::{Buffers, CacheState, MsgRate, Pattern};
use wirespeed_schema::test::Test;

/// Most requests that one rank may have posted at once.
const REQUESTS_MAX: u64 = 1 << 23;

/// Run a posted test as one rank of the group.
pub fn posted<T: Tagged>(
    case: &Case,
    bootstrap: &dyn Bootstrap,
    report: Report,
) -> Result<Outcome, MeasureError> {
    let options = T::parse(&case.options).map_err(|e| MeasureError::Usage(e.to_string()))?;
    let rank = Rank::begin(case, bootstrap)?;
    let me = bootstrap.rank();
    let lists = lists_of(case, me);
    let window = case.test.window();
    let widest = lists.from_ranks.len().max(lists.to_ranks.len()) as u64;
    // Receives of the next iteration may be posted while this one's messages are under way.
    let requests = widest.saturating_mul(window).saturating_mul(2).saturating_add(4);
    if requests > REQUESTS_MAX {
        return Err(MeasureError::Usage(format!(
            "{}: {widest} peers with {window} messages each are more than {REQUESTS_MAX} requests",
            case.label()
        )));
    }
    let places = places_of(&case.test, widest);
    let needs = Needs {
        message_bytes: case.test.size_bytes() as usize,
        window_msgs: window,
        buffer_bytes: places.bytes(),
        requests_max: (requests + 2 * u64::from(u32::BITS)) as usize,
        unexpected_msgs: window as usize,
        ..Needs::default()
    };
    let caches = match &case.test {
        Test::Msgrate(test) => Caches::new(test.cache_state, test.cache_bytes)?,
        _ => Caches::new(CacheState::Hot, 0)?,
    };
    let run = Run {
        rank: &rank,
        lists,
        places,
        caches,
        requests: requests as usize,
        report,
    };
    let finished = T::open(&rank.connect(needs), &options, run)??;
    Ok(rank.finish(finished))
}

fn places_of(test: &Test, peers: u64) -> Places {
    let size = test.size_bytes() as usize;
    let window = test.window() as usize;
    match test {
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
        match &self.rank.case.test {
            Test::Msgrate(test) => Ok(match test.pattern {
                Pattern::Single => self.pattern::<P, Single>(port, test),
                Pattern::Pair => self.pattern::<P, patterns::Pair>(port, test),
                Pattern::PrePost => self.pattern::<P, PrePost>(port, test),
                Pattern::AllStart => self.pattern::<P, AllStart>(port, test),
            }),
            test => match Definition::of(test) {
                Some(definition) => Ok(self.defined(port, definition)),
                None => Err(MeasureError::Usage(format!(
                    "{} is not a test on posted messages",
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

    fn pattern<P: TaggedPort, I: Iteration>(mut self, port: P, test: &MsgRate) -> Finished {
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
        self.through(port, SampleKind::Iteration, Box::new(patterned))
    }

    fn defined<P: TaggedPort>(self, port: P, definition: Definition) -> Finished {
        let kind = match definition.ping_pong {
            true => SampleKind::RoundTrip,
            false => SampleKind::Iteration,
        };
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
        self.through(port, kind, Box::new(defined))
    }

    fn through<'b, P: TaggedPort>(
        self,
        port: P,
        kind: SampleKind,
        test: Box<dyn Iterations<P> + 'b>,
    ) -> Finished {
        let mut group = self.group(port);
        let Run { rank, report, .. } = self;
        let meter = rank.meter(report);
        if rank.spec.role == Role::Idle {
            let facts = group.port.facts();
            return idle(rank, meter, || group.port.flush().map(drop), facts);
        }
        let member = Member::new(rank, &meter, group, test, kind);
        drive(rank, meter, Box::new(member))
    }
}
