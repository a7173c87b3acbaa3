//! Where a curve is at its best: the neighbours of the best value that all reach a share of it, and the fall behind them.

use crate::thresholds::REACHED_SHARE;
use crate::wording::percent;
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{format_rate, format_size};

/// The best value and the range around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// Best value.
    pub best: f64,
    /// Where it is.
    pub at: u64,
    /// First place from which on all up to the best reach the share.
    pub from: u64,
    /// Last place up to which all from the best on reach it.
    pub to: u64,
    /// Whether `to` is the last place of all.
    pub to_the_end: bool,
    /// The lowest value behind `to`, and where.
    pub lowest_beyond: Option<(u64, f64)>,
}

/// The plateau of `points`: place and value, in any order. `None` without values above 0.
pub fn plateau(points: &[(u64, f64)]) -> Option<Plateau> {
    let mut points: Vec<(u64, f64)> = points.iter().copied().filter(|(_, value)| *value > 0.0).collect();
    points.order_by_key(|(at, _)| *at);
    let top = (0..points.len()).max_by(|&a, &b| points[a].1.total_cmp(&points[b].1))?;
    let (at, best) = points[top];
    let reaches = |point: &&(u64, f64)| point.1 >= REACHED_SHARE * best;
    let from = points[..=top].iter().rev().take_while(reaches).last()?.0;
    let to = points[top..].iter().take_while(reaches).last()?.0;
    let beyond = points.iter().copied().filter(|(at, _)| *at > to);
    Some(Plateau {
        best,
        at,
        from,
        to,
        to_the_end: points.last().is_some_and(|(last, _)| *last == to),
        lowest_beyond: beyond.min_by(|a, b| a.1.total_cmp(&b.1)),
    })
}

impl Plateau {
    /// Of bandwidths: `a peak of 20 GB/s at 1 MiB; at least 95 % of it from 64 KiB to 1 MiB; 2 MiB reaches 54 % of it`. What still
    /// rises at the end has shown no peak.
    pub fn of_bandwidths(&self) -> String {
        let (best, at) = (format_rate(self.best, "B/s"), format_size(self.at));
        match self.from == self.to && self.to_the_end {
            true => format!("the bandwidth still rises at the largest size tried, {at} ({best})"),
            false => format!("a peak of {best} at {at}; {}", self.words(format_size)),
        }
    }

    /// What follows the best value: `at least 95 % of it from 1 MiB on`.
    fn words(&self, place: impl Fn(u64) -> String) -> String {
        let share = percent(REACHED_SHARE);
        let range = match (self.from == self.to, self.to_the_end) {
            (true, _) => "it holds at this size only".to_owned(),
            (false, true) => format!("at least {share} of it from {} on", place(self.from)),
            (false, false) => format!(
                "at least {share} of it from {} to {}",
                place(self.from),
                place(self.to)
            ),
        };
        match self.lowest_beyond {
            Some((at, value)) => format!(
                "{range}; {} reaches {} of it",
                place(at),
                percent(value / self.best)
            ),
            None => range,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_size_that_falls_short_ends_the_range() {
        let rows = [(128, 96.0), (256, 97.0), (512, 93.6), (1024, 100.0), (2048, 54.0)];
        let found = plateau(&rows).unwrap();
        assert_eq!((found.from, found.to, found.to_the_end), (1024, 1024, false));
        let said = found.words(|at| at.to_string());
        assert_eq!(said, "it holds at this size only; 2048 reaches 54 % of it");
        let rising = plateau(&[(1, 10.0), (2, 50.0), (4, 100.0)]).unwrap();
        assert_eq!(
            rising.of_bandwidths(),
            "the bandwidth still rises at the largest size tried, 4 B (100 B/s)"
        );
        assert!(
            found
                .of_bandwidths()
                .starts_with("a peak of 100 B/s at 1 KiB; it holds ")
        );
        assert_eq!(plateau(&[]), None);
    }

    proptest! {
        /// The words are held against the rows by looking at each.
        #[test]
        fn no_row_contradicts_the_range(values in prop::collection::vec(prop_oneof![80.0..100.0f64, 1.0..100.0f64], 1..12)) {
            let rows: Vec<(u64, f64)> = (1u64..).zip(values).collect();
            let best = rows.iter().map(|row| row.1).fold(0.0, f64::max);
            let found = plateau(&rows).unwrap();
            let said = found.words(|at| format!("<{at}>"));
            let rises = found.of_bandwidths().starts_with("the bandwidth still rises");
            let before = rows.len().checked_sub(2).map_or(0.0, |at| rows[at].1);
            prop_assert_eq!(rises, rows[rows.len() - 1].1 == best && before < 0.95 * best);
            let places: Vec<u64> = said
                .split('<')
                .skip(1)
                .map(|rest| rest.split_once('>').unwrap().0.parse().unwrap())
                .collect();
            let full = |row: &&(u64, f64)| row.1 >= 0.95 * best;
            if said.ends_with("> on") {
                prop_assert!(rows.iter().filter(|row| row.0 >= places[0]).all(|row| full(&row)), "{said}: {rows:?}");
            }
            if said.contains("> to <") {
                let within = rows.iter().filter(|row| (places[0]..=places[1]).contains(&row.0));
                prop_assert!(within.clone().count() > 1 && within.clone().all(|row| full(&row)), "{said}: {rows:?}");
            }
            if said.contains(" reaches ") {
                let (at, value) = rows[*places.last().unwrap() as usize - 1];
                let beyond = rows.iter().filter(|row| row.0 > at || row.1 < 0.95 * best);
                prop_assert!(value < 0.95 * best || beyond.count() > 0, "{said}: {at} {rows:?}");
                let text = said.split(" reaches ").nth(1).unwrap();
                prop_assert_eq!(text, format!("{} of it", percent(value / best)));
            }
        }
    }
}
