//! What has arrived from one peer and is not yet a whole message.
//!
//! Short frames are read many at a time and handed out in place. For a long one exactly its rest and the next header are
//! read, so that in a stream of long frames only those 16 bytes are ever moved. It must never do I/O itself.

use super::frame::{self, HEADER_BYTES};
use crate::host::zeroed_bytes;
use crate::transport::ConnectError;
use crate::transport::port::{LinkError, OnMessage};

/// Bytes asked for at once while frames are short.
const WINDOW_BYTES: usize = 64 << 10;

/// From this size on a frame is read alone: moving the tail of a window would cost more than a call saves.
const LONG_FRAME_BYTES: usize = 16 << 10;

/// From this size on a buffer is left to the messages to touch.
const UNTOUCHED_BYTES_MIN: usize = 1 << 30;

/// A receive buffer with a parser.
pub struct Inbox {
    buf: Vec<u8>,
    /// Bytes of `buf` that hold data; they start with a frame.
    filled: usize,
    /// How far the next read may go; above `filled`.
    end: usize,
    /// Size of the last frame seen, header included: the best guess for the next one.
    last_frame: usize,
    message_bytes_max: usize,
}

impl Inbox {
    /// An inbox for messages of at most `message_bytes_max` bytes.
    pub fn new(message_bytes_max: usize) -> Result<Self, ConnectError> {
        let long = message_bytes_max.saturating_add(2 * HEADER_BYTES);
        let buf = zeroed(long.max(WINDOW_BYTES + LONG_FRAME_BYTES), "the receive buffer")?;
        Ok(Inbox {
            buf,
            filled: 0,
            end: WINDOW_BYTES,
            last_frame: 0,
            message_bytes_max,
        })
    }

    /// Where the next bytes go. Never empty.
    #[inline(always)]
    pub fn space(&mut self) -> &mut [u8] {
        &mut self.buf[self.filled..self.end]
    }

    /// `count` bytes were put into [`Inbox::space`]: hand whole messages to `on`, keep the rest. Returns their number.
    #[inline(always)]
    pub fn arrived<H: OnMessage>(
        &mut self,
        count: usize,
        peer: usize,
        on: &mut H,
    ) -> Result<usize, LinkError> {
        let mut filled = self.filled + count;
        let (mut at, mut handled) = (0, 0);
        let mut result = Ok(());
        while let Some(head) = self.buf[at..filled].first_chunk::<HEADER_BYTES>() {
            let head = match frame::decode(head, self.message_bytes_max) {
                Ok(head) => head,
                Err(error) => {
                    // What was handed out must still leave the buffer, or it would come again. The bad header stays: whoever
                    // goes on finds it again.
                    (result, filled) = (Err(error), at + HEADER_BYTES);
                    break;
                }
            };
            self.last_frame = HEADER_BYTES + head.len;
            let Some(payload) = self.buf[at + HEADER_BYTES..filled].get(..head.len) else {
                break;
            };
            on.message(peer, head.word, payload);
            handled += 1;
            at += self.last_frame;
        }
        self.filled = filled - at;
        if at != 0 && self.filled != 0 {
            self.buf.copy_within(at..filled, 0);
        }
        self.end = if self.last_frame >= LONG_FRAME_BYTES {
            self.last_frame + HEADER_BYTES
        } else {
            self.filled + WINDOW_BYTES
        };
        result.map(|()| handled)
    }
}

/// `len` zeroed bytes, touched, so that no page fault is left for the measurement. Where they are many, the first message
/// touches them: an end that only answers needs none, and a machine may not have as many twice.
pub fn zeroed(len: usize, what: &'static str) -> Result<Vec<u8>, ConnectError> {
    let mut bytes = zeroed_bytes(len).ok_or_else(|| ConnectError::memory(what, len))?;
    if len < UNTOUCHED_BYTES_MIN {
        // Zeros that are black are written.
        std::hint::black_box(&mut bytes[..]).fill(std::hint::black_box(0));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Got(Vec<(u64, Vec<u8>)>);
    impl OnMessage for Got {
        fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
            self.0.push((header, payload.to_vec()));
        }
    }

    fn feed(inbox: &mut Inbox, mut wire: &[u8], steps: &[usize]) -> Result<Got, LinkError> {
        let mut got = Got::default();
        let mut steps = steps.iter().cycle();
        while !wire.is_empty() {
            let space = inbox.space();
            assert!(!space.is_empty());
            let n = (*steps.next().unwrap()).min(space.len()).min(wire.len());
            space[..n].copy_from_slice(&wire[..n]);
            wire = &wire[n..];
            inbox.arrived(n, 0, &mut got)?;
        }
        Ok(got)
    }

    proptest! {
        #[test]
        fn frames_survive_any_split(
            sizes in proptest::collection::vec(prop_oneof![0usize..80, 0usize..40_000, 60_000usize..140_000], 1..12),
            steps in proptest::collection::vec(prop_oneof![1usize..40, 1usize..100_000], 1..6),
        ) {
            let messages: Vec<_> = sizes.iter().enumerate()
                .map(|(i, &len)| (i as u64, (0..len).map(|b| (b * 7 + i) as u8).collect::<Vec<_>>()))
                .collect();
            let wire: Vec<u8> = messages.iter()
                .flat_map(|(word, payload)| [&frame::encode(payload.len(), *word)[..], payload].concat())
                .collect();
            let mut inbox = Inbox::new(140_000).unwrap();
            prop_assert_eq!(feed(&mut inbox, &wire, &steps).unwrap().0, messages);
        }

        #[test]
        fn garbage_never_panics(wire in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut inbox = Inbox::new(100).unwrap();
            if wire.len() >= HEADER_BYTES {
                prop_assert!(feed(&mut inbox, &wire, &[64]).is_err());
                for _ in 0..3 {
                    let more = inbox.space().len();
                    prop_assert!(inbox.arrived(more, 0, &mut Got::default()).is_err());
                }
            }
        }
    }
}
