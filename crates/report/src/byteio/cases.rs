//! Bulk transfers as cases of the document, so that whatever reads cases (compare, gates, reports) sees them.

use crate::assemble::{self, Metrics, insert};
use crate::checks::Limits;
use std::collections::BTreeMap;
use wirespeed_schema::byteio::{Between, Pair, Transfer};
use wirespeed_schema::case::{GroupKind, IdlePolicy, Load, RankSpec, Role, Stop, TransportOptions};
use wirespeed_schema::host::{ClockInfo, Disturbance, HostFingerprint};
use wirespeed_schema::outcome::{Count, Faults, Outcome, StopReason};
use wirespeed_schema::run::{CaseResult, CaseStatus, Repetition};
use wirespeed_schema::test::Bulk;
use wirespeed_schema::{Case, Test};

/// What a bulk transfer between here and a service is, whoever moves the data.
#[derive(Debug, Clone, PartialEq)]
pub struct BulkCase {
    /// `byteio-mtom`, `iperf3`.
    pub transport: String,
    /// What tells it from others on the same transport: pair, destination, digest.
    pub options: TransportOptions,
    /// From here to there.
    pub is_put: bool,
    /// Its shape.
    pub shape: Bulk,
    /// Load at the near end beside it.
    pub load: Load,
}

impl BulkCase {
    /// The case: one rank, the near end. The far end may be anybody's and reports to nobody.
    pub fn case(self) -> Case {
        let count = self
            .shape
            .total_bytes
            .div_ceil(self.shape.size_bytes.max(1))
            .max(1);
        Case::new(
            match self.is_put {
                true => Test::BulkPut(self.shape),
                false => Test::BulkGet(self.shape),
            },
            self.transport,
        )
        .with_options(self.options)
        .with_group(GroupKind::Hosts)
        .with_ranks(vec![RankSpec::new(role(self.is_put)).with_load(self.load)])
        .with_stop(Stop::Iterations { count })
        .with_warmup(0, 0)
    }
}

fn role(is_put: bool) -> Role {
    match is_put {
        true => Role::Source,
        false => Role::Sink,
    }
}

/// One run of a bulk transfer by a program of others, which alone timed it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkRun {
    /// Payload that was moved.
    pub payload_bytes: u64,
    /// Blocks that it came in.
    pub blocks: u64,
    /// Time that counts.
    pub elapsed_ns: u64,
    /// Blocks whose data were wrong.
    pub wrong_blocks: u64,
    /// Further figures by tag.
    pub figures: Vec<(&'static str, f64)>,
    /// Circumstances by name.
    pub facts: BTreeMap<String, String>,
    /// What the load beside it got done.
    pub load_done: BTreeMap<String, u64>,
    /// The near machine.
    pub host: Option<HostFingerprint>,
    /// Why it is not whole.
    pub error: Option<String>,
}

/// What a transfer's outcome does not hold, and why.
fn lacking() -> BTreeMap<String, String> {
    let why = "not measured: the program that moved the data told its time, or was timed as a whole";
    let fields = [
        "clock.",
        "connect_ns",
        "disturbance.",
        "first_operation_ns",
        "floor.",
        "noise",
    ];
    fields.map(|field| (field.to_owned(), why.to_owned())).into()
}

