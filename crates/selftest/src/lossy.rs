//! A transport that loses messages by a known law, through the engine's loops for media that lose: between two threads, in
//! real time, because nothing of it but counts is looked at.

use crate::pipeline::{figure, published, stream};
use crate::port::{NONE, messages_only};
use crate::{Check, Effort};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::{LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::registry::Entry;
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{
    Availability, Connect, ConnectError, Limits, MessageRunner, Messages, Ran, Support, Transport,
};
use wirespeed::{Registry, ThreadBootstrap, measure};
use wirespeed_report::repetition;
use wirespeed_report::stats::Random;
use wirespeed_schema::case::{Case, RankSpec, TransportOptions};
use wirespeed_schema::outcome::Outcome;

/// Messages with a payload that are lost.
const LOST_SHARE: f64 = 0.02;
const MESSAGES: u64 = 20_000;
/// Messages on the way at most; the sender waits while there are more, so that nothing else is lost.
const DEPTH: usize = 1000;

type Queue = Mutex<VecDeque<(u64, Vec<u8>)>>;

/// Both ways between two ranks that have not met yet, by number of their meeting.
static MEETINGS: Mutex<BTreeMap<u64, [Arc<Queue>; 2]>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

struct Lossy;

struct LossyPort {
    out: Arc<Queue>,
    back: Arc<Queue>,
    random: Random,
    waiter: Waiter,
}

impl MessagePort for LossyPort {
    const SLOW: bool = true;
    const LOSSY: bool = true;

    fn send_short(&mut self, _: usize, header: u64, payload: &[u8]) -> Posted {
        let mut out = locked(&self.out);
        if out.len() >= DEPTH {
            return Ok(Post::Busy);
        }
        if payload.is_empty() || self.random.uniform() >= LOST_SHARE {
            out.push_back((header, payload.to_vec()));
        }
        Ok(Post::Done)
    }

    fn send_bcopy(&mut self, _: usize, _: u64, _: usize, _: impl FnOnce(&mut [u8])) -> Posted {
        Err(LinkError::Unsupported("bcopy in a simulation"))
    }

    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let next = locked(&self.back).pop_front();
        match next {
            Some((header, payload)) => {
                on.message(0, header, &payload);
                Ok(1)
            }
            None => Ok(0),
        }
    }

    fn wait<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let handled = self.poll(on)?;
        if handled == 0 {
            self.waiter.idle()?;
        }
        Ok(handled)
    }

    fn flush(&mut self) -> Result<bool, LinkError> {
        Ok(true)
    }
}

impl Transport for Lossy {
    const NAME: &'static str = "simulated_lossy";
    const SUMMARY: &'static str = "loses messages by a known law";
    const OPTIONS: &'static [OptionSpec] = &[];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Lacks(NONE);
    const ONE_SIDED: Support = Support::Lacks(NONE);
    type Options = ();

    fn parse(options: &TransportOptions) -> Result<(), OptionError> {
        OptionReader::new(Self::NAME, Self::OPTIONS, options).map(drop)
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(_: &()) -> Limits {
        messages_only(2)
    }
}

impl Messages for Lossy {
    fn open<R: MessageRunner>(ctx: &Connect, _: &(), runner: R) -> Ran<R::Output> {
        let me = ctx.bootstrap.rank();
        let mut meeting = 0;
        if me == 0 {
            meeting = NEXT.fetch_add(1, Ordering::Relaxed);
            locked(&MEETINGS).insert(meeting, Default::default());
        }
        let blobs = ctx.exchange(&meeting.to_le_bytes())?;
        let strange = || ConnectError::BadPeer {
            rank: 0,
            what: "no number of a meeting".into(),
        };
        let number = blobs.first().and_then(|blob| blob.as_slice().try_into().ok());
        let meeting = u64::from_le_bytes(number.ok_or_else(strange)?);
        let queues = locked(&MEETINGS).get(&meeting).cloned().ok_or_else(strange)?;
        ctx.exchange(&[])?;
        if me == 0 {
            locked(&MEETINGS).remove(&meeting);
        }
        let [forth, back] = queues;
        let (out, back) = if me == 0 { (forth, back) } else { (back, forth) };
        Ok(runner.run(LossyPort {
            out,
            back,
            random: Random::new(11 + u64::from(me == 0)),
            waiter: ctx.waiter(),
        }))
    }
}

/// What both ranks saw.
fn outcomes(case: &Case) -> Result<Vec<Outcome>, String> {
    let ranks = ThreadBootstrap::group(2).into_iter().map(|bootstrap| {
        let case = case.clone();
        std::thread::spawn(move || {
            let registry = Registry::empty().with(Entry::of_messages::<Lossy>());
            measure(&case, &registry, &bootstrap, &mut |_| ()).map_err(|error| error.to_string())
        })
    });
    let ranks: Vec<_> = ranks.collect();
    ranks
        .into_iter()
        .map(|rank| rank.join().unwrap_or_else(|_| Err("it panicked".to_owned())))
        .collect()
}

/// The share of lost messages that is published, and what arrived.
pub fn all(_: &Effort) -> Vec<Check> {
    loss().unwrap_or_else(|error| vec![Check::broken("loss through the engine", &error)])
}

fn loss() -> Result<Vec<Check>, String> {
    let mut case = stream(8, 64, None, MESSAGES);
    Lossy::NAME.clone_into(&mut case.transport);
    case.ranks = RankSpec::pair();
    let mut seen = outcomes(&case)?;
    // Of the machine nothing may enter.
    seen.iter_mut()
        .for_each(|outcome| outcome.disturbance = Default::default());
    for outcome in &mut seen {
        outcome
            .transport_facts
            .insert("delivery".to_owned(), "unreliable".to_owned());
    }
    let lost: u64 = seen.iter().map(|outcome| outcome.faults.lost_messages).sum();
    let received: u64 = seen.iter().map(|outcome| outcome.received.messages).sum();
    let result = published(&case, vec![repetition(&case, 0, seen, 0, 0)])?;
    let ratio = figure(&result, "loss_ratio");
    // Four standard deviations of a binomial count.
    let slack = 4.0 * (LOST_SHARE * (1.0 - LOST_SHARE) / MESSAGES as f64).sqrt();
    Ok(vec![
        Check::near(
            "loss of 2 % through the engine",
            "",
            LOST_SHARE,
            ratio,
            slack / LOST_SHARE,
        ),
        Check::holds(
            "every message is received or lost",
            &format!("{MESSAGES}"),
            format!("{}", received + lost),
            received + lost == MESSAGES,
        ),
    ])
}
