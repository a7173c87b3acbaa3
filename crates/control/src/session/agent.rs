//! A rank's side of its channel to the coordinator: which run is on, what to hand to the measuring thread, and when to
//! give up.

use super::{Timing, agree, hello};
use std::net::IpAddr;
use std::time::Duration;
use wirespeed_schema::case::Case;
use wirespeed_schema::message::{Blob, CancelCause, RankMessage};

/// What the rank is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Say this to the coordinator.
    Send(RankMessage),
    /// Measure.
    Start(Start),
    /// A round of the run is complete.
    Deliver {
        /// The round.
        round: u64,
        /// Blobs with the ranks that brought them; empty for a barrier.
        blobs: Vec<(u32, Vec<u8>)>,
    },
    /// End the run in order.
    RequestStop,
    /// End the run at once.
    Cancel(CancelCause),
    /// No more runs; the text says why when it is not the normal end.
    Leave(Option<String>),
}

/// A run to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Its number.
    pub run: u64,
    /// This rank.
    pub rank: u32,
    /// The case.
    pub case: Box<Case>,
    /// Address for data.
    pub bind_address: IpAddr,
}

/// The rank's state.
#[derive(Debug)]
pub struct AgentMachine {
    timing: Timing,
    welcomed: bool,
    run: Option<u64>,
    heard: Duration,
    left: bool,
}

impl AgentMachine {
    /// A rank that is about to say its hello.
    pub fn new(timing: Timing, now: Duration) -> Self {
        AgentMachine {
            timing,
            welcomed: false,
            run: None,
            heard: now,
            left: false,
        }
    }

    /// The coordinator says something.
    pub fn message(&mut self, now: Duration, message: RankMessage) -> Vec<Action> {
        self.heard = now;
        if self.left {
            return Vec::new();
        }
        match message {
            RankMessage::Welcome { protocol } => self.welcome(protocol),
            RankMessage::Refused(refusal) => self.leave(Some(refusal.reason)),
            RankMessage::Prepare {
                run,
                rank,
                case,
                bind_address,
            } => {
                if !self.welcomed || self.run.is_some() {
                    return self.leave(Some("the coordinator sent a case out of turn".into()));
                }
                let Some(case) = case.into_case() else {
                    return self.leave(Some("the coordinator sent a case that contradicts itself".into()));
                };
                self.run = Some(run);
                vec![Action::Start(Start {
                    run,
                    rank,
                    case,
                    bind_address,
                })]
            }
            RankMessage::Exchanged { run, round, blobs } if self.run == Some(run) => {
                let blobs = blobs
                    .into_iter()
                    .map(|(rank, Blob(bytes))| (rank, bytes))
                    .collect();
                vec![Action::Deliver { round, blobs }]
            }
            RankMessage::Released { run, round } if self.run == Some(run) => vec![Action::Deliver {
                round,
                blobs: Vec::new(),
            }],
            RankMessage::StopRequest { run } if self.run == Some(run) => vec![Action::RequestStop],
            RankMessage::Cancel { run, cause } if self.run == Some(run) => vec![Action::Cancel(cause)],
            RankMessage::Ping => vec![Action::Send(RankMessage::Pong)],
            RankMessage::Bye => self.leave(None),
            _ => Vec::new(),
        }
    }

    /// The measuring thread has sent its result.
    pub fn run_ended(&mut self) {
        self.run = None;
    }

    /// The channel is closed or broken.
    pub fn closed(&mut self, why: &str) -> Vec<Action> {
        if self.left {
            return Vec::new();
        }
        let unexpected = self.run.is_some().then(|| why.to_owned());
        self.leave(unexpected)
    }

    /// When [`AgentMachine::tick`] is due: only while a run is on.
    pub fn next_deadline(&self) -> Option<Duration> {
        (self.run.is_some() && !self.left).then_some(self.heard + self.timing.silence)
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) -> Vec<Action> {
        match self.next_deadline() {
            Some(deadline) if now >= deadline => self.leave(Some("the coordinator fell silent".into())),
            _ => Vec::new(),
        }
    }

    fn welcome(&mut self, protocol: u32) -> Vec<Action> {
        let ours = hello();
        if protocol < ours.protocol_min || protocol > ours.protocol_max {
            let mut theirs = ours;
            (theirs.protocol_min, theirs.protocol_max) = (protocol, protocol);
            theirs.build = "the coordinator".into();
            let reason = agree(&theirs).err().map(|refusal| refusal.reason);
            return self.leave(reason);
        }
        self.welcomed = true;
        Vec::new()
    }

