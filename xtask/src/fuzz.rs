//! Fuzzing for real: libFuzzer and the compiler's coverage, which the stable compiler has too; with an AddressSanitizer on
//! nightly. The ordinary tests replay what is committed. It must never write into the seeds.

use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Where programs, inputs that were found and those that did harm are.
const FOLDER: &str = "target/fuzz";
/// Counters on every edge, and what is compared.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg=fuzzing -Cdebug-assertions=yes -Coverflow-checks=yes";
/// Hot loops are instantiated for every port, and no target runs one.
const PLAIN: &str = "profile.release.package.wirespeed.opt-level=1";
const SYMBOLS: &str = "profile.release.strip=\"none\"";
/// Longest input that is worth committing, in bytes, and how many of a target.
const KEPT_BYTES_MAX: u64 = 512;
const KEPT_MAX: usize = 40;

/// What is asked for.
struct Asked {
    seconds: u64,
    sanitize: bool,
    keep: bool,
    targets: Vec<String>,
}

/// `[SECONDS] [--sanitize] [--keep] [TARGET ..]`: fuzz the targets, or all, each for so long, as many at once as there are
/// CPUs; `--keep` then puts short inputs that were found into `fuzz/corpus`.
pub fn run(root: &Path, words: &[&str]) -> Result<()> {
    let asked = Asked::of(words, targets(root)?)?;
    let programs = build(root, asked.sanitize)?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(VecDeque::from(asked.targets.clone()));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let fuzzed = || {
        let mut failed = Vec::new();
        while let Some(target) = next() {
            match fuzz(root, &programs, &target, asked.seconds) {
                Ok(line) => println!("{line}"),
                Err(error) => failed.push(format!("{error:#}")),
            }
        }
        failed
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..cpus).map(|_| scope.spawn(fuzzed)).collect();
        let panicked = |_| vec!["a thread that fuzzed panicked".to_owned()];
        let ended = lanes.into_iter().map(|lane| lane.join().unwrap_or_else(panicked));
        ended.flatten().collect()
    });
    if asked.keep {
        for target in &asked.targets {
            keep(root, &programs, target)?;
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("{}", failed.join("\n")),
    }
}

impl Asked {
    fn of(words: &[&str], known: Vec<String>) -> Result<Self> {
        let (options, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with("--"));
        let has = |option| options.contains(&option);
        let (sanitize, keep) = (has("--sanitize"), has("--keep"));
        if options.len() > usize::from(sanitize) + usize::from(keep) {
            bail!(
                "options are --sanitize and --keep, once each: {}",
                options.join(" ")
            );
        }
        let (seconds, names) = match words.split_first() {
            Some((first, rest)) if first.parse::<u64>().is_ok() => (first.parse()?, rest),
            _ => (30, words.as_slice()),
        };
        let is_known = |name: &&&str| known.iter().any(|target| target == **name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            bail!("no target {unknown:?}: one of {}", known.join(" "));
        }
        let targets = match names.is_empty() {
            true => known,
            false => names.iter().map(|name| (*name).to_owned()).collect(),
        };
        Ok(Asked {
            seconds,
            sanitize,
            keep,
            targets,
        })
    }
}

/// Build the targets' programs; returns their folder.
fn build(root: &Path, sanitize: bool) -> Result<PathBuf> {
    let host = command::capture(Command::new("rustc").arg("-vV"))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc names no host")?;
    let kind = if sanitize { "sanitized" } else { "plain" };
    let folder = root.join(FOLDER).join(kind);
    let mut build = match sanitize {
        true => {
            // Through rustup's proxy: the cargo that runs us knows no `+toolchain`.
            let mut build = Command::new("cargo");
            build
                .arg("+nightly")
                .env_remove("CARGO")
                .env_remove("RUSTUP_TOOLCHAIN");
            build
        }
        false => Command::new(command::cargo()),
    };
    let flags = if sanitize {
        format!("{COVERAGE} -Zsanitizer=address")
    } else {
        COVERAGE.to_owned()
    };
    build
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", flags)
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--package=wirespeed-fuzz",
            "--bins",
        ])
        // Given a target, cargo leaves build scripts and macros without the flags.
        .args([
            "--features=libfuzzer",
            "--target",
            host,
            "--config",
            PLAIN,
            "--config",
            SYMBOLS,
        ]);
    command::run(&mut build)?;
    Ok(folder.join(host).join("release"))
}

