//! A Slurm of the benchmark's own for rows that begin with `srun`: the one of the tests (tests/lab/slurm.sh), in namespaces that
//! end with us. It must never meet a Slurm of the machine's.

use crate::command;
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROGRAMS: [&str; 5] = ["srun", "sinfo", "slurmctld", "slurmd", "munged"];
/// How often it is asked whether it is ready, and how long between.
const LOOKS: usize = 300;
const BETWEEN: Duration = Duration::from_millis(100);

/// A running Slurm; all of it ends when this is dropped.
pub struct Slurm {
    folder: PathBuf,
    first: Child,
}

/// Why there can be none here; `None` when there can.
pub fn missing() -> Option<String> {
    let absent = PROGRAMS.iter().find(|name| command::find(name).is_none());
    let user = command::capture(Command::new("id").arg("-u")).unwrap_or_default();
    match absent {
        Some(name) => Some(format!("{name} is not installed")),
        None => (user.trim() != "0").then(|| "a Slurm of its own needs root".to_owned()),
    }
}

impl Slurm {
    /// Start it with its files below `built`, and wait until its nodes are idle.
    pub fn start(root: &Path, built: &Path) -> Result<Slurm> {
        let folder = built.join("slurm");
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot remove the files of an earlier Slurm")?;
        }
        fs::create_dir_all(&folder).context("cannot make a folder for Slurm")?;
        let said = File::create(folder.join("daemons.txt"))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid"]);
        command.args(["--fork", "--kill-child=KILL", "--mount-proc"]);
        command.arg(root.join("tests/lab/slurm.sh")).arg(&folder);
        command.env_remove("SLURM_CONF").stdin(Stdio::null());
        command.stdout(said.try_clone()?).stderr(said);
        let first = command.spawn().context("cannot start Slurm")?;
        let mut slurm = Slurm { folder, first };
        for _ in 0..LOOKS {
            if slurm.is_idle() {
                return Ok(slurm);
            }
            if let Some(status) = slurm.first.try_wait()? {
                bail!("Slurm ended with {status}: {}", slurm.last_words());
            }
            std::thread::sleep(BETWEEN);
        }
        bail!("Slurm's nodes are not idle: {}", slurm.last_words())
    }

    /// The last line that a daemon printed.
    fn last_words(&self) -> String {
        let text = fs::read_to_string(self.folder.join("daemons.txt")).unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }

    fn is_idle(&self) -> bool {
        let mut sinfo = Command::new("nsenter");
        sinfo.args(self.way_in());
        sinfo.args(["sinfo", "--noheader", "--Node", "--format=%t"]);
        self.configure(&mut sinfo);
        let states = command::capture(&mut sinfo).unwrap_or_default();
        !states.is_empty() && states.lines().all(|state| state == "idle")
    }

    /// Words for `nsenter` by which a program comes into its namespaces, in the caller's folder.
    pub fn way_in(&self) -> Vec<String> {
        let namespaces = PathBuf::from(format!("/proc/{}/ns", self.first.id()));
        let kinds = [("net", "net"), ("mount", "mnt"), ("pid", "pid_for_children")];
        let entered = kinds.map(|(kind, file)| format!("--{kind}={}", namespaces.join(file).display()));
        entered
            .into_iter()
            .chain(["--wd=.".into(), "--".into()])
            .collect()
    }

    /// Lead a program of Slurm's to this one.
    pub fn configure(&self, command: &mut Command) {
        command.env("SLURM_CONF", self.folder.join("slurm.conf"));
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Its namespace of processes goes with it, and every process in there. It may be gone already.
        let _ = self.first.kill();
        let _ = self.first.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
