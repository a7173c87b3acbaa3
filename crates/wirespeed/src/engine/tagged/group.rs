//! A tagged port shared by a group of ranks that go through iterations together: posting, waiting, and their meetings along
//! a tree (of a pair, the source above the sink). Up the tree goes how long the slowest rank took; down it, how many iterations follow and whether
//! they are the last.
//!
//! Meetings travel through the measured port itself, so that they need no other channel and leave its code and queues
//! warm, as a barrier of a message-passing library does. They stay outside every sample.

use super::super::header;
use super::super::meter::Tally;
use crate::transport::port::{LinkError, Request, TaggedPort};
use crate::transport::waiter::Waiter;

const TOLD: u64 = 1;
const ARRIVED: u64 = 5;
const GO: u64 = 6;
const DATA: u64 = 7;
const ACK: u64 = 8;

/// Where a rank is told what follows, and where it tells it on; messages begin after these lines.
const HEARD_AT: usize = 0;
const TOLD_AT: usize = 64;
const ACK_AT: usize = 128;
const OWN_AT: usize = 192;
/// A word for each rank below in the tree; there are at most as many as bits in their number.
const BELOW_AT: usize = 256;
/// Bytes of the buffer before the messages.
pub const CONTROL_BYTES: usize = 512;
const WORD: usize = 8;

/// Slots of the ranks above and below in the tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Nearer to the root; none for the root.
    pub parent: Option<usize>,
    /// Farther from it.
    pub children: Vec<usize>,
}

/// A tagged port in use by a group.
pub struct Group<P> {
    /// The port.
    pub port: P,
    /// What went through in this phase.
    pub tally: Tally,
    /// Time of this phase, as its rounds tell it.
    pub ticks: u64,
    waiter: Waiter,
    tree: Tree,
    requests: Vec<Request>,
    /// What was posted before the last turn.
    earlier: Vec<Request>,
    meeting: Vec<Request>,
}

impl<P: TaggedPort> Group<P> {
    /// `port`, with room for `requests` posted messages.
    pub fn new(port: P, waiter: Waiter, tree: Tree, requests: usize) -> Self {
        let meeting = Vec::with_capacity(tree.children.len() + 2);
        Group {
            port,
            tally: Tally::default(),
            ticks: 0,
            waiter,
            tree,
            requests: Vec::with_capacity(requests),
            earlier: Vec::with_capacity(requests),
            meeting,
        }
    }

    /// Wait for all ranks, each of which gives a time; then every rank has what the root's `decide` says, called with
    /// the longest of the times: iterations that follow, at least 1, and whether they end the phase.
    pub fn agree(
        &mut self,
        own_ns: u64,
        decide: &mut dyn FnMut(u64) -> (u64, bool),
    ) -> Result<(u64, bool), LinkError> {
        let longest_ns = self.gather(own_ns)?;
        self.pass_down(GO, &mut || decide(longest_ns))
    }

    /// As [`Group::agree`], but the root waits for nobody.
    pub fn announce(&mut self, decide: &mut dyn FnMut() -> (u64, bool)) -> Result<(u64, bool), LinkError> {
        self.pass_down(TOLD, decide)
    }

    fn pass_down(
        &mut self,
        tag: u64,
        decide: &mut dyn FnMut() -> (u64, bool),
    ) -> Result<(u64, bool), LinkError> {
        let word = match self.tree.parent {
            None => {
                let (count, last) = decide();
                header::data(count, last).to_le_bytes()
            }
            Some(parent) => {
                self.meeting
                    .push(self.port.post_recv(parent, tag, HEARD_AT, WORD)?);
                wait_apart(&mut self.port, &mut self.meeting)?;
                self.word_at(HEARD_AT).to_le_bytes()
            }
        };
        self.port.buffer().write(TOLD_AT, &word);
        for &child in &self.tree.children {
            self.meeting.push(self.port.post_send(child, tag, TOLD_AT, WORD)?);
        }
        wait_apart(&mut self.port, &mut self.meeting)?;
        if !self.tree.children.is_empty() {
            // A turn of the port, as a library's own barrier ends with one: whoever takes in the go would else find the
            // first messages behind it, before it could post their receives.
            self.port.flush()?;
        }
        let word = u64::from_le_bytes(word);
        match header::number(word) {
            0 => Err(LinkError::Corrupt("a round without iterations")),
            count => Ok((count, header::is_last(word))),
        }
    }

