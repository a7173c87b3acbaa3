//! A throw-away transport that the library does not know, over mutexed queues, passes every suite: the proof that a
//! transport needs nothing but the public seam.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wirespeed::Registry;
use wirespeed::schema::case::{GroupKind, TransportOptions};
use wirespeed::transport::adapt;
use wirespeed::transport::options::{OptionError, OptionReader, OptionSpec};
use wirespeed::transport::port::{LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::registry::Entry;
use wirespeed::transport::waiter::Waiter;
use wirespeed::transport::{
    Atomics, Availability, Connect, ConnectError, Limits, MessageRunner, Messages, NO_SHORTIOV, OneSided,
    Ran, SizeLimit, Support, Tagged, Transport,
};
use wirespeed_conformance::{Verdict, failures, measured, messages, one_sided, tagged};

/// Messages a queue holds by default.
const DEPTH: usize = 100;
const MESSAGE_BYTES_MAX: u64 = 1 << 20;
const NO_ZCOPY: SizeLimit = SizeLimit::never("queues own their bytes");

#[derive(Default)]
struct Queue {
    messages: Mutex<VecDeque<(u64, Vec<u8>)>>,
    closed: AtomicBool,
}

/// Queues by (sender, receiver).
type Shelf = BTreeMap<(u32, u32), Arc<Queue>>;

/// Shelves of groups that are meeting, by a number that rank 0 hands out.
static MEETINGS: Mutex<BTreeMap<u64, Arc<Shelf>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

struct Shelves;

struct ShelvesPort {
    out: Vec<Arc<Queue>>,
    back: Vec<Arc<Queue>>,
    options: ShelvesOptions,
    sent: u64,
    waiter: Waiter,
}

#[derive(Clone, Copy)]
struct ShelvesOptions {
    depth: usize,
    fault: Fault,
}

/// What every hundredth message suffers: the suites must notice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Overtakes,
    Flips,
    Doubles,
}

impl Drop for ShelvesPort {
    fn drop(&mut self) {
        self.out
            .iter()
            .for_each(|queue| queue.closed.store(true, Ordering::Release));
    }
}

impl ShelvesPort {
    fn send(&mut self, peer: usize, header: u64, bytes: impl FnOnce() -> Vec<u8>) -> Posted {
        if self.back[peer].closed.load(Ordering::Acquire) {
            return Err(LinkError::Closed);
        }
        let mut messages = self.out[peer].messages.lock().unwrap();
        if messages.len() >= self.options.depth {
            return Ok(Post::Busy);
        }
        self.sent += 1;
        let mut message = (header, bytes());
        if self.sent.is_multiple_of(100) {
            match (self.options.fault, message.1.first_mut()) {
                (Fault::Flips, Some(byte)) => *byte ^= 1,
                (Fault::Doubles, _) => messages.push_back(message.clone()),
                (Fault::Overtakes, _) => {
                    messages.push_front(message);
                    return Ok(Post::Done);
                }
                _ => {}
            }
        }
        messages.push_back(message);
        Ok(Post::Done)
    }
}

