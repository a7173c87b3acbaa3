//! Signals that ask a program to end, passed on to the command that it runs for its user. It must never signal a process
//! that has been waited for: its number may be another's by then.

use crate::stop::ignored;
use crate::thread::spawn;
use parking_lot::Mutex;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, kill_process_group, waitid,
};
use rustix::termios::tcgetpgrp;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

/// `si_code` of a signal that the kernel has sent, as it does for a terminal: to all of a group.
const SI_KERNEL: i32 = 0x80;

/// Time in which a signal that came is heard.
const HEARD: Duration = Duration::from_millis(100);

/// Whom a signal goes to.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// Nobody yet.
    Nobody,
    One(Pid),
    /// A process and all of its group.
    Group(Pid),
}

#[derive(Debug)]
struct State {
    target: Target,
    /// The first signal that came.
    asked: Option<Signal>,
}

/// Hears the signals of this process.
#[derive(Debug, Clone)]
pub struct Relay {
    state: Arc<Mutex<State>>,
    /// The command stays in our group, to which a terminal belongs.
    shares_terminal: bool,
}

impl Relay {
    /// Hear SIGINT, SIGQUIT, SIGTERM and SIGHUP from here on, but those that this process was started to ignore: the command
    /// ignores them too. Call it once.
    pub fn on_signals() -> io::Result<Relay> {
        let relay = Relay::of(has_terminal());
        let signals = [Signal::INT, Signal::QUIT, Signal::TERM, Signal::HUP].map(Signal::as_raw);
        let signals = signals.into_iter().filter(|signal| !ignored(*signal));
        let mut signals = SignalsInfo::<WithRawSiginfo>::new(signals)?;
        let hearing = relay.clone();
        spawn("signals", move || {
            for info in signals.forever() {
                if let Some(signal) = Signal::from_named_raw(info.si_signo) {
                    hearing.hear(signal, info.si_code == SI_KERNEL);
                }
            }
        })?;
        Ok(relay)
    }

    fn of(shares_terminal: bool) -> Relay {
        let state = State {
            target: Target::Nobody,
            asked: None,
        };
        Relay {
            state: Arc::new(Mutex::new(state)),
            shares_terminal,
        }
    }

    /// The first signal that came, if any did.
    pub fn asked(&self) -> Option<Signal> {
        self.state.lock().asked
    }

    /// The same, once it would be known: what a terminal tells a tool of ours at the same time may end that sooner.
    pub fn asked_by_now(&self) -> Option<Signal> {
        self.asked().or_else(|| {
            std::thread::sleep(HEARD);
            self.asked()
        })
    }

    /// What a terminal says it has said to the command as well; what a process says may be said to us alone.
    fn hear(&self, signal: Signal, is_from_kernel: bool) {
        let mut state = self.state.lock();
        state.asked.get_or_insert(signal);
        let is_told = is_from_kernel && self.shares_terminal;
        send(state.target, Some(signal).filter(|_| !is_told));
    }

    /// Have `start` start `command` and wait for its end; nothing where a signal came before. It hears every signal meanwhile,
    /// with all of its group, which is one of its own unless it shares our terminal.
    pub fn run(
        &self,
        mut command: Command,
        start: impl FnOnce(Command) -> io::Result<Child>,
    ) -> io::Result<Option<ExitStatus>> {
        if !self.shares_terminal {
            command.process_group(0);
        }
        if self.asked().is_some() {
            return Ok(None);
        }
        let mut child = start(command)?;
        let pid = Pid::from_child(&child);
        let mut state = self.state.lock();
        state.target = match self.shares_terminal {
            true => Target::One(pid),
            false => Target::Group(pid),
        };
        // A terminal may have told it as well. Then it is gone: it was not yet far enough to do anything else.
        if let Some(signal) = state.asked {
            send(state.target, Some(signal));
        }
        drop(state);
        // It keeps its number until it is reaped.
        let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waited = crate::uninterrupted(|| waitid(WaitId::Pid(pid), end).map_err(io::Error::from));
        // Nobody signals it from here on, whether it has ended or is none of ours any more.
        self.state.lock().target = Target::Nobody;
        waited?;
        child.wait().map(Some)
    }
}

/// Whether this process is in front of a terminal, wherever its streams go: a group of its own would have to stop when it reads
/// there.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(terminal).is_ok_and(|front| front == getpgrp()))
}

/// It may have ended meanwhile.
fn send(target: Target, signal: Option<Signal>) {
    // One that is stopped hears nothing until it goes on, whoever tells it.
    for signal in signal.into_iter().chain([Signal::CONT]) {
        let _ = match target {
            Target::Nobody => Ok(()),
            Target::One(pid) => kill_process(pid, signal),
            Target::Group(pid) => kill_process_group(pid, signal),
        };
    }
}

/// The exit code that says how a child ended, as a shell gives it.
pub fn code_of(status: ExitStatus) -> u8 {
    let by_signal = || 128 + status.signal().unwrap_or(0);
    status.code().unwrap_or_else(by_signal) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its number may be another's.
    #[test]
    fn a_command_that_somebody_else_has_waited_for_is_an_error_and_hears_nothing() {
        let relay = Relay::of(false);
        let ended = relay.run(Command::new("true"), |mut command| {
            let child = command.spawn()?;
            waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED)?;
            Ok(child)
        });
        assert!(ended.is_err());
        assert!(matches!(relay.state.lock().target, Target::Nobody));
    }

    #[test]
    fn after_a_signal_nothing_is_started() {
        let relay = Relay::of(false);
        relay.hear(Signal::TERM, false);
        let ended = relay.run(Command::new("true"), |_| unreachable!());
        assert_eq!(ended.unwrap(), None);
    }
}
