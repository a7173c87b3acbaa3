//! How ranks of wirespeed are started and meet: [`coordinator`] runs a case over a group of threads, local processes or
//! two machines; [`agent`] is a rank's side; [`serve`] is the far end, `client` reaches it.
//!
//! The logic is in [`session`], which knows no socket and no clock; bytes are cut by [`frame`]; who may talk is settled
//! in [`auth`]. Nothing here may touch a data socket, print, or run while a rank measures: every thread of this crate
//! sleeps in a read or on a channel during that time.
#![forbid(unsafe_code)]

pub mod address;
pub mod agent;
pub mod auth;
mod client;
pub mod coordinator;
pub mod deadlined;
mod error;
pub mod frame;
pub mod job;
pub mod launch;
pub mod reach;
pub mod relay;
pub mod secure;
pub mod serve;
pub mod session;
mod stop;
mod strangers;
pub mod thread;
pub mod watch;
mod wire;

pub use address::DEFAULT_PORT;
pub use auth::Identity;
pub use coordinator::{
    Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, ServerSpec, ServerState, run_case,
};
pub use deadlined::uninterrupted;
pub use error::{ControlError, exit_code};
pub use job::{Job, JobKind, JobRanks};
pub use launch::program::RankProgram;
pub use launch::seam::{Launch, Launched, RankProcess};
pub use serve::{Daemon, Listen, LogEvent, LogLine, ServeOptions, Served};
pub use session::Timing;
pub use session::group::{Blamed, Failure};
pub use stop::{StopFlag, StopLevel, Subscription, keep_children};
