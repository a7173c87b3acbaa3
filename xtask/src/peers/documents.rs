//! wirespeed's own documents: run it, and find a figure by its tag.

use super::launch::{Build, Context};
use super::mpi::Mpi;
use super::report::Report;
use crate::command;
use anyhow::{Context as _, Result};
use serde_json::Value;

/// Run wirespeed on the two cores and read a figure of its document.
pub fn from_document(
    context: &Context,
    build: Build,
    report: &mut Report,
    arguments: &str,
    tag: &str,
) -> Result<f64> {
    let [a, b] = context.cores;
    let one_rank = arguments.contains("--via null") || arguments.contains("tl=self");
    let cpus = if one_rank {
        a.to_string()
    } else {
        format!("{a},{b}")
    };
    let mut command = command::bound(context.program(build));
    command
        .args(arguments.split(' '))
        .args(["--cpus", &cpus, "--json"]);
    let output = command::capture(&mut command)?;
    report.raw(&command::shown(&command), &condensed(&output));
    figure(&output, tag)
}

/// wirespeed under an MPI library.
pub fn ours_under(
    mpi: &Mpi,
    context: &Context,
    build: Build,
    report: &mut Report,
    arguments: &str,
    tag: &str,
) -> Result<f64> {
    let mut command = mpi.launch(context.program(build));
    command.args(arguments.split(' ')).arg("--json");
    let (shown, output) = context.launch(command)?;
    report.raw(&shown, &condensed(&output));
    figure(&output, tag)
}

/// The figure `tag` of a document as it was printed; `a - b` is the difference of two.
pub fn figure(output: &str, tag: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(output).context("wirespeed printed no JSON")?;
    let found = match tag.split_once(" - ") {
        Some((of, less)) => largest(&document, of)
            .zip(largest(&document, less))
            .map(|(of, less)| of - less),
        None => largest(&document, tag),
    };
    found.with_context(|| format!("{tag} is not in the document"))
}

/// Where a case has its single runs: those that count, and those that were cut short.
const RUNS: [&str; 2] = ["repetitions", "cut_short"];

/// The largest number that `document` holds under `tag`: bare, or as the value of a metric. Figures of single
/// repetitions are left out where the case has one over all of them.
pub fn largest(document: &Value, tag: &str) -> Option<f64> {
    match document {
        Value::Object(map) => {
            let own = map
                .get(tag)
                .and_then(|v| v.as_f64().or_else(|| v["value"].as_f64()));
            let children = || {
                let inner = map.iter().filter(|(key, _)| !RUNS.contains(&key.as_str()));
                let found = inner.filter_map(|(_, v)| largest(v, tag)).reduce(f64::max);
                found.or_else(|| map.get("repetitions").and_then(|r| largest(r, tag)))
            };
            own.or_else(children)
        }
        Value::Array(items) => items.iter().filter_map(|v| largest(v, tag)).reduce(f64::max),
        _ => None,
    }
}

/// The document without single repetitions and their histograms: the archive stays readable.
pub fn condensed(output: &str) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(output) else {
        return output.to_owned();
    };
    let cases = document.get_mut("cases").and_then(Value::as_array_mut);
    for case in cases.into_iter().flatten() {
        if let Some(case) = case.as_object_mut() {
            case.retain(|key, _| !RUNS.contains(&key.as_str()));
        }
    }
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_ours_are_found_by_tag() {
        let document = serde_json::json!({"cases": [
            {"metrics": {"a_ns": {"value": 3}}, "repetitions": [{"metrics": {"a_ns": {"value": 9}}}]},
            {"metrics": {"a_ns": {"value": 4}}, "cut_short": [{"metrics": {"a_ns": {"value": 9}}}]},
            {"metrics": {}, "repetitions": [{"outcomes": [{"floor": {"record_ns": 2.5}}]}]},
        ]});
        assert_eq!(largest(&document, "a_ns"), Some(4.0));
        assert_eq!(largest(&document, "record_ns"), Some(2.5));
        assert_eq!(largest(&document, "b_ns"), None);
        assert_eq!(figure(&document.to_string(), "a_ns - record_ns").unwrap(), 1.5);
        assert!(figure(&document.to_string(), "a_ns - b_ns").is_err());
        let condensed_text = condensed(&document.to_string());
        assert!(RUNS.iter().all(|runs| !condensed_text.contains(runs)));
        assert_eq!(condensed("131.5"), "131.5", "what a loop prints stays");
    }
}
