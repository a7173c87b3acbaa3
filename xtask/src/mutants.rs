//! Whether tests notice changes of the code that they are to guard: cargo-mutants on one module after the other, with few tests, so that a
//! mutant costs seconds. It works in a copy of the tree, must never change the tree itself, and installs nothing.

use crate::command;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use wirespeed_report::stats::share_interval;

/// Code, and the tests that are to guard it.
struct Module {
    name: &'static str,
    package: &'static str,
    /// Paths from the package's folder; a folder with all below it.
    files: &'static [&'static str],
    /// For `cargo test`: which tests, and of those, of which paths.
    tests: &'static [&'static str],
}

const fn module(
    name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
    tests: &'static [&'static str],
) -> Module {
    Module {
        name,
        package,
        files,
        tests,
    }
}

/// Tests of the report's judgement stand beside the code and in the crate's own test program.
const CHECKS: &[&str] = &[
    "--lib",
    "--test",
    "report",
    "--",
    "checks::",
    "remarks::",
    "workers::a_slow",
    "assemble::pairs_that_were_not",
];
const COMPARE: &[&str] = &[
    "--lib",
    "--test",
    "report",
    "--",
    "compare::",
    "matching::",
    "mesh::changes::",
];

const MODULES: [Module; 14] = [
    module("clock", "wirespeed", &["src/clock"], &["--lib", "--", "clock::"]),
    module(
        "record",
        "wirespeed",
        &["src/record"],
        &["--lib", "--", "record::"],
    ),
    module(
        "flow",
        "wirespeed",
        &["src/engine/flow.rs"],
        &["--lib", "--", "engine::flow::"],
    ),
    module(
        "sequence",
        "wirespeed",
        &["src/engine/datagram/sequence.rs"],
        &["--lib", "--", "engine::datagram::"],
    ),
    module("schema", "schema", &["src"], &["--lib"]),
    module("stats", "report", &["src/stats"], &["--lib", "--", "stats::"]),
    module("checks", "report", &["src/checks"], CHECKS),
    module("compare", "report", &["src/compare"], COMPARE),
    module("curve", "report", &["src/curve"], &["--lib", "--", "curve::"]),
    module(
        "frames",
        "control",
        &["src/frame.rs"],
        &["--lib", "--", "frame::"],
    ),
    module(
        "sessions",
        "control",
        &["src/session"],
        &["--lib", "--", "session::"],
    ),
    module("http", "byteio", &["src/http"], &["--lib", "--", "http::"]),
    module("mime", "byteio", &["src/mime"], &["--lib", "--", "mime::"]),
    module("soap", "byteio", &["src/soap"], &["--lib", "--", "soap::"]),
];

/// What became of the mutants of a module.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    /// A test failed, or did not end.
    caught: usize,
    /// Every test passed.
    missed: usize,
    /// The mutant does not compile.
    unviable: usize,
}

impl Tally {
    /// One line: counts, and the share of the viable ones that was caught, with its interval where they are a sample.
    fn words(&self, sampled: bool) -> String {
        let viable = self.caught + self.missed;
        let share = 100.0 * self.caught as f64 / viable.max(1) as f64;
        let (lower, upper) = share_interval(self.caught, viable);
        let interval = match sampled {
            true => format!(" [{:.0}, {:.0}]", 100.0 * lower, 100.0 * upper),
            false => String::new(),
        };
        format!(
            "{} caught, {} missed, {} unviable: {share:.0} %{interval}",
            self.caught, self.missed, self.unviable
        )
    }
}

/// Try the modules named, or all; `--shard K/N` tries every Nth mutant.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (chosen, shard) = asked(words)?;
    if command::find("cargo-mutants").is_none() {
        bail!("cargo-mutants is not installed: `cargo install cargo-mutants --locked`");
    }
    let mut lines = Vec::new();
    for module in chosen {
        let tally = try_module(root, module, shard)?;
        lines.push(format!("{:9} {}", module.name, tally.words(shard.is_some())));
    }
    println!("{}", lines.join("\n"));
    Ok(())
}

