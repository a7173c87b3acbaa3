//! The program that runs a pair's reader, and what it said. However it behaves, the wait for it ends, and what it said until
//! then is kept. It must never end a reader without having asked it to stop.

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use wirespeed_control::launch::child::end_group;
use wirespeed_control::{StopFlag, StopLevel};
use wirespeed_report::read::DOCUMENT_BYTES_MAX;

/// A reader watches every step of its own; longer than this nobody waits for one.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long it may take to hand over what it has when the user wants to stop, at the end of whatever path.
const PARTING: Duration = Duration::from_secs(10);
/// How long it may take to end when it is told to.
const END: Duration = Duration::from_secs(2);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// What a reader said, to its end.
#[derive(Debug)]
pub struct Said {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Run `command` to its end. Its stdin is held open until the user wants to stop, behind one line by which it knows that it is
/// held. Errors in one line.
pub fn said_by(command: &[String], stop: &StopFlag) -> Result<Said, String> {
    let Some((program, rest)) = command.split_first() else {
        return Err("nothing to run".to_owned());
    };
    let failed = |e: io::Error| format!("cannot run {program}: {e}");
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Of its own, so that the terminal's Ctrl-C ends nobody who carries a document (ssh), and all of it can be ended.
    let child = command.process_group(0).spawn().map_err(failed)?;
    let mut reader = Reader {
        child,
        pipes: Vec::new(),
    };
    reader.hear().map_err(failed)?;
    let status = reader.wait(stop, LONGEST)?;
    let mut heard = reader.pipes.iter().map(Pipe::heard);
    Ok(Said {
        status,
        stdout: heard.next().unwrap_or_default(),
        stderr: heard.next().unwrap_or_default(),
    })
}

/// One that runs. Dropped, it is ended.
struct Reader {
    child: Child,
    /// Its stdout and stderr.
    pipes: Vec<Pipe>,
}

impl Reader {
    fn hear(&mut self) -> io::Result<()> {
        if let Some(stdin) = &mut self.child.stdin {
            // One that is gone already says itself why.
            let _ = stdin.write_all(b"\n");
        }
        self.pipes.push(Pipe::hear(self.child.stdout.take())?);
        self.pipes.push(Pipe::hear(self.child.stderr.take())?);
        Ok(())
    }

    /// Wait for its end, for `longest` at most; less from a wish to stop on. One that outlives that is ended, and may still
    /// have said what it had.
    fn wait(&mut self, stop: &StopFlag, longest: Duration) -> Result<ExitStatus, String> {
        let lost = |e: io::Error| e.to_string();
        let mut deadline = Instant::now() + longest;
        let mut asked = StopLevel::None;
        while Instant::now() < deadline {
            if stop.level() > asked {
                asked = stop.level();
                drop(self.child.stdin.take());
                let parting = if asked == StopLevel::Orderly {
                    PARTING
                } else {
                    Duration::ZERO
                };
                deadline = deadline.min(Instant::now() + parting);
            }
            if let Some(status) = self.child.try_wait().map_err(lost)? {
                self.end_of_pipes();
                return Ok(status);
            }
            if self.waits_for_the_terminal() {
                return Err(
                    "the reader wants to ask at the terminal, and cannot: its command must ask nothing"
                        .to_owned(),
                );
            }
            std::thread::sleep(LOOK);
        }
        end_group(&mut self.child, END);
        if asked == StopLevel::None {
            return Err("the reader did not end within a week".to_owned());
        }
        self.end_of_pipes();
        let ended = self.child.try_wait().map_err(lost)?;
        ended.ok_or_else(|| "the reader cannot be ended".to_owned())
    }

    /// Whether it was stopped because it wanted the terminal, which belongs to this program's group.
    fn waits_for_the_terminal(&self) -> bool {
        let which = WaitId::Pid(Pid::from_child(&self.child));
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let stopped = waitid(which, options)
            .ok()
            .flatten()
            .and_then(|status| status.stopping_signal());
        stopped.is_some_and(|signal| [Signal::TTIN, Signal::TTOU].map(Signal::as_raw).contains(&signal))
    }

    /// What it wrote may still be on its way. Whom it started may hold its pipes open for longer.
    fn end_of_pipes(&self) {
        let deadline = Instant::now() + END;
        while Instant::now() < deadline && !self.pipes.iter().all(Pipe::is_closed) {
            std::thread::sleep(LOOK / 4);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            end_group(&mut self.child, END);
        }
    }
}

/// What comes out of one of its pipes, as far as a document may go.
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    hearing: JoinHandle<()>,
}

