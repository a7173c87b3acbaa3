//! The contract of a message port.

mod end;

use self::end::{End, Inbox};
use super::cold;
use crate::group::{Me, case_of, ensure, link, run_for};
use crate::payload;
use crate::report::Report;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use wirespeed::ThreadBootstrap;
use wirespeed::schema::case::TransportOptions;
use wirespeed::schema::test::Layout;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::{LinkError, MessagePort, Post};
use wirespeed::transport::{Connect, MessageRunner, Messages, Needs, SizeLimit, Support};

/// Largest message of checks that send many.
const MESSAGE_BYTES: u64 = 70_000;
/// Largest message that is tried where the limit is higher.
const LARGEST_BYTES: u64 = 16 << 20;
const SIZES: [u64; 12] = [0, 1, 7, 8, 9, 63, 64, 65, 1000, 4096, 65_536, MESSAGE_BYTES];
/// Buffers of zero-copy sends.
const ZCOPY_SLOTS: u64 = 8;
/// Far more than the 100 ms of the contract: a loaded machine is no fault of the transport.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// What one script checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Sizes(Layout),
    Busy(Layout),
    BothWays(Layout),
    Everyone,
    Flush,
    ZcopyCompletes,
    Largest(Layout),
    Death,
    Cancel,
}

/// Why a check did not run, or nothing.
type Skipped = Option<&'static str>;

const LOSSY: &str = "its messages may be lost: order and number are not promised";

impl Check {
    fn name(self) -> String {
        match self {
            Check::Sizes(layout) => format!("order and integrity over sizes, {}", layout.name()),
            Check::Busy(layout) => format!("busy has no effect and loses nothing, {}", layout.name()),
            Check::BothWays(layout) => format!("both directions at once, {}", layout.name()),
            Check::Everyone => "four ranks, each with every other".into(),
            Check::Flush => "what is flushed arrives without the sender".into(),
            Check::ZcopyCompletes => "zero-copy sends are counted when memory is free".into(),
            Check::Largest(layout) => format!("the largest message, {}", layout.name()),
            Check::Death => "the death of a peer ends a wait".into(),
            Check::Cancel => "a cancel ends a wait".into(),
        }
    }

    fn ranks(self) -> u32 {
        if self == Check::Everyone { 4 } else { 2 }
    }

    fn layout(self) -> Layout {
        match self {
            Check::Sizes(l) | Check::Busy(l) | Check::BothWays(l) | Check::Largest(l) => l,
            Check::ZcopyCompletes => Layout::Zcopy,
            _ => Layout::Short,
        }
    }

    fn all() -> Vec<Check> {
        let mut checks = Vec::new();
        for layout in Layout::ALL {
            checks.extend([
                Check::Sizes(layout),
                Check::BothWays(layout),
                Check::Largest(layout),
            ]);
        }
        checks.extend([Check::Busy(Layout::Short), Check::Busy(Layout::Bcopy)]);
        checks.extend([Check::Everyone, Check::Flush, Check::ZcopyCompletes]);
        checks.extend([Check::Death, Check::Cancel]);
        checks
    }
}

/// Hold the message ports of `T` to their contract, between threads.
pub fn messages<T: Messages>(options: &TransportOptions) -> Vec<Report> {
    const SUITE: &str = "messages";
    if let Support::Lacks(why) = T::MESSAGES {
        return vec![Report::skipped(T::NAME, SUITE, "all", why.to_owned())];
    }
    let mut reports = cold::checks::<T>(options);
    for check in Check::all() {
        if let Some(why) = cold::obstacle::<T>(options, check.ranks()) {
            reports.push(Report::skipped(T::NAME, SUITE, check.name(), why));
            continue;
        }
        let limits = match cold::limits::<T>(options) {
            Ok(limits) => limits.messages,
            Err(why) => {
                reports.push(Report::of(T::NAME, SUITE, check.name(), Err(why)));
                continue;
            }
        };
        match &limits[check.layout() as usize] {
            SizeLimit::Lacks(why) => {
                reports.push(Report::skipped(T::NAME, SUITE, check.name(), why.to_string()));
            }
            SizeLimit::UpTo(max) | SizeLimit::Between(_, max) => {
                reports.push(run_check::<T>(SUITE, check, options, *max));
            }
        }
    }
    reports
}

