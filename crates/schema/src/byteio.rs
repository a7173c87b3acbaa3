//! The section `byteio` of the run document: bulk transfers between machines, run by run, connection by connection.

use crate::case::Load;
use crate::finite::Finite;
use crate::host::HostFingerprint;
use crate::outcome::Samples;
use crate::section::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the kernel says of one TCP connection, at one of its ends (`tcp_info`, linux/tcp.h).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TcpInfo {
    /// Congestion control of this end as a sender.
    pub congestion: String,
    /// Smoothed round-trip time.
    pub rtt_ns: u64,
    /// Least round-trip time seen.
    pub min_rtt_ns: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Segment size.
    pub mss_bytes: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Payload received.
    pub received_bytes: u64,
    /// Most recent delivery rate.
    pub delivery_rate_bytes_per_s: u64,
    /// Time with data to send or to be acknowledged.
    pub busy_ns: u64,
    /// Part of it limited by the receiver's window.
    pub receiver_limited_ns: u64,
    /// Part of it limited by this end's send buffer.
    pub sender_limited_ns: u64,
}

/// One connection of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Connection {
    /// Payload bytes that it brought.
    pub payload_bytes: u64,
    /// Time in handing requests over.
    pub request_ns: u64,
    /// Time in waiting for first bytes, with nothing left to hand over.
    pub first_byte_ns: u64,
    /// Time from first to last bytes.
    pub stream_ns: u64,
    /// Time in storing.
    pub store_ns: u64,
    /// Time in digesting.
    pub digest_ns: u64,
    /// Time without a request outstanding.
    pub idle_ns: u64,
    /// Failures after which it connected again.
    pub retries_count: u64,
    /// Time lost to those.
    pub retries_ns: u64,
    /// Bytes read from its sockets: payload, heads and whatever the mechanism adds; inside TLS before it is encrypted.
    pub socket_read_bytes: u64,
    /// Bytes written to its sockets, in the same way.
    pub socket_written_bytes: u64,
    /// Those of both that brought no block home, because the connection ended first.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeated_bytes: u64,
    /// First failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The reader's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<TcpInfo>,
    /// The service's end, where it is wirespeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<TcpInfo>,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What became of requests that were offered at a rate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Answers {
    /// Requests that were answered.
    pub count: u64,
    /// From the end of the first answer to that of the last.
    pub spread_ns: u64,
    /// Their times: `completion` from when each was sent, `response` from when it was due. In a document they stand in
    /// the case alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Samples>,
}

/// One transfer of the whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Transfer {
    /// Payload bytes moved.
    pub payload_bytes: u64,
    /// From the first request byte to the last payload byte in user space.
    pub elapsed_ns: u64,
    /// Payload over that time; absent where nothing moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_bytes_per_s: Option<Finite>,
    /// Look-up of the resource: name, size, mechanisms.
    pub lookup_ns: u64,
    /// Until every connection was made.
    pub connect_ns: u64,
    /// Comparing with the service's digests, after the transfer.
    pub verify_ns: u64,
    /// Whether every block was compared with the service's digest.
    pub verified: bool,
    /// Blocks that differ from what the service has.
    #[serde(skip_serializing_if = "is_zero")]
    pub wrong_blocks_count: u64,
    /// Bytes that an earlier, interrupted transfer had left in place.
    #[serde(skip_serializing_if = "is_zero")]
    pub resumed_bytes: u64,
    /// Blocks taken over from connections that had stalled.
    pub steals_count: u64,
    /// CPU time of the client, from connecting to the last byte.
    pub cpu_near_ns: u64,
    /// CPU time of the service, where it is wirespeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_far_ns: Option<u64>,
    /// Each connection.
    pub connections: Vec<Connection>,
    /// Where requests were offered at a rate: what became of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// What the load beside it got done, as in an outcome.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub load_done: BTreeMap<String, u64>,
    /// Why it is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What helps then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What all runs of a pair share. In a document with a section `byteio` it stands in the pair, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<Box<Between>>,
}

/// What all runs of a pair share and its case does not say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Between {
    /// As the user calls it; empty for the usual name.
    pub name: String,
    /// Where the data are.
    pub url: String,
    /// Nominal speed of the slowest link between them, in payload bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominal_bytes_per_s: Option<Finite>,
    /// The service's machine, where it is wirespeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<HostFingerprint>,
}

impl Transfer {
    /// Its rate; `None` where nothing moved, of which earlier documents say 0.
    pub fn rate_bytes_per_s(&self) -> Option<f64> {
        let rate = self.bandwidth_bytes_per_s.map(Finite::get);
        rate.filter(|rate| *rate > 0.0)
    }

    /// Bytes read from and written to all sockets.
    pub fn socket_bytes(&self) -> u64 {
        let of = |c: &Connection| c.socket_read_bytes + c.socket_written_bytes;
        self.connections.iter().map(of).sum()
    }

    /// Cores that an end of this CPU time used from connecting to the last byte; `None` where nothing moved.
    pub fn cores_of(&self, cpu_ns: u64) -> Option<f64> {
        let watched_ns = self.connect_ns + self.elapsed_ns;
        (self.elapsed_ns > 0).then(|| cpu_ns as f64 / watched_ns as f64)
    }

