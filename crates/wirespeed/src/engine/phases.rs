//! What every test does before its measured phase: a first operation, timed apart, and a warm-up in growing rounds.

use super::meter::Measured;
use super::rank::{Finished, Rank};
use crate::transport::port::{Facts, LinkError};
use wirespeed_schema::outcome::StopReason;

/// First round of the warm-up; rounds double.
const WARMUP_FIRST_ROUND: u64 = 16;

/// Meet the other ranks, calling `progress` meanwhile.
///
/// A peer that has left the last barrier closes its port, perhaps while this rank still makes progress in it. So a
/// closed peer is no failure of a meeting in which everybody arrived; before the last one, the next operation tells.
pub fn meet(rank: &Rank, mut progress: impl FnMut() -> Result<(), LinkError>) -> Result<(), LinkError> {
    let mut failed = None;
    rank.barrier(&mut || {
        if failed.is_none() {
            failed = progress().err();
        }
    })?;
    match failed {
        None | Some(LinkError::Closed) => Ok(()),
        Some(error) => Err(error),
    }
}

/// What comes before the measured phase.
#[derive(Default)]
pub struct Prelude {
    /// Operations of the warm-up.
    pub warmup_operations: u64,
    /// Time of the very first operation.
    pub first_operation_ticks: Option<u64>,
    /// Ticks that one operation takes, from the quickest round of the warm-up: a round may be preempted.
    pub op_ticks: f64,
}

impl Prelude {
    /// With what the measured phase gave.
    pub fn finished(
        self,
        end: Result<StopReason, LinkError>,
        elapsed_ticks: u64,
        measured: Measured,
    ) -> Finished {
        Finished {
            measured,
            elapsed_ticks,
            warmup_operations: self.warmup_operations,
            first_operation_ticks: self.first_operation_ticks,
            end,
            facts: Facts::new(),
        }
    }

    /// Rounds of 16, 32, 64 .. operations (from fewer where the first one took long) until the warm-up's count or time is reached; `round(n, last)` does them.
    pub fn warm_up(
        &mut self,
        rank: &Rank,
        mut round: impl FnMut(u64, bool) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let clock = rank.timebase.clock;
        let limit_ticks = rank.timebase.to_ticks(rank.case.warmup_ns_max);
        let started = clock.now();
        // Where one operation takes long, sixteen of them would outlast the limit.
        let fitting = limit_ticks / self.first_operation_ticks.unwrap_or(0).max(1);
        let mut count = WARMUP_FIRST_ROUND.min(fitting).max(1);
        loop {
            let left = rank.case.warmup_iterations.saturating_sub(self.warmup_operations);
            let last = left <= count || rank.cancel.stop_requested();
            let count_now = count.min(left).max(1);
            let before = clock.now();
            round(count_now, last)?;
            let now = clock.now();
            let op_ticks = (now - before) as f64 / count_now as f64;
            self.op_ticks = if self.op_ticks > 0.0 {
                self.op_ticks.min(op_ticks)
            } else {
                op_ticks
            };
            self.warmup_operations += count_now;
            if last {
                return Ok(());
            }
            if now - started >= limit_ticks {
                self.warmup_operations += 1;
                return round(1, true);
            }
            count *= 2;
        }
    }
}
