//! With what is measured: the machine and the programs. Figures of different ones are never put together.

use super::before;
use super::state::Identity;
use crate::command;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Programs of others and the Debian packages whose versions tell which they are.
const PACKAGES: [(&str, &str); 8] = [
    ("ucx_perftest", "ucx-utils"),
    ("iperf3", "iperf3"),
    ("sockperf", "sockperf"),
    ("numactl", "numactl"),
    ("curl", "curl"),
    ("Open MPI", "openmpi-bin"),
    ("MPICH", "mpich"),
    ("Slurm", "slurm-wlm"),
];

/// Machine and programs, each with what tells it from another; an earlier build of ours where a row needs it.
pub fn identity(root: &Path, binary: &Path, cores: [u32; 2], needs: &BTreeSet<&str>) -> Identity {
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let own = [
        (
            "CPU",
            model.unwrap_or_default().trim_start_matches(['\t', ' ', ':']),
        ),
        ("CPUs", &format!("{} and {}", cores[0], cores[1])),
        ("kernel", &read("/proc/sys/kernel/osrelease")),
        (
            "congestion control of the kernel",
            &read("/proc/sys/net/ipv4/tcp_congestion_control"),
        ),
        ("wirespeed", &program(root, binary)),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let others = PACKAGES.map(|(name, package)| {
        let version = said(root, &["dpkg-query", "-W", "-f=${Version}", package]);
        (name.to_owned(), version)
    });
    let before = needs.contains(before::BEFORE).then(|| {
        let earlier = program(root, &root.join(before::BEFORE));
        ("wirespeed before".to_owned(), earlier)
    });
    own.into_iter().chain(before).chain(others).collect()
}

/// The load average of now.
pub fn load() -> String {
    read("/proc/loadavg")
}

/// Today, in UTC.
pub fn today() -> String {
    said(Path::new("."), &["date", "-u", "+%Y-%m-%d"])
}

/// Our program's version, and which build of it; nothing where it is not here.
fn program(root: &Path, binary: &Path) -> String {
    if !binary.is_file() {
        return String::new();
    }
    let binary = binary.to_string_lossy();
    let digest = said(root, &["sha256sum", &binary]);
    let version = said(root, &[&binary, "--version"]);
    format!("{version}, sha256 {:.12}", digest)
}

/// The first line that a command prints; nothing where it cannot run.
fn said(folder: &Path, words: &[&str]) -> String {
    let output = command::capture(Command::new(words[0]).args(&words[1..]).current_dir(folder));
    let output = output.unwrap_or_default();
    output.lines().next().unwrap_or_default().trim().to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
