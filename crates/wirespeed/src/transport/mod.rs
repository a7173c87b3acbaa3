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
pub(crate) mod error;
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
pub use error::ConnectError;
pub(crate) use memory::memory_obstacle;
pub use memory::{buffer, check_available};
pub use room::Room;
pub use service::Service;

use crate::error::MeasureError;
use bootstrap::{Bootstrap, BootstrapError};
use cancel::Cancel;
use options::{OptionError, OptionSpec};
use port::{AtomicOp, Facts, MessagePort, OneSidedPort, TaggedPort, Width};
use std::borrow::Cow;
use waiter::Waiter;
use wirespeed_schema::case::{Case, GroupKind, Role, TransportOptions};
use wirespeed_schema::circle::Circles;
use wirespeed_schema::test::{Capability, Layout, Test};
use wirespeed_schema::units::format_asked_size;

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

/// Whether a layout can be used for an operation, and for which sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeLimit {
    /// Up to so many bytes.
    UpTo(u64),
    /// From the first to the second number of bytes.
    Between(u64, u64),
    /// Not at all, and why. The reason may come from a device: it is not always known beforehand.
    Lacks(Cow<'static, str>),
}

impl SizeLimit {
    /// Not at all, and why.
    pub fn lacks(why: impl Into<Cow<'static, str>>) -> Self {
        SizeLimit::Lacks(why.into())
    }

    /// Not at all, for a reason that is known beforehand.
    pub const fn never(why: &'static str) -> Self {
        SizeLimit::Lacks(Cow::Borrowed(why))
    }

    /// The largest size that is taken; `None` where none is.
    pub fn largest(&self) -> Option<u64> {
        match self {
            SizeLimit::UpTo(max) | SizeLimit::Between(_, max) => Some(*max),
            SizeLimit::Lacks(_) => None,
        }
    }
}

/// Limits by layout, indexed by `Layout as usize`.
pub type ByLayout = [SizeLimit; Layout::COUNT];

/// Why most transports have no layout `shortiov`.
pub const NO_SHORTIOV: SizeLimit =
    SizeLimit::never("its short sends take one piece, there is nothing to gather");

/// Atomic operations that a transport has, by width of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomics([u8; 2]);

impl Atomics {
    /// None of them.
    pub const NONE: Atomics = Atomics([0; 2]);
    /// All of them.
    pub const ALL: Atomics = Atomics([0xF; 2]);

    /// With one more.
    #[must_use]
    pub fn with(mut self, op: AtomicOp, width: Width) -> Self {
        self.0[width as usize] |= 1 << op as u8;
        self
    }

    /// Whether `op` on words of `width` is among them.
    pub fn has(self, op: AtomicOp, width: Width) -> bool {
        self.0[width as usize] & 1 << op as u8 != 0
    }
}

/// What a transport can do with given options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Active messages by layout.
    pub messages: ByLayout,
    /// Puts by layout.
    pub put: ByLayout,
    /// Gets by layout (`short` never: a get has nothing to inline).
    pub get: ByLayout,
    /// Atomic operations.
    pub atomics: Atomics,
    /// Tagged messages.
    pub tagged: SizeLimit,
    /// Kinds of groups that it works in.
    pub groups: &'static [GroupKind],
    /// Most ranks of one group.
    pub ranks_max: u32,
}

impl Limits {
    /// Messages of these sizes and nothing else, between any number of ranks in these kinds of groups.
    pub const fn of_messages(groups: &'static [GroupKind], messages: ByLayout) -> Self {
        const NONE: SizeLimit = SizeLimit::never("the transport has messages alone");
        Limits {
            messages,
            put: [NONE; Layout::COUNT],
            get: [NONE; Layout::COUNT],
            atomics: Atomics::NONE,
            tagged: NONE,
            groups,
            ranks_max: u32::MAX,
        }
    }

    /// With tagged messages of these sizes.
    #[must_use]
    pub fn with_tagged(mut self, tagged: SizeLimit) -> Self {
        self.tagged = tagged;
        self
    }

