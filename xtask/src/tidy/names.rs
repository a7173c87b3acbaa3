//! No transport and no test is known by name outside its own folder and the tables: whoever wants to know what one is like
//! asks the registry's entry or the test's row. A new one would else have to be added in places that nobody can list.

use super::Finding;
use super::source::Source;
use std::collections::BTreeSet;

/// The one list of all tests: names beside variants.
const TESTS: &str = "crates/schema/src/test/mod.rs";

/// Names of tests that are words of other trades as well: HTTP's methods, operations on memory.
const WORDS: [&str; 4] = ["get", "fadd", "swap", "cswap"];

/// Where names may stand, and why. An entry that nothing needs is a finding.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/schema/src/test/mod.rs", "the list of tests"),
    ("crates/schema/src/kinds/", "the table of tests"),
    ("crates/schema/src/host.rs", "names the transport of the floor"),
    ("crates/schema/src/parameter.rs", "a heading of help texts"),
    (
        "crates/schema/src/plan/resolve.rs",
        "a draft has some test until its own is read",
    ),
    ("crates/wirespeed/src/engine/messages.rs", "picks a test's body"),
    ("crates/wirespeed/src/engine/one_sided.rs", "picks a test's body"),
    (
        "crates/wirespeed/src/engine/datagram/mod.rs",
        "picks a test's body",
    ),
    ("crates/wirespeed/src/engine/tagged/run.rs", "picks a test's body"),
    (
        "crates/wirespeed/src/engine/tagged/defined.rs",
        "what definitions of other benchmarks say",
    ),
    ("crates/wirespeed/src/engine/example.rs", "a case for unit tests"),
    (
        "crates/wirespeed/src/transport/fixtures.rs",
        "a case for unit tests",
    ),
    (
        "crates/mpi/src/transport.rs",
        "an operation in which one library crashes",
    ),
    ("crates/conformance/src/", "measures every test"),
    (
        "crates/selftest/src/pipeline.rs",
        "the tests whose truth it knows",
    ),
    (
        "crates/session/src/path.rs",
        "a message path is one test or another",
    ),
    ("crates/session/src/say.rs", "a log that goes nowhere"),
    (
        "crates/report/src/assemble/posted.rs",
        "formulas of other benchmarks",
    ),
    (
        "crates/report/src/byteio/cases.rs",
        "transfers are cases without a row",
    ),
    (
        "crates/report/src/import/",
        "results of other tools are tests of ours",
    ),
    ("crates/report/src/perftest/", "a front end of an original"),
    ("crates/cli/src/perftest/", "a front end of an original"),
    ("crates/cli/src/front.rs", "names of originals"),
    (
        "crates/cli/src/cmd/",
        "verbs that choose their test and transport",
    ),
    ("crates/cli/src/absent.rs", "names what a build lacks"),
    (
        "crates/report/src/charts/loggp.rs",
        "LogGP is defined over windows of one benchmark",
    ),
    (
        "crates/report/src/view/cases.rs",
        "columns by where an operation completes",
    ),
    ("crates/report/src/view/quick.rs", "the tests of one verb"),
];

/// What is known by name.
#[derive(Default)]
struct Names {
    /// A transport, with the folder that is its own.
    transports: BTreeSet<(String, String)>,
    tests: BTreeSet<String>,
    variants: BTreeSet<String>,
}

/// Names outside their places, and places that need none.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let names = Names::read(sources);
    let mut needed = BTreeSet::new();
    let mut findings = Vec::new();
    let shipping = |source: &&Source| source.path.starts_with("crates/") && source.path.contains("/src/");
    for source in sources.iter().filter(shipping) {
        let found = names.found(source);
        let place = ALLOWED
            .iter()
            .position(|(place, _)| source.path.starts_with(place));
        match place {
            Some(place) if !found.is_empty() => drop(needed.insert(place)),
            Some(_) => {}
            None => findings.extend(found),
        }
    }
    let idle = ALLOWED
        .iter()
        .enumerate()
        .filter(|(place, _)| !needed.contains(place));
    findings.extend(idle.map(|(_, (place, _))| {
        Finding::at(
            place,
            0,
            "names nothing any more: take it off the list in xtask/src/tidy/names.rs",
        )
    }));
    findings
}

/// Names of the transports that a file implements.
pub fn of_transports(source: &Source) -> impl Iterator<Item = &str> {
    let lines = source.text.lines();
    lines.filter_map(|line| literal_after(line, "const NAME: &'static str = "))
}

