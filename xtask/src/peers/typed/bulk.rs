//! Sessions and bulk transfers with no options, beside what people would use instead.

use super::super::tools::FILE;
use super::{BANDWIDTH, Better, IPERF3, Read, Row, SOCKPERF};

const SERVED: &str = "wirespeed byteio serve .";
const STORED: &str = "wirespeed byteio serve . --writable";

/// A session's path, and its life.
pub const SESSIONS: [Row; 4] = [
    Row {
        name: "session, client_to_computation by default / sockperf --tcp",
        unit: "ns",
        ours: (
            (
                "",
                "wirespeed session --benchmarkPath=client_to_computation --duration=2 --json",
            ),
            Read::Tag("ack_p50_ns"),
        ),
        theirs: SOCKPERF,
        needs: &["sockperf"],
        bound: (Better::Lower, 1.0),
    },
    Row {
        name: "session, computation_to_computation, chosen: --via tcp / sockperf --tcp",
        unit: "ns",
        ours: (
            (
                "",
                "wirespeed session --benchmarkPath=computation_to_computation --via tcp --duration=2 --json",
            ),
            Read::Tag("ack_p50_ns"),
        ),
        theirs: SOCKPERF,
        needs: &["sockperf"],
        bound: (Better::Lower, 1.0),
    },
    Row {
        name: "session, client_to_computation, chosen: --mb=1 --credits=10 --via tcp / iperf3",
        unit: "B/s",
        ours: (
            (
                "",
                "wirespeed session --benchmarkPath=client_to_computation --mb=1 --credits=10 --via tcp --duration=2 --json",
            ),
            BANDWIDTH,
        ),
        theirs: IPERF3,
        needs: &["iperf3"],
        bound: (Better::Higher, 1.0),
    },
    // Both place and start processes, and end.
    Row {
        name: "session by default, held for no time, whole command / mpirun -n 2 true",
        unit: "ns",
        ours: (("", "wirespeed session --duration=0 --json"), Read::Took),
        theirs: (("", "mpirun.openmpi -n 2 true"), Read::Took),
        needs: &["mpi_loops.openmpi"],
        bound: (Better::Lower, 1.0),
    },
];

/// The same file over loopback. What curl stores, it does not compare; `byteio get` and `put` do.
pub const BYTEIO: [Row; 5] = [
    Row {
        name: "byteio get by default, whole command / curl -o, from the same service",
        unit: "B/s",
        ours: (
            (SERVED, "wirespeed byteio get http://127.0.0.1:7412/file copy"),
            Read::Moved,
        ),
        theirs: (
            (SERVED, "curl -sSf -o copy http://127.0.0.1:7412/file"),
            Read::Moved,
        ),
        needs: &[FILE, "curl"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "byteio serve by default, fetched by curl / python3 -m http.server, fetched by curl",
        unit: "B/s",
        ours: (
            (SERVED, "curl -sSf -o copy http://127.0.0.1:7412/file"),
            Read::Moved,
        ),
        theirs: (
            (
                "python3 -m http.server 7412 --bind 127.0.0.1",
                "curl -sSf -o copy http://127.0.0.1:7412/file",
            ),
            Read::Moved,
        ),
        needs: &[FILE, "curl", "python3"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "byteio put by default, whole command / curl -T, to the same service",
        unit: "B/s",
        ours: (
            (STORED, "wirespeed byteio put file http://127.0.0.1:7412/copy"),
            Read::Moved,
        ),
        theirs: (
            (STORED, "curl -sSf -T file http://127.0.0.1:7412/copy"),
            Read::Moved,
        ),
        needs: &[FILE, "curl"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "byteio bench by default / curl -o /dev/null, from the same service",
        unit: "B/s",
        ours: (
            (SERVED, "wirespeed byteio bench http://127.0.0.1:7412/file --json"),
            BANDWIDTH,
        ),
        theirs: (
            (SERVED, "curl -sSf -o /dev/null http://127.0.0.1:7412/file"),
            Read::Moved,
        ),
        needs: &[FILE, "curl"],
        bound: (Better::Higher, 1.0),
    },
    Row {
        name: "byteio bench by default / iperf3",
        unit: "B/s",
        ours: (
            (SERVED, "wirespeed byteio bench http://127.0.0.1:7412/file --json"),
            BANDWIDTH,
        ),
        theirs: IPERF3,
        needs: &[FILE, "iperf3"],
        bound: (Better::Higher, 1.0),
    },
];
