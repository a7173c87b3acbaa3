//! A Slurm of some nodes on this machine: real daemons in namespaces of their own, so that no port is taken, nobody
//! outside meets them, and everything ends with the test, jobs included.

use crate::deadline::{Deadline, PATIENCE};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const PROGRAMS: [&str; 6] = ["slurmctld", "slurmd", "munged", "srun", "sbatch", "sinfo"];

/// A running Slurm with the nodes n1, n2, ..; all of it goes when this is dropped.
pub struct Slurm {
    nodes: usize,
    folder: TempDir,
    init: Child,
}

impl Slurm {
    /// Start one of two nodes and wait until both are idle; an error is the reason for which a test is to be skipped.
    pub fn start() -> Result<Slurm, String> {
        Slurm::of(2, 0)
    }

    /// As [`Slurm::start`], with so many nodes, and so many of them on each switch; 0 for a network that Slurm does not know.
    pub fn of(nodes: usize, on_a_switch: usize) -> Result<Slurm, String> {
        let root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
        if !root {
            return Err("a Slurm of its own needs root".to_owned());
        }
        if let Some(missing) = PROGRAMS.iter().find(|name| !is_installed(name)) {
            return Err(format!("{missing} is not installed"));
        }
        let folder = tempfile::tempdir().map_err(|e| format!("no folder for Slurm: {e}"))?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/slurm.sh");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid"]);
        command
            .args(["--fork", "--kill-child=KILL", "--mount-proc"])
            .arg(script)
            .arg(folder.path())
            .args([nodes, on_a_switch].map(|count| count.to_string()));
        command.env_remove("SLURM_CONF").stdin(Stdio::null());
        let said = folder.path().join("daemons.txt");
        let log = std::fs::File::create(&said).and_then(|log| Ok((log.try_clone()?, log)));
        let (stdout, stderr) = log.map_err(|e| format!("no folder for Slurm: {e}"))?;
        command.stdout(stdout).stderr(stderr);
        let init = command.spawn().map_err(|e| format!("cannot start Slurm: {e}"))?;
        let mut slurm = Slurm { nodes, folder, init };
        slurm
            .settle()
            .map_err(|why| format!("{why}: {}", last_words(&said)))?;
        Ok(slurm)
    }

    fn settle(&mut self) -> Result<(), String> {
        let mut deadline = Deadline::within(PATIENCE);
        while deadline.look() {
            if let Ok(Some(status)) = self.init.try_wait() {
                return Err(format!("Slurm ended with {status}"));
            }
            let states = self
                .command("sinfo")
                .args(["--noheader", "--Node", "--format=%t"])
                .output();
            let states = states.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            let idle = |states: String| states.lines().filter(|state| *state == "idle").count();
            if states.is_ok_and(|states| idle(states) == self.nodes) {
                return Ok(());
            }
        }
        Err(format!("not all nodes of Slurm are idle after {PATIENCE:?}"))
    }

    /// A program in the cluster's namespaces: `srun`, `sbatch`. It runs in the caller's folder.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let namespaces = PathBuf::from(format!("/proc/{}/ns", self.init.id()));
        let mut command = Command::new("nsenter");
        for (kind, file) in [("net", "net"), ("mount", "mnt"), ("pid", "pid_for_children")] {
            command.arg(format!("--{kind}={}", namespaces.join(file).display()));
        }
        // Opened before any namespace is entered: the folder that the command is started in.
        command.arg("--wd=.");
        command.arg("--").arg(program);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
    }

    /// Whether jobs of this plugin of srun's can run MPI here; the reason when not.
    pub fn has_mpi(&self, plugin: &str) -> Result<(), String> {
        let listed = self.command("srun").arg("--mpi=list").output();
        let listed = listed
            .map(|output| [output.stdout, output.stderr].concat())
            .unwrap_or_default();
        if !String::from_utf8_lossy(&listed).contains(plugin) {
            return Err(format!("srun has no plugin {plugin}"));
        }
        let library = if plugin == "pmix" {
            "libmpi.so.40"
        } else {
            "libmpich.so.12"
        };
        let known = Command::new("/sbin/ldconfig").arg("-p").output();
        let known = known.map(|output| output.stdout).unwrap_or_default();
        match String::from_utf8_lossy(&known).contains(library) {
            true => Ok(()),
            false => Err(format!("{library} is not installed")),
        }
    }

    /// Where its daemons live, and where a test may put files of its own.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Its namespace of processes goes with it, and every process in there.
        let _ = self.init.kill();
        let _ = self.init.wait();
    }
}

fn last_words(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().rev().take(3).collect::<Vec<_>>().join(" / ")
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.into_iter().any(|folder| folder.join(program).is_file())
}
