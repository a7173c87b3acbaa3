//! A socket pair between two processes of one machine: nobody else can reach it, so it needs no identity.

use super::{ReadDeadline, Receiver, Sender, WRITE_TIMEOUT, Wire, WireReader};
use crate::deadlined::uninterrupted;
use crate::frame::FrameLimits;
use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

struct UnixWire {
    writing: Mutex<UnixStream>,
    stream: UnixStream,
}

struct UnixReader {
    stream: UnixStream,
    deadline: ReadDeadline,
}

/// Both halves of `stream`.
pub(crate) fn halves(stream: UnixStream) -> io::Result<(Sender, Receiver)> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let wire = UnixWire {
        writing: Mutex::new(stream.try_clone()?),
        stream: stream.try_clone()?,
    };
    let reader = UnixReader {
        stream,
        deadline: ReadDeadline::default(),
    };
    let receiver = Receiver::new(Box::new(reader), FrameLimits::OUTCOMES);
    Ok((Sender::new(Arc::new(wire)), receiver))
}

impl Wire for UnixWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.writing.lock();
        let sent = stream.write_all(bytes);
        if sent.is_err() {
            // Half a frame may be out; nothing sensible can follow it.
            self.close();
        }
        sent
    }

    fn close(&self) {
        // An error means that it is closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl WireReader for UnixReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| {
            self.deadline
                .apply(|timeout| self.stream.set_read_timeout(timeout))?;
            self.stream.read(buffer)
        })
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Packet, ReceiveError};
    use std::time::Duration;
    use wirespeed_schema::message::RankMessage;

    #[test]
    fn messages_cross_and_the_end_is_seen() {
        let (a, b) = UnixStream::pair().unwrap();
        let (sender, _receiver_a) = halves(a).unwrap();
        let (_sender_b, mut receiver) = halves(b).unwrap();
        sender.message(&RankMessage::Ping).unwrap();
        assert!(matches!(
            receiver.receive(None),
            Ok(Packet::Message(RankMessage::Ping))
        ));
        let nothing = receiver.receive::<RankMessage>(Some(Duration::ZERO));
        assert!(matches!(nothing, Err(ReceiveError::TimedOut)));
        sender.close();
        assert!(matches!(
            receiver.receive::<RankMessage>(None),
            Err(ReceiveError::Closed)
        ));
        assert!(sender.message(&RankMessage::Ping).is_err());
    }
}
