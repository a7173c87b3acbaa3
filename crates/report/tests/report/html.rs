//! The report page: what stands in it, how large it is, and that nothing in a result can act in it.

use crate::fixture::*;
use proptest::prelude::*;
use wirespeed_report::Input;
use wirespeed_report::charts::pictures;
use wirespeed_report::compare::{Question, compare};
use wirespeed_report::curve::section::{Probe, SweepSection};
use wirespeed_report::render::{Style, vega_lite};
use wirespeed_schema::case::{RankSpec, Role};
use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::posted::{Buffers, Defined};
use wirespeed_schema::run::{CaseResult, Remark, Run, Severity};
use wirespeed_schema::test::Test;

fn of(name: &str, run: &Run) -> String {
    page(&[Input { name, run }], "wirespeed test")
}

/// Streams of every power of two on several transports, `cases` in all.
fn sweep(cases: usize) -> Run {
    let sizes = 20;
    run((0..cases)
        .map(|number| {
            let (size_bytes, at) = (8u64 << (number % sizes), number / sizes);
            let elapsed_ns = 1_000_000 + size_bytes * 300;
            result(
                case(
                    &format!("transport{at}"),
                    Test::AmBw(stream(size_bytes, 64)),
                    1000,
                ),
                2,
                |index| one_way_stream(size_bytes, 1000, elapsed_ns + u64::from(index) * 1000, 5000.0),
            )
        })
        .collect())
}

/// Every start tag has its end, in order; markup of SVG and HTML alike.
fn assert_balanced(page: &str) {
    const VOID: [&str; 5] = ["meta", "br", "!DOCTYPE", "hr", "wbr"];
    let mut open: Vec<&str> = Vec::new();
    let body = page.split("<style>").next().unwrap().to_owned() + page.split("</style>").nth(1).unwrap();
    for tag in body.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(body.split(&format!("<{tag}")).next().map(|_| name).unwrap());
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn words_come_before_pictures_and_tables_stand_behind_them() {
    let text = of("example.json", &example());
    let place = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}"));
    assert!(place("id=\"answer\"") < place("RTT p50"));
    assert!(place("RTT p50") < place("<svg"));
    assert!(place("Content-Security-Policy") < place("<style>"));
    let charts = text.matches("<figure").count();
    assert!(charts >= 4, "{charts}");
    assert_eq!(text.matches("<summary>Table: ").count(), charts);
    assert_eq!(
        text.matches("role=\"img\"").count(),
        2 * charts,
        "every drawing is an image with a name, one for wide and one for narrow windows"
    );
    assert!(
        text.contains("every transport, fastest first") && text.contains("bandwidth against message size")
    );
    assert_balanced(&text);
}

