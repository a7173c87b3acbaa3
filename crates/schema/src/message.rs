//! Control messages: what a coordinator and its ranks, and a client and a server, tell each other.
//!
//! Every message is one JSON object tagged by `type`. A reader ignores fields that it does not know and maps types that
//! it does not know to `Unknown`, so that a newer end can add both. Nothing here may ever carry measured payload.

use crate::circle::CasePart;
use crate::outcome::{Interval, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use core::net::IpAddr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that travel as base64 text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD
            .decode(text)
            .map(Blob)
            .map_err(|_| serde::de::Error::custom("not base64"))
    }
}

/// Why a case is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelCause {
    /// The user stopped it and the ranks did not end in order.
    Interrupted,
    /// A rank died, failed or fell silent. Causes that this build does not know are read as this one.
    #[serde(other)]
    PeerLost,
}

/// What kind of failure a rank reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The case contradicts itself or the group.
    Usage,
    /// The transport or the machine cannot do it.
    Unsupported,
    /// A consequence of another rank's failure or of a cancel.
    PeerLost,
    /// Refused by the far end: identity or limits.
    Refused,
    /// The machine has too little memory for what the case needs.
    Memory,
    /// Anything else. Classes that this build does not know are read as this one.
    #[serde(other)]
    Failed,
}

/// Why the far end refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// No protocol version in common.
    Version,
    /// The token was not proven.
    Identity,
    /// A stated limit would be exceeded.
    Limit,
    /// The queue is full.
    Busy,
    /// The server is shutting down.
    Stopping,
    /// Anything else, this build's unknown codes included.
    #[serde(other)]
    Other,
}

/// A refusal with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The kind.
    pub code: RefusalCode,
    /// One line of cause.
    pub reason: String,
    /// One line of remedy.
    pub remedy: String,
}

/// What one end says of itself first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Oldest protocol it speaks.
    pub protocol_min: u32,
    /// Newest protocol it speaks.
    pub protocol_max: u32,
    /// Its build, for explanations: `wirespeed 0.1.0`.
    pub build: String,
    /// HMAC over the connection's exported key; absent between processes of one machine that share a socket pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Blob>,
}

/// Limits that a server states and enforces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerLimits {
    /// Clients measured at the same time: 1 unless the server shares.
    pub clients_max: u32,
    /// Clients that may wait.
    pub queue_clients_max: u32,
    /// Ranks of one case on this server.
    pub ranks_max: u32,
    /// Time of one case, its set-up included.
    pub duration_ns_max: u64,
    /// Payload of one message or operation.
    pub message_bytes_max: u64,
    /// Memory that a rank of a case may ask for: buffers, raw samples, background load.
    pub memory_bytes_max: u64,
    /// Threads of background load of a rank.
    pub load_threads_max: u32,
    /// Payload rate; only paced streams at or below it are accepted where it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s_max: Option<u64>,
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits {
            clients_max: 1,
            queue_clients_max: 16,
            ranks_max: 64,
            duration_ns_max: 3_600_000_000_000,
            message_bytes_max: 1 << 30,
            memory_bytes_max: 8 << 30,
            load_threads_max: 256,
            rate_bytes_per_s_max: None,
        }
    }
}

/// Between a coordinator and one rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RankMessage {
    /// First word of a rank.
    Hello(Hello),
    /// Second word of a rank that a launcher started: which one it is.
    Seat {
        /// The rank.
        rank: u32,
    },
    /// The coordinator agrees to a protocol version.
    Welcome {
        /// The version.
        protocol: u32,
    },
    /// The coordinator cannot work with this rank.
    Refused(Refusal),
    /// Run this case as this rank.
    Prepare {
        /// Number of the run; every later message of the run carries it.
        run: u64,
        /// The rank.
        rank: u32,
        /// What it must know of the case.
        case: CasePart,
        /// Address to listen on for data.
        bind_address: IpAddr,
    },
    /// A rank's blob for a round.
    Exchange {
        /// The run.
        run: u64,
        /// Rounds are counted from 0, barriers and exchanges alike.
        round: u64,
        /// The blob.
        blob: Blob,
        /// It is for those that name the same; without one for those that name none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        color: Option<u64>,
    },
    /// The blobs of a round that are for a rank.
    Exchanged {
        /// The run.
        run: u64,
        /// The round.
        round: u64,
        /// Blobs with the ranks that brought them, in their order.
        blobs: Vec<(u32, Blob)>,
    },
    /// A rank waits at a barrier.
    Barrier {
        /// The run.
        run: u64,
        /// The round.
        round: u64,
    },
    /// Every rank is at the barrier.
    Released {
        /// The run.
        run: u64,
        /// The round.
        round: u64,
    },
    /// A slice of time.
    Interval {
        /// The run.
        run: u64,
        /// The slice.
        interval: Interval,
    },
    /// The rank has no outcome.
    Failed {
        /// The run.
        run: u64,
        /// What kind of failure.
        class: FailureClass,
        /// One line.
        error: String,
        /// One line of remedy, where one is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// End the run in order.
    StopRequest {
        /// The run.
        run: u64,
    },
    /// End the run at once.
    Cancel {
        /// The run.
        run: u64,
        /// Why.
        cause: CancelCause,
    },
    /// A rank's process is gone: said by a server of a rank of its own.
    Gone {
        /// How it ended.
        reason: String,
    },
    /// Are you there?
    Ping,
    /// I am.
    Pong,
    /// No more runs.
    Bye,
    /// A type that this build does not know; ignored.
    #[serde(other)]
    Unknown,
}

