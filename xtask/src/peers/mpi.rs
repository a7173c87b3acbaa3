//! wirespeed beside the same loops in C (tests/peers/mpi_loops.c) on Open MPI and MPICH, two ranks on two cores.
//!
//! Means stand against means and medians against medians, so that a row compares programs and not statistics; the rows
//! that set our headline against the plain mean are there for their spread over launches.
//!
//! The loops in C wait in the library, so ours do (`--wait block`). What it costs to test for completion instead, which is
//! the default because a cancelled run must end, has rows of its own: `tested`.

use super::derived::{self, Derived};
use super::side::Side;
use super::table::{Better, Comparison};
use crate::command;
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where programs in C are built, from the root.
pub const BUILT: &str = "target/peers";
const SOURCE: &str = "tests/peers/mpi_loops.c";

/// The two numbers that a loop prints, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// From the mean, as the definition has it.
    Mean,
    /// From the median iteration.
    Median,
}

/// An MPI library with its launcher and compiler.
pub struct Mpi {
    /// Its launcher.
    launcher: &'static str,
    /// Words that bind each rank to a core of its own.
    words: &'static [&'static str],
    /// Its compiler.
    compiler: &'static str,
    /// The loops, built with it.
    pub loops: &'static str,
}

/// Open MPI.
pub static OPEN_MPI: Mpi = Mpi {
    launcher: "mpirun.openmpi",
    words: &["--bind-to", "core", "--map-by", "core"],
    compiler: "mpicc.openmpi",
    loops: "mpi_loops.openmpi",
};

/// MPICH.
pub static MPICH: Mpi = Mpi {
    launcher: "mpirun.mpich",
    words: &["-bind-to", "core"],
    compiler: "mpicc.mpich",
    loops: "mpi_loops.mpich",
};

impl Mpi {
    /// Whether the compiler is here with its headers.
    fn can_compile(&self) -> bool {
        let mut probe = Command::new(self.compiler);
        probe.args(["-x", "c", "-fsyntax-only", "-include", "mpi.h", "/dev/null"]);
        probe.stderr(Stdio::null());
        command::find(self.compiler).is_some() && probe.status().is_ok_and(|status| status.success())
    }

    /// The launcher with two ranks of `program`; its arguments follow.
    pub fn launch(&self, program: &Path) -> Command {
        let mut command = command::bound("timeout");
        command.args(["--kill-after=5", "120", self.launcher]);
        command.args(self.words).args(["-n", "2"]).arg(program);
        let_root(&mut command);
        command
    }
}

/// Let root start a job of Open MPI, which refuses it unasked.
pub fn let_root(command: &mut Command) {
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(name, "1");
    }
}

/// The library whose loops have this name.
fn of_loops(loops: &str) -> Option<&'static Mpi> {
    [&OPEN_MPI, &MPICH].into_iter().find(|mpi| mpi.loops == loops)
}

/// Why these loops cannot be built or started here; `None` when they can, or are none.
pub fn missing(loops: &str) -> Option<String> {
    let mpi = of_loops(loops)?;
    if command::find(mpi.launcher).is_none() {
        return Some(format!("no {}", mpi.launcher));
    }
    (!mpi.can_compile()).then(|| format!("no {} with its headers", mpi.compiler))
}

/// Build these loops; nothing where there are none of that name.
pub fn build(root: &Path, loops: &str) -> Result<()> {
    let Some(mpi) = of_loops(loops) else {
        return Ok(());
    };
    let mut compile = Command::new(mpi.compiler);
    compile
        .args(["-O2", "-w", "-o"])
        .arg(root.join(BUILT).join(mpi.loops))
        .arg(root.join(SOURCE));
    command::run(&mut compile)
}

/// The rows on one of the libraries, by the name that they begin with.
pub fn of(library: &str) -> Vec<Comparison> {
    let rows = COMPARISONS.iter().filter(|row| row.name.starts_with(library));
    rows.cloned().collect()
}

