//! The way to stdout, stderr and named pipes, whose readers may take nothing: whoever writes to one waits for it, until the
//! program is told to end. A write that cannot be interrupted would outlive every signal.

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use wirespeed_control::{StopFlag, StopLevel};

/// A pipe that has room takes so much at once (`PIPE_BUF`).
const PIECE: usize = 4096;
/// The wish to end is looked at so often.
const LOOK: Duration = Duration::from_millis(20);
/// A reader that took nothing for so long after the program was told to end in order is waited for no longer; one that reads
/// on, however slowly, gets all.
const GRACE: Duration = Duration::from_millis(400);

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

/// A stream, or all files that are none of ours to make; and whether its reader was given up.
pub struct Outlet(Mutex<bool>);

/// Results.
pub static STDOUT: Outlet = Outlet::new();
/// Everything else.
pub static STDERR: Outlet = Outlet::new();
/// Devices and named pipes in place of files.
pub static FILES: Outlet = Outlet::new();

impl Outlet {
    const fn new() -> Outlet {
        Outlet(Mutex::new(false))
    }

    /// Write all of `text`. [`io::ErrorKind::TimedOut`]: it was told to end, and its reader took nothing, or took nothing before.
    pub fn write(&self, to: impl AsFd, text: &[u8]) -> io::Result<()> {
        let mut given_up = self.0.lock();
        let done = match *given_up {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => write(to, text, wish),
        };
        *given_up |= is_given_up(&done);
        done
    }
}

fn write(to: impl AsFd, mut text: &[u8], wish: fn() -> StopLevel) -> io::Result<()> {
    let mut stuck: Option<Instant> = None;
    while !text.is_empty() {
        if !has_room(&to)? {
            match wish() {
                StopLevel::None => {}
                StopLevel::Orderly if stuck.get_or_insert_with(Instant::now).elapsed() < GRACE => {}
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

fn is_given_up(done: &io::Result<()>) -> bool {
    done.as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::TimedOut)
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
        let error = write(&writer, LONG, wish).unwrap_err();
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
            write(&writer, LONG, wish).unwrap();
            drop(writer);
            assert!(reading.join().unwrap() == LONG);
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_told() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let error = write(&writer, LONG, || StopLevel::None);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    /// Whoever gave a reader up does not wait for it again with every line.
    #[test]
    fn a_reader_is_given_up_once() {
        let outlet = Outlet::new();
        *outlet.0.lock() = true;
        let (_held, writer) = io::pipe().unwrap();
        assert!(is_given_up(&outlet.write(&writer, b"line")));
    }
}
