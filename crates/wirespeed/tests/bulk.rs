//! The bulk engine over ports that fail in every way: nothing may be lost, doubled, falsified, or hang.

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wirespeed::bulk::{
    Block, BulkError, BulkOutcome, BulkPlan, BulkPort, Connector, Course, Destination, Hooks, Line, NoDigest,
    Receiver, Wire, run,
};
use wirespeed::clock::Timebase;
use wirespeed::schema::outcome::Interval;

const TOTAL_BYTES: u64 = 1_000_003;
const BLOCK_BYTES: u64 = 10_000;

/// What the byte at an offset is.
fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(2_654_435_761) >> 13) as u8
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Every seventh answer stops in its middle.
    Short,
    /// Every seventh answer has bytes too many.
    Long,
    /// Worker 0 never connects.
    NoConnection,
    /// Everybody's first connection fails.
    FirstFails,
    /// One block never comes.
    Cursed,
    /// The far end refuses.
    Refused,
}

struct Far {
    fault: Fault,
    answers: AtomicU64,
    connections: Mutex<HashMap<usize, u32>>,
}

struct Near<'a> {
    far: &'a Far,
    posted: VecDeque<Block>,
}

impl BulkPort for Near<'_> {
    fn post(&mut self, block: Block) -> Result<(), BulkError> {
        self.posted.push_back(block);
        Ok(())
    }

    fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
        assert_eq!(self.posted.pop_front(), Some(block), "completed in order");
        let answer = self.far.answers.fetch_add(1, Ordering::Relaxed);
        let unlucky = answer % 7 == 3;
        let mut size = block.size_bytes;
        match self.far.fault {
            Fault::Short if unlucky => size /= 2,
            Fault::Long if unlucky => size += 5,
            Fault::Cursed if block.index == 50 => return Err(BulkError::passing("cursed")),
            Fault::Refused => return Err(BulkError::lasting("refused")),
            _ => {}
        }
        let bytes: Vec<u8> = (block.offset_bytes..block.offset_bytes + size)
            .map(byte)
            .collect();
        receiver.copy(&bytes)
    }
}

impl<'f> Connector for &'f Far {
    type Port = Near<'f>;

    fn connect(&self, worker: usize, _: &Arc<Wire>) -> Result<Near<'f>, BulkError> {
        let mut connections = self.connections.lock().unwrap();
        let count = connections.entry(worker).or_default();
        *count += 1;
        match self.fault {
            Fault::NoConnection if worker == 0 => Err(BulkError::passing("no way there")),
            Fault::FirstFails if *count == 1 => Err(BulkError::passing("not yet")),
            _ => Ok(Near {
                far: self,
                posted: VecDeque::new(),
            }),
        }
    }
}

#[derive(Default)]
struct Seen(Mutex<Vec<u64>>);

impl Hooks for Seen {
    fn done(&self, block: Block, _: &[u8]) -> Result<(), BulkError> {
        self.0.lock().unwrap().push(block.index);
        Ok(())
    }

    fn stop(&self) -> bool {
        false
    }
}

/// With a clock of its own, telling nobody.
fn timed<R>(transfer: impl FnOnce(&mut Course) -> R) -> R {
    let timebase = Timebase::start();
    transfer(&mut Course::new(&timebase, &mut |_: &Interval| ()))
}

fn transfer(fault: Fault, already: &[u64]) -> (wirespeed::bulk::BulkOutcome, Vec<u64>, Vec<u8>) {
    let far = Far {
        fault,
        answers: AtomicU64::new(0),
        connections: Mutex::default(),
    };
    let file = tempfile::tempfile().unwrap();
    file.set_len(TOTAL_BYTES).unwrap();
    let kept = file.try_clone().unwrap();
    let seen = Seen::default();
    let plan = BulkPlan {
        total_bytes: TOTAL_BYTES,
        block_bytes: BLOCK_BYTES,
        threads: 3,
        depth: 4,
        attempts_max: 4,
        writes: false,
        stall: Duration::from_secs(60),
    };
    let outcome = timed(|course| {
        run::<NoDigest, _, _>(course, plan, (&&far, &Destination::File(file)), &seen, already)
    });
    let mut bytes = vec![0; TOTAL_BYTES as usize];
    kept.read_exact_at(&mut bytes, 0).unwrap();
    let mut indices = seen.0.into_inner().unwrap();
    indices.sort_unstable();
    (outcome, indices, bytes)
}

