//! A port in the place of one that this build was made without. Nothing makes one: it stands where a type is asked for.
//!
//! It must never be reached by a build with every feature.

use super::port::{LinkError, MessagePort, OnMessage, Posted};
use std::convert::Infallible;

/// A port that there never is.
pub struct NoPort(Infallible);

impl MessagePort for NoPort {
    const SLOW: bool = true;

    fn send_bcopy(&mut self, _: usize, _: u64, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
        match self.0 {}
    }

    fn poll<H: OnMessage>(&mut self, _: &mut H) -> Result<usize, LinkError> {
        match self.0 {}
    }

    fn wait<H: OnMessage>(&mut self, _: &mut H) -> Result<usize, LinkError> {
        match self.0 {}
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        match self.0 {}
    }
}
