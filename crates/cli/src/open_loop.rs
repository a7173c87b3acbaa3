//! An open loop, whatever is offered: which rates, and what comes of them. A verb brings only the case of a rate; the figures, the knee and the words are the report's.

use crate::args::OpenLoopArgs;
use crate::errors::Failure;
use crate::experiment::Points;
use wirespeed_report::curve::UNLIMITED_PER_S;
use wirespeed_report::curve::section::LoadSection;
use wirespeed_schema::run::{CaseResult, Repetition};
use wirespeed_schema::units::{counted, expand_counts, parse_count, parse_duration_ns};

/// Runs of each rate where the user says nothing.
pub const TRIALS: u32 = 3;
/// Rates between nothing and the most that is carried, where the user says nothing.
const POINTS: u32 = 10;
/// The highest of them, as a part of the most that was carried.
const HIGHEST_SHARE: f64 = 1.05;
/// Rates that may be named.
const RATES_MAX: usize = 100;

/// What is offered: messages, or requests of blocks that may take longer than a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rates {
    /// Whole numbers a second.
    Whole,
    /// Any numbers.
    Any,
}

/// Which rates are offered, how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Those named; without, they follow from the most that is carried.
    named: Option<Vec<f64>>,
    points: u32,
    rates: Rates,
    p99_max_ns: Option<f64>,
}

impl Asked {
    /// Read the words; `None` where no rate is offered.
    pub fn of(words: &OpenLoopArgs, rates: Rates) -> Result<Option<Asked>, Failure> {
        let offered = words.offered.as_deref();
        offered
            .map(|offered| Asked::new(offered, words, rates))
            .transpose()
    }

    /// Read the words, with these rates.
    pub fn new(offered: &str, words: &OpenLoopArgs, rates: Rates) -> Result<Asked, Failure> {
        let named = match offered.trim() {
            "auto" => None,
            text => Some(named(text, rates)?),
        };
        if let (Some(_), Some(points)) = (&named, words.points) {
            return Err(Failure::usage(
                format!("--points {points}: the rates are named"),
                "leave --points out, or write --offered auto",
            ));
        }
        Ok(Asked {
            named,
            points: words.points.unwrap_or(POINTS),
            rates,
            p99_max_ns: words.p99.as_deref().map(bound).transpose()?,
        })
    }

    /// The lowest rate that was named.
    pub fn lowest(&self) -> Option<f64> {
        let named = self.named.iter().flatten().copied();
        named.reduce(f64::min)
    }

    /// What will be offered, in words.
    pub fn about(&self) -> String {
        match &self.named {
            Some(named) => counted(named.len() as u64, "named rate"),
            None => format!("{} up to what is carried", counted(self.points.into(), "rate")),
        }
    }

    /// The rates that are known before anything is measured.
    pub fn known(&self) -> Vec<f64> {
        let named = self.named.iter().flatten().copied();
        std::iter::once(UNLIMITED_PER_S as f64).chain(named).collect()
    }

    /// Measure what can be carried without a limit, then every rate, all in random order, as often as asked.
    pub fn offer(&self, points: &mut Points) -> Result<(), Failure> {
        let unlimited = UNLIMITED_PER_S as f64;
        points.measure(&[unlimited])?;
        let carried = |run: &Repetition| run.figure("rate_msg_per_s");
        let most_per_s = points.most(unlimited, carried).unwrap_or(0.0);
        match &self.named {
            Some(named) => points.measure(named),
            None => points.measure(&self.shares(most_per_s)),
        }
    }

    /// Equal steps up to a little above what was carried; none where nothing was.
    fn shares(&self, most_per_s: f64) -> Vec<f64> {
        if most_per_s <= 0.0 {
            return Vec::new();
        }
        let share = |number| most_per_s * HIGHEST_SHARE * f64::from(number) / f64::from(self.points);
        let mut rates: Vec<f64> = (1..=self.points).map(share).collect();
        if self.rates == Rates::Whole {
            rates.iter_mut().for_each(|rate| *rate = rate.round().max(1.0));
        }
        rates.dedup();
        rates
    }

