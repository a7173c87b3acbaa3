//! Requests of one block offered at rates, in an open loop. It must never stand for a transfer of the whole.

use super::bench::Measuring;
use super::job::time;
use crate::args::{ByteioBenchArgs, Verify};
use crate::document::Draft;
use crate::errors::Failure;
use crate::open_loop::{Asked, Rates, TRIALS};
use std::time::Duration;
use wirespeed_byteio::client::{Moved, Pace, TransferOptions, offer};
use wirespeed_report::byteio::{answered_per_s, case, complete};
use wirespeed_report::curve::section;
use wirespeed_schema::byteio::Pair;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_ns;

/// How long each rate is offered where the user says nothing.
const DURATION: &str = "2s";
/// The longest: nobody waits for more.
const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

/// What is offered, and for how long each rate.
pub struct Offer {
    asked: Asked,
    duration: Duration,
    job: TransferOptions,
}

impl Offer {
    /// Read and check the words, for requests of `job`; `None` where no rate is offered.
    pub fn of(arguments: &ByteioBenchArgs, job: &TransferOptions) -> Result<Option<Offer>, Failure> {
        let trials = arguments.repeats.unwrap_or(TRIALS);
        let Some(asked) = Asked::of(&arguments.open_loop, trials, Rates::Any)? else {
            return Ok(None);
        };
        let duration = time("duration", arguments.duration.as_deref().unwrap_or(DURATION))?;
        if duration > DURATION_MAX {
            return Err(Failure::usage(
                "--duration: a rate is offered for a day at most",
                "write it like 500ms or 10s",
            ));
        }
        if arguments.verify != Verify::None {
            return Err(Failure::usage(
                "--verify compares a whole transfer; offered requests are dropped",
                "leave --verify or --offered out",
            ));
        }
        // A rate needs the time between two answers at the least.
        if let Some(rate) = asked.lowest().filter(|rate| rate * duration.as_secs_f64() < 2.0) {
            return Err(Failure::usage(
                format!("--offered {rate}: not even two requests are due in {duration:?}"),
                "offer for longer, with --duration",
            ));
        }
        Ok(Some(Offer {
            asked,
            duration,
            job: job.clone(),
        }))
    }

    /// What would be offered, in words.
    pub fn about(&self) -> String {
        let each = format_ns(self.duration.as_nanos() as f64);
        format!("{}, {each} each", self.asked.about())
    }
}

impl Measuring {
    /// All runs of all rates: a pair for each rate, by rising rate. The section goes into the draft.
    pub(super) fn offered(&self, what: &Offer, draft: &mut Draft) -> Result<Vec<Pair>, Failure> {
        let mut pairs: Vec<Pair> = Vec::new();
        let most_per_s = what.asked.offer((what.duration, self.quiet), |rate| {
            let interval_ns = (1e9 / rate).round().max(1.0) as u64;
            let at = pairs
                .iter()
                .position(|pair| pair.pace_interval_ns == Some(interval_ns));
            let at = at.unwrap_or_else(|| {
                pairs.push(Pair {
                    pace_interval_ns: Some(interval_ns),
                    ..self.begun(&what.job)
                });
                pairs.len() - 1
            });
            let pair = &mut pairs[at];
            if self.stop.is_requested() || pair.error.is_some() {
                return Ok(None);
            }
            let pace = Pace {
                interval_ns,
                duration: what.duration,
            };
            self.once(pair, |pair| {
                let Moved {
                    total_bytes,
                    transfer,
                    far,
                    ..
                } = offer(&what.job, pace, &self.stop)?;
                pair.total_bytes = total_bytes;
                pair.far = pair.far.take().or(far.map(Box::new));
                pair.runs.push(transfer);
                Ok(())
            })?;
            let answers = pair.runs.last().and_then(|run| run.answers.as_ref());
            Ok(answers.and_then(answered_per_s))
        })?;
        pairs.retain(|pair| !pair.runs.is_empty());
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.pace_interval_ns));
        pairs.iter_mut().for_each(complete);
        let cases: Vec<CaseResult> = pairs.iter().map(case).collect();
        draft.section(section::LOAD, what.asked.section(&cases, most_per_s));
        Ok(pairs)
    }
}