    /// With puts and gets of these sizes.
    #[must_use]
    pub fn with_one_sided(mut self, put: ByLayout, get: ByLayout) -> Self {
        (self.put, self.get) = (put, get);
        self
    }

    /// With these atomic operations.
    #[must_use]
    pub fn with_atomics(mut self, atomics: Atomics) -> Self {
        self.atomics = atomics;
        self
    }

    /// With at most so many ranks in a group.
    #[must_use]
    pub fn with_ranks_max(mut self, ranks: u32) -> Self {
        self.ranks_max = ranks;
        self
    }

    /// The limit that applies to `test`.
    pub fn of(&self, test: &Test) -> SizeLimit {
        let [short, bcopy, zcopy, shortiov] = self.by_layout(test);
        match test.layout().unwrap_or(Layout::Short) {
            Layout::Short => short,
            Layout::Bcopy => bcopy,
            Layout::Zcopy => zcopy,
            Layout::Shortiov => shortiov,
        }
    }

    /// Whether it works in groups of this kind. The ranks of a job are processes like others; whether they share a
    /// machine is for the one who knows the job to say.
    pub fn works_in(&self, group: GroupKind) -> bool {
        let between_processes = [GroupKind::Processes, GroupKind::Hosts];
        let is_process = || between_processes.iter().any(|kind| self.groups.contains(kind));
        self.groups.contains(&group) || group == GroupKind::Job && is_process()
    }

    /// The most that any layout takes of `test`; 0 when none does.
    pub fn largest_of(&self, test: &Test) -> u64 {
        let by_layout = self.by_layout(test);
        by_layout.iter().filter_map(SizeLimit::largest).max().unwrap_or(0)
    }

    fn by_layout(&self, test: &Test) -> ByLayout {
        match test {
            Test::AmLat(_) | Test::AmBw(_) | Test::AmBibw(_) | Test::HubLat(_) | Test::AmAlltoall(_) => {
                self.messages.clone()
            }
            Test::PutLat(_) | Test::PutBw(_) => self.put.clone(),
            Test::Get(_) | Test::GetBw(_) => self.get.clone(),
            test if test.capability() == Capability::Tagged => std::array::from_fn(|_| self.tagged.clone()),
            Test::AddLat(_) | Test::AddMr(_) => self.atomic(AtomicOp::Add, test),
            Test::Fadd(_) => self.atomic(AtomicOp::FetchAdd, test),
            // Windows of fixed size, whatever the block.
            Test::BulkGet(_) | Test::BulkPut(_) => std::array::from_fn(|_| SizeLimit::UpTo(u64::MAX)),
            Test::Swap(_) => self.atomic(AtomicOp::Swap, test),
            Test::Cswap(_) => self.atomic(AtomicOp::CompareSwap, test),
            _ => std::array::from_fn(|_| SizeLimit::UpTo(8)),
        }
    }

