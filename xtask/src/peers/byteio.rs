//! Bulk transfers beside other movers of data and other SOAP stacks: on loopback, and on paths of known speed that
//! `wirespeed lab` emulates. One launch of `wirespeed byteio peers` a pair serves every row of its path.

use super::commands::{Context, Server, Side, condensed};
use super::report::Report;
use super::table::{Better, Comparison, Limit};
use crate::command;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};

/// What is moved, below the folder of built things.
const FILE: &str = "bulk-1GiB";
const FILE_BYTES: u64 = 1 << 30;
const PORT_JAVA: u16 = 7460;
const PORT_MEMORY: u16 = 7461;
/// Longest time of one launch, as `timeout` takes it.
const LAUNCH_LIMIT: &str = "900";
/// What a process may hold, whatever it moves.
const MEMORY_MIB_MAX: f64 = 64.0;

/// One path and shape.
pub struct Road {
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
        road: &'static Road,
        /// As `--movers` calls it.
        name: &'static str,
        /// The program it needs, of others.
        program: Option<&'static str>,
    },
    /// Client and service on the same SOAP stack in Java, over loopback, MTOM, 7 x 8 MiB.
    Java {
        /// The folder of the peer, which is its name among the programs.
        stack: &'static str,
        /// Class and words of the service; `URL`, `PORT` and `FILE` are filled in.
        service: &'static [&'static str],
        /// Class of the client.
        client: &'static str,
        /// Where the service is.
        url: &'static str,
    },
}

static LOOPBACK: Road = Road {
    lab: "",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,bulk,iperf3,curl",
};
static LAN: Road = Road {
    lab: "--lan --rate 1Gb/s",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,iperf3",
};
static WAN: Road = Road {
    lab: "--rate 1Gb/s --delay 30ms --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,iperf3",
};
static WAN_2009: Road = Road {
    lab: "--rate 1Gb/s --delay 30ms --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 1 --movers mtom,iperf3",
};
static LOSSY: Road = Road {
    lab: "--rate 300Mb/s --delay 30ms --loss 2e-4 --congestion cubic",
    words: "--threads 7 --block-size 8M --depth 2 --movers mtom,gridftp",
};

const AXIS: Bulk = Bulk::Java {
    stack: "axis",
    service: &["-Dfile=FILE", "AxisService", "PORT"],
    client: "AxisRate",
    url: "http://127.0.0.1:PORT/axis/services/byteio",
};
const CXF: Bulk = Bulk::Java {
    stack: "cxf",
    service: &["Server", "http://127.0.0.1:PORT/byteio", "FILE"],
    client: "Rate",
    url: "http://127.0.0.1:PORT/byteio",
};

const fn ours(road: &'static Road, name: &'static str) -> Side {
    Side::Bulk(Bulk::Mover {
        road,
        name,
        program: None,
    })
}

const fn theirs(road: &'static Road, name: &'static str, program: &'static str) -> Side {
    Side::Bulk(Bulk::Mover {
        road,
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

/// Every comparison, in the order of the summary.
pub fn comparisons() -> Vec<Comparison> {
    vec![
        row(
            "loopback mtom 7 x 8 MiB / Axis 1.4 at both ends",
            ours(&LOOPBACK, "mtom"),
            Side::Bulk(AXIS),
            4.0,
        ),
        row(
            "loopback mtom 7 x 8 MiB / CXF at both ends",
            ours(&LOOPBACK, "mtom"),
            Side::Bulk(CXF),
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

/// Bounds on memory.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "memory of the service, 64 GiB sparse, blocks of 1 GiB, mtom",
        limit: MEMORY_MIB_MAX,
        unit: "MiB",
        measure: |context, report| Ok(memory_mib(context, report)?.0),
    },
    Limit {
        name: "memory of the client, the same",
        limit: MEMORY_MIB_MAX,
        unit: "MiB",
        measure: |context, report| Ok(memory_mib(context, report)?.1),
    },
];

/// Install what can be, and make the file.
pub fn prepare(root: &FilePath) -> Result<BTreeSet<&'static str>> {
    command::run(Command::new("bash").arg(root.join("tests/lab/install.sh")))?;
    let folder = root.join(super::mpi::BUILT);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(FILE);
    if fs::metadata(&path).map_or(0, |m| m.len()) != FILE_BYTES {
        let piece: Vec<u8> = (0..1u32 << 20)
            .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8)
            .collect();
        let mut file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
        for _ in 0..FILE_BYTES >> 20 {
            file.write_all(&piece)?;
        }
    }
    let mut there: BTreeSet<&'static str> = ["iperf3", "curl", "globus-url-copy"]
        .into_iter()
        .filter(|program| command::find(program).is_some())
        .collect();
    for stack in ["axis", "cxf"] {
        let built = root.join("target/interop").join(stack).join("ready").exists();
        if built && command::find("java").is_some() {
            there.insert(stack);
        }
    }
    Ok(there)
}

impl Bulk {
    /// The foreign program that it needs.
    pub fn program(&self) -> Option<&'static str> {
        match self {
            Bulk::Mover { program, .. } => *program,
            Bulk::Java { stack, .. } => Some(stack),
        }
    }

    /// Run it, unless this pair has it already, and return its bytes a second.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        match *self {
            Bulk::Mover { road, name, .. } => mover(context, report, road, name),
            Bulk::Java {
                stack,
                service,
                client,
                url,
            } => {
                let folder = context.built.with_file_name("interop").join(stack);
                java(context, report, &folder, (service, client, url))
            }
        }
    }
}

