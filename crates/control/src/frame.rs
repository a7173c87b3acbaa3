//! Frames of the control channel: `u8 kind, u32 length (little-endian), payload`.
//!
//! The decoder is fed with whatever bytes arrive and never does I/O. A length is checked against the limit of its kind
//! before a byte of payload is stored, and memory grows only with the bytes that really came: a frame that announces
//! 4 GiB costs five bytes.

/// Bytes before the payload.
pub const HEADER_BYTES: usize = 5;

/// Largest message before the sender is authenticated.
pub const MESSAGE_BYTES_MAX_STRANGER: usize = 4 << 10;

/// Largest message of a known sender.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Largest outcome: ten million raw samples of two kinds may be in it, each with as many digits as a number can have.
pub const OUTCOME_BYTES_MAX: usize = 512 << 20;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A message in JSON.
    Message = 1,
    /// An outcome report in JSON.
    Outcome = 2,
}

/// Largest payload accepted, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// For messages.
    pub message_bytes: usize,
    /// For outcomes; 0 refuses the kind altogether.
    pub outcome_bytes: usize,
}

impl FrameLimits {
    /// For a sender that has not proven who it is.
    pub const STRANGER: FrameLimits = FrameLimits {
        message_bytes: MESSAGE_BYTES_MAX_STRANGER,
        outcome_bytes: 0,
    };
    /// For a known sender that has no outcomes to send: a client, as its server sees it.
    pub const MESSAGES: FrameLimits = FrameLimits {
        message_bytes: MESSAGE_BYTES_MAX,
        outcome_bytes: 0,
    };
    /// For a known sender that reports outcomes: a rank, or a server on behalf of its ranks.
    pub const OUTCOMES: FrameLimits = FrameLimits {
        message_bytes: MESSAGE_BYTES_MAX,
        outcome_bytes: OUTCOME_BYTES_MAX,
    };

    fn of(&self, kind: Kind) -> usize {
        match kind {
            Kind::Message => self.message_bytes,
            Kind::Outcome => self.outcome_bytes,
        }
    }
}

/// A frame that cannot be accepted; the stream is unusable after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// No such kind.
    #[error("unknown frame kind {0}")]
    Kind(u8),
    /// Longer than the limit.
    #[error("a frame of {length} bytes, at most {limit} are accepted")]
    TooLong {
        /// Announced or to be sent.
        length: u64,
        /// The limit.
        limit: usize,
    },
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it holds.
    pub kind: Kind,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The frame that holds `payload`; refused when no receiver would take it.
pub fn encode(kind: Kind, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let limit = FrameLimits::OUTCOMES.of(kind);
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    if payload.len() > limit {
        return Err(FrameError::TooLong {
            length: payload.len() as u64,
            limit,
        });
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.push(kind as u8);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

/// Cuts a stream of bytes into frames.
#[derive(Debug)]
pub struct Decoder {
    limits: FrameLimits,
    bytes: Vec<u8>,
    failed: Option<FrameError>,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(limits: FrameLimits) -> Self {
        Decoder {
            limits,
            bytes: Vec::new(),
            failed: None,
        }
    }

    /// Limits for the frames from here on.
    pub fn set_limits(&mut self, limits: FrameLimits) {
        self.limits = limits;
    }

    /// Bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The next whole frame, `None` when more bytes are needed. An error stays.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.cut() {
            Err(error) => {
                self.failed = Some(error);
                self.bytes = Vec::new();
                Err(error)
            }
            frame => frame,
        }
    }

    fn cut(&mut self) -> Result<Option<Frame>, FrameError> {
        let [kind, l0, l1, l2, l3, rest @ ..] = self.bytes.as_slice() else {
            return Ok(None);
        };
        let kind = match *kind {
            1 => Kind::Message,
            2 => Kind::Outcome,
            other => return Err(FrameError::Kind(other)),
        };
        let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]) as usize;
        let limit = self.limits.of(kind);
        if length > limit {
            return Err(FrameError::TooLong {
                length: length as u64,
                limit,
            });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let payload = rest[..length].to_vec();
        self.bytes.drain(..HEADER_BYTES + length);
        Ok(Some(Frame { kind, payload }))
    }
}

