//! Where the ranks of a job come in: a listening socket with keys made for this job alone. A rank must know the token
//! that the launcher's library (or the environment of a job that wirespeed started) passed on.

use crate::auth::keyfile::KeyFile;
use crate::auth::{Identity, tls};
use crate::error::ControlError;
use crate::frame::FrameLimits;
use crate::serve::{Listen, listen};
use crate::session::{Timing, agree};
use crate::stop::StopFlag;
use crate::strangers::Strangers;
use crate::thread::spawn;
use crate::wire::{Packet, Receiver, Sender, tls as tls_wire, unix};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use wirespeed_schema::message::{RankMessage, Refusal, RefusalCode};
use wirespeed_schema::order::InOrder;

/// How often the door looks at the stop flag and at the time.
const LOOK: Duration = Duration::from_millis(20);

/// Whoever comes, the time and the stop flag are looked at between so many.
const ACCEPTED_AT_ONCE: usize = 64;

/// A rank that has come in, been recognised and welcomed.
pub(crate) struct Arrived {
    pub(crate) rank: u32,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// This rank's own address, where it came over a network.
    pub(crate) address: Option<IpAddr>,
    /// The address of this end that it found.
    pub(crate) found_at: Option<IpAddr>,
}

/// The listening sockets and the keys of one job.
pub(crate) struct Door {
    listeners: Vec<TcpListener>,
    tls: Arc<rustls::ServerConfig>,
    identity: Identity,
    invitation: String,
}

impl Door {
    /// Listen on loopback, or on every address when ranks live on several nodes.
    pub(crate) fn open(several_nodes: bool) -> Result<Self, ControlError> {
        let key = KeyFile::ephemeral()?;
        let (bound, told) = match several_nodes {
            false => {
                let loopback = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
                (Listen::Addresses(loopback.clone()), loopback)
            }
            true => (Listen::Everywhere, super::address::of_this_machine()),
        };
        let listeners = listen::bind(&bound, 0)?;
        let port = listeners
            .first()
            .and_then(|l| l.local_addr().ok())
            .map_or(0, |a| a.port());
        let addresses: Vec<String> = told
            .into_iter()
            .map(|address| SocketAddr::new(address, port).to_string())
            .collect();
        let invitation = format!("{} {}", key.identity().to_text(), addresses.join(" "));
        Ok(Door {
            listeners,
            tls: tls::server_config(&key, tls::ALPN)?,
            identity: key.identity().clone(),
            invitation,
        })
    }

    /// What a rank needs to come in, as one line: a secret.
    pub(crate) fn invitation(&self) -> &str {
        &self.invitation
    }

    /// Wait for `ranks`, each once. `alive` says why nobody more can come, if so.
    pub(crate) fn admit(
        self,
        ranks: &[u32],
        timing: Timing,
        stop: &StopFlag,
        mut alive: impl FnMut() -> Result<(), ControlError>,
    ) -> Result<Vec<Arrived>, ControlError> {
        let deadline = Instant::now() + timing.start;
        let (sender, incoming) = mpsc::channel();
        // All ranks may come at once, and none of them makes room for a stranger who comes first.
        let strangers = Strangers::new(ranks.len() + ACCEPTED_AT_ONCE);
        let mut arrived: Vec<Arrived> = Vec::with_capacity(ranks.len());
        while arrived.len() < ranks.len() {
            if stop.is_requested() {
                return Err(ControlError::Interrupted);
            }
            alive()?;
            if Instant::now() >= deadline {
                let missing = ranks.iter().find(|r| arrived.iter().all(|a| a.rank != **r));
                let missing = missing.map_or("a rank".to_owned(), |r| format!("rank {r}"));
                return Err(ControlError::lost(missing, "it did not reach rank 0 in time"));
            }
            for stream in self.accepted() {
                let Ok(visitor) = strangers.enter(&stream) else {
                    continue;
                };
                let (tls, identity, sender) = (self.tls.clone(), self.identity.clone(), sender.clone());
                let greeting = move || {
                    // Whoever is no rank is turned away without a word; the ranks are waited for.
                    if let Ok(rank) = greet(stream, &tls, &identity, deadline) {
                        let _ = sender.send(rank);
                    }
                    drop(visitor);
                };
                // Without a thread its socket goes with the closure, and a rank is missed in time.
                let _ = spawn("greeting", greeting);
            }
            if let Ok(rank) = incoming.recv_timeout(LOOK) {
                let wanted = ranks.contains(&rank.rank) && arrived.iter().all(|a| a.rank != rank.rank);
                if !wanted {
                    return Err(ControlError::lost(
                        format!("rank {}", rank.rank),
                        "it came twice, or is none of this job",
                    ));
                }
                arrived.push(rank);
            }
        }
        arrived.order_by_key(|a| a.rank);
        Ok(arrived)
    }

