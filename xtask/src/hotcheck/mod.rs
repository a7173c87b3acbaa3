//! Checks the machine code of the hot loops: no allocation, lock, formatting or `dyn` between the two barriers.
//!
//! A hot loop is a function whose name begins with `hot_`. It, and every function of the library that it calls, may
//! only call what the rules allow its transport. Functions whose names begin with `cold_` are the loops' exits: they
//! are not followed. Nothing is allowed by default.

mod disassembly;
pub mod rules;

use crate::command;
use anyhow::{Context, Result, bail};
use disassembly::{Binary, Target};
use rules::Lists;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Full symbol names, so that a function's transport can be read off its type parameters.
const FLAGS: &str = "build.rustflags=[\"-Csymbol-mangling-version=v0\"]";
/// What a function does while a panic unwinds it is no part of its loop: leave it out.
const PANIC: &str = "profile.release.panic=\"abort\"";

/// Where it is built.
const FOLDER: &str = "target/hotcheck";
/// A program that is installed has no symbols; this one needs them.
const SYMBOLS: &str = "profile.release.strip=\"none\"";

/// Where the program is once it is built; none, with a word why, where this machine cannot read its code.
pub fn place(root: &Path) -> Option<PathBuf> {
    if std::env::consts::ARCH != "x86_64" {
        println!("skipped: hotcheck and weight read x86-64 machine code only");
        return None;
    }
    if command::find("objdump").is_none() {
        println!("skipped: hotcheck and weight need objdump and nm (package binutils)");
        return None;
    }
    Some(root.join(FOLDER).join("release/wirespeed"))
}

/// The program in release with symbols that can be read, built now; none where there is no [`place`] for it.
pub fn program(root: &Path) -> Result<Option<PathBuf>> {
    let Some(program) = place(root) else {
        return Ok(None);
    };
    let mut build = Command::new(command::cargo());
    build
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join(FOLDER))
        // As a user's: how code is cut for the compiler decides what becomes a part of a loop.
        .env_remove("CARGO_INCREMENTAL")
        .env_remove("RUSTFLAGS")
        .args(["build", "--release", "--locked", "--quiet", "--bin=wirespeed"]);
    for setting in [FLAGS, PANIC, SYMBOLS] {
        build.args(["--config", setting]);
    }
    command::run(&mut build)?;
    Ok(Some(program))
}

/// Check every hot function of the program, after a self-test.
pub fn run(root: &Path) -> Result<()> {
    let Some(program) = program(root)? else {
        return Ok(());
    };
    self_test(&root.join(FOLDER))?;
    let lists = Lists::read(root)?;
    let (lines, faults) = check(&Binary::read(&program)?, &lists);
    if lines.is_empty() {
        bail!("no hot functions found: the loops must be named hot_* and never be inlined");
    }
    for line in summary(&lines, &lists) {
        println!("{line}");
    }
    println!(
        "hotcheck: {} hot functions, {} bytes of code",
        lines.len(),
        lines.iter().map(|l| l.size_bytes).sum::<u64>()
    );
    if faults.is_empty() {
        return Ok(());
    }
    for fault in grouped(&faults) {
        println!("{fault}");
    }
    bail!("hotcheck: {} calls that no hot loop may make", faults.len())
}

/// A hot function as found.
struct Hot {
    name: String,
    size_bytes: u64,
    calls: BTreeSet<String>,
}

/// A call that a hot function may not make.
struct Fault {
    hot: String,
    address: u64,
    through: String,
    what: String,
}

/// One line for each loop and transport: how many instances, how large, what they call.
fn summary(lines: &[Hot], lists: &Lists) -> Vec<String> {
    let mut groups = BTreeMap::<(String, String), (usize, u64, BTreeSet<&str>)>::new();
    for hot in lines {
        let group = groups
            .entry((lists.transport(&hot.name), rules::short(&hot.name)))
            .or_default();
        group.0 += 1;
        group.1 = group.1.max(hot.size_bytes);
        group.2.extend(hot.calls.iter().map(String::as_str));
    }
    let line =
        |((transport, name), (count, size, calls)): (&(String, String), &(usize, u64, BTreeSet<&str>))| {
            let calls: Vec<_> = calls.iter().copied().collect();
            let calls = if calls.is_empty() {
                "nothing".to_owned()
            } else {
                calls.join(", ")
            };
            format!("{transport:<8} {name}: {count} instances of at most {size} bytes, calling {calls}")
        };
    groups.iter().map(line).collect()
}

/// Faults with the same cause as one line each.
fn grouped(faults: &[Fault]) -> Vec<String> {
    let mut groups = BTreeMap::<(&str, &str), Vec<&Fault>>::new();
    for fault in faults {
        groups
            .entry((&fault.what, &fault.through))
            .or_default()
            .push(fault);
    }
    let line = |((what, through), found): (&(&str, &str), &Vec<&Fault>)| {
        let through = if through.is_empty() {
            String::new()
        } else {
            format!(" through {through}")
        };
        let first = found
            .first()
            .map(|f| format!("{} at {:#x}", f.hot, f.address))
            .unwrap_or_default();
        format!(
            "may not call {what}{through}: {} times, first in {first}",
            found.len()
        )
    };
    groups.iter().map(line).collect()
}

