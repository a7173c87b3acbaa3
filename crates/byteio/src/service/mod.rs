//! The service: one thread a connection, each with a small window of its own and nothing shared but the open directory,
//! so that any number of readers of one resource never wait for each other.

mod answer;
mod conditions;
mod connection;
mod exchange;
mod failed;
mod files;
mod intake;
mod layout;
mod limits;
mod operations;
mod pace;
mod places;
mod plain;
mod properties;
mod soap;
mod spool;
mod stage;
mod streams;
mod upgraded;
mod versions;

/// The bulk stream's numbers, for the client.
pub(crate) mod wire {
    pub(crate) use super::upgraded::{ANSWER_BYTES, ASK_BYTES, INFO, PROTOCOL, READ, SHORT, WHOLE, WRITE};
}

pub use limits::Limits;

use exchange::Shared;
use files::Root;
use parking_lot::RwLock;
use places::Places;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use streams::Streams;
use versions::Versions;
use wirespeed_control::auth::http::SecureServer;
use wirespeed_control::serve::{Listen, listen};
use wirespeed_control::thread::spawn;
use wirespeed_control::{ControlError, StopFlag};

/// How often in a life it is looked whether it is over.
const LOOKS_A_LIFE: u32 = 10;
/// How often it is looked how fast the clients are.
const LOOKS: Duration = Duration::from_millis(250);

/// How the service runs.
pub struct ServiceOptions {
    /// The file, or the directory of files.
    pub path: PathBuf,
    /// Where it listens.
    pub listen: Listen,
    /// Port; 0 for any free one.
    pub port: u16,
    /// Whether files may be written.
    pub writable: bool,
    /// TLS and the token; `None` for plain HTTP.
    pub secure: Option<SecureServer>,
    /// What it bears.
    pub limits: Limits,
}

/// A service that listens.
pub struct Service {
    shared: Arc<Shared>,
    listeners: Vec<TcpListener>,
}

impl Service {
    /// Open what is served and listen.
    pub fn bind(options: ServiceOptions, stop: &StopFlag) -> Result<Service, ControlError> {
        let root = Root::open(&options.path, options.writable).map_err(|source| ControlError::File {
            what: format!("cannot serve {}", options.path.display()),
            source,
        })?;
        if let Some(name) = &options.limits.congestion {
            crate::congestion::check(name).map_err(|source| ControlError::Congestion {
                name: name.clone(),
                source,
            })?;
        }
        let listeners = listen::bind(&options.listen, options.port)?;
        Ok(Service {
            shared: Arc::new(Shared {
                root,
                streams: Streams::new(options.limits.streams_max),
                versions: Versions::new(options.limits.streams_max),
                writes: RwLock::default(),
                places: Places::new(options.limits.connections_max),
                limits: options.limits,
                secure: options.secure,
                stop: stop.clone(),
            }),
            listeners,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|l| l.local_addr().ok())
            .collect()
    }

    /// Serve until asked to stop. Connections that are still open then end with the process.
    pub fn run(self) -> Result<(), ControlError> {
        let shared = self.shared;
        let keeper = shared.clone();
        let spawned = spawn("byteio-forget", move || forget(&keeper));
        spawned.map_err(|source| ControlError::File {
            what: "cannot start the thread that forgets".into(),
            source,
        })?;
        let watcher = shared.clone();
        let spawned = spawn("byteio-watch", move || {
            while watcher.stop.pause(LOOKS) {
                watcher.places.look(Instant::now());
            }
        });
        spawned.map_err(|source| ControlError::File {
            what: "cannot start the thread that watches".into(),
            source,
        })?;
        listen::accept(&self.listeners, &shared.stop.clone(), |accepted| {
            if let Ok((stream, _)) = accepted {
                begin(&shared, stream);
            }
        })
    }
}

/// Forget what nobody uses any more, whether or not anybody comes, until asked to stop.
fn forget(shared: &Shared) {
    let lives = (shared.limits.stream_life, shared.limits.version_life);
    let pause = lives.0.min(lives.1) / LOOKS_A_LIFE;
    while shared.stop.pause(pause) {
        shared.streams.forget(lives.0);
        shared.versions.forget(lives.1);
    }
}

/// A thread for a connection. What goes wrong there is told to its client, or is nobody's business any more.
fn begin(shared: &Arc<Shared>, stream: TcpStream) {
    // Without another descriptor there is no place either.
    let place = shared.places.take(&stream).unwrap_or(None);
    let shared = shared.clone();
    let spawned = spawn("byteio", move || {
        let Some(place) = place else {
            return turn_away(stream);
        };
        if prepare(&shared, &stream).is_ok() {
            connection::serve(&shared, stream, &place);
        }
        drop(place);
    });
    // Without a thread the connection is closed: the stream went into the closure.
    drop(spawned);
}

fn prepare(shared: &Shared, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if let Some(congestion) = &shared.limits.congestion {
        socket2::SockRef::from(stream).set_tcp_congestion(congestion.as_bytes())?;
    }
    Ok(())
}

fn turn_away(mut stream: TcpStream) {
    // It may be gone already.
    let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
    let _ = io::Write::write_all(
        &mut stream,
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}
