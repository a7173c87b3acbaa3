//! Tells groups of a few values apart, such as the medians of runs: a machine that has two states gives two figures, and
//! the median of both describes neither. It must never find a group where one law made the values.

use super::{median, nearest_rank};

/// Fewer values than this show no groups.
const VALUES_MIN: usize = 8;
/// A group has at least so many values.
const GROUP_MIN: usize = 3;
/// And this share of them.
const SHARE_MIN: f64 = 0.05;
/// Neighbouring groups are at least this far apart.
const RATIO_MIN: f64 = 1.15;
/// And by so many standard deviations of either.
const DEVIATIONS_MIN: f64 = 4.0;

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// From the smallest up.
    pub values: Vec<f64>,
}

impl Group {
    /// Their median.
    pub fn median(&self) -> f64 {
        median(&mut self.values.clone())
    }

    /// Their interquartile range over their median.
    pub fn spread_ratio(&self) -> f64 {
        let at = |p| nearest_rank(&mut self.values.clone(), p);
        (at(0.75) - at(0.25)) / self.median()
    }
}

/// The groups of `values`, from the smallest up; one alone where there is no second. Values that are not finite and above
/// 0 are left out; none are left: no group.
///
/// On the logarithms, the values are cut at every gap of 15 %. Neighbouring pieces are of different groups when each has three
/// values and 5 % of all, and the gap is four times the larger standard deviation of the two; the weakest separation that is
/// not so is given up first, until all hold.
pub fn groups(values: &[f64]) -> Vec<Group> {
    let mut sorted: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite() && *value > 0.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let least = GROUP_MIN.max((sorted.len() as f64 * SHARE_MIN).ceil() as usize);
    let is_near = |a: &f64, b: &f64| sorted.len() < VALUES_MIN || b / a < RATIO_MIN;
    let mut found: Vec<Group> = sorted
        .chunk_by(is_near)
        .map(|piece| Group {
            values: piece.to_vec(),
        })
        .collect();
    let weakest = |found: &[Group]| {
        let judged = found.windows(2).map(|pair| separation(&pair[0], &pair[1], least));
        let weakest = judged.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (weakest.1 < 1.0).then_some(weakest.0)
    };
    while let Some(at) = weakest(&found) {
        let above = found.remove(at + 1);
        found[at].values.extend(above.values);
    }
    found
}

/// How clearly two neighbours are groups of their own: at least 1 where they are. Below 0 where one has too few values, so
/// that these join the nearest before anything else is judged.
fn separation(below: &Group, above: &Group, least: usize) -> f64 {
    let gap = (above.values[0] / below.values[below.values.len() - 1]).ln();
    match below.values.len().min(above.values.len()) < least {
        true => -1.0 / gap,
        false => gap / (DEVIATIONS_MIN * deviation(&below.values).max(deviation(&above.values))),
    }
}

/// Standard deviation of the logarithms.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value.ln()).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value.ln() - mean).powi(2)).sum();
    (squares / (count - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    #[test]
    fn two_states_of_a_machine_are_told_apart() {
        let near = [125.3, 130.4, 135.4, 125.3, 140.5, 130.4, 125.3];
        let far = [531.5, 541.7, 531.5];
        let found = groups(&[&near[..3], &far[..], &near[3..]].concat());
        let sizes: Vec<usize> = found.iter().map(|group| group.values.len()).collect();
        assert_eq!(sizes, [7, 3]);
        assert_eq!(found[0].median(), 130.4);
        assert_eq!(found[1].median(), 531.5);
        assert!(found[1].spread_ratio() < 0.03);
    }

    #[test]
    fn states_of_equal_weight_are_told_apart_however_many() {
        let many = [100.0, 200.0, 400.0, 800.0].map(|value| [value; 5]).concat();
        for (values, sizes) in [
            (
                &[50.0, 50.5, 51.0, 100.0, 101.0, 102.0, 200.0, 201.0, 203.0][..],
                &[3, 3, 3][..],
            ),
            (&many[..15], &[5, 5, 5]),
            (&many, &[5, 5, 5, 5]),
        ] {
            let found: Vec<usize> = groups(values).iter().map(|group| group.values.len()).collect();
            assert_eq!(found, sizes, "{values:?}");
        }
    }

    #[test]
    fn equal_values_and_single_outliers_are_no_groups() {
        assert_eq!(groups(&[7.0; 30]).len(), 1);
        assert_eq!(groups(&[]).len(), 0);
        let mut values = vec![100.0; 20];
        values.extend([900.0, 950.0]);
        assert_eq!(groups(&values).len(), 1, "two of 22 are outliers");
        assert_eq!(groups(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]).len(), 1, "too few to say");
    }

    #[test]
    fn one_law_makes_one_group() {
        let mut random = Random::new(7);
        let mut invented = 0;
        for round in 0..4000 {
            let (count, width) = (8 + round % 53, [0.01, 0.1, 0.5, 1.0][round % 4]);
            let values: Vec<f64> = (0..count).map(|_| (random.normal() * width).exp()).collect();
            invented += usize::from(groups(&values).len() > 1);
        }
        assert!(invented <= 12, "{invented} of 4000");
    }
}
