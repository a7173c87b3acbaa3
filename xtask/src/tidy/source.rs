//! One Rust file as the rules see it: its text, and its code with comments and literals blanked out.

use super::strip;

/// A Rust file.
pub struct Source {
    /// Path from the root.
    pub path: String,
    /// As it is on disk.
    pub text: String,
    /// The same length and lines, comments and literals blanked out.
    pub code: String,
    /// Line, from 0, at which the file's unit tests begin; the number of lines where there are none.
    pub tests_from: usize,
}

impl Source {
    /// Read `text` as the file at `path`.
    pub fn new(path: &str, text: String) -> Self {
        let code = strip::blank(&text);
        let lines: Vec<&str> = code.lines().collect();
        let tests_from = lines
            .iter()
            .position(|l| l.trim_start().starts_with("#[cfg(") && has_word(l, "test") && !has_word(l, "not"))
            .unwrap_or(lines.len());
        Source {
            path: path.to_owned(),
            text,
            code,
            tests_from,
        }
    }

    /// Whether the whole file is test code.
    pub fn is_test(&self) -> bool {
        let folder = |name: &str| self.path.starts_with(name) || self.path.contains(&format!("/{name}"));
        folder("tests/") || folder("benches/") || folder("examples/") || self.path.ends_with("/tests.rs")
    }

    /// Lines of code that ship, with their numbers from 1.
    pub fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = if self.is_test() { 0 } else { self.tests_from };
        self.code
            .lines()
            .take(end)
            .enumerate()
            .map(|(i, line)| (i + 1, line))
    }

    /// All lines of code, with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// Whether `word` stands in `line` with no letter, digit or underscore beside it.
pub fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}
