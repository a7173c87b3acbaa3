//! What a caller hears of a group, what a run comes to, and what reaches the coordinator. It must know nothing of how either
//! comes about.

use crate::client::ServerHeard;
use crate::error::ControlError;
use crate::launch::local::Heard;
use crate::session::group::{Blamed, Failure};
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc;
use wirespeed_schema::message::{FailureClass, ServerLimits};
use wirespeed_schema::outcome::{Interval, Outcome};

/// What happens to a group.
#[derive(Debug)]
#[non_exhaustive]
pub enum GroupEvent {
    /// A server is there; these are its limits.
    Connected {
        /// The server, as the caller named it.
        server: String,
        /// Its build.
        build: String,
        /// Its limits.
        limits: Box<ServerLimits>,
    },
    /// A server measures others first.
    Queued {
        /// The server, as the caller named it.
        server: String,
        /// Sessions ahead.
        ahead: u32,
        /// Time that will pass at least, where known.
        wait_ns_min: Option<u64>,
    },
    /// Every rank has its case.
    Started,
    /// A rank reports a slice of time.
    Interval {
        /// The rank.
        rank: u32,
        /// The slice.
        interval: Box<Interval>,
    },
    /// The ranks are asked to end in order.
    Stopping,
    /// A rank is gone.
    RankLost {
        /// The rank.
        rank: u32,
        /// How it ended.
        reason: String,
    },
}

/// What a run came to.
#[derive(Debug)]
pub struct GroupResult {
    /// What every rank saw, by rank; absent where a rank delivered nothing.
    pub outcomes: Vec<Option<Outcome>>,
    /// Why it failed, if it did. Outcomes may be there nevertheless.
    pub error: Option<Failure>,
    /// Ranks that broke it by themselves, so far as they are processes; all ranks of a server that refused or was lost.
    pub blamed: Vec<Blamed>,
    /// From the start of the ranks to the first barrier.
    pub setup_ns: u64,
    /// Other sessions on the same server at some time of the run; where there are several servers, on that with most.
    pub overlapping_sessions: u32,
}

impl GroupResult {
    pub(super) fn failed(size: usize, error: &ControlError) -> Self {
        let class = match error {
            ControlError::Interrupted => FailureClass::PeerLost,
            other => other.class(),
        };
        let blamed = match error {
            ControlError::Rank { rank, error } => vec![Blamed {
                rank: *rank,
                reason: error.to_string(),
                gone: true,
            }],
            _ => Vec::new(),
        };
        GroupResult {
            outcomes: vec![None; size],
            error: Some(Failure {
                class,
                ..error.into()
            }),
            blamed,
            setup_ns: 0,
            overlapping_sessions: 0,
        }
    }
}

/// Do `run` in a thread of its own, and what it tells to `events` in this one: whoever writes to a terminal that takes
/// nothing must keep no rank or server waiting, nor the user's wish to stop. Nothing comes of it where there is no thread to be had.
pub(super) fn apart<T: Send>(
    events: &mut dyn FnMut(GroupEvent),
    run: impl FnOnce(&mut dyn FnMut(GroupEvent)) -> T + Send,
) -> io::Result<T> {
    let (told, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        let running = std::thread::Builder::new().name("coordinator".into());
        let running = running.spawn_scoped(scope, move || {
            // Who listens stays to the end.
            run(&mut |event| drop(told.send(event)))
        })?;
        heard.into_iter().for_each(events);
        Ok(running.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// What reaches the coordinator's channel.
pub(crate) enum Incoming {
    /// Of the process with which rank `.1` came, of generation `.0` of the local ranks.
    Local(u64, u32, Heard),
    /// Of connection `.0` to a server.
    Server(u64, ServerHeard),
    Stop,
}
