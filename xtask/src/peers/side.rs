//! A side of a comparison: which program gives the figure, and how it is asked.

use super::before;
use super::documents::{self, from_document};
use super::launch::{Build, Context};
use super::mpi::{Figure, Mpi};
use super::programs;
use super::report::Report;
use super::session;
use super::setup::{Whose, case_ns};
use super::table::Ucx;
use super::typed::Typed;
use anyhow::{Context as _, Result, bail};

/// One side of a comparison.
#[derive(Clone)]
pub enum Side {
    /// `wirespeed ARGUMENTS --cpus A,B --json`, and the tag of the figure; over several cases, the largest.
    Ours {
        /// Arguments.
        arguments: &'static str,
        /// Tag.
        tag: &'static str,
    },
    /// The same of an earlier build of wirespeed; of `Ours` and `OursUnder`.
    Before(&'static Side),
    /// ucx_perftest over posix shared memory; over several sizes, the largest.
    Ucx {
        /// Test.
        test: &'static str,
        /// Layout.
        layout: &'static str,
        /// Sizes in bytes.
        sizes: &'static [u64],
        /// Iterations.
        iterations: u64,
        /// Column.
        value: Ucx,
    },
    /// `LAUNCHER -n 2 wirespeed ARGUMENTS --json` under an MPI library, and the tag of the figure.
    OursUnder {
        /// The library.
        mpi: &'static Mpi,
        /// Arguments.
        arguments: &'static str,
        /// Tag.
        tag: &'static str,
    },
    /// A loop in C under an MPI library; it prints the figure of the mean, then that of the median.
    Loop {
        /// The library.
        mpi: &'static Mpi,
        /// Arguments.
        arguments: &'static str,
        /// Which of the two numbers.
        which: Figure,
    },
    /// ucx_perftest with these arguments; within one process where it is a loopback.
    UcxRoad {
        /// Arguments.
        arguments: &'static str,
        /// One process.
        is_loopback: bool,
        /// Column.
        value: Ucx,
    },
    /// A line as a user types it.
    Typed(Typed),
    /// A bulk transfer, on loopback or in the lab; several rows share one launch.
    Bulk(super::byteio::Bulk),
    /// A number that stands by itself: what follows from the set-up, or an aim.
    Number(f64),
    /// `wirespeed ARGUMENTS --json` of a session, on so many of the two cores.
    Session {
        /// Arguments.
        arguments: &'static str,
        /// Which number.
        figure: session::Figure,
        /// 1 or 2.
        cores: usize,
    },
    /// What each further test of a batch costs.
    SetUp {
        /// Which program's.
        whose: Whose,
        /// The transport, as ucx_perftest names it.
        transport: &'static str,
    },
    /// iperf3 over loopback, one stream.
    Iperf3 {
        /// Bytes of each write.
        size_bytes: u64,
        /// Congestion control.
        congestion: &'static str,
        /// Duration.
        seconds: u32,
    },
    /// sockperf ping-pong over loopback TCP; round trip of the median.
    Sockperf {
        /// Bytes of each message.
        size_bytes: u64,
        /// Non-blocking sockets polled without pause, instead of blocking ones.
        busy: bool,
        /// Duration.
        seconds: u32,
    },
}

impl Side {
    /// The figure of our own document, of that build.
    fn ours(&self, context: &Context, build: Build, report: &mut Report) -> Result<f64> {
        match *self {
            Side::Ours { arguments, tag } => from_document(context, build, report, arguments, tag),
            Side::OursUnder { mpi, arguments, tag } => {
                documents::ours_under(mpi, context, build, report, arguments, tag)
            }
            _ => bail!("only commands of ours have an earlier build"),
        }
    }

    /// What it needs beside our program, by the names that `tools` knows.
    pub fn needs(&self) -> Vec<&'static str> {
        match self {
            Side::Session {
                figure: session::Figure::SystemCalls,
                ..
            } => vec!["strace"],
            Side::Ours { .. }
            | Side::Number(_)
            | Side::Session { .. }
            | Side::SetUp {
                whose: Whose::Ours, ..
            } => Vec::new(),
            Side::Before(side) => [side.needs(), vec![before::BEFORE]].concat(),
            Side::OursUnder { mpi, .. } | Side::Loop { mpi, .. } => vec![mpi.loops],
            Side::Ucx { .. } | Side::UcxRoad { .. } | Side::SetUp { .. } => vec!["ucx_perftest"],
            Side::Typed(typed) => typed.needs.to_vec(),
            Side::Bulk(bulk) => bulk.needs(),
            Side::Iperf3 { .. } => vec!["iperf3"],
            Side::Sockperf { .. } => vec!["sockperf"],
        }
    }

    /// Run it once and return the figure.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        match *self {
            Side::Ours { .. } | Side::OursUnder { .. } => self.ours(context, Build::Now, report),
            Side::Before(side) => side.ours(context, Build::Before, report),
            Side::Loop {
                mpi,
                arguments,
                which,
            } => programs::loop_figure(mpi, context, report, arguments, which),
            Side::Ucx {
                test,
                layout,
                sizes,
                iterations,
                value,
            } => {
                let figures = sizes.iter().map(|&size| {
                    let output = programs::ucx(context, report, test, layout, size, iterations)?;
                    programs::ucx_figure(&output, value)
                });
                figures.reduce(|a, b| Ok(a?.max(b?))).context("no sizes")?
            }
            Side::UcxRoad {
                arguments,
                is_loopback,
                value,
            } => programs::ucx_figure(
                &programs::ucx_road(context, report, arguments, is_loopback)?,
                value,
            ),
            Side::Number(value) => Ok(value),
            Side::Typed(typed) => typed.run(context, report),
            Side::Bulk(bulk) => bulk.run(context, report),
            Side::Session {
                arguments,
                figure,
                cores,
            } => session::run(context, report, arguments, figure, cores),
            Side::SetUp { whose, transport } => case_ns(context, report, whose, transport),
            Side::Iperf3 {
                size_bytes,
                congestion,
                seconds,
            } => programs::iperf3(context, report, size_bytes, congestion, seconds),
            Side::Sockperf {
                size_bytes,
                busy,
                seconds,
            } => programs::sockperf(context, report, size_bytes, busy, seconds),
        }
    }
}
