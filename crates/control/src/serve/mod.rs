//! The far end: a daemon that runs ranks for its clients, in processes of their own.
//!
//! One thread sleeps on the listening sockets; every connection has a thread of its own that ends by a deadline until
//! its client has proven who it is. Nothing that a stranger sends may reach further than the TLS handshake; nothing that
//! a client sends may end the daemon or hold up another client.

mod door;
mod journal;
mod limits;
pub mod listen;
mod session;
mod slots;
#[cfg(test)]
mod tests;

pub use limits::RANK_BYTES_MIN;

use crate::auth::keyfile::KeyFile;
use crate::auth::{Identity, tls};
use crate::error::ControlError;
use crate::launch::program::RankProgram;
use crate::session::Timing;
use crate::stop::StopFlag;
use crate::strangers::Strangers;
use crate::thread::spawn;
use journal::Journal;
use parking_lot::{Condvar, Mutex};
use slots::Slots;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wirespeed_schema::case::Case;
use wirespeed_schema::message::{Blob, ServerLimits};

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// 127.0.0.1 and ::1.
    Loopback,
    /// Every address of this machine, IPv4 and IPv6.
    Everywhere,
    /// These addresses.
    Addresses(Vec<IpAddr>),
}

impl Listen {
    /// The addresses that it stands for.
    pub fn addresses(&self) -> Vec<IpAddr> {
        match self {
            Listen::Loopback => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            Listen::Everywhere => vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
            Listen::Addresses(addresses) => addresses.clone(),
        }
    }
}

/// How a daemon serves.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where to listen.
    pub listen: Listen,
    /// The port; 0 for any free one.
    pub port: u16,
    /// What is enforced. `clients_max` above 1 measures several clients at once and says so in their results.
    pub limits: ServerLimits,
    /// How long to wait for what.
    pub timing: Timing,
    /// The program that becomes a rank.
    pub program: RankProgram,
    /// Serve one client, then stop.
    pub once: bool,
    /// CPUs for this end's ranks, in turn, whatever the client asks for; `None` leaves the choice to the case.
    pub cpus: Option<Vec<u32>>,
}

/// One line of the daemon's log, one line of text.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// The client that it is about.
    pub client: Option<SocketAddr>,
    /// What happened.
    pub text: String,
    /// The same for programs.
    pub event: LogEvent,
}

