//! Words that the project does not use: it speaks of itself alone, never of how or where it was made.

use super::Finding;

/// Text that must not appear in any file. Split, so that this file does not find itself.
const FORBIDDEN: [&str; 4] = [
    concat!("/wo", "rk/"),
    concat!("this work", "place"),
    concat!("seed", " 00"),
    concat!("the le", "ad "),
];

/// What is said in other words, whole words only, and the words for it. CONTRIBUTING.md has the list for people.
const PLAIN: [(&str, &str); 5] = [
    (concat!("ro", "ad"), "transport or path"),
    (concat!("ro", "ads"), "transports or paths"),
    (concat!("makes no ", "sense"), "invalid, and what is expected"),
    (concat!("would ", "bend"), "skews"),
    (concat!("who we ", "are"), "credential"),
];

/// The first of [`PLAIN`] in a line, in small letters.
fn riddle(lower: &str) -> Option<&'static (&'static str, &'static str)> {
    let is_word = |at: usize, text: &str| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        !lower[..at].ends_with(part) && !lower[at + text.len()..].starts_with(part)
    };
    let found = |text: &str| lower.match_indices(text).any(|(at, text)| is_word(at, text));
    PLAIN.iter().find(|(text, _)| found(text))
}

/// Whether the rules read this file as text.
pub fn is_text(path: &str) -> bool {
    const ENDINGS: [&str; 10] = [
        ".rs", ".md", ".toml", ".sh", ".yml", ".yaml", ".json", ".txt", ".1", ".fish",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    ENDINGS.iter().any(|e| path.ends_with(e)) || name == "Makefile" || path == ".ci/run"
}

/// Forbidden words, numbers of issues, trailing blanks and tabs in Rust code.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut find = |message: String| findings.push(Finding::at(path, index + 1, message));
        let lower = line.to_lowercase();
        if let Some(word) = FORBIDDEN.iter().find(|w| lower.contains(**w)) {
            find(format!("{word:?}: the project speaks of itself alone"));
        }
        // What programs printed is kept as it was.
        let is_archive = path.starts_with("docs/runs/");
        if names_an_issue(&lower) && !is_archive {
            find("number of an issue: say the reason instead".to_owned());
        }
        // How documents call the transports of quick is for good.
        let is_of_documents = lower.contains("serde(rename") || lower.contains("\"roads\":");
        if let Some((word, better)) = riddle(&lower).filter(|_| !is_of_documents) {
            find(format!("{word:?}: say {better}"));
        }
        if line.ends_with([' ', '\t']) && !is_archive {
            find("blank at the end of the line".to_owned());
        }
        if path.ends_with(".rs") && line.contains('\t') {
            find("tab".to_owned());
        }
    }
    findings
}

fn names_an_issue(lower: &str) -> bool {
    let digit = |rest: &str| {
        rest.trim_start_matches('#')
            .starts_with(|c: char| c.is_ascii_digit())
    };
    let worded = ["issue ", "issues "].iter().any(|word| {
        lower
            .match_indices(word)
            .any(|(at, w)| digit(&lower[at + w.len()..]))
    });
    let hashed = lower.match_indices('#').any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let number: String = lower[at + 1..]
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        matches!(before, None | Some(' ' | '('))
            && !number.is_empty()
            && number.len() < 6
            && number.bytes().all(|b| b.is_ascii_digit())
    });
    worded || hashed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_was_made_is_found() {
        for bad in [
            concat!("see /wo", "rk/x"),
            concat!("fixes ", "#", "12"),
            concat!("see iss", "ue 3"),
            "end ",
        ] {
            assert_eq!(check("a.md", bad).len(), 1, "{bad}");
        }
        for good in [
            "# 2 things",
            "network/works",
            "#[test]",
            "colour #123456",
            "an issue of trust",
        ] {
            assert!(check("a.md", good).is_empty(), "{good}");
        }
        assert_eq!(check("a.rs", "\tx").len(), 1);
        assert_eq!(check("a.rs", concat!("each ro", "ad,")).len(), 1);
        assert!(check("a.rs", concat!("broad, in_ro", "ad")).is_empty());
    }
}
