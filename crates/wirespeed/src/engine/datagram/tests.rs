//! The loops over an in-memory medium that drops, doubles and reorders by a fixed rule, and writes down what it
//! delivered: what the ranks count must be what the medium did.

use super::*;
use crate::engine::example::{case, pingpong};
use crate::engine::payload::{Asked, Short};
use crate::engine::phases::drive;
use crate::transport::bootstrap::{Bootstrap, ThreadBootstrap};
use crate::transport::cancel::CancelReason;
use crate::transport::port::{LinkError, OnMessage, Post, Posted};
use crate::transport::waiter::Waiter;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender as Channel, TryRecvError, channel};
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed_schema::test::{Layout, Stream};

/// Percentages of messages that fare badly.
#[derive(Clone, Copy, Default)]
struct Faults {
    dropped: u64,
    doubled: u64,
    delayed: u64,
}

/// Phase and sequence number of data messages, in the order of delivery.
type Log = Arc<Mutex<Vec<(u64, u64)>>>;

/// One end of the medium; faults happen on the way out.
struct Faulty {
    to: Channel<(u64, Vec<u8>)>,
    from: Receiver<(u64, Vec<u8>)>,
    faults: Faults,
    random: u64,
    held: Option<(u64, Vec<u8>)>,
    delivered: Log,
    waiter: Waiter,
}

impl Faulty {
    fn percent(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % 100
    }

    fn deliver(&mut self, message: (u64, Vec<u8>)) {
        if let (phase, super::header::Kind::Data(sequence)) = super::header::decode(0, message.0) {
            self.delivered.lock().push((phase, sequence));
        }
        // A peer that is gone receives nothing, as with datagrams.
        let _ = self.to.send(message);
    }
}

impl MessagePort for Faulty {
    const LOSSY: bool = true;

    fn send_short(&mut self, _: usize, header: u64, payload: &[u8]) -> Posted {
        let message = (header, payload.to_vec());
        let (drop, double, delay) = (self.percent(), self.percent(), self.percent());
        if drop < self.faults.dropped {
            return Ok(Post::Done);
        }
        let held = self.held.take();
        if held.is_none() && delay < self.faults.delayed {
            self.held = Some(message);
            return Ok(Post::Done);
        }
        // Data overtake data alone: what comes behind the end of a phase is lost, whatever was delivered.
        let (_, kind) = super::header::decode(0, message.0);
        let (before, after) = match matches!(kind, super::header::Kind::Data(_)) {
            true => (None, held),
            false => (held, None),
        };
        before.into_iter().for_each(|held| self.deliver(held));
        if double < self.faults.doubled {
            self.deliver(message.clone());
        }
        self.deliver(message);
        after.into_iter().for_each(|held| self.deliver(held));
        Ok(Post::Done)
    }

    fn send_bcopy(&mut self, _: usize, _: u64, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
        Err(LinkError::Unsupported("bcopy"))
    }

    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.from.try_recv() {
            Ok((header, payload)) => {
                on.message(0, header, &payload);
                Ok(1)
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(0),
        }
    }

    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled == 0 {
            self.waiter.idle()?;
        }
        Ok(handled)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        Ok(true)
    }
}

fn stream(window_msgs: u64, pace_msg_per_s: Option<u64>) -> Stream {
    Stream::new(24, Layout::Short, window_msgs).with_pace(pace_msg_per_s)
}

/// Outcomes of both ranks, and what each one's sends delivered.
fn play(case: &Case, faults: [Faults; 2]) -> ([Outcome; 2], [Log; 2]) {
    let mut group = ThreadBootstrap::group(2).into_iter();
    let logs = [Log::default(), Log::default()];
    let ((to_sink, from_source), (to_source, from_sink)) = (channel(), channel());
    let ends = [(to_sink, from_sink), (to_source, from_source)];
    let outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = ends
            .into_iter()
            .zip(faults)
            .zip(&logs)
            .enumerate()
            .map(|(i, (((to, from), faults), log))| {
                let bootstrap = group.next().unwrap();
                let delivered = log.clone();
                scope.spawn(move || {
                    let rank = Rank::begin(case, &bootstrap).unwrap();
                    let port = Faulty {
                        to,
                        from,
                        faults,
                        random: 0x9E37_79B9_7F4A_7C15 + i as u64,
                        held: None,
                        delivered,
                        waiter: rank.waiter(),
                    };
                    let link = Wired::new(port, rank.waiter());
                    let mut report = |_: &wirespeed_schema::outcome::Interval| ();
                    let meter = rank.meter(&mut report);
                    let size = case.test.size_bytes() as usize;
                    let sender = Short::new(size, 0, Asked(true));
                    let body = body(&rank, &meter, link, sender).unwrap();
                    let finished = drive(&rank, meter, body);
                    if finished.end.is_err() {
                        bootstrap.cancel().cancel(CancelReason::PeerLost);
                    }
                    rank.finish(finished)
                })
            })
            .collect();
        let mut outcomes = threads.into_iter().map(|t| t.join().unwrap());
        [outcomes.next().unwrap(), outcomes.next().unwrap()]
    });
    (outcomes, logs)
}