fn run_check<T: Messages>(
    suite: &'static str,
    check: Check,
    options: &TransportOptions,
    limit_bytes: u64,
) -> Report {
    let largest = match check {
        Check::Largest(_) => LARGEST_BYTES,
        _ => MESSAGE_BYTES,
    };
    let plan = Plan {
        check,
        options: options.clone(),
        size: largest.min(limit_bytes),
        cancelled_at: Arc::new(OnceLock::new()),
    };
    let results = match run_for(check.ranks(), move |bootstrap| rank::<T>(&plan, bootstrap)) {
        Ok(results) => results,
        Err(why) => return Report::of(T::NAME, suite, check.name(), Err(why)),
    };
    let skipped = results.iter().find_map(|result| match result {
        Ok(Some(why)) => Some((*why).to_owned()),
        _ => None,
    });
    if let Some(why) = skipped {
        return Report::skipped(T::NAME, suite, check.name(), why);
    }
    let failed: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    let result = if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("; "))
    };
    Report::of(T::NAME, suite, check.name(), result)
}

#[derive(Clone)]
struct Plan {
    check: Check,
    options: TransportOptions,
    size: u64,
    cancelled_at: Arc<OnceLock<Instant>>,
}

fn rank<T: Messages>(plan: &Plan, bootstrap: &ThreadBootstrap) -> Result<Skipped, String> {
    let me = Me::new(bootstrap);
    let parsed = T::parse(&plan.options).map_err(|e| e.to_string())?;
    let layout = plan.check.layout();
    let case = case_of(T::NAME, &plan.options, plan.check.ranks(), layout, plan.size);
    let buffer_bytes = match layout {
        Layout::Zcopy => (plan.size * ZCOPY_SLOTS) as usize,
        _ => 0,
    };
    let needs = Needs::of_messages(plan.size as usize, 64).with_buffer(buffer_bytes);
    let connect = Connect::new(bootstrap, &case, &me.peers, needs);
    let script = Script {
        plan,
        me: &me,
        lossy: T::LOSSY,
    };
    let result = T::open(&connect, &parsed, script).map_err(|e| e.to_string())?;
    if plan.check == Check::Death && me.rank == 1 {
        // The port is closed; a watcher would notice and cancel where the medium cannot tell.
        std::thread::sleep(Duration::from_millis(50));
        me.cancel.cancel(CancelReason::PeerLost);
    }
    result
}

struct Script<'a> {
    plan: &'a Plan,
    me: &'a Me<'a>,
    /// What the transport says of itself.
    lossy: bool,
}

impl MessageRunner for Script<'_> {
    type Output = Result<Skipped, String>;

    fn run<P: MessagePort>(self, port: P) -> Self::Output {
        ensure(P::LOSSY == self.lossy, || {
            "LOSSY of the port is not that of the transport".into()
        })?;
        let lossy_too = matches!(self.plan.check, Check::Death | Check::Cancel);
        if P::LOSSY && !lossy_too {
            return Ok(Some(LOSSY));
        }
        let mut end = End {
            me: self.me,
            port,
            layout: self.plan.check.layout(),
            size: self.plan.size as usize,
            posted: 0,
            inbox: Inbox::default(),
        };
        match self.plan.check {
            Check::Sizes(_) => end.sizes(),
            Check::Busy(_) => end.busy(),
            Check::BothWays(_) => end.both_ways(),
            Check::Everyone => end.everyone(),
            Check::Flush => end.flushed(),
            Check::ZcopyCompletes => end.zcopy_completes(),
            Check::Largest(_) => end.largest(),
            Check::Death => end.death(),
            Check::Cancel => end.cancelled(&self.plan.cancelled_at),
        }?;
        Ok(None)
    }
}

