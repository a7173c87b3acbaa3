//! One rank of a case: what it does, with whom, and what runs beside it.

use super::TransportOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a rank does in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Starts operations: the requester of a ping-pong, the sender of a stream, the origin of one-sided operations.
    Source,
    /// Answers, receives or is the target.
    Sink,
    /// Exchanges messages with every worker.
    Hub,
    /// Answers the hub.
    Worker,
    /// Passes messages on between ranks, as a daemon on their way does.
    Relay,
    /// Sends to and receives from its neighbours.
    Neighbour,
    /// Takes no part in the test; only carries its background load.
    Idle,
}

impl Role {
    /// Its name in plans and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Source => "source",
            Role::Sink => "sink",
            Role::Hub => "hub",
            Role::Worker => "worker",
            Role::Relay => "relay",
            Role::Neighbour => "neighbour",
            Role::Idle => "idle",
        }
    }
}

/// Where the threads of a load run, seen from the measuring threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Any CPU but the rank's own; that one too where there is no other.
    #[default]
    Beside,
    /// Physical cores that no rank of the case measures on.
    Apart,
    /// The other hardware threads of the rank's own core.
    Sibling,
    /// The rank's own CPU.
    Same,
}

impl Place {
    /// All of them.
    pub const ALL: [Place; 4] = [Place::Beside, Place::Apart, Place::Sibling, Place::Same];

    /// The word that users write.
    pub fn name(self) -> &'static str {
        match self {
            Place::Beside => "beside",
            Place::Apart => "apart",
            Place::Sibling => "sibling",
            Place::Same => "same",
        }
    }

    /// The place of this name.
    pub fn of_name(name: &str) -> Option<Place> {
        Place::ALL.into_iter().find(|place| place.name() == name)
    }

    /// Whether it is the default: any CPU but the rank's own.
    pub fn is_beside(&self) -> bool {
        *self == Place::Beside
    }
}

/// Load that a rank puts on its machine beside the measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Load {
    /// Threads that burn CPU.
    pub cpu_threads: u32,
    /// Memory to allocate before the run.
    pub memory_bytes: u64,
    /// How much of it to touch, once or again and again.
    pub touch_bytes: u64,
    /// True: touch once, before the run. False: touch in a loop during the run.
    pub touch_once: bool,
    /// Threads that write 80-character log lines.
    pub log_threads: u32,
    /// Threads that copy memory far larger than the caches.
    #[serde(skip_serializing_if = "is_nought")]
    pub bandwidth_threads: u32,
    /// Threads that write to lines all over as much memory as the largest cache holds.
    #[serde(skip_serializing_if = "is_nought")]
    pub cache_threads: u32,
    /// Where all these threads run.
    #[serde(skip_serializing_if = "Place::is_beside")]
    pub place: Place,
    /// It stands for the work of others: ranks wait as they do without it, so that the two can be compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_others: bool,
    /// Sleep after each message that the rank receives as the sink of a stream: a slow reader.
    #[serde(skip_serializing_if = "is_nought_ns")]
    pub message_sleep_ns: u64,
}

fn is_nought_ns(duration_ns: &u64) -> bool {
    *duration_ns == 0
}

fn is_nought(count: &u32) -> bool {
    *count == 0
}

impl Load {
    /// True when there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.threads() == 0 && self.memory_bytes == 0 && self.message_sleep_ns == 0
    }

    /// Threads of all kinds; the one that touches memory again and again is not counted.
    pub fn threads(&self) -> u64 {
        let kinds = [
            self.cpu_threads,
            self.log_threads,
            self.bandwidth_threads,
            self.cache_threads,
        ];
        kinds.into_iter().map(u64::from).sum()
    }
}

/// One rank of the group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RankSpec {
    /// What it does.
    pub role: Role,
    /// The rank that it exchanges data with; absent for hub, workers with one hub, and idle ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<u32>,
    /// CPU to pin the measuring thread to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Load beside the measurement.
    #[serde(default, skip_serializing_if = "Load::is_idle")]
    pub load: Load,
    /// Options of the transport that this rank has in place of the case's, such as its device.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: TransportOptions,
}

impl RankSpec {
    /// A rank without a peer, on any CPU, with no load beside it.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            peer: None,
            cpu: None,
            load: Load::default(),
            options: TransportOptions::new(),
        }
    }

    /// A source as rank 0 and its sink as rank 1.
    pub fn pair() -> Vec<Self> {
        vec![
            Self::new(Role::Source).with_peer(1),
            Self::new(Role::Sink).with_peer(0),
        ]
    }

    /// Exchanges data with the rank of this number.
    #[must_use]
    pub fn with_peer(mut self, rank: impl Into<Option<u32>>) -> Self {
        self.peer = rank.into();
        self
    }

    /// Its measuring thread is pinned to this CPU.
    #[must_use]
    pub fn with_cpu(mut self, cpu: impl Into<Option<u32>>) -> Self {
        self.cpu = cpu.into();
        self
    }

    /// Carries a load beside the measurement.
    #[must_use]
    pub fn with_load(mut self, load: Load) -> Self {
        self.load = load;
        self
    }

    /// Has these options of the transport in place of the case's.
    #[must_use]
    pub fn with_options(mut self, options: TransportOptions) -> Self {
        self.options = options;
        self
    }
}
