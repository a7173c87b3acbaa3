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
/// On the logarithms, two neighbours are the ends of different groups when what lies on each side has three values and
/// 5 % of all, when they are 15 % apart, and when the gap is four times the larger standard deviation of the two sides. The
/// widest gap that is so divides first, and both sides are looked at again.
pub fn groups(values: &[f64]) -> Vec<Group> {
    let mut sorted: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite() && *value > 0.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return Vec::new();
    }
    let least = GROUP_MIN.max((sorted.len() as f64 * SHARE_MIN).ceil() as usize);
    let mut found = Vec::new();
    match sorted.len() >= VALUES_MIN {
        true => divide(&sorted, least, &mut found),
        false => found.push(Group { values: sorted }),
    }
    found
}

fn divide(sorted: &[f64], least: usize, found: &mut Vec<Group>) {
    let gap = |at: usize| (sorted[at] / sorted[at - 1]).ln();
    let is_apart = |at: &usize| {
        let (below, above) = sorted.split_at(*at);
        gap(*at) >= RATIO_MIN.ln() && gap(*at) >= DEVIATIONS_MIN * deviation(below).max(deviation(above))
    };
    let widest = (least..(sorted.len() + 1).saturating_sub(least))
        .filter(is_apart)
        .max_by(|a, b| gap(*a).total_cmp(&gap(*b)));
    match widest {
        Some(at) => {
            divide(&sorted[..at], least, found);
            divide(&sorted[at..], least, found);
        }
        None => found.push(Group {
            values: sorted.to_vec(),
        }),
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
