//! What a transport is: one folder here, one line in [`registry`], and the capabilities that it implements.
//!
//! The cold half is [`Transport`]: name, options, limits, probe. The hot halves are the traits of [`port`]; a transport
//! opens a port and hands it to a runner by value, so that everything after is monomorphic. `dyn` never enters a loop.
//!
//! A transport must never know another transport, the command line, or how ranks were started.

#[cfg(not(all(feature = "uring", feature = "seal")))]
mod absent;
pub mod adapt;
pub mod bootstrap;
mod bulk;
pub mod cancel;
mod capabilities;
mod check;
pub(crate) mod error;
mod limits;
pub mod options;
pub mod port;
pub mod registry;
pub(crate) mod room;
pub(crate) mod seal;
mod service;
pub mod waiter;
mod word;

#[cfg(test)]
mod fixtures;
mod link_errno;
mod local;
mod memory;
mod stream_socket;

// The folders of the transports in the list.
macro_rules! folders {
    ($($of:ident $folder:ident::$transport:ident,)*) => {
        $(pub mod $folder;)*
    };
}
crate::transports!(folders);

pub use bulk::{Bulk, Carried, NO_MESSAGES};
pub use capabilities::{OneSided, Tagged};
pub use check::check;
pub(crate) use check::options_at;
pub use error::ConnectError;
pub use limits::{Atomics, ByLayout, Limits, NO_SHORTIOV, SizeLimit};
pub(crate) use memory::memory_obstacle;
pub use memory::{buffer, check_available};
pub use room::Room;
pub use service::Service;

use bootstrap::{Bootstrap, BootstrapError};
use cancel::Cancel;
use options::{OptionError, OptionSpec};
use port::{Facts, MessagePort, OneSidedPort, TaggedPort};
use serde::Serialize;
use serde::de::DeserializeOwned;
use waiter::Waiter;
use wirespeed_schema::case::{Case, TransportOptions};
use wirespeed_schema::circle::Circles;

/// Whether this machine can use a transport.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// It can.
    Ready,
    /// A library, kernel feature or device is missing; the reason names it.
    Missing(String),
    /// The kernel refuses; the reason names what and the remedy.
    NotPermitted(String),
}

/// How a transport offers a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// By its own means.
    Native,
    /// Through another capability; the words say how, and go into the result.
    Emulated(&'static str),
    /// Not at all, and why.
    Lacks(&'static str),
}

/// Sizes that a port must be able to serve; computed by the engine from the case.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Needs {
    /// Largest active message.
    pub message_bytes: usize,
    /// Messages that may be unacknowledged at once.
    pub window_msgs: u64,
    /// Local memory: zero-copy sends, puts, gets, tagged buffers.
    pub buffer_bytes: usize,
    /// Region exposed to peers.
    pub region_bytes: usize,
    /// Slots for fetched values.
    pub fetch_slots: usize,
    /// Tagged requests outstanding at once.
    pub requests_max: usize,
    /// Messages of one peer that may come before their receives are posted, where the test knows; 0 where not.
    pub unexpected_msgs: usize,
}

impl Needs {
    /// Messages of up to `message_bytes`, `window_msgs` of them unacknowledged at once; nothing else.
    pub fn of_messages(message_bytes: usize, window_msgs: u64) -> Self {
        Needs {
            message_bytes,
            window_msgs,
            ..Needs::default()
        }
    }

    /// With so much local memory, in bytes.
    #[must_use]
    pub fn with_buffer(mut self, bytes: usize) -> Self {
        self.buffer_bytes = bytes;
        self
    }

    /// With so large a region exposed to peers, in bytes, and so many slots for fetched values.
    #[must_use]
    pub fn with_region(mut self, bytes: usize, fetch_slots: usize) -> Self {
        (self.region_bytes, self.fetch_slots) = (bytes, fetch_slots);
        self
    }

    /// With so many tagged requests outstanding at once.
    #[must_use]
    pub fn with_requests(mut self, requests_max: usize) -> Self {
        self.requests_max = requests_max;
        self
    }
}

/// What a transport gets to open a port.
#[non_exhaustive]
pub struct Connect<'a> {
    /// The group. `open` is collective: every rank calls it and makes the same number of exchanges, peers or none. Ranks
    /// without a part may be absent, unless the transport is `JOB_WIDE`: their blobs are empty. See [`Connect::exchange`].
    pub bootstrap: &'a dyn Bootstrap,
    /// The case, in which ranks whose data do not meet this one's may be idle.
    pub case: &'a Case,
    /// Ranks that this rank exchanges data with; ports number them by their place here. Symmetric over the group. May hold this rank itself (loopback).
    pub peers: &'a [u32],
    /// Sizes to provide for.
    pub needs: Needs,
    /// Whether the ranks of this machine have CPUs of their own.
    pub room: Room,
    /// The flag that ends the run early.
    pub cancel: Cancel,
}

