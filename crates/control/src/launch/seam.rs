//! How a rank's process comes into being, as a seam: this program started again, or whatever a crate above this one
//! has started and limited itself. It must never decide when a rank ends: that is the coordinator's.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

/// Starts ranks.
pub trait Launch: Send + Sync + Debug {
    /// What is started, for messages.
    fn name(&self) -> String;

    /// Start the process of `rank`, or hand over one that was started for it.
    fn launch(&self, rank: u32) -> io::Result<Launched>;

    /// Address on which `rank` listens for data, where it differs from the group's.
    fn bind_address(&self, rank: u32) -> Option<IpAddr> {
        let _ = rank;
        None
    }
}

/// A rank that has been started.
pub struct Launched {
    /// Its control channel: the end of the socket that it reads as standard input, or one that leads there.
    pub channel: UnixStream,
    /// Its process.
    pub process: Box<dyn RankProcess>,
}

/// The process of a rank, here or elsewhere.
pub trait RankProcess: Send {
    /// Its number on its machine.
    fn id(&self) -> u32;

    /// How it ended, in words, once it has. It must not block.
    fn ended(&mut self) -> Option<String>;

    /// End it by force; no error when it has ended already.
    fn kill(&mut self);
}

impl RankProcess for Child {
    fn id(&self) -> u32 {
        Child::id(self)
    }

    fn ended(&mut self) -> Option<String> {
        self.try_wait().ok().flatten().map(describe)
    }

    fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = Child::kill(self);
    }
}

/// An exit status in words: `its process was killed by signal 9`.
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its process was killed by signal {signal}"),
        (None, Some(code)) => format!("its process ended with code {code}"),
        (None, None) => "its process ended".into(),
    }
}