    /// The section of the document that these cases belong to.
    pub fn section(&self, cases: &[CaseResult], seed: u64) -> LoadSection {
        LoadSection::new(cases, self.p99_max_ns, seed)
    }
}

/// Rates as typed: numbers, lists and ranges.
fn named(text: &str, rates: Rates) -> Result<Vec<f64>, Failure> {
    let bad = |why: &str, remedy: &str| Failure::usage(format!("--offered {text}: {why}"), remedy.to_owned());
    let words = expand_counts(text).map_err(|_| {
        bad(
            "no rates",
            "give numbers a second, such as 1000, 100,200,500, 1k..8k:+1k, or auto",
        )
    })?;
    if words.len() > RATES_MAX {
        return Err(bad("more than 100 rates", "name fewer, or write --offered auto"));
    }
    let number = |word: &String| match (parse_count(word), rates) {
        (Ok(count), _) => Some(count as f64),
        (Err(_), Rates::Any) => word.parse::<f64>().ok(),
        (Err(_), Rates::Whole) => None,
    };
    let mut found = Vec::new();
    for word in &words {
        let rate = number(word).filter(|rate| (1e-3..UNLIMITED_PER_S as f64).contains(rate));
        let remedy = match rates {
            Rates::Whole => "give whole messages a second from 1 to below 1G, or auto",
            Rates::Any => "give requests a second from 0.001 to below 1G, or auto",
        };
        found.push(rate.ok_or_else(|| bad(&format!("{word:?} is no rate that can be offered"), remedy))?);
    }
    found.sort_by(f64::total_cmp);
    found.dedup();
    Ok(found)
}

fn bound(text: &str) -> Result<f64, Failure> {
    match parse_duration_ns(text) {
        Ok(ns) if ns > 0 => Ok(ns as f64),
        _ => Err(Failure::usage(
            format!("--p99: {text:?} is no time"),
            "give a duration with its unit, such as 50us or 2ms",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(offered: &str, rates: Rates) -> Result<Asked, Failure> {
        Asked::new(offered, &OpenLoopArgs::default(), rates)
    }

    #[test]
    fn lists_and_ranges_are_rates_and_nonsense_is_a_usage_error() {
        let named = |text: &str, rates| asked(text, rates).unwrap().named.unwrap();
        assert_eq!(named("2k,500,2000", Rates::Whole), [500.0, 2000.0]);
        assert_eq!(named("100..400:+100", Rates::Whole).len(), 4);
        assert_eq!(named("0.5,2", Rates::Any), [0.5, 2.0]);
        for bad in [
            "",
            "0",
            "-1",
            "x",
            "1,,2",
            "9..1",
            "1G",
            "0.5",
            "nan",
            "1..200:+1",
            "1e30",
        ] {
            let failure = asked(bad, Rates::Whole).unwrap_err();
            assert_eq!(failure.code, 2, "{bad}");
            assert!(failure.cause.contains("--offered"), "{bad}: {failure:?}");
        }
        for bad in ["nan", "inf", "-0.5", "0.0001", "1e30"] {
            assert_eq!(asked(bad, Rates::Any).unwrap_err().code, 2, "{bad}");
        }
    }

    #[test]
    fn what_is_carried_decides_what_is_offered() {
        let all = asked("auto", Rates::Whole).unwrap();
        assert_eq!(all.known(), [1e9], "first what is carried without a limit");
        assert_eq!(
            all.shares(1000.0),
            (1..=10).map(|n| f64::from(105 * n)).collect::<Vec<_>>()
        );
        assert!(
            all.shares(0.0).is_empty(),
            "nothing is offered where nothing is carried"
        );
        let slow = asked("auto", Rates::Any).unwrap();
        assert!((slow.shares(2.0)[0] - 0.21).abs() < 1e-9);
    }
}
