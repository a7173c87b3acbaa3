//! The peers' programs: found or installed; and the two cores that both sides use.

use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::process::Command;

/// Program and the Debian package that brings it.
const PEERS: [(&str, &str); 3] = [
    ("ucx_perftest", "ucx-utils"),
    ("sockperf", "sockperf"),
    ("iperf3", "iperf3"),
];

/// Install what is missing, where we may, and return the programs that are there.
pub fn install() -> Result<BTreeSet<&'static str>> {
    let missing: Vec<&str> = PEERS
        .iter()
        .filter(|(program, _)| command::find(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    install_packages(&missing)?;
    let there = PEERS
        .iter()
        .filter(|(program, _)| command::find(program).is_some());
    Ok(there.map(|(program, _)| *program).collect())
}

/// Install Debian's packages, where we may; what cannot be installed is said.
pub fn install_packages(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let packages = packages.join(" ");
    println!("installing {packages}");
    let root = command::capture(Command::new("id").arg("-u"))?.trim() == "0";
    let script = format!("apt-get update -q && apt-get install -y -q --no-install-recommends {packages}");
    let mut words = if root { vec![] } else { vec!["sudo", "-n"] };
    words.extend(["sh", "-c", &script]);
    if let Err(error) = command::capture(Command::new(words[0]).args(&words[1..])) {
        println!("skipped: {packages} not installed: {error:#}");
    }
    Ok(())
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
