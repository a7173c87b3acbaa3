//! Figures made of the pairs of one comparison when all of them are measured: what a message costs more, and how far
//! apart launches are.

use super::units::{TOO_FEW, interval, spread_ratio};
use wirespeed_report::stats::{LEVEL, summarize};

/// One such figure.
pub struct Derived {
    /// Name in the summary.
    pub name: &'static str,
    /// Name of the comparison.
    pub of: &'static str,
    /// Which figure.
    pub figure: Figure,
}

/// What is made of the pairs.
pub enum Figure {
    /// Time of a message, ours less theirs, in ns.
    Added {
        /// Time of a message in ns, from what a side gives.
        message_ns: fn(f64) -> f64,
        /// At most so many.
        limit_ns: f64,
    },
    /// Spread over launches, ours / theirs, each p90 - p10 of the median.
    Spread {
        /// At most this ratio.
        limit: f64,
    },
}

impl Derived {
    /// A row of the summary; `None` without pairs.
    pub fn row(&self, pairs: &[(f64, f64)]) -> Option<String> {
        let (value, interval, bound, met) = match self.figure {
            Figure::Added { message_ns, limit_ns } => {
                let added: Vec<f64> = pairs.iter().map(|p| message_ns(p.0) - message_ns(p.1)).collect();
                let summary = summarize(&added, LEVEL)?;
                let (value, interval) = (summary.median, interval(&summary, " ns"));
                (
                    format!("{value:.2} ns"),
                    interval,
                    format!("{limit_ns} ns"),
                    value <= limit_ns,
                )
            }
            Figure::Spread { limit } => {
                let spread =
                    |pick: fn(&(f64, f64)) -> f64| spread_ratio(&pairs.iter().map(pick).collect::<Vec<_>>());
                let (Some(ours), Some(theirs)) = (spread(|p| p.0), spread(|p| p.1)) else {
                    return Some(format!("| {} | {TOO_FEW} | | | |\n", self.name));
                };
                let parts = format!("{:.1} % / {:.1} %", ours * 100.0, theirs * 100.0);
                let ratio = ours / theirs;
                (format!("{ratio:.2}"), parts, limit.to_string(), ratio <= limit)
            }
        };
        let verdict = if met { "met" } else { "missed" };
        Some(format!(
            "| {} | {value} | {interval} | at most {bound} | {verdict} |\n",
            self.name
        ))
    }
}

/// The table of `all` of which `pairs_of` has pairs; empty without any.
pub fn table<'a>(all: &[Derived], pairs_of: impl Fn(&str) -> Option<&'a Vec<(f64, f64)>>) -> String {
    let rows: String = all
        .iter()
        .filter_map(|derived| derived.row(pairs_of(derived.of)?))
        .collect();
    match rows.is_empty() {
        true => rows,
        false => format!(
            "\n| figure | value | interval, or the two spreads | limit | |\n|---|---|---|---|---|\n{rows}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_tell_what_was_found_and_whether_it_is_enough() {
        let rates: Vec<(f64, f64)> = (0..10)
            .map(|i| (1e7, 1.02e7 * (1.0 + 0.01 * f64::from(i))))
            .collect();
        let added = Derived {
            name: "added",
            of: "rate",
            figure: Figure::Added {
                message_ns: |rate| 1e9 / rate,
                limit_ns: 2.0,
            },
        };
        let row = added.row(&rates).unwrap();
        assert!(
            row.starts_with("| added | 6.18 ns | 2.931 .. 9.223 ns") && row.ends_with("missed |\n"),
            "{row}"
        );
        let spread = Derived {
            figure: Figure::Spread { limit: 0.2 },
            ..added
        };
        let row = spread.row(&rates).unwrap();
        assert!(
            row.contains("| 0.00 | 0.0 % / ") && row.ends_with("met |\n"),
            "{row}"
        );
        assert!(spread.row(&rates[..3]).unwrap().contains("too few pairs"));
        assert!(table(&[spread], |_| None).is_empty());
    }
}