/// The measured phase: first operation, warm-up and settling come before.
const MEASURED: u64 = 3;

/// What `receiver` counted must be what the medium delivered of the `sent` messages.
fn agrees(sent: u64, delivered: &Log, receiver: &Outcome) {
    let delivered = delivered.lock();
    let (mut seen, mut next, mut reordered, mut duplicates) = (HashSet::new(), 0, 0, 0);
    for &(_, sequence) in delivered.iter().filter(|(phase, _)| *phase == MEASURED) {
        if !seen.insert(sequence) {
            duplicates += 1;
        } else if sequence < next {
            reordered += 1;
        }
        next = next.max(sequence + 1);
    }
    assert_eq!(receiver.received.messages, seen.len() as u64);
    assert_eq!(receiver.received.bytes, 24 * seen.len() as u64);
    assert_eq!(receiver.faults.lost_messages, sent - seen.len() as u64);
    assert_eq!(receiver.faults.reordered_messages, reordered);
    assert_eq!(receiver.faults.duplicate_messages, duplicates);
    assert_eq!(receiver.faults.corrupt_messages, 0);
}

fn completed(outcomes: &[Outcome; 2]) {
    for outcome in outcomes {
        assert_eq!(
            (outcome.stop, outcome.error.as_ref()),
            (StopReason::Completed, None)
        );
    }
}

const NONE: Faults = Faults {
    dropped: 0,
    doubled: 0,
    delayed: 0,
};

#[test]
fn a_faultless_medium_gives_faultless_counts() {
    let (outcomes, _) = play(&case(pingpong(), 5000), [NONE; 2]);
    completed(&outcomes);
    for outcome in &outcomes {
        assert_eq!((outcome.sent.messages, outcome.received.messages), (5000, 5000));
        assert_eq!(outcome.faults, Default::default());
    }
    let samples = outcomes[0].samples_of(SampleKind::RoundTrip).unwrap();
    assert_eq!((samples.batch_ops, samples.histogram.count), (1, 5000));
    let (outcomes, _) = play(&case(Test::AmBw(stream(64, None)), 50_000), [NONE; 2]);
    completed(&outcomes);
    assert_eq!(outcomes[1].received.messages, 50_000);
    assert_eq!(outcomes[1].faults, Default::default());
    assert_eq!(outcomes[0].transport_facts["delivered_messages"], "50000");
    assert!(outcomes[0].samples_of(SampleKind::SendInterval).is_some());
}

#[test]
fn lost_requests_and_replies_are_counted_apart() {
    let faults = Faults {
        dropped: 8,
        doubled: 10,
        delayed: 0,
    };
    let (outcomes, logs) = play(&case(pingpong(), 200), [faults; 2]);
    completed(&outcomes);
    let [source, sink] = &outcomes;
    assert_eq!(source.sent.messages, 200);
    agrees(200, &logs[0], sink);
    agrees(sink.sent.messages, &logs[1], source);
    assert_eq!(sink.sent.messages, sink.received.messages);
    assert!(sink.faults.lost_messages > 0 && source.faults.lost_messages > 0);
    let samples = source.samples_of(SampleKind::RoundTrip).unwrap();
    assert_eq!(samples.histogram.count, source.received.messages);
}

