//! Messages between connected ports, for each transport and each way of waiting.

use crate::harness::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};
use wirespeed::Bootstrap;
use wirespeed::schema::test::Layout;
use wirespeed::transport::Messages;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::port::{LinkError, Post};
use wirespeed::transport::tcp::Tcp;
use wirespeed::transport::unix::Unix;

const SIZES: [usize; 9] = [0, 1, 15, 16, 17, (64 << 10) - 1, 64 << 10, 1 << 20, 12_345];

/// Ping-pong of every size, in both ways of sending.
fn integrity<T: Messages>(wait: &str) {
    mesh::<T>(2, &[("wait", wait)], 1 << 20, |rank, port| {
        let mut received = Received::default();
        for (i, &len) in SIZES.iter().cycle().take(40).enumerate() {
            let (number, bytes) = (i as u64, payload(i as u64, len));
            if rank == 0 {
                if i % 2 == 0 {
                    send(port, 0, number, &bytes, &mut received);
                } else {
                    while port.bcopy(0, number, &bytes).unwrap() == Post::Busy {
                        port.poll_into(&mut received).unwrap();
                    }
                }
            }
            receive(port, &mut received, 1);
            assert_eq!(received.0.pop_front().unwrap(), (0, number, bytes.clone()));
            if rank == 1 {
                send(port, 0, number, &bytes, &mut received);
            }
        }
        flush(port, &mut received);
    });
}

/// Both ranks send all at once, sizes mixed; everything arrives in order.
fn both_ways<T: Messages>(wait: &str, coalesce: &str) {
    const COUNT: u64 = 4000;
    let len_of = |number: u64| match number % 97 {
        0 => 70_000 + number as usize,
        1..10 => number as usize,
        _ => (number % 31) as usize,
    };
    mesh::<T>(
        2,
        &[("wait", wait), ("coalesce", coalesce)],
        1 << 20,
        |rank, port| {
            let mut received = Received::default();
            let mut next = 0;
            let check = |received: &mut Received, next: &mut u64| {
                for (peer, header, bytes) in received.0.drain(..) {
                    assert_eq!((peer, header), (0, *next));
                    assert_eq!(bytes, payload(header + u64::from(1 - rank), len_of(header)));
                    *next += 1;
                }
            };
            for number in 0..COUNT {
                let bytes = payload(number + u64::from(rank), len_of(number));
                send(port, 0, number, &bytes, &mut received);
                check(&mut received, &mut next);
            }
            while next < COUNT {
                port.wait_into(&mut received).unwrap();
                check(&mut received, &mut next);
            }
            flush(port, &mut received);
        },
    );
}

/// A receiver that does not receive: the sender gets Busy, and nothing is lost.
fn back_pressure<T: Messages>(wait: &str) {
    let options = [("wait", wait), ("sndbuf", "16K"), ("rcvbuf", "16K")];
    let accepted = std::sync::Mutex::new(0u64);
    let (full, told) = std::sync::mpsc::channel::<u64>();
    let told = std::sync::Mutex::new(told);
    mesh::<T>(2, &options, 5000, |rank, port| {
        let mut received = Received::default();
        if rank == 0 {
            let mut sent = 0u64;
            let mut refused = 0;
            while refused < 1000 {
                match port.short(0, sent, &payload(sent, 5000)).unwrap() {
                    Post::Done => sent += 1,
                    Post::Busy => {
                        refused += 1;
                        port.poll_into(&mut received).unwrap();
                    }
                }
                assert!(sent < 100_000, "no back-pressure");
            }
            *accepted.lock().unwrap() = sent;
            full.send(sent).unwrap();
            flush(port, &mut received);
        } else {
            let sent = told.lock().unwrap().recv().unwrap();
            receive(port, &mut received, sent as usize);
            for (i, (_, header, bytes)) in received.0.iter().enumerate() {
                assert_eq!(*header, i as u64);
                assert_eq!(*bytes, payload(*header, 5000));
            }
        }
    });
    assert!(*accepted.lock().unwrap() > 1);
}

