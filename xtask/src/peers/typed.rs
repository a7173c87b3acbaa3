//! What users type, on both sides: a verb with no options beside the peer's program with none, and ucx_perftest's own command
//! lines under both programs that answer to that name, pinned in the ways in which people pin.
//!
//! No line here may have an option that the peer's lacks a counterpart of, but for the length of a run and the form of output.

use super::launch::{Context, Server};
use super::mpi;
use super::programs;
use super::report::Report;
use super::side::Side;
use super::table::{Better, Comparison, Ucx, kept};
use super::{documents, tools};
use crate::command;
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where our program stands under the original's name, from the root.
const NAMED: &str = "target/peers/named";

/// Whose program answers to a name that both have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Ours comes first in the path.
    Ours,
    /// The one that is installed.
    Theirs,
}

/// How the figure is read from what the line prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Read {
    /// ucx_perftest's comma-separated line.
    Classic(Ucx),
    /// Our document's figure of this name.
    Tag(&'static str),
    /// iperf3's JSON: bytes a second.
    Iperf3,
    /// iperf3's JSON of datagrams: datagrams a second that arrived.
    Iperf3Datagrams,
    /// sockperf's median, as a round trip.
    Sockperf,
    /// The first number of a loop in C.
    Loop,
}

/// A line as it is typed, and the line of the other terminal that it needs.
#[derive(Clone, Copy)]
pub struct Typed {
    /// Whose program the names mean.
    pub whose: Whose,
    /// What is typed in the other terminal before, if anything.
    pub server: &'static str,
    /// What is typed.
    pub line: &'static str,
    /// How it is read.
    pub read: Read,
    /// The peer's program.
    pub program: &'static str,
}

impl Typed {
    /// Type it, and read the figure.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        let server = (!self.server.is_empty()).then(|| {
            let mut listening = self.shell(context, self.server);
            listening.stdout(Stdio::null()).stderr(Stdio::null());
            Server::start(&mut listening)
        });
        let _server = server.transpose()?;
        if !self.server.is_empty() {
            std::thread::sleep(Duration::from_millis(400));
        }
        let output = command::capture(&mut self.shell(context, self.line))?;
        let whose = match self.whose {
            Whose::Ours => "wirespeed's",
            Whose::Theirs => "the peer's",
        };
        let ahead = match self.server {
            "" => String::new(),
            server => format!("{server} &\n$ "),
        };
        report.raw(
            &format!("{ahead}{}  # {whose}", self.line),
            &documents::condensed(&output),
        )?;
        match self.read {
            Read::Classic(value) => programs::ucx_figure(&output, value),
            Read::Tag(tag) => documents::figure(&output, tag),
            Read::Iperf3 => programs::iperf_figure(&output),
            Read::Iperf3Datagrams => programs::iperf_datagrams(&output),
            Read::Sockperf => programs::sockperf_figure(&output),
            Read::Loop => {
                let first = output.split_whitespace().find_map(|word| word.parse().ok());
                first.with_context(|| format!("cannot read {output:?}"))
            }
        }
    }

    fn shell(&self, context: &Context, line: &str) -> Command {
        let mut command = command::bound("timeout");
        command.args(["--kill-after=5", "60", "bash", "-c", &format!("exec {line}")]);
        let rest = std::env::var("PATH").unwrap_or_default();
        let ours = context.binary.parent().unwrap_or(Path::new("."));
        let built = context.built.display();
        let path = match self.whose {
            Whose::Ours => format!("{built}/named:{}:{rest}", ours.display()),
            Whose::Theirs => format!("{built}:{rest}"),
        };
        command.env("PATH", path);
        mpi::let_root(&mut command);
        command
    }
}

/// Puts our program under the original's name, and sees which peers are there.
pub fn prepare(root: &Path) -> Result<BTreeSet<&'static str>> {
    let mut available = tools::install()?;
    available.extend(mpi::build(root)?);
    let named = root.join(NAMED);
    std::fs::create_dir_all(&named).with_context(|| format!("cannot make {}", named.display()))?;
    let link = named.join("ucx_perftest");
    if std::fs::symlink_metadata(&link).is_err() {
        symlink(root.join("target/release/wirespeed"), &link).context("cannot link ucx_perftest")?;
    }
    Ok(available)
}

