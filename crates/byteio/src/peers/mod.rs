//! Other people's movers of data, started on the same file and fetched from as this crate's client does: what a figure of
//! ours is to be held against.
//!
//! `far` starts a server at the far end, `fetch` and `send` run a client here. Nothing is installed, and nothing stays behind.

mod far;
mod fetch;
mod room;
mod send;

use std::path::Path;

pub use far::{FarEnd, FarServer, Started};
pub use fetch::{Shape, Transferred};
pub use room::Room;

/// Somebody else's mover of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// Memory to memory over TCP: the yardstick of the path.
    Iperf3,
    /// Ranges from nginx, a process for each connection.
    Curl,
    /// Ranges from nginx over several connections, into a file.
    Aria2,
    /// globus-url-copy from a GridFTP server.
    GridFtp,
    /// xrdcp from an XRootD server.
    Xrootd,
    /// A path that is mounted here.
    Mounted,
}

impl Mover {
    /// Every mover, in the order of the tables.
    pub const ALL: [Mover; 6] = [
        Mover::Iperf3,
        Mover::Curl,
        Mover::Aria2,
        Mover::GridFtp,
        Mover::Xrootd,
        Mover::Mounted,
    ];

    /// As typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Mover::Iperf3 => "iperf3",
            Mover::Curl => "curl",
            Mover::Aria2 => "aria2",
            Mover::GridFtp => "gridftp",
            Mover::Xrootd => "xrootd",
            Mover::Mounted => "mounted",
        }
    }

    /// The mover of this name.
    pub fn of_name(name: &str) -> Option<Mover> {
        Mover::ALL.into_iter().find(|mover| mover.name() == name)
    }

    /// The program that fetches, here.
    pub fn near_program(self) -> &'static str {
        match self {
            Mover::Iperf3 => "iperf3",
            Mover::Curl => "curl",
            Mover::Aria2 => "aria2c",
            Mover::GridFtp => "globus-url-copy",
            Mover::Xrootd => "xrdcp",
            Mover::Mounted => "dd",
        }
    }

    /// What stands for the time: `transfer`, as the program tells it from its request to the last byte, or `command`, from
    /// its start to its end.
    pub fn clock(self) -> &'static str {
        match self {
            Mover::Iperf3 | Mover::Curl => "transfer",
            _ => "command",
        }
    }

    /// Most connections that it makes.
    pub fn threads_max(self) -> u32 {
        match self {
            Mover::Aria2 => 16,
            Mover::Xrootd => 15,
            _ => 128,
        }
    }
}

/// Whether a program is to be had here, by its name or its path.
pub fn is_installed(program: impl AsRef<Path>) -> bool {
    let program = program.as_ref();
    if program.components().count() > 1 {
        return program.is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movers_are_found_by_their_names() {
        for mover in Mover::ALL {
            assert_eq!(Mover::of_name(mover.name()), Some(mover));
        }
        assert_eq!(Mover::of_name("pigeon"), None);
        assert!(is_installed("sh") && is_installed("/bin/sh") && !is_installed("no-such-program"));
    }
}
