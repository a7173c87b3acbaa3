//! How much memory a rank must walk through so that the caches hold nothing of what it had there before.

use super::files::Files;
use super::memory::total_bytes;
use super::topology::Topology;
use std::path::Path;

/// Where no cache is known.
const UNKNOWN_CACHE_BYTES: u64 = 32 << 20;
/// All ranks of a machine together take at most this part of its memory.
const MEMORY_PART: u64 = 16;

/// Bytes for each of `ranks` ranks on this machine: twice the largest cache, shared among the ranks that share it; all of
/// them together at most a sixteenth of the memory.
pub fn cache_bytes(ranks: usize) -> u64 {
    bytes(
        &Topology::read(Path::new("/")),
        total_bytes(&Files::live()),
        ranks,
    )
}

fn bytes(topology: &Topology, memory: Option<u64>, ranks: usize) -> u64 {
    let ranks = ranks.max(1) as u64;
    let last = topology.cpus.first().and_then(|cpu| cpu.last_level_cache());
    let (size, sharing) = match last {
        Some(cache) => {
            let cpus = topology.cpus.len().max(1) as u64;
            let caches = cpus.div_ceil(cache.shared_cpus.len().max(1) as u64);
            (cache.size_bytes, ranks.div_ceil(caches))
        }
        None => (UNKNOWN_CACHE_BYTES, ranks),
    };
    let wanted = size.saturating_mul(2) / sharing;
    memory.map_or(wanted, |memory| wanted.min(memory / MEMORY_PART / ranks))
}

#[cfg(test)]
mod tests {
    use super::super::topology::{Cache, CacheKind, Cpu};
    use super::*;

    fn machine(cpus: u32, sharing: u32) -> Topology {
        let cpu = |number: u32| Cpu {
            number,
            core: number,
            socket: 0,
            numa_node: 0,
            siblings: vec![number],
            caches: vec![Cache {
                level: 3,
                kind: CacheKind::Unified,
                size_bytes: 32 << 20,
                shared_cpus: (0..sharing).collect(),
            }],
        };
        Topology {
            cpus: (0..cpus).map(cpu).collect(),
            numa_nodes: 1,
        }
    }

    #[test]
    fn twice_the_cache_is_shared_and_capped() {
        assert_eq!(bytes(&machine(8, 8), None, 1), 64 << 20);
        assert_eq!(bytes(&machine(8, 8), None, 4), 16 << 20);
        // Two caches: four ranks are two on each.
        assert_eq!(bytes(&machine(8, 4), None, 4), 32 << 20);
        assert_eq!(bytes(&machine(8, 8), Some(64 << 20), 2), 2 << 20);
        assert_eq!(bytes(&Topology::default(), None, 1), 64 << 20);
    }
}
