//! Sentences of `explain`: each rule with data that calls for it, and none without figures.

use crate::fixture::*;
use wirespeed_report::Input;
use wirespeed_report::explain::explain;
use wirespeed_report::render::{self, Style};
use wirespeed_report::view::View;
use wirespeed_schema::run::{CaseResult, Status};
use wirespeed_schema::test::{Tagged, Test};

fn latency(transport: &str, rtt_ns: f64) -> CaseResult {
    result(case(transport, am_lat(8), 400), 2, |_| ping_pong(8, 400, rtt_ns))
}

fn rules(cases: Vec<CaseResult>) -> Vec<(&'static str, String)> {
    let sentences = explain(&run(cases));
    for sentence in &sentences {
        assert!(!sentence.evidence.is_empty(), "{sentence:?}");
        assert!(sentence.text.chars().any(|c| c.is_ascii_digit()), "{sentence:?}");
    }
    sentences
        .into_iter()
        .map(|sentence| (sentence.rule, sentence.text))
        .collect()
}

#[test]
fn a_run_that_ended_badly_is_not_read_without_that() {
    for status in [
        Status::Failed,
        Status::Refused,
        Status::WrongData,
        Status::Interrupted,
    ] {
        for cases in [vec![latency("shm", 100.0)], Vec::new()] {
            let mut one = run(cases);
            (one.status, one.error) = (status, Some("it broke".to_owned()));
            let input = Input {
                name: "this result",
                run: &one,
            };
            let said = render::sentences(&View::of(&[input]), &explain(&one), &Style::PLAIN);
            assert!(said.contains("it broke"), "{status:?}: {said}");
        }
    }
}

#[test]
fn wake_ups_and_roads_are_priced() {
    let mut blocking = latency("tcp", 30_000.0);
    blocking.case.options.insert("wait".into(), "block".into());
    let said = rules(vec![latency("shm", 100.0), latency("tcp", 9000.0), blocking]);
    let of = |rule: &str| {
        said.iter()
            .find(|(name, _)| *name == rule)
            .unwrap_or_else(|| panic!("{said:?}"))
            .1
            .clone()
    };
    assert!(
        of("waiting").contains("waiting with block takes 3.3 times as long as with poll"),
        "{said:?}"
    );
    assert!(of("transports").contains("over tcp costs"), "{said:?}");
    assert!(of("floor").contains("nothing is subtracted"), "{said:?}");
}

#[test]
fn a_transport_that_has_another_round_trip_is_compared_by_it() {
    let tagged = |size| {
        let test = Test::TagLat(Tagged::new(size, 1));
        result(case("mpi", test, 400), 2, |_| ping_pong(size, 400, 300.0))
    };
    let said = |cases| {
        let of_rule = rules(cases).into_iter().filter(|said| said.0 == "transports");
        of_rule.map(|said| said.1).collect::<Vec<_>>()
    };
    let other = said(vec![latency("shm", 100.0), tagged(8)]);
    assert_eq!(other.len(), 1);
    assert!(
        other[0].starts_with("A round trip over mpi (tag_lat) costs ")
            && other[0].contains("than over shm (am_lat)"),
        "{other:?}"
    );
    // Messages of another size are no comparison, and the same test is the better one.
    assert_eq!(
        said(vec![latency("shm", 100.0), tagged(64)]),
        Vec::<String>::new()
    );
    let alike = said(vec![latency("shm", 100.0), tagged(8), latency("mpi", 400.0)]);
    assert_eq!(alike.len(), 1);
    assert!(alike[0].starts_with("A round trip over mpi costs "), "{alike:?}");
}

#[test]
fn a_cipher_is_priced_beside_the_same_case_in_the_clear_alone() {
    let sealed = |rtt_ns, wait: &str| {
        let mut case = latency("tcp", rtt_ns);
        case.case.options.insert("encrypt".into(), "aes-256-gcm".into());
        case.case.options.insert("wait".into(), wait.into());
        case
    };
    let mut clear = latency("tcp", 10_000.0);
    clear.case.options.insert("wait".into(), "poll".into());
    let said = rules(vec![clear, sealed(11_000.0, "poll"), sealed(60_000.0, "block")]);
    let of = |rule: &str| {
        said.iter()
            .filter(|said| said.0 == rule)
            .map(|said| &said.1)
            .collect::<Vec<_>>()
    };
    let [priced] = of("encryption")[..] else {
        panic!("{said:?}");
    };
    assert!(
        priced.contains("encrypted with aes-256-gcm, a round trip is"),
        "{priced}"
    );
    assert!(priced.contains("1.1 times as much"), "{priced}");
    assert_eq!(
        of("waiting").len(),
        1,
        "only encrypted cases differ in waiting alone: {said:?}"
    );
}

#[test]
fn a_window_that_holds_back_is_told_from_a_road_that_does() {
    // Two messages in 9 µs round trips are 222 k a second at most.
    let small = result(case("tcp", Test::AmBw(stream(8, 2)), 1000), 2, |_| {
        one_way_stream(8, 1000, 5_000_000, 9000.0)
    });
    let said = rules(vec![latency("tcp", 9000.0), small]);
    assert!(
        said.iter()
            .any(|(rule, text)| *rule == "window" && text.contains("the window holds it back")),
        "{said:?}"
    );
    let full = result(case("tcp", Test::AmBw(stream(8, 256)), 1000), 2, |_| {
        one_way_stream(8, 1000, 1_000_000, 250_000.0)
    });
    let said = rules(vec![latency("tcp", 9000.0), full]);
    assert!(
        said.iter()
            .any(|(_, text)| text.contains("what carries them is the limit")),
        "{said:?}"
    );
}

