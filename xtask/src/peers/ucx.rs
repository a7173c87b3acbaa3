//! wirespeed's transport `uct` beside ucx_perftest, over the same UCX: every test in every layout that a transport has.
//!
//! Messages of ucx_perftest count the 8 bytes of their header: 16 there are 8 here. Its loopback halves the time of a
//! ping-pong, which is undone; where one operation is shorter than its clock can tell, means and rates over the whole
//! run stand for single samples, on both sides.

use super::setup::Whose;
use super::side::Side;
use super::table::{Better, Comparison, Ucx, at_most, kept};

/// A transport and device of UCX 1.13.
struct Transport {
    name: &'static str,
    theirs: &'static str,
    ours: &'static str,
    /// Within one process.
    is_loopback: bool,
    rows: &'static [Row],
}

/// One test in one layout.
struct Row {
    test: &'static str,
    layout: &'static str,
    /// Payload of one operation.
    size: u64,
    iterations: u64,
    figure: Figure,
}

#[derive(Clone, Copy)]
enum Figure {
    /// Median round trip (or the mean, on a loopback).
    RoundTrip,
    /// Operations a second.
    Rate,
}
use Figure::{Rate, RoundTrip};

const fn row(test: &'static str, layout: &'static str, size: u64, iterations: u64, figure: Figure) -> Row {
    Row {
        test,
        layout,
        size,
        iterations,
        figure,
    }
}

/// Everything that shared memory and loopback can do.
const MEMORY: &[Row] = &[
    row("am_lat", "short", 8, 1_000_000, RoundTrip),
    row("am_lat", "shortiov", 8, 1_000_000, RoundTrip),
    row("am_lat", "bcopy", 8, 1_000_000, RoundTrip),
    row("am_lat", "bcopy", 4096, 500_000, RoundTrip),
    row("put_lat", "short", 8, 1_000_000, RoundTrip),
    row("put_lat", "bcopy", 8, 1_000_000, RoundTrip),
    row("add_lat", "", 8, 1_000_000, RoundTrip),
    row("am_bw", "short", 8, 5_000_000, Rate),
    row("am_bw", "shortiov", 8, 5_000_000, Rate),
    row("am_bw", "bcopy", 8, 5_000_000, Rate),
    row("am_bw", "bcopy", 4096, 1_000_000, Rate),
    row("put_bw", "short", 8, 20_000_000, Rate),
    row("put_bw", "bcopy", 8, 20_000_000, Rate),
    row("get", "bcopy", 64, 20_000_000, Rate),
    row("add_mr", "", 8, 20_000_000, Rate),
    row("fadd", "", 8, 20_000_000, Rate),
    row("swap", "", 8, 20_000_000, Rate),
    row("cswap", "", 8, 20_000_000, Rate),
];
const TCP: &[Row] = &[
    row("am_lat", "short", 64, 100_000, RoundTrip),
    row("am_lat", "shortiov", 64, 100_000, RoundTrip),
    row("am_lat", "bcopy", 64, 100_000, RoundTrip),
    row("am_lat", "zcopy", 64, 100_000, RoundTrip),
    row("put_lat", "zcopy", 64, 100_000, RoundTrip),
    row("am_bw", "short", 64, 500_000, Rate),
    row("am_bw", "bcopy", 4096, 200_000, Rate),
    row("am_bw", "zcopy", 4096, 200_000, Rate),
    row("put_bw", "zcopy", 4096, 200_000, Rate),
];
const CMA: &[Row] = &[
    row("put_lat", "zcopy", 4096, 200_000, RoundTrip),
    row("put_bw", "zcopy", 4096, 500_000, Rate),
    row("get", "zcopy", 4096, 500_000, Rate),
];

