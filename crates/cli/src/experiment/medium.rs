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
        let sources = case.ranks.iter().filter(|rank| rank.role == Role::Source);
        let ways = if case.test.is_both_ways() && !case.test.is_posted() {
            2
        } else {
            1
        };
        let flows = sources.clone().count().max(1) * ways;
        let cpu = sources.filter_map(|rank| rank.cpu).next();
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

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed::Machine;
    use wirespeed_schema::plan::{expand, parse_plan};

    fn limit_of(test: &str, via: &str) -> Option<f64> {
        let registry = Registry::builtin();
        let plan = parse_plan(&format!("[[case]]\ntest = \"{test}\"\nvia = \"{via}\"\n")).unwrap();
        let cases = expand(&plan, &Machine::new(&registry)).unwrap();
        Medium::default()
            .limits(&registry, &cases[0].case)
            .medium_bytes_per_s
    }

    #[test]
    fn only_what_a_cpu_copies_is_limited_by_a_copy() {
        let one_way = limit_of("am_bw", "shm").unwrap();
        let both_ways = limit_of("am_bibw", "tcp").unwrap();
        assert!(one_way > 0.0 && both_ways > one_way, "{one_way} {both_ways}");
        assert_eq!(limit_of("am_lat", "shm"), None, "round trips are no flow");
        assert_eq!(limit_of("am_bw", "null"), None, "nothing is copied");
    }
}
