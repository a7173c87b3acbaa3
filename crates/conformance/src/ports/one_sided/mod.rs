//! The contract of a one-sided port.

mod end;

use self::end::End;
use super::cold;
use crate::group::{Me, case_of, ensure, link, run};
use crate::payload;
use crate::report::Report;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wirespeed::ThreadBootstrap;
use wirespeed::schema::case::TransportOptions;
use wirespeed::schema::test::Layout;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::{AtomicOp, LinkError, OneSidedPort, Width, WordOp};
use wirespeed::transport::{
    Atomics, ByLayout, Connect, Limits, Needs, OneSided, OneSidedRunner, SizeLimit, Support,
};

/// Largest transfer here.
const TRANSFER_BYTES: usize = 70_000;
/// Exposed region: the data, a margin on both sides, and words for flags and atomics at its end.
const REGION_BYTES: usize = 1 << 17;
const FLAG_AT: usize = REGION_BYTES - 8;
const WORD_AT: usize = REGION_BYTES - 128;
const SIZES: [usize; 8] = [1, 4, 7, 8, 64, 1000, 4097, TRANSFER_BYTES];
const FETCH_SLOTS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Put(Layout),
    Get(Layout),
    Edges,
    Atomics,
    Contention,
    Fence,
    FenceAfterGet,
    Flush,
    Cancel,
}

impl Check {
    fn all() -> Vec<Check> {
        let mut checks: Vec<Check> = Layout::ALL.into_iter().map(Check::Put).collect();
        checks.extend([Check::Get(Layout::Bcopy), Check::Get(Layout::Zcopy)]);
        checks.extend([Check::Edges, Check::Atomics, Check::Contention]);
        checks.extend([Check::Fence, Check::FenceAfterGet, Check::Flush, Check::Cancel]);
        checks
    }

    fn name(self) -> String {
        match self {
            Check::Put(layout) => format!("puts are seen whole, and nothing beside them, {}", layout.name()),
            Check::Get(layout) => format!(
                "gets bring what is there, and nothing beside it, {}",
                layout.name()
            ),
            Check::Edges => "the first and the last byte of the region".into(),
            Check::Atomics => "each atomic operation on words of 4 and 8 bytes".into(),
            Check::Contention => "atomics of three ranks on one word add up".into(),
            Check::Fence => "a fence orders puts".into(),
            Check::FenceAfterGet => "a fence orders a put behind a get".into(),
            Check::Flush => "what is flushed has taken effect".into(),
            Check::Cancel => "a cancel ends a wait".into(),
        }
    }

    fn ranks(self) -> u32 {
        if self == Check::Contention { 4 } else { 2 }
    }
}

/// Hold the one-sided ports of `T` to their contract, between threads.
pub fn one_sided<T: OneSided>(options: &TransportOptions) -> Vec<Report> {
    const SUITE: &str = "one_sided";
    if let Support::Lacks(why) = T::ONE_SIDED {
        return vec![Report::skipped(T::NAME, SUITE, "all", why.to_owned())];
    }
    let run_check = |check: Check| {
        let lacks = cold::obstacle::<T>(options, check.ranks()).or_else(|| lacks::<T>(check, options));
        if let Some(why) = lacks {
            return Report::skipped(T::NAME, SUITE, check.name(), why);
        }
        let options = options.clone();
        let result = run(check.ranks(), move |bootstrap| {
            rank::<T>(check, &options, bootstrap)
        });
        Report::of(T::NAME, SUITE, check.name(), result)
    };
    Check::all().into_iter().map(run_check).collect()
}

/// Why the layout of `check` is not there, if so.
fn lacks<T: OneSided>(check: Check, options: &TransportOptions) -> Option<String> {
    let limits = cold::limits::<T>(options).ok()?;
    let ways = Ways::of(&limits);
    let limit = match check {
        Check::Put(layout) => &limits.put[layout as usize],
        Check::Get(layout) => &limits.get[layout as usize],
        Check::Edges | Check::FenceAfterGet if ways.get.is_none() => {
            return Some("it has no get".to_owned());
        }
        Check::Atomics | Check::Contention if limits.atomics != Atomics::ALL => {
            return Some("it has not all atomic operations".to_owned());
        }
        _ => return ways.put.is_none().then(|| "it has no put".to_owned()),
    };
    match limit {
        SizeLimit::Lacks(why) => Some(why.to_string()),
        _ => None,
    }
}

