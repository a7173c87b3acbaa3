//! The streams of one session without and with load in turn. The load runs inside of the ends that measure, under the
//! limits of their computations. It must never begin a session of its own.

use super::{END_TOLD, Request, Runner, check};
use crate::errors::Failure;
use crate::group::Groups;
use crate::interference::{Plan, ROUNDS};
use crate::order::fresh_seed;
use crate::session::Prepared;
use wirespeed_control::{RankProgram, StopFlag};
use wirespeed_report::interference::Interference;
use wirespeed_schema::run::{CaseResult, CaseStatus};
use wirespeed_session::live::Live;

/// What was measured, and what it says.
pub struct Disturbed {
    pub results: Vec<CaseResult>,
    pub found: Option<Interference>,
    /// Why the session did not end well.
    pub failure: Option<Failure>,
}

impl Runner<'_> {
    /// All rounds in one session. The error is one of output, or of loads that cannot run.
    pub fn run_disturbed(&mut self) -> Result<Disturbed, Failure> {
        let lives = match self.begin() {
            Ok(lives) => lives,
            Err(failure) => {
                return Ok(Disturbed {
                    results: Vec::new(),
                    found: None,
                    failure: Some(failure),
                });
            }
        };
        let measured = self.rounds(&lives);
        self.end(lives);
        measured
    }

    fn rounds(&mut self, lives: &[Live]) -> Result<Disturbed, Failure> {
        let live = &lives[0];
        let request = self.request;
        let streams = request.streams.iter();
        let prepared = streams.map(|stream| {
            let planned = request.planned(stream, live.group_kind());
            let skip = check(self.registry, &planned).err().map(|failure| failure.cause);
            Prepared { planned, skip }
        });
        let plan = Plan::new(prepared.collect(), &request.loads)?;
        let rounds = self.arguments.repeat.unwrap_or(ROUNDS);
        let groups = Groups::launched_by(self.registry, live.launcher(RankProgram::this()?));
        let mut session = self.session_until(groups, live.run_flag());
        let (results, mut found) = plan.measure(&mut session, rounds, fresh_seed())?;
        found.rounds_option = "--repeat".to_owned();
        drop(session);
        let broken = |result: &CaseResult| matches!(result.status, CaseStatus::Failed | CaseStatus::Partial);
        let failed = results.iter().any(broken) && !self.stop.is_requested();
        Ok(Disturbed {
            results,
            found: Some(found),
            failure: failed_live(lives, failed, request, self.stop),
        })
    }
}

/// How a session whose streams are measured ended badly, after it was held for as long as was asked for.
pub fn failed_live(lives: &[Live], failed: bool, request: &Request, stop: &StopFlag) -> Option<Failure> {
    // A computation's own end says more than what its group saw of it.
    let early = failed.then(|| lives[0].early_end_within(END_TOLD)).flatten();
    let held = || Live::hold(lives, request.stay_connected, stop).err();
    early.map(Failure::from).or_else(|| held().map(Failure::from))
}