impl<P: MessagePort> End<'_, P> {
    fn sizes(&mut self) -> Result<(), String> {
        const EACH: u64 = 20;
        let limit = self.size as u64;
        let sizes: Vec<u64> = SIZES.into_iter().filter(|&size| size <= limit).collect();
        let len = |number: u64| sizes[(number / EACH) as usize] as usize;
        let count = sizes.len() as u64 * EACH;
        if self.me.rank == 0 {
            for number in 0..count {
                self.send(0, number, len(number))?;
            }
        } else {
            self.receive(count as usize)?;
            self.check_arrivals(0, len)?;
        }
        self.meet()
    }

    fn busy(&mut self) -> Result<(), String> {
        // Above what rings and socket buffers hold by default.
        const COUNT_MAX: u64 = 8000;
        let len = self.size.min(4096);
        let mut sent = 0;
        if self.me.rank == 0 {
            let mut bytes = vec![0; len];
            while sent < COUNT_MAX {
                payload::fill(0, sent, &mut bytes);
                if self.try_send(0, sent, &bytes)? == Post::Busy {
                    // Again, and again without effect.
                    let again = self.try_send(0, sent, &bytes)?;
                    sent += u64::from(again == Post::Done);
                    break;
                }
                sent += 1;
            }
        }
        // Nobody has received so far.
        self.me.meet(|| Ok(()))?;
        if self.me.rank == 0 {
            self.send(0, sent, 0)?;
            return self.meet();
        }
        while self.inbox.0.last().is_none_or(|last| !last.2.is_empty()) {
            self.port.wait(&mut self.inbox).map_err(link)?;
        }
        let end = self.inbox.0.len() as u64 - 1;
        self.check_arrivals(0, |number| if number == end { 0 } else { len })?;
        self.meet()
    }

    fn both_ways(&mut self) -> Result<(), String> {
        const COUNT: u64 = 1000;
        let len = self.size.min(512);
        let early = self.port.poll(&mut self.inbox).map_err(link)?;
        ensure(early == 0, || {
            format!("a poll before any send handled {early} messages")
        })?;
        self.me.meet(|| Ok(()))?;
        for number in 0..COUNT {
            self.send(0, number, len)?;
        }
        self.receive(COUNT as usize)?;
        self.check_arrivals(0, |_| len)?;
        self.meet()
    }

    fn everyone(&mut self) -> Result<(), String> {
        const COUNT: u64 = 200;
        let len = self.size.min(100);
        for number in 0..COUNT {
            for slot in 0..self.me.peers.len() {
                self.send(slot, number, len)?;
            }
        }
        let peers = self.me.peers.len();
        self.receive(COUNT as usize * peers)?;
        for slot in 0..peers {
            let from = self.inbox.0.iter().filter(|m| m.0 == slot).count();
            ensure(from == COUNT as usize, || {
                format!("{from} messages came from slot {slot}")
            })?;
            self.check_arrivals(slot, |_| len)?;
        }
        self.meet()
    }

    fn flushed(&mut self) -> Result<(), String> {
        const COUNT: u64 = 100;
        let len = self.size.min(20_000);
        if self.me.rank == 0 {
            for number in 0..COUNT {
                self.send(0, number, len)?;
            }
            while !self.port.flush().map_err(link)? {
                self.me.pause()?;
            }
        } else {
            self.receive(COUNT as usize)?;
            self.check_arrivals(0, |_| len)?;
            // A sender may need the receiver's answers to be done with long messages.
            return self.meet();
        }
        // The sender no longer moves anything.
        self.me.meet(|| Ok(()))
    }

    fn zcopy_completes(&mut self) -> Result<(), String> {
        const COUNT: u64 = 50;
        let len = self.size.min(30_000);
        let before = self.port.zcopy_completed();
        ensure(before == 0, || {
            format!("{before} sends completed before any was posted")
        })?;
        if self.me.rank == 0 {
            for number in 0..COUNT {
                self.send(0, number, len)?;
                while self.port.zcopy_completed() < self.posted {
                    self.poll()?;
                }
                // Completed: the memory is ours again.
                let buffer = self.port.buffer().ok_or("zcopy without a buffer")?;
                buffer.write(0, &vec![0xEE; self.size * ZCOPY_SLOTS as usize]);
            }
            let completed = self.port.zcopy_completed();
            ensure(completed == COUNT, || format!("{completed} of {COUNT} completed"))?;
        } else {
            self.receive(COUNT as usize)?;
            self.check_arrivals(0, |_| len)?;
        }
        self.meet()
    }

    fn largest(&mut self) -> Result<(), String> {
        let len = self.size;
        if self.me.rank == 0 {
            self.send(0, 0, len)?;
        }
        self.receive(1)?;
        self.check_arrivals(0, |_| len)?;
        if self.me.rank == 1 {
            self.send(0, 0, len)?;
            while !self.port.flush().map_err(link)? || self.port.zcopy_completed() < self.posted {
                self.poll()?;
            }
        }
        self.meet()
    }

    fn death(&mut self) -> Result<(), String> {
        self.me.meet(|| Ok(()))?;
        if self.me.rank == 1 {
            return Ok(());
        }
        loop {
            match self.port.wait(&mut self.inbox) {
                Ok(0) => {}
                Ok(_) => return Err("a message of nobody arrived".into()),
                Err(LinkError::Closed | LinkError::Cancelled | LinkError::TimedOut) => return Ok(()),
                Err(other) => return Err(format!("a wait ended with: {other}")),
            }
        }
    }

    fn cancelled(&mut self, at: &OnceLock<Instant>) -> Result<(), String> {
        self.me.meet(|| Ok(()))?;
        if self.me.rank == 1 {
            std::thread::sleep(Duration::from_millis(50));
            let _ = at.set(Instant::now());
            self.me.cancel.cancel(CancelReason::Interrupted);
        }
        let ended = loop {
            if let Err(error) = self.port.wait(&mut self.inbox) {
                break error;
            }
        };
        let took = at.get().map_or(Duration::ZERO, Instant::elapsed);
        ensure(took < CANCEL_LIMIT, || format!("a wait went on for {took:?}"))?;
        ensure(matches!(ended, LinkError::Cancelled | LinkError::Closed), || {
            format!("a wait ended with: {ended}")
        })
    }
}
