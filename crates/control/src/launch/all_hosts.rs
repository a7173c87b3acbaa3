//! All hosts of a group, started and ended side by side, not too many at once. Nothing is started where this process could
//! not hold all of them.

use super::files::{HOSTS, check_files};
use super::hosts::{HostAsked, RankHost, interrupted};
use super::program::RankProgram;
use crate::error::ControlError;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// Hosts that are started at a time.
const AT_ONCE: usize = 32;
/// Open files of one host here: a launcher's pipes, and both ends of two sockets with their copies.
const FILES_OF_HOST: u64 = 14;

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
    check_files(HOSTS, asked.len(), FILES_OF_HOST)?;
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
    let pop = || left.lock().pop();
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
