//! Master and workers: the grid of a published measurement again, slow workers, the log, and whatever ranks deliver.

use crate::fixture::screen;
use crate::fixture::{case, count, outcome, run, samples};
use crate::golden::check;
use crate::random::{any_finite, any_histogram};
use proptest::prelude::*;
use wirespeed_report::Input;
use wirespeed_report::charts::pictures;
use wirespeed_report::render::Style;
use wirespeed_report::workers::{WorkersSection, bandwidth_chart, log_csv, log_lines, tests_chart};
use wirespeed_report::{Limits, case_result, failed_case, repetition};
use wirespeed_schema::case::{RankSpec, Role, Stop};
use wirespeed_schema::outcome::{Outcome, PeerSamples, SampleKind};
use wirespeed_schema::run::{CaseResult, CaseStatus};
use wirespeed_schema::test::{Hub, Layout};
use wirespeed_schema::{Case, Finite, HistogramData, Test};

const PAYLOADS: [u64; 7] = [40, 400, 1000, 4000, 40_000, 400_000, 4_000_000];
/// Halves of mean round trips in ns of a cluster of library computers, by tests per worker. The payload went one way.
const HALVES: [(u64, [u64; 7]); 2] = [
    (
        2,
        [
            1_025_610,
            1_805_171,
            899_398,
            916_758,
            1_617_177,
            11_938_787,
            118_254_533,
        ],
    ),
    (
        1000,
        [
            287_483,
            298_945,
            339_811,
            387_992,
            1_686_591,
            10_998_696,
            110_784_230,
        ],
    ),
];

fn hub_case(test: Hub, tests: u64, workers: u32) -> Case {
    let mut case = case("tcp", Test::HubLat(test), tests);
    let rank = |role| RankSpec::new(role);
    case.ranks = vec![rank(Role::Worker); workers as usize + 1];
    case.ranks[0] = rank(Role::Hub);
    case
}

fn test(size_bytes: u64, reply_bytes: Option<u64>, fan_out: bool) -> Hub {
    Hub::new(size_bytes, Layout::Short)
        .with_reply(reply_bytes)
        .with_fan_out(fan_out)
}