/// What a line of the log is about.
#[derive(Debug, Clone)]
pub enum LogEvent {
    /// A client has proven who it is.
    Accepted,
    /// Ranks of this case begin.
    Runs(Box<Case>),
    /// A case was refused, or did not run to its end.
    Failed,
    /// Anything else.
    Other,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.client {
            Some(client) => write!(f, "{client}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// How a daemon ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// A case was refused, or did not run to its end.
    pub failed: bool,
    /// Nobody reads the log: what else is written there may wait for ever.
    pub unread: bool,
}

/// Receives log lines, in a thread of the daemon's that nobody waits for.
pub type Log = Arc<dyn Fn(LogLine) + Send + Sync>;

/// Clients that prove who they are at the same time.
const STRANGERS_MAX: usize = 64;

/// What the threads of a daemon share.
struct Shared {
    options: ServeOptions,
    tls: Arc<rustls::ServerConfig>,
    identity: Identity,
    /// Drawn at random: no other server has it.
    number: Blob,
    door: Strangers,
    slots: Slots,
    stop: StopFlag,
    sessions: Mutex<usize>,
    session_ended: Condvar,
    next_id: AtomicU64,
    journal: Arc<Journal>,
}

impl Shared {
    fn log(&self, client: Option<SocketAddr>, text: impl Into<String>) {
        self.log_event(client, LogEvent::Other, text);
    }

    fn log_event(&self, client: Option<SocketAddr>, event: LogEvent, text: impl Into<String>) {
        self.journal.say(LogLine {
            client,
            text: crate::session::clean(&text.into()),
            event,
        });
    }

    /// Take one of the places of sessions: false when all are taken.
    fn enter(&self) -> bool {
        let limits = &self.options.limits;
        let most = limits.clients_max as usize + limits.queue_clients_max as usize;
        let mut sessions = self.sessions.lock();
        let free = *sessions < most;
        if free {
            *sessions += 1;
        }
        free
    }

    fn leave(&self) {
        *self.sessions.lock() -= 1;
        self.session_ended.notify_all();
    }
}

/// A daemon that listens already.
pub struct Daemon {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    log: Log,
}

impl Daemon {
    /// Listen as `options` say, with the identity of `key`.
    pub fn bind(
        options: ServeOptions,
        key: &KeyFile,
        stop: &StopFlag,
        log: Log,
    ) -> Result<Self, ControlError> {
        let tls = tls::server_config(key, tls::ALPN)?;
        let listeners = listen::bind(&options.listen, options.port)?;
        let addresses = listeners.iter().filter_map(|l| l.local_addr().ok()).collect();
        let mut number = vec![0; 16];
        rustix::rand::getrandom(&mut number, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| ControlError::lost("the system's source of random numbers", e))?;
        let shared = Shared {
            number: Blob(number),
            slots: Slots::new(options.limits.clients_max.max(1) as usize),
            options,
            tls,
            identity: key.identity().clone(),
            door: Strangers::new(STRANGERS_MAX),
            stop: stop.clone(),
            sessions: Mutex::new(0),
            session_ended: Condvar::new(),
            next_id: AtomicU64::new(1),
            journal: Arc::default(),
        };
        Ok(Daemon {
            listeners,
            addresses,
            shared: Arc::new(shared),
            log,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What clients need; a secret.
    pub fn identity(&self) -> &Identity {
        &self.shared.identity
    }

    /// Serve until the stop flag is raised; then let running cases end in order, tell every client, and return.
    pub fn run(self) -> Result<Served, ControlError> {
        let shared = &self.shared;
        let started = shared.journal.write_to(self.log);
        started.map_err(|source| ControlError::File {
            what: "cannot start a thread for the log".into(),
            source,
        })?;
        listen::accept(&self.listeners, &shared.stop, |accepted| match accepted {
            Ok((stream, client)) => admit(shared, stream, client),
            Err(error) => shared.log(None, format!("cannot accept a connection: {error}")),
        })?;
        shared.log(None, "stopping");
        drop(self.listeners);
        shared.door.close();
        let timing = shared.options.timing;
        // Sessions end by themselves within these times; a second signal shortens them.
        let most = timing.orderly + timing.grace + Duration::from_secs(5);
        let deadline = Instant::now() + most;
        let mut sessions = shared.sessions.lock();
        while *sessions > 0 && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            shared.session_ended.wait_for(&mut sessions, left);
        }
        drop(sessions);
        Ok(Served {
            failed: shared.journal.has_failure(),
            unread: !shared.journal.close(),
        })
    }
}

/// A thread for a new connection.
fn admit(shared: &Arc<Shared>, stream: TcpStream, client: SocketAddr) {
    let id = shared.next_id.fetch_add(1, Ordering::Relaxed);
    let here = shared.clone();
    let visitor = match shared.door.enter(&stream) {
        Ok(visitor) => visitor,
        Err(error) => return shared.log(Some(client), format!("cannot keep the connection: {error}")),
    };
    let spawned = spawn(format!("client {id}"), move || {
        let greeted = door::greet(&here, stream, client);
        // No stranger any more, or gone.
        drop(visitor);
        match greeted {
            Ok(known) => {
                session::run(&here, id, client, known);
                here.leave();
                if here.options.once {
                    here.stop.request();
                }
            }
            Err(why) => here.log(Some(client), why),
        }
    });
    if let Err(error) = spawned {
        shared.log(Some(client), format!("cannot start a thread: {error}"));
    }
}
