//! Orders of events that a group may see.

use super::*;
use proptest::prelude::*;
use wirespeed::load::LoadError;
use wirespeed::transport::ConnectError;
use wirespeed_schema::case::{Case, RankSpec};
use wirespeed_schema::circle::CasePart;
use wirespeed_schema::host::{ClockInfo, Disturbance};
use wirespeed_schema::message::Blob;
use wirespeed_schema::test::{Layout, PingPong, Test};

const RUN: u64 = 3;

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn machine(size: usize) -> GroupMachine {
    GroupMachine::new(RUN, size, Timing::default())
}

fn failed(class: FailureClass) -> RankMessage {
    RankMessage::Failed {
        run: RUN,
        class,
        error: "broken".into(),
        remedy: None,
    }
}

fn cancels(actions: &[Action]) -> Vec<u32> {
    let mut ranks = Vec::new();
    for action in actions {
        if let Action::Send {
            rank,
            message: RankMessage::Cancel { .. },
        } = action
        {
            ranks.push(*rank);
        }
    }
    ranks
}

/// What `rank` delivers at its end.
fn report(rank: u32, role: Role, stop: StopReason, error: Option<&str>) -> OutcomeReport {
    let outcome = serde_json::json!({
        "rank": rank, "role": role, "stop": stop, "elapsed_ns": 1, "sent": {"messages": 0, "bytes": 0},
        "received": {"messages": 0, "bytes": 0}, "warmup_operations": 0, "samples": [],
        "clock": ClockInfo::default(), "idle": "spin", "disturbance": Disturbance::default(), "error": error,
    });
    OutcomeReport {
        run: RUN,
        rank,
        outcome: serde_json::from_value(outcome).unwrap(),
    }
}

fn ended_well(rank: u32, role: Role) -> OutcomeReport {
    report(rank, role, StopReason::Completed, None)
}

fn interval() -> Interval {
    serde_json::from_value(serde_json::json!({
        "start_ns": 0, "duration_ns": 7, "sent": {"messages": 0, "bytes": 0}, "received": {"messages": 0, "bytes": 0},
    }))
    .unwrap()
}

#[test]
fn rounds_reach_every_rank() {
    let mut group = machine(2);
    for rank in [1, 0] {
        let message = RankMessage::Exchange {
            run: RUN,
            round: 0,
            blob: Blob(vec![rank as u8]),
            color: None,
        };
        group.message(at(0), rank, message);
    }
    let blobs = vec![(0, Blob(vec![0])), (1, Blob(vec![1]))];
    let expected = |rank| Action::Send {
        rank,
        message: RankMessage::Exchanged {
            run: RUN,
            round: 0,
            blobs: blobs.clone(),
        },
    };
    assert_eq!(group.take_actions(), [expected(0), expected(1)]);
    for rank in [0, 1] {
        group.message(at(0), rank, RankMessage::Barrier { run: RUN, round: 1 });
    }
    assert_eq!(group.take_actions().last(), Some(&Action::FirstBarrier));
}

#[test]
fn a_killed_rank_cancels_the_others_and_is_the_cause() {
    let mut group = machine(3);
    group.message(at(0), 0, failed(FailureClass::PeerLost));
    group.gone(at(1), 1, "killed by signal 9");
    assert_eq!(cancels(&group.take_actions()), [1, 2]);
    group.message(at(2), 2, failed(FailureClass::PeerLost));
    assert!(group.is_over());
    let (_, failure) = group.finish();
    assert_eq!(failure.unwrap().message, "rank 1 went away: killed by signal 9");
}

#[test]
fn stop_then_cancel_then_abandon() {
    let mut group = machine(1);
    group.stop(at(0));
    assert_eq!(
        group.take_actions(),
        [Action::Send {
            rank: 0,
            message: RankMessage::StopRequest { run: RUN }
        }]
    );
    assert_eq!(group.next_deadline(), Some(at(700)));
    group.tick(at(699));
    assert!(group.take_actions().is_empty());
    group.tick(at(700));
    assert_eq!(cancels(&group.take_actions()), [0]);
    assert_eq!(group.next_deadline(), Some(at(2700)));
    group.cancel(at(1700), CancelCause::PeerLost);
    group.stop(at(1700));
    group.tick(at(2699));
    assert!(group.take_actions().is_empty(), "a cancel is said once");
    group.tick(at(2700));
    assert_eq!(group.take_actions(), [Action::Abandon { rank: 0 }]);
    let (blamed, reason) = (&group.blamed()[0], "it did not end after it was cancelled");
    assert_eq!((blamed.reason.as_str(), blamed.gone), (reason, true));
    assert!(group.is_over());
}

