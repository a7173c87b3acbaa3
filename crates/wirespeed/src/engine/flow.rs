//! What both ends of a stream know of each other's messages: sequence, acknowledgements, faults. Nothing is sent here.

use super::header;
use super::meter::Tally;
use super::payload::Check;
use super::schedule::ack_every;
use crate::transport::cancel::Cancel;
use crate::transport::port::OnMessage;
use std::time::Duration;
use wirespeed_schema::outcome::{Count, Faults};
use wirespeed_schema::test::Stream;

/// An acknowledgement comes at least so often, so that a huge window still tells how far the receiver is behind.
pub(super) const ACK_EVERY_MAX: u64 = 4096;

/// A slow reader looks at the cancel flag so often.
const NAP_MAX: Duration = Duration::from_millis(50);

/// Both halves of a stream's state that messages change.
pub struct Flow<C> {
    /// Payload of a message in bytes.
    pub(super) size: usize,
    checks: C,
    /// A slow reader sleeps so long after each message, unless the run was cancelled.
    sleep: Duration,
    cancel: Cancel,
    /// Messages are looked into, or slept after: one branch for both.
    attentive: bool,
    ack_every: u64,
    /// Data messages received in this phase.
    pub(super) received: u64,
    received_bytes: u64,
    expected: u64,
    /// How many of them the peer has been told of.
    pub(super) acknowledged: u64,
    /// The phase's last message has come.
    pub(super) last_seen: bool,
    /// Acknowledgements of the peer: messages that it has received.
    pub(super) peer_received: u64,
    faults: Faults,
    /// The peer of a bidirectional stream may begin the next phase while this rank still waits for the last
    /// acknowledgement of this one: its first messages are counted here and carried over.
    early: Early,
}

#[derive(Default)]
struct Early {
    received: u64,
    received_bytes: u64,
    corrupt: u64,
    last: bool,
}

impl<C: Check> Flow<C> {
    /// Of a stream.
    pub fn new(stream: &Stream, checks: C) -> Self {
        let ack_every = ack_every(stream, (stream.window_msgs / 2).clamp(1, ACK_EVERY_MAX));
        Flow::of(stream.size_bytes as usize, ack_every, checks)
    }

    /// Of a slow reader, that sleeps for `sleep` after each message, where `C` decides at all.
    pub fn slowed(self, sleep: Duration, cancel: Cancel) -> Self {
        let attentive = self.attentive || !sleep.is_zero();
        Flow {
            sleep,
            cancel,
            attentive,
            ..self
        }
    }

    fn of(size: usize, ack_every: u64, checks: C) -> Self {
        Flow {
            size,
            checks,
            sleep: Duration::ZERO,
            cancel: Cancel::new(),
            attentive: checks.on(),
            ack_every,
            received: 0,
            received_bytes: 0,
            expected: 0,
            acknowledged: 0,
            last_seen: false,
            peer_received: 0,
            faults: Faults::default(),
            early: Early::default(),
        }
    }

    /// Before the next phase; what the peer sent early belongs to it.
    pub(super) fn restart(&mut self) {
        let early = std::mem::take(&mut self.early);
        *self = Flow::of(self.size, self.ack_every, self.checks).slowed(self.sleep, self.cancel.clone());
        (self.received, self.expected, self.received_bytes) =
            (early.received, early.received, early.received_bytes);
        (self.faults.corrupt_messages, self.last_seen) = (early.corrupt, early.last);
    }

    /// The peer is to be told how much has come.
    #[inline(always)]
    pub(super) fn ack_due(&self) -> bool {
        let fresh = self.received - self.acknowledged;
        fresh >= self.ack_every || (self.last_seen && fresh > 0)
    }

    /// What was received, with a gap or surplus against the sequence as loss.
    pub(super) fn tally(&self, sent: Count) -> Tally {
        let mut faults = self.faults;
        faults.lost_messages = self.expected.saturating_sub(self.received);
        Tally {
            sent,
            received: Count {
                messages: self.received,
                bytes: self.received_bytes,
            },
            faults,
            ..Tally::default()
        }
    }
}

impl<C: Check> OnMessage for Flow<C> {
    #[inline(always)]
    fn message(&mut self, _: usize, header: u64, payload: &[u8]) {
        let number = header::number(header);
        if header::is_ack(header) {
            self.peer_received = self.peer_received.max(number);
            return;
        }
        if self.last_seen {
            self.take_early(header, payload);
            return;
        }
        if number != self.expected {
            self.out_of_order(number);
        }
        if C::DECIDES && self.attentive {
            self.cold_attend(number, payload);
        }
        self.received += 1;
        self.received_bytes += payload.len() as u64;
        self.expected = self.expected.max(number + 1);
        self.last_seen |= header::is_last(header);
    }
}

impl<C: Check> Flow<C> {
    /// Sleeping is the purpose.
    #[cold]
    #[inline(never)]
    fn cold_attend(&mut self, number: u64, payload: &[u8]) {
        if self.checks.find_wrong(number, self.size, payload) {
            self.faults.corrupt_messages += 1;
        }
        // One look at a port may bring many messages, and hears no cancel between them.
        let mut left = self.sleep;
        while !left.is_zero() && self.cancel.reason().is_none() {
            let nap = left.min(NAP_MAX);
            std::thread::sleep(nap);
            left -= nap;
        }
    }

    #[cold]
    #[inline(never)]
    fn take_early(&mut self, header: u64, payload: &[u8]) {
        if self.checks.find_wrong(header::number(header), self.size, payload) {
            self.early.corrupt += 1;
        }
        self.early.received += 1;
        self.early.received_bytes += payload.len() as u64;
        self.early.last |= header::is_last(header);
    }

