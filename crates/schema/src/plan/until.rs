//! "Repeat until it is known well enough": the words of `--until`, and what they mean.

use super::error::PlanError;
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Statistics that can be waited for, as typed.
pub const STATISTICS: [&str; 8] = ["p50", "p90", "p99", "p999", "p9999", "mean", "rate", "bandwidth"];

/// Most repetitions where `until` is given and `repeats` is not.
pub const UNTIL_REPEATS: u32 = 50;

const REMEDY: &str = "write one STATISTIC:WIDTH, such as p50:2% or rate:1%; statistics: p50, p90, p99, p999, p9999, mean, \
                      rate, bandwidth";

/// Repeat a case until the interval of a statistic over its runs is narrow enough; in the user's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Until {
    /// One of [`STATISTICS`].
    pub statistic: String,
    /// Half of the interval's width over the median: `2%`.
    pub within: String,
    /// No repetition begins after so much time: `5m`. Absent: no limit but the number of repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Until {
    /// From `p50:2%`. Errors when the statistic is unknown or the width is invalid.
    pub fn parse(text: &str) -> Result<Until, PlanError> {
        let bad = || PlanError::new(format!("--until: {text:?} is no goal"), REMEDY);
        let (statistic, within) = text.split_once(':').ok_or_else(bad)?;
        if within.contains([':', ',']) {
            return Err(bad());
        }
        let spelled = statistic.trim().replace("p99.9", "p999").replace('.', "");
        let known = STATISTICS.iter().find(|known| **known == spelled);
        let statistic =
            known.ok_or_else(|| PlanError::unknown("statistic", statistic.trim(), &STATISTICS))?;
        let until = Until {
            statistic: (*statistic).to_owned(),
            within: within.trim().to_owned(),
            time: None,
        };
        until.half_width_ratio().map(|_| until)
    }

    /// The width as a ratio, between 0.0001 and 1.
    pub fn half_width_ratio(&self) -> Result<f64, PlanError> {
        let bad = || {
            PlanError::new(
                format!("--until: {:?} is no width", self.within),
                "give a percentage from 0.01% to 100%, such as 2%",
            )
        };
        let number = self.within.strip_suffix('%').ok_or_else(bad)?;
        match number.trim().parse::<f64>() {
            Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
            _ => Err(bad()),
        }
    }

    /// The limit of time in nanoseconds.
    pub fn time_ns(&self) -> Result<Option<u64>, PlanError> {
        let parse = |text: &String| match units::parse_duration_ns(text) {
            Ok(ns) if ns > 0 => Ok(ns),
            _ => Err(PlanError::new(
                format!("--until-time: {text:?} is no time"),
                "give a duration with its unit, such as 30s or 5m",
            )),
        };
        self.time.as_ref().map(parse).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn goals_are_read() {
        let until = Until::parse("p99.9: 5 %").unwrap();
        assert_eq!(until.statistic, "p999");
        assert_eq!(until.half_width_ratio().unwrap(), 0.05);
        for bad in [
            "", "p50", "p50:", "p50:2", "p50:0%", "p50:-1%", "p50:nan%", "p51:2%", "p50:200%",
        ] {
            assert!(Until::parse(bad).is_err(), "{bad}");
        }
        for several in ["p50:2%,p99:5%", "p50:2%:5s"] {
            assert_eq!(Until::parse(several).unwrap_err().remedy, REMEDY, "{several}");
        }
        assert_eq!(
            Until::parse("p51:2%").unwrap_err().remedy,
            "did you mean \"p50\"?"
        );
    }

    #[test]
    fn times_have_units() {
        let with = |time: &str| Until {
            time: Some(time.into()),
            ..Until::parse("rate:1%").unwrap()
        };
        assert_eq!(with("5m").time_ns().unwrap(), Some(300_000_000_000));
        assert!(with("5").time_ns().is_err() && with("0s").time_ns().is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,20}") {
            let _ = Until::parse(&text);
        }
    }
}