impl MessagePort for ShelvesPort {
    fn send_short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        self.send(peer, header, || payload.to_vec())
    }

    fn send_bcopy(&mut self, peer: usize, header: u64, len: usize, pack: impl FnOnce(&mut [u8])) -> Posted {
        self.send(peer, header, || {
            let mut bytes = vec![0; len];
            pack(&mut bytes);
            bytes
        })
    }

    fn poll<H: OnMessage>(&mut self, on: &mut H) -> Result<usize, LinkError> {
        let mut handled = 0;
        for (slot, queue) in self.back.iter().enumerate() {
            let closed = queue.closed.load(Ordering::Acquire);
            let taken: Vec<_> = {
                let mut messages = queue.messages.lock().unwrap();
                let count = messages.len().min(16);
                messages.drain(..count).collect()
            };
            if taken.is_empty() && closed {
                return Err(LinkError::Closed);
            }
            for (header, bytes) in taken {
                on.message(slot, header, &bytes);
                handled += 1;
            }
        }
        Ok(handled)
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

impl Transport for Shelves {
    const NAME: &'static str = "shelves";
    const SUMMARY: &'static str = "mutexed queues between threads";
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec::new("depth", "COUNT", "messages a queue holds").with_default("100"),
        OptionSpec::new("fault", "none|overtakes|flips|doubles", "what goes wrong").with_default("none"),
    ];
    const MESSAGES: Support = Support::Native;
    const TAGGED: Support = Support::Emulated(adapt::tagged::MEANS);
    const ONE_SIDED: Support = Support::Emulated(adapt::one_sided::MEANS);
    type Options = ShelvesOptions;

    fn parse(options: &TransportOptions) -> Result<ShelvesOptions, OptionError> {
        let reader = OptionReader::new(Self::NAME, Self::OPTIONS, options)?;
        let faults = [
            ("none", Fault::None),
            ("overtakes", Fault::Overtakes),
            ("flips", Fault::Flips),
            ("doubles", Fault::Doubles),
        ];
        Ok(ShelvesOptions {
            depth: reader.count("depth")?.map_or(DEPTH, |depth| depth as usize),
            fault: reader.choice("fault", &faults)?,
        })
    }

    fn probe() -> Availability {
        Availability::Ready
    }

    fn limits(_: &ShelvesOptions) -> Limits {
        let max = SizeLimit::UpTo(MESSAGE_BYTES_MAX);
        let messages = [max.clone(), max.clone(), NO_ZCOPY, NO_SHORTIOV];
        let (put, get) = adapt::one_sided::limits(&messages);
        Limits::of_messages(&[GroupKind::Threads], messages)
            .with_tagged(max)
            .with_one_sided(put, get)
            .with_atomics(Atomics::ALL)
            .with_ranks_max(64)
    }
}

impl Messages for Shelves {
    fn open<R: MessageRunner>(ctx: &Connect, options: &ShelvesOptions, runner: R) -> Ran<R::Output> {
        let (me, size) = (ctx.bootstrap.rank(), ctx.bootstrap.size());
        // One rank of those whose data meet makes the shelf.
        let first = ctx.circle();
        let mut meeting = 0;
        if me == first {
            let pairs = (0..size).flat_map(|from| (0..size).map(move |to| (from, to)));
            let shelf: Shelf = pairs.map(|pair| (pair, Arc::default())).collect();
            meeting = NEXT.fetch_add(1, Ordering::Relaxed);
            MEETINGS.lock().unwrap().insert(meeting, Arc::new(shelf));
        }
        let blobs = ctx.exchange(&meeting.to_le_bytes())?;
        let meeting = u64::from_le_bytes(blobs[first as usize].as_slice().try_into().map_err(|_| {
            ConnectError::BadPeer {
                rank: first,
                what: "no number of a meeting".into(),
            }
        })?);
        let shelf = MEETINGS.lock().unwrap()[&meeting].clone();
        ctx.exchange(&[])?;
        if me == first {
            MEETINGS.lock().unwrap().remove(&meeting);
        }
        let port = ShelvesPort {
            out: ctx.peers.iter().map(|&peer| shelf[&(me, peer)].clone()).collect(),
            back: ctx.peers.iter().map(|&peer| shelf[&(peer, me)].clone()).collect(),
            options: *options,
            sent: 0,
            waiter: ctx.waiter(),
        };
        Ok(runner.run(port))
    }
}

impl Tagged for Shelves {}

impl OneSided for Shelves {}

#[test]
fn a_transport_from_outside_conforms() {
    // A queue of one message is busy most of the time.
    for depth in ["100", "1"] {
        let options = TransportOptions::from([("depth".to_owned(), depth.to_owned())]);
        let registry = Registry::builtin().with(Entry::of::<Shelves>());
        let mut reports = messages::<Shelves>(&options);
        reports.extend(tagged::<Shelves>(&options));
        reports.extend(one_sided::<Shelves>(&options));
        reports.extend(measured(&registry, Shelves::NAME, &options));
        for report in &reports {
            println!("depth {depth}: {report}");
        }
        assert_eq!(failures(&reports), Vec::<String>::new());
        let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
        assert!(passed > 60, "only {passed} checks ran");
        assert!(MEETINGS.lock().unwrap().is_empty());
    }
}

#[test]
fn a_faulty_transport_is_found_out() {
    for fault in ["overtakes", "flips", "doubles"] {
        let options = TransportOptions::from([("fault".to_owned(), fault.to_owned())]);
        let failed = failures(&messages::<Shelves>(&options));
        assert!(failed.len() > 2, "{fault}: only {failed:?}");
    }
}
