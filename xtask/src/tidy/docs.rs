//! The written pages: links lead somewhere, and ARCHITECTURE.md names every crate.

use super::Finding;
use anyhow::{Context, Result};
use std::path::Path;

/// Relative links of a Markdown file that lead to no file, or to no heading of it.
pub fn check_links(root: &Path, path: &str, text: &str) -> Vec<Finding> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for (number, target) in links(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let linked = if file.is_empty() {
            root.join(path)
        } else {
            root.join(folder).join(file)
        };
        if !linked.exists() {
            findings.push(Finding::at(
                path,
                number,
                format!("link to {target}: no such file"),
            ));
            continue;
        }
        let has_anchor = || std::fs::read_to_string(&linked).is_ok_and(|t| headings(&t).any(|h| h == anchor));
        if !anchor.is_empty() && file.ends_with(".md") | file.is_empty() && !has_anchor() {
            findings.push(Finding::at(
                path,
                number,
                format!("link to {target}: no such heading"),
            ));
        }
    }
    findings
}

/// Crates that ARCHITECTURE.md does not name.
pub fn check_architecture(root: &Path) -> Result<Vec<Finding>> {
    const PAGE: &str = "ARCHITECTURE.md";
    let Ok(text) = std::fs::read_to_string(root.join(PAGE)) else {
        return Ok(vec![Finding::at(PAGE, 0, "missing")]);
    };
    let mut findings = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).context("cannot list crates/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !text.contains(&format!("crates/{name}")) {
            findings.push(Finding::at(PAGE, 0, format!("does not name crates/{name}")));
        }
    }
    Ok(findings)
}

/// What the archives of measured runs may take: an older one stays in history when a newer one of the same comparison comes.
const ARCHIVES_BYTES_MAX: u64 = 3 << 20;

/// Archives that are too large in all, or raw output that is not compressed.
pub fn check_archives(root: &Path, files: &[String]) -> Vec<Finding> {
    const FOLDER: &str = "docs/runs/";
    let archived = || files.iter().filter(|path| path.starts_with(FOLDER));
    let size = |path: &String| std::fs::metadata(root.join(path)).map_or(0, |data| data.len());
    let total: u64 = archived().map(size).sum();
    let plain = archived().filter(|path| path.ends_with("/raw.txt") || path.ends_with(".gz"));
    let mut findings: Vec<_> = plain
        .map(|path| Finding::at(path, 0, "compress it: xz -9e"))
        .collect();
    if total > ARCHIVES_BYTES_MAX {
        let what = format!("{} KiB; at most 3 MiB: take older archives away", total >> 10);
        findings.push(Finding::at(FOLDER, 0, what));
    }
    findings
}

/// Targets of inline links with their lines, from 1; fenced code is left out.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            if let Some(end) = rest.find(')') {
                found.push((number + 1, rest[..end].split(' ').next().unwrap_or_default()));
            }
        }
    }
    found
}

/// Anchors of all headings, as the usual renderers build them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|l| l.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_link_is_found() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("b.md"), "# Two words, `code`\n").unwrap();
        let text = "[a](b.md) [c](b.md#two-words-code)\n```\n[d](no.md)\n```\n[e](c.md) [f](b.md#three) [g](https://x)\n";
        let lines: Vec<_> = check_links(root.path(), "a.md", text)
            .iter()
            .map(|f| f.line)
            .collect();
        assert_eq!(lines, [5, 5]);
    }
}
