//! Several daemons under one client: what happens to one costs its own ranks.

use crate::common::{case, deadline, registry};
use crate::daemon::{Running, fact, options};
use crate::proxy::Proxy;
use std::sync::mpsc;
use std::time::Duration;
use wirespeed_control::{
    ControlError, Group, GroupEvent, GroupResult, GroupSpec, Identity, ServerSpec, StopFlag, Timing,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::{GroupKind, RankSpec, Role};
use wirespeed_schema::message::{FailureClass, ServerLimits};
use wirespeed_schema::outcome::StopReason;

/// Pairs of ranks: each even one with the rank after it. The last of an odd number is idle.
fn pairs(size: u32, behaviour: &[(&str, &str)]) -> Case {
    let rank = |number: u32| match (number % 2, number + 1 < size) {
        (0, true) => RankSpec::new(Role::Source).with_peer(number + 1),
        (1, _) => RankSpec::new(Role::Sink).with_peer(number - 1),
        _ => RankSpec::new(Role::Idle),
    };
    let ranks = (0..size).map(rank).collect();
    case(size, behaviour)
        .with_group(GroupKind::Hosts)
        .with_ranks(ranks)
}

fn spec(daemons: &[&Running]) -> GroupSpec {
    GroupSpec::Hosts(daemons.iter().map(|daemon| server(daemon)).collect())
}

fn server(daemon: &Running) -> ServerSpec {
    ServerSpec::new(daemon.address.to_string(), daemon.identity.clone()).with_ranks(Vec::new())
}

fn group(daemons: &[&Running]) -> Group {
    let stop = StopFlag::new();
    Group::open(&spec(daemons), &registry(), options(), &mut |_| (), &stop).unwrap()
}

fn run(group: &mut Group, case: &Case) -> GroupResult {
    group.run(case, &mut |_| (), &StopFlag::new())
}

fn well(result: &GroupResult) {
    assert!(result.error.is_none(), "{:?}", result.error);
    assert!(result.outcomes.iter().all(Option::is_some) && result.blamed.is_empty());
}

fn blamed(result: &GroupResult) -> Vec<(u32, bool)> {
    result.blamed.iter().map(|b| (b.rank, b.gone)).collect()
}

fn three() -> [Running; 3] {
    [Running::ordinary(), Running::ordinary(), Running::ordinary()]
}

#[test]
fn ranks_run_where_they_are_assigned_and_processes_stay() {
    let _deadline = deadline(60);
    let daemons = three();
    let [a, b, c] = &daemons;
    let mut group = group(&[a, b, c]);
    for server in group.servers() {
        assert_eq!(server.limits, Some(&ServerLimits::default()));
        assert!(server.found_at.is_some());
    }
    // Pairs 0-1 and 2-3 go across, and the third daemon has nobody.
    group.assign(&[vec![0, 3], vec![1, 2]]);
    let first = run(&mut group, &pairs(4, &[]));
    let second = run(&mut group, &pairs(4, &[]));
    for result in [&first, &second] {
        well(result);
        assert_eq!(result.overlapping_sessions, 0);
    }
    assert!(a.logged("runs") && b.logged("runs") && !c.logged("runs"));
    let pids = |result: &GroupResult, size| (0..size).map(|rank| fact(result, rank, "pid")).collect();
    let (first, second): (Vec<String>, Vec<String>) = (pids(&first, 4), pids(&second, 4));
    assert_eq!(first, second, "processes are reused");
    assert!(group.process_ids().is_empty(), "no rank is here");
    group.assign(&[vec![0], vec![1], vec![2]]);
    well(&run(&mut group, &pairs(3, &[])));
    assert!(c.logged("runs"));
    // One rank is this machine's.
    group.assign(&[vec![0], vec![1], vec![3]]);
    well(&run(&mut group, &pairs(4, &[])));
    assert_eq!(group.process_ids().len(), 1);
    // And then a server's.
    group.assign(&[vec![0], vec![1], vec![2, 3]]);
    well(&run(&mut group, &pairs(4, &[])));
    assert!(group.process_ids().is_empty());
    for daemon in &daemons {
        assert!(!daemon.logged("left"), "the session is the first one");
    }
}

#[test]
fn sixteen_servers_are_reached_and_asked_side_by_side() {
    let _deadline = deadline(120);
    let daemons: Vec<Running> = (0..16).map(|_| Running::ordinary()).collect();
    let mut group = group(&daemons.iter().collect::<Vec<_>>());
    assert!(group.servers().iter().all(|server| server.found_at.is_some()));
    group.assign(&(0..16).map(|rank| vec![rank]).collect::<Vec<_>>());
    for _ in 0..3 {
        well(&run(&mut group, &pairs(16, &[])));
    }
}

#[test]
fn ranks_are_given_once() {
    let _deadline = deadline(60);
    let (a, b) = (Running::ordinary(), Running::ordinary());
    let mut group = group(&[&a, &b]);
    for (ranks, words) in [
        ([vec![0, 1], vec![1]], "rank 1 is given to two servers"),
        ([vec![0], vec![2]], "no rank for the server"),
        ([vec![], vec![]], "no rank for the server"),
    ] {
        group.assign(&ranks);
        let error = run(&mut group, &pairs(2, &[])).error.unwrap();
        assert!(error.message.contains(words), "{error:?}");
    }
    group.assign(&[vec![0], vec![1]]);
    well(&run(&mut group, &pairs(2, &[])));
}

#[test]
fn a_lost_or_silent_server_costs_its_own_ranks() {
    let _deadline = deadline(60);
    let timing = Timing {
        silence: Duration::from_millis(1200),
        ..Timing::default()
    };
    for silent in [false, true] {
        let daemons = [0; 3].map(|_| Running::start(ServerLimits::default(), timing));
        let [a, b, c] = &daemons;
        let proxy = Proxy::to(b.address);
        let through = ServerSpec::new(proxy.address.to_string(), b.identity.clone()).with_ranks(vec![1, 2]);
        let spec = GroupSpec::Hosts(vec![
            server(a).with_ranks(vec![0]),
            through,
            server(c).with_ranks(vec![3]),
        ]);
        let (mut options, stop) = (options(), StopFlag::new());
        options.timing = timing;
        let mut group = Group::open(&spec, &registry(), options, &mut |_| (), &stop).unwrap();
        let mut lost = Vec::new();
        let mut events = |event: GroupEvent| match event {
            GroupEvent::Interval { rank: 1, .. } if silent => proxy.fall_silent(),
            GroupEvent::Interval { rank: 1, .. } => proxy.cut(),
            GroupEvent::RankLost { rank, reason } => lost.push((rank, reason)),
            _ => {}
        };
        let result = group.run(&pairs(4, &[("all", "run")]), &mut events, &stop);
        let named = format!("the server at {} is lost", proxy.address);
        assert!(
            result.error.as_ref().unwrap().message.contains(&named),
            "{:?}",
            result.error
        );
        assert_eq!(blamed(&result), [(1, true), (2, true)]);
        for (rank, reason) in &lost {
            assert!([1, 2].contains(rank) && reason.contains(&named), "{lost:?}");
            assert_eq!(reason.contains("silent"), silent, "{reason}");
        }
        assert_eq!(lost.len(), 2);
        for survivor in [0, 3] {
            let outcome = result.outcomes[survivor].as_ref().unwrap();
            assert_eq!(outcome.stop, StopReason::PeerLost);
        }
        assert!(group.servers()[1].limits.is_none());
        group.assign(&[vec![0], vec![], vec![1]]);
        well(&run(&mut group, &pairs(2, &[])));
        assert!(!a.logged("left") && !c.logged("left"), "their sessions go on");
    }
}

#[test]
fn a_refusal_names_its_server_and_the_others_go_on() {
    let _deadline = deadline(60);
    let limits = ServerLimits {
        message_bytes_max: 4,
        ..ServerLimits::default()
    };
    let (a, b, c) = (
        Running::ordinary(),
        Running::start(limits, Timing::default()),
        Running::ordinary(),
    );
    let mut group = group(&[&a, &b, &c]);
    group.assign(&[vec![0], vec![1], vec![2]]);
    for _ in 0..3 {
        let result = run(&mut group, &pairs(3, &[]));
        let error = result.error.as_ref().unwrap();
        assert_eq!(error.class, FailureClass::Refused);
        assert!(error.message.contains(&b.address.to_string()) && error.message.contains("4 B"));
        assert!(error.remedy.as_ref().unwrap().contains("--size"));
        assert_eq!(blamed(&result), [(1, true)]);
    }
    group.assign(&[vec![0], vec![], vec![1]]);
    well(&run(&mut group, &pairs(2, &[])));
    for daemon in [&a, &b, &c] {
        assert!(!daemon.logged("left"), "a refusal ends no session");
    }
}

#[test]
fn servers_that_do_not_let_us_in_are_told_by_number() {
    let _deadline = deadline(60);
    let [a, b, c] = &three();
    let full = Running::start(
        ServerLimits {
            queue_clients_max: 0,
            ..ServerLimits::default()
        },
        Timing::default(),
    );
    let _only = full.group().unwrap();
    let gone = Running::ordinary();
    let gone_at = ServerSpec::new(gone.address.to_string(), gone.identity.clone());
    drop(gone);
    let wrong = |identity: &Identity| ServerSpec::new(b.address.to_string(), identity.clone());
    let spec = GroupSpec::Hosts(vec![
        server(a),
        wrong(&a.identity),
        server(&full),
        gone_at,
        server(c),
    ]);
    let (mut connected, stop) = (Vec::new(), StopFlag::new());
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Connected { server, .. } = event {
            connected.push(server.to_owned());
        }
    };
    let (mut group, errors) = Group::open_each(&spec, &registry(), options(), &mut events, &stop);
    assert!(errors[0].is_none() && errors[4].is_none());
    assert!(
        matches!(errors[1], Some(ControlError::WrongServer { .. })),
        "{:?}",
        errors[1]
    );
    assert!(
        matches!(errors[2], Some(ControlError::Refused(_))),
        "{:?}",
        errors[2]
    );
    assert!(
        matches!(errors[3], Some(ControlError::Connect { .. })),
        "{:?}",
        errors[3]
    );
    assert_eq!(connected, [a.address.to_string(), c.address.to_string()]);
    group.assign(&[vec![0], vec![], vec![], vec![], vec![1]]);
    well(&run(&mut group, &pairs(2, &[])));
    // Who is asked although it cannot be reached costs its ranks, every time.
    group.assign(&[vec![0], vec![2], vec![], vec![3], vec![1]]);
    for _ in 0..2 {
        let result = run(&mut group, &pairs(4, &[]));
        assert_eq!(blamed(&result), [(2, true), (3, true)]);
        assert_eq!(
            result.error.unwrap().class,
            FailureClass::Refused,
            "the first of them"
        );
    }
    group.assign(&[vec![0], vec![], vec![], vec![], vec![1]]);
    well(&run(&mut group, &pairs(2, &[])));
    assert!(!a.logged("left") && !c.logged("left"));
    let opened = Group::open(&spec, &registry(), options(), &mut |_| (), &stop);
    assert!(matches!(opened.err(), Some(ControlError::WrongServer { .. })));
}

