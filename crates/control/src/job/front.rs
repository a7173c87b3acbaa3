//! The front of a job: plan, report and files, in a process of their own beside rank 0, which started it. Whatever
//! becomes of rank 0 (its launcher ends it without warning, the library crashes in it), the front notices, has the time
//! to write what was measured, and ends.
//!
//! Rank 0 passes signals on to the front and the front's exit code back. The two talk over a socket without a name in any
//! file system, and each accepts only the other.

use super::shelter::{again, outlive, pass_signals_on};
use super::{JobError, Known};
use crate::relay::code_of;
use crate::stop::Subscription;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, getpid, getppid};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::Child;
use std::time::{Duration, Instant};

/// Tells the front where its rank 0 listens: its process and a random word.
const VARIABLE: &str = "WIRESPEED_FRONT_OF";

/// A process that was started has so long to come.
const COME_TIME: Duration = Duration::from_secs(20);
/// Between two looks for it.
const LOOK: Duration = Duration::from_millis(5);
/// Longest line that says who is there: a thousand bytes for each of a hundred thousand ranks.
const KNOWN_BYTES_MAX: u64 = 100 << 20;

/// Whether this process is a front; its children have the variable too, and are none.
pub fn is_front() -> bool {
    let parent = getppid().map(|pid| pid.as_raw_nonzero().to_string());
    let variable = std::env::var(VARIABLE).ok();
    variable.is_some_and(|name| Some(parent_in(&name)) == parent.as_deref())
}

/// The process that a name begins with.
fn parent_in(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("wirespeed-front-{name}"))
}

fn is_process(stream: &UnixStream, pid: Option<Pid>) -> bool {
    let peer = socket_peercred(stream).map(|peer| peer.pid);
    peer.is_ok_and(|peer| Some(peer) == pid)
}

/// The front as rank 0 has it. Dropped before its end, it is killed.
pub struct Front {
    child: Child,
    stream: UnixStream,
}

impl Front {
    /// Start the front of this process.
    pub fn start() -> io::Result<Self> {
        let own = getpid();
        let name = format!("{}-{:016x}", own.as_raw_nonzero(), rand_word());
        let listener = UnixListener::bind_addr(&address(&name)?)?;
        listener.set_nonblocking(true)?;
        // Before the child is there, a signal simply ends this process.
        let child = again()?.env(VARIABLE, name).spawn()?;
        let mut starting = Starting { child: Some(child) };
        let stream = starting.meet(&listener)?;
        let child = starting.child.take().ok_or(io::ErrorKind::NotFound)?;
        Ok(Front { child, stream })
    }

    /// Tell the front who is there; its invitation for the ranks, empty where it cannot have them.
    pub(super) fn introduce(&self, known: &Known) -> io::Result<String> {
        let mut line = serde_json::to_vec(known)?;
        line.push(b'\n');
        (&self.stream).write_all(&line)?;
        let mut invitation = String::new();
        loop {
            // Byte by byte: what follows the line is for the rank.
            let mut byte = [0];
            (&self.stream).read_exact(&mut byte)?;
            match byte {
                [b'\n'] => return Ok(invitation),
                [byte] => invitation.push(char::from(byte)),
            }
        }
    }

    /// The control channel of rank 0.
    pub(super) fn channel(&self) -> io::Result<UnixStream> {
        self.stream.try_clone()
    }

    /// Pass signals on to the front from here on.
    pub(super) fn pass_signals_on(&self) -> io::Result<Subscription> {
        pass_signals_on(Pid::from_child(&self.child))
    }

    /// Its exit code, when it has ended.
    pub(super) fn wait(mut self) -> io::Result<u8> {
        self.child.wait().map(code_of)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // One that has been waited for is not touched.
    let _ = child.kill();
    let _ = child.wait();
}

/// A front that has not come yet.
struct Starting {
    child: Option<Child>,
}

impl Starting {
    fn meet(&mut self, listener: &UnixListener) -> io::Result<UnixStream> {
        let deadline = Instant::now() + COME_TIME;
        loop {
            let Some(child) = &mut self.child else {
                return Err(io::ErrorKind::NotFound.into());
            };
            match listener.accept() {
                Ok((stream, _)) if is_process(&stream, Some(Pid::from_child(child))) => {
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                // A stranger.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK),
                Err(error) => return Err(error),
            }
            if let Some(status) = child.try_wait()? {
                return Err(io::Error::other(format!("it ended with {status}")));
            }
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child);
        }
    }
}

/// A word that a stranger cannot guess.
fn rand_word() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

/// Rank 0 as its front has it.
pub(super) struct RankZero {
    pub(super) stream: UnixStream,
    pub(super) known: Known,
}

impl RankZero {
    /// Come to the rank 0 that started this process, and wait until it has met the others of the job.
    pub(super) fn find() -> Result<Self, JobError> {
        let failed = |e: io::Error| {
            JobError::new(
                format!("rank 0 cannot be reached: {e}"),
                "close some files and run again",
            )
        };
        let name = std::env::var(VARIABLE).unwrap_or_default();
        let parent = outlive(parent_in(&name)).map_err(failed)?;
        let stream = address(&name).and_then(|address| UnixStream::connect_addr(&address));
        let stream = stream.map_err(failed)?;
        if !is_process(&stream, Some(parent)) {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let mut line = Vec::new();
        let mut reader = BufReader::new(&stream).take(KNOWN_BYTES_MAX);
        // How long ranks may take to meet is for rank 0 to say, which ends itself.
        let read = reader.read_until(b'\n', &mut line);
        if read.map_err(failed)? == 0 || !line.ends_with(b"\n") {
            return Err(JobError::new(
                "rank 0 went away before the ranks of the job had met",
                "look at the messages of the launcher and of the library above",
            ));
        }
        let known = serde_json::from_slice(&line).map_err(|e| failed(e.into()))?;
        Ok(RankZero { stream, known })
    }

    /// Tell the ranks where to come to.
    pub(super) fn invite(&self, invitation: &str) -> io::Result<()> {
        (&self.stream).write_all(format!("{invitation}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_process_that_was_started_is_heard() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        assert!(is_process(&ours, Some(getpid())));
        assert!(!is_process(&ours, getppid()));
        assert!(!is_process(&ours, None));
        assert!(!is_front());
    }
}
