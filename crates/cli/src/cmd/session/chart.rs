//! Bandwidth against message size as one picture: a line for each transport, route and number of credits.

use crate::errors::Failure;
use crate::file;
use std::collections::BTreeMap;
use std::path::Path;
use wirespeed_report::charts::{Swept, against_size};
use wirespeed_report::interference;
use wirespeed_schema::Run;
use wirespeed_schema::case::Role;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;

/// Draw the sweep of `run` into `path`.
pub fn write(path: &Path, run: &Run) -> Result<(), Failure> {
    let mut lines: BTreeMap<String, Vec<(u64, &CaseResult)>> = BTreeMap::new();
    let cases = interference::undisturbed(run);
    for result in cases.iter().filter(|result| !result.metrics.is_empty()) {
        let line = lines.entry(label(result)).or_default();
        line.push((result.case.test.size_bytes(), result));
    }
    let sweeps = lines.into_iter().map(|(label, mut cases)| {
        cases.order_by_key(|(size, _)| *size);
        Swept::of(&label, cases)
    });
    let sweeps: Vec<Swept> = sweeps.collect();
    let picture = against_size(&sweeps, "bandwidth_bytes_per_s").ok_or_else(|| {
        Failure::failed(
            format!("{}: too few sizes were measured for a line", file::shown(path)),
            "look at the failures above, and run again",
        )
    })?;
    let mut chart = picture.chart;
    chart.id = "bandwidth".into();
    file::write(path, chart.standalone())
}

fn label(result: &CaseResult) -> String {
    let case = &result.case;
    let relayed = case.ranks.iter().any(|rank| rank.role == Role::Relay);
    let route = if relayed { " through the daemon" } else { "" };
    format!("{}{route}, credits {}", case.transport, case.test.window())
}
