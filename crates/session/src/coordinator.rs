//! `wirespeed coordinator`: it knows the nodes, places sessions on them all or nothing, and ends them. What is free is
//! asked of the nodes each time, so that a coordinator that was restarted knows as much as one that was not.
//!
//! It must never start a process itself.

use crate::Tell;
use crate::api::{Created, NodeStatus, Placed, Register, StartOnNode};
use crate::ask::Ask;
use crate::daemon::parse;
use crate::definition::Computation;
use crate::http::{self, Far, Request, to_value};
use crate::node::{Free, too_much};
use crate::openapi;
use crate::registration::REGISTER_EVERY;
use crate::report::{ComputationReport, SessionReport};
use crate::say::Work;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wirespeed_control::address::Address;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::secure::{SecureListener, SecureReader, SecureWriter, Stranger};
use wirespeed_control::thread::spawn;
use wirespeed_control::watch::Watch;
use wirespeed_control::{ControlError, Failure, Identity, Listen, StopFlag};
use wirespeed_schema::units::counted;

/// The coordinator's port, as the original's.
pub const DEFAULT_PORT: u16 = 8087;
/// A node that has not made itself known for so long is forgotten.
const NODE_LEASE: Duration = Duration::from_secs(8);
/// Time for a node to have its part of a session ready.
const START_TIME: Duration = Duration::from_secs(40);
/// Time for any other request to a node.
const CALL_TIME: Duration = Duration::from_secs(8);
/// Between two looks for nodes that have fallen silent.
const LOOK: Duration = Duration::from_millis(500);
/// A request waits so long for a first node: daemons are started side by side.
const FIRST_NODE_TIME: Duration = Duration::from_secs(2);

/// How a coordinator serves.
#[derive(Debug, Clone)]
pub struct CoordinatorOptions {
    /// Where to listen.
    pub listen: Listen,
    /// The port; 0 for any free one.
    pub port: u16,
}

struct KnownNode {
    far: Far,
    /// By the coordinator's watch.
    heard: Duration,
}

#[derive(Default)]
struct State {
    nodes: BTreeMap<String, KnownNode>,
    /// Nodes of each session.
    sessions: BTreeMap<String, Vec<String>>,
    /// The session that is being placed: no node tells of it before it is ready there.
    starting: Option<String>,
}

impl State {
    /// Sessions that a node would tell of, if they have not ended.
    fn settled(&self) -> Vec<String> {
        let ids = self.sessions.keys();
        ids.filter(|id| self.starting.as_ref() != Some(id))
            .cloned()
            .collect()
    }

    /// Forget those of the `settled` sessions that have ended, by what nodes said since: none has them, and every node of
    /// theirs that is still known has answered.
    fn forget_ended(&mut self, settled: &[String], answers: &[NodeStatus]) {
        let nodes = &self.nodes;
        self.sessions.retain(|id, names| {
            let has_answered = |name: &String| answers.iter().any(|node| node.name == *name);
            !settled.contains(id)
                || runs(id, answers)
                || names
                    .iter()
                    .any(|name| nodes.contains_key(name) && !has_answered(name))
        });
    }
}

/// Whether a node says that it has this session.
fn runs(id: &String, answers: &[NodeStatus]) -> bool {
    answers.iter().any(|node| node.sessions.contains(id))
}

struct Shared {
    identity: Identity,
    stop: StopFlag,
    state: Mutex<State>,
    next: AtomicU64,
    /// One placement at a time: what is free must not change between asking and taking.
    placing: Mutex<()>,
    /// While the coordinator stands still no node is heard, and none is silent.
    watch: Watch,
    tell: Tell,
}

/// The daemon, listening.
pub struct Coordinator {
    listener: SecureListener,
    shared: Arc<Shared>,
}

