//! The way to stdout, stderr and named pipes, whose readers may take nothing: whoever writes to one waits for it, until the
//! program is told to end. A write that cannot be interrupted would outlive every signal.

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};
use wirespeed_control::{StopFlag, StopLevel};

/// A pipe that has room takes so much at once (`PIPE_BUF`).
const PIECE: usize = 4096;
/// The wish to end is looked at so often.
const LOOK: Duration = Duration::from_millis(20);
/// A reader that took nothing for so long after the program was told to end in order is waited for no longer; one that goes on
/// reading gets all.
pub const GRACE: Duration = Duration::from_millis(400);

/// The user's wish to end, from when signals are heard.
static WISH: OnceLock<StopFlag> = OnceLock::new();

/// From now on `stop` ends what waits for a reader.
pub fn heed(stop: &StopFlag) {
    // The first that hears signals hears them all.
    let _ = WISH.set(stop.clone());
}

fn wish() -> StopLevel {
    WISH.get().map_or(StopLevel::None, StopFlag::level)
}

/// Whether the program was told to end.
pub fn is_over() -> bool {
    wish() != StopLevel::None
}

/// Whether `error` tells of a reader that was given up.
pub fn is_given_up(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut && is_over()
}

/// Whether the reader of stdout went away, found by a write or while nothing was written.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// From now on the end of stdout's reader is the wish to end, also while nothing is written.
pub fn end_with_reader(stop: &StopFlag) {
    static BEGUN: Once = Once::new();
    let stop = stop.clone();
    // Without a thread the next line finds it out.
    BEGUN.call_once(|| drop(std::thread::Builder::new().spawn(move || wait_for_end(&stop))));
}

fn wait_for_end(stop: &StopFlag) {
    let stdout = io::stdout();
    loop {
        let mut end = [PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut end, None) {
            Ok(_) if end[0].revents().contains(PollFlags::ERR) => break,
            Err(Errno::INTR) => {}
            // A terminal that is gone has a signal of its own.
            _ => return,
        }
    }
    leave();
    stop.request_orderly();
}

/// Stdout was found without a reader.
pub fn leave() {
    IS_LEFT.store(true, Ordering::Relaxed);
}

/// Whether stdout was found without a reader.
pub fn is_left() -> bool {
    IS_LEFT.load(Ordering::Relaxed)
}

/// A stream, or a file that is not ours to make; and whether its reader was given up.
#[derive(Debug)]
pub struct Outlet(Mutex<bool>);

/// Results.
pub static STDOUT: Outlet = Outlet::new();
/// Everything else.
pub static STDERR: Outlet = Outlet::new();

impl Outlet {
    /// With a reader who is waited for.
    pub const fn new() -> Outlet {
        Outlet(Mutex::new(false))
    }

    /// Write all of `text`. [`io::ErrorKind::TimedOut`]: it was told to end, and its reader took nothing, or took nothing before.
    pub fn write(&self, to: impl AsFd, text: &[u8]) -> io::Result<()> {
        let mut given_up = self.0.lock();
        let done = match *given_up {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => write(to, text, (wish, GRACE)),
        };
        let kind = done.as_ref().err().map(io::Error::kind);
        *given_up |= kind == Some(io::ErrorKind::TimedOut);
        done
    }
}

fn write(to: impl AsFd, mut text: &[u8], (wish, grace): (fn() -> StopLevel, Duration)) -> io::Result<()> {
    let mut stuck: Option<Instant> = None;
    while !text.is_empty() {
        if !has_room(&to)? {
            match wish() {
                StopLevel::None => {}
                StopLevel::Orderly if stuck.get_or_insert_with(Instant::now).elapsed() < grace => {}
                _ => return Err(io::ErrorKind::TimedOut.into()),
            }
            continue;
        }
        match rustix::io::write(&to, &text[..text.len().min(PIECE)]) {
            Ok(count) => (text, stuck) = (&text[count..], None),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether `to` takes something now, or is at its end; waits a little for it.
fn has_room(to: &impl AsFd) -> io::Result<bool> {
    let look = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK.as_nanos() as i64,
    };
    match poll(&mut [PollFd::new(to, PollFlags::OUT)], Some(&look)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    const LONG: &[u8] = &[b'x'; 1 << 20];

    fn tried(wish: fn() -> StopLevel) -> (io::ErrorKind, Duration) {
        let (_held, writer) = io::pipe().unwrap();
        let began = Instant::now();
        let error = write(&writer, LONG, (wish, GRACE)).unwrap_err();
        (error.kind(), began.elapsed())
    }

    #[test]
    fn who_is_told_to_end_waits_for_no_reader() {
        let (kind, took) = tried(|| StopLevel::Orderly);
        assert_eq!(kind, io::ErrorKind::TimedOut);
        assert!(took >= GRACE, "{took:?}");
        assert_eq!(tried(|| StopLevel::Immediate).0, io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_reader_that_comes_late_gets_all() {
        for wish in [(|| StopLevel::None) as fn() -> _, || StopLevel::Orderly] {
            let (mut reader, writer) = io::pipe().unwrap();
            let reading = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                let mut text = Vec::new();
                reader.read_to_end(&mut text).unwrap();
                text
            });
            write(&writer, LONG, (wish, Duration::from_secs(30))).unwrap();
            drop(writer);
            assert!(reading.join().unwrap() == LONG);
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_told() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let error = write(&writer, LONG, (|| StopLevel::None, GRACE));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    /// Whoever gave a reader up does not wait for it again with every line.
    #[test]
    fn a_reader_is_given_up_once() {
        let outlet = Outlet::new();
        *outlet.0.lock() = true;
        let (_held, writer) = io::pipe().unwrap();
        let kind = outlet.write(&writer, b"line").unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::TimedOut);
    }
}
