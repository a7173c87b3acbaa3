//! Starting programs: run, capture, find. Errors name the command line.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The cargo that runs us.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Run to the end with our own stdout and stderr; a failure is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(())
}

/// Run to the end and return stdout; a failure is an error with the end of stderr.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let last = stderr
            .trim()
            .lines()
            .chain(stdout.trim().lines().rev().take(1))
            .last();
        bail!(
            "{} failed: {}: {}",
            shown(command),
            output.status,
            last.unwrap_or_default()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", shown(command)))
}

/// A program that is told to end when this process goes, however it goes.
pub fn bound(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command
}

/// Where `program` is, searching PATH and the usual places for administrators.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")])
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// The command line as typed.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Files of the tree, by path from the root: tracked, or new and not ignored, and not deleted.
pub fn files(root: &Path) -> Result<Vec<String>> {
    let listing = capture(
        Command::new("git")
            .current_dir(root)
            // A container's checkout may belong to another user; only this listing is affected.
            .args([
                "-c",
                "safe.directory=*",
                "ls-files",
                "--cached",
                "--others",
                "--exclude-standard",
            ]),
    )?;
    let mut files: Vec<String> = listing
        .lines()
        .filter(|path| root.join(path).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
