//! ucx_perftest's own command lines, typed for both programs of that name: every test and size that people look at, each started in
//! every way in which people put two ends on CPUs.

use super::super::groups::Group;
use super::super::side::Side;
use super::super::table::{Better, Comparison, Ucx, kept};
use super::{Read, Typed, Whose};

/// A way to put two ends on CPUs.
struct Pin {
    /// In the name of the row.
    name: &'static str,
    /// What stands before the server's and the client's program.
    before: (&'static str, &'static str),
    /// What stands behind their options.
    behind: (&'static str, &'static str),
    needs: &'static [&'static str],
}

const PINS: [Pin; 4] = [
    Pin {
        name: "",
        before: ("", ""),
        behind: ("", ""),
        needs: &["ucx_perftest"],
    },
    Pin {
        name: ", taskset",
        before: ("taskset -c {0} ", "taskset -c {1} "),
        behind: ("", ""),
        needs: &["ucx_perftest"],
    },
    Pin {
        name: ", numactl",
        before: ("numactl -C {0} ", "numactl -C {1} "),
        behind: ("", ""),
        needs: &["ucx_perftest", "numactl"],
    },
    Pin {
        name: ", -c",
        before: ("", ""),
        behind: (" -c {0}", " -c {1}"),
        needs: &["ucx_perftest"],
    },
];

/// A test: what it prints that counts, and how many iterations take about a third of a second.
struct Test {
    line: String,
    figure: Ucx,
    iterations: u64,
}

/// Tests of UCT: their words, figure and iterations. Below a microsecond the mean over the run counts: medians move in steps of the tool's clock.
const POSIX: [(&str, Ucx, u64); 8] = [
    ("-t am_lat -s 8", Ucx::MeanRoundTripNs, 1_000_000),
    ("-t am_lat -s 4096 -D bcopy", Ucx::MeanRoundTripNs, 300_000),
    ("-t put_lat -s 8", Ucx::MeanRoundTripNs, 1_000_000),
    ("-t am_bw -s 8", Ucx::Rate, 5_000_000),
    ("-t am_bw -s 4096 -D bcopy", Ucx::Rate, 1_000_000),
    ("-t put_bw -s 8", Ucx::Rate, 10_000_000),
    ("-t put_bw -s 4096", Ucx::Rate, 3_000_000),
    ("-t put_bw -s 1048576", Ucx::Bandwidth, 10_000),
];
const TCP: [(&str, Ucx, u64); 4] = [
    ("-t am_lat -s 8", Ucx::RoundTripNs, 50_000),
    ("-t am_lat -s 64 -D bcopy", Ucx::RoundTripNs, 50_000),
    ("-t am_bw -s 8", Ucx::Rate, 500_000),
    ("-t am_bw -s 4096 -D bcopy", Ucx::Rate, 200_000),
];

/// Tests of UCP: their group, latency and rate.
const UCP: [(&str, &str, &str); 4] = [
    ("ucp-tag", "tag_lat", "tag_bw"),
    ("ucp-am", "ucp_am_lat", "ucp_am_bw"),
    ("ucp-put", "ucp_put_lat", "ucp_put_bw"),
    ("ucp-stream", "stream_lat", "stream_bw"),
];
/// Size in bytes, iterations of a latency and of a rate.
const SIZES: [(u64, u64, u64); 3] = [
    (8, 1_000_000, 3_000_000),
    (4096, 300_000, 1_000_000),
    (1 << 20, 2_000, 5_000),
];

/// Groups of rows that differ in one thing each.
pub fn groups() -> Vec<Group> {
    let of_uct = |name, before: &str, tests: &[(&str, Ucx, u64)]| {
        let tests = tests.iter().map(|(line, figure, iterations)| Test {
            line: format!("{before} {line}"),
            figure: *figure,
            iterations: *iterations,
        });
        group(name, "uct", &tests.collect::<Vec<_>>())
    };
    let mut groups = vec![
        of_uct("uct-posix", "-d memory -x posix", &POSIX),
        of_uct("uct-tcp", "-d lo -x tcp", &TCP),
    ];
    groups.extend(UCP.iter().map(|(name, latency, rate)| {
        let test = |test: &str, size, figure, iterations| Test {
            line: format!("-t {test} -s {size}"),
            figure,
            iterations,
        };
        let latencies = SIZES.iter().map(|&(size, iterations, _)| {
            let figure = if size < 1 << 20 {
                Ucx::MeanRoundTripNs
            } else {
                Ucx::RoundTripNs
            };
            test(latency, size, figure, iterations)
        });
        let rates = SIZES.iter().map(|&(size, _, iterations)| {
            let figure = if size < 1 << 20 { Ucx::Rate } else { Ucx::Bandwidth };
            test(rate, size, figure, iterations)
        });
        group(name, "ucp", &latencies.chain(rates).collect::<Vec<_>>())
    }));
    groups
}

fn group(name: &'static str, level: &str, tests: &[Test]) -> Group {
    let rows = tests
        .iter()
        .flat_map(|test| PINS.iter().map(move |pin| row(level, test, pin)));
    Group {
        name,
        pair_s: 3.0,
        rows: rows.collect(),
    }
}

fn row(level: &str, test: &Test, pin: &Pin) -> Comparison {
    let options = format!("{} -n {}", test.line, test.iterations);
    let (before, behind) = (pin.before, pin.behind);
    let of = |whose| {
        Side::Typed(Typed {
            whose,
            server: kept(format!("{}ucx_perftest -p 13397{}", before.0, behind.0)),
            line: kept(format!(
                "{}ucx_perftest 127.0.0.1 -p 13397 -v -f {options}{}",
                before.1, behind.1
            )),
            read: Read::Classic(test.figure),
            needs: pin.needs,
        })
    };
    let (unit, better, aim) = match test.figure {
        Ucx::RoundTripNs => ("ns", Better::Lower, 1.03),
        Ucx::MeanRoundTripNs => ("ns", Better::Lower, 1.05),
        Ucx::Rate if test.line == "-t tag_bw -s 8" => ("msg/s", Better::Higher, 1.0),
        Ucx::Rate => ("msg/s", Better::Higher, 0.97),
        Ucx::Bandwidth => ("B/s", Better::Higher, 0.97),
    };
    Comparison {
        name: kept(format!("ucx_perftest, {level}: {}{}", test.line, pin.name)),
        unit,
        ours: of(Whose::Ours),
        theirs: of(Whose::Theirs),
        aim,
        better,
    }
}
