//! The ladder of checks and tests: which steps there are. docs/ci.md says what each one proves.

mod lanes;
mod left;
mod shards;
mod step;
mod summary;

use crate::{chaos, command, hotcheck};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;
use step::Step;
use summary::Ladder;

const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// Every check and test that belongs to each change.
pub fn test(root: &Path) -> Result<()> {
    let mut ladder = Ladder::new(root, "make test");
    run_test_steps(&mut ladder)?;
    ladder.finish()
}

/// The tests alone.
pub fn tests(root: &Path) -> Result<()> {
    let mut ladder = Ladder::new(root, "cargo xtask tests");
    run_tests(&mut ladder, vec![hotcheck()], Vec::new())?;
    ladder.finish()
}

/// The longer ladder: all of `test`, then what takes long or needs more tools.
pub fn long(root: &Path) -> Result<()> {
    let mut ladder = Ladder::new(root, "make ladder");
    run_test_steps(&mut ladder)?;
    run_long_steps(&mut ladder)?;
    ladder.finish()
}

fn run_test_steps(ladder: &mut Ladder) -> Result<()> {
    let install = Step::new("install", &["bash", "tests/lab/install.sh"]).within_s(1800);
    let install = ladder.begin(vec![install]);
    ladder.run(Step::cargo("fetch", &["fetch", "--locked", "--quiet"]))?;
    ladder.run(Step::task("fmt", &["fmt"]))?;
    ladder.run(Step::task("tidy", &["tidy"]))?;
    ladder.run(Step::task("prose", &["prose"]))?;
    ladder.run(Step::cargo(
        "build",
        &["build", "--workspace", "--all-targets", "--locked", "--quiet"],
    ))?;
    ladder.end(install)?;
    let mut compiled = Vec::from_iter(aarch64(ladder)?);
    compiled.extend([clippy(), features(), docs()].map(|step| step.within_s(1800)));
    run_tests(ladder, vec![hotcheck(), weight()], compiled)?;
    ladder.run(Step::task("schema", &["schema", "--check"]))?;
    ladder.run(Step::task("api", &["api", "--check"]))?;
    ladder.run(Step::task("header", &["header", "--check"]))?;
    ladder.run(
        Step::task("install-check", &["install", "/usr"])
            .with("DESTDIR", "target/install-check")
            .with("WIRESPEED_PROFILE", "debug"),
    )?;
    match command::find("cargo-deny") {
        Some(_) => ladder.run(deny()),
        None => ladder.skip("deny", "cargo-deny is not installed (`make ladder` installs it)"),
    }
}

/// Tests of the crates, then those of the program, which run whatever failed before: a run tells all that is wrong. What
/// only compiles has the CPU time that tests leave; `optimise` makes the program that is tested.
fn run_tests(ladder: &mut Ladder, optimise: Vec<Step>, compile: Vec<Step>) -> Result<()> {
    let program = hotcheck::place(ladder.root());
    let tests = shards::all(ladder.root(), program.as_deref())?;
    let behind = ladder.begin(optimise);
    let units = ladder.run_shards("tests", tests.units);
    let mut ended = vec![units, ladder.end(behind)];
    let behind = ladder.begin(compile);
    ended.push(ladder.run_shards("end-to-end", tests.end_to_end));
    ended.push(ladder.end(behind));
    let failed = ended.into_iter().filter_map(Result::err);
    let failed: Vec<String> = failed.map(|error| error.to_string()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("{}", failed.join("\n  ")),
    }
}

