//! Who is whose neighbour in a posted test, and who must be connected with whom.

use wirespeed_schema::case::{Case, Role};
use wirespeed_schema::neighbours::{Neighbours, neighbours, tree};

/// Ranks that take part, in order.
fn active(case: &Case) -> Vec<u32> {
    let numbered = (0u32..).zip(&case.ranks);
    numbered
        .filter(|(_, rank)| rank.role != Role::Idle)
        .map(|(number, _)| number)
        .collect()
}

/// Ranks above and below `me` in the tree of those that take part.
pub fn tree_of(case: &Case, me: u32) -> (Option<u32>, Vec<u32>) {
    if !case.test.is_posted() {
        return pair_of(case, me);
    }
    let active = active(case);
    let Some(place) = active.iter().position(|rank| *rank == me) else {
        return (None, Vec::new());
    };
    let (parent, children) = tree(active.len() as u32, place as u32);
    let rank = |place: u32| active[place as usize];
    (parent.map(rank), children.into_iter().map(rank).collect())
}

/// The two ends of a test that others take no part in: the source is above its sink.
fn pair_of(case: &Case, me: u32) -> (Option<u32>, Vec<u32>) {
    let spec = case.ranks.get(me as usize);
    let peer = spec.and_then(|rank| rank.peer);
    match spec.map(|rank| rank.role) {
        Some(Role::Source) => (None, peer.into_iter().collect()),
        _ => (peer, Vec::new()),
    }
}

/// The neighbours of `me`: of `msgrate` as arranged, of a pair the other end.
pub fn lists_of(case: &Case, me: u32) -> Neighbours {
    match (case.test.msgrate(), case.ranks.get(me as usize)) {
        (Some(test), _) => neighbours(test, case.ranks.len() as u32, me),
        (None, Some(rank)) => {
            let peer: Vec<u32> = rank.peer.into_iter().collect();
            Neighbours {
                from_ranks: peer.clone(),
                to_ranks: peer,
            }
        }
        (None, None) => Neighbours::default(),
    }
}

/// Every rank that `me` has to be connected with: neighbours, and those next to it in the tree.
pub fn peers_of(case: &Case, me: u32) -> Vec<u32> {
    let lists = lists_of(case, me);
    let (parent, children) = tree_of(case, me);
    let mut peers: Vec<u32> = [lists.from_ranks, lists.to_ranks, children].concat();
    peers.extend(parent);
    peers.sort_unstable();
    peers.dedup();
    peers
}
