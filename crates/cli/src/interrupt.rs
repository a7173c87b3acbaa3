//! Ctrl-C and SIGTERM: the first asks the running case to end in order, the second ends it at once, a third ends the
//! program.
//!
//! The watcher sleeps in a read; it never wakes while a rank measures unless a signal came.

use crate::errors::exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use wirespeed::Cancel;
use wirespeed::transport::cancel::CancelReason;

#[derive(Default)]
struct State {
    signals: u32,
    running: Option<Cancel>,
}

/// What the signals so far mean to the running case, and to those after it.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

impl Interrupt {
    /// Start to watch. Without the means to watch, signals keep their default meaning.
    pub fn watch() -> Self {
        let interrupt = Interrupt::default();
        if let Ok((mut reader, writer)) = UnixStream::pair() {
            for signal in [SIGINT, SIGTERM] {
                if let Ok(writer) = writer.try_clone() {
                    let _ = signal_hook::low_level::pipe::register(signal, writer);
                }
            }
            let watcher = interrupt.clone();
            std::thread::spawn(move || {
                let mut byte = [0];
                while matches!(reader.read(&mut byte), Ok(1)) {
                    watcher.signal();
                }
            });
        }
        interrupt
    }

    /// Whether the user wants the program to end.
    pub fn requested(&self) -> bool {
        self.state().signals > 0
    }

    /// A flag for the next case, which signals act on from now on.
    pub fn arm(&self) -> Cancel {
        let cancel = Cancel::new();
        let mut state = self.state();
        if state.signals > 0 {
            cancel.request_stop();
        }
        state.running = Some(cancel.clone());
        cancel
    }

    /// No case runs.
    pub fn disarm(&self) {
        self.state().running = None;
    }

    fn signal(&self) {
        let mut state = self.state();
        state.signals += 1;
        match (state.signals, &state.running) {
            (1, Some(running)) => running.request_stop(),
            (2, Some(running)) => running.cancel(CancelReason::Interrupted),
            (1, None) => {}
            // Whoever asks a third time does not want to wait for anything.
            _ => std::process::exit(i32::from(exit::INTERRUPTED)),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_signal_asks_two_cancel() {
        let interrupt = Interrupt::default();
        let cancel = interrupt.arm();
        interrupt.signal();
        assert!(interrupt.requested() && cancel.stop_requested() && cancel.reason().is_none());
        interrupt.signal();
        assert_eq!(cancel.reason(), Some(CancelReason::Interrupted));
        interrupt.disarm();
        assert!(interrupt.arm().stop_requested());
    }
}
