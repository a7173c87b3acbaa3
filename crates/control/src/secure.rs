//! TLS streams for crates that speak HTTP: the same certificate, pinned, and the same key as `serve`, and a word that
//! proves the key in a request's header. Reading and writing may be in different threads.
//!
//! It must never accept another certificate than the pinned one, nor know what is said inside.

use crate::address::Address;
use crate::auth::keyfile::KeyFile;
use crate::auth::{Identity, tls};
use crate::client::{CONNECT_TIME, handshake_error};
use crate::error::ControlError;
use crate::reach::{self, ended_by, unless_stopped};
use crate::serve::{Listen, listen};
use crate::stop::StopFlag;
pub use crate::strangers::Stranger;
use crate::strangers::Strangers;
use crate::thread::spawn;
use crate::wire::tls::{TlsReader, TlsWire, halves};
use crate::wire::{Wire, WireReader};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Strangers at the same time; the oldest makes room for the next. As many computations may open their channels at once.
const STRANGERS_MAX: usize = 256;
/// Connections at the same time, strangers among them; nobody who is known makes room.
const CONNECTIONS_MAX: usize = 2 * STRANGERS_MAX;
/// A TLS handshake takes at most so long.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The reading half. Reads end by the deadline, if there is one.
pub struct SecureReader(TlsReader);

/// The writing half; clones write to the same stream.
#[derive(Clone)]
pub struct SecureWriter(Arc<TlsWire>);

impl SecureReader {
    /// From here on reads fail with `TimedOut` or `WouldBlock` after `deadline`, however the bytes trickle.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.0.set_deadline(deadline);
    }
}

impl Read for SecureReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            // An end without a farewell is an end.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        }
    }
}

impl SecureWriter {
    /// End the stream in both directions; a reader of it wakes.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Write for SecureWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream to a server, and the address of this end.
pub struct Connected {
    /// What it says.
    pub reader: SecureReader,
    /// What it is told.
    pub writer: SecureWriter,
    /// This end's address.
    pub local_address: IpAddr,
}

/// Connect to the server of `identity` at `host`.
pub fn connect(host: &Address, identity: &Identity, stop: &StopFlag) -> Result<Connected, ControlError> {
    let (stream, peer) = reach::connect(&host.resolve(stop)?, CONNECT_TIME, stop)?;
    let subscription = ended_by(stop, &stream);
    let lost = |e: io::Error| ControlError::lost(peer.to_string(), e);
    stream.set_nodelay(true).map_err(lost)?;
    let mut connection = tls::client(identity, tls::HTTP).map_err(|e| lost(io::Error::other(e)))?;
    let deadline = Instant::now() + HANDSHAKE;
    tls::shake_hands(&stream, &mut connection, deadline)
        .map_err(|e| unless_stopped(stop, handshake_error(e, peer)))?;
    drop(subscription);
    let local_address = stream.local_addr().map_err(lost)?.ip();
    let (wire, reader) = halves(stream, connection).map_err(lost)?;
    Ok(Connected {
        reader: SecureReader(reader),
        writer: SecureWriter(wire),
        local_address,
    })
}

/// Listens, and shakes hands with whoever comes, each in a thread of its own.
pub struct SecureListener {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    config: Arc<rustls::ServerConfig>,
    stop: StopFlag,
}

/// Connections that are open.
type Open = Arc<Mutex<BTreeMap<u64, TcpStream>>>;

impl SecureListener {
    /// Listen on `port` (0 for any free one) as the server of `key`.
    pub fn bind(at: &Listen, port: u16, key: &KeyFile, stop: &StopFlag) -> Result<Self, ControlError> {
        let listeners = listen::bind(at, port)?;
        Ok(SecureListener {
            addresses: listeners.iter().filter_map(|l| l.local_addr().ok()).collect(),
            listeners,
            config: tls::server_config(key, tls::HTTP)?,
            stop: stop.clone(),
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Hand every stream whose handshake is done to `serve`, until the stop flag is raised; then every connection is
    /// closed. `serve` drops the stranger as soon as that is none any more.
    pub fn run(
        &self,
        serve: impl Fn(SecureReader, SecureWriter, Stranger) + Send + Sync + 'static,
    ) -> Result<(), ControlError> {
        let (open, serve, strangers) = (Open::default(), Arc::new(serve), Strangers::new(STRANGERS_MAX));
        let mut next = 0;
        listen::accept(&self.listeners, &self.stop, |accepted| {
            let Ok((stream, _)) = accepted else {
                return;
            };
            next += 1;
            let Ok(stranger) = enter((&open, &strangers), next, &stream) else {
                return;
            };
            let (of_thread, serve, config, id) = (open.clone(), serve.clone(), self.config.clone(), next);
            let spawned = spawn("connection", move || {
                if let Ok((reader, writer)) = greet(stream, &config) {
                    serve(reader, writer, stranger);
                }
                of_thread.lock().remove(&id);
            });
            if spawned.is_err() {
                // Its other socket goes with the closure.
                open.lock().remove(&id);
            }
        })?;
        for stream in open.lock().values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        Ok(())
    }
}

fn enter((open, strangers): (&Open, &Strangers), id: u64, stream: &TcpStream) -> io::Result<Stranger> {
    let mut open = open.lock();
    if open.len() >= CONNECTIONS_MAX {
        return Err(io::Error::other("as many connections as are taken"));
    }
    let stranger = strangers.enter(stream)?;
    open.insert(id, stream.try_clone()?);
    Ok(stranger)
}

fn greet(stream: TcpStream, config: &Arc<rustls::ServerConfig>) -> io::Result<(SecureReader, SecureWriter)> {
    stream.set_nodelay(true)?;
    let mut connection = tls::server(config).map_err(io::Error::other)?;
    tls::shake_hands(&stream, &mut connection, Instant::now() + HANDSHAKE)?;
    let (wire, reader) = halves(stream, connection)?;
    Ok((SecureReader(reader), SecureWriter(wire)))
}