#[test]
fn a_late_reply_counts_with_its_true_time() {
    let delayed = Faults { delayed: 10, ..NONE };
    let (outcomes, logs) = play(&case(pingpong(), 100), [NONE, delayed]);
    completed(&outcomes);
    agrees(outcomes[1].sent.messages, &logs[1], &outcomes[0]);
    let late: u64 = outcomes[0].transport_facts["late_replies"].parse().unwrap();
    assert!(late > 0);
    let samples = outcomes[0].samples_of(SampleKind::RoundTrip).unwrap();
    // A delayed reply arrives only with the next one: after a timeout.
    assert!(samples.histogram.max_ns.get() >= 20e6);
    assert_eq!(samples.histogram.count, outcomes[0].received.messages);
    // Late replies overlap the requests after them, by no more than is stated.
    let late_ns: f64 = outcomes[0].transport_facts["late_replies_ns"].parse().unwrap();
    let alone_ns = samples.histogram.sum_ns.get() - late_ns;
    assert!(
        late_ns > 0.0 && alone_ns <= outcomes[0].elapsed_ns as f64 * 1.001,
        "{alone_ns}"
    );
}

#[test]
fn a_stream_counts_every_fault() {
    for (faults, window) in [
        (Faults { dropped: 2, ..NONE }, 256),
        (Faults { doubled: 20, ..NONE }, 16),
        (Faults { delayed: 20, ..NONE }, 64),
        (
            Faults {
                dropped: 3,
                doubled: 5,
                delayed: 10,
            },
            128,
        ),
    ] {
        let (outcomes, logs) = play(&case(Test::AmBw(stream(window, None)), 5000), [faults; 2]);
        completed(&outcomes);
        assert_eq!(outcomes[0].sent.messages, 5000);
        agrees(5000, &logs[0], &outcomes[1]);
        let told: u64 = outcomes[0].transport_facts["delivered_messages"].parse().unwrap();
        assert_eq!(told, outcomes[1].received.messages);
    }
}

#[test]
fn both_ways_at_once_count_every_fault() {
    let faults = Faults {
        dropped: 2,
        doubled: 5,
        delayed: 10,
    };
    let (outcomes, logs) = play(&case(Test::AmBibw(stream(128, None)), 3000), [faults; 2]);
    completed(&outcomes);
    for (me, peer) in [(0, 1), (1, 0)] {
        assert_eq!(outcomes[me].sent.messages, 3000);
        agrees(3000, &logs[peer], &outcomes[me]);
    }
}

#[test]
fn a_paced_stream_sends_all_of_its_schedule() {
    let faults = Faults { dropped: 5, ..NONE };
    let (outcomes, logs) = play(&case(Test::AmBw(stream(512, Some(5000))), 300), [faults, NONE]);
    completed(&outcomes);
    assert_eq!(outcomes[0].sent.messages, 300);
    agrees(300, &logs[0], &outcomes[1]);
    // The interval of message 299 ends 60 ms after the first one begins.
    assert!(outcomes[0].elapsed_ns >= 59_900_000, "{}", outcomes[0].elapsed_ns);
    // Each is acknowledged, or covered by the next that is; at the end what is left is written off.
    let count = |kind| {
        outcomes[0]
            .samples_of(kind)
            .map_or(0, |samples| samples.histogram.count)
    };
    assert!((290..=300).contains(&count(SampleKind::Response)), "{outcomes:?}");
}

#[test]
fn total_loss_ends_in_an_error() {
    let all = Faults { dropped: 100, ..NONE };
    let tests = [
        pingpong(),
        Test::AmBw(stream(8, None)),
        Test::AmBibw(stream(8, None)),
    ];
    // Each takes as long as silence is borne.
    std::thread::scope(|scope| {
        for test in tests {
            scope.spawn(move || {
                let (outcomes, _) = play(&case(test, 100), [all; 2]);
                assert!(outcomes.iter().all(|o| o.stop == StopReason::PeerLost));
                let mut errors = outcomes.iter().filter_map(|o| o.error.as_deref());
                assert!(errors.any(|e| e == "no answer from the peer"));
            });
        }
    });
}

#[test]
fn lost_answers_alone_end_in_an_error() {
    let all = Faults { dropped: 100, ..NONE };
    let (outcomes, _) = play(&case(Test::AmBw(stream(8, None)), 100), [NONE, all]);
    assert!(outcomes.iter().all(|o| o.stop == StopReason::PeerLost));
    assert_eq!(outcomes[0].error.as_deref(), Some("no answer from the peer"));
}
