//! Processes that a step left behind: they still hold its output, so that whoever reads it waits for them. It must never
//! end a process that does not hold one of the step's own pipes.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// How long processes may hold the output of a step that has ended: those that are told to end need a moment.
const GRACE: Duration = Duration::from_secs(5);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// The pipes of a step's output, as /proc names them at every process that holds one.
pub struct Pipes(Vec<PathBuf>);

impl Pipes {
    /// Of streams that we read.
    pub fn of<'a>(streams: impl IntoIterator<Item = &'a dyn AsRawFd>) -> Self {
        let links = streams
            .into_iter()
            .filter_map(|stream| std::fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).ok());
        Pipes(links.collect())
    }

    /// Called when the step has ended. Wait until `readers` have, too; whoever keeps them from it is ended, and its command line
    /// is returned.
    pub fn released<T>(&self, readers: &[ScopedJoinHandle<'_, T>]) -> Vec<String> {
        let ended = Instant::now();
        let mut left = Vec::new();
        while readers.iter().any(|reader| !reader.is_finished()) {
            if ended.elapsed() > GRACE {
                for (process, line) in self.holders() {
                    let _ = Command::new("kill").args(["-9", &process]).status();
                    left.push(line);
                }
            }
            std::thread::sleep(LOOK);
        }
        left.sort();
        left.dedup();
        left
    }

    /// The numbers and command lines of processes that hold one of the pipes. One with our own command line is this one, or about
    /// to become another step's.
    fn holders(&self) -> Vec<(String, String)> {
        let line_of = |process: &Path| std::fs::read(process.join("cmdline")).unwrap_or_default();
        let own = line_of(Path::new("/proc/self"));
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let holders = entries.filter(|entry| self.is_held_in(&entry.path().join("fd")));
        let named = holders.map(|entry| (entry.file_name(), line_of(&entry.path())));
        let others = named.filter(|(_, line)| *line != own);
        let shown = others.map(|(process, line)| {
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (process.to_string_lossy().into_owned(), line.trim().to_owned())
        });
        shown.collect()
    }

    fn is_held_in(&self, open: &Path) -> bool {
        let entries = std::fs::read_dir(open).into_iter().flatten().flatten();
        let mut links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        links.any(|link| self.0.contains(&link))
    }
}
