//! A program at work: what it says is collected as it comes, and it always ends, in order or by force.

use crate::deadline::Deadline;
use crate::home::kill;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a process has brought about shows this long after its end.
const AFTER_END: Duration = Duration::from_secs(5);

/// Bytes that a pipe holds at least.
const SMALLEST_PIPE: usize = 4096;

/// One stream of a program, read to its end by a thread.
struct Heard {
    text: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Heard {
    fn of(stream: Option<impl Read + Send + 'static>) -> Heard {
        let text = Arc::new(Mutex::new(Vec::new()));
        let here = text.clone();
        let thread = stream.map(|mut stream| {
            std::thread::spawn(move || {
                let mut buffer = [0; 65536];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
                    let mut text = here.lock().unwrap_or_else(PoisonError::into_inner);
                    text.extend_from_slice(&buffer[..read]);
                }
            })
        });
        Heard { text, thread }
    }

    fn text(&self) -> String {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn rest(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            // A reader cannot panic.
            let _ = thread.join();
        }
        self.text()
    }
}

/// A program that has been started. Dropped, it is killed.
pub struct Running {
    child: Child,
    words: String,
    stdout: Heard,
    stderr: Heard,
    /// Pipes that nobody reads.
    _unread: Vec<OwnedFd>,
}

/// A program that has ended.
pub struct Ended {
    /// Its command line.
    pub words: String,
    /// Its exit code; None when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// All that it wrote to stdout.
    pub stdout: String,
    /// All that it wrote to stderr.
    pub stderr: String,
}

impl Running {
    /// Start a command and listen to it.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn start(mut command: Command) -> Running {
        let words: Vec<_> = command.get_args().map(|w| w.to_string_lossy()).collect();
        let words = words.join(" ");
        let piped = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        Running {
            words,
            stdout: Heard::of(child.stdout.take()),
            stderr: Heard::of(child.stderr.take()),
            child,
            _unread: Vec::new(),
        }
    }

    /// Start a command whose output goes into pipes as small as they can be, of which nobody reads those that are `unread`:
    /// stdout, stderr.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn start_unread(mut command: Command, unread: [bool; 2]) -> Running {
        let words: Vec<_> = command.get_args().map(|w| w.to_string_lossy()).collect();
        let words = words.join(" ");
        let pipe = || {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            rustix::pipe::fcntl_setpipe_size(&writer, SMALLEST_PIPE).expect("a small pipe");
            (reader, writer)
        };
        let (stdout, stderr) = (pipe(), pipe());
        let spawned = command
            .stdin(Stdio::null())
            .stdout(stdout.1)
            .stderr(stderr.1)
            .spawn();
        // Its ends of the pipes are its own alone.
        drop(command);
        let heard = |unread: bool, reader: PipeReader| match unread {
            true => (Heard::of(None::<PipeReader>), Some(reader.into())),
            false => (Heard::of(Some(reader)), None),
        };
        let (stdout, first) = heard(unread[0], stdout.0);
        let (stderr, second) = heard(unread[1], stderr.0);
        Running {
            words,
            stdout,
            stderr,
            child: spawned.expect("the program starts"),
            _unread: [first, second].into_iter().flatten().collect(),
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to stdout by now.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// What it has written to stderr by now.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Send it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Wait until `reached` holds; not much longer than until the process has ended.
    ///
    /// # Panics
    /// Where it does not within `patience`.
    pub fn wait_until(&self, what: &str, patience: Duration, reached: impl Fn(&Running) -> bool) {
        let mut deadline = Deadline::within(patience);
        let mut has_ended = false;
        while !reached(self) {
            if !has_ended && self.has_ended() {
                has_ended = true;
                deadline.shorten(AFTER_END);
            }
            assert!(
                deadline.look(),
                "{}: not within {patience:?}: {what}\nstdout: {}\nstderr: {}",
                self.words,
                self.stdout(),
                self.stderr()
            );
        }
    }

    /// Whether it has ended; its status is left for [`Running::end`].
    pub fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let pid = Pid::from_raw(self.pid().cast_signed());
        pid.is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), look), Ok(None)))
    }

    /// Wait for its end.
    ///
    /// # Panics
    /// Where it does not end within `patience`.
    pub fn end(self, patience: Duration) -> Ended {
        self.end_watched(patience, || ())
    }

    /// Wait for its end, and call `watch` again and again meanwhile.
    ///
    /// # Panics
    /// Where it does not end within `patience`.
    pub fn end_watched(mut self, patience: Duration, mut watch: impl FnMut()) -> Ended {
        let mut deadline = Deadline::within(patience);
        let status: ExitStatus = loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                break status;
            }
            assert!(
                deadline.look(),
                "{}: did not end within {patience:?}\nstdout: {}\nstderr: {}",
                self.words,
                self.stdout(),
                self.stderr()
            );
            watch();
        };
        Ended {
            words: self.words.clone(),
            code: status.code(),
            signal: status.signal(),
            stdout: self.stdout.rest(),
            stderr: self.stderr.rest(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended; then both fail, and nothing is lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Require an exit code.
    ///
    /// # Panics
    /// Where it is another.
    pub fn code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The last two lines of stderr: cause and remedy, without their labels.
    ///
    /// # Panics
    /// Where they are something else.
    pub fn complaint(&self) -> (String, String) {
        let mut lines = self.stderr.lines().rev();
        let remedy = lines.next().and_then(|l| l.strip_prefix("help: "));
        let label = match self.code {
            Some(code @ (3 | 4)) => format!("exit {code}: "),
            _ => "error: ".to_owned(),
        };
        let cause = lines.next().and_then(|l| l.strip_prefix(&label));
        match (cause, remedy) {
            (Some(cause), Some(remedy)) => (cause.to_owned(), remedy.to_owned()),
            _ => panic!("no cause and remedy at the end: {self}"),
        }
    }

    /// The one JSON document on stdout.
    ///
    /// # Panics
    /// Where stdout is anything else.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self}"))
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "`{}` ended with {:?}", self.words, self.code)?;
        writeln!(f, "stdout: {}\nstderr: {}", self.stdout, self.stderr)
    }
}
