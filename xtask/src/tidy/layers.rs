//! The arrows between crates: who may depend on whom, read from the manifests as cargo understands them.

use super::Finding;
use crate::command;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Crates of the workspace, each with those that it may depend on. Tests may also use what stands in `FOR_TESTS`.
const ARROWS: &[(&str, &[&str])] = &[
    ("wirespeed-schema", &[]),
    ("wirespeed", &["wirespeed-schema"]),
    ("wirespeed-report", &["wirespeed-schema"]),
    ("wirespeed-mesh", &["wirespeed-schema", "wirespeed-report"]),
    ("wirespeed-control", &["wirespeed-schema", "wirespeed"]),
    (
        "wirespeed-session",
        &["wirespeed-schema", "wirespeed", "wirespeed-control"],
    ),
    (
        "wirespeed-selftest",
        &["wirespeed-schema", "wirespeed", "wirespeed-report"],
    ),
    ("wirespeed-conformance", &["wirespeed-schema", "wirespeed"]),
    ("wirespeed-mpi-sys", &[]),
    (
        "wirespeed-mpi",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-control",
            "wirespeed-mpi-sys",
        ],
    ),
    ("wirespeed-ucx-sys", &[]),
    (
        "wirespeed-ucx",
        &["wirespeed-schema", "wirespeed", "wirespeed-ucx-sys"],
    ),
    (
        "wirespeed-byteio",
        &["wirespeed-schema", "wirespeed", "wirespeed-control"],
    ),
    (
        "wirespeed-capi",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-report",
            "wirespeed-ucx",
        ],
    ),
    (
        "wirespeed-cli",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-control",
            "wirespeed-report",
            "wirespeed-session",
            "wirespeed-mpi",
            "wirespeed-byteio",
            "wirespeed-mesh",
            "wirespeed-selftest",
            "wirespeed-ucx",
        ],
    ),
    (
        "wirespeed-fuzz",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-control",
            "wirespeed-report",
            "wirespeed-session",
            "wirespeed-byteio",
        ],
    ),
    (
        "wirespeed-examples",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-report",
            "wirespeed-ucx",
            "wirespeed-conformance",
        ],
    ),
    (
        "wirespeed-tests",
        &[
            "wirespeed-schema",
            "wirespeed",
            "wirespeed-control",
            "wirespeed-report",
            "wirespeed-cli",
            "wirespeed-mpi",
            "wirespeed-byteio",
        ],
    ),
    ("xtask", &["wirespeed-report", "wirespeed-schema"]),
];
const FOR_TESTS: [&str; 1] = ["wirespeed-conformance"];

/// Dependencies against the arrows, and crates that have no arrows yet.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let text = command::capture(Command::new(command::cargo()).current_dir(root).args([
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--offline",
    ]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")?;
    let mut findings = Vec::new();
    for package in packages {
        findings.extend(check_package(root, package));
    }
    Ok(findings)
}

fn check_package(root: &Path, package: &Value) -> Vec<Finding> {
    let name = package["name"].as_str().unwrap_or_default();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let path = manifest.strip_prefix(root).unwrap_or(manifest).to_string_lossy();
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        return vec![Finding::at(
            &path,
            0,
            format!("crate {name} has no arrows in xtask/src/tidy/layers.rs"),
        )];
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter(|d| d["path"].is_string())
        .filter_map(|d| Some((d["name"].as_str()?, d["kind"].as_str() == Some("dev"))))
        .filter(|(to, dev)| !(allowed.contains(to) || *dev && FOR_TESTS.contains(to)))
        .map(|(to, _)| {
            Finding::at(
                &path,
                0,
                format!("{name} must not depend on {to}: arrows never go back"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_goes_back_is_found() {
        let package = |name: &str, to: &str, kind: Value| {
            serde_json::json!({
                "name": name, "manifest_path": "/r/Cargo.toml",
                "dependencies": [{"name": to, "path": "/r/x", "kind": kind}, {"name": "serde", "kind": null}],
            })
        };
        let count = |p: Value| check_package(Path::new("/r"), &p).len();
        assert_eq!(count(package("wirespeed", "wirespeed-control", Value::Null)), 1);
        assert_eq!(count(package("wirespeed-control", "wirespeed", Value::Null)), 0);
        assert_eq!(
            count(package("wirespeed", "wirespeed-conformance", "dev".into())),
            0
        );
        assert_eq!(count(package("stranger", "wirespeed", Value::Null)), 1);
    }
}
