//! How often a mesh is judged rightly, on simulated ones.

use super::Context;
use super::archive::Archive;
use anyhow::Result;

/// Let the example, built in release, judge simulated meshes and print its tables.
pub fn judgements(context: &Context, archive: &mut Archive) -> Result<()> {
    let said = context.example("wirespeed-mesh", "mesh_evidence")?;
    archive.note(said.trim());
    Ok(())
}
