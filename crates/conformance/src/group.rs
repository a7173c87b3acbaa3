//! Runs a script on every rank of a group of threads, and turns a hang into a failure: when the deadline has passed the
//! group is cancelled, and threads that do not end even then are left behind and reported.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wirespeed::schema::case::{Case, IdlePolicy, RankSpec, Role, Stop, TransportOptions};
use wirespeed::schema::test::{Layout, PingPong, Test};
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::LinkError;
use wirespeed::{Bootstrap, Cancel, ThreadBootstrap};

/// Far beyond what any script takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(60);
/// Time to end after a cancel; the contract says 100 ms a wait.
const GRACE: Duration = Duration::from_secs(10);

/// A case of `ranks` ranks for opening ports of `layout`.
pub fn case_of(transport: &str, options: &TransportOptions, ranks: u32, layout: Layout, size: u64) -> Case {
    let rank = |rank: u32| {
        RankSpec::new(if rank == 0 { Role::Source } else { Role::Sink }).with_peer(u32::from(rank == 0))
    };
    Case::new(Test::AmLat(PingPong::new(size, layout)), transport)
        .with_options(options.clone())
        .with_ranks((0..ranks).map(rank).collect())
        .with_stop(Stop::Iterations { count: 1 })
        .with_warmup(1, 1_000_000)
        .with_check(true)
        // The suites run on any machine, with more ranks than cores.
        .with_idle(IdlePolicy::Yield)
}

/// Run `script` on every rank of a group of `ranks`. The first failure that is not the echo of another rank's is the
/// result.
pub fn run<S>(ranks: u32, script: S) -> Result<(), String>
where
    S: Fn(&ThreadBootstrap) -> Result<(), String> + Clone + Send + 'static,
{
    let results = run_for(ranks, script)?;
    let mut failures = results.into_iter().filter_map(Result::err);
    let first = failures.next();
    // Whoever fails cancels the others: their own failure says no more than that.
    match first {
        None => Ok(()),
        Some(why) if !why.contains(CANCELLED) => Err(why),
        Some(why) => Err(failures.find(|w| !w.contains(CANCELLED)).unwrap_or(why)),
    }
}

const CANCELLED: &str = "cancelled";

/// As [`run`], with what every rank returned.
pub fn run_for<R, S>(ranks: u32, script: S) -> Result<Vec<Result<R, String>>, String>
where
    R: Send + 'static,
    S: Fn(&ThreadBootstrap) -> Result<R, String> + Clone + Send + 'static,
{
    let group = ThreadBootstrap::group(ranks);
    let cancel = group[0].cancel();
    let (done, finished) = channel();
    for bootstrap in group {
        let (script, done) = (script.clone(), done.clone());
        std::thread::spawn(move || {
            let rank = bootstrap.rank();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| script(&bootstrap)))
                .unwrap_or_else(|_| Err("panicked".to_owned()))
                .map_err(|why| format!("rank {rank}: {why}"));
            if result.is_err() {
                bootstrap.cancel().cancel(CancelReason::PeerLost);
            }
            // The receiver is gone only when this thread was given up.
            let _ = done.send((rank, result));
        });
    }
    collect(&cancel, &finished, ranks)
}

fn collect<R>(
    cancel: &Cancel,
    finished: &std::sync::mpsc::Receiver<(u32, Result<R, String>)>,
    ranks: u32,
) -> Result<Vec<Result<R, String>>, String> {
    let mut results: Vec<_> = (0..ranks).map(|_| Err("did not run".to_owned())).collect();
    let mut until = Instant::now() + DEADLINE;
    let mut late = false;
    let mut left = ranks;
    while left > 0 {
        match finished.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((rank, result)) => {
                results[rank as usize] = result;
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) if !late => {
                late = true;
                until = Instant::now() + GRACE;
                cancel.cancel(CancelReason::PeerLost);
            }
            Err(_) => return Err(format!("{left} ranks hang, and do not end when cancelled")),
        }
    }
    if late {
        return Err(format!("not done within {} s", DEADLINE.as_secs()));
    }
    Ok(results)
}

/// A rank in a script.
pub struct Me<'a> {
    /// How it meets the others.
    pub bootstrap: &'a ThreadBootstrap,
    /// Its number.
    pub rank: u32,
    /// Ranks by slot.
    pub peers: Vec<u32>,
    /// The flag.
    pub cancel: Cancel,
}

impl<'a> Me<'a> {
    /// Every other rank is a peer.
    pub fn new(bootstrap: &'a ThreadBootstrap) -> Self {
        let rank = bootstrap.rank();
        Me {
            bootstrap,
            rank,
            peers: (0..bootstrap.size()).filter(|&peer| peer != rank).collect(),
            cancel: bootstrap.cancel(),
        }
    }

    /// Give way in a loop that polls; ends when the group is cancelled.
    pub fn pause(&self) -> Result<(), String> {
        if self.cancel.reason().is_some() {
            return Err(CANCELLED.to_owned());
        }
        std::thread::yield_now();
        Ok(())
    }

    /// Meet all ranks; `progress` keeps the port moving. A peer that left the last meeting may close its port.
    pub fn meet(&self, mut progress: impl FnMut() -> Result<(), LinkError>) -> Result<(), String> {
        let mut failed = None;
        self.bootstrap
            .barrier(&mut || {
                if failed.is_none() {
                    failed = progress().err();
                }
            })
            .map_err(|e| e.to_string())?;
        match failed {
            None | Some(LinkError::Closed) => Ok(()),
            Some(error) => Err(error.to_string()),
        }
    }
}

/// Fail with `why` unless `right`.
pub fn ensure(right: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(why()) }
}

/// An error of a port, as a failure.
pub fn link(error: LinkError) -> String {
    error.to_string()
}
