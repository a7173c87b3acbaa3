//! Deaths on either side, and wires that are cut.

use crate::common::{deadline, registry};
use crate::daemon::{Running, hosts_case, options};
use crate::proxy::Proxy;
use std::time::{Duration, Instant};
use wirespeed_control::{GroupEvent, GroupSpec, ServerSpec, StopFlag, Timing, run_case};
use wirespeed_schema::message::{FailureClass, ServerLimits};
use wirespeed_schema::outcome::StopReason;

#[test]
fn a_death_among_the_servers_ranks_is_told_and_the_daemon_goes_on() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let result = daemon.run(&hosts_case(&[("0", "run"), ("1", "die")]));
    let error = result.error.unwrap();
    assert!(
        error.message.contains("rank 1") && error.message.contains("signal 6"),
        "{error:?}"
    );
    assert_eq!(result.outcomes[0].as_ref().unwrap().stop, StopReason::PeerLost);
    daemon.assert_serves();
    let result = daemon.run(&hosts_case(&[("0", "die"), ("1", "run")]));
    assert!(result.error.unwrap().message.contains("rank 0"));
    assert!(
        result.outcomes[1].is_some(),
        "the server's rank delivers what it has"
    );
    daemon.assert_serves();
}

#[test]
fn a_client_that_goes_frees_its_slot() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let (spec, stop) = (daemon.spec(), StopFlag::new());
    let asked = stop.clone();
    // A client that stops at once and whose server rank does not listen: it leaves while the rank still runs.
    let client = std::thread::spawn(move || {
        let mut options = options();
        options.timing.grace = Duration::from_millis(100);
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                asked.request();
                asked.request();
            }
        };
        let case = hosts_case(&[("0", "run"), ("1", "stubborn")]);
        run_case(&spec, &case, &registry(), options, &mut events, &stop)
    });
    assert!(client.join().unwrap().error.is_some());
    let left = Instant::now();
    daemon.assert_serves();
    assert!(
        left.elapsed() < Duration::from_secs(30),
        "the slot was not free in time"
    );
}

#[test]
fn a_stopping_daemon_tells_its_clients() {
    let _deadline = deadline(60);
    let daemon = Running::ordinary();
    let stop = daemon.stop.clone();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { rank: 0, .. } = event {
            stop.request();
        }
    };
    let case = hosts_case(&[("all", "run")]);
    let result = run_case(
        &daemon.spec(),
        &case,
        &registry(),
        options(),
        &mut events,
        &StopFlag::new(),
    );
    let error = result.error.unwrap();
    assert!(error.message.contains("shutting down"), "{error:?}");
    assert_eq!(
        error.class,
        FailureClass::Failed,
        "what had begun was not refused"
    );
    for outcome in &result.outcomes {
        assert_eq!(outcome.as_ref().unwrap().stop, StopReason::Interrupted);
    }
}

#[test]
fn who_listens_slowly_is_not_silent() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(1200),
        ..Timing::default()
    };
    let daemon = Running::start(ServerLimits::default(), timing);
    let mut options = options();
    options.timing = timing;
    let stop = StopFlag::new();
    let mut stopping = false;
    let mut events = |event: GroupEvent| match event {
        // As a terminal that takes nothing for a while.
        GroupEvent::Interval { rank: 0, .. } => {
            std::thread::sleep(timing.silence * 3);
            assert!(!daemon.logged("ends: "));
            stop.request();
            std::thread::sleep(timing.silence * 3);
        }
        GroupEvent::Stopping => stopping = true,
        _ => {}
    };
    let case = hosts_case(&[("all", "run")]);
    let result = run_case(&daemon.spec(), &case, &registry(), options, &mut events, &stop);
    assert!(result.error.is_none(), "{:?}", result.error);
    assert!(stopping, "the last of what was told is heard");
    for outcome in &result.outcomes {
        assert_eq!(outcome.as_ref().unwrap().stop, StopReason::Interrupted);
    }
}

#[test]
fn a_cut_or_silent_wire_is_noticed_by_both_ends() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(1200),
        ..Timing::default()
    };
    for silent in [false, true] {
        let daemon = Running::start(ServerLimits::default(), timing);
        let proxy = Proxy::to(daemon.address);
        let spec = GroupSpec::Hosts(vec![ServerSpec::new(
            proxy.address.to_string(),
            daemon.identity.clone(),
        )]);
        let mut options = options();
        options.timing = timing;
        let mut events = |event: GroupEvent| match event {
            GroupEvent::Interval { rank: 0, .. } if silent => {
                proxy.fall_silent();
            }
            GroupEvent::Interval { rank: 0, .. } => proxy.cut(),
            _ => {}
        };
        let case = hosts_case(&[("all", "run")]);
        let result = run_case(&spec, &case, &registry(), options, &mut events, &StopFlag::new());
        let error = result.error.unwrap();
        assert!(error.message.contains("is lost"), "{error:?}");
        assert_eq!(error.message.contains("silent"), silent, "{error:?}");
        assert!(result.outcomes[0].is_some(), "the survivor delivers");
        assert!(result.outcomes[1].is_none());
        daemon.assert_serves();
    }
}