    /// A reliable transport never comes here: a number above the expected one is a gap, counted as loss at the end.
    #[cold]
    #[inline(never)]
    fn out_of_order(&mut self, number: u64) {
        if number < self.expected {
            self.faults.reordered_messages += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::payload::{Asked, fill};
    use super::*;
    use crate::transport::cancel::CancelReason;
    use wirespeed_schema::test::Layout;

    const SIZE: usize = 16;

    fn flow(window: u64, checked: bool) -> Flow<Asked> {
        Flow::new(&Stream::new(SIZE as u64, Layout::Bcopy, window), Asked(checked))
    }

    fn payload(number: u64) -> [u8; SIZE] {
        let mut payload = [0; SIZE];
        fill(number, &mut payload);
        payload
    }

    fn receive(flow: &mut Flow<Asked>, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            flow.message(0, header::data(number, false), &payload(number));
        }
    }

    fn end(flow: &mut Flow<Asked>, number: u64) {
        flow.message(0, header::data(number, true), &payload(number));
    }

    #[test]
    fn half_a_window_is_acknowledged_at_once_a_huge_one_in_parts_and_a_paced_message_by_itself() {
        for (window, every) in [(1, 1), (2, 1), (8, 4), (9, 4), (1 << 20, ACK_EVERY_MAX)] {
            let mut flow = flow(window, false);
            receive(&mut flow, 0..every - 1);
            assert!(!flow.ack_due(), "window {window}");
            receive(&mut flow, every - 1..every);
            assert!(flow.ack_due(), "window {window}");
            flow.acknowledged = every;
            receive(&mut flow, every..2 * every - 1);
            assert!(!flow.ack_due(), "window {window}, again");
        }
        let paced = Stream::new(SIZE as u64, Layout::Bcopy, 64).with_pace(10);
        let mut flow = Flow::new(&paced, Asked(false));
        assert!(!flow.ack_due(), "nothing has come");
        receive(&mut flow, 0..1);
        assert!(flow.ack_due());
    }

    #[test]
    fn the_last_message_is_acknowledged_however_few_came_and_once() {
        let mut flow = flow(64, false);
        receive(&mut flow, 0..2);
        assert!(!flow.ack_due());
        end(&mut flow, 2);
        assert!(flow.ack_due());
        flow.acknowledged = 3;
        assert!(!flow.ack_due());
    }

    #[test]
    fn acknowledgements_are_cumulative_and_no_data() {
        let mut flow = flow(8, true);
        for (told, known) in [(3, 3), (7, 7), (5, 7)] {
            flow.message(0, header::ack(told), &[]);
            assert_eq!(flow.peer_received, known, "an old one changes nothing");
        }
        let tally = flow.tally(Count::default());
        assert_eq!(
            (tally.received, tally.faults),
            (Count::default(), Faults::default())
        );
    }

    #[test]
    fn a_gap_is_lost_unless_it_comes_late() {
        let mut flow = flow(8, false);
        receive(&mut flow, [0, 1, 4]);
        let gap = flow.tally(Count::default());
        assert_eq!((gap.received.messages, gap.received.bytes), (3, 3 * SIZE as u64));
        assert_eq!((gap.faults.lost_messages, gap.faults.reordered_messages), (2, 0));
        receive(&mut flow, [2, 3, 5]);
        let whole = flow.tally(Count::default()).faults;
        assert_eq!((whole.lost_messages, whole.reordered_messages), (0, 2));
    }

    #[test]
    fn wrong_bytes_are_counted_where_payloads_are_checked() {
        for (checked, corrupt) in [(true, 1), (false, 0)] {
            let mut flow = flow(8, checked);
            receive(&mut flow, 0..1);
            flow.message(0, header::data(1, false), &payload(7));
            assert_eq!(flow.tally(Count::default()).faults.corrupt_messages, corrupt);
        }
    }

    #[test]
    fn what_comes_after_the_last_message_belongs_to_the_next_phase() {
        let mut flow = flow(8, true);
        receive(&mut flow, 0..3);
        end(&mut flow, 3);
        receive(&mut flow, 0..1);
        flow.message(0, header::data(1, true), &payload(9));
        let before = flow.tally(Count::default());
        assert_eq!((before.received.messages, before.faults.corrupt_messages), (4, 0));
        flow.restart();
        let after = flow.tally(Count::default());
        assert_eq!(
            (after.received.messages, after.received.bytes),
            (2, 2 * SIZE as u64)
        );
        assert_eq!(
            (after.faults.corrupt_messages, after.faults.lost_messages),
            (1, 0)
        );
        assert!(flow.last_seen && flow.ack_due());
        flow.restart();
        assert_eq!(flow.tally(Count::default()).received, Count::default());
        assert!(!flow.last_seen);
        receive(&mut flow, 0..1);
        assert!(!flow.last_seen, "a message that is not the last ends nothing");
    }

    #[test]
    fn a_slow_reader_sleeps_after_each_message_in_every_phase() {
        let nap = Duration::from_millis(5);
        let mut flow = flow(8, false).slowed(nap, Cancel::new());
        flow.restart();
        let begin = std::time::Instant::now();
        receive(&mut flow, 0..2);
        assert!(begin.elapsed() >= 2 * nap);
        assert_eq!(flow.tally(Count::default()).faults, Faults::default());
    }

    #[test]
    fn a_slow_reader_does_not_sleep_on_when_the_run_is_cancelled() {
        let cancel = Cancel::new();
        let mut flow = flow(8, false).slowed(Duration::MAX, cancel.clone());
        flow.restart();
        cancel.cancel(CancelReason::PeerLost);
        receive(&mut flow, 0..2);
        assert_eq!(flow.received, 2);
    }
}