fn ns(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

/// A case whose workers need `rtts_ns`, with half a per cent between neighbouring samples; the first trip takes triple.
fn result(test: Hub, tests: u64, rtts_ns: &[f64]) -> CaseResult {
    let workers = rtts_ns.len() as u32;
    let case = hub_case(test.clone(), tests, workers);
    let spread = |round: u64| 1.0 + 0.005 * (round % 11) as f64 - 0.025;
    let trip = |round: u64, rtt: f64| if tests < 11 { rtt } else { rtt * spread(round) };
    let mut all = Vec::new();
    for round in 0..tests {
        all.extend(rtts_ns.iter().map(|rtt| trip(round, *rtt)));
    }
    let elapsed_ns = (all.iter().sum::<f64>() * 1.001) as u64;
    let mut master = outcome(0, Role::Hub, elapsed_ns);
    let mut series = samples(SampleKind::RoundTrip, &all);
    series.raw_ns = all.iter().map(|rtt| ns(*rtt)).collect();
    master.samples = vec![series];
    master.sent = count(tests * u64::from(workers), test.size_bytes);
    master.received = count(tests * u64::from(workers), test.reply());
    master.connect_ns = Some(ns(3e6));
    master.peers = (1..=workers)
        .map(|peer| {
            let own: Vec<f64> = (0..tests)
                .map(|round| trip(round, rtts_ns[peer as usize - 1]))
                .collect();
            PeerSamples {
                peer,
                samples: HistogramData::from_samples_ns(&own),
                first_ns: Some(ns(rtts_ns[peer as usize - 1] * 3.0)),
            }
        })
        .collect();
    let mut outcomes: Vec<Outcome> = vec![master];
    outcomes.extend((1..=workers).map(|rank| {
        let mut worker = outcome(rank, Role::Worker, elapsed_ns);
        worker.received = count(tests, test.size_bytes);
        worker.sent = count(tests, test.reply());
        worker
    }));
    let repetition = repetition(&case, 0, outcomes, 20_000_000, 0);
    case_result(case, vec![repetition], &Limits::default())
}

/// The smallest and the largest of two runs are no interval, on the screen and in the chart.
#[test]
fn ends_of_few_runs_are_in_braces() {
    let cells = |runs: usize| {
        [8, 64].map(|size| {
            let one = result(test(size, None, false), 100, &[1000.0 * size as f64; 2]);
            let runs = vec![one.repetitions[0].clone(); runs];
            case_result(one.case, runs, &Limits::default())
        })
    };
    for (runs, start, label) in [
        (2, '{', "smallest and largest of the runs"),
        (6, '[', "95 % interval of the median"),
    ] {
        let document = run(cells(runs).to_vec());
        let text = screen(&document, &Style::PLAIN);
        assert!(
            text.contains(&format!("round trip of 8 B 8.004 µs {start}8")),
            "{text}"
        );
        let chart = bandwidth_chart(&WorkersSection::of(&document));
        assert_eq!(chart.interval_label, label);
    }
}

/// Of two workers the slower one is compared with the other, in the map as in its row.
#[test]
fn the_map_of_workers_has_the_ratios_of_their_rows() {
    let cells = [8, 64].map(|size| result(test(size, None, false), 100, &[1000.0, 1500.0]));
    let row = WorkersSection::new(&cells).groups[0].rows[1].ratio.unwrap().get();
    let document = run(cells.to_vec());
    let all = pictures(&[Input {
        name: "a",
        run: &document,
    }]);
    let map = all
        .iter()
        .find_map(|picture| picture.chart.heat.as_ref())
        .unwrap();
    let most = map.cells.iter().map(|cell| cell.value).fold(0.0, f64::max);
    assert!((most - row).abs() < 0.01 && row > 1.4, "{most} {row}");
}

/// 20 µs and 1 GB/s: half of it where 20 kB are moved.
#[test]
fn an_answer_of_one_size_is_no_part_of_the_message_at_half_of_b() {
    for (reply, half) in [
        (None, Some(10_000.0)),
        (Some(0), Some(20_000.0)),
        (Some(8000), Some(12_000.0)),
        (Some(64_000), None),
    ] {
        let cells = [1000u64, 8000, 64_000, 512_000].map(|size| {
            let test = test(size, reply, false);
            let rtt_ns = 20_000.0 + (size + test.reply()) as f64;
            result(test, 100, &[rtt_ns; 2])
        });
        let fit = WorkersSection::new(&cells).groups[0].fit.clone().unwrap();
        let found = fit.half_size_bytes.map(|size| size.get());
        let is_near = found
            .zip(half)
            .map(|(found, half): (f64, f64)| (found / half - 1.0).abs() < 0.02);
        assert_eq!(
            (is_near, found.is_some()),
            (half.map(|_| true), half.is_some()),
            "{reply:?}: {found:?}"
        );
    }
}

/// Cells of one grid differ in payload and number of tests alone.
#[test]
fn masters_at_two_servers_are_two_groups() {
    let at = |server: &str, size| {
        let mut found = result(test(size, None, false), 10, &[1000.0 * size as f64, 2000.0]);
        found.case.to = Some(server.to_owned());
        found
    };
    let cases = [at("near", 8), at("near", 16), at("far:7000", 8)];
    let section = WorkersSection::new(&cases);
    let names: Vec<String> = section.groups.iter().map(|group| group.name()).collect();
    assert_eq!(names, ["tcp to near", "tcp to far:7000"]);
    assert_eq!(
        section
            .groups
            .iter()
            .map(|group| group.cells.len())
            .collect::<Vec<_>>(),
        [2, 1]
    );
    let one = WorkersSection::new(&cases[..2]);
    assert_eq!(one.groups[0].name(), "tcp");
    let mut document = run(cases.to_vec());
    document.sections.put(&section);
    let text = screen(&document, &Style::PLAIN);
    assert!(text.contains("2 workers over tcp to far:7000"), "{text}");
}

/// The published grid, with the payload as it really went.
fn published() -> Vec<CaseResult> {
    let mut cases = Vec::new();
    for (index, size) in PAYLOADS.iter().enumerate() {
        for (tests, halves) in HALVES {
            let rtt = halves[index] as f64 * 2.0;
            cases.push(result(test(*size, Some(0), false), tests, &[rtt; 5]));
        }
    }
    cases
}

#[test]
fn a_payload_that_goes_one_way_is_not_counted_twice() {
    let section = WorkersSection::new(&published());
    let group = &section.groups[0];
    let at_the_end = group
        .longest()
        .last()
        .unwrap()
        .bandwidth_bytes_per_s
        .unwrap()
        .get();
    // 4 MB in a round trip of 221.6 ms: 18 MB/s, where half of the round trip would give 36.
    assert!((at_the_end / 18.05e6 - 1.0).abs() < 0.001, "{at_the_end}");
    assert_eq!((group.divisor(), group.both_ways, group.workers), (1.0, false, 5));
    let fit = group.fit.as_ref().unwrap();
    assert!(
        (fit.bandwidth_bytes_per_s.unwrap().get() / 17.58e6 - 1.0).abs() < 0.01,
        "{fit:?}"
    );
    assert!(
        (fit.half_size_bytes.unwrap().get() / 10_284.0 - 1.0).abs() < 0.02,
        "{fit:?}"
    );
    let both: Vec<CaseResult> = [1000u64, 4000, 40_000]
        .iter()
        .map(|size| result(test(*size, None, false), 100, &[1e5 + *size as f64 * 20.0; 5]))
        .collect();
    let group = &WorkersSection::new(&both).groups[0];
    // 2 s bytes a round trip of 100 us + 20 ns a byte: 100 MB/s, 50 us one way, half of it at 5 kB.
    let fit = group.fit.as_ref().unwrap();
    assert!(
        (fit.bandwidth_bytes_per_s.unwrap().get() / 1e8 - 1.0).abs() < 0.01,
        "{fit:?}"
    );
    assert!(
        (fit.half_size_bytes.unwrap().get() / 5000.0 - 1.0).abs() < 0.02,
        "{fit:?}"
    );
    assert!((fit.rtt_ns.value.get() / 1e5 - 1.0).abs() < 0.01, "{fit:?}");
    assert_eq!(group.divisor(), 2.0);
}

#[test]
fn the_published_grid_renders_as_committed() {
    let cases = published();
    let section = WorkersSection::new(&cases);
    let mut run = run(cases);
    check("tests/golden/workers.txt", &screen(&run, &Style::PLAIN));
    run.sections.put(&section);
    let stored = screen(&run, &Style::PLAIN);
    run.sections = Default::default();
    assert_eq!(
        stored,
        screen(&run, &Style::PLAIN),
        "a stored section says the same as the cases"
    );
    check(
        "tests/golden/svg/workers_bandwidth.svg",
        &bandwidth_chart(&section).standalone(),
    );
    check(
        "tests/golden/svg/workers_tests.svg",
        &tests_chart(&section).standalone(),
    );
}

#[test]
fn a_slow_worker_stands_out_and_equal_ones_do_not() {
    let equal = result(test(1000, None, false), 100, &[1e5, 1.02e5, 1.01e5, 1e5]);
    assert!(equal.remarks.iter().all(|remark| remark.code != "slow_worker"));
    assert!(
        WorkersSection::new(&[equal]).groups[0]
            .rows
            .iter()
            .all(|row| !row.slow)
    );

    let slow = result(test(1000, None, false), 100, &[1e5, 1.02e5, 3e5, 1e5]);
    let remark = slow
        .remarks
        .iter()
        .find(|remark| remark.code == "slow_worker")
        .unwrap();
    assert!(
        remark.message.starts_with("in this cell worker 3 takes "),
        "{remark:?}"
    );
    let rows = WorkersSection::new(&[slow]).groups.remove(0).rows;
    let marked: Vec<u32> = rows.iter().filter(|row| row.slow).map(|row| row.worker).collect();
    assert_eq!(marked, [3]);
    assert!((rows[2].ratio.unwrap().get() - 3.0).abs() < 0.05, "{:?}", rows[2]);

    let two = result(test(1000, None, false), 100, &[2e5, 1e5]);
    let rows = WorkersSection::new(&[two]).groups.remove(0).rows;
    assert!(rows[0].slow && !rows[1].slow, "{rows:?}");
}

/// Workers by payload as a map: a large payload takes longer for all, and that makes nobody slow.
#[test]
fn the_map_of_workers_compares_within_a_payload() {
    let small = result(test(40, None, false), 100, &[1e5, 1.02e5, 1.01e5]);
    let large = result(test(4000, None, false), 100, &[9e5, 9.1e5, 2.7e6]);
    let run = run(vec![small, large]);
    let all = pictures(&[Input { name: "x", run: &run }]);
    let map = all.iter().find(|picture| picture.chart.heat.is_some()).unwrap();
    assert!(map.answer[0].contains("worker 3, 4 kB"), "{:?}", map.answer);
    let heat = map.chart.heat.as_ref().unwrap();
    let (low, high) = heat.range().unwrap();
    assert!(low > 0.95 && (high - 2.97).abs() < 0.05, "{low} {high}");
    assert_eq!(map.table.rows.len(), 6);
}

/// What ended early is not shown as the tests that were asked for, nor beside them.
#[test]
fn a_cell_that_ended_early_counts_its_own_tests() {
    let whole = |size| result(test(size, None, false), 1000, &[1e5, 1.1e5]);
    let mut cut = result(test(4000, None, false), 400, &[2e5, 2.1e5]);
    cut.case.stop = Stop::Iterations { count: 1000 };
    cut.status = CaseStatus::Partial;
    cut.repetitions[0].outcomes[0].peers[1].samples.count = 399;
    let cases = vec![whole(40), whole(1000), cut];
    let group = WorkersSection::new(&cases).groups.remove(0);
    let tests: Vec<u64> = group.cells.iter().map(|cell| cell.tests).collect();
    assert_eq!(tests, [1000, 1000, 400]);
    let compared: Vec<u64> = group.longest().iter().map(|cell| cell.size_bytes).collect();
    assert_eq!(compared, [40, 1000]);
    let text = screen(&run(cases), &Style::PLAIN);
    assert!(
        text.lines().any(|line| line.trim_start().starts_with("400 ")),
        "{text}"
    );
}

/// A few round trips have a mean alone, and sentences say so.
#[test]
fn a_mean_is_not_called_a_median() {
    let few = |size| result(test(size, None, false), 2, &[1e5; 2]);
    let text = screen(&run(vec![few(1000), few(4000)]), &Style::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("x the mean of later ones"), "{text}");
    assert!(!text.contains("its median"), "{text}");
}

#[test]
fn hosts_have_rows_where_there_are_several() {
    let mut slow = result(test(1000, None, false), 100, &[1e5, 1e5, 3e5, 3e5, 1e5]);
    let nodes = ["0", "0", "0", "1", "1", "0"];
    for (outcome, node) in slow.repetitions[0].outcomes.iter_mut().zip(nodes) {
        outcome.transport_facts.insert("node".into(), node.into());
    }
    let mut section = WorkersSection::new(&[slow]);
    let hosts = |section: &WorkersSection| -> Vec<(String, usize, bool)> {
        let rows = section.groups[0].hosts.iter();
        rows.map(|host| (host.host.clone(), host.workers.len(), host.slow))
            .collect()
    };
    assert_eq!(
        hosts(&section),
        [("node 0".into(), 3, false), ("node 1".into(), 2, true)]
    );
    section.name_nodes(&["ape".into(), "bee".into()]);
    assert_eq!(
        hosts(&section),
        [("ape".into(), 3, false), ("bee".into(), 2, true)]
    );
    assert_eq!(section.groups[0].rows[2].host.as_deref(), Some("bee"));
}

#[test]
fn round_trips_that_overlap_are_neither_halved_nor_fitted() {
    let cases: Vec<CaseResult> = [40u64, 400, 4000]
        .iter()
        .map(|size| result(test(*size, None, true), 100, &[1e5; 3]))
        .collect();
    let group = WorkersSection::new(&cases).groups.remove(0);
    assert_eq!((group.divisor(), group.fit.is_none()), (1.0, true));
    assert!(
        group.cells[0].bandwidth_bytes_per_s.is_some() && group.cells[0].bandwidth_p50_bytes_per_s.is_none()
    );
    let text = screen(&run(cases), &Style::PLAIN);
    assert!(
        text.contains("round trip, not halved") && text.contains("no fit: "),
        "{text}"
    );
}

#[test]
fn the_log_has_a_line_for_every_round_trip_in_its_order() {
    let cases = [
        result(test(40, None, false), 2, &[100.4, 200.0]),
        result(test(80, Some(0), false), 1, &[300.0]),
    ];
    assert_eq!(log_lines(&cases), "100\n200\n100\n200\n300\n");
    let csv = log_csv(&cases).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "case,repetition,transport,fan_out,size_bytes,reply_bytes,tests,worker,sequence,trips,rtt_ns"
    );
    assert_eq!(lines[2], "0,0,tcp,false,40,40,2,2,0,1,200.0");
    assert_eq!(lines[3], "0,0,tcp,false,40,40,2,1,1,1,100.4");
    assert_eq!(lines[5], "1,0,tcp,false,80,0,1,1,0,1,300.0");
    assert_eq!(lines.len(), 6);
}