    /// The longest time of this rank and all below it; at the root, of all ranks. Waits for those below.
    pub fn gather(&mut self, own_ns: u64) -> Result<u64, LinkError> {
        for (place, &child) in self.tree.children.iter().enumerate() {
            let at = BELOW_AT + place * WORD;
            self.meeting.push(self.port.post_recv(child, ARRIVED, at, WORD)?);
        }
        wait_apart(&mut self.port, &mut self.meeting)?;
        let below = (0..self.tree.children.len()).map(|place| self.word_at(BELOW_AT + place * WORD));
        let longest_ns = below.fold(own_ns, u64::max);
        if let Some(parent) = self.tree.parent {
            self.port.buffer().write(OWN_AT, &longest_ns.to_le_bytes());
            self.meeting
                .push(self.port.post_send(parent, ARRIVED, OWN_AT, WORD)?);
            wait_apart(&mut self.port, &mut self.meeting)?;
        }
        Ok(longest_ns)
    }

    /// Whether this rank is above all others.
    pub fn is_root(&self) -> bool {
        self.tree.parent.is_none()
    }

    fn word_at(&self, offset: usize) -> u64 {
        let mut word = [0; WORD];
        self.port.buffer().read(offset, &mut word);
        u64::from_le_bytes(word)
    }

    /// Push out every send so far.
    pub fn drain(&mut self) -> Result<(), LinkError> {
        while !self.port.flush()? {
            self.waiter.idle()?;
        }
        Ok(())
    }

    /// Post the sending of a message.
    #[inline(always)]
    pub fn send(&mut self, peer: usize, offset: usize, len: usize) -> Result<(), LinkError> {
        self.post_send(peer, DATA, offset, len)
    }

    /// Post the receive of a message.
    #[inline(always)]
    pub fn receive(&mut self, peer: usize, offset: usize, len: usize) -> Result<(), LinkError> {
        self.post_recv(peer, DATA, offset, len)
    }

    /// Post the sending of a one-byte acknowledgement.
    #[inline(always)]
    pub fn acknowledge(&mut self, peer: usize) -> Result<(), LinkError> {
        self.post_send(peer, ACK, ACK_AT, 1)
    }

    /// Post the receive of an acknowledgement.
    #[inline(always)]
    pub fn acknowledged(&mut self, peer: usize) -> Result<(), LinkError> {
        self.post_recv(peer, ACK, ACK_AT, 1)
    }

    /// Post a send, to be waited for with all others.
    #[inline(always)]
    pub fn post_send(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<(), LinkError> {
        let request = self.port.post_send(peer, tag, offset, len)?;
        self.note(request)
    }

    /// Post a receive, to be waited for with all others.
    #[inline(always)]
    pub fn post_recv(&mut self, peer: usize, tag: u64, offset: usize, len: usize) -> Result<(), LinkError> {
        let request = self.port.post_recv(peer, tag, offset, len)?;
        self.note(request)
    }

    /// Put what was posted aside, and take up again what was put aside before: loops with two halves wait for each apart.
    #[inline(always)]
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.requests, &mut self.earlier);
    }

    /// Wait for everything posted that is not put aside.
    #[inline(always)]
    pub fn wait_all(&mut self) -> Result<(), LinkError> {
        self.port.wait_all(&mut self.requests)
    }

    /// As [`Group::wait_all`], for waits around a loop: no part of its code.
    pub fn wait_apart(&mut self) -> Result<(), LinkError> {
        wait_apart(&mut self.port, &mut self.requests)
    }

    /// Remember `request` until the next wait. The list has its room from the start: the loops have no code to grow it.
    #[inline(always)]
    fn note(&mut self, request: Request) -> Result<(), LinkError> {
        if request == Request::DONE {
            return Ok(());
        }
        if self.requests.len() == self.requests.capacity() {
            return Err(LinkError::Exhausted("requests of one iteration"));
        }
        self.requests.push(request);
        Ok(())
    }
}

/// Wait for `requests`: compiled once, for whoever waits several times.
#[inline(never)]
fn wait_apart<P: TaggedPort>(port: &mut P, requests: &mut Vec<Request>) -> Result<(), LinkError> {
    port.wait_all(requests)
}
