//! What messages change in a stream, both directions at once: arrivals to acknowledge, credit that came back.

use super::attend::{Attend, faults_of};
use super::ending::Ending;
use super::header::{Kind, encode};
use super::sequence::Tracker;
use crate::engine::header::number;
use crate::engine::meter::Tally;
use crate::engine::payload::{Asked, Check};
use crate::engine::schedule::ack_every;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use wirespeed_schema::outcome::Count;
use wirespeed_schema::test::Stream;

/// What has come of one phase.
struct Arrivals {
    tracker: Tracker,
    bytes: u64,
    corrupt: u64,
}

impl Arrivals {
    fn new() -> Self {
        Arrivals {
            tracker: Tracker::new(),
            bytes: 0,
            corrupt: 0,
        }
    }

    fn clear(&mut self) {
        self.tracker.clear();
        (self.bytes, self.corrupt) = (0, 0);
    }
}

/// Both directions' state that messages change.
pub struct Traffic {
    size: usize,
    checks: Asked,
    ack_every: u64,
    /// The end of the phase.
    pub ending: Ending,
    now: Arrivals,
    /// The peer of a bidirectional stream may begin the next phase while this rank ends this one.
    early: Arrivals,
    /// What the last acknowledgement said.
    pub acknowledged: u64,
    /// Highest sequence number that the peer has said to have, plus one.
    pub credited: u64,
    /// Messages that the peer has counted in this phase, once it closed it.
    pub peer_received: Option<u64>,
}

impl Traffic {
    /// For payloads of `size` bytes, as `stream` says.
    pub fn new(size: usize, stream: &Stream, checks: Asked) -> Self {
        Traffic {
            size,
            checks,
            ack_every: ack_every(stream, (stream.window_msgs / 4).max(1)),
            ending: Ending::default(),
            now: Arrivals::new(),
            early: Arrivals::new(),
            acknowledged: 0,
            credited: 0,
            peer_received: None,
        }
    }

    /// The next phase begins: what came of it early counts.
    pub fn restart(&mut self) {
        self.ending.restart();
        self.now.clear();
        std::mem::swap(&mut self.now, &mut self.early);
        (self.acknowledged, self.credited, self.peer_received) = (0, 0, None);
    }

    /// The highest sequence number that has come in this phase, plus one.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.now.tracker.next
    }

    /// Different messages that have come in this phase.
    #[inline(always)]
    pub fn received(&self) -> u64 {
        self.now.tracker.received
    }

    /// What was sent (given) and received.
    pub fn tally(&self, sent: u64) -> Tally {
        Tally {
            sent: Count::of(sent, self.size),
            received: Count {
                messages: self.now.tracker.received,
                bytes: self.now.bytes,
            },
            faults: faults_of(
                &self.now.tracker,
                self.ending.total.unwrap_or(0),
                self.now.corrupt,
            ),
            ..Tally::default()
        }
    }

    #[inline(always)]
    fn is_ack_due(&self) -> bool {
        self.now.tracker.next - self.acknowledged >= self.ack_every
    }

    /// Acknowledge if there is room; the next one says as much and more.
    #[inline(always)]
    pub fn acknowledge<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError> {
        let next = self.now.tracker.next;
        if port.send_short(0, encode(self.ending.phase, Kind::Ack(next)), &[])? == Post::Done {
            self.acknowledged = next;
        }
        Ok(())
    }
}

impl OnMessage for Traffic {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        let (ahead, kind) = self.ending.take(header);
        match (ahead, kind) {
            (0 | 1, Kind::Data(sequence)) => {
                let arrivals = if ahead == 0 {
                    &mut self.now
                } else {
                    &mut self.early
                };
                let is_over = ahead == 0 && self.ending.closed.is_some();
                if is_over || !arrivals.tracker.note(sequence) {
                    return;
                }
                if self.checks.find_wrong(number(header), self.size, payload) {
                    arrivals.corrupt += 1;
                }
                arrivals.bytes += payload.len() as u64;
            }
            (0, Kind::Ack(next)) => self.credited = self.credited.max(next),
            (0, Kind::Closed(received)) => self.peer_received = Some(received),
            _ => {}
        }
    }
}

impl Attend for Traffic {
    #[inline(always)]
    fn attend<P: MessagePort>(&mut self, port: &mut P) -> Result<(), LinkError> {
        if self.is_ack_due() {
            self.acknowledge(port)?;
        }
        if self.ending.is_asked() {
            self.ending.answer(port, self.now.tracker.received)?;
        }
        Ok(())
    }
}
