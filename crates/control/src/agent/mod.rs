//! A rank: a process (or thread) that waits for cases on its control channel, measures them, and reports.
//!
//! Two threads: the caller's measures; a reader sleeps in the channel, answers pings, and sets the cancel flag when the
//! coordinator asks, falls silent or goes away. The reader keeps off the CPUs that ranks are pinned to.

mod bootstrap;
mod shared;

use crate::launch::together;
use crate::session::agent::{Action, AgentMachine, Start};
use crate::session::{Timing, hello};
use crate::thread::{Panicked, spawn};
use crate::watch::Watch;
use crate::wire::{Packet, ReceiveError, Receiver, Sender, unix};
use bootstrap::AgentBootstrap;
use shared::Shared;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;
use wirespeed::transport::ConnectError;
use wirespeed::transport::bootstrap::BootstrapError;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::{MeasureError, Registry};
use wirespeed_schema::case::Case;
use wirespeed_schema::message::{CancelCause, FailureClass, OutcomeReport, RankMessage};
use wirespeed_schema::outcome::Outcome;

/// What a rank measures with, and what is busy beside it.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    registry: &'a Registry,
    busy_threads: u32,
}

impl<'a> From<&'a Registry> for Here<'a> {
    fn from(registry: &'a Registry) -> Self {
        Here {
            registry,
            busy_threads: 0,
        }
    }
}

impl Here<'_> {
    /// With threads that this process keeps busy, on the CPUs that its ranks may use.
    #[must_use]
    pub fn with_busy_threads(mut self, threads: u32) -> Self {
        self.busy_threads = threads;
        self
    }
}

/// Run the rank whose control channel is this process's standard input, until the coordinator ends it. The value is
/// the exit code. When the coordinator is gone and a measurement does not end, the process is killed.
pub fn run_stdio_agent<'a>(here: impl Into<Here<'a>>) -> u8 {
    let here = here.into();
    let stream = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(fd) => UnixStream::from(fd),
        Err(_) => return 2,
    };
    // A file or terminal as standard input is a user who typed the hidden verb.
    if stream.peer_addr().is_err() {
        return 2;
    }
    // This process is nothing but a rank: one line instead of a backtrace, the cause travels to the coordinator.
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(io::stderr(), "wirespeed: a rank panicked at {place}");
    }));
    let ended = match together::channels(&stream) {
        None => run_agent(stream, here, Timing::default(), kill_this_process),
        Some(channels) => run_agents(channels, here),
    };
    u8::from(ended.is_err())
}

/// As many ranks as there are channels, each in a thread of its own.
fn run_agents(channels: io::Result<Vec<UnixStream>>, here: Here) -> Result<(), String> {
    let channels = channels.map_err(|e| e.to_string())?;
    std::thread::scope(|scope| {
        let start = |(number, channel): (usize, UnixStream)| {
            std::thread::Builder::new()
                .name(format!("rank {number}"))
                .spawn_scoped(scope, move || {
                    run_agent(channel, here, Timing::default(), kill_this_process)
                })
        };
        let threads: Vec<_> = channels.into_iter().enumerate().map(start).collect();
        let join = |thread: io::Result<ScopedJoinHandle<Result<(), String>>>| {
            let failed = |_| Err("a rank's thread failed".to_owned());
            thread.map_err(|e| e.to_string())?.join().unwrap_or_else(failed)
        };
        // Every one has ended before the first failure counts.
        let ended: Vec<Result<(), String>> = threads.into_iter().map(join).collect();
        ended.into_iter().collect()
    })
}

/// Not an ordinary exit: whatever keeps a measurement from ending may also hold that up.
pub(crate) fn kill_this_process() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// Run a rank over `stream`. `give_up` is called (in the reader's thread) when the coordinator is gone, the run was
/// cancelled, and the measuring thread has still not come back after the grace time.
///
/// Errors: a line that says why the rank left, when it was not told to.
pub fn run_agent<'a>(
    stream: UnixStream,
    here: impl Into<Here<'a>>,
    timing: Timing,
    give_up: impl Fn() + Send + 'static,
) -> Result<(), String> {
    let (sender, receiver) = unix::halves(stream).map_err(|e| e.to_string())?;
    let greeting = [RankMessage::Hello(hello())];
    run_agent_over(sender, receiver, &greeting, here.into(), timing, give_up).map(drop)
}

/// As [`run_agent`], over a connection of any kind whose first words are `greeting`; whether its last run ended because another
/// rank was lost.
pub(crate) fn run_agent_over(
    sender: Sender,
    receiver: Receiver,
    greeting: &[RankMessage],
    here: Here,
    timing: Timing,
    give_up: impl Fn() + Send + 'static,
) -> Result<bool, String> {
    let watch = Watch::new(timing.silence);
    let machine = AgentMachine::new(timing, watch.now());
    let shared = Arc::new(Shared::new(machine, sender.clone(), watch));
    for word in greeting {
        sender.message(word).map_err(|e| e.to_string())?;
    }
    let (starts, todo) = mpsc::channel();
    let here_too = shared.clone();
    let reader = spawn("control", move || {
        let why = read(&here_too, receiver, starts);
        if !here_too.wait_measuring_ended(timing.grace * 2) {
            give_up();
        }
        why
    });
    let reader = reader.map_err(|e| e.to_string())?;
    for start in todo {
        measure_one(&shared, here, &start);
    }
    shared.measuring_ended();
    match reader.join() {
        Ok(None) => Ok(shared.has_lost_peer()),
        Ok(Some(why)) => Err(why),
        Err(_) => Err("the control thread failed".into()),
    }
}

