//! One threshold a concept, in one place: no other file that makes sentences compares with a number of its own.

use std::path::{Path, PathBuf};

/// Folders and files whose sentences, remarks and verdicts depend on thresholds.
const PLACES: [&str; 11] = [
    "charts",
    "checks",
    "curve",
    "explain",
    "explain.rs",
    "interference",
    "interference.rs",
    "compare",
    "byteio/verdict.rs",
    "view",
    "workers/rows.rs",
];

fn sources(place: &Path, found: &mut Vec<PathBuf>) {
    if place.is_file() {
        // What tests compare with is no threshold.
        found.extend((!place.ends_with("tests.rs")).then(|| place.to_owned()));
        return;
    }
    for entry in std::fs::read_dir(place).unwrap_or_else(|e| panic!("{}: {e}", place.display())) {
        sources(&entry.unwrap().path(), found);
    }
}

/// Numbers with a point that a line compares with, or multiplies a value of a comparison by. 0, 1, 2 and 100 are arithmetic.
fn compared(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || "(),;{}".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let compares = words.iter().any(|word| ["<", ">", "<=", ">="].contains(word));
    let number = |word: &&&str| {
        word.parse::<f64>()
            .is_ok_and(|number| ![0.0, 1.0, 2.0, 100.0].contains(&number))
            && word.contains('.')
    };
    match compares {
        true => words.iter().filter(number).copied().collect(),
        false => Vec::new(),
    }
}

#[test]
fn thresholds_are_named_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for place in PLACES {
        sources(&root.join(place), &mut files);
    }
    assert!(files.len() > 20, "{files:?}");
    let mut strays = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if !compared(line).is_empty() {
                strays.push(format!("{}: {}", file.display(), line.trim()));
            }
        }
    }
    assert!(
        strays.is_empty(),
        "name these in thresholds.rs:\n{}",
        strays.join("\n")
    );
}

#[test]
fn a_stray_threshold_is_seen() {
    assert_eq!(compared("if share > 0.05 {"), ["0.05"]);
    assert_eq!(
        compared("    .find(|(_, value)| *value >= 0.95 * most)"),
        ["0.95"]
    );
    assert!(compared("if x > 0.0 {").is_empty());
    assert!(compared("let half = x / 2.0;").is_empty());
}
