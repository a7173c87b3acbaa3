//! On which CPUs a thread may run: lists of CPUs, pinning, and the CPUs that ranks get by default.
//!
//! The library runs in its caller's thread, so that a pin must never outlive its guard.

use super::error::HostError;
use super::files::Files;
use super::topology::{Cpu, Topology};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use wirespeed_schema::order::InOrder;

/// No kernel numbers CPUs higher; keeps a mistyped range from filling the memory.
const CPU_NUMBER_MAX: u32 = 65_535;

thread_local! {
    /// What this thread was allowed before its outermost live [`PinGuard`].
    static BEFORE_PIN: Cell<Option<CpuSet>> = const { Cell::new(None) };
}

/// Keeps the calling thread on one CPU; gives it its previous CPUs back on drop. Drop guards in reverse order.
#[derive(Debug)]
#[must_use = "the pin ends when the guard is dropped"]
pub struct PinGuard {
    previous: CpuSet,
    outermost: bool,
    /// The guard belongs to the thread that it pins.
    not_send: PhantomData<*const ()>,
}

impl Drop for PinGuard {
    fn drop(&mut self) {
        // The previous CPUs can only be refused when they went offline since; the kernel then chooses others itself.
        let _ = sched_setaffinity(None, &self.previous);
        if self.outermost {
            BEFORE_PIN.set(None);
        }
    }
}

/// CPUs of the calling thread in ascending order. A live [`PinGuard`] does not count: the CPUs before it are reported.
pub fn allowed_cpus() -> Vec<u32> {
    match BEFORE_PIN
        .get()
        .map(Ok)
        .unwrap_or_else(|| sched_getaffinity(None))
    {
        Ok(set) => numbers(&set),
        // Machines with more CPUs than the fixed-size set holds.
        Err(_) => Files::live()
            .value("/proc/thread-self/status", "Cpus_allowed_list")
            .and_then(|list| parse_cpu_list(&list).ok())
            .unwrap_or_default(),
    }
}

/// Keep the calling thread on `cpu` until the guard is dropped.
pub fn pin_thread(cpu: u32) -> Result<PinGuard, HostError> {
    let previous = sched_getaffinity(None).map_err(|e| HostError::Affinity(e.into()))?;
    restrict_thread(&[cpu])?;
    let outermost = BEFORE_PIN.get().is_none();
    if outermost {
        BEFORE_PIN.set(Some(previous));
    }
    Ok(PinGuard {
        previous,
        outermost,
        not_send: PhantomData,
    })
}

/// Let the calling thread run on `cpus` only, for good: for threads of our own.
pub fn restrict_thread(cpus: &[u32]) -> Result<(), HostError> {
    let not_allowed = |cpu: u32| HostError::CpuNotAllowed {
        cpu,
        allowed: format_cpu_list(&allowed_cpus()),
    };
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(not_allowed(cpu));
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|error| match (error, cpus.first()) {
        (rustix::io::Errno::INVAL, Some(&cpu)) => not_allowed(cpu),
        _ => HostError::Affinity(error.into()),
    })
}

/// CPUs for `ranks` ranks: different physical cores first, close to each other. `None` when the calling thread is
/// allowed fewer CPUs than there are ranks.
pub fn default_cpus(ranks: usize) -> Option<Vec<u32>> {
    choose(&Topology::read(std::path::Path::new("/")), &allowed_cpus(), ranks)
}

/// Parse `0-3,5`. Order and repetition are kept: the first entry is for the first rank.
pub fn parse_cpu_list(input: &str) -> Result<Vec<u32>, HostError> {
    let error = |why| HostError::CpuList {
        input: input.to_owned(),
        why,
    };
    let number = |text: &str| -> Result<u32, HostError> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let value: u32 =
            if digits { text.parse().ok() } else { None }.ok_or_else(|| error("not a number"))?;
        if value > CPU_NUMBER_MAX {
            return Err(error("a number above 65535"));
        }
        Ok(value)
    };
    let mut cpus = Vec::new();
    for part in input.split(',').map(str::trim) {
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(error("a range that runs backwards"));
                }
                cpus.extend(first..=last);
            }
        }
        if cpus.len() > CPU_NUMBER_MAX as usize + 1 {
            return Err(error("too many CPUs"));
        }
    }
    Ok(cpus)
}

