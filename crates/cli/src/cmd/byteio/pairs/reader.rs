//! The program that runs a pair's reader. However it behaves, the wait for it must end.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use wirespeed_control::StopFlag;
use wirespeed_schema::units::{format_duration_exact, nanoseconds};

/// The longest that a reader may take: nobody waits for more.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How long it may take to hand over what it has when the user wants to stop.
const PARTING: Duration = Duration::from_secs(30);
/// How long it may take to end when it is told to.
const END: Duration = Duration::from_secs(5);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Run `command` to its end, and what it said. Errors in one line.
pub fn output(command: &[String], longest: Duration, stop: &StopFlag) -> Result<Output, String> {
    let Some((program, rest)) = command.split_first() else {
        return Err("nothing to run".to_owned());
    };
    let failed = |e: io::Error| format!("cannot run {program}: {e}");
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    // Whom it started may hold its pipes open when it is gone: nobody waits for those who read them.
    let (tell, told) = channel();
    hear(child.stdout.take(), 0, &tell);
    hear(child.stderr.take(), 1, &tell);
    let mut said: [Option<Vec<u8>>; 2] = [None, None];
    let mut deadline = Instant::now() + longest;
    let mut parting = false;
    while Instant::now() < deadline {
        if stop.is_requested() && !parting {
            (parting, deadline) = (true, deadline.min(Instant::now() + PARTING));
        }
        if let Ok((pipe, bytes)) = told.recv_timeout(LOOK) {
            said[pipe] = Some(bytes);
        }
        if let [Some(stdout), Some(stderr)] = &mut said
            && let Some(status) = child.try_wait().map_err(failed)?
        {
            let (stdout, stderr) = (std::mem::take(stdout), std::mem::take(stderr));
            return Ok(Output {
                status,
                stdout,
                stderr,
            });
        }
    }
    end(&mut child);
    Err(match parting {
        true => "its reader did not end when the run was stopped".to_owned(),
        false => format!(
            "its reader took longer than {}",
            format_duration_exact(nanoseconds(longest))
        ),
    })
}

/// Tell what comes out of a pipe, once it is closed.
fn hear(pipe: Option<impl Read + Send + 'static>, number: usize, tell: &Sender<(usize, Vec<u8>)>) {
    let tell = tell.clone();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is all that there is.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        // Nobody may listen any more.
        let _ = tell.send((number, bytes));
    });
}

/// End it: in order, so that it ends what it has started, or else at once.
fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let deadline = Instant::now() + END;
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, longest: Duration, stop: &StopFlag) -> Result<Output, String> {
        output(&["sh", "-c", line].map(str::to_owned), longest, stop)
    }

    #[test]
    fn a_reader_that_does_not_end_is_ended() {
        let short = Duration::from_millis(300);
        // The second one leaves somebody who holds its pipes; the third one does not listen.
        for line in [
            "exec sleep 600",
            "sleep 20 & exec sleep 600",
            "trap '' TERM; exec sleep 600",
            "exec >&- 2>&-; exec sleep 600",
        ] {
            let lost = shell(line, short, &StopFlag::new()).unwrap_err();
            assert_eq!(lost, "its reader took longer than 300ms", "{line}");
        }
    }

    #[test]
    fn all_that_a_reader_says_is_heard() {
        let line = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3";
        let said = shell(line, LONGEST, &StopFlag::new()).unwrap();
        assert_eq!((said.stdout.len(), said.stderr.len()), (300_000, 200_000));
        assert_eq!(said.status.code(), Some(3));
        let stop = StopFlag::new();
        stop.request();
        assert_eq!(shell("echo all", LONGEST, &stop).unwrap().stdout, b"all\n");
    }
}
