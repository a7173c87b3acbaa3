//! How long a mesh takes to start: from the command until its hosts have met and the first case begins. It must never judge.

use crate::{HOSTS, over_ssh};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::Running;
use wirespeed_tests::slurm::Slurm;
use wirespeed_tests::ssh::SshHosts;

/// Nodes of a job.
const NODES: usize = 16;

const WORDS: &str = "--budget 2 --repeats 1 --ndjson --quiet -- am_lat --via tcp -n 50 --warmup 0";

/// Print a row for ssh and one for srun, each of `runs` starts.
pub fn print(program: &Path, runs: usize) -> Result<(), String> {
    println!("start: median, least and most seconds of {runs} starts until the first case begins");
    let bridge = Bridge::new(HOSTS)?;
    let hosts = SshHosts::on(&bridge)?;
    row(&format!("{HOSTS} hosts over ssh"), runs, || {
        over_ssh(program, (&bridge, &hosts))
    });
    let slurm = Slurm::of(NODES, 4)?;
    slurm.has_mpi("pmi2")?;
    row(&format!("{NODES} nodes over srun"), runs, || {
        let mut command = slurm.command("srun");
        let count = NODES.to_string();
        command.args(["--mpi=pmi2", "-N", &count, "-n", &count]);
        command.arg(program).arg("mesh");
        command
    });
    Ok(())
}

fn row(name: &str, runs: usize, command: impl Fn() -> Command) {
    let start = |_| {
        let mut command = command();
        command.args(WORDS.split_whitespace());
        let began = Instant::now();
        let running = Running::start(command);
        running.wait_until("a case begins", PATIENCE, |running| {
            running.stdout().contains("\"event\":\"case_started\"")
        });
        let seconds = began.elapsed().as_secs_f64();
        running.end(PATIENCE);
        seconds
    };
    let mut seconds: Vec<f64> = (0..runs).map(start).collect();
    seconds.sort_by(f64::total_cmp);
    if let [least, .., most] = seconds[..] {
        println!("{name}: {:.2}, {least:.2}, {most:.2}", seconds[runs / 2]);
    }
}
