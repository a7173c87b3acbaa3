//! How programs are started: pinned, with a limit of time, servers ended with us. Every command line and output goes into
//! the archive.

use super::report::Report;
use super::slurm::Slurm;
use crate::command;
use anyhow::{Context as _, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What every command needs to know.
pub struct Context {
    /// Our program.
    pub binary: PathBuf,
    /// An earlier build of it, where there is one.
    pub before: PathBuf,
    /// Where programs of our own in C are, once built.
    pub built: PathBuf,
    /// The two CPUs in use.
    pub cores: [u32; 2],
    /// Where `srun` leads, if rows need it.
    pub slurm: Option<Slurm>,
    /// What launches under MPI printed in this pair: rows that ask for the mean and the median of one launch share it.
    pub launched: RefCell<HashMap<String, String>>,
}

/// Which build of our program.
#[derive(Clone, Copy)]
pub enum Build {
    /// The one that is measured.
    Now,
    /// The earlier one.
    Before,
}

impl Context {
    /// Our program of that build.
    pub fn program(&self, build: Build) -> &Path {
        match build {
            Build::Now => &self.binary,
            Build::Before => &self.before,
        }
    }

    /// What `command` prints, run once a pair.
    pub fn launch(&self, mut command: Command) -> Result<(String, String)> {
        let shown = command::shown(&command);
        if let Some(output) = self.launched.borrow().get(&shown) {
            return Ok((shown, output.clone()));
        }
        let output = command::capture(&mut command)?;
        self.launched.borrow_mut().insert(shown.clone(), output.clone());
        Ok((shown, output))
    }
}

/// Ends a server that did not end by itself.
pub struct Server(pub Child);

impl Server {
    /// Start it; nobody types into it.
    pub fn start(command: &mut Command) -> Result<Server> {
        let child = command.stdin(Stdio::null()).spawn();
        child
            .map(Server)
            .with_context(|| format!("cannot start {}", command::shown(command)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Run `program` on the first core.
pub fn alone(context: &Context, report: &mut Report, program: &str, arguments: &[&str]) -> Result<String> {
    let mut command = command::bound("timeout");
    let core = context.cores[0].to_string();
    command
        .args(["--kill-after=5", "60", "taskset", "-c", &core, program])
        .args(arguments);
    let output = command::capture(&mut command)?;
    report.raw(&command::shown(&command), &output);
    Ok(output)
}

/// Start `program` as server on the first core, wait until it listens, run the client on the second. What the client
/// printed, and how long it took.
pub fn pair(
    context: &Context,
    report: &mut Report,
    program: &str,
    server: &[&str],
    client: &[&str],
) -> Result<(String, Duration)> {
    let [first, second] = context.cores.map(|core| core.to_string());
    let mut listening = command::bound("taskset");
    listening
        .args(["-c", &first, program])
        .args(server)
        .stdout(Stdio::null());
    let _server = Server::start(listening.stderr(Stdio::null()))?;
    std::thread::sleep(Duration::from_millis(400));
    let mut command = command::bound("timeout");
    command
        .args(["--kill-after=5", "60", "taskset", "-c", &second, program])
        .args(client);
    let begin = Instant::now();
    let output = command::capture(&mut command)?;
    let time = begin.elapsed();
    report.raw(
        &format!("{} &\n$ {}", command::shown(&listening), command::shown(&command)),
        &output,
    );
    Ok((output, time))
}