#[test]
fn a_case_without_samples_leaves_a_clean_table() {
    let failed = failed_case(hub_case(test(40, None, false), 10, 2), "rank 1 is gone", None);
    assert_eq!(failed.status, CaseStatus::Failed);
    let text = screen(&run(vec![failed.clone()]), &Style::PLAIN);
    assert!(
        text.contains("rank 1 is gone") && !text.contains("Figure"),
        "{text}"
    );
    let section = WorkersSection::new(&[failed]);
    assert!(bandwidth_chart(&section).standalone().contains("nothing to show"));
    assert!(tests_chart(&section).standalone().contains("nothing to show"));
}

proptest! {
    #[test]
    fn whatever_a_master_delivers_nothing_panics(
        sizes in prop::collection::vec((any::<u64>(), prop::option::of(any::<u64>()), any::<u64>()), 0..5),
        fan_out: bool,
        peers in prop::collection::vec((any::<u32>(), any_histogram(), prop::option::of(any_finite())), 0..5),
        raw in prop::collection::vec(any_finite(), 0..9),
        elapsed_ns: u64,
        width in 0usize..150,
    ) {
        let cases: Vec<CaseResult> = sizes
            .into_iter()
            .map(|(size, reply, tests)| {
                let case = hub_case(test(size, reply, fan_out), tests, 3);
                let mut master = outcome(0, Role::Hub, elapsed_ns);
                let mut series = samples(SampleKind::RoundTrip, &[]);
                if let Some((_, histogram, _)) = peers.first() {
                    series.histogram = histogram.clone();
                }
                series.raw_ns = raw.clone();
                master.samples = vec![series];
                master.received.messages = tests;
                master.peers = peers
                    .iter()
                    .map(|(peer, samples, first_ns)| PeerSamples {
                        peer: *peer,
                        samples: samples.clone(),
                        first_ns: *first_ns,
                    })
                    .collect();
                let repetition = repetition(&case, 0, vec![master], 1, 0);
                case_result(case, vec![repetition], &Limits::default())
            })
            .collect();
        let section = WorkersSection::new(&cases);
        let _ = (bandwidth_chart(&section).standalone(), tests_chart(&section).standalone());
        prop_assert!(log_csv(&cases).is_ok());
        prop_assert!(log_lines(&cases).lines().all(|line| line.parse::<f64>().is_ok()));
        let _ = screen(&run(cases), &Style { width, ..Style::PLAIN });
    }
}

