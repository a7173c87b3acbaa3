//! A session that runs: embedded on this machine, or through a coordinator. It starts in two phases (everybody ready,
//! then go), hands its computations' channels to a group of ranks, and ends with every computation gone.
//!
//! It must never be left running: dropping it ends it.

use crate::Tell;
pub use crate::ask::{Ask, DAEMON};
use crate::launched::{Engine, Launched as LaunchedSession};
use crate::node::Node;
use crate::remote::Remote;
use crate::report::{Life, SessionReport};
use crate::running::Running;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed_control::address::Address;
use wirespeed_control::{
    Failure, Identity, Launch, Launched, RankProcess, RankProgram, StopFlag, Subscription,
};
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::units::nanoseconds;

/// How often a held session looks for computations that died.
const LOOK: Duration = Duration::from_millis(100);
/// The death of a computation is known so soon after its channel closed.
const NOTICE: Duration = Duration::from_millis(20);
/// Where a session runs.
#[derive(Debug, Clone)]
pub enum Place {
    /// On this machine, started by this process.
    Embedded(Arc<Node>),
    /// Where a coordinator puts it.
    Coordinator {
        /// The coordinator.
        address: Address,
        /// Proves that it may be used.
        identity: Identity,
    },
    /// Where a launcher starts it.
    Launched {
        /// The launcher.
        engine: Engine,
        /// This program.
        program: RankProgram,
    },
}

enum Backend {
    Embedded(Vec<Arc<Running>>),
    Remote(Remote),
    Launched(LaunchedSession),
}

/// A running session.
pub struct Live {
    backend: Backend,
    requested: Instant,
    life: Mutex<Life>,
    /// Raised when the session ends early, or the user wants to stop.
    run: StopFlag,
    _passed_on: Subscription,
}

impl Live {
    /// Ask for a session; returns when all its computations are ready. `tell` has what a launcher says while it runs.
    pub fn begin(ask: &Ask, place: &Place, stop: &StopFlag, tell: &Tell) -> Result<Live, Failure> {
        let requested = Instant::now();
        let run = StopFlag::new();
        let passed_on = {
            let run = run.clone();
            stop.subscribe(move || run.request())
        };
        let backend = match place {
            Place::Embedded(node) => Backend::Embedded(start_all(node, ask)?),
            Place::Coordinator { address, identity } => {
                Backend::Remote(Remote::create(ask, address, identity, stop, &run)?)
            }
            Place::Launched { engine, program } => {
                Backend::Launched(LaunchedSession::create(ask, engine, program, stop, tell)?)
            }
        };
        let life = Life {
            ready_ns: nanoseconds(requested.elapsed()),
            ..Life::default()
        };
        Ok(Live {
            backend,
            requested,
            life: Mutex::new(life),
            run,
            _passed_on: passed_on,
        })
    }

    /// Ends what is measured, in order: raised by the user's wish, and when the session is known to end early.
    pub fn run_flag(&self) -> &StopFlag {
        &self.run
    }

    /// Everybody is ready: go.
    pub fn go(&self) -> Result<(), Failure> {
        match &self.backend {
            Backend::Embedded(all) => all.iter().for_each(|running| running.go()),
            Backend::Remote(remote) => remote.go()?,
            Backend::Launched(launched) => launched.go()?,
        }
        self.life.lock().go_ns = nanoseconds(self.requested.elapsed());
        Ok(())
    }

    /// Time since the session was asked for.
    pub fn age(&self) -> Duration {
        self.requested.elapsed()
    }

    /// The first message was answered so long after the request.
    pub fn note_first_message(&self, after_ns: u64) {
        self.life.lock().first_message_ns.get_or_insert(after_ns);
    }

    /// Starts ranks: `client` for the client, the computations' own processes for the others.
    pub fn launcher(&self, client: RankProgram) -> Arc<dyn Launch> {
        match &self.backend {
            Backend::Embedded(all) => Arc::new(Embedded {
                client,
                computations: all.clone(),
            }),
            Backend::Remote(remote) => remote.members.launcher(client),
            Backend::Launched(launched) => launched.members.launcher(client),
        }
    }

