//! What can go wrong between a rank and its machine. It must never carry more than one line of cause.

/// The machine refused something, or the user named CPUs that make no sense.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The CPU is offline, does not exist, or the cpuset forbids it.
    #[error("CPU {cpu} cannot be used here; allowed are {allowed}")]
    CpuNotAllowed {
        /// The CPU that was asked for.
        cpu: u32,
        /// The CPUs of the calling thread, as a list.
        allowed: String,
    },
    /// The kernel refused to change the thread's CPUs.
    #[error("cannot change the CPUs of this thread: {0}")]
    Affinity(#[source] std::io::Error),
    /// A list of CPUs that does not parse.
    #[error("{input:?} is no list of CPUs like 0-3,5: {why}")]
    CpuList {
        /// What was given.
        input: String,
        /// What is wrong with it.
        why: &'static str,
    },
}