#[test]
fn cells_of_one_grid_differ_in_what_it_shows_alone() {
    let cell = |test: Hub| {
        let ends = vec![outcome(0, Role::Hub, 1000), outcome(1, Role::Worker, 1000)];
        let case = hub_case(test, 10, 1);
        let run = repetition(&case, 0, ends, 0, 0);
        case_result(case, vec![run], &Limits::default())
    };
    let ways = |sizes: [u64; 2], reply: Option<u64>| -> Vec<bool> {
        let cells = sizes.map(|size| cell(test(size, reply, false)));
        let groups = WorkersSection::new(&cells).groups;
        groups.iter().map(|group| group.both_ways).collect()
    };
    assert_eq!(ways([64, 4096], None), [true]);
    // An answer of another size is no half of a round trip, and nothing goes no way at all.
    assert_eq!(ways([64, 4096], Some(64)), [false]);
    assert_eq!(ways([0, 64], Some(0)), [false]);
    assert_eq!(ways([64, 64], Some(64)), [true]);
    let bcopy = Hub::new(64, Layout::Bcopy);
    let layouts = [
        cell(test(64, None, false)),
        cell(bcopy),
        cell(test(4096, None, false)),
    ];
    assert_eq!(WorkersSection::new(&layouts).groups.len(), 2);
    // A layout that goes with the size is no grid of its own.
    let usual = [cell(test(64, None, false)), cell(Hub::new(4096, Layout::Bcopy))];
    assert_eq!(WorkersSection::new(&usual).groups.len(), 1);
}

#[test]
fn arms_are_grids_of_their_own_where_nothing_else_tells_their_cells_apart() {
    let cell = |arm: &str, size: u64| CaseResult {
        arm: Some(arm.to_owned()),
        ..result(test(size, None, false), 100, &[20_000.0])
    };
    let groups = |cells: &[CaseResult]| WorkersSection::new(cells).groups.len();
    assert_eq!(groups(&[cell("A", 64), cell("B", 4096)]), 1);
    assert_eq!(groups(&[cell("A", 64), cell("B", 64)]), 2);
}
