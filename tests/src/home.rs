//! A user of a test's own: a home folder, a key file, and a mark on every process that is started from there, so that
//! those that stay behind can be found. Nothing of the real user is read or written.

use crate::deadline::{self, PATIENCE};
use crate::running::{Ended, Running};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const MARK: &str = "WIRESPEED_TEST_MARK";
static NEXT: AtomicU32 = AtomicU32::new(1);

/// A user with nothing but a home.
pub struct Home {
    folder: TempDir,
    program: PathBuf,
    mark: String,
}

impl Home {
    /// A fresh one, that runs `program`.
    ///
    /// # Panics
    /// Where there is no room for a folder.
    pub fn new(program: impl AsRef<Path>) -> Home {
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder for temporary files");
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Home {
            folder,
            program: program.as_ref().to_owned(),
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    /// A file in the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Write a file into the home; its path as text, for a command line.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file in the home");
        path.display().to_string()
    }

    /// The program with these arguments, not yet started.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        self.adopt(&mut command);
        command
    }

    /// Any command, as this user.
    pub fn adopt(&self, command: &mut Command) {
        for name in [
            "WIRESPEED_IDENTITY",
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "XDG_CONFIG_HOME",
            "WIRESPEED_SITE",
            "DWA_CONFIG_SERVICE",
            "STUDIO",
        ] {
            command.env_remove(name);
        }
        command
            .env("HOME", self.folder.path())
            .env("WIRESPEED_KEY_FILE", self.path("key"))
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_RUNTIME_DIR", self.path("tmp"))
            .env("LC_ALL", "C.UTF-8")
            .env(MARK, &self.mark)
            .current_dir(self.folder.path());
    }

    /// The program under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Start the program.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        Running::start(self.command(arguments))
    }

    /// Run the program to its end; words are split at blanks.
    pub fn run(&self, line: &str) -> Ended {
        self.start(line.split_whitespace()).end(PATIENCE)
    }

    /// Every live process that was started from here: its number and its command line.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("{MARK}={}", self.mark);
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pids = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let ours = pids.filter_map(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let marked = environment.split(|b| *b == 0).any(|v| v == mark.as_bytes());
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            marked.then(|| (pid, String::from_utf8_lossy(&words).replace('\0', " ")))
        });
        ours.collect()
    }

    /// The ranks that `parent` started.
    pub fn ranks_of(&self, parent: u32) -> Vec<u32> {
        let mut ranks: Vec<u32> = self
            .processes()
            .into_iter()
            .filter(|(pid, words)| words.contains("__rank") && parent_of(*pid) == Some(parent))
            .map(|(pid, _)| pid)
            .collect();
        ranks.sort_unstable();
        ranks
    }

    /// Nothing is left: no process no temporary file, nothing of ours in /dev/shm: they get `patience` to go.
    ///
    /// # Panics
    /// Where something is.
    pub fn assert_nothing_left(&self, patience: Duration) {
        deadline::reached(patience, || self.processes().is_empty());
        assert_eq!(self.processes(), Vec::new(), "processes stayed behind");
        for folder in [self.path("tmp"), PathBuf::from("/dev/shm")] {
            let ours = || {
                let names = std::fs::read_dir(&folder).map(|entries| {
                    let names = entries
                        .flatten()
                        .map(|e| e.file_name().to_string_lossy().into_owned());
                    let ours =
                        |name: &String| folder.starts_with(self.folder.path()) || name.contains("wirespeed");
                    names.filter(ours).collect::<Vec<_>>()
                });
                names.unwrap_or_default()
            };
            // What another test has there goes away; what was left behind does not.
            deadline::reached(patience, || ours().is_empty());
            assert_eq!(ours(), Vec::<String>::new(), "left in {folder:?}");
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            kill(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Let a process crash. The handler that Rust installs takes the first signal for a fault, which does not come again.
pub fn crash(pid: u32) {
    for _ in 0..2 {
        kill(pid, rustix::process::Signal::SEGV);
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Send a signal to a process that may have ended.
pub fn kill(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Whether programs that a test starts hear `signal`: one that the tests were started to ignore, as `nohup` does, they ignore too,
/// and what is left out is said.
pub fn is_heard(signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let is_heard = mask.is_none_or(|mask| mask >> (signal.as_raw() - 1) & 1 == 0);
    if !is_heard {
        let name = format!("{signal:?}").replace('"', "");
        crate::skip(&format!("{name}: the tests were started to ignore it"));
    }
    is_heard
}

/// The most memory that a process has had so far, in bytes.
pub fn peak_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The parent of a process.
pub fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name that may hold blanks and brackets.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