fn run_long_steps(ladder: &mut Ladder) -> Result<()> {
    if command::find("cargo-deny").is_none() {
        ladder.run(Step::cargo(
            "install-deny",
            &["install", "cargo-deny", "--locked", "--quiet"],
        ))?;
        ladder.run(deny())?;
    }
    let minimum = rust_version(ladder.root())?;
    let toolchain = format!("+{minimum}");
    if works(&[&toolchain, "--version"]) {
        ladder.run(Step::cargo(
            "msrv",
            &[&toolchain, "check", "--workspace", "--locked", "--quiet"],
        ))?;
    } else {
        ladder.skip("msrv", &format!("toolchain {minimum} is not installed"))?;
    }
    if works(&["+nightly", "miri", "--version"]) {
        let miri = [
            "+nightly",
            "miri",
            "test",
            "-p",
            "wirespeed-schema",
            "-p",
            "wirespeed",
            "--lib",
        ];
        let filters = ["--", "histogram", "finite", "record::", "sync::"];
        ladder.run(
            Step::cargo("miri", &[miri.as_slice(), filters.as_slice()].concat())
                .with("MIRIFLAGS", "-Zmiri-disable-isolation"),
        )?;
    } else {
        ladder.skip("miri", "nightly with the component miri is not installed")?;
    }
    match command::find("c++") {
        Some(_) => ladder.run(Step::task("fuzz", &["fuzz", "60"]).within_s(3600))?,
        None => ladder.skip("fuzz", "there is no C++ compiler for libFuzzer")?,
    }
    if works(&["+nightly", "--version"]) && command::find("c++").is_some() {
        let ring = ["fuzz", "60", "--sanitize", "ring"];
        ladder.run(Step::task("fuzz-sanitized", &ring).within_s(3600))?;
    } else {
        ladder.skip("fuzz-sanitized", "nightly or a C++ compiler is not installed")?;
    }
    // Tests that take minutes are marked `#[ignore]`, and products of which each change tries a share are tried whole: here.
    let soak = [
        "test",
        "--workspace",
        "--locked",
        "--release",
        "--",
        "--include-ignored",
        "--test-threads=1",
    ];
    let soak = Step::cargo("soak", &soak).with("WIRESPEED_TEST_WHOLE", "1");
    ladder.run(soak.within_s(7200))?;
    match chaos::is_possible() {
        true => ladder.run(Step::task("chaos", &["chaos", "--for", "3600s"]).within_s(5400))?,
        false => ladder.skip("chaos", "no namespaces can be made here")?,
    }
    ladder.run(Step::task("peers", &["peers"]).within_s(3600))
}

fn clippy() -> Step {
    Step::cargo(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            // The fuzz targets' programs; their bodies are replayed by a test.
            "--features=wirespeed-fuzz/targets",
            "--locked",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    )
}

fn features() -> Step {
    Step::task("features", &["features"])
}

fn docs() -> Step {
    // What is documented where nothing is named. With `--examples` features are chosen as for clippy, which has checked what
    // these depend on.
    let kinds = ["--lib", "--bin=wirespeed", "--bin=xtask", "--examples"];
    let words = ["doc", "--workspace", "--no-deps", "--locked", "--quiet"];
    let words = [words.as_slice(), &kinds].concat();
    Step::cargo("docs", &words).with("RUSTDOCFLAGS", "-D warnings")
}

fn hotcheck() -> Step {
    Step::task("hotcheck", &["hotcheck"]).within_s(3600)
}

fn weight() -> Step {
    Step::task("weight", &["weight"]).within_s(3600)
}

fn deny() -> Step {
    Step::cargo(
        "deny",
        &[
            "deny",
            "--locked",
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ],
    )
}

/// That the code compiles for the second architecture: all of it where a C compiler for it is there (of the ciphers and
/// hashes), else the crates without C, which is said.
fn aarch64(ladder: &mut Ladder) -> Result<Option<Step>> {
    if !has_target() {
        let added = Command::new("timeout")
            .args(["60", "rustup", "target", "add", AARCH64])
            .output();
        if !added.is_ok_and(|o| o.status.success()) || !has_target() {
            let why =
                format!("the standard library for {AARCH64} is not installed and rustup cannot fetch it");
            ladder.skip("aarch64", &why)?;
            return Ok(None);
        }
    }
    let mut arguments = vec!["check", "--locked", "--quiet", "--target", AARCH64];
    if command::find("aarch64-linux-gnu-gcc").is_some() {
        arguments.push("--package=wirespeed-cli");
    } else {
        ladder.skip(
            "aarch64-cli",
            "there is no aarch64-linux-gnu-gcc for the code in C",
        )?;
        arguments.extend(["--package=wirespeed-schema", "--package=wirespeed-report"]);
    }
    Ok(Some(Step::cargo("aarch64", &arguments).within_s(1800)))
}

fn has_target() -> bool {
    let folder =
        command::capture(Command::new("rustc").args(["--print", "target-libdir", "--target", AARCH64]));
    folder.is_ok_and(|f| Path::new(f.trim()).is_dir())
}

fn works(arguments: &[&str]) -> bool {
    // Through rustup's proxy: the cargo that runs us knows no `+toolchain`.
    command::capture(Command::new("cargo").args(arguments)).is_ok()
}

fn rust_version(root: &Path) -> Result<String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|l| l.strip_prefix("rust-version = "));
    Ok(line.unwrap_or_default().trim_matches('"').to_owned())
}
