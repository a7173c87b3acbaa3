//! What client and service hold at their peak, whatever the file's and the block's size.

use super::super::launch::{Context, Server};
use super::super::report::Report;
use super::super::side::Side;
use super::super::table::{Comparison, at_most};
use super::Bulk;
use crate::command;
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

const PORT: u16 = 7461;
/// What a process may hold, whatever it moves.
const MEMORY_MIB_MAX: f64 = 64.0;

/// Bounds on memory.
pub const ROWS: [Comparison; 2] = [
    at_most(
        "memory of the service, 64 GiB sparse, blocks of 1 GiB, mtom",
        "MiB",
        Side::Bulk(Bulk::MemoryOfService),
        MEMORY_MIB_MAX,
    ),
    at_most(
        "memory of the client, the same",
        "MiB",
        Side::Bulk(Bulk::MemoryOfClient),
        MEMORY_MIB_MAX,
    ),
];

/// Peak memory of service and client over 64 GiB that are nowhere, in MiB; one transfer for both.
pub fn peaks_mib(context: &Context, report: &mut Report) -> Result<(f64, f64)> {
    const KEY: &str = "peaks of 64 GiB";
    let known = context.launched.borrow().get(KEY).cloned();
    let peaks = match known {
        Some(known) => known,
        None => {
            let (of_service, of_client) = transfer(context, report)?;
            let peaks = format!("{of_service} {of_client}");
            context
                .launched
                .borrow_mut()
                .insert(KEY.to_owned(), peaks.clone());
            peaks
        }
    };
    let mut numbers = peaks.split(' ').filter_map(|word| word.parse().ok());
    numbers.next().zip(numbers.next()).context("no peaks")
}

fn transfer(context: &Context, report: &mut Report) -> Result<(f64, f64)> {
    let folder = context.built.join("sparse");
    fs::create_dir_all(&folder)?;
    let sparse = File::create(folder.join("f"))?;
    sparse
        .set_len(64 << 30)
        .context("the file system knows no sparse file of 64 GiB")?;
    let port = PORT.to_string();
    let mut serving = command::bound(&context.binary);
    serving
        .args(["byteio", "serve"])
        .arg(&folder)
        .args(["--port", &port]);
    let mut server = Server::start(serving.stdout(Stdio::piped()))?;
    let said = server.0.stdout.take().context("the service has no stdout")?;
    BufReader::new(said).read_line(&mut String::new())?;
    let mut fetching = command::bound(&context.binary);
    let words = "--mechanism mtom --threads 7 --block-size 1G --repeats 1 --json";
    fetching
        .args(["byteio", "bench", &format!("http://127.0.0.1:{port}/f")])
        .args(words.split(' '));
    let mut client = Server::start(fetching.stdout(Stdio::null()))?;
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