#[test]
fn a_second_stop_cancels_at_once() {
    let mut group = machine(1);
    group.stop(at(0));
    assert!(group.is_ending());
    group.stop(at(1));
    assert_eq!(cancels(&group.take_actions()), [0]);
    assert_eq!(group.next_deadline(), Some(at(2001)));
}

#[test]
fn nobody_waits_for_a_rank_that_ended() {
    let mut group = machine(2);
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 0 });
    group.message(at(0), 1, failed(FailureClass::Unsupported));
    assert_eq!(cancels(&group.take_actions()), [0]);
    group.message(at(0), 0, failed(FailureClass::PeerLost));
    let (_, failure) = group.finish();
    assert_eq!(failure.unwrap().class, FailureClass::Unsupported);
}

#[test]
fn who_broke_it_is_told_from_who_noticed() {
    let mut group = machine(4);
    group.message(at(0), 2, failed(FailureClass::Failed));
    group.message(at(0), 3, failed(FailureClass::PeerLost));
    group.gone(at(0), 0, "its process was killed by signal 9");
    group.tick(at(10_000));
    let blamed: Vec<(u32, bool)> = group.blamed().iter().map(|b| (b.rank, b.gone)).collect();
    assert_eq!(blamed, [(2, false), (0, true), (1, true)], "rank 1 hangs");
    assert_eq!(group.blamed()[1].reason, "its process was killed by signal 9");
}

#[test]
fn messages_of_another_run_change_nothing() {
    let mut group = machine(1);
    group.message(
        at(0),
        0,
        RankMessage::Barrier {
            run: RUN - 1,
            round: 9,
        },
    );
    group.message(at(0), 7, RankMessage::Barrier { run: RUN, round: 0 });
    group.message(at(0), 0, RankMessage::Unknown);
    let exchange = RankMessage::Exchange {
        run: RUN - 1,
        round: 0,
        blob: Blob::default(),
        color: None,
    };
    group.message(at(0), 0, exchange);
    let (run, error) = (RUN - 1, "broken".to_owned());
    let class = FailureClass::Failed;
    let failed = RankMessage::Failed {
        run,
        class,
        error,
        remedy: None,
    };
    group.message(at(0), 0, failed);
    let interval = interval();
    group.message(at(0), 0, RankMessage::Interval { run, interval });
    let mut stale = ended_well(0, Role::Source);
    stale.run = run;
    group.outcome(at(0), 0, stale);
    assert!(group.take_actions().is_empty() && !group.is_over() && !group.is_ending());
    // The first round of this run is still to come.
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 0 });
    assert_eq!(group.take_actions().last(), Some(&Action::FirstBarrier));
    assert_eq!(group.finish(), (vec![None], None));
}

#[test]
fn what_a_rank_advises_is_told_in_one_line() {
    let RankMessage::Failed {
        run, class, error, ..
    } = failed(FailureClass::Failed)
    else {
        unreachable!();
    };
    let remedy = Some("give another\u{1b}[2J".to_owned());
    let mut group = machine(1);
    let advised = RankMessage::Failed {
        run,
        class,
        error,
        remedy,
    };
    group.message(at(0), 0, advised);
    let told = group.finish().1.unwrap().remedy.unwrap();
    assert!(
        told.starts_with("give another") && !told.contains('\u{1b}'),
        "{told}"
    );
}

#[test]
fn too_little_memory_has_a_remedy_of_its_own() {
    let connect = ConnectError::Memory {
        what: "a window",
        bytes: 1 << 40,
    };
    let load = LoadError::Allocate { wanted: 1 << 40 };
    for error in [connect.into(), load.into()] {
        let class = crate::agent::classify(&error, false);
        let mut group = machine(1);
        group.message(at(0), 0, failed(class));
        let failure = group.finish().1.unwrap();
        let remedy = failure.remedy.unwrap();
        assert!(failure.class == FailureClass::Memory && remedy.contains("smaller messages"));
        assert!(remedy.contains("less load"), "{remedy}");
        assert_eq!(crate::exit_code(class), 1);
    }
}

#[test]
fn a_slice_of_time_is_handed_on() {
    let mut group = machine(2);
    let (run, interval) = (RUN, interval());
    let message = RankMessage::Interval {
        run,
        interval: interval.clone(),
    };
    group.message(at(0), 1, message);
    assert_eq!(group.take_actions(), [Action::Interval { rank: 1, interval }]);
}

