//! Every kind of result has an answer, comes first in every form, and fits every terminal.

use crate::fixture::*;
use wirespeed_report::Input;
use wirespeed_report::audit::violations;
use wirespeed_report::compare::{Question, compare};
use wirespeed_report::curve::section::{LoadSection, SweepSection};
use wirespeed_report::interference::{Arms, Interference, Loaded};
use wirespeed_report::render::{CsvRows, Extent, Style, csv, markdown, text};
use wirespeed_report::table::Table;
use wirespeed_report::view::{Part, QuickSection, Subject, View};
use wirespeed_schema::Test;
use wirespeed_schema::run::{CaseResult, CaseStatus, Run, Status};
use wirespeed_schema::section::Section;
use wirespeed_schema::shown::is_obeyed;

/// The example with a section.
fn with(section: &impl Section) -> Run {
    let mut document = example();
    document.sections.put(section);
    document
}

/// A result of each kind that this crate can make by itself, and what its answer must name.
fn kinds() -> Vec<(&'static str, Run, &'static str)> {
    let mut one = example();
    one.cases.truncate(1);
    let (a, b) = (example(), example());
    let compared = compare(("a", &a), ("b", &b), &Question::default(), 0.02).unwrap();
    let loaded = Loaded {
        load: "cpu".to_owned(),
        place: "same".to_owned(),
    };
    let side = |rtt_ns: f64| {
        result(case("tcp", am_lat(8), 4000), 8, move |index| {
            ping_pong(8, 4000, rtt_ns * (1.0 + 0.001 * f64::from(index)))
        })
    };
    let arms = Arms {
        off: side(1000.0),
        on: vec![(loaded, side(3000.0)).into()],
    };
    let mut disturbed = run(vec![arms.off.clone(), arms.on[0].result.clone()]);
    let found = Interference::judged(&[arms], 1, 8);
    disturbed.sections.put(&found);
    vec![
        ("several cases", example(), "RTT p50 of 2 cases"),
        ("one case", one, "shm am_lat 8 B: RTT p50"),
        ("quick", with(&QuickSection::default()), "Shortest round trip"),
        ("sweep", with(&SweepSection::default()), "still rises"),
        ("load", with(&LoadSection::default()), ""),
        ("comparison", with(&compared), "B against A"),
        ("interference", disturbed, "times that without load"),
    ]
}

/// What would move the cursor, change the title, turn the text around or be computed.
const HOSTILE: &str = "=1+2\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\r\u{202e}\u{200f}\u{2066}\u{2069}\u{feff}";
/// Names and sentences that somebody else may have written into a document.
const FROM_OUTSIDE: [&str; 13] = [
    "transport",
    "error",
    "message",
    "remedy",
    "kernel",
    "cpu_model",
    "hypervisor",
    "name",
    "label",
    "load",
    "title",
    "unavailable",
    "next",
];

fn poison(value: &mut serde_json::Value, named: bool) {
    use serde_json::Value;
    match value {
        Value::String(text) if named => text.insert_str(0, HOSTILE),
        Value::Array(all) => all.iter_mut().for_each(|one| poison(one, named)),
        Value::Object(all) => {
            for (key, value) in all {
                poison(value, FROM_OUTSIDE.contains(&key.as_str()));
            }
        }
        _ => {}
    }
}

#[test]
fn names_from_outside_reach_no_screen_page_or_table_as_they_are() {
    for (kind, document, _) in kinds() {
        let mut value = serde_json::to_value(&document).unwrap();
        poison(&mut value, false);
        let run: Run = serde_json::from_value(value).unwrap();
        let input = [Input {
            name: HOSTILE,
            run: &run,
        }];
        let view = View::of(&input);
        let mut forms = vec![("Markdown", markdown(&view)), ("page", page(&input, "test"))];
        for width in [40, 100] {
            let style = Style {
                width,
                ..Style::PLAIN
            };
            forms.push(("text", text(&view, Extent::WHOLE, &style)));
        }
        for rows in [CsvRows::Cases, CsvRows::Repetitions] {
            let written = csv(&run, rows).unwrap();
            let is_formula = |field: &str| field.trim_matches('"').starts_with("=1+2");
            assert!(!written.split(',').any(is_formula), "{kind}: {written}");
            forms.push(("CSV", written.replace("\r\n", "\n")));
        }
        for (form, text) in forms {
            assert!(text.contains("1+2"), "{kind}, {form}: the names are there");
            let obeyed = text.chars().find(|c| *c != '\n' && is_obeyed(*c));
            assert_eq!(obeyed, None, "{kind}, {form}");
        }
    }
}

#[test]
fn the_answer_is_first_in_every_form_and_every_screen_fits() {
    for (kind, document, named) in kinds() {
        let said = screen(&document, &Style::PLAIN);
        let first: String = said
            .split("\n\n")
            .next()
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(first.contains(named), "{kind}: {said}");
        assert_eq!(violations(&document), Vec::<String>::new(), "{kind}");
    }
}

/// The words of a text, whatever lines it was broken into.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn at_every_width_a_table_keeps_what_matters_and_names_what_it_leaves_out() {
    for (kind, document, _) in kinds() {
        let input = [Input {
            name: kind,
            run: &document,
        }];
        let parts = View::of(&input).subjects.remove(0).parts;
        let tables = parts.into_iter().filter_map(|part| match part {
            Part::Table(table) => Some(table),
            _ => None,
        });
        for table in tables {
            for width in [40, 60, 80, 120] {
                let style = Style {
                    width,
                    ..Style::PLAIN
                };
                let subject = Subject {
                    parts: vec![Part::Table(table.clone())],
                    ..Subject::default()
                };
                let view = View {
                    subjects: vec![subject],
                    ..View::default()
                };
                let shown = text(&view, Extent::WHOLE, &style);
                keeps(&table, &shown, width, kind);
            }
        }
    }
}

