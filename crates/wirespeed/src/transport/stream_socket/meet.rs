//! How the ranks' sockets find each other. Of each pair the higher rank listens and the lower one connects, presents
//! the listener's token and its own rank, and is let in with an answer; to itself a rank does both.
//!
//! Whoever else connects is dropped: at once with a wrong greeting, after a time in silence; nobody waits for them.
//! It must never know an address family, nor let a greeting be longer than it is.

use super::guest::{self, GREETING_BYTES, Guest, TOKEN_BYTES, Verdict};
use super::setup::Link;
use crate::transport::bootstrap::BootstrapError;
use crate::transport::{Connect, ConnectError};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use socket2::{SockAddr, Socket};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// What a peer that is let in is told.
const WELCOME: [u8; 4] = *b"ok!\n";

/// Strangers and peers whose greeting is not yet whole, at most; the oldest goes first.
const GUESTS_MAX: usize = 512;

/// How often the cancel flag is looked at.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long connecting may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// In all.
    pub connect: Duration,
    /// For one greeting.
    pub greeting: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(10),
            greeting: Duration::from_secs(2),
        }
    }
}

/// A listening socket, and its address as its peers will read it.
pub struct Listening {
    /// The socket.
    pub socket: Socket,
    /// The address, in the family's own form.
    pub address: Vec<u8>,
}

/// The part of a transport that knows addresses and options.
pub trait Family {
    /// A listening socket with all options set.
    fn listen(&self) -> Result<Listening, ConnectError>;

    /// A socket with all options set, not yet connected, and the address to connect it to. `None` when `address` is not
    /// one of this family.
    fn dial(&self, address: &[u8]) -> Result<Option<(Socket, SockAddr)>, ConnectError>;

    /// Whether an accepted socket may stay, before anything is read from it; set its options.
    fn admit(&self, socket: BorrowedFd<'_>) -> Result<bool, ConnectError>;
}

struct Meeting<'a> {
    ctx: &'a Connect<'a>,
    family: &'a dyn Family,
    patience: Patience,
    started: Instant,
}

/// Connect to every peer; the links come by slot. Collective: one exchange, peers or none.
pub fn meet(ctx: &Connect, family: &dyn Family) -> Result<Vec<Link>, ConnectError> {
    meet_within(ctx, family, Patience::default())
}

/// As [`meet`], with less patience.
pub fn meet_within(
    ctx: &Connect,
    family: &dyn Family,
    patience: Patience,
) -> Result<Vec<Link>, ConnectError> {
    let own_rank = ctx.bootstrap.rank();
    let mut token = [0; TOKEN_BYTES];
    rustix::rand::getrandom(&mut token, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| ConnectError::os("drawing a random token", e.into()))?;
    let listening = if ctx.peers.iter().any(|&peer| peer <= own_rank) {
        Some(family.listen()?)
    } else {
        None
    };
    let blob = listening
        .as_ref()
        .map(|l| [&token[..], &l.address].concat())
        .unwrap_or_default();
    let blobs = ctx.exchange(&blob)?;
    let meeting = Meeting {
        ctx,
        family,
        patience,
        started: Instant::now(),
    };
    let mut dialled: Vec<Option<Socket>> = Vec::new();
    for &peer in ctx.peers {
        let blob = blobs.get(peer as usize).map_or(&[][..], Vec::as_slice);
        dialled.push(if peer >= own_rank {
            Some(meeting.dial(peer, blob)?)
        } else {
            None
        });
    }
    let mut accepted: Vec<Option<Socket>> = ctx.peers.iter().map(|_| None).collect();
    if let Some(listening) = listening {
        meeting.accept(&listening.socket, &token, &mut accepted)?;
    }
    let mut links = Vec::with_capacity(ctx.peers.len());
    for ((&peer, dialled), accepted) in ctx.peers.iter().zip(dialled).zip(accepted) {
        if let Some(socket) = &dialled {
            meeting.await_welcome(peer, socket)?;
        }
        links.push(match (dialled, accepted) {
            (Some(tx), Some(rx)) => Link::to_self(ready(tx)?, ready(rx)?),
            (Some(socket), None) | (None, Some(socket)) => Link::to_peer(ready(socket)?),
            (None, None) => return Err(meeting.late(peer)),
        });
    }
    Ok(links)
}

/// Ports say for each call whether it may sleep, so the socket itself is a blocking one.
fn ready(socket: Socket) -> Result<OwnedFd, ConnectError> {
    socket
        .set_nonblocking(false)
        .map_err(|e| ConnectError::os("making a socket blocking", e))?;
    Ok(socket.into())
}

