//! How long the statistics of many raw samples take.

use super::Context;
use super::archive::Archive;
use anyhow::Result;
use std::process::Command;

/// Let the example, built in release, judge ten million raw samples and say how long it took.
pub fn statistics(context: &Context, archive: &mut Archive) -> Result<()> {
    let mut example = Command::new(crate::command::cargo());
    example.current_dir(&context.root).args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "wirespeed-report",
        "--example",
        "ten_million",
    ]);
    let said = crate::command::capture(&mut example)?;
    archive.values("samples.txt", &said)?;
    archive.note(said.trim());
    Ok(())
}
