//! The library measured through its one public entry, as an embedding program uses it.

use wirespeed::schema::case::{Case, RankSpec, Role, Stop};
use wirespeed::schema::outcome::{Interval, Outcome, SampleKind, StopReason};
use wirespeed::schema::plan::{Plan, Template, expand};
use wirespeed::schema::test::{Layout, PingPong, Stream, Test};
use wirespeed::{Bootstrap, Machine, MeasureError, Registry, ThreadBootstrap, measure};

fn rank(role: Role, peer: u32) -> RankSpec {
    RankSpec::new(role).with_peer(peer)
}

fn null_case(test: Test, stop: Stop) -> Case {
    Case::new(test, "null")
        .with_ranks(vec![rank(Role::Source, 0)])
        .with_stop(stop)
        .with_warmup(1000, 100_000_000)
}

fn pingpong(size_bytes: u64) -> Test {
    Test::AmLat(PingPong::new(size_bytes, Layout::Short))
}

#[test]
fn null_gives_the_floor_of_the_loop() {
    let group = ThreadBootstrap::group(1);
    let case = null_case(pingpong(8), Stop::Iterations { count: 100_000 });
    for _ in 0..2 {
        let outcome = measure(&case, &Registry::builtin(), &group[0], &mut |_| ()).unwrap();
        assert_eq!(outcome.stop, StopReason::Completed);
        assert_eq!(outcome.sent.messages, 100_000);
        let samples = outcome.samples_of(SampleKind::RoundTrip).unwrap();
        assert!(
            samples.batch_ops > 1,
            "an operation of a few ns must be timed in batches"
        );
        assert_eq!(samples.histogram.count, 100_000 / samples.batch_ops);
        assert!(outcome.floor.is_some());
        assert_eq!(outcome.warmup_operations, 1000);
    }
}

#[test]
fn a_duration_ends_and_intervals_are_reported() {
    let group = ThreadBootstrap::group(1);
    let mut case = null_case(
        pingpong(8),
        Stop::Duration {
            duration_ns: 50_000_000,
        },
    );
    case.report_interval_ns = 10_000_000;
    let mut reports = Vec::new();
    let outcome = measure(&case, &Registry::builtin(), &group[0], &mut |i| {
        reports.push(i.sent.messages)
    })
    .unwrap();
    assert!(reports.len() >= 2, "{}", reports.len());
    assert_eq!(reports.len(), outcome.intervals.len());
    assert_eq!(reports.iter().sum::<u64>(), outcome.sent.messages);
    let batch = outcome.samples[0].batch_ops;
    assert_eq!(outcome.samples[0].histogram.count, outcome.sent.messages / batch);
}

