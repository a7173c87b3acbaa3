//! `cargo xtask recordings`: builds the program in release and what plays the stories of the pages (tests/recordings), and
//! has casts and pictures written anew. It must never be part of a check: what it measures is for people to see.

use crate::command;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Build, and record the stories that `words` name; all of them where they name none.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let cargo = |arguments: &[&str]| {
        let mut build = Command::new(command::cargo());
        build.current_dir(root).args(["build", "--locked", "--quiet"]);
        command::run(build.args(arguments))
    };
    if !words.contains(&"--draw") {
        cargo(&["--release", "--bin", "wirespeed"])?;
    }
    cargo(&["-p", "wirespeed-tests", "--bin", "wirespeed-recordings"])?;
    let built = root.join("target");
    let mut recorder = command::bound(built.join("debug/wirespeed-recordings"));
    recorder
        .arg(built.join("release/wirespeed"))
        .arg(root.join("docs/recordings"))
        .args(words);
    command::run(&mut recorder)
}
