//! Rank 0 out of reach of a launcher that kills all ranks at once when one dies: it works in a child of the process that
//! was started, in a process group of its own. The launcher kills the process that it knows; the child notices, has the
//! time to write what was measured, and ends. Signals are passed on, the exit code is passed back.

use super::Detected;
use crate::stop::StopFlag;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::Duration;

/// Tells a child who its parent is.
const VARIABLE: &str = "WIRESPEED_SHELTERED_BY";

/// What was measured is written within so long after the launcher has ended the job; then the child ends too.
const GRACE: Duration = Duration::from_secs(3);

/// For rank 0 of a launcher that kills: run this program again as a child, and return its exit code. `None` where there is
/// nothing to shelter from, and in the child: go on.
pub fn sheltered(found: &Detected) -> io::Result<Option<u8>> {
    if found.rank != 0 || !found.kills_at_once {
        return Ok(None);
    }
    match std::env::var(VARIABLE) {
        Ok(parent) => watch(&parent).map(|()| None),
        Err(_) => run_child().map(Some),
    }
}

/// The parent: nothing but a process that the launcher may kill.
fn run_child() -> io::Result<u8> {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    // Before the child is there, a signal simply ends this process.
    let mut child = Command::new(std::env::current_exe()?)
        .arg0(name)
        .args(words)
        .env(VARIABLE, getpid().as_raw_nonzero().to_string())
        .process_group(0)
        .spawn()?;
    let pid = Pid::from_child(&child);
    let stop = StopFlag::new();
    stop.on_signals()?;
    let passed_on = stop.subscribe(move || {
        // It may have ended meanwhile.
        let _ = kill_process(pid, Signal::TERM);
    });
    let status = child.wait()?;
    drop(passed_on);
    let by_signal = || 128 + status.signal().unwrap_or(0);
    Ok(status.code().unwrap_or_else(by_signal) as u8)
}

/// The child: end some time after its parent, whatever happens.
fn watch(parent: &str) -> io::Result<()> {
    let (mut reader, writer) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(libc::SIGUSR2, writer)?;
    set_parent_process_death_signal(Some(Signal::USR2))?;
    let alive = getppid().is_some_and(|pid| pid.as_raw_nonzero().to_string() == parent);
    if !alive {
        return Err(io::Error::other("the launcher has ended this rank already"));
    }
    std::thread::Builder::new()
        .name("shelter".into())
        .spawn(move || {
            if matches!(reader.read(&mut [0u8; 1]), Ok(1)) {
                std::thread::sleep(GRACE);
                // In order, if there is still something to end.
                let _ = kill_process(getpid(), Signal::TERM);
            }
        })
        .map(drop)
}