/// Fuzz one target; a line of what was tried. What does harm is kept and named.
fn fuzz(root: &Path, programs: &Path, target: &str, seconds: u64) -> Result<String> {
    let (found, harm) = (corpus(root, target), root.join(FOLDER).join("harm"));
    for folder in [&found, &harm] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut fuzzer = command::bound(programs.join(target));
    fuzzer
        .current_dir(root)
        .arg(&found)
        .args(committed(root, target))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/{target}-", harm.display()))
        .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    let output = fuzzer
        .output()
        .with_context(|| format!("cannot start {target}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last: Vec<&str> = said.lines().rev().take(40).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        bail!("{target}: {}\n{}", output.status, last.join("\n"));
    }
    Ok(summary(target, &said))
}

/// What libFuzzer says at its end: how many inputs it ran, and how many edges they reached.
fn summary(target: &str, said: &str) -> String {
    let of = |name: &str| {
        let lines = said.lines().rev();
        let mut found = lines.filter_map(|line| line.split_once(name)?.1.split_whitespace().next());
        found.next().unwrap_or("0").to_owned()
    };
    let (inputs, edges) = (of("stat::number_of_executed_units:"), of(" cov:"));
    format!("{target:13} {inputs:>11} inputs, {edges:>5} edges reached, nothing found")
}

/// What is committed of a target: the seeds, and what earlier runs have found.
fn committed(root: &Path, target: &str) -> Vec<PathBuf> {
    let folders = ["fuzz/seeds", "fuzz/corpus"].map(|folder| root.join(folder).join(target));
    folders.into_iter().filter(|folder| folder.is_dir()).collect()
}

fn corpus(root: &Path, target: &str) -> PathBuf {
    root.join(FOLDER).join("corpus").join(target)
}

/// Put into `fuzz/corpus` short inputs that together reach most, the longest of them first: these reach farthest.
fn keep(root: &Path, programs: &Path, target: &str) -> Result<()> {
    let merged = root.join(FOLDER).join("merged").join(target);
    let _ = std::fs::remove_dir_all(&merged);
    std::fs::create_dir_all(&merged)?;
    let mut merge = command::bound(programs.join(target));
    merge
        .args(["-set_cover_merge=1", &format!("-max_len={KEPT_BYTES_MAX}")])
        .arg(&merged)
        .args(committed(root, target))
        .arg(corpus(root, target));
    let output = merge.output().with_context(|| format!("cannot start {target}"))?;
    if !output.status.success() {
        bail!("{target}: merging failed: {}", output.status);
    }
    let mut inputs: Vec<(u64, PathBuf)> = std::fs::read_dir(&merged)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.metadata()?.len(), entry.path()))
        })
        .collect::<std::io::Result<_>>()?;
    inputs.sort();
    inputs.reverse();
    let kept = root.join("fuzz/corpus").join(target);
    let _ = std::fs::remove_dir_all(&kept);
    std::fs::create_dir_all(&kept)?;
    for (bytes, input) in inputs.iter().take(KEPT_MAX).filter(|(bytes, _)| *bytes > 0) {
        let name = input.file_name().context("an input has a name")?;
        std::fs::copy(input, kept.join(name)).with_context(|| format!("cannot keep {bytes} bytes"))?;
    }
    println!(
        "{target:13} {} of {} inputs kept",
        inputs.len().min(KEPT_MAX),
        inputs.len()
    );
    Ok(())
}

fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    match names.is_empty() {
        true => bail!("no targets in {}", folder.display()),
        false => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_checked_before_anything_is_built() {
        let known = || vec!["dime".to_owned(), "http".to_owned()];
        let refused = |words: &[&str]| Asked::of(words, known()).err().map(|error| error.to_string());
        assert!(refused(&["10", "htp"]).unwrap().ends_with("one of dime http"));
        assert!(refused(&["--keeps"]).unwrap().contains("--sanitize and --keep"));
        let asked = Asked::of(&["7", "--keep", "http"], known()).unwrap();
        assert_eq!(
            (asked.seconds, asked.keep, asked.sanitize, asked.targets.len()),
            (7, true, false, 1)
        );
        assert_eq!(Asked::of(&[], known()).unwrap().targets.len(), 2);
    }

    #[test]
    fn the_summary_has_the_last_figures() {
        let said = "#2 INITED cov: 10 ft: 12\n#90 DONE   cov: 31 ft: 40 corp: 3/9b\nstat::number_of_executed_units: 90\n";
        let line = summary("units", said);
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>()[..4],
            ["units", "90", "inputs,", "31"]
        );
    }
}
