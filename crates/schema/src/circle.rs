//! Which ranks of a case share data, and a case as some of its ranks must know it: in a large group of pairs each rank is told
//! of its own, so that what a coordinator sends grows with the ranks and not with their square.

use crate::case::{Case, RankSpec, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most ranks of a case that is taken from elsewhere.
pub const RANKS_MAX: u32 = 1 << 16;

/// The circles of a case: ranks whose data meet, directly or through others. Nobody needs to know a rank of another circle.
///
/// ```
/// use wirespeed_schema::case::{Case, RankSpec};
/// use wirespeed_schema::circle::Circles;
/// use wirespeed_schema::test::{Layout, PingPong, Test};
///
/// let two_pairs = [1, 0, 3, 2].map(|peer| RankSpec::pair().remove(peer as usize % 2).with_peer(peer));
/// let case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "tcp").with_ranks(two_pairs.to_vec());
/// let circles = Circles::of(&case);
/// assert_eq!((circles.of_rank(1), circles.of_rank(3)), (0, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circles(Vec<u32>);

impl Circles {
    /// The circles of `case`. A rank without a part is a circle of its own.
    pub fn of(case: &Case) -> Self {
        let size = case.ranks.len();
        let mut circles = Circles((0u32..).take(size).collect());
        let all_together = case.test.is_posted();
        let mut hall = None;
        for (rank, spec) in case.ranks.iter().enumerate() {
            if spec.role == Role::Idle {
                continue;
            }
            match spec.peer {
                Some(peer) if !all_together => circles.join(rank, peer as usize),
                // One of many, such as a worker or its hub, whom only their roles bring together.
                _ => circles.join(rank, *hall.get_or_insert(rank)),
            }
        }
        for rank in 0..size {
            circles.0[rank] = circles.root(rank) as u32;
        }
        circles
    }

    /// The circle of `rank` by its lowest rank. Ranks that the case does not have are one.
    pub fn of_rank(&self, rank: u32) -> u32 {
        self.0.get(rank as usize).copied().unwrap_or(u32::MAX)
    }

    /// The ranks of each circle, by its lowest.
    fn members(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (rank, circle) in (0..).zip(&self.0) {
            members.entry(*circle).or_default().push(rank);
        }
        members
    }

    /// The lowest rank known to be in the circle of `rank`. Entries point downwards, and paths are halved as they are walked.
    fn root(&mut self, mut rank: usize) -> usize {
        while self.0[rank] as usize != rank {
            self.0[rank] = self.0[self.0[rank] as usize];
            rank = self.0[rank] as usize;
        }
        rank
    }

    fn join(&mut self, one: usize, other: usize) {
        if other >= self.0.len() {
            return;
        }
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other) as u32;
    }
}

/// A case as it travels: of its ranks, those that the receiver must know; all others are idle for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CasePart {
    /// The case with the known ranks alone, in their order.
    case: Box<Case>,
    /// How many ranks it has.
    rank_count: u32,
    /// The numbers of the known ones.
    known_ranks: Vec<u32>,
}

impl CasePart {
    /// All of `case`.
    pub fn whole(case: &Case) -> Self {
        CasePart {
            rank_count: case.ranks.len() as u32,
            known_ranks: (0u32..).take(case.ranks.len()).collect(),
            case: Box::new(case.clone()),
        }
    }

    /// What each of `groups` must know of `case`, where the ranks of a group share a machine: each other, and their circles.
    /// All is known where a rank carries load, because that spares CPUs which others measure on.
    pub fn for_each(case: &Case, groups: &[&[u32]]) -> Vec<Self> {
        let is_loaded = case.ranks.iter().any(|rank| !rank.load.is_idle());
        let circles = Circles::of(case);
        let members = circles.members();
        let bare = case.clone().with_ranks(Vec::new());
        let part = |own: &[u32]| {
            let circles = own.iter().map(|rank| circles.of_rank(*rank));
            let near = circles.filter_map(|circle| members.get(&circle)).flatten();
            let mut known: Vec<u32> = near.chain(own).copied().collect();
            known.sort_unstable();
            known.dedup();
            let spec = |rank: &u32| case.ranks.get(*rank as usize).cloned();
            CasePart {
                case: Box::new(bare.clone().with_ranks(known.iter().filter_map(spec).collect())),
                rank_count: case.ranks.len() as u32,
                known_ranks: known,
            }
        };
        groups
            .iter()
            .map(|own| {
                if is_loaded {
                    CasePart::whole(case)
                } else {
                    part(own)
                }
            })
            .collect()
    }