#[test]
fn passing_faults_are_cured_and_counted() {
    for fault in [
        Fault::None,
        Fault::Short,
        Fault::Long,
        Fault::NoConnection,
        Fault::FirstFails,
    ] {
        let (outcome, indices, bytes) = transfer(fault, &[]);
        assert!(outcome.is_whole(), "{outcome:?}");
        assert_eq!(outcome.bytes, TOTAL_BYTES);
        assert_eq!(indices, (0..101).collect::<Vec<_>>(), "each block once");
        assert!(bytes.iter().enumerate().all(|(at, b)| *b == byte(at as u64)));
        let retries: u64 = outcome.workers.iter().map(|w| w.retries).sum();
        assert_eq!(retries > 0, fault != Fault::None, "{outcome:?}");
    }
}

fn why(outcome: &BulkOutcome) -> Option<&str> {
    Some(outcome.error.as_ref()?.why.as_str())
}

#[test]
fn lasting_faults_end_the_transfer_with_their_reason() {
    let (outcome, indices, _) = transfer(Fault::Cursed, &[]);
    assert!(!outcome.is_whole());
    assert_eq!(why(&outcome), Some("block 50 failed 4 times: cursed"));
    assert!(!indices.contains(&50));
    let (outcome, indices, _) = transfer(Fault::Refused, &[]);
    assert_eq!((why(&outcome), outcome.bytes), (Some("refused"), 0));
    assert_eq!(indices, [0u64; 0]);
}

#[test]
fn what_is_already_there_is_not_fetched_again() {
    let (outcome, indices, bytes) = transfer(Fault::None, &[0, 7, 100, 7, 5000]);
    assert!(outcome.is_whole());
    assert_eq!(indices.len(), 98);
    assert_eq!(outcome.bytes, TOTAL_BYTES - 2 * BLOCK_BYTES - 3);
    assert_eq!(bytes[..10], [0; 10]);
}

/// A far end whose blocks come in pieces, a moment apart, and whose first connection of worker 0 falls silent in its second
/// block. Every request is counted.
struct Stalling {
    /// Of the first half of a block.
    pieces: u64,
    asked: Mutex<HashMap<u64, u32>>,
    stalls: bool,
    connections: AtomicU64,
}

struct StallingPort<'a> {
    far: &'a Stalling,
    wire: Arc<Wire>,
    ended: Arc<AtomicBool>,
    answers_left: u64,
}

struct Cut(Arc<AtomicBool>);

impl Line for Cut {
    fn moved_bytes(&self) -> u64 {
        0
    }

    fn cut(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl BulkPort for StallingPort<'_> {
    fn post(&mut self, block: Block) -> Result<(), BulkError> {
        *self.far.asked.lock().unwrap().entry(block.index).or_default() += 1;
        Ok(())
    }

    fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
        let half = vec![7; block.size_bytes as usize / 2];
        for _ in 0..self.far.pieces {
            std::thread::sleep(Duration::from_millis(30));
            self.wire.add_read(half.len() as u64 / self.far.pieces);
        }
        receiver.copy(&half)?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let Some(left) = self.answers_left.checked_sub(1) else {
            while !self.ended.load(Ordering::Relaxed) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            return Err(BulkError::passing("it was closed"));
        };
        self.answers_left = left;
        let rest = vec![7; block.size_bytes as usize - half.len()];
        self.wire.add_read(rest.len() as u64);
        receiver.copy(&rest)
    }
}

impl<'f> Connector for &'f Stalling {
    type Port = StallingPort<'f>;

    fn connect(&self, worker: usize, wire: &Arc<Wire>) -> Result<StallingPort<'f>, BulkError> {
        let ended = Arc::new(AtomicBool::new(false));
        wire.attach(Box::new(Cut(ended.clone())));
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        Ok(StallingPort {
            far: self,
            wire: wire.clone(),
            ended,
            answers_left: match self.stalls && worker == 0 && number < 3 {
                true => 1,
                false => u64::MAX,
            },
        })
    }
}

/// 60 blocks of 1000 bytes by three workers.
fn stalling(stalls: bool, depth: usize) -> (wirespeed::bulk::BulkOutcome, HashMap<u64, u32>) {
    fetched((stalls, 1), (60, 3), depth)
}

