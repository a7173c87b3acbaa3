//! UDP: each message one datagram, between machines or within one. Datagrams may be lost, doubled or reordered; the
//! engine counts that, the transport never repairs it.
//!
//! It must never send more than small handshake datagrams to an address that has not proved to be a peer's.
//!
//! Loops may call: sockets.

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
use super::seal::{self, Either, Keys};
use super::{
    Atomics, Availability, Connect, ConnectError, Limits, MessageRunner, Messages, NO_SHORTIOV, Ran,
    SizeLimit, Support, Transport,
};
use connect::Ends;
use link::UdpPort;
use link_batch::BatchPort;
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
    const IN_PLACE: bool = true;
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
    fn open<R: MessageRunner>(ctx: &Connect, options: &UdpOptions, runner: R) -> Ran<R::Output> {
        if let Some(cipher) = options.cipher {
            let keys = Keys::agree(ctx, cipher)?;
            let port = match opened(&seal::below(ctx), options)? {
                Opened::One(port) => Either::Left(port),
                Opened::Batch(port) => Either::Right(port),
            };
            return Ok(runner.run(seal::sealed(port, keys)?));
        }
        Ok(match opened(ctx, options)? {
            Opened::One(port) => runner.run(port),
            Opened::Batch(port) => runner.run(port),
        })
    }
}

/// A port, as the options say.
enum Opened {
    One(UdpPort),
    Batch(BatchPort),
}

fn opened(ctx: &Connect, options: &UdpOptions) -> Result<Opened, ConnectError> {
    let ends = Ends::meet(ctx, options)?;
    let waiter = ctx.waiter();
    let bytes = ctx.needs.message_bytes;
    let blocks = options.blocks_in(ctx.room);
    Ok(match options.batch {
        0 | 1 => Opened::One(UdpPort::new(ends, bytes, blocks, waiter)),
        batch => Opened::Batch(BatchPort::new(ends, bytes, batch, blocks, waiter)),
    })
}
