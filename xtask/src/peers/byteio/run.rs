//! One run of a side: `wirespeed byteio peers` with every row of a path, or a SOAP stack in Java at both ends.

use super::super::documents::condensed;
use super::super::launch::{Context, Server};
use super::super::report::Report;
use super::{FILE, FILE_BYTES, Network, Stack};
use crate::command;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsRawFd as _;
use std::process::Stdio;

const PORT: u16 = 7460;
/// Longest time of one launch, as `timeout` takes it.
const LAUNCH_LIMIT: &str = "900";

/// What `name` moves on a path, in bytes a second.
pub fn mover(context: &Context, report: &mut Report, network: &Network, name: &str) -> Result<f64> {
    let mut command = command::bound("timeout");
    command
        .args(["--kill-after=5", LAUNCH_LIMIT])
        .arg(&context.binary);
    if !network.lab.is_empty() {
        command
            .arg("lab")
            .args(network.lab.split(' '))
            .arg("--")
            .arg(&context.binary);
    }
    command.args(["byteio", "peers"]).arg(context.built.join(FILE));
    command
        .args(network.words.split(' '))
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

/// A file in memory that is gone with us, however we go: only its number leads to it.
fn nameless() -> Result<(File, String)> {
    let file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile());
    let file = file.context("cannot make a file to write to")?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, path))
}

/// Both ends on one stack; the client prints bytes a second of its best run.
pub fn java(context: &Context, report: &mut Report, stack: &Stack, writes: bool) -> Result<f64> {
    let folder = context.built.with_file_name("interop").join(stack.name);
    let (_written, file) = match writes {
        true => nameless().map(|(file, path)| (Some(file), path))?,
        false => (None, context.built.join(FILE).display().to_string()),
    };
    let filled = |word: &&str| word.replace("PORT", &PORT.to_string()).replace("FILE", &file);
    let class_path = format!(
        "{}:{}/*",
        folder.join("classes").display(),
        folder.join("lib").display()
    );
    // Axis keeps what it received in files that it leaves behind.
    let left = tempfile::tempdir()?;
    let temporary = format!("-Djava.io.tmpdir={}", left.path().display());
    let jvm = || {
        let mut command = command::bound("java");
        command.args(["-Xmx3g", &temporary, "-cp", &class_path]);
        command
    };
    let mut serving = jvm();
    serving.args(stack.service.iter().map(filled));
    let mut server = Server::start(serving.stdout(Stdio::piped()).stderr(Stdio::null()))?;
    let said = server.0.stdout.take().context("the service has no stdout")?;
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    if !lines.any(|line| line.contains("listening")) {
        bail!("the service did not listen");
    }
    let mut client = jvm();
    client
        .args([stack.client, &filled(&stack.url), "7", "8388608"])
        .args([&FILE_BYTES.to_string(), "4"])
        .args(writes.then_some("write"));
    let output = command::capture(&mut client)?;
    report.raw(&command::shown(&client), &output);
    let last = output.lines().rev().find_map(|line| line.trim().parse().ok());
    last.with_context(|| format!("cannot read {output:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_name_can_be_written_by_its_path() {
        let (file, path) = nameless().unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut other| std::io::Write::write_all(&mut other, b"some"))
            .unwrap();
        assert_eq!(file.metadata().unwrap().len(), 4);
    }
}