/// Every hot function, and every call that one may not make.
fn check(binary: &Binary, lists: &Lists) -> (Vec<Hot>, Vec<Fault>) {
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for name in binary.functions().filter(|n| rules::is_hot(n)) {
        let mut seen = BTreeSet::new();
        let mut calls = BTreeSet::new();
        follow(binary, lists, name, name, &mut seen, &mut calls, &mut faults);
        lines.push(Hot {
            name: name.to_owned(),
            size_bytes: binary.size_bytes(name),
            calls,
        });
    }
    (lines, faults)
}

/// Judge every call of `function`, which `hot` reaches, and go on into the library's own functions.
fn follow(
    binary: &Binary,
    lists: &Lists,
    hot: &str,
    function: &str,
    seen: &mut BTreeSet<String>,
    calls: &mut BTreeSet<String>,
    faults: &mut Vec<Fault>,
) {
    if !seen.insert(function.to_owned()) {
        return;
    }
    for call in binary.calls(function) {
        let fault = match &call.target {
            Target::Unknown if rules::may_call_indirectly(hot) => {
                calls.insert("functions of the library".to_owned());
                None
            }
            Target::Unknown => Some("an indirect call (dyn, or a function pointer)".to_owned()),
            Target::Named(name) if rules::is_exit(name) => None,
            Target::Named(name) if lists.allow(hot, name) => {
                calls.insert(rules::short(name));
                None
            }
            Target::Named(name)
                if rules::is_own(name) && function == hot && !rules::may_stand_apart(hot, name) =>
            {
                Some(format!(
                    "{name} (so short a function must be a part of the loop: #[inline(always)])"
                ))
            }
            Target::Named(name) if rules::is_own(name) && binary.has(name) => {
                follow(binary, lists, hot, name, seen, calls, faults);
                None
            }
            Target::Named(name) => Some(format!("{name} ({})", rules::why_not(name))),
        };
        if let Some(what) = fault {
            let through = if function == hot {
                String::new()
            } else {
                function.to_owned()
            };
            faults.push(Fault {
                hot: hot.to_owned(),
                address: call.address,
                through,
                what,
            });
        }
    }
}

/// Functions that must be flagged and one that must not, compiled here: a check that cannot fail proves nothing.
const SELF_TEST: &str = r#"
#[inline(never)] pub fn hot_good(data: &mut [u64]) { for i in 1..data.len() { data[i] ^= data[i - 1]; } }
#[inline(never)] pub fn hot_dyn(f: &mut dyn FnMut(u64)) { for i in 0..9 { f(i) } }
#[inline(never)] pub fn hot_alloc(n: u64) -> Vec<u64> { let mut v = Vec::new(); for i in 0..n { v.push(i) } v }
#[inline(never)] pub fn hot_print(n: u64) { for i in 0..n { println!("{i}") } }
#[inline(never)] pub fn hot_lock(m: &std::sync::Mutex<u64>) { for _ in 0..9 { *m.lock().unwrap() += 1; } }
fn main() {
    let n = std::env::args().count() as u64;
    let mut sum = 0;
    let mut data = [n; 9];
    hot_good(&mut data);
    sum += data[8];
    if n > 1 { hot_dyn(&mut |i| sum += i) } else { hot_dyn(&mut |i| sum ^= i) }
    hot_print(hot_alloc(n).len() as u64);
    hot_lock(&std::sync::Mutex::new(sum));
}
"#;

/// Fail unless exactly the bad functions of [`SELF_TEST`] are flagged.
fn self_test(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).context("cannot make the folder for the self-test")?;
    let source = folder.join("self_test.rs");
    let program = folder.join("self_test");
    std::fs::write(&source, SELF_TEST)?;
    command::run(
        Command::new("rustc")
            .args([
                "--edition=2024",
                "-O",
                "-Csymbol-mangling-version=v0",
                "-Cdebuginfo=0",
                "-Cpanic=abort",
                "-o",
            ])
            .args([&program, &source]),
    )?;
    let (lines, faults) = check(&Binary::read(&program)?, &Lists::default());
    if lines.len() != 5 {
        bail!("self-test: found {} hot functions instead of 5", lines.len());
    }
    for (name, flagged) in [
        ("hot_good", false),
        ("hot_dyn", true),
        ("hot_alloc", true),
        ("hot_print", true),
        ("hot_lock", true),
    ] {
        if faults.iter().any(|f| f.hot.ends_with(name)) != flagged {
            bail!(
                "self-test: {name} should {}be flagged:\n{}",
                if flagged { "" } else { "not " },
                grouped(&faults).join("\n")
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn bad_functions_are_flagged_and_good_ones_are_not() {
        if std::env::consts::ARCH == "x86_64" && crate::command::find("objdump").is_some() {
            let folder = tempfile::tempdir().unwrap();
            super::self_test(folder.path()).unwrap();
        }
    }
}
