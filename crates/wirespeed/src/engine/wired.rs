//! A port with what the engine needs beside it while it has no room or must drain: both must notice a cancelled run.

use crate::transport::port::{LinkError, MessagePort, OnMessage};
use crate::transport::waiter::Waiter;

/// A message port in use.
pub struct Wired<P> {
    /// The port.
    pub port: P,
    waiter: Waiter,
}

impl<P: MessagePort> Wired<P> {
    /// `port`, waiting as `waiter` says.
    pub fn new(port: P, waiter: Waiter) -> Self {
        Wired { port, waiter }
    }

    /// After a send found no room: let the port move, give way if nothing moved.
    #[inline(always)]
    pub fn make_room<H: OnMessage>(&mut self, on: &mut H) -> Result<(), LinkError> {
        if self.port.wait_for_room(on)? == 0 {
            self.waiter.idle()
        } else {
            Ok(())
        }
    }

    /// Nothing moves and nothing may be taken in: idle as the case says.
    #[inline(always)]
    pub fn give_way(&mut self) -> Result<(), LinkError> {
        self.waiter.idle()
    }

    /// Look at the cancel flag now: for loops that slept.
    pub fn look(&self) -> Result<(), LinkError> {
        self.waiter.look()
    }

    /// Push out every send so far.
    #[inline(never)]
    pub fn drain(&mut self) -> Result<(), LinkError> {
        while !self.port.flush()? {
            self.waiter.idle()?;
        }
        Ok(())
    }
}
