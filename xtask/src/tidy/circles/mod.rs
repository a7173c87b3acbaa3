//! No circle of files beyond a pair: what a file needs is never reached by way of what needs the file. Two files that know
//! each other are one thing in two files; three are a knot, in which nothing can be read, moved or tested alone.
//!
//! Read from the text, as [`uses`] finds the paths that are named; a name that a module passes on leads to the file that
//! defines it. Code that macros write is not seen.

mod uses;

use super::Finding;
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use uses::{Crate, Module};

/// Files of a circle beyond which it is a finding.
const CIRCLE_MAX: usize = 2;

/// Files by number, each with those that it uses.
type Graph = Vec<BTreeSet<usize>>;

/// Every circle of more than two files in the crates that ship.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut crates: BTreeMap<String, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let folder = source.path.split_once("/src/").map(|(folder, _)| folder);
        let shipped = folder.filter(|folder| folder.starts_with("crates/") || folder.starts_with("sys/"));
        if let Some(folder) = shipped {
            crates.entry(folder.to_owned()).or_default().push(source);
        }
    }
    let mut findings = Vec::new();
    for files in crates.values() {
        for circle in circles(&graph(files)) {
            let names: Vec<&str> = circle.iter().map(|file| files[*file].path.as_str()).collect();
            let what = format!("a circle of {} files: {}", names.len(), names.join(", "));
            findings.push(Finding::at(names[0], 0, what));
        }
    }
    findings
}

/// Which file uses which. The root of a crate names everything and is used by all: it is left out.
fn graph(files: &[&Source]) -> Graph {
    let modules: Vec<Module> = files.iter().map(|source| Module::read(source)).collect();
    let all = Crate::of(&modules);
    let used = |module: &Module| -> BTreeSet<usize> {
        let paths = module.paths(&all).into_iter();
        paths.filter_map(|path| all.locate(&path)).collect()
    };
    let mut graph: Graph = modules.iter().map(used).collect();
    for (file, used) in graph.iter_mut().enumerate() {
        used.retain(|other| *other != file && !modules[*other].is_root());
    }
    graph
}

/// Circles of more than [`CIRCLE_MAX`] files: sets in which each file leads to each other.
fn circles(graph: &Graph) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..graph.len()).map(|from| reached(graph, from)).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for file in 0..graph.len() {
        let mutual = |other: &usize| reach[file].contains(other) && reach[*other].contains(&file);
        let circle: Vec<usize> = (0..graph.len()).filter(mutual).collect();
        let is_new = circle.iter().all(|file| seen.insert(*file));
        if is_new && circle.len() > CIRCLE_MAX {
            found.push(circle);
        }
    }
    found
}

/// Files to which `from` leads.
fn reached(graph: &Graph, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![from];
    while let Some(file) = ahead.pop() {
        for next in &graph[file] {
            if reached.insert(*next) {
                ahead.push(*next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |(path, text): &(&str, &str)| Source::new(&format!("crates/x/src/{path}"), (*text).into());
        let sources: Vec<Source> = files.iter().map(source).collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pair_is_one_thing_and_three_are_a_knot() {
        let pair = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use super::a::A;"),
        ];
        assert!(found(&pair).is_empty());
        let knot = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b::{B, D}, b};"),
            ("b.rs", "fn f() { crate::c::run() }"),
            ("c.rs", "use super::a::{self as first, A};"),
        ];
        assert_eq!(found(&knot).len(), 1, "{:?}", found(&knot));
        assert!(found(&knot)[0].contains("a circle of 3 files"));
    }

    #[test]
    fn what_a_module_passes_on_leads_to_its_file() {
        let through = |b: &'static str| {
            found(&[
                ("lib.rs", "mod a; mod b; mod c;"),
                (
                    "a/mod.rs",
                    "mod inner; mod other;\npub use inner::Thing;\npub(crate) use other::Else;",
                ),
                ("a/inner.rs", "use crate::b::B;"),
                ("a/other.rs", ""),
                ("b.rs", b),
                ("c.rs", "use crate::a::Thing;"),
            ])
        };
        assert!(through("use crate::a::Else;").is_empty(), "it is elsewhere");
        assert_eq!(through("use crate::c::C; fn f() {}").len(), 1);
        assert_eq!(through("use crate::c;\nfn f() { c::run() }").len(), 1);
    }

    #[test]
    fn tests_and_comments_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "// use crate::c::D;\nuse crate::c::C;"),
            ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}"),
        ];
        assert!(found(&files).is_empty());
    }
}