    fn leave(&mut self, why: Option<String>) -> Vec<Action> {
        self.left = true;
        let mut actions = Vec::new();
        if self.run.is_some() {
            actions.push(Action::Cancel(CancelCause::PeerLost));
        }
        actions.push(Action::Leave(why));
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::circle::CasePart;
    use wirespeed_schema::message::{Refusal, RefusalCode};
    use wirespeed_schema::version::{PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};

    fn at(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn prepare(run: u64) -> RankMessage {
        let case = serde_json::json!({
            "test": "am_lat", "size_bytes": 8, "layout": "short", "transport": "fake", "group": "processes",
            "ranks": [{"role": "source"}], "stop": {"by": "iterations", "count": 1},
            "warmup_iterations": 0, "warmup_ns_max": 0, "idle": "yield",
        });
        RankMessage::Prepare {
            run,
            rank: 0,
            case: CasePart::whole(&serde_json::from_value(case).unwrap()),
            bind_address: IpAddr::from([127, 0, 0, 1]),
        }
    }

    fn ready() -> AgentMachine {
        let mut agent = AgentMachine::new(Timing::default(), at(0));
        let welcome = RankMessage::Welcome {
            protocol: PROTOCOL_VERSION,
        };
        assert!(agent.message(at(0), welcome).is_empty());
        agent
    }

    #[test]
    fn a_run_from_start_to_end_and_the_next() {
        let mut agent = ready();
        for run in [4, 5] {
            assert!(matches!(&agent.message(at(1), prepare(run))[..], [Action::Start(s)] if s.run == run));
            let released = RankMessage::Released { run, round: 0 };
            assert!(matches!(
                &agent.message(at(1), released)[..],
                [Action::Deliver { round: 0, .. }]
            ));
            let stale = RankMessage::Cancel {
                run: run - 1,
                cause: CancelCause::Interrupted,
            };
            assert!(agent.message(at(1), stale).is_empty());
            assert!(
                agent
                    .message(at(1), RankMessage::StopRequest { run: run - 1 })
                    .is_empty()
            );
            let released = RankMessage::Released {
                run: run - 1,
                round: 1,
            };
            assert!(agent.message(at(1), released).is_empty());
            let exchanged = |run| RankMessage::Exchanged {
                run,
                round: 1,
                blobs: vec![(3, Blob(vec![7]))],
            };
            assert!(agent.message(at(1), exchanged(run - 1)).is_empty());
            let blobs = vec![(3, vec![7])];
            let deliver = Action::Deliver { round: 1, blobs };
            assert_eq!(agent.message(at(1), exchanged(run)), [deliver]);
            let stop = RankMessage::StopRequest { run };
            assert_eq!(agent.message(at(1), stop), [Action::RequestStop]);
            let cause = CancelCause::Interrupted;
            let cancel = RankMessage::Cancel { run, cause };
            assert_eq!(agent.message(at(1), cancel), [Action::Cancel(cause)]);
            agent.run_ended();
        }
        assert_eq!(agent.message(at(2), RankMessage::Bye), [Action::Leave(None)]);
        assert!(agent.closed("eof").is_empty(), "it left already");
        assert!(agent.message(at(2), RankMessage::Ping).is_empty());
    }

    #[test]
    fn who_is_refused_or_left_between_runs_says_so() {
        let mut agent = ready();
        let refusal = Refusal {
            code: RefusalCode::Version,
            reason: "too old".into(),
            remedy: "update".into(),
        };
        let leave = Action::Leave(Some("too old".into()));
        assert_eq!(agent.message(at(1), RankMessage::Refused(refusal)), [leave]);
        // The normal end.
        assert_eq!(ready().closed("end of file"), [Action::Leave(None)]);
    }

    #[test]
    fn a_second_case_and_one_that_contradicts_itself_end_it() {
        let ends = |agent: &mut AgentMachine, message| {
            let actions = agent.message(at(1), message);
            matches!(actions.last(), Some(Action::Leave(Some(_))))
        };
        let mut agent = ready();
        agent.message(at(0), prepare(1));
        assert!(ends(&mut agent, prepare(2)), "the first is not done");
        assert_eq!(agent.next_deadline(), None, "it left");
        assert!(agent.tick(at(100)).is_empty());
        let mut torn = serde_json::to_value(prepare(1)).unwrap();
        torn["case"]["known_ranks"] = serde_json::json!([1]);
        let torn = serde_json::from_value(torn).unwrap();
        assert!(ends(&mut ready(), torn), "one rank, which is number 1");
    }

    #[test]
    fn silence_counts_only_while_a_run_is_on() {
        let mut agent = ready();
        assert_eq!(agent.next_deadline(), None);
        agent.message(at(100), prepare(1));
        assert_eq!(
            agent.message(at(105), RankMessage::Ping),
            [Action::Send(RankMessage::Pong)]
        );
        assert_eq!(agent.next_deadline(), Some(at(115)));
        assert!(agent.tick(at(114)).is_empty());
        assert!(matches!(
            &agent.tick(at(115))[..],
            [Action::Cancel(CancelCause::PeerLost), Action::Leave(Some(_))]
        ));
    }

    #[test]
    fn a_case_out_of_turn_or_a_foreign_version_ends_it() {
        let mut agent = AgentMachine::new(Timing::default(), at(0));
        assert!(matches!(
            &agent.message(at(0), prepare(1))[..],
            [Action::Leave(Some(_))]
        ));
        for protocol in [PROTOCOL_VERSION_MIN - 1, PROTOCOL_VERSION + 1] {
            let mut agent = AgentMachine::new(Timing::default(), at(0));
            let left = agent.message(at(0), RankMessage::Welcome { protocol });
            let theirs = format!("the coordinator speaks control protocol {protocol}");
            assert!(
                matches!(&left[..], [Action::Leave(Some(why))] if why.starts_with(&theirs)),
                "{left:?}"
            );
        }
    }

    #[test]
    fn a_closed_channel_cancels_the_run() {
        let mut agent = ready();
        agent.message(at(0), prepare(1));
        assert_eq!(
            agent.closed("end of file"),
            [
                Action::Cancel(CancelCause::PeerLost),
                Action::Leave(Some("end of file".into()))
            ]
        );
    }
}