/// Run number `index` of `case`, by a program of others.
pub fn repetition(case: &Case, run: BulkRun, index: u32) -> Repetition {
    let is_put = matches!(case.test, Test::BulkPut(_));
    let mut metrics = Metrics::new();
    if run.error.is_none() {
        if run.elapsed_ns > 0 && run.payload_bytes > 0 {
            let rate = run.payload_bytes as f64 * 1e9 / run.elapsed_ns as f64;
            insert(&mut metrics, "bandwidth_bytes_per_s", rate, run.blocks);
        }
        for (tag, value) in run.figures {
            insert(&mut metrics, tag, value, 1);
        }
    }
    let moved = Count {
        messages: run.blocks,
        bytes: run.payload_bytes,
    };
    let (sent, received) = match is_put {
        true => (moved, Count::default()),
        false => (Count::default(), moved),
    };
    let outcome = Outcome {
        rank: 0,
        role: role(is_put),
        stop: match run.error {
            Some(_) => StopReason::Failed,
            None => StopReason::Completed,
        },
        elapsed_ns: run.elapsed_ns,
        sent,
        received,
        received_before_msgs: 0,
        began_ns: None,
        faults: Faults {
            corrupt_messages: run.wrong_blocks,
            ..Faults::default()
        },
        warmup_operations: 0,
        first_operation_ns: None,
        connect_ns: None,
        samples: Vec::new(),
        intervals: Vec::new(),
        peers: Vec::new(),
        clock: ClockInfo {
            source: "CLOCK_MONOTONIC".to_owned(),
            ..ClockInfo::default()
        },
        floor: None,
        cpu: None,
        idle: IdlePolicy::Spin,
        disturbance: Disturbance::default(),
        lacking: lacking(),
        noise: None,
        noise_after: None,
        load_done: run.load_done,
        transport_facts: run.facts,
        transfer: None,
        host: run.host.unwrap_or_default(),
        error: run.error,
    };
    Repetition {
        index,
        outcomes: vec![outcome],
        metrics,
        setup_ns: 0,
        overlapping_sessions: 0,
    }
}

/// The case that the runs of a pair are.
pub fn case_of(pair: &Pair) -> Case {
    let mut options = TransportOptions::new();
    let mut option = |name: &str, value: &str, usual: &[&str]| {
        if !usual.contains(&value) {
            options.insert(name.to_owned(), value.to_owned());
        }
    };
    // A name tells pairs of machines apart; what a sweep calls its shapes is its verdict on them.
    if pair.name.contains(" -> ") {
        option("pair", &pair.name, &[]);
    }
    option("destination", &pair.destination, &["", "discard"]);
    option("digest", &pair.digest, &["", "none"]);
    if pair.encrypted {
        options.insert("encrypted".to_owned(), "yes".to_owned());
    }
    if let Some(congestion) = &pair.congestion {
        options.insert("congestion".to_owned(), congestion.clone());
    }
    let bulk = BulkCase {
        transport: format!("byteio-{}", pair.mechanism),
        options,
        is_put: pair.direction == "put",
        shape: Bulk::new(pair.block_bytes, pair.total_bytes, pair.threads, pair.depth_ops)
            .with_pace_interval_ns(pair.pace_interval_ns),
        load: pair.load.clone(),
    };
    bulk.case()
}

