//! What the peers need on this machine: whether it is here, why not, and how it comes here; and the two cores that both sides
//! use. It must never measure.

use super::{before, byteio, mpi, slurm};
use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Our program under the original's name, from where programs are built.
pub const NAMED: &str = "named";
/// What needs the file that is moved.
pub const FILE: &str = "the file of 1 GiB";
/// SOAP stacks in Java, which `tests/lab/interop.sh` builds.
const STACKS: [&str; 2] = ["axis", "cxf"];

/// Why `need` cannot be met on this machine; `None` when it can.
pub fn missing(root: &Path, need: &str) -> Option<String> {
    let is_here = |program: &str| command::find(program).is_some();
    match need {
        FILE => None,
        before::BEFORE => before::missing(root),
        "srun" => slurm::missing(),
        loops if loops.starts_with("mpi_loops.") => mpi::missing(loops),
        stack if STACKS.contains(&stack) => {
            let built = root.join("target/interop").join(stack).join("ready").exists();
            (!built || !is_here("java")).then(|| format!("{stack} is not built by tests/lab/interop.sh"))
        }
        program => (!is_here(program)).then(|| format!("{program} is not installed")),
    }
}

/// Install what is missing of `needs`, where we may, and make what is made here. Whatever is missing then, with the reason.
pub fn prepare(root: &Path, needs: &BTreeSet<&'static str>) -> Result<BTreeMap<&'static str, String>> {
    if needs.iter().any(|need| missing(root, need).is_some()) {
        command::run(Command::new("bash").arg(root.join("tests/lab/install.sh")))?;
    }
    let built = root.join(mpi::BUILT);
    let named = built.join(NAMED);
    std::fs::create_dir_all(&named).with_context(|| format!("cannot make {}", named.display()))?;
    let link = named.join("ucx_perftest");
    if std::fs::symlink_metadata(&link).is_err() {
        symlink(root.join("target/release/wirespeed"), &link).context("cannot link ucx_perftest")?;
    }
    let mut absent = BTreeMap::new();
    for &need in needs {
        let reason = missing(root, need).or_else(|| {
            let made = match need {
                FILE => byteio::make_file(&built),
                need => mpi::build(root, need),
            };
            made.err().map(|error| format!("{error:#}"))
        });
        if let Some(reason) = reason {
            absent.insert(need, reason);
        }
    }
    Ok(absent)
}

/// The first two CPUs that we may use, on different cores where there are any.
pub fn two_cores() -> Result<[u32; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
    let cpus = parse_cpus(list.unwrap_or_default().trim());
    let Some(&first) = cpus.first() else {
        bail!("no CPUs in /proc/self/status");
    };
    let siblings = std::fs::read_to_string(format!(
        "/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list"
    ));
    let siblings = parse_cpus(siblings.unwrap_or_default().trim());
    let other = cpus
        .iter()
        .skip(1)
        .find(|c| !siblings.contains(c))
        .or(cpus.get(1));
    match other {
        Some(&second) => Ok([first, second]),
        None => bail!("the benchmark needs two CPUs"),
    }
}

/// `0-2,5` as numbers.
fn parse_cpus(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(super::parse_cpus("0-2,5"), [0, 1, 2, 5]);
        assert!(super::parse_cpus("").is_empty());
    }
}
