//! Groups of threads and of local processes: they meet, end, die, hang and are stopped.

mod common;

use common::{case, deadline, eventually, program, registry};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wirespeed_control::{
    Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, RankProgram, StopFlag, Timing, run_case,
};
use wirespeed_schema::Case;
use wirespeed_schema::message::FailureClass;
use wirespeed_schema::outcome::StopReason;

#[test]
fn rank_entry() {
    common::rank_entry();
}

fn options() -> GroupOptions {
    GroupOptions {
        timing: Timing::default(),
        program: program(),
        fresh: false,
        together: false,
        turn: None,
        bind_address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

fn quiet(spec: &GroupSpec, case: &Case) -> GroupResult {
    run_case(spec, case, &registry(), options(), &mut |_| (), &StopFlag::new())
}

fn kill(pid: u32, signal: &str) {
    let status = std::process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// True when the process is gone; a zombie counts as gone only where another process has to wait for it.
fn is_gone(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let own = status
        .lines()
        .any(|line| line == format!("PPid:\t{}", std::process::id()));
    status.is_empty() || (!own && status.lines().any(|line| line.starts_with("State:\tZ")))
}

/// Run over processes and call `act` with their identifiers once every rank has reported an interval.
fn disturbed(
    timing: Timing,
    case: &Case,
    stop: &StopFlag,
    act: impl Fn(&[u32]) + Send + 'static,
) -> (GroupResult, Vec<u32>) {
    let mut options = options();
    options.timing = timing;
    let mut group = Group::open(&GroupSpec::Processes, &registry(), options, &mut |_| (), stop).unwrap();
    // Processes start with the first run; an ordinary one first, so that their identifiers are known.
    let size = case.ranks.len() as u32;
    let first = group.run(&common::case(size, &[]), &mut |_| (), stop);
    assert!(first.error.is_none(), "{:?}", first.error);
    let pids = group.process_ids();
    let (tx, rx) = mpsc::channel();
    let known = pids.clone();
    let actor = std::thread::spawn(move || {
        for _ in 0..size {
            rx.recv_timeout(Duration::from_secs(20)).unwrap();
        }
        act(&known);
    });
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { .. } = event {
            tx.send(()).unwrap();
        }
    };
    let result = group.run(case, &mut events, stop);
    actor.join().unwrap();
    drop(group);
    for pid in &pids {
        assert!(is_gone(*pid), "process {pid} is left");
    }
    (result, pids)
}

#[test]
fn groups_of_two_and_four_meet_and_deliver() {
    let _deadline = deadline(60);
    for spec in [GroupSpec::Threads, GroupSpec::Processes] {
        for size in [1, 2, 4] {
            let result = quiet(&spec, &case(size, &[]));
            assert!(result.error.is_none(), "{spec:?} {size}: {:?}", result.error);
            let ranks: Vec<_> = result.outcomes.iter().map(|o| o.as_ref().unwrap().rank).collect();
            assert_eq!(ranks, (0..size).collect::<Vec<_>>());
            assert!(result.setup_ns > 0);
        }
    }
}

#[test]
fn processes_serve_several_cases_unless_fresh_ones_are_wanted() {
    let _deadline = deadline(60);
    for fresh in [false, true] {
        let options = GroupOptions { fresh, ..options() };
        let stop = StopFlag::new();
        let mut group = Group::open(&GroupSpec::Processes, &registry(), options, &mut |_| (), &stop).unwrap();
        let mut pids = Vec::new();
        for _ in 0..3 {
            let result = group.run(&case(2, &[]), &mut |_| (), &stop);
            assert!(result.error.is_none(), "{:?}", result.error);
            pids.push(group.process_ids());
        }
        assert_eq!(pids[0] == pids[2], !fresh);
        // Another size, then a failure, then a good run again.
        assert!(group.run(&case(3, &[]), &mut |_| (), &stop).error.is_none());
        let failed = group.run(&case(3, &[("1", "fail")]), &mut |_| (), &stop);
        assert!(failed.error.is_some());
        let after = group.run(&case(3, &[]), &mut |_| (), &stop);
        assert!(after.error.is_none(), "{:?}", after.error);
    }
}

#[test]
fn a_failing_rank_is_the_cause_and_the_others_end() {
    let _deadline = deadline(60);
    for spec in [GroupSpec::Threads, GroupSpec::Processes] {
        for (behaviour, words) in [("fail", "told to fail"), ("panic", "panicked")] {
            let result = quiet(&spec, &case(3, &[("1", behaviour), ("2", "run")]));
            let error = result.error.unwrap();
            assert_eq!(error.class, FailureClass::Failed);
            assert!(
                error.message.contains("rank 1") && error.message.contains(words),
                "{error:?}"
            );
            assert!(result.outcomes[1].is_none());
            let survivor = result.outcomes[2].as_ref().unwrap();
            assert_eq!(survivor.stop, StopReason::PeerLost, "it delivers what it has");
        }
        let refused = quiet(&spec, &case(2, &[("check", "usage")]));
        assert_eq!(refused.error.unwrap().class, FailureClass::Usage);
        let mut elsewhere = case(2, &[]);
        elsewhere.transport = "warp".into();
        let unknown = quiet(&spec, &elsewhere);
        assert_eq!(unknown.error.unwrap().class, FailureClass::Usage);
    }
}

#[test]
fn a_rank_that_leaves_early_does_not_hang_the_others() {
    let _deadline = deadline(60);
    let result = quiet(&GroupSpec::Processes, &case(2, &[("1", "leave")]));
    assert!(result.outcomes[1].is_some());
    assert!(result.error.is_some());
}

#[test]
fn a_killed_rank_is_noticed_at_once_and_the_survivor_delivers() {
    let _deadline = deadline(60);
    let case = case(2, &[("all", "run")]);
    let (result, _) = disturbed(Timing::default(), &case, &StopFlag::new(), |pids| {
        kill(pids[1], "-KILL")
    });
    let error = result.error.unwrap();
    assert!(
        error.message.contains("rank 1") && error.message.contains("signal 9"),
        "{error:?}"
    );
    assert!(result.outcomes[1].is_none());
    assert_eq!(result.outcomes[0].as_ref().unwrap().stop, StopReason::PeerLost);
}

#[test]
fn a_silent_rank_is_given_up_and_ended() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(1000),
        ..Timing::default()
    };
    let case = case(2, &[("all", "run")]);
    let (result, _) = disturbed(timing, &case, &StopFlag::new(), |pids| kill(pids[1], "-STOP"));
    let error = result.error.unwrap();
    assert!(
        error.message.contains("rank 1") && error.message.contains("silent"),
        "{error:?}"
    );
    assert!(result.outcomes[0].is_some());
}

