//! The section `session` of the run document: what was asked, granted and observed of every computation, and how long
//! the session's life took. Plain data.

use crate::definition::{Definition, Resources};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wirespeed_schema::Finite;
use wirespeed_schema::section::Section;

/// What a node could grant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Granted {
    /// Cores that are enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<Finite>,
    /// Memory that is enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What enforces cores: `Slurm`, `cgroup v1`, `cgroup v2`, `affinity`, or `nothing`.
    pub cores_by: String,
    /// What enforces memory: `Slurm`, `cgroup v1`, `cgroup v2`, or `nothing`.
    pub memory_by: String,
    /// Why the rest is not enforced, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
}

/// What was seen of a computation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// CPU seconds a second from the go to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores_used: Option<Finite>,
    /// Time in which the quota kept it from a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Memory in use (RSS), the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_max_bytes: Option<u64>,
    /// Address space (VSZ), the most: what was allocated, touched or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_max_bytes: Option<u64>,
    /// Memory charged to its group, the most: files and shared memory included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged_max_bytes: Option<u64>,
    /// Times a second that its threads went to sleep and were woken (voluntary context switches), from the go to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakeups_per_s: Option<Finite>,
    /// From the go to the kernel's kill for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_memory_after_ns: Option<u64>,
}

/// A flood of log lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Logged {
    /// Threads that wrote.
    pub threads: u32,
    /// Lines of 80 characters that were written whole.
    pub lines: u64,
    /// Lines that were asked for: fewer are written where the log takes no more, or the session ends first.
    #[serde(default)]
    pub lines_asked: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Where to.
    pub to: String,
}

/// One computation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComputationReport {
    /// Its name.
    pub name: String,
    /// Its node.
    pub node: String,
    /// What it asked for.
    pub asked: Resources,
    /// What it got.
    pub granted: Granted,
    /// What was seen.
    pub observed: Observed,
    /// How it ended, in words.
    pub exit: String,
    /// It ended before it was told to, or could not do what it was to do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    /// Asked, granted and observed in one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdict: Vec<String>,
    /// Work that its load got done.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub load_done: BTreeMap<String, u64>,
    /// Its flood of log lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<Logged>,
    /// Its environment, where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

impl ComputationReport {
    /// How it ended, where it had more memory than it may have.
    pub(crate) const OUT_OF_MEMORY: &str = "the kernel killed it for memory";

    /// What helps where it ended early.
    pub fn remedy(&self) -> &'static str {
        match self.exit.as_str() {
            Self::OUT_OF_MEMORY => "let it have more with --requestMb, or give it less to hold",
            // Not in words of its own.
            why if why.contains("killed") => "see on its host who ended it (dmesg), and run again",
            _ => "mend what it names, or run again",
        }
    }
}

/// How long the parts of a session's life took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Life {
    /// From the request until every computation was ready.
    pub ready_ns: u64,
    /// From the request until every computation had its go.
    pub go_ns: u64,
    /// From the request until the first message had been answered, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message_ns: Option<u64>,
    /// From the wish to end until every computation was gone.
    pub gone_ns: u64,
}

/// One session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReport {
    /// Its number at the coordinator, absent when embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its life.
    pub life: Life,
    /// Its computations, in order.
    pub computations: Vec<ComputationReport>,
}

impl Section for SessionSection {
    const NAME: &'static str = "session";
}

/// The section `session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSection {
    /// The coordinator, `embedded`, or the launcher: `slurm`, `ssh`.
    pub coordinator: String,
    /// What the launcher's own configuration says about enforcement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher_policy: Option<String>,
    /// What was asked for.
    pub definition: Definition,
    /// The message path, absent when the session was only held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Sessions, in the order in which they ended.
    pub sessions: Vec<SessionReport>,
    /// What bounds small messages, and what backs up, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// How much the streams queued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<Queue>,
    /// How long the phases of the sessions' lives took, over all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// What the daemon on the way costs, where both routes were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub daemon_cost: Vec<DaemonCost>,
    /// The prepended package directory and what it was put before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepended: Option<String>,
}

