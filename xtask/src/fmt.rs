//! rustfmt on every Rust file by name: `cargo fmt` does not see modules that are declared inside macros.

use crate::command;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;

/// Check (or with `fix`, rewrite) every Rust file of the tree.
pub fn run(root: &Path, fix: bool) -> Result<()> {
    let files = command::files(root)?;
    let sources = files.iter().filter(|f| f.ends_with(".rs"));
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.current_dir(root).args(["--edition", "2024"]);
    if !fix {
        rustfmt.arg("--check");
    }
    let status = rustfmt.args(sources).status().context("cannot run rustfmt")?;
    match (status.success(), fix) {
        (true, _) => Ok(()),
        (false, true) => bail!("rustfmt failed: {status}"),
        (false, false) => bail!("not every file is formatted: cargo xtask fmt --fix"),
    }
}
