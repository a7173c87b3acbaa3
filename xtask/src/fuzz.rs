//! The fuzz crate: compiled and its seeds replayed on the stable toolchain, fuzzed for real on nightly.

use crate::command;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Every target compiles, and every body survives its seeds and some thousand mutations of them.
pub fn check(root: &Path) -> Result<()> {
    // Without the runtime of libFuzzer, which needs a C++ compiler and nightly.
    let common = [
        "--manifest-path=fuzz/Cargo.toml",
        "--no-default-features",
        "--locked",
        "--quiet",
    ];
    let target = root.join("target");
    for task in [
        ["check", "--bins"].as_slice(),
        ["test", "--lib", "--tests"].as_slice(),
    ] {
        command::run(
            Command::new(command::cargo())
                .current_dir(root)
                .env("CARGO_TARGET_DIR", &target)
                .args(task)
                .args(common),
        )?;
    }
    Ok(())
}

/// Fuzz every target for so many seconds.
pub fn fuzz(root: &Path, seconds: usize) -> Result<()> {
    let targets = targets(root)?;
    if targets.is_empty() {
        bail!("no targets in fuzz/fuzz_targets");
    }
    for target in targets {
        println!("fuzzing {target} for {seconds} s");
        let limit = format!("-max_total_time={seconds}");
        command::run(Command::new("cargo").current_dir(root).args([
            "+nightly",
            "fuzz",
            "run",
            &target,
            "--",
            &limit,
            "-timeout=10",
            "-rss_limit_mb=2048",
        ]))?;
    }
    Ok(())
}

fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
