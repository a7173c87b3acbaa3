//! Files that the pages name exist, and the code that they quote is code that is tested.

use crate::pages::{self, root};

/// Folders from which the pages count paths.
const BASES: [&str; 5] = [
    "",
    "crates",
    "crates/wirespeed/src",
    "crates/wirespeed/src/transport",
    "docs",
];
/// Beginnings that make a text between backticks a path of the repository.
const TOPS: [&str; 7] = [
    "crates/",
    "docs/",
    "tests/",
    "xtask/",
    "fuzz/",
    "examples/",
    "transport/",
];
/// Names of files that the reader makes, or that many folders have.
const NOT_OURS: [&str; 4] = ["plan.toml", "sys.rs", "PLAN.toml", "link.rs"];

/// `a/{b,c}/d` as `a/b/d` and `a/c/d`.
fn spelled_out(path: &str) -> Vec<String> {
    match path
        .split_once('{')
        .and_then(|(head, rest)| Some((head, rest.split_once('}')?)))
    {
        Some((head, (middle, tail))) => middle.split(',').map(|m| format!("{head}{m}{tail}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// With patterns cut off, whether the path leads somewhere.
fn exists(path: &str) -> bool {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains('*')).collect();
    let fixed = fixed.join("/");
    let there = |base: &str| root().join(base).join(&fixed).exists();
    // A section about a crate names files from that crate's source on.
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let mut sources = crates.map(|entry| entry.unwrap().path().join("src"));
    BASES.iter().any(|base| there(base)) || sources.any(|source| source.join(&fixed).exists())
}

fn is_path(code: &str) -> bool {
    let plain = code
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-{},*".contains(c));
    let ending = [".rs", ".md", ".toml", ".sh", ".json", "/"]
        .iter()
        .any(|e| code.ends_with(e));
    // A path from the root is an address on a server.
    plain
        && !code.starts_with('/')
        && (ending && !code.starts_with('.') || TOPS.iter().any(|top| code.starts_with(top)))
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

/// Pages with code, and the compiled files that it is from.
const QUOTED: [(&str, &[&str], usize); 2] = [
    (
        "CONTRIBUTING.md",
        &[
            "crates/conformance/tests/outside.rs",
            "crates/schema/src/test/stream.rs",
        ],
        9,
    ),
    ("README.md", &["examples/embed/two_threads.rs"], 1),
];

#[test]
fn quoted_code_is_tested_code() {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, files, at_least) in QUOTED {
        let read = |file: &&str| squeeze(&std::fs::read_to_string(root().join(file)).unwrap());
        let tested: Vec<String> = files.iter().map(read).collect();
        let page = pages::page(name);
        let code: Vec<_> = pages::blocks(&page)
            .into_iter()
            .filter(|b| b.language() == "rust")
            .collect();
        assert!(
            code.len() >= at_least,
            "{name} shows {} pieces of code",
            code.len()
        );
        for block in code {
            // An ellipsis stands for lines that are left out.
            for piece in block.lines.join("\n").split("// ...") {
                let there = tested.iter().any(|file| file.contains(&squeeze(piece)));
                assert!(there, "{}: this is not in {files:?}:\n{piece}", block.place);
            }
        }
    }
    for page in pages::all() {
        let quoted = QUOTED.iter().any(|(name, _, _)| *name == page.name);
        let code = pages::blocks(&page).iter().any(|b| b.language() == "rust");
        assert!(quoted || !code, "{} shows code that nothing compares", page.name);
    }
}
