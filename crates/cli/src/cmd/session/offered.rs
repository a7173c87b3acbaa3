//! The messages of one stream offered at rates, in one session: an open loop over a session's path. It must never begin a
//! session of its own.

use super::disturbed::failed_live;
use super::{Runner, check};
use crate::errors::Failure;
use crate::group::Groups;
use crate::open_loop::Asked;
use crate::points::Points;
use crate::session::Prepared;
use serde_json::Value;
use std::time::Duration;
use wirespeed_control::RankProgram;
use wirespeed_schema::run::CaseResult;
use wirespeed_session::live::Live;
use wirespeed_session::path::Streaming;

/// What was measured, and what it says.
pub struct Offered {
    pub results: Vec<CaseResult>,
    pub found: Option<Value>,
    /// Why the session did not end well.
    pub failure: Option<Failure>,
}

impl Runner<'_> {
    /// All rates in one session. The error is one of output, or of a stream that cannot run.
    pub fn run_offered(&mut self, asked: &Asked, stream: &Streaming) -> Result<Offered, Failure> {
        let lives = match self.begin() {
            Ok(lives) => lives,
            Err(failure) => {
                return Ok(Offered {
                    results: Vec::new(),
                    found: None,
                    failure: Some(failure),
                });
            }
        };
        let measured = self.rates(&lives, asked, stream);
        self.end(lives);
        measured
    }

    fn rates(&mut self, lives: &[Live], asked: &Asked, stream: &Streaming) -> Result<Offered, Failure> {
        let live = &lives[0];
        let (request, registry, kind) = (self.request, self.registry, live.group_kind());
        let at = |rate: u64| {
            let paced = Streaming {
                pace_msg_per_s: Some(rate),
                ..stream.clone()
            };
            let planned = request.planned(&paced, kind);
            check(registry, &planned)?;
            Ok(Prepared { planned, skip: None })
        };
        let groups = Groups::launched_by(registry, live.launcher(RankProgram::this()?));
        let each = (
            Duration::from_nanos(stream.duration_ns),
            self.arguments.output.quiet,
        );
        let mut points = Points::new(self.session_until(groups, live.run_flag()));
        let most_per_s = asked.offer(each, |rate| {
            let run = points.measure(rate as u64, || at(rate as u64))?;
            let carried = run.and_then(|run| run.metrics.get("rate_msg_per_s"));
            Ok(carried.map(|metric| metric.value.get()))
        })?;
        let broken = points.failure().is_some();
        let finished = points.finish()?;
        let results: Vec<CaseResult> = finished.results.into_iter().map(|(_, result)| result).collect();
        Ok(Offered {
            found: Some(asked.section(&results, most_per_s)),
            failure: failed_live(lives, broken && !finished.stopped, request, self.stop),
            results,
        })
    }
}
