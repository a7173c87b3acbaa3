//! Ranks as threads of this process: no channel, no frames; they meet through the library's own thread bootstrap.

use crate::agent::classify;
use crate::coordinator::event::{GroupEvent, GroupResult};
use crate::session::Timing;
use crate::session::group::Failure;
use crate::stop::{StopFlag, StopLevel};
use crate::thread::{Panicked, spawn};
use std::fmt::Display;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed::transport::Service;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::{Bootstrap as _, Cancel, MeasureError, Registry, ThreadBootstrap};
use wirespeed_schema::case::Case;
use wirespeed_schema::message::FailureClass;
use wirespeed_schema::outcome::{Interval, Outcome, StopReason};

/// Longest sleep when nothing is due: the channel wakes the coordinator before.
const NOTHING_DUE: Duration = Duration::from_secs(3600);

enum Said {
    Interval(u32, Box<Interval>),
    Ended(u32, Result<Box<Outcome>, Failure>),
    Stop,
}

/// What there is around the threads.
pub(crate) struct Around<'a> {
    pub timing: Timing,
    pub bind_address: IpAddr,
    pub service: Option<&'a Service>,
}

/// Run `case` with a thread a rank. A thread that does not end after a cancel is left behind: threads cannot be killed.
pub(crate) fn run(
    case: &Case,
    registry: &Registry,
    around: &Around,
    events: &mut dyn FnMut(GroupEvent),
    stop: &StopFlag,
) -> GroupResult {
    let size = case.ranks.len();
    let cancel = Cancel::new();
    let (tx, rx) = mpsc::channel();
    let waker = tx.clone();
    let _subscription = stop.subscribe(move || {
        // Nobody listens any more when the run is over.
        let _ = waker.send(Said::Stop);
    });
    let started = Instant::now();
    let mut verdict = Verdict::new(size);
    let group = ThreadBootstrap::group_with(size as u32, cancel.clone(), around.bind_address);
    let first_barrier = group.first().map(ThreadBootstrap::first_barrier);
    for bootstrap in group {
        let rank = bootstrap.rank();
        let bootstrap = bootstrap.with_service(around.service.cloned());
        if let Err(error) = start_thread(case, registry, bootstrap, tx.clone()) {
            let text = format!("cannot start a thread for rank {rank}: {error}");
            verdict.end(rank, Err(Failure::new(FailureClass::Failed, text)), &cancel);
        }
    }
    wait_for_all(&mut verdict, &rx, around.timing, &cancel, events, stop);
    let setup_end = first_barrier.and_then(|at| at.get().copied());
    let setup_end = setup_end.unwrap_or_else(Instant::now);
    GroupResult {
        outcomes: verdict.outcomes,
        error: verdict.causes.into_iter().chain(verdict.consequences).next(),
        blamed: Vec::new(),
        setup_ns: setup_end.saturating_duration_since(started).as_nanos() as u64,
        overlapping_sessions: 0,
    }
}

/// Pass reports on until every rank has ended, or was given up after a stop or a cancel.
fn wait_for_all(
    verdict: &mut Verdict,
    rx: &mpsc::Receiver<Said>,
    timing: Timing,
    cancel: &Cancel,
    events: &mut dyn FnMut(GroupEvent),
    stop: &StopFlag,
) {
    let mut deadline: Option<Instant> = None;
    while verdict.running > 0 {
        let wait = deadline.map_or(NOTHING_DUE, |d| d.saturating_duration_since(Instant::now()));
        match rx.recv_timeout(wait) {
            Ok(Said::Interval(rank, interval)) => events(GroupEvent::Interval { rank, interval }),
            Ok(Said::Ended(rank, ended)) => verdict.end(rank, ended, cancel),
            Ok(Said::Stop) if stop.level() == StopLevel::Immediate => {
                cancel.cancel(CancelReason::Interrupted);
            }
            Ok(Said::Stop) => {
                events(GroupEvent::Stopping);
                cancel.request_stop();
                deadline.get_or_insert(Instant::now() + timing.orderly);
            }
            Err(RecvTimeoutError::Timeout) if deadline.is_none() => {}
            Err(RecvTimeoutError::Timeout) if cancel.reason().is_none() => {
                cancel.cancel(CancelReason::Interrupted);
            }
            Err(_) => {
                let text = "a rank did not end after it was cancelled";
                verdict
                    .consequences
                    .push(Failure::new(FailureClass::Failed, text));
                break;
            }
        }
        if cancel.reason().is_some() && !verdict.cancelled {
            verdict.cancelled = true;
            deadline = Some(Instant::now() + timing.grace);
        }
    }
}

struct Verdict {
    running: usize,
    cancelled: bool,
    outcomes: Vec<Option<Outcome>>,
    causes: Vec<Failure>,
    consequences: Vec<Failure>,
}

impl Verdict {
    fn new(size: usize) -> Self {
        Verdict {
            running: size,
            cancelled: false,
            outcomes: vec![None; size],
            causes: Vec::new(),
            consequences: Vec::new(),
        }
    }

    fn end(&mut self, rank: u32, ended: Result<Box<Outcome>, Failure>, cancel: &Cancel) {
        self.running -= 1;
        let failure = match ended {
            Err(failure) => Some((failure.class == FailureClass::PeerLost, failure)),
            Ok(outcome) => {
                let secondary = outcome.stop != StopReason::Failed;
                let size = self.outcomes.len();
                let failure = outcome.error.as_ref().map(|error| {
                    let text = said_by((rank, size), error);
                    let remedy = outcome.remedy().map(str::to_owned);
                    (secondary, Failure::advised(FailureClass::Failed, text, remedy))
                });
                self.outcomes[rank as usize] = Some(*outcome);
                failure
            }
        };
        if let Some((secondary, failure)) = failure {
            if secondary {
                self.consequences.push(failure);
            } else {
                self.causes.push(failure);
            }
            cancel.cancel(CancelReason::PeerLost);
        }
    }
}

/// What a rank of a group of so many says; of one that is alone there is nobody to tell it from.
fn said_by((rank, size): (u32, usize), what: &dyn Display) -> String {
    match size {
        1 => what.to_string(),
        _ => format!("rank {rank}: {what}"),
    }
}

fn start_thread(
    case: &Case,
    registry: &Registry,
    bootstrap: ThreadBootstrap,
    tx: mpsc::Sender<Said>,
) -> std::io::Result<()> {
    let (case, registry) = (case.clone(), registry.clone());
    let rank = bootstrap.rank();
    let measuring = spawn(format!("rank {rank}"), move || {
        let mut report = |interval: &Interval| {
            let _ = tx.send(Said::Interval(rank, Box::new(interval.clone())));
        };
        let measuring = || wirespeed::measure(&case, &registry, &bootstrap, &mut report);
        let result = std::panic::catch_unwind(AssertUnwindSafe(measuring));
        let ended = match result {
            Ok(result) => result.map(Box::new).map_err(|error: MeasureError| {
                let text = said_by((rank, case.ranks.len()), &error);
                Failure::advised(classify(&error, false), text, error.remedy().map(str::to_owned))
            }),
            Err(panic) => {
                bootstrap.cancel().cancel(CancelReason::PeerLost);
                let text = format!("rank {rank}: the measurement {}", Panicked::of(&*panic));
                Err(Failure::new(FailureClass::Failed, text))
            }
        };
        let _ = tx.send(Said::Ended(rank, ended));
    });
    measuring.map(drop)
}
