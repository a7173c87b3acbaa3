//! Bulk transfers beside other movers of data and other SOAP stacks: on loopback, and on paths of known speed that
//! `wirespeed lab` emulates. One launch of `wirespeed byteio peers` a pair serves every row of its path.

mod memory;
mod run;

use super::launch::Context;
use super::report::Report;
use super::side::Side;
use super::table::{Better, Comparison};
use super::tools;
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

/// What is moved, below the folder of built things.
pub const FILE: &str = "bulk-1GiB";
/// Its size.
pub const FILE_BYTES: u64 = 1 << 30;

/// One path and shape.
pub struct Network {
    /// Words for `wirespeed lab`; none for loopback.
    lab: &'static str,
    /// Words for `wirespeed byteio peers` behind the file.
    words: &'static str,
}

/// A side of a comparison.
#[derive(Clone, Copy)]
pub enum Bulk {
    /// A mover on a path.
    Mover {
        /// Where.
        network: &'static Network,
        /// As `--movers` calls it.
        name: &'static str,
        /// The program it needs, of others.
        program: Option<&'static str>,
    },
    /// Client and service on the same SOAP stack in Java, over loopback, MTOM, 7 x 8 MiB.
    Java {
        /// Which.
        stack: &'static Stack,
        /// Whether the client writes.
        writes: bool,
    },
    /// What the service holds at its peak, in MiB.
    MemoryOfService,
    /// What the client holds.
    MemoryOfClient,
}

/// A SOAP stack in Java, with our small client and service on it.
pub struct Stack {
    /// Its folder among the peers, which is its name among the programs.
    name: &'static str,
    /// Class and words of the service; `PORT` and `FILE` are filled in.
    service: &'static [&'static str],
    /// Class of the client.
    client: &'static str,
    /// Where the service is.
    url: &'static str,
}

static LOOPBACK: Network = Network {
    lab: "",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,bulk,iperf3,curl",
};
static LAN: Network = Network {
    lab: "--lan --rate 1Gb/s",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,iperf3",
};
static WAN: Network = Network {
    lab: "--rate 1Gb/s --delay 30ms --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,iperf3",
};
static WAN_2009: Network = Network {
    lab: "--rate 1Gb/s --delay 30ms --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 1 --movers mtom,iperf3",
};
static LOSSY: Network = Network {
    lab: "--rate 300Mb/s --delay 30ms --loss 2e-4 --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,gridftp",
};

static PUTS: Network = Network {
    lab: "",
    words: "--put --threads 7 --block-size 8M --depth 2 --movers mtom,http,bulk,iperf3,curl",
};

static AXIS: Stack = Stack {
    name: "axis",
    service: &["-Dfile=FILE", "AxisService", "PORT"],
    client: "AxisRate",
    url: "http://127.0.0.1:PORT/axis/services/byteio",
};
static CXF: Stack = Stack {
    name: "cxf",
    service: &["Server", "http://127.0.0.1:PORT/byteio", "FILE"],
    client: "Rate",
    url: "http://127.0.0.1:PORT/byteio",
};

const fn reads(stack: &'static Stack) -> Side {
    Side::Bulk(Bulk::Java { stack, writes: false })
}

const fn writes(stack: &'static Stack) -> Side {
    Side::Bulk(Bulk::Java { stack, writes: true })
}

const fn ours(network: &'static Network, name: &'static str) -> Side {
    Side::Bulk(Bulk::Mover {
        network,
        name,
        program: None,
    })
}

const fn theirs(network: &'static Network, name: &'static str, program: &'static str) -> Side {
    Side::Bulk(Bulk::Mover {
        network,
        name,
        program: Some(program),
    })
}

const fn row(name: &'static str, ours: Side, theirs: Side, aim: f64) -> Comparison {
    Comparison {
        name,
        unit: "B/s",
        ours,
        theirs,
        aim,
        better: Better::Higher,
    }
}

/// Payload of 1 Gb/s in segments of 1448 bytes behind 66 of headers.
const CEILING_1G: f64 = 125e6 * 1448.0 / 1514.0;

/// Bounds on memory.
pub fn memory() -> Vec<Comparison> {
    memory::ROWS.to_vec()
}

