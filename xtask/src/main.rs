//! Chores of the workspace: checks, the test ladder, the benchmark beside the peers, generated files.
//!
//! Nothing here may be needed to build or use wirespeed, and nothing here measures: it starts what measures.
#![forbid(unsafe_code)]

mod api;
mod bindings;
mod chaos;
mod command;
mod evidence;
mod features;
mod fmt;
mod fuzz;
mod header;
mod hotcheck;
mod install;
mod ladder;
mod mutants;
mod notices;
mod peers;
mod prose;
mod recordings;
mod runs;
mod schema;
mod tidy;
mod weight;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK
  tidy                 check the house style over the whole tree
  fmt [--fix]          rustfmt on every Rust file (also those declared inside macros)
  prose                words and reading grade of the pages; fail above their limits
  hotcheck             check the machine code of the hot loops
  weight               print machine code by crate and family; fail over the budget
  features             check that library and program build without their features, and with each alone
  bindings ucx         write the bindings of UCX anew from its headers
  schema [--check]     write (or compare) docs/run.schema.json
  api [--check]        write (or compare) the lists of public items, crates/*/api.txt
  header [--check]     write (or compare) the C header wirespeed.h
  notices [--check]    write (or compare) THIRD-PARTY.md
  notices --texts FILE write the full licence texts of every dependency
  fuzz [SECONDS] [--sanitize] [--keep] [TARGET ..]
                       fuzz every target for so long (30); --sanitize: with an AddressSanitizer (nightly); --keep: into fuzz/corpus
  test                 every check and test (what `make test` runs)
  tests                the tests alone, side by side; those of the program start the one that hotcheck builds
  chaos [--seed N] [--for TIME | --rounds N] [--only runs|byteio|serve|sessions|mpi]
                       rounds of random trouble against the program, and what must hold after each
  mutants [MODULE ..] [--shard K/N]
                       whether the unit tests of a module notice changes of its code (cargo-mutants)
  ladder               the longer ladder: test, deny, miri, fuzz, soak, chaos, peers
  peers [typed|before|mpi|ucx|byteio|session] [PAIRS] [--rows TEXT] [--group NAME,..] [--budget TIME] [--resume]
                       benchmark beside the peers: by default ucx_perftest, sockperf and iperf3; else what users type, the binary before,
                       loops in C on MPI, uct test by test, bulk transfers (root), sessions. Each group has the budget
  peers list [SET]     their groups and rows, what is missing here and why, minutes expected
  evidence [CLAIM ..] [--blocks N]  measure what the claims about figures rest on: aa, injected, launches, coverage (N
                                   blocks of 8 launches), page, samples, mesh
  evidence mesh --lab [RUNS] [KIND ..]  judge meshes of machines of the lab: healthy, host-rate, host-quota, link-rate,
                                    link-long, link-lossy (20 runs each)
  evidence coverage --again PATH   judge archived launches again
  recordings [--draw] [STORY ..]   play the stories of the pages on a terminal, and draw them, into docs/recordings; with
                                   --draw, draw what was played before
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
        Some("prose") => prose::run(&root),
        Some("hotcheck") => hotcheck::run(&root),
        Some("weight") => weight::run(&root),
        Some("features") => features::run(&root),
        Some("schema") => schema::run(&root, check),
        Some("api") => api::run(&root, check),
        Some("header") => header::run(&root, check),
        Some("bindings") => bindings::run(&root, rest.first().copied()),
        Some("notices") => match rest.as_slice() {
            ["--texts", file] => notices::write_texts(&root, Path::new(file)),
            _ => notices::run(&root, check),
        },
        Some("fuzz") => fuzz::run(&root, &rest),
        Some("test") => ladder::test(&root),
        Some("tests") => ladder::tests(&root),
        Some("chaos") => chaos::run(&root, &rest),
        Some("mutants") => mutants::run(&root, &rest),
        Some("ladder") => ladder::long(&root),
        Some("peers") => peers::run(&root, &rest),
        Some("evidence") => evidence::run(&root, &rest),
        Some("recordings") => recordings::run(&root, &rest),
        Some("install") => install::run(&root, rest.first().copied().unwrap_or("/usr/local")),
        _ => bail!("no such task\n{USAGE}"),
    }
}

/// The workspace's root: this crate's parent.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_owned)
        .context("the workspace has a root")
}
