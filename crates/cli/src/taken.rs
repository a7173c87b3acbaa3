//! Writing to what somebody else must take, such as a pipe. Its reader may sleep for ever, which must keep nobody who wants to
//! stop: a writing that makes no headway after that ends.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wirespeed_control::StopFlag;

/// A pipe that is ready takes as much without a wait.
const PIECE_BYTES: usize = 4096;
/// Between two looks whether the user wants to stop.
const LOOK_NS: i64 = 50_000_000;
/// A reader that takes nothing for so long after the wish to stop is waited for no longer.
const HEADWAY: Duration = Duration::from_millis(600);

static STOP: OnceLock<StopFlag> = OnceLock::new();
/// Whether a writing ended so: what is written behind it waits no more.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// End writings that are stuck when `stop` is raised.
pub fn hear(stop: &StopFlag) {
    // There is one of them in a program.
    let _ = STOP.set(stop.clone());
}

/// Whether the user wants to stop.
pub fn is_over() -> bool {
    STOP.get().is_some_and(StopFlag::is_requested)
}

/// Write all of `bytes`. [`ErrorKind::TimedOut`]: nobody takes them, and the user wants to stop.
pub fn write_all(to: impl AsFd, bytes: &[u8]) -> io::Result<()> {
    let headway = match IS_STUCK.load(Ordering::Relaxed) {
        true => Duration::ZERO,
        false => HEADWAY,
    };
    let written = write_while(to, bytes, headway, is_over);
    if matches!(&written, Err(error) if error.kind() == ErrorKind::TimedOut) {
        IS_STUCK.store(true, Ordering::Relaxed);
    }
    written
}

fn write_while(
    to: impl AsFd,
    mut bytes: &[u8],
    headway: Duration,
    is_over: impl Fn() -> bool,
) -> io::Result<()> {
    let look = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK_NS,
    };
    let mut stuck: Option<Instant> = None;
    while !bytes.is_empty() {
        let mut fds = [PollFd::new(&to, PollFlags::OUT)];
        match poll(&mut fds, Some(&look)) {
            Ok(0) if !is_over() => {}
            Ok(0) => {
                if stuck.get_or_insert_with(Instant::now).elapsed() >= headway {
                    return Err(ErrorKind::TimedOut.into());
                }
            }
            Ok(_) => match rustix::io::write(&to, &bytes[..PIECE_BYTES.min(bytes.len())]) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    stuck = None;
                }
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            },
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn who_takes_nothing_keeps_nobody_who_wants_to_stop() {
        let (mut reader, writer) = io::pipe().unwrap();
        let text = vec![b'x'; 300_000];
        let began = Instant::now();
        let stuck = write_while(&writer, &text, HEADWAY, || {
            began.elapsed() > Duration::from_millis(100)
        });
        assert_eq!(stuck.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(began.elapsed() >= HEADWAY);
        // Who reads on gets all, however often the writer would stop.
        let taking = std::thread::spawn(move || {
            let mut taken = Vec::new();
            reader.read_to_end(&mut taken).map(|_| taken.len())
        });
        write_while(&writer, &text, HEADWAY, || true).unwrap();
        drop(writer);
        assert!(taking.join().unwrap().unwrap() > text.len());
    }
}
