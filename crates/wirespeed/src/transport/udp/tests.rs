//! Ports over loopback: delivery, strangers, wrong tags, cancel, sizes, both families.

use super::*;
use crate::transport::bootstrap::{Bootstrap, ThreadBootstrap};
use crate::transport::cancel::{Cancel, CancelReason};
use crate::transport::port::{LinkError, MessagePort, OnMessage, Post, Posted};
use crate::transport::{MessageRunner, Needs, fixtures};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};
use wirespeed_schema::case::{Case, RankSpec, Role};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
const PATIENCE: Duration = Duration::from_secs(20);

fn case(options: &[(&str, &str)], ranks: u32) -> Case {
    let spec = RankSpec::new(Role::Source);
    let mut case = fixtures::case();
    case.transport = "udp".into();
    case.with_options(options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect())
        .with_ranks(vec![spec; ranks as usize])
}

/// What one rank of a test does with its port.
trait Script: Copy + Send + Sync {
    fn play<P: MessagePort>(self, rank: &ThreadBootstrap, port: P);
}

struct Play<'a, S>(&'a ThreadBootstrap, S);

impl<S: Script> MessageRunner for Play<'_, S> {
    type Output = ();
    fn run<P: MessagePort>(self, port: P) {
        self.1.play(self.0, port);
    }
}

