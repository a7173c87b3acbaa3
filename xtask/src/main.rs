//! Chores of the workspace: checks, the test ladder, the benchmark beside the peers, generated files.
//!
//! Nothing here may be needed to build or use wirespeed, and nothing here measures: it starts what measures.
#![forbid(unsafe_code)]

mod command;
mod fmt;
mod fuzz;
mod hotcheck;
mod install;
mod ladder;
mod notices;
mod peers;
mod schema;
mod tidy;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK
  tidy                 check the house style over the whole tree
  fmt [--fix]          rustfmt on every Rust file (also those declared inside macros)
  hotcheck             check the machine code of the hot loops
  schema [--check]     write (or compare) docs/run.schema.json
  notices [--check]    write (or compare) THIRD-PARTY.md
  notices --texts FILE write the full licence texts of every dependency
  fuzz-check           compile the fuzz crate and replay its seeds on the stable toolchain
  fuzz [SECONDS]       fuzz every target (nightly and cargo-fuzz)
  test                 every check and test (what `make test` runs after installing)
  ladder               the longer ladder: test, deny, miri, fuzz, soak, peers
  peers [PAIRS]        benchmark beside ucx_perftest, sockperf and iperf3
  install PREFIX       install binary, man page and completions (honours DESTDIR)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let root = root()?;
    let rest: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let check = rest.contains(&"--check");
    match arguments.first().map(String::as_str) {
        Some("tidy") => tidy::run(&root),
        Some("fmt") => fmt::run(&root, rest.contains(&"--fix")),
        Some("hotcheck") => hotcheck::run(&root),
        Some("schema") => schema::run(&root, check),
        Some("notices") => match rest.as_slice() {
            ["--texts", file] => notices::write_texts(&root, Path::new(file)),
            _ => notices::run(&root, check),
        },
        Some("fuzz-check") => fuzz::check(&root),
        Some("fuzz") => fuzz::fuzz(&root, parsed(rest.first(), 30)?),
        Some("test") => ladder::test(&root),
        Some("ladder") => ladder::long(&root),
        Some("peers") => peers::run(&root, parsed(rest.first(), 10)?),
        Some("install") => install::run(&root, rest.first().copied().unwrap_or("/usr/local")),
        _ => bail!("no such task\n{USAGE}"),
    }
}

fn parsed(argument: Option<&&str>, default: usize) -> Result<usize> {
    match argument {
        Some(text) => text.parse().with_context(|| format!("{text:?} is not a count")),
        None => Ok(default),
    }
}

/// The workspace's root: this crate's parent.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_owned)
        .context("the workspace has a root")
}