/// A rank that only sends and waits for room must be woken when there is some.
fn waits_for_room<T: Messages>(wait: &str) {
    let options = [("wait", wait), ("sndbuf", "16K"), ("rcvbuf", "16K")];
    mesh::<T>(2, &options, 100_000, |rank, port| {
        let mut received = Received::default();
        let bytes = payload(1, 100_000);
        if rank == 0 {
            for number in 0..20 {
                while port.short(0, number, &bytes).unwrap() == Post::Busy {
                    port.wait_into(&mut received).unwrap();
                }
            }
            flush(port, &mut received);
        } else {
            receive(port, &mut received, 20);
        }
    });
}

/// An answer that arrives while its receiver only sends must not be slept over by the wait that follows.
fn hears_what_came_while_sending<T: Messages>(wait: &str) {
    mesh::<T>(2, &[("wait", wait)], 64, |rank, port| {
        let mut received = Received::default();
        if rank == 0 {
            port.poll_into(&mut received).unwrap();
            send(port, 0, 0, &[], &mut received);
            flush(port, &mut received);
            std::thread::sleep(Duration::from_millis(50));
            for number in 1..4 {
                assert_eq!(port.short(0, number, &[]), Ok(Post::Done));
            }
            receive(port, &mut received, 1);
        } else {
            receive(port, &mut received, 1);
            send(port, 0, 0, &[], &mut received);
            flush(port, &mut received);
            receive(port, &mut received, 4);
        }
    });
}

/// Three ranks: each tells both others, peers keep their slots and each peer's messages their order.
fn three_ranks<T: Messages>(wait: &str) {
    const ROUNDS: u64 = 300;
    mesh::<T>(3, &[("wait", wait)], 64, |rank, port| {
        let others: Vec<u32> = (0..3).filter(|&other| other != rank).collect();
        let mut received = Received::default();
        let mut next = [0u64; 2];
        for round in 1..=ROUNDS {
            for (slot, &other) in others.iter().enumerate() {
                send(port, slot, round, &[rank as u8, other as u8], &mut received);
            }
            while next.iter().any(|&seen| seen < round) {
                if received.0.is_empty() {
                    port.wait_into(&mut received).unwrap();
                }
                for (slot, header, bytes) in received.0.drain(..) {
                    next[slot] += 1;
                    assert_eq!(
                        (header, bytes),
                        (next[slot], vec![others[slot] as u8, rank as u8])
                    );
                }
            }
        }
        flush(port, &mut received);
    });
}

/// A sleeping or polling rank hears of a cancel; a rank whose peer is gone hears of that.
fn ends<T: Messages>(wait: &str) {
    let case = case(T::NAME, &[("wait", wait)], 2, Layout::Short);
    for cancelled in [true, false] {
        group(2, IpAddr::V4(Ipv4Addr::LOCALHOST), |ranks| {
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    open::<T, _>(&ranks[1], &case, &[0], 64, |port| {
                        loop {
                            let mut received = Received::default();
                            match port.wait_into(&mut received) {
                                Ok(_) if received.0.len() <= 1 => {}
                                other => return other,
                            }
                        }
                    })
                });
                open::<T, _>(&ranks[0], &case, &[1], 64, |port| {
                    send(port, 0, 7, &[1], &mut Received::default());
                    flush(port, &mut Received::default());
                    std::thread::sleep(Duration::from_millis(50));
                    if cancelled {
                        ranks[0].cancel().cancel(CancelReason::Interrupted);
                        let started = Instant::now();
                        while !waiting.is_finished() && started.elapsed() < Duration::from_secs(20) {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    }
                })
                .unwrap();
                let expected = if cancelled {
                    LinkError::Cancelled
                } else {
                    LinkError::Closed
                };
                assert_eq!(waiting.join().unwrap().unwrap(), Err(expected));
            });
        });
    }
}

/// A rank connected to itself gets its own messages.
fn to_itself<T: Messages>(wait: &str) {
    let case = case(T::NAME, &[("wait", wait)], 1, Layout::Short);
    group(1, IpAddr::V4(Ipv4Addr::LOCALHOST), |ranks| {
        open::<T, _>(&ranks[0], &case, &[0], 64, |port| {
            let mut received = Received::default();
            for number in 0..100 {
                send(port, 0, number, &payload(number, 33), &mut received);
                receive(port, &mut received, 1);
                assert_eq!(received.0.pop_front().unwrap(), (0, number, payload(number, 33)));
            }
        })
        .unwrap();
    });
}

/// Every way of waiting that this machine has.
fn each_wait(test: impl Fn(&str)) {
    for wait in ["poll", "block", "uring"] {
        if wait == "uring" && !uring_works() {
            eprintln!("skipped: wait=uring is not available here");
            continue;
        }
        test(wait);
    }
}

