//! What charts answer agrees with what they draw, with the tables and with the words beside them; and what is copied from them
//! says what it is.

use crate::fixture::*;
use crate::mesh::made::{Made, document};
use wirespeed_report::Input;
use wirespeed_report::charts::{Picture, pictures};
use wirespeed_report::curve::section::{Probe, SweepSection};
use wirespeed_report::render::{Style, vega_lite};
use wirespeed_report::svg::{Mark, Unit};
use wirespeed_schema::Test;
use wirespeed_schema::mesh::{MeshCulprit, MeshSide, MeshVerdict};
use wirespeed_schema::run::Run;
use wirespeed_schema::test::Layout;

fn all(run: &Run) -> Vec<Picture> {
    pictures(&[Input { name: "x", run }])
}

/// The pictures whose subject contains `subject`.
fn about(run: &Run, subject: &str) -> Vec<Picture> {
    let mut found = all(run);
    found.retain(|picture| picture.chart.subject().contains(subject));
    assert!(!found.is_empty(), "no picture of {subject}");
    found
}

fn with_probes(mut run: Run, probes: Vec<Probe>) -> Run {
    run.sections.put(&SweepSection {
        over: "size".into(),
        seed: 1,
        probes,
    });
    run
}

/// Round trips over powers of two, which take a step above 8 KiB and another above 256 KiB.
fn stepped() -> Run {
    let time = |size: u64| match size {
        0..=8192 => 1000.0 + size as f64 / 8.0,
        8193..=262_144 => 9000.0 + size as f64 / 8.0,
        _ => 90_000.0 + size as f64 / 8.0,
    };
    run((3..25)
        .map(|exponent| {
            let size = 1u64 << exponent;
            result(case("tcp", am_lat(size), 400), 6, move |index| {
                ping_pong(size, 400, time(size) * (1.0 + 0.001 * f64::from(index)))
            })
        })
        .collect())
}

#[test]
fn answers_of_several_sizes_rise_as_the_sizes_do() {
    let sizes = [64u64, 256, 1 << 10, 4 << 10, 16 << 10];
    let cases = sizes.iter().flat_map(|&size| {
        [1u64, 2, 4].map(|window| {
            result(case("tcp", Test::AmBw(stream(size, window)), 100), 1, move |_| {
                one_way_stream(size, 100, 1_000_000 * size / window, 5000.0)
            })
        })
    });
    let found = about(&run(cases.collect()), "rate against window");
    let subjects: Vec<String> = found
        .iter()
        .map(|picture| picture.chart.subject().to_owned())
        .collect();
    let named = ["64 B", "256 B", "1 KiB", "4 KiB", "16 KiB"]
        .map(|size| format!("rate against window: tcp am_bw {size}"));
    assert_eq!(subjects, named);
}

/// Two cases of one size and window are points of two curves, whatever they differ in, and never one curve of the better of both.
#[test]
fn what_differs_beside_the_size_is_a_curve_of_its_own() {
    let at = |size: u64, layout, rtt_ns: f64| {
        let mut found = result(case("tcp", am_lat(size), 400), 6, move |index| {
            ping_pong(size, 400, rtt_ns * (1.0 + 0.001 * f64::from(index)))
        });
        let Test::AmLat(test) = &mut found.case.test else {
            panic!("no ping-pong");
        };
        test.layout = layout;
        found
    };
    let sizes = [8u64, 64, 512, 4096];
    let curves = |layouts: &[Layout]| {
        let of = |size: &u64| {
            layouts
                .iter()
                .map(|layout| at(*size, *layout, *size as f64))
                .collect::<Vec<_>>()
        };
        let cases = sizes.iter().flat_map(of).collect();
        let picture = about(&run(cases), "latency against message size").remove(0);
        let measured = picture.table.rows.iter().map(|row| row.cells[0].clone());
        measured
            .collect::<std::collections::BTreeSet<String>>()
            .into_iter()
            .collect::<Vec<String>>()
    };
    assert_eq!(curves(&[Layout::Short]), ["tcp am_lat"]);
    assert_eq!(
        curves(&[Layout::Short, Layout::Bcopy]),
        ["tcp am_lat layout bcopy", "tcp am_lat layout short"]
    );
    // The same again, as the arms of a control are.
    assert_eq!(
        curves(&[Layout::Short, Layout::Short]),
        ["tcp am_lat", "tcp am_lat (2)"]
    );
}

