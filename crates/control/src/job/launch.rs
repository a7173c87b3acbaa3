//! A job that wirespeed starts by itself: the launcher as a child process, whose ranks come back through the door.

use super::admit::{Arrived, Door};
use crate::error::ControlError;
use crate::launch::child::LauncherChild;
use crate::launch::program::RankProgram;
use crate::session::Timing;
use crate::stop::StopFlag;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Environment variable by which a job that wirespeed started learns where to report. A secret.
pub const INVITATION_VARIABLE: &str = "WIRESPEED_JOB_INVITATION";

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
    /// Dropped, it is ended.
    _child: LauncherChild,
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
        let mut words = Command::new(&command.launcher);
        words
            .args(&command.arguments)
            .arg(&program.path)
            .args(&program.arguments)
            .envs(program.environment.iter().map(|(k, v)| (k, v)))
            .envs(command.environment.iter().map(|(k, v)| (k, v)))
            .env(INVITATION_VARIABLE, door.invitation())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = LauncherChild::start(words)?;
        if let Some(stdout) = child.child().stdout.take() {
            let kept = child.keep(stdout);
            kept.map_err(|source| ControlError::Launch {
                program: command.launcher.display().to_string(),
                source,
            })?;
        }
        // A launcher and a library take longer to come up than a process of our own.
        timing.start = timing.start.max(Duration::from_secs(20));
        let ranks: Vec<u32> = (0..count).collect();
        let arrived = door.admit(&ranks, timing, stop, || child.check())?;
        Ok((LauncherProcess { _child: child }, arrived))
    }
}
