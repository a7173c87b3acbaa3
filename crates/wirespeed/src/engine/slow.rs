//! A slow reader: a port whose handler sleeps after each message. It is a port of its own type, so that the loops of all
//! others know nothing of it.

use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};
use std::time::Duration;

/// `port`, read slowly.
pub struct Slow<'a, P> {
    port: &'a mut P,
    sleep: Duration,
}

impl<'a, P: MessagePort> Slow<'a, P> {
    /// Sleep for `sleep` after each message.
    pub fn new(port: &'a mut P, sleep: Duration) -> Self {
        Slow { port, sleep }
    }
}

struct Sleepy<'a, H> {
    on: &'a mut H,
    sleep: Duration,
}

/// Sleeping is the purpose.
#[cold]
#[inline(never)]
fn cold_sleep(time: Duration) {
    std::thread::sleep(time);
}

impl<H: OnMessage> OnMessage for Sleepy<'_, H> {
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        self.on.message(peer, header, payload);
        cold_sleep(self.sleep);
    }
}

impl<P: MessagePort> MessagePort for Slow<'_, P> {
    const SLOW: bool = true;
    const LOSSY: bool = P::LOSSY;

    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Result<Post, LinkError> {
        self.port.send_short(peer, header, payload)
    }

    fn send_bcopy(
        &mut self,
        peer: usize,
        header: u64,
        len: usize,
        pack: impl FnOnce(&mut [u8]),
    ) -> Result<Post, LinkError> {
        self.port.send_bcopy(peer, header, len, pack)
    }

    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let sleep = self.sleep;
        self.port.poll(&mut Sleepy { on, sleep })
    }

    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let sleep = self.sleep;
        self.port.wait(&mut Sleepy { on, sleep })
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        self.port.flush()
    }
}
