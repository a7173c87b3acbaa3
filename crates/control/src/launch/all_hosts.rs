//! All hosts of a group, started and ended side by side, not too many at once. Nothing is started where this process could
//! not hold all of them.

use super::hosts::{HostAsked, RankHost, interrupted};
use super::program::RankProgram;
use crate::error::ControlError;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// Hosts that are started at a time.
const AT_ONCE: usize = 32;
/// Open files of one host here: a launcher's pipes, and both ends of two sockets with their copies.
const FILES_OF_HOST: u64 = 14;
/// Open files beside those.
const FILES_BESIDE: u64 = 64 + 2 * AT_ONCE as u64;

/// What became of a host.
pub type Reached = Result<Arc<RankHost>, Failure>;
/// What became of each host, in the order in which they were asked for.
pub type Started = Vec<Reached>;

/// Start a starter on every host; `program` is what its ranks are, with their arguments, and must know the hidden verb
/// `__ranks` ([`super::starter::run`]). `on` is told of each host as soon as it is known what became of it.
///
/// Raises this process's limit of open files as far as it may. Errors are those of all hosts: too few files, or the user's
/// wish to stop.
pub fn start_all(
    asked: &[HostAsked],
    program: &RankProgram,
    stop: &StopFlag,
    on: &mut dyn FnMut(usize, &Reached),
) -> Result<Started, ControlError> {
    check_files(asked.len(), FILES_OF_HOST)?;
    let next = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    let mut started: Vec<Option<Reached>> = asked.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(asked.len()) {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while let Some(number) = take(next, asked.len()) {
                    let host = match stop.is_requested() {
                        true => Err(interrupted()),
                        false => RankHost::start(&asked[number], program, stop).map(Arc::new),
                    };
                    // The receiver lives as long as this scope.
                    let _ = sender.send((number, host));
                }
            });
        }
        drop(sender);
        for (number, host) in &done {
            on(number, &host);
            started[number] = Some(host);
        }
    });
    let started: Started = started
        .into_iter()
        .map(|host| host.unwrap_or_else(|| Err(interrupted())))
        .collect();
    if stop.is_requested() {
        end_all(started.into_iter().flatten());
        return Err(ControlError::Interrupted);
    }
    Ok(started)
}

fn take(next: &AtomicUsize, count: usize) -> Option<usize> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    (number < count).then_some(number)
}

/// End these hosts side by side, and wait until their launchers have ended. Those that a group still holds end with it.
pub fn end_all(hosts: impl IntoIterator<Item = Arc<RankHost>>) {
    let hosts: Vec<Arc<RankHost>> = hosts.into_iter().collect();
    for host in &hosts {
        host.close();
    }
    let workers = AT_ONCE.min(hosts.len());
    let left = Mutex::new(hosts);
    let pop = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(host) = pop() {
                    drop(host);
                }
            });
        }
    });
}

/// Whether this process may have as many files open as `hosts` take, `of_each` for one of them; raises its limit where that is
/// enough.
pub fn check_files(hosts: usize, of_each: u64) -> Result<(), ControlError> {
    let limit = getrlimit(Resource::Nofile);
    let Some(files) = files_to_raise((hosts, of_each), &limit)? else {
        return Ok(());
    };
    let raised = Rlimit {
        current: Some(files),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|_| too_few((hosts, of_each), limit.current))
}

/// The limit that so many hosts need, where it is not high enough but may be raised.
fn files_to_raise(hosts: (usize, u64), limit: &Rlimit) -> Result<Option<u64>, ControlError> {
    let files = files_for(hosts);
    let allows = |limit: Option<u64>| limit.is_none_or(|allowed| allowed >= files);
    match (allows(limit.current), allows(limit.maximum)) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(files)),
        (false, false) => Err(too_few(hosts, limit.maximum)),
    }
}

fn files_for((hosts, of_each): (usize, u64)) -> u64 {
    FILES_BESIDE + of_each * hosts as u64
}

fn too_few(hosts: (usize, u64), allowed: Option<u64>) -> ControlError {
    ControlError::TooFewFiles {
        hosts: hosts.0,
        files: files_for(hosts),
        allowed: allowed.unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_hosts_than_files_are_refused_before_any_is_started() {
        let limit = |current, maximum| Rlimit { current, maximum };
        let few = files_to_raise((1000, FILES_OF_HOST), &limit(Some(256), Some(256))).unwrap_err();
        let (text, remedy) = (few.to_string(), few.remedy());
        assert_eq!(
            text,
            "1000 hosts need 14128 open files, this process may have 256"
        );
        assert_eq!(remedy, "raise the limit: ulimit -n 14128; or name fewer hosts");
        let raised = files_to_raise((1000, FILES_OF_HOST), &limit(Some(256), Some(1 << 20)));
        assert_eq!(raised.unwrap(), Some(14128));
        for enough in [None, Some(1 << 20)] {
            assert_eq!(
                files_to_raise((1000, FILES_OF_HOST), &limit(enough, enough)).unwrap(),
                None
            );
        }
        assert_eq!(
            files_to_raise((8, FILES_OF_HOST), &limit(Some(256), Some(256))).unwrap(),
            None
        );
    }
}