/// Write `cpus` as [`parse_cpu_list`] reads it; order and repetition are kept.
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let parts = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

fn numbers(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect()
}

/// Where a CPU sits, from far to near: socket, NUMA node, last-level cache.
fn place(cpu: &Cpu) -> [u32; 3] {
    let shares = cpu
        .last_level_cache()
        .and_then(|c| c.shared_cpus.first().copied());
    [cpu.socket, cpu.numa_node, shares.unwrap_or(u32::MAX)]
}

/// The smallest neighbourhood (cache, node, socket, machine) with a core for each rank; else cores first, then their
/// siblings.
fn choose(topology: &Topology, allowed: &[u32], ranks: usize) -> Option<Vec<u32>> {
    if allowed.len() < ranks {
        return None;
    }
    let mut cpus: Vec<Cpu> = allowed.iter().map(|&n| topology.cpu_or_unknown(n)).collect();
    cpus.order_by_key(|cpu| (place(cpu), cpu.number));
    let mut seen = BTreeSet::new();
    let (firsts, siblings): (Vec<_>, Vec<_>) = cpus.iter().partition(|cpu| seen.insert(cpu.core));
    for shared in (0..=3).rev() {
        for start in &firsts {
            let near = firsts
                .iter()
                .filter(|cpu| place(cpu)[..shared] == place(start)[..shared]);
            let chosen: Vec<u32> = near.map(|cpu| cpu.number).take(ranks).collect();
            if chosen.len() == ranks {
                return Some(chosen);
            }
        }
    }
    Some(
        firsts
            .iter()
            .chain(&siblings)
            .map(|cpu| cpu.number)
            .take(ranks)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::topology::{Cache, CacheKind};
    use super::*;
    use proptest::prelude::*;

    /// Cores of `threads` CPUs each; CPU n and n + cores are siblings; `cores_per_cache` share the last cache.
    fn machine(sockets: u32, cores_per_socket: u32, threads: u32, cores_per_cache: u32) -> Topology {
        let cores = sockets * cores_per_socket;
        let number = |core: u32, thread: u32| core + thread * cores;
        let of_core = |core| (0..threads).map(move |t| number(core, t));
        let cpu = |core: u32, thread: u32| {
            let first = core / cores_per_cache * cores_per_cache;
            let mut shared: Vec<u32> = (first..first + cores_per_cache).flat_map(of_core).collect();
            shared.sort_unstable();
            Cpu {
                number: number(core, thread),
                core,
                socket: core / cores_per_socket,
                numa_node: core / cores_per_socket,
                siblings: of_core(core).collect(),
                caches: vec![Cache {
                    level: 3,
                    kind: CacheKind::Unified,
                    size_bytes: 1 << 25,
                    shared_cpus: shared,
                }],
            }
        };
        let cpus = (0..threads)
            .flat_map(|t| (0..cores).map(move |c| cpu(c, t)))
            .collect();
        Topology {
            cpus,
            numa_nodes: sockets,
        }
    }

    #[test]
    fn different_cores_before_siblings() {
        let m = machine(1, 2, 2, 2);
        assert_eq!(choose(&m, &[0, 1, 2, 3], 2), Some(vec![0, 1]));
        assert_eq!(choose(&m, &[0, 2, 3], 2), Some(vec![0, 3]));
        assert_eq!(choose(&m, &[0, 2], 2), Some(vec![0, 2]));
        assert_eq!(choose(&m, &[0, 1, 2, 3], 3), Some(vec![0, 1, 2]));
        assert_eq!(choose(&m, &[0, 1, 2, 3], 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(choose(&m, &[0, 1, 2, 3], 5), None);
    }

    #[test]
    fn same_cache_then_same_socket() {
        let m = machine(2, 8, 2, 4);
        // Core 3 is the last of its cache: the next pair with one cache starts at core 4.
        assert_eq!(choose(&m, &[3, 4, 5, 6, 8], 2), Some(vec![4, 5]));
        // No cache holds three allowed cores, socket 1 does.
        assert_eq!(choose(&m, &[0, 4, 8, 9, 12], 3), Some(vec![8, 9, 12]));
        // No socket holds four.
        assert_eq!(choose(&m, &[0, 4, 8, 9], 4), Some(vec![0, 4, 8, 9]));
    }

    #[test]
    fn cpus_without_topology_are_cores() {
        let empty = Topology::default();
        assert_eq!(choose(&empty, &[4, 7], 2), Some(vec![4, 7]));
    }

    #[test]
    fn nonsense_lists_are_refused() {
        for bad in [
            "",
            ",",
            "1,",
            "a",
            "-1",
            "3-",
            "3-1",
            "1-2-3",
            "+1",
            "0-4294967295",
            "99999999999",
            "0 1",
        ] {
            assert!(parse_cpu_list(bad).is_err(), "{bad:?}");
        }
        let many = ["0-65535"; 3].join(",");
        assert!(parse_cpu_list(&many).is_err());
        assert_eq!(parse_cpu_list("0-3, 5").ok(), Some(vec![0, 1, 2, 3, 5]));
        assert_eq!(parse_cpu_list("3,1,1").ok(), Some(vec![3, 1, 1]));
    }

    #[test]
    fn a_pin_ends_with_its_guard() {
        let before = sched_getaffinity(None).expect("affinity");
        let allowed = allowed_cpus();
        let last = *allowed.last().expect("a CPU");
        {
            let _outer = pin_thread(last).expect("pin");
            let _inner = pin_thread(allowed[0]).expect("pin");
            assert_eq!(numbers(&sched_getaffinity(None).expect("affinity")), [allowed[0]]);
            assert_eq!(allowed_cpus(), allowed, "a live pin does not count");
        }
        assert_eq!(sched_getaffinity(None).expect("affinity"), before);
        assert_eq!(BEFORE_PIN.get(), None);
    }

    #[test]
    fn a_refused_pin_changes_nothing() {
        let before = allowed_cpus();
        for cpu in [60_000, 1_023] {
            if !before.contains(&cpu) {
                let error = pin_thread(cpu).expect_err("no such CPU");
                assert!(matches!(error, HostError::CpuNotAllowed { .. }), "{error}");
            }
        }
        assert!(restrict_thread(&[]).is_err());
        assert_eq!(allowed_cpus(), before);
        assert_eq!(BEFORE_PIN.get(), None);
    }

    proptest! {
        #[test]
        fn lists_survive_a_round_trip(cpus in prop::collection::vec(0u32..=CPU_NUMBER_MAX, 1..40)) {
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)).expect("own output"), cpus);
        }

        #[test]
        fn any_text_parses_or_errors(text in "[0-9,\\- a]{0,20}") {
            let _ = parse_cpu_list(&text);
        }

        #[test]
        fn chosen_cpus_are_allowed_and_distinct(
            allowed in prop::collection::btree_set(0u32..32, 1..32), ranks in 0usize..40
        ) {
            let allowed: Vec<u32> = allowed.into_iter().collect();
            let chosen = choose(&machine(2, 8, 2, 4), &allowed, ranks);
            prop_assert_eq!(chosen.is_some(), ranks <= allowed.len());
            let chosen = chosen.unwrap_or_default();
            let distinct: BTreeSet<_> = chosen.iter().collect();
            prop_assert_eq!(distinct.len(), chosen.len());
            prop_assert!(chosen.iter().all(|cpu| allowed.contains(cpu)));
            let cores = |cpus: &[u32]| cpus.iter().map(|c| c % 16).collect::<BTreeSet<_>>().len();
            prop_assert_eq!(cores(&chosen), chosen.len().min(cores(&allowed)));
        }
    }
}
