//! The port whose messages are sealed. Outgoing ones are encrypted where the port below keeps them; incoming ones are
//! opened in a buffer of this port, because what a handler is shown must not be written to.
//!
//! It must never hand on what did not open. Over a port that keeps the order that ends the run; a datagram is dropped and
//! counted, as one that the network damaged would be.

use super::cipher::Pair;
use super::{Cipher, FACT, OVERHEAD_BYTES, agree, sealed_bytes};
use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Posted};
use crate::transport::{Connect, ConnectError};

/// Keys of one measurement, one pair for each peer by slot: made anew whenever a port is opened.
pub struct Keys {
    cipher: Cipher,
    pairs: Vec<Pair>,
    message_bytes: usize,
}

impl Keys {
    /// Agree on them with every peer of `ctx`. Collective: one exchange, peers or none.
    pub fn agree(ctx: &Connect, cipher: Cipher) -> Result<Keys, ConnectError> {
        Ok(Keys {
            cipher,
            pairs: agree::agree(ctx, cipher)?,
            message_bytes: ctx.needs.message_bytes,
        })
    }
}

/// `port`, which was opened with [`below`](super::below), encrypted.
pub fn sealed<P: MessagePort>(port: P, keys: Keys) -> Result<Sealed<P>, ConnectError> {
    Sealed::new(port, keys)
}

/// A port, encrypted.
pub struct Sealed<P> {
    port: P,
    pairs: Box<[Pair]>,
    scratch: Box<[u8]>,
    cipher: Cipher,
    /// Why nothing more is handed on.
    fault: Option<LinkError>,
    /// Datagrams that did not open.
    refused: u64,
}

impl<P: MessagePort> Sealed<P> {
    fn new(port: P, keys: Keys) -> Result<Self, ConnectError> {
        let len = sealed_bytes(keys.message_bytes);
        let mut scratch = Vec::new();
        let shortage = |_| ConnectError::memory("the buffer for decrypting", len);
        scratch.try_reserve_exact(len).map_err(shortage)?;
        // Touched, so that no page fault is left for the measurement.
        scratch.resize(len, 0);
        Ok(Sealed {
            port,
            pairs: keys.pairs.into(),
            scratch: scratch.into(),
            cipher: keys.cipher,
            fault: None,
            refused: 0,
        })
    }

    /// Have the port below do `work` with a handler that opens messages for `on`; the number of those that it got.
    #[inline(always)]
    fn opening<H: OnMessage>(
        &mut self,
        on: &mut H,
        work: impl FnOnce(&mut P, &mut Opening<H>) -> Result<usize, LinkError>,
    ) -> Result<usize, LinkError> {
        let mut opening = Opening {
            pairs: &mut self.pairs,
            scratch: &mut self.scratch,
            fault: &mut self.fault,
            refused: &mut self.refused,
            in_order: !P::LOSSY,
            handled: 0,
            on,
        };
        let result = work(&mut self.port, &mut opening);
        let handled = opening.handled;
        match self.fault {
            Some(fault) => Err(fault),
            None => result.map(|_| handled),
        }
    }
}

/// Opens messages for a handler.
struct Opening<'a, H> {
    pairs: &'a mut [Pair],
    scratch: &'a mut [u8],
    fault: &'a mut Option<LinkError>,
    refused: &'a mut u64,
    in_order: bool,
    handled: usize,
    on: &'a mut H,
}

impl<H: OnMessage> OnMessage for Opening<'_, H> {
    #[inline(always)]
    fn message(&mut self, peer: usize, number: u64, sealed: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        let opener = &mut self.pairs[peer].into;
        match opener.open(number, sealed, self.scratch, self.in_order) {
            Ok((header, payload)) => {
                self.handled += 1;
                self.on.message(peer, header, payload);
            }
            Err(fault) if self.in_order => *self.fault = Some(fault),
            Err(_) => *self.refused += 1,
        }
    }
}

