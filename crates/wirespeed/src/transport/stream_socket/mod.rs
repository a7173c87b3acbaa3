//! What transports over connected stream sockets share: the frame, the hand-shake, the ports, and the options of every
//! stream socket. `unix` and `tcp` bring the addresses and the options of their own kind.
//!
//! It must never know which kind of socket it has, nor be a transport itself.

mod frame;
mod guest;
mod inbox;
mod link;
mod link_uring;
mod meet;
mod options;
mod outbox;
mod port;
mod zerocopy;

pub use meet::{Family, Listening, meet};
pub use options::{COMMON_OPTIONS, StreamOptions, Wait};

use super::cancel::Cancel;
use super::port::Facts;
use super::seal::{self, Either, Keys, Sealed};
use super::waiter::Waiter;
use super::{ByLayout, Connect, ConnectError, MessageRunner, NO_SHORTIOV, SizeLimit};
use port::{Sleep, Spin, StreamPort};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use wirespeed_schema::test::Layout;

/// Largest message of a stream socket transport.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// A connection to one peer. To oneself there are two ends: what goes into one comes out of the other.
pub struct Link {
    tx: Arc<OwnedFd>,
    rx: Arc<OwnedFd>,
}

impl Link {
    /// One socket for both directions.
    pub fn to_peer(socket: OwnedFd) -> Self {
        let socket = Arc::new(socket);
        Link {
            tx: socket.clone(),
            rx: socket,
        }
    }

    /// A connection to oneself.
    pub fn to_self(tx: OwnedFd, rx: OwnedFd) -> Self {
        Link {
            tx: Arc::new(tx),
            rx: Arc::new(rx),
        }
    }

    /// The end to send into.
    #[inline(always)]
    pub fn tx(&self) -> BorrowedFd<'_> {
        self.tx.as_fd()
    }

    /// The end to receive from.
    #[inline(always)]
    pub fn rx(&self) -> BorrowedFd<'_> {
        self.rx.as_fd()
    }

    /// Whether it leads back to this rank.
    pub fn is_loop(&self) -> bool {
        !Arc::ptr_eq(&self.tx, &self.rx)
    }

    /// Have the sockets shut down when the run is cancelled, which wakes whoever sleeps on them. The hooks do not keep
    /// the sockets open.
    fn wake_on(&self, cancel: &Cancel) {
        for socket in [&self.tx, &self.rx] {
            cancel.wake_on_cancel(socket, |socket| {
                // A socket that is down already needs no waking.
                let _ = socket2::SockRef::from(socket).shutdown(Shutdown::Both);
            });
        }
    }
}

/// Says what the sockets of a port are like, for the result.
pub type Describe = Box<dyn Fn(&[&Link]) -> Facts>;

/// What every port over stream sockets is given.
pub struct Setup {
    /// Largest message.
    pub message_bytes_max: usize,
    /// Bytes to gather before a send; 0 sends every message by itself.
    pub coalesce_bytes: usize,
    /// Size of the buffer for zero-copy sends, where they are wanted.
    pub zerocopy_bytes: Option<usize>,
    /// What to do on empty polls.
    pub waiter: Waiter,
    /// Facts.
    pub describe: Describe,
}

/// Run on a port over `links`, of the type that `options.wait` names.
pub fn run<R: MessageRunner>(
    ctx: &Connect,
    options: &StreamOptions,
    links: Vec<Link>,
    describe: Describe,
    runner: R,
) -> Result<R::Output, ConnectError> {
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
        waiter: Waiter::new(ctx.case.idle, ctx.cancel.clone()),
        describe,
    };
    if !matches!(options.wait, Wait::Poll) {
        for link in &links {
            link.wake_on(&ctx.cancel);
        }
    }
    if let Some(keys) = keys {
        let port = match options.wait {
            Wait::Poll => Either::Left(Either::Left(StreamPort::<Spin>::new(links, setup)?)),
            Wait::Block => Either::Left(Either::Right(StreamPort::<Sleep>::new(links, setup)?)),
            Wait::Uring => Either::Right(link_uring::UringPort::new(links, setup)?),
        };
        return Ok(runner.run(Sealed::new(port, keys)?));
    }
    Ok(match options.wait {
        Wait::Poll => runner.run(StreamPort::<Spin>::new(links, setup)?),
        Wait::Block => runner.run(StreamPort::<Sleep>::new(links, setup)?),
        Wait::Uring => runner.run(link_uring::UringPort::new(links, setup)?),
    })
}

/// Sizes of messages by layout: `zcopy` is the transport's own limit for zero-copy sends.
pub fn message_limits(options: &StreamOptions, zcopy: SizeLimit) -> ByLayout {
    let zcopy = match (options.cipher, zcopy) {
        (Some(_), SizeLimit::UpTo(_) | SizeLimit::Between(..)) => SizeLimit::never(seal::NO_ZCOPY),
        (_, own) => own,
    };
    if matches!(options.wait, Wait::Uring) {
        if let Err(why) = link_uring::available() {
            return std::array::from_fn(|_| SizeLimit::lacks(why));
        }
        let no_zcopy = SizeLimit::never("wait=uring sends by copy; take wait=poll or wait=block");
        let copied = SizeLimit::UpTo(MESSAGE_BYTES_MAX);
        let zcopy = match zcopy {
            lacks @ SizeLimit::Lacks(_) => lacks,
            _ => no_zcopy,
        };
        return [copied.clone(), copied, zcopy, NO_SHORTIOV];
    }
    [
        SizeLimit::UpTo(MESSAGE_BYTES_MAX),
        SizeLimit::UpTo(MESSAGE_BYTES_MAX),
        zcopy,
        NO_SHORTIOV,
    ]
}
