//! The archive of evidence: docs/runs/DATE-evidence (-2, -3, ..), a README with what came out and a file of values a claim.

use crate::{command, runs};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Collects everything; values are written as they come.
pub struct Archive {
    folder: PathBuf,
    text: String,
}

impl Archive {
    /// An archive of today, with the machine at its head.
    pub fn create(root: &Path) -> Result<Archive> {
        let said = |words: &[&str]| {
            let output = command::capture(Command::new(words[0]).args(&words[1..]).current_dir(root));
            output.map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let date = said(&["date", "-u", "+%Y-%m-%d"]);
        let folder = runs::fresh_folder(&root.join("docs/runs"), &format!("{date}-evidence"))?;
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
        let text = format!(
            "# What the claims rest on, {date}\n\nMade by `cargo xtask evidence`. Load average at the start {}.\n\n- CPU: {}\n\
             - kernel: {}\n- {} (commit {})\n",
            read("/proc/loadavg"),
            model.unwrap_or("unknown").trim_start_matches(['\t', ' ', ':']),
            read("/proc/sys/kernel/osrelease"),
            said(&["target/release/wirespeed", "--version"]),
            said(&["git", "-c", "safe.directory=*", "rev-parse", "--short=12", "HEAD"]),
        );
        Ok(Archive { folder, text })
    }

    /// The heading of a claim.
    pub fn claim(&mut self, name: &str, says: &str) {
        println!("{name}: {says}");
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\n## {name}\n\nAim: {says}.\n");
    }

    /// A sentence, shown at once.
    pub fn note(&mut self, text: &str) {
        println!("  {text}");
        let _ = write!(self.text, "\n{text}\n");
    }

    /// Where `file` of this archive is.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Values behind a claim, as they came.
    pub fn values(&self, file: &str, text: &str) -> Result<()> {
        let path = self.path(file);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Write the README.
    pub fn finish(self) -> Result<()> {
        let path = self.folder.join("README.md");
        fs::write(&path, self.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("archived in {}", self.folder.display());
        Ok(())
    }
}