/// What threads measured that exchange what `words` ask for.
fn outcomes<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Outcome> {
    let registry = Registry::builtin();
    let plan = Plan::of(vec![Template::of(words).unwrap()]);
    let case = &expand(&plan, &Machine::new(&registry)).unwrap()[0].case;
    let ranks = ThreadBootstrap::group(case.ranks.len() as u32);
    std::thread::scope(|scope| {
        let ranks: Vec<_> = ranks
            .iter()
            .map(|rank| scope.spawn(|| measure(case, &registry, rank, &mut |_| ()).unwrap()))
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Every message of a paced stream has its interval, the last one too: no more is carried than was offered, and a warm-up of one
/// operation that waits for nothing is not taken for the pace.
#[test]
fn a_paced_stream_of_few_messages_takes_all_its_intervals() {
    for (name, via) in [
        ("am_bw", "inproc"),
        ("am_bibw", "inproc"),
        ("am_bw", "udp"),
        ("am_bibw", "udp"),
        ("am_alltoall", "inproc"),
    ] {
        let words = [
            ("test", name),
            ("via", via),
            ("threads", "2"),
            ("pace", "50"),
            ("iters", "3"),
            ("warmup", "1ms"),
        ];
        let outcomes = outcomes(words);
        let sender = &outcomes[0];
        assert_eq!(sender.sent.messages, 3, "{name} over {via}: {outcomes:?}");
        assert!(
            sender.elapsed_ns > 3 * 19_900_000,
            "{name} over {via}: {sender:?}"
        );
        assert!(sender.warmup_operations <= 3, "{name} over {via}: {sender:?}");
        // Not the interval behind it; a machine that stands still may make one first operation last as long.
        let first_ns = |outcomes: &[Outcome]| outcomes[0].first_operation_ns.unwrap().get();
        let again = std::iter::repeat_with(|| self::outcomes(words)).take(4);
        let seen: Vec<f64> = std::iter::once(outcomes.clone())
            .chain(again)
            .map(|outcomes| first_ns(&outcomes))
            .take_while(|ns| *ns >= 20e6)
            .collect();
        assert!(seen.len() < 5, "{name} over {via}: {seen:?}");
    }
}

/// The time of a run is all of it, whatever lies between its rounds, and its intervals have the same: no figure of a second or of
/// the end may contradict that of the whole.
#[test]
fn intervals_and_the_whole_have_the_same_time() {
    for name in [
        "am_lat", "put_lat", "get", "fadd", "am_bw", "add_mr", "get_bw", "am_bibw", "tag_lat", "tag_bw",
    ] {
        let words = [
            ("test", name),
            ("via", "inproc"),
            ("interval", "5ms"),
            ("duration", "40ms"),
        ];
        let outcome = outcomes(words).remove(0);
        let last = outcome.intervals.last().unwrap();
        let ended_ns = last.start_ns + last.duration_ns;
        assert!(
            ended_ns.abs_diff(outcome.elapsed_ns) <= 100,
            "{name}: {ended_ns} {outcome:?}"
        );
        assert!(
            outcome.disturbance.observed_ns.abs_diff(outcome.elapsed_ns) <= 100,
            "{name}: {outcome:?}"
        );
        // Reporting takes time of the run, and no slice may leave it out.
        let apart = |pair: &[Interval]| pair[1].start_ns.abs_diff(pair[0].start_ns + pair[0].duration_ns);
        let apart_ns = outcome.intervals.windows(2).map(apart).max();
        assert!(apart_ns <= Some(2), "{name}: {apart_ns:?} {outcome:?}");
        let sent: u64 = outcome
            .intervals
            .iter()
            .map(|interval| interval.sent.messages)
            .sum();
        assert_eq!(sent, outcome.sent.messages, "{name}");
    }
}

/// What is timed is timed from before it is handed over: where one operation takes long and no other is under way, the samples
/// together are all of the run, however it is paced.
#[test]
fn times_of_single_operations_add_up_to_the_run() {
    let one = ("window", "1");
    let saturated = ("pace", "100000000");
    let cases = [
        ("get_bw", "inproc", [("size", "16M"), ("iters", "1")], 1),
        ("am_bw", "inproc", [one, ("size", "4M")], 20),
        ("am_bw", "inproc", [one, saturated], 20),
        ("am_bw", "udp", [one, ("size", "8K")], 20),
        ("am_bw", "udp", [one, saturated], 20),
        ("am_alltoall", "inproc", [one, ("size", "4M")], 20),
    ];
    for (test, via, words, count) in cases {
        let iters = count.to_string();
        let given = words.iter().any(|(name, _)| *name == "iters");
        let rest = [("iters", iters.as_str())].into_iter().filter(|_| !given);
        let name = [("test", test), ("via", via), ("threads", "2"), ("warmup", "1")];
        let outcome = outcomes(name.into_iter().chain(words).chain(rest)).remove(0);
        let kinds = [SampleKind::Acknowledged, SampleKind::Completion];
        let samples = kinds.iter().find_map(|kind| outcome.samples_of(*kind));
        let histogram = &samples
            .unwrap_or_else(|| panic!("{test} over {via} has none"))
            .histogram;
        // On a busy machine a datagram's acknowledgement may be given up.
        let stalls = outcome.transport_facts.get("window_stalls");
        let stalls: u64 = stalls.map_or(0, |stalls| stalls.parse().unwrap());
        let about = format!("{test} over {via} {words:?}: {outcome:?}");
        assert!((count - stalls..=count).contains(&histogram.count), "{about}");
        let share = histogram.sum_ns.get() / outcome.elapsed_ns as f64;
        assert!(stalls > 0 || (0.5..1.01).contains(&share), "{share} {about}");
    }
}

#[test]
fn a_stream_to_oneself_is_acknowledged() {
    let group = ThreadBootstrap::group(1);
    let stream = Stream::new(8, Layout::Short, 1000);
    let case = null_case(Test::AmBibw(stream), Stop::Iterations { count: 50_000 });
    let outcome = measure(&case, &Registry::builtin(), &group[0], &mut |_| ()).unwrap();
    assert_eq!(
        (outcome.sent.messages, outcome.received.messages),
        (50_000, 50_000)
    );
    assert_eq!(outcome.faults, Default::default());
}

#[test]
fn an_orderly_stop_gives_a_whole_partial_result() {
    let group = ThreadBootstrap::group(1);
    let case = null_case(
        pingpong(8),
        Stop::Duration {
            duration_ns: 60_000_000_000,
        },
    );
    let cancel = group[0].cancel();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        cancel.request_stop();
    });
    let outcome = measure(&case, &Registry::builtin(), &group[0], &mut |_| ()).unwrap();
    stopper.join().unwrap();
    assert_eq!(outcome.stop, StopReason::Interrupted);
    assert!(outcome.sent.messages > 0 && outcome.error.is_none());
}

#[test]
fn nonsense_is_refused_before_anything_is_opened() {
    let group = ThreadBootstrap::group(1);
    let good = null_case(pingpong(8), Stop::Iterations { count: 1 });
    let refused = |case: &Case| measure(case, &Registry::builtin(), &group[0], &mut |_| ()).unwrap_err();
    let mut case = good.clone();
    case.transport = "nil".into();
    assert!(matches!(refused(&case), MeasureError::Usage(why) if why.contains("null")));
    case = good.clone();
    case.options.insert("colour".into(), "red".into());
    assert!(matches!(refused(&case), MeasureError::Usage(why) if why.contains("colour")));
    case = good.clone();
    case.check = true;
    assert!(matches!(refused(&case), MeasureError::Unsupported(_)));
    case = good.clone();
    case.test = Test::AmLat(PingPong::new(8, Layout::Zcopy));
    assert!(matches!(refused(&case), MeasureError::Unsupported(_)));
    case = good.clone();
    case.ranks[0].peer = Some(7);
    assert!(matches!(refused(&case), MeasureError::Usage(_)));
    case.ranks.push(rank(Role::Sink, 0));
    assert!(matches!(refused(&case), MeasureError::Usage(_)));
}