/// What one stream had queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// The case: `shm 1 B, credits 100`.
    pub case: String,
    /// Messages that one sender had unacknowledged from one receiver, the most.
    pub unacknowledged_max_msgs: u64,
    /// Their payload.
    pub unacknowledged_max_bytes: u64,
    /// Memory in use (RSS) of the process that had the most of those on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_max_bytes: Option<u64>,
    /// From handing a message over to its acknowledgement: quantile 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_p50_ns: Option<Finite>,
    /// Quantile 0.99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_p99_ns: Option<Finite>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_max_ns: Option<Finite>,
}

/// One phase of a session's life, over sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// `request_to_ready`, `request_to_go`, `request_to_first_message` or `end_to_gone`.
    pub phase: String,
    /// Sessions that were timed.
    pub sessions: u64,
    /// The median.
    pub p50_ns: Finite,
    /// Lower end of its interval, where there are sessions enough for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_lower_ns: Option<Finite>,
    /// Upper end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_upper_ns: Option<Finite>,
    /// Quantile 0.9; absent below 36 sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<Finite>,
    /// Quantile 0.99; absent below 368 sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<Finite>,
    /// The longest.
    pub max_ns: Finite,
}

/// The same stream on both routes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonCost {
    /// The case: `shm 1 B, credits 100`.
    pub case: String,
    /// Messages a second, direct.
    pub direct_msg_per_s: Finite,
    /// Messages a second, through the daemon.
    pub daemon_msg_per_s: Finite,
    /// Time that the daemon adds to a message: the difference of the two inverse rates.
    pub added_ns_per_message: Finite,
}

impl ComputationReport {
    /// Say in one line each what was asked, granted and used; and what was not enforced.
    pub fn judge(&mut self) {
        use wirespeed_schema::units::{format_ns, format_size, significant};
        let mut verdict = Vec::new();
        let cores = |c: Option<Finite>| c.map(|c| significant(c.get(), 3));
        let bytes = |b: Option<u64>| b.map(format_size);
        // In words, so that nobody takes what was never asked for as refused.
        let limit = |asked: Option<String>, granted: Option<String>, by: &str| match (asked, granted) {
            (None, None) => "no limit asked for".to_owned(),
            (Some(asked), None) => format!("asked {asked}, not limited"),
            (None, Some(granted)) => format!("granted {granted} by {by}"),
            (Some(asked), Some(granted)) => format!("asked {asked}, granted {granted} by {by}"),
        };
        let known = |figure: Option<String>| figure.unwrap_or_else(|| "unknown".to_owned());
        let (asked, granted, seen) = (&self.asked, &self.granted, &self.observed);
        let throttled = seen.throttled_ns.filter(|ns| *ns > 0);
        let throttled = throttled.map_or(String::new(), |ns| {
            format!(", throttled {}", format_ns(ns as f64))
        });
        let woken = seen.wakeups_per_s.map_or(String::new(), |woken| {
            format!(", {} wake-ups a second", significant(woken.get(), 3))
        });
        verdict.push(format!(
            "cores: {}, used {}{throttled}{woken}",
            limit(cores(asked.cores), cores(granted.cores), &granted.cores_by),
            known(cores(seen.cores_used))
        ));
        let charged = seen.charged_max_bytes;
        let charged = charged.map_or(String::new(), |bytes| format!(", charged {}", format_size(bytes)));
        verdict.push(format!(
            "memory: {}, allocated {}, resident {}{charged}",
            limit(
                bytes(asked.memory_bytes),
                bytes(granted.memory_bytes),
                &granted.memory_by
            ),
            known(bytes(seen.virtual_max_bytes)),
            known(bytes(seen.resident_max_bytes)),
        ));
        if let Some(ns) = seen.out_of_memory_after_ns {
            verdict.push(format!("killed for memory {} after the go", format_ns(ns as f64)));
        }
        let unlimited = asked.cores.is_some() && granted.cores.is_none()
            || asked.memory_bytes.is_some() && granted.memory_bytes.is_none();
        if unlimited {
            let why = granted.refusals.join("; ");
            verdict.push(format!(
                "NOT enforced here: {}",
                if why.is_empty() { "no means" } else { &why }
            ));
        }
        self.verdict = verdict;
    }
}
