//! `wirespeed node`: a node behind a door of HTTP. It starts and ends computations for whoever has the key, passes
//! control channels on, and ends sessions whose client is gone.
//!
//! Data of a measurement never pass through here; the daemon that passes messages on is a computation of its own.

use crate::Tell;
use crate::api::{ComputationStatus, NodeStatus, Placed, StartOnNode};
use crate::http::{self, Far, Request, to_value};
use crate::node::Node;
use crate::registration::Registration;
use crate::running::Running;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use wirespeed_control::address::Address;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::launch::stdio;
use wirespeed_control::secure::{SecureListener, SecureReader, SecureWriter, Stranger};
use wirespeed_control::thread::spawn;
use wirespeed_control::watch::Watch;
use wirespeed_control::{ControlError, Failure, Identity, Listen, StopFlag};

/// A session that nobody asked about for so long has no client any more.
const LEASE: Duration = Duration::from_secs(6);
/// A session whose client closed a channel ends so soon.
const FAREWELL: Duration = Duration::from_secs(2);
/// Between two looks for such sessions.
const LOOK: Duration = Duration::from_millis(500);

/// How a node serves.
#[derive(Debug, Clone)]
pub struct NodeOptions {
    /// Where to listen.
    pub listen: Listen,
    /// The port; 0 for any free one.
    pub port: u16,
    /// The coordinator to make itself known to.
    pub coordinator: Option<Address>,
}

/// Computations of one session on this node.
struct Held {
    all: Vec<Arc<Running>>,
    /// By the watch of the node, as all times here.
    touched: Duration,
    client_left: Option<Duration>,
}

type Sessions = BTreeMap<String, Held>;

struct Shared {
    node: Node,
    identity: Identity,
    sessions: Mutex<Sessions>,
    /// While the node stands still nobody is heard, and no lease ends.
    watch: Watch,
}

/// The daemon, listening.
pub struct NodeDaemon {
    listener: SecureListener,
    shared: Arc<Shared>,
    coordinator: Option<Address>,
    stop: StopFlag,
    tell: Tell,
}

