//! The machine examined before anything is measured on it: what could bend a measurement or make it fail, and the command
//! that mends it. It must never change anything, nor need a privilege; what it cannot read it cannot tell.

mod clocks;
mod memory;
mod network;
mod permissions;
mod placement;
mod power;
#[cfg(test)]
mod tests;

use super::affinity::{allowed_cpus, default_cpus, format_cpu_list, parse_cpu_list};
use super::files::Files;
use super::topology::Topology;
use std::path::Path;
use wirespeed_schema::checkup::{Check, CheckState, Checkup};

/// What is to be measured, as far as the user says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examination {
    /// CPUs that will be measured on; empty for those that two ranks get by default.
    pub cpus: Vec<u32>,
    /// Interfaces that the data will go through; empty for all that are up and have a device.
    pub interfaces: Vec<String>,
    /// Rate of the path.
    pub rate_bytes_per_s: Option<f64>,
    /// Round-trip time of the path.
    pub rtt_ns: Option<u64>,
}

/// Examine the tree at `root`, which holds `proc` and `sys`: `/` for this machine.
pub fn examine(root: &Path, asked: &Examination) -> Checkup {
    let files = Files::at(root);
    let live = root == Path::new("/");
    let topology = Topology::read(root);
    let allowed = match live {
        true => allowed_cpus(),
        false => listed_cpus(&files),
    };
    let cpus = match asked.cpus.is_empty() {
        false => asked.cpus.clone(),
        true if live => default_cpus(2).unwrap_or_else(|| allowed.clone()),
        true => allowed.iter().copied().take(2).collect(),
    };
    let interfaces = match asked.interfaces.is_empty() {
        false => asked.interfaces.clone(),
        true => network::interfaces(&files),
    };
    let patient = Patient {
        files,
        topology,
        allowed,
        cpus,
        interfaces,
        asked,
    };
    // What changes every figure comes before what concerns some: a reader who mends one thing mends the first.
    let checks = [
        placement::checks(&patient),
        clocks::checks(&patient),
        power::checks(&patient),
        memory::checks(&patient),
        network::checks(&patient),
        permissions::checks(&patient),
    ];
    let mut checks: Vec<Check> = checks.into_iter().flatten().collect();
    if patient.is_root() {
        let fixes = checks.iter_mut().filter_map(|check| check.fix.as_mut());
        fixes.for_each(|fix| *fix = fix.replace("sudo ", ""));
    }
    Checkup {
        checks,
        cpus: patient.cpus,
        interfaces: patient.interfaces,
    }
}

/// CPUs that this process may use, as the tree tells.
fn listed_cpus(files: &Files) -> Vec<u32> {
    let allowed = files.value("/proc/self/status", "Cpus_allowed_list");
    let online = || files.text("/sys/devices/system/cpu/online");
    let list = allowed.or_else(online);
    list.and_then(|list| parse_cpu_list(&list).ok())
        .unwrap_or_default()
}

/// What every check looks at.
struct Patient<'a> {
    files: Files,
    topology: Topology,
    allowed: Vec<u32>,
    /// Those measured on.
    cpus: Vec<u32>,
    interfaces: Vec<String>,
    asked: &'a Examination,
}

impl Patient<'_> {
    /// CPUs that this process may use and that are not measured on.
    fn other_cpus(&self) -> Vec<u32> {
        let others = self.allowed.iter().copied();
        others.filter(|cpu| !self.cpus.contains(cpu)).collect()
    }

    /// Whether commands need no leave of root: such a system may have no sudo.
    fn is_root(&self) -> bool {
        let owner = self.files.value("/proc/self/status", "Uid");
        owner.is_some_and(|ids| ids.split_whitespace().next() == Some("0"))
    }

    fn cpu_words(&self) -> String {
        format_cpu_list(&self.cpus)
    }
}

fn ok(name: &str, found: impl Into<String>, why: &str) -> Check {
    check(name, CheckState::Ok, found, why, None)
}

fn warn(name: &str, found: impl Into<String>, why: &str, fix: impl Into<String>) -> Check {
    check(name, CheckState::Warn, found, why, Some(fix.into()))
}

fn cannot_tell(name: &str, found: impl Into<String>, why: &str) -> Check {
    check(name, CheckState::CannotTell, found, why, None)
}

fn check(name: &str, state: CheckState, found: impl Into<String>, why: &str, fix: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        state,
        found: found.into(),
        why: why.to_owned(),
        fix,
    }
}
