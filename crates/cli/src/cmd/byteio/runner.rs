//! Transfers as runs of an experiment's cells: the case says the shape, the words say the rest. It must never repeat, order
//! or publish anything itself.

use super::job;
use crate::errors::Failure;
use crate::experiment::loads::refused;
use crate::experiment::{Measured, Runner, Visit};
use crate::group::OnInterval;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wirespeed::host::pin_thread;
use wirespeed::load::{Background, Measuring};
use wirespeed_byteio::client::{Direction, Moved, Pace, TransferOptions, offer, transfer};
use wirespeed_control::StopFlag;
use wirespeed_report::byteio::{case_of, complete, remark, repetition_of};
use wirespeed_schema::byteio::Pair;
use wirespeed_schema::case::Load;
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::outcome::{Count, Interval};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::Remark;
use wirespeed_schema::{Case, Finite};

/// Between two looks at what has been moved, where somebody wants to see it.
const LOOK: Duration = Duration::from_millis(100);

/// A cell: what is transferred, and what came of it.
struct Cell {
    options: TransferOptions,
    pair: Pair,
}

/// Transfers between here and a service.
pub struct Transfers {
    /// By arm and direction: everything that a case does not say.
    pub arms: Vec<Vec<TransferOptions>>,
    /// Speed of the slowest link on the way, by arm.
    pub nominal: Vec<Option<Finite>>,
    /// This machine.
    pub host: HostFingerprint,
    /// How long a rate is offered.
    pub offered: Duration,
    /// Draws a bar of bytes.
    pub bar: bool,
    /// A server knew no ranges.
    pub one_stream: bool,
    cells: BTreeMap<usize, Cell>,
}

impl Transfers {
    /// Nothing transferred yet.
    pub fn new(arms: Vec<Vec<TransferOptions>>, nominal: Vec<Option<Finite>>, host: HostFingerprint) -> Self {
        Transfers {
            arms,
            nominal,
            host,
            offered: Duration::ZERO,
            bar: true,
            one_stream: false,
            cells: BTreeMap::new(),
        }
    }

    /// The pairs of what ran, in the order of the cells; those of offered requests by rising rate.
    pub fn into_pairs(self) -> Vec<Pair> {
        let pairs = self.cells.into_values().map(|cell| cell.pair);
        let mut pairs: Vec<Pair> = pairs.filter(|pair| !pair.runs.is_empty()).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.pace_interval_ns));
        pairs.iter_mut().for_each(complete);
        pairs
    }

    /// The cell of a visit as it is before its first run.
    fn begun(&self, visit: Visit, case: &Case) -> Cell {
        let arm = &self.arms[visit.arm];
        let is_put = matches!(case.test, wirespeed_schema::Test::BulkPut(_));
        let same_way = |options: &&TransferOptions| (options.client.direction == Direction::Put) == is_put;
        let mut options = arm.iter().find(same_way).unwrap_or(&arm[0]).clone();
        let mut pace_interval_ns = None;
        if let Some(shape) = case.test.bulk() {
            options.threads = shape.connections as usize;
            options.depth = shape.outstanding_ops as usize;
            options.block_bytes = shape.size_bytes;
            options.client.congestion = case.options.get("congestion").cloned();
            pace_interval_ns = shape.pace_interval_ns;
        }
        let load = &case.ranks[0].load;
        let name = match visit.load {
            Some(load) => format!("under {load}"),
            None => job::name_of(&options).to_owned(),
        };
        let pair = Pair {
            nominal_bytes_per_s: self.nominal[visit.arm],
            near: Some(Box::new(self.host.clone())),
            load: load.clone(),
            pace_interval_ns,
            ..job::pair(&name, &options)
        };
        Cell { options, pair }
    }
}

/// One run of a transfer, or of requests offered at a rate, with what is moved told on the way.
fn moved(
    cell: &Cell,
    duration: Duration,
    (stop, bar): (&StopFlag, bool),
    on_interval: OnInterval,
) -> Result<Moved, Failure> {
    if let Some(interval_ns) = cell.pair.pace_interval_ns {
        let pace = Pace {
            interval_ns,
            duration,
        };
        return Ok(offer(&cell.options, pace, stop)?);
    }
    let bar = job::bar(&cell.options, cell.pair.total_bytes, bar);
    let bytes = AtomicU64::new(0);
    let count = |more: u64| {
        bytes.fetch_add(more, Ordering::Relaxed);
        bar.inc(more);
    };
    let moved = std::thread::scope(|scope| {
        let running = scope.spawn(|| transfer(&cell.options, stop, &count));
        let mut told = Told::new(&cell.options);
        while !running.is_finished() {
            std::thread::park_timeout(LOOK);
            told.look(bytes.load(Ordering::Relaxed), on_interval);
        }
        running.join()
    });
    bar.finish_and_clear();
    let lost = || Failure::failed("the transfer's thread was lost", "please report it");
    Ok(moved.map_err(|_| lost())??)
}