impl<P: MessagePort> MessagePort for Sealed<P> {
    const SLOW: bool = true;
    const LOSSY: bool = P::LOSSY;

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        let sealer = &mut self.pairs[peer].out;
        let number = sealer.number();
        // Without room nothing is sealed, and the number stays unused.
        let seal = |room: &mut [u8]| sealer.seal(header, room, pack);
        self.port.send_bcopy(peer, number, len + OVERHEAD_BYTES, seal)
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.opening(on, |port, on| port.poll(on))
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.opening(on, |port, on| port.wait(on))
    }

    #[inline(always)]
    fn wait_for_room<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.opening(on, |port, on| port.wait_for_room(on))
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.port.flush()
    }

    fn facts(&self) -> Facts {
        let mut facts = self.port.facts();
        facts.insert(FACT.to_owned(), self.cipher.name().to_owned());
        if P::LOSSY {
            facts.insert("forged_datagrams".to_owned(), self.refused.to_string());
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::super::cipher::{Opener, Sealer};
    use super::*;
    use crate::transport::port::Post;
    use ring::aead::{LessSafeKey, UnboundKey};

    /// Sends to itself, through a wire that the test can reach into. `busy` sends find no room.
    #[derive(Default)]
    struct Wire<const LOSSY: bool> {
        frames: Vec<(u64, Vec<u8>)>,
        busy: usize,
    }

    impl<const LOSSY: bool> MessagePort for Wire<LOSSY> {
        const LOSSY: bool = LOSSY;

        fn send_short(&mut self, _: usize, _: u64, _: &[u8]) -> Posted {
            Err(LinkError::Unsupported("plain bytes were handed down"))
        }

        fn send_bcopy(&mut self, _: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
            if self.busy > 0 {
                self.busy -= 1;
                return Ok(Post::Busy);
            }
            let mut frame = vec![0; len];
            pack(&mut frame);
            self.frames.push((header, frame));
            Ok(Post::Done)
        }

        fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
            let frames = std::mem::take(&mut self.frames);
            for (header, frame) in &frames {
                on.message(0, *header, frame);
            }
            Ok(frames.len())
        }

        fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
            self.poll(on)
        }

        fn flush(&mut self) -> Result<bool, LinkError> {
            Ok(true)
        }
    }

    #[derive(Default)]
    struct Got(Vec<(u64, Vec<u8>)>);

    impl OnMessage for Got {
        fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
            self.0.push((header, payload.to_vec()));
        }
    }

    fn port<const LOSSY: bool>() -> Sealed<Wire<LOSSY>> {
        let cipher = Cipher::ChaCha20Poly1305;
        let key = || LessSafeKey::new(UnboundKey::new(cipher.algorithm(), &[1; 32]).unwrap());
        let pairs = vec![Pair {
            out: Sealer::new(key()),
            into: Opener::new(key()),
        }];
        let keys = Keys {
            cipher,
            pairs,
            message_bytes: 8,
        };
        Sealed::new(Wire::default(), keys).unwrap()
    }

    fn send<const LOSSY: bool>(port: &mut Sealed<Wire<LOSSY>>, count: u64) {
        for number in 0..count {
            let posted = port.send_short(0, number, &number.to_le_bytes()).unwrap();
            assert_eq!(posted, Post::Done);
        }
    }

    #[test]
    fn no_room_uses_no_number() {
        let mut port = port::<false>();
        port.port.busy = 2;
        for _ in 0..2 {
            assert_eq!(port.send_bcopy(0, 1, 3, |_| panic!("packed")), Ok(Post::Busy));
        }
        send(&mut port, 3);
        let mut got = Got::default();
        assert_eq!(port.poll(&mut got), Ok(3));
        assert_eq!(got.0[2], (2, 2u64.to_le_bytes().to_vec()));
    }

    #[test]
    fn nothing_is_handed_on_after_what_was_changed() {
        let mut port = port::<false>();
        send(&mut port, 4);
        port.port.frames[1].1[9] ^= 1;
        let mut got = Got::default();
        let error = port.wait(&mut got).unwrap_err();
        assert!(matches!(error, LinkError::Corrupt(_)) && got.0.len() == 1);
        send(&mut port, 1);
        assert_eq!((port.poll(&mut got), got.0.len()), (Err(error), 1));
    }

    #[test]
    fn changed_datagrams_are_dropped_and_counted_others_are_not() {
        let mut port = port::<true>();
        send(&mut port, 4);
        let frames = &mut port.port.frames;
        frames[1].1[3] ^= 0x80;
        frames[3].0 = 9;
        frames.swap(0, 2);
        let double = frames[0].clone();
        frames.push(double);
        let mut got = Got::default();
        assert_eq!(port.poll(&mut got), Ok(3));
        let headers: Vec<u64> = got.0.iter().map(|message| message.0).collect();
        assert_eq!(
            headers,
            [2, 0, 2],
            "overtaken and doubled ones are the engine's to count"
        );
        let facts = port.facts();
        assert_eq!(
            (&*facts["forged_datagrams"], &*facts[FACT]),
            ("2", "chacha20-poly1305")
        );
    }
}
