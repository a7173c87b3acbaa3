//! The list of transports: a value, built by whoever starts a run, never a global.

use super::options::OptionSpec;
use super::port::Facts;
use super::{
    Availability, Bootstrap, Bulk, Limits, Messages, OneSided, Resource, Support, Tagged, Transport,
};
use crate::engine;
pub use crate::engine::Report;
use crate::error::MeasureError;
use wirespeed_schema::case::{Case, TransportOptions};
use wirespeed_schema::outcome::Outcome;
use wirespeed_schema::test::Capability;

/// The transports of this library. THE list: a line each, with the constructor of its [`Entry`], its folder and its type.
/// `$each` is a macro that is handed all lines.
#[macro_export]
macro_rules! transports {
    ($each:ident) => {
        $each! {
            of_messages null::Null,
            of inproc::Inproc,
            of shm::Shm,
            of unix::Unix,
            of tcp::Tcp,
            of_messages udp::Udp,
        }
    };
}

/// Runs one case on one rank, to the end: the only place where the transport's type is erased.
pub type RunFn = fn(&Case, &dyn Bootstrap, Report) -> Result<Outcome, MeasureError>;

/// The engine's tests for a transport, by what they need of it.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Runners {
    /// Tests of active messages.
    pub messages: Option<RunFn>,
    /// Tests of matched sends and receives.
    pub tagged: Option<RunFn>,
    /// Tests of put, get and atomics.
    pub one_sided: Option<RunFn>,
    /// Wholes moved in blocks.
    pub bulk: Option<RunFn>,
}

/// One transport as the registry knows it: [`Transport`] shows one made of a transport of the caller's own.
///
/// ```
/// use wirespeed::Registry;
/// use wirespeed::schema::test::Capability;
/// use wirespeed::transport::{Availability, Support};
///
/// let registry = Registry::builtin();
/// let tcp = registry.find("tcp").unwrap();
/// assert_eq!(tcp.support(Capability::Messages), Support::Native);
/// assert_eq!((tcp.probe)(), Availability::Ready);
/// assert!((tcp.limits)(&Default::default())?.ranks_max > 2);
/// # Ok::<(), wirespeed::MeasureError>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Entry {
    /// What runs its tests.
    pub runners: Runners,
    /// Name as typed.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Options that it takes.
    pub options: &'static [OptionSpec],
    /// Active messages.
    pub messages: Support,
    /// Matched sends and receives.
    pub tagged: Support,
    /// Put, get, atomics.
    pub one_sided: Support,
    /// Wholes moved in blocks.
    pub bulk: Support,
    /// Whether messages may be lost, doubled or reordered.
    pub lossy: bool,
    /// Whether a CPU writes every payload byte between local ranks.
    pub copied_by_cpu: bool,
    /// Whether it sends payloads from where they are.
    pub in_place: bool,
    /// Whether tagged messages are its own, and active messages are made of them.
    pub tags_first: bool,
    /// Whether its ranks are those of a job, which open ports all together.
    pub job_wide: bool,
    /// Whether this machine can use it.
    pub probe: fn() -> Availability,
    /// Whether it can run a case; everything is checked before anything is opened.
    pub check: fn(&Case) -> Result<(), MeasureError>,
    /// What is known of it on this machine, for people.
    pub about: fn() -> Facts,
    /// What it can do with given options.
    pub limits: fn(&TransportOptions) -> Result<Limits, MeasureError>,
    /// Whether devices decide what it can do.
    pub by_device: bool,
    /// The devices among which given options leave a choice.
    pub resources: fn(&TransportOptions) -> Result<Vec<Resource>, MeasureError>,
}

impl Entry {
    /// The entry of a transport with every capability, by its own means or emulated.
    pub const fn of<T: Messages + Tagged + OneSided>() -> Self {
        let runners = Runners {
            messages: Some(engine::messages::<T>),
            tagged: Some(engine::tagged::<T>),
            one_sided: Some(engine::one_sided::<T>),
            bulk: None,
        };
        Entry::with_runners::<T>(runners)
    }

