//! `cargo xtask chaos`: builds the program and the rounds of random trouble (tests/chaos), and starts those in namespaces of
//! their own. All that runs there ends with it, and the machine's own processes, network and shared memory stay apart.

use crate::command;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// The first process of the namespaces: a network and shared memory, then the rounds. It outlives them, for those whose
/// parents are gone.
const FIRST: &str = r#"ip link set lo up && mount -t tmpfs tmpfs /dev/shm && "$0" "$@"; exit $?"#;

/// Build, and play the rounds that `words` ask for.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let mut build = Command::new(command::cargo());
    build.current_dir(root).args(["build", "--locked", "--quiet"]);
    build.args(["-p", "wirespeed-cli", "-p", "wirespeed-tests", "--bins"]);
    command::run(&mut build)?;
    let mut namespaces = command::bound("unshare");
    namespaces.args([
        "--mount",
        "--net",
        "--pid",
        "--ipc",
        "--fork",
        "--kill-child=KILL",
        "--mount-proc",
    ]);
    let user = ["--user", "--map-root-user"];
    if !can(&[]) {
        if !can(&user) {
            bail!("chaos needs namespaces of its own: run it as root, or where users may make them");
        }
        namespaces.args(user);
    }
    let built = root.join("target/debug");
    namespaces.args(["bash", "-c", FIRST]);
    namespaces
        .arg(built.join("wirespeed-chaos"))
        .arg(built.join("wirespeed"));
    namespaces.arg(root.join("target/chaos")).args(words);
    command::run(namespaces.current_dir(root))
}

/// Whether namespaces can be made, with these words besides.
fn can(words: &[&str]) -> bool {
    let mut try_it = Command::new("unshare");
    try_it
        .args(words)
        .args(["--mount", "--net", "--pid", "--ipc", "--fork", "true"]);
    try_it.output().is_ok_and(|output| output.status.success())
}
