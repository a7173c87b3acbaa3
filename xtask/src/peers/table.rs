//! What is compared with what, and the aims. The whole benchmark is this table.

use super::side::Side;

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The ratio should be at most the aim.
    Lower,
    /// The ratio should be at least the aim.
    Higher,
}

/// One comparison: both sides give the same quantity in the same unit.
#[derive(Clone)]
pub struct Comparison {
    /// Name in the summary.
    pub name: &'static str,
    /// Unit of both figures.
    pub unit: &'static str,
    /// wirespeed.
    pub ours: Side,
    /// The peer.
    pub theirs: Side,
    /// Aim for ours / theirs.
    pub aim: f64,
    /// Which way the aim bounds it.
    pub better: Better,
}

const LATENCY: &str = "rtt_p50_ns";
const RATE: &str = "rate_msg_per_s";
const BANDWIDTH: &str = "bandwidth_bytes_per_s";

const SHM_AM_LAT: Side = Side::Ours {
    arguments: "run am_lat --via shm --size 8 --layout short --duration 1s",
    tag: LATENCY,
};
const SHM_AM_BW_8: Side = Side::Ours {
    arguments: "run am_bw --via shm --size 8 --layout short --window 1024 --duration 1s",
    tag: RATE,
};
const SHM_PUT_BW_1M: Side = Side::Ours {
    arguments: "run put_bw --via shm --size 1M --layout short --duration 1s",
    tag: BANDWIDTH,
};

const fn ucx(
    test: &'static str,
    layout: &'static str,
    sizes: &'static [u64],
    iterations: u64,
    value: Ucx,
) -> Side {
    Side::Ucx {
        test,
        layout,
        sizes,
        iterations,
        value,
    }
}

/// Which column of ucx_perftest is the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ucx {
    /// Round trip of the median: twice the one-way time that it prints.
    RoundTripNs,
    /// Round trip of the mean, from the total time.
    MeanRoundTripNs,
    /// Messages per second over the whole run.
    Rate,
    /// Bytes per second over the whole run.
    Bandwidth,
}

/// Rows are made once a run of the benchmark, which measures and ends: their texts live as long.
pub fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// At most this number.
pub const fn at_most(name: &'static str, unit: &'static str, ours: Side, number: f64) -> Comparison {
    Comparison {
        name,
        unit,
        ours,
        theirs: Side::Number(number),
        aim: 1.0,
        better: Better::Lower,
    }
}

/// Shared memory beside that of UCX, and beside what the machine itself can do.
pub const SHM: &[Comparison] = &[
    Comparison {
        name: "shm am_lat 8 B, RTT / ucx posix am_lat short",
        unit: "ns",
        ours: SHM_AM_LAT,
        theirs: ucx("am_lat", "short", &[8], 1_000_000, Ucx::RoundTripNs),
        aim: 0.55,
        better: Better::Lower,
    },
    Comparison {
        name: "shm am_lat 8 B, RTT / bounce of one cache line",
        unit: "ns",
        ours: SHM_AM_LAT,
        theirs: Side::Ours {
            arguments: "calibrate",
            tag: "cache_line_round_trip_ns",
        },
        aim: 1.2,
        better: Better::Lower,
    },
    Comparison {
        name: "shm am_bw 8 B / ucx posix am_bw short",
        unit: "msg/s",
        ours: SHM_AM_BW_8,
        theirs: ucx("am_bw", "short", &[8], 5_000_000, Ucx::Rate),
        aim: 10.0,
        better: Better::Higher,
    },
    Comparison {
        name: "shm am_bw 8 B / ucx posix put_bw bcopy",
        unit: "msg/s",
        ours: SHM_AM_BW_8,
        theirs: ucx("put_bw", "bcopy", &[8], 20_000_000, Ucx::Rate),
        aim: 2.0,
        better: Better::Higher,
    },
    Comparison {
        name: "shm put_bw 1 MiB / ucx posix put_bw short",
        unit: "B/s",
        ours: SHM_PUT_BW_1M,
        theirs: ucx("put_bw", "short", &[1 << 20], 30_000, Ucx::Bandwidth),
        aim: 0.97,
        better: Better::Higher,
    },
    Comparison {
        name: "shm put_bw 1 MiB / memcpy",
        unit: "B/s",
        ours: SHM_PUT_BW_1M,
        theirs: Side::Ours {
            arguments: "calibrate",
            tag: "copy_1m_bytes_per_s",
        },
        aim: 0.9,
        better: Better::Higher,
    },
    Comparison {
        name: "shm am_bw best size / ucx posix am_bw best size",
        unit: "B/s",
        ours: Side::Ours {
            arguments: "run am_bw --via shm --size 4K,16K,64K,256K --layout bcopy --duration 500ms",
            tag: BANDWIDTH,
        },
        theirs: ucx(
            "am_bw",
            "bcopy",
            &[1024, 2048, 4096, 8192],
            500_000,
            Ucx::Bandwidth,
        ),
        aim: 0.97,
        better: Better::Higher,
    },
];

/// Sockets beside iperf3 and sockperf.
pub const TCP: &[Comparison] = &[
    Comparison {
        name: "tcp 128 KiB / iperf3, both cubic",
        unit: "B/s",
        ours: Side::Ours {
            arguments: "run am_bw --via tcp --size 128K --layout short --wait block --congestion cubic --duration 3s",
            tag: BANDWIDTH,
        },
        theirs: Side::Iperf3 {
            size_bytes: 128 << 10,
            congestion: "cubic",
            seconds: 3,
        },
        aim: 0.97,
        better: Better::Higher,
    },
    Comparison {
        name: "tcp 64 B ping-pong, blocking / sockperf",
        unit: "ns",
        ours: Side::Ours {
            arguments: "run am_lat --via tcp --size 64 --wait block --duration 2s",
            tag: LATENCY,
        },
        theirs: Side::Sockperf {
            size_bytes: 64,
            busy: false,
            seconds: 2,
        },
        aim: 1.03,
        better: Better::Lower,
    },
    Comparison {
        name: "tcp 64 B ping-pong, busy polling / sockperf",
        unit: "ns",
        ours: Side::Ours {
            arguments: "run am_lat --via tcp --size 64 --wait poll --duration 2s",
            tag: LATENCY,
        },
        theirs: Side::Sockperf {
            size_bytes: 64,
            busy: true,
            seconds: 2,
        },
        aim: 1.03,
        better: Better::Lower,
    },
];

const FLOOR: &str = "run am_lat --via null --duration 1s";

/// Bounds on the harness itself, in ns.
pub const HARNESS: &[Comparison] = &[
    at_most(
        "recording a sample, beyond the clock",
        "ns",
        Side::Ours {
            arguments: FLOOR,
            tag: "record_ns",
        },
        3.0,
    ),
    at_most(
        "a turn of the loop on null, beyond the clock",
        "ns",
        Side::Ours {
            arguments: FLOOR,
            tag: "loop_ns - cost_ns",
        },
        3.0,
    ),
];
