//! The house style as a program: every rule that a compiler does not enforce. CONTRIBUTING.md lists the rules.
//!
//! A rule reads the tree and returns findings; it must never change a file.

mod choreography;
mod circles;
mod docs;
mod layers;
mod names;
mod pieces;
mod source;
mod strip;
mod style;
mod units;
mod walls;
mod words;

use crate::{command, notices};
use anyhow::{Context, Result, bail};
use source::Source;
use std::fmt;
use std::path::Path;

/// Files that a program wrote: their shape is not ours.
const GENERATED: [&str; 1] = ["sys/ucx/src/bindings.rs"];

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root.
    pub path: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding at a line.
    pub fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Print every finding and fail if there is one.
pub fn run(root: &Path) -> Result<()> {
    let (findings, hints) = check(root)?;
    for hint in hints {
        println!("hint: {hint}");
    }
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: nothing found");
        return Ok(());
    }
    bail!("tidy: {} found", findings.len())
}

/// Every finding of the tree, and hints that fail nothing.
fn check(root: &Path) -> Result<(Vec<Finding>, Vec<Finding>)> {
    let files = command::files(root)?;
    let mut findings = Vec::new();
    let mut hints = Vec::new();
    let mut sources = Vec::new();
    for path in &files {
        if !words::is_text(path) {
            continue;
        }
        let bytes = std::fs::read(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        findings.extend(words::check(path, &text));
        if path.ends_with(".md") {
            findings.extend(docs::check_links(root, path, &text));
        }
        if path.ends_with(".rs") && !GENERATED.contains(&path.as_str()) {
            sources.push(Source::new(path, text));
        }
    }
    let transports = walls::transports(&sources);
    for source in &sources {
        findings.extend(style::check(source));
        hints.extend(style::hints(source));
        findings.extend(walls::check(source, &transports));
        findings.extend(units::check(source));
        findings.extend(choreography::check(source));
    }
    findings.extend(walls::check_forbid(&sources));
    findings.extend(circles::check(&sources));
    findings.extend(names::check(&sources));
    findings.extend(pieces::check(
        &sources,
        &files,
        &std::fs::read_to_string(root.join(pieces::PAGE))?,
    ));
    findings.extend(layers::check(root)?);
    findings.extend(docs::check_architecture(root)?);
    findings.extend(docs::check_archives(root, &files));
    if let Err(error) = notices::run(root, true) {
        findings.push(Finding::at("THIRD-PARTY.md", 0, format!("{error:#}")));
    }
    findings.sort();
    Ok((findings, hints))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy() {
        let (findings, _) = super::check(&crate::root().unwrap()).unwrap();
        let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
