//! What is in this machine besides us. The program runs in namespaces of its own, so that every process, every entry of
//! /dev/shm and every port is of the round that is played. It must never look at, or touch, anything outside.

use rustix::process::Signal;
use std::path::{Path, PathBuf};
use wirespeed_tests::home::{Home, kill};

/// A live process that is not ours: its number, its parent's, and its command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
    /// Its words.
    pub words: String,
}

/// All processes but the first of the namespace, and us. Those that have ended and wait for their parents are not alive.
pub fn processes() -> Vec<Process> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut all: Vec<Process> = numbers
        .filter(|pid| ![1, std::process::id()].contains(pid))
        .filter_map(process)
        .collect();
    all.sort_by_key(|process| process.pid);
    all
}

fn process(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name that may hold blanks and brackets.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if ["Z", "X"].contains(fields.first()?) {
        return None;
    }
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(Process {
        pid,
        start: fields.get(19)?.parse().ok()?,
        words: String::from_utf8_lossy(&words).replace('\0', " "),
    })
}

/// What is left of a round: processes, temporary files, shared memory.
pub fn left(home: &Home) -> Vec<String> {
    let mut left: Vec<String> = processes()
        .into_iter()
        .map(|process| format!("process {}: {}", process.pid, process.words))
        .collect();
    for folder in [home.path("tmp"), PathBuf::from("/dev/shm")] {
        left.extend(
            names(&folder)
                .iter()
                .map(|name| folder.join(name).display().to_string()),
        );
    }
    left
}

/// Names of the files in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// End everything that is left, so that the next round begins with nothing.
pub fn sweep() {
    for process in processes() {
        kill(process.pid, Signal::KILL);
    }
    for name in names(Path::new("/dev/shm")) {
        // It may be gone with its process.
        let _ = std::fs::remove_file(Path::new("/dev/shm").join(name));
    }
}
