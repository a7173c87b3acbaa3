//! Between a client and its ranks: what it may tell them, what they report, and their ends.
//!
//! It must never pass on what belongs to another run.

use super::super::LogEvent;
use super::{Forced, Session};
use crate::launch::local::Heard;
use std::time::Duration;
use wirespeed_schema::message::{OutcomeReport, RankMessage, SessionMessage};
use wirespeed_schema::outcome::StopReason;

impl Session<'_> {
    /// Pass on what a client may say to a rank.
    pub(super) fn pass_on(&mut self, rank: u32, message: &RankMessage) {
        let until = self.limit_from(self.now());
        let Some(active) = &mut self.active else {
            return;
        };
        let run = match message {
            RankMessage::Exchanged { run, .. }
            | RankMessage::Released { run, .. }
            | RankMessage::StopRequest { run }
            | RankMessage::Cancel { run, .. } => *run,
            _ => return,
        };
        if run != active.run || !active.running.contains(&rank) {
            return;
        }
        let meets = matches!(
            message,
            RankMessage::Exchanged { .. } | RankMessage::Released { .. }
        );
        if meets && !std::mem::replace(&mut active.have_met, true) && active.forced == Forced::No {
            active.until = until;
        }
        if matches!(message, RankMessage::Cancel { .. }) && active.forced < Forced::Cancelled {
            active.forced = Forced::Cancelled;
            active.until = self.watch.now() + self.shared.options.timing.grace;
        }
        if let Some(set) = &self.ranks {
            set.send(rank, message);
        }
    }

    pub(super) fn rank_says(&mut self, rank: u32, heard: Heard) {
        let now = self.now();
        if let Some(set) = &mut self.ranks {
            set.heard(rank, now);
        }
        match heard {
            Heard::Message(RankMessage::Pong | RankMessage::Hello(_) | RankMessage::Unknown) => {}
            Heard::Message(message) => {
                let last = matches!(message, RankMessage::Failed { .. });
                if let RankMessage::Failed { error, .. } = &message {
                    self.log_event(LogEvent::Failed, format!("rank {rank} failed: {error}"));
                }
                self.say(&SessionMessage::Rank { rank, message });
                if last {
                    self.rank_ended(rank);
                }
            }
            Heard::Outcome(report) if report.rank == rank => {
                self.log_early_end(&report);
                self.send_outcome(&report);
                self.rank_ended(rank);
            }
            Heard::Outcome(_) => self.rank_gone(rank, "it reported for another rank".into()),
            Heard::Closed(why) => {
                let reason = match &mut self.ranks {
                    Some(set) => set.reason_of_end(rank, &why),
                    None => why,
                };
                self.rank_gone(rank, reason);
            }
        }
    }

    /// A rank may notice that its peer is gone before the client's end is heard of.
    fn log_early_end(&self, report: &OutcomeReport) {
        if matches!(report.outcome.stop, StopReason::PeerLost | StopReason::Failed) {
            let why = report.outcome.error.as_deref().unwrap_or("it ended early");
            self.log_event(LogEvent::Failed, format!("rank {}: {why}", report.rank));
        }
    }

    fn send_outcome(&mut self, report: &OutcomeReport) {
        // A long one on a slow path takes its time, in which nobody is heard.
        let (watch, sender) = (self.watch.clone(), self.sender.clone());
        if watch.aside(Duration::ZERO, || sender.outcome(report)).is_err() {
            self.client_gone("it does not take its outcome");
        }
    }

    pub(super) fn rank_gone(&mut self, rank: u32, reason: String) {
        let running = self
            .active
            .as_ref()
            .is_some_and(|active| active.running.contains(&rank));
        if running {
            let text = format!("rank {rank} went away: {reason}");
            self.log_event(LogEvent::Failed, text);
            let message = RankMessage::Gone { reason };
            self.say(&SessionMessage::Rank { rank, message });
            self.rank_ended(rank);
        }
    }

    fn rank_ended(&mut self, rank: u32) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.running.remove(&rank);
        if !active.running.is_empty() {
            return;
        }
        let run = active.run;
        self.active = None;
        self.idle_since = self.now();
        let overlapping_sessions = self.shared.slots.run_ends(self.id);
        self.say(&SessionMessage::Done {
            run,
            overlapping_sessions,
        });
    }
}
