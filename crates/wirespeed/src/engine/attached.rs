//! A one-sided port with what the engine needs beside it while it has no room or must flush: both must notice a
//! cancelled run.

use crate::transport::port::{LinkError, OneSidedPort, Post};
use crate::transport::waiter::Waiter;

/// A one-sided port in use.
pub struct Attached<P> {
    /// The port.
    pub port: P,
    waiter: Waiter,
}

impl<P: OneSidedPort> Attached<P> {
    /// `port`, waiting as `waiter` says.
    pub fn new(port: P, waiter: Waiter) -> Self {
        Attached { port, waiter }
    }

    /// After an operation found no room: let the port move, and give way. Where a loop stands still: no part of its code.
    #[inline(never)]
    pub fn give_way(&mut self) -> Result<(), LinkError> {
        self.port.poll()?;
        self.waiter.idle()
    }

    /// Look at the cancel flag now: for loops that never had to wait.
    pub fn look(&self) -> Result<(), LinkError> {
        self.waiter.look()
    }

    /// Order what comes after behind what came before.
    #[inline(never)]
    pub fn fence(&mut self) -> Result<(), LinkError> {
        while self.port.fence()? == Post::Busy {
            self.give_way()?;
        }
        Ok(())
    }

    /// Wait until every operation so far has taken effect at its target.
    #[inline(never)]
    pub fn drain(&mut self) -> Result<(), LinkError> {
        while !self.port.flush()? {
            self.give_way()?;
        }
        Ok(())
    }
}
