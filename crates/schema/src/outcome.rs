//! What one rank saw of one run: raw counts and histograms, before any statistics.

use crate::byteio::Transfer;
use crate::case::{IdlePolicy, Role};
use crate::finite::Finite;
use crate::histogram::HistogramData;
use crate::host::{ClockInfo, Disturbance, Floor, HostFingerprint, Noise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter::Sum;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The asked count or time was reached; both ends agree.
    #[default]
    Completed,
    /// The user stopped it.
    Interrupted,
    /// The other end went away or fell silent.
    PeerLost,
    /// The transport reported an error.
    Failed,
}

/// What a sample of a histogram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// From the start of a request to the arrival of its answer.
    RoundTrip,
    /// From the start of an operation to its completion at the origin (get, atomics, requests of a
    /// bulk transfer).
    Completion,
    /// From the sending of a stream's message to the acknowledgement that covers it.
    Acknowledged,
    /// From the moment at which a paced message or request was due, whenever it was really sent, to the acknowledgement
    /// that covers it or its last payload byte.
    Response,
    /// Time of a batch of messages divided by their number, at the sender.
    SendInterval,
    /// Time of a batch of messages divided by their number, at the receiver.
    ReceiveInterval,
    /// Time of one iteration of posted sends and receives, from the first post to the end of the wait.
    Iteration,
    /// The longest of the ranks' times for the same iteration, where all ranks enter it together. At one rank.
    SlowestIteration,
}

/// Samples of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// What a sample is.
    pub kind: SampleKind,
    /// Operations that one sample covers: above 1, a sample is the mean of a batch of so many.
    pub batch_ops: u64,
    /// All samples of the run.
    pub histogram: HistogramData,
    /// The first samples in order of time, where raw samples were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw_ns: Vec<Finite>,
}

/// Round trips with one peer, of a rank that has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerSamples {
    /// The peer's rank.
    pub peer: u32,
    /// Its samples; each covers as many operations as those of all peers together.
    pub samples: HistogramData,
    /// The very first round trip with it, before warm-up: what the transport connects late, first touch, cold caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<Finite>,
}

/// Messages or operations and their payload bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// Messages or operations.
    pub messages: u64,
    /// Payload bytes.
    pub bytes: u64,
}

impl Count {
    /// Of `messages`, each of `size_bytes`.
    pub fn of(messages: u64, size_bytes: usize) -> Self {
        let bytes = messages.saturating_mul(size_bytes as u64);
        Count { messages, bytes }
    }
}

/// Saturates.
impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |a, b| Count {
            messages: a.messages.saturating_add(b.messages),
            bytes: a.bytes.saturating_add(b.bytes),
        })
    }
}

/// Faults found in the data that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Faults {
    /// Sequence numbers that never came.
    pub lost_messages: u64,
    /// Messages that came after a later one.
    pub reordered_messages: u64,
    /// Messages that came twice.
    pub duplicate_messages: u64,
    /// Messages whose payload was not what was sent.
    pub corrupt_messages: u64,
}

impl Faults {
    /// `messages` with wrong contents, and nothing else.
    pub fn corrupt(messages: u64) -> Self {
        Faults {
            corrupt_messages: messages,
            ..Faults::default()
        }
    }
}

/// Saturates.
impl Sum for Faults {
    fn sum<I: Iterator<Item = Faults>>(faults: I) -> Faults {
        faults.fold(Faults::default(), |a, b| Faults {
            lost_messages: a.lost_messages.saturating_add(b.lost_messages),
            reordered_messages: a.reordered_messages.saturating_add(b.reordered_messages),
            duplicate_messages: a.duplicate_messages.saturating_add(b.duplicate_messages),
            corrupt_messages: a.corrupt_messages.saturating_add(b.corrupt_messages),
        })
    }
}

/// One slice of time of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, from the start of the run.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
    /// What this rank sent (or completed) in it.
    pub sent: Count,
    /// What this rank received in it.
    pub received: Count,
    /// Median of the interval's samples, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<Finite>,
    /// 99th percentile of the interval's samples, where there are at least a hundred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<Finite>,
    /// Largest of the interval's samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<Finite>,
}

