//! One control connection: a half that sends whole messages from any thread, and a half that one thread reads.
//!
//! Reading sleeps in the kernel. Sending has a deadline, so that an end that does not read cannot hold anybody up.

pub mod tls;
pub mod unix;

use crate::frame::{self, Decoder, FrameError, FrameLimits, Kind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed_schema::message::OutcomeReport;

/// A write that makes no progress for so long closes the connection.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends bytes in order, from any thread.
pub(crate) trait Wire: Send + Sync {
    /// Send all of `bytes`; after an error the connection is unusable.
    fn send(&self, bytes: &[u8]) -> io::Result<()>;
    /// End the connection in both directions; a reader of it wakes.
    fn close(&self);
}

/// The timeout of a socket that makes reads end by a deadline; changed only when it must be.
#[derive(Default)]
pub(crate) struct ReadDeadline {
    deadline: Option<Instant>,
    // Whether the socket has a timeout now.
    limited: bool,
}

impl ReadDeadline {
    /// For a socket that may have a timeout already.
    pub(crate) fn limited() -> Self {
        ReadDeadline {
            deadline: None,
            limited: true,
        }
    }

    pub(crate) fn set(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Before a read: tell the socket, through `set_timeout`, how long it may take.
    pub(crate) fn apply(
        &mut self,
        set_timeout: impl FnOnce(Option<Duration>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(deadline) = self.deadline else {
            return if std::mem::take(&mut self.limited) {
                set_timeout(None)
            } else {
                Ok(())
            };
        };
        let left = deadline.saturating_duration_since(Instant::now());
        self.limited = true;
        // A timeout of zero would mean "for ever" to the system. A late reader may still take what is there.
        set_timeout(Some(left.max(Duration::from_millis(1))))
    }
}

/// Receives bytes.
pub(crate) trait WireReader: Send {
    /// As [`io::Read::read`]: 0 is the end of the stream; `WouldBlock` or `TimedOut` when the timeout passed.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    /// When `read` gives up, however the bytes trickle; `None` for never.
    fn set_deadline(&mut self, deadline: Option<Instant>);
}

/// What arrived.
#[derive(Debug)]
pub enum Packet<M> {
    /// A message.
    Message(M),
    /// An outcome.
    Outcome(Box<OutcomeReport>),
}

/// Why nothing can be received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The timeout passed; the connection is as good as before.
    #[error("nothing arrived in time")]
    TimedOut,
    /// The other end closed it.
    #[error("the connection was closed")]
    Closed,
    /// The connection failed.
    #[error("{0}")]
    Io(io::Error),
    /// Not a frame, or too long.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Not a message.
    #[error("malformed message: {0}")]
    Malformed(serde_json::Error),
}

/// The sending half.
#[derive(Clone)]
pub struct Sender(Arc<dyn Wire>);

impl Sender {
    pub(crate) fn new(wire: Arc<dyn Wire>) -> Self {
        Sender(wire)
    }

    /// Send a message.
    pub fn message<M: Serialize>(&self, message: &M) -> io::Result<()> {
        self.frame(Kind::Message, message)
    }

    /// Send an outcome.
    pub fn outcome(&self, report: &OutcomeReport) -> io::Result<()> {
        self.frame(Kind::Outcome, report)
    }

    /// End the connection.
    pub fn close(&self) {
        self.0.close();
    }

    fn frame<M: Serialize>(&self, kind: Kind, message: &M) -> io::Result<()> {
        let payload = serde_json::to_vec(message)?;
        let bytes =
            frame::encode(kind, &payload).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        self.0.send(&bytes)
    }
}

/// The receiving half.
pub struct Receiver {
    reader: Box<dyn WireReader>,
    decoder: Decoder,
    buffer: Vec<u8>,
}

impl Receiver {
    pub(crate) fn new(reader: Box<dyn WireReader>, limits: FrameLimits) -> Self {
        Receiver {
            reader,
            decoder: Decoder::new(limits),
            buffer: vec![0; 16 << 10],
        }
    }

    /// Accept frames up to `limits` from here on.
    pub fn set_limits(&mut self, limits: FrameLimits) {
        self.decoder.set_limits(limits);
    }

    /// The next message or outcome; sleeps for at most `timeout`, for ever when there is none.
    pub fn receive<M: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
    ) -> Result<Packet<M>, ReceiveError> {
        self.receive_seen(timeout, || ())
    }

    /// The same; `seen` is called whenever a part of a message has come: whoever sends a long one is not silent.
    pub(crate) fn receive_seen<M: DeserializeOwned>(
        &mut self,
        timeout: Option<Duration>,
        mut seen: impl FnMut(),
    ) -> Result<Packet<M>, ReceiveError> {
        self.reader.set_deadline(timeout.map(|t| Instant::now() + t));
        let mut is_part = false;
        loop {
            if let Some(frame) = self.decoder.next_frame()? {
                return match frame.kind {
                    Kind::Message => serde_json::from_slice(&frame.payload).map(Packet::Message),
                    Kind::Outcome => {
                        OutcomeReport::read(&frame.payload).map(|report| Packet::Outcome(Box::new(report)))
                    }
                }
                .map_err(ReceiveError::Malformed);
            }
            if std::mem::take(&mut is_part) {
                seen();
            }
            match self.reader.read(&mut self.buffer) {
                Ok(0) => return Err(ReceiveError::Closed),
                Ok(n) => {
                    self.decoder.push(&self.buffer[..n]);
                    is_part = true;
                }
                Err(e) => match e.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        return Err(ReceiveError::TimedOut);
                    }
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                        return Err(ReceiveError::Closed);
                    }
                    _ => return Err(ReceiveError::Io(e)),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use wirespeed_schema::message::RankMessage;

    /// Bytes as they come, a piece a read.
    struct Pieces(VecDeque<Vec<u8>>);

    impl WireReader for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.pop_front() else {
                return Ok(0);
            };
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }

        fn set_deadline(&mut self, _: Option<Instant>) {}
    }

    #[test]
    fn who_sends_a_long_message_is_heard_meanwhile() {
        let payload = serde_json::to_vec(&RankMessage::Gone {
            reason: "x".repeat(1000),
        })
        .unwrap();
        let bytes = frame::encode(Kind::Message, &payload).unwrap();
        let pieces = bytes.chunks(100).map(<[u8]>::to_vec).collect::<VecDeque<_>>();
        let count = pieces.len();
        let mut receiver = Receiver::new(Box::new(Pieces(pieces)), FrameLimits::MESSAGES);
        let mut seen = 0;
        let packet = receiver.receive_seen::<RankMessage>(None, || seen += 1);
        assert!(matches!(packet, Ok(Packet::Message(RankMessage::Gone { .. }))));
        // The last one makes it whole.
        assert_eq!(seen, count - 1);
    }
}
