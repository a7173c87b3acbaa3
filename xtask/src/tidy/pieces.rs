//! What belongs to a transport besides its code: its line in the list, its README, its row on the page of transports, and
//! what its loops may call.

use super::source::Source;
use super::{Finding, names, walls};
use crate::hotcheck::rules;

/// The page with a row a transport.
pub const PAGE: &str = "docs/transports.md";
/// The mark behind its table.
const TABLE_END: &str = "<!-- transports:end -->";
/// The file with a line a transport.
const LIST: &str = "crates/wirespeed/src/transport/registry.rs";

/// Pieces that the library's transports lack; `page` is the text of [`PAGE`].
pub fn check(sources: &[Source], files: &[String], page: &str) -> Vec<Finding> {
    let list = sources.iter().find(|source| source.path == LIST);
    let table = page.split(TABLE_END).next().unwrap_or_default();
    let mut findings = Vec::new();
    for folder in walls::transports(sources) {
        let path = |file: &str| format!("{}{folder}/{file}", walls::TRANSPORT);
        let (cold, readme) = (path("mod.rs"), path("README.md"));
        let mut lacks = |path: &str, what: String| findings.push(Finding::at(path, 0, what));
        if !files.contains(&readme) {
            lacks(
                &readme,
                "missing: say what is measured and what each option does".to_owned(),
            );
        }
        if !list.is_some_and(|list| list.code.contains(&format!(" {folder}::"))) {
            lacks(LIST, format!("has no line for {folder}"));
        }
        let Some(source) = sources.iter().find(|source| source.path == cold) else {
            continue;
        };
        if rules::listed(&source.text).is_none() {
            lacks(
                &cold,
                "say at its top what its loops may call: `//! Loops may call: nothing.`".to_owned(),
            );
        }
        for name in names::of_transports(source).filter(|name| !table.contains(&format!("\n| `{name}` |"))) {
            lacks(
                PAGE,
                format!("has no row for {name}: CONTRIBUTING.md says how to write it"),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_piece_is_found() {
        let found = |top: &str, list: &str, files: &[&str], page: &str| {
            let code =
                format!("{top}\nimpl Transport for Fog {{\n    const NAME: &'static str = \"fog\";\n}}");
            let sources = [
                Source::new("crates/wirespeed/src/transport/fog/mod.rs", code),
                Source::new(LIST, list.to_owned()),
            ];
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            check(&sources, &files, page).len()
        };
        let (top, list) = ("//! Loops may call: nothing.", "    of fog::Fog,");
        let (files, page) = (
            ["crates/wirespeed/src/transport/fog/README.md"],
            "\n| `fog` | native |",
        );
        assert_eq!(found(top, list, &files, page), 0);
        assert_eq!(found("", list, &files, page), 1);
        assert_eq!(found(top, "", &files, page), 1);
        assert_eq!(found(top, list, &[], page), 1);
        assert_eq!(found(top, list, &files, &format!("{TABLE_END}{page}")), 1);
        assert_eq!(found("", "", &[], ""), 4);
    }
}
