//! A connection to a server: found, proven, agreed on, and kept alive by a thread that sleeps in a read.

use crate::address::{Address, on_loopback};
use crate::auth::{Identity, tls};
use crate::error::ControlError;
use crate::frame::FrameLimits;
use crate::reach::{self, ended_by, unless_stopped};
use crate::session::{Timing, agree, build_name, hello};
use crate::stop::StopFlag;
use crate::thread::spawn;
use crate::wire::{Packet, ReceiveError, Receiver, Sender, tls as tls_wire};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed_schema::message::{Blob, Hello, OutcomeReport, ServerLimits, SessionMessage};

/// How long a host may take to answer, whatever number of addresses it has.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(5);

/// What a server says.
#[derive(Debug)]
pub(crate) enum ServerHeard {
    Message(SessionMessage),
    /// A part of something long, an outcome most likely.
    Part,
    Outcome(Box<OutcomeReport>),
    /// Nothing more will come, and why.
    Closed(String),
}

/// When the server was heard last: written by the reader, and put off by whoever stood still.
struct Alive {
    origin: Instant,
    heard_ms: AtomicU64,
    open: AtomicBool,
}

/// An open session with a server.
pub(crate) struct Server {
    sender: Sender,
    peer: SocketAddr,
    local_address: IpAddr,
    limits: ServerLimits,
    build: String,
    number: Option<Blob>,
    silence: Duration,
    alive: Arc<Alive>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Connect to the server at `address`. What it says later goes to `hear`, called from a thread of its own.
    pub(crate) fn connect(
        address: &str,
        identity: &Identity,
        timing: Timing,
        stop: &StopFlag,
        hear: impl Fn(ServerHeard) + Send + 'static,
    ) -> Result<Self, ControlError> {
        let addresses = Address::parse(address)?.resolve(stop)?;
        let (stream, peer) = reach::connect(&addresses, CONNECT_TIME, stop).or_else(|refused| {
            reach::connect(&on_loopback(&addresses), CONNECT_TIME, stop).map_err(|_| refused)
        })?;
        let greeted = {
            let _subscription = ended_by(stop, &stream);
            greet(stream, peer, identity, Instant::now() + timing.handshake)
        };
        let greeted = greeted.map_err(|error| unless_stopped(stop, error))?;
        let alive = Arc::new(Alive {
            origin: Instant::now(),
            heard_ms: AtomicU64::new(0),
            open: AtomicBool::new(true),
        });
        let listening = {
            let (alive, sender, receiver) = (alive.clone(), greeted.sender.clone(), greeted.receiver);
            spawn("server", move || listen(receiver, &sender, &alive, hear))
        };
        let reader = listening.map_err(|e| ControlError::lost(peer.to_string(), e))?;
        Ok(Server {
            sender: greeted.sender,
            peer,
            local_address: greeted.local_address,
            limits: greeted.limits,
            build: greeted.build,
            number: greeted.number,
            silence: timing.silence,
            alive,
            reader: Some(reader),
        })
    }

    pub(crate) fn send(&self, message: &SessionMessage) -> io::Result<()> {
        let sent = self.sender.message(message);
        if sent.is_err() {
            self.sender.close();
        }
        sent
    }

    /// When the server will count as silent if nothing more is heard.
    pub(crate) fn silent_at(&self) -> Instant {
        let heard = Duration::from_millis(self.alive.heard_ms.load(Ordering::Acquire));
        self.alive.origin + heard + self.silence
    }

    /// `time` more before it counts as silent.
    pub(crate) fn forgive(&self, time: Duration) {
        self.alive
            .heard_ms
            .fetch_add(time.as_millis() as u64, Ordering::AcqRel);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.alive.open.load(Ordering::Acquire)
    }

