//! Documents that this crate's tests have, held against what no document may say.

use crate::fixture::*;
use wirespeed_report::audit::violations;
use wirespeed_report::compare::{Question, compare};
use wirespeed_report::interference::{Arms, Interference, Loaded};
use wirespeed_report::read_run;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::test::{Bulk, Test};

#[test]
fn the_fixtures_say_nothing_that_cannot_be() {
    assert_eq!(violations(&example()), Vec::<String>::new());
    let committed = read_run(include_bytes!("../golden/run.json")).unwrap();
    assert_eq!(violations(&committed), Vec::<String>::new());
}

#[test]
fn stolen_time_of_all_cpus_is_no_share_of_one_rank() {
    for (cpu, cpus_online) in [(None, 0), (None, 4), (Some(1), 4)] {
        let stolen = result(case("tcp", am_lat(8), 400), 1, |_| {
            let mut ends = ping_pong(8, 400, 9000.0);
            for end in &mut ends {
                end.cpu = cpu;
                end.host.cpus_online = cpus_online;
                end.disturbance.steal_ns = Some(end.elapsed_ns * 13 / 4);
                end.disturbance.run_queue_wait_ns = Some(end.elapsed_ns * 2);
            }
            ends
        });
        assert!(stolen.remarks.iter().any(|remark| remark.code == "steal"));
        assert_eq!(
            violations(&run(vec![stolen])),
            Vec::<String>::new(),
            "{cpu:?} {cpus_online}"
        );
    }
}

#[test]
fn a_slice_beyond_the_run_is_found() {
    let late = result(case("tcp", Test::AmBw(stream(8, 4)), 1000), 1, |_| {
        let mut ends = one_way_stream(8, 1000, 1_000_000, 2000.0);
        ends[1].intervals = vec![Interval {
            start_ns: 0,
            duration_ns: 1_068_555_678_997,
            ..ends[0].intervals[0].clone()
        }];
        ends
    });
    let found = violations(&run(vec![late]));
    assert!(
        found
            .iter()
            .any(|line| line.contains("the end of a slice of rank 1")),
        "{found:?}"
    );
}

/// Two rounds give a ratio and no interval: the answer is what is missing, with the option that gives it.
#[test]
fn too_few_rounds_or_runs_are_no_verdict_and_say_what_is_missing() {
    let side = |rtt_ns: f64, runs: u32| {
        result(case("tcp", am_lat(8), 4000), runs, move |index| {
            ping_pong(8, 4000, rtt_ns * (1.0 + 0.001 * f64::from(index)))
        })
    };
    let loaded = Loaded {
        load: "cpu".to_owned(),
        place: "same".to_owned(),
    };
    for rounds in 1..6 {
        let (off, on) = (side(1000.0, rounds), side(20_000.0, rounds));
        let arms = Arms {
            off: off.clone(),
            on: vec![(loaded.clone(), on.clone()).into()],
        };
        let mut document = run(vec![off.clone(), on.clone()]);
        let mut found = Interference::judged(&[arms], 1, rounds);
        found.rounds_option = "--repeat".to_owned();
        document.sections.put(&found);
        let text = crate::fixture::screen(&document, &wirespeed_report::render::Style::PLAIN);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("no verdict") && flat.contains("are needed: --repeat "),
            "{text}"
        );
        assert_eq!(violations(&document), Vec::<String>::new());
        // A stored result with so few runs against another, unpaired.
        if rounds < 4 {
            let (a, b) = (run(vec![off]), run(vec![on]));
            let comparison = compare(("a", &a), ("b", &b), &Question::default(), 0.02).unwrap();
            let mut document = run(Vec::new());
            document.sections.put(&comparison);
            let said = crate::fixture::screen(&document, &wirespeed_report::render::Style::PLAIN);
            assert!(said.contains("no") && said.contains("--repeats "), "{said}");
        }
    }
}

/// Each connection of a transfer has a thread, and what was observed of a rank is the sum of its threads.
#[test]
fn threads_of_a_transfer_may_add_up_to_more_than_the_run_took() {
    let observed = |connections: u64, wholes: u64| {
        let test = Test::BulkGet(Bulk::new(65_536, 1 << 20, connections, 2));
        let transfer = result(case("byteio-mtom", test, 16), 1, |_| {
            let mut ends = one_way_stream(65_536, 16, 1_000_000, 2000.0);
            ends[1].disturbance.observed_ns = run(Vec::new()).duration_ns * wholes;
            ends
        });
        let found = violations(&run(vec![transfer]));
        found.iter().any(|line| line.contains("observed_ns of rank 1"))
    };
    assert!(!observed(4, 3));
    assert!(observed(4, 5));
    assert!(observed(1, 2));
}
