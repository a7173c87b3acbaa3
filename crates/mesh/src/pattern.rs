//! Storms: who sends to whom, all at once, while others are measured. It must never hold more streams than [`STREAMS_MAX`].

use crate::{MeshError, Pair};
use wirespeed_report::stats::Random;

/// Most streams of one storm: each is two ranks.
pub const STREAMS_MAX: usize = 1024;

/// The shape of a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All send to one.
    Incast,
    /// One sends to all.
    Outcast,
    /// Halves, pair by pair, both ways.
    Bisection,
    /// Each sends to one and receives from one, along one random ring.
    Permutation,
    /// Each sends to every other.
    AllToAll,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 5] = [
        Pattern::Incast,
        Pattern::Outcast,
        Pattern::Bisection,
        Pattern::Permutation,
        Pattern::AllToAll,
    ];

    /// The word that users write.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Incast => "incast",
            Pattern::Outcast => "outcast",
            Pattern::Bisection => "bisection",
            Pattern::Permutation => "permutation",
            Pattern::AllToAll => "alltoall",
        }
    }

    /// The pattern of this name.
    pub fn of_name(name: &str) -> Option<Pattern> {
        Pattern::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    /// Whether one host is the centre of it.
    pub fn has_centre(self) -> bool {
        matches!(self, Pattern::Incast | Pattern::Outcast)
    }

    /// Streams among `hosts`. `centre` is where an incast ends or an outcast begins; it may be none of `hosts`, and is chosen
    /// among them where it is absent. `seed` decides what is random.
    ///
    /// # Errors
    /// Fewer hosts than the pattern needs, or more streams than [`STREAMS_MAX`].
    pub fn streams(self, hosts: &[usize], centre: Option<usize>, seed: u64) -> Result<Vec<Pair>, MeshError> {
        let mut random = Random::new(seed);
        let mut order = hosts.to_vec();
        random.shuffle(&mut order);
        let streams: Vec<Pair> = match self {
            Pattern::Incast | Pattern::Outcast => {
                let centre = centre.or(order.first().copied());
                let others = order.iter().filter(|host| Some(**host) != centre);
                let into = others.filter_map(|host| {
                    Some(Pair {
                        from: *host,
                        to: centre?,
                    })
                });
                match self {
                    Pattern::Incast => into.collect(),
                    _ => into.map(Pair::back).collect(),
                }
            }
            Pattern::Bisection => {
                let (left, right) = order.split_at(order.len() / 2);
                let across = left
                    .iter()
                    .zip(right)
                    .map(|(from, to)| Pair { from: *from, to: *to });
                across.flat_map(|pair| [pair, pair.back()]).collect()
            }
            Pattern::Permutation if order.len() < 2 => Vec::new(),
            Pattern::Permutation => {
                let next = order.iter().cycle().skip(1);
                let ring = order
                    .iter()
                    .zip(next)
                    .map(|(from, to)| Pair { from: *from, to: *to });
                ring.collect()
            }
            Pattern::AllToAll => {
                let of = |from: usize| {
                    let others = order.iter().filter(move |to| **to != from);
                    others.map(move |to| Pair { from, to: *to })
                };
                order.iter().flat_map(|from| of(*from)).collect()
            }
        };
        match streams.len() {
            0 => Err(MeshError::TooFew { hosts: hosts.len() }),
            streams if streams > STREAMS_MAX => Err(MeshError::Storm { streams }),
            _ => Ok(streams),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(pattern: Pattern, hosts: usize, centre: Option<usize>) -> Vec<(usize, usize)> {
        let hosts: Vec<usize> = (0..hosts).collect();
        let mut streams = pattern.streams(&hosts, centre, 5).unwrap();
        streams.sort_unstable();
        streams.iter().map(|pair| (pair.from, pair.to)).collect()
    }

    #[test]
    fn each_pattern_has_its_streams() {
        assert_eq!(made(Pattern::Incast, 3, Some(9)), [(0, 9), (1, 9), (2, 9)]);
        assert_eq!(made(Pattern::Outcast, 3, Some(1)), [(1, 0), (1, 2)]);
        let chosen = made(Pattern::Incast, 4, None);
        assert!(chosen.len() == 3 && chosen.iter().all(|(from, to)| *to == chosen[0].1 && from != to));
        assert_eq!(made(Pattern::AllToAll, 4, None).len(), 12);
        for count in 2..9 {
            let ring = made(Pattern::Permutation, count, None);
            let mut to: Vec<usize> = ring.iter().map(|(_, to)| *to).collect();
            to.sort_unstable();
            assert_eq!(to, (0..count).collect::<Vec<_>>());
            assert!(ring.iter().all(|(from, to)| from != to));
            let both = made(Pattern::Bisection, count, None);
            assert_eq!(both.len(), count / 2 * 2);
            assert!(both.iter().all(|(from, to)| both.contains(&(*to, *from))));
        }
    }

    #[test]
    fn names_are_read_back_and_impossible_storms_refused() {
        for pattern in Pattern::ALL {
            assert_eq!(Pattern::of_name(pattern.name()), Some(pattern));
            let few = pattern.streams(&[3], None, 1).unwrap_err();
            assert_eq!(few, MeshError::TooFew { hosts: 1 });
        }
        assert_eq!(Pattern::of_name("storm"), None);
        let many: Vec<usize> = (0..40).collect();
        let error = Pattern::AllToAll.streams(&many, None, 1).unwrap_err();
        assert_eq!(error, MeshError::Storm { streams: 1560 });
    }
}