impl Meeting<'_> {
    fn late(&self, rank: u32) -> ConnectError {
        ConnectError::Timeout {
            rank,
            seconds: self.patience.connect.as_secs(),
        }
    }

    /// The error when time is up or the run cancelled.
    fn look(&self, rank: u32, patience: Duration) -> Result<(), ConnectError> {
        if self.ctx.cancel.reason().is_some() {
            return Err(BootstrapError::Cancelled.into());
        }
        if self.started.elapsed() >= patience {
            return Err(self.late(rank));
        }
        Ok(())
    }

    /// Sleep until one of `sockets` is ready, but not beyond the next look at the flag.
    fn sleep(&self, sockets: &mut [PollFd]) -> Result<(), ConnectError> {
        match rustix::event::poll(sockets, Some(&LOOK)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(ConnectError::os("waiting for connections", errno.into())),
        }
    }

    /// Connect to `rank` and send the greeting.
    fn dial(&self, rank: u32, blob: &[u8]) -> Result<Socket, ConnectError> {
        let bad = |what: &str| ConnectError::BadPeer {
            rank,
            what: what.to_owned(),
        };
        let Some((token, address)) = blob.split_first_chunk::<TOKEN_BYTES>() else {
            return Err(bad("it does not listen"));
        };
        let Some((socket, address)) = self.family.dial(address)? else {
            return Err(bad("its address is of another kind"));
        };
        let place = address.as_socket().map(|place| format!(" at {place}"));
        let place = place.unwrap_or_default();
        let failed = |e| ConnectError::os(format!("connecting to rank {rank}{place}"), e);
        socket.set_nonblocking(true).map_err(failed)?;
        loop {
            match socket
                .connect(&address)
                .map_err(|e| (Errno::from_io_error(&e), e))
            {
                Ok(()) | Err((Some(Errno::ISCONN), _)) => break,
                Err((Some(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR), _)) => {
                    self.sleep(&mut [PollFd::new(&socket, PollFlags::OUT)])?;
                }
                // A Unix listener whose queue is full: there is nothing to wait on.
                Err((Some(Errno::AGAIN), _)) => std::thread::sleep(Duration::from_millis(1)),
                Err((_, error)) => return Err(failed(error)),
            }
            self.look(rank, self.patience.connect)
                .map_err(|error| match error {
                    ConnectError::Timeout { seconds, .. } => {
                        ConnectError::Other(format!("rank {rank}{place} did not answer within {seconds} s"))
                    }
                    other => other,
                })?;
        }
        let greeting = guest::greeting(token, self.ctx.bootstrap.rank());
        // The send buffer of a fresh connection holds it whole.
        match socket.send_with_flags(&greeting, libc::MSG_NOSIGNAL) {
            Ok(GREETING_BYTES) => Ok(socket),
            Ok(_) => Err(bad("it took half a greeting")),
            Err(error) => Err(failed(error)),
        }
    }

    /// Accept until every expected rank is there.
    fn accept(
        &self,
        listener: &Socket,
        token: &[u8; TOKEN_BYTES],
        places: &mut [Option<Socket>],
    ) -> Result<(), ConnectError> {
        let own_rank = self.ctx.bootstrap.rank();
        let failed = |e| ConnectError::os("accepting connections", e);
        listener.set_nonblocking(true).map_err(failed)?;
        let mut guests: Vec<Guest> = Vec::new();
        let missing = |places: &[Option<Socket>]| {
            let mut peers = self.ctx.peers.iter().zip(places);
            peers
                .find(|&(&peer, place)| peer <= own_rank && place.is_none())
                .map(|(&peer, _)| peer)
        };
        while let Some(rank) = missing(places) {
            // Who dials gives up first: it can say where nobody answered.
            self.look(rank, self.patience.connect + self.patience.greeting)?;
            let mut sockets = vec![PollFd::new(listener, PollFlags::IN)];
            sockets.extend(guests.iter().map(|g| PollFd::new(g.socket(), PollFlags::IN)));
            self.sleep(&mut sockets)?;
            drop(sockets);
            self.admit_guests(listener, &mut guests)?;
            let mut waiting = Vec::with_capacity(guests.len());
            for mut guest in guests {
                match guest.look(token) {
                    Verdict::Unclear => waiting.push(guest),
                    Verdict::Rank(rank) => self.seat(guest.into_socket(), rank, places),
                    Verdict::Stranger => {}
                }
            }
            guests = waiting;
        }
        Ok(())
    }

    fn admit_guests(&self, listener: &Socket, guests: &mut Vec<Guest>) -> Result<(), ConnectError> {
        // Bounded, so that a flood cannot keep us from those who are in.
        for _ in 0..GUESTS_MAX {
            let socket = match listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_lasting(&error) => {
                    return Err(ConnectError::os("accepting connections", error));
                }
                Err(_) => continue,
            };
            if !self.family.admit(socket.as_fd())? || socket.set_nonblocking(true).is_err() {
                continue;
            }
            if guests.len() == GUESTS_MAX {
                guests.remove(0);
            }
            guests.push(Guest::new(socket, self.patience.greeting));
        }
        Ok(())
    }

    /// Give `rank` its place, once, and tell it so.
    fn seat(&self, socket: Socket, rank: u32, places: &mut [Option<Socket>]) {
        let slot = self.ctx.peers.iter().position(|&peer| peer == rank);
        let expected = rank <= self.ctx.bootstrap.rank();
        if let Some(place) = slot.and_then(|slot| places.get_mut(slot))
            && expected
            && place.is_none()
            && matches!(socket.send_with_flags(&WELCOME, libc::MSG_NOSIGNAL), Ok(n) if n == WELCOME.len())
        {
            *place = Some(socket);
        }
    }

    fn await_welcome(&self, rank: u32, socket: &Socket) -> Result<(), ConnectError> {
        let mut answer = [0; WELCOME.len()];
        let mut filled = 0;
        while filled < answer.len() {
            match rustix::net::recv(socket, &mut answer[filled..], rustix::net::RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(Errno::CONNRESET | Errno::PIPE) => {
                    return Err(ConnectError::BadPeer {
                        rank,
                        what: "it did not let this rank in".into(),
                    });
                }
                Ok((count, _)) => filled += count,
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.look(rank, self.patience.connect + self.patience.greeting)?;
                    self.sleep(&mut [PollFd::new(socket, PollFlags::IN)])?;
                }
                Err(errno) => return Err(ConnectError::os("reading a greeting's answer", errno.into())),
            }
        }
        if answer == WELCOME {
            Ok(())
        } else {
            Err(ConnectError::BadPeer {
                rank,
                what: "its welcome is not one".into(),
            })
        }
    }
}