/// Open a port on every rank of a group, each the peer of all others, and play the script on all of them.
fn play(
    ip: IpAddr,
    size: u32,
    options: &[(&str, &str)],
    message_bytes: usize,
    script: impl Script,
) -> Vec<Result<(), ConnectError>> {
    let ranks = ThreadBootstrap::group_with(size, Cancel::new(), ip);
    let case = case(options, size);
    std::thread::scope(|scope| {
        let threads: Vec<_> = ranks
            .iter()
            .map(|rank| {
                let case = &case;
                scope.spawn(move || {
                    let _guard = CancelOnPanic(rank.cancel());
                    let peers: Vec<u32> = (0..size).filter(|r| *r != rank.rank()).collect();
                    let ctx = Connect::new(rank, case, &peers, Needs::of_messages(message_bytes, 0));
                    let options = Udp::parse(&case.options).unwrap();
                    let result = Udp::open(&ctx, &options, Play(rank, script));
                    if result.is_err() {
                        rank.cancel().cancel(CancelReason::PeerLost);
                    }
                    result
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// A rank that fails its script must not leave the others waiting for it.
struct CancelOnPanic(Cancel);

impl Drop for CancelOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.cancel(CancelReason::PeerLost);
        }
    }
}

/// Keeps what came.
#[derive(Default)]
struct Inbox(Vec<(usize, u64, Vec<u8>)>);

impl OnMessage for Inbox {
    fn message(&mut self, peer: usize, header: u64, payload: &[u8]) {
        self.0.push((peer, header, payload.to_vec()));
    }
}

fn take<P: MessagePort>(port: &mut P, messages: usize) -> Inbox {
    let mut inbox = Inbox::default();
    let deadline = Instant::now() + PATIENCE;
    while inbox.0.len() < messages {
        assert!(
            Instant::now() < deadline,
            "{} of {messages} messages",
            inbox.0.len()
        );
        port.wait(&mut inbox).unwrap();
    }
    inbox
}

fn push<P: MessagePort>(port: &mut P, mut send: impl FnMut(&mut P) -> Posted) {
    let deadline = Instant::now() + PATIENCE;
    while send(port).unwrap() == Post::Busy {
        assert!(Instant::now() < deadline);
        port.flush().unwrap();
    }
}

fn settle<P: MessagePort>(port: &mut P) {
    while !port.flush().unwrap() {}
}

fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(31) + seed) as u8).collect()
}

/// Rank 0 sends each size in both layouts and gets it back before the next.
#[derive(Clone, Copy)]
struct Sizes(&'static [usize]);

impl Script for Sizes {
    fn play<P: MessagePort>(self, rank: &ThreadBootstrap, mut port: P) {
        assert!(P::LOSSY);
        for (i, &len) in self.0.iter().enumerate() {
            let payload = bytes(i, len);
            let header = u64::MAX - i as u64;
            if rank.rank() == 0 {
                push(&mut port, |p| p.send_short(0, header, &payload));
                assert_eq!(take(&mut port, 1).0, [(0, header, payload)]);
            } else {
                let got = take(&mut port, 1).0;
                assert_eq!(got, [(0, header, payload)]);
                push(&mut port, |p| {
                    p.send_bcopy(0, header, len, |to| to.copy_from_slice(&got[0].2))
                });
                settle(&mut port);
            }
        }
        rank.barrier(&mut || ()).unwrap();
        let facts = port.facts();
        assert_eq!(facts["stray_datagrams"], "0");
        assert_eq!(facts["receiver_kernel_drops"], "0");
        assert!(facts.contains_key("path_mtu_bytes"));
    }
}

const SIZES: &[usize] = &[0, 1, 7, 8, 1448, 1449, 9000, 65_483];

fn sizes_pass(ip: IpAddr, options: &[(&str, &str)]) {
    for result in play(ip, 2, options, 65_483, Sizes(SIZES)) {
        result.unwrap();
    }
}

#[test]
fn every_size_arrives_polling() {
    sizes_pass(V4, &[]);
}

#[test]
fn every_size_arrives_blocking() {
    sizes_pass(V4, &[("wait", "block")]);
}

#[test]
fn every_size_arrives_in_batches() {
    sizes_pass(V4, &[("batch", "8")]);
    sizes_pass(V4, &[("batch", "3"), ("wait", "block")]);
}

#[test]
fn every_size_arrives_over_ipv6() {
    sizes_pass(V6, &[("dscp", "46"), ("df", "off")]);
    sizes_pass(V6, &[("wait", "block"), ("batch", "2")]);
}

/// Every rank sends ten messages to every other.
#[derive(Clone, Copy)]
struct EachToEach;

impl Script for EachToEach {
    fn play<P: MessagePort>(self, rank: &ThreadBootstrap, mut port: P) {
        let others = rank.size() as usize - 1;
        for slot in 0..others {
            for i in 0..10 {
                push(&mut port, |p| p.send_short(slot, i, &rank.rank().to_le_bytes()));
            }
        }
        settle(&mut port);
        let inbox = take(&mut port, 10 * others);
        for slot in 0..others {
            let from = (slot + usize::from(slot >= rank.rank() as usize)) as u32;
            let got: Vec<_> = inbox.0.iter().filter(|m| m.0 == slot).collect();
            assert_eq!(got.len(), 10);
            assert!(got.iter().all(|m| m.2 == from.to_le_bytes()));
        }
        rank.barrier(&mut || ()).unwrap();
    }
}

#[test]
fn several_peers_are_told_apart() {
    for ip in [V4, V6] {
        for options in [
            &[("wait", "poll")][..],
            &[("wait", "block")],
            &[("batch", "4")],
            &[("batch", "4"), ("wait", "block")],
        ] {
            for result in play(ip, 3, options, 8, EachToEach) {
                result.unwrap();
            }
        }
    }
}

/// Rank 1 is shouted at by strangers; ports are found by the fixed `port` option.
#[derive(Clone, Copy)]
struct Strangers {
    base: u16,
    /// A connected socket gets nothing from other addresses: the kernel drops it before anyone can count.
    counted: bool,
}

impl Script for Strangers {
    fn play<P: MessagePort>(self, rank: &ThreadBootstrap, mut port: P) {
        let others = rank.size() as usize - 1;
        let last = rank.size() - 1;
        if rank.rank() == 0 {
            let stranger = UdpSocket::bind((V4, 0)).unwrap();
            let target = (V4, self.base + last as u16);
            let forged = super::wire::Head {
                kind: super::wire::Kind::Data,
                rank: 0,
                tag: 1,
                value: 9,
            };
            for datagram in [&b""[..], b"x", &forged.encode(0), &[0xff; 4000]] {
                stranger.send_to(datagram, target).unwrap();
            }
            push(&mut port, |p| p.send_short(others - 1, 5, b"real"));
            settle(&mut port);
        }
        if rank.rank() == last {
            assert_eq!(take(&mut port, 1).0, [(0, 5, b"real".to_vec())]);
            // At least: another program on this machine may send to a port that it thinks is its own.
            let strays: u64 = port.facts()["stray_datagrams"].parse().unwrap();
            assert!(!self.counted || strays >= 4, "{strays}");
        }
        rank.barrier(&mut || ()).unwrap();
    }
}

/// The first of `count` neighbouring ports that are free now.
fn free_ports(count: u16) -> u16 {
    loop {
        let base = UdpSocket::bind((V4, 0)).unwrap().local_addr().unwrap().port();
        let all: Result<Vec<_>, _> = (0..count)
            .map(|i| UdpSocket::bind((V4, base.saturating_add(i))))
            .collect();
        if all.is_ok() {
            return base;
        }
    }
}

#[test]
fn strangers_are_ignored_and_counted() {
    for (batch, ranks) in [("1", 3), ("4", 3), ("1", 2)] {
        let base = free_ports(ranks as u16);
        let base_text = base.to_string();
        let options = [("port", base_text.as_str()), ("batch", batch)];
        let script = Strangers {
            base,
            counted: ranks > 2,
        };
        for result in play(V4, ranks, &options, 8, script) {
            result.unwrap();
        }
    }
}

/// Rank 0 cancels while rank 1 waits.
#[derive(Clone, Copy)]
struct CancelWakes;

impl Script for CancelWakes {
    fn play<P: MessagePort>(self, rank: &ThreadBootstrap, mut port: P) {
        if rank.rank() == 0 {
            std::thread::sleep(Duration::from_millis(30));
            rank.cancel().cancel(CancelReason::Interrupted);
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let mut inbox = Inbox::default();
        loop {
            match port.wait(&mut inbox) {
                Ok(_) => assert!(Instant::now() < deadline, "the wait never ended"),
                Err(LinkError::Cancelled) => return,
                // Rank 0 may close first.
                Err(LinkError::Closed) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_cancel_ends_a_wait() {
    for options in [
        &[("wait", "poll")][..],
        &[("wait", "block")],
        &[("wait", "block"), ("batch", "4")],
    ] {
        for result in play(V4, 2, options, 8, CancelWakes) {
            result.unwrap();
        }
    }
}

/// Whoever says another address than its own proves nothing.
#[test]
fn an_address_that_does_not_answer_times_out_for_all() {
    let ranks = ThreadBootstrap::group(2);
    let case = case(&[], 2);
    let victim = UdpSocket::bind((V4, 0)).unwrap();
    victim.set_nonblocking(true).unwrap();
    std::thread::scope(|scope| {
        let (honest, liar) = (&ranks[0], &ranks[1]);
        let victim = &victim;
        let case = &case;
        scope.spawn(move || {
            let ctx = Connect::new(liar, case, &[0], Needs::default());
            let blob = super::wire::encode_blob(victim.local_addr().unwrap(), &[9; 16]);
            ctx.exchange(&blob).unwrap();
            liar.barrier(&mut || ()).unwrap();
            let verdicts = ctx.exchange(&[1]).unwrap();
            assert_eq!(verdicts[0], [0]);
        });
        let ctx = Connect::new(honest, case, &[1], Needs::default());
        let result = Udp::open(
            &ctx,
            &Udp::parse(&case.options).unwrap(),
            Play(honest, EachToEach),
        );
        let said = result.unwrap_err().to_string();
        let place = format!("rank 1 at {} answers no datagrams", victim.local_addr().unwrap());
        assert!(said.starts_with(&place), "{said}");
    });
    let mut received = 0;
    let mut buffer = [0; 2048];
    while let Ok((len, _)) = victim.recv_from(&mut buffer) {
        received += len;
    }
    assert!(
        (24..=24 * 20).contains(&received),
        "{received} bytes went to the victim"
    );
}

#[test]
fn unusable_blobs_and_families_are_refused() {
    for blob in [vec![], vec![0; 36], vec![1; 500], {
        super::wire::encode_blob("[::1]:9".parse().unwrap(), &[0; 16])
    }] {
        let ranks = ThreadBootstrap::group(2);
        let case = case(&[], 2);
        std::thread::scope(|scope| {
            let liar = &ranks[1];
            let case = &case;
            scope.spawn(move || {
                Connect::new(liar, case, &[0], Needs::default())
                    .exchange(&blob)
                    .map(drop)
                    .unwrap()
            });
            let ctx = Connect::new(&ranks[0], case, &[1], Needs::default());
            let result = Udp::open(
                &ctx,
                &Udp::parse(&case.options).unwrap(),
                Play(&ranks[0], EachToEach),
            );
            assert!(
                matches!(result, Err(ConnectError::BadPeer { rank: 1, .. })),
                "{result:?}"
            );
        });
    }
}

#[test]
fn a_port_in_use_is_an_error_of_one_line() {
    let taken = UdpSocket::bind((V4, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let results = play(V4, 2, &[("port", &port)], 8, EachToEach);
    assert!(results[0].as_ref().unwrap_err().to_string().contains("binding"));
    assert!(results[1].is_err());
}

/// Loopback's MTU is 65 536: only the largest datagrams are fragmented there.
#[test]
fn fragmentation_can_be_forbidden() {
    for result in play(V4, 2, &[("df", "on")], 65_483, Sizes(&[1448])) {
        result.unwrap();
    }
}
