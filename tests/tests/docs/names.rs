//! Files that the pages name exist, and the code that they quote is code that is tested.

use crate::pages::{self, root};

/// Folders from which the pages count paths.
const BASES: [&str; 5] = ["", "crates", "crates/wirespeed/src", "crates/wirespeed/src/transport", "docs"];
/// Beginnings that make a text between backticks a path of the repository.
const TOPS: [&str; 7] = ["crates/", "docs/", "tests/", "xtask/", "fuzz/", "examples/", "transport/"];
/// Names of files that the user or the reader's shell makes.
const NOT_OURS: [&str; 3] = ["plan.toml", "sys.rs", "PLAN.toml"];

/// `a/{b,c}/d` as `a/b/d` and `a/c/d`.
fn spelled_out(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?))) {
        Some((head, (middle, tail))) => middle.split(',').map(|m| format!("{head}{m}{tail}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// With patterns cut off, whether the path leads somewhere.
fn exists(path: &str) -> bool {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains('*')).collect();
    BASES.iter().any(|base| root().join(base).join(fixed.join("/")).exists())
}

fn is_path(code: &str) -> bool {
    let plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},*".contains(c));
    let ending = [".rs", ".md", ".toml", ".sh", ".json", "/"].iter().any(|e| code.ends_with(e));
    plain && (ending && !code.starts_with('.') || TOPS.iter().any(|top| code.starts_with(top)))
}

#[test]
fn named_paths_exist() {
    let mut problems = Vec::new();
    let mut found = 0;
    for page in pages::all() {
        for code in pages::inline_code(&page) {
            if !is_path(&code) || NOT_OURS.contains(&code.as_str()) {
                continue;
            }
            found += 1;
            let missing = spelled_out(&code).into_iter().filter(|path| !exists(path));
            problems.extend(missing.map(|path| format!("{}: {path}: no such file", page.name)));
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    assert!(found > 30, "only {found} paths found");
}

#[test]
fn the_worked_example_is_a_tested_transport() {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let tested = std::fs::read_to_string(root().join("crates/conformance/tests/outside.rs")).unwrap();
    let tested = squeeze(&tested);
    let page = pages::page("CONTRIBUTING.md");
    let code: Vec<_> = pages::blocks(&page)
        .into_iter()
        .filter(|b| b.language() == "rust")
        .collect();
    assert!(code.len() >= 3, "CONTRIBUTING.md shows {} pieces of code", code.len());
    for block in code {
        // An ellipsis stands for lines that are left out.
        for piece in block.lines.join("\n").split("// ...") {
            assert!(
                tested.contains(&squeeze(piece)),
                "{}: this is not in crates/conformance/tests/outside.rs:\n{piece}",
                block.place
            );
        }
    }
}
