//! Outputs of other tools, as they wrote them, through `import`, `compare` and the page.

use crate::fixture::{example, page, screen, whole};
use proptest::prelude::*;
use wirespeed_report::Input;
use wirespeed_report::compare::{Question, Verdict, compare};
use wirespeed_report::import::{Format, ImportError, Told, import, import_told};
use wirespeed_report::render::{Style, case_line};
use wirespeed_schema::Run;

const IPERF3_TCP: &str = include_str!("../imports/iperf3-tcp.json");
const IPERF3_UDP: &str = include_str!("../imports/iperf3-udp.json");
const IPERF3_FAILED: &str = include_str!("../imports/iperf3-failed.json");
const SOCKPERF: &str = include_str!("../imports/sockperf.txt");
const UCX: &str = concat!(
    "$ ucx_perftest 127.0.0.1 -t tag_lat -v\n",
    include_str!("../imports/ucx_perftest.csv")
);
const IMB: &str = include_str!("../imports/imb.txt");
const ARRAS: &str = include_str!("../imports/arras.txt");
/// In the form of their sources' print statements.
const OSU: &str = "# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1                       0.25\n2                       0.26\n";
const SMB: &str = "8 6 4096 128 8 8388608 1 1000000.0 2000000.0 3000000.0 4000000.0 \n";
const WORKERS: &str = "1200\n1300\n1250\n1240\n1260\n1290\n1500\n";

/// Every tool with one of its files.
const FILES: [(Format, &str); 8] = [
    (Format::Iperf3, IPERF3_TCP),
    (Format::Osu, OSU),
    (Format::Imb, IMB),
    (Format::Smb, SMB),
    (Format::Sockperf, SOCKPERF),
    (Format::UcxPerftest, UCX),
    (Format::Workers, WORKERS),
    (Format::Arras, ARRAS),
];

fn imported(text: &str) -> Run {
    import(text.as_bytes(), None)
        .unwrap_or_else(|error| panic!("{error}"))
        .1
}

fn figure(run: &Run, case: usize, tag: &str) -> f64 {
    run.cases[case].metrics[tag].value.get()
}

#[test]
fn every_tool_is_recognised_by_its_own_output() {
    for (format, text) in FILES {
        let (found, run) = import(text.as_bytes(), None).unwrap_or_else(|e| panic!("{}: {e}", format.name()));
        assert_eq!((found, run.tool.name.as_str()), (format, format.name()));
        assert!(run.cases.iter().all(|case| !case.metrics.is_empty()));
    }
}

/// What only the circumstances tell apart is not one case of several runs.
#[test]
fn other_questions_are_never_runs_of_one_case() {
    let osu = |kind: &str, buffers: &str| {
        format!(
            "# OSU MPI{kind} Latency Test v7.4\n{buffers}# Size          Latency (us)\n8                       1.50\n"
        )
    };
    let cuda = |send: &str, receive: &str| {
        osu(
            "-CUDA",
            &format!("# Send Buffer on {send} (X) and Receive Buffer on {receive} (Y)\n"),
        )
    };
    let all = [
        osu("", ""),
        cuda("DEVICE", "HOST"),
        cuda("HOST", "DEVICE"),
        osu("", ""),
    ]
    .concat();
    let run = imported(&all);
    let told: Vec<_> = run.cases.iter().map(|case| &case.case.options).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].is_empty() && told[1]["buffers"] == "device-host" && told[1]["memory"] == "cuda",
        "{told:?}"
    );
    assert_eq!(told[2]["buffers"], "host-device");

    // Under load sockperf has one message in a hundred answered.
    let loaded = SOCKPERF.replace(
        "SentMessages=25860; ReceivedMessages=25860",
        "SentMessages=15480; ReceivedMessages=155",
    );
    assert_ne!(loaded, SOCKPERF);
    let run = imported(&format!("{SOCKPERF}{loaded}{SOCKPERF}"));
    let runs: Vec<usize> = run.cases.iter().map(|case| case.repetitions.len()).collect();
    assert_eq!((run.cases.len(), runs[0]), (2, 2), "{runs:?}");
    assert_eq!(run.cases[1].case.options["under-load"], "10000 msg/s");
}

