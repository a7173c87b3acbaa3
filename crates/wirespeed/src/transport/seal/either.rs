//! One of two message ports, chosen when it is opened. Beside a cipher the choice costs nothing, and the engine's loops are
//! compiled once for encrypted data of a transport instead of once for each way in which it can wait.

use crate::transport::port::{Facts, LinkError, MessagePort, OnMessage, Posted};

/// One of two ports.
pub enum Either<A, B> {
    /// The one.
    Left(A),
    /// The other.
    Right(B),
}

macro_rules! chosen {
    ($self:expr, $port:ident => $call:expr) => {
        match $self {
            Either::Left($port) => $call,
            Either::Right($port) => $call,
        }
    };
}

impl<A: MessagePort, B: MessagePort> MessagePort for Either<A, B> {
    const SLOW: bool = true;
    const LOSSY: bool = A::LOSSY || B::LOSSY;

    #[inline(always)]
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        chosen!(self, port => port.send_short(peer, header, payload))
    }

    #[inline(always)]
    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        chosen!(self, port => port.send_bcopy(peer, header, len, pack))
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        chosen!(self, port => port.poll(on))
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        chosen!(self, port => port.wait(on))
    }

    #[inline(always)]
    fn wait_for_room<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        chosen!(self, port => port.wait_for_room(on))
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        chosen!(self, port => port.flush())
    }

    fn facts(&self) -> Facts {
        chosen!(self, port => port.facts())
    }
}