impl NodeDaemon {
    /// Listen. How it gets on with its coordinator goes to `tell`.
    pub fn bind(
        options: &NodeOptions,
        node: Node,
        key: &KeyFile,
        stop: &StopFlag,
        tell: Tell,
    ) -> Result<Self, ControlError> {
        Ok(NodeDaemon {
            listener: SecureListener::bind(&options.listen, options.port, key, stop)?,
            shared: Arc::new(Shared {
                node,
                identity: key.identity().clone(),
                sessions: Mutex::default(),
                watch: Watch::new(LEASE),
            }),
            coordinator: options.coordinator.clone(),
            stop: stop.clone(),
            tell,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.listener.addresses()
    }

    /// Serve until the stop flag is raised; then every computation is ended.
    pub fn run(self) -> Result<(), ControlError> {
        let shared = self.shared.clone();
        let (janitor_shared, stop) = (shared.clone(), self.stop.clone());
        let mut registration = self.coordinator.clone().map(|address| {
            let far = Far {
                what: "coordinator",
                address,
                identity: shared.identity.clone(),
                stop: self.stop.clone(),
            };
            Registration::new(far, shared.node.name(), self.addresses(), self.tell.clone())
        });
        let janitor = spawn("janitor", move || {
            while !stop.is_requested() {
                janitor_shared.end_abandoned();
                if let Some(registration) = &mut registration {
                    registration.renew();
                }
                janitor_shared.watch.wait(LOOK, std::thread::sleep);
            }
        });
        let served = shared.clone();
        let result = self
            .listener
            .run(move |reader, writer, stranger| served.serve(reader, writer, stranger));
        if let Ok(janitor) = janitor {
            // It ends with the stop flag.
            let _ = janitor.join();
        }
        shared.sessions.lock().clear();
        result
    }
}

impl Shared {
    fn serve(&self, mut reader: SecureReader, mut writer: SecureWriter, stranger: Stranger) {
        let Some(request) = http::request(&mut reader, &mut writer, &self.identity, stranger) else {
            return;
        };
        if let (["node", "1", "sessions", id, "computations", name, "channel"], "POST") =
            (&request.parts()[..], request.method.as_str())
        {
            return self.pass_channel(id, name, reader, writer);
        }
        http::answer(&mut writer, self.answer(&request).map(|body| (200, body)));
    }

    fn answer(&self, request: &Request) -> Result<Value, Failure> {
        match (request.method.as_str(), &request.parts()[..]) {
            ("GET", ["node", "1", "status" | "health"]) => Ok(to_value(&self.status())),
            ("POST", ["node", "1", "sessions"]) => self.start(&request.body),
            ("PUT", ["node", "1", "sessions", id, "go"]) => {
                self.with(id, |held| held.all.iter().for_each(|running| running.go()))?;
                Ok(Value::Null)
            }
            ("GET", ["node", "1", "sessions", id]) => {
                let status = |running: &Arc<Running>| ComputationStatus {
                    name: running.name().to_owned(),
                    ended: running.ended(),
                    early_end: running.early_end().map(|failure| failure.message),
                };
                let all: Vec<_> = self.with(id, |held| held.all.iter().map(status).collect())?;
                Ok(to_value(&all))
            }
            ("DELETE", ["node", "1", "sessions", id]) => {
                let held = self.sessions.lock().remove(*id).ok_or_else(|| unknown(id))?;
                Ok(to_value(&Running::end_all(held.all)))
            }
            _ => Err(crate::usage(
                "there is nothing there",
                "see the OpenAPI document of the coordinator",
            )),
        }
    }

    fn status(&self) -> NodeStatus {
        NodeStatus {
            name: self.node.name().to_owned(),
            machine: stdio::machine(),
            free: self.node.free(),
            sessions: self.sessions.lock().keys().cloned().collect(),
        }
    }

    fn with<T>(&self, id: &str, act: impl FnOnce(&Held) -> T) -> Result<T, Failure> {
        let mut sessions = self.sessions.lock();
        let held = sessions.get_mut(id).ok_or_else(|| unknown(id))?;
        held.touched = self.watch.now();
        Ok(act(held))
    }

    fn start(&self, body: &[u8]) -> Result<Value, Failure> {
        let start: StartOnNode = parse(body)?;
        if start.computations.len() > crate::COMPUTATIONS_MAX || self.sessions.lock().contains_key(&start.id)
        {
            return Err(crate::usage(
                "no such session can be started",
                "use a number of its own",
            ));
        }
        let all = self.node.start_all(&start.computations)?;
        let placed = |running: &Arc<Running>| Placed {
            name: running.name().to_owned(),
            pid: running.pid(),
            node: self.node.name().to_owned(),
            address: String::new(),
            machine: stdio::machine(),
        };
        let placed: Vec<Placed> = all.iter().map(placed).collect();
        let held = Held {
            all,
            touched: self.watch.now(),
            client_left: None,
        };
        self.sessions.lock().insert(start.id, held);
        Ok(to_value(&placed))
    }

    /// Carry a rank's control channel until either end closes it.
    fn pass_channel(&self, id: &str, name: &str, reader: SecureReader, mut writer: SecureWriter) {
        let found = self.with(id, |held| {
            let running = held.all.iter().find(|running| running.name() == name)?;
            running.take_channel()
        });
        let Ok(Some(channel)) = found else {
            let gone = crate::failed(
                format!("{name} has no channel to hand out"),
                "ask for a new session",
            );
            return http::answer(&mut writer, Err(gone));
        };
        if http::switch_protocols(&mut writer).is_ok() {
            splice(reader, writer, &channel);
        }
        if let Some(held) = self.sessions.lock().get_mut(id) {
            held.client_left.get_or_insert_with(|| self.watch.now());
        }
    }

    /// End sessions whose client is gone.
    fn end_abandoned(&self) {
        let now = self.watch.now();
        let is_over = |since: Duration, time: Duration| now.saturating_sub(since) > time;
        let abandoned = |held: &Held| {
            is_over(held.touched, LEASE) || held.client_left.is_some_and(|at| is_over(at, FAREWELL))
        };
        let ids: Vec<String> = {
            let sessions = self.sessions.lock();
            let gone = sessions.iter().filter(|(_, held)| abandoned(held));
            gone.map(|(id, _)| id.clone()).collect()
        };
        for id in ids {
            let held = self.sessions.lock().remove(&id);
            held.map(|held| Running::end_all(held.all));
        }
    }
}

/// Copy both ways until one end closes; then both are closed.
pub(crate) fn splice(mut reader: SecureReader, mut writer: SecureWriter, channel: &UnixStream) {
    let (Ok(mut from), Ok(mut to)) = (channel.try_clone(), channel.try_clone()) else {
        return writer.close();
    };
    let closing = writer.clone();
    let back = spawn("channel", move || {
        copy(&mut from, &mut writer);
        writer.close();
    });
    copy(&mut reader, &mut to);
    // One that is closed already needs no closing.
    let _ = channel.shutdown(Shutdown::Both);
    closing.close();
    if let Ok(back) = back {
        let _ = back.join();
    }
}

fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; 32 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

fn unknown(id: &str) -> Failure {
    crate::failed(
        format!("there is no session {}", wirespeed_control::session::clean(id)),
        "it has ended; ask for a new one",
    )
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|e| crate::usage(format!("invalid request: {e}"), "see the OpenAPI document"))
}
