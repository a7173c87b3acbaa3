//! Shared memory between processes (or threads) of one machine: a lock-free ring for each ordered pair of ranks, and a
//! region mapped by all for put, get and atomics.
//!
//! It must never leave anything behind: the memory has no name and ends with the processes that map it.
//!
//! Loops may call: futex.

mod link;

use super::local::{self, LocalOptions, RING, SPIN, WAIT};
use super::options::{OptionError, OptionReader, OptionSpec};
use super::{
    Availability, Connect, Limits, MessageRunner, Messages, OneSided, OneSidedRunner, Ran, Support, Tagged,
    Transport, adapt,
};
use crate::sync::mapping;
use link::SharedFile;
use wirespeed_schema::case::{GroupKind, TransportOptions};

/// The shared-memory transport.
pub struct Shm;

/// Its options, parsed.
pub struct ShmOptions {
    local: LocalOptions,
    huge: bool,
}

impl Transport for Shm {
    const NAME: &'static str = "shm";
    const SUMMARY: &'static str = "shared memory between processes: a lock-free ring, and a mapped region";
    const OPTIONS: &'static [OptionSpec] = &[
        WAIT,
        SPIN,
        RING,
        OptionSpec::new(
            "huge",
            "off|on",
            "put the memory on huge pages where the machine has some reserved; the result says what was got",
        )
        .with_default("off"),
    ];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Native;
    const COPIED_BY_CPU: bool = true;
    type Options = ShmOptions;

    fn parse(options: &TransportOptions) -> Result<ShmOptions, OptionError> {
        let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
        Ok(ShmOptions {
            local: LocalOptions::read(&reader)?,
            huge: reader.choice("huge", &[("off", false), ("on", true)])?,
        })
    }

    fn probe() -> Availability {
        match mapping::create(4096, false) {
            Ok(_) => Availability::Ready,
            Err(errno) => Availability::NotPermitted(format!("memfd_create: {errno}")),
        }
    }

    fn limits(options: &ShmOptions) -> Limits {
        local::limits(&options.local, &[GroupKind::Threads, GroupKind::Processes])
    }
}

impl Messages for Shm {
    fn open<R: MessageRunner>(ctx: &Connect, options: &ShmOptions, runner: R) -> Ran<R::Output> {
        let medium = SharedFile::new(options.huge);
        local::open_messages(ctx, &medium, &options.local, runner)
    }
}

impl Tagged for Shm {}

impl OneSided for Shm {
    fn open<R: OneSidedRunner>(ctx: &Connect, options: &ShmOptions, runner: R) -> Ran<R::Output> {
        let medium = SharedFile::new(options.huge);
        local::open_one_sided(ctx, &medium, runner)
    }
}
