//! What a client asks for: whether it may have it, its turn, and the ranks that run it.
//!
//! It must never start a rank for a case that the limits refuse, or before it is the client's turn.

use super::super::door::stopping;
use super::super::{LogEvent, limits};
use super::{Active, Event, Forced, Request, Session, place};
use crate::address::is_of_this_machine;
use crate::launch::local::RankSet;
use crate::launch::seam::Launch;
use crate::launch::together::Together;
use std::time::Duration;
use wirespeed_schema::case::Stop;
use wirespeed_schema::circle::CasePart;
use wirespeed_schema::message::{RankMessage, Refusal, RefusalCode, SessionMessage};

impl Session<'_> {
    /// The client asks for a case to be run.
    pub(super) fn ask(&mut self, request: Request) {
        if self.active.is_some() || self.waiting.is_some() {
            return self.client_gone("it sent a case out of turn");
        }
        if self.leaving || self.shared.stop.is_requested() {
            return self.say(&SessionMessage::Refused(stopping()));
        }
        if let Err(refusal) = limits::check(
            &request.case,
            &request.ranks,
            is_of_this_machine(self.client.ip()),
            &self.shared.options.limits,
        ) {
            let text = format!("refused {}: {}", request.case.label(), refusal.reason);
            self.log_event(LogEvent::Failed, text);
            return self.say(&SessionMessage::Refused(refusal));
        }
        if self.holds_slot {
            return self.begin(request);
        }
        let turn = request.turn;
        self.waiting = Some(request);
        let events = self.events.clone();
        self.shared.slots.ask(self.id, turn, move |turn| {
            let _ = events.send(Event::Turn(turn));
        });
    }

    /// It is the client's turn: its ranks get the case.
    pub(super) fn begin(&mut self, request: Request) {
        let run = request.run;
        // Meanwhile neither the client nor a rank is heard, and none is silent.
        let watch = self.watch.clone();
        let started = watch.aside(Duration::ZERO, || self.start_ranks(&request));
        let now = self.now();
        self.heart.heard(now);
        if let Err(refusal) = started {
            let text = format!("cannot run {}: {}", request.case.label(), refusal.reason);
            self.log_event(LogEvent::Failed, text);
            self.idle_since = now;
            return self.say(&SessionMessage::Refused(refusal));
        }
        let planned = match request.case.stop {
            Stop::Duration { duration_ns } => Some(Duration::from_nanos(duration_ns)),
            Stop::Iterations { .. } => None,
        };
        let text = format!("runs {}", request.case.label());
        self.log_event(LogEvent::Runs(request.case.clone()), text);
        self.shared.slots.run_begins(self.id, planned);
        self.active = Some(Active {
            run,
            running: request.ranks.iter().copied().collect(),
            have_met: false,
            forced: Forced::No,
            until: self.limit_from(now),
        });
        // First, so that the client knows of the run before its ranks speak.
        self.say(&SessionMessage::Started { run });
        let Some(set) = &mut self.ranks else {
            return;
        };
        set.begin_run(self.shared.options.timing, now);
        let alone = self.shared.options.limits.clients_max <= 1;
        let case = if let Some(cpus) = &self.shared.options.cpus {
            place::pinned(&request.case, &request.ranks, cpus)
        } else if alone {
            let cpus = wirespeed::host::default_cpus(request.case.ranks.len());
            place::placed(&request.case, &request.ranks, cpus)
        } else {
            request.case.clone()
        };
        // They share this machine.
        let part = CasePart::for_each(&case, &[&request.ranks]).remove(0);
        for &rank in &request.ranks {
            set.send(
                rank,
                &RankMessage::Prepare {
                    run,
                    rank,
                    case: part.clone(),
                    bind_address: self.local_address,
                },
            );
        }
    }

    /// When a run, or the wait before it, that begins `now` takes too long.
    pub(super) fn limit_from(&self, now: Duration) -> Duration {
        let options = &self.shared.options;
        now.saturating_add(Duration::from_nanos(options.limits.duration_ns_max))
            .saturating_add(options.timing.start)
    }

    fn start_ranks(&mut self, request: &Request) -> Result<(), Refusal> {
        let serves = self.ranks.as_ref().is_some_and(|set| set.serves(&request.ranks));
        if serves && !request.fresh {
            return Ok(());
        }
        self.ranks = None;
        self.generation += 1;
        let (generation, events) = (self.generation, self.events.clone());
        let hear = move |rank, heard| {
            let _ = events.send(Event::Rank(generation, rank, heard));
        };
        let (options, stop) = (&self.shared.options, &self.shared.stop);
        let now = self.now();
        let together = Together::new(&options.program, request.ranks.len() as u32);
        let program: &dyn Launch = if request.together {
            &together
        } else {
            &options.program
        };
        let started = RankSet::start(program, &request.ranks, options.timing, stop, now, hear);
        self.ranks = Some(started.map_err(|error| Refusal {
            code: RefusalCode::Other,
            reason: format!("the server cannot start its ranks: {error}"),
            remedy: error.remedy(),
        })?);
        Ok(())
    }
}