    /// Those over the payload; `None` where nothing was moved, or nothing was counted.
    pub fn wire_ratio(&self) -> Option<f64> {
        let bytes = self.socket_bytes();
        (bytes > 0 && self.payload_bytes > 0).then(|| bytes as f64 / self.payload_bytes as f64)
    }
}

/// Figures over the runs of a pair. Formulas are in docs/byteio.md.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// Runs behind it: those that are whole.
    pub runs_count: u64,
    /// Median bandwidth.
    pub median_bytes_per_s: Finite,
    /// Lower end of its interval, or the slowest run where `level_ratio` is absent.
    pub lower_bytes_per_s: Finite,
    /// Upper end of its interval, or the fastest run.
    pub upper_bytes_per_s: Finite,
    /// Confidence level of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_ratio: Option<Finite>,
    /// Mean of all runs.
    pub mean_bytes_per_s: Finite,
    /// Sample standard deviation of all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd_bytes_per_s: Option<Finite>,
    /// Mean without the fastest and the slowest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimmed_mean_bytes_per_s: Option<Finite>,
    /// Sample standard deviation without the fastest and the slowest run: about 0.7 of that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimmed_sd_bytes_per_s: Option<Finite>,
    /// Slowest run.
    pub least_bytes_per_s: Finite,
    /// Fastest run.
    pub greatest_bytes_per_s: Finite,
    /// Median over the nominal speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominal_ratio: Option<Finite>,
    /// What of the nominal speed is left for payload behind the headers of Ethernet, IP and TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_bytes_per_s: Option<Finite>,
    /// Median over that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_ratio: Option<Finite>,
    /// Round-trip time: median of the connections' smoothed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<u64>,
    /// Least round-trip time that any connection saw: the path without queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_ns: Option<u64>,
    /// Payload sent again over payload sent, where the sender's counters are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<Finite>,
    /// Bytes read from and written to the sockets over payload: median of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_ratio: Option<Finite>,
    /// Congestion control of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
}

/// What limits a path, and the sentence that says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// `network`, `window`, `loss`, `server`, `client`, `idle`, `unclear`.
    pub limit: String,
    /// One sentence.
    pub text: String,
}

/// One pair: a reader, a service, and all transfers between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pair {
    /// As the user calls it: `reader -> server`.
    pub name: String,
    /// Where the data are.
    pub url: String,
    /// `get` or `put`.
    pub direction: String,
    /// `simple`, `mtom`, `dime`, `http`, `bulk`.
    pub mechanism: String,
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Connections.
    pub threads: u64,
    /// Blocks outstanding on each.
    pub depth_ops: u64,
    /// Between two requests, where they are offered at a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace_interval_ns: Option<u64>,
    /// `discard`, `file` or `map`.
    pub destination: String,
    /// `none`, `crc32c` or `blake3`.
    pub digest: String,
    /// Whether the data were inside TLS.
    pub encrypted: bool,
    /// How the path is emulated, where it is: `30 ms`, `1/10 of 10,000 Mb/s, 40 ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulated: Option<String>,
    /// Congestion control that the sender was asked for; absent for the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Nominal speed of the slowest link between them, in payload bytes; 1 Gb/s is 125 MB/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominal_bytes_per_s: Option<Finite>,
    /// Load at the near end beside it.
    #[serde(skip_serializing_if = "Load::is_idle")]
    pub load: Load,
    /// The reader's machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Box<HostFingerprint>>,
    /// The service's machine, where it is wirespeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<Box<HostFingerprint>>,
    /// All runs, in order of time.
    pub runs: Vec<Transfer>,
    /// Why there is none, or why the pair ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What helps then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Figures over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl Section for ByteioSection {
    const NAME: &'static str = "byteio";
}

/// The section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ByteioSection {
    /// `byteio2009` where that experiment was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Each pair.
    pub pairs: Vec<Pair>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_all_sockets_are_compared_with_the_payload() {
        let connection = |read, written| Connection {
            socket_read_bytes: read,
            socket_written_bytes: written,
            ..Connection::default()
        };
        let mut transfer = Transfer {
            connections: vec![connection(100, 20), connection(60, 0)],
            payload_bytes: 150,
            ..Transfer::default()
        };
        assert_eq!((transfer.socket_bytes(), transfer.wire_ratio()), (180, Some(1.2)));
        transfer.payload_bytes = 0;
        assert_eq!(transfer.wire_ratio(), None, "nothing was moved");
        transfer.payload_bytes = 150;
        transfer.connections.clear();
        assert_eq!(transfer.wire_ratio(), None, "nothing was counted");
    }

    #[test]
    fn cores_are_those_of_the_time_from_connecting_on() {
        let mut transfer = Transfer {
            connect_ns: 100,
            elapsed_ns: 300,
            ..Transfer::default()
        };
        assert_eq!(transfer.cores_of(600), Some(1.5));
        transfer.elapsed_ns = 0;
        assert_eq!(transfer.cores_of(600), None, "nothing was moved");
    }
}
