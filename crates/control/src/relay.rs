//! Signals that ask a program to end, passed on to the command that it runs for its user. It must never signal a process
//! that has been waited for: its number may be another's by then.

use crate::stop::ignored;
use crate::thread::spawn;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::Arc;

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
pub struct Relay(Arc<Mutex<State>>);

impl Relay {
    /// Hear SIGINT, SIGQUIT, SIGTERM and SIGHUP from here on, but those that this process was started to ignore. Call it once.
    /// `on_terminal`: the command shares our terminal, which tells it of SIGINT and SIGQUIT itself.
    pub fn on_signals(on_terminal: bool) -> io::Result<Relay> {
        let relay = Relay(Arc::new(Mutex::new(State {
            target: Target::Nobody,
            asked: None,
        })));
        for signal in [Signal::INT, Signal::QUIT, Signal::TERM, Signal::HUP] {
            if ignored(signal.as_raw()) {
                continue;
            }
            let is_told = on_terminal && matches!(signal, Signal::INT | Signal::QUIT);
            let (mut reader, writer) = UnixStream::pair()?;
            signal_hook::low_level::pipe::register(signal.as_raw(), writer)?;
            let relay = relay.clone();
            spawn("signals", move || {
                while matches!(reader.read(&mut [0u8; 1]), Ok(1)) {
                    relay.hear(signal, is_told);
                }
            })?;
        }
        Ok(relay)
    }

    /// The first signal that came, if any did.
    pub fn asked(&self) -> Option<Signal> {
        self.0.lock().asked
    }

    fn hear(&self, signal: Signal, is_told: bool) {
        let mut state = self.0.lock();
        state.asked.get_or_insert(signal);
        if !is_told {
            send(state.target, signal);
        }
    }

    /// Wait for `child`, which hears every signal meanwhile, and what came before; with all of its group where `leads_group`.
    pub fn wait(&self, child: &mut Child, leads_group: bool) -> io::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let target = match leads_group {
            true => Target::Group(pid),
            false => Target::One(pid),
        };
        let mut state = self.0.lock();
        state.target = target;
        if let Some(signal) = state.asked {
            send(target, signal);
        }
        drop(state);
        // It keeps its number until it is reaped, and nobody signals it then.
        let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = crate::uninterrupted(|| waitid(WaitId::Pid(pid), end).map_err(io::Error::from));
        let mut state = self.0.lock();
        state.target = Target::Nobody;
        child.wait()
    }
}

/// It may have ended meanwhile.
fn send(target: Target, signal: Signal) {
    let _ = match target {
        Target::Nobody => Ok(()),
        Target::One(pid) => kill_process(pid, signal),
        Target::Group(pid) => kill_process_group(pid, signal),
    };
}

/// The exit code that says how a child ended, as a shell gives it.
pub fn code_of(status: ExitStatus) -> u8 {
    let by_signal = || 128 + status.signal().unwrap_or(0);
    status.code().unwrap_or_else(by_signal) as u8
}
