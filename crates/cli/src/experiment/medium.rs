//! What the medium of a case can carry at most, so that a rate above it is found out.
//!
//! Measured beside the cases, never during one; only where the limit is sure: between local ranks whose bytes a CPU
//! copies. Nothing is guessed for networks and devices.

use std::collections::BTreeMap;
use wirespeed::Registry;
use wirespeed::calibrate::copy_bytes_per_s;
use wirespeed::host::allowed_cpus;
use wirespeed_report::Limits;
use wirespeed_schema::case::{Case, GroupKind, Role};

/// Blocks that lie in the first cache, source and target: no copy is faster than the fastest of them.
const BLOCKS_BYTES: [usize; 2] = [2 << 10, 12 << 10];

/// Copy speeds by CPU, measured when first needed.
#[derive(Default)]
pub struct Medium {
    copies: BTreeMap<u32, Option<f64>>,
}

impl Medium {
    /// The limits of `case`: a memory copy in the first cache for every flow.
    pub fn limits(&mut self, registry: &Registry, case: &Case) -> Limits {
        let local = matches!(case.group, GroupKind::Threads | GroupKind::Processes);
        let copied = registry.find(&case.transport).is_some_and(|e| e.copied_by_cpu);
        if !local || !copied || case.test.is_round_trip() {
            return Limits::default();
        }
        let senders = || case.ranks.iter().filter(|rank| is_sender(case, rank.role));
        let flows = senders().count().max(1);
        let cpu = senders().filter_map(|rank| rank.cpu).next();
        let copy = cpu.or_else(|| allowed_cpus().first().copied()).and_then(|cpu| {
            *self.copies.entry(cpu).or_insert_with(|| {
                let speeds = BLOCKS_BYTES.map(|bytes| copy_bytes_per_s(cpu, bytes).ok());
                speeds.into_iter().flatten().max_by(f64::total_cmp)
            })
        });
        Limits {
            medium_bytes_per_s: copy.map(|copy| copy * flows as f64),
        }
    }
}

/// Whether ranks of this role send payload: a bandwidth is the sum of what all of them send.
fn is_sender(case: &Case, role: Role) -> bool {
    match role {
        Role::Source | Role::Neighbour => true,
        Role::Sink => case.test.is_both_ways(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::Machine;
    use wirespeed_schema::plan::{expand, parse_plan};

    fn limit_of(medium: &mut Medium, test: &str, via: &str) -> Option<f64> {
        let registry = Registry::builtin();
        let plan = parse_plan(&format!("[[case]]\ntest = \"{test}\"\nvia = \"{via}\"\n")).unwrap();
        let cases = expand(&plan, &Machine::new(&registry)).unwrap();
        let mut case = cases[0].case.clone();
        // On one CPU for all: its speed is measured once.
        case.ranks.iter_mut().for_each(|rank| rank.cpu = None);
        medium.limits(&registry, &case).medium_bytes_per_s
    }

    #[test]
    fn only_what_a_cpu_copies_is_limited_by_a_copy() {
        let mut medium = Medium::default();
        let mut limit = |test, via| limit_of(&mut medium, test, via);
        assert!(limit("am_bw", "shm").unwrap() > 0.0);
        assert_eq!(limit("am_lat", "shm"), None, "round trips are no flow");
        assert_eq!(limit("am_bw", "null"), None, "nothing is copied");
    }

    /// Else two ranks that both send would seem faster than memory.
    #[test]
    fn every_rank_that_sends_has_a_copy_of_its_own() {
        let mut medium = Medium::default();
        let mut copies = |test| {
            let one = limit_of(&mut medium, "am_bw", "shm").unwrap();
            (limit_of(&mut medium, test, "shm").unwrap() / one).round() as u32
        };
        for (test, senders) in [
            ("put_bw", 1),
            ("osu_bw", 1),
            ("imb_uniband", 1),
            ("am_bibw", 2),
            ("osu_bibw", 2),
            ("imb_biband", 2),
            ("am_alltoall", 2),
            ("msgrate", 2),
        ] {
            assert_eq!(copies(test), senders, "{test}");
        }
    }
}