#[test]
fn busy_kernels_tails_and_first_touch_are_named() {
    let busy = busy_in_the_kernel("block", None);
    let mut tail = result(case("unix", am_lat(8), 400), 1, |_| {
        let mut ends = ping_pong(8, 400, 4000.0);
        ends[0].first_operation_ns = Some(finite(4e6));
        ends[0].disturbance.involuntary_switches = 12;
        ends[0].disturbance.run_queue_wait_ns = Some(5_000_000);
        ends
    });
    tail.metrics.get_mut("rtt_p99_ns").unwrap().value = finite(60_000.0);
    let said = rules(vec![busy, tail]);
    let names: Vec<&str> = said.iter().map(|(rule, _)| *rule).collect();
    for rule in ["processor", "tail", "first_touch"] {
        assert!(names.contains(&rule), "{rule}: {said:?}");
    }
}

/// A stream whose sender uses its CPU all the time, nine tenths of that in the kernel.
fn busy_in_the_kernel(wait: &str, pace_msg_per_s: Option<u64>) -> CaseResult {
    let test = Test::AmBw(stream(64, 64).with_pace(pace_msg_per_s));
    result(case("tcp", test, 1000), 2, |_| {
        let mut ends = one_way_stream(64, 1000, 1_000_000, 9000.0);
        ends[0].disturbance.user_ns = 100_000;
        ends[0].disturbance.system_ns = 900_000;
        for end in &mut ends {
            end.transport_facts.insert("wait".into(), wait.into());
        }
        ends
    })
}

#[test]
fn an_end_that_polls_has_no_limit_named_and_nor_has_a_stream_that_meets_its_pace() {
    let limit = |case: CaseResult| rules(vec![latency("tcp", 9000.0), case]);
    let names = |said: &[(&str, String)]| {
        said.iter()
            .any(|(rule, _)| ["processor", "window"].contains(rule))
    };
    assert!(names(&limit(busy_in_the_kernel("block", None))));
    for wait in ["poll", "block"] {
        let said = limit(busy_in_the_kernel(wait, Some(1_000_000)));
        assert!(!names(&said), "{wait}: {said:?}");
    }
    let polls = limit(busy_in_the_kernel("poll", None));
    assert!(!polls.iter().any(|(rule, _)| *rule == "processor"), "{polls:?}");
}

/// A cache of 1 MiB: bandwidth falls behind it in a sweep over size alone.
#[test]
fn a_cache_ends_between_two_sizes_of_one_case_on_either_side_of_it() {
    let stream = |size: u64, window: u64, elapsed_ns: u64| {
        result(case("tcp", Test::AmBw(stream(size, window)), 100), 2, |_| {
            one_way_stream(size, 100, elapsed_ns, 9000.0)
        })
    };
    let is_said = |cases: Vec<CaseResult>| {
        let mut run = run(cases);
        run.host.cache_largest_bytes = Some(1 << 20);
        explain(&run).iter().any(|sentence| sentence.rule == "cache")
    };
    let slow = || stream(4 << 20, 8, 400_000_000);
    assert!(is_said(vec![stream(1 << 18, 8, 5_000_000), slow()]));
    let mut unsure = stream(1 << 18, 8, 5_000_000);
    let mut beyond = slow();
    for case in [&mut unsure, &mut beyond] {
        let metric = case.metrics.get_mut("bandwidth_bytes_per_s").unwrap();
        metric.lower = Some(finite(metric.value.get() * 0.1));
        metric.upper = Some(finite(metric.value.get() * 5.0));
    }
    assert!(!is_said(vec![unsure, beyond]), "the runs cannot tell them apart");
    let arm = |letter: &str, case: CaseResult| CaseResult {
        arm: Some(letter.to_owned()),
        ..case
    };
    let arms = vec![arm("A", stream(1 << 18, 8, 5_000_000)), arm("B", slow())];
    assert!(is_said(arms), "the arm makes no other curve");
    assert!(
        is_said(vec![stream(1 << 18, 128, 5_000_000), slow()]),
        "the window follows from the size"
    );
    let fast = stream(4 << 20, 64, 80_000_000);
    assert!(
        !is_said(vec![stream(1 << 18, 64, 5_000_000), slow(), fast]),
        "the best window stands for the size"
    );
    let other = result(
        case("tcp", Test::AmBibw(self::stream(1 << 18, 8)), 100),
        2,
        |_| one_way_stream(1 << 18, 100, 5_000_000, 9000.0),
    );
    assert!(!is_said(vec![other, slow()]), "another test");
    assert!(
        !is_said(vec![stream(2 << 20, 8, 40_000_000), slow()]),
        "the best is behind it too"
    );
}

#[test]
fn nothing_measured_is_nothing_said() {
    assert!(rules(Vec::new()).is_empty());
    assert!(!rules(example().cases).is_empty());
}
