//! Which host has which rank: the case of a round for them, and what its ranks saw as figures of pairs.

use super::attempts::Ended;
use super::figures::figures;
use super::roster::Host;
use wirespeed_mesh::Pair;
use wirespeed_schema::Outcome;
use wirespeed_schema::case::{Case, Role};

/// The host of each rank, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seats(Vec<usize>);

impl Seats {
    /// Ranks of these hosts, which are in ascending order.
    pub fn of(hosts: impl Iterator<Item = usize>) -> Self {
        Seats(hosts.collect())
    }

    /// The host of each rank.
    pub fn hosts(&self) -> &[usize] {
        &self.0
    }

    /// The rank of a host.
    fn rank_of(&self, host: usize) -> Option<usize> {
        self.0.binary_search(&host).ok()
    }

    /// The case of a round: `pair`'s, a rank a host; those that are in no pair are idle.
    pub fn case_of(&self, hosts: &[Host], pair: &Case, pairs: &[Pair]) -> Case {
        let seated = |seat: &usize| hosts[*seat].rank(Role::Idle);
        let mut ranks: Vec<_> = self.0.iter().map(seated).collect();
        for &Pair { from, to } in pairs {
            let (Some(from), Some(to)) = (self.rank_of(from), self.rank_of(to)) else {
                continue;
            };
            for (at, number, peer) in [(0, from, to), (1, to, from)] {
                let spec = &pair.ranks[at];
                let rank = &mut ranks[number];
                (rank.role, rank.peer) = (spec.role, u32::try_from(peer).ok());
                rank.load = spec.load.clone();
            }
        }
        pair.clone().with_ranks(ranks)
    }

    /// The figures of each pair of a round.
    pub fn measured(&self, case: &Case, pairs: &[Pair], outcomes: &[Outcome]) -> Vec<Ended> {
        let mut by_rank: Vec<Option<&Outcome>> = vec![None; self.0.len()];
        for outcome in outcomes {
            if let Some(place) = by_rank.get_mut(outcome.rank as usize) {
                *place = Some(outcome);
            }
        }
        let of_host = |host: usize| by_rank[self.rank_of(host)?].cloned();
        let one = |pair: &Pair| match (of_host(pair.from), of_host(pair.to)) {
            (Some(from), Some(to)) => (*pair, figures(case, [from, to])),
            _ => (*pair, Err("a rank delivered nothing".to_owned().into())),
        };
        pairs.iter().map(one).collect()
    }
}
