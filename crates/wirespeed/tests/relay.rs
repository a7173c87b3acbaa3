//! Paths with more than two ends: everybody to everybody, and streams that a relay passes on. Every message must arrive
//! once, unchanged, and both ends must agree, however small or huge the credits are.

use std::time::Duration;
use wirespeed::transport::bootstrap::Bootstrap;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::{Registry, ThreadBootstrap, measure};
use wirespeed_schema::case::{Case, IdlePolicy, RankSpec, Role, Stop};
use wirespeed_schema::outcome::{Outcome, StopReason};
use wirespeed_schema::test::{Layout, Stream, Test};

fn rank(role: Role, peer: Option<u32>) -> RankSpec {
    RankSpec::new(role).with_peer(peer)
}

fn stream(size_bytes: u64, window_msgs: u64) -> Stream {
    Stream::new(size_bytes, Layout::Short, window_msgs)
}

fn case(test: Test, transport: &str, wait: &str, ranks: Vec<RankSpec>) -> Case {
    Case::new(test, transport)
        .with_options([("wait".to_owned(), wait.to_owned())].into())
        .with_ranks(ranks)
        .with_stop(Stop::Iterations { count: 500 })
        .with_warmup(40, 1_000_000_000)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

fn run(case: &Case) -> Vec<Outcome> {
    let registry = Registry::builtin();
    let ranks = ThreadBootstrap::group(case.ranks.len() as u32);
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let measured: Vec<_> = ranks
            .iter()
            .map(|rank| scope.spawn(|| measure(case, &registry, rank, &mut |_| ()).unwrap()))
            .collect();
        measured.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for outcome in &outcomes {
        assert_eq!(outcome.error, None, "{}: {outcome:?}", case.label());
        assert_eq!(outcome.stop, StopReason::Completed);
        assert_eq!(outcome.faults, Default::default(), "{}", case.label());
    }
    outcomes
}

const TRANSPORTS: [(&str, &str); 5] = [
    ("inproc", "poll"),
    ("inproc", "block"),
    ("unix", "poll"),
    ("unix", "block"),
    ("tcp", "block"),
];

#[test]
fn a_relay_passes_everything_on() {
    let ranks = vec![
        rank(Role::Idle, None),
        rank(Role::Source, Some(3)),
        rank(Role::Sink, Some(3)),
        rank(Role::Relay, None),
    ];
    for (transport, wait) in TRANSPORTS {
        for (size, credits) in [(1, 1), (1, 100), (64, 1_000_000_000), (100_000, 3)] {
            let case = case(Test::AmBw(stream(size, credits)), transport, wait, ranks.clone());
            passes(&case, 500);
        }
    }
    // Rings that hold more than a relay takes in at once.
    let large = Test::AmBw(stream(2 << 20, 100));
    let large = case(large, "inproc", "poll", ranks).with_check(false);
    passes(&large.with_option("ring", "64M").with_warmup(1, 1), 100);
}

fn passes(case: &Case, count: u64) {
    let case = case.clone().with_stop(Stop::Iterations { count });
    let outcomes = run(&case);
    assert_eq!(outcomes[1].sent.messages, count, "{}", case.label());
    assert_eq!(outcomes[2].received, outcomes[1].sent, "{}", case.label());
    let passed = &outcomes[3].transport_facts["passed_messages"];
    assert_eq!(*passed, count.to_string(), "{}", case.label());
}

#[test]
fn everybody_hears_everybody_directly_and_through_a_relay() {
    for relayed in [false, true] {
        let relay = relayed.then_some(3);
        let mut ranks = vec![rank(Role::Source, relay); 3];
        ranks.extend(relay.map(|_| rank(Role::Relay, None)));
        for (transport, wait) in TRANSPORTS {
            for (size, credits, each) in [(1, 1, 500), (8, 64, 500), (8, 64, 1), (50_000, 2, 500)] {
                let test = Test::AmAlltoall(stream(size, credits));
                let case = case(test, transport, wait, ranks.clone());
                let case = case.with_stop(Stop::Iterations { count: each });
                let outcomes = run(&case);
                for member in &outcomes[..3] {
                    assert_eq!(member.sent.messages, each, "{} {relayed}", case.label());
                }
                let received: u64 = outcomes[..3].iter().map(|o| o.received.messages).sum();
                assert_eq!(received, 3 * each, "{} {relayed}", case.label());
                if relayed {
                    let passed = &outcomes[3].transport_facts["passed_messages"];
                    assert_eq!(*passed, (3 * each).to_string(), "{}", case.label());
                }
            }
        }
    }
}

#[test]
fn huge_credits_show_how_far_the_receiver_is_behind() {
    let ranks = vec![rank(Role::Source, Some(1)), rank(Role::Sink, Some(0))];
    let mut case = case(Test::AmBw(stream(64, 1_000_000_000)), "inproc", "poll", ranks);
    case.stop = Stop::Iterations { count: 100_000 };
    let outcomes = run(&case);
    let behind: u64 = outcomes[0].transport_facts["unacknowledged_max_msgs"]
        .parse()
        .unwrap();
    // A ring of 64 KiB holds fewer than 1000 of these, and an acknowledgement comes every 4096.
    assert!((1..20_000).contains(&behind), "{behind}");
    let acknowledged = outcomes[0].samples_of(wirespeed_schema::outcome::SampleKind::Acknowledged);
    assert!(acknowledged.is_some_and(|s| s.histogram.count > 1));
}

/// What was acknowledged before anybody looked was under way all the same.
#[test]
fn whatever_is_sent_was_under_way_and_no_more_than_the_window() {
    for (window, pace) in [
        (1, None),
        (10, None),
        (1, Some(2000)),
        (10, Some(2000)),
        (1_000_000, Some(2000)),
    ] {
        let pair = [(Role::Source, 1), (Role::Sink, 0)].map(|(role, peer)| rank(role, Some(peer)));
        let test = stream(64, window).with_pace(pace);
        for (test, ranks) in [
            (Test::AmBw(test.clone()), pair.to_vec()),
            (Test::AmBibw(test.clone()), pair.to_vec()),
            (Test::AmAlltoall(test.clone()), vec![rank(Role::Source, None); 3]),
        ] {
            let mut case = case(test, "inproc", "poll", ranks);
            case.stop = Stop::Iterations { count: 40 };
            for outcome in run(&case).iter().filter(|outcome| outcome.sent.messages > 0) {
                let behind: u64 = outcome.transport_facts["unacknowledged_max_msgs"]
                    .parse()
                    .unwrap();
                assert!((1..=window).contains(&behind), "{}: {behind}", case.label());
            }
        }
    }
}

#[test]
fn paced_streams_end_when_the_group_is_cancelled() {
    // Window and rings hold all of them: nothing but the pace holds the senders up.
    let paced = stream(1, 1_000_000).with_pace(1000);
    let pair = [(Role::Source, 1), (Role::Sink, 0)].map(|(role, peer)| rank(role, Some(peer)));
    let all = vec![rank(Role::Source, None); 3];
    let tests = [
        (Test::AmBw(paced.clone()), pair.to_vec()),
        (Test::AmBibw(paced.clone()), pair.to_vec()),
        (Test::AmAlltoall(paced), all),
    ];
    for (transport, wait) in TRANSPORTS {
        for (test, ranks) in &tests {
            let mut case = case(test.clone(), transport, wait, ranks.clone());
            (case.stop, case.report_interval_ns) = (Stop::Iterations { count: 2000 }, 10_000_000);
            let group = ThreadBootstrap::group(ranks.len() as u32);
            let (case, registry) = (&case, &Registry::builtin());
            std::thread::scope(|scope| {
                for bootstrap in &group {
                    scope.spawn(move || {
                        let mut cancel = |_: &_| bootstrap.cancel().cancel(CancelReason::Interrupted);
                        let outcome = measure(case, registry, bootstrap, &mut cancel).unwrap();
                        assert_eq!(outcome.stop, StopReason::Interrupted, "{}", case.label());
                        assert!(outcome.sent.messages < 2000, "{}", case.label());
                    });
                }
            });
        }
    }
}

/// How often this thread has gone to sleep so far; format: proc_pid_status(5).
fn times_asleep() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

#[test]
fn a_rank_without_a_part_sleeps_while_the_others_stream() {
    let ranks = vec![
        rank(Role::Idle, None),
        rank(Role::Source, Some(2)),
        rank(Role::Sink, Some(1)),
    ];
    for (transport, wait) in TRANSPORTS {
        let mut case = case(Test::AmBw(stream(8, 4)), transport, wait, ranks.clone());
        case.stop = Stop::Duration {
            duration_ns: Duration::from_millis(300).as_nanos() as u64,
        };
        let (case, registry) = (&case, &Registry::builtin());
        let asleep = std::thread::scope(|scope| {
            let threads = ThreadBootstrap::group(3).into_iter().map(|bootstrap| {
                scope.spawn(move || {
                    let before = times_asleep();
                    measure(case, registry, &bootstrap, &mut |_| ()).unwrap();
                    times_asleep() - before
                })
            });
            let threads: Vec<_> = threads.collect();
            let counts: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            counts[0]
        });
        // Its three barriers, the exchange of addresses and a lock or two: not again and again while it waits.
        assert!(asleep < 100, "{transport} {wait}: {asleep} times in 300 ms");
    }
}