const TRANSPORTS: [Transport; 5] = [
    Transport {
        name: "posix",
        theirs: "-x posix -d memory",
        ours: "-O tl=posix",
        is_loopback: false,
        rows: MEMORY,
    },
    Transport {
        name: "sysv",
        theirs: "-x sysv -d memory",
        ours: "-O tl=sysv",
        is_loopback: false,
        rows: MEMORY,
    },
    Transport {
        name: "self",
        theirs: "-x self -d memory0",
        ours: "-O tl=self",
        is_loopback: true,
        rows: MEMORY,
    },
    Transport {
        name: "tcp",
        theirs: "-x tcp -d lo",
        ours: "-O tl=tcp -O device=lo",
        is_loopback: false,
        rows: TCP,
    },
    Transport {
        name: "cma",
        theirs: "-x cma -d memory",
        ours: "-O tl=cma",
        is_loopback: false,
        rows: CMA,
    },
];

/// Every test of the transport of this name.
pub fn of(name: &str) -> Vec<Comparison> {
    let transport = TRANSPORTS.iter().find(|transport| transport.name == name);
    let rows = transport.map(|transport| transport.rows.iter().map(|row| comparison(transport, row)));
    rows.into_iter().flatten().collect()
}

/// What a test of a batch costs before it measures, beside the tool and at most.
pub fn set_ups() -> Vec<Comparison> {
    let between_ends = TRANSPORTS
        .iter()
        .filter(|transport| !transport.is_loopback && has_messages(transport));
    let bound = at_most(
        "uct posix set-up of each further test of a batch, at most",
        "ns",
        Side::SetUp {
            whose: Whose::Ours,
            transport: "-x posix -d memory",
        },
        20e6,
    );
    between_ends.map(set_up).chain([bound]).collect()
}

fn has_messages(transport: &Transport) -> bool {
    transport.rows.iter().any(|row| row.test == "am_lat")
}

fn set_up(transport: &Transport) -> Comparison {
    let side = |whose| Side::SetUp {
        whose,
        transport: transport.theirs,
    };
    Comparison {
        name: kept(format!(
            "uct {} set-up of each further test of a batch",
            transport.name
        )),
        unit: "ns",
        ours: side(Whose::Ours),
        theirs: side(Whose::Theirs),
        aim: 1.0,
        better: Better::Lower,
    }
}

fn comparison(transport: &Transport, row: &Row) -> Comparison {
    let Row {
        test,
        layout,
        size,
        iterations,
        figure,
    } = *row;
    let is_message = test.starts_with("am_");
    let words = |option: &str, value: &str| match value {
        "" => String::new(),
        value => format!(" {option} {value}"),
    };
    let theirs_size = match (is_message, layout) {
        (true, "shortiov") => format!("8,{size}"),
        (true, _) => (size + 8).to_string(),
        (false, _) => size.to_string(),
    };
    let window = match test {
        "am_bw" => " -W 127",
        "put_bw" => " -O 32",
        _ => "",
    };
    let ours_window = match test {
        "am_bw" => " --window 127",
        _ => "",
    };
    let (unit, better, aim, tag, value) = match (figure, transport.is_loopback) {
        (RoundTrip, false) => ("ns", Better::Lower, 1.03, "rtt_p50_ns", Ucx::RoundTripNs),
        (RoundTrip, true) => ("ns", Better::Lower, 1.03, "rtt_mean_ns", Ucx::MeanRoundTripNs),
        (Rate, _) => ("msg/s", Better::Higher, 0.97, "rate_msg_per_s", Ucx::Rate),
    };
    let ours = format!(
        "run {test} --via uct {}{} --size {size}{ours_window} --iters {iterations}",
        transport.ours,
        words("--layout", layout)
    );
    let theirs = format!(
        "{} -t {test}{} -s {theirs_size}{window} -n {iterations} -w 10000",
        transport.theirs,
        words("-D", layout)
    );
    Comparison {
        name: kept(format!("uct {} {test} {layout} {size} B", transport.name)),
        unit,
        ours: Side::Ours {
            arguments: kept(ours),
            tag,
        },
        theirs: Side::UcxRoad {
            arguments: kept(theirs),
            is_loopback: transport.is_loopback,
            value,
        },
        aim,
        better,
    }
}