/// How people put two ends on cores: what stands before the server's line and before the client's.
const PINS: [(&str, &str, &str); 2] = [("", "", ""), (", taskset", "taskset -c 0 ", "taskset -c 1 ")];

/// A test of ucx_perftest: what it prints that counts, and how many iterations take about a third of a second.
struct Test {
    line: &'static str,
    figure: Ucx,
    iterations: u64,
}

const fn test(line: &'static str, figure: Ucx, iterations: u64) -> Test {
    Test {
        line,
        figure,
        iterations,
    }
}

/// UCT over posix, and UCP, in the sizes that people look at. Below a microsecond the mean over the run counts: medians move in
/// steps of the tool's clock.
const UCX: [Test; 18] = [
    test(
        "-d memory -x posix -t am_lat -s 8",
        Ucx::MeanRoundTripNs,
        1_000_000,
    ),
    test(
        "-d memory -x posix -t put_lat -s 8",
        Ucx::MeanRoundTripNs,
        1_000_000,
    ),
    test("-d memory -x posix -t am_bw -s 8", Ucx::Rate, 5_000_000),
    test("-d lo -x tcp -t am_lat -s 64 -D bcopy", Ucx::RoundTripNs, 50_000),
    test("-t tag_lat -s 8", Ucx::MeanRoundTripNs, 1_000_000),
    test("-t tag_lat -s 4096", Ucx::MeanRoundTripNs, 300_000),
    test("-t tag_lat -s 1048576", Ucx::RoundTripNs, 2_000),
    test("-t tag_bw -s 8", Ucx::Rate, 5_000_000),
    test("-t tag_bw -s 4096", Ucx::Rate, 1_000_000),
    test("-t tag_bw -s 1048576", Ucx::Bandwidth, 5_000),
    test("-t ucp_am_lat -s 8", Ucx::MeanRoundTripNs, 1_000_000),
    test("-t ucp_am_bw -s 8", Ucx::Rate, 3_000_000),
    test("-t ucp_am_bw -s 1048576", Ucx::Bandwidth, 5_000),
    test("-t ucp_put_lat -s 8", Ucx::MeanRoundTripNs, 1_000_000),
    test("-t ucp_put_bw -s 8", Ucx::Rate, 5_000_000),
    test("-t ucp_put_bw -s 1048576", Ucx::Bandwidth, 5_000),
    test("-t stream_lat -s 8", Ucx::MeanRoundTripNs, 500_000),
    test("-t stream_bw -s 8", Ucx::Rate, 2_000_000),
];

/// Every row.
pub fn comparisons() -> Vec<Comparison> {
    let ucx = UCX
        .iter()
        .flat_map(|test| PINS.iter().map(move |pin| ucx_row(test, pin)));
    ucx.chain(DEFAULTS.iter().map(default_row)).collect()
}

