//! A rank's way to rank 0, or to the program that had the job started: find it, prove that it belongs to the job, and be
//! a rank until told to go.

use super::{Job, JobError, JobKind};
use crate::agent::{kill_this_process, run_agent_over};
use crate::auth::{Identity, tls};
use crate::client::handshake_error;
use crate::error::ControlError;
use crate::frame::FrameLimits;
use crate::session::{Timing, hello};
use crate::stop::StopFlag;
use crate::wire::{Receiver, Sender, tls as tls_wire};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed_schema::message::{Blob, Hello, RankMessage};

/// How long one address may take to answer: some of those that a machine lists lead nowhere.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Be a rank of a job that wirespeed itself started: join it, and report to whoever wrote the invitation.
pub fn run_launched_rank(kind: &dyn JobKind, registry: &Registry, invitation: &str) -> Result<(), JobError> {
    let job = kind.join()?;
    let followed = follow(&*job, registry, invitation);
    job.leave(u8::from(followed.is_err()), followed == Ok(true));
    followed.map(drop)
}

/// Be a rank, or one with each thread, until the coordinator has no more work; whether another rank was lost.
pub(super) fn follow(job: &dyn Job, registry: &Registry, invitation: &str) -> Result<bool, JobError> {
    let first = job.rank() * job.threads();
    // Who ends the job tells rank 0, which ends it in order; a rank that went by itself would only be missed.
    let swallowed = StopFlag::new().on_signals();
    swallowed.map_err(|e| failed(first, ControlError::lost("the signal handler", e)))?;
    std::thread::scope(|scope| {
        let others: Vec<_> = (first + 1..first + job.threads())
            .map(|rank| scope.spawn(move || attend(rank, registry, invitation)))
            .collect();
        let own = attend(first, registry, invitation);
        let ended = others.into_iter().map(|thread| {
            let panicked = |_| {
                Err(failed(
                    first,
                    ControlError::lost("one of its threads", "it failed"),
                ))
            };
            thread.join().unwrap_or_else(panicked)
        });
        ended.fold(own, |all, one| Ok(all? | one?))
    })
}

fn failed(rank: u32, error: ControlError) -> JobError {
    JobError::new(format!("rank {rank}: {error}"), error.remedy())
}

/// Be `rank`, measuring in this thread, until the coordinator has no more work; whether another rank was lost.
pub(super) fn attend(rank: u32, registry: &Registry, invitation: &str) -> Result<bool, JobError> {
    let failed = |error| failed(rank, error);
    let timing = Timing::default();
    let (sender, receiver, greeting) = visit(invitation, rank, timing).map_err(failed)?;
    run_agent_over(
        sender,
        receiver,
        &greeting,
        registry.into(),
        timing,
        kill_this_process,
    )
    .map_err(|why| failed(ControlError::lost("rank 0", why)))
}

/// The first words of rank 0 to the coordinator in its own process, which needs no proof.
pub(super) fn greeting_of_own_rank() -> [RankMessage; 2] {
    [RankMessage::Hello(hello()), RankMessage::Seat { rank: 0 }]
}

/// Connect to the first address that has the right certificate.
fn visit(
    invitation: &str,
    rank: u32,
    timing: Timing,
) -> Result<(Sender, Receiver, [RankMessage; 2]), ControlError> {
    let mut words = invitation.split_whitespace();
    let identity = Identity::from_text(words.next().unwrap_or_default())?;
    let mut last = ControlError::BadAddress(String::new());
    for word in words {
        let address: SocketAddr = word
            .parse()
            .map_err(|_| ControlError::BadAddress(word.to_owned()))?;
        match enter(address, &identity, timing) {
            Ok((sender, receiver, proof)) => {
                let first = RankMessage::Hello(Hello {
                    proof: Some(Blob(proof)),
                    ..hello()
                });
                return Ok((sender, receiver, [first, RankMessage::Seat { rank }]));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn enter(
    address: SocketAddr,
    identity: &Identity,
    timing: Timing,
) -> Result<(Sender, Receiver, Vec<u8>), ControlError> {
    let lost = |e: std::io::Error| ControlError::lost(format!("rank 0 at {address}"), e);
    let stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)
        .map_err(|source| ControlError::Connect { address, source })?;
    stream.set_nodelay(true).map_err(lost)?;
    let mut connection = tls::client(identity, tls::ALPN).map_err(|e| lost(std::io::Error::other(e)))?;
    let deadline = Instant::now() + timing.start;
    tls::shake_hands(&stream, &mut connection, deadline).map_err(|e| handshake_error(e, address))?;
    let proof = identity.prove(&tls::channel_value(&connection).map_err(lost)?);
    let (wire, reader) = tls_wire::halves(stream, connection).map_err(lost)?;
    let receiver = Receiver::new(Box::new(reader), FrameLimits::MESSAGES);
    Ok((Sender::new(wire), receiver, proof))
}
