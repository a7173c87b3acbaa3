//! The one place that starts ranks: threads, local processes or two hosts, as the case says. Everything of the control
//! crate that a measurement needs is called from here.

use crate::errors::Failure;
use std::thread;
use wirespeed::{Registry, ThreadBootstrap, measure};
use wirespeed_schema::outcome::{Interval, Outcome};
use wirespeed_schema::plan::PlannedCase;

/// What a group brings back from one run of a case.
pub struct GroupRun {
    /// What every rank saw, by rank.
    pub outcomes: Vec<Outcome>,
    /// From the start of the ranks to the first barrier.
    pub setup_ns: u64,
    /// Other sessions on the same server meanwhile.
    pub overlapping_sessions: u32,
}

/// Receives interval reports: the rank and its slice.
pub type OnInterval<'a> = &'a mut dyn FnMut(u32, &Interval);

/// Starts groups of ranks, one after the other.
pub struct Groups<'a> {
    registry: &'a Registry,
}

impl<'a> Groups<'a> {
    /// Groups that know the transports of `registry`.
    pub fn new(registry: &'a Registry) -> Self {
        Groups { registry }
    }

    /// Run a case once, with fresh ranks and connections.
    pub fn run(&mut self, planned: &PlannedCase, _: OnInterval) -> Result<GroupRun, Failure> {
        let ranks = ThreadBootstrap::group(planned.case.ranks.len() as u32);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let handles: Vec<_> = ranks
                .iter()
                .map(|rank| scope.spawn(move || measure(&planned.case, self.registry, rank, &mut |_| ())))
                .collect();
            handles.into_iter().map(|h| h.join()).collect()
        });
        let mut seen = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(Ok(outcome)) => seen.push(outcome),
                Ok(Err(error)) => return Err(Failure::failed(error.to_string(), "run again")),
                Err(_) => return Err(Failure::failed("a rank panicked", "report it")),
            }
        }
        Ok(GroupRun {
            outcomes: seen,
            setup_ns: 0,
            overlapping_sessions: 0,
        })
    }
}
