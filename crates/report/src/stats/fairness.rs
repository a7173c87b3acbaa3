//! How evenly senders share what they compete for: Jain's index, the least and the greatest share, with intervals over
//! repetitions. It must never weigh a sender: who ought to get more is not known here.

use super::bootstrap::median;
use super::random::Random;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Jain's index: (Σx)² / (n Σx²), 1 where all rates are equal, 1/n where one sender has everything (Jain, Chiu and Hawe, A
/// quantitative measure of fairness and discrimination for resource allocation in shared computer systems, DEC-TR-301, 1984).
/// `None` where nothing was sent, for no sender, and for a rate that is below 0 or not finite.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let shares = shares(rates)?;
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    Some(1.0 / (rates.len() as f64 * squares))
}

/// A figure of one repetition that all repetitions are summarised by, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverRounds {
    /// Mean of the repetitions' figures.
    pub mean: f64,
    /// The interval of the mean. Absent for fewer than three repetitions.
    pub interval: Option<[f64; 2]>,
}

/// How fair repetitions were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fairness {
    /// Senders.
    pub senders: usize,
    /// Repetitions that it rests on: those in which anything was sent and no slice is missing.
    pub rounds: usize,
    /// Jain's index of a repetition.
    pub index: OverRounds,
    /// The least sender's share of the whole.
    pub least: OverRounds,
    /// The greatest sender's share of the whole.
    pub greatest: OverRounds,
    /// Jain's index within slices, the median over all: below `index` where senders take turns, each starved now and then.
    pub within_slices: f64,
}

/// Fairness of `rounds`, each a table of rates by sender and slice. A sender's rate in a repetition is the mean of its slices,
/// which are equally long. The unit of the sample is a repetition: slices of one remember each other.
///
/// The least share is the least of each repetition, whoever's it is, so with many senders it lies below 1/n by chance alone.
/// `None` where no repetition can be used, or repetitions differ in their senders.
pub fn fairness(rounds: &[Vec<Vec<f64>>]) -> Option<Fairness> {
    let senders = rounds.first()?.len();
    if rounds.iter().any(|round| round.len() != senders) {
        return None;
    }
    let used: Vec<(&Vec<Vec<f64>>, Vec<f64>)> = rounds
        .iter()
        .filter_map(|round| Some((round, shares(&of_senders(round)?)?)))
        .collect();
    if used.is_empty() {
        return None;
    }
    let over = |figure: &dyn Fn(&[f64]) -> f64| {
        let each: Vec<f64> = used.iter().map(|(_, shares)| figure(shares)).collect();
        over_rounds(&each)
    };
    let mut slices: Vec<f64> = used.iter().flat_map(|(round, _)| of_slices(round)).collect();
    Some(Fairness {
        senders,
        rounds: used.len(),
        index: over(&|shares| jain(shares).unwrap_or(f64::NAN)),
        least: over(&|shares| shares.iter().copied().fold(f64::INFINITY, f64::min)),
        greatest: over(&|shares| shares.iter().copied().fold(0.0, f64::max)),
        within_slices: median(&mut slices),
    })
}

/// Each rate over the sum of all.
fn shares(rates: &[f64]) -> Option<Vec<f64>> {
    let largest = rates.iter().copied().fold(0.0, f64::max);
    let is_usable = rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0) && largest > 0.0;
    // Divided by the largest first: a sum of rates may be too large to be a number.
    let whole: f64 = rates.iter().map(|rate| rate / largest).sum();
    is_usable.then(|| rates.iter().map(|rate| rate / largest / whole).collect())
}

/// The mean rate of each sender. `None` where a sender has no slice or another number of slices than the others.
fn of_senders(round: &[Vec<f64>]) -> Option<Vec<f64>> {
    let slices = round.first()?.len();
    if slices == 0 || round.iter().any(|slice| slice.len() != slices) {
        return None;
    }
    let mean = |rates: &Vec<f64>| rates.iter().map(|rate| rate / slices as f64).sum();
    Some(round.iter().map(mean).collect())
}

