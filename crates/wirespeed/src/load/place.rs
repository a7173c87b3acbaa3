//! On which CPUs the threads of a load run, given those that are measured on.

use super::LoadError;
use crate::host::Topology;
use std::path::Path;
use wirespeed_schema::case::{Case, GroupKind, Place, Role};

/// The CPUs that are measured on, as far as a load must know them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measuring {
    /// The CPU of the rank that carries the load; `None` where it is not pinned.
    pub own: Option<u32>,
    /// Those of all measuring ranks on its machine.
    pub all: Vec<u32>,
}

impl Measuring {
    /// One process alone, pinned or not.
    pub fn alone(own: Option<u32>) -> Self {
        Measuring {
            own,
            all: own.into_iter().collect(),
        }
    }

    /// Rank `me` of `case`. Where ranks live on several machines, CPUs of the others count as well: a CPU too many is
    /// spared, none too few.
    pub fn in_case(case: &Case, me: u32) -> Self {
        let measuring = case.ranks.iter().filter(|rank| rank.role != Role::Idle);
        Measuring {
            own: case.ranks.get(me as usize).and_then(|rank| rank.cpu),
            all: measuring.filter_map(|rank| rank.cpu).collect(),
        }
    }

    /// Where threads at `place` may run, of the CPUs that this thread is `allowed`.
    pub(crate) fn cpus(&self, place: Place, allowed: &[u32]) -> Result<Vec<u32>, LoadError> {
        // The topology is some hundred files; most loads need none of them.
        let topology = match place {
            Place::Beside | Place::Same => Topology::default(),
            Place::Apart | Place::Sibling => Topology::read(Path::new("/")),
        };
        self.cpus_on(&topology, place, allowed)
    }

    pub(super) fn cpus_on(
        &self,
        topology: &Topology,
        place: Place,
        allowed: &[u32],
    ) -> Result<Vec<u32>, LoadError> {
        let only = |wanted: &dyn Fn(u32) -> bool| -> Vec<u32> {
            allowed.iter().copied().filter(|&cpu| wanted(cpu)).collect()
        };
        let core_of = |cpu: u32| topology.cpu(cpu).map_or(cpu, |known| known.core);
        let lacks = |why| Err(LoadError::Place { place, why });
        let (own, found) = match (place, self.own) {
            (Place::Beside, own) => {
                let others = only(&|cpu| Some(cpu) != own);
                let found = if others.is_empty() {
                    allowed.to_vec()
                } else {
                    others
                };
                return Ok(found);
            }
            (_, None) => return lacks("the rank is not pinned to a CPU"),
            (Place::Same, Some(own)) => return Ok(vec![own]),
            (Place::Apart, Some(own)) => (
                own,
                only(&|cpu| self.all.iter().all(|&m| core_of(m) != core_of(cpu))),
            ),
            (Place::Sibling, Some(own)) => {
                let idle = |cpu: u32| !self.all.contains(&cpu) && cpu != own;
                (own, only(&|cpu| core_of(cpu) == core_of(own) && idle(cpu)))
            }
        };
        match (found.contains(&own), found.is_empty(), place) {
            (_, true, Place::Sibling) => lacks("its core has no other hardware thread that is free"),
            (true, _, _) | (_, true, _) => lacks("every core that this process may use is measured on"),
            _ => Ok(found),
        }
    }
}

/// Ranks of `case` that measure, by number.
pub(super) fn measuring_ranks(case: &Case) -> impl Iterator<Item = usize> + '_ {
    let ranks = case.ranks.iter().enumerate();
    ranks
        .filter(|(_, rank)| rank.role != Role::Idle)
        .map(|(number, _)| number)
}

/// Ranks that share this machine, at most.
pub(super) fn ranks_here(case: &Case) -> usize {
    let ranks = measuring_ranks(case).count().max(1);
    match case.group {
        GroupKind::Hosts => ranks.div_ceil(2),
        GroupKind::Threads | GroupKind::Processes | GroupKind::Job => ranks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::topology::Cpu;

    /// Four cores of two threads: CPU n and n + 4 are siblings.
    fn topology() -> Topology {
        let cpu = |number: u32| Cpu {
            number,
            core: number % 4,
            socket: 0,
            numa_node: 0,
            siblings: vec![number % 4, number % 4 + 4],
            caches: Vec::new(),
        };
        Topology {
            cpus: (0..8).map(cpu).collect(),
            numa_nodes: 1,
        }
    }

    fn pair() -> Measuring {
        Measuring {
            own: Some(0),
            all: vec![0, 1],
        }
    }

    #[test]
    fn each_place_has_its_cpus() {
        let all: Vec<u32> = (0..8).collect();
        let of = |place| pair().cpus_on(&topology(), place, &all).expect("CPUs");
        assert_eq!(of(Place::Beside), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            of(Place::Apart),
            [2, 3, 6, 7],
            "siblings of measuring CPUs are not apart"
        );
        assert_eq!(of(Place::Sibling), [4]);
        assert_eq!(of(Place::Same), [0]);
    }

    #[test]
    fn a_place_that_is_not_there_is_said_and_not_replaced() {
        let why = |measuring: &Measuring, place, allowed: &[u32]| match measuring.cpus_on(
            &topology(),
            place,
            allowed,
        ) {
            Err(LoadError::Place { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(&pair(), Place::Apart, &[0, 1, 4, 5]).contains("measured on"));
        assert!(why(&pair(), Place::Sibling, &[0, 1, 2]).contains("hardware thread"));
        let unpinned = Measuring::default();
        for place in [Place::Apart, Place::Sibling, Place::Same] {
            assert!(why(&unpinned, place, &[0, 1]).contains("not pinned"));
        }
        // Where the topology is not known each CPU is a core.
        let apart = pair().cpus_on(&Topology::default(), Place::Apart, &[0, 1, 5]);
        assert_eq!(apart.expect("CPUs"), [5]);
    }

    #[test]
    fn the_only_cpu_is_used_all_the_same() {
        let beside = |own, allowed: &[u32]| {
            let found = Measuring::alone(own).cpus(Place::Beside, allowed);
            found.expect("beside has always a CPU")
        };
        assert_eq!(beside(Some(1), &[0, 1, 5]), [0, 5]);
        assert_eq!(beside(Some(7), &[0, 1]), [0, 1]);
        assert_eq!(beside(Some(3), &[3]), [3]);
        assert_eq!(beside(None, &[3]), [3]);
    }
}