fn rank<T: OneSided>(
    check: Check,
    options: &TransportOptions,
    bootstrap: &ThreadBootstrap,
) -> Result<(), String> {
    let me = Me::new(bootstrap);
    let parsed = T::parse(options).map_err(|e| e.to_string())?;
    let case = case_of(T::NAME, options, check.ranks(), Layout::Bcopy, 8);
    let limits = T::limits(&parsed);
    let by_layout = limits.put.iter().chain(&limits.get);
    let largest = by_layout.filter_map(SizeLimit::largest).max().unwrap_or(0);
    let needs = Needs::of_messages(TRANSFER_BYTES.min(largest as usize), FETCH_SLOTS as u64)
        .with_buffer(2 * TRANSFER_BYTES)
        .with_region(REGION_BYTES, FETCH_SLOTS);
    let connect = Connect::new(bootstrap, &case, &me.peers, needs);
    let script = Script {
        check,
        me: &me,
        ways: Ways::of(&limits),
        takes: Box::new(move |size| {
            let fits = |limit: &SizeLimit| match limit {
                SizeLimit::UpTo(max) => size as u64 <= *max,
                SizeLimit::Between(min, max) => (*min..=*max).contains(&(size as u64)),
                SizeLimit::Lacks(_) => true,
            };
            limits.put.iter().chain(&limits.get).all(fits)
        }),
    };
    <T as OneSided>::open(&connect, &parsed, script).map_err(|e| e.to_string())?
}

/// A layout for puts and one for gets that the transport has, copying ones first.
#[derive(Clone, Copy)]
struct Ways {
    put: Option<Layout>,
    get: Option<Layout>,
}

impl Ways {
    fn of(limits: &Limits) -> Ways {
        let first = |by_layout: &ByLayout| {
            let mut known = [Layout::Bcopy, Layout::Short, Layout::Zcopy].into_iter();
            known.find(|l| by_layout[*l as usize].largest().is_some())
        };
        Ways {
            put: first(&limits.put),
            get: first(&limits.get),
        }
    }
}

struct Script<'a> {
    check: Check,
    me: &'a Me<'a>,
    ways: Ways,
    takes: Box<dyn Fn(usize) -> bool>,
}

impl OneSidedRunner for Script<'_> {
    type Output = Result<(), String>;

    fn run<P: OneSidedPort>(self, port: P) -> Self::Output {
        let sizes = SIZES.into_iter().filter(|&size| (self.takes)(size)).collect();
        let mut end = End {
            me: self.me,
            port,
            sizes,
            ways: self.ways,
        };
        ensure(end.port.region().len() >= REGION_BYTES, || {
            "the region is too small".into()
        })?;
        match self.check {
            Check::Put(layout) => end.puts(layout),
            Check::Get(layout) => end.gets(layout),
            Check::Edges => end.edges(),
            Check::Atomics => end.atomics(),
            Check::Contention => end.contention(),
            Check::Fence => end.fence_orders(),
            Check::FenceAfterGet => end.fence_after_get(),
            Check::Flush => end.flushed(),
            Check::Cancel => return end.cancelled(),
        }?;
        end.meet()
    }
}

/// Where the data of `puts` and `gets` lie, off the start and off alignment.
const DATA_AT: usize = 65;

