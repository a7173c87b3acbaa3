//! The circle method: rounds of a tournament in which each two meet once. It must never hold more than its own size.

/// Places around a circle, and one in its middle where the number of players is even.
#[derive(Debug, Clone, Copy)]
pub struct Circle {
    players: usize,
    /// Places around: an odd number.
    around: usize,
}

impl Circle {
    /// A circle of this many players.
    pub fn new(players: usize) -> Circle {
        Circle {
            players,
            around: (players + players % 2).saturating_sub(1).max(1),
        }
    }

    /// Rounds until each two have met: as many as there are players, one fewer for an even number, none below two.
    pub fn rounds(self) -> usize {
        if self.players < 2 { 0 } else { self.around }
    }

    /// Pairs of one round.
    pub fn pairs_a_round(self) -> usize {
        self.players / 2
    }

    /// The pairs of a round, by place. Places that add up to the same number around the circle meet; the place that would
    /// meet itself meets the middle, or rests.
    pub fn round(self, round: usize) -> impl Iterator<Item = [usize; 2]> {
        let around = self.around;
        let alone = round % around * around.div_ceil(2) % around;
        // Who sends first must not follow from the place: it alternates.
        let in_turn = |turn: usize, [one, other]: [usize; 2]| match turn % 2 {
            0 => [one, other],
            _ => [other, one],
        };
        let middle = self
            .players
            .is_multiple_of(2)
            .then_some(in_turn(round, [alone, around]));
        let across = (1..=around / 2).map(move |apart| {
            in_turn(
                apart,
                [(alone + apart) % around, (alone + around - apart) % around],
            )
        });
        middle.into_iter().chain(across).filter(move |_| self.players > 1)
    }

    /// The round in which two places meet.
    pub fn round_of(self, a: usize, b: usize) -> usize {
        let (low, high) = (a.min(b), a.max(b));
        match high == self.around {
            true => 2 * low % self.around,
            false => (low + high) % self.around,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_sends_and_receives_before_the_other_directions_begin() {
        for players in [4, 7, 12, 40] {
            let circle = Circle::new(players);
            let pairs: Vec<[usize; 2]> = (0..circle.rounds())
                .flat_map(|round| circle.round(round))
                .collect();
            for side in [0, 1] {
                let of_side = |place: usize| pairs.iter().filter(|pair| pair[side] == place).count();
                let counts: Vec<usize> = (0..players).map(of_side).collect();
                assert!(counts.iter().all(|count| *count > 0), "{players}: {counts:?}");
            }
        }
    }

    #[test]
    fn pairs_meet_in_the_round_that_is_said() {
        for players in 2..=41 {
            let circle = Circle::new(players);
            for round in 0..circle.rounds() {
                assert_eq!(circle.round(round).count(), circle.pairs_a_round());
                for [a, b] in circle.round(round) {
                    assert_eq!(circle.round_of(a, b), round, "{players}: {a} {b}");
                }
            }
        }
        assert_eq!(
            Circle::new(1).round(0).count() + Circle::new(0).round(0).count(),
            0
        );
    }
}
