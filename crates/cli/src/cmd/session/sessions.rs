//! Sessions that begin and end with the rounds of an experiment, and the streams that are measured in them. It must never
//! repeat, order or publish anything itself.

use super::Request;
use crate::args::SessionArgs;
use crate::errors::Failure;
use crate::experiment::{Measured, OnSeen, Runner, Visit};
use crate::group::Groups;
use crate::progress::Progress;
use crate::stderr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed_control::{RankProgram, StopFlag};
use wirespeed_schema::case::{GroupKind, Role};
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::run::Repetition;
use wirespeed_session::Tell;
use wirespeed_session::live::{Live, Place};
use wirespeed_session::report::SessionReport;

/// How a computation ended is known this long after its group has failed, also over a launcher's pipes.
const END_TOLD: Duration = Duration::from_millis(500);

/// How soon a session that is to begin later hears that another has failed.
const LOOK: Duration = Duration::from_millis(50);

/// A session, and whether its computations could be told to go.
type Begun = (Live, Result<(), Failure>);

/// The sessions of one round; messages are measured in the first.
pub struct Sessions<'a> {
    pub registry: &'a Registry,
    pub arguments: &'a SessionArgs,
    pub request: &'a Request,
    pub place: Place,
    pub stop: StopFlag,
    /// The same sessions for all rounds.
    pub kept: bool,
    /// What those that are gone told.
    pub reports: Vec<SessionReport>,
    /// A session ended early: it is not held any longer.
    pub broken: bool,
    pub lives: Vec<Live>,
    pub groups: Option<Groups<'a>>,
}

impl Sessions<'_> {
    /// Begin sessions unless they have; where their computations are. Those that began and could not go on are there to be closed.
    pub fn open(&mut self) -> Result<GroupKind, Failure> {
        if self.lives.is_empty() {
            let words = format!("starting {}", self.words());
            let waiting = Progress::waiting(&words, self.is_quiet());
            let begun = self.begun();
            waiting.finish();
            let (lives, gone) = begun?;
            self.lives = lives;
            self.broken |= gone.is_err();
            gone?;
            let launcher = self.lives[0].launcher(RankProgram::this()?);
            self.groups = Some(Groups::launched_by(self.registry, launcher));
        }
        Ok(self.lives[0].group_kind())
    }

    /// The sessions, for those who wait for them.
    fn words(&self) -> String {
        match self.arguments.sessions {
            1 => "the session".to_owned(),
            count => format!("{count} sessions"),
        }
    }

    fn is_quiet(&self) -> bool {
        self.arguments.output.quiet || self.arguments.experiment.live
    }

    /// Sessions side by side: all begin, or all are gone. Whether their computations could be told to go, too.
    fn begun(&self) -> Result<(Vec<Live>, Result<(), Failure>), Failure> {
        let (request, arguments, place, stop) = (self.request, self.arguments, &self.place, &self.stop);
        let tell: Tell = Arc::new(stderr::say);
        let failed = AtomicBool::new(false);
        let begin = |number: u32| -> Result<Option<Begun>, Failure> {
            let until = Instant::now() + request.delay_start * number;
            while let left = until.saturating_duration_since(Instant::now())
                && !left.is_zero()
            {
                if failed.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                if !stop.pause(left.min(LOOK)) {
                    return Err(Failure::interrupted("run again for a whole result"));
                }
            }
            let live = Live::begin(&request.ask, place, stop, &tell);
            let gone = match &live {
                Ok(live) if !arguments.phased_start => live.go().map_err(Failure::from),
                _ => Ok(()),
            };
            failed.fetch_or(live.is_err() || gone.is_err(), Ordering::Relaxed);
            Ok(Some((live?, gone)))
        };
        let lives: Vec<Result<Option<Begun>, Failure>> = match arguments.sessions {
            1 => vec![begin(0)],
            count => std::thread::scope(|scope| {
                let begin = &begin;
                let begun: Vec<_> = (0..count).map(|n| scope.spawn(move || begin(n))).collect();
                let broken = || Failure::failed("a session's thread failed", "please report it");
                begun
                    .into_iter()
                    .map(|b| b.join().unwrap_or_else(|_| Err(broken())))
                    .collect()
            }),
        };
        // All of them, unless one has failed.
        let lives: Vec<Option<Begun>> = lives.into_iter().collect::<Result<_, _>>()?;
        let (lives, gone): (Vec<Live>, Vec<_>) = lives.into_iter().flatten().unzip();
        let mut gone: Result<(), Failure> = gone.into_iter().collect();
        if arguments.phased_start {
            gone = lives.iter().try_for_each(Live::go).map_err(Failure::from);
        }
        Ok((lives, gone))
    }

    /// Hold the sessions for as long as was asked for, end all of them at once, and keep what they tell.
    pub fn close(&mut self) -> Result<(), Failure> {
        let held = match self.broken || self.lives.is_empty() {
            true => Ok(()),
            false => self.hold(),
        };
        self.groups = None;
        let lives = std::mem::take(&mut self.lives);
        let words = format!("ending {}", self.words());
        let waiting = Progress::waiting(&words, self.is_quiet());
        let reports = std::thread::scope(|scope| {
            let ends = lives.into_iter().map(|live| scope.spawn(move || live.end()));
            let ends: Vec<_> = ends.collect();
            ends.into_iter()
                .filter_map(|end| end.join().ok())
                .collect::<Vec<_>>()
        });
        waiting.finish();
        // What failed while it was told to end was early all the same.
        let failed = match self.broken {
            true => None,
            false => reports.iter().find_map(failed),
        };
        self.reports.extend(reports);
        held?;
        failed.map_or(Ok(()), Err)
    }

    /// The group keeps its channels meanwhile.
    fn hold(&self) -> Result<(), Failure> {
        if self.request.streams.is_empty() {
            self.hold_for(self.request.hold, "holding")?;
        }
        self.hold_for(self.request.stay_connected, "keeping the connections of")
    }

    fn hold_for(&self, time: Duration, what: &str) -> Result<(), Failure> {
        let words = format!("{what} {}", self.words());
        let progress = Progress::of_time(&words, time, self.is_quiet());
        let held = Live::hold(&self.lives, time, &self.stop);
        progress.finish();
        Ok(held?)
    }
}