impl<'a> Connect<'a> {
    /// A port of `bootstrap`'s rank for `case`, to exchange data with `peers`. The bootstrap's flag ends it early. Ranks have
    /// CPUs of their own, unless the case says that they yield.
    pub fn new(bootstrap: &'a dyn Bootstrap, case: &'a Case, peers: &'a [u32], needs: Needs) -> Self {
        Connect {
            cancel: bootstrap.cancel(),
            room: Room::said(case.idle),
            bootstrap,
            case,
            peers,
            needs,
        }
    }

    /// The same for a port of other sizes.
    pub(crate) fn with_needs(&self, needs: Needs) -> Self {
        Connect {
            needs,
            cancel: self.cancel.clone(),
            ..*self
        }
    }

    /// The lowest of the ranks whose data meet this one's, directly or through others, and the same for all of them.
    pub fn circle(&self) -> u32 {
        Circles::of(self.case).of_rank(self.bootstrap.rank())
    }

    /// Give `blob` to the ranks of this one's circle; returns theirs by rank, the own included. In place of the blobs of others
    /// there may be empty ones. Collective over the group.
    pub fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        self.bootstrap.exchange_among(u64::from(self.circle()), blob)
    }

    /// As [`Connect::exchange`], of what each rank is reached by, as JSON; returns what the peers gave, in their order.
    pub fn exchange_addresses<A: Serialize + DeserializeOwned>(
        &self,
        own: &A,
    ) -> Result<Vec<A>, ConnectError> {
        let blob = serde_json::to_vec(own).map_err(|e| ConnectError::Other(e.to_string()))?;
        let blobs = self.exchange(&blob)?;
        let of = |&rank: &u32| {
            let bad = |what: String| ConnectError::BadPeer { rank, what };
            let blob = blobs
                .get(rank as usize)
                .ok_or_else(|| bad("there is no such rank".into()))?;
            serde_json::from_slice(blob).map_err(|e| bad(format!("an unreadable address: {e}")))
        };
        self.peers.iter().map(of).collect()
    }

    /// What a port that polls does when it has nothing to do.
    pub fn waiter(&self) -> Waiter {
        Waiter::new(self.room.idle(), self.cancel.clone()).of_peers(self.peers.len())
    }
}