/// Modules, and the share of their mutants.
fn asked<'a>(words: &[&'a str]) -> Result<(Vec<&'static Module>, Option<&'a str>)> {
    let (names, shard) = match words {
        [names @ .., "--shard", shard] => (names, Some(*shard)),
        names => (names, None),
    };
    if names.is_empty() {
        return Ok((MODULES.iter().collect(), shard));
    }
    let known = || MODULES.map(|module| module.name).join(" ");
    let found = names.iter().map(|name| {
        let module = MODULES.iter().find(|module| module.name == *name);
        module.with_context(|| format!("no module {name:?}: one of {}", known()))
    });
    Ok((found.collect::<Result<_>>()?, shard))
}

fn try_module(root: &Path, module: &Module, shard: Option<&str>) -> Result<Tally> {
    let folder = root.join("target/mutants").join(module.name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut cargo = Command::new(command::cargo());
    cargo
        .current_dir(root)
        .args(["mutants", "--workspace", "--no-shuffle", "--no-times"]);
    // What a mutant costs is compiling: no debug information, and only what changed.
    cargo
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "1");
    cargo.args(["--minimum-test-timeout", "10", "--cargo-arg", "--locked"]);
    for path in module.files {
        let path = format!("crates/{}/{path}", module.package);
        cargo.args([
            "--file",
            &if path.ends_with(".rs") {
                path
            } else {
                format!("{path}/**")
            },
        ]);
    }
    if let Some(shard) = shard {
        cargo.args(["--sharding", "round-robin", "--shard", shard]);
    }
    let package = match module.package {
        "wirespeed" => "wirespeed".to_owned(),
        name => format!("wirespeed-{name}"),
    };
    cargo
        .args(["--test-package", &package])
        .arg("--output")
        .arg(&folder);
    // Other test programs are not even built: `--lib` and the like are for both of its steps, what is behind them for the second.
    let (targets, filters) = match module.tests.iter().position(|word| *word == "--") {
        Some(at) => module.tests.split_at(at),
        None => (module.tests, [].as_slice()),
    };
    targets.iter().for_each(|target| {
        cargo.args(["--cargo-arg", target]);
    });
    let status = cargo.arg("--").args(filters).status();
    // 2: some were missed; 3: tests of some did not end.
    match status
        .with_context(|| format!("cannot start {}", command::shown(&cargo)))?
        .code()
    {
        Some(0 | 2 | 3) => tally(&folder.join("mutants.out")),
        _ => bail!("{} failed", command::shown(&cargo)),
    }
}

/// What cargo-mutants has written: a file for each fate, a line for each mutant.
fn tally(folder: &Path) -> Result<Tally> {
    let count = |name: &str| -> Result<usize> {
        let path = folder.join(name).with_extension("txt");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(text.lines().count())
    };
    Ok(Tally {
        caught: count("caught")? + count("timeout")?,
        missed: count("missed")?,
        unviable: count("unviable")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_whose_tests_never_end_are_caught_and_those_that_do_not_compile_are_no_part_of_the_share() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("caught", "a\nb\n"),
            ("timeout", "c\n"),
            ("missed", "d\n"),
            ("unviable", "e\nf\n"),
        ] {
            std::fs::write(folder.path().join(name).with_extension("txt"), text).unwrap();
        }
        let found = tally(folder.path()).unwrap();
        assert_eq!(found.words(false), "3 caught, 1 missed, 2 unviable: 75 %");
        assert_eq!(found.words(true), "3 caught, 1 missed, 2 unviable: 75 % [30, 95]");
    }

    #[test]
    fn modules_are_chosen_by_name_and_their_files_exist() {
        let (chosen, shard) = asked(&["flow", "record", "--shard", "0/4"]).unwrap();
        let names: Vec<_> = chosen.iter().map(|module| module.name).collect();
        assert_eq!((names, shard), (vec!["flow", "record"], Some("0/4")));
        assert!(asked(&["flows"]).is_err());
        let root = crate::root().unwrap();
        for module in asked(&[]).unwrap().0 {
            for path in module.files {
                assert!(
                    root.join("crates").join(module.package).join(path).exists(),
                    "{path}"
                );
            }
        }
    }
}
