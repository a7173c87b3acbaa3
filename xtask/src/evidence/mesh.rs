//! How often a mesh is judged rightly, on simulated ones.

use super::Context;
use super::archive::Archive;
use anyhow::Result;
use std::process::Command;

/// Let the example, built in release, judge simulated meshes and print its tables.
pub fn judgements(context: &Context, archive: &mut Archive) -> Result<()> {
    let mut example = Command::new(crate::command::cargo());
    example.current_dir(&context.root).args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "wirespeed-mesh",
        "--example",
        "mesh_evidence",
    ]);
    let said = crate::command::capture(&mut example)?;
    archive.note(said.trim());
    Ok(())
}
