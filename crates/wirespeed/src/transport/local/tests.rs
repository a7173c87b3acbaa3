//! Ports over shared memory, driven directly by threads: both media, both ways of waiting.

use crate::transport::bootstrap::{Bootstrap, ThreadBootstrap};
use crate::transport::cancel::CancelReason;
use crate::transport::fixtures::case;
use crate::transport::inproc::Inproc;
use crate::transport::port::{
    AtomicOp, Facts, LinkError, MessagePort, OnMessage, OneSidedPort, Post, Width, WordOp,
};
use crate::transport::shm::Shm;
use crate::transport::{
    Connect, ConnectError, MessageRunner, Messages, Needs, OneSided, OneSidedRunner, Ran, Transport,
};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

fn options<T: Transport>(pairs: &[(&str, &str)]) -> T::Options {
    let pairs = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string()));
    T::parse(&pairs.collect()).unwrap()
}

/// Run `body` as every rank of a group in which everybody is everybody's peer, itself included.
fn group(ranks: u32, body: impl Fn(Connect) + Sync) {
    let case = case();
    let peers: Vec<u32> = (0..ranks).collect();
    let group = ThreadBootstrap::group(ranks);
    std::thread::scope(|scope| {
        for bootstrap in &group {
            scope.spawn(|| {
                let needs = Needs::of_messages(100_000, 0)
                    .with_buffer(4096)
                    .with_region(4096, 4);
                body(Connect::new(bootstrap, &case, &peers, needs))
            });
        }
    });
}

fn byte(from: usize, number: u64, len: usize) -> u8 {
    (from as u64 * 89 + number * 7 + len as u64) as u8
}

fn length(number: u64) -> usize {
    [0, 1, 8, 52, 53, 511, 512, 9000, 100_000][number as usize % 9]
}

/// Checks what arrives: order by header, content by sender and number.
struct Check {
    next: Vec<u64>,
}

impl OnMessage for Check {
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        assert_eq!(header, self.next[peer], "order from {peer}");
        let len = length(header);
        assert_eq!(payload.len(), len);
        assert!(payload.iter().all(|b| *b == byte(peer, header, len)), "content");
        self.next[peer] += 1;
    }
}

/// Every rank sends to every peer, by both layouts, and receives from all.
struct AllToAll {
    rank: usize,
    ranks: usize,
    count: u64,
}

impl MessageRunner for AllToAll {
    type Output = Facts;

    fn run<P: MessagePort>(self, mut port: P) -> Facts {
        let start = Instant::now();
        let mut check = Check {
            next: vec![0; self.ranks],
        };
        for number in 0..self.count {
            let len = length(number);
            let fill = byte(self.rank, number, len);
            for peer in 0..self.ranks {
                loop {
                    let post = if number % 2 == 0 {
                        port.send_short(peer, number, &vec![fill; len])
                    } else {
                        port.send_bcopy(peer, number, len, |slot| slot.fill(fill))
                    };
                    if post.unwrap() == Post::Done {
                        break;
                    }
                    port.poll(&mut check).unwrap();
                    assert!(start.elapsed() < DEADLINE, "no room");
                }
            }
        }
        while check.next.iter().any(|n| *n < self.count) {
            port.wait(&mut check).unwrap();
            assert!(start.elapsed() < DEADLINE, "{:?}", check.next);
        }
        assert!(port.flush().unwrap());
        assert_eq!(port.poll(&mut check), Ok(0));
        port.facts()
    }
}

fn all_to_all<T: Messages>(ranks: u32, pairs: &[(&str, &str)]) {
    group(ranks, |ctx| {
        let runner = AllToAll {
            rank: ctx.bootstrap.rank() as usize,
            ranks: ranks as usize,
            count: 60,
        };
        let facts = T::open(&ctx, &options::<T>(pairs), runner).unwrap();
        assert_eq!(facts["ring_bytes"], "524288");
        // Nobody leaves while another still may send to it.
        ctx.bootstrap.barrier(&mut || ()).unwrap();
    });
}

#[test]
fn messages_between_threads_keep_order_and_content() {
    all_to_all::<Inproc>(1, &[]);
    all_to_all::<Inproc>(4, &[]);
    all_to_all::<Inproc>(3, &[("wait", "block"), ("spin", "0")]);
}

#[test]
fn messages_through_shared_memory_keep_order_and_content() {
    all_to_all::<Shm>(1, &[]);
    all_to_all::<Shm>(4, &[("huge", "on")]);
    all_to_all::<Shm>(3, &[("wait", "block"), ("spin", "0")]);
}

/// Waits for a message that never comes.
struct WaitForever(crate::transport::cancel::Cancel);

impl MessageRunner for WaitForever {
    type Output = ();

