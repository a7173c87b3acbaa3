//! A launcher that runs as a child of this process: mpiexec, srun, ssh. What it says is kept for an explanation, and it
//! never outlives whoever started it.

use crate::error::ControlError;
use crate::thread::spawn;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Lines of a launcher that are kept for an explanation.
const LINES_KEPT: usize = 40;
/// How long a launcher may take to end after its ranks have gone, before it is asked to, and then killed.
const END_TIME: Duration = Duration::from_secs(3);
/// How long it may take after it was asked to end.
const TERM_TIME: Duration = Duration::from_secs(2);
/// Between two looks at a process that is to end.
const LOOK: Duration = Duration::from_millis(5);
/// Its last words may still be on their way when it has ended.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// A launcher that runs. Dropped, it is ended, by force when it takes too long.
pub struct LauncherChild {
    child: Child,
    name: String,
    said: Arc<Said>,
    end_time: Duration,
    tells_last: bool,
}

/// Receives lines, without their ends, from any thread.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
struct Said {
    lines: Mutex<VecDeque<String>>,
    /// Whether the last lines are kept, not the first.
    keeps_last: AtomicBool,
    /// Where lines go instead, once there is such a place.
    tell: OnceLock<Tell>,
}

impl LauncherChild {
    /// Start `command`, whose standard input and output are set already; what it writes to standard error is kept.
    pub fn start(mut command: Command) -> Result<Self, ControlError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |source| ControlError::Launch {
            program: name.clone(),
            source,
        };
        let mut child = command
            .stderr(Stdio::piped())
            // Of its own, so that the terminal's Ctrl-C reaches the coordinator alone.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let said = Arc::new(Said::default());
        if let Some(stderr) = child.stderr.take() {
            said.keep(stderr).map_err(failed)?;
        }
        Ok(LauncherChild {
            child,
            name,
            said,
            end_time: END_TIME,
            tells_last: false,
        })
    }

    /// Of lines that may explain an end its last does, not its first: a host's greeting, which nobody knows, comes before.
    pub fn tells_last(&mut self) {
        self.tells_last = true;
    }

    /// Its process, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Keep what comes from `stream` as well.
    pub fn keep(&self, stream: impl Read + Send + 'static) -> std::io::Result<()> {
        self.said.keep(stream)
    }

    /// From here on what it writes to standard error is not kept: `tell` has each line, without its end.
    pub fn pass_on(&self, tell: Tell) {
        // The first place is kept: who is told does not change.
        let _ = self.said.tell.set(tell);
    }

    /// What it said so far explains nothing any more; from here on its last lines are kept.
    pub fn keep_last(&self) {
        self.said.keeps_last.store(true, Ordering::Release);
        self.said.lines.lock().clear();
    }

    /// It has nothing left to do: dropped, it is asked to end without being waited for.
    pub fn hurry(&mut self) {
        self.end_time = Duration::ZERO;
    }

    /// An error once it has ended.
    pub fn check(&mut self) -> Result<(), ControlError> {
        let why = match self.child.try_wait() {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => {
                std::thread::sleep(LAST_WORDS);
                self.explanation()
                    .unwrap_or_else(|| format!("it ended with {status}"))
            }
            Err(error) => error.to_string(),
        };
        Err(ControlError::lost(self.name.clone(), why))
    }

    /// The line of its output that explains most.
    pub fn explanation(&self) -> Option<String> {
        let said = self.said.lines.lock();
        let telling = |line: &&String| {
            let line = line.to_lowercase();
            ["error", "cannot", "not ", "fail", "denied"]
                .iter()
                .any(|word| line.contains(word))
        };
        let told = match self.tells_last {
            true => said.iter().rfind(telling),
            false => said.iter().find(telling),
        };
        told.or_else(|| said.back()).cloned()
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

impl Drop for LauncherChild {
    fn drop(&mut self) {
        // It may wait for the end of what it reads.
        drop(self.child.stdin.take());
        if self.ends_within(self.end_time) {
            return;
        }
        // Its ranks are in its process group; a launcher of another host's ranks ends those when it is asked to end.
        let group = Pid::from_child(&self.child);
        for signal in [Signal::TERM, Signal::KILL] {
            // One that is gone already is no error.
            let _ = kill_process_group(group, signal);
            if self.ends_within(TERM_TIME) {
                return;
            }
        }
        let _ = self.child.wait();
    }
}

/// End `child`, which leads its process group, and all that it started in it: in order, or after `time` by force.
pub fn end_group(child: &mut Child, time: Duration) {
    let group = Pid::from_child(child);
    for signal in [Signal::TERM, Signal::KILL] {
        // One that is gone already is no error.
        let _ = kill_process_group(group, signal);
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            // Its leader counts until it is waited for; who leads may be gone before the others.
            let _ = child.try_wait();
            if test_kill_process_group(group).is_err() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Said {
    /// Read `stream` to its end in a thread, keeping the first lines: a launcher explains itself before it complains.
    fn keep(self: &Arc<Self>, stream: impl Read + Send + 'static) -> std::io::Result<()> {
        let said = self.clone();
        let hearing = spawn("launcher", move || {
            let mut stream = BufReader::new(stream);
            let mut bytes = Vec::new();
            while let Ok(1..) = stream.by_ref().take(1 << 16).read_until(b'\n', &mut bytes) {
                said.hear(&bytes);
                bytes.clear();
            }
        });
        hearing.map(drop)
    }

    fn hear(&self, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        if let Some(tell) = self.tell.get() {
            return tell(line.trim_end_matches(['\r', '\n']));
        }
        let line = crate::session::clean(line.trim());
        let mut kept = self.lines.lock();
        if self.keeps_last.load(Ordering::Acquire) && kept.len() >= LINES_KEPT {
            kept.pop_front();
        }
        if kept.len() < LINES_KEPT && line.chars().any(char::is_alphanumeric) {
            kept.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> LauncherChild {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        LauncherChild::start(command).unwrap()
    }

    #[test]
    fn one_that_ended_is_explained_by_its_own_words() {
        let mut child = shell("echo hello >&2; echo 'error: no such partition' >&2; echo bye >&2; exit 3");
        assert!(child.ends_within(Duration::from_secs(10)));
        let error = child.check().unwrap_err().to_string();
        assert!(error.contains("no such partition"), "{error}");
        let mut silent = shell("exit 3");
        assert!(silent.ends_within(Duration::from_secs(10)));
        let error = silent.check().unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn of_one_that_goes_on_the_last_words_count() {
        let mut child = shell("echo 'error: early' >&2; read x; seq 100 >&2; echo bye >&2");
        let heard = || child.explanation();
        while heard().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.keep_last();
        assert_eq!(child.explanation(), None);
        drop(child.child.stdin.take());
        assert!(child.ends_within(Duration::from_secs(10)));
        assert!(child.check().unwrap_err().to_string().contains("bye"));
    }

    #[test]
    fn what_is_passed_on_is_told_line_by_line() {
        let child = shell("read x; printf 'one\\r\\n\\ntwo' >&2");
        let (tell, told) = std::sync::mpsc::channel();
        child.pass_on(Arc::new(move |line: &str| drop(tell.send(line.to_owned()))));
        drop(child);
        assert_eq!(told.iter().collect::<Vec<_>>(), ["one", "", "two"]);
    }

    #[test]
    fn one_that_hangs_is_ended() {
        let child = shell("trap '' TERM; while :; do sleep 0.1; done");
        let pid = rustix::process::Pid::from_child(&child.child);
        drop(child);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
