//! The hot halves of a transport: what the engine's loops call. A rank has one port a measurement; the port owns its
//! connections to all its peers. Peers are numbered by their place in [`Connect::peers`](super::Connect), from 0.
//!
//! Contract of every port (the conformance suite holds each transport to it):
//! - **Order**: between two ranks, messages arrive in the order in which they were sent (unless `LOSSY`), each once.
//! - **Busy**: a send that finds no room returns [`Post::Busy`] at once and has no effect; `poll`, then try again. Where only
//!   the attempt shows that there is none, the port accepts that message and keeps it: sends are `Busy` until `poll`, `flush`
//!   or the next send has got rid of it.
//! - **Progress**: nothing moves unless somebody calls `poll` or `wait`, except where the medium moves by itself.
//! - **Flush** means local completion: every send so far has left the port, its memory may be reused. Delivery is
//!   known only from an answer.
//! - **Peer death**: a call that can notice it returns [`LinkError::Closed`]; every `wait` looks at the cancel flag and
//!   returns [`LinkError::Cancelled`] within 100 ms of its being set.
//! - **Lossy** ports return from `wait` within 10 ms also when nothing comes: what it waits for may be lost.
//! - **Malformed data** from a peer is [`LinkError::Corrupt`], never a panic and never out-of-bounds access.
//! - No port allocates, locks or logs between connect and close, except links over HTTP.
//!
//! A port must never read the clock, count samples or know which test runs.

use crate::sync::{SharedBytes, copy};
use std::collections::BTreeMap;

pub use super::word::{AtomicOp, Width, WordOp};

/// Whether an operation was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Post {
    /// Accepted.
    Done,
    /// No room now; nothing happened.
    Busy,
}

/// What comes of posting an operation.
pub type Posted = Result<Post, LinkError>;

/// Why a port can no longer be used. Small and `Copy`: it is returned from hot loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The peer closed the connection or died.
    #[error("the peer went away")]
    Closed,
    /// The cancel flag was set.
    #[error("cancelled")]
    Cancelled,
    /// The operating system refused an operation.
    #[error("{op} failed: {}", std::io::Error::from_raw_os_error(*.errno))]
    Os {
        /// The operation.
        op: &'static str,
        /// Its error number.
        errno: i32,
    },
    /// A library refused an operation.
    #[error("{op}: {why}")]
    Library {
        /// The library's function.
        op: &'static str,
        /// What it said.
        why: &'static str,
    },
    /// What arrived breaks the link's own format.
    #[error("malformed data from the peer: {0}")]
    Corrupt(&'static str),
    /// The operation is one that this port cannot do; the engine's checks should have refused the case.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// A stated limit of memory or requests was reached.
    #[error("out of room: {0}")]
    Exhausted(&'static str),
    /// No answer within the time that a lossy transport is given.
    #[error("no answer from the peer")]
    TimedOut,
}

impl LinkError {
    /// The OS error `errno` of `op`; a reset or broken pipe is [`LinkError::Closed`]. Allocates nothing, unlike
    /// `std::io::Error`, which loops must not even drop.
    #[cold]
    pub fn from_errno(op: &'static str, errno: i32) -> Self {
        match errno {
            libc::EPIPE | libc::ECONNRESET | libc::ECONNABORTED | libc::ENOTCONN => LinkError::Closed,
            errno => LinkError::Os { op, errno },
        }
    }
}

/// Messages of one peer of up to `message_bytes` that a port hands out at a look, at most: fewer large ones, which a relay must
/// have room for.
pub(crate) fn batch_max(message_bytes: usize) -> usize {
    const BATCHES: [(usize, usize); 3] = [(1 << 20, 64), (64 << 20, 16), (1 << 30, 4)];
    let batch = BATCHES.iter().find(|(up_to, _)| message_bytes <= *up_to);
    batch.map_or(1, |(_, batch)| *batch)
}

/// Facts about a port as it runs, for the result: `congestion = cubic`, `ring_bytes = 262144`.
pub type Facts = BTreeMap<String, String>;

/// Receives active messages. Implementations are small structs of the engine, inlined into the loop.
/// [`MessagePort`] shows one in use.
pub trait OnMessage {
    /// A message of `peer` arrived. `payload` is valid only during the call.
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]);
}

