//! Opens ports of any stream socket transport in threads and drives them without the engine. Whatever hangs is
//! cancelled after a time, and fails.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use wirespeed::schema::case::{Case, IdlePolicy, RankSpec, Role, Stop};
use wirespeed::schema::test::{Layout, PingPong, Test};
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::{Facts, LinkError, MessagePort, OnMessage, Post, Posted};
use wirespeed::transport::{Connect, ConnectError, MessageRunner, Messages, Needs};
use wirespeed::{Bootstrap, Cancel, ThreadBootstrap};

/// Longer than any test may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub type Message = (usize, u64, Vec<u8>);

#[derive(Default)]
pub struct Received(pub VecDeque<Message>);

impl OnMessage for Received {
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        self.0.push_back((peer, header, payload.to_vec()));
    }
}

/// Any message port, behind a pointer.
pub trait AnyPort {
    fn short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted;
    fn bcopy(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted;
    fn zcopy(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted;
    fn zcopy_done(&self) -> u64;
    fn poll_into(&mut self, received: &mut Received) -> Result<usize, LinkError>;
    fn wait_into(&mut self, received: &mut Received) -> Result<usize, LinkError>;
    fn flushed(&mut self) -> Result<bool, LinkError>;
    fn known_facts(&self) -> Facts;
}

impl<P: MessagePort> AnyPort for P {
    fn short(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        self.send_short(peer, header, payload)
    }
    fn bcopy(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        self.send_bcopy(peer, header, payload.len(), |to| to.copy_from_slice(payload))
    }
    fn zcopy(&mut self, peer: usize, header: u64, payload: &[u8]) -> Posted {
        self.buffer().unwrap().write(0, payload);
        self.send_zcopy(peer, header, 0, payload.len())
    }
    fn zcopy_done(&self) -> u64 {
        self.zcopy_completed()
    }
    fn poll_into(&mut self, received: &mut Received) -> Result<usize, LinkError> {
        self.poll(received)
    }
    fn wait_into(&mut self, received: &mut Received) -> Result<usize, LinkError> {
        self.wait(received)
    }
    fn flushed(&mut self) -> Result<bool, LinkError> {
        self.flush()
    }
    fn known_facts(&self) -> Facts {
        self.facts()
    }
}

/// Runs a function on whatever port was opened.
struct Drive<F>(F);

impl<T, F: FnOnce(&mut dyn AnyPort) -> T> MessageRunner for Drive<F> {
    type Output = T;
    fn run<P: MessagePort>(self, mut port: P) -> T {
        (self.0)(&mut port)
    }
}

pub fn case(transport: &str, options: &[(&str, &str)], ranks: u32, layout: Layout) -> Case {
    let rank = RankSpec::new(Role::Source);
    Case::new(Test::AmLat(PingPong::new(8, layout)), transport)
        .with_options(options.iter().map(|&(k, v)| (k.into(), v.into())).collect())
        .with_ranks(vec![rank; ranks as usize])
        .with_stop(Stop::Iterations { count: 1 })
        .with_warmup(0, 0)
        .with_idle(IdlePolicy::Yield)
}

/// Open a port of `T` as one rank and run `script` on it.
pub fn open<T: Messages, R>(
    bootstrap: &dyn Bootstrap,
    case: &Case,
    peers: &[u32],
    message_bytes: usize,
    script: impl FnOnce(&mut dyn AnyPort) -> R,
) -> Result<R, ConnectError> {
    let needs = Needs::of_messages(message_bytes, 1).with_buffer(message_bytes);
    let ctx = Connect::new(bootstrap, case, peers, needs);
    T::open(&ctx, &T::parse(&case.options).unwrap(), Drive(script))
}

/// A group of threads that is cancelled when the test takes too long.
pub fn group(size: u32, address: IpAddr, test: impl FnOnce(&[ThreadBootstrap])) {
    let cancel = Cancel::new();
    let group = ThreadBootstrap::group_with(size, cancel.clone(), address);
    let (done, ended) = mpsc::channel::<()>();
    let watcher = std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            cancel.cancel(CancelReason::PeerLost);
        }
    });
    test(&group);
    drop(done);
    watcher.join().unwrap();
}

/// Every rank connected to every other, each running `script(rank, port)` in its own thread; all close together.
pub fn mesh<T: Messages>(
    size: u32,
    options: &[(&str, &str)],
    message_bytes: usize,
    script: impl Fn(u32, &mut dyn AnyPort) + Sync,
) {
    mesh_with::<T>(
        size,
        options,
        Layout::Short,
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        message_bytes,
        script,
    );
}

/// As `mesh`, with everything to choose.
pub fn mesh_with<T: Messages>(
    size: u32,
    options: &[(&str, &str)],
    layout: Layout,
    address: IpAddr,
    message_bytes: usize,
    script: impl Fn(u32, &mut dyn AnyPort) + Sync,
) {
    let case = case(T::NAME, options, size, layout);
    group(size, address, |ranks| {
        std::thread::scope(|scope| {
            for bootstrap in ranks {
                let (case, script) = (&case, &script);
                scope.spawn(move || {
                    let rank = bootstrap.rank();
                    let peers: Vec<u32> = (0..size).filter(|&peer| peer != rank).collect();
                    open::<T, _>(bootstrap, case, &peers, message_bytes, |port| {
                        script(rank, port);
                        bootstrap.barrier(&mut || ()).unwrap();
                    })
                    .unwrap();
                });
            }
        });
    });
}

/// The bytes of message `number` of length `len`.
pub fn payload(number: u64, len: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

/// Send, taking in what arrives while there is no room.
pub fn send(port: &mut dyn AnyPort, peer: usize, header: u64, bytes: &[u8], received: &mut Received) {
    while port.short(peer, header, bytes).unwrap() == Post::Busy {
        port.poll_into(received).unwrap();
    }
}

/// Wait until `count` messages are there.
pub fn receive(port: &mut dyn AnyPort, received: &mut Received, count: usize) {
    while received.0.len() < count {
        port.wait_into(received).unwrap();
    }
}

pub fn flush(port: &mut dyn AnyPort, received: &mut Received) {
    while !port.flushed().unwrap() {
        port.poll_into(received).unwrap();
    }
}

/// Whether this machine lets a process have a ring.
pub fn uring_works() -> bool {
    let case = case("unix", &[("wait", "uring")], 1, Layout::Short);
    wirespeed::transport::check::<wirespeed::transport::unix::Unix>(&case).is_ok()
}