    fn accepted(&self) -> Vec<TcpStream> {
        let one = |listener: &TcpListener| {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nonblocking(false).ok()?;
            Some(stream)
        };
        let all = |listener| std::iter::from_fn(move || one(listener)).take(ACCEPTED_AT_ONCE);
        self.listeners.iter().flat_map(all).collect()
    }
}

/// Handshake, proof, version and rank, all by `deadline`.
fn greet(
    stream: TcpStream,
    config: &Arc<rustls::ServerConfig>,
    identity: &Identity,
    deadline: Instant,
) -> io::Result<Arrived> {
    stream.set_nodelay(true)?;
    let mut connection = tls::server(config).map_err(io::Error::other)?;
    tls::shake_hands(&stream, &mut connection, deadline)?;
    let channel = tls::channel_value(&connection)?;
    let (address, found_at) = (stream.peer_addr()?.ip(), stream.local_addr()?.ip());
    let (wire, reader) = tls_wire::halves(stream, connection)?;
    let receiver = Receiver::new(Box::new(reader), FrameLimits::STRANGER);
    let mut arrived = welcome(Sender::new(wire), receiver, Some((identity, &channel)), deadline)?;
    arrived.receiver.set_limits(FrameLimits::OUTCOMES);
    arrived.address = Some(address);
    arrived.found_at = Some(found_at);
    Ok(arrived)
}

/// The rank that started this very process, at the other end of `stream`.
pub(super) fn own_rank(stream: UnixStream, timing: Timing) -> io::Result<Arrived> {
    let (sender, receiver) = unix::halves(stream)?;
    welcome(sender, receiver, None, Instant::now() + timing.start)
}

/// Hear who it is, check the proof where one is needed, and answer.
fn welcome(
    sender: Sender,
    mut receiver: Receiver,
    proof: Option<(&Identity, &[u8])>,
    deadline: Instant,
) -> io::Result<Arrived> {
    let mut next = || {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.receive::<RankMessage>(Some(left)) {
            Ok(Packet::Message(message)) => Ok(message),
            Ok(Packet::Outcome(_)) => Err(io::Error::other("an outcome before any case")),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    };
    let RankMessage::Hello(hello) = next()? else {
        return Err(io::Error::other("its first word is no hello"));
    };
    let given = hello.proof.as_ref().map_or(&[][..], |proof| &proof.0);
    let refusal = match proof {
        Some((identity, channel)) if !identity.verify(channel, given) => Err(Refusal {
            code: RefusalCode::Identity,
            reason: "this is another job".into(),
            remedy: "start the ranks by one launcher".into(),
        }),
        _ => agree(&hello),
    };
    let say = match &refusal {
        Ok(protocol) => RankMessage::Welcome { protocol: *protocol },
        Err(refusal) => RankMessage::Refused(refusal.clone()),
    };
    sender.message(&say)?;
    refusal.map_err(|r| io::Error::other(r.reason))?;
    let RankMessage::Seat { rank } = next()? else {
        return Err(io::Error::other("it does not say which rank it is"));
    };
    Ok(Arrived {
        rank,
        sender,
        receiver,
        address: None,
        found_at: None,
    })
}
