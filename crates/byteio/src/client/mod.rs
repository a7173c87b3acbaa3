//! The client: looks a resource up, moves its blocks with the library's bulk engine over one of five links, compares them
//! with the service's digests, and tells what each connection did. It must never report as done what is not in its place.

mod asked;
mod faults;
mod found;
mod journal;
mod link;
mod lookup;
mod metered;
mod offered;
mod place;
mod ready;
mod receive;
mod session;
#[cfg(test)]
mod tests;
mod told;
mod transfer;
mod url;
mod verify;

pub use asked::{Claim, Known, Manner, Moved, Step, Target, TransferError, TransferOptions};
pub use found::Found;
pub use lookup::congestion_controls;
pub(crate) use offered::offer;
pub use told::AGAIN;
pub(crate) use transfer::measured;
pub use transfer::{look_up, transfer};
pub use url::{BadUrl, Url};

use crate::soap::Mechanism;
use std::time::Duration;
pub use wirespeed::bulk::Pace;
use wirespeed_control::{Identity, StopFlag};

/// Which way data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the service.
    Get,
    /// To the service.
    Put,
}

impl Direction {
    /// As typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Get => "get",
            Direction::Put => "put",
        }
    }
}

/// How blocks are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A ByteIO operation with this transfer mechanism.
    Soap(Mechanism),
    /// A range of plain HTTP.
    Http,
    /// wirespeed's own stream.
    Bulk,
}

impl Way {
    /// Every way, the most portable first.
    pub const ALL: [Way; 5] = [
        Way::Soap(Mechanism::Simple),
        Way::Soap(Mechanism::Mtom),
        Way::Soap(Mechanism::Dime),
        Way::Http,
        Way::Bulk,
    ];

    /// As typed and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Soap(mechanism) => mechanism.name(),
            Way::Http => "http",
            Way::Bulk => "bulk",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Way::Soap(Mechanism::Simple) => "ByteIO, base64 in the envelope; any ByteIO service",
            Way::Soap(Mechanism::Mtom) => {
                "ByteIO, data as a part of a MIME package; any ByteIO service with attachments"
            }
            Way::Soap(Mechanism::Dime) => "ByteIO, data as a DIME record; Genesis II, Axis 1.4, wirespeed",
            Way::Http => "ranges of plain HTTP; any web server, to write wirespeed",
            Way::Bulk => "24 bytes ask over an upgraded connection; wirespeed",
        }
    }

    /// The transport of the registry that asks in this way.
    pub const fn transport(self) -> &'static str {
        match self {
            Way::Soap(Mechanism::Simple) => "byteio-simple",
            Way::Soap(Mechanism::Mtom) => "byteio-mtom",
            Way::Soap(Mechanism::Dime) => "byteio-dime",
            Way::Http => "byteio-http",
            Way::Bulk => "byteio-bulk",
        }
    }

    /// The way of this name.
    pub fn of_name(name: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|way| way.name() == name)
    }
}

/// What every connection of a transfer has in common.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The resource.
    pub url: Url,
    /// How a service behind TLS is known, and how it knows us.
    pub identity: Option<Identity>,
    /// Which way data go.
    pub direction: Direction,
    /// How blocks are asked for.
    pub way: Way,
    /// Whether blocks are asked for as parts of a stream (StreamableByteIO): seekRead, seekWrite.
    pub stream: bool,
    /// Longest silence, or trickle below 1 KiB a second, before a connection counts as lost.
    pub patience: Duration,
    /// Whoever waits for the service hears this.
    pub stop: StopFlag,
    /// Congestion control of this end as a sender; `None` for the system's.
    pub congestion: Option<String>,
}