/// What one rank did and saw in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The rank.
    pub rank: u32,
    /// Its role.
    pub role: Role,
    /// Why it stopped.
    pub stop: StopReason,
    /// Time from this rank's first operation to its last completion.
    pub elapsed_ns: u64,
    /// What it sent, wrote or fetched, warm-up excluded.
    pub sent: Count,
    /// What it received, warm-up excluded.
    pub received: Count,
    /// Of that, messages that had come when its time began: a receiver's begins with the first look that finds any.
    #[serde(default, skip_serializing_if = "crate::byteio::is_zero")]
    pub received_before_msgs: u64,
    /// When the measured phase began on the clock of its host, which begins when that starts: to tell whether ranks of one host
    /// measured at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ns: Option<u64>,
    /// Faults in what it received.
    #[serde(default)]
    pub faults: Faults,
    /// Operations of the warm-up.
    pub warmup_operations: u64,
    /// Time of the first operation of all: connection, first touch and cold caches included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_operation_ns: Option<Finite>,
    /// Time to open the port: connections to all peers, and the wait for those who come later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<Finite>,
    /// Samples by kind.
    pub samples: Vec<Samples>,
    /// Slices of time, where reports were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// Samples by peer, where the test tells peers apart: `hub_lat`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerSamples>,
    /// The clock.
    pub clock: ClockInfo,
    /// The harness floor of the same loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// CPU the thread was pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// How it waited.
    pub idle: IdlePolicy,
    /// What disturbed it.
    pub disturbance: Disturbance,
    /// Fields of this outcome that whoever made it cannot fill, with the reason; what such a field holds is no figure.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lacking: BTreeMap<String, String>,
    /// Noise of its CPU before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Noise of its CPU after the run, its own load stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_after: Option<Noise>,
    /// Work that its background load got done: `cpu_loops`, `touched_bytes`, `log_lines`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub load_done: BTreeMap<String, u64>,
    /// Facts of the transport as it ran: congestion control, buffer sizes, `one_sided = emulated`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transport_facts: BTreeMap<String, String>,
    /// A bulk transfer, connection by connection. In a document with a section `byteio` it stands there, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Box<Transfer>>,
    /// The machine of this rank.
    #[serde(default)]
    pub host: HostFingerprint,
    /// The error that ended it, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Outcome {
    /// What helps where it did not end well, if the rank knows.
    pub fn remedy(&self) -> Option<&str> {
        self.transfer.as_ref()?.remedy.as_deref()
    }

    /// Time over which disturbances were counted: all of the measured phase where that is known, else the time measured.
    pub fn observed_ns(&self) -> u64 {
        self.disturbance.observed_ns.max(self.elapsed_ns)
    }

    /// How often its CPU was taken from this rank; `None` if it yields, since the kernel counts a yield in the same way.
    pub fn cpu_taken(&self) -> Option<u64> {
        (self.idle == IdlePolicy::Spin).then_some(self.disturbance.involuntary_switches)
    }

    /// Whether the rank came to its end.
    pub fn is_complete(&self) -> bool {
        self.stop == StopReason::Completed && self.error.is_none()
    }

    /// The samples of `kind`, if any were taken.
    pub fn samples_of(&self, kind: SampleKind) -> Option<&Samples> {
        self.samples.iter().find(|s| s.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields are kept apart, and what no number holds is as much as one can.
    #[test]
    fn counts_and_faults_add_up_field_by_field() {
        let count = Count::of(3, 100);
        assert_eq!((count.messages, count.bytes), (3, 300));
        assert_eq!(Count::of(u64::MAX, 2).bytes, u64::MAX);
        let faults = |times: u64| Faults {
            lost_messages: times,
            reordered_messages: 2 * times,
            duplicate_messages: 3 * times,
            corrupt_messages: 4 * times,
        };
        for times in [0, 1, 5] {
            let counts: Count = (0..times).map(|_| count).sum();
            assert_eq!(counts, Count::of(3 * times, 100));
            assert_eq!((0..times).map(|_| faults(1)).sum::<Faults>(), faults(times));
        }
        let most = Faults::corrupt(u64::MAX);
        assert_eq!(
            [most, faults(1)].into_iter().sum::<Faults>(),
            Faults {
                corrupt_messages: u64::MAX,
                ..faults(1)
            }
        );
    }

    #[test]
    fn what_a_rank_yields_was_not_taken_from_it() {
        let nothing = serde_json::to_value(Count::default()).unwrap();
        let document = serde_json::json!({
            "rank": 0, "role": "source", "stop": "completed", "elapsed_ns": 0, "sent": nothing, "received": nothing,
            "warmup_operations": 0, "samples": [], "clock": ClockInfo::default(), "idle": "spin",
            "disturbance": Disturbance { involuntary_switches: 7, ..Disturbance::default() },
        });
        let mut outcome: Outcome = serde_json::from_value(document).unwrap();
        assert_eq!(outcome.cpu_taken(), Some(7));
        outcome.idle = IdlePolicy::Yield;
        assert_eq!(outcome.cpu_taken(), None);
        (outcome.elapsed_ns, outcome.disturbance.observed_ns) = (5, 9);
        assert_eq!(outcome.observed_ns(), 9);
        outcome.disturbance.observed_ns = 0;
        assert_eq!(outcome.observed_ns(), 5);
    }
}
