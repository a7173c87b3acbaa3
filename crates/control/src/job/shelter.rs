//! Rank 0 out of reach of a launcher that kills all ranks at once when one dies: it works in a child of the process that
//! was started, in a process group of its own. The launcher kills the process that it knows; the child notices, has the
//! time to deliver what was measured, and ends. Signals are passed on, the exit code is passed back.

use super::Detected;
use crate::relay::code_of;
use crate::stop::StopFlag;
use crate::thread::spawn;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Command;
use std::time::Duration;

/// Tells a child who its parent is.
const VARIABLE: &str = "WIRESPEED_SHELTERED_BY";

/// What was measured is written within so long after the launcher has ended the job; then the child ends too.
const GRACE: Duration = Duration::from_secs(3);
/// A rank 0 that crashed is told to its launcher so much later: the others deliver what they have before it kills them.
const AFTER_CRASH: Duration = Duration::from_secs(1);

/// For rank 0 of a launcher that kills: run this program again as a child, and return its exit code. `None` where there is
/// nothing to shelter from, and in the child: go on.
pub fn sheltered(found: &Detected) -> io::Result<Option<u8>> {
    if found.rank != 0 || !found.kills_at_once {
        return Ok(None);
    }
    match std::env::var(VARIABLE) {
        Ok(parent) => outlive(&parent).map(|_| None),
        Err(_) => run_child().map(Some),
    }
}

/// The parent: nothing but a process that the launcher may kill.
fn run_child() -> io::Result<u8> {
    let own = getpid().as_raw_nonzero().to_string();
    // Before the child is there, a signal simply ends this process.
    let mut child = again()?.env(VARIABLE, own).spawn()?;
    let passed_on = pass_signals_on(Pid::from_child(&child))?;
    let status = child.wait()?;
    drop(passed_on);
    if status.signal().is_some() {
        std::thread::sleep(AFTER_CRASH);
    }
    Ok(code_of(status))
}

/// This program with the same words, in a process group of its own.
pub(super) fn again() -> io::Result<Command> {
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    let mut command = Command::new(std::env::current_exe()?);
    command.arg0(called).args(words).process_group(0);
    Ok(command)
}

/// Pass every wish to stop on to process `pid`, until the value is dropped.
pub(super) fn pass_signals_on(pid: Pid) -> io::Result<crate::stop::Subscription> {
    let stop = StopFlag::new();
    stop.on_signals()?;
    Ok(stop.subscribe(move || {
        // It may have ended meanwhile.
        let _ = kill_process(pid, Signal::TERM);
    }))
}

/// In a child: end some time after `parent`, the process that started it, whatever happens.
pub(super) fn outlive(parent: &str) -> io::Result<Pid> {
    let (mut reader, writer) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(libc::SIGUSR2, writer)?;
    set_parent_process_death_signal(Some(Signal::USR2))?;
    let alive = getppid().filter(|pid| pid.as_raw_nonzero().to_string() == parent);
    let alive = alive.ok_or_else(|| io::Error::other("the process that started it has ended already"))?;
    spawn("shelter", move || {
        if matches!(reader.read(&mut [0u8; 1]), Ok(1)) {
            std::thread::sleep(GRACE);
            // In order, if there is still something to end.
            let _ = kill_process(getpid(), Signal::TERM);
        }
    })?;
    Ok(alive)
}
