//! Results of which nothing, one case, or only failures came, in every form that a result is shown in: a plain sentence each,
//! never a table without rows, never a panic.

use crate::{home, serve_file, turn};
use serde_json::{Value, json};
use wirespeed_report::Input;
use wirespeed_report::render::{CsvRows, Extent, Style, csv, markdown, text};
use wirespeed_report::view::{Part, View};
use wirespeed_schema::Run;
use wirespeed_tests::home::Home;

/// A result of each kind, as briefly as it can be had; `URL` is a file of a service.
const KINDS: [(&str, &str); 9] = [
    ("run", "run latency,am_bw --via inproc -n 200 --repeats 2"),
    ("quick", "quick --budget 2s --via inproc,shm"),
    (
        "sweep",
        "sweep --repeats 1 --points 4 -- am_bw --via inproc -n 100 --size 64..4K:x8",
    ),
    (
        "load",
        "load --repeats 1 --points 3 -- --via inproc -t 10ms --warmup 0",
    ),
    ("msgrate", "msgrate -t 10ms --ranks 2"),
    ("workers", "workers -w 2 --via shm -p 10,1000 -n 20"),
    ("mesh", "mesh --ranks 2 --repeats 1 -- am_lat --via shm -n 100"),
    (
        "session",
        "session --benchmarkPath=client_to_computation --requestMb=0 --bytes=1,1K --duration=0.1",
    ),
    ("byteio", "byteio bench URL --repeats 2"),
];

const REASON: &str = "the peer is gone";

/// What became of the cases.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    None,
    One,
    Failed,
    Skipped,
}

const STATES: [State; 4] = [State::None, State::One, State::Failed, State::Skipped];

/// `run` as if that had become of its cases.
fn altered(run: &Value, state: State) -> Value {
    let mut run = run.clone();
    let cases = run["cases"].as_array_mut().unwrap();
    match state {
        State::None => cases.clear(),
        State::One => cases.truncate(1),
        State::Failed | State::Skipped => {
            for case in cases {
                let status = if state == State::Failed {
                    "failed"
                } else {
                    "skipped"
                };
                case["status"] = status.into();
                case["error"] = REASON.into();
                case["metrics"] = json!({});
                case["repetitions"] = json!([]);
            }
        }
    }
    if state == State::Failed {
        run["status"] = "failed".into();
    }
    if state != State::One {
        // What these say was found with the cases.
        if let Some(sections) = run.get_mut("sections").and_then(Value::as_object_mut) {
            sections.retain(|name, _| ["quick", "sweep"].contains(&name.as_str()));
        }
    }
    run
}

/// The first paragraph, in one line.
fn answer(said: &str) -> String {
    let lines = said.lines().skip_while(|line| line.is_empty());
    let words: Vec<&str> = lines
        .take_while(|line| !line.is_empty())
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ")
}

fn assert_told(place: &str, state: State, said: &str) {
    let answer = answer(said);
    assert!(
        answer.split(' ').count() >= 3,
        "{place}: no sentence first:\n{said}"
    );
    assert!(
        !said.contains("panicked") && !said.contains("internal:"),
        "{place}:\n{said}"
    );
    if matches!(state, State::Failed | State::Skipped) {
        assert!(said.contains(REASON), "{place} does not say why:\n{said}");
    }
}

/// Every form that the library writes.
fn assert_forms(kind: &str, state: State, run: &Run) {
    let input = [Input { name: kind, run }];
    let view = View::of(&input);
    for subject in &view.subjects {
        for part in &subject.parts {
            if let Part::Table(table) = part {
                assert!(
                    !table.rows.is_empty(),
                    "{kind}, {state:?}: a table without rows: {table:?}"
                );
            }
        }
    }
    for width in [40, 80, 200] {
        let style = Style {
            width,
            ..Style::PLAIN
        };
        text(&view, Extent::WHOLE, &style);
    }
    assert_told(&format!("{kind}, {state:?}, Markdown"), state, &markdown(&view));
    let rows = csv(run, CsvRows::Cases).unwrap();
    // A mesh has a row a pair.
    let least = 1 + run.cases.len();
    assert!(rows.lines().count() >= least, "{kind}, {state:?}: {rows}");
}

/// Every verb that reads results.
fn assert_verbs(home: &Home, kind: &str, state: State, file: &str) {
    for verb in ["report", "explain"] {
        let ended = home.run(&format!("{verb} {file}")).code(0);
        assert_told(&format!("{verb} of {kind}, {state:?}"), state, &ended.stdout);
    }
    home.run(&format!("report {file} -o page.html")).code(0);
    let page = std::fs::read_to_string(home.path("page.html")).unwrap();
    assert!(
        !page.contains("<tbody></tbody>"),
        "{kind}, {state:?}: a table without rows"
    );
    let compared = home.run(&format!("compare {file} {file} --junit verdicts.xml"));
    match state {
        State::One => assert!(matches!(compared.code, Some(0 | 4 | 5)), "{compared}"),
        _ => {
            let (cause, remedy) = compared.code(5).complaint();
            assert!(cause.contains("no measured case"), "{kind}, {state:?}: {cause}");
            assert!(remedy.contains("at least one measured case"), "{remedy}");
        }
    }
}

#[test]
fn nothing_one_and_only_failures_are_a_sentence_each() {
    let _turn = turn();
    let home = home();
    let (_server, url) = serve_file(&home);
    for (kind, line) in KINDS {
        let line = format!("{} --json", line.replace("URL", &url));
        // Options stand before the words of a test.
        let line = match line.split_once(" -- ") {
            Some((verb, words)) => format!("{verb} --json -- {}", words.trim_end_matches(" --json")),
            None => line,
        };
        let ended = home.run(&line);
        assert!(matches!(ended.code, Some(0 | 3)), "{ended}");
        let run = ended.json();
        for state in STATES {
            let document = altered(&run, state);
            let file = format!("{kind}-{state:?}.json");
            home.write(&file, &document.to_string());
            let read = wirespeed_report::read_run(document.to_string().as_bytes()).unwrap();
            assert_forms(kind, state, &read);
            assert_verbs(&home, kind, state, &file);
        }
    }
}