/// Each result's probes are of its own curves.
#[test]
fn a_threshold_confirmed_in_one_result_is_not_claimed_for_another() {
    let probes = |confirmed| {
        with_probes(
            stepped(),
            vec![Probe::new((8192, 16384), 1.5, (1.4, 1.6), confirmed).unwrap()],
        )
    };
    let (yes, no) = (probes(true), probes(false));
    let inputs = [("yes", &yes), ("no", &no)].map(|(name, run)| Input { name, run });
    let words: Vec<String> = pictures(&inputs)
        .into_iter()
        .flat_map(|picture| picture.answer)
        .collect();
    let of = |name: &str| {
        words
            .iter()
            .filter(|text| text.starts_with(name) && text.contains("confirmed threshold"))
            .count()
    };
    assert!(of("yes: ") > 0, "{words:?}");
    assert_eq!(of("no: "), 0, "{words:?}");
}

/// The values of every chart of a page, as rows of fields.
fn copied(page: &str) -> Vec<Vec<Vec<String>>> {
    let blocks = page.split("<pre class=\"csv\" id=\"chart-").skip(1);
    let charts = blocks.map(|block| block.split_once('>').unwrap().1.split("</pre>").next().unwrap());
    charts
        .map(|text| {
            let mut reader = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(text.as_bytes());
            let rows = reader.records().map(|row| row.unwrap());
            rows.map(|row| row.iter().map(str::to_owned).collect()).collect()
        })
        .collect()
}

#[test]
fn shares_are_shares_in_everything_that_is_made_of_a_percentile_chart() {
    let document = example();
    let page = page(
        &[Input {
            name: "x",
            run: &document,
        }],
        "test",
    );
    let tables = copied(&page);
    let mut percentiles = tables.iter().filter(|rows| {
        rows[0]
            .iter()
            .any(|name| name.starts_with("share of the samples"))
    });
    let rows = percentiles.next().unwrap();
    assert_eq!(percentiles.count(), 0);
    let shares: Vec<f64> = rows[1..].iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(
        shares.iter().all(|share| (0.0..1.0).contains(share)),
        "{shares:?}"
    );
    for named in [0.1, 0.5, 0.9, 0.99] {
        assert!(shares.contains(&named), "{named} in {shares:?}");
    }
    let picture = about(&document, "latency by percentile").remove(0);
    assert_eq!(picture.chart.x.unit, Unit::Beyond);
    let svg = picture.chart.standalone();
    assert!(
        svg.contains(": 90 %, ") && svg.contains(": 99 %, "),
        "no shares to point at"
    );
    let specification = vega_lite(&picture.chart);
    for layer in specification["layer"].as_array().unwrap() {
        let values = layer["data"]["values"].as_array().unwrap();
        let shares = values.iter().map(|value| value["x"].as_f64().unwrap());
        assert!(shares.into_iter().all(|share| (0.0..1.0).contains(&share)));
        let place = layer["transform"][0]["as"].as_str().unwrap();
        assert_eq!(layer["encoding"]["x"]["field"].as_str().unwrap(), place);
    }
}

#[test]
fn a_percentile_chart_has_one_figure_for_title_table_and_words() {
    let trips = |transport: &str, rtt_ns: f64| {
        result(case(transport, am_lat(8), 400), 1, move |_| {
            ping_pong(8, 400, rtt_ns)
        })
    };
    let document = run(vec![trips("shm", 180.0), trips("tcp", 8400.0)]);
    let picture = about(&document, "latency by percentile").remove(0);
    let title = &picture.chart.title;
    let (column, _) = (
        5,
        assert!(
            title.starts_with("p99: shm am_lat 8 B is the fastest with "),
            "{title}"
        ),
    );
    for (row, words) in picture.table.rows.iter().zip(&picture.words) {
        let figure = &row.cells[column];
        assert!(title.contains(figure.as_str()), "{figure}: {title}");
        assert!(
            words.contains(&format!("took longer than {figure};")),
            "{figure}: {words}"
        );
    }
}