    /// Whether all ranks are on this machine.
    pub fn group_kind(&self) -> GroupKind {
        match &self.backend {
            Backend::Remote(remote) if !remote.members.here => GroupKind::Hosts,
            Backend::Launched(launched) if !launched.members.here => GroupKind::Hosts,
            _ => GroupKind::Processes,
        }
    }

    /// Why the session cannot go on, if a computation ended early.
    pub fn early_end(&self) -> Option<Failure> {
        match &self.backend {
            Backend::Embedded(all) => all.iter().find_map(|running| running.early_end()),
            Backend::Remote(remote) => remote.early_end(),
            Backend::Launched(launched) => launched.early_end(),
        }
    }

    /// As [`Live::early_end`], of an end that may be known within `time`: a group notices a closed channel before the
    /// computation's host has told how its process ended.
    pub fn early_end_within(&self, time: Duration) -> Option<Failure> {
        let until = Instant::now() + time;
        loop {
            let end = self.early_end();
            if end.is_some() || Instant::now() >= until {
                return end;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Hold sessions for `time`, or until the user stops them, or one of them ends early.
    pub fn hold(all: &[Live], time: Duration, stop: &StopFlag) -> Result<(), Failure> {
        let until = Instant::now() + time;
        loop {
            if let Some(failure) = all.iter().find_map(Live::early_end) {
                return Err(failure);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.is_requested() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// End it; returns when every computation is gone, with what is known of each.
    pub fn end(self) -> SessionReport {
        let began = Instant::now();
        let life = *self.life.lock();
        let mut report = match self.backend {
            Backend::Embedded(all) => SessionReport {
                computations: Running::end_all(all),
                ..SessionReport::default()
            },
            Backend::Remote(remote) => remote.end(),
            Backend::Launched(launched) => launched.end(),
        };
        report.life = Life {
            gone_ns: nanoseconds(began.elapsed()),
            ..life
        };
        report
    }
}

/// Start everything on one node; returns when all is ready, with nothing left when something is not.
pub(crate) fn start_all(node: &Node, ask: &Ask) -> Result<Vec<Arc<Running>>, Failure> {
    let computations = ask.computations();
    for (computation, _) in &computations {
        if let Some(wanted) = computation.node.as_ref().filter(|wanted| *wanted != node.name()) {
            return Err(crate::refused(
                format!("there is no node {wanted:?} for {}", computation.name),
                format!(
                    "name {}, leave the node out, or ask a coordinator with --host",
                    node.name()
                ),
            ));
        }
    }
    node.start_all(&computations)
}

/// Ranks of an embedded session.
#[derive(Debug)]
struct Embedded {
    client: RankProgram,
    computations: Vec<Arc<Running>>,
}

impl Launch for Embedded {
    fn name(&self) -> String {
        "a rank of the session".into()
    }

    fn launch(&self, rank: u32) -> io::Result<Launched> {
        if rank == 0 {
            return self.client.launch(rank);
        }
        let running = self.computations.get(rank as usize - 1);
        let running = running.ok_or_else(|| io::Error::other("the session has no such computation"))?;
        if let Some(how) = running.ended() {
            return Err(io::Error::other(format!("{}: {how}", running.name())));
        }
        let channel = running.take_channel();
        let used = || {
            io::Error::other(format!(
                "{} has left its group and cannot come back",
                running.name()
            ))
        };
        Ok(Launched {
            channel: channel.ok_or_else(used)?,
            process: Box::new(Member(running.clone())),
        })
    }
}

/// A computation as its group sees it. The session ends it, not the group.
struct Member(Arc<Running>);

impl RankProcess for Member {
    fn id(&self) -> u32 {
        self.0.pid()
    }

    fn ended(&mut self) -> Option<String> {
        // A computation outlives its part in the group, which has then ended; one that died is about to be known.
        self.0.wait_ended(NOTICE);
        Some(self.0.ended().unwrap_or_else(|| "its part has ended".into()))
    }

    fn kill(&mut self) {
        self.0.kill();
    }
}
