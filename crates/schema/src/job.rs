//! What only a job of a launcher knows: who is where. The section `job` of a run document.

use crate::section::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A rank's place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobSeat {
    /// Its node: an index into [`JobSection::nodes`].
    pub node: u32,
    /// CPUs that the launcher lets it use.
    pub cpus: Vec<u32>,
}

/// Two ranks' places relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairPath {
    /// On one node.
    IntraNode,
    /// On two.
    InterNode,
}

impl PairPath {
    /// As in the document.
    pub fn name(self) -> &'static str {
        match self {
            PairPath::IntraNode => "intra_node",
            PairPath::InterNode => "inter_node",
        }
    }
}

/// The job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobSection {
    /// Names of the nodes, discovered by the library; numbers where names were not asked for.
    pub nodes: Vec<String>,
    /// Every rank's place, by rank.
    pub ranks: Vec<JobSeat>,
    /// Library, version, launcher, thread level and the like.
    pub facts: BTreeMap<String, String>,
}

impl Section for JobSection {
    const NAME: &'static str = "job";
}

impl JobSection {
    /// How two ranks lie to each other; `None` for ranks that the job has not.
    pub fn path(&self, a: u32, b: u32) -> Option<PairPath> {
        let node = |rank: u32| self.ranks.get(rank as usize).map(|seat| seat.node);
        Some(match node(a)? == node(b)? {
            true => PairPath::IntraNode,
            false => PairPath::InterNode,
        })
    }

    /// Ranks of the node that has most.
    pub fn ranks_of_fullest_node(&self) -> usize {
        self.ranks_by_node().into_iter().max().unwrap_or(0)
    }

    /// Ranks of every node where all have as many and each node's ranks follow each other; `None` otherwise.
    pub fn ranks_per_node(&self) -> Option<u32> {
        let per_node = self.ranks_of_fullest_node();
        let blocks = self.ranks.chunks(per_node.max(1));
        let mut even = self.ranks_by_node().into_iter().all(|ranks| ranks == per_node);
        for block in blocks {
            even &= block.iter().all(|seat| seat.node == block[0].node);
        }
        even.then_some(per_node as u32)
    }

    fn ranks_by_node(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.nodes.len()];
        for seat in &self.ranks {
            if let Some(count) = ranks.get_mut(seat.node as usize) {
                *count += 1;
            }
        }
        ranks
    }

    /// A node, by its number, that has more ranks than CPUs for them: the number of ranks and of CPUs.
    pub fn crowded_node(&self) -> Option<(u32, usize, usize)> {
        (0..self.nodes.len() as u32).find_map(|node| {
            let here = || self.ranks.iter().filter(move |seat| seat.node == node);
            let mut cpus: Vec<u32> = here().flat_map(|seat| seat.cpus.iter().copied()).collect();
            cpus.sort_unstable();
            cpus.dedup();
            let ranks = here().count();
            (ranks > cpus.len() && !cpus.is_empty()).then_some((node, ranks, cpus.len()))
        })
    }

    /// Whether some rank may wander over CPUs that another rank of its node uses too.
    pub fn is_unpinned(&self) -> bool {
        let shares = |index: usize, seat: &JobSeat| {
            let others = self
                .ranks
                .iter()
                .enumerate()
                .filter(|(i, other)| *i != index && other.node == seat.node);
            others
                .flat_map(|(_, other)| &other.cpus)
                .any(|cpu| seat.cpus.contains(cpu))
        };
        self.ranks
            .iter()
            .enumerate()
            .any(|(index, seat)| shares(index, seat))
    }

    /// With numbers in place of the nodes' names.
    #[must_use]
    pub fn without_names(mut self) -> Self {
        for (number, name) in self.nodes.iter_mut().enumerate() {
            *name = format!("node{number}");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(seats: &[(u32, &[u32])]) -> JobSection {
        JobSection {
            nodes: vec!["a".into(), "b".into()],
            ranks: seats
                .iter()
                .map(|(node, cpus)| JobSeat {
                    node: *node,
                    cpus: cpus.to_vec(),
                })
                .collect(),
            ..JobSection::default()
        }
    }

    #[test]
    fn pairs_are_labelled_by_node() {
        let job = job(&[(0, &[0]), (0, &[1]), (1, &[0])]);
        assert_eq!(job.path(0, 1), Some(PairPath::IntraNode));
        assert_eq!(job.path(1, 2), Some(PairPath::InterNode));
        assert_eq!(job.path(0, 3), None);
        assert!(!job.is_unpinned() && job.crowded_node().is_none());
        assert_eq!(job.without_names().nodes, ["node0", "node1"]);
    }

    #[test]
    fn ranks_per_node_are_found_where_nodes_are_alike() {
        let block = job(&[(0, &[]), (0, &[]), (1, &[]), (1, &[])]);
        assert_eq!(
            (block.ranks_per_node(), block.ranks_of_fullest_node()),
            (Some(2), 2)
        );
        let round_robin = job(&[(0, &[]), (1, &[]), (0, &[]), (1, &[])]);
        assert_eq!(round_robin.ranks_per_node(), None);
        assert_eq!(job(&[(0, &[]), (0, &[]), (1, &[])]).ranks_per_node(), None);
    }

    #[test]
    fn more_ranks_than_cpus_and_shared_cpus_are_seen() {
        let shared = job(&[(0, &[0, 1]), (0, &[0, 1])]);
        assert!(shared.is_unpinned() && shared.crowded_node().is_none());
        let crowded = job(&[(1, &[0]), (1, &[0]), (0, &[0])]);
        assert_eq!(crowded.crowded_node(), Some((1, 2, 1)));
    }
}