#[test]
fn nobody_waits_for_a_rank_without_a_part() {
    let _deadline = deadline(60);
    let [a, b, c] = &three();
    let mut group = group(&[a, b, c]);
    group.assign(&[vec![0], vec![1], vec![2]]);
    // The transport would abort there, and is not asked.
    let result = run(&mut group, &pairs(3, &[("2", "die")]));
    well(&result);
    let facts = |rank: usize| &result.outcomes[rank].as_ref().unwrap().transport_facts;
    assert!(!facts(1).is_empty() && !facts(2).contains_key("pid"));
}

#[test]
fn a_stop_reaches_the_ranks_of_all() {
    let _deadline = deadline(60);
    let [a, b, c] = &three();
    let mut group = group(&[a, b, c]);
    group.assign(&[vec![0], vec![1], vec![2, 3]]);
    let (stop, mut stopping) = (StopFlag::new(), 0);
    let asked = stop.clone();
    let mut events = |event: GroupEvent| match event {
        GroupEvent::Interval { rank: 2, .. } => asked.request(),
        GroupEvent::Stopping => stopping += 1,
        _ => {}
    };
    let result = group.run(&pairs(4, &[("all", "run")]), &mut events, &stop);
    well(&result);
    for outcome in result.outcomes.iter().flatten() {
        assert_eq!(outcome.stop, StopReason::Interrupted);
    }
    assert_eq!(stopping, 1);
    // A daemon that stops ends the run of all in order, and says which it was.
    let flag = b.stop.clone();
    let mut events = |event: GroupEvent| {
        if let GroupEvent::Interval { rank: 1, .. } = event {
            flag.request();
        }
    };
    let result = group.run(&pairs(4, &[("all", "run")]), &mut events, &StopFlag::new());
    let error = result.error.unwrap();
    assert!(error.message.contains("shutting down") && error.message.contains(&b.address.to_string()));
    assert!(result.outcomes.iter().all(Option::is_some));
}

