//! Cases, and what is read of them.

use super::*;
use crate::test::{Bulk, Layout, PingPong};

#[test]
fn a_case_in_words() {
    let case = Case::new(Test::AmLat(PingPong::new(64, Layout::Short)), "tcp");
    assert_eq!(
        (case.label().as_str(), case.options_text().as_str()),
        ("tcp am_lat 64 B", "")
    );
    let railed = case
        .with_rail(Some("ib1".to_owned()))
        .with_option("wait", "block");
    assert_eq!(railed.label(), "tcp am_lat 64 B on rail ib1");
    assert_eq!(railed.options_text(), " wait block");
    let bulk = Case::new(Test::BulkGet(Bulk::new(1 << 20, 1 << 30, 3, 4)), "byteio-http");
    assert_eq!(bulk.label(), "byteio-http bulk_get 3 x 4 1 MiB");
    for (iterations, ns_max, text) in [
        (0, 5, "0"),
        (WARMUP_ITERATIONS_MAX, 100_000_000, "100ms"),
        (1000, WARMUP_NS_MAX, "1000"),
        (10_000, 100_000_000, "10000<100ms"),
    ] {
        assert_eq!(bulk.clone().with_warmup(iterations, ns_max).warmup_text(), text);
    }
}

#[test]
fn a_load_of_any_kind_is_no_idle_one() {
    let nothing = Load::default();
    assert!(nothing.is_idle() && nothing.threads() == 0);
    let each = |threads: u32| Load {
        cpu_threads: threads,
        log_threads: 2 * threads,
        bandwidth_threads: 4 * threads,
        cache_threads: 8 * threads,
        ..Load::default()
    };
    assert_eq!((each(1).threads(), each(1).is_idle()), (15, false));
    for load in [
        Load {
            memory_bytes: 1,
            ..nothing.clone()
        },
        Load {
            message_sleep_ns: 1,
            ..nothing
        },
    ] {
        assert!(!load.is_idle(), "{load:?}");
    }
}

#[test]
fn a_load_reads_back_and_says_nothing_of_what_it_lacks() {
    let whole = Load {
        cpu_threads: 1,
        memory_bytes: 2,
        touch_bytes: 3,
        touch_once: true,
        log_threads: 4,
        bandwidth_threads: 5,
        cache_threads: 6,
        place: Place::Same,
        of_others: true,
        message_sleep_ns: 7,
    };
    for (load, fields) in [(whole, 10), (Load::default(), 5)] {
        let text = serde_json::to_value(&load).unwrap();
        assert_eq!(text.as_object().unwrap().len(), fields, "{text}");
        assert_eq!(serde_json::from_value::<Load>(text).unwrap(), load);
    }
}

/// What a rank says of its own goes before what the case says.
#[test]
fn options_of_a_rank_replace_those_of_the_case() {
    let test = Test::AmLat(PingPong::new(8, Layout::Short));
    let mut case = Case::new(test, "uct")
        .with_option("device", "a")
        .with_option("wait", "poll");
    case.ranks[1].options = TransportOptions::from([("device".to_owned(), "b".to_owned())]);
    let at = |rank: u32| case.options_at(rank).into_owned();
    assert_eq!((at(0)["device"].as_str(), at(1)["device"].as_str()), ("a", "b"));
    assert_eq!((at(1)["wait"].as_str(), at(2)), ("poll", case.options.clone()));
}