const LATENCY: &str = "run osu_latency --via mpi --size 8 --iters 10000 --warmup 100 --wait block";
const LATENCY_TESTED: &str = "run osu_latency --via mpi --size 8 --iters 10000 --warmup 100";
const LATENCY_LOOP: &str = "osu_latency 8 1 10000 100 0";
const RATE: &str = "run osu_mbw_mr --via mpi --size 8 --iters 1000 --warmup 100 --wait block";
const RATE_TESTED: &str = "run osu_mbw_mr --via mpi --size 8 --iters 1000 --warmup 100";
const RATE_LOOP: &str = "osu_mbw_mr 8 64 1000 100 0";
const BANDWIDTH: &str = "run osu_bw --via mpi --size 1M --iters 200 --warmup 20 --wait block";
const BANDWIDTH_LOOP: &str = "osu_bw 1048576 64 200 20 0";
const PRE_POST: &str = "run msgrate --via mpi --pattern pre-post --peers 1 --size 8 --iters 400 --warmup 10 --cache-state hot --wait block";
const PRE_POST_TESTED: &str =
    "msgrate --sound --pattern pre-post -p 1 -n 1 -s 8 -i 400 --warmup 10 --cache-state hot";
const PRE_POST_LOOP: &str = "pre_post 8 128 400 10 0";

/// At least so much of the performance of the same loop in C.
const AIM: f64 = 0.98;

