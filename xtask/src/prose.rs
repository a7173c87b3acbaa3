//! How much there is to read in the written pages, and how hard it is: words and Flesch-Kincaid grade of each page. It
//! must never judge a page by what is no sentence of ours: tables, code, targets of links and headings are left out.

use anyhow::{Context, Result, bail};
use std::path::Path;

/// Pages that somebody reads who has never seen the program, and the highest grade of theirs.
const FIRST: ([&str; 2], f64) = (["README.md", "docs/start.md"], 9.0);
/// The folder of pages that each answer one question, and the highest grade of theirs.
const HOW_TO: (&str, f64) = ("docs/how-to/", 10.0);
/// Words of prose of all pages below docs/ together.
const WORDS_MAX: usize = 12_750;
/// Pages for those who work on wirespeed: no part of the budget.
const INNER: [&str; 2] = ["docs/decisions", "docs/ci.md"];

/// What a text has that the grade is made of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    sentences: usize,
    words: usize,
    syllables: usize,
}

/// Print the table, and fail above a limit.
pub fn run(root: &Path) -> Result<()> {
    let (mut total, mut whole, mut over) = (0, 0, Vec::new());
    println!("{:<34} {:>6} {:>6} {:>6}", "page", "all", "prose", "grade");
    for page in pages(root)? {
        let text = std::fs::read_to_string(root.join(&page)).with_context(|| page.clone())?;
        let (all, counts) = (text.split_whitespace().count(), count(&text));
        let grade = counts.grade();
        println!("{page:<34} {all:>6} {:>6} {grade:>6.1}", counts.words);
        if page.starts_with("docs/") {
            total += counts.words;
            whole += all;
        }
        if let Some(max) = highest(&page).filter(|max| grade > *max) {
            over.push(format!(
                "{page}: grade {grade:.1}, at most {max}: shorter sentences and words"
            ));
        }
    }
    println!("{:<34} {whole:>6} {total:>6}", "docs");
    if total > WORDS_MAX {
        over.push(format!(
            "docs has {total} words of prose, at most {WORDS_MAX}: cut what no reader needs"
        ));
    }
    match over.is_empty() {
        true => Ok(()),
        false => bail!("{}", over.join("\n")),
    }
}

/// README.md and the pages of the budget, in order.
fn pages(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in ["docs/", HOW_TO.0] {
        for entry in std::fs::read_dir(root.join(folder)).with_context(|| folder.to_owned())? {
            let page = format!("{folder}{}", entry?.file_name().to_string_lossy());
            let inner = INNER.iter().any(|inner| page.starts_with(inner));
            if page.ends_with(".md") && !inner {
                found.push(page);
            }
        }
    }
    found.sort();
    found.insert(0, FIRST.0[0].to_owned());
    Ok(found)
}

/// The highest grade that a page may have.
fn highest(page: &str) -> Option<f64> {
    let how_to = page.starts_with(HOW_TO.0).then_some(HOW_TO.1);
    FIRST.0.contains(&page).then_some(FIRST.1).or(how_to)
}

impl Counts {
    /// Years of school that the text asks for: 0.39 words a sentence + 11.8 syllables a word - 15.59 (Kincaid, Fishburne,
    /// Rogers and Chissom, *Derivation of New Readability Formulas for Navy Enlisted Personnel*, Research Branch Report
    /// 8-75, 1975).
    fn grade(&self) -> f64 {
        if self.words == 0 {
            return 0.0;
        }
        let [sentences, words, syllables] = [self.sentences.max(1), self.words, self.syllables]
            .map(|n| f64::from(u32::try_from(n).unwrap_or(u32::MAX)));
        0.39 * words / sentences + 11.8 * syllables / words - 15.59
    }
}

/// Count a page's sentences: paragraphs and points of lists, each of which ends the one before.
fn count(text: &str) -> Counts {
    let (mut counts, mut paragraph, mut fenced) = (Counts::default(), String::new(), false);
    for line in text.lines().map(str::trim).chain([""]) {
        let fence = line.starts_with("```");
        fenced ^= fence;
        let aside = fence || fenced || ["|", "#", "<!--"].iter().any(|mark| line.starts_with(mark));
        let point = line.starts_with("- ")
            || line
                .split_once(". ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if aside || point || line.is_empty() {
            counts.add(&spoken(&std::mem::take(&mut paragraph)));
        }
        if !aside {
            paragraph.push_str(line.strip_prefix("- ").unwrap_or(line));
            paragraph.push(' ');
        }
    }
    counts
}