    /// The case with all its ranks; `None` where it contradicts itself.
    pub fn into_case(self) -> Option<Box<Case>> {
        let CasePart {
            mut case,
            rank_count: size,
            known_ranks: known,
        } = self;
        let is_ordered = known.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = size <= RANKS_MAX && known.last().is_none_or(|last| *last < size);
        if !is_ordered || !fits || known.len() != case.ranks.len() {
            return None;
        }
        let mut ranks = vec![RankSpec::new(Role::Idle); size as usize];
        for (number, spec) in known.into_iter().zip(std::mem::take(&mut case.ranks)) {
            ranks[number as usize] = spec;
        }
        case.ranks = ranks;
        Some(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posted::{Buffers, Defined};
    use crate::test::{Layout, PingPong, Stream, Test};

    fn case(ranks: Vec<RankSpec>) -> Case {
        Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "tcp").with_ranks(ranks)
    }

    /// Pairs of neighbours, the last rank idle.
    fn pairs(size: u32) -> Case {
        let role = |rank: u32| match rank {
            last if last + 1 == size => RankSpec::new(Role::Idle),
            even if even % 2 == 0 => RankSpec::new(Role::Source).with_peer(even + 1),
            odd => RankSpec::new(Role::Sink).with_peer(odd - 1),
        };
        case((0..size).map(role).collect())
    }

    fn circles(case: &Case) -> Vec<u32> {
        let circles = Circles::of(case);
        (0..case.ranks.len() as u32)
            .map(|rank| circles.of_rank(rank))
            .collect()
    }

    #[test]
    fn ranks_whose_data_meet_are_one_circle() {
        assert_eq!(circles(&pairs(5)), [0, 0, 2, 2, 4]);
        let of_roles = |roles: &[(Role, Option<u32>)]| {
            let ranks = roles
                .iter()
                .map(|(role, peer)| RankSpec::new(*role).with_peer(*peer));
            case(ranks.collect())
        };
        // A hub and its workers name no peers.
        let hub = [
            (Role::Idle, None),
            (Role::Worker, None),
            (Role::Hub, None),
            (Role::Worker, None),
        ];
        assert_eq!(circles(&of_roles(&hub)), [0, 1, 1, 1]);
        // Sources and sinks that one rank relays between are joined through it, wherever it stands.
        let relayed = [
            (Role::Source, Some(3)),
            (Role::Idle, None),
            (Role::Sink, Some(3)),
            (Role::Relay, None),
        ];
        assert_eq!(circles(&of_roles(&relayed)), [0, 1, 0, 0]);
        // All to all.
        let all = [(Role::Source, None), (Role::Source, None), (Role::Idle, None)];
        let stream = Test::AmAlltoall(Stream::new(8, Layout::Short, 4));
        assert_eq!(
            circles(&Case {
                test: stream,
                ..of_roles(&all)
            }),
            [0, 0, 2]
        );
        // One alone, and one whose peer does not exist.
        assert_eq!(
            circles(&of_roles(&[(Role::Source, Some(0)), (Role::Source, Some(7))])),
            [0, 1]
        );
        let few = Circles::of(&pairs(3));
        assert_eq!(few.of_rank(8), few.of_rank(9));
    }

    #[test]
    fn ranks_of_a_posted_test_meet_in_a_tree() {
        let test = Test::OsuLatency(Defined::new(8, 1, Buffers::Single));
        assert_eq!(circles(&Case { test, ..pairs(5) }), [0, 0, 0, 0, 4]);
    }

    #[test]
    fn a_part_has_the_circle_and_those_beside() {
        let case = pairs(7);
        let groups: [&[u32]; 4] = [&[0], &[3], &[4, 2], &[6]];
        let parts = CasePart::for_each(&case, &groups);
        let known: Vec<&[u32]> = parts.iter().map(|part| &part.known_ranks[..]).collect();
        assert_eq!(known, [&[0, 1][..], &[2, 3], &[2, 3, 4, 5], &[6]]);
        let seen = parts[1].clone().into_case().unwrap();
        assert_eq!((seen.ranks.len(), seen.ranks[3].peer), (7, Some(2)));
        assert_eq!(seen.ranks[0], RankSpec::new(Role::Idle));
        assert_eq!(CasePart::whole(&case).into_case().as_deref(), Some(&case));
    }

    #[test]
    fn those_that_share_cpus_with_a_load_are_known_to_all() {
        let mut case = pairs(5);
        case.ranks[4].load.cpu_threads = 1;
        let alone: [&[u32]; 1] = [&[0]];
        let parts = CasePart::for_each(&case, &alone);
        assert_eq!(parts, [CasePart::whole(&case)]);
    }

    #[test]
    fn what_contradicts_itself_is_no_case() {
        let part = |size: u32, known: &[u32]| CasePart {
            case: Box::new(pairs(3).with_ranks(RankSpec::pair())),
            rank_count: size,
            known_ranks: known.to_vec(),
        };
        assert!(part(4, &[1, 3]).into_case().is_some());
        for (size, known) in [
            (3, &[1, 3][..]),
            (4, &[3, 1]),
            (4, &[1, 1]),
            (4, &[1]),
            (4, &[1, 2, 3]),
            (RANKS_MAX + 1, &[0, 1]),
            (u32::MAX, &[0, 1]),
        ] {
            assert_eq!(part(size, known).into_case(), None, "{size} {known:?}");
        }
    }
}