const fn row(
    name: &'static str,
    unit: &'static str,
    mpi: &'static Mpi,
    ours: (&'static str, &'static str),
    theirs: (&'static str, Figure),
    better: Better,
) -> Comparison {
    Comparison {
        name,
        unit,
        ours: Side::OursUnder {
            mpi,
            arguments: ours.0,
            tag: ours.1,
        },
        theirs: Side::Loop {
            mpi,
            arguments: theirs.0,
            which: theirs.1,
        },
        aim: match better {
            Better::Higher => AIM,
            Better::Lower => 1.0 / AIM,
        },
        better,
    }
}

/// Times: less is better.
const fn time(
    name: &'static str,
    mpi: &'static Mpi,
    ours: (&'static str, &'static str),
    theirs: (&'static str, Figure),
) -> Comparison {
    row(name, "ns", mpi, ours, theirs, Better::Lower)
}

/// Rates: more is better.
const fn rate(
    name: &'static str,
    mpi: &'static Mpi,
    ours: (&'static str, &'static str),
    theirs: (&'static str, Figure),
) -> Comparison {
    row(name, "msg/s", mpi, ours, theirs, Better::Higher)
}

const MEAN_LATENCY: (&str, &str) = (LATENCY, "classic_latency_ns");
const MEDIAN_LATENCY: (&str, &str) = (LATENCY, "one_way_p50_ns");
const MEAN_RATE: (&str, &str) = (RATE, "classic_rate_msg_per_s");
const MEDIAN_RATE: (&str, &str) = (RATE, "rate_msg_per_s");
const MEAN_BANDWIDTH: (&str, &str) = (BANDWIDTH, "classic_rate_msg_per_s");
const MEDIAN_BANDWIDTH: (&str, &str) = (BANDWIDTH, "rate_msg_per_s");
const MEAN_PRE_POST: (&str, &str) = (PRE_POST, "classic_rate_msg_per_s");
const MEDIAN_PRE_POST: (&str, &str) = (PRE_POST, "rate_msg_per_s");
const TESTED_LATENCY: (&str, &str) = (LATENCY_TESTED, "one_way_p50_ns");
const TESTED_RATE: (&str, &str) = (RATE_TESTED, "rate_msg_per_s");
const TESTED_PRE_POST: (&str, &str) = (PRE_POST_TESTED, "rate_msg_per_s");

static COMPARISONS: &[Comparison] = &[
    time(
        "Open MPI: 8 B one-way, mean / C, mean",
        &OPEN_MPI,
        MEAN_LATENCY,
        (LATENCY_LOOP, Figure::Mean),
    ),
    time(
        "Open MPI: 8 B one-way, median / C, median",
        &OPEN_MPI,
        MEDIAN_LATENCY,
        (LATENCY_LOOP, Figure::Median),
    ),
    time(
        "Open MPI: 8 B one-way, headline / C, mean",
        &OPEN_MPI,
        MEDIAN_LATENCY,
        (LATENCY_LOOP, Figure::Mean),
    ),
    rate(
        "Open MPI: 8 B rate, mean / C, mean",
        &OPEN_MPI,
        MEAN_RATE,
        (RATE_LOOP, Figure::Mean),
    ),
    rate(
        "Open MPI: 8 B rate, median / C, median",
        &OPEN_MPI,
        MEDIAN_RATE,
        (RATE_LOOP, Figure::Median),
    ),
    rate(
        "Open MPI: 8 B rate, headline / C, mean",
        &OPEN_MPI,
        MEDIAN_RATE,
        (RATE_LOOP, Figure::Mean),
    ),
    rate(
        "Open MPI: 1 MiB windows, mean / C, mean",
        &OPEN_MPI,
        MEAN_BANDWIDTH,
        (BANDWIDTH_LOOP, Figure::Mean),
    ),
    rate(
        "Open MPI: 1 MiB windows, median / C, median",
        &OPEN_MPI,
        MEDIAN_BANDWIDTH,
        (BANDWIDTH_LOOP, Figure::Median),
    ),
    rate(
        "Open MPI: 8 B pre-post, mean / C, mean",
        &OPEN_MPI,
        MEAN_PRE_POST,
        (PRE_POST_LOOP, Figure::Mean),
    ),
    rate(
        "Open MPI: 8 B pre-post, median / C, median",
        &OPEN_MPI,
        MEDIAN_PRE_POST,
        (PRE_POST_LOOP, Figure::Median),
    ),
    time(
        "Open MPI: 8 B one-way, tested, median / C, median",
        &OPEN_MPI,
        TESTED_LATENCY,
        (LATENCY_LOOP, Figure::Median),
    ),
    rate(
        "Open MPI: 8 B rate, tested, median / C, median",
        &OPEN_MPI,
        TESTED_RATE,
        (RATE_LOOP, Figure::Median),
    ),
    rate(
        "Open MPI: 8 B pre-post, tested, median / C, median",
        &OPEN_MPI,
        TESTED_PRE_POST,
        (PRE_POST_LOOP, Figure::Median),
    ),
    time(
        "MPICH: 8 B one-way, mean / C, mean",
        &MPICH,
        MEAN_LATENCY,
        (LATENCY_LOOP, Figure::Mean),
    ),
    time(
        "MPICH: 8 B one-way, median / C, median",
        &MPICH,
        MEDIAN_LATENCY,
        (LATENCY_LOOP, Figure::Median),
    ),
    time(
        "MPICH: 8 B one-way, headline / C, mean",
        &MPICH,
        MEDIAN_LATENCY,
        (LATENCY_LOOP, Figure::Mean),
    ),
    rate(
        "MPICH: 8 B rate, mean / C, mean",
        &MPICH,
        MEAN_RATE,
        (RATE_LOOP, Figure::Mean),
    ),
    rate(
        "MPICH: 8 B rate, median / C, median",
        &MPICH,
        MEDIAN_RATE,
        (RATE_LOOP, Figure::Median),
    ),
    rate(
        "MPICH: 8 B rate, headline / C, mean",
        &MPICH,
        MEDIAN_RATE,
        (RATE_LOOP, Figure::Mean),
    ),
    rate(
        "MPICH: 1 MiB windows, mean / C, mean",
        &MPICH,
        MEAN_BANDWIDTH,
        (BANDWIDTH_LOOP, Figure::Mean),
    ),
    rate(
        "MPICH: 1 MiB windows, median / C, median",
        &MPICH,
        MEDIAN_BANDWIDTH,
        (BANDWIDTH_LOOP, Figure::Median),
    ),
    rate(
        "MPICH: 8 B pre-post, mean / C, mean",
        &MPICH,
        MEAN_PRE_POST,
        (PRE_POST_LOOP, Figure::Mean),
    ),
    rate(
        "MPICH: 8 B pre-post, median / C, median",
        &MPICH,
        MEDIAN_PRE_POST,
        (PRE_POST_LOOP, Figure::Median),
    ),
    time(
        "MPICH: 8 B one-way, tested, median / C, median",
        &MPICH,
        TESTED_LATENCY,
        (LATENCY_LOOP, Figure::Median),
    ),
    rate(
        "MPICH: 8 B rate, tested, median / C, median",
        &MPICH,
        TESTED_RATE,
        (RATE_LOOP, Figure::Median),
    ),
    rate(
        "MPICH: 8 B pre-post, tested, median / C, median",
        &MPICH,
        TESTED_PRE_POST,
        (PRE_POST_LOOP, Figure::Median),
    ),
];

/// What the harness may add to a message over the same loop in C.
const ADDED_NS: f64 = 2.0;
/// How far apart launches of the headline may be, beside those of the plain mean.
const SPREAD: f64 = 0.2;

const fn added(name: &'static str, of: &'static str, message_ns: fn(f64) -> f64) -> Derived {
    let limit_ns = ADDED_NS;
    Derived {
        name,
        of,
        figure: derived::Figure::Added { message_ns, limit_ns },
    }
}

const fn spread(name: &'static str, of: &'static str) -> Derived {
    Derived {
        name,
        of,
        figure: derived::Figure::Spread { limit: SPREAD },
    }
}

/// A time is one already.
const fn as_it_is(ns: f64) -> f64 {
    ns
}

fn of_rate(messages_per_s: f64) -> f64 {
    1e9 / messages_per_s
}

/// What the harness adds to a message, from medians against medians; spreads of the headline beside the plain mean.
pub const DERIVED: &[Derived] = &[
    added(
        "Open MPI: added to a message, one-way time",
        "Open MPI: 8 B one-way, median / C, median",
        as_it_is,
    ),
    added(
        "Open MPI: added to a message, windows",
        "Open MPI: 8 B rate, median / C, median",
        of_rate,
    ),
    added(
        "Open MPI: added to a message, pre-post",
        "Open MPI: 8 B pre-post, median / C, median",
        of_rate,
    ),
    added(
        "MPICH: added to a message, one-way time",
        "MPICH: 8 B one-way, median / C, median",
        as_it_is,
    ),
    added(
        "MPICH: added to a message, windows",
        "MPICH: 8 B rate, median / C, median",
        of_rate,
    ),
    added(
        "MPICH: added to a message, pre-post",
        "MPICH: 8 B pre-post, median / C, median",
        of_rate,
    ),
    spread(
        "Open MPI: spread of the headline / of the mean, one-way time",
        "Open MPI: 8 B one-way, headline / C, mean",
    ),
    spread(
        "Open MPI: spread of the headline / of the mean, rate",
        "Open MPI: 8 B rate, headline / C, mean",
    ),
    spread(
        "MPICH: spread of the headline / of the mean, one-way time",
        "MPICH: 8 B one-way, headline / C, mean",
    ),
    spread(
        "MPICH: spread of the headline / of the mean, rate",
        "MPICH: 8 B rate, headline / C, mean",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_derived_figure_has_its_comparison() {
        for derived in DERIVED {
            let found = COMPARISONS.iter().any(|row| row.name == derived.of);
            assert!(found, "{}: no comparison {}", derived.name, derived.of);
        }
    }
}
