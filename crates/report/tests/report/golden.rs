//! Committed documents and their renderings. `WIRESPEED_BLESS=1 cargo test -p wirespeed-report` writes them anew.

use crate::fixture::{example, screen};
use std::path::PathBuf;
use wirespeed_report::render::{CsvRows, JsonForm, Style, csv, json};
use wirespeed_report::{read_run, schema_json};

/// Compare with the committed file, or write it when asked to.
pub fn check(path: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("WIRESPEED_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{} differs from what the code gives; if that is meant, run with WIRESPEED_BLESS=1 and look at the change.\n{text}",
        path.display()
    );
}

const NARROW: Style = Style {
    width: 60,
    color: false,
    unicode: false,
};

#[test]
fn the_example_renders_as_committed() {
    check(
        "tests/golden/run.json",
        &json(&example(), JsonForm::Pretty).unwrap(),
    );
    check("tests/golden/table.txt", &screen(&example(), &Style::PLAIN));
    check("tests/golden/table_narrow.txt", &screen(&example(), &NARROW));
    check(
        "tests/golden/cases.csv",
        &csv(&example(), CsvRows::Cases).unwrap(),
    );
    check(
        "tests/golden/repetitions.csv",
        &csv(&example(), CsvRows::Repetitions).unwrap(),
    );
    let mut single = example();
    single.cases.truncate(1);
    check("tests/golden/table_single.txt", &screen(&single, &Style::PLAIN));
    let mut single = example();
    single.cases = vec![single.cases.swap_remove(2)];
    check("tests/golden/table_stream.txt", &screen(&single, &Style::PLAIN));
}

/// The committed document, not a value made by today's code: a change that cannot read it breaks readers of old files.
#[test]
fn the_committed_document_reads_and_renders() {
    let run = read_run(include_bytes!("../golden/run.json")).unwrap();
    assert_eq!(screen(&run, &Style::PLAIN), include_str!("../golden/table.txt"));
    assert_eq!(
        json(&run, JsonForm::Pretty).unwrap(),
        include_str!("../golden/run.json")
    );
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    check("../../docs/run.schema.json", &schema_json());
}

#[test]
fn the_committed_document_follows_the_schema_and_damaged_ones_do_not() {
    let schema: serde_json::Value = serde_json::from_str(&schema_json()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let document: serde_json::Value = serde_json::from_str(include_str!("../golden/run.json")).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for (pointer, value) in [
        ("/status", serde_json::json!("splendid")),
        ("/duration_ns", serde_json::json!("1s")),
        ("/cases/0/metrics/rtt_p50_ns/value", serde_json::json!(null)),
        ("/cases/0/size_bytes", serde_json::json!(-1)),
        ("/cases/0/case/test", serde_json::json!("no_such_test")),
    ] {
        let mut damaged = document.clone();
        let Some(member) = damaged.pointer_mut(pointer) else {
            continue;
        };
        *member = value;
        assert!(!validator.is_valid(&damaged), "{pointer}");
    }
}
