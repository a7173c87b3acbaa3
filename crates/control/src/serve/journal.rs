//! The daemon's log, written by a thread of its own: whoever does not read it holds up no client.
//!
//! It must never make a session wait: what finds no room is left out, and how much that was is said later.

use super::{Log, LogEvent, LogLine};
use crate::thread::spawn;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use wirespeed_schema::units::counted;

/// Lines that wait to be written.
const LINES_MAX: usize = 1024;

/// How long the last lines may take.
const LAST_LINES: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    lines: VecDeque<LogLine>,
    left_out: u64,
    is_writing: bool,
    is_closed: bool,
    has_failure: bool,
}

/// Takes lines at once, and writes them when it can.
#[derive(Default)]
pub(super) struct Journal {
    state: Mutex<State>,
    moved: Condvar,
}

impl Journal {
    /// Take a line.
    pub(super) fn say(&self, line: LogLine) {
        let mut state = self.state.lock();
        state.has_failure |= matches!(line.event, LogEvent::Failed);
        match state.lines.len() {
            LINES_MAX.. => state.left_out += 1,
            _ => state.lines.push_back(line),
        }
        self.moved.notify_all();
    }

    /// Whether a line said that something failed, whatever became of the line.
    pub(super) fn has_failure(&self) -> bool {
        self.state.lock().has_failure
    }

    /// Write to `log` from now on.
    pub(super) fn write_to(self: &Arc<Self>, log: Log) -> io::Result<()> {
        let journal = self.clone();
        spawn("log", move || journal.write(&log)).map(drop)
    }

    /// Write the last lines; false when nobody took them in time.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state.lock();
        state.is_closed = true;
        self.moved.notify_all();
        let waits = |state: &mut State| state.is_writing || !state.lines.is_empty();
        !self
            .moved
            .wait_while_for(&mut state, waits, LAST_LINES)
            .timed_out()
    }

    fn write(&self, log: &Log) {
        while let Some(lines) = self.next() {
            lines.into_iter().for_each(|line| log(line));
            self.state.lock().is_writing = false;
            self.moved.notify_all();
        }
    }

    /// The next line, after the last one what is to be said of those that were left out; nothing when there will be none.
    fn next(&self) -> Option<Vec<LogLine>> {
        let idle = |state: &mut State| state.lines.is_empty() && !state.is_closed;
        let mut state = self.state.lock();
        self.moved.wait_while(&mut state, idle);
        let line = state.lines.pop_front()?;
        state.is_writing = true;
        let lost = match state.lines.is_empty() {
            true => std::mem::take(&mut state.left_out),
            false => 0,
        };
        let note = LogLine {
            client: None,
            text: format!("nobody read this log, and it lacks {}", counted(lost, "line")),
            event: LogEvent::Other,
        };
        Some([line].into_iter().chain((lost > 0).then_some(note)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn line(text: &str, event: LogEvent) -> LogLine {
        LogLine {
            client: None,
            text: text.to_owned(),
            event,
        }
    }

    #[test]
    fn a_log_that_nobody_reads_makes_nobody_wait() {
        let journal = Arc::new(Journal::default());
        let (read, unread) = channel::<()>();
        let unread = Mutex::new(unread);
        let (told, heard) = channel();
        let log: Log = Arc::new(move |line: LogLine| {
            let _ = unread.lock().recv();
            let _ = told.send(line.text);
        });
        journal.write_to(log).unwrap();
        for number in 0..2 * LINES_MAX {
            journal.say(line(&number.to_string(), LogEvent::Other));
        }
        journal.say(line("the last", LogEvent::Failed));
        assert!(!journal.close(), "nobody read");
        assert!(journal.has_failure(), "though its line was left out");
        drop(read);
        let lines: Vec<String> = heard.iter().collect();
        assert_eq!(lines[0], "0");
        assert!(
            lines
                .iter()
                .any(|line| line.contains("nobody read this log, and it lacks"))
        );
    }

    #[test]
    fn every_line_is_written_in_order_before_the_end() {
        let journal = Arc::new(Journal::default());
        let (told, heard) = channel();
        let log: Log = Arc::new(move |line: LogLine| {
            let _ = told.send(line.text);
        });
        for text in ["a", "b"] {
            journal.say(line(text, LogEvent::Other));
        }
        journal.write_to(log).unwrap();
        journal.say(line("c", LogEvent::Other));
        assert!(journal.close());
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(!journal.has_failure());
    }
}