impl Coordinator {
    /// Listen. Nodes that come and go are told to `tell`.
    pub fn bind(
        options: &CoordinatorOptions,
        key: &KeyFile,
        stop: &StopFlag,
        tell: Tell,
    ) -> Result<Self, ControlError> {
        Ok(Coordinator {
            listener: SecureListener::bind(&options.listen, options.port, key, stop)?,
            shared: Arc::new(Shared {
                identity: key.identity().clone(),
                stop: stop.clone(),
                state: Mutex::default(),
                next: AtomicU64::new(1),
                placing: Mutex::default(),
                watch: Watch::new(NODE_LEASE),
                tell,
            }),
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.listener.addresses()
    }

    /// Serve until the stop flag is raised. Clients notice that it is gone, and end their sessions at the nodes.
    pub fn run(self) -> Result<(), ControlError> {
        let (shared, watched) = (self.shared.clone(), self.shared);
        // Dropped, it ends the janitor.
        let (serving, ended) = mpsc::channel::<()>();
        let janitor = spawn("janitor", move || {
            let wait = || watched.watch.wait(LOOK, |time| ended.recv_timeout(time));
            while wait() == Err(RecvTimeoutError::Timeout) {
                watched.forget_silent();
            }
        });
        let result = self
            .listener
            .run(move |reader, writer, stranger| shared.serve(reader, writer, stranger));
        drop(serving);
        if let Ok(janitor) = janitor {
            // It has no reason to panic; nodes are then forgotten when somebody asks for them.
            let _ = janitor.join();
        }
        result
    }
}

impl Shared {
    fn serve(&self, mut reader: SecureReader, mut writer: SecureWriter, stranger: Stranger) {
        if let Some(request) = http::request(&mut reader, &mut writer, &self.identity, stranger) {
            http::answer(&mut writer, self.answer(&request));
        }
    }

    fn answer(&self, request: &Request) -> Result<(u16, Value), Failure> {
        let ok = |body: Value| Ok((200, body));
        match (request.method.as_str(), &request.parts()[..]) {
            ("GET", ["coordinator", "1", "openapi.json"]) => ok(openapi::document()),
            ("GET", ["coordinator", "1", "nodes"]) => ok(to_value(&self.nodes())),
            ("POST", ["coordinator", "1", "nodes"]) => ok(self.register(parse(&request.body)?)?),
            ("GET", ["coordinator", "1", "sessions"]) => ok(to_value(&self.sessions())),
            ("POST", ["coordinator", "1", "sessions"]) => {
                let created = self.create(&parse(&request.body)?)?;
                Ok((201, to_value(&created)))
            }
            ("GET", ["coordinator", "1", "sessions", id]) => {
                let nodes = self.nodes_of(id)?;
                // Nodes end what nobody asks for.
                for (_, far) in &nodes {
                    far.ask("GET", &format!("/node/1/sessions/{id}"), CALL_TIME)?;
                }
                ok(json!({ "id": id, "nodes": nodes.iter().map(|(name, _)| name).collect::<Vec<_>>() }))
            }
            ("PUT", ["coordinator", "1", "sessions", id, "go"]) => {
                for (_, far) in self.nodes_of(id)? {
                    far.ask("PUT", &format!("/node/1/sessions/{id}/go"), CALL_TIME)?;
                }
                ok(Value::Null)
            }
            ("DELETE", ["coordinator", "1", "sessions", id]) => ok(to_value(&self.end(id)?)),
            _ => Err(crate::usage(
                "there is nothing there",
                "GET /coordinator/1/openapi.json says what there is",
            )),
        }
    }

    fn register(&self, register: Register) -> Result<Value, Failure> {
        let address = Address::parse(&register.address).map_err(|e| Failure::from(&e))?;
        let far = Far {
            what: "node",
            address,
            identity: self.identity.clone(),
            stop: self.stop.clone(),
        };
        let name = wirespeed_control::session::clean(&register.name);
        let (at, heard) = (far.address.clone(), self.watch.now());
        let before = self
            .state
            .lock()
            .nodes
            .insert(name.clone(), KnownNode { far, heard });
        match before {
            None => (self.tell)(&format!("node {name} is there, at {at}")),
            Some(before) if before.far.address != at => {
                (self.tell)(&format!("node {name} is at {at} now, and no longer where it was"));
            }
            Some(_) => {}
        }
        Ok(json!({ "again_within_ns": (REGISTER_EVERY * 2).as_nanos() as u64 }))
    }

    /// Forget nodes that have not made themselves known lately.
    fn forget_silent(&self) {
        let mut silent = Vec::new();
        let now = self.watch.now();
        self.state.lock().nodes.retain(|name, node| {
            let is_heard = now.saturating_sub(node.heard) < NODE_LEASE;
            silent.extend((!is_heard).then(|| name.clone()));
            is_heard
        });
        for name in silent {
            let seconds = NODE_LEASE.as_secs();
            (self.tell)(&format!(
                "node {name} is gone: nothing was heard of it for {seconds} s"
            ));
        }
    }

    /// Nodes that made themselves known lately.
    fn live_nodes(&self) -> Vec<(String, Far)> {
        self.forget_silent();
        self.state
            .lock()
            .nodes
            .iter()
            .map(|(name, node)| (name.clone(), node.far.clone()))
            .collect()
    }

    /// Every node with what is free there; one that does not answer is left out.
    fn nodes(&self) -> Vec<NodeStatus> {
        let ask = |(name, far): (String, Far)| {
            let answer = far.ask("GET", "/node/1/status", CALL_TIME).ok()?;
            let status: NodeStatus = Deserialize::deserialize(&answer).ok()?;
            // The name that is known here, of which what no screen shows was taken away.
            Some(NodeStatus { name, ..status })
        };
        self.live_nodes().into_iter().filter_map(ask).collect()
    }

    /// Sessions that some node says it has.
    fn sessions(&self) -> Vec<Value> {
        let settled = self.state.lock().settled();
        let answers = self.nodes();
        let mut state = self.state.lock();
        state.forget_ended(&settled, &answers);
        let listed = state.sessions.iter().filter(|(id, _)| runs(id, &answers));
        listed
            .map(|(id, nodes)| json!({ "id": id, "nodes": nodes }))
            .collect()
    }

    fn nodes_of(&self, id: &str) -> Result<Vec<(String, Far)>, Failure> {
        let state = self.state.lock();
        let names = state.sessions.get(id).ok_or_else(|| {
            crate::failed(
                format!("there is no session {}", wirespeed_control::session::clean(id)),
                "GET /coordinator/1/sessions lists them",
            )
        })?;
        let far = |name: &String| Some((name.clone(), state.nodes.get(name)?.far.clone()));
        Ok(names.iter().filter_map(far).collect())
    }

    /// Place, start and wait until everybody is ready; all or nothing.
    fn create(&self, ask: &Ask) -> Result<Created, Failure> {
        ask.definition.check()?;
        let _placing = self.placing.lock();
        let nodes = self.wait_for_nodes()?;
        let computations = ask.computations();
        let places = place(&computations, &nodes)?;
        let id = self.new_id();
        self.state.lock().starting = Some(id.clone());
        let placed = self.start(&id, &computations, &places);
        self.state.lock().starting = None;
        match placed {
            Ok(computations) => Ok(Created { id, computations }),
            Err(failure) => {
                // What has started ends; where nothing has, there is no such session.
                let _ = self.end(&id);
                Err(failure)
            }
        }
    }

    /// Start `computations` at their `places`, node by node, and wait until they are ready.
    fn start(
        &self,
        id: &str,
        computations: &[(Computation, Work)],
        places: &[String],
    ) -> Result<Vec<Placed>, Failure> {
        let far: BTreeMap<String, Far> = self.live_nodes().into_iter().collect();
        let names: BTreeSet<&String> = places.iter().collect();
        let mut placed: Vec<Option<Placed>> = vec![None; computations.len()];
        let mut used: Vec<String> = Vec::new();
        for name in names {
            let own: Vec<usize> = (0..places.len()).filter(|at| places[*at] == *name).collect();
            let far = far.get(name).ok_or_else(|| {
                let name = wirespeed_control::session::clean(name);
                crate::failed(
                    format!(
                        "node {name} is gone: nothing was heard of it for {} s",
                        NODE_LEASE.as_secs()
                    ),
                    "try again",
                )
            })?;
            used.push(name.clone());
            self.state.lock().sessions.insert(id.to_owned(), used.clone());
            let start = StartOnNode {
                id: id.to_owned(),
                computations: own.iter().map(|at| computations[*at].clone()).collect(),
            };
            let answer = far.call("POST", "/node/1/sessions", &start, START_TIME)?;
            let started: Vec<Placed> = Deserialize::deserialize(&answer)
                .map_err(|_| crate::failed("a node's answer is strange", "update the older daemon"))?;
            for (at, mut one) in own.into_iter().zip(started) {
                one.address = far.address.to_string();
                placed[at] = Some(one);
            }
        }
        Ok(placed.into_iter().flatten().collect())
    }

    fn wait_for_nodes(&self) -> Result<Vec<NodeStatus>, Failure> {
        let until = Instant::now() + FIRST_NODE_TIME;
        loop {
            let nodes = self.nodes();
            if !nodes.is_empty() {
                return Ok(nodes);
            }
            if Instant::now() >= until {
                return Err(match self.live_nodes().len() {
                    0 => crate::refused(
                        "the coordinator knows no node",
                        "start `wirespeed node --coordinator HOST:PORT` on each host",
                    ),
                    known => crate::refused(
                        format!(
                            "none of the {} that the coordinator knows answers",
                            counted(known as u64, "node")
                        ),
                        "look at the messages of the nodes, and whether a firewall is between",
                    ),
                });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Numbers of one coordinator's life are told from those of another by its time.
    fn new_id(&self) -> String {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{number}", since.as_micros())
    }

    fn end(&self, id: &str) -> Result<SessionReport, Failure> {
        let nodes = self.nodes_of(id)?;
        self.state.lock().sessions.remove(id);
        let mut computations: Vec<ComputationReport> = Vec::new();
        for (_, far) in nodes {
            // A node that is gone has nothing to tell.
            let answer = far.ask("DELETE", &format!("/node/1/sessions/{id}"), CALL_TIME);
            let reports = answer
                .ok()
                .and_then(|answer| Deserialize::deserialize(&answer).ok());
            computations.extend(reports.unwrap_or_else(Vec::new));
        }
        Ok(SessionReport {
            id: Some(id.to_owned()),
            computations,
            ..SessionReport::default()
        })
    }
}

fn counted_names(nodes: &[NodeStatus]) -> String {
    const SHOWN_MAX: usize = 8;
    let names: Vec<&str> = nodes
        .iter()
        .take(SHOWN_MAX)
        .map(|node| node.name.as_str())
        .collect();
    let more = if nodes.len() > SHOWN_MAX { ", .." } else { "" };
    names.join(", ") + more
}

/// The node of each computation: the first that has room, in the order of their names; the daemon stands beside the
/// main computation. What fits nowhere is refused with what is free.
pub(crate) fn place(
    computations: &[(Computation, Work)],
    nodes: &[NodeStatus],
) -> Result<Vec<String>, Failure> {
    let mut free: Vec<(&str, Free)> = nodes.iter().map(|node| (node.name.as_str(), node.free)).collect();
    let mut places = Vec::with_capacity(computations.len());
    for (computation, _) in computations {
        let fits = |(name, free): &&mut (&str, Free)| {
            computation.node.as_ref().is_none_or(|wanted| wanted == name)
                && free.holds(&computation.resources)
        };
        let Some((name, free)) = free.iter_mut().find(fits) else {
            let known = nodes
                .iter()
                .any(|node| Some(&node.name) == computation.node.as_ref());
            if let Some(wanted) = computation.node.as_ref().filter(|_| !known) {
                return Err(crate::refused(
                    format!("there is no node {wanted:?} for {}", computation.name),
                    format!("name one of {}", counted_names(nodes)),
                ));
            }
            return Err(too_much(&computation.resources, &free));
        };
        free.take(&computation.resources);
        places.push((*name).to_owned());
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Definition, Resources};
    use wirespeed_schema::Finite;

    fn node(name: &str, cores: f64) -> NodeStatus {
        NodeStatus {
            name: name.into(),
            machine: String::new(),
            free: Free {
                cores,
                memory_bytes: 1 << 30,
            },
            sessions: Vec::new(),
        }
    }

    #[test]
    fn a_session_is_forgotten_when_all_its_nodes_say_that_it_has_ended() {
        let named = |id: &str| (id.to_owned(), vec!["a".to_owned(), "b".to_owned()]);
        let mut state = State {
            nodes: ["a", "b"].map(|name| (name.to_owned(), known())).into(),
            sessions: ["old", "new", "kept"].map(named).into(),
            starting: Some("new".to_owned()),
        };
        let settled = state.settled();
        assert_eq!(settled, ["kept", "old"]);
        let with = |name, sessions: &[&str]| NodeStatus {
            sessions: sessions.iter().map(|id| (*id).to_owned()).collect(),
            ..node(name, 1.0)
        };
        // Node b was slow once: what it has may go on.
        state.forget_ended(&settled, &[with("a", &[])]);
        assert_eq!(state.sessions.len(), 3);
        // The new one was not ready when the nodes answered, and is by now.
        state.starting = None;
        let answers = [with("a", &[]), with("b", &["kept"])];
        state.forget_ended(&settled, &answers);
        assert!(state.sessions.keys().eq(["kept", "new"]));
        assert!(runs(&"kept".to_owned(), &answers) && !runs(&"new".to_owned(), &answers));
        // A node that is gone has none.
        state.nodes.remove("b");
        let settled = state.settled();
        state.forget_ended(&settled, &[with("a", &[])]);
        assert!(state.sessions.is_empty());
    }

    fn known() -> KnownNode {
        KnownNode {
            far: Far {
                what: "node",
                address: Address::parse("127.0.0.1:1").unwrap(),
                identity: Identity::from_text(&format!("WS1:{}", "A".repeat(86))).unwrap(),
                stop: StopFlag::new(),
            },
            heard: Duration::ZERO,
        }
    }

    fn asking(cores: &[f64]) -> Vec<(Computation, Work)> {
        let mut definition = Definition::benchmark(cores.len() as u32);
        for (computation, cores) in definition.computations.iter_mut().zip(cores) {
            computation.resources = Resources {
                cores: Finite::maybe(*cores),
                memory_bytes: None,
            };
        }
        definition
            .expand()
            .into_iter()
            .map(|c| (c, Work::default()))
            .collect()
    }

    #[test]
    fn first_fit_all_or_nothing() {
        let nodes = [node("a", 2.0), node("b", 4.0)];
        assert_eq!(place(&asking(&[1.5, 1.0, 0.5]), &nodes).unwrap(), ["a", "b", "a"]);
        let refused = place(&asking(&[4.0, 1.0, 2.0]), &nodes).unwrap_err();
        assert!(
            refused.message.contains("a has 1 core ") && refused.message.contains("b has 0"),
            "{refused:?}"
        );
        let mut pinned = asking(&[1.0]);
        pinned[0].0.node = Some("b".into());
        assert_eq!(place(&pinned, &nodes).unwrap(), ["b"]);
        pinned[0].0.node = Some("c".into());
        assert!(
            place(&pinned, &nodes)
                .unwrap_err()
                .message
                .contains("no node \"c\"")
        );
    }
}