#[test]
fn a_long_run_is_not_taken_for_silence() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(800),
        ..Timing::default()
    };
    let stop = StopFlag::new();
    let asked = stop.clone();
    let (result, _) = disturbed(timing, &case(2, &[("all", "run")]), &stop, move |_| {
        std::thread::sleep(Duration::from_millis(2000));
        asked.request();
    });
    assert!(result.error.is_none(), "{:?}", result.error);
}

#[test]
fn a_first_stop_is_orderly_and_a_deaf_rank_is_cancelled() {
    let _deadline = deadline(60);
    for (behaviour, spec) in [("run", 0), ("deaf", 0), ("run", 1), ("deaf", 1)] {
        let stop = StopFlag::new();
        let asked = stop.clone();
        let case = case(2, &[("all", behaviour)]);
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                asked.request();
            }
        };
        let spec = [GroupSpec::Threads, GroupSpec::Processes][spec].clone();
        let mut options = options();
        options.timing.orderly = Duration::from_millis(200);
        let result = run_case(&spec, &case, &registry(), options, &mut events, &stop);
        assert!(result.error.is_none(), "{:?}", result.error);
        for outcome in &result.outcomes {
            assert_eq!(outcome.as_ref().unwrap().stop, StopReason::Interrupted);
        }
    }
}

