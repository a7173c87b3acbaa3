//! Charts as committed, and what holds for every chart.

use crate::golden::check;
use proptest::prelude::*;
use wirespeed_report::svg::{Axis, Chart, Look, Mark, Point, Scale, Series, Unit, style};

/// Bandwidth against size with intervals, two transports, a fit, the 95 % line and a threshold.
fn bandwidth() -> Chart {
    let sizes: Vec<f64> = (3..=20).map(|exponent| f64::from(exponent).exp2()).collect();
    let rate = |latency_ns: f64, per_s: f64| move |size: f64| size / (latency_ns * 1e-9 + size / per_s);
    let measured = |latency_ns: f64, per_s: f64| {
        let rate = rate(latency_ns, per_s);
        let points = sizes.iter().enumerate();
        points
            .map(|(index, &size)| {
                let y = rate(size) * (1.0 + 0.05 * ((index * 7 % 5) as f64 - 2.0) / 2.0);
                Point::within(size, y, y * 0.9, y * 1.12)
            })
            .collect::<Vec<_>>()
    };
    let fit = rate(4300.0, 9e9);
    Chart {
        title: "Bandwidth against message size".into(),
        description: "Two transports over 18 sizes.".into(),
        x: Axis::log("message size", Unit::BinaryBytes),
        y: Axis::log("bandwidth", Unit::Si("B/s")),
        series: vec![
            Series::new("unix", Look::Line, measured(4300.0, 9e9)),
            Series::new("tcp", Look::Line, measured(10_200.0, 3e9)),
            Series::new(
                "T = a + s/b of unix",
                Look::Fit,
                sizes.iter().map(|&size| Point::new(size, fit(size))).collect(),
            )
            .colored(0),
        ],
        marks: vec![
            Mark::Horizontal {
                y: 0.95 * fit(1048576.0),
                label: "95 % of the best".into(),
            },
            Mark::Vertical {
                x: 38_700.0,
                label: "n½ 37.8 KiB".into(),
            },
            Mark::Vertical {
                x: 65_536.0,
                label: "threshold 64 KiB".into(),
            },
        ],
        interval_label: "95 % interval of the median".into(),
        ..Chart::new("bandwidth")
    }
}

/// Time series with a shaded warm-up and many points.
fn series_in_time() -> Chart {
    let value =
        |at: usize| 2100.0 + 900.0 * (-(at as f64) / 300.0).exp() + f64::from((at as u32 * 7919) % 211);
    let points = (0..5000)
        .map(|at| Point::new(at as f64 * 1e6, value(at)))
        .collect();
    Chart {
        title: "Round trips in order of time".into(),
        x: Axis::linear("time since the start", Unit::Nanoseconds),
        y: Axis {
            from_zero: true,
            ..Axis::linear("round trip", Unit::Nanoseconds)
        },
        series: vec![Series::new("am_lat, 8 B", Look::Line, points)],
        marks: vec![
            Mark::Shade {
                from: 0.0,
                to: 6e8,
                label: "warm-up".into(),
            },
            Mark::Spot {
                x: 4.2e9,
                y: value(4200),
                label: "a label at a point".into(),
            },
        ],
        ..Chart::new("time")
    }
}

/// Points with bars and texts of their own at the vertical axis, as for a comparison.
fn comparison() -> Chart {
    let names = ["8 B", "4 KiB", "64 KiB", "1 MiB"];
    let point = |row: usize| {
        let ratio = 0.98 + 0.02 * row as f64;
        Point::within(ratio, row as f64, ratio - 0.015, ratio + 0.012)
    };
    Chart {
        title: "Ratio of medians, B to A".into(),
        x: Axis::linear("ratio", Unit::Plain),
        y: Axis {
            range: Some((-0.5, 3.5)),
            ticks: names
                .iter()
                .enumerate()
                .map(|(row, name)| (row as f64, (*name).to_owned()))
                .collect(),
            ..Axis::default()
        },
        series: vec![Series::new("ratio", Look::Across, (0..4).map(point).collect())],
        marks: vec![Mark::Vertical {
            x: 1.0,
            label: "same".into(),
        }],
        plot_height: 160,
        ..Chart::new("comparison")
    }
}

/// A histogram, two overlaid.
fn histogram() -> Chart {
    let steps = |shift: f64| {
        let bell = move |x: f64| 1000.0 * (-((x - shift) / 180.0).powi(2)).exp();
        (0..60)
            .map(|step| f64::from(step) * 50.0)
            .map(|x| Point::new(x, bell(x).floor()))
            .collect()
    };
    Chart {
        title: "A long title that has to be broken into two lines because it says everything about the histogram below, \
                and a little more"
            .into(),
        x: Axis::linear("round trip", Unit::Nanoseconds),
        y: Axis {
            from_zero: true,
            ..Axis::linear("samples", Unit::Si(""))
        },
        series: vec![
            Series::new("A", Look::Steps, steps(900.0)),
            Series::new("B", Look::Steps, steps(1400.0)),
        ],
        ..Chart::new("histogram")
    }
}

#[test]
fn charts_are_drawn_as_committed() {
    check("tests/golden/svg/bandwidth.svg", &bandwidth().standalone());
    check("tests/golden/svg/time.svg", &series_in_time().standalone());
    check("tests/golden/svg/comparison.svg", &comparison().standalone());
    check("tests/golden/svg/histogram.svg", &histogram().standalone());
    check("tests/golden/svg/empty.svg", &Chart::new("empty").standalone());
}

#[test]
fn a_page_holds_the_style_once() {
    let inline = bandwidth().inline();
    assert!(!inline.contains("<style>") && inline.starts_with("<svg ") && inline.ends_with("</svg>\n"));
    assert!(bandwidth().standalone().contains(&style()));
}