#[test]
fn every_size_arrives_whole() {
    each_wait(integrity::<Tcp>);
    each_wait(integrity::<Unix>);
}

#[test]
fn both_directions_at_once_keep_their_order() {
    for coalesce in ["0", "8K"] {
        each_wait(|wait| both_ways::<Tcp>(wait, coalesce));
        each_wait(|wait| both_ways::<Unix>(wait, coalesce));
    }
}

#[test]
fn a_full_road_is_busy_and_loses_nothing() {
    each_wait(back_pressure::<Tcp>);
    each_wait(back_pressure::<Unix>);
}

#[test]
fn a_sender_may_wait_for_room() {
    each_wait(waits_for_room::<Tcp>);
    each_wait(waits_for_room::<Unix>);
}

#[test]
fn what_came_while_sending_is_heard() {
    each_wait(hears_what_came_while_sending::<Tcp>);
    each_wait(hears_what_came_while_sending::<Unix>);
}

#[test]
fn three_ranks_talk_all_to_all() {
    each_wait(three_ranks::<Tcp>);
    each_wait(three_ranks::<Unix>);
}

#[test]
fn waits_end_by_cancel_and_by_the_peers_death() {
    each_wait(ends::<Tcp>);
    each_wait(ends::<Unix>);
}

#[test]
fn a_rank_may_be_its_own_peer() {
    each_wait(to_itself::<Tcp>);
    each_wait(to_itself::<Unix>);
}

#[test]
fn tcp_over_ipv6() {
    let address = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if std::net::TcpListener::bind((address, 0)).is_err() {
        eprintln!("skipped: this machine has no IPv6 loopback");
        return;
    }
    let options = [("dscp", "46"), ("nodelay", "off")];
    mesh_with::<Tcp>(2, &options, Layout::Short, address, 64, |rank, port| {
        let mut received = Received::default();
        send(port, 0, u64::from(rank), b"six", &mut received);
        receive(port, &mut received, 1);
        let facts = port.known_facts();
        assert_eq!(
            (&*facts["ip_version"], &*facts["dscp"], &*facts["nodelay"]),
            ("6", "46", "off")
        );
    });
}

#[test]
fn zero_copy_sends_complete() {
    for wait in ["poll", "block"] {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        mesh_with::<Tcp>(
            2,
            &[("wait", wait)],
            Layout::Zcopy,
            local,
            300_000,
            |rank, port| {
                let mut received = Received::default();
                for (i, &len) in SIZES.iter().filter(|&&len| len <= 300_000).enumerate() {
                    let number = i as u64;
                    if rank == 0 {
                        while port.zcopy(0, number, &payload(number, len)).unwrap() == Post::Busy {
                            port.poll_into(&mut received).unwrap();
                        }
                        // The buffer is used again for the next one.
                        while port.zcopy_done() < number + 1 {
                            port.wait_into(&mut received).unwrap();
                        }
                    } else {
                        receive(port, &mut received, 1);
                        assert_eq!(received.0.pop_front().unwrap(), (0, number, payload(number, len)));
                    }
                }
                if rank == 0 {
                    let copied: u64 = port.known_facts()["zcopy_copied"].parse().unwrap();
                    assert!(copied > 0, "loopback always copies");
                }
            },
        );
    }
}

#[test]
fn facts_tell_what_the_kernel_made_of_the_options() {
    let options = [
        ("sndbuf", "32K"),
        ("congestion", "reno"),
        ("mss", "1000"),
        ("dscp", "10"),
        ("wait", "block"),
    ];
    mesh::<Tcp>(2, &options, 64, |_, port| {
        let facts = port.known_facts();
        // The kernel doubles what is asked for.
        assert_eq!(facts["sndbuf_bytes"], "65536");
        assert_eq!(
            (&*facts["congestion"], &*facts["dscp"], &*facts["wait"]),
            ("reno", "10", "block")
        );
        assert!(facts["mss_bytes"].parse::<u32>().unwrap() <= 1000);
        assert_eq!((&*facts["nodelay"], &*facts["coalesce_bytes"]), ("on", "0"));
        assert!(facts.contains_key("tcp_rtt_us") && facts.contains_key("tcp_retransmits"));
    });
}