/// What a rank saw, on its way to the coordinator. It travels as a frame kind of its own: it may be large, and is read
/// without an intermediate tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeReport {
    /// The run.
    pub run: u64,
    /// The rank.
    pub rank: u32,
    /// What it saw.
    pub outcome: Outcome,
}

impl OutcomeReport {
    /// The report that `bytes` hold: read here, so that what reads an outcome is compiled once.
    pub fn read(bytes: &[u8]) -> Result<OutcomeReport, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

/// Between a client and a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionMessage {
    /// First word of a client, with the proof of its token.
    Hello(Hello),
    /// The server agrees.
    Welcome {
        /// The protocol version of this session.
        protocol: u32,
        /// The server's build.
        build: String,
        /// What it will refuse to exceed.
        limits: ServerLimits,
        /// Drawn when it started, so that two addresses of one server are known as such.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<Blob>,
    },
    /// The server refuses the session or a case; of a client, that it has nothing to run.
    Refused(Refusal),
    /// Run a case: these ranks on the server, the others on the client.
    Start {
        /// Number of the run, by the client.
        run: u64,
        /// The server's ranks.
        ranks: Vec<u32>,
        /// What they must know of the case.
        case: CasePart,
        /// Start processes of its own for this run even if some of the run before are there.
        #[serde(default)]
        fresh: bool,
        /// The server's ranks are threads of one process.
        #[serde(default)]
        together: bool,
        /// Sessions of a client that say the same number are measured side by side: they have one turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
    },
    /// Others are measured first.
    Queued {
        /// Sessions ahead of this one, the running ones included.
        sessions_ahead: u32,
        /// The running case lasts at least so long, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_ns_min: Option<u64>,
    },
    /// The server's ranks are there and have the case.
    Started {
        /// The run.
        run: u64,
    },
    /// To or from one of the server's ranks.
    Rank {
        /// The rank.
        rank: u32,
        /// What is said.
        message: RankMessage,
    },
    /// All ranks of the server have ended the run.
    Done {
        /// The run.
        run: u64,
        /// Other sessions that ran at some time during it.
        overlapping_sessions: u32,
    },
    /// The server ends the run early: it shuts down, or a limit was reached.
    Stopping(Refusal),
    /// Are you there?
    Ping,
    /// I am.
    Pong,
    /// The session ends.
    Bye,
    /// A type that this build does not know; ignored.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, GroupKind, Stop};
    use crate::test::{Layout, PingPong, Test};

    fn case() -> Case {
        Case::new(
            Test::AmLat(PingPong {
                size_bytes: 8,
                layout: Layout::Short,
            }),
            "tcp",
        )
        .with_options([("mode".to_owned(), "poll".to_owned())].into())
        .with_group(GroupKind::Processes)
        .with_stop(Stop::Duration { duration_ns: 5 })
        .with_warmup(0, 0)
    }

    #[test]
    fn messages_read_back() {
        let prepare = RankMessage::Prepare {
            run: u64::MAX,
            rank: 1,
            case: CasePart::whole(&case()),
            bind_address: "::1".parse().unwrap(),
        };
        let wrapped = SessionMessage::Rank {
            rank: 1,
            message: prepare,
        };
        let text = serde_json::to_string(&wrapped).unwrap();
        assert_eq!(serde_json::from_str::<SessionMessage>(&text).unwrap(), wrapped);
    }

    #[test]
    fn what_is_unknown_is_tolerated() {
        let later = r#"{"type":"teleport","to":[1,2,{"x":null}]}"#;
        assert_eq!(
            serde_json::from_str::<RankMessage>(later).unwrap(),
            RankMessage::Unknown
        );
        assert_eq!(
            serde_json::from_str::<SessionMessage>(later).unwrap(),
            SessionMessage::Unknown
        );
        let more = r#"{"type":"released","run":1,"round":2,"mood":"good"}"#;
        assert_eq!(
            serde_json::from_str::<RankMessage>(more).unwrap(),
            RankMessage::Released { run: 1, round: 2 }
        );
        let cause = r#"{"type":"cancel","run":1,"cause":"boredom"}"#;
        assert!(matches!(
            serde_json::from_str::<RankMessage>(cause).unwrap(),
            RankMessage::Cancel {
                cause: CancelCause::PeerLost,
                ..
            }
        ));
    }

    #[test]
    fn blobs_are_base64_or_refused() {
        assert_eq!(serde_json::to_string(&Blob(vec![0, 255])).unwrap(), r#""AP8=""#);
        assert_eq!(serde_json::from_str::<Blob>(r#""AP8=""#).unwrap().0, [0, 255]);
        for bad in [r#""=""#, r#""AP8""#, "17", r#""\u0000""#] {
            assert!(serde_json::from_str::<Blob>(bad).is_err(), "{bad}");
        }
    }
}