    fn run<P: MessagePort>(self, mut port: P) {
        let cancel = self.0;
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            cancel.cancel(CancelReason::PeerLost);
        });
        let start = Instant::now();
        let mut check = Check { next: vec![0; 2] };
        let end = loop {
            match port.wait(&mut check) {
                Ok(_) => assert!(start.elapsed() < DEADLINE, "never cancelled"),
                Err(error) => break error,
            }
        };
        assert_eq!(end, LinkError::Cancelled);
        canceller.join().unwrap();
    }
}

#[test]
fn a_cancel_ends_every_wait() {
    for pairs in [&[][..], &[("wait", "block")]] {
        group(2, |ctx| {
            Shm::open_messages(&ctx, pairs, WaitForever(ctx.cancel.clone())).unwrap();
        });
        group(2, |ctx| {
            Inproc::open_messages(&ctx, pairs, WaitForever(ctx.cancel.clone())).unwrap();
        });
    }
}

/// `T::open` is ambiguous where a transport has two capabilities.
trait OpenMessages: Messages {
    fn open_messages<R: MessageRunner>(ctx: &Connect, pairs: &[(&str, &str)], runner: R) -> Ran<R::Output> {
        <Self as Messages>::open(ctx, &options::<Self>(pairs), runner)
    }
}

impl<T: Messages> OpenMessages for T {}

/// Every operation on the next rank's region, and atomics of all on rank 0's.
struct Remote<'a> {
    bootstrap: &'a dyn Bootstrap,
}

impl Remote<'_> {
    fn meet(&self) {
        self.bootstrap.barrier(&mut || ()).unwrap();
    }

    fn puts_and_gets<P: OneSidedPort>(&self, port: &mut P, me: usize, next: usize) {
        for len in [1, 2, 3, 8, 9, 64, 1000] {
            let data: Vec<u8> = (0..len).map(|i| (me * 50 + i + len) as u8).collect();
            assert_eq!(port.put_short(next, 128, &data), Ok(Post::Done));
            assert_eq!(
                port.put_bcopy(next, 2048, len, |s| s.copy_from_slice(&data)),
                Ok(Post::Done)
            );
            assert_eq!(port.fence(), Ok(Post::Done));
            assert_eq!(port.flush(), Ok(true));
            let before = port.completed();
            assert_eq!(port.get_bcopy(next, 2048, 16, len), Ok(Post::Done));
            assert_eq!(port.completed(), before + 1);
            assert_eq!(port.get_bcopy(next, 128, 2048, len), Ok(Post::Done));
            for place in [16, 2048] {
                let mut back = vec![0; len];
                port.local().read(place, &mut back);
                assert_eq!(back, data);
            }
            self.meet();
            // What the rank before this one put here.
            let (before, last) = ((me + 2) % 3, len - 1);
            assert_eq!(
                port.region().load_u8(128 + last),
                (before * 50 + last + len) as u8
            );
            self.meet();
        }
    }

    fn atomics<P: OneSidedPort>(&self, port: &mut P, me: usize) {
        for (width, offset, mask) in [(Width::W8, 0, u64::MAX), (Width::W4, 8, u64::from(u32::MAX))] {
            let start = mask - 10;
            if me == 0 {
                let op = port.atomic(0, WordOp::new(AtomicOp::Swap, width, offset, start, 0, 3));
                assert_eq!((op, port.fetched(3)), (Ok(Post::Done), 0));
            }
            self.meet();
            for _ in 0..1000 {
                let _ = port
                    .atomic(0, WordOp::new(AtomicOp::Add, width, offset, 1, 0, 0))
                    .unwrap();
                let _ = port
                    .atomic(0, WordOp::new(AtomicOp::FetchAdd, width, offset, 2, 0, 1))
                    .unwrap();
            }
            self.meet();
            // Adding 0 looks without changing.
            let _ = port
                .atomic(0, WordOp::new(AtomicOp::FetchAdd, width, offset, 0, 0, 2))
                .unwrap();
            assert_eq!(port.fetched(2), start.wrapping_add(9000) & mask, "{width:?}");
            self.meet();
            if me == 1 {
                let now = port.fetched(2);
                let missed = port.atomic(
                    0,
                    WordOp::new(AtomicOp::CompareSwap, width, offset, 5, now + 1, 0),
                );
                assert_eq!((missed, port.fetched(0)), (Ok(Post::Done), now));
                let hit = port.atomic(0, WordOp::new(AtomicOp::CompareSwap, width, offset, 5, now, 0));
                assert_eq!((hit, port.fetched(0)), (Ok(Post::Done), now));
                let _ = port
                    .atomic(0, WordOp::new(AtomicOp::Swap, width, offset, 6, 0, 0))
                    .unwrap();
                assert_eq!(port.fetched(0), 5);
            }
            self.meet();
        }
    }
}

