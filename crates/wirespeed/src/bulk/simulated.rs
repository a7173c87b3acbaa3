//! The schedule and the rule for stalls over a simulated link in virtual time: one bottleneck that all connections share,
//! each with a weight of its own. Many shapes, and in each the same law: a block is asked for once, unless the connection
//! that had it stalled.

use super::port::Block;
use super::schedule::{Schedule, Supply as _, Work};
use super::stall::Stalls;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(10);
/// Ticks that the whole takes over a link that is always full.
const TICKS: u64 = 400;
const STALL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
struct Shape {
    total_bytes: u64,
    block_bytes: u64,
    workers: usize,
    depth: usize,
}

impl Shape {
    fn blocks(&self) -> u64 {
        self.total_bytes.div_ceil(self.block_bytes)
    }
}

/// What is wrong with the first connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// It gets a hundredth of what each other one gets.
    Slow,
    /// Nothing comes over it any more from this tick on, until it is made anew.
    StallsAt(u64),
}

#[derive(Default)]
struct Connection {
    posted: VecDeque<(Block, u64)>,
    moved_bytes: u64,
    blocks: u64,
    was_cut: bool,
}

struct Link {
    shape: Shape,
    fault: Fault,
    ticks: u64,
    schedule: Schedule,
    connections: Vec<Connection>,
    /// How often each block was asked for.
    asked: Vec<u64>,
    /// How often each was given back by a connection that was cut.
    given_back: Vec<u64>,
}

impl Link {
    fn new(shape: Shape, fault: Fault) -> Self {
        let whole = (shape.total_bytes, shape.block_bytes);
        Link {
            shape,
            fault,
            ticks: 0,
            schedule: Schedule::new(whole, shape.workers, 9, &[]),
            connections: (0..shape.workers).map(|_| Connection::default()).collect(),
            asked: vec![0; shape.blocks() as usize],
            given_back: vec![0; shape.blocks() as usize],
        }
    }

    fn weight(&self, worker: usize) -> u64 {
        match (worker, self.fault) {
            (0, Fault::Slow) => 1,
            (0, Fault::StallsAt(tick)) if self.ticks >= tick && !self.connections[0].was_cut => 0,
            _ => 100,
        }
    }

    fn post(&mut self) {
        for (worker, connection) in self.connections.iter_mut().enumerate() {
            while connection.posted.len() < self.shape.depth {
                let idle = connection.posted.is_empty();
                let Work::Post(block) = self.schedule.take(worker, idle) else {
                    break;
                };
                self.asked[block.index as usize] += 1;
                connection.posted.push_back((block, block.size_bytes));
            }
        }
    }

    /// A tick's worth of bytes; what a connection leaves that has nothing outstanding any more, others get.
    fn tick(&mut self) {
        let mut budget = self.shape.total_bytes.div_ceil(TICKS).max(2000);
        loop {
            self.post();
            let carried = self.carry(budget);
            budget -= carried;
            if carried == 0 {
                return;
            }
        }
    }

    /// So many bytes at most, shared by weight among the connections that have something outstanding.
    fn carry(&mut self, budget: u64) -> u64 {
        let mut carried = 0;
        let weights: Vec<u64> = (0..self.shape.workers)
            .map(|worker| match self.connections[worker].posted.is_empty() {
                true => 0,
                false => self.weight(worker),
            })
            .collect();
        let sum = weights.iter().sum::<u64>().max(1);
        for (worker, weight) in weights.into_iter().enumerate() {
            let mut left = budget * weight / sum;
            let connection = &mut self.connections[worker];
            while let Some((block, missing)) = connection.posted.front_mut() {
                let came = left.min(*missing);
                (left, *missing) = (left - came, *missing - came);
                connection.moved_bytes += came;
                carried += came;
                if *missing > 0 {
                    break;
                }
                self.schedule.done(worker, *block);
                connection.blocks += 1;
                connection.posted.pop_front();
            }
        }
        carried
    }

    /// What the engine does when a worker has nothing to do.
    fn cut(&mut self, stalls: &mut Stalls, now: Instant) {
        let idle = self
            .connections
            .iter()
            .any(|connection| connection.posted.is_empty());
        let seen = |worker: usize| {
            (
                self.connections[worker].moved_bytes,
                self.schedule.held(worker) > 0,
            )
        };
        for worker in stalls.look(now, seen).into_iter().filter(|_| idle) {
            self.connections[worker].was_cut = true;
            let mut running = true;
            for (block, _) in std::mem::take(&mut self.connections[worker].posted) {
                assert!(self.schedule.failed(worker, block, running));
                running = false;
                self.given_back[block.index as usize] += 1;
            }
        }
    }

    /// Ticks until all is there.
    fn run(&mut self) -> u64 {
        let began = Instant::now();
        let mut stalls = Stalls::new(self.shape.workers, STALL, began);
        while !self.schedule.is_over() {
            self.tick();
            self.ticks += 1;
            self.cut(&mut stalls, began + TICK.mul_f64(self.ticks as f64));
            assert!(
                self.ticks < 100 * TICKS,
                "{:?} {:?} does not end",
                self.shape,
                self.fault
            );
        }
        self.ticks
    }
}

fn shapes() -> Vec<Shape> {
    let sizes = [1, 100_000, 8 << 20, 32 << 20, (33 << 20) + 1, 64 << 20, 1 << 30];
    let mut shapes = Vec::new();
    for total_bytes in sizes {
        for block_bytes in [64 << 10, 1 << 20, 3_000_001, 8 << 20] {
            for workers in [1, 2, 3, 4, 7, 16] {
                for depth in [1, 2, 4, 8] {
                    let shape = Shape {
                        total_bytes,
                        block_bytes,
                        workers,
                        depth,
                    };
                    shapes.extend((shape.blocks() <= 2048).then_some(shape));
                }
            }
        }
    }
    shapes
}

#[test]
fn nothing_is_asked_for_twice_however_slow_a_connection_is() {
    for shape in shapes() {
        for fault in [Fault::None, Fault::Slow] {
            let mut link = Link::new(shape, fault);
            let ticks = link.run();
            assert!(link.asked.iter().all(|&count| count == 1), "{shape:?} {fault:?}");
            // No block is left to one connection while others have nothing.
            let busy = link.connections.iter().filter(|c| c.blocks > 0).count() as u64;
            assert_eq!(
                busy,
                shape.blocks().min(shape.workers as u64),
                "{shape:?} {fault:?}"
            );
            // The link was full up to the last byte, but for what each tick rounds off.
            assert!(ticks <= TICKS + TICKS / 100, "{shape:?} {fault:?}: {ticks} ticks");
        }
    }
}

#[test]
fn what_a_stalled_connection_had_is_asked_for_once_more() {
    let mut cut = 0;
    for shape in shapes() {
        for tick in [0, 7, 300] {
            let mut link = Link::new(shape, Fault::StallsAt(tick));
            if shape.workers == 1 {
                // Nobody shows that the path works, so nothing is taken over; the link's own time limit ends it.
                continue;
            }
            // Where all others end too early to show it, the link's own time limit does the same.
            if shape.blocks() < 2 * shape.workers as u64 * shape.depth as u64 || tick == 300 {
                continue;
            }
            link.run();
            for (asked, given_back) in link.asked.iter().zip(&link.given_back) {
                assert_eq!(*asked, 1 + given_back, "{shape:?}");
            }
            let given_back: u64 = link.given_back.iter().sum();
            assert!(given_back <= shape.depth as u64, "{shape:?}: {given_back}");
            cut += u64::from(given_back > 0);
        }
    }
    assert!(cut > 100, "{cut} stalls were seen");
}
