//! Documents that are damaged in every way get the right typed error and a remedy.

use crate::fixture::example;
use wirespeed_report::render::{JsonForm, json};
use wirespeed_report::{ReadError, read_run};

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
fn every_cut_is_truncation() {
    let whole = text();
    for length in [0, 1, whole.len() / 3, whole.len() - 2] {
        let found = error(&whole.as_bytes()[..length]);
        assert!(matches!(found, ReadError::Truncated { .. }), "{length}: {found}");
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

#[test]
fn other_major_versions_are_refused_and_newer_minor_ones_read() {
    let newer = text().replacen(r#""document_version":"1.0""#, r#""document_version":"2.0""#, 1);
    assert_eq!(
        error(newer.as_bytes()),
        ReadError::OtherVersion {
            version: "2.0".into()
        }
    );
    let minor = text().replacen(
        r#""document_version":"1.0""#,
        r#""document_version":"1.7","later":[1]"#,
        1,
    );
    assert_eq!(read_run(minor.as_bytes()).unwrap().document_version, "1.7");
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
