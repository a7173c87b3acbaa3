//! How message data is handed to a transport.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How message data is handed to the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// The caller's bytes are inlined into the transport's own storage by the send call.
    Short,
    /// A callback packs the data directly into the transport's storage (buffered copy).
    Bcopy,
    /// The transport reads from (or writes to) registered memory; the caller learns when it may reuse it.
    Zcopy,
    /// As short, gathered by the send call from several pieces.
    Shortiov,
}

impl Layout {
    /// Every layout, in the order of the tables.
    pub const ALL: [Layout; Layout::COUNT] = [Layout::Short, Layout::Bcopy, Layout::Zcopy, Layout::Shortiov];

    /// How many there are.
    pub const COUNT: usize = 4;

    /// The name as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Short => "short",
            Layout::Bcopy => "bcopy",
            Layout::Zcopy => "zcopy",
            Layout::Shortiov => "shortiov",
        }
    }
}
