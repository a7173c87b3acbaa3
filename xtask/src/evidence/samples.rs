//! How long the statistics of many raw samples take.

use super::Context;
use super::archive::Archive;
use anyhow::Result;

/// Let the example, built in release, judge ten million raw samples and say how long it took.
pub fn statistics(context: &Context, archive: &mut Archive) -> Result<()> {
    let said = context.example("wirespeed-report", "ten_million")?;
    archive.values("samples.txt", &said)?;
    archive.note(said.trim());
    Ok(())
}
