//! Who exchanges messages with whom in `msgrate`, and the tree in which its ranks agree. Pure arithmetic: every rank
//! computes the same lists.
//!
//! Every rank receives from `me + v` and sends to `me - v` for the same list of offsets `v`, on a ring or torus. So the
//! j-th receive of a rank is met by the j-th send of the rank that it names, whatever the arrangement.

use crate::test::msgrate::{Grid, MsgRate, Pattern};
use crate::units::counted;

/// The ranks that one rank exchanges messages with, in the order of posting; both lists are equally long except in
/// [`Pattern::Single`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Receives come from these.
    pub from_ranks: Vec<u32>,
    /// Sends go to these; the j-th belongs to the j-th receive.
    pub to_ranks: Vec<u32>,
}

/// Why a number of ranks does not fit an arrangement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// One line of cause.
    pub cause: String,
    /// One line of remedy.
    pub remedy: String,
}

/// Whether `ranks` ranks can take the test's arrangement.
pub fn check(test: &MsgRate, ranks: u32) -> Result<(), Misfit> {
    let misfit = |cause: String, remedy: String| Err(Misfit { cause, remedy });
    if ranks < 2 {
        return misfit(
            format!("a message rate needs at least 2 ranks, there is {ranks}"),
            "start more ranks".into(),
        );
    }
    if test.pattern == Pattern::Single || test.grid != Grid::Ring {
        return Ok(());
    }
    let (peers, stride) = (test.peers, test.stride_ranks.max(1));
    if !ranks.is_multiple_of(stride) {
        return misfit(
            format!("{ranks} ranks are no whole number of nodes of {stride} ranks"),
            format!("start a multiple of {stride} ranks, or leave the ranks per node out"),
        );
    }
    let nodes = ranks / stride;
    if peers == 0 || peers >= nodes {
        if nodes == 1 {
            return misfit(
                format!("all {ranks} ranks are on one node, and the peers of a ring are on others"),
                "start ranks on more nodes, or fewer ranks per node".into(),
            );
        }
        let of = if stride > 1 { "nodes" } else { "ranks" };
        return misfit(
            format!(
                "{peers} peers do not fit: in a ring of {nodes} {of} a rank has at most {}",
                nodes - 1
            ),
            format!(
                "use at most {}, or start more ranks",
                counted(u64::from(nodes - 1), "peer")
            ),
        );
    }
    Ok(())
}

/// The neighbours of rank `me` among `ranks`, for a test that passed [`check`].
pub fn neighbours(test: &MsgRate, ranks: u32, me: u32) -> Neighbours {
    if test.pattern == Pattern::Single {
        return halves(ranks, me);
    }
    match test.grid {
        Grid::Ring => ring(test.peers, test.stride_ranks.max(1), ranks, me),
        Grid::Plane => torus(&dimensions(ranks, 2), me),
        Grid::Box => torus(&dimensions(ranks, 3), me),
    }
}

/// The first half sends to the second; the last of an odd number of ranks takes no part.
fn halves(ranks: u32, me: u32) -> Neighbours {
    let half = ranks / 2;
    let mut lists = Neighbours::default();
    if me < half {
        lists.to_ranks.push(me + half);
    } else if me < 2 * half {
        lists.from_ranks.push(me - half);
    }
    lists
}

/// The nearest `peers` ranks of the ring; an odd one more lies before this rank.
fn ring(peers: u32, stride: u32, ranks: u32, me: u32) -> Neighbours {
    let (before, after) = (i64::from(peers.div_ceil(2)), i64::from(peers / 2));
    let size = i64::from(ranks);
    let at = |steps: i64| (i64::from(me) + steps * i64::from(stride)).rem_euclid(size) as u32;
    let offsets = (-before..=after).filter(|steps| *steps != 0);
    Neighbours {
        from_ranks: offsets.clone().map(at).collect(),
        to_ranks: offsets.map(|steps| at(-steps)).collect(),
    }
}