impl Runner for Sessions<'_> {
    fn begin(&mut self, _round: u32) -> Result<(), Failure> {
        self.open().map(drop)
    }

    fn measure(
        &mut self,
        visit: Visit,
        planned: &PlannedCase,
        _stop: &StopFlag,
        on_seen: OnSeen,
    ) -> Measured {
        let (Some(live), Some(groups)) = (self.lives.first(), &mut self.groups) else {
            return Measured::default();
        };
        // A stream ends in order with the session.
        let stop = live.run_flag();
        if stop.is_requested() {
            return Measured::default();
        }
        let before = live.age();
        let mut measured = groups.measure(visit, planned, stop, on_seen);
        if let Some(first) = measured.repetition.as_ref().and_then(first_message) {
            live.note_first_message((before + first).as_nanos() as u64);
        }
        let failure = measured.failure.take().filter(|_| !stop.is_requested());
        // A computation's own end says more than what its group saw of it.
        let ended = match failure {
            Some(_) => live.early_end_within(END_TOLD),
            None => live.early_end(),
        };
        measured.is_last = ended.is_some() || (failure.is_some() && !self.kept);
        measured.failure = ended.map(Failure::from).or(failure);
        self.broken |= measured.is_last;
        measured
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.kept {
            true => Ok(()),
            false => self.close(),
        }
    }
}

/// The computation of a session that could not do what it was to do.
fn failed(session: &SessionReport) -> Option<Failure> {
    let failed = session
        .computations
        .iter()
        .find(|computation| computation.early)?;
    Some(Failure::failed(
        format!("{} failed: {}", failed.name, failed.exit),
        failed.remedy(),
    ))
}

/// From the start of a repetition to its first answered message.
fn first_message(repetition: &Repetition) -> Option<Duration> {
    let mut sources = repetition.outcomes.iter().filter(|o| o.role == Role::Source);
    let first = sources.find_map(|source| source.first_operation_ns)?;
    Some(Duration::from_nanos(repetition.setup_ns + first.get() as u64))
}
