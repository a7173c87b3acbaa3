//! How often the published intervals of consecutive blocks hold the median of all launches, and how often those of the same
//! launches in random order do: what both miss is the method's, what the first alone misses is the machine's, whose launches
//! are not independent. It must never drop a launch.

use super::launch::{Launch, Subject};
use super::published::{Interval, Method, intervals};
use super::series::{Alike, alike};
use super::tally::Tallies;
use anyhow::{Context as _, Result, bail};
use wirespeed_report::stats::{Group, LEVEL, Random, summarize, trimmed_mean};

/// Launches of a block.
pub const BLOCK: usize = 8;
/// Fewer blocks are not judged.
pub const BLOCKS_MIN: usize = 5;
/// How often all launches are put in a random order: five times as many blocks as were measured.
pub const SHUFFLES: usize = 5;
/// Seed of these orders.
pub const SEED: u64 = 20_261_125;

/// What came out for one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What was measured.
    pub subject: Subject,
    /// Launches.
    pub launches: usize,
    /// Median of all of them.
    pub median: f64,
    /// Interquartile range over the median.
    pub spread_ratio: f64,
    /// What neighbours have in common; `None` where all are equal.
    pub alike: Option<Alike>,
    /// Of blocks in the order in which they ran, and of the first launch of each alone.
    pub in_order: Tallies,
    /// Of blocks in random orders.
    pub shuffled: Tallies,
}

/// Judge the launches of `subject`, in the order in which they ran. An error for too few of them, or a torn block.
pub fn judge(subject: Subject, launches: &[Launch]) -> Result<Judged> {
    if launches.len() < BLOCKS_MIN * BLOCK || !launches.len().is_multiple_of(BLOCK) {
        bail!(
            "{} launches of {}: at least {BLOCKS_MIN} whole blocks of {BLOCK} are needed",
            launches.len(),
            subject.name()
        );
    }
    let values: Vec<f64> = launches.iter().map(|launch| launch.value).collect();
    let median = summarize(&values, LEVEL).context("no launches")?.median;
    let mut random = Random::new(SEED);
    let mut mixed: Vec<Launch> = Vec::with_capacity(launches.len() * SHUFFLES);
    for _ in 0..SHUFFLES {
        let mut order = launches.to_vec();
        random.shuffle(&mut order);
        mixed.append(&mut order);
    }
    let targets = Targets {
        median,
        trimmed_mean: trimmed(&mixed)?,
    };
    let mut in_order = targets.held(subject, launches, BLOCK)?;
    // As many launches as blocks, so that both are seen as sharply.
    let alone: Vec<Launch> = launches.iter().step_by(BLOCK).cloned().collect();
    in_order.append(&mut targets.held(subject, &alone, 1)?);
    Ok(Judged {
        subject,
        launches: launches.len(),
        median,
        alike: alike(&values, BLOCK),
        spread_ratio: Group { values }.spread_ratio(),
        in_order,
        shuffled: targets.held(subject, &mixed, BLOCK)?,
    })
}

/// What intervals should hold.
struct Targets {
    /// Of all launches.
    median: f64,
    /// What the trimmed mean of a block is, in the mean of many random blocks: it is no median.
    trimmed_mean: f64,
}

fn trimmed(mixed: &[Launch]) -> Result<f64> {
    let of = |block: &[Launch]| trimmed_mean(&block.iter().map(|launch| launch.value).collect::<Vec<f64>>());
    let means: Option<Vec<f64>> = mixed.chunks_exact(BLOCK).map(of).collect();
    let means = means.context("a block has no trimmed mean")?;
    Ok(means.iter().map(|mean| mean / means.len() as f64).sum())
}

impl Targets {
    /// How often the intervals of each `size` launches that follow each other hold their target.
    fn held(&self, subject: Subject, launches: &[Launch], size: usize) -> Result<Tallies> {
        let mut tallies = Tallies::new();
        for block in launches.chunks_exact(size) {
            for Interval {
                method,
                lower,
                upper,
                level,
            } in intervals(subject, block)?
            {
                let target = match method {
                    Method::TrimmedMean => self.trimmed_mean,
                    _ => self.median,
                };
                tallies
                    .entry(method)
                    .or_default()
                    .add((lower..=upper).contains(&target), level);
            }
        }
        Ok(tallies)
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::SUBJECTS;
    use super::super::tally::Verdict;
    use super::*;

    /// 40 blocks whose launches are `at(number, noise)`.
    fn judged(at: impl Fn(f64, f64) -> f64) -> Judged {
        let mut random = Random::new(12);
        let launches = (0..320).map(|number| Launch {
            value: at(f64::from(number), random.normal()),
            own: None,
            slices: Vec::new(),
        });
        judge(SUBJECTS[0], &launches.collect::<Vec<_>>()).unwrap()
    }

    /// The bootstrap's median of eight takes few values, so that it is a little wide.
    #[test]
    fn independent_launches_are_held_as_often_as_stated() {
        let found = judged(|_, noise| 1000.0 + noise);
        for (method, least, most) in [
            (Method::Order, 0.98, 1.0),
            (Method::Runs, 0.93, 0.995),
            (Method::TrimmedMean, 0.92, 0.99),
        ] {
            let (order, shuffled) = (found.in_order[&method], found.shuffled[&method]);
            assert_eq!((order.count, shuffled.count), (40, 40 * SHUFFLES), "{method:?}");
            assert!(
                (least..=most).contains(&shuffled.share()),
                "{method:?} {shuffled:?}"
            );
            assert_ne!(order.verdict(), Verdict::MissesLow, "{method:?} {order:?}");
        }
        assert!(found.alike.unwrap().between_blocks.abs() < 0.15);
    }

    /// Blocks of a machine that becomes slower lie below the median of all at first and above it at last.
    #[test]
    fn a_drift_is_missed_in_order_and_not_shuffled() {
        let found = judged(|number, noise| 1000.0 + number / 40.0 + noise);
        for method in [Method::Order, Method::Runs, Method::TrimmedMean] {
            assert_eq!(
                found.in_order[&method].verdict(),
                Verdict::MissesLow,
                "{method:?}"
            );
            assert_ne!(
                found.shuffled[&method].verdict(),
                Verdict::MissesLow,
                "{method:?}"
            );
        }
        assert!(found.alike.unwrap().between_blocks > 0.5);
    }

    #[test]
    fn too_few_launches_and_torn_blocks_are_refused() {
        let launch = Launch {
            value: 1.0,
            own: None,
            slices: Vec::new(),
        };
        for count in [0, 8, 39, 41, 801] {
            let error = judge(SUBJECTS[5], &vec![launch.clone(); count]).unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("udp rate: at least 5 whole blocks of 8"),
                "{error}"
            );
        }
    }
}
