//! That the library and the program build without their features, and with each of them alone: an embedder chooses. It must
//! never run anything: every combination is only checked, without warnings. What clippy says of the code it says of the whole.

use crate::command;
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;

/// Package and features. The library alone is in every build of the program; a feature of the library is told apart there.
const COMBINATIONS: [(&str, &str); 6] = [
    ("wirespeed-cli", ""),
    ("wirespeed-cli", "mpi"),
    ("wirespeed-cli", "ucx"),
    ("wirespeed", "uring"),
    ("wirespeed", "seal"),
    ("wirespeed-capi", ""),
];

/// Check every combination; the first that has a warning ends it.
pub fn run(root: &Path) -> Result<()> {
    for (package, features) in COMBINATIONS {
        println!("features: {package} with {features:?} alone");
        let words = ["check", "--locked", "--quiet", "--no-default-features"];
        let mut cargo = Command::new(command::cargo());
        cargo.current_dir(root).args(words);
        cargo.args(["--package", package, "--features", features]);
        let checked = cargo.output()?;
        let said = String::from_utf8_lossy(&checked.stderr);
        // Flags that deny warnings would have every dependency compiled again.
        ensure!(checked.status.success() && said.is_empty(), "{said}");
    }
    Ok(())
}