/// Essential columns are there, and a column is either there or named as left out.
fn keeps(table: &Table, shown: &str, width: usize, kind: &str) {
    let joined = words(shown).join(" ");
    let (body, left_out) = match joined.split_once(&format!("left out at {width} columns: ")) {
        Some((body, names)) => (body, names.split(", ").collect()),
        None => (joined.as_str(), Vec::new()),
    };
    for (index, column) in table.columns.iter().enumerate() {
        let cells = || table.rows.iter().map(|row| row.cells[index].as_str());
        let is_essential = column.key || column.priority == 0;
        // Notes follow the last name.
        let is_out = left_out.iter().any(|name| name.starts_with(&column.title)) && !is_essential;
        let missing = cells().flat_map(words).find(|word| !body.contains(word));
        assert!(
            is_out || missing.is_none(),
            "{kind} at {width}: {missing:?}\n{shown}"
        );
        assert!(
            !left_out.contains(&column.title.as_str()) || !is_essential,
            "{kind} at {width}: {}\n{shown}",
            column.title
        );
    }
}

#[test]
fn nothing_measured_is_said_in_a_sentence() {
    let empty = run(Vec::new());
    assert_eq!(
        screen(&empty, &Style::PLAIN),
        "Nothing was measured: the result has no case.\n"
    );
    let mut refused = run(Vec::new());
    refused.status = Status::Refused;
    refused.error = Some("one session at a time".into());
    // The reason is said once.
    assert_eq!(
        screen(&refused, &Style::PLAIN),
        "the run was refused: one session at a time\n"
    );
    assert!(
        markdown(&View::of(&[Input {
            name: "x",
            run: &refused
        }]))
        .contains("one session at a time")
    );
}

#[test]
fn a_reason_that_the_answer_has_is_said_once() {
    let one = CaseResult {
        status: CaseStatus::Failed,
        error: Some("nobody listens there".into()),
        remedy: Some("start a server".into()),
        metrics: Default::default(),
        ..example().cases[0].clone()
    };
    let shown = screen(&run(vec![one.clone()]), &Style::PLAIN);
    assert_eq!(shown.matches("nobody listens there").count(), 1, "{shown}");
    assert!(
        shown.starts_with("Nothing was measured: nobody listens there.\n"),
        "{shown}"
    );
    assert!(shown.contains(": failed\n  remedy: start a server"), "{shown}");
    let other = CaseResult {
        status: CaseStatus::Skipped,
        error: Some("no device".into()),
        ..one.clone()
    };
    let shown = screen(&run(vec![one, other]), &Style::PLAIN);
    assert!(
        shown.starts_with("Nothing was measured: cases failed (1) or were skipped (1).\n"),
        "{shown}"
    );
    assert!(
        shown.contains("skipped: no device") && shown.contains("failed: nobody listens there"),
        "{shown}"
    );
}

#[test]
fn remarks_with_one_remedy_are_one_cause_and_the_rest_is_counted() {
    let view = View::of(&[Input {
        name: "x",
        run: &example(),
    }]);
    let (few, all) = (
        text(&view, Extent::SCREEN, &Style::PLAIN),
        text(
            &view,
            Extent {
                remarks: true,
                ..Extent::SCREEN
            },
            &Style::PLAIN,
        ),
    );
    let remarks = view.subjects[0].remarks.len();
    let codes = |text: &str| {
        view.subjects[0]
            .remarks
            .iter()
            .filter(|told| text.contains(&told.remark.code))
            .count()
    };
    assert_eq!(codes(&all), remarks, "{all}");
    assert!(
        codes(&few) <= remarks && few.matches("remedy:").count() <= 3,
        "{few}"
    );
    // A remark about some cases names them.
    assert!(
        few.contains("; in 3 of 10 cases") && few.contains("  in: shm am_lat 8 B"),
        "{few}"
    );
}

#[test]
fn all_transports_of_a_machine_are_one_chart() {
    let transports = ["inproc", "shm", "unix", "tcp", "udp", "uct", "ucp", "mpi"];
    let mut cases = Vec::new();
    for transport in transports {
        for size in [8, 64, 512] {
            let test = Test::AmBw(stream(size, 8));
            cases.push(result(case(transport, test, 1000), 1, |_| {
                one_way_stream(size, 1000, 1_000_000 + size, 5_000.0)
            }));
        }
    }
    let view = View::of(&[Input {
        name: "x",
        run: &run(cases),
    }]);
    let curves = view.charts.iter().filter(|picture| picture.is_curve);
    assert_eq!(curves.count(), 1);
}

#[test]
fn a_window_of_one_is_said_beside_larger_ones() {
    let of = |windows: &[u64]| {
        let streams = windows.iter().map(|window| {
            let case = case("tcp", Test::AmBw(stream(64, *window)), 1000);
            result(case, 1, |_| one_way_stream(64, 1000, 1_000_000, 5000.0))
        });
        screen(
            &run(streams.collect()),
            &Style {
                width: 100,
                ..Style::PLAIN
            },
        )
    };
    let both = of(&[1, 2]);
    let begins = |number: &str| both.lines().any(|line| line.trim_start().starts_with(number));
    assert!(begins("1  ") && begins("2  "), "{both}");
    let heads = |screen: &str| {
        screen
            .lines()
            .any(|line| line.contains("layout") && line.contains("window"))
    };
    assert!(!heads(&of(&[1])), "one at a time needs no word");
}