/// Active messages: an 8-byte header (the engine's sequence number and flags) and a payload, to a handler.
///
/// A runner is handed the port of a transport that was opened, here of one thread that is its own peer:
///
/// ```
/// use wirespeed::schema::case::{Case, RankSpec, Role};
/// use wirespeed::schema::test::{Layout, PingPong, Test};
/// use wirespeed::transport::{Connect, Messages, MessageRunner, Needs, Transport, inproc::Inproc};
/// use wirespeed::transport::port::{LinkError, MessagePort, OnMessage, Post};
/// use wirespeed::ThreadBootstrap;
///
/// /// Sums up the headers.
/// struct Sum(u64);
///
/// impl OnMessage for Sum {
///     fn message(&mut self, _peer: usize, header: u64, _payload: &[u8]) {
///         self.0 += header;
///     }
/// }
///
/// struct Once;
///
/// impl MessageRunner for Once {
///     type Output = Result<(), LinkError>;
///     fn run<P: MessagePort>(self, mut port: P) -> Self::Output {
///         let mut sum = Sum(0);
///         while port.send_short(0, 7, b"payload")? == Post::Busy {
///             port.poll(&mut sum)?;
///         }
///         while sum.0 == 0 {
///             port.wait(&mut sum)?;
///         }
///         assert_eq!(sum.0, 7);
///         Ok(())
///     }
/// }
///
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "inproc")
///     .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)]);
/// let group = ThreadBootstrap::group(1);
/// let needs = Needs::of_messages(64, 1);
/// let connect = Connect::new(&group[0], &case, &[0], needs);
/// Inproc::open(&connect, &Inproc::parse(&case.options)?, Once)??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MessagePort {
    /// True when messages may be lost, doubled or reordered (datagrams): as its transport says.
    const LOSSY: bool = false;

    /// True when an operation costs so much, some hundred nanoseconds or more, that branches on layout and checking are
    /// nothing beside it: loops are then compiled once for all of them instead of once for each.
    const SLOW: bool = false;

    /// True when `send_zcopy` does something: loops that need it are built for such ports alone.
    const ZCOPY: bool = false;

    /// True when `send_shortiov` does something.
    const SHORTIOV: bool = false;

    /// Bytes into a cache line at which the payload of a packed message lies in the transport's storage.
    const PLACE: usize = 0;

    /// Send with the payload inlined by the call; packed, where the medium has no shorter way.
    #[inline(always)]
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        self.send_bcopy(peer, header, payload.len(), |room| copy(payload, room))
    }

    /// Send `len` bytes that `pack` writes straight into the transport's storage. `pack` is not called on `Busy`.
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted;

    /// Send `len` bytes of [`MessagePort::buffer`] from `offset` without a copy by the CPU in user space. They must not
    /// change until counted by [`MessagePort::zcopy_completed`].
    #[inline(always)]
    fn send_zcopy(&mut self, peer: usize, header: u64, offset: usize, len: usize) -> Posted {
        let _ = (peer, header, offset, len);
        Err(LinkError::Unsupported("zcopy"))
    }

    /// As `send_short`, gathering the payload from the pieces into which the transport's options cut it.
    #[inline(always)]
    fn send_shortiov(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        let _ = (peer, header, payload);
        Err(LinkError::Unsupported("shortiov"))
    }

    /// Zero-copy sends completed since connect.
    #[inline(always)]
    fn zcopy_completed(&self) -> u64 {
        0
    }

    /// Registered memory for zero-copy sends, `Needs::buffer_bytes` long. Only where zcopy is offered.
    #[inline(always)]
    fn buffer(&mut self) -> Option<&SharedBytes> {
        None
    }

    /// Call `send`, which sends one message, with `on` for what arrives within it: to a rank that is its own peer, some
    /// media deliver while they send. What does so outside of this is kept, by a copy, until the next `poll`.
    #[inline(always)]
    fn hearing<H: OnMessage>(&mut self, on: &mut H, send: impl FnOnce(&mut Self) -> Posted) -> Posted {
        let _ = on;
        send(self)
    }

    /// Handle what has arrived, and move what is to be sent. Never sleeps. Returns the number of messages handled;
    /// a port handles a bounded number a call, so that a flood cannot hold the loop. Of a medium that a relay
    /// passes on (rings, stream sockets) that is little enough for the relay's memory.
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError>;

    /// As `poll`, but when nothing has arrived, wait as this port's mode says: spin, yield or sleep in the kernel.
    /// May return 0 early. Looks at the cancel flag.
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError>;

    /// After a send to any peer found no room: let the port move, as `poll` does. A port that can sleep until it has room
    /// again, or something arrived, does so.
    #[inline(always)]
    fn wait_for_room<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        self.poll(on)
    }

    /// Whether every send so far has completed locally. Moves what is to be sent; where the medium works inside of calls
    /// alone, it is given a turn also when nothing is, for a peer's send may need it.
    fn flush(&mut self) -> Result<bool, LinkError>;

    /// Facts for the result. Cold.
    fn facts(&self) -> Facts {
        Facts::new()
    }
}