#[test]
fn a_stubborn_rank_is_ended() {
    let _deadline = deadline(60);
    for spec in [GroupSpec::Processes, GroupSpec::Threads] {
        let stop = StopFlag::new();
        let asked = stop.clone();
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Interval { rank: 0, .. } = event {
                asked.request();
                asked.request();
            }
        };
        let case = case(2, &[("0", "run"), ("1", "stubborn")]);
        // With all of the usual grace, in which a busy machine lets the other rank end.
        let result = run_case(&spec, &case, &registry(), options(), &mut events, &stop);
        assert!(result.error.unwrap().message.contains("did not end"));
        assert!(result.outcomes[0].is_some());
    }
}

#[test]
fn ranks_end_when_their_coordinator_goes() {
    let _deadline = deadline(60);
    let stop = StopFlag::new();
    let mut group = Group::open(&GroupSpec::Processes, &registry(), options(), &mut |_| (), &stop).unwrap();
    group.run(&case(2, &[]), &mut |_| (), &stop);
    let pids = group.process_ids();
    assert_eq!(pids.len(), 2);
    let started = Instant::now();
    drop(group);
    eventually("the end of the ranks", || pids.iter().all(|p| is_gone(*p)));
    assert!(started.elapsed() < Duration::from_secs(10));
}

/// Names the file for the identifiers of its ranks, in the environment of a process that is to be killed.
const COORDINATOR_VARIABLE: &str = "WIRESPEED_TEST_COORDINATOR";

/// Entered by the process of the next test; runs a case without end.
#[test]
fn coordinator_entry() {
    let Some(file) = std::env::var_os(COORDINATOR_VARIABLE) else {
        return;
    };
    let stop = StopFlag::new();
    let mut group = Group::open(&GroupSpec::Processes, &registry(), options(), &mut |_| (), &stop).unwrap();
    group.run(&case(2, &[]), &mut |_| (), &stop);
    let pids: Vec<_> = group.process_ids().iter().map(u32::to_string).collect();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { .. } = event {
            std::fs::write(&file, pids.join("\n") + "\n.").unwrap();
        }
    };
    group.run(&case(2, &[("0", "run"), ("1", "stubborn")]), &mut events, &stop);
}

#[test]
fn a_killed_coordinator_leaves_no_rank_behind() {
    let _deadline = deadline(60);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let mut coordinator = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["coordinator_entry", "--exact", "--nocapture"])
        .env(COORDINATOR_VARIABLE, &file)
        .spawn()
        .unwrap();
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("the run", || text().ends_with('.'));
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    for pid in text().lines().filter_map(|line| line.parse().ok()) {
        eventually("the end of a rank", || is_gone(pid));
    }
}

#[test]
fn programs_that_are_no_ranks_are_told_apart() {
    let _deadline = deadline(60);
    let with = |path: &str, arguments: &[&str]| {
        let mut options = options();
        let is_to_be_late = path.ends_with("sleep");
        options.timing.start = Duration::from_millis(if is_to_be_late { 300 } else { 20_000 });
        options.program = RankProgram {
            path: path.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: Vec::new(),
        };
        let spec = GroupSpec::Processes;
        let result = run_case(
            &spec,
            &case(2, &[]),
            &registry(),
            options,
            &mut |_| (),
            &StopFlag::new(),
        );
        result.error.unwrap().message
    };
    assert!(with("/no/such/program", &[]).contains("cannot start"));
    assert!(with("/bin/false", &[]).contains("code 1"));
    assert!(with("/bin/sleep", &["30"]).contains("did not start in time"));
    assert!(with("/bin/sh", &["-c", "head -c 100 /dev/zero >&0; exec sleep 30"]).contains("does not speak"));
}
