//! Rounds of a group: every rank brings a blob or waits at a barrier; when all are there, all go on.

use std::collections::BTreeMap;
use wirespeed_schema::message::Blob;

/// What a rank brings to a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brought {
    /// A blob for those that name the same color, or none like it.
    Blob(Blob, Option<u64>),
    /// Nothing: it waits.
    Barrier,
}

/// A round that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Complete {
    /// Blobs by rank.
    Exchanged {
        /// The round.
        round: u64,
        /// The blobs of each color with the ranks that brought them, in their order.
        circles: Vec<Vec<(u32, Blob)>>,
    },
    /// Everyone is at the barrier.
    Released {
        /// The round.
        round: u64,
    },
}

/// Ranks that do not do the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeetingError {
    /// A rank is in another round.
    #[error("rank {rank} is in round {theirs}, the group in round {ours}")]
    Round {
        /// The rank.
        rank: u32,
        /// Its round.
        theirs: u64,
        /// The round to come.
        ours: u64,
    },
    /// Some exchange while others wait at a barrier.
    #[error("rank {rank} waits at a barrier while others exchange, or the other way round")]
    Kind {
        /// The rank.
        rank: u32,
    },
    /// A rank that had been excused came.
    #[error("rank {rank} came to round {round} after it had left")]
    Left {
        /// The rank.
        rank: u32,
        /// The round.
        round: u64,
    },
    /// A rank came twice.
    #[error("rank {rank} came to round {round} twice")]
    Twice {
        /// The rank.
        rank: u32,
        /// The round.
        round: u64,
    },
}

/// Collects one round after the other.
#[derive(Debug)]
pub struct Meeting {
    round: u64,
    brought: Vec<Option<Brought>>,
    /// Whether those that are there exchange or wait; absent while nobody is.
    exchanges: Option<bool>,
    /// Ranks that the others meet without.
    excused: Vec<bool>,
    /// Ranks that are neither there nor excused.
    missing: usize,
}

impl Meeting {
    /// A group of `size` ranks before its first round.
    pub fn new(size: usize) -> Self {
        Meeting {
            round: 0,
            brought: vec![None; size],
            exchanges: None,
            excused: vec![false; size],
            missing: size,
        }
    }

    /// True while some, but not all, ranks are there.
    pub fn is_waiting(&self) -> bool {
        self.exchanges.is_some()
    }

    /// From now on the others meet without `rank` (below the size), for which they find an empty blob.
    pub fn excuse(&mut self, rank: u32) -> Option<Complete> {
        let is_new = !std::mem::replace(&mut self.excused[rank as usize], true);
        if is_new && self.brought[rank as usize].is_none() {
            self.missing -= 1;
        }
        self.complete()
    }

    /// `rank` (below the size) comes to `round`.
    pub fn arrive(
        &mut self,
        rank: u32,
        round: u64,
        brought: Brought,
    ) -> Result<Option<Complete>, MeetingError> {
        if round != self.round {
            return Err(MeetingError::Round {
                rank,
                theirs: round,
                ours: self.round,
            });
        }
        if self.excused[rank as usize] {
            return Err(MeetingError::Left { rank, round });
        }
        let exchanges = matches!(brought, Brought::Blob(..));
        if *self.exchanges.get_or_insert(exchanges) != exchanges {
            return Err(MeetingError::Kind { rank });
        }
        let place = &mut self.brought[rank as usize];
        if place.is_some() {
            return Err(MeetingError::Twice { rank, round });
        }
        *place = Some(brought);
        self.missing -= 1;
        Ok(self.complete())
    }