    /// Address of the other end.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Address of this end: where data of the session comes from and goes to.
    pub(crate) fn local_address(&self) -> IpAddr {
        self.local_address
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    pub(crate) fn build(&self) -> &str {
        &self.build
    }

    /// Where it stands among servers, the same for all clients: by the number that it gives itself, for one client may know it
    /// by another address than the next. Only one that gives none stands by its address.
    pub(crate) fn place(&self) -> (Option<&[u8]>, Option<SocketAddr>) {
        match &self.number {
            Some(number) => (Some(&number.0), None),
            None => (None, Some(self.peer)),
        }
    }

    /// Whether `other` is a session with the same server, as far as the servers say which they are.
    pub(crate) fn is_of_server(&self, other: &Server) -> bool {
        self.number.is_some() && self.number == other.number
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.sender.message(&SessionMessage::Bye);
        self.sender.close();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

struct Greeted {
    sender: Sender,
    receiver: Receiver,
    local_address: IpAddr,
    limits: ServerLimits,
    build: String,
    number: Option<Blob>,
}

/// Handshake, proof, and the server's answer.
fn greet(
    stream: TcpStream,
    peer: SocketAddr,
    identity: &Identity,
    deadline: Instant,
) -> Result<Greeted, ControlError> {
    let lost = |e: io::Error| ControlError::lost(format!("the server at {peer}"), e);
    let foreign = |why: String| ControlError::Protocol {
        peer: peer.to_string(),
        why,
    };
    stream.set_nodelay(true).map_err(lost)?;
    let mut connection = tls::client(identity, tls::ALPN).map_err(|e| foreign(e.to_string()))?;
    tls::shake_hands(&stream, &mut connection, deadline).map_err(|e| handshake_error(e, peer))?;
    let proof = identity.prove(&tls::channel_value(&connection).map_err(lost)?);
    let local_address = stream.local_addr().map_err(lost)?.ip();
    let (wire, reader) = tls_wire::halves(stream, connection).map_err(lost)?;
    let sender = Sender::new(wire);
    let mut receiver = Receiver::new(Box::new(reader), FrameLimits::STRANGER);
    let first = SessionMessage::Hello(Hello {
        proof: Some(Blob(proof)),
        ..hello()
    });
    sender.message(&first).map_err(lost)?;
    let left = deadline.saturating_duration_since(Instant::now());
    let answer = receiver.receive::<SessionMessage>(Some(left));
    match answer {
        Ok(Packet::Message(SessionMessage::Welcome {
            protocol,
            build,
            limits,
            server: number,
        })) => {
            let answered = Hello {
                protocol_min: protocol,
                protocol_max: protocol,
                build: build.clone(),
                proof: None,
            };
            agree(&answered).map_err(ControlError::Refused)?;
            receiver.set_limits(FrameLimits::OUTCOMES);
            Ok(Greeted {
                sender,
                receiver,
                local_address,
                limits,
                build,
                number,
            })
        }
        Ok(Packet::Message(SessionMessage::Refused(refusal))) => Err(ControlError::Refused(refusal)),
        Ok(_) => Err(foreign(format!(
            "its answer is not one that {} knows",
            build_name()
        ))),
        Err(ReceiveError::TimedOut | ReceiveError::Closed) => Err(lost(io::Error::new(
            io::ErrorKind::TimedOut,
            "it did not answer the hello",
        ))),
        Err(error) => Err(foreign(error.to_string())),
    }
}

/// What a failed handshake means to the user.
pub(crate) fn handshake_error(error: io::Error, peer: SocketAddr) -> ControlError {
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(_)) => ControlError::WrongServer { address: peer },
        Some(_) => ControlError::Protocol {
            peer: peer.to_string(),
            why: tls::words_of(&error).unwrap_or_default().to_owned(),
        },
        None => ControlError::lost(
            format!("the server at {peer}"),
            match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "it did not answer in time".to_owned(),
                io::ErrorKind::UnexpectedEof => "it closed the connection before the handshake".to_owned(),
                _ => error.to_string(),
            },
        ),
    }
}

/// The reader's thread: sleeps until the server says something, and answers its pings at once, whatever the
/// coordinator is doing.
fn listen(mut receiver: Receiver, sender: &Sender, alive: &Alive, hear: impl Fn(ServerHeard)) {
    let is_heard = || {
        let heard = alive.origin.elapsed().as_millis() as u64;
        alive.heard_ms.store(heard, Ordering::Release);
    };
    loop {
        let received = receiver.receive_seen::<SessionMessage>(None, || {
            is_heard();
            hear(ServerHeard::Part);
        });
        is_heard();
        match received {
            Ok(Packet::Message(SessionMessage::Ping)) => {
                // A failed send closes the connection; the next read says so.
                let _ = sender.message(&SessionMessage::Pong);
            }
            Ok(Packet::Message(message)) => hear(ServerHeard::Message(message)),
            Ok(Packet::Outcome(report)) => hear(ServerHeard::Outcome(report)),
            Err(ReceiveError::TimedOut) => {}
            Err(error) => {
                alive.open.store(false, Ordering::Release);
                sender.close();
                return hear(ServerHeard::Closed(error.to_string()));
            }
        }
    }
}
