//! Tests on posted sends and receives between threads: every pattern, arrangement, cache state and definition ends, counts
//! what it should, and delivers what was sent.

use wirespeed::schema::case::{Case, IdlePolicy, RankSpec, Role, Stop};
use wirespeed::schema::neighbours::neighbours;
use wirespeed::schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed::schema::posted::{Buffers, CacheState, Defined, Grid, MsgRate, Pattern};
use wirespeed::schema::test::Test;
use wirespeed::{Registry, ThreadBootstrap, measure};

/// Longer than a machine stands still.
const WARMUP_NS_MAX: u64 = 600_000_000_000;
const ITERATIONS: u64 = 5;

fn run(case: &Case) -> Vec<Outcome> {
    let registry = Registry::builtin();
    let group = ThreadBootstrap::group(case.ranks.len() as u32);
    std::thread::scope(|scope| {
        let ranks: Vec<_> = group
            .iter()
            .map(|bootstrap| scope.spawn(|| measure(case, &registry, bootstrap, &mut |_| ()).unwrap()))
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn case(transport: &str, test: Test, roles: &[(Role, Option<u32>)]) -> Case {
    let rank = |&(role, peer): &(Role, Option<u32>)| RankSpec::new(role).with_peer(peer);
    Case::new(test, transport)
        .with_ranks(roles.iter().map(rank).collect())
        .with_stop(Stop::Iterations { count: ITERATIONS })
        .with_warmup(3, WARMUP_NS_MAX)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

fn msgrate(pattern: Pattern, grid: Grid, peers: u32, cache_state: CacheState, size_bytes: u64) -> MsgRate {
    MsgRate::new(size_bytes, pattern, peers, 16)
        .with_grid(grid)
        .with_caches(cache_state, if cache_state.has_size() { 1 << 20 } else { 0 })
}

fn all_neighbours(ranks: u32) -> Vec<(Role, Option<u32>)> {
    vec![(Role::Neighbour, None); ranks as usize]
}

/// Every rank completed and counted what its lists say.
fn check(test: &MsgRate, case: &Case, outcomes: &[Outcome]) {
    let label = format!("{} with {} ranks", case.label(), case.ranks.len());
    let ranks = case.ranks.len() as u32;
    for outcome in outcomes {
        assert_eq!(outcome.error, None, "{label} rank {}", outcome.rank);
        assert_eq!(outcome.stop, StopReason::Completed, "{label}");
        assert_eq!(
            outcome.faults,
            Default::default(),
            "{label} rank {}",
            outcome.rank
        );
        let lists = neighbours(test, ranks, outcome.rank);
        let messages = |list: &[u32]| list.len() as u64 * test.window_msgs * ITERATIONS;
        assert_eq!(outcome.sent.messages, messages(&lists.to_ranks), "{label}");
        assert_eq!(outcome.received.messages, messages(&lists.from_ranks), "{label}");
        assert_eq!(outcome.warmup_operations, 3, "{label}");
        let samples = outcome.samples_of(SampleKind::Iteration);
        let takes_part = !lists.to_ranks.is_empty() || !lists.from_ranks.is_empty();
        assert_eq!(
            samples.map(|s| s.histogram.count),
            takes_part.then_some(ITERATIONS),
            "{label}"
        );
        let slowest = outcome
            .samples_of(SampleKind::SlowestIteration)
            .map(|s| &s.histogram);
        assert_eq!(
            slowest.map(|s| s.count),
            (outcome.rank == 0).then_some(ITERATIONS),
            "{label}"
        );
        let longest = |o: &Outcome| {
            o.samples_of(SampleKind::Iteration)
                .map(|s| s.histogram.max_ns.get())
        };
        let of_all = outcomes.iter().filter_map(longest).fold(0.0, f64::max);
        // Times travel in whole nanoseconds.
        let agrees = slowest.is_none_or(|s| (s.max_ns.get() - of_all).abs() <= of_all * 1e-3 + 2.0);
        assert!(agrees, "{label}: {slowest:?} {of_all}");
    }
}

fn patterns(transport: &str) {
    for pattern in Pattern::ALL {
        for (ranks, peers) in [(2, 1), (3, 2), (5, 3), (8, 6)] {
            let test = msgrate(pattern, Grid::Ring, peers, CacheState::Flushed, 8);
            let case = case(transport, Test::Msgrate(test.clone()), &all_neighbours(ranks));
            check(&test, &case, &run(&case));
        }
        for grid in [Grid::Plane, Grid::Box] {
            let mut test = msgrate(pattern, grid, 8, CacheState::Hot, 100);
            test.peers = neighbours(&test, 9, 0).to_ranks.len() as u32;
            let case = case(transport, Test::Msgrate(test.clone()), &all_neighbours(9));
            check(&test, &case, &run(&case));
        }
        for state in CacheState::ALL {
            for size in [0, 1, 1000, 70_000] {
                let mut test = msgrate(pattern, Grid::Ring, 2, state, size);
                // More than there is room for, in one state: unoptimised, the check of each byte costs.
                if size > 1000 && state != CacheState::Hot {
                    test.window_msgs = 4;
                }
                let case = case(transport, Test::Msgrate(test.clone()), &all_neighbours(3));
                check(&test, &case, &run(&case));
            }
        }
    }
}

#[test]
fn every_pattern_over_inproc() {
    patterns("inproc");
}

#[test]
fn every_pattern_over_shm() {
    patterns("shm");
}

#[test]
fn every_pattern_over_tcp() {
    patterns("tcp");
}

#[test]
fn every_pattern_over_unix() {
    patterns("unix");
}

/// Definitions of others count the first iteration where nothing warmed it up: it must be the only one before.
#[test]
fn without_a_warm_up_there_is_none() {
    let test = msgrate(Pattern::Pair, Grid::Ring, 2, CacheState::Hot, 8);
    let mut case = case("shm", Test::Msgrate(test), &all_neighbours(3));
    for (iterations, ns_max, expected) in [(0, 1_000_000_000, 0), (3, 0, 0), (3, WARMUP_NS_MAX, 3)] {
        (case.warmup_iterations, case.warmup_ns_max) = (iterations, ns_max);
        for outcome in run(&case) {
            assert_eq!(outcome.error, None);
            assert_eq!(outcome.warmup_operations, expected);
            assert_eq!(outcome.sent.messages, ITERATIONS * 2 * 16);
            assert!(outcome.first_operation_ns.is_some() && outcome.connect_ns.is_some());
        }
    }
}

#[test]
fn many_ranks_on_few_cores_end() {
    for ranks in [16, 64] {
        for pattern in Pattern::ALL {
            let test = msgrate(pattern, Grid::Ring, 6, CacheState::Hot, 8);
            let case = case("shm", Test::Msgrate(test.clone()), &all_neighbours(ranks));
            check(&test, &case, &run(&case));
        }
    }
}

fn definitions(size_bytes: u64, window_msgs: u64, buffers: Buffers) -> Vec<(Test, bool)> {
    let of = |window_msgs| Defined::new(size_bytes, window_msgs, buffers);
    vec![
        (Test::OsuLatency(of(1)), false),
        (Test::OsuBw(of(window_msgs)), false),
        (Test::OsuBibw(of(window_msgs)), false),
        (Test::OsuMbwMr(of(window_msgs)), true),
        (Test::OsuMultiLat(of(1)), true),
        (Test::ImbPingpong(of(1)), false),
        (Test::ImbUniband(of(window_msgs)), true),
        (Test::ImbBiband(of(window_msgs)), true),
    ]
}

#[test]
fn every_definition_counts_its_messages() {
    let pair = [(Role::Source, Some(1)), (Role::Sink, Some(0))];
    let pairs = [
        (Role::Source, Some(3)),
        (Role::Source, Some(4)),
        (Role::Idle, None),
        (Role::Sink, Some(0)),
        (Role::Sink, Some(1)),
    ];
    for transport in ["shm", "tcp"] {
        for (size, window, buffers) in [
            (0, 1, Buffers::Single),
            (8, 64, Buffers::Single),
            (5000, 64, Buffers::Multiple),
        ] {
            for (test, several) in definitions(size, window, buffers) {
                let groups: &[&[(Role, Option<u32>)]] = if several { &[&pair, &pairs] } else { &[&pair] };
                for roles in groups {
                    let case = case(transport, test.clone(), roles);
                    check_definition(&case, &run(&case));
                }
            }
        }
    }
}

fn check_definition(case: &Case, outcomes: &[Outcome]) {
    let label = case.label();
    let messages = case.test.window() * ITERATIONS;
    let both = case.test.is_round_trip() || matches!(case.test, Test::OsuBibw(_) | Test::ImbBiband(_));
    for outcome in outcomes {
        assert_eq!(
            (&outcome.error, outcome.stop),
            (&None, StopReason::Completed),
            "{label}"
        );
        assert_eq!(outcome.faults, Default::default(), "{label}");
        let (sent, received) = match outcome.role {
            Role::Source => (messages, if both { messages } else { 0 }),
            Role::Sink => (if both { messages } else { 0 }, messages),
            _ => (0, 0),
        };
        assert_eq!(
            (outcome.sent.messages, outcome.received.messages),
            (sent, received),
            "{label}"
        );
        if outcome.role == Role::Source {
            let samples = &outcome.samples[0];
            assert_eq!(samples.histogram.count * samples.batch_ops, ITERATIONS, "{label}");
            assert!(
                outcome.elapsed_ns > 0 && outcome.first_operation_ns.is_some(),
                "{label}"
            );
        }
    }
}

#[test]
fn a_run_by_time_ends_everywhere_together() {
    for test in [
        Test::Msgrate(msgrate(Pattern::AllStart, Grid::Ring, 2, CacheState::Touched, 64)),
        Test::Msgrate(msgrate(Pattern::PrePost, Grid::Ring, 1, CacheState::Rotating, 64)),
    ] {
        let mut case = case("shm", test, &all_neighbours(3));
        case.stop = Stop::Duration {
            duration_ns: 20_000_000,
        };
        let outcomes = run(&case);
        assert!(outcomes[0].sent.messages > 0);
        for outcome in &outcomes {
            assert_eq!((&outcome.error, outcome.stop), (&None, StopReason::Completed));
            assert_eq!(outcome.sent, outcomes[0].sent);
            assert_eq!(outcome.received, outcomes[0].sent);
        }
    }
}
