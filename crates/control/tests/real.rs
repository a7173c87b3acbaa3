//! The library's own transports over processes and over a daemon: real measurements, small ones.

mod common;

use common::deadline;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use wirespeed::Registry;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_control::{
    Daemon, Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, Listen, ServeOptions, ServerSpec,
    StopFlag, Timing, run_case,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::{GroupKind, Stop};
use wirespeed_schema::message::ServerLimits;
use wirespeed_schema::outcome::StopReason;

#[test]
fn rank_entry() {
    if std::env::var_os(common::RANK_VARIABLE).is_some() {
        std::process::exit(wirespeed_control::agent::run_stdio_agent(&Registry::builtin()).into());
    }
}

fn options() -> GroupOptions {
    GroupOptions {
        timing: Timing::default(),
        program: common::program(),
        fresh: false,
        together: false,
        turn: None,
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

fn case(transport: &str, group: GroupKind, test: serde_json::Value) -> Case {
    let mut case = serde_json::json!({
        "transport": transport, "group": group,
        "ranks": [{"role": "source", "peer": 1}, {"role": "sink", "peer": 0}],
        "stop": {"by": "iterations", "count": 300},
        "warmup_iterations": 20, "warmup_ns_max": 100_000_000, "idle": "yield", "check": true,
    });
    let (into, from) = (case.as_object_mut().unwrap(), test);
    into.extend(from.as_object().unwrap().clone());
    serde_json::from_value(case).unwrap()
}

fn pingpong() -> serde_json::Value {
    serde_json::json!({"test": "am_lat", "size_bytes": 64, "layout": "short"})
}

fn stream() -> serde_json::Value {
    serde_json::json!({"test": "am_bw", "size_bytes": 4096, "layout": "bcopy", "window_msgs": 32})
}

fn assert_measured(result: &GroupResult, what: &str) {
    assert!(result.error.is_none(), "{what}: {:?}", result.error);
    let [Some(source), Some(sink)] = &result.outcomes[..] else {
        panic!("{what}: an outcome is missing");
    };
    assert_eq!(
        (source.stop, sink.stop),
        (StopReason::Completed, StopReason::Completed),
        "{what}"
    );
    assert_eq!(source.sent.messages, sink.received.messages, "{what}");
    assert!(source.sent.messages >= 300, "{what}: {:?}", source.sent);
}

#[test]
fn processes_measure_over_every_local_transport() {
    let _deadline = deadline(120);
    let stop = StopFlag::new();
    let mut group = Group::open(
        &GroupSpec::Processes,
        &Registry::builtin(),
        options(),
        &mut |_| (),
        &stop,
    )
    .unwrap();
    for transport in ["shm", "unix", "tcp"] {
        for test in [pingpong(), stream()] {
            let case = case(transport, GroupKind::Processes, test);
            let result = group.run(&case, &mut |_| (), &stop);
            assert_measured(&result, &case.label());
        }
    }
}

#[test]
fn a_client_and_a_daemon_measure_over_tcp() {
    let _deadline = deadline(120);
    let folder = tempfile::tempdir().unwrap();
    let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
    let serve = ServeOptions {
        once: false,
        cpus: None,
        listen: Listen::Loopback,
        port: 0,
        limits: ServerLimits::default(),
        timing: Timing::default(),
        program: common::program(),
    };
    let stop = StopFlag::new();
    let daemon = Daemon::bind(serve, &key, &stop, Arc::new(|_| ())).unwrap();
    let spec = GroupSpec::Hosts(vec![ServerSpec::new(
        daemon.addresses()[0].to_string(),
        key.identity().clone(),
    )]);
    let served = std::thread::spawn(move || daemon.run());
    let user = StopFlag::new();
    for test in [pingpong(), stream()] {
        let case = case("tcp", GroupKind::Hosts, test);
        let result = run_case(&spec, &case, &Registry::builtin(), options(), &mut |_| (), &user);
        assert_measured(&result, &case.label());
    }
    // A run without end, stopped by the user after its first report.
    let endless = case("tcp", GroupKind::Hosts, stream())
        .with_stop(Stop::Duration {
            duration_ns: 60_000_000_000,
        })
        .with_report_interval_ns(50_000_000);
    let asked = user.clone();
    let mut events = |event: GroupEvent| {
        if matches!(event, GroupEvent::Interval { .. }) && !asked.is_requested() {
            asked.request();
        }
    };
    let result = run_case(
        &spec,
        &endless,
        &Registry::builtin(),
        options(),
        &mut events,
        &user,
    );
    assert!(result.error.is_none(), "{:?}", result.error);
    for outcome in &result.outcomes {
        let outcome = outcome.as_ref().unwrap();
        assert_eq!(outcome.stop, StopReason::Interrupted);
        assert!(outcome.sent.messages + outcome.received.messages > 0);
    }
    stop.request();
    served.join().unwrap().unwrap();
}

#[test]
fn a_killed_peer_ends_a_real_run_with_a_partial_result() {
    let _deadline = deadline(120);
    for transport in ["shm", "tcp", "unix"] {
        let stop = StopFlag::new();
        let registry = Registry::builtin();
        let mut group = Group::open(&GroupSpec::Processes, &registry, options(), &mut |_| (), &stop).unwrap();
        let first = case(transport, GroupKind::Processes, pingpong());
        assert_measured(&group.run(&first, &mut |_| (), &stop), transport);
        let victim = group.process_ids()[1].to_string();
        let mut endless = first.clone();
        endless.stop = Stop::Duration {
            duration_ns: 60_000_000_000,
        };
        endless.report_interval_ns = 50_000_000;
        let mut killed = false;
        let mut events = |event: GroupEvent| {
            if matches!(event, GroupEvent::Interval { rank: 0, .. }) && !std::mem::replace(&mut killed, true)
            {
                std::process::Command::new("kill")
                    .args(["-KILL", &victim])
                    .status()
                    .unwrap();
            }
        };
        let result = group.run(&endless, &mut events, &stop);
        let Some(error) = &result.error else {
            panic!("{transport}: killed {killed}, yet {:?}", result.outcomes);
        };
        assert!(error.message.contains("signal 9"), "{transport}: {error:?}");
        let survivor = result.outcomes[0].as_ref().expect("the survivor delivers");
        assert_eq!(survivor.stop, StopReason::PeerLost, "{transport}");
        assert!(survivor.sent.messages > 0);
    }
}
