//! Several clients: turns, sharing, limits.

use crate::common::{deadline, registry};
use crate::daemon::{Running, hosts_case, options};
use std::time::Duration;
use wirespeed_control::{GroupEvent, StopFlag, Timing, run_case};
use wirespeed_schema::case::Stop;
use wirespeed_schema::message::{FailureClass, ServerLimits};
use wirespeed_schema::outcome::StopReason;

#[test]
fn two_clients_queue_and_both_are_measured_alone() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let (first, asked) = daemon.busy();
    let mut queued = Vec::new();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Queued { ahead, .. } = event {
            queued.push(ahead);
            asked.request();
        }
    };
    let spec = daemon.spec();
    let second = run_case(
        &spec,
        &hosts_case(&[]),
        &registry(),
        options(),
        &mut events,
        &StopFlag::new(),
    );
    let first = first.join().unwrap();
    assert_eq!(queued.first(), Some(&1));
    assert!(second.error.is_none(), "{:?}", second.error);
    assert!(first.error.is_none(), "{:?}", first.error);
    assert_eq!(first.outcomes[1].as_ref().unwrap().stop, StopReason::Interrupted);
    assert_eq!((first.overlapping_sessions, second.overlapping_sessions), (0, 0));
}

#[test]
fn a_shared_server_labels_results_that_overlapped() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        clients_max: 2,
        ..ServerLimits::default()
    };
    let daemon = Running::start(limits, Timing::default());
    let (first, asked) = daemon.busy();
    let second = daemon.run(&hosts_case(&[]));
    asked.request();
    assert_eq!(second.overlapping_sessions, 1);
    assert_eq!(first.join().unwrap().overlapping_sessions, 1);
    let alone = daemon.run(&hosts_case(&[]));
    assert_eq!(alone.overlapping_sessions, 0);
}

#[test]
fn limits_are_refused_by_name_and_places_run_out() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        message_bytes_max: 4,
        queue_clients_max: 1,
        ..ServerLimits::default()
    };
    let daemon = Running::start(limits, Timing::default());
    let mut group = daemon.group().unwrap();
    let refused = group
        .run(&hosts_case(&[]), &mut |_| (), &StopFlag::new())
        .error
        .unwrap();
    assert_eq!(refused.class, FailureClass::Refused);
    assert!(
        refused.message.contains("4 B") && refused.remedy.unwrap().contains("--size"),
        "{}",
        refused.message
    );
    let again = group
        .run(&hosts_case(&[]), &mut |_| (), &StopFlag::new())
        .error
        .unwrap();
    assert_eq!(
        again.class,
        FailureClass::Refused,
        "the session goes on after a refusal"
    );
    let _second = daemon.group().unwrap();
    let third = daemon.group().err().expect("there were only two places");
    assert_eq!(third.exit_code(), 5);
}

#[test]
fn a_run_beyond_the_time_limit_is_ended_in_order_and_says_so() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        duration_ns_max: 300_000_000,
        ..ServerLimits::default()
    };
    let timing = Timing {
        start: Duration::from_millis(3000),
        ..Timing::default()
    };
    let daemon = Running::start(limits, timing);
    for (behaviour, told) in [
        ([("all", "run"), ("0", "run")], "the run took longer"),
        // The server's rank waits for another, as for one that queues elsewhere: that is no long run.
        (
            [("all", "run"), ("0", "late")],
            "other ranks of the run took longer",
        ),
    ] {
        let result = daemon.run(&hosts_case(&behaviour));
        let error = result.error.unwrap();
        let is_told = error.message.contains(told) && error.message.contains("limit of 300 ms");
        assert!(is_told, "{error:?}");
        assert_eq!(error.class, FailureClass::Refused);
        let measured = result.outcomes.iter().all(Option::is_some);
        assert!(measured || behaviour[1].1 == "late", "what was measured is there");
    }
    let long = hosts_case(&[]).with_stop(Stop::Duration {
        duration_ns: 400_000_000,
    });
    assert_eq!(daemon.run(&long).error.unwrap().class, FailureClass::Refused);
}