/// The reader's thread: everything that the coordinator says. Returns why the rank leaves, when it was not told to.
fn read(shared: &Shared, mut receiver: Receiver, starts: mpsc::Sender<Start>) -> Option<String> {
    loop {
        let received = shared.wait(|time| receiver.receive::<RankMessage>(time));
        let ended = matches!(&received, Err(error) if !matches!(error, ReceiveError::TimedOut));
        let actions = match received {
            Ok(Packet::Message(message)) => shared.with_machine(|m, now| m.message(now, message)),
            Ok(Packet::Outcome(_)) => shared.with_machine(|m, _| m.closed("the coordinator sent an outcome")),
            Err(ReceiveError::TimedOut) => shared.with_machine(|m, now| m.tick(now)),
            Err(error) => shared.with_machine(|m, _| m.closed(&error.to_string())),
        };
        for action in actions {
            match action {
                Action::Send(message) => {
                    // A failed send closes the channel; the next read says so.
                    let _ = shared.sender().message(&message);
                }
                Action::Start(start) => {
                    keep_off_measuring_cpus(&start.case);
                    shared.begin_run();
                    if starts.send(start).is_err() {
                        return None;
                    }
                }
                Action::Deliver { round, blobs } => shared.deliver(round, blobs),
                Action::RequestStop => shared.cancel_flag().request_stop(),
                Action::Cancel(cause) => shared.cancel(match cause {
                    CancelCause::Interrupted => CancelReason::Interrupted,
                    CancelCause::PeerLost => CancelReason::PeerLost,
                }),
                Action::Leave(why) => {
                    shared.close();
                    return why;
                }
            }
        }
        if ended {
            return None;
        }
    }
}

/// Measure and report; a failure to report closes the channel, which the reader sees.
fn measure_one(shared: &Shared, here: Here, start: &Start) {
    let run = start.run;
    let bootstrap = AgentBootstrap::new(shared, start, here.busy_threads);
    let mut report = |interval: &_| {
        let _ = shared.sender().message(&RankMessage::Interval {
            run,
            interval: Clone::clone(interval),
        });
    };
    let measuring = || wirespeed::measure(&start.case, here.registry, &bootstrap, &mut report);
    let result = std::panic::catch_unwind(AssertUnwindSafe(measuring));
    let told_to_cancel = shared.end_run();
    let failed = match result {
        Ok(Ok(outcome)) => return send_outcome(shared, start, outcome),
        Ok(Err(error)) => RankMessage::Failed {
            run,
            class: classify(&error, told_to_cancel),
            error: error.to_string(),
            remedy: error.remedy().map(str::to_owned),
        },
        Err(panic) => RankMessage::Failed {
            run,
            class: FailureClass::Failed,
            error: format!("the measurement {}", Panicked::of(&*panic)),
            remedy: None,
        },
    };
    let _ = shared.sender().message(&failed);
}

fn send_outcome(shared: &Shared, start: &Start, outcome: Outcome) {
    let report = OutcomeReport {
        run: start.run,
        rank: start.rank,
        outcome,
    };
    if let Err(error) = shared.sender().outcome(&report) {
        // Too large a report leaves the channel whole; anything else has closed it.
        let _ = shared.sender().message(&RankMessage::Failed {
            run: start.run,
            class: FailureClass::Failed,
            error: format!("the outcome could not be sent: {error}"),
            remedy: None,
        });
    }
}

/// What kind of failure `error` is. After the coordinator's cancel every failure is a consequence.
pub(crate) fn classify(error: &MeasureError, told_to_cancel: bool) -> FailureClass {
    let met = |e: &BootstrapError| match e {
        BootstrapError::Cancelled | BootstrapError::PeerLost { .. } => FailureClass::PeerLost,
        _ => FailureClass::Failed,
    };
    match error {
        MeasureError::Usage(_) => FailureClass::Usage,
        MeasureError::Unsupported(_) => FailureClass::Unsupported,
        _ if told_to_cancel => FailureClass::PeerLost,
        MeasureError::Bootstrap(e) | MeasureError::Connect(ConnectError::Bootstrap(e)) => met(e),
        MeasureError::Memory(_) | MeasureError::Connect(ConnectError::Memory { .. }) => FailureClass::Memory,
        MeasureError::Connect(ConnectError::Refused { .. }) => FailureClass::Refused,
        _ => FailureClass::Failed,
    }
}

/// Let the calling thread run on any allowed CPU but those that ranks of `case` are pinned to, where one is left.
fn keep_off_measuring_cpus(case: &Case) {
    let Ok(mut cpus) = rustix::thread::sched_getaffinity(None) else {
        return;
    };
    for cpu in case.ranks.iter().filter_map(|rank| rank.cpu) {
        if (cpu as usize) < rustix::thread::CpuSet::MAX_CPU {
            cpus.unset(cpu as usize);
        }
    }
    if cpus.count() > 0 {
        // Refused: the thread stays where it may be; the scheduler decides.
        let _ = rustix::thread::sched_setaffinity(None, &cpus);
    }
}