#[test]
fn who_queues_at_one_holds_up_nobody_at_the_others() {
    let _deadline = deadline(60);
    let timing = Timing {
        lease: Duration::from_secs(1),
        ..Timing::default()
    };
    let (a, b) = (
        Running::start(ServerLimits::default(), timing),
        Running::start(ServerLimits::default(), timing),
    );
    // The one that comes later in the order of all clients is busy, then the other.
    for (busy, free) in [(&a, &b), (&b, &a)] {
        let (client, asked) = busy.busy();
        let (queued, waits) = mpsc::channel();
        let mut group = group(&[free, busy]);
        group.assign(&[vec![0], vec![1]]);
        let mut events = |event: GroupEvent| {
            if let GroupEvent::Queued { server, ahead, .. } = event {
                queued.send((server.to_owned(), ahead)).unwrap();
                asked.request();
            }
        };
        well(&group.run(&pairs(2, &[]), &mut events, &StopFlag::new()));
        assert_eq!(waits.try_iter().next(), Some((busy.address.to_string(), 1)));
        assert!(client.join().unwrap().error.is_none());
    }
}

#[test]
fn two_clients_of_the_same_servers_never_wait_for_each_other() {
    let _deadline = deadline(120);
    let timing = Timing {
        lease: Duration::from_secs(1),
        ..Timing::default()
    };
    let daemons = [0; 3].map(|_| Running::start(ServerLimits::default(), timing));
    let [a, b, c] = &daemons;
    std::thread::scope(|scope| {
        for order in [[a, b, c], [c, b, a], [b, c, a]] {
            scope.spawn(move || {
                let mut group = group(&order);
                group.assign(&[vec![0], vec![1], vec![2]]);
                for _ in 0..4 {
                    well(&run(&mut group, &pairs(3, &[("all", "short")])));
                }
            });
        }
    });
}

#[test]
fn a_stop_ends_the_wait_for_a_turn() {
    let _deadline = deadline(60);
    let (a, b) = (Running::ordinary(), Running::ordinary());
    let (client, asked) = b.busy();
    let mut group = group(&[&a, &b]);
    group.assign(&[vec![0], vec![1]]);
    let stop = StopFlag::new();
    let mut events = |event: GroupEvent| match event {
        GroupEvent::Queued { .. } => stop.request(),
        GroupEvent::Stopping => panic!("nothing runs that could stop"),
        _ => {}
    };
    let error = group.run(&pairs(2, &[]), &mut events, &stop).error.unwrap();
    assert_eq!(error.message, "interrupted");
    asked.request();
    client.join().unwrap();
    well(&run(&mut group, &pairs(2, &[])));
}