#[test]
fn readers_of_screens_hear_what_it_shows() {
    let text = bandwidth().inline();
    assert!(text.contains("role=\"img\" aria-labelledby=\"ws-bandwidth-title ws-bandwidth-desc\""));
    assert!(
        text.contains("<desc id=\"ws-bandwidth-desc\">Two transports over 18 sizes. unix: "),
        "{text}"
    );
}

#[test]
fn values_without_a_place_are_counted() {
    let chart = Chart {
        y: Axis::log("rate", Unit::Plain),
        series: vec![Series::new(
            "s",
            Look::Points,
            vec![
                Point::new(1.0, 0.0),
                Point::new(f64::NAN, 1.0),
                Point::new(1.0, 2.0),
            ],
        )],
        ..Chart::new("few")
    };
    assert!(chart.inline().contains("2 values cannot be shown on these axes."));
}

/// Events of an XML reader over `text`; panics when it is not well-formed or holds what could run or be fetched.
fn inspect(text: &str) {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => return,
            quick_xml::events::Event::Start(e) | quick_xml::events::Event::Empty(e) => {
                let name = String::from_utf8(e.name().as_ref().to_vec()).unwrap();
                let known = [
                    "svg", "title", "desc", "style", "clipPath", "rect", "text", "line", "path", "g",
                    "circle",
                ];
                assert!(known.contains(&name.as_str()), "{name}");
                for attribute in e.attributes() {
                    let attribute = attribute.unwrap();
                    let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                    assert!(!key.starts_with("on") && !key.contains("href"), "{key}");
                    let value = String::from_utf8(attribute.value.to_vec()).unwrap();
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{key}={value}");
                }
            }
            _ => {}
        }
    }
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let unit = prop::sample::select(vec![
        Unit::Plain,
        Unit::Si("B/s"),
        Unit::BinaryBytes,
        Unit::Nanoseconds,
        Unit::Percent,
    ]);
    let range = prop::option::of((any::<f64>(), any::<f64>()));
    (".{0,20}", any::<bool>(), unit, range, any::<bool>()).prop_map(|(label, log, unit, range, from_zero)| {
        Axis {
            label,
            scale: if log { Scale::Log } else { Scale::Linear },
            unit,
            range,
            from_zero,
            ..Axis::default()
        }
    })
}

fn any_series() -> impl Strategy<Value = Series> {
    let point = (
        any::<f64>(),
        any::<f64>(),
        prop::option::of((any::<f64>(), any::<f64>())),
    );
    let point = point.prop_map(|(x, y, interval)| Point { x, y, interval });
    let look = prop::sample::select(vec![
        Look::Line,
        Look::Points,
        Look::Across,
        Look::Fit,
        Look::Steps,
    ]);
    (".{0,60}", look, prop::collection::vec(point, 0..12))
        .prop_map(|(label, look, points)| Series::new(label, look, points))
}

fn any_mark() -> impl Strategy<Value = Mark> {
    prop_oneof![
        (any::<f64>(), ".{0,30}").prop_map(|(x, label)| Mark::Vertical { x, label }),
        (any::<f64>(), ".{0,30}").prop_map(|(y, label)| Mark::Horizontal { y, label }),
        (any::<f64>(), any::<f64>(), ".{0,30}").prop_map(|(x, y, label)| Mark::Spot { x, y, label }),
        (any::<f64>(), any::<f64>(), ".{0,30}").prop_map(|(from, to, label)| Mark::Shade { from, to, label }),
    ]
}

proptest! {
    // A chart of random series takes longest of all that is drawn at random: a quarter of the usual number is enough each time.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_chart_is_well_formed_and_harmless(
        words in (".{0,20}", ".{0,200}", ".{0,50}"),
        axes in (any_axis(), any_axis()),
        series in prop::collection::vec(any_series(), 0..8),
        marks in prop::collection::vec(any_mark(), 0..5),
        size in (0u32..3000, 0u32..2000),
    ) {
        let chart = Chart {
            title: words.1,
            description: words.2.clone(),
            x: axes.0,
            y: axes.1,
            series,
            marks,
            interval_label: words.2,
            width: size.0,
            plot_height: size.1,
            ..Chart::new(words.0)
        };
        inspect(&chart.standalone());
        prop_assert_eq!(chart.inline(), chart.inline());
    }
}

/// Names above their rows stand where lines do: they come last, with an edge of the background that no line shows through.
#[test]
fn names_on_the_plot_are_not_crossed_by_its_lines() {
    let names = (0..3).map(|row| {
        (
            f64::from(row),
            format!("a name that is too long to stand beside row {row}"),
        )
    });
    let chart = Chart {
        y: Axis {
            range: Some((-0.6, 2.4)),
            ticks: names.collect(),
            ..Axis::linear("", Unit::Plain)
        },
        series: vec![Series::new(
            "",
            Look::Across,
            (0..3).map(|row| Point::new(1.0, f64::from(row))).collect(),
        )],
        marks: vec![Mark::Vertical {
            x: 1.0,
            label: String::new(),
        }],
        ..Chart::new("forest")
    };
    let drawn = chart.standalone();
    let (line, name) = (drawn.rfind("class=\"ws-mark\""), drawn.find("class=\"ws-note\""));
    assert!(line.unwrap() < name.unwrap());
    let sheet = style();
    assert!(
        sheet.contains(".ws-note{stroke-width:5px;paint-order:stroke"),
        "{sheet}"
    );
    for background in ["#ffffff", "#14171c"] {
        let edge = sheet.lines().filter(|line| line.contains(".ws-note{fill:"));
        assert!(
            edge.clone()
                .any(|line| line.contains(&format!("stroke:{background}")))
        );
    }
}