/// What was moved, told in slices.
struct Told {
    began: Instant,
    until: Duration,
    bytes: u64,
    is_put: bool,
    block_bytes: u64,
}

impl Told {
    /// A slice is this long.
    const EVERY: Duration = Duration::from_millis(500);

    fn new(options: &TransferOptions) -> Self {
        Told {
            began: Instant::now(),
            until: Duration::ZERO,
            bytes: 0,
            is_put: options.client.direction == Direction::Put,
            block_bytes: options.block_bytes.max(1),
        }
    }

    fn look(&mut self, bytes: u64, on_interval: OnInterval) {
        let now = self.began.elapsed();
        let slice = now - self.until;
        if slice < Told::EVERY {
            return;
        }
        let count = Count {
            messages: bytes / self.block_bytes - self.bytes / self.block_bytes,
            bytes: bytes - self.bytes,
        };
        let (sent, received) = match self.is_put {
            true => (count, Count::default()),
            false => (Count::default(), count),
        };
        let interval = Interval {
            start_ns: self.until.as_nanos() as u64,
            duration_ns: slice.as_nanos() as u64,
            sent,
            received,
            p50_ns: None,
            p99_ns: None,
            max_ns: None,
        };
        on_interval(0, &interval);
        (self.until, self.bytes) = (now, bytes);
    }
}

/// The load of a rank, while it lives.
pub fn started(load: &Load, word: Option<&str>) -> Result<Option<Background>, Failure> {
    if load.is_idle() {
        return Ok(None);
    }
    let load = Background::start(load, &Measuring::alone(None));
    load.map(Some)
        .map_err(|error| refused(word.unwrap_or_default(), &error))
}

impl Runner for Transfers {
    fn measure(
        &mut self,
        visit: Visit,
        planned: &PlannedCase,
        stop: &StopFlag,
        on_interval: OnInterval,
    ) -> Measured {
        let case = &planned.case;
        if !self.cells.contains_key(&visit.cell) {
            let cell = self.begun(visit, case);
            self.cells.insert(visit.cell, cell);
        }
        let (bar, duration) = (self.bar, self.offered);
        let Some(cell) = self.cells.get_mut(&visit.cell) else {
            return Measured::default();
        };
        let pinned = case.ranks[0].cpu.map(pin_thread).transpose();
        let pinned =
            pinned.map_err(|error| Failure::failed(error.to_string(), "name another CPU with --cpus"));
        let run = pinned.and_then(|_pinned| {
            let load = started(&case.ranks[0].load, visit.load)?;
            let moved = moved(cell, duration, (stop, bar), on_interval);
            Ok((moved?, load.map(Background::stop)))
        });
        let (mut moved, load_done) = match run {
            Ok(run) => run,
            // What could not begin because the user wants to stop is no failure.
            Err(_) if stop.is_requested() => return Measured::default(),
            Err(failure) => {
                let is_first = cell.pair.runs.is_empty();
                if !is_first {
                    cell.pair.error = Some(failure.cause.clone());
                }
                return Measured {
                    failure: Some(failure),
                    // What could not begin at all is no result of anything.
                    is_last: is_first,
                    ..Measured::default()
                };
            }
        };
        self.one_stream |= moved.one_stream;
        moved.transfer.load_done = load_done.unwrap_or_default();
        job::record(&mut cell.pair, moved);
        let pair = &cell.pair;
        let mut turned_out = case_of(pair);
        turned_out.ranks.clone_from(&case.ranks);
        let run = pair.runs.last();
        Measured {
            repetition: run.map(|run| repetition_of(pair, run, visit.round)),
            case: Some(turned_out),
            ..Measured::default()
        }
    }

    fn remarks(&self, cell: usize) -> Vec<Remark> {
        let pair = self.cells.get(&cell).map(|cell| &cell.pair);
        pair.and_then(remark).into_iter().collect()
    }
}
