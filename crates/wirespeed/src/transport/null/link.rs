//! The port that hands a message back to its sender.

use crate::transport::cancel::Cancel;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};

/// Holds one message at most: its header, and where the sender's bytes are not needed, nothing else.
pub struct NullPort {
    pending: Option<u64>,
    cancel: Cancel,
}

impl NullPort {
    /// A port without a peer.
    pub fn new(cancel: Cancel) -> Self {
        NullPort {
            pending: None,
            cancel,
        }
    }
}

impl MessagePort for NullPort {
    #[inline(always)]
    fn send_short(&mut self, _: usize, header: u64, _: &[u8]) -> Result<Post, LinkError> {
        if self.pending.is_some() {
            return Ok(Post::Busy);
        }
        self.pending = Some(header);
        Ok(Post::Done)
    }

    fn send_bcopy(
        &mut self,
        _: usize,
        _: u64,
        _: usize,
        _: impl FnOnce(&mut [u8]),
    ) -> Result<Post, LinkError> {
        Err(LinkError::Unsupported("bcopy on null"))
    }

    #[inline(always)]
    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.pending.take() {
            Some(header) => {
                on.message(0, header, &[]);
                Ok(1)
            }
            None => Ok(0),
        }
    }

    #[inline(always)]
    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.poll(on)? {
            // Nothing is under way, so nothing will come: only a cancel can end this wait.
            0 if self.cancel.reason().is_some() => Err(LinkError::Cancelled),
            handled => Ok(handled),
        }
    }

    #[inline(always)]
    fn flush(&mut self) -> Result<bool, LinkError> {
        Ok(true)
    }
}
