//! What a node and a computation say to each other: one JSON object a line, over a socket that only the two have.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
pub use wirespeed_control::launch::talk::{hear, say};
use wirespeed_schema::case::Load;

/// Where a computation's log lines go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogTo {
    /// The computation's standard error, which is the node's.
    #[default]
    Stderr,
    /// Nowhere.
    Null,
    /// A file on the computation's host.
    File(PathBuf),
}

impl LogTo {
    /// As typed and printed: `stderr`, `null`, or a path.
    pub fn name(&self) -> String {
        match self {
            LogTo::Stderr => "stderr".into(),
            LogTo::Null => "null".into(),
            LogTo::File(path) => path.display().to_string(),
        }
    }
}

/// A flood of log lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFlood {
    /// Threads that write.
    pub threads: u32,
    /// Lines in all; 0 for no flood.
    pub lines: u64,
    /// Where to.
    pub to: LogTo,
}

/// What a computation does beside messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Busy threads and memory, from the go to the end.
    pub load: Load,
    /// Log lines.
    pub log: LogFlood,
    /// Tell every variable of its environment.
    pub print_environment: bool,
    /// Search paths, and what is put before each of them, whatever it is on the computation's host.
    pub prepend: Vec<(String, String)>,
}

impl Work {
    /// The variables that are prepended to: those of `environment`, which the computation is given, or else of this process.
    pub(crate) fn prepended(&self, environment: &BTreeMap<String, String>) -> Vec<(&str, OsString)> {
        let whole = |(variable, first): &'_ (String, String)| {
            let given = environment.get(variable).map(OsString::from);
            let rest = given.or_else(|| std::env::var_os(variable)).unwrap_or_default();
            let mut whole = OsString::from(first);
            if !rest.is_empty() {
                whole.push(":");
                whole.push(rest);
            }
            whole
        };
        self.prepend
            .iter()
            .map(|entry| (entry.0.as_str(), whole(entry)))
            .collect()
    }
}

/// A node to a computation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Always the first: what it is.
    Be {
        /// What it is to do.
        work: Work,
        /// CPUs that it may use, where affinity is what enforces its cores.
        cpus: Option<Vec<u32>>,
        /// Its control groups: it removes them when its node is gone.
        groups: Vec<PathBuf>,
    },
    /// Everybody is ready.
    Go,
    /// Tell what was done, and end.
    Stop,
}

/// A computation to its node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// It is what it was told to be, and waits for the go.
    Ready,
    /// Its load runs.
    Working,
    /// Its environment.
    Environment {
        /// `NAME=value`.
        variables: Vec<String>,
    },
    /// The flood is over.
    Logged {
        /// Lines written whole.
        lines: u64,
        /// How long it took.
        elapsed_ns: u64,
    },
    /// It cannot go on, and ends.
    Failed {
        /// Why, in one line.
        why: String,
    },
    /// It ends because it was told to.
    Done {
        /// CPU time of all its threads since the go.
        cpu_ns: u64,
        /// Time since the go.
        elapsed_ns: u64,
        /// Work that its load got done.
        load_done: BTreeMap<String, u64>,
        /// The most memory that it has had in use (RSS): its cases look at the kernel's peak from where they begin.
        #[serde(default)]
        resident_max_bytes: Option<u64>,
    },
}