#[test]
fn an_outcome_that_comes_slowly_is_waited_for_within_bounds() {
    let timing = Timing::default();
    let mut group = machine(1);
    group.part(at(0));
    assert_eq!(group.next_deadline(), None, "nobody is to end");
    group.cancel(at(0), CancelCause::Interrupted);
    let (mut now, last) = (at(0), timing.grace * PATIENCE);
    while group.next_deadline() < Some(last) {
        now += timing.grace / 2;
        group.part(now);
        group.tick(now);
        assert!(!group.is_over() && group.next_deadline() > Some(now));
    }
    group.part(last - at(1));
    assert_eq!(group.next_deadline(), Some(last));
    // Whoever asks again waits no longer than for one that sends nothing.
    let now = last - timing.grace - at(500);
    group.stop(now);
    assert_eq!(group.next_deadline(), Some(now + timing.grace));
    group.tick(now + timing.grace);
    assert!(group.is_over());
}

#[test]
fn set_up_is_over_once() {
    let mut group = machine(1);
    for round in 0..3 {
        group.message(at(0), 0, RankMessage::Barrier { run: RUN, round });
    }
    let actions = group.take_actions();
    let over = actions.iter().filter(|action| **action == Action::FirstBarrier);
    assert_eq!((actions.len(), over.count()), (4, 1));
}

#[test]
fn outcomes_of_all_end_the_run() {
    let mut group = machine(2);
    for (rank, is_over) in [(1, false), (0, true)] {
        assert!(!group.has_ended(rank));
        group.outcome(at(0), rank, ended_well(rank, Role::Source));
        assert_eq!((group.has_ended(rank), group.is_over()), (true, is_over));
    }
    assert!(group.has_ended(2), "no such rank");
    assert!(group.take_actions().is_empty() && !group.is_ending());
    assert_eq!(group.next_deadline(), None);
    let (outcomes, failure) = group.finish();
    let ranks: Vec<u32> = outcomes.iter().flatten().map(|outcome| outcome.rank).collect();
    assert_eq!((ranks, failure), (vec![0, 1], None));
}

#[test]
fn a_rank_without_a_part_leaves_and_the_others_meet() {
    let mut group = machine(3);
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 0 });
    group.outcome(at(0), 1, ended_well(1, Role::Idle));
    assert!(group.take_actions().is_empty());
    group.message(at(0), 2, RankMessage::Barrier { run: RUN, round: 0 });
    assert_eq!(
        group.take_actions().len(),
        3,
        "both are released, and set-up is over"
    );
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 1 });
    assert!(!group.is_ending(), "nobody waits for the one that left");
    // Who has a part is waited for.
    group.outcome(at(0), 2, ended_well(2, Role::Sink));
    assert_eq!(cancels(&group.take_actions()), [0]);
    assert_eq!(
        group.finish().1.unwrap().message,
        "a rank ended while others wait for it"
    );
}

#[test]
fn an_outcome_with_an_error_ends_the_others() {
    for (role, stop, is_blamed) in [
        (Role::Source, StopReason::Failed, true),
        (Role::Source, StopReason::PeerLost, false),
        (Role::Idle, StopReason::Failed, true),
    ] {
        let mut group = machine(2);
        group.outcome(at(5), 1, report(1, role, stop, Some("no\u{1b} route")));
        assert_eq!(cancels(&group.take_actions()), [0]);
        assert_eq!(group.blamed().len(), usize::from(is_blamed));
        // Of an outcome that is a consequence, the cause may still come.
        group.gone(at(6), 0, "killed");
        let (outcomes, failure) = group.finish();
        let cause = match is_blamed {
            true => "rank 1: no route",
            false => "rank 0 went away: killed",
        };
        assert_eq!(failure.unwrap().message, cause);
        assert!(outcomes[0].is_none() && outcomes[1].is_some());
    }
}

#[test]
fn who_has_ended_is_not_heard_again() {
    let mut group = machine(2);
    group.outcome(at(0), 0, ended_well(0, Role::Source));
    group.outcome(
        at(0),
        0,
        report(0, Role::Source, StopReason::Failed, Some("late")),
    );
    group.gone(at(0), 0, "its process ended");
    group.absent(at(0), 0);
    group.message(at(0), 0, failed(FailureClass::Failed));
    assert!(group.take_actions().is_empty() && !group.is_over());
    group.outcome(at(0), 1, ended_well(1, Role::Sink));
    assert!(group.is_over());
    assert_eq!(group.finish().1, None);
}

#[test]
fn an_absent_rank_is_no_cause_and_nobody_waits_for_it() {
    let mut group = machine(2);
    group.note(Failure::new(FailureClass::Usage, "port 1 is taken"));
    assert!(!group.is_ending(), "a note ends nothing");
    group.absent(at(0), 1);
    assert!(group.has_ended(1) && !group.is_ending());
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 0 });
    assert_eq!(cancels(&group.take_actions()), [0]);
    assert!(group.blamed().is_empty());
    let failure = group.finish().1.unwrap();
    assert_eq!(
        (failure.class, failure.message.as_str(), failure.remedy),
        (FailureClass::Usage, "port 1 is taken", None)
    );
}

