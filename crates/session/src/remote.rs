//! A session at a coordinator, as its client sees it: created by one request, kept by asking after it every second, its
//! control channels carried by its nodes, ended by another request. A coordinator or a node that does not answer is a
//! failure of the session. It must never keep a node waiting for a client that is gone.

use crate::api::{ComputationStatus, Created};
use crate::ask::Ask;
use crate::daemon::splice;
use crate::http::Far;
use crate::members::{Member, Members};
use crate::report::{ComputationReport, SessionReport};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use wirespeed_control::address::Address;
use wirespeed_control::launch::stdio;
use wirespeed_control::thread::{side_by_side, spawn};
use wirespeed_control::{Failure, Identity, StopFlag};

/// Time for a session to become ready.
const CREATE_TIME: Duration = Duration::from_secs(60);
/// Time for anything else.
const CALL_TIME: Duration = Duration::from_secs(10);
/// How often coordinator and nodes hear of their client.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// One that is silent for so long is lost: with the time between two questions, ten seconds.
const SILENCE: Duration = Duration::from_secs(9);
/// A channel closes before its node knows how the computation ended; its node is asked for so long.
const TOLD_WITHIN: Duration = Duration::from_millis(500);
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A session at a coordinator.
pub(crate) struct Remote {
    coordinator: Far,
    id: String,
    pub(crate) members: Members,
    watch: Arc<Watch>,
    /// Dropped, they end the keepers.
    keeping: Vec<mpsc::Sender<()>>,
    ended: bool,
}

impl Remote {
    pub(crate) fn create(
        ask: &Ask,
        address: &Address,
        identity: &Identity,
        stop: &StopFlag,
        run: &StopFlag,
    ) -> Result<Self, Failure> {
        let far = |what, address: &Address| Far {
            what,
            address: address.clone(),
            identity: identity.clone(),
            stop: stop.clone(),
        };
        let coordinator = far("coordinator", address);
        let answer = coordinator.call("POST", "/coordinator/1/sessions", ask, CREATE_TIME)?;
        let created: Created = Deserialize::deserialize(&answer).map_err(|_| strange())?;
        let members = Members {
            all: Arc::default(),
            local_address: IpAddr::from([127, 0, 0, 1]),
            here: created.computations.iter().all(|c| c.machine == stdio::machine()),
        };
        let mut remote = Remote {
            coordinator,
            id: created.id.clone(),
            members,
            watch: Arc::default(),
            keeping: Vec::new(),
            ended: false,
        };
        remote.connect(&created, far, run)?;
        Ok(remote)
    }

