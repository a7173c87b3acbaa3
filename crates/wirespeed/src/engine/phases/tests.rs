//! The driver over a body that does nothing but write down what it is asked for.

use super::*;
use crate::engine::example::{case, pingpong};
use crate::transport::bootstrap::{Bootstrap, ThreadBootstrap};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What the driver did, in order.
type Log = Rc<RefCell<Vec<String>>>;

/// Takes its time, and notes what it is asked for; its steps fail in one phase.
struct Noted {
    log: Log,
    phase: Phase,
    done: u64,
    fails_in: Option<Phase>,
    operation: Duration,
    /// The thread works for so long before the measured phase.
    works: Duration,
    /// Messages that come while the measured phase is closed.
    late: u64,
}

impl Body for Noted {
    fn leads(&self) -> bool {
        true
    }

    fn progress(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    fn begin(&mut self, phase: Phase) -> Result<(), LinkError> {
        (self.phase, self.done) = (phase, 0);
        let begin = std::time::Instant::now();
        while phase == Phase::Measured && begin.elapsed() < self.works {}
        self.log.borrow_mut().push(format!("begin {phase:?}"));
        Ok(())
    }

    fn step(&mut self, count: u64, last: bool) -> Result<bool, LinkError> {
        if self.phase == Phase::WarmUp && self.operation * count as u32 > Duration::from_millis(200) {
            self.log.borrow_mut().push(format!("deaf for {count}"));
        }
        if self.fails_in == Some(self.phase) {
            return Err(LinkError::Closed);
        }
        std::thread::sleep(self.operation * count as u32);
        self.done += count;
        Ok(last)
    }

    fn close(&mut self, phase: Phase) -> Result<(), LinkError> {
        let done = self.done;
        self.late = if phase == Phase::Measured { 3 } else { 0 };
        self.log.borrow_mut().push(format!("close {phase:?} {done}"));
        Ok(())
    }

    fn settling(&self) -> u64 {
        7
    }

    fn arm(&mut self, _: &Meter, _: f64) {
        self.log.borrow_mut().push("arm".to_owned());
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        tally.sent.messages = self.done;
        tally.received.messages = self.done + self.late;
        tally
    }

    fn finish(self: Box<Self>) -> Left {
        Left::default()
    }
}

fn driven(fails_in: Option<Phase>) -> (Finished, Vec<String>) {
    drive_noted(fails_in, [Duration::ZERO; 2], [50, 1000])
}

/// Of so many operations in the warm-up and in the measured phase, each of which takes `operation`; before it the thread `works`.
fn drive_noted(
    fails_in: Option<Phase>,
    [operation, works]: [Duration; 2],
    [warm_up, measured]: [u64; 2],
) -> (Finished, Vec<String>) {
    let mut case = case(pingpong(), measured);
    (case.warmup_iterations, case.warmup_ns_max) = (warm_up, u64::MAX);
    case.report_interval_ns = 1_000_000_000;
    case.ranks.truncate(1);
    case.ranks[0].peer = Some(0);
    let bootstrap = ThreadBootstrap::group(1).remove(0);
    let rank = Rank::begin(&case, &bootstrap as &dyn Bootstrap).unwrap();
    let mut report = |_: &wirespeed_schema::outcome::Interval| ();
    let meter = rank.meter(&mut report);
    let log = Log::default();
    let body = Noted {
        log: log.clone(),
        phase: Phase::First,
        done: 0,
        fails_in,
        operation,
        works,
        late: 0,
    };
    let finished = drive(&rank, meter, Box::new(body));
    (finished, log.take())
}

#[test]
fn what_comes_after_the_end_counts_and_is_in_no_interval() {
    let (finished, _) = driven(None);
    let measured = finished.measured;
    assert_eq!(measured.tally.received.messages, 1003);
    let within = measured
        .intervals
        .iter()
        .map(|interval| interval.received.messages);
    assert_eq!(within.sum::<u64>(), 1000);
}

#[test]
fn every_phase_begins_and_closes_once_and_in_order() {
    let (finished, log) = driven(None);
    assert_eq!(
        log,
        [
            "begin First",
            "close First 1",
            "begin WarmUp",
            "close WarmUp 50",
            "arm",
            "begin Settle",
            "close Settle 7",
            "begin Measured",
            "close Measured 1000",
        ]
    );
    assert_eq!(finished.end.unwrap(), StopReason::Completed);
    assert_eq!(finished.warmup_operations, 50);
    assert_eq!(finished.measured.tally.sent.messages, 1000);
    assert!(finished.first_operation_ticks.is_some());
}

#[test]
fn long_operations_settle_in_one() {
    let (_, log) = drive_noted(None, [Duration::from_millis(5), Duration::ZERO], [1, 2]);
    assert!(log.contains(&"close Settle 1".to_owned()), "{log:?}");
}

#[test]
fn no_round_of_a_warm_up_is_deaf_for_long() {
    let (finished, log) = drive_noted(None, [Duration::from_millis(5), Duration::ZERO], [200, 1]);
    assert_eq!(finished.warmup_operations, 200);
    assert!(!log.iter().any(|line| line.starts_with("deaf")), "{log:?}");
}

#[test]
fn what_a_rank_does_before_the_measured_phase_is_no_cost_of_it() {
    let (finished, _) = drive_noted(None, [Duration::ZERO, Duration::from_millis(200)], [1, 1000]);
    let cost = finished.measured.disturbance;
    assert!(cost.user_ns + cost.system_ns < 100_000_000, "{cost:?}");
    assert!(finished.measured.began_ns.is_some());
}

#[test]
fn a_broken_step_ends_the_run_where_it_is() {
    for (phase, last) in [
        (Phase::First, "begin First"),
        (Phase::WarmUp, "begin WarmUp"),
        (Phase::Settle, "begin Settle"),
        (Phase::Measured, "begin Measured"),
    ] {
        let (finished, log) = driven(Some(phase));
        assert_eq!(log.last().map(String::as_str), Some(last));
        assert!(matches!(finished.end, Err(LinkError::Closed)));
        assert_eq!(finished.measured.tally.sent.messages, 0);
    }
}