#[test]
fn ranks_that_do_not_do_the_same_are_cancelled() {
    let mut group = machine(2);
    group.message(at(0), 0, RankMessage::Barrier { run: RUN, round: 0 });
    group.message(at(0), 1, RankMessage::Barrier { run: RUN, round: 1 });
    assert_eq!(cancels(&group.take_actions()), [0, 1]);
    let (_, failure) = group.finish();
    let message = failure.unwrap().message;
    assert!(message.contains("rank 1 is in round 1"), "{message}");
}

#[test]
fn a_rank_that_says_that_another_is_gone_is_believed() {
    let mut group = machine(2);
    let reason = "killed by signal 9".to_owned();
    group.message(at(0), 1, RankMessage::Gone { reason });
    assert_eq!(cancels(&group.take_actions()), [0]);
    assert_eq!(group.blamed().len(), 1);
}

#[test]
fn what_has_ended_is_told_nothing() {
    let mut group = machine(3);
    group.outcome(at(0), 1, ended_well(1, Role::Idle));
    for rank in [0, 2] {
        let (run, round, color) = (RUN, 0, None);
        let blob = Blob::default();
        let message = RankMessage::Exchange {
            run,
            round,
            blob,
            color,
        };
        group.message(at(0), rank, message);
    }
    let told = group.take_actions();
    let told: Vec<u32> = told
        .iter()
        .filter_map(|action| match action {
            Action::Send { rank, .. } => Some(*rank),
            _ => None,
        })
        .collect();
    assert_eq!(told, [0, 2]);
    group.stop(at(0));
    assert_eq!(group.take_actions().len(), 2);
}

/// Bytes that a group of `size` ranks in pairs is sent for a case and its exchanges.
fn bytes_said(size: u32) -> usize {
    let spec = |rank: u32| match rank % 2 {
        0 => RankSpec::new(Role::Source).with_peer(rank + 1),
        _ => RankSpec::new(Role::Sink).with_peer(rank - 1),
    };
    let test = Test::AmLat(PingPong::new(8, Layout::Short));
    let case = Case::new(test, "tcp").with_ranks((0..size).map(spec).collect());
    let alone: Vec<[u32; 1]> = (0..size).map(|rank| [rank]).collect();
    let alone: Vec<&[u32]> = alone.iter().map(|rank| &rank[..]).collect();
    let parts = CasePart::for_each(&case, &alone);
    let mut bytes: usize = parts
        .iter()
        .map(|part| serde_json::to_vec(part).unwrap().len())
        .sum();
    let mut group = machine(size as usize);
    for round in 0..3 {
        for rank in 0..size {
            let (blob, color) = (Blob(vec![7; 60]), Some(u64::from(rank / 2)));
            group.message(
                at(0),
                rank,
                RankMessage::Exchange {
                    run: RUN,
                    round,
                    blob,
                    color,
                },
            );
        }
    }
    let said = group.take_actions();
    assert_eq!(said.len(), 3 * size as usize);
    for action in said {
        let Action::Send { message, .. } = action else {
            panic!("{action:?}");
        };
        bytes += serde_json::to_vec(&message).unwrap().len();
    }
    bytes
}

#[test]
fn what_pairs_are_told_grows_with_the_ranks_and_not_with_their_square() {
    let (few, many) = (bytes_said(64), bytes_said(4096));
    // Numbers of ranks have more digits.
    assert!(
        many < few * 64 * 11 / 10,
        "{few} bytes for 64 ranks, {many} for 4096"
    );
}

fn any_message() -> impl Strategy<Value = RankMessage> {
    prop_oneof![
        (0u64..3).prop_map(|round| RankMessage::Barrier { run: RUN, round }),
        (0u64..3).prop_map(|round| RankMessage::Exchange {
            run: RUN,
            round,
            blob: Blob::default(),
            color: Some(round),
        }),
        Just(failed(FailureClass::Failed)),
        Just(failed(FailureClass::PeerLost)),
        Just(RankMessage::Gone { reason: "x".into() }),
        Just(RankMessage::Unknown),
    ]
}

proptest! {
    /// Whatever the ranks say, a stop ends the run within the stated time, and nothing is sent to an ended rank.
    #[test]
    fn every_run_ends(events in prop::collection::vec((0u32..4, any_message()), 0..30)) {
        let mut group = machine(4);
        let timing = Timing::default();
        for (rank, message) in events {
            group.message(at(1), rank, message);
            for action in group.take_actions() {
                if let Action::Send { rank, .. } = action {
                    prop_assert!(rank < 4);
                }
            }
        }
        group.stop(at(2));
        group.tick(at(2) + timing.orderly);
        group.tick(at(2) + timing.orderly + timing.grace);
        prop_assert!(group.is_over());
    }
}
