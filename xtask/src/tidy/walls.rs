//! Walls inside the code: where unsafe may stand, what may not print or read a clock, transports that stay apart.

use super::Finding;
use super::source::{Source, has_word};
use std::collections::BTreeSet;

/// The folder of the library's transports.
pub const TRANSPORT: &str = "crates/wirespeed/src/transport/";
/// Crates that publish data or an interface: they must never print nor end the process.
const QUIET_CRATES: &[&str] = &[
    "schema",
    "wirespeed",
    "control",
    "report",
    "conformance",
    "mpi",
    "ucx",
    "byteio",
    "mesh",
];
const LOUD: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "process::exit"];

/// Crates over libraries that are loaded at run time: their link files call them.
const LOADED_CRATES: [&str; 2] = ["crates/mpi/src/", "crates/ucx/src/"];

/// The main function of a rank's process, which has nobody to hand anything to.
const RANK_MAIN: &str = "crates/control/src/agent/mod.rs";

/// Names of the folders that are transports: those whose `mod.rs` implements the trait.
pub fn transports(sources: &[Source]) -> BTreeSet<String> {
    let implementing = |s: &&Source| s.path.ends_with("/mod.rs") && s.code.contains("impl Transport for");
    let folder = |s: &Source| {
        s.path
            .strip_prefix(TRANSPORT)?
            .split_once('/')
            .map(|(name, _)| name.to_owned())
    };
    sources.iter().filter(implementing).filter_map(folder).collect()
}

/// Breaches in one file.
pub fn check(source: &Source, transports: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = unsafe_code(source);
    findings.extend(imports(source, transports));
    let path = &source.path;
    let quiet = path != RANK_MAIN
        && QUIET_CRATES
            .iter()
            .any(|c| path.starts_with(&format!("crates/{c}/src/")));
    for (number, line) in source.shipped() {
        if quiet && let Some(word) = LOUD.iter().find(|w| has_word(line, w)) {
            findings.push(Finding::at(
                path,
                number,
                format!("{word} in a library; hand it to the caller"),
            ));
        }
        let is_link = path.starts_with(TRANSPORT) && file_name(path).starts_with("link");
        if is_link
            && (has_word(line, "Instant") || has_word(line, "SystemTime") || line.contains("crate::clock"))
        {
            findings.push(Finding::at(path, number, "a port never reads the clock"));
        }
        // The registry is where the two meet: it picks a transport's runners.
        let is_transport = path.starts_with(TRANSPORT) && !path.ends_with("/registry.rs");
        if is_transport && line.contains("crate::engine") {
            findings.push(Finding::at(
                path,
                number,
                "a transport knows nothing of the engine",
            ));
        }
        let is_schema = path.starts_with("crates/schema/src/");
        let outside = [
            "std::fs",
            "std::io",
            "std::time::Instant",
            "SystemTime",
            "TcpStream",
            "UdpSocket",
            "std::thread",
            "std::process",
        ];
        if is_schema && outside.iter().any(|m| line.contains(m)) {
            findings.push(Finding::at(
                path,
                number,
                "the schema is plain data: no I/O, no clock",
            ));
        }
    }
    findings
}

