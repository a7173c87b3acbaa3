//! The contract of a tagged port.

use super::cold;
use crate::group::{Me, case_of, ensure, link, run};
use crate::payload;
use crate::report::Report;
use std::time::Duration;
use wirespeed::ThreadBootstrap;
use wirespeed::schema::case::TransportOptions;
use wirespeed::schema::test::Layout;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::{LinkError, Request, TaggedPort};
use wirespeed::transport::{Connect, Needs, SizeLimit, Support, Tagged, TaggedRunner};

/// Length of every message here, where the limit is not lower.
const LEN_MAX: usize = 1000;
/// Requests outstanding at once.
const MANY: u64 = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Tags,
    EqualTags,
    Unexpected,
    Many,
    Everyone,
    TooLong,
    Requests,
    Cancel,
}

const CHECKS: [(Check, &str); 8] = [
    (Check::Tags, "receives match by tag"),
    (Check::EqualTags, "equal tags keep their order"),
    (Check::Unexpected, "unexpected messages wait for their receive"),
    (Check::Many, "many requests outstanding, both ways at once"),
    (Check::Everyone, "four ranks, one wait for all peers"),
    (Check::TooLong, "a message longer than its receive is refused"),
    (
        Check::Requests,
        "a request that is done is forgotten, and its number comes back",
    ),
    (Check::Cancel, "a cancel ends a wait"),
];

impl Check {
    fn ranks(self) -> u32 {
        if self == Check::Everyone { 4 } else { 2 }
    }
}

/// Hold the tagged ports of `T` to their contract, between threads.
pub fn tagged<T: Tagged>(options: &TransportOptions) -> Vec<Report> {
    const SUITE: &str = "tagged";
    if let Support::Lacks(why) = T::TAGGED {
        return vec![Report::skipped(T::NAME, SUITE, "all", why.to_owned())];
    }
    if let Ok(SizeLimit::Lacks(why)) = cold::limits::<T>(options).map(|l| l.tagged) {
        return vec![Report::skipped(T::NAME, SUITE, "all", why.to_string())];
    }
    let run_check = |(check, name): (Check, &str)| {
        if let Some(why) = cold::obstacle::<T>(options, check.ranks()) {
            return Report::skipped(T::NAME, SUITE, name, why);
        }
        let options = options.clone();
        let result = run(check.ranks(), move |bootstrap| {
            rank::<T>(check, &options, bootstrap)
        });
        Report::of(T::NAME, SUITE, name, result)
    };
    CHECKS.into_iter().map(run_check).collect()
}

fn rank<T: Tagged>(
    check: Check,
    options: &TransportOptions,
    bootstrap: &ThreadBootstrap,
) -> Result<(), String> {
    let me = Me::new(bootstrap);
    let parsed = T::parse(options).map_err(|e| e.to_string())?;
    let limit = T::limits(&parsed).tagged.largest().unwrap_or(0);
    let len = LEN_MAX.min(limit as usize);
    let case = case_of(T::NAME, options, check.ranks(), Layout::Bcopy, len as u64);
    let needs = Needs::of_messages(len, MANY)
        .with_buffer(2 * MANY as usize * len)
        .with_requests(2 * MANY as usize + 8);
    let connect = Connect::new(bootstrap, &case, &me.peers, needs);
    <T as Tagged>::open(&connect, &parsed, Script { check, me: &me, len }).map_err(|e| e.to_string())?
}

struct Script<'a> {
    check: Check,
    me: &'a Me<'a>,
    len: usize,
}

impl TaggedRunner for Script<'_> {
    type Output = Result<(), String>;

    fn run<P: TaggedPort>(self, port: P) -> Self::Output {
        let mut end = End {
            me: self.me,
            port,
            len: self.len,
            requests: Vec::new(),
        };
        match self.check {
            Check::Tags => end.tags(),
            Check::EqualTags => end.equal_tags(),
            Check::Unexpected => end.unexpected(),
            Check::Many => end.many(),
            Check::Everyone => end.everyone(),
            Check::TooLong => return end.too_long(),
            Check::Requests => end.requests(),
            Check::Cancel => return end.cancelled(),
        }?;
        end.meet()
    }
}

struct End<'a, P> {
    me: &'a Me<'a>,
    port: P,
    len: usize,
    requests: Vec<Request>,
}