impl OneSidedRunner for Remote<'_> {
    type Output = ();

    fn run<P: OneSidedPort>(self, mut port: P) {
        let me = self.bootstrap.rank() as usize;
        assert_eq!(port.region().len(), 4096);
        assert_eq!(
            port.region()
                .u64_at(0)
                .load(core::sync::atomic::Ordering::Relaxed),
            0
        );
        self.puts_and_gets(&mut port, me, (me + 1) % 3);
        self.atomics(&mut port, me);
        assert_eq!((port.poll(), port.wait()), (Ok(()), Ok(())));
    }
}

fn one_sided<T: OneSided>() {
    group(3, |ctx| {
        let runner = Remote {
            bootstrap: ctx.bootstrap,
        };
        <T as OneSided>::open(&ctx, &options::<T>(&[]), runner).unwrap();
    });
}

#[test]
fn one_sided_between_threads() {
    one_sided::<Inproc>();
}

#[test]
fn one_sided_through_shared_memory() {
    one_sided::<Shm>();
}

/// Must not be reached.
struct Never;

impl MessageRunner for Never {
    type Output = ();

    fn run<P: MessagePort>(self, _: P) {
        panic!("opened");
    }
}

/// Sends itself long messages, and counts those of one look.
struct OneLook;

impl OnMessage for OneLook {
    fn message(&mut self, _: usize, _: u64, _: &[u8]) {}
}

impl MessageRunner for OneLook {
    type Output = usize;

    fn run<P: MessagePort>(mut self, mut port: P) -> usize {
        let payload = vec![0; (1 << 20) + 1];
        let sent = (0..40).take_while(|number| port.send_short(0, *number, &payload) == Ok(Post::Done));
        assert_eq!(sent.count(), 40);
        port.poll(&mut self).unwrap()
    }
}

#[test]
fn a_look_hands_out_no_more_long_messages_than_a_relay_holds() {
    group(1, |mut ctx| {
        ctx.needs = Needs::of_messages((1 << 20) + 1, 0);
        let handled = Inproc::open_messages(&ctx, &[("ring", "64M")], OneLook);
        assert_eq!(handled.unwrap(), 16);
    });
}

impl OneSidedRunner for Never {
    type Output = ();

    fn run<P: OneSidedPort>(self, _: P) {
        panic!("opened");
    }
}

#[test]
fn what_cannot_be_had_is_refused_without_a_crash() {
    group(1, |mut ctx| {
        ctx.needs.message_bytes = 65 << 20;
        assert!(Shm::open_messages(&ctx, &[], Never).is_err());
        assert!(Inproc::open_messages(&ctx, &[("ring", "4K")], Never).is_err());
        ctx.needs.message_bytes = 8;
        ctx.peers = &[0, 0];
        assert!(Inproc::open_messages(&ctx, &[], Never).is_err());
    });
    group(1, |mut ctx| {
        ctx.needs.region_bytes = 1 << 46;
        let refused = <Shm as OneSided>::open(&ctx, &options::<Shm>(&[]), Never);
        assert!(matches!(refused, Err(ConnectError::Memory { .. })), "{refused:?}");
        let refused = <Inproc as OneSided>::open(&ctx, &options::<Inproc>(&[]), Never);
        assert!(matches!(refused, Err(ConnectError::Memory { .. })), "{refused:?}");
    });
}

#[test]
fn a_region_of_another_size_is_refused() {
    group(2, |mut ctx| {
        let me = ctx.bootstrap.rank();
        ctx.needs.region_bytes += 64 * me as usize;
        let refused = <Inproc as OneSided>::open(&ctx, &options::<Inproc>(&[]), Never);
        assert!(
            matches!(refused, Err(ConnectError::BadPeer { rank, .. }) if rank == 1 - me),
            "{refused:?}"
        );
    });
}

/// A group in which rank 1 gives nonsense instead of its address.
#[test]
fn an_address_that_is_nonsense_is_refused() {
    let nonsense: [&[u8]; 4] = [
        b"",
        b"{}",
        b"\xff\xff",
        br#"{"place":{"boot":"x","pid_namespace":"y","pid":1,"started":1},"handle":8,"segment_bytes":18446744073709551615,"magic":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"peers":[0],"ring_bytes":18446744073709551615,"region_bytes":18446744073709551615}"#,
    ];
    for blob in nonsense {
        for shm in [true, false] {
            let case = case();
            let group = ThreadBootstrap::group(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let liar = Connect::new(&group[1], &case, &[0], Needs::default());
                    liar.exchange(blob).unwrap()
                });
                let ctx = Connect::new(&group[0], &case, &[1], Needs::default());
                let refused = if shm {
                    Shm::open_messages(&ctx, &[], Never)
                } else {
                    Inproc::open_messages(&ctx, &[], Never)
                };
                assert!(
                    matches!(refused, Err(ConnectError::BadPeer { rank: 1, .. })),
                    "{refused:?}"
                );
            });
        }
    }
}
