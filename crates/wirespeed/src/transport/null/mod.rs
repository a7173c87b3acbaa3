//! The transport that does nothing: a message sent is a message received, by the same rank. Running the engine's loops
//! over it gives the harness floor: what clock, recording and loop cost without any transport.
//!
//! It must never gain a queue, a copy or a branch that a real measurement would not pay for.
//!
//! Loops may call: nothing.

mod link;

use super::options::{OptionError, OptionReader, OptionSpec};
use super::{
    Atomics, Availability, Connect, Limits, MessageRunner, Messages, NO_SHORTIOV, Ran, SizeLimit, Support,
    Transport,
};
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_schema::test::Layout;

pub use link::NullPort;

/// The null transport.
pub struct Null;

const NO_MEMORY: &str = "it holds no memory";
const MESSAGE_BYTES_MAX: u64 = 1 << 30;

impl Transport for Null {
    const NAME: &'static str = "null";
    const SUMMARY: &'static str = "no-op; measures harness overhead";
    const OPTIONS: &'static [OptionSpec] = &[];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Lacks(NO_MEMORY);
    const ONE_SIDED: Support = Support::Lacks(NO_MEMORY);
    const CARRIES_PAYLOAD: bool = false;
    type Options = ();

    fn parse(options: &TransportOptions) -> Result<(), OptionError> {
        OptionReader::new(Self::NAME, Self::OPTIONS, options).map(drop)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(_: &()) -> Limits {
        Limits {
            messages: [
                SizeLimit::UpTo(MESSAGE_BYTES_MAX),
                SizeLimit::never(NO_MEMORY),
                SizeLimit::never(NO_MEMORY),
                NO_SHORTIOV,
            ],
            put: [const { SizeLimit::never(NO_MEMORY) }; Layout::COUNT],
            get: [const { SizeLimit::never(NO_MEMORY) }; Layout::COUNT],
            atomics: Atomics::NONE,
            tagged: SizeLimit::never(NO_MEMORY),
            groups: &[GroupKind::Threads],
            ranks_max: 1,
        }
    }
}

impl Messages for Null {
    fn open<R: MessageRunner>(ctx: &Connect, _: &(), runner: R) -> Ran<R::Output> {
        Ok(runner.run(NullPort::new(ctx.needs.message_bytes, ctx.cancel.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::host::Floor;

    #[test]
    fn it_is_what_documents_call_the_floor() {
        assert_eq!(Null::NAME, Floor::TRANSPORT);
    }
}
