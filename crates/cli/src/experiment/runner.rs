//! What measures a case once: ranks of one kind or another here; the computations of a session and the transfers of a file
//! in their verbs. A runner never repeats, orders or publishes anything.

use super::medium::Medium;
use crate::errors::Failure;
use crate::group::Groups;
use std::time::Duration;
use wirespeed_control::StopFlag;
use wirespeed_report::Limits;
use wirespeed_schema::case::Case;
use wirespeed_schema::outcome::Interval;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::{Remark, Repetition};

/// One run of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit<'a> {
    /// The cell's number.
    pub cell: usize,
    /// The number of its subject: the case, whatever the arm and the load.
    pub subject: usize,
    /// The load that it runs under, as it was asked for.
    pub load: Option<&'a str>,
    /// Which of the arms it belongs to, from 0.
    pub arm: usize,
    /// Number of the round, from 0; what runs in the same round is compared with each other.
    pub round: u32,
}

/// What one run gave: often one of the two, both when a part of the ranks was seen.
#[derive(Debug, Default)]
pub struct Measured {
    /// What the ranks saw.
    pub repetition: Option<Repetition>,
    /// The repetition did not come to its end, which none of its ranks can tell.
    pub broke_off: bool,
    /// Why it did not end well.
    pub failure: Option<Failure>,
    /// The case as it turned out, where something of it was open before: the size of a file at the far end.
    pub case: Option<Case>,
    /// Time of it that was spent waiting until servers had measured others: no time of measuring.
    pub queued: Duration,
    /// Nothing further can be measured: the session, or whatever all cases share, is gone.
    pub is_last: bool,
}

/// What is seen of a run while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// A slice of time of a rank.
    Interval(u32, &'a Interval),
    /// A pair of hosts was measured.
    Pair(&'a PairSeen),
}

/// A pair of hosts of a mesh.
#[derive(Debug, Clone)]
pub struct PairSeen {
    /// Name of the host that sends.
    pub from: String,
    /// Name of the host that receives.
    pub to: String,
    /// Tag of the figure.
    pub tag: &'static str,
    /// The figure, or why there is none.
    pub measured: Result<f64, String>,
}

/// Hears what is seen of a run.
pub type OnSeen<'a> = &'a mut dyn FnMut(Seen);

/// Measures a case once.
pub trait Runner {
    /// A round begins. What fails here ends the experiment.
    fn begin(&mut self, _round: u32) -> Result<(), Failure> {
        Ok(())
    }

    /// Run a case once. Ends in order when `stop` is raised.
    fn measure(&mut self, visit: Visit, planned: &PlannedCase, stop: &StopFlag, on_seen: OnSeen) -> Measured;

    /// A round ends, however it went. What fails here ends the experiment.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// What the medium of `case` can carry at most, found out before the case is measured.
    fn limits(&mut self, _case: &Case) -> Limits {
        Limits::default()
    }

    /// What there is to say of a cell beside its figures.
    fn remarks(&self, _cell: usize) -> Vec<Remark> {
        Vec::new()
    }
}

/// Runs cases on groups of ranks, a way to reach them for each arm.
pub struct Ranks<'a> {
    arms: Vec<Groups<'a>>,
    medium: Medium,
}

impl<'a> Ranks<'a> {
    /// All arms by the same groups.
    pub fn new(groups: Groups<'a>) -> Self {
        Ranks::of_arms(vec![groups])
    }

    /// Groups for every arm.
    pub fn of_arms(arms: Vec<Groups<'a>>) -> Self {
        Ranks {
            arms,
            medium: Medium::default(),
        }
    }
}

impl Runner for Ranks<'_> {
    fn measure(&mut self, visit: Visit, planned: &PlannedCase, stop: &StopFlag, on_seen: OnSeen) -> Measured {
        let last = self.arms.len() - 1;
        self.arms[visit.arm.min(last)].measure(visit, planned, stop, on_seen)
    }

    fn limits(&mut self, case: &Case) -> Limits {
        self.medium.limits(self.arms[0].registry(), case)
    }
}

impl Groups<'_> {
    /// Run a case once; what an interruption breaks off is no failure of the case.
    pub fn measure(
        &mut self,
        visit: Visit,
        planned: &PlannedCase,
        stop: &StopFlag,
        on_seen: OnSeen,
    ) -> Measured {
        let mut on_interval = |rank: u32, interval: &Interval| on_seen(Seen::Interval(rank, interval));
        let run = self.run(planned, stop, &mut on_interval);
        let seen = !run.outcomes.is_empty();
        let repetition = seen.then(|| {
            let (setup_ns, overlapping) = (run.setup_ns, run.overlapping_sessions);
            wirespeed_report::repetition(&planned.case, visit.round, run.outcomes, setup_ns, overlapping)
        });
        Measured {
            repetition,
            failure: run.failure,
            queued: run.queued,
            ..Measured::default()
        }
    }
}
