//! Greets those who come to the door: handshake, proof, version and a place. It must never take a word of one that has not proven
//! who it is.

use super::{LogEvent, Shared};
use crate::auth::tls;
use crate::frame::FrameLimits;
use crate::session::{agree, build_name};
use crate::wire::{Packet, ReceiveError, Receiver, Sender, tls as tls_wire};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Instant;
use wirespeed_schema::message::{Hello, Refusal, RefusalCode, SessionMessage};
use wirespeed_schema::units::counted;

/// A client that has proven who it is and has a place.
pub(super) struct Known {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Address of this end of the connection.
    pub(super) local_address: IpAddr,
}

/// What a stranger did, for the log.
fn said(error: &io::Error) -> String {
    let words = tls::words_of(error).or(match error.kind() {
        io::ErrorKind::UnexpectedEof => Some("it hung up"),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Some("it was silent for too long"),
        _ => None,
    });
    words.map_or_else(|| error.to_string(), str::to_owned)
}

/// The same of what cannot be read.
fn said_of(error: &ReceiveError) -> String {
    match error {
        ReceiveError::Malformed(_) | ReceiveError::Frame(_) => tls::STRANGE.to_owned(),
        other => other.to_string(),
    }
}

/// Handshake, proof, version and a place; all by one deadline. An error is a line for the log.
pub(super) fn greet(shared: &Shared, stream: TcpStream, client: SocketAddr) -> Result<Known, String> {
    let deadline = Instant::now() + shared.options.timing.handshake;
    let failed = |e: io::Error| format!("turned away: {}", said(&e));
    let mut connection = tls::server(&shared.tls).map_err(|e| e.to_string())?;
    stream.set_nodelay(true).map_err(failed)?;
    tls::shake_hands(&stream, &mut connection, deadline).map_err(failed)?;
    let channel = tls::channel_value(&connection).map_err(failed)?;
    let local_address = stream.local_addr().map_err(failed)?.ip();
    let (wire, reader) = tls_wire::halves(stream, connection).map_err(failed)?;
    let sender = Sender::new(wire);
    let mut receiver = Receiver::new(Box::new(reader), FrameLimits::STRANGER);
    let left = deadline.saturating_duration_since(Instant::now());
    let hello = match receiver.receive::<SessionMessage>(Some(left)) {
        Ok(Packet::Message(SessionMessage::Hello(hello))) => hello,
        Ok(_) => return Err("turned away: its first word is no hello".into()),
        Err(error) => return Err(format!("turned away: {}", said_of(&error))),
    };
    match examine(shared, &channel, &hello) {
        Ok(protocol) => {
            let text = format!("connected with {}", hello.build);
            shared.log_event(Some(client), LogEvent::Accepted, text);
            let sent = sender.message(&SessionMessage::Welcome {
                protocol,
                build: build_name(),
                limits: shared.options.limits.clone(),
                server: Some(shared.number.clone()),
            });
            if let Err(error) = sent {
                shared.leave();
                return Err(failed(error));
            }
            receiver.set_limits(FrameLimits::MESSAGES);
            Ok(Known {
                sender,
                receiver,
                local_address,
            })
        }
        Err(refusal) => {
            let why = format!("refused: {}", refusal.reason);
            // It may be gone already.
            let _ = sender.message(&SessionMessage::Refused(refusal));
            sender.close();
            Err(why)
        }
    }
}

/// Whether the client may stay; takes a place for it if so.
fn examine(shared: &Shared, channel: &[u8], hello: &Hello) -> Result<u32, Refusal> {
    let proof = hello.proof.as_ref().map_or(&[][..], |proof| &proof.0);
    if !shared.identity.verify(channel, proof) {
        return Err(Refusal {
            code: RefusalCode::Identity,
            reason: "the server does not accept this token".into(),
            remedy: "copy the server's key file or identity again".into(),
        });
    }
    let protocol = agree(hello)?;
    if shared.stop.is_requested() {
        return Err(stopping());
    }
    if !shared.enter() {
        let limits = &shared.options.limits;
        return Err(Refusal {
            code: RefusalCode::Busy,
            reason: format!(
                "the server has {} and a queue of {}, its limit",
                counted(limits.clients_max.into(), "client"),
                limits.queue_clients_max
            ),
            remedy: "try again later".into(),
        });
    }
    Ok(protocol)
}

/// What clients are told when the daemon stops.
pub(super) fn stopping() -> Refusal {
    Refusal {
        code: RefusalCode::Stopping,
        reason: "the server is shutting down".into(),
        remedy: "run again when it is back".into(),
    }
}