    fn atomic(&self, op: AtomicOp, test: &Test) -> ByLayout {
        let (width, bytes) = if test.size_bytes() == 4 {
            (Width::W4, 4)
        } else {
            (Width::W8, 8)
        };
        let limit = match self.atomics.has(op, width) {
            true => SizeLimit::UpTo(8),
            false => SizeLimit::lacks(format!(
                "there is no atomic {} on words of {bytes} bytes",
                op.name()
            )),
        };
        std::array::from_fn(|_| limit.clone())
    }
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

/// A rank's options of its transport.
pub(crate) fn options_at<T: Transport>(case: &Case, rank: u32) -> Result<T::Options, MeasureError> {
    T::parse(&case.options_at(rank)).map_err(not_understood)
}

fn not_understood(error: OptionError) -> MeasureError {
    MeasureError::Usage(error.to_string())
}

/// Why a transport cannot run a case, found before anything is opened. What ranks have of their own may not be had here, so it
/// is only read.
pub fn check<T: Transport>(case: &Case) -> Result<(), MeasureError> {
    let options = T::parse(&case.options).map_err(not_understood)?;
    for (rank, _) in (0..)
        .zip(&case.ranks)
        .filter(|(_, rank)| !rank.options.is_empty())
    {
        options_at::<T>(case, rank)?;
    }
    let kind = Kind {
        name: T::NAME,
        support: match case.test.capability() {
            Capability::Messages => T::MESSAGES,
            Capability::Tagged => T::TAGGED,
            Capability::OneSided => T::ONE_SIDED,
            Capability::Bulk => T::BULK,
        },
        lossy: T::LOSSY,
        carries_payload: T::CARRIES_PAYLOAD,
    };
    kind.runs(case)?;
    if let Availability::Missing(why) | Availability::NotPermitted(why) = T::ready(&options) {
        return refuse(case, &why);
    }
    kind.takes(case, &T::limits(&options))
}

fn refuse(case: &Case, why: &str) -> Result<(), MeasureError> {
    Err(MeasureError::Unsupported(format!("{}: {why}", case.label())))
}

/// What a check needs of a transport, so that the rest of it is compiled once.
struct Kind {
    name: &'static str,
    /// Of what the case's test needs.
    support: Support,
    lossy: bool,
    carries_payload: bool,
}

impl Kind {
    /// Whether it runs tests of this kind, whatever its options.
    fn runs(&self, case: &Case) -> Result<(), MeasureError> {
        if let Support::Lacks(why) = self.support {
            let capability = case.test.capability().in_words();
            return refuse(case, &format!("{} has no {capability}: {why}", self.name));
        }
        if self.lossy && matches!(case.test, Test::HubLat(_)) {
            return refuse(case, "a hub waits for every answer, and datagrams may be lost");
        }
        let relayed = case.ranks.iter().any(|rank| rank.role == Role::Relay);
        if self.lossy && (relayed || matches!(case.test, Test::AmAlltoall(_))) {
            return refuse(
                case,
                "its credits wait for every message, and datagrams may be lost",
            );
        }
        if case.check && !self.carries_payload {
            return refuse(case, &format!("{} carries no payload to check", self.name));
        }
        Ok(())
    }

    /// Whether its limits hold the case.
    fn takes(&self, case: &Case, limits: &Limits) -> Result<(), MeasureError> {
        let Kind { name, support, .. } = self;
        if !limits.works_in(case.group) {
            let group = group_name(case.group);
            return refuse(case, &format!("{name} does not work between {group}"));
        }
        if case.ranks.len() > limits.ranks_max as usize {
            return refuse(case, &format!("{name} takes at most {} ranks", limits.ranks_max));
        }
        let size = case.test.largest_message_bytes();
        let asked = format_asked_size(size);
        let above = |max: u64| {
            let most = format_asked_size(max);
            let told = match most == asked {
                // They look alike, and are not.
                true => format!("size {size} B is above the limit of {max} B"),
                false => format!("size {asked} is above the limit of {most}"),
            };
            refuse(case, &told)
        };
        match limits.of(&case.test) {
            // Another layout would not help either: then the size is the reason.
            SizeLimit::Lacks(_) if (1..size).contains(&limits.largest_of(&case.test)) => {
                above(limits.largest_of(&case.test))
            }
            SizeLimit::Lacks(why) => refuse(case, &format!("no such layout on {name}: {why}")),
            SizeLimit::UpTo(max) | SizeLimit::Between(_, max) if size > max => {
                // Where no layout takes it, the limit is the most that one does.
                let most = limits.largest_of(&case.test);
                above(if size > most { most } else { max })
            }
            SizeLimit::Between(min, _) if size < min => {
                let min = format_asked_size(min);
                refuse(
                    case,
                    &format!("size {asked} is below the least of {min} for this layout"),
                )
            }
            SizeLimit::UpTo(_) | SizeLimit::Between(..) => {
                memory::check(case, matches!(support, Support::Emulated(..)))
            }
        }
    }
}

fn group_name(group: GroupKind) -> &'static str {
    match group {
        GroupKind::Threads => "threads of one process",
        GroupKind::Processes => "processes of one machine",
        GroupKind::Hosts => "two machines",
        GroupKind::Job => "processes of a launcher's job",
    }
}
