//! What transports over connected stream sockets share: the frame, the hand-shake, the ports, and the options of every
//! stream socket. `unix` and `tcp` bring the addresses and the options of their own kind.
//!
//! It must never know which kind of socket it has, nor be a transport itself.
//!
//! Loops may call: sockets.

mod frame;
mod guest;
mod inbox;
mod link;
#[cfg(feature = "uring")]
mod link_uring;
mod meet;
#[cfg(not(feature = "uring"))]
mod no_uring;
mod options;
mod outbox;
mod port;
mod setup;
mod zerocopy;

pub use meet::{Family, Listening, meet};
pub use options::{COMMON_OPTIONS, StreamOptions, Wait};
pub use setup::{Describe, Link, Setup};

use super::seal::{self, Either, Keys};
use super::{Atomics, ByLayout, Connect, Limits, MessageRunner, NO_SHORTIOV, Ran, SizeLimit, adapt};
#[cfg(not(feature = "uring"))]
use no_uring as link_uring;
use port::StreamPort;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::test::Layout;

/// Largest message of a stream socket transport: what a frame's length can say.
pub const MESSAGE_BYTES_MAX: u64 = u32::MAX as u64;

/// Largest zero-copy send: several of them are kept in place at once.
pub const ZCOPY_BYTES_MAX: u64 = 1 << 30;

/// Run on a port over `links` that waits as `options` say.
pub fn run<R: MessageRunner>(
    ctx: &Connect,
    options: &StreamOptions,
    links: Vec<Link>,
    describe: Describe,
    runner: R,
) -> Ran<R::Output> {
    let zerocopy = ctx.case.test.layout() == Some(Layout::Zcopy);
    let keys = match options.cipher {
        Some(cipher) => Some(Keys::agree(ctx, cipher)?),
        None => None,
    };
    let message_bytes_max = match keys {
        Some(_) => seal::sealed_bytes(ctx.needs.message_bytes),
        None => ctx.needs.message_bytes,
    };
    let setup = Setup {
        message_bytes_max,
        coalesce_bytes: options.coalesce_bytes,
        zerocopy_bytes: zerocopy.then_some(ctx.needs.buffer_bytes),
        waiter: ctx.waiter(),
        describe,
    };
    let wait = options.wait_in(ctx.room);
    let sleeps = !matches!(wait, Wait::Poll);
    if sleeps {
        for link in &links {
            link.wake_on(&ctx.cancel);
        }
    }
    if let Some(keys) = keys {
        let port = match wait {
            Wait::Poll | Wait::Block => Either::Left(StreamPort::new(links, sleeps, setup)?),
            Wait::Uring => Either::Right(link_uring::open(links, setup)?),
        };
        return Ok(runner.run(seal::sealed(port, keys)?));
    }
    Ok(match wait {
        Wait::Poll | Wait::Block => runner.run(StreamPort::new(links, sleeps, setup)?),
        Wait::Uring => runner.run(link_uring::open(links, setup)?),
    })
}

/// What a transport over stream sockets can do: messages, and the rest over them. `zcopy` is the transport's own limit for
/// zero-copy sends.
pub fn limits(options: &StreamOptions, zcopy: SizeLimit, groups: &'static [GroupKind]) -> Limits {
    let messages = message_limits(options, zcopy);
    let (put, get) = adapt::one_sided::limits(&messages);
    let tagged = messages[Layout::Bcopy as usize].clone();
    Limits::of_messages(groups, messages)
        .with_tagged(tagged)
        .with_one_sided(put, get)
        .with_atomics(Atomics::ALL)
        .with_ranks_max(seal::ranks_max(options.cipher, u32::MAX))
}

/// Sizes of messages by layout: `zcopy` is the transport's own limit for zero-copy sends.
fn message_limits(options: &StreamOptions, zcopy: SizeLimit) -> ByLayout {
    // Encrypted, a message is longer than its payload.
    let overhead = options.cipher.map_or(0, |_| seal::OVERHEAD_BYTES as u64);
    let copied = SizeLimit::UpTo(MESSAGE_BYTES_MAX - overhead);
    let zcopy = match (options.cipher, zcopy) {
        (Some(_), SizeLimit::UpTo(_) | SizeLimit::Between(..)) => SizeLimit::never(seal::NO_ZCOPY),
        (_, own) => own,
    };
    if matches!(options.wait, Some(Wait::Uring)) {
        if let Err(why) = link_uring::available() {
            return std::array::from_fn(|_| SizeLimit::lacks(why));
        }
        let no_zcopy = SizeLimit::never("wait=uring sends by copy; take wait=poll or wait=block");
        let zcopy = match zcopy {
            lacks @ SizeLimit::Lacks(_) => lacks,
            _ => no_zcopy,
        };
        return [copied.clone(), copied, zcopy, NO_SHORTIOV];
    }
    [copied.clone(), copied, zcopy, NO_SHORTIOV]
}