/// A crate without unsafe code must say so, so that it stays so.
pub fn check_forbid(sources: &[Source]) -> Vec<Finding> {
    let is_root = |s: &&Source| s.path.ends_with("/src/lib.rs") || s.path.ends_with("/src/main.rs");
    sources
        .iter()
        .filter(is_root)
        .filter(|root| !root.code.contains("#![forbid(unsafe_code)]"))
        .filter(|root| {
            let folder = root.path.trim_end_matches(file_name(&root.path));
            let mut members = sources.iter().filter(|s| s.path.starts_with(folder));
            !members.any(|s| has_word(&s.code, "unsafe"))
        })
        .map(|root| {
            Finding::at(
                &root.path,
                1,
                "no unsafe code here: say `#![forbid(unsafe_code)]`",
            )
        })
        .collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn may_be_unsafe(path: &str) -> bool {
    let library = ["sync/", "clock/", "host/"].map(|f| format!("crates/wirespeed/src/{f}"));
    let link = path.starts_with(TRANSPORT) && file_name(path).starts_with("link");
    let sys = file_name(path) == "sys.rs" && !path.starts_with("crates/schema/") || path.starts_with("sys/");
    let loaded = LOADED_CRATES.iter().any(|c| path.starts_with(c)) && file_name(path).starts_with("link");
    let foreign = path.starts_with("crates/capi/src/ffi/");
    library.iter().any(|f| path.starts_with(f)) || link || sys || loaded || foreign
}

/// Without types of function pointers: `unsafe extern "C" fn(` names no function and does nothing. The literal is blanked
/// out already.
fn without_types(line: &str) -> String {
    let mut rest = line;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("unsafe extern") {
        let is_type = after.trim_start().starts_with("fn(");
        kept.push_str(before);
        kept.push_str(if is_type { "" } else { "unsafe extern" });
        rest = after;
    }
    kept + rest
}

fn unsafe_code(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let text: Vec<&str> = source.text.lines().collect();
    for (number, line) in source
        .lines()
        .filter(|(_, l)| has_word(&without_types(l), "unsafe"))
    {
        let mut find = |message: &str| findings.push(Finding::at(&source.path, number, message));
        if !may_be_unsafe(&source.path) {
            find("unsafe code outside sync/, clock/, host/, link files, ffi/, sys.rs and sys/");
        }
        let above = |lines: usize| text[number.saturating_sub(lines)..number].join("\n");
        let declares =
            line.contains("unsafe fn") || line.contains("unsafe extern") || line.contains("unsafe trait");
        let noted = if declares {
            // The implementation of a trait's function is documented at the trait; its body then says why it is sound.
            let below = text[number..text.len().min(number + 3)].join("\n");
            above(20).contains("# Safety") || above(8).contains("SAFETY:") || below.contains("SAFETY:")
        } else {
            line.contains("#[unsafe(") || above(8).contains("SAFETY:")
        };
        if !noted {
            find("unsafe without a `// SAFETY:` note (or `# Safety` on a function)");
        }
    }
    findings
}

fn imports(source: &Source, transports: &BTreeSet<String>) -> Vec<Finding> {
    let Some((own, _)) = source
        .path
        .strip_prefix(TRANSPORT)
        .and_then(|p| p.split_once('/'))
    else {
        return Vec::new();
    };
    let others = || transports.iter().filter(|t| *t != own);
    let names = |line: &str, other: &str| {
        ["transport::", "super::"].iter().any(|from| {
            line.match_indices(&format!("{from}{other}")).any(|(at, found)| {
                let rest = &line[at + found.len()..];
                rest.starts_with("::") || rest.starts_with(';') || rest.starts_with(',')
            })
        })
    };
    source
        .shipped()
        .flat_map(|(number, line)| {
            others()
                .filter(move |other| names(line, other))
                .map(move |other| (number, other))
        })
        .map(|(number, other)| {
            Finding::at(
                &source.path,
                number,
                format!("transport {own} reaches into {other}"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let transports = BTreeSet::from(["shm".to_owned(), "tcp".to_owned()]);
        check(&Source::new(path, text.to_owned()), &transports).len()
    }

    #[test]
    fn only_the_registry_knows_the_engine() {
        let line = "use crate::engine::messages;";
        assert_eq!(found("crates/wirespeed/src/transport/tcp/mod.rs", line), 1);
        assert_eq!(found("crates/wirespeed/src/transport/registry.rs", line), 0);
    }

    #[test]
    fn transports_stay_apart() {
        let path = "crates/wirespeed/src/transport/tcp/mod.rs";
        assert_eq!(found(path, "use super::super::shm::Ring;"), 1);
        assert_eq!(found(path, "use crate::transport::shm::Ring;"), 1);
        assert_eq!(
            found(path, "use super::link::Port;\nuse crate::transport::tcp::X;"),
            0
        );
    }

    #[test]
    fn unsafe_has_its_places_and_its_notes() {
        assert_eq!(
            found("crates/report/src/lib.rs", "// SAFETY: none\nunsafe { f() }"),
            1
        );
        assert_eq!(
            found(
                "crates/wirespeed/src/sync/x.rs",
                "// SAFETY: fine\nunsafe { f() }"
            ),
            0
        );
        assert_eq!(found("crates/wirespeed/src/sync/x.rs", "unsafe { f() }"), 1);
        assert_eq!(
            found(
                "crates/wirespeed/src/sync/x.rs",
                "/// # Safety\n/// none\npub unsafe fn f() {}"
            ),
            0
        );
    }

    #[test]
    fn libraries_are_quiet_and_ports_are_timeless() {
        assert_eq!(found("crates/report/src/lib.rs", "println!();"), 1);
        assert_eq!(found("crates/cli/src/main.rs", "println!();"), 0);
        assert_eq!(
            found(
                "crates/wirespeed/src/transport/tcp/link.rs",
                "use std::time::Instant;"
            ),
            1
        );
        assert_eq!(found("crates/schema/src/run.rs", "use std::fs::File;"), 1);
    }
}