impl<P: OneSidedPort> End<'_, P> {
    fn puts(&mut self, layout: Layout) -> Result<(), String> {
        for (number, size) in self.sizes.clone().into_iter().enumerate() {
            let number = number as u64;
            let mut data = vec![0; size];
            if self.me.rank == 0 {
                payload::fill(0, number, &mut data);
                self.put(layout, DATA_AT, &data)?;
                self.flush()?;
                self.meet()?;
            } else {
                self.meet()?;
                self.port.region().read(DATA_AT, &mut data);
                ensure(payload::matches(0, number, &data), || {
                    format!("a put of {size} bytes is not whole")
                })?;
                self.untouched(DATA_AT, size, 0)?;
                self.port.region().write(0, &vec![0; FLAG_AT]);
            }
            self.meet()?;
        }
        Ok(())
    }

    fn gets(&mut self, layout: Layout) -> Result<(), String> {
        if self.me.rank == 1 {
            let mut data = vec![0; TRANSFER_BYTES];
            payload::fill(1, 0, &mut data);
            self.port.region().write(DATA_AT, &data);
        }
        self.meet()?;
        if self.me.rank == 0 {
            for size in self.sizes.clone() {
                let before = self.port.completed();
                self.port.local().write(0, &vec![0; 2 * TRANSFER_BYTES]);
                self.until_done(|port| match layout {
                    Layout::Zcopy => port.get_zcopy(0, DATA_AT, 1, size),
                    _ => port.get_bcopy(0, DATA_AT, 1, size),
                })?;
                self.completes(before + 1)?;
                let mut data = vec![0; size + 2];
                self.port.local().read(0, &mut data);
                let right = payload::matches(1, 0, &data[1..=size]) && data[0] == 0 && data[size + 1] == 0;
                ensure(right, || format!("a get of {size} bytes brought something else"))?;
            }
        }
        self.meet()
    }

    fn edges(&mut self) -> Result<(), String> {
        const LAST: usize = REGION_BYTES - 1;
        if self.me.rank == 0 {
            self.put_some_way(0, &[0xA5])?;
            self.put(Layout::Short, LAST, &[0x5A])?;
            self.flush()?;
            let before = self.port.completed();
            self.get_some_way(LAST, 0, 1)?;
            self.completes(before + 1)?;
            let last = self.port.local().load_u8(0);
            ensure(last == 0x5A, || format!("the last byte reads {last:#x}"))?;
        }
        self.meet()?;
        let region = self.port.region();
        let edges = (
            region.load_u8(0),
            region.load_u8(1),
            region.load_u8(LAST - 1),
            region.load_u8(LAST),
        );
        let expected = if self.me.rank == 1 {
            (0xA5, 0, 0, 0x5A)
        } else {
            (0, 0, 0, 0)
        };
        ensure(edges == expected, || format!("the region's edges are {edges:x?}"))
    }

    fn atomics(&mut self) -> Result<(), String> {
        for (width, mask) in [(Width::W4, u64::from(u32::MAX)), (Width::W8, u64::MAX)] {
            if self.me.rank == 0 {
                let start = 0xFFFF_FFFF_FFFF_FFF0 & mask;
                // op, operand, compare -> value fetched
                let steps = [
                    (AtomicOp::Swap, start, 0, 0),
                    (AtomicOp::FetchAdd, 0x20, 0, start),
                    (AtomicOp::CompareSwap, 5, 99, 0x10),
                    (AtomicOp::CompareSwap, 5, 0x10, 0x10),
                    (AtomicOp::FetchAdd, 0, 0, 5),
                ];
                for (op, operand, compare, expected) in steps {
                    let found = self.atomic(op, width, operand, compare)?;
                    ensure(found == expected, || {
                        format!("{op:?} {width:?} fetched {found:#x}, not {expected:#x}")
                    })?;
                }
                self.atomic(AtomicOp::Add, width, 37, 0)?;
            }
            self.meet()?;
            if self.me.rank == 1 {
                let region = self.port.region();
                let word = region.u64_at(WORD_AT).load(Ordering::Acquire);
                let next = region.u64_at(WORD_AT + 8).load(Ordering::Acquire);
                ensure(word == 42 && next == 0, || {
                    format!("{width:?}: the words are {word} and {next}")
                })?;
                region.u64_at(WORD_AT).store(0, Ordering::Release);
            }
            self.meet()?;
        }
        Ok(())
    }

    fn contention(&mut self) -> Result<(), String> {
        const EACH: u64 = 500;
        // Slot 0 of every other rank is rank 0, whose word they all add to.
        let mut fetched = BTreeSet::new();
        if self.me.rank != 0 {
            for _ in 0..EACH {
                let value = self.atomic(AtomicOp::FetchAdd, Width::W8, 1, 0)?;
                ensure(fetched.insert(value), || {
                    format!("value {value} was fetched twice")
                })?;
            }
            let addition = WordOp::new(AtomicOp::Add, Width::W4, WORD_AT + 8, 1, 0, 0);
            for _ in 0..EACH {
                self.until_done(|port| port.atomic(0, addition))?;
            }
            self.flush()?;
        }
        self.meet()?;
        if self.me.rank == 0 {
            let region = self.port.region();
            let wide = region.u64_at(WORD_AT).load(Ordering::Acquire);
            let narrow = u64::from(region.u32_at(WORD_AT + 8).load(Ordering::Acquire));
            ensure((wide, narrow) == (3 * EACH, 3 * EACH), || {
                format!("words are {wide} and {narrow}, not {}", 3 * EACH)
            })?;
        }
        Ok(())
    }

    fn fence_orders(&mut self) -> Result<(), String> {
        const ROUNDS: u64 = 300;
        if self.me.rank == 0 {
            for round in 1..=ROUNDS {
                let mut data = [0; 64];
                payload::fill(0, round, &mut data);
                self.put_some_way(DATA_AT - 1, &data)?;
                self.until_done(P::fence)?;
                self.put(Layout::Short, FLAG_AT, &round.to_le_bytes())?;
                // The next data may not be there before the other has looked.
                while self.port.region().u64_at(FLAG_AT).load(Ordering::Acquire) != round {
                    self.port.wait().map_err(link)?;
                }
            }
            return Ok(());
        }
        for round in 1..=ROUNDS {
            while self.port.region().u64_at(FLAG_AT).load(Ordering::Acquire) != round {
                self.port.wait().map_err(link)?;
            }
            let mut data = [0; 64];
            self.port.region().read(DATA_AT - 1, &mut data);
            ensure(payload::matches(0, round, &data), || {
                format!("flag {round} came before its data")
            })?;
            self.put(Layout::Short, FLAG_AT, &round.to_le_bytes())?;
        }
        self.flush()
    }

    fn fence_after_get(&mut self) -> Result<(), String> {
        const ROUNDS: u64 = 200;
        if self.me.rank == 0 {
            for round in 0..ROUNDS {
                let before = self.port.completed();
                self.get_some_way(WORD_AT, 0, 8)?;
                self.until_done(P::fence)?;
                self.put(Layout::Short, WORD_AT, &(round + 1).to_le_bytes())?;
                self.completes(before + 1)?;
                let found = self.port.local().u64_at(0).load(Ordering::Acquire);
                ensure(found == round, || {
                    format!("a get saw {found}, put behind it, not {round}")
                })?;
                self.until_done(P::fence)?;
            }
            self.flush()?;
        }
        self.meet()
    }

    fn flushed(&mut self) -> Result<(), String> {
        const ROUNDS: u64 = 50;
        for round in 1..=ROUNDS {
            if self.me.rank == 0 {
                self.put(Layout::Short, WORD_AT, &round.to_le_bytes())?;
                self.flush()?;
            }
            self.meet()?;
            if self.me.rank == 1 {
                let word = self.port.region().u64_at(WORD_AT).load(Ordering::Acquire);
                ensure(word == round, || {
                    format!("the word is {word} after the flush of {round}")
                })?;
            }
            self.meet()?;
        }
        Ok(())
    }

    fn cancelled(&mut self) -> Result<(), String> {
        self.meet()?;
        if self.me.rank == 1 {
            std::thread::sleep(Duration::from_millis(50));
            self.me.cancel.cancel(CancelReason::Interrupted);
        }
        loop {
            match self.port.wait() {
                Ok(()) => {}
                Err(LinkError::Cancelled | LinkError::Closed) => return Ok(()),
                Err(other) => return Err(format!("a wait ended with: {other}")),
            }
        }
    }
}
