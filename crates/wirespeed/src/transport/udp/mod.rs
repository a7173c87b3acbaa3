//! UDP: each message one datagram, between machines or within one. Datagrams may be lost, doubled or reordered; the
//! engine counts that, the transport never repairs it.
//!
//! It must never send more than small handshake datagrams to an address that has not proved to be a peer's.

mod connect;
mod handshake;
mod link;
mod link_batch;
mod link_sys;
mod options;
mod wire;

#[cfg(test)]
mod tests;

use super::options::{OptionError, OptionSpec};
use super::seal::{self, Cipher, Either, Keys, Sealed};
use super::waiter::Waiter;
use super::{
    Atomics, Availability, Connect, ConnectError, Limits, MessageRunner, Messages, NO_SHORTIOV, SizeLimit,
    Support, Transport,
};
use connect::Ends;
use link::UdpPort;
use link_batch::BatchPort;
use options::WaitMode;
use wire::PAYLOAD_BYTES_MAX;
use wirespeed_schema::case::{GroupKind, TransportOptions};
use wirespeed_schema::test::Layout;

pub use options::UdpOptions;

/// The UDP transport.
pub struct Udp;

const MAY_LOSE: &str = "datagrams may be lost, and nothing here sends them again";
const NO_ZCOPY: &str = "MSG_ZEROCOPY is not used: pinning pages costs more than copying a datagram";

impl Transport for Udp {
    const NAME: &'static str = "udp";
    const SUMMARY: &'static str = "UDP datagrams; loss, reordering and duplicates are counted";
    const OPTIONS: &'static [OptionSpec] = options::SPECS;
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Lacks(MAY_LOSE);
    const ONE_SIDED: Support = Support::Lacks(MAY_LOSE);
    const LOSSY: bool = true;
    const COPIED_BY_CPU: bool = true;
    type Options = UdpOptions;

    fn parse(options: &TransportOptions) -> Result<UdpOptions, OptionError> {
        UdpOptions::parse(Self::NAME, options)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(options: &UdpOptions) -> Limits {
        let overhead = options.cipher.map_or(0, |_| seal::OVERHEAD_BYTES);
        let up_to = SizeLimit::UpTo((PAYLOAD_BYTES_MAX - overhead) as u64);
        Limits {
            messages: [up_to.clone(), up_to, SizeLimit::never(NO_ZCOPY), NO_SHORTIOV],
            put: [const { SizeLimit::never(MAY_LOSE) }; Layout::COUNT],
            get: [const { SizeLimit::never(MAY_LOSE) }; Layout::COUNT],
            atomics: Atomics::NONE,
            tagged: SizeLimit::never(MAY_LOSE),
            groups: &[GroupKind::Threads, GroupKind::Processes, GroupKind::Hosts],
            ranks_max: seal::ranks_max(options.cipher, 4096),
        }
    }
}

impl Messages for Udp {
    fn open<R: MessageRunner>(
        ctx: &Connect,
        options: &UdpOptions,
        runner: R,
    ) -> Result<R::Output, ConnectError> {
        if let Some(cipher) = options.cipher {
            return open_sealed(ctx, options, cipher, runner);
        }
        let ends = Ends::meet(ctx, options)?;
        let waiter = Waiter::new(ctx.case.idle, ctx.cancel.clone());
        let bytes = ctx.needs.message_bytes;
        let blocks = options.wait == WaitMode::Block;
        let batch = options.batch;
        Ok(match (batch > 1, blocks) {
            (false, false) => runner.run(UdpPort::<false>::new(ends, bytes, waiter)),
            (false, true) => runner.run(UdpPort::<true>::new(ends, bytes, waiter)),
            (true, false) => runner.run(BatchPort::<false>::new(ends, bytes, batch, waiter)),
            (true, true) => runner.run(BatchPort::<true>::new(ends, bytes, batch, waiter)),
        })
    }
}

/// As [`Messages::open`], with every datagram encrypted.
fn open_sealed<R: MessageRunner>(
    ctx: &Connect,
    options: &UdpOptions,
    cipher: Cipher,
    runner: R,
) -> Result<R::Output, ConnectError> {
    let keys = Keys::agree(ctx, cipher)?;
    let ctx = &seal::below(ctx);
    let ends = Ends::meet(ctx, options)?;
    let waiter = Waiter::new(ctx.case.idle, ctx.cancel.clone());
    let bytes = ctx.needs.message_bytes;
    let blocks = options.wait == WaitMode::Block;
    let batch = options.batch;
    let port = match (batch > 1, blocks) {
        (false, false) => Either::Left(Either::Left(UdpPort::<false>::new(ends, bytes, waiter))),
        (false, true) => Either::Left(Either::Right(UdpPort::<true>::new(ends, bytes, waiter))),
        (true, false) => Either::Right(Either::Left(BatchPort::<false>::new(ends, bytes, batch, waiter))),
        (true, true) => Either::Right(Either::Right(BatchPort::<true>::new(ends, bytes, batch, waiter))),
    };
    Ok(runner.run(Sealed::new(port, keys)?))
}
