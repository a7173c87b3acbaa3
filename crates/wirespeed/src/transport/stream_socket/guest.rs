//! A connection whose greeting is not yet whole: whoever connects is a stranger until the token says otherwise.
//!
//! It must never wait, nor read beyond the greeting: what follows belongs to the port.

use rustix::io::Errno;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::time::{Duration, Instant};

/// Bytes of a listener's secret.
pub const TOKEN_BYTES: usize = 16;

/// Bytes of a greeting.
pub const GREETING_BYTES: usize = MAGIC.len() + TOKEN_BYTES + 4;

const MAGIC: [u8; 8] = *b"wirespd1";

/// What `rank` sends first to the listener whose token it was given.
pub fn greeting(token: &[u8; TOKEN_BYTES], rank: u32) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    let (magic, rest) = bytes.split_at_mut(MAGIC.len());
    let (secret, number) = rest.split_at_mut(TOKEN_BYTES);
    magic.copy_from_slice(&MAGIC);
    secret.copy_from_slice(token);
    number.copy_from_slice(&rank.to_le_bytes());
    bytes
}

/// What is known of a guest after looking at it.
pub enum Verdict {
    /// Its greeting is not whole yet.
    Unclear,
    /// It knows the token and says that it is this rank.
    Rank(u32),
    /// It is to be dropped.
    Stranger,
}

/// A connection that may become a peer.
pub struct Guest {
    socket: Socket,
    until: Instant,
    greeting: [u8; GREETING_BYTES],
    filled: usize,
}

impl Guest {
    /// Just accepted, with so much time for its greeting.
    pub fn new(socket: Socket, patience: Duration) -> Self {
        Guest {
            socket,
            until: Instant::now() + patience,
            greeting: [0; GREETING_BYTES],
            filled: 0,
        }
    }

    /// To wait on.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// To keep.
    pub fn into_socket(self) -> Socket {
        self.socket
    }

    /// Read what is there and judge.
    pub fn look(&mut self, token: &[u8; TOKEN_BYTES]) -> Verdict {
        let space = &mut self.greeting[self.filled..];
        match rustix::net::recv(&self.socket, space, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Verdict::Stranger,
            Ok((count, _)) => self.filled += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Verdict::Stranger,
        }
        if self.filled < GREETING_BYTES {
            return if Instant::now() < self.until {
                Verdict::Unclear
            } else {
                Verdict::Stranger
            };
        }
        let (magic, rest) = self.greeting.split_at(MAGIC.len());
        let (presented, rank) = rest.split_at(TOKEN_BYTES);
        let rank = rank.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte));
        if magic == MAGIC && equal_secrets(presented, token) {
            Verdict::Rank(rank)
        } else {
            Verdict::Stranger
        }
    }
}

/// Whether `a` and `b` are equal, in a time that does not depend on where they differ.
fn equal_secrets(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y));
    a.len() == b.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_whole() {
        assert!(equal_secrets(b"0123", b"0123"));
        for other in [&b"1123"[..], b"0124", b"012", b"01234"] {
            assert!(!equal_secrets(b"0123", other));
        }
    }

    #[test]
    fn silence_and_haste_are_told_apart() {
        let (near, far) = Socket::pair(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
        let token = [7; TOKEN_BYTES];
        let mut guest = Guest::new(near, Duration::from_secs(60));
        assert!(matches!(guest.look(&token), Verdict::Unclear));
        let bytes = greeting(&token, 0x0102_0304);
        far.send(&bytes[..20]).unwrap();
        assert!(matches!(guest.look(&token), Verdict::Unclear));
        far.send(&bytes[20..]).unwrap();
        far.send(b"the port's").unwrap();
        assert!(matches!(guest.look(&token), Verdict::Rank(0x0102_0304)));
        let mut silent = Guest::new(guest.into_socket(), Duration::ZERO);
        silent.filled = 1;
        assert!(matches!(silent.look(&token), Verdict::Stranger));
    }
}