/// Put, get and atomics on the region that every peer exposes (`Needs::region_bytes` long, zeroed at connect).
///
/// Local data live in [`OneSidedPort::local`]. Offsets are in bytes; atomics want them aligned to the word.
/// Operations on one peer's region take effect in order only across [`OneSidedPort::fence`]. Where payloads are checked,
/// the last byte of a put becomes visible after the others.
///
/// A runner is handed the port of a transport that was opened, here of one thread that is its own peer:
///
/// ```
/// use wirespeed::schema::case::{Case, RankSpec, Role};
/// use wirespeed::schema::test::{Layout, PingPong, Test};
/// use wirespeed::transport::{Connect, OneSided, OneSidedRunner, Needs, Transport, inproc::Inproc};
/// use wirespeed::transport::port::{LinkError, OneSidedPort};
/// use wirespeed::ThreadBootstrap;
///
/// struct Once;
///
/// impl OneSidedRunner for Once {
///     type Output = Result<(), LinkError>;
///     fn run<P: OneSidedPort>(self, mut port: P) -> Self::Output {
///         let _ = port.put_short(0, 8, &7u64.to_le_bytes())?;
///         while !port.flush()? {
///             port.wait()?;
///         }
///         // The last byte of a put becomes visible after the others.
///         assert_eq!(port.region().load_u8(8), 7);
///         Ok(())
///     }
/// }
///
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "inproc")
///     .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)]);
/// let group = ThreadBootstrap::group(1);
/// let needs = Needs::default().with_buffer(64).with_region(64, 1);
/// let connect = Connect::new(&group[0], &case, &[0], needs);
/// Inproc::open(&connect, &Inproc::parse(&case.options)?, Once)??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OneSidedPort {
    /// True when `put_zcopy` and `get_zcopy` do something: loops that need them are built for such ports alone.
    const ZCOPY: bool = false;

    /// As [`MessagePort::SLOW`], of the kind of operation and checking.
    const SLOW: bool = false;

    /// Put `data`, inlined by the call. Up to 8 bytes work on every port: the engine's control words need it.
    fn put_short(&mut self, peer: usize, to: usize, data: &[u8]) -> Posted;

    /// Put `len` bytes that `pack` writes into the transport's storage (or the target itself).
    fn put_bcopy(&mut self, peer: usize, to: usize, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted;

    /// Put `len` bytes of the local memory from `from`; counted by [`OneSidedPort::completed`] when `from` may change.
    #[inline(always)]
    fn put_zcopy(&mut self, peer: usize, to: usize, from: usize, len: usize) -> Posted {
        let _ = (peer, to, from, len);
        Err(LinkError::Unsupported("put_zcopy"))
    }

    /// Fetch `len` bytes of the peer's region from `from` into local memory at `to` through the transport's storage.
    /// Counted by [`OneSidedPort::completed`] when they are there.
    fn get_bcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted;

    /// As `get_bcopy`, straight into local memory.
    #[inline(always)]
    fn get_zcopy(&mut self, peer: usize, from: usize, to: usize, len: usize) -> Posted {
        let _ = (peer, from, to, len);
        Err(LinkError::Unsupported("get_zcopy"))
    }

    /// What is asked of a word of the peer's region, atomically. Fetching operations put the old value into their slot,
    /// zero-extended, and are counted by [`OneSidedPort::completed`]; `Add` is not counted.
    fn atomic(&mut self, peer: usize, asked: WordOp) -> Posted;

    /// Value fetched into `slot` by an atomic that has completed.
    fn fetched(&self, slot: usize) -> u64;

    /// Counted operations (gets, zero-copy puts, fetching atomics) completed since connect. They may complete in any
    /// order between peers, in order for one peer.
    fn completed(&self) -> u64;

    /// Operations after the fence take effect at each peer after those before it.
    fn fence(&mut self) -> Posted;

    /// Whether every operation so far has taken effect at its peer.
    fn flush(&mut self) -> Result<bool, LinkError>;

    /// Serve peers and move own operations. Never sleeps. A no-op where the medium does it.
    fn poll(&mut self) -> Result<(), LinkError>;

    /// As `poll`, waiting as the port's mode says. May return at once. Looks at the cancel flag.
    fn wait(&mut self) -> Result<(), LinkError>;

    /// The region that this rank exposes.
    fn region(&self) -> &SharedBytes;

    /// Local memory for puts and gets, `Needs::buffer_bytes` long.
    fn local(&self) -> &SharedBytes;

    /// Facts for the result. Cold.
    fn facts(&self) -> Facts {
        Facts::new()
    }
}