    /// The entry of a transport that moves wholes between here and a service.
    pub const fn of_bulk<T: Bulk>() -> Self {
        const {
            assert!(
                !matches!(T::BULK, Support::Lacks(_)) && matches!(T::MESSAGES, Support::Lacks(_)),
                "it must say that it moves wholes, and no messages"
            );
        }
        let runners = Runners {
            messages: None,
            tagged: None,
            one_sided: None,
            bulk: Some(engine::bulk::<T>),
        };
        Entry::with_runners::<T>(runners)
    }

    /// The entry of a transport that has active messages alone, and says why it lacks the rest.
    pub const fn of_messages<T: Messages>() -> Self {
        const {
            assert!(
                matches!(T::TAGGED, Support::Lacks(_)) && matches!(T::ONE_SIDED, Support::Lacks(_)),
                "what a transport offers needs a runner: use Entry::of"
            );
        }
        let runners = Runners {
            messages: Some(engine::messages::<T>),
            tagged: None,
            one_sided: None,
            bulk: None,
        };
        Entry::with_runners::<T>(runners)
    }

    /// The entry of a transport that this build was made without: it is listed with the reason for which it lacks everything,
    /// and refused with it.
    pub const fn of_absent<T: Transport>() -> Self {
        const {
            assert!(
                matches!(
                    (T::MESSAGES, T::TAGGED, T::ONE_SIDED),
                    (Support::Lacks(_), Support::Lacks(_), Support::Lacks(_))
                ),
                "what a transport offers needs a runner: use Entry::of"
            );
        }
        Entry::with_runners::<T>(Runners {
            messages: None,
            tagged: None,
            one_sided: None,
            bulk: None,
        })
    }

    const fn with_runners<T: Transport>(runners: Runners) -> Self {
        Entry {
            runners,
            name: T::NAME,
            summary: T::SUMMARY,
            options: T::OPTIONS,
            messages: T::MESSAGES,
            tagged: T::TAGGED,
            one_sided: T::ONE_SIDED,
            bulk: T::BULK,
            lossy: T::LOSSY,
            copied_by_cpu: T::COPIED_BY_CPU,
            in_place: T::IN_PLACE,
            tags_first: T::TAGS_FIRST,
            job_wide: T::JOB_WIDE,
            probe: T::probe,
            check: super::check::<T>,
            about: T::about,
            limits: |options| parsed::<T, _>(options, T::limits),
            by_device: T::BY_DEVICE,
            resources: |options| parsed::<T, _>(options, T::resources),
        }
    }

    /// What runs tests that need `capability`; nothing where the transport lacks it.
    pub fn runner(&self, capability: Capability) -> Option<RunFn> {
        match capability {
            Capability::Messages => self.runners.messages,
            Capability::Tagged => self.runners.tagged,
            Capability::OneSided => self.runners.one_sided,
            Capability::Bulk => self.runners.bulk,
        }
    }

    /// How it offers `capability`.
    pub fn support(&self, capability: Capability) -> Support {
        match capability {
            Capability::Messages => self.messages,
            Capability::Tagged => self.tagged,
            Capability::OneSided => self.one_sided,
            Capability::Bulk => self.bulk,
        }
    }
}

fn parsed<T: Transport, R>(
    options: &TransportOptions,
    ask: impl FnOnce(&T::Options) -> R,
) -> Result<R, MeasureError> {
    T::parse(options)
        .map(|o| ask(&o))
        .map_err(|e| MeasureError::Usage(e.to_string()))
}

/// Transports by name, in the order in which they are shown.
#[derive(Clone)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// The transports of this library.
    pub fn builtin() -> Self {
        macro_rules! entries {
            ($($of:ident $folder:ident::$transport:ident,)*) => {
                vec![$(Entry::$of::<super::$folder::$transport>()),*]
            };
        }
        Registry {
            entries: crate::transports!(entries),
        }
    }

    /// No transports at all.
    pub fn empty() -> Self {
        Registry { entries: Vec::new() }
    }

    /// With one more; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        self.entries.retain(|e| e.name != entry.name);
        self.entries.push(entry);
        self
    }

    /// The transport called `name`.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name == name)
    }

    /// All of them.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
