//! `cargo xtask chaos`: builds the program and the rounds of random trouble (tests/chaos), and starts those in namespaces and
//! control groups of their own. All that runs there ends with it, and the machine's own processes, network, shared memory and
//! groups stay apart.

use crate::command;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Into the groups, before the namespaces are made.
const ENTER: &str =
    r#"IFS=:; for group in $WIRESPEED_CHAOS_GROUPS; do echo $$ >"$group/cgroup.procs"; done; exec "$0" "$@""#;
/// The first process of the namespaces: a network and shared memory, then the rounds. It outlives them, for those whose
/// parents are gone.
const FIRST: &str = r#"ip link set lo up && mount -t tmpfs tmpfs /dev/shm && "$0" "$@"; exit $?"#;
const NAMESPACES: [&str; 5] = ["--mount", "--net", "--pid", "--ipc", "--fork"];
/// Whoever may not make namespaces may do so as a user's own root.
const AS_USER: [&str; 2] = ["--user", "--map-root-user"];
/// Hierarchies of control groups that sessions use.
const HIERARCHIES: [&str; 4] = ["", "cpu", "cpuacct", "memory"];

/// Build, and play the rounds that `words` ask for.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let mut build = Command::new(command::cargo());
    build.current_dir(root).args(["build", "--locked", "--quiet"]);
    build.args(["-p", "wirespeed-cli", "-p", "wirespeed-tests", "--bins"]);
    command::run(&mut build)?;
    let Some(as_user) = way_in() else {
        bail!("chaos needs namespaces of its own: run it as root, or where users may make them");
    };
    let groups = Groups::new();
    let built = root.join("target/debug");
    let mut rounds = command::bound("bash");
    rounds
        .current_dir(root)
        .args(["-c", ENTER, "unshare"])
        .args(as_user);
    rounds
        .args(NAMESPACES)
        .args(["--kill-child=KILL", "--mount-proc", "bash", "-c", FIRST]);
    rounds
        .arg(built.join("wirespeed-chaos"))
        .arg(built.join("wirespeed"));
    rounds.arg(root.join("target/chaos")).args(words);
    rounds.env("WIRESPEED_CHAOS_GROUPS", std::env::join_paths(&groups.0)?);
    command::run(&mut rounds)
}

/// Whether namespaces can be made here.
pub fn is_possible() -> bool {
    way_in().is_some()
}

/// The words by which namespaces can be made here.
fn way_in() -> Option<&'static [&'static str]> {
    let can = |words: &[&str]| {
        let mut attempt = Command::new("unshare");
        attempt.args(words).args(NAMESPACES).arg("true");
        attempt.output().is_ok_and(|output| output.status.success())
    };
    [&[][..], &AS_USER].into_iter().find(|words| can(words))
}

/// Control groups for everything that is started here; gone when dropped. None where none can be made.
struct Groups(Vec<PathBuf>);

impl Groups {
    fn new() -> Groups {
        let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let folders = text.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let wanted = controllers.split(',').find(|name| HIERARCHIES.contains(name))?;
            let unified = Path::new("/sys/fs/cgroup/unified");
            let hierarchy = match wanted {
                "" if unified.is_dir() => unified.to_owned(),
                name => Path::new("/sys/fs/cgroup").join(name),
            };
            let name = format!("chaos-{}", std::process::id());
            Some(hierarchy.join(path.trim_start_matches('/')).join(name))
        });
        Groups(
            folders
                .filter(|folder| std::fs::create_dir(folder).is_ok())
                .collect(),
        )
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for folder in &self.0 {
            for inner in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                // Files of the kernel's cannot be removed, and need not be.
                let _ = std::fs::remove_dir(inner.path());
            }
            // One that still holds a process is told by the rounds.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
