//! Documents that are damaged in every way get the right typed error and a remedy.

use crate::fixture::example;
use wirespeed_report::render::{JsonForm, json};
use wirespeed_report::{ReadError, read_run};
use wirespeed_schema::version::DOCUMENT_VERSION;

fn text() -> String {
    json(&example(), JsonForm::Compact).unwrap()
}

fn error(bytes: &[u8]) -> ReadError {
    let error = read_run(bytes).unwrap_err();
    assert!(!error.to_string().contains('\n') && !error.remedy().is_empty());
    error
}

#[test]
fn what_was_written_reads_back() {
    for form in [JsonForm::Compact, JsonForm::Pretty] {
        assert_eq!(
            read_run(json(&example(), form).unwrap().as_bytes()).unwrap(),
            example()
        );
    }
}

#[test]
fn a_mark_that_an_editor_put_in_front_is_passed_over() {
    let marked = format!("\u{feff}{}", text());
    assert_eq!(read_run(marked.as_bytes()), read_run(text().as_bytes()));
    assert!(read_run(marked.as_bytes()).is_ok());
}

#[test]
fn every_cut_is_truncation() {
    let whole = text();
    for length in [0, 1, whole.len() / 3, whole.len() - 2] {
        let found = error(&whole.as_bytes()[..length]);
        assert!(matches!(found, ReadError::Truncated { .. }), "{length}: {found}");
    }
    // At every byte of each kind of number, where members are passed over, and on a later line.
    let numbers = r#"{"unknown": [-1, 0.5, 1e3, 2.5E+7, 3e-9], "cases": [-0.25],
 "document_version": "1.0", "later": {"x": -4.125e-3, "y": [true, null, "\u00e9"]}}"#;
    for length in 0..numbers.len() {
        let found = error(&numbers.as_bytes()[..length]);
        assert!(matches!(found, ReadError::Truncated { .. }), "{length}: {found}");
    }
    for wrong in ["[1.x", "[1.\n]", "[-,", "e", "[1]e", "{\"a\":1.}"] {
        let found = error(wrong.as_bytes());
        assert!(!matches!(found, ReadError::Truncated { .. }), "{wrong}: {found}");
    }
}

#[test]
fn foreign_bytes_are_told_apart() {
    assert!(matches!(error(b"hello"), ReadError::NotJson { .. }));
    assert!(matches!(error(b"\xff\xfe\x00"), ReadError::NotJson { .. }));
    for foreign in [
        "[]",
        "3",
        "{}",
        r#"{"document_version": 1}"#,
        r#"{"document_version": "1.0"}"#,
    ] {
        assert!(
            matches!(error(foreign.as_bytes()), ReadError::Foreign { .. }),
            "{foreign}"
        );
    }
    assert!(matches!(
        error(&b"[".repeat(100_000)),
        ReadError::NotJson { .. } | ReadError::Foreign { .. }
    ));
}

/// The text with another version, and whatever a later one may have added.
fn of_version(version: &str, added: &str) -> String {
    let ours = format!(r#""document_version":"{DOCUMENT_VERSION}""#);
    let theirs = format!(r#""document_version":"{version}"{added}"#);
    let changed = text().replacen(&ours, &theirs, 1);
    assert_ne!(changed, text());
    changed
}

#[test]
fn other_major_versions_are_refused() {
    for version in ["2.0", "0.9", "x", ""] {
        let found = error(of_version(version, "").as_bytes());
        let expected = ReadError::OtherVersion {
            version: version.into(),
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn newer_minor_versions_are_read_with_a_remark() {
    let text = of_version("1.77", r#","later":[1]"#);
    let run = read_run(text.as_bytes()).unwrap();
    assert_eq!(run.document_version, "1.77");
    let said: Vec<&str> = run.remarks.iter().map(|remark| remark.message.as_str()).collect();
    assert!(
        said.len() == 1 && said[0].contains("1.77") && said[0].contains(DOCUMENT_VERSION),
        "{said:?}"
    );
    // Written and read again it says so once.
    let again = read_run(json(&run, JsonForm::Compact).unwrap().as_bytes()).unwrap();
    assert_eq!(again, run);
}

/// A document as version 1.0 wrote it: it reads without a remark, and nothing is missing.
#[test]
fn older_documents_still_read() {
    let run = read_run(include_bytes!("../documents/run-1.0.json")).unwrap();
    assert_eq!((run.document_version.as_str(), run.remarks.len()), ("1.0", 0));
    assert_eq!(run.cases.len(), example().cases.len());
    assert!(run.cases.iter().all(|case| case.resampled.is_empty()));
    let first = &run.cases[0].metrics["rtt_p50_ns"];
    assert_eq!(first.value, example().cases[0].metrics["rtt_p50_ns"].value);
}

#[test]
fn damaged_members_are_named() {
    let overflow = text().replacen(r#""cost_ns":11.0"#, r#""cost_ns":1e999"#, 1);
    let not_a_number = text().replacen(r#""cost_ns":11.0"#, r#""cost_ns":null"#, 1);
    for damaged in [overflow, not_a_number] {
        assert_ne!(damaged, text());
        let found = error(damaged.as_bytes());
        assert!(
            matches!(found, ReadError::Malformed { .. } | ReadError::NotJson { .. }),
            "{found}"
        );
    }
    let mut run = example();
    run.cases[0].repetitions[0].outcomes[0].samples[0]
        .histogram
        .buckets[0]
        .0 = u32::MAX;
    let found = error(json(&run, JsonForm::Compact).unwrap().as_bytes());
    assert!(
        matches!(found, ReadError::Inconsistent { case: 0, rank: 0, .. }),
        "{found}"
    );
}