/// Entry point for fuzzing: the bytes as a stream cut at arbitrary places, every frame parsed as every message.
pub fn fuzz_frame(data: &[u8]) {
    let (step, data) = data
        .split_first()
        .map_or((1, data), |(s, d)| (usize::from(*s).max(1), d));
    let mut decoder = Decoder::new(FrameLimits::OUTCOMES);
    for piece in data.chunks(step) {
        decoder.push(piece);
        while let Ok(Some(frame)) = decoder.next_frame() {
            let _ = serde_json::from_slice::<wirespeed_schema::message::RankMessage>(&frame.payload);
            let _ = serde_json::from_slice::<wirespeed_schema::message::SessionMessage>(&frame.payload);
            let _ = serde_json::from_slice::<wirespeed_schema::message::OutcomeReport>(&frame.payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_length_beyond_the_limit_is_refused_from_its_header_alone() {
        let mut decoder = Decoder::new(FrameLimits::STRANGER);
        decoder.push(&[1, 0xff, 0xff, 0xff, 0xff]);
        let refused = Err(FrameError::TooLong {
            length: u64::from(u32::MAX),
            limit: MESSAGE_BYTES_MAX_STRANGER,
        });
        assert_eq!(decoder.next_frame(), refused);
        decoder.push(&[1, 0, 0, 0, 0]);
        assert_eq!(decoder.next_frame(), refused, "the error stays");
    }

    #[test]
    fn kinds_have_their_own_limits() {
        let long = encode(Kind::Outcome, &[0; 5000]).unwrap();
        let mut decoder = Decoder::new(FrameLimits::MESSAGES);
        decoder.push(&long);
        assert!(decoder.next_frame().is_err());
        decoder = Decoder::new(FrameLimits::OUTCOMES);
        decoder.push(&long);
        assert_eq!(decoder.next_frame().unwrap().unwrap().payload.len(), 5000);
        decoder.push(&[9, 0, 0, 0, 0]);
        assert_eq!(decoder.next_frame(), Err(FrameError::Kind(9)));
    }

    #[test]
    fn the_limit_itself_is_accepted_by_both_ends_and_one_byte_more_by_neither() {
        let limits = FrameLimits::STRANGER;
        for (length, fits) in [
            (MESSAGE_BYTES_MAX_STRANGER, true),
            (MESSAGE_BYTES_MAX_STRANGER + 1, false),
        ] {
            let mut decoder = Decoder::new(limits);
            decoder.push(&encode(Kind::Message, &vec![7; length]).unwrap());
            assert_eq!(decoder.next_frame().is_ok(), fits, "{length} bytes");
        }
        assert!(encode(Kind::Message, &vec![0; MESSAGE_BYTES_MAX]).is_ok());
        assert!(encode(Kind::Message, &vec![0; MESSAGE_BYTES_MAX + 1]).is_err());
    }

    #[test]
    fn limits_rise_with_trust_for_the_frames_that_follow() {
        let outcome = encode(Kind::Outcome, b"samples").unwrap();
        let mut decoder = Decoder::new(FrameLimits::STRANGER);
        decoder.push(&encode(Kind::Message, b"hello").unwrap());
        assert_eq!(decoder.next_frame().unwrap().unwrap().payload, b"hello");
        decoder.set_limits(FrameLimits::OUTCOMES);
        decoder.push(&outcome[..HEADER_BYTES]);
        assert_eq!(decoder.next_frame(), Ok(None), "a frame is whole or not there");
        decoder.push(&outcome[HEADER_BYTES..]);
        let whole = decoder.next_frame().unwrap().unwrap();
        assert_eq!(
            (whole.kind, whole.payload.as_slice()),
            (Kind::Outcome, &b"samples"[..])
        );
    }

    #[test]
    fn nothing_is_stored_after_a_failure() {
        let mut decoder = Decoder::new(FrameLimits::STRANGER);
        decoder.push(&[9, 0, 0, 0, 0]);
        assert!(decoder.next_frame().is_err());
        decoder.push(&[0; 1000]);
        assert_eq!(decoder.bytes.capacity(), 0);
    }

    proptest! {
        #[test]
        fn frames_survive_any_cutting(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8),
            cut in 1usize..50,
        ) {
            let stream: Vec<u8> = payloads
                .iter()
                .flat_map(|p| encode(Kind::Message, p).unwrap())
                .collect();
            let mut decoder = Decoder::new(FrameLimits::STRANGER);
            let mut seen = Vec::new();
            for piece in stream.chunks(cut) {
                decoder.push(piece);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    seen.push(frame.payload);
                }
            }
            prop_assert_eq!(seen, payloads);
        }

        #[test]
        fn garbage_never_panics(data in prop::collection::vec(any::<u8>(), 0..500)) {
            fuzz_frame(&data);
        }
    }
}