/// Whether files or memory are used up, which looking again would only hide; all else is the trouble of one connection.
fn is_lasting(error: &io::Error) -> bool {
    let lasting = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|code| lasting.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::bootstrap::ThreadBootstrap;
    use crate::transport::cancel::{Cancel, CancelReason};
    use crate::transport::{Needs, fixtures};
    use socket2::{Domain, Type};
    use wirespeed_schema::case::IdlePolicy;

    /// Listens at names that the kernel picks.
    struct Names;

    impl Family for Names {
        fn listen(&self) -> Result<Listening, ConnectError> {
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            socket.bind(&SockAddr::unix("").unwrap()).unwrap();
            socket.listen(8).unwrap();
            Ok(Listening {
                socket,
                address: Vec::new(),
            })
        }

        fn dial(&self, _: &[u8]) -> Result<Option<(Socket, SockAddr)>, ConnectError> {
            Ok(None)
        }

        fn admit(&self, _: BorrowedFd<'_>) -> Result<bool, ConnectError> {
            Ok(true)
        }
    }

    fn wait_for_a_peer_that_never_comes(cancel: Option<CancelReason>) -> ConnectError {
        let case = fixtures::case().with_idle(IdlePolicy::Spin);
        let ranks = ThreadBootstrap::group(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let other = Connect::new(&ranks[0], &case, &[1], Needs::default());
                other.exchange(&[]).unwrap()
            });
            let mut ctx = Connect::new(&ranks[1], &case, &[0], Needs::default());
            // The other rank hears nothing of it.
            ctx.cancel = Cancel::new();
            if let Some(reason) = cancel {
                ctx.cancel.cancel(reason);
            }
            let short = Duration::from_millis(30);
            meet_within(
                &ctx,
                &Names,
                Patience {
                    connect: short,
                    greeting: short,
                },
            )
            .err()
            .unwrap()
        })
    }

    #[test]
    fn a_peer_that_never_comes_is_named() {
        let error = wait_for_a_peer_that_never_comes(None);
        assert!(matches!(error, ConnectError::Timeout { rank: 0, .. }), "{error}");
    }

    #[test]
    fn a_cancel_ends_the_wait_for_peers() {
        let error = wait_for_a_peer_that_never_comes(Some(CancelReason::Interrupted));
        assert!(
            matches!(error, ConnectError::Bootstrap(BootstrapError::Cancelled)),
            "{error}"
        );
    }
}