/// All cells around a cell of a torus. Where an edge is so short that two of them are one, it counts once.
fn torus(edges: &[u32], me: u32) -> Neighbours {
    let mut offsets: Vec<Vec<u32>> = vec![Vec::new()];
    for &edge in edges {
        let mut steps = vec![edge - 1, 0, 1 % edge];
        steps.sort_unstable();
        steps.dedup();
        offsets = offsets
            .iter()
            .flat_map(|offset| steps.iter().map(|&step| [offset.as_slice(), &[step]].concat()))
            .collect();
    }
    offsets.retain(|offset| offset.iter().any(|&step| step != 0));
    let at = |offset: &Vec<u32>, back: bool| {
        let mut rest = me;
        let mut place = 1;
        let mut rank = 0;
        for (&edge, &step) in edges.iter().zip(offset) {
            let step = if back { edge - step } else { step };
            rank += (rest % edge + step) % edge * place;
            place *= edge;
            rest /= edge;
        }
        rank
    };
    Neighbours {
        from_ranks: offsets.iter().map(|offset| at(offset, false)).collect(),
        to_ranks: offsets.iter().map(|offset| at(offset, true)).collect(),
    }
}

/// `ranks` as the product of `count` edges that are as equal as can be, longest first.
pub fn dimensions(ranks: u32, count: u32) -> Vec<u32> {
    let mut left = ranks.max(1);
    let mut edges = Vec::new();
    for remaining in (2..=count).rev() {
        // The largest divisor not above the root of what is left.
        let edge = (1..=left)
            .take_while(|edge| edge.checked_pow(remaining).is_some_and(|power| power <= left))
            .filter(|edge| left.is_multiple_of(*edge))
            .last()
            .unwrap_or(1);
        edges.push(edge);
        left /= edge;
    }
    edges.push(left);
    edges.sort_unstable_by(|a, b| b.cmp(a));
    edges
}

