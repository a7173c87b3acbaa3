//! All hosts of a group, started and ended side by side, not too many at once. Nothing is started where this process could
//! not hold all of them.

use super::files::{HOSTS, check_files};
use super::hosts::{HostAsked, RankHost, interrupted};
use super::program::RankProgram;
use crate::error::ControlError;
use crate::session::group::Failure;
use crate::stop::StopFlag;
use crate::thread::{drop_side_by_side, guarded};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::Builder;

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
    let start = |number: usize| match stop.is_requested() {
        true => Err(interrupted()),
        false => guarded(|| RankHost::start(&asked[number], program, stop)).map(Arc::new),
    };
    let next = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        (number < asked.len()).then_some(number)
    };
    let mut known = |number: usize, host: Reached| {
        on(number, &host);
        started[number] = Some(host);
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(asked.len()) {
            let (next, start, sender) = (&next, &start, sender.clone());
            // With fewer threads it takes longer, and no more.
            let _ = Builder::new().name("host".into()).spawn_scoped(scope, move || {
                while let Some(number) = next() {
                    // The receiver lives as long as this scope.
                    let _ = sender.send((number, start(number)));
                }
            });
        }
        drop(sender);
        done.into_iter().for_each(|(number, host)| known(number, host));
        while let Some(number) = next() {
            known(number, start(number));
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

/// End these hosts side by side, and wait until their launchers have ended. Those that a group still holds end with it.
pub fn end_all(hosts: impl IntoIterator<Item = Arc<RankHost>>) {
    let hosts: Vec<Arc<RankHost>> = hosts.into_iter().collect();
    for host in &hosts {
        host.close();
    }
    drop_side_by_side(hosts, AT_ONCE);
}
