//! The agreed end of a phase over a medium that loses messages, seen by the rank that receives the phase's data.
//!
//! The sender repeats `Last` until it gets `Closed`. `Closed` may get lost as well, so the receiver answers every
//! `Last`, also that of the phase before.

use super::header::{Kind, PHASES, decode, encode};
use crate::engine::wired::Wired;
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post};

/// Where the phase's end stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ending {
    /// The phase.
    pub phase: u64,
    /// How many messages the sender has sent, once it said so.
    pub total: Option<u64>,
    /// What was told the sender: after that the count stays as it is.
    pub closed: Option<u64>,
    /// `Last` messages of this phase that were not answered yet.
    lasts: u32,
    /// `Last` messages of this phase so far.
    lasts_seen: u32,
    /// What the phase before was closed with.
    previous: Option<u64>,
    /// Whether the sender asked again about the phase before.
    previous_asked: bool,
}

impl Ending {
    /// The next phase begins.
    pub fn restart(&mut self) {
        *self = Ending {
            phase: self.phase + 1,
            previous: self.closed,
            ..Ending::default()
        };
    }

    /// Take a header: `Some` kind when it belongs to this phase and is not about its end.
    #[inline(always)]
    pub fn take(&mut self, header: u64) -> (u64, Kind) {
        let (ahead, kind) = decode(self.phase, header);
        if let Kind::Last(total) = kind {
            self.take_last(ahead, total);
        }
        (ahead, kind)
    }

    #[cold]
    #[inline(never)]
    fn take_last(&mut self, ahead: u64, total: u64) {
        match ahead {
            0 => {
                self.total.get_or_insert(total);
                self.lasts += 1;
                self.lasts_seen += 1;
            }
            ahead if ahead == PHASES - 1 => self.previous_asked = true,
            _ => {}
        }
    }

    /// Whether something about the end is to be answered.
    #[inline(always)]
    pub fn is_asked(&self) -> bool {
        self.lasts > 0 || self.previous_asked
    }

    /// Close the phase when `counted` is all there is, or when the sender asked twice: what was late has had its time.
    fn close(&mut self, counted: u64) {
        let is_whole = self.total == Some(counted);
        if self.closed.is_none() && self.total.is_some() && (is_whole || self.lasts_seen > 1) {
            self.closed = Some(counted);
        }
    }

    /// Answer what was asked. `counted`: different messages of this phase so far. Without room nothing is sent: the
    /// sender asks again.
    #[cold]
    #[inline(never)]
    pub fn answer<P: MessagePort>(&mut self, port: &mut P, counted: u64) -> Result<(), LinkError> {
        self.close(counted);
        if std::mem::take(&mut self.previous_asked)
            && let Some(told) = self.previous
        {
            let bits = encode(self.phase + PHASES - 1, Kind::Closed(told));
            let _ = port.send_short(0, bits, &[])?;
        }
        if std::mem::take(&mut self.lasts) > 0
            && let Some(told) = self.closed
        {
            let _ = port.send_short(0, encode(self.phase, Kind::Closed(told)), &[])?;
        }
        Ok(())
    }
}

/// Send a message of the engine's own, without payload.
pub fn send_control<P: MessagePort, H: OnMessage>(
    link: &mut Wired<P>,
    on: &mut H,
    header: u64,
) -> Result<(), LinkError> {
    while link.port.send_short(0, header, &[])? == Post::Busy {
        link.make_room(on)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(ending: &mut Ending, phase: u64, total: u64) {
        ending.take(encode(phase, Kind::Last(total)));
    }

    #[test]
    fn what_is_missing_gets_a_second_chance() {
        let mut ending = Ending::default();
        last(&mut ending, 0, 10);
        ending.close(9);
        assert_eq!(ending.closed, None);
        last(&mut ending, 0, 10);
        ending.close(9);
        assert_eq!(ending.closed, Some(9));
        ending.close(10);
        assert_eq!(ending.closed, Some(9), "told is told");
    }

    #[test]
    fn what_is_whole_is_closed_at_once_and_asked_again_later() {
        let mut ending = Ending::default();
        last(&mut ending, 0, 10);
        ending.close(10);
        assert_eq!(ending.closed, Some(10));
        ending.restart();
        assert!(!ending.is_asked());
        last(&mut ending, 0, 10);
        assert!(ending.is_asked() && ending.total.is_none());
        last(&mut ending, 2, 1);
        assert!(ending.total.is_none(), "a phase that has not begun");
    }
}