/// A posted send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request(pub u32);

impl Request {
    /// One that was done when it was posted. A port that returns it needs no memory for what has ended, and says whenever it
    /// is asked that it is done.
    pub const DONE: Request = Request(u32::MAX);
}

/// Sends and receives matched by peer and tag, in order for equal tags. Any number may be outstanding, up to
/// `Needs::requests_max`.
///
/// A runner is handed the port of a transport that was opened, here of one thread that is its own peer:
///
/// ```
/// use wirespeed::schema::case::{Case, RankSpec, Role};
/// use wirespeed::schema::test::{Layout, PingPong, Test};
/// use wirespeed::transport::{Connect, Tagged, TaggedRunner, Needs, Transport, inproc::Inproc};
/// use wirespeed::transport::port::{LinkError, TaggedPort};
/// use wirespeed::ThreadBootstrap;
///
/// struct Once;
///
/// impl TaggedRunner for Once {
///     type Output = Result<(), LinkError>;
///     fn run<P: TaggedPort>(self, mut port: P) -> Self::Output {
///         port.buffer().write(0, b"eight by");
///         let into = port.post_recv(0, 42, 32, 8)?;
///         let from = port.post_send(0, 42, 0, 8)?;
///         port.wait_all(&mut vec![into, from])?;
///         let mut arrived = [0; 8];
///         port.buffer().read(32, &mut arrived);
///         assert_eq!(&arrived, b"eight by");
///         Ok(())
///     }
/// }
///
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "inproc")
///     .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)]);
/// let group = ThreadBootstrap::group(1);
/// let needs = Needs::of_messages(64, 1).with_buffer(64).with_requests(8);
/// let connect = Connect::new(&group[0], &case, &[0], needs);
/// Inproc::open(&connect, &Inproc::parse(&case.options)?, Once)??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TaggedPort {
    /// As [`MessagePort::SLOW`], of checking.
    const SLOW: bool = false;

    /// Whether the receive of an answer is best posted before the message is sent. So it is where the port itself matches
    /// and each of its polls is a system call: work behind the send would put off the first of them.
    const RECEIVES_AHEAD: bool = false;

    /// Memory that sends read and receives write, `Needs::buffer_bytes` long. A range in use by a request must not be
    /// touched until the request is done.
    fn buffer(&self) -> &SharedBytes;

    /// Receive a message of `peer` with `tag` into `len` bytes at `offset`. A longer message is `Corrupt`. May return
    /// [`Request::DONE`], as may [`TaggedPort::post_send`].
    fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError>;

    /// Send `len` bytes from `offset` to `peer` with `tag`.
    fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<Request, LinkError>;

    /// Whether `request` is done; if so it is forgotten and its number may come back.
    fn done(&mut self, request: Request) -> Result<bool, LinkError>;

    /// Wait until all are done; empties `requests`. Waits as the port's mode says; looks at the cancel flag.
    fn wait_all(&mut self, requests: &mut Vec<Request>) -> Result<(), LinkError>;

    /// Move what is under way. Whether every send so far has completed locally. Never sleeps.
    fn flush(&mut self) -> Result<bool, LinkError>;

    /// Facts for the result. Cold.
    fn facts(&self) -> Facts {
        Facts::new()
    }
}
