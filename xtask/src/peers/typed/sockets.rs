//! Verbs over sockets with no options, beside iperf3 and sockperf with none.

use super::{BANDWIDTH, Better, IPERF3, Read, Row, SOCKPERF};

const ROUND_TRIP: Read = Read::Tag("rtt_p50_ns");
const RATE: Read = Read::Tag("rate_msg_per_s");

/// Streams.
pub const TCP: [Row; 6] = [
    Row {
        name: "tcp bandwidth by default / iperf3",
        unit: "B/s",
        ours: (("", "wirespeed run bandwidth --via tcp -t 2s --json"), BANDWIDTH),
        theirs: IPERF3,
        needs: &["iperf3"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "tcp bandwidth to a server by default / iperf3",
        unit: "B/s",
        ours: (
            (
                "wirespeed serve --quiet",
                "wirespeed run bandwidth --via tcp --to 127.0.0.1 -t 2s --json",
            ),
            BANDWIDTH,
        ),
        theirs: IPERF3,
        needs: &["iperf3"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "tcp bandwidth by default, no CPUs chosen / iperf3",
        unit: "B/s",
        ours: (
            ("", "wirespeed run bandwidth --via tcp -t 2s --cpus none --json"),
            BANDWIDTH,
        ),
        theirs: IPERF3,
        needs: &["iperf3"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "tcp bandwidth, chosen: --cpus / iperf3 -A",
        unit: "B/s",
        ours: (
            (
                "",
                "wirespeed run bandwidth --via tcp -t 2s --cpus {0},{1} --json",
            ),
            BANDWIDTH,
        ),
        theirs: (
            ("iperf3 -s -1", "iperf3 -c 127.0.0.1 -t 2 -A {0},{1} -J"),
            Read::Iperf3,
        ),
        needs: &["iperf3"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "tcp latency by default / sockperf",
        unit: "ns",
        ours: (("", "wirespeed run latency --via tcp -t 2s --json"), ROUND_TRIP),
        theirs: SOCKPERF,
        needs: &["sockperf"],
        bound: (Better::Lower, 1.03),
    },
    Row {
        name: "tcp latency, taskset / sockperf, taskset",
        unit: "ns",
        ours: (
            (
                "taskset -c {0} wirespeed serve --quiet",
                "taskset -c {1} wirespeed run latency --via tcp --to 127.0.0.1 -t 2s --json",
            ),
            ROUND_TRIP,
        ),
        theirs: (
            (
                "taskset -c {0} sockperf sr --tcp",
                "taskset -c {1} sockperf pp --tcp -t 2",
            ),
            Read::Sockperf,
        ),
        needs: &["sockperf"],
        bound: (Better::Lower, 1.03),
    },
];

/// Datagrams.
pub const UDP: [Row; 3] = [
    Row {
        name: "udp latency by default / sockperf",
        unit: "ns",
        ours: (("", "wirespeed run latency --via udp -t 2s --json"), ROUND_TRIP),
        theirs: (("sockperf sr", "sockperf pp -t 2"), Read::Sockperf),
        needs: &["sockperf"],
        bound: (Better::Lower, 1.03),
    },
    Row {
        name: "udp latency, taskset / sockperf, taskset",
        unit: "ns",
        ours: (
            (
                "taskset -c {0} wirespeed serve --quiet",
                "taskset -c {1} wirespeed run latency --via udp --to 127.0.0.1 -t 2s --json",
            ),
            ROUND_TRIP,
        ),
        theirs: (
            ("taskset -c {0} sockperf sr", "taskset -c {1} sockperf pp -t 2"),
            Read::Sockperf,
        ),
        needs: &["sockperf"],
        bound: (Better::Lower, 1.03),
    },
    Row {
        name: "udp rate of 1400 B / iperf3 -u",
        unit: "msg/s",
        ours: (("", "wirespeed run am_bw --via udp -s 1400 -t 2s --json"), RATE),
        theirs: (
            ("iperf3 -s -1", "iperf3 -c 127.0.0.1 -u -b 0 -l 1400 -t 2 -J"),
            Read::Iperf3Datagrams,
        ),
        needs: &["iperf3"],
        bound: (Better::Higher, 0.97),
    },
];
