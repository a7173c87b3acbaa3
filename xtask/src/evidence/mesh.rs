//! How often a mesh is judged rightly: on simulated ones, and on machines of the lab.

use super::Context;
use super::archive::Archive;
use crate::command;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Let the example, built in release, judge simulated meshes and print its tables.
pub fn judgements(context: &Context, archive: &mut Archive) -> Result<()> {
    let said = context.example("wirespeed-mesh", "mesh_evidence")?;
    archive.note(said.trim());
    Ok(())
}

/// `[RUNS] [KIND ..]`: print how often `program` names the right thing alone in meshes of namespaces. Needs root and sshd.
pub fn in_the_lab(root: &Path, program: &Path, words: &[&str]) -> Result<()> {
    let mut build = Command::new(command::cargo());
    build.current_dir(root).args(["build", "--locked", "--quiet"]);
    build.args(["-p", "wirespeed-tests", "--bin", "wirespeed-mesh-lab"]);
    command::run(&mut build)?;
    let mut lab = Command::new(root.join("target/debug/wirespeed-mesh-lab"));
    command::run(lab.current_dir(root).arg(program).args(words))
}
