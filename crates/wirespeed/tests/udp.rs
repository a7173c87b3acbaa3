//! UDP through the library's one public entry: every message is accounted for, at both ends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wirespeed::schema::case::{Case, IdlePolicy, Role, Stop};
use wirespeed::schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed::schema::test::{Hub, Layout, PingPong, Stream, Test};
use wirespeed::transport::cancel::CancelReason;
use wirespeed::{Bootstrap, Cancel, MeasureError, Registry, ThreadBootstrap, measure};

fn case(test: Test, options: &[(&str, &str)], stop: Stop) -> Case {
    Case::new(test, "udp")
        .with_options(options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect())
        .with_stop(stop)
        .with_warmup(100, 50_000_000)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

fn run(case: &Case, ip: IpAddr) -> Vec<Result<Outcome, MeasureError>> {
    let group = ThreadBootstrap::group_with(case.ranks.len() as u32, Cancel::new(), ip);
    std::thread::scope(|scope| {
        let threads: Vec<_> = group
            .iter()
            .map(|rank| scope.spawn(move || measure(case, &Registry::builtin(), rank, &mut |_| ())))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn outcomes(case: &Case, ip: IpAddr) -> Vec<Outcome> {
    let outcomes: Vec<_> = run(case, ip).into_iter().map(Result::unwrap).collect();
    for outcome in &outcomes {
        assert_eq!(
            (outcome.stop, outcome.error.as_ref()),
            (StopReason::Completed, None)
        );
        assert_eq!(outcome.faults.corrupt_messages, 0);
        assert_eq!(outcome.transport_facts["stray_datagrams"], "0");
    }
    outcomes
}

/// What one end sent, the other received or knows as lost.
fn adds_up(from: &Outcome, to: &Outcome) {
    assert_eq!(from.sent.messages, to.received.messages + to.faults.lost_messages);
}

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
const VARIANTS: [&[(&str, &str)]; 8] = [
    &[],
    &[("wait", "block")],
    &[("batch", "16")],
    &[("batch", "16"), ("wait", "block")],
    &[("encrypt", "aes-256-gcm")],
    &[("encrypt", "chacha20-poly1305"), ("wait", "block")],
    &[("encrypt", "chacha20-poly1305"), ("batch", "16")],
    &[("encrypt", "aes-256-gcm"), ("batch", "16"), ("wait", "block")],
];

fn pingpong(size_bytes: u64, layout: Layout) -> Test {
    Test::AmLat(PingPong::new(size_bytes, layout))
}

fn stream(size_bytes: u64, window_msgs: u64, pace_msg_per_s: Option<u64>) -> Stream {
    Stream::new(size_bytes, Layout::Bcopy, window_msgs).with_pace(pace_msg_per_s)
}

#[test]
fn round_trips_over_loopback_lose_nothing() {
    for ip in [V4, V6] {
        for options in VARIANTS {
            let encrypted = options.iter().any(|option| option.0 == "encrypt");
            let most = if encrypted { 65_459 } else { 65_483 };
            for test in [
                pingpong(0, Layout::Short),
                pingpong(64, Layout::Short),
                pingpong(most, Layout::Bcopy),
            ] {
                let both = outcomes(&case(test, options, Stop::Iterations { count: 200 }), ip);
                assert_eq!((both[0].sent.messages, both[0].received.messages), (200, 200));
                assert_eq!((both[1].sent.messages, both[1].received.messages), (200, 200));
                let samples = both[0].samples_of(SampleKind::RoundTrip).unwrap();
                assert_eq!(samples.histogram.count, 200);
            }
        }
    }
}

#[test]
fn streams_add_up_at_both_ends() {
    for options in VARIANTS {
        // The larger window overflows a default socket buffer.
        for (size, window) in [(8, 32), (1400, 1), (1400, 4096)] {
            let test = Test::AmBw(stream(size, window, None));
            let both = outcomes(&case(test, options, Stop::Iterations { count: 10_000 }), V4);
            assert_eq!(both[0].sent.messages, 10_000);
            adds_up(&both[0], &both[1]);
            let told = &both[0].transport_facts["delivered_messages"];
            assert_eq!(told, &both[1].received.messages.to_string());
        }
    }
}

#[test]
fn both_ways_add_up() {
    for options in VARIANTS {
        let test = Test::AmBibw(stream(64, 64, None));
        let both = outcomes(&case(test, options, Stop::Iterations { count: 5000 }), V4);
        adds_up(&both[0], &both[1]);
        adds_up(&both[1], &both[0]);
    }
}

#[test]
fn a_paced_stream_keeps_its_schedule() {
    for options in VARIANTS {
        let test = Test::AmBw(stream(64, 1024, Some(10_000)));
        // A count: in a given time a busy machine may send but one.
        let both = outcomes(&case(test, options, Stop::Iterations { count: 1000 }), V4);
        adds_up(&both[0], &both[1]);
        assert_eq!(both[0].sent.messages, 1000);
        let due_ns = both[0].sent.messages * 100_000;
        assert!(
            both[0].elapsed_ns + 1_000_000 >= due_ns,
            "nothing is sent before its time"
        );
        let responses = &both[0].samples_of(SampleKind::Response).unwrap().histogram;
        assert!(responses.count > both[0].sent.messages / 2);
    }
}

#[test]
fn a_hub_is_refused_with_the_reason() {
    let test = Test::HubLat(Hub::new(8, Layout::Short));
    let mut case = case(test, &[], Stop::Iterations { count: 10 });
    for (rank, role) in case.ranks.iter_mut().zip([Role::Hub, Role::Worker]) {
        (rank.role, rank.peer) = (role, None);
    }
    for result in run(&case, V4) {
        match result {
            Err(MeasureError::Unsupported(why)) => assert!(why.contains("datagrams may be lost"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_lost_rank_ends_the_run_of_the_other() {
    let case = case(
        Test::AmBw(stream(8, 1 << 40, None)),
        &[],
        Stop::Duration {
            duration_ns: 60_000_000_000,
        },
    );
    // Lost while it measures, however long the machine takes to get there.
    let case = case.with_report_interval_ns(100_000_000);
    let group = ThreadBootstrap::group(2);
    std::thread::scope(|scope| {
        for rank in &group {
            let case = &case;
            scope.spawn(move || {
                let mut lose = |_: &_| rank.cancel().cancel(CancelReason::PeerLost);
                let outcome = measure(case, &Registry::builtin(), rank, &mut lose).unwrap();
                assert_eq!(outcome.stop, StopReason::PeerLost);
                assert!(outcome.error.is_some());
            });
        }
    });
}