/// The figure of several runs is another than the percentile of all their samples.
#[test]
fn a_percentile_chart_says_whose_samples_it_shows_and_claims_no_order_beyond_them() {
    let trips = |transport: &str, rtt_ns: f64| {
        result(case(transport, am_lat(8), 400), 3, move |_| {
            ping_pong(8, 400, rtt_ns)
        })
    };
    let title = |cases| about(&run(cases), "latency by percentile").remove(0).chart.title;
    let apart = title(vec![trips("shm", 180.0), trips("tcp", 8400.0)]);
    let level = title(vec![trips("shm", 8400.0), trips("tcp", 8400.0)]);
    assert!(
        apart.starts_with("p99 of all runs together: shm am_lat 8 B is the fastest with "),
        "{apart}"
    );
    assert!(level.ends_with("are too close to call"), "{level}");
}

#[test]
fn a_title_claims_no_order_that_the_intervals_leave_open() {
    let (mut apart, tie) = (example(), |run: &mut Run, tag: &str| {
        for metric in run.cases.iter_mut().filter_map(|case| case.metrics.get_mut(tag)) {
            (metric.lower, metric.upper) = (Some(finite(1.0)), Some(finite(1e12)));
        }
    });
    for (subject, tag, alone) in [
        ("every transport", "rtt_p50_ns", " is the fastest with "),
        (
            "bandwidth against message size",
            "bandwidth_bytes_per_s",
            " reaches most, ",
        ),
    ] {
        let title = |run: &Run| about(run, subject).remove(0).chart.title;
        assert!(title(&apart).contains(alone), "{}", title(&apart));
        tie(&mut apart, tag);
        let tied = title(&apart);
        assert!(
            !tied.contains(alone) && tied.ends_with("are too close to call"),
            "{tied}"
        );
    }
}

#[test]
fn a_sweep_marks_and_names_the_thresholds_that_probes_confirm_and_no_others() {
    let probe = |above: u64, confirmed| Probe::new((above, 2 * above), 1.9, (2.4, 2.6), confirmed).unwrap();
    let marks = |run: &Run| -> Vec<String> {
        let picture = about(run, "latency against message size").remove(0);
        let labels = picture.chart.marks.into_iter().filter_map(|mark| match mark {
            Mark::Vertical { label, .. } => Some(label),
            _ => None,
        });
        labels.collect()
    };
    let said = |run: &Run| {
        let picture = about(run, "latency against message size").remove(0);
        (picture.chart.title.clone(), picture.words.join("\n"))
    };
    let unprobed = stepped();
    assert_eq!(marks(&unprobed), ["above 8 KiB", "above 256 KiB"]);
    let (title, words) = said(&unprobed);
    assert!(words.contains("a threshold between 256 and 512 KiB"), "{words}");
    assert!(!title.contains("threshold"), "{title}");

    let one = with_probes(stepped(), vec![probe(8192, true), probe(262_144, false)]);
    assert_eq!(marks(&one), ["above 8 KiB, confirmed"]);
    let (title, words) = said(&one);
    assert!(
        title.ends_with("; confirmed threshold between 8 and 16 KiB"),
        "{title}"
    );
    assert!(!words.contains("threshold"), "{words}");
    let answer = screen(&one, &Style::PLAIN);
    assert!(
        answer.contains("confirmed threshold between 8 and 16 KiB."),
        "{answer}"
    );

    // One that the shape of the curve does not show is a threshold, too, where the probes confirm it.
    let two = with_probes(stepped(), vec![probe(8192, true), probe(65_536, true)]);
    assert_eq!(marks(&two), ["above 8 KiB, confirmed", "above 64 KiB, confirmed"]);
    let (title, _) = said(&two);
    assert!(
        title.ends_with("; confirmed thresholds between 8 and 16 KiB and between 64 and 128 KiB"),
        "{title}"
    );
    let none = with_probes(stepped(), vec![probe(8192, false)]);
    assert!(marks(&none).is_empty() && !said(&none).0.contains("threshold"));
    // Those of another sweep say nothing of this one.
    let others = with_probes(stepped(), vec![probe(9000, true)]);
    assert_eq!(marks(&others), marks(&unprobed));
}

#[test]
fn three_sizes_are_too_few_and_not_a_bad_fit() {
    let mut few = stepped();
    few.cases.truncate(3);
    let words = about(&few, "latency against message size")
        .remove(0)
        .words
        .join("\n");
    assert!(
        words.contains("3 sizes are too few for a line T = a + s/b; it takes 4"),
        "{words}"
    );
    assert!(!words.contains("residuals"), "{words}");
}