    /// The round, where all have come who are not excused.
    fn complete(&mut self) -> Option<Complete> {
        let exchanges = self.exchanges.filter(|_| self.missing == 0)?;
        let round = self.round;
        self.round += 1;
        self.exchanges = None;
        self.missing = self.excused.iter().filter(|excused| !**excused).count();
        if !exchanges {
            self.brought.fill(None);
            return Some(Complete::Released { round });
        }
        let mut circles: BTreeMap<Option<u64>, Vec<(u32, Blob)>> = BTreeMap::new();
        for (rank, brought) in (0..).zip(&mut self.brought) {
            if let Some(Brought::Blob(blob, color)) = brought.take() {
                circles.entry(color).or_default().push((rank, blob));
            }
        }
        Some(Complete::Exchanged {
            round,
            circles: circles.into_values().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_complete_in_order() {
        let mut meeting = Meeting::new(2);
        let blob = |b: u8| Brought::Blob(Blob(vec![b]), None);
        assert_eq!(meeting.arrive(1, 0, blob(7)), Ok(None));
        assert!(meeting.is_waiting());
        let done = Complete::Exchanged {
            round: 0,
            circles: vec![vec![(0, Blob(vec![3])), (1, Blob(vec![7]))]],
        };
        assert_eq!(meeting.arrive(0, 0, blob(3)), Ok(Some(done)));
        assert!(!meeting.is_waiting());
        assert_eq!(meeting.arrive(0, 1, Brought::Barrier), Ok(None));
        assert_eq!(
            meeting.arrive(1, 1, Brought::Barrier),
            Ok(Some(Complete::Released { round: 1 }))
        );
    }

    #[test]
    fn rounds_complete_without_those_who_are_excused() {
        let mut meeting = Meeting::new(3);
        let blob = |b: u8| Brought::Blob(Blob(vec![b]), None);
        assert_eq!(meeting.excuse(1), None);
        assert_eq!(meeting.arrive(2, 0, blob(2)), Ok(None));
        let done = Complete::Exchanged {
            round: 0,
            circles: vec![vec![(0, Blob(vec![7])), (2, Blob(vec![2]))]],
        };
        assert_eq!(meeting.arrive(0, 0, blob(7)), Ok(Some(done)));
        assert_eq!(
            meeting.arrive(1, 1, Brought::Barrier),
            Err(MeetingError::Left { rank: 1, round: 1 })
        );
        // Who waits already goes on when the last other is excused.
        assert_eq!(meeting.arrive(0, 1, Brought::Barrier), Ok(None));
        assert_eq!(meeting.excuse(2), Some(Complete::Released { round: 1 }));
        assert!(!meeting.is_waiting());
    }

    #[test]
    fn blobs_go_to_those_of_the_same_color() {
        let mut meeting = Meeting::new(5);
        let colors = [Some(7), None, Some(9), Some(7), None];
        let mut done = None;
        for (rank, color) in (0..).zip(colors) {
            let brought = Brought::Blob(Blob(vec![rank as u8]), color);
            done = meeting.arrive(rank, 0, brought).unwrap();
        }
        let Some(Complete::Exchanged { round: 0, circles }) = done else {
            panic!("{done:?}");
        };
        let ranks = |circle: &Vec<(u32, Blob)>| circle.iter().map(|(rank, _)| *rank).collect();
        let ranks: Vec<Vec<u32>> = circles.iter().map(ranks).collect();
        assert_eq!(ranks, [vec![1, 4], vec![0, 3], vec![2]]);
    }

    #[test]
    fn ranks_that_differ_are_found() {
        let mut meeting = Meeting::new(3);
        assert_eq!(meeting.arrive(0, 0, Brought::Barrier), Ok(None));
        assert_eq!(
            meeting.arrive(0, 0, Brought::Barrier),
            Err(MeetingError::Twice { rank: 0, round: 0 })
        );
        assert_eq!(
            meeting.arrive(1, 0, Brought::Blob(Blob::default(), None)),
            Err(MeetingError::Kind { rank: 1 })
        );
        assert!(matches!(
            meeting.arrive(2, 4, Brought::Barrier),
            Err(MeetingError::Round { theirs: 4, .. })
        ));
    }

    #[test]
    fn who_is_excused_twice_or_after_it_came_is_counted_once() {
        let mut meeting = Meeting::new(3);
        assert_eq!(meeting.arrive(0, 0, Brought::Barrier), Ok(None));
        assert_eq!(meeting.excuse(0), None);
        assert_eq!(meeting.excuse(1), None);
        assert_eq!(meeting.excuse(1), None, "rank 2 is missing");
        let released = |round| Ok(Some(Complete::Released { round }));
        assert_eq!(meeting.arrive(2, 0, Brought::Barrier), released(0));
        assert_eq!(meeting.arrive(2, 1, Brought::Barrier), released(1));
    }
}
