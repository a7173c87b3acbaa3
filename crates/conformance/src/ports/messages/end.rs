//! One end of the checks on a message port: messages with numbers and bytes that are known, and what has arrived.
//!
//! It must never send but by the layout that is checked.

use super::ZCOPY_SLOTS;
use crate::group::{Me, ensure, link};
use crate::payload;
use wirespeed::schema::test::Layout;
use wirespeed::transport::port::{MessagePort, OnMessage, Post};

/// What has arrived: slot, header, payload.
#[derive(Default)]
pub(super) struct Inbox(pub(super) Vec<(usize, u64, Vec<u8>)>);

impl OnMessage for Inbox {
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        self.0.push((peer, header, payload.to_vec()));
    }
}

/// One end of the traffic.
pub(super) struct End<'a, P> {
    pub(super) me: &'a Me<'a>,
    pub(super) port: P,
    pub(super) layout: Layout,
    pub(super) size: usize,
    /// Zero-copy sends.
    pub(super) posted: u64,
    pub(super) inbox: Inbox,
}

impl<P: MessagePort> End<'_, P> {
    pub(super) fn poll(&mut self) -> Result<(), String> {
        self.port.poll(&mut self.inbox).map_err(link)?;
        self.me.pause()
    }

    pub(super) fn meet(&mut self) -> Result<(), String> {
        let port = &mut self.port;
        self.me.meet(|| port.flush().map(drop))
    }

    pub(super) fn try_send(&mut self, slot: usize, header: u64, payload: &[u8]) -> Result<Post, String> {
        let post = match self.layout {
            Layout::Short => self.port.send_short(slot, header, payload),
            Layout::Shortiov => self.port.send_shortiov(slot, header, payload),
            Layout::Bcopy => {
                let mut packed = false;
                let post = self.port.send_bcopy(slot, header, payload.len(), |room| {
                    packed = true;
                    room.copy_from_slice(payload);
                });
                ensure(post != Ok(Post::Busy) || !packed, || "packed on busy".into())?;
                post
            }
            Layout::Zcopy => {
                if self.posted - self.port.zcopy_completed() >= ZCOPY_SLOTS {
                    return Ok(Post::Busy);
                }
                let offset = (self.posted % ZCOPY_SLOTS) as usize * self.size;
                let buffer = self.port.buffer().ok_or("zcopy without a buffer")?;
                buffer.write(offset, payload);
                let post = self.port.send_zcopy(slot, header, offset, payload.len());
                self.posted += u64::from(post == Ok(Post::Done));
                post
            }
        };
        post.map_err(link)
    }

    /// Send message `number` of this rank, `len` bytes long.
    pub(super) fn send(&mut self, slot: usize, number: u64, len: usize) -> Result<(), String> {
        let mut bytes = vec![0; len];
        payload::fill(self.me.rank, number, &mut bytes);
        while self.try_send(slot, number, &bytes)? == Post::Busy {
            self.poll()?;
        }
        Ok(())
    }

    /// Wait until `count` messages have arrived in all.
    pub(super) fn receive(&mut self, count: usize) -> Result<(), String> {
        while self.inbox.0.len() < count {
            self.port.wait(&mut self.inbox).map_err(link)?;
        }
        ensure(self.inbox.0.len() == count, || {
            format!("{} messages arrived, {count} were sent", self.inbox.0.len())
        })
    }

    /// Whether what came from `slot` is numbers 0, 1, 2 .. with the right bytes, of `len(number)` each.
    pub(super) fn check_arrivals(&self, slot: usize, len: impl Fn(u64) -> usize) -> Result<(), String> {
        let sender = self.me.peers[slot];
        let from_slot = self.inbox.0.iter().filter(|m| m.0 == slot);
        for (expected, (_, header, bytes)) in from_slot.enumerate() {
            let expected = expected as u64;
            ensure(*header == expected, || {
                format!("message {header} of rank {sender} came in place of {expected}")
            })?;
            ensure(bytes.len() == len(expected), || {
                format!("message {header} of rank {sender} has {} bytes", bytes.len())
            })?;
            ensure(payload::matches(sender, expected, bytes), || {
                format!("message {header} of rank {sender} is not what was sent")
            })?;
        }
        Ok(())
    }
}
