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
    /// For each line whether it is of a unit test.
    tested: Vec<bool>,
}

impl Source {
    /// Read `text` as the file at `path`.
    pub fn new(path: &str, text: String) -> Self {
        let code = strip::blank(&text);
        let tested = tested(&code);
        Source {
            path: path.to_owned(),
            text,
            code,
            tested,
        }
    }

    /// Whether the whole file is test code.
    pub fn is_test(&self) -> bool {
        let folder = |name: &str| self.path.starts_with(name) || self.path.contains(&format!("/{name}"));
        folder("tests/") || folder("benches/") || folder("examples/") || self.path.ends_with("/tests.rs")
    }

    /// Lines of code that ship, with their numbers from 1.
    pub fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_test = self.is_test();
        let all = self.code.lines().zip(&self.tested).enumerate();
        let shipped = all.filter(move |(_, (_, tested))| !is_test && !**tested);
        shipped.map(|(i, (line, _))| (i + 1, line))
    }

    /// All lines of code, with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// For each line of `code` whether it belongs to an item that only tests have.
fn tested(code: &str) -> Vec<bool> {
    // What `any` and `not` have beside it ships.
    let is_mark = |line: &str| {
        let ships = ["not", "any"].iter().any(|word| has_word(line, word));
        line.trim_start().starts_with("#[cfg(") && has_word(line, "test") && !ships
    };
    let mut open = None;
    let of_line = |line: &str| {
        let rest = match open {
            // The item may stand behind its mark.
            None if is_mark(line) => line.split_once(")]").map_or("", |(_, rest)| rest),
            None => return false,
            Some(_) => line,
        };
        open = depth_behind(rest, open.unwrap_or(0));
        true
    };
    code.lines().map(of_line).collect()
}

/// How many braces, brackets and parentheses are open behind `line` of an item; `None` where the item ends in it.
fn depth_behind(line: &str, before: u32) -> Option<u32> {
    let mut depth = before;
    for c in line.chars() {
        match c {
            '{' | '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' if depth <= 1 => return None,
            '}' => depth -= 1,
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    Some(depth)
}

/// Whether `word` stands in `line` with no letter, digit or underscore beside it.
pub fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tests_have_is_left_out_and_nothing_else() {
        let shipped = |text: &str| -> Vec<String> {
            let source = Source::new("crates/a/src/b.rs", text.to_owned());
            source.shipped().map(|(_, line)| line.to_owned()).collect()
        };
        for item in [
            "mod tests;",
            "mod tests {\n    fn a() {}\n\n    fn b() {}\n}",
            "pub(super) fn plant(root: &Path, [a, b]: [u8; 2]) {\n    if a {\n    }\n}",
            "#[derive(Debug)]\nstruct A(u8);",
            "use a::{\n    b, c,\n};",
            "const A: [u8; 2] = [1; 2];",
            "impl A {\n}",
            "static A: [u8; 2] =\n    [1, 2];",
        ] {
            let text = format!("before\n#[cfg(test)]\n{item}\nbehind\n#[cfg(all(test, unix))]\n{item}\nend");
            assert_eq!(shipped(&text), ["before", "behind", "end"], "{item}");
        }
        assert_eq!(shipped("#[cfg(test)] use a::b;\nfn a() {}"), ["fn a() {}"]);
        for ships in ["not(test)", "any(test, unix)"] {
            assert_eq!(shipped(&format!("#[cfg({ships})]\nfn a() {{}}")).len(), 2);
        }
    }
}