/// A paragraph without inline code and without the targets of its links.
fn spoken(paragraph: &str) -> String {
    let outside: String = paragraph.split('`').step_by(2).collect();
    let mut said = String::new();
    let mut rest = outside.as_str();
    while let Some((text, tail)) = rest.split_once("](") {
        said.push_str(text);
        rest = tail.split_once(')').map_or("", |(_, after)| after);
    }
    said + rest
}

impl Counts {
    /// Add the sentences of a paragraph: what a full stop, a question mark or an exclamation mark ends, or its end.
    fn add(&mut self, paragraph: &str) {
        let mut open = false;
        for word in paragraph.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if !bare.is_empty() {
                self.words += 1;
                self.syllables += syllables(bare);
                open = true;
            }
            let end = word.trim_end_matches(['"', '\'', ')', ']', '*', '_']);
            if open && end.ends_with(['.', '!', '?']) {
                self.sentences += 1;
                open = false;
            }
        }
        self.sentences += usize::from(open);
    }
}

/// Groups of vowels in a word, without the silent e of its end; at least one.
fn syllables(word: &str) -> usize {
    let lower = word.to_lowercase();
    let is_vowel = |c: char| "aeiouy".contains(c);
    let mut groups = 0;
    let mut before = false;
    for letter in lower.chars() {
        groups += usize::from(is_vowel(letter) && !before);
        before = is_vowel(letter);
    }
    let stem = lower.strip_suffix('s').unwrap_or(&lower);
    let silent = |ending: &str, kept: &[char]| {
        let before = lower.strip_suffix(ending).or_else(|| stem.strip_suffix(ending));
        before.is_some_and(|before| !before.ends_with(is_vowel) && !before.ends_with(kept))
    };
    // `table`, `fences`, `started` speak theirs; `time`, `times`, `used` do not.
    let is_silent = match lower.ends_with("ed") {
        true => silent("ed", &['t', 'd']),
        false => silent(
            "e",
            if lower.ends_with('s') {
                &['l', 's', 'c', 'g', 'x', 'z']
            } else {
                &['l']
            },
        ),
    };
    (groups - usize::from(is_silent && groups > 1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syllables_of_known_words() {
        for (word, spoken) in [
            ("cat", 1),
            ("time", 1),
            ("times", 1),
            ("used", 1),
            ("table", 2),
            ("started", 2),
            ("machine", 2),
            ("message", 3),
            ("latency", 3),
            ("measurement", 4),
            ("95", 1),
        ] {
            let counted = syllables(word);
            // Vowels alone cannot tell the silent e inside of a word.
            assert!(
                counted.abs_diff(spoken) <= usize::from(word.len() > 6),
                "{word}: {counted}"
            );
        }
    }

    #[test]
    fn sentences_of_a_page() {
        let page = "# A heading of four words\n\nThe cat sat. It sat on\n[the mat](far/away.md), twice!\n\n| a | table |\n\n\
                    - One point\n- Run `wirespeed quick --budget 5s` now: done\n\n```console\n$ no sentence. At all.\n```\n";
        // The cat sat / It sat on the mat twice / One point / Run now done
        let counts = count(page);
        assert_eq!((counts.sentences, counts.words), (4, 14));
    }

    #[test]
    fn the_grade_is_kincaids() {
        // 0.39 * 6 / 1 + 11.8 * 6 / 6 - 15.59
        let counts = count("The cat sat on the mat.");
        assert_eq!(
            counts,
            Counts {
                sentences: 1,
                words: 6,
                syllables: 6
            }
        );
        assert!((counts.grade() - -1.45).abs() < 1e-9, "{}", counts.grade());
        assert!(count("").grade().abs() < 1e-9);
    }

    #[test]
    fn limits_are_those_of_the_readers() {
        assert_eq!(highest("README.md"), Some(9.0));
        assert_eq!(highest("docs/how-to/fastest.md"), Some(10.0));
        assert_eq!(highest("docs/metrics.md"), None);
    }
}