#[test]
fn nothing_is_fetched_and_only_the_pages_own_script_can_run() {
    let text = of("example.json", &example());
    assert_eq!(text.matches("<script").count(), 1);
    let (text, script) = text.split_once("<script>").unwrap();
    for sends in [
        "fetch",
        "XMLHttp",
        "WebSocket",
        "import",
        "eval",
        "innerHTML",
        "location",
    ] {
        assert!(!script.contains(sends), "{sends}");
    }
    let policy = text
        .split("content=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert_eq!(policy.matches("script-src 'sha256-").count(), 1, "{policy}");
    for forbidden in [
        "javascript:",
        " src=",
        "@import",
        "url(http",
        "<link",
        "<iframe",
        " onload",
    ] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    let remote = text
        .match_indices("http")
        .filter(|(at, _)| !text[*at..].starts_with("http://www.w3.org/"));
    // `http-equiv` alone.
    assert_eq!(remote.count(), 1);
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn text_of_a_hostile_result_stays_text() {
    let evil = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>";
    let mut run = example();
    run.command = vec![evil.into()];
    run.started_at = evil.into();
    run.tool.version = evil.into();
    run.error = Some(evil.into());
    run.host.cpu_model = Some(evil.into());
    run.host.facts.insert(evil.into(), evil.into());
    for case in &mut run.cases {
        case.case.transport = format!("{evil}{}", case.case.transport);
        case.case.options.insert(evil.into(), evil.into());
        case.error = Some(evil.into());
        case.remarks.push(Remark {
            severity: Severity::Note,
            code: evil.into(),
            message: evil.into(),
            remedy: Some(evil.into()),
            weight: None,
        });
    }
    let mut other = run.clone();
    other.host.kernel = evil.into();
    let comparison = compare((evil, &run), (evil, &other), &Question::default(), 0.02).unwrap();
    run.sections.put(&comparison);
    let text = of(evil, &run);
    assert_eq!(text.matches("<script").count(), 1);
    for markup in ["<script>alert", "<img", "</title></style>", "onerror=alert(2)>"] {
        assert!(!text.contains(markup), "{markup}");
    }
    assert!(text.contains("&lt;script&gt;"));
    assert_balanced(&text);
    let shown = whole(
        &[Input {
            name: "\x1b[2J",
            run: &run,
        }],
        &Style::PLAIN,
    );
    assert!(!shown.contains('\x1b'));
}

#[test]
fn pages_stay_small() {
    let hundred = of("sweep.json", &sweep(100));
    assert!(hundred.len() < 1 << 20, "{} bytes for 100 cases", hundred.len());
    let all = of("sweep.json", &sweep(500));
    assert!(all.len() < 5 << 20, "{} bytes for 500 cases", all.len());
    assert!(all.contains("transport24"));
}

#[test]
fn thresholds_and_windows_are_named() {
    let stepped = |size_bytes: u64| {
        if size_bytes <= 8192 {
            1000 + size_bytes
        } else {
            9000 + size_bytes / 4
        }
    };
    let sizes = run((3..20)
        .map(|exponent| {
            let size_bytes = 1u64 << exponent;
            result(
                case("tcp", Test::AmBw(stream(size_bytes, 64)), 1000),
                6,
                |index| {
                    one_way_stream(
                        size_bytes,
                        1000,
                        1000 * stepped(size_bytes) + u64::from(index) * 100,
                        5000.0,
                    )
                },
            )
        })
        .collect());
    let text = of("sizes.json", &sizes);
    assert!(text.contains("a threshold between 8 and 16 KiB"), "no threshold");
    let windows = run((0..9)
        .map(|exponent| {
            let window = 1u64 << exponent;
            let elapsed_ns = 1_000_000_000 / (window.min(20) * 1000);
            result(case("tcp", Test::AmBw(stream(64, window)), 1000), 6, |index| {
                one_way_stream(64, 1000, elapsed_ns + u64::from(index), 5000.0)
            })
        })
        .collect());
    assert!(of("windows.json", &windows).contains("a window of 32 is enough for 95 % of the best rate"));
}

#[test]
fn empty_and_failed_results_are_pages_too() {
    let empty = of("empty.json", &run(Vec::new()));
    assert!(empty.contains("Nothing was measured") && !empty.contains("<svg"));
    let many: Vec<Run> = (0..40).map(|_| run(Vec::new())).collect();
    let inputs: Vec<Input> = many.iter().map(|run| Input { name: "x", run }).collect();
    assert!(page(&inputs, "test").contains("40 results"));
}

#[test]
fn specifications_for_vega_lite_hold_the_same_points() {
    let example = example();
    for picture in pictures(&[Input {
        name: "x",
        run: &example,
    }]) {
        let specification = vega_lite(&picture.chart);
        let layers = specification["layer"].as_array().unwrap();
        let points: usize = picture
            .chart
            .series
            .iter()
            .map(|series| series.points.len())
            .sum();
        let values = |layer: &serde_json::Value| layer["data"]["values"].as_array().map_or(0, Vec::len);
        assert!(layers.iter().map(values).sum::<usize>() >= points);
        assert!(specification.to_string().find("null,").is_none() || points > 0);
    }
}

fn defined(size_bytes: u64, window_msgs: u64) -> Defined {
    Defined::new(size_bytes, window_msgs, Buffers::Single)
}

/// Eight pairs of ranks, of which the third is twice as slow.
fn pairs_of_ranks() -> Run {
    let mut case = case("tcp", Test::OsuMultiLat(defined(8, 1)), 200);
    case.ranks = (0..16u32)
        .map(|rank| {
            RankSpec::new(if rank < 8 { Role::Source } else { Role::Sink }).with_peer((rank + 8) % 16)
        })
        .collect();
    run(vec![result(case, 1, |_| {
        let pair = |number: u32| {
            let rtt_ns = if number == 2 { 2000.0 } else { 1000.0 };
            let [mut source, mut sink] = <[_; 2]>::try_from(ping_pong(8, 200, rtt_ns)).unwrap();
            (source.rank, sink.rank) = (number, number + 8);
            [source, sink]
        };
        (0..8).flat_map(pair).collect()
    })])
}

#[test]
fn the_slow_pair_stands_out_in_the_map() {
    let run = pairs_of_ranks();
    let text = of("pairs.json", &run);
    assert!(
        text.contains("pairs of ranks") && text.contains("The slowest is rank 2, rank 10"),
        "no map"
    );
    let cell = text
        .find("<title>rank 2, rank 10: 2.10")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        text[cell - 120..cell].contains("class=\"ws-h9\""),
        "{}",
        &text[cell - 120..cell]
    );
    assert_balanced(&text);
    let shown = whole(
        &[Input {
            name: "pairs.json",
            run: &run,
        }],
        &Style::PLAIN,
    );
    assert!(
        shown.contains("pairs of ranks") && shown.contains("2.101"),
        "{shown}"
    );
    let all = pictures(&[Input { name: "x", run: &run }]);
    let map = all.iter().find(|picture| picture.chart.heat.is_some()).unwrap();
    let specification = vega_lite(&map.chart);
    let squares = specification["layer"][0]["data"]["values"].as_array().unwrap();
    assert_eq!(
        (squares.len(), &specification["layer"][0]["mark"]),
        (8, &serde_json::json!("rect"))
    );
}

#[test]
fn loggp_is_told_with_its_residuals() {
    let windows = |window: u64, ns: fn(f64) -> f64| {
        (0..6u32).map(move |step| {
            let size = 8u64 << (2 * step);
            result(case("tcp", Test::OsuBw(defined(size, window)), 100), 1, |_| {
                let mut outcomes = one_way_stream(size, 100 * window, 1_000_000, 5000.0);
                outcomes[0].samples = vec![samples(SampleKind::Iteration, &[ns(size as f64); 100])];
                outcomes
            })
        })
    };
    // PRTT(1) = 6 µs + s/4 ns, and 15 further messages of 500 ns + s/4 ns each.
    let mut cases: Vec<CaseResult> = windows(1, |size| 6000.0 + size / 4.0).collect();
    cases.extend(windows(16, |size| {
        6000.0 + size / 4.0 + 15.0 * (500.0 + size / 4.0)
    }));
    let mut fitted = run(cases);
    let text = of("loggp.json", &fitted);
    assert!(text.contains("LogGP, gap between messages"), "no picture");
    assert!(
        text.contains("g = 50") && text.contains("G = 0.25 ns a byte"),
        "{}",
        &text[text.find("g = ").unwrap_or(0)..][..300]
    );
    assert!(text.contains("it is at most g"), "o invented");
    let mut flat = run(windows(1, |_| 6000.0).chain(windows(16, |_| 5000.0)).collect());
    let section = SweepSection {
        over: "loggp".into(),
        ..SweepSection::default()
    };
    flat.sections.put(&section);
    assert!(screen(&flat, &Style::PLAIN).contains("No parameters of LogGP"));
    fitted.sections.put(&section);
    let said = screen(&fitted, &Style::PLAIN);
    assert!(
        said.contains("g = 50") && !said.contains("No parameters"),
        "{said}"
    );
    let one_window: Vec<CaseResult> = windows(1, |size| 6000.0 + size / 4.0).collect();
    assert!(!of("one.json", &run(one_window)).contains("LogGP"));
}

#[test]
fn a_probed_threshold_says_whether_it_is_confirmed() {
    let stepped = |size: u64| {
        if size <= 8192 {
            1000 + size
        } else {
            9000 + size / 4
        }
    };
    let mut run = run((3..20)
        .map(|exponent| {
            let size = 1u64 << exponent;
            result(case("tcp", Test::AmBw(stream(size, 64)), 1000), 6, |index| {
                one_way_stream(size, 1000, 1000 * stepped(size) + u64::from(index) * 100, 5000.0)
            })
        })
        .collect());
    for (confirmed, said) in [
        (true, "between 8 and 16 KiB: confirmed."),
        (false, "between 8 and 16 KiB: not confirmed."),
    ] {
        let probe = Probe::new((8192, 16384), 1.9, (2.4, 2.6), confirmed).unwrap();
        let section = SweepSection {
            over: "size".into(),
            seed: 1,
            probes: vec![probe],
        };
        run.sections.put(&section);
        assert!(of("sweep.json", &run).contains(said), "{said}");
        assert_eq!(
            screen(&run, &Style::PLAIN).matches("Interleaved probes").count(),
            1
        );
    }
}

/// Documents whose figures contradict each other's units, or carry a unit nobody publishes.
#[test]
fn mixed_and_foreign_units_never_share_a_picture() {
    let mut mixed = example();
    for (number, case) in mixed.cases.iter_mut().enumerate() {
        let metric = case.metrics.values().next().cloned();
        case.metrics
            .extend(metric.map(|metric| ("rtt_p50_us".to_owned(), metric)));
        if number % 2 == 0 {
            case.metrics.remove("rtt_p50_ns");
        }
    }
    let text = of("mixed.json", &mixed);
    assert!(
        !text.contains("rtt_p50_us"),
        "a figure that nobody publishes is shown"
    );
    for picture in pictures(&[
        Input {
            name: "x",
            run: &mixed,
        },
        Input {
            name: "y",
            run: &example(),
        },
    ]) {
        let columns: Vec<&str> = picture
            .table
            .columns
            .iter()
            .map(|column| column.title.as_str())
            .collect();
        let columns = columns.join(" ");
        assert!(
            !(columns.contains("_ns") && columns.contains("_per_s")),
            "{columns}"
        );
    }
}

fn small_case(size: u64, n: u32, rtt_ns: f64) -> CaseResult {
    result(case("shm", am_lat(size), u64::from(n)), 1, |_| {
        ping_pong(size, n, rtt_ns)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_result_is_a_balanced_page(
        cases in prop::collection::vec((0u64..1 << 30, 1u32..300, 0.001..1e12f64), 0..8),
    ) {
        let run = run(cases.into_iter().map(|(size, n, rtt)| small_case(size, n, rtt)).collect());
        let text = of("any", &run);
        assert_balanced(&text);
        prop_assert!(!text.contains("NaN") && !text.contains("inf "));
    }
}