fn mover(context: &Context, report: &mut Report, road: &Road, name: &str) -> Result<f64> {
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=5", LAUNCH_LIMIT])
        .arg(&context.binary);
    if !road.lab.is_empty() {
        command
            .arg("lab")
            .args(road.lab.split(' '))
            .arg("--")
            .arg(&context.binary);
    }
    command.args(["byteio", "peers"]).arg(context.built.join(FILE));
    command
        .args(road.words.split(' '))
        .args(["--repeats", "1", "--json"]);
    let (shown, output) = context.launch(command)?;
    report.raw(&shown, &condensed(&output));
    let document: Value = serde_json::from_str(&output).context("wirespeed printed no JSON")?;
    let cases = document["cases"].as_array().into_iter().flatten();
    let wanted = |case: &&Value| {
        let transport = case["transport"].as_str().or(case["case"]["transport"].as_str());
        transport.is_some_and(|transport| transport.trim_start_matches("byteio-") == name)
    };
    let Some(case) = cases.into_iter().find(wanted) else {
        bail!("{name} is not in the document");
    };
    let rate = case["metrics"]["bandwidth_bytes_per_s"]["value"].as_f64();
    rate.with_context(|| format!("{name}: {}", case["error"].as_str().unwrap_or("no figure")))
}

type Java = (&'static [&'static str], &'static str, &'static str);

/// Both ends on one stack; the client prints bytes a second of its best run.
fn java(
    context: &Context,
    report: &mut Report,
    folder: &FilePath,
    (service, client, url): Java,
) -> Result<f64> {
    let file = context.built.join(FILE).display().to_string();
    let filled = |word: &str| {
        word.replace("PORT", &PORT_JAVA.to_string())
            .replace("FILE", &file)
    };
    let class_path = format!(
        "{}:{}/*",
        folder.join("classes").display(),
        folder.join("lib").display()
    );
    let jvm = |words: Vec<String>| {
        let mut command = Command::new("java");
        command
            .args(["-Xmx3g", "-cp", &class_path])
            .args(words)
            .stdin(Stdio::null());
        command
    };
    let mut serving = jvm(service.iter().map(|word| filled(word)).collect());
    let child = serving.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut server = Server(child.context("cannot start java")?);
    let said = server.0.stdout.take().context("the service has no stdout")?;
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    if !lines.any(|line| line.contains("listening")) {
        bail!("the service did not listen");
    }
    let words = [client, &filled(url), "7", "8388608", &FILE_BYTES.to_string(), "4"].map(str::to_owned);
    let mut fetching = jvm(words.to_vec());
    let output = command::capture(&mut fetching)?;
    report.raw(&command::shown(&fetching), &output);
    let last = output.lines().rev().find_map(|line| line.trim().parse().ok());
    last.with_context(|| format!("cannot read {output:?}"))
}

/// Peak memory of service and client over 64 GiB that are nowhere, in MiB.
fn memory_mib(context: &Context, report: &mut Report) -> Result<(f64, f64)> {
    let folder = context.built.join("sparse");
    fs::create_dir_all(&folder)?;
    let sparse = File::create(folder.join("f"))?;
    sparse
        .set_len(64 << 30)
        .context("the file system knows no sparse file of 64 GiB")?;
    let port = PORT_MEMORY.to_string();
    let mut serving = Command::new(&context.binary);
    serving
        .args(["byteio", "serve"])
        .arg(&folder)
        .args(["--port", &port]);
    let child = serving.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut server = Server(child.context("cannot start the service")?);
    let said = server.0.stdout.take().context("the service has no stdout")?;
    BufReader::new(said).read_line(&mut String::new())?;
    let mut fetching = Command::new(&context.binary);
    let words = "--mechanism mtom --threads 7 --block-size 1G --repeats 1 --json";
    fetching
        .args(["byteio", "bench", &format!("http://127.0.0.1:{port}/f")])
        .args(words.split(' '));
    let mut client = Server(fetching.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    let mut peak = 0.0f64;
    let status = loop {
        peak = peak.max(peak_mib(client.0.id()).unwrap_or(0.0));
        if let Some(status) = client.0.try_wait()? {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    let of_server = peak_mib(server.0.id());
    fs::remove_dir_all(&folder)?;
    if !status.success() {
        bail!("the transfer of 64 GiB failed");
    }
    report.raw(
        &command::shown(&fetching),
        &format!("client {peak} MiB, service {of_server:?} MiB"),
    );
    Ok((of_server.context("the service is gone")?, peak))
}

fn peak_mib(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(PathBuf::from(format!("/proc/{pid}/status"))).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let rows = comparisons();
        let names: BTreeSet<_> = rows.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), rows.len());
    }
}
