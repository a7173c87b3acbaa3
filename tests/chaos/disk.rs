//! A disk of a round's own: a small tmpfs in this program's mount namespace, that is full from the start or fills up. It must
//! never be on a disk of the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file that takes all room that is left.
const FILLER: &str = ".filler";
/// Room enough for everything.
const ROOMY: &str = "size=256m";

/// The disk; gone when dropped.
pub struct Disk(PathBuf);

impl Disk {
    /// Mount one at this folder, with this much room in KiB, or with enough.
    pub fn mount(folder: &Path, room_kib: Option<u32>) -> Result<Disk, String> {
        let size = room_kib.map_or(ROOMY.to_owned(), |kib| format!("size={kib}k"));
        mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], folder)?;
        Ok(Disk(folder.to_owned()))
    }

    /// Fill it to the last byte.
    pub fn fill(&self) {
        if let Ok(mut file) = std::fs::File::create(self.0.join(FILLER)) {
            // It ends with the error that is wanted.
            let _ = std::io::copy(&mut std::io::repeat(0), &mut file);
        }
    }

    /// Make room again.
    pub fn clear(&self) -> Result<(), String> {
        // Only a disk that has filled up has one.
        let _ = std::fs::remove_file(self.0.join(FILLER));
        mount(&["-o", &format!("remount,{ROOMY}")], &self.0)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut unmount = Command::new("umount");
        // A file may be open still; then it goes with whoever has it.
        unmount.arg("--lazy").arg(&self.0).stderr(Stdio::null());
        let _ = unmount.status();
    }
}

fn mount(words: &[&str], folder: &Path) -> Result<(), String> {
    let status = Command::new("mount").args(words).arg(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("cannot mount a disk: {other:?}")),
    }
}