impl Pipe {
    fn hear(mut pipe: Option<impl Read + Send + 'static>) -> io::Result<Pipe> {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = bytes.clone();
        let hearing = Builder::new().name("reader".to_owned()).spawn(move || {
            let mut piece = vec![0; 64 << 10];
            // What came before an error is all that there is; what is too much for a document is none.
            while let Some(Ok(count @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut piece)) {
                let mut kept = kept.lock();
                let room = (DOCUMENT_BYTES_MAX + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..count.min(room)]);
            }
        });
        Ok(Pipe {
            bytes,
            hearing: hearing?,
        })
    }

    fn is_closed(&self) -> bool {
        self.hearing.is_finished()
    }

    fn heard(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process_group;

    fn shell(line: &str, stop: &StopFlag) -> Result<Said, String> {
        said_by(&["sh", "-c", line].map(str::to_owned), stop)
    }

    fn stopped(times: usize) -> StopFlag {
        let stop = StopFlag::new();
        (0..times).for_each(|_| stop.request());
        stop
    }

    #[test]
    fn all_that_a_reader_says_is_heard() {
        let line = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3";
        let said = shell(line, &stopped(0)).unwrap();
        assert_eq!((said.stdout.len(), said.stderr.len()), (300_000, 200_000));
        assert_eq!(said.status.code(), Some(3));
    }

    #[test]
    fn a_reader_hands_over_what_it_has_when_its_stdin_ends() {
        let line = "read held && ! read more && echo all; sleep 0.1; echo of it";
        assert_eq!(shell(line, &stopped(1)).unwrap().stdout, b"all\nof it\n");
    }

    /// Stops twice once `line`, which is told the name of a file, has made it.
    fn hurried(line: &str) -> Said {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let (stop, seen) = (StopFlag::new(), made.clone());
        let asking = stop.clone();
        std::thread::spawn(move || {
            while !seen.exists() {
                std::thread::sleep(LOOK);
            }
            (0..2).for_each(|_| asking.request());
        });
        let command = ["sh", "-c", line, "sh", made.to_str().unwrap()].map(str::to_owned);
        said_by(&command, &stop).unwrap()
    }

    #[test]
    fn a_reader_that_does_not_end_is_ended_and_heard() {
        for line in [
            "echo $$; touch $1; exec sleep 600",
            "echo $$; sleep 600 & touch $1; exec sleep 600",
            "echo $$; trap '' TERM; touch $1; sleep 600",
        ] {
            let said = hurried(line);
            assert!(!said.status.success(), "{line}");
            let group: i32 = String::from_utf8(said.stdout).unwrap().trim().parse().unwrap();
            let group = Pid::from_raw(group).unwrap();
            assert!(test_kill_process_group(group).is_err(), "{line}");
        }
        assert!(
            !hurried("exec >&- 2>&-; touch $1; exec sleep 600")
                .status
                .success()
        );
    }

    /// Who leads a group may go before the one that has the document.
    #[test]
    fn one_behind_another_has_the_time_to_end() {
        let said = hurried("(trap 'sleep 0.3; echo all; exit' TERM; touch $1; sleep 600 & wait) & wait");
        assert_eq!(said.stdout, b"all\n");
    }

    #[test]
    fn nobody_waits_for_longer_than_the_longest() {
        let child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let mut reader = Reader {
            child,
            pipes: Vec::new(),
        };
        let lost = reader.wait(&StopFlag::new(), Duration::from_millis(50));
        assert!(lost.unwrap_err().contains("within a week"));
    }

    /// A process that nobody reads from ends, though whom it started has its pipes.
    #[test]
    fn those_that_hold_a_readers_pipes_are_not_waited_for() {
        let began = Instant::now();
        let said = shell("sleep 600 & echo $!", &stopped(0)).unwrap();
        assert!(began.elapsed() < Duration::from_secs(300));
        let left: i32 = String::from_utf8(said.stdout).unwrap().trim().parse().unwrap();
        rustix::process::kill_process(Pid::from_raw(left).unwrap(), Signal::KILL).unwrap();
    }

    #[test]
    fn a_reader_that_wants_the_terminal_is_named() {
        let lost = shell("kill -TTIN $$", &stopped(0)).unwrap_err();
        assert!(lost.contains("terminal"), "{lost}");
        // One that a batch system puts aside for a while is none.
        let line = "(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo all";
        assert_eq!(shell(line, &stopped(0)).unwrap().stdout, b"all\n");
    }
}
