//! What the claims about wirespeed's own figures rest on, measured on this machine: false verdicts of controls, a known
//! difference found, the spread of launches, how fast a large page opens and how fast ten million samples are judged.
//!
//! This is never a test: it needs a quiet machine and minutes. It fails where something cannot run; whether an aim is met
//! stands in the archive.

mod archive;
mod coverage;
mod launches;
mod mesh;
mod page;
mod samples;
mod verdicts;

use crate::command;
use anyhow::{Context as _, Result, bail};
use archive::Archive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One claim: its name, what it says, and what measures it.
type Claim = (
    &'static str,
    &'static str,
    fn(&Context, &mut Archive) -> Result<()>,
);

const CLAIMS: [Claim; 7] = [
    (
        "aa",
        "a thing compared with itself: at most 16 false verdicts in 200 comparisons",
        verdicts::controls,
    ),
    (
        "injected",
        "a difference of 3 % is found with the number of pairs that was announced",
        verdicts::injected,
    ),
    (
        "launches",
        "30 launches of the shm 8 B round trip: interquartile range within 5 % of the median",
        launches::spread,
    ),
    (
        "coverage",
        "intervals over 8 launches hold the median of all launches as often as they state",
        coverage::measured,
    ),
    (
        "page",
        "the page of a result of 500 cases opens in under 2 s",
        page::opening,
    ),
    (
        "samples",
        "statistics of 10 million raw samples in under 2 s",
        samples::statistics,
    ),
    (
        "mesh",
        "of simulated meshes 99 % name the slow host or link, and 1 % of the healthy ones anything",
        mesh::judgements,
    ),
];

/// Where things are.
pub struct Context {
    /// The workspace.
    pub root: PathBuf,
    /// The program, built in release.
    pub binary: PathBuf,
    /// Blocks of launches that `coverage` measures.
    pub blocks: usize,
}

impl Context {
    /// What an example of a package prints, built in release.
    fn example(&self, package: &str, name: &str) -> Result<String> {
        let mut example = Command::new(command::cargo());
        example.current_dir(&self.root).args([
            "run",
            "--quiet",
            "--release",
            "--package",
            package,
            "--example",
            name,
        ]);
        command::capture(&mut example)
    }
}

/// `[CLAIM ..] [--blocks N]`, `mesh --lab [RUNS] [KIND ..]`, or `coverage --again PATH`: measure the claims that are named, all
/// without a name, and archive what came out under docs/runs/; print how meshes of the lab are judged; or judge archived launches
/// again.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let binary = root.join("target/release/wirespeed");
    let (names, blocks) = match words {
        ["mesh", "--lab", words @ ..] => {
            has(&binary)?;
            return mesh::in_the_lab(root, &binary, words);
        }
        ["coverage", "--again", path] => {
            println!("{}", coverage::again(Path::new(path))?);
            return Ok(());
        }
        [names @ .., "--blocks", count] => (
            names,
            count
                .parse()
                .with_context(|| format!("{count:?} is not a count"))?,
        ),
        names => (names, coverage::BLOCKS),
    };
    if blocks < coverage::BLOCKS_MIN {
        bail!("invalid --blocks {blocks}: at least {}", coverage::BLOCKS_MIN);
    }
    let known = |name: &&str| CLAIMS.iter().any(|(claim, ..)| claim == name);
    if let Some(stranger) = names.iter().find(|name| !known(name)) {
        let all: Vec<String> = CLAIMS
            .iter()
            .map(|(name, says, _)| format!("  {name}: {says}"))
            .collect();
        bail!("no claim is called {stranger:?}; there are:\n{}", all.join("\n"));
    }
    let context = Context {
        root: root.to_owned(),
        binary,
        blocks,
    };
    has(&context.binary)?;
    let mut archive = Archive::create(root)?;
    for (name, says, measure) in CLAIMS {
        if names.is_empty() || names.contains(&name) {
            archive.claim(name, says);
            if let Err(error) = measure(&context, &mut archive) {
                archive.note(&format!("failed: {error:#}"));
            }
        }
    }
    archive.finish()
}

fn has(binary: &Path) -> Result<()> {
    match binary.is_file() {
        true => Ok(()),
        false => bail!("no target/release/wirespeed; run `make build` first"),
    }
}
