//! Transfers as runs of an experiment's cells: the engine measures them, and what no case says of them is added here. It must
//! never repeat, order or publish anything itself.

use super::job;
use crate::errors::Failure;
use crate::experiment::{Measured, OnSeen, Runner, Seen, Visit};
use crate::group::Groups;
use std::collections::BTreeSet;
use wirespeed::Registry;
use wirespeed_byteio::client::TransferOptions;
use wirespeed_byteio::transport::service;
use wirespeed_control::StopFlag;
use wirespeed_schema::Finite;
use wirespeed_schema::case::Role;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::plan::PlannedCase;

/// The ways of one arm: to fetch, to send, or both.
struct Arm<'a> {
    ways: Vec<(bool, Groups<'a>)>,
    nominal: Option<Finite>,
}

/// Transfers between here and a service.
pub struct Transfers<'a> {
    arms: Vec<Arm<'a>>,
    /// Why nothing can be transferred at all.
    pub refused: Option<Failure>,
    /// The cells that have a run.
    begun: BTreeSet<usize>,
}

impl<'a> Transfers<'a> {
    /// Transfers of each arm's jobs, with the speed of the slowest link on the way. Of jobs that differ in shape alone one is
    /// enough.
    pub fn new(registry: &'a Registry, arms: Vec<(&[TransferOptions], Option<Finite>)>) -> Self {
        let arm = |(jobs, nominal): (&[TransferOptions], Option<Finite>)| {
            let mut ways: Vec<(bool, Groups)> = Vec::new();
            for options in jobs {
                let is_put = job::is_put(options);
                if ways.iter().all(|(known, _)| *known != is_put) {
                    ways.push((is_put, Groups::with_service(registry, service(options))));
                }
            }
            Arm { ways, nominal }
        };
        Transfers {
            arms: arms.into_iter().map(arm).collect(),
            refused: None,
            begun: BTreeSet::new(),
        }
    }
}

impl Transfers<'_> {
    /// Nothing was transferred: a failure, unless the user wants to stop. What could not begin at all is no result of
    /// anything.
    fn nothing(&self, visit: Visit, failure: Failure, stop: &StopFlag) -> Measured {
        match stop.is_requested() {
            true => Measured::default(),
            false => Measured {
                failure: Some(failure),
                is_last: !self.begun.contains(&visit.cell),
                ..Measured::default()
            },
        }
    }
}

impl Runner for Transfers<'_> {
    fn measure(&mut self, visit: Visit, planned: &PlannedCase, stop: &StopFlag, on_seen: OnSeen) -> Measured {
        if let Some(failure) = &self.refused {
            return self.nothing(visit, failure.clone(), stop);
        }
        let case = &planned.case;
        let is_put = case.ranks[0].role == Role::Source;
        let arm = &mut self.arms[visit.arm];
        let Some((_, groups)) = arm.ways.iter_mut().find(|(known, _)| *known == is_put) else {
            return Measured::default();
        };
        let mut seen = |rank: u32, interval: &Interval| on_seen(Seen::Interval(rank, interval));
        let mut run = groups.run(planned, stop, &mut seen);
        if let (true, Some(failure)) = (run.outcomes.is_empty(), run.failure) {
            return self.nothing(visit, failure, stop);
        }
        self.begun.insert(visit.cell);
        // A transfer that broke off is a run, with its error; others may follow.
        let records = run
            .outcomes
            .iter_mut()
            .filter_map(|outcome| outcome.transfer.as_mut());
        for between in records.filter_map(|record| record.between.as_mut()) {
            between.nominal_bytes_per_s = arm.nominal;
            between.name = visit.load.map_or(String::new(), |load| format!("under {load}"));
        }
        let beside = (run.setup_ns, run.overlapping_sessions);
        let repetition = wirespeed_report::repetition(case, visit.round, run.outcomes, beside.0, beside.1);
        Measured {
            repetition: Some(repetition),
            ..Measured::default()
        }
    }
}