/// Jain's index of each slice in which anything was sent.
fn of_slices(round: &[Vec<f64>]) -> impl Iterator<Item = f64> + '_ {
    let slices = round.first().map_or(0, Vec::len);
    (0..slices).filter_map(|slice| jain(&round.iter().map(|rates| rates[slice]).collect::<Vec<f64>>()))
}

/// Draws of the interval.
const DRAWS: usize = 2_000;

/// The mean with its bootstrap-t interval (Efron, The jackknife, the bootstrap and other resampling plans, 1982, chapter
/// 10): each draw's distance to the mean over its own error. Figures of fairness lie against an end of their range, and the
/// t interval, which is symmetric, misses the truth more often on one side. It is never narrower than that interval, since few
/// repetitions give few different draws.
fn over_rounds(each: &[f64]) -> OverRounds {
    let (mean, error) = mean_and_error(each);
    let count = each.len();
    let freedom = StudentsT::new(0.0, 1.0, count.saturating_sub(1) as f64);
    let interval = freedom.ok().filter(|_| count >= 3).map(|law| {
        let mut random = Random::new(count as u64);
        let mut drawn = vec![0.0; count];
        let mut studentized: Vec<f64> = (0..DRAWS)
            .filter_map(|_| {
                drawn.fill_with(|| each[random.below(count)]);
                let (middle, error) = mean_and_error(&drawn);
                (error > 0.0).then(|| (middle - mean) / error)
            })
            .collect();
        studentized.sort_by(f64::total_cmp);
        let t = law.inverse_cdf(0.975);
        let at = |share: f64| {
            let last = studentized.len().checked_sub(1)?;
            studentized.get((share * last as f64).round() as usize).copied()
        };
        // Of very few repetitions some draws have hardly any spread: beyond four times the t interval they say nothing.
        let (low, high) = (at(0.025).unwrap_or(-t), at(0.975).unwrap_or(t));
        let upper = mean - low.clamp(-4.0 * t, -t) * error;
        let lower = mean - high.clamp(t, 4.0 * t) * error;
        [lower.max(0.0), upper.min(1.0)]
    });
    OverRounds { mean, interval }
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: (1+2+3)² / (3 · 14) = 36/42; half of the senders have all: 1/2.
    #[test]
    fn the_index_is_known() {
        for (rates, index) in [
            (&[5.0, 5.0, 5.0][..], 1.0),
            (&[1.0, 2.0, 3.0], 36.0 / 42.0),
            (&[1.0, 1.0, 0.0, 0.0], 0.5),
            (&[7.0, 0.0, 0.0, 0.0], 0.25),
            (&[1e308, 1e308], 1.0),
        ] {
            let found = jain(rates).unwrap();
            assert!((found - index).abs() < 1e-12, "{rates:?}: {found}");
        }
        for rates in [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[1.0, f64::NAN]] {
            assert_eq!(jain(rates), None, "{rates:?}");
        }
    }

    /// Shares are 1/4 and 3/4 in the first repetition, so its index is 1 / (2 · (1/16 + 9/16)) = 0.8, and 1/2 in the second; the
    /// slices have 1, 1/2, 1 and 1.
    #[test]
    fn repetitions_are_summarised_as_by_hand() {
        let rounds = [
            vec![vec![1.0, 0.0], vec![1.0, 2.0]],
            vec![vec![3.0, 1.0], vec![3.0, 1.0]],
        ];
        let found = fairness(&rounds).unwrap();
        assert_eq!((found.senders, found.rounds), (2, 2));
        assert!((found.index.mean - (0.8 + 1.0) / 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.least.mean - 0.375).abs() < 1e-12 && (found.greatest.mean - 0.625).abs() < 1e-12);
        assert_eq!((found.index.interval, found.within_slices), (None, 1.0));
    }

    #[test]
    fn senders_that_take_turns_are_fair_over_repetitions_only() {
        let turns = vec![vec![vec![1.0, 0.0], vec![0.0, 1.0]]; 3];
        let found = fairness(&turns).unwrap();
        assert_eq!((found.index.mean, found.within_slices), (1.0, 0.5));
        assert_eq!(found.index.interval, Some([1.0, 1.0]));
    }

    /// The unit of rates does not matter, up to the largest numbers that there are.
    #[test]
    fn rates_of_any_size_are_as_fair() {
        let rounds = |scale: f64| {
            [[1.0, 3.0], [2.0, 4.0], [1.0, 1.0]].map(|[a, b]| vec![vec![a * scale; 2], vec![b * scale; 2]])
        };
        let expected = fairness(&rounds(1.0)).unwrap();
        for exponent in [-300, -9, 9, 307] {
            let found = fairness(&rounds(10f64.powi(exponent))).unwrap();
            for (found, expected) in [(found.index, expected.index), (found.least, expected.least)] {
                assert!(
                    (found.mean - expected.mean).abs() < 1e-12,
                    "{exponent}: {found:?}"
                );
                let (found, expected) = (found.interval.unwrap(), expected.interval.unwrap());
                assert!(
                    (0..2).all(|end| (found[end] - expected[end]).abs() < 1e-9),
                    "{exponent}"
                );
            }
            assert!((found.within_slices - expected.within_slices).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_missing_is_left_out_or_refused() {
        let whole = vec![vec![1.0, 1.0], vec![1.0, 1.0]];
        let torn = vec![vec![1.0], vec![1.0, 1.0]];
        let silent = vec![vec![0.0, 0.0]; 2];
        assert_eq!(
            fairness(&[whole.clone(), torn.clone(), silent]).unwrap().rounds,
            1
        );
        assert_eq!(fairness(&[torn]), None);
        assert_eq!(fairness(&[whole, vec![vec![1.0]]]), None);
        assert_eq!(fairness(&[]), None);
    }

    /// Of many repetitions the interval is that of t, 2.093 errors with 19 degrees of freedom, and little more.
    #[test]
    fn intervals_are_as_wide_as_their_errors() {
        let each = [0.49, 0.51].repeat(10);
        let (mean, error) = mean_and_error(&each);
        assert!((mean - 0.5).abs() < 1e-12 && (error - 0.01 / 19f64.sqrt()).abs() < 1e-12);
        let [lower, upper] = over_rounds(&each).interval.unwrap();
        for side in [mean - lower, upper - mean] {
            assert!((2.092..2.6).contains(&(side / error)), "{lower} {upper}");
        }
    }

    /// Log-normal rates of 8 senders, one at half: the interval holds the mean of all possible repetitions.
    #[test]
    fn intervals_hold_the_truth() {
        let round = |random: &mut Random| -> Vec<Vec<f64>> {
            let sender = |sender: usize, random: &mut Random| {
                let own = if sender == 0 { 0.5 } else { 1.0 };
                let luck = (0.2 * random.normal()).exp();
                (0..4)
                    .map(|_| own * luck * (0.1 * random.normal()).exp())
                    .collect()
            };
            (0..8).map(|at| sender(at, random)).collect()
        };
        let mut random = Random::new(4);
        let figures = |of: &Fairness| [of.index, of.least, of.greatest];
        let mut truth = [0.0; 3];
        for _ in 0..20_000 {
            let one = figures(&fairness(&[round(&mut random)]).unwrap());
            truth
                .iter_mut()
                .zip(one)
                .for_each(|(sum, one)| *sum += one.mean / 20_000.0);
        }
        for rounds in [3, 5, 10, 30] {
            let (tables, mut held) = (300, [0; 3]);
            for _ in 0..tables {
                let found: Vec<_> = (0..rounds).map(|_| round(&mut random)).collect();
                let found = fairness(&found).unwrap();
                for (held, (found, truth)) in held.iter_mut().zip(figures(&found).into_iter().zip(truth)) {
                    let [lower, upper] = found.interval.unwrap();
                    *held += usize::from(lower <= truth && truth <= upper);
                }
            }
            assert!(
                held.iter().all(|held| held * 100 >= 92 * tables),
                "{rounds}: {held:?}"
            );
            assert!(
                held.iter().all(|held| *held < tables || rounds < 10),
                "{rounds}: {held:?}"
            );
        }
    }
}