/// A pair of the section as a result, where its runs are all that is left of it. What the engine notes beside a transfer is
/// lacking, and says so.
pub fn result_of(pair: &Pair) -> CaseResult {
    let case = case_of(pair);
    let repetition_of = |(run, index): (&Transfer, u32)| {
        let blocks = run.payload_bytes.div_ceil(pair.block_bytes.max(1));
        let mut seen = repetition(
            &case,
            BulkRun {
                payload_bytes: run.payload_bytes,
                blocks,
                elapsed_ns: run.elapsed_ns,
                wrong_blocks: run.wrong_blocks_count,
                load_done: run.load_done.clone(),
                facts: BTreeMap::from([("url".to_owned(), pair.url.clone())]),
                host: pair.near.as_deref().cloned(),
                error: run.error.clone(),
                ..BulkRun::default()
            },
            index,
        );
        let between = Between {
            nominal_bytes_per_s: pair.nominal_bytes_per_s,
            ..Between::default()
        };
        seen.outcomes[0].transfer = Some(Box::new(Transfer {
            between: Some(Box::new(between)),
            ..run.clone()
        }));
        seen.metrics = assemble::repetition_metrics(&case, &seen.outcomes).0;
        seen
    };
    let repetitions = pair.runs.iter().zip(0..).map(repetition_of).collect();
    let mut result = assemble::case_result(case.clone(), repetitions, &Limits::default());
    for outcome in result.seen_mut().flat_map(|run| &mut run.outcomes) {
        outcome.transfer = None;
    }
    if let Some(error) = &pair.error {
        result.status = match result.status {
            CaseStatus::Ok => CaseStatus::Partial,
            worse => worse,
        };
        (result.error, result.remedy) = (Some(error.clone()), pair.remedy.clone());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::Finite;
    use wirespeed_schema::byteio::{Connection, TcpInfo};

    fn pair(rates: &[f64]) -> Pair {
        let run = |rate: &f64| Transfer {
            payload_bytes: 80 << 20,
            elapsed_ns: ((80 << 20) as f64 / rate * 1e9) as u64,
            bandwidth_bytes_per_s: Finite::maybe(*rate),
            connections: vec![Connection {
                far: Some(TcpInfo {
                    rtt_ns: 30_000_000,
                    mss_bytes: 1448,
                    sent_bytes: 1000,
                    retransmitted_bytes: 10,
                    congestion: "cubic".into(),
                    ..TcpInfo::default()
                }),
                socket_read_bytes: 84 << 20,
                socket_written_bytes: 4 << 20,
                ..Connection::default()
            }],
            ..Transfer::default()
        };
        Pair {
            name: "service to here".into(),
            mechanism: "mtom".into(),
            direction: "get".into(),
            destination: "discard".into(),
            digest: "none".into(),
            total_bytes: 80 << 20,
            block_bytes: 8 << 20,
            threads: 7,
            depth_ops: 2,
            nominal_bytes_per_s: Finite::maybe(125e6),
            runs: rates.iter().map(run).collect(),
            ..Pair::default()
        }
    }

    #[test]
    fn a_pair_is_a_case_with_its_figures() {
        let result = result_of(&pair(&[50e6, 60e6, 70e6]));
        assert_eq!(result.status, CaseStatus::Ok, "{:?}", result.error);
        assert_eq!(result.case.label(), "byteio-mtom bulk_get 7 x 2 8 MiB");
        let value = |tag: &str| result.metrics[tag].value.get();
        assert!((value("bandwidth_bytes_per_s") / 60e6 - 1.0).abs() < 1e-6);
        assert_eq!(value("tcp_rtt_ns"), 30e6);
        assert!((value("retransmitted_ratio") - 0.01).abs() < 1e-12);
        assert!((value("wire_ratio") - 1.1).abs() < 1e-12);
        assert!(result.remarks.iter().any(|remark| remark.code == "wire_overhead"));
        assert!((value("nominal_ratio") - 0.48).abs() < 1e-9);
        assert!((value("ceiling_ratio") - 0.48 * 1514.0 / 1448.0).abs() < 1e-9);
        assert_eq!(result.repetitions.len(), 3);
    }

    #[test]
    fn where_nothing_moved_there_is_no_rate_and_no_verdict() {
        let mut empty = pair(&[50e6, 60e6]);
        for run in &mut empty.runs {
            (run.payload_bytes, run.bandwidth_bytes_per_s) = (0, None);
        }
        crate::byteio::complete(&mut empty);
        assert_eq!((&empty.summary, &empty.verdict), (&None, &None));
        let result = result_of(&empty);
        assert_eq!((result.status, result.error), (CaseStatus::Ok, None));
        assert!(!result.metrics.contains_key("bandwidth_bytes_per_s"));
        assert!(!result.metrics.is_empty(), "the time to find it is known");
    }

    #[test]
    fn a_broken_run_and_wrong_data_are_told() {
        let mut broken = pair(&[50e6, 60e6]);
        broken.runs[1].error = Some("cut".into());
        let result = result_of(&broken);
        assert_eq!(
            (result.status, result.error.as_deref()),
            (CaseStatus::Partial, Some("cut"))
        );
        broken.runs[1].wrong_blocks_count = 1;
        assert_eq!(result_of(&broken).status, CaseStatus::WrongData);
        assert_eq!(result_of(&Pair::default()).status, CaseStatus::Failed);
    }
}