/// Blocks of 1000 bytes, each in so many pieces, by so many workers.
fn fetched(
    (stalls, pieces): (bool, u64),
    (blocks, threads): (u64, usize),
    depth: usize,
) -> (wirespeed::bulk::BulkOutcome, HashMap<u64, u32>) {
    let far = Stalling {
        pieces,
        asked: Mutex::default(),
        stalls,
        connections: AtomicU64::new(0),
    };
    let plan = BulkPlan {
        total_bytes: blocks * 1000,
        block_bytes: 1000,
        threads,
        depth,
        attempts_max: 4,
        writes: false,
        // Shorter than the others need for the rest; where none stalls, longer than a busy machine keeps one of them waiting.
        stall: Duration::from_millis(if stalls { 300 } else { 2000 }),
    };
    let outcome = timed(|course| {
        run::<NoDigest, _, _>(
            course,
            plan,
            (&&far, &Destination::Discard),
            &Seen::default(),
            &[],
        )
    });
    (outcome, far.asked.into_inner().unwrap())
}

#[test]
fn a_connection_that_stalls_is_cut_and_its_blocks_are_taken_over() {
    for depth in [1, 2, 4] {
        let (outcome, asked) = stalling(true, depth);
        assert!(outcome.is_whole(), "{outcome:?}");
        assert_eq!(outcome.bytes, 60_000);
        let twice = asked.values().filter(|&&count| count > 1).count();
        assert_eq!((twice, outcome.taken_over), (depth, depth as u64), "{outcome:?}");
        let worker = &outcome.workers[0];
        assert_eq!((worker.retries, worker.repeated_bytes), (1, 500), "{outcome:?}");
        assert!(
            worker.failure.as_ref().unwrap().contains("stalled"),
            "{outcome:?}"
        );
        let read: u64 = outcome.workers.iter().map(|w| w.read_bytes).sum();
        assert_eq!(read, 60_500);
    }
}

/// Nobody is idle before the only other connection is done, and nothing moves from then on.
#[test]
fn a_stall_is_seen_while_others_are_busy_with_blocks_that_take_longer() {
    let (outcome, asked) = fetched((true, 20), (6, 2), 1);
    assert!(outcome.is_whole() && outcome.taken_over == 1, "{outcome:?}");
    assert_eq!(asked.values().sum::<u32>(), 7, "{asked:?}");
}

#[test]
fn while_all_connections_move_no_block_is_asked_for_twice() {
    for depth in [1, 2, 4] {
        let (outcome, asked) = stalling(false, depth);
        assert!(outcome.is_whole() && outcome.taken_over == 0, "{outcome:?}");
        assert!(
            asked.len() == 60 && asked.values().all(|&count| count == 1),
            "{asked:?}"
        );
    }
}

/// A far end that takes requests slowly and answers at once, as one that is written to does.
struct SlowTaker;

struct Taken(VecDeque<Block>);

impl BulkPort for Taken {
    fn post(&mut self, block: Block) -> Result<(), BulkError> {
        std::thread::sleep(Duration::from_millis(5));
        self.0.push_back(block);
        Ok(())
    }

    fn complete<R: Receiver>(&mut self, block: Block, _: &mut R) -> Result<(), BulkError> {
        assert_eq!(self.0.pop_front(), Some(block), "completed in order");
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

impl Connector for SlowTaker {
    type Port = Taken;

    fn connect(&self, _: usize, _: &Arc<Wire>) -> Result<Taken, BulkError> {
        Ok(Taken(VecDeque::new()))
    }
}

#[test]
fn no_moment_is_counted_under_two_parts_of_the_time() {
    for depth in [1, 2, 4] {
        let plan = BulkPlan {
            total_bytes: 12 * BLOCK_BYTES,
            block_bytes: BLOCK_BYTES,
            threads: 1,
            depth,
            attempts_max: 1,
            writes: true,
            stall: Duration::from_secs(60),
        };
        let (seen, nowhere) = (Seen::default(), Destination::Discard);
        let began = Instant::now();
        let outcome = timed(|course| run::<NoDigest, _, _>(course, plan, (&SlowTaker, &nowhere), &seen, &[]));
        let whole = began.elapsed();
        assert!(outcome.is_whole(), "{outcome:?}");
        for worker in &outcome.workers {
            let parts = [
                worker.request,
                worker.first_byte,
                worker.stream,
                worker.store,
                worker.verify,
                worker.idle,
            ];
            let spent: Duration = parts.iter().sum();
            assert!(
                spent <= whole,
                "depth {depth}: {spent:?} of {whole:?}: {worker:?}"
            );
        }
    }
}