    /// Open the channel of every computation, and keep the session from here on.
    fn connect(
        &mut self,
        created: &Created,
        far: impl Fn(&'static str, &Address) -> Far,
        run: &StopFlag,
    ) -> Result<(), Failure> {
        let mut members = Vec::new();
        let mut nodes: Vec<Far> = Vec::new();
        for placed in &created.computations {
            let node = far("node", &Address::parse(&placed.address).map_err(|_| strange())?);
            let path = format!(
                "/node/1/sessions/{}/computations/{}/channel",
                created.id, placed.name
            );
            let far_end = node.upgrade(&path)?;
            self.members.local_address = far_end.local_address;
            let (ours, theirs) = UnixStream::pair().map_err(no_thread)?;
            let open = Arc::new(AtomicBool::new(true));
            let closed = open.clone();
            let carrying = spawn("channel", move || {
                splice(far_end.reader, far_end.writer, &theirs);
                closed.store(false, Ordering::Release);
            });
            carrying.map_err(no_thread)?;
            members.push(Member {
                name: placed.name.clone(),
                node: placed.node.clone(),
                address: node.address.resolve(&node.stop).map_err(|_| strange())?[0].ip(),
                pid: placed.pid,
                channel: Mutex::new(Some(ours)),
                open,
            });
            if nodes.iter().all(|known| known.address != node.address) {
                nodes.push(node);
            }
        }
        self.members.all = Arc::new(members);
        self.keep(nodes, run)
    }

    /// Ask after the session every second, which tells its nodes that its client lives. Each has a keeper of its own: one
    /// that is silent must not keep the others from hearing.
    fn keep(&mut self, nodes: Vec<Far>, run: &StopFlag) -> Result<(), Failure> {
        let of_node = |far| Asked {
            path: format!("/node/1/sessions/{}", self.id),
            far: patient(far),
        };
        let coordinator = Asked {
            path: format!("/coordinator/1/sessions/{}", self.id),
            far: patient(self.coordinator.clone()),
        };
        let watch = Arc::new(Watch {
            nodes: nodes.into_iter().map(of_node).collect(),
            coordinator: Some(coordinator),
            early: Mutex::default(),
        });
        self.watch = watch.clone();
        for number in 0..=watch.nodes.len() {
            let (sender, end) = mpsc::channel::<()>();
            let (watch, run) = (watch.clone(), run.clone());
            let keeper = move || {
                while end.recv_timeout(KEEP_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if watch.ask(number) {
                        // What is measured ends in order, and is kept.
                        return run.request_orderly();
                    }
                }
            };
            spawn("keeper", keeper).map_err(no_thread)?;
            self.keeping.push(sender);
        }
        Ok(())
    }

    pub(crate) fn go(&self) -> Result<(), Failure> {
        let path = format!("/coordinator/1/sessions/{}/go", self.id);
        self.coordinator.ask("PUT", &path, CALL_TIME).map(drop)
    }

    pub(crate) fn early_end(&self) -> Option<Failure> {
        let told = self.watch.told();
        if told.is_some() {
            return told;
        }
        let lost = self.members.lost()?;
        let until = Instant::now() + TOLD_WITHIN;
        loop {
            self.watch.ask_nodes();
            let told = self.watch.told();
            if told.is_some() || Instant::now() >= until {
                return told.or(Some(lost));
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    pub(crate) fn end(mut self) -> SessionReport {
        self.ended = true;
        let computations = self.delete();
        SessionReport {
            id: Some(self.id.clone()),
            ..self.members.account(computations)
        }
    }

    /// End the session, at its nodes where the coordinator cannot: nothing of it may go on without its client.
    fn delete(&mut self) -> Vec<ComputationReport> {
        self.keeping.clear();
        let path = format!("/coordinator/1/sessions/{}", self.id);
        let lost = self.watch.coordinator_is_lost();
        let coordinator = (!lost).then(|| patient(self.coordinator.clone()));
        let answer = coordinator.and_then(|far| far.ask("DELETE", &path, CALL_TIME).ok());
        let report = answer.and_then(|answer| SessionReport::deserialize(&answer).ok());
        match report {
            Some(report) => report.computations,
            None => self.watch.end_at_nodes(),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if !self.ended {
            self.delete();
        }
        self.members.close();
    }
}

/// One that is asked after a session.
struct Asked {
    far: Far,
    path: String,
}

/// What coordinator and nodes of a session say of it.
#[derive(Default)]
struct Watch {
    nodes: Vec<Asked>,
    coordinator: Option<Asked>,
    early: Mutex<Early>,
}

#[derive(Default)]
struct Early {
    /// The first end that came early.
    first: Option<Failure>,
    coordinator_is_lost: bool,
}

impl Watch {
    /// Ask node `number`, or behind the last one the coordinator; whether the session is known to have ended early.
    fn ask(&self, number: usize) -> bool {
        let failure = match (self.nodes.get(number), &self.coordinator) {
            (Some(node), _) => match node.far.ask("GET", &node.path, SILENCE) {
                Ok(answer) => died(&node.far.name(), answer),
                Err(failure) => Some(lost(&node.far, failure)),
            },
            (None, Some(coordinator)) => {
                let answer = coordinator.far.ask("GET", &coordinator.path, SILENCE);
                self.early.lock().coordinator_is_lost = answer.is_err();
                answer.err().map(|failure| lost(&coordinator.far, failure))
            }
            (None, None) => None,
        };
        let mut early = self.early.lock();
        if let Some(failure) = failure {
            early.first.get_or_insert(failure);
        }
        early.first.is_some()
    }

    fn ask_nodes(&self) {
        for number in 0..self.nodes.len() {
            self.ask(number);
        }
    }

    /// End the session at each node; what they tell of its computations.
    fn end_at_nodes(&self) -> Vec<ComputationReport> {
        let end = |node: &Asked| node.far.ask("DELETE", &node.path, CALL_TIME);
        let told = side_by_side(&self.nodes, self.nodes.len(), end)
            .into_iter()
            .flatten();
        let reports = told.flat_map(|answer| Vec::<ComputationReport>::deserialize(&answer));
        reports.flatten().collect()
    }

    fn told(&self) -> Option<Failure> {
        self.early.lock().first.clone()
    }

    fn coordinator_is_lost(&self) -> bool {
        self.early.lock().coordinator_is_lost
    }
}

/// Asked also when the user has had enough: a session is ended in order.
fn patient(far: Far) -> Far {
    Far {
        stop: StopFlag::new(),
        ..far
    }
}

/// One that answered before, and does not now.
fn lost(far: &Far, failure: Failure) -> Failure {
    crate::failed(
        format!("{} went away in mid-session: {}", far.name(), failure.message),
        format!("look at the messages of that {}, and run again", far.what),
    )
}

/// The first computation of a node's answer that ended early.
fn died(node: &str, answer: Value) -> Option<Failure> {
    let all: Vec<ComputationStatus> = Deserialize::deserialize(&answer).unwrap_or_default();
    let dead = all.into_iter().find_map(|computation| computation.early_end)?;
    Some(crate::failed(dead, format!("look at the messages of {node}")))
}

fn strange() -> Failure {
    crate::failed(
        "the coordinator's answer is no session",
        "check that both ends run the same wirespeed",
    )
}

fn no_thread(error: io::Error) -> Failure {
    crate::failed(
        format!("cannot carry a session's channel: {error}"),
        "close some files or processes and run again",
    )
}
