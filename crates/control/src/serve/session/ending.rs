//! How a session and its run come to an end before their time: by the client, by the daemon, or by a limit. Each degree
//! of force has its time; the last one kills.

use super::super::LogEvent;
use super::super::door::stopping;
use super::{Forced, ORPHAN_GRACE, Session};
use crate::stop::StopLevel;
use std::time::Duration;
use wirespeed_schema::message::{CancelCause, RankMessage, Refusal, RefusalCode, SessionMessage};
use wirespeed_schema::units::format_ns;

impl Session<'_> {
    pub(super) fn client_gone(&mut self, why: &str) {
        if self.leaving && self.active.as_ref().is_none_or(|a| a.forced >= Forced::Cancelled) {
            return;
        }
        let event = match self.active {
            Some(_) => LogEvent::Failed,
            None => LogEvent::Other,
        };
        self.log_event(event, format!("ends: {why}"));
        self.leaving = true;
        self.waiting = None;
        self.cancel(
            CancelCause::PeerLost,
            ORPHAN_GRACE.min(self.shared.options.timing.grace),
        );
    }

    /// The daemon is asked to stop: in order at first, at once the second time.
    pub(super) fn daemon_stops(&mut self) {
        let at_once = self.shared.stop.level() == StopLevel::Immediate;
        if at_once {
            self.cancel(CancelCause::Interrupted, self.shared.options.timing.grace);
        }
        if std::mem::replace(&mut self.leaving, true) {
            return;
        }
        let word = match (self.waiting.take(), &self.active) {
            (Some(_), _) => SessionMessage::Refused(stopping()),
            _ => SessionMessage::Stopping(stopping()),
        };
        self.say(&word);
        if !at_once {
            self.stop_in_order();
        }
    }

    /// The next degree of force on a run that does not end.
    pub(super) fn force_further(&mut self) {
        match self
            .active
            .as_ref()
            .map(|active| (active.forced, active.have_met))
        {
            Some((Forced::No, have_met)) => {
                let limit = format_ns(self.shared.options.limits.duration_ns_max as f64);
                let (what, remedy) = match have_met {
                    true => ("the run took", "use --duration, or fewer iterations"),
                    false => (
                        "other ranks of the run took",
                        "run again when the other servers are free",
                    ),
                };
                self.say(&SessionMessage::Stopping(Refusal {
                    code: RefusalCode::Limit,
                    reason: format!("{what} longer than this server's limit of {limit}"),
                    remedy: remedy.into(),
                }));
                self.stop_in_order();
            }
            Some((Forced::Stopped, _)) => {
                self.cancel(CancelCause::Interrupted, self.shared.options.timing.grace)
            }
            Some((Forced::Cancelled, _)) => self.kill(),
            Some((Forced::Killed, _)) | None => {}
        }
    }

    pub(super) fn stop_in_order(&mut self) {
        let until = self.now() + self.shared.options.timing.orderly;
        let Some(active) = self
            .active
            .as_mut()
            .filter(|active| active.forced < Forced::Stopped)
        else {
            return;
        };
        active.forced = Forced::Stopped;
        active.until = until;
        let message = RankMessage::StopRequest { run: active.run };
        if let Some(set) = &self.ranks {
            active.running.iter().for_each(|rank| set.send(*rank, &message));
        }
    }

    pub(super) fn cancel(&mut self, cause: CancelCause, grace: Duration) {
        let until = self.now() + grace;
        let Some(active) = &mut self.active else {
            return;
        };
        if active.forced >= Forced::Cancelled {
            // A client that leaves after its cancel shortens the time.
            active.until = active.until.min(until);
            return;
        }
        active.forced = Forced::Cancelled;
        active.until = until;
        let message = RankMessage::Cancel {
            run: active.run,
            cause,
        };
        if let Some(set) = &self.ranks {
            active.running.iter().for_each(|rank| set.send(*rank, &message));
        }
    }

    pub(super) fn kill(&mut self) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.forced = Forced::Killed;
        for rank in active.running.clone() {
            if let Some(set) = &mut self.ranks {
                set.kill(rank);
            }
            self.rank_gone(rank, "it did not end after it was cancelled".into());
        }
    }
}
