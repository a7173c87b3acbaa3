//! Threads of one process: the rings and regions of shared memory, on the heap.
//!
//! It must never be offered to ranks in different processes: peers are reached by pointer.
//!
//! Loops may call: futex.

mod link;

use super::local::{self, LocalOptions, RING, SPIN, WAIT};
use super::options::{OptionError, OptionReader, OptionSpec};
use super::{
    Availability, Connect, Limits, MessageRunner, Messages, OneSided, OneSidedRunner, Ran, Support, Tagged,
    Transport, adapt,
};
use link::Heap;
use wirespeed_schema::case::{GroupKind, TransportOptions};

/// The transport between threads.
pub struct Inproc;

impl Transport for Inproc {
    const NAME: &'static str = "inproc";
    const SUMMARY: &'static str = "threads of one process: a lock-free ring, and memory shared directly";
    const OPTIONS: &'static [OptionSpec] = &[WAIT, SPIN, RING];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Native;
    const COPIED_BY_CPU: bool = true;
    type Options = LocalOptions;

    fn parse(options: &TransportOptions) -> Result<LocalOptions, OptionError> {
        LocalOptions::read(&OptionReader::new(Self::NAME, Self::OPTIONS, options)?)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(options: &LocalOptions) -> Limits {
        local::limits(options, &[GroupKind::Threads])
    }
}

impl Messages for Inproc {
    fn open<R: MessageRunner>(ctx: &Connect, options: &LocalOptions, runner: R) -> Ran<R::Output> {
        local::open_messages(ctx, &Heap, options, runner)
    }
}

impl Tagged for Inproc {}

impl OneSided for Inproc {
    fn open<R: OneSidedRunner>(ctx: &Connect, _: &LocalOptions, runner: R) -> Ran<R::Output> {
        local::open_one_sided(ctx, &Heap, runner)
    }
}
