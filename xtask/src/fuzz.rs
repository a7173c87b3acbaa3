//! Fuzzing for real, on nightly. The ordinary tests replay the seeds.

use crate::command;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

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
            "--features=libfuzzer",
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