/// The cold half of a transport.
///
/// ```
/// use wirespeed::transport::{Availability, NO_SHORTIOV, SizeLimit, Support, Transport};
/// use wirespeed::transport::{Connect, Limits, MessageRunner, Messages, Ran, null::Null};
/// use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
/// use wirespeed::transport::registry::Entry;
/// use wirespeed::schema::case::{Case, GroupKind, RankSpec, Role, Stop, TransportOptions};
/// use wirespeed::schema::test::{Layout, PingPong, Test};
/// use wirespeed::{Registry, ThreadBootstrap, measure};
///
/// /// Goes nowhere, as `null` does; a transport of use builds a port of its own.
/// struct Nowhere;
///
/// impl Transport for Nowhere {
///     const NAME: &'static str = "nowhere";
///     const SUMMARY: &'static str = "an example";
///     const OPTIONS: &'static [OptionSpec] =
///         &[OptionSpec::new("max", "SIZE", "largest message").with_default("1k")];
///     const MESSAGES: Support = Support::Native;
///     const TAGGED: Support = Support::Lacks("it is an example");
///     const ONE_SIDED: Support = Support::Lacks("it is an example");
///     const CARRIES_PAYLOAD: bool = false;
///     type Options = u64;
///
///     fn parse(options: &TransportOptions) -> Result<u64, OptionError> {
///         let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
///         Ok(reader.size("max")?.unwrap_or(1 << 10))
///     }
///
///     fn probe() -> Availability {
///         Availability::Ready
///     }
///
///     fn limits(max: &u64) -> Limits {
///         let none = || SizeLimit::never("it is an example");
///         let messages = [SizeLimit::UpTo(*max), none(), none(), NO_SHORTIOV];
///         Limits::of_messages(&[GroupKind::Threads], messages).with_ranks_max(1)
///     }
/// }
///
/// impl Messages for Nowhere {
///     fn open<R: MessageRunner>(ctx: &Connect, _: &u64, runner: R) -> Ran<R::Output> {
///         Null::open(ctx, &(), runner)
///     }
/// }
///
/// let registry = Registry::empty().with(Entry::of_messages::<Nowhere>());
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "nowhere")
///     .with_ranks(vec![RankSpec::new(Role::Source).with_peer(0)])
///     .with_stop(Stop::Iterations { count: 100 })
///     .with_warmup(10, 1_000_000);
/// let outcome = measure(&case, &registry, &ThreadBootstrap::group(1)[0], &mut |_| ())?;
/// assert_eq!(outcome.sent.messages, 100);
/// let large = case.with_option("max", "4");
/// assert!(measure(&large, &registry, &ThreadBootstrap::group(1)[0], &mut |_| ()).is_err());
/// # Ok::<(), wirespeed::MeasureError>(())
/// ```
pub trait Transport: Sized + 'static {
    /// Name as typed.
    const NAME: &'static str;
    /// One line for `wirespeed list`.
    const SUMMARY: &'static str;
    /// Options that it takes.
    const OPTIONS: &'static [OptionSpec];
    /// Active messages: `Support::Native` or why not.
    const MESSAGES: Support;
    /// Matched sends and receives: `engine::tagged::<Self>`.
    const TAGGED: Support;
    /// Put, get, atomics: `engine::one_sided::<Self>`.
    const ONE_SIDED: Support;
    /// Wholes moved in blocks between here and a service.
    const BULK: Support = NO_BULK;
    /// Whether payload bytes reach the peer, so that they can be checked.
    const CARRIES_PAYLOAD: bool = true;
    /// Whether messages may be lost, doubled or reordered.
    const LOSSY: bool = false;
    /// Whether a CPU of this machine writes every payload byte between local ranks: then no flow can be faster than a
    /// memory copy. False where a device or a page table may move data.
    const COPIED_BY_CPU: bool = false;
    /// Whether layout short sends payloads from where they are, so that on the usual paths no other layout is faster at any
    /// size: it is the default then.
    const IN_PLACE: bool = false;
    /// Whether tagged messages are what its library has, and active messages are made of them: then `latency`, `rate` and
    /// `bandwidth` are the tests of tagged messages.
    const TAGS_FIRST: bool = false;
    /// Whether its ranks are those of a launcher's job, which open ports all together: ranks without a part too.
    const JOB_WIDE: bool = false;
    /// Its options, parsed.
    type Options: 'static;

    /// Parse the options; unknown names and values are refused.
    fn parse(options: &TransportOptions) -> Result<Self::Options, OptionError>;

    /// Whether devices decide what it can do: limits differ between machines and between options.
    const BY_DEVICE: bool = false;

    /// Whether this machine can use it.
    fn probe() -> Availability;

    /// Whether this machine can use it with these options, which may name another library or device.
    fn ready(options: &Self::Options) -> Availability {
        let _ = options;
        Self::probe()
    }

    /// What it can do with these options.
    fn limits(options: &Self::Options) -> Limits;

    /// What is known of it on this machine before anything is opened: its library, versions, devices. For people.
    fn about() -> Facts {
        Facts::new()
    }

    /// The devices that there are, where options choose among them.
    fn resources(options: &Self::Options) -> Vec<Resource> {
        let _ = options;
        Vec::new()
    }
}

/// One of the devices (or ways) among which a transport's options choose.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// The options that choose it.
    pub options: TransportOptions,
    /// What it is, in a few words.
    pub about: String,
}

impl Resource {
    /// What `options` choose, and what that is.
    pub fn new(options: TransportOptions, about: impl Into<String>) -> Self {
        Resource {
            options,
            about: about.into(),
        }
    }
}

/// What comes of opening a port: what the runner made of it, or why there was none.
pub type Ran<T> = Result<T, ConnectError>;

/// Runs on a message port of any type; implemented by the engine.
pub trait MessageRunner {
    /// What comes back.
    type Output;
    /// Take the port to the end of the measurement.
    fn run<P: MessagePort>(self, port: P) -> Self::Output;
}

/// Runs on a one-sided port of any type.
pub trait OneSidedRunner {
    /// What comes back.
    type Output;
    /// Take the port to the end of the measurement.
    fn run<P: OneSidedPort>(self, port: P) -> Self::Output;
}

/// Runs on a tagged port of any type.
pub trait TaggedRunner {
    /// What comes back.
    type Output;
    /// Take the port to the end of the measurement.
    fn run<P: TaggedPort>(self, port: P) -> Self::Output;
}

/// A transport with active messages.
pub trait Messages: Transport {
    /// Connect to all peers and run. Options choose the port's type here, once.
    fn open<R: MessageRunner>(ctx: &Connect, options: &Self::Options, runner: R) -> Ran<R::Output>;
}

/// What ranks that exchange messages say of wholes.
pub(crate) const NO_BULK: Support = Support::Lacks("it moves messages between ranks, no files of a service");
