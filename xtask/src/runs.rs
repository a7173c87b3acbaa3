//! Where measured runs are kept: a folder of its own for each. It must never write into a folder that was there.

use crate::command;
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Write `from`, compressed, to `to`. Raw output repeats itself over more than gzip looks back: xz leaves half as much.
pub fn pack(from: &Path, to: &Path) -> Result<()> {
    let file = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
    let mut xz = Command::new("xz");
    xz.args(["-9ec", "--threads=1", "--"])
        .arg(from)
        .stdin(Stdio::null());
    command::run(xz.stdout(file))
}

/// What `pack` has written, as text; a torn file is an error.
pub fn unpacked(packed: &Path) -> Result<String> {
    command::capture(Command::new("xz").arg("-dc").arg("--").arg(packed))
}