impl<P: TaggedPort> End<'_, P> {
    fn meet(&mut self) -> Result<(), String> {
        let port = &mut self.port;
        self.me.meet(|| port.flush().map(drop))
    }

    /// Send message `number` of this rank from place `place`.
    fn send(&mut self, slot: usize, tag: u64, number: u64, place: u64) -> Result<(), String> {
        let mut bytes = vec![0; self.len];
        payload::fill(self.me.rank, number, &mut bytes);
        let offset = place as usize * self.len;
        self.port.buffer().write(offset, &bytes);
        let request = self.port.post_send(slot, tag, offset, self.len).map_err(link)?;
        self.requests.push(request);
        Ok(())
    }

    fn receive(&mut self, slot: usize, tag: u64, place: u64) -> Result<(), String> {
        let request = self
            .port
            .post_recv(slot, tag, place as usize * self.len, self.len)
            .map_err(link)?;
        self.requests.push(request);
        Ok(())
    }

    fn wait_all(&mut self) -> Result<(), String> {
        self.port.wait_all(&mut self.requests).map_err(link)?;
        ensure(self.requests.is_empty(), || "wait_all left requests".into())
    }

    /// Place `place` holds message `number` of the peer in `slot`.
    fn holds(&self, slot: usize, number: u64, place: u64) -> Result<(), String> {
        let mut bytes = vec![0; self.len];
        self.port.buffer().read(place as usize * self.len, &mut bytes);
        let sender = self.me.peers[slot];
        ensure(payload::matches(sender, number, &bytes), || {
            format!("place {place} does not hold message {number} of rank {sender}")
        })
    }

    fn tags(&mut self) -> Result<(), String> {
        // A tag is any 64-bit word.
        const TAGS: [u64; 4] = [7, u64::MAX, 0, 1 << 63];
        if self.me.rank == 0 {
            self.meet()?;
            for (number, tag) in TAGS.into_iter().enumerate() {
                self.send(0, tag, number as u64, number as u64)?;
            }
            return self.wait_all();
        }
        for (place, tag) in TAGS.into_iter().enumerate().rev() {
            self.receive(0, tag, place as u64)?;
        }
        self.meet()?;
        self.wait_all()?;
        (0..TAGS.len() as u64).try_for_each(|place| self.holds(0, place, place))
    }

    fn equal_tags(&mut self) -> Result<(), String> {
        for number in 0..MANY {
            match self.me.rank {
                0 => self.send(0, 5, number, number)?,
                _ => self.receive(0, 5, number)?,
            }
        }
        self.wait_all()?;
        match self.me.rank {
            0 => Ok(()),
            _ => (0..MANY).try_for_each(|number| self.holds(0, number, number)),
        }
    }

    fn unexpected(&mut self) -> Result<(), String> {
        const COUNT: u64 = 40;
        if self.me.rank == 0 {
            for number in 0..COUNT {
                self.send(0, number % 4, number, number)?;
            }
            self.wait_all()?;
            return self.meet();
        }
        self.meet()?;
        // Tag by tag, the last first; within a tag in order.
        for tag in (0..4).rev() {
            for number in (tag..COUNT).step_by(4) {
                self.receive(0, tag, number)?;
            }
        }
        self.wait_all()?;
        (0..COUNT).try_for_each(|number| self.holds(0, number, number))
    }

    fn many(&mut self) -> Result<(), String> {
        for round in 0..3 {
            for number in 0..MANY {
                self.receive(0, number % 3, MANY + number)?;
            }
            self.meet()?;
            for number in 0..MANY {
                self.send(0, number % 3, round * MANY + number, number)?;
            }
            self.wait_all()?;
            (0..MANY).try_for_each(|number| self.holds(0, round * MANY + number, MANY + number))?;
        }
        Ok(())
    }

    fn everyone(&mut self) -> Result<(), String> {
        const EACH: u64 = 20;
        let slots = self.me.peers.len() as u64;
        let place = |slot: u64, number: u64| MANY + slot * EACH + number;
        for number in 0..EACH {
            for slot in 0..slots {
                // The same tag from every peer: the peer tells them apart.
                self.receive(slot as usize, 9, place(slot, number))?;
                self.send(slot as usize, 9, number, number)?;
            }
        }
        self.wait_all()?;
        for slot in 0..slots {
            (0..EACH).try_for_each(|number| self.holds(slot as usize, number, place(slot, number)))?;
        }
        Ok(())
    }

    fn too_long(&mut self) -> Result<(), String> {
        if self.me.rank == 0 {
            self.send(0, 1, 0, 0)?;
            self.wait_all()?;
            while !self.port.flush().map_err(link)? {
                self.me.pause()?;
            }
            return self.me.meet(|| Ok(()));
        }
        let posted = self.port.post_recv(0, 1, 0, self.len - 1);
        let result = match posted {
            Ok(request) => self.port.wait_all(&mut vec![request]),
            Err(error) => Err(error),
        };
        self.me.meet(|| Ok(()))?;
        ensure(matches!(result, Err(LinkError::Corrupt(_))), || {
            format!("it ended with {result:?}")
        })
    }

    fn requests(&mut self) -> Result<(), String> {
        // More in turn than may be outstanding at once; `done` alone makes them move.
        for number in 0..4 * MANY {
            let request = if self.me.rank == 0 {
                self.port.post_send(0, 3, 0, 8)
            } else {
                self.port.post_recv(0, 3, 0, 8)
            };
            let request = request.map_err(|e| format!("request {number}: {e}"))?;
            while !self.port.done(request).map_err(link)? {
                self.me.pause()?;
            }
            // In step, so that the sender does not run ahead of what may be unexpected.
            if number % 50 == 0 {
                self.meet()?;
            }
        }
        Ok(())
    }

    fn cancelled(&mut self) -> Result<(), String> {
        self.meet()?;
        self.receive(0, 1, 0)?;
        if self.me.rank == 1 {
            std::thread::sleep(Duration::from_millis(50));
            self.me.cancel.cancel(CancelReason::Interrupted);
        }
        let ended = self.port.wait_all(&mut self.requests);
        ensure(
            matches!(ended, Err(LinkError::Cancelled | LinkError::Closed)),
            || format!("a wait ended with {ended:?}"),
        )
    }
}