fn ucx_row(test: &Test, (pinned, server, client): &(&str, &str, &str)) -> Comparison {
    let level = if test.line.contains("-x ") { "uct" } else { "ucp" };
    let line = format!("{} -n {}", test.line, test.iterations);
    let of = |whose| {
        Side::Typed(Typed {
            whose,
            server: kept(format!("{server}ucx_perftest -p 13397")),
            line: kept(format!("{client}ucx_perftest 127.0.0.1 -p 13397 -v -f {line}")),
            read: Read::Classic(test.figure),
            program: "ucx_perftest",
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
        name: kept(format!("ucx_perftest, {level}: {}{pinned}", test.line)),
        unit,
        ours: of(Whose::Ours),
        theirs: of(Whose::Theirs),
        aim,
        better,
    }
}

/// A verb with no options beside a program with none.
struct OwnDefault {
    name: &'static str,
    unit: &'static str,
    ours: (&'static str, &'static str),
    program: &'static str,
    /// What is typed in the other terminal, and in this one.
    theirs: (&'static str, &'static str),
    read: Read,
    bound: (Better, f64),
}

const IPERF3: (&str, &str) = ("iperf3 -s -1", "iperf3 -c 127.0.0.1 -t 2 -J");

const DEFAULTS: [OwnDefault; 7] = [
    OwnDefault {
        name: "tcp bandwidth by default / iperf3",
        unit: "B/s",
        ours: (
            "wirespeed run bandwidth --via tcp -t 2s --json",
            "bandwidth_bytes_per_s",
        ),
        program: "iperf3",
        theirs: IPERF3,
        read: Read::Iperf3,
        bound: (Better::Higher, 1.0),
    },
    OwnDefault {
        name: "tcp bandwidth by default, no CPUs chosen / iperf3",
        unit: "B/s",
        ours: (
            "wirespeed run bandwidth --via tcp -t 2s --cpus none --json",
            "bandwidth_bytes_per_s",
        ),
        program: "iperf3",
        theirs: IPERF3,
        read: Read::Iperf3,
        bound: (Better::Higher, 1.0),
    },
    OwnDefault {
        name: "tcp latency by default / sockperf",
        unit: "ns",
        ours: ("wirespeed run latency --via tcp -t 2s --json", "rtt_p50_ns"),
        program: "sockperf",
        theirs: ("sockperf sr --tcp", "sockperf pp --tcp -t 2"),
        read: Read::Sockperf,
        bound: (Better::Lower, 1.03),
    },
    OwnDefault {
        name: "udp latency by default / sockperf",
        unit: "ns",
        ours: ("wirespeed run latency --via udp -t 2s --json", "rtt_p50_ns"),
        program: "sockperf",
        theirs: ("sockperf sr", "sockperf pp -t 2"),
        read: Read::Sockperf,
        bound: (Better::Lower, 1.03),
    },
    OwnDefault {
        name: "udp rate of 1400 B / iperf3 -u",
        unit: "msg/s",
        ours: (
            "wirespeed run am_bw --via udp -s 1400 -t 2s --json",
            "rate_msg_per_s",
        ),
        program: "iperf3",
        theirs: ("iperf3 -s -1", "iperf3 -c 127.0.0.1 -u -b 0 -l 1400 -t 2 -J"),
        read: Read::Iperf3Datagrams,
        bound: (Better::Higher, 0.97),
    },
    OwnDefault {
        name: "Open MPI tag_lat by default / MPI_Send and MPI_Recv in C",
        unit: "ns",
        ours: (
            "mpirun.openmpi -n 2 wirespeed run tag_lat --via mpi --json",
            "rtt_mean_ns",
        ),
        program: "mpi_loops.openmpi",
        theirs: (
            "",
            "mpirun.openmpi -n 2 mpi_loops.openmpi bare 8 1 1000000 1000 0",
        ),
        read: Read::Loop,
        bound: (Better::Lower, 1.05),
    },
    OwnDefault {
        name: "MPICH tag_lat by default / MPI_Send and MPI_Recv in C",
        unit: "ns",
        ours: (
            "mpirun.mpich -n 2 wirespeed run tag_lat --via mpi --json",
            "rtt_mean_ns",
        ),
        program: "mpi_loops.mpich",
        theirs: ("", "mpirun.mpich -n 2 mpi_loops.mpich bare 8 1 1000000 1000 0"),
        read: Read::Loop,
        bound: (Better::Lower, 1.05),
    },
];

fn default_row(row: &OwnDefault) -> Comparison {
    let side = |whose, (server, line), read| {
        Side::Typed(Typed {
            whose,
            server,
            line,
            read,
            program: row.program,
        })
    };
    let (line, tag) = row.ours;
    let (better, aim) = row.bound;
    Comparison {
        name: row.name,
        unit: row.unit,
        ours: side(Whose::Ours, ("", line), Read::Tag(tag)),
        theirs: side(Whose::Theirs, row.theirs, row.read),
        aim,
        better,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own_and_both_sides_type_the_same_of_the_original() {
        let rows = comparisons();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
        for row in rows {
            let (Side::Typed(ours), Side::Typed(theirs)) = (&row.ours, &row.theirs) else {
                panic!("{} is not typed", row.name);
            };
            if theirs.program == "ucx_perftest" {
                assert_eq!(
                    (ours.server, ours.line),
                    (theirs.server, theirs.line),
                    "{}",
                    row.name
                );
            }
        }
    }
}
