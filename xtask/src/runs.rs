//! Where measured runs are kept: a folder of its own for each. It must never write into a folder that was there.

use anyhow::{Context as _, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder called `name`, or `name-2` and so on: a second run of a day must not take the first one's away.
pub fn fresh_folder(runs: &Path, name: &str) -> Result<PathBuf> {
    let made = || {
        fs::create_dir_all(runs)?;
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
        for folder in names.map(|name| runs.join(name)) {
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|()| folder),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    };
    made().with_context(|| format!("cannot make a folder in {}", runs.display()))
}
