//! The seam between the bulk engine and its links.
//!
//! Contract of a link: operations complete in the order in which they were posted; `post` never waits for a completion;
//! every wait has a deadline; after an error the port is dropped, never used again.

use super::wire::Wire;
use std::io;
use std::sync::Arc;

/// One operation: bytes of the resource, and the place of the block in the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number of the block, from 0.
    pub index: u64,
    /// First byte of the resource.
    pub offset_bytes: u64,
    /// How many.
    pub size_bytes: u64,
}

/// What helps where the far end closed a connection.
const ENDED: &str = "see whether the service still runs, then give the same command again";

/// What an error is, where whoever hears of it has to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BulkErrorKind {
    /// Only what it says.
    #[default]
    Other,
    /// The resource is another than before: what comes fits nothing that came.
    Outdated,
    /// Nothing came in time.
    Silent,
    /// What answers does not serve by this protocol: no other question helps.
    Unspoken,
    /// One end is not whom the other takes for its own: a wrong key or token.
    Refused,
}

/// Why an operation or a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct BulkError {
    /// One line.
    pub why: String,
    /// Whether another attempt may succeed. What the far end refuses, it refuses again.
    pub retry: bool,
    /// What would help, where that is known.
    pub remedy: Option<String>,
    /// What it is.
    pub kind: BulkErrorKind,
}

impl BulkError {
    /// Another attempt may succeed.
    pub fn passing(why: impl Into<String>) -> Self {
        BulkError {
            why: why.into(),
            retry: true,
            remedy: None,
            kind: BulkErrorKind::Other,
        }
    }

    /// No attempt will.
    pub fn lasting(why: impl Into<String>) -> Self {
        BulkError {
            retry: false,
            ..Self::passing(why)
        }
    }

    /// As one of `kind`.
    pub fn of_kind(self, kind: BulkErrorKind) -> Self {
        BulkError { kind, ..self }
    }

    /// With what would help.
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        BulkError {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

impl From<io::Error> for BulkError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::WouldBlock | Kind::TimedOut => BulkError::passing("nothing came within the time limit")
                .with_remedy("see whether the service still answers; a slow one needs a longer stall")
                .of_kind(BulkErrorKind::Silent),
            Kind::UnexpectedEof => {
                BulkError::passing("the connection ended in the middle of an answer").with_remedy(ENDED)
            }
            Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::NotConnected => {
                BulkError::passing(format!("the connection broke: {error}")).with_remedy(ENDED)
            }
            _ => BulkError::passing(error.to_string()),
        }
    }
}

/// Takes the bytes of a block that is read, in order.
pub trait Receiver {
    /// Room for at most `want` bytes; never empty for a `want` above 0.
    fn space(&mut self, want: usize) -> &mut [u8];
    /// The first `len` bytes of that room are the next of the block.
    fn filled(&mut self, len: usize) -> Result<(), BulkError>;

    /// Bytes that lie elsewhere: copied.
    fn copy(&mut self, mut bytes: &[u8]) -> Result<(), BulkError> {
        while !bytes.is_empty() {
            let space = self.space(bytes.len());
            let len = space.len().min(bytes.len());
            space[..len].copy_from_slice(&bytes[..len]);
            self.filled(len)?;
            bytes = &bytes[len..];
        }
        Ok(())
    }
}

/// A connection. This one has the resource in memory:
///
/// ```
/// use std::collections::VecDeque;
/// use wirespeed::bulk::{Block, BulkError, BulkPort, Receiver};
///
/// struct Memory {
///     resource: Vec<u8>,
///     posted: VecDeque<Block>,
/// }
///
/// impl BulkPort for Memory {
///     fn post(&mut self, block: Block) -> Result<(), BulkError> {
///         self.posted.push_back(block);
///         Ok(())
///     }
///
///     fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError> {
///         let oldest = self.posted.pop_front();
///         assert_eq!(oldest, Some(block));
///         let (from, len) = (block.offset_bytes as usize, block.size_bytes as usize);
///         receiver.copy(&self.resource[from..from + len])
///     }
/// }
///
/// /// Keeps what comes; `room` is where the port writes.
/// struct Kept {
///     room: [u8; 4],
///     bytes: Vec<u8>,
/// }
///
/// impl Receiver for Kept {
///     fn space(&mut self, _want: usize) -> &mut [u8] {
///         &mut self.room
///     }
///
///     fn filled(&mut self, len: usize) -> Result<(), BulkError> {
///         self.bytes.extend_from_slice(&self.room[..len]);
///         Ok(())
///     }
/// }
///
/// let mut port = Memory { resource: (0..20).collect(), posted: VecDeque::new() };
/// let mut kept = Kept { room: [0; 4], bytes: Vec::new() };
/// let block = Block { index: 1, offset_bytes: 10, size_bytes: 6 };
/// port.post(block)?;
/// port.complete(block, &mut kept)?;
/// assert_eq!(kept.bytes, [10, 11, 12, 13, 14, 15]);
/// # Ok::<(), BulkError>(())
/// ```
pub trait BulkPort {
    /// Hand the request for `block` over, its data included where it is a write.
    fn post(&mut self, block: Block) -> Result<(), BulkError>;

    /// Wait for the oldest posted block. For a read, exactly its bytes go to `receiver`; fewer or more are an error.
    fn complete<R: Receiver>(&mut self, block: Block, receiver: &mut R) -> Result<(), BulkError>;
}

/// Makes connections.
pub trait Connector: Sync {
    /// What it makes.
    type Port: BulkPort;
    /// Connect; `worker` numbers the connection. Called again after an error. The port counts its bytes in `wire`, and
    /// attaches the connection to it.
    fn connect(&self, worker: usize, wire: &Arc<Wire>) -> Result<Self::Port, BulkError>;
    /// Look at a port that did its work, before it is dropped.
    fn retire(&self, worker: usize, port: Self::Port) {
        let _ = (worker, port);
    }
}

/// A digest of one block, fed while it streams.
pub trait BlockDigest: Default + Send {
    /// More bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The digest of all since the last call, at most 32 bytes.
    fn finish(&mut self) -> Vec<u8>;
}

/// No digest.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoDigest;

impl BlockDigest for NoDigest {
    fn update(&mut self, _: &[u8]) {}
    fn finish(&mut self) -> Vec<u8> {
        Vec::new()
    }
}
