//! Small text files of the kernel below a root, so that tests can put a made-up machine in its place.
//!
//! A file that is missing, unreadable or empty is an absent fact: it must never become an error or an empty string.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The tree that holds `proc` and `sys`.
#[derive(Debug, Clone)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    /// This machine.
    pub(super) fn live() -> Self {
        Files::at(Path::new("/"))
    }

    /// The tree at `root`.
    pub(super) fn at(root: &Path) -> Self {
        Files {
            root: root.to_owned(),
        }
    }

    /// The whole text of `path` (absolute; taken below the root), trimmed.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.root.join(path.trim_start_matches('/'))).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Whether there is a file or folder at `path`.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path.trim_start_matches('/')).exists()
    }

    /// What the kernel calls the file or folder at `path`, by whichever way it is reached.
    pub(super) fn identity(&self, path: &str) -> Option<String> {
        let found = std::fs::metadata(self.root.join(path.trim_start_matches('/'))).ok()?;
        Some(format!("{:x}.{:x}", found.dev(), found.ino()))
    }

    /// Names in the folder `path`; none where it cannot be read.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path.trim_start_matches('/')));
        let names = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name());
        names.filter_map(|name| name.into_string().ok()).collect()
    }

    /// The whole text of `path` as one line with single spaces.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// A number alone in its file.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The value behind `key` in a file of `key: value` or `key value` lines; the first one counts.
    pub(super) fn value(&self, path: &str, key: &str) -> Option<String> {
        value_in(&self.text(path)?, key)
    }

    /// The value behind `key` in kB, as bytes (`/proc/meminfo`).
    pub(super) fn kilobytes(&self, path: &str, key: &str) -> Option<u64> {
        let value = self.value(path, key)?;
        let number: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
        number.checked_mul(1024)
    }
}

/// The value behind `key` in lines of `key: value` or `key value`.
pub(super) fn value_in(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        if !rest.starts_with([':', ' ', '\t']) {
            return None;
        }
        let value = rest.trim_start().trim_start_matches(':').trim();
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// Write a made-up machine below `root`: pairs of path and content.
#[cfg(test)]
pub(super) fn plant(root: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        let path = root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folder");
        std::fs::write(path, content).expect("file");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_empty_files_are_absent_facts() {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(
            dir.path(),
            &[("/proc/empty", "\n"), ("/proc/tabs", "4096\t131072 \t 6291456\n")],
        );
        let files = Files::at(dir.path());
        assert_eq!(files.text("/proc/none"), None);
        assert_eq!(files.text("/proc/empty"), None);
        assert_eq!(files.line("/proc/tabs").as_deref(), Some("4096 131072 6291456"));
        assert_eq!(files.number("/proc/tabs"), None);
    }

    #[test]
    fn keys_match_whole_words() {
        let text = "MemTotalFoo: 1 kB\nMemTotal:   2 kB\nmodel name\t: Some CPU\ninactive_file 77";
        assert_eq!(value_in(text, "MemTotal").as_deref(), Some("2 kB"));
        assert_eq!(value_in(text, "model name").as_deref(), Some("Some CPU"));
        assert_eq!(value_in(text, "inactive_file").as_deref(), Some("77"));
        assert_eq!(value_in(text, "Mem"), None);
    }
}