/// Parent and children of the node `me` in a binomial tree of `size` nodes with root 0: together at most
/// log2(size) + 1, and less than two on average.
pub fn tree(size: u32, me: u32) -> (Option<u32>, Vec<u32>) {
    let parent = (me > 0).then(|| me & (me - 1));
    let lowest = if me == 0 {
        size.next_power_of_two()
    } else {
        me & me.wrapping_neg()
    };
    let steps = std::iter::successors(Some(1u32), |step| step.checked_mul(2));
    let children = steps
        .take_while(|step| *step < lowest)
        .filter_map(|step| me.checked_add(step))
        .filter(|child| *child < size)
        .collect();
    (parent, children)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posted::CacheState;
    use proptest::prelude::*;

    fn test(pattern: Pattern, grid: Grid, peers: u32, stride: u32) -> MsgRate {
        MsgRate {
            size_bytes: 8,
            pattern,
            window_msgs: 1,
            grid,
            peers,
            stride_ranks: stride,
            cache_state: CacheState::Hot,
            cache_bytes: 0,
        }
    }

    #[test]
    fn the_ring_is_walked_from_before_to_after() {
        let even = neighbours(&test(Pattern::PrePost, Grid::Ring, 4, 1), 8, 0);
        assert_eq!(
            (even.from_ranks, even.to_ranks),
            (vec![6, 7, 1, 2], vec![2, 1, 7, 6])
        );
        let odd = neighbours(&test(Pattern::PrePost, Grid::Ring, 3, 1), 8, 0);
        assert_eq!((odd.from_ranks, odd.to_ranks), (vec![6, 7, 1], vec![2, 1, 7]));
        let strided = neighbours(&test(Pattern::PrePost, Grid::Ring, 2, 4), 12, 1);
        assert_eq!((strided.from_ranks, strided.to_ranks), (vec![9, 5], vec![5, 9]));
        let two = neighbours(&test(Pattern::Pair, Grid::Ring, 1, 1), 2, 1);
        assert_eq!((two.from_ranks, two.to_ranks), (vec![0], vec![0]));
    }

    #[test]
    fn halves_leave_an_odd_rank_out() {
        let single = test(Pattern::Single, Grid::Ring, 1, 1);
        assert_eq!(neighbours(&single, 5, 1).to_ranks, [3]);
        assert_eq!(neighbours(&single, 5, 3).from_ranks, [1]);
        assert_eq!(neighbours(&single, 8, 6).from_ranks, [2]);
        assert_eq!(neighbours(&single, 5, 4), Neighbours::default());
    }

    #[test]
    fn stencils_have_all_their_neighbours_where_the_grid_is_wide_enough() {
        let count = |grid, ranks| {
            neighbours(&test(Pattern::PrePost, grid, 8, 1), ranks, 0)
                .to_ranks
                .len()
        };
        assert_eq!((count(Grid::Plane, 9), count(Grid::Plane, 16)), (8, 8));
        assert_eq!((count(Grid::Box, 27), count(Grid::Box, 64)), (26, 26));
        assert_eq!(
            (count(Grid::Plane, 2), count(Grid::Plane, 4), count(Grid::Box, 8)),
            (1, 3, 7)
        );
        assert_eq!(dimensions(12, 2), [4, 3]);
        assert_eq!(dimensions(64, 3), [4, 4, 4]);
        assert_eq!(dimensions(7, 3), [7, 1, 1]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let ring = |peers, stride| test(Pattern::PrePost, Grid::Ring, peers, stride);
        for (test, ranks) in [
            (ring(1, 1), 1),
            (ring(2, 1), 2),
            (ring(0, 1), 4),
            (ring(2, 3), 8),
            (ring(2, 4), 8),
        ] {
            assert!(check(&test, ranks).is_err(), "{test:?} {ranks}");
        }
        for (test, ranks, of) in [(ring(5, 1), 4, "4 ranks"), (ring(3, 4), 8, "2 nodes")] {
            let cause = check(&test, ranks).unwrap_err().cause;
            assert!(cause.contains(&format!("a ring of {of} ")), "{cause}");
        }
        for (test, ranks) in [(ring(1, 1), 2), (ring(6, 1), 8), (ring(2, 4), 12)] {
            assert!(check(&test, ranks).is_ok(), "{test:?} {ranks}");
        }
    }

    proptest! {
        #[test]
        fn every_send_meets_the_receive_of_its_round(ranks in 2u32..70, peers in 1u32..30, grid in 0usize..3) {
            let test = test(Pattern::Pair, Grid::ALL[grid], peers.min(ranks - 1), 1);
            prop_assert!(check(&test, ranks).is_ok());
            let lists: Vec<Neighbours> = (0..ranks).map(|me| neighbours(&test, ranks, me)).collect();
            for (me, mine) in lists.iter().enumerate() {
                prop_assert_eq!(mine.to_ranks.len(), lists[0].to_ranks.len());
                let mut distinct = mine.to_ranks.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), mine.to_ranks.len());
                prop_assert!(!distinct.contains(&(me as u32)));
                for (round, &to) in mine.to_ranks.iter().enumerate() {
                    prop_assert_eq!(lists[to as usize].from_ranks[round], me as u32);
                }
            }
        }

        #[test]
        fn a_tree_reaches_everybody_once(size in 1u32..300) {
            let mut reached = vec![0; size as usize];
            for me in 0..size {
                let (parent, children) = tree(size, me);
                prop_assert_eq!(parent.is_none(), me == 0);
                for child in children {
                    prop_assert_eq!(tree(size, child).0, Some(me));
                    reached[child as usize] += 1;
                }
            }
            prop_assert_eq!(reached[0], 0);
            prop_assert!(reached[1..].iter().all(|times| *times == 1));
        }
    }
}