#[test]
fn every_chart_of_a_mesh_answers_and_names_its_hosts() {
    for (latency, hosts) in [(true, 8), (false, 8), (false, 80)] {
        let made = Made {
            latency,
            ..Made::of(hosts).slow(3, 0.5)
        };
        let run = made.run();
        let quantity = if latency { "latency" } else { "bandwidth" };
        let of_hosts = about(&run, "of each host over that of the median host").remove(0);
        let title = &of_hosts.chart.title;
        assert!(
            title.starts_with(&format!("The {quantity} of every host is ")),
            "{title}"
        );
        let points = of_hosts.chart.series.iter().flat_map(|series| &series.points);
        let (least, greatest) = points.fold((f64::MAX, f64::MIN), |(least, greatest), point| {
            (least.min(point.y), greatest.max(point.y))
        });
        assert!(
            title.contains(&format!(" {least:.2} to {greatest:.2} times that")),
            "{title}"
        );
        let svg = of_hosts.chart.inline();
        let level = svg.split("text-anchor=\"middle\">").skip(1);
        let ticks = level.map(|text| text.split('<').next().unwrap());
        let ticks: Vec<f64> = ticks.filter_map(|text| text.parse().ok()).collect();
        assert!(ticks.iter().all(|number| number.fract() == 0.0), "{ticks:?}");
        assert_eq!(ticks.is_empty(), hosts <= 64);
        let names = of_hosts.chart.x.ticks.iter().map(|(_, name)| name);
        for name in names {
            assert!(svg.matches(&format!(">{name}<")).count() >= 2, "{name}");
        }
        let pairs = about(&run, &format!("{quantity} of the pairs")).remove(0);
        let drawn = pairs.chart.series.iter().flat_map(|series| &series.points);
        let drawn: f64 = drawn.map(|point| point.y).sum();
        assert_eq!(drawn, f64::from(hosts * (hosts - 1)), "each pair is in one bar");
        let title = &pairs.chart.title;
        assert!(
            title.contains("with a median of") && title.contains(" -> "),
            "{title}"
        );
    }
}

#[test]
fn a_chart_of_hosts_names_slow_units_and_counts_the_slow_hosts_that_it_does_not_name() {
    let made = Made {
        unit: 4,
        ..Made::of(16)
    };
    let verdict = |culprit| MeshVerdict {
        culprit,
        ..made.verdict(0, 0.5)
    };
    let title = |culprits: Vec<MeshCulprit>| {
        let mut section = made.section();
        section.probes[0].verdicts = culprits.into_iter().map(verdict).collect();
        let run = document(section, vec![made.case()]);
        let of_hosts = about(&run, "of each host over that of the median host").remove(0);
        of_hosts.chart.title
    };
    let side = MeshSide::Sends;
    let host = |host| MeshCulprit::Host { host, side };
    let unit = title(vec![MeshCulprit::Unit { unit: 2, side }]);
    assert!(unit.ends_with("; slow: rack2"), "{unit}");
    let many = title((4..12).map(host).collect());
    let named: Vec<String> = (4..10).map(|host| format!("node{host}")).collect();
    assert!(
        many.ends_with(&format!("; slow: {} and 2 more", named.join(", "))),
        "{many}"
    );
}

#[test]
fn copied_values_have_names_for_their_columns_and_their_rows() {
    let mut probed = with_probes(stepped(), Vec::new());
    let mut documents = vec![example(), stepped()];
    probed.cases.truncate(4);
    documents.push(probed);
    documents.push(run(vec![result(
        case("tcp", Test::AmBw(stream(8, 64)), 1000),
        2,
        |_| one_way_stream(8, 1000, 1_000_000, 5000.0),
    )]));
    for document in &documents {
        let page = page(
            &[Input {
                name: "x",
                run: document,
            }],
            "test",
        );
        for rows in copied(&page) {
            let columns = &rows[0];
            for (at, column) in columns.iter().enumerate() {
                assert!(!["", "x", "y"].contains(&column.as_str()), "{columns:?}");
                let is_interval = ["lower", "upper"].contains(&column.as_str());
                let filled = rows[1..].iter().filter(|row| !row[at].is_empty()).count();
                let least = if is_interval { 1 } else { rows.len() - 1 };
                assert!(filled >= least, "{column} of {columns:?}");
            }
        }
    }
    let page = page(
        &[Input {
            name: "x",
            run: &documents[0],
        }],
        "test",
    );
    let ladder = copied(&page).remove(0);
    assert_eq!(ladder[0], ["median latency (ns)", "case", "lower", "upper"]);
    assert_eq!(ladder[1][1], "shm am_lat 8 B");
}
