//! What limits a transfer: each limit by its own evidence, and none where there is none.

use super::*;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::Connection;

fn limit(change: impl FnOnce(&mut Pair)) -> String {
    let far = TcpInfo {
        mss_bytes: 1448,
        rtt_ns: 30_000_000,
        sent_bytes: 1_000_000,
        busy_ns: 100,
        congestion: "cubic".into(),
        ..TcpInfo::default()
    };
    let mut pair = Pair {
        direction: "get".into(),
        threads: 1,
        depth_ops: 1,
        nominal_bytes_per_s: Finite::maybe(1e6),
        runs: vec![Transfer {
            elapsed_ns: 1000,
            bandwidth_bytes_per_s: Finite::maybe(5e5),
            connections: vec![Connection {
                far: Some(far),
                stream_ns: 450,
                ..Connection::default()
            }],
            ..Transfer::default()
        }],
        ..Pair::default()
    };
    change(&mut pair);
    crate::byteio::complete(&mut pair);
    pair.verdict.unwrap().limit
}

/// What a sweep has tried, and found to be slower, it does not advise: whatever the limit.
#[test]
fn a_sweep_advises_no_shape() {
    type Change = (&'static str, fn(&mut Pair));
    let changes: [Change; 6] = [
        ("unclear", |_| ()),
        ("idle", |p| p.runs[0].connections[0].first_byte_ns = 500),
        ("idle", |p| {
            (p.depth_ops, p.runs[0].connections[0].first_byte_ns) = (4, 500);
        }),
        ("loss", |p| far(p).retransmitted_bytes = 200),
        ("window", |p| far(p).receiver_limited_ns = 60),
        ("window", |p| far(p).sender_limited_ns = 60),
    ];
    for (expected, change) in changes {
        let said = |name: &str| {
            let mut text = String::new();
            let found = limit(|p| {
                change(p);
                p.name = name.to_owned();
                crate::byteio::complete(p);
                text = p.verdict.take().unwrap().text;
            });
            assert_eq!(found, expected);
            text
        };
        let alone = said("service to here");
        for name in [RECOMMENDED, TRIED] {
            let swept = said(name);
            assert!(alone.starts_with(&swept) && alone != swept, "{swept}");
            let advises = ["--", "connections help", "more connections", "bbr"];
            assert!(!advises.iter().any(|advice| swept.contains(advice)), "{swept}");
        }
    }
}

fn far(pair: &mut Pair) -> &mut TcpInfo {
    pair.runs[0].connections[0].far.as_mut().unwrap()
}

#[test]
fn each_limit_is_told_by_its_own_evidence() {
    assert_eq!(limit(|_| ()), "unclear");
    assert_eq!(limit(|p| p.nominal_bytes_per_s = Finite::maybe(5.3e5)), "network");
    assert_eq!(limit(|p| far(p).retransmitted_bytes = 200), "loss");
    assert_eq!(limit(|p| far(p).receiver_limited_ns = 60), "window");
    assert_eq!(limit(|p| far(p).sender_limited_ns = 60), "window");
    assert_eq!(limit(|p| p.runs[0].cpu_near_ns = 950), "client");
    let beside_load = |p: &mut Pair| {
        p.runs[0].cpu_near_ns = 950;
        p.load.cpu_threads = 1;
    };
    assert_eq!(limit(beside_load), "unclear");
    let broken = |p: &mut Pair| {
        let mut run = p.runs[0].clone();
        run.error = Some("cut".into());
        run.connections[0].far.as_mut().unwrap().retransmitted_bytes = 200;
        p.runs.push(run);
    };
    assert_eq!(limit(broken), "unclear");
    assert_eq!(limit(|p| p.runs[0].connections[0].store_ns = 400), "client");
    assert_eq!(limit(|p| p.runs[0].cpu_far_ns = Some(950)), "server");
    assert_eq!(limit(|p| p.runs[0].connections[0].first_byte_ns = 500), "idle");
}

/// A bucket of 20 ms on a cable: packets are dropped, because the link is full.
#[test]
fn a_full_link_that_drops_is_no_loss() {
    let queue = |p: &mut Pair| {
        far(p).retransmitted_bytes = 5000;
        far(p).rtt_ns = 22_000_000;
        far(p).min_rtt_ns = 100_000;
    };
    assert_eq!(limit(queue), "network");
    let nominal_unknown = |p: &mut Pair| {
        queue(p);
        p.nominal_bytes_per_s = None;
    };
    assert_eq!(limit(nominal_unknown), "network");
    // On a long path without a queue the same is loss.
    let lossy = |p: &mut Pair| {
        queue(p);
        far(p).min_rtt_ns = 21_500_000;
    };
    assert_eq!(limit(lossy), "loss");
    // A client without a core to spare answers late; so does one that asks late.
    let busy = |p: &mut Pair| {
        queue(p);
        p.runs[0].cpu_near_ns = 950;
    };
    assert_eq!(limit(busy), "client");
    let waits = |p: &mut Pair| {
        queue(p);
        p.runs[0].connections[0].idle_ns = 500;
    };
    assert_eq!(limit(waits), "idle");
    // On loopback a late packet tells of the CPUs.
    for host in ["127.0.0.1:7412", "localhost", "[::1]:7412", "127.8.9.10"] {
        let here = |p: &mut Pair| {
            queue(p);
            p.url = format!("http://{host}/file");
        };
        assert_eq!(limit(here), "unclear", "{host}");
    }
    let there = |p: &mut Pair| {
        queue(p);
        p.url = "http://192.0.2.2:7412/file".into();
    };
    assert_eq!(limit(there), "network");
}

/// What a put waits for is data on their way: both directions over one link have one limit.
#[test]
fn a_put_that_fills_the_link_does_not_wait() {
    let put = |p: &mut Pair| {
        p.direction = "put".into();
        p.block_bytes = 100;
        let connection = &mut p.runs[0].connections[0];
        connection.near = connection.far.take();
        (connection.first_byte_ns, connection.request_ns) = (550_000_000, 400_000_000);
        (connection.stream_ns, connection.payload_bytes) = (0, 10_000);
        let near = connection.near.as_mut().unwrap();
        (near.rtt_ns, near.min_rtt_ns) = (22_000_000, 100_000);
        (near.retransmitted_bytes, near.busy_ns) = (5000, 950_000_000);
        p.runs[0].elapsed_ns = 1_000_000_000;
    };
    assert_eq!(limit(put), "network");
    // So is a service that answers late, when all has arrived.
    let answered_late = |p: &mut Pair| {
        put(p);
        p.runs[0].connections[0].near.as_mut().unwrap().busy_ns = 400_000_000;
    };
    assert_eq!(limit(answered_late), "idle");
    // A round trip for each block is a wait.
    let waits = |p: &mut Pair| {
        put(p);
        p.block_bytes = 1;
    };
    assert_eq!(limit(waits), "idle");
}

#[test]
fn a_control_that_takes_no_notice_of_loss_is_not_limited_by_it() {
    let under = |name: &str| {
        limit(|p: &mut Pair| {
            far(p).retransmitted_bytes = 5000;
            far(p).congestion = name.into();
        })
    };
    assert_eq!((under("cubic"), under("bbr")), ("loss".into(), "unclear".into()));
}
