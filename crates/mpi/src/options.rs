//! Options of the transport, parsed, and what every port of the library states.

use crate::process;
use wirespeed::transport::port::Facts;

/// How a rank waits for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitMode {
    /// Test again and again; a cancelled run ends.
    Poll,
    /// Let the library wait.
    Block,
}

/// Options, parsed.
#[derive(Debug, Clone, Copy)]
pub struct MpiOptions {
    /// How a rank waits.
    pub wait: WaitMode,
    /// Whether matched messages reuse persistent requests.
    pub persistent: bool,
    /// Whether put, get and atomics go over active messages where the library makes no window.
    pub emulate: bool,
}

/// Said where a rank is none of a job.
pub const NOT_INITIALISED: &str =
    "MPI is not initialised here: it works between the ranks of a launcher's job";

/// Facts that every port of the library states.
pub fn facts() -> Facts {
    let mut facts = Facts::new();
    if let Ok(library) = process::library() {
        facts.insert("library".into(), library.version().to_owned());
        facts.insert("abi".into(), library.family().name().to_owned());
    }
    if let Some(world) = process::world() {
        facts.insert("thread_level".into(), world.threads.name().to_owned());
        let threads = process::choice().threads_per_process;
        if threads > 1 {
            facts.insert("threads_per_process".into(), threads.to_string());
        }
    }
    facts
}