impl Names {
    fn read(sources: &[Source]) -> Names {
        let mut names = Names::default();
        for source in sources.iter().filter(|source| source.path.starts_with("crates/")) {
            if source.code.contains("impl Transport for") && !source.is_test() {
                let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                names
                    .transports
                    .extend(of_transports(source).map(|name| (name.to_owned(), folder.to_owned())));
            }
            if source.path == TESTS {
                names.read_tests(&source.text);
            }
        }
        names
    }

    /// Lines such as `Test::AmLat(p) => ("am_lat", p),`.
    fn read_tests(&mut self, text: &str) {
        for line in text.lines() {
            let variant = line
                .trim_start()
                .strip_prefix("Test::")
                .and_then(|rest| rest.split_once('('));
            if let (Some((variant, _)), Some(name)) = (variant, literal_after(line, "=> (")) {
                self.variants.insert(variant.to_owned());
                self.tests.insert(name.to_owned());
            }
        }
    }

    fn found(&self, source: &Source) -> Vec<Finding> {
        let text: Vec<&str> = source.text.lines().collect();
        let mut findings = Vec::new();
        for (number, code) in source.shipped() {
            let line = text.get(number - 1).copied().unwrap_or_default();
            // A feature of the build may have the name of what it brings.
            let literals = match code.trim().is_empty() || code.contains("feature = ") {
                true => Vec::new(),
                false => literals(line),
            };
            for name in literals {
                let foreign = |(transport, folder): &(String, String)| {
                    transport == name && !source.path.starts_with(&format!("{folder}/"))
                };
                let message = if self.tests.contains(name) && !WORDS.contains(&name) {
                    format!("test {name} by name: ask its row (crates/schema/src/kinds)")
                } else if self.transports.iter().any(foreign) {
                    format!("transport {name} by name: ask its entry in the registry")
                } else {
                    continue;
                };
                findings.push(Finding::at(&source.path, number, message));
            }
            for variant in code.split("Test::").skip(1) {
                let end = variant
                    .find(|c: char| !c.is_alphanumeric())
                    .unwrap_or(variant.len());
                if self.variants.contains(&variant[..end]) {
                    let message = format!("Test::{} by name: ask what the test's row says", &variant[..end]);
                    findings.push(Finding::at(&source.path, number, message));
                }
            }
        }
        findings
    }
}

/// The literal that follows `before` in `line`.
fn literal_after<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let rest = line.split_once(before)?.1.strip_prefix('"')?;
    rest.split_once('"').map(|(literal, _)| literal)
}

/// What stands between quotes in a line: every second piece.
fn literals(line: &str) -> Vec<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings in a file at `path` that are not about the list itself.
    fn found(path: &str, text: &str) -> usize {
        let tcp = "impl Transport for Tcp {\n    const NAME: &'static str = \"tcp\";\n}";
        let tests = "Test::AmLat(p) => (\"am_lat\", p),\nTest::Get(p) => (\"get\", p),";
        let sources = [
            Source::new("crates/wirespeed/src/transport/tcp/mod.rs", tcp.to_owned()),
            Source::new(TESTS, tests.to_owned()),
            Source::new(path, text.to_owned()),
        ];
        let findings = check(&sources);
        findings.iter().filter(|finding| finding.line > 0).count()
    }

    #[test]
    fn names_stand_in_their_places_alone() {
        let other = "crates/report/src/laws.rs";
        assert_eq!(found(other, "if case.transport == \"tcp\" {"), 1);
        assert_eq!(
            found("crates/wirespeed/src/transport/tcp/link.rs", "f(\"tcp\")"),
            0
        );
        assert_eq!(found(other, "if name == \"am_lat\" {"), 1);
        assert_eq!(found(other, "matches!(test, Test::AmLat(_) | Test::Get(_))"), 2);
        assert_eq!(found("crates/cli/src/front.rs", "f(\"am_lat\", Test::AmLat)"), 0);
    }

    #[test]
    fn words_comments_and_tests_are_free() {
        let other = "crates/report/src/laws.rs";
        assert_eq!(found(other, "method(\"get\"); f(\"tcp is slow\"); Test::ALL"), 0);
        assert_eq!(found(other, "// such as \"tcp\"\n/// [`Test::AmLat`]"), 0);
        assert_eq!(found(other, "#[cfg(test)]\nmod tests {\n    f(\"tcp\");\n}"), 0);
        assert_eq!(found("tests/tests/x.rs", "f(\"tcp\")"), 0);
    }

    #[test]
    fn a_place_that_needs_no_names_is_found() {
        let findings = check(&[]);
        assert_eq!(findings.len(), ALLOWED.len());
    }
}
