//! A session at a coordinator, as its client sees it: created by one request, kept by asking after it every second, its
//! control channels carried by its nodes, ended by another request. It must never keep a node waiting for a client
//! that is gone.

use crate::api::{self, ComputationStatus, CreateSession, Created};
use crate::daemon::splice;
use crate::http::Far;
use crate::live::Ask;
use crate::members::{self, Channels, Member};
use crate::report::SessionReport;
use serde_json::Value;
use std::io;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wirespeed_control::address::Address;
use wirespeed_control::{Failure, Identity, Launch, RankProgram, StopFlag};

/// Time for a session to become ready.
const CREATE_TIME: Duration = Duration::from_secs(30);
/// Time for anything else.
const CALL_TIME: Duration = Duration::from_secs(10);
/// How often its nodes hear of their client.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// A channel closes before its node knows how the computation ended; its node is asked for so long.
const TOLD_WITHIN: Duration = Duration::from_millis(500);
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A session at a coordinator.
pub(crate) struct Remote {
    coordinator: Far,
    id: String,
    members: Arc<Vec<Member>>,
    local_address: IpAddr,
    here: bool,
    watch: Arc<Watch>,
    /// Dropped, it ends the keeper.
    keeping: Option<mpsc::Sender<()>>,
    ended: bool,
}

impl Remote {
    pub(crate) fn create(
        ask: &Ask,
        address: &Address,
        identity: &Identity,
        stop: &StopFlag,
    ) -> Result<Self, Failure> {
        let far = |what, address: &Address| Far {
            what,
            address: address.clone(),
            identity: identity.clone(),
            stop: stop.clone(),
        };
        let coordinator = far("coordinator", address);
        let request = CreateSession {
            definition: ask.definition.clone(),
            work: ask.work.clone(),
            daemon: ask.daemon,
        };
        let answer = coordinator.call("POST", "/coordinator/1/sessions", &request, CREATE_TIME)?;
        let created: Created = serde_json::from_value(answer).map_err(|_| strange())?;
        let here = created.computations.iter().all(|c| c.machine == api::machine());
        let mut remote = Remote {
            coordinator,
            id: created.id.clone(),
            members: Arc::default(),
            local_address: IpAddr::from([127, 0, 0, 1]),
            here,
            watch: Arc::default(),
            keeping: None,
            ended: false,
        };
        remote.connect(&created, far)?;
        Ok(remote)
    }

    /// Open the channel of every computation, and keep the session from here on.
    fn connect(
        &mut self,
        created: &Created,
        far: impl Fn(&'static str, &Address) -> Far,
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
            self.local_address = far_end.local_address;
            let (ours, theirs) = UnixStream::pair().map_err(no_thread)?;
            let open = Arc::new(AtomicBool::new(true));
            let closed = open.clone();
            std::thread::Builder::new()
                .name("channel".into())
                .spawn(move || {
                    splice(far_end.reader, far_end.writer, &theirs);
                    closed.store(false, Ordering::Release);
                })
                .map_err(no_thread)?;
            members.push(Member {
                name: placed.name.clone(),
                address: node.address.resolve().map_err(|_| strange())?[0].ip(),
                pid: placed.pid,
                channel: Mutex::new(Some(ours)),
                open,
            });
            if nodes.iter().all(|known| known.address != node.address) {
                nodes.push(node);
            }
        }
        self.members = Arc::new(members);
        self.keep(nodes)
    }

    /// Ask after the session every second, which tells its nodes that its client lives.
    fn keep(&mut self, nodes: Vec<Far>) -> Result<(), Failure> {
        let (sender, end) = mpsc::channel();
        let watch = Arc::new(Watch {
            path: format!("/node/1/sessions/{}", self.id),
            nodes,
            early: Mutex::default(),
        });
        self.watch = watch.clone();
        let keeper = move || {
            while end.recv_timeout(KEEP_EVERY) == Err(RecvTimeoutError::Timeout) {
                watch.ask();
            }
        };
        std::thread::Builder::new()
            .name("keeper".into())
            .spawn(keeper)
            .map_err(no_thread)?;
        self.keeping = Some(sender);
        Ok(())
    }

    pub(crate) fn go(&self) -> Result<(), Failure> {
        let path = format!("/coordinator/1/sessions/{}/go", self.id);
        self.coordinator
            .call("PUT", &path, &Value::Null, CALL_TIME)
            .map(drop)
    }

    pub(crate) fn launcher(&self, client: RankProgram) -> Arc<dyn Launch> {
        Arc::new(Channels {
            client,
            members: self.members.clone(),
            local_address: self.local_address,
        })
    }

    pub(crate) fn is_here(&self) -> bool {
        self.here
    }

    pub(crate) fn early_end(&self) -> Option<Failure> {
        let told = self.watch.told();
        if told.is_some() {
            return told;
        }
        let lost = members::lost(&self.members)?;
        let until = Instant::now() + TOLD_WITHIN;
        loop {
            self.watch.ask();
            let told = self.watch.told();
            if told.is_some() || Instant::now() >= until {
                return told.or(Some(lost));
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    pub(crate) fn end(mut self) -> SessionReport {
        self.ended = true;
        self.delete().unwrap_or_else(|| SessionReport {
            id: Some(self.id.clone()),
            ..SessionReport::default()
        })
    }

    fn delete(&mut self) -> Option<SessionReport> {
        self.keeping = None;
        let path = format!("/coordinator/1/sessions/{}", self.id);
        let answer = self
            .coordinator
            .call("DELETE", &path, &Value::Null, CALL_TIME)
            .ok()?;
        serde_json::from_value(answer).ok()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if !self.ended {
            self.delete();
        }
        members::close(&self.members);
    }
}

/// What the nodes of a session say of its computations.
#[derive(Default)]
struct Watch {
    path: String,
    nodes: Vec<Far>,
    /// The first end that came early.
    early: Mutex<Option<Failure>>,
}

impl Watch {
    /// Ask every node once.
    fn ask(&self) {
        for node in &self.nodes {
            let failure = match node.call("GET", &self.path, &Value::Null, CALL_TIME) {
                Ok(answer) => died(&node.name(), answer),
                Err(failure) => Some(failure),
            };
            if let Some(failure) = failure {
                self.lock().get_or_insert(failure);
            }
        }
    }

    fn told(&self) -> Option<Failure> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failure>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first computation of a node's answer that ended early.
fn died(node: &str, answer: Value) -> Option<Failure> {
    let all: Vec<ComputationStatus> = serde_json::from_value(answer).unwrap_or_default();
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