/// Reads over loopback.
pub fn gets() -> Vec<Comparison> {
    vec![
        row(
            "loopback mtom 7 x 8 MiB / Axis 1.4 at both ends",
            ours(&LOOPBACK, "mtom"),
            reads(&AXIS),
            4.0,
        ),
        row(
            "loopback mtom 7 x 8 MiB / CXF at both ends",
            ours(&LOOPBACK, "mtom"),
            reads(&CXF),
            4.0,
        ),
        row(
            "loopback mtom 7 x 8 MiB / curl from nginx, 7 of it",
            ours(&LOOPBACK, "mtom"),
            theirs(&LOOPBACK, "curl", "curl"),
            1.0,
        ),
        row(
            "loopback bulk, 7 connections / iperf3, 7 streams",
            ours(&LOOPBACK, "bulk"),
            theirs(&LOOPBACK, "iperf3", "iperf3"),
            1.0,
        ),
    ]
}

/// Reads over paths of known speed.
pub fn paths() -> Vec<Comparison> {
    vec![
        row(
            "LAN 1 Gb/s mtom / goodput ceiling",
            ours(&LAN, "mtom"),
            Side::Number(CEILING_1G),
            0.99,
        ),
        row(
            "WAN 1 Gb/s 60 ms cubic mtom 7 x 2 / iperf3, 7 streams",
            ours(&WAN, "mtom"),
            theirs(&WAN, "iperf3", "iperf3"),
            0.9,
        ),
        row(
            "WAN 1 Gb/s 60 ms cubic mtom 7 x 1, the shape of 2009, to look at / iperf3, 7 streams",
            ours(&WAN_2009, "mtom"),
            theirs(&WAN_2009, "iperf3", "iperf3"),
            0.0,
        ),
        row(
            "WAN 300 Mb/s 60 ms 2e-4 lost cubic mtom 7 x 2 / GridFTP, 7 streams",
            ours(&LOSSY, "mtom"),
            theirs(&LOSSY, "gridftp", "globus-url-copy"),
            1.0,
        ),
    ]
}

/// Writes over loopback.
pub fn puts() -> Vec<Comparison> {
    vec![
        row(
            "loopback put mtom 7 x 8 MiB / Axis 1.4 at both ends",
            ours(&PUTS, "mtom"),
            writes(&AXIS),
            4.0,
        ),
        row(
            "loopback put mtom 7 x 8 MiB / CXF at both ends",
            ours(&PUTS, "mtom"),
            writes(&CXF),
            4.0,
        ),
        row(
            "loopback put http 7 x 8 MiB / curl to nginx, 7 of it",
            ours(&PUTS, "http"),
            theirs(&PUTS, "curl", "curl"),
            1.0,
        ),
        // iperf3 drops what comes, the service stores it.
        row(
            "loopback put bulk, 7 connections, stored, to look at / iperf3, 7 streams, dropped",
            ours(&PUTS, "bulk"),
            theirs(&PUTS, "iperf3", "iperf3"),
            0.0,
        ),
    ]
}

/// Make the file that is moved.
pub fn make_file(built: &Path) -> Result<()> {
    let path = built.join(FILE);
    if fs::metadata(&path).map_or(0, |m| m.len()) == FILE_BYTES {
        return Ok(());
    }
    let piece: Vec<u8> = (0..1u32 << 20)
        .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8)
        .collect();
    let mut file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    for _ in 0..FILE_BYTES >> 20 {
        file.write_all(&piece)?;
    }
    Ok(())
}

impl Bulk {
    /// What it needs beside our program, by the names that `tools` knows.
    pub fn needs(&self) -> Vec<&'static str> {
        match self {
            Bulk::Mover { program, .. } => program.iter().copied().chain([tools::FILE]).collect(),
            Bulk::Java { stack, .. } => vec![stack.name, tools::FILE],
            Bulk::MemoryOfService | Bulk::MemoryOfClient => Vec::new(),
        }
    }

    /// Run it, unless this pair has it already, and return its bytes a second.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        match *self {
            Bulk::Mover { network, name, .. } => run::mover(context, report, network, name),
            Bulk::Java { stack, writes } => run::java(context, report, stack, writes),
            Bulk::MemoryOfService => memory::peaks_mib(context, report).map(|(of_service, _)| of_service),
            Bulk::MemoryOfClient => memory::peaks_mib(context, report).map(|(_, of_client)| of_client),
        }
    }
}