#[test]
fn real_outputs_give_the_figures_that_stand_in_them() {
    let iperf3 = imported(IPERF3_TCP);
    let stated: serde_json::Value = serde_json::from_str(IPERF3_TCP).unwrap();
    let bits = stated["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!((figure(&iperf3, 0, "bandwidth_bytes_per_s") * 8.0 / bits - 1.0).abs() < 1e-12);
    assert_eq!(imported(IPERF3_UDP).cases[0].case.transport, "udp");
    // 7.285 µs one way at the median.
    let sockperf = imported(SOCKPERF);
    assert!((figure(&sockperf, 0, "rtt_p50_ns") - 14_570.0).abs() < 1e-6);
    assert_eq!(sockperf.cases[0].metrics["rtt_p50_ns"].samples, 25_860);
    // Rows of a run are cumulative: the last one is the run.
    let ucx = imported(UCX);
    assert_eq!(ucx.cases.len(), 1);
    assert!((figure(&ucx, 0, "rtt_mean_ns") - 513_920.0).abs() < 1e-6);
    assert_eq!(ucx.cases[0].case.label(), "ucp tag_lat 8 B");
    assert_eq!(iperf3.started_at, "2026-11-22T01:12:42Z");
    let imb = imported(IMB);
    let of = |name: &str| {
        imb.cases
            .iter()
            .filter(|case| case.case.test.name() == name)
            .count()
    };
    assert_eq!(
        (of("imb_pingpong"), of("imb_uniband"), of("imb_biband")),
        (6, 6, 6)
    );
    assert_eq!(figure(&imb, 3, "rtt_mean_ns"), 6960.0);
    // A rate beside a bandwidth of 0.00.
    assert!(!imb.cases[6].metrics.contains_key("bandwidth_bytes_per_s"));
    let arras = imported(ARRAS);
    let credits: Vec<u64> = arras.cases.iter().map(|case| case.case.test.window()).collect();
    assert_eq!(
        (credits, figure(&arras, 0, "rate_msg_per_s")),
        (vec![1, 5, 10, 100], 7646.85)
    );
}

/// What a file does not say is unknown or said to be assumed; no sentence has a hole where a figure would be.
#[test]
fn what_a_file_does_not_say_is_no_fact() {
    for (format, text) in FILES {
        let run = imported(text);
        let page = page(
            &[Input {
                name: "history",
                run: &run,
            }],
            "test",
        );
        let said = whole(
            &[Input {
                name: "history",
                run: &run,
            }],
            &Style::PLAIN,
        );
        let read = page.split("<script>").next().unwrap().to_owned();
        for text in [&read, &said] {
            for hole in [
                "1970",
                "()",
                ": ,",
                "did not say",
                "in 0 runs",
                "wirespeed imported",
            ] {
                assert!(!text.contains(hole), "{}: {hole:?} in {text}", format.name());
            }
        }
        for case in &run.cases {
            let line = case_line(case, &Style::PLAIN);
            assert!(
                line.chars().filter(char::is_ascii_digit).count() > 0 && !line.ends_with(": "),
                "{line}"
            );
            let assumed = case.remarks.iter().any(|remark| remark.code == "assumed");
            assert!(
                assumed || case.case.transport != "unknown",
                "{}: {line}",
                format.name()
            );
        }
    }
}

#[test]
fn the_user_says_what_the_file_does_not() {
    let told = Told {
        size_bytes: Some(64),
        transport: Some("tcp".to_owned()),
        ..Told::default()
    };
    let (_, run) = import_told(WORKERS.as_bytes(), None, &told).unwrap();
    assert_eq!(run.cases[0].case.label(), "tcp am_lat 64 B");
    assert!(run.cases[0].remarks.iter().all(|remark| remark.code != "assumed"));
    // What stands in the file is not to be said again.
    let said = import_told(IMB.as_bytes(), None, &told);
    assert!(matches!(said, Err(ImportError::Stated { .. })));
}

#[test]
fn compare_and_report_work_against_each() {
    for (format, text) in FILES {
        let (a, b) = (imported(text), imported(text));
        let found = compare(("a", &a), ("b", &b), &Question::default(), 0.02);
        let rows = found
            .unwrap_or_else(|error| panic!("{}: {error}", format.name()))
            .rows;
        assert_eq!(rows.len(), a.cases.len(), "{}", format.name());
        assert!(rows.iter().all(|row| (row.ratio.get() - 1.0).abs() < 1e-9));
        let mut ours = a.clone();
        ours.sections = Default::default();
        ours.tool.name = "wirespeed".to_owned();
        ours.host = example().host;
        for case in &mut ours.cases {
            let ranks = case.case.ranks.iter_mut().zip(0..);
            ranks.for_each(|(rank, cpu)| rank.cpu = Some(cpu));
        }
        let beside_ours = compare(("a", &a), ("b", &ours), &Question::default(), 0.02).unwrap();
        assert_eq!(beside_ours.environment, [], "{}", format.name());
        let mut shown = example();
        shown.sections.put(&beside_ours);
        let said = screen(&shown, &Style::PLAIN);
        let untold = format!("environment: not known of A (from {})", format.name());
        assert!(
            said.contains(&untold) && said.matches("environment").count() == 1,
            "{said}"
        );
        let imported_line = said.lines().find(|line| line.starts_with("A: a")).unwrap();
        assert!(!imported_line.contains("wirespeed"), "{said}");
        let page = page(
            &[Input {
                name: "history",
                run: &a,
            }],
            "test",
        );
        assert!(
            page.contains("id=\"cases\"") && !page.contains("NaN"),
            "{}",
            format.name()
        );
    }
}

/// Ten outputs in one file are ten runs: they have an interval, and a verdict against ten others.
/// Whatever a tool has as its figure stands in the table, the mean of some alone.
#[test]
fn the_figure_of_every_tool_is_in_the_table() {
    for (format, text) in FILES {
        let run = imported(text);
        let shown = screen(
            &run,
            &Style {
                width: 200,
                ..Style::PLAIN
            },
        );
        for case in run.cases.iter().filter(|case| !case.metrics.is_empty()) {
            let headlines = [
                "rtt_p50_ns",
                "rtt_mean_ns",
                "completion_p50_ns",
                "bandwidth_bytes_per_s",
                "rate_msg_per_s",
                "classic_rate_msg_per_s",
            ];
            let found = headlines
                .iter()
                .find_map(|tag| Some((tag, case.metrics.get(*tag)?)));
            let (tag, metric) = found.unwrap_or_else(|| panic!("{format:?}: {:?}", case.metrics));
            let text = wirespeed_schema::units::format_ns(metric.value.get());
            let is_there = !tag.ends_with("_ns") || shown.matches(&text).count() > 0;
            assert!(is_there, "{format:?}: {tag} {text}\n{shown}");
        }
        let table = shown
            .split("\n\n")
            .find(|part| part.contains("RTT p50") || part.contains("RTT mean"));
        let has_round_trips = run
            .cases
            .iter()
            .any(|case| case.metrics.contains_key("rtt_mean_ns"));
        assert!(!has_round_trips || table.is_some(), "{format:?}\n{shown}");
        assert!(!shown.contains("0 runs"), "{format:?}\n{shown}");
    }
}

#[test]
fn outputs_put_together_are_runs_of_one_case() {
    let many = |factor: f64| -> Run {
        let one = |number: u32| {
            let us = 0.25 * factor * (1.0 + 0.001 * f64::from(number));
            format!("# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8 {us:.5}\n")
        };
        imported(&(0..10).map(one).collect::<String>())
    };
    let (before, after) = (many(1.0), many(1.1));
    assert_eq!((before.cases.len(), before.cases[0].repetitions.len()), (1, 10));
    let mean = &before.cases[0].metrics["rtt_mean_ns"];
    assert!(mean.lower < Some(mean.value) && mean.level.is_some(), "{mean:?}");
    let found = compare(("before", &before), ("after", &after), &Question::default(), 0.02).unwrap();
    assert_eq!(found.rows[0].verdict, Verdict::Slower);
    // Documents may follow each other as tables may.
    let four = imported(&IPERF3_TCP.repeat(4));
    assert_eq!((four.cases.len(), four.cases[0].repetitions.len()), (1, 4));
    let cut = import(format!("{IPERF3_TCP}{}", &IPERF3_TCP[..100]).as_bytes(), None);
    assert!(matches!(cut, Err(ImportError::Line { .. })), "{cut:?}");
}

#[test]
fn another_tool_is_not_told_to_repeat_itself() {
    let said = |a: &Run, b: &Run| {
        let found = compare(("a", a), ("b", b), &Question::default(), 0.02).unwrap();
        let mut shown = example();
        shown.sections.put(&found);
        let text = screen(&shown, &Style::PLAIN);
        (
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            found.remedy(),
        )
    };
    let (one, two) = (imported(IPERF3_TCP), imported(&IPERF3_TCP.repeat(2)));
    let mut ours = two.clone();
    ours.sections = Default::default();
    let (text, remedy) = said(&one, &ours);
    let needed = "there are 1 and 2: put the outputs of 4 runs of iperf3 into one file, and run wirespeed with --repeats 4";
    assert!(text.contains(needed), "{text}");
    assert!(
        remedy.starts_with("put the outputs of 4 runs of iperf3 into one file, and run"),
        "{remedy}"
    );
    let (text, _) = said(&one, &one);
    assert!(
        text.contains("of iperf3 into one file") && !text.contains("--repeats"),
        "{text}"
    );
    let (text, _) = said(&ours, &of_one_run(&ours));
    assert!(
        text.contains("there are 2 and 1: measure both with --repeats 4"),
        "{text}"
    );
}

/// The same with the first run of each case alone.
fn of_one_run(run: &Run) -> Run {
    let mut run = run.clone();
    run.cases.iter_mut().for_each(|case| case.repetitions.truncate(1));
    run
}

#[test]
fn what_failed_was_cut_or_is_of_another_unit_is_refused() {
    let error = |text: &str| import(text.as_bytes(), None).unwrap_err();
    assert!(matches!(error(IPERF3_FAILED), ImportError::Failed { .. }));
    let cut = &IPERF3_TCP[..IPERF3_TCP.len() / 2];
    assert!(matches!(
        import(cut.as_bytes(), Some(Format::Iperf3)),
        Err(ImportError::Line { .. })
    ));
    let arras = ARRAS.trim_end();
    assert!(matches!(
        error(&arras[..arras.len() - 5]),
        ImportError::Line { .. }
    ));
    assert!(matches!(
        error(&IMB.replace("t[usec]", "t[msec]").replace("Mbytes", "Kbytes")),
        ImportError::Line { .. }
    ));
    assert!(matches!(
        error(&OSU.replace("(us)", "(ms)")),
        ImportError::Line { line: 3, .. }
    ));
    for (format, text) in FILES {
        for at in [text.len() / 3, text.len() / 2] {
            let part: String = text.chars().take(at).collect();
            if let Err(error) = import(part.as_bytes(), Some(format)) {
                assert!(!error.to_string().contains('\n') && !error.remedy().is_empty());
            }
        }
    }
}

proptest! {
    /// Files that were cut, doubled or edited anywhere: an error or finite figures, whatever tool they are said to be of.
    #[test]
    fn damaged_outputs_do_no_harm(
        file in 0..FILES.len(),
        said in 0..FILES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4usize), 0..6),
    ) {
        let mut bytes = FILES[file].1.as_bytes().to_vec();
        for (index, byte, how) in edits {
            let at = index.index(bytes.len().max(1));
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), byte),
                2 if at < bytes.len() => bytes[at] = byte,
                _ => {
                    let part = bytes[at.min(bytes.len())..].iter().copied().take(64).collect::<Vec<u8>>();
                    bytes.extend(part);
                }
            }
        }
        for format in [None, Some(FILES[said].0)] {
            if let Ok((_, run)) = import(&bytes, format) {
                for (name, metric) in run.cases.iter().flat_map(|case| &case.metrics) {
                    // Rows that say the same have no spread; nothing else that was measured can be 0.
                    let least = if name.ends_with("_ratio") { 0.0 } else { f64::MIN_POSITIVE };
                    prop_assert!(metric.value.get() >= least, "{name}: {metric:?}");
                }
            }
        }
    }
}
