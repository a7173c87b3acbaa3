//! What a service bears.

use std::time::Duration;

/// Limits of the service.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at the same time.
    pub connections_max: usize,
    /// Bytes of one SOAP read.
    pub read_bytes_max: u64,
    /// Bytes of one SOAP write.
    pub write_bytes_max: u64,
    /// Open streams, and versions being written.
    pub streams_max: usize,
    /// How long a stream lives that nobody touches.
    pub stream_life: Duration,
    /// How long a version waits for whoever writes it.
    pub version_life: Duration,
    /// How long a client may keep a connection waiting, reading or writing, by silence or by less than 1 KiB a second.
    pub patience: Duration,
    /// Congestion control of the service as a sender; `None` for the system's.
    pub congestion: Option<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 256,
            read_bytes_max: 1 << 30,
            write_bytes_max: 1 << 30,
            streams_max: 1024,
            stream_life: Duration::from_secs(3600),
            version_life: Duration::from_secs(600),
            patience: Duration::from_secs(30),
            congestion: None,
        }
    }
}
