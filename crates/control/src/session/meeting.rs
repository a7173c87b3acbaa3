//! Rounds of a group: every rank brings a blob or waits at a barrier; when all are there, all go on.

use wirespeed_schema::message::Blob;

/// What a rank brings to a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brought {
    /// A blob for everyone.
    Blob(Blob),
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
        /// One blob a rank.
        blobs: Vec<Blob>,
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
    /// Ranks that the others meet without.
    excused: Vec<bool>,
}

impl Meeting {
    /// A group of `size` ranks before its first round.
    pub fn new(size: usize) -> Self {
        Meeting {
            round: 0,
            brought: vec![None; size],
            excused: vec![false; size],
        }
    }

    /// True while some, but not all, ranks are there.
    pub fn is_waiting(&self) -> bool {
        self.brought.iter().any(Option::is_some)
    }

    /// From now on the others meet without `rank` (below the size), for which they find an empty blob.
    pub fn excuse(&mut self, rank: u32) -> Option<Complete> {
        self.excused[rank as usize] = true;
        self.complete()
    }

    /// Whether the others meet without `rank` (below the size).
    pub fn is_excused(&self, rank: u32) -> bool {
        self.excused[rank as usize]
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
        if self.is_excused(rank) {
            return Err(MeetingError::Left { rank, round });
        }
        let barrier = matches!(brought, Brought::Barrier);
        let differs = |b: &Brought| matches!(b, Brought::Barrier) != barrier;
        if self.brought.iter().flatten().any(differs) {
            return Err(MeetingError::Kind { rank });
        }
        let place = &mut self.brought[rank as usize];
        if place.is_some() {
            return Err(MeetingError::Twice { rank, round });
        }
        *place = Some(brought);
        Ok(self.complete())
    }

    /// The round, where all have come who are not excused.
    fn complete(&mut self) -> Option<Complete> {
        let mut places = self.brought.iter().zip(&self.excused);
        if !self.is_waiting() || places.any(|(brought, excused)| brought.is_none() && !excused) {
            return None;
        }
        let round = self.round;
        self.round += 1;
        if self.brought.contains(&Some(Brought::Barrier)) {
            self.brought.fill(None);
            return Some(Complete::Released { round });
        }
        let blobs = self.brought.iter_mut().map(|b| match b.take() {
            Some(Brought::Blob(blob)) => blob,
            _ => Blob::default(),
        });
        Some(Complete::Exchanged {
            round,
            blobs: blobs.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_complete_in_order() {
        let mut meeting = Meeting::new(2);
        let blob = |b: u8| Brought::Blob(Blob(vec![b]));
        assert_eq!(meeting.arrive(1, 0, blob(7)), Ok(None));
        assert!(meeting.is_waiting());
        let done = Complete::Exchanged {
            round: 0,
            blobs: vec![Blob(vec![3]), Blob(vec![7])],
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
        let blob = |b: u8| Brought::Blob(Blob(vec![b]));
        assert_eq!(meeting.excuse(1), None);
        assert_eq!(meeting.arrive(2, 0, blob(2)), Ok(None));
        let done = Complete::Exchanged {
            round: 0,
            blobs: vec![Blob(vec![7]), Blob::default(), Blob(vec![2])],
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
    fn ranks_that_differ_are_found() {
        let mut meeting = Meeting::new(3);
        assert_eq!(meeting.arrive(0, 0, Brought::Barrier), Ok(None));
        assert_eq!(
            meeting.arrive(0, 0, Brought::Barrier),
            Err(MeetingError::Twice { rank: 0, round: 0 })
        );
        assert_eq!(
            meeting.arrive(1, 0, Brought::Blob(Blob::default())),
            Err(MeetingError::Kind { rank: 1 })
        );
        assert!(matches!(
            meeting.arrive(2, 4, Brought::Barrier),
            Err(MeetingError::Round { theirs: 4, .. })
        ));
    }
}
