//! What is known of the machine and of the clock: provenance of every number.
//!
//! Absent facts are absent fields, never empty strings or zeros. Host and user names enter only when asked for.

use crate::finite::Finite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts about one machine that can change a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostFingerprint {
    /// Name of the host; only when the user asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_name: Option<String>,
    /// Kernel name and release.
    pub kernel: String,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// CPU model as the kernel names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// CPUs that this process may use.
    pub cpus_allowed: Vec<u32>,
    /// CPUs online.
    pub cpus_online: u32,
    /// Physical cores, sockets and NUMA nodes.
    pub cores: u32,
    /// Sockets.
    pub sockets: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Largest cache of CPU 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_largest_bytes: Option<u64>,
    /// Memory of the machine, or of the cgroup where that is smaller.
    pub memory_bytes: u64,
    /// Frequency governor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Hypervisor, where one is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Kernel clocksource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocksource: Option<String>,
    /// CPU quota of the cgroup, in cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota_cores: Option<Finite>,
    /// One-minute load average when the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_average_1min: Option<Finite>,
    /// Anything else that is one fact a line: sysctls, MTU and offloads of the interface, library versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

/// The clock that timed a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockInfo {
    /// `tsc`, `cntvct` or `clock_monotonic`.
    pub source: String,
    /// Cost of one read, median.
    pub cost_ns: Finite,
    /// Step of the clock: two reads differ by a multiple of it. 0 where unknown.
    pub step_ns: Finite,
    /// How the step was found: `grid` (differences of reads are multiples of it), `tick` (no grid coarser than a tick is
    /// to be seen) or `defined`. Empty where unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub step_found: String,
    /// Share of the differences of reads that are multiples of the step, within an eighth of it or a tick. 0 where unknown.
    #[serde(default, skip_serializing_if = "Finite::is_zero")]
    pub on_step_ratio: Finite,
    /// Ticks per nanosecond over the run.
    pub ticks_per_ns: Finite,
    /// Bound on the relative error of `ticks_per_ns`.
    pub calibration_error_ppm: Finite,
}

/// The loop itself, run over a transport that does nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Median cost of one loop turn, clock read and recording included.
    pub loop_ns: Finite,
    /// What recording one sample adds.
    pub record_ns: Finite,
}

impl Floor {
    /// The transport that does nothing, which the floor is measured over.
    pub const TRANSPORT: &str = "null";
}

/// What disturbed one rank's measuring thread during its run. Differences between end and start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Disturbance {
    /// Time over which everything here was counted: the measured phase, with what lies between its samples. 0 where
    /// unknown.
    #[serde(skip_serializing_if = "is_nought")]
    pub observed_ns: u64,
    /// The thread gave its CPU away.
    pub voluntary_switches: u64,
    /// The thread's CPU was taken away; of a rank that yields while it waits, its yields count too (the kernel counts a
    /// yield in the same way).
    pub involuntary_switches: u64,
    /// The thread was moved to another CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    /// Page faults without and with I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Time that the hypervisor took from the CPUs in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Time runnable but waiting for a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_queue_wait_ns: Option<u64>,
}

fn is_nought(value: &u64) -> bool {
    *value == 0
}

/// A fixed piece of work repeated on the measuring CPU: how quiet it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// CPU that was scanned.
    pub cpu: u32,
    /// Repetitions.
    pub count: u64,
    /// Undisturbed time of the work (its minimum).
    pub quantum_ns: Finite,
    /// Undisturbed time of one step of the work, a multiplication and an addition that wait for each other: so many
    /// cycles, whatever the clock's frequency makes of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<Finite>,
    /// Share of the scan lost to detours: 1 - n·min/total.
    pub lost_ratio: Finite,
    /// Longest single detour.
    pub detour_max_ns: Finite,
}
