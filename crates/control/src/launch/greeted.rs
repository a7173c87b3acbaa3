//! The first word of a program that a launcher has started elsewhere. It must never wait for one whose launcher has ended,
//! or past the user's patience.

use super::child::LauncherChild;
use super::mux::Mux;
use crate::stop::StopFlag;
use crate::thread::spawn;
use std::io::{self, BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// A launcher whose pipe has ended says so within this time why.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Longest line before the greeting that is looked at.
const NOISE_BYTES_MAX: u64 = 64 << 10;

/// Why there was no greeting.
#[derive(Debug)]
pub enum NoGreeting {
    /// What the launcher says about it.
    Said(String),
    /// The user has had enough.
    Interrupted,
    /// This process lacks what it takes.
    Failed(io::Error),
}

/// Skip what shells say until `greeting`, for at most `time`; the pipes to who has said it.
pub fn greeted(
    child: &mut LauncherChild,
    greeting: &'static str,
    time: Duration,
    stop: &StopFlag,
) -> Result<Mux, NoGreeting> {
    let stdout = child.child().stdout.take();
    let stdout = stdout.ok_or_else(|| NoGreeting::Said("it has no pipe".into()))?;
    let heard = listen(stdout, greeting).map_err(NoGreeting::Failed)?;
    let deadline = Instant::now() + time;
    let reader = loop {
        match heard.recv_timeout(LOOK) {
            Ok(reader) => break reader,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(NoGreeting::Said(last_words(child, LAST_WORDS)));
            }
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => return Err(NoGreeting::Interrupted),
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                let said = child.explanation().unwrap_or_else(|| "nothing".into());
                let late = format!("not there within {} s: {said}", time.as_secs());
                return Err(NoGreeting::Said(late));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let stdin = child.child().stdin.take();
    let stdin = stdin.ok_or_else(|| NoGreeting::Said("it has no pipe".into()))?;
    Mux::over(reader, stdin).map_err(NoGreeting::Failed)
}

/// Look for the greeting in a thread of its own.
fn listen(stdout: ChildStdout, greeting: &'static str) -> io::Result<Receiver<BufReader<ChildStdout>>> {
    let (sender, heard) = mpsc::channel();
    spawn("greeting", move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while let Ok(1..) = reader.by_ref().take(NOISE_BYTES_MAX).read_until(b'\n', &mut line) {
            if line.trim_ascii() == greeting.as_bytes() {
                // Nobody waits any more when it took too long.
                let _ = sender.send(reader);
                return;
            }
            line.clear();
        }
    })?;
    Ok(heard)
}

/// What a launcher whose output has ended says, within `time`.
pub(crate) fn last_words(child: &mut LauncherChild, time: Duration) -> String {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline && child.check().is_ok() {
        std::thread::sleep(LOOK);
    }
    child
        .explanation()
        .unwrap_or_else(|| "it ended without a word".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn meet(script: &str, time: Duration, stop: &StopFlag) -> Result<Mux, NoGreeting> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        greeted(&mut LauncherChild::start(command).unwrap(), "hello", time, stop)
    }

    #[test]
    fn noise_is_skipped_and_silence_or_an_end_is_explained() {
        let (never, soon) = (StopFlag::new(), Duration::from_secs(60));
        assert!(meet("echo motd; printf half; echo; echo hello", soon, &never).is_ok());
        let said = |met| match met {
            Err(NoGreeting::Said(said)) => said,
            _ => panic!("no words"),
        };
        let ended = said(meet("echo 'error: no way' >&2", soon, &never));
        assert_eq!(ended, "error: no way");
        let silent = said(meet("exec sleep 60", Duration::ZERO, &never));
        assert!(silent.contains("not there within 0 s"), "{silent}");
        let stop = StopFlag::new();
        stop.request();
        let met = meet("exec sleep 60", soon, &stop);
        assert!(matches!(met, Err(NoGreeting::Interrupted)));
    }
}
