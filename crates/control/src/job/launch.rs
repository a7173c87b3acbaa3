//! A job that wirespeed starts by itself: the launcher as a child process, whose ranks come back through the door.

use super::admit::{Arrived, Door};
use super::visit::INVITATION_VARIABLE;
use crate::error::ControlError;
use crate::launch::local::RankProgram;
use crate::session::Timing;
use crate::stop::StopFlag;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines of the launcher that are kept for an explanation.
const LINES_KEPT: usize = 40;

/// How long a launcher may take to end after its ranks have gone, before it is killed.
const END_TIME: Duration = Duration::from_secs(3);

/// How to call a launcher: the program that becomes a rank is added behind the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchCommand {
    /// The launcher.
    pub launcher: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment beside the inherited one.
    pub environment: Vec<(OsString, OsString)>,
}

/// A launcher that runs.
pub(crate) struct LauncherProcess {
    child: Child,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl LauncherProcess {
    /// Start `command` with ranks of `program`, and wait until ranks 0 .. `count` have come in.
    pub(crate) fn start(
        command: &LaunchCommand,
        program: &RankProgram,
        count: u32,
        mut timing: Timing,
        stop: &StopFlag,
    ) -> Result<(Self, Vec<Arrived>), ControlError> {
        let door = Door::open(false)?;
        let launch_error = |source| ControlError::Launch {
            program: command.launcher.display().to_string(),
            source,
        };
        let mut child = Command::new(&command.launcher)
            .args(&command.arguments)
            .arg(&program.path)
            .args(&program.arguments)
            .envs(program.environment.iter().map(|(k, v)| (k, v)))
            .envs(command.environment.iter().map(|(k, v)| (k, v)))
            .env(INVITATION_VARIABLE, door.invitation())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Of its own, so that the terminal's Ctrl-C reaches the coordinator alone.
            .process_group(0)
            .spawn()
            .map_err(launch_error)?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stdout) = child.stdout.take() {
            keep_lines(stdout, said.clone()).map_err(launch_error)?;
        }
        if let Some(stderr) = child.stderr.take() {
            keep_lines(stderr, said.clone()).map_err(launch_error)?;
        }
        let mut process = LauncherProcess { child, said };
        // A launcher and a library take longer to come up than a process of our own.
        timing.start = timing.start.max(Duration::from_secs(20));
        let ranks: Vec<u32> = (0..count).collect();
        let arrived = door.admit(&ranks, timing, stop, || process.check(&command.launcher))?;
        Ok((process, arrived))
    }

    /// An error once it has ended.
    fn check(&mut self, launcher: &std::path::Path) -> Result<(), ControlError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                // Its last words may still be on their way.
                std::thread::sleep(Duration::from_millis(50));
                let why = self
                    .explanation()
                    .unwrap_or_else(|| format!("it ended with {status}"));
                Err(ControlError::lost(launcher.display().to_string(), why))
            }
            Err(error) => Err(ControlError::lost(launcher.display().to_string(), error)),
        }
    }

    /// The line of its output that explains most.
    fn explanation(&self) -> Option<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let telling = |line: &&String| {
            let line = line.to_lowercase();
            ["error", "cannot", "not ", "fail"]
                .iter()
                .any(|word| line.contains(word))
        };
        said.iter().find(telling).or_else(|| said.back()).cloned()
    }
}

impl Drop for LauncherProcess {
    fn drop(&mut self) {
        let deadline = Instant::now() + END_TIME;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let group = rustix::process::Pid::from_child(&self.child);
        // Its ranks are in its process group; one that is gone already is no error.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Read `stream` to its end in a thread, keeping the first lines: a launcher explains itself before it complains.
fn keep_lines(stream: impl Read + Send + 'static, said: Arc<Mutex<VecDeque<String>>>) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name("launcher".into())
        .spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let line = crate::session::clean(line.trim());
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                if said.len() < LINES_KEPT && line.chars().any(char::is_alphanumeric) {
                    said.push_back(line);
                }
            }
        })
        .map(drop)
}
