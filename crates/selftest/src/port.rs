//! The simulated transport: one rank that is its own peer, in virtual time. Acknowledgements of the engine, which have no
//! payload, take no time; messages take what a law or a server says.
//!
//! It must never be registered beside real transports: its options name a plan by number, not a transport.

use crate::law::{Law, Source};
use std::cell::RefCell;
use std::collections::VecDeque;
use wirespeed::clock::virtual_time;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::{LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::{
    Availability, Connect, Limits, MessageRunner, Messages, Ran, SizeLimit, Support, Transport,
};
use wirespeed_report::stats::Random;
use wirespeed_schema::case::{GroupKind, TransportOptions};

/// What the messages of this thread's next measurement meet.
#[derive(Debug, Clone, Copy)]
pub enum Medium {
    /// Each message takes what the law says; one at a time.
    Law(Law, u64),
    /// A server that works on one message after the other, at a distance: a message sent at t is done at
    /// max(t + distance, previous + service).
    Server {
        /// Time of one message in ns.
        service_ns: u64,
        /// Least time of a message in ns.
        distance_ns: u64,
        /// When the server stands still: start and length in ns of virtual time since the first message.
        stall: Option<(u64, u64)>,
    },
    /// A server that others use too: they come at random (Poisson), and each takes the same time. A message of ours waits for
    /// the work that it finds there and adds none: its response time is that of M/D/1.
    Shared {
        /// Time of one message in ns, ours and theirs.
        service_ns: u64,
        /// Share of the server's time that the others take.
        utilisation: f64,
        /// Seed of their coming.
        seed: u64,
    },
}

thread_local! {
    static MEDIUM: RefCell<Option<Medium>> = const { RefCell::new(None) };
}

/// The next port that opens in this thread has this transport.
pub fn prepare(medium: Medium) {
    MEDIUM.with(|slot| *slot.borrow_mut() = Some(medium));
}

/// The transport's cold half.
pub struct Simulated;

/// Why there is nothing but messages.
pub const NONE: &str = "a simulation has messages only";
const MESSAGE_BYTES_MAX: u64 = 16 << 20;
/// When nothing is there yet, a poll lets so much time pass.
const POLL_NS: u64 = 100;

/// Limits of a simulation: short messages between threads.
pub fn messages_only(ranks_max: u32) -> Limits {
    let none = || SizeLimit::never(NONE);
    let messages = [SizeLimit::UpTo(MESSAGE_BYTES_MAX), none(), none(), none()];
    Limits::of_messages(&[GroupKind::Threads], messages).with_ranks_max(ranks_max)
}

impl Transport for Simulated {
    const NAME: &'static str = "simulated";
    const SUMMARY: &'static str = "known laws in virtual time";
    const OPTIONS: &'static [OptionSpec] = &[];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Lacks(NONE);
    const ONE_SIDED: Support = Support::Lacks(NONE);
    const CARRIES_PAYLOAD: bool = false;
    type Options = ();

    fn parse(options: &TransportOptions) -> Result<(), OptionError> {
        OptionReader::new(Self::NAME, Self::OPTIONS, options).map(drop)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(_: &()) -> Limits {
        messages_only(1)
    }
}

impl Messages for Simulated {
    fn open<R: MessageRunner>(ctx: &Connect, _: &(), runner: R) -> Ran<R::Output> {
        let medium = MEDIUM
            .with(|slot| slot.borrow_mut().take())
            .unwrap_or(Medium::Law(Law::Constant { ns: 1000.0 }, 0));
        Ok(runner.run(SimulatedPort::new(medium, ctx.needs.message_bytes)))
    }
}

/// A message under way.
struct Flight {
    header: u64,
    len: usize,
    /// Virtual time left until it is done, or the moment; see [`SimulatedPort::ready_in`].
    due_ns: u64,
}

/// The work that others leave at a server.
struct Others {
    random: Random,
    gap_ns: f64,
    service_ns: f64,
    /// When the last of them came, the work just behind it, and when the next one comes.
    came_ns: f64,
    work_ns: f64,
    next_ns: f64,
}

impl Others {
    fn new(service_ns: u64, utilisation: f64, seed: u64) -> Others {
        Others {
            random: Random::new(seed),
            gap_ns: service_ns as f64 / utilisation,
            service_ns: service_ns as f64,
            came_ns: 0.0,
            work_ns: 0.0,
            next_ns: 0.0,
        }
    }

    /// The work that is there at `now_ns`: it falls with time, and each that comes adds its own.
    fn work_at_ns(&mut self, now_ns: u64) -> u64 {
        let now = now_ns as f64;
        while self.next_ns <= now {
            self.work_ns = (self.work_ns - (self.next_ns - self.came_ns)).max(0.0) + self.service_ns;
            self.came_ns = self.next_ns;
            self.next_ns += self.gap_ns * self.random.exponential();
        }
        (self.work_ns - (now - self.came_ns)).max(0.0) as u64
    }
}

struct SimulatedPort {
    medium: Medium,
    law: Option<Source>,
    others: Option<Others>,
    flights: VecDeque<Flight>,
    zeros: Box<[u8]>,
    /// Virtual time that this port has let pass or seen pass, since its first message.
    began_ns: Option<u64>,
    free_at_ns: u64,
}

impl SimulatedPort {
    fn new(medium: Medium, message_bytes: usize) -> Self {
        let law = match medium {
            Medium::Law(law, seed) => Some(Source::new(law, seed)),
            Medium::Server { .. } | Medium::Shared { .. } => None,
        };
        let others = match medium {
            Medium::Shared {
                service_ns,
                utilisation,
                seed,
            } => Some(Others::new(service_ns, utilisation, seed)),
            _ => None,
        };
        SimulatedPort {
            medium,
            law,
            others,
            flights: VecDeque::with_capacity(4096),
            zeros: vec![0; message_bytes].into_boxed_slice(),
            began_ns: None,
            free_at_ns: 0,
        }
    }

    fn now_ns(&mut self) -> u64 {
        let now = virtual_time::read_ns().unwrap_or_default();
        now - *self.began_ns.get_or_insert(now)
    }

    /// When a message that is sent now is done.
    fn due_ns(&mut self, len: usize) -> u64 {
        if let Medium::Shared { service_ns, .. } = self.medium {
            let now = self.now_ns();
            let work_ns = self.others.as_mut().map_or(0, |others| others.work_at_ns(now));
            return now + work_ns + service_ns;
        }
        let Medium::Server {
            service_ns,
            distance_ns,
            stall,
        } = self.medium
        else {
            // The time of a message at a time begins when somebody waits for it.
            return self.law.as_mut().map_or(0, |law| law.next_ns(len));
        };
        let now = self.now_ns();
        let mut start = now.max(self.free_at_ns);
        if let Some((from, length)) = stall
            && (from..from + length).contains(&start)
        {
            start = from + length;
        }
        self.free_at_ns = start + service_ns;
        self.free_at_ns.max(now + distance_ns)
    }

    /// Time that passes while nothing is there: finer than anything that is checked.
    fn step_ns(&self) -> u64 {
        match self.medium {
            Medium::Shared { service_ns, .. } => service_ns / 200,
            _ => POLL_NS,
        }
    }

    fn deliver<H: OnMessage>(&mut self, on: &mut H) -> usize {
        let Some(flight) = self.flights.pop_front() else {
            return 0;
        };
        on.message(0, flight.header, self.zeros.get(..flight.len).unwrap_or_default());
        1
    }

    /// Virtual time until the first message is done; `None` when nothing is under way.
    #[inline]
    fn ready_in(&mut self) -> Option<u64> {
        let due = self.flights.front()?.due_ns;
        match self.medium {
            Medium::Law(..) => Some(due),
            Medium::Server { .. } | Medium::Shared { .. } => {
                let now = self.now_ns();
                Some(due.saturating_sub(now))
            }
        }
    }
}

impl MessagePort for SimulatedPort {
    const SLOW: bool = true;
    fn send_short(&mut self, _: usize, header: u64, payload: &[u8]) -> Posted {
        let (len, acknowledgement) = (payload.len(), payload.is_empty());
        let flight = Flight {
            header,
            len,
            due_ns: if acknowledgement { 0 } else { self.due_ns(len) },
        };
        // An acknowledgement overtakes the messages that are still under way.
        match acknowledgement {
            true => self.flights.push_front(flight),
            false => self.flights.push_back(flight),
        }
        Ok(Post::Done)
    }

    fn send_bcopy(&mut self, _: usize, _: u64, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
        Err(LinkError::Unsupported("bcopy in a simulation"))
    }

    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.ready_in() {
            Some(0) => Ok(self.deliver(on)),
            Some(left) if matches!(self.medium, Medium::Law(..)) => {
                virtual_time::advance(left);
                Ok(self.deliver(on))
            }
            _ => {
                virtual_time::advance(self.step_ns());
                Ok(0)
            }
        }
    }

    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        match self.ready_in() {
            Some(left) => {
                virtual_time::advance(left);
                Ok(self.deliver(on))
            }
            // Nothing is under way, so nothing will come.
            None => Err(LinkError::Closed),
        }
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        Ok(true)
    }
}
