//! Ranks on hosts that ssh reaches, with nothing installed there: a real sshd for each, on machines of a bridge. Starters
//! go there once, ranks come and go, and nothing of either stays behind.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_control::launch::all_hosts::{Started, end_all, start_all};
use wirespeed_control::launch::hosts::{Carrier, HostAsked, OnHosts, RankHost};
use wirespeed_control::launch::ssh::SshHost;
use wirespeed_control::{
    ControlError, Failure, Group, GroupEvent, GroupOptions, GroupResult, GroupSpec, RankProgram, StopFlag,
};
use wirespeed_schema::Case;
use wirespeed_schema::case::{GroupKind, IdlePolicy, RankSpec, Role, Stop};
use wirespeed_schema::test::{Layout, PingPong, Test};
use wirespeed_schema::version::PROTOCOL_VERSION;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::{SILENT, SOON, reached};
use wirespeed_tests::home::kill;
use wirespeed_tests::skip;
use wirespeed_tests::ssh::SshHosts;
use wirespeed_tests::under_test::program;

/// Machines with a daemon each, and this thread among them; or the reason why there are none.
fn machines(count: usize) -> Option<(SshHosts, Bridge)> {
    let made = Bridge::new(count).and_then(|bridge| {
        let hosts = SshHosts::on(&bridge)?;
        bridge.enter().map_err(|e| e.to_string())?;
        Ok((hosts, bridge))
    });
    made.map_err(|reason| skip(&reason)).ok()
}

fn rank_program() -> RankProgram {
    RankProgram {
        path: program(env!("CARGO_BIN_EXE_wirespeed-under-test")).into(),
        arguments: vec!["__rank".into()],
        environment: Vec::new(),
    }
}

fn asked(hosts: &SshHosts, name: &str) -> HostAsked {
    HostAsked {
        carrier: Carrier::Ssh(SshHost::parse(name, Some(hosts.config().into())).unwrap()),
        address: None,
    }
}

fn all(hosts: &SshHosts, bridge: &Bridge) -> Vec<HostAsked> {
    let names = (0..bridge.count()).map(|number| bridge.name(number));
    names.map(|name| asked(hosts, &name)).collect()
}

fn start(asked: &[HostAsked]) -> Started {
    start_all(asked, &rank_program(), &StopFlag::new(), &mut |_, _| ()).unwrap()
}

/// Pairs of neighbours, round trips over the network.
fn case(ranks: u32, stop: Stop) -> Case {
    let rank = |rank: u32| match rank % 2 {
        0 => RankSpec::new(Role::Source).with_peer(rank + 1),
        _ => RankSpec::new(Role::Sink).with_peer(rank - 1),
    };
    Case::new(Test::AmLat(PingPong::new(24, Layout::Short)), "tcp")
        .with_group(GroupKind::Hosts)
        .with_ranks((0..ranks).map(rank).collect())
        .with_stop(stop)
        .with_warmup(10, 50_000_000)
        .with_idle(IdlePolicy::Yield)
}

fn group(hosts: &[&Arc<RankHost>]) -> Group {
    let hosts = hosts.iter().map(|host| (*host).clone()).collect();
    let spec = GroupSpec::Started(Arc::new(OnHosts::new(hosts)));
    let options = GroupOptions {
        program: rank_program(),
        ..GroupOptions::new().unwrap()
    };
    Group::open(
        &spec,
        &Registry::builtin(),
        options,
        &mut |_| (),
        &StopFlag::new(),
    )
    .unwrap()
}

fn assert_measured(result: &GroupResult, ranks: usize) {
    assert_eq!(result.error, None);
    let outcomes: Vec<_> = result.outcomes.iter().flatten().collect();
    assert_eq!(outcomes.len(), ranks);
    for outcome in outcomes {
        assert!(
            outcome.sent.messages >= 100 && outcome.received.messages >= 100,
            "{outcome:?}"
        );
    }
}

fn measure(hosts: &[&Arc<RankHost>]) {
    let case = case(hosts.len() as u32, Stop::Iterations { count: 100 });
    let result = group(hosts).run(&case, &mut |_| (), &StopFlag::new());
    assert_measured(&result, hosts.len());
}

/// Measure without end until `trouble` has been made.
fn measure_until(hosts: &[&Arc<RankHost>], trouble: impl FnOnce() + Send) -> GroupResult {
    let case = case(
        hosts.len() as u32,
        Stop::Duration {
            duration_ns: 600_000_000_000,
        },
    );
    let (started, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            begun.recv_timeout(SOON).expect("the group starts");
            std::thread::sleep(Duration::from_millis(700));
            trouble();
        });
        let mut on = |event: GroupEvent| {
            if matches!(event, GroupEvent::Started) {
                started.send(()).unwrap();
            }
        };
        group(hosts).run(&case, &mut on, &StopFlag::new())
    })
}

fn assert_nothing_left(hosts: &SshHosts, name: &str, patience: Duration) {
    let files = || {
        let entries = std::fs::read_dir(hosts.temporary(name)).unwrap().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    reached(patience, || {
        hosts.processes(name).is_empty() && files().is_empty()
    });
    assert_eq!(hosts.processes(name), Vec::new(), "{name}");
    assert_eq!(files(), Vec::<std::path::PathBuf>::new(), "{name}");
}

fn refused(started: &Result<Arc<RankHost>, Failure>, words: &str, help: &str) {
    let failure = started.as_ref().expect_err(words);
    let remedy = failure.remedy.as_deref().unwrap_or_default();
    assert!(
        failure.message.contains(words) && remedy.contains(help),
        "{words}: {failure:?}"
    );
}

#[test]
fn ranks_run_on_hosts_again_and_again_and_leave_nothing() {
    let Some((mut hosts, bridge)) = machines(8) else {
        return;
    };
    let mut told = Vec::new();
    let asked = all(&hosts, &bridge);
    let started = start_all(&asked, &rank_program(), &StopFlag::new(), &mut |number, host| {
        told.push((number, host.is_ok()));
    });
    let started: Vec<_> = started.unwrap().into_iter().map(Result::unwrap).collect();
    told.sort_unstable();
    assert_eq!(told, (0..8).map(|number| (number, true)).collect::<Vec<_>>());
    for (number, host) in started.iter().enumerate() {
        assert_eq!(host.name(), bridge.name(number));
        assert_eq!(host.address(), bridge.address(number));
        assert_eq!(host.client_address(), Some(bridge.desk_address()));
        assert_eq!(host.architecture(), std::env::consts::ARCH);
        assert!(host.build().starts_with("wirespeed "), "{}", host.build());
        let same = started.iter().filter(|other| other.machine() == host.machine());
        assert_eq!(same.count(), 1, "a machine of its own");
        let left = std::fs::read_dir(hosts.temporary(host.name())).unwrap().count();
        assert_eq!(left, 0, "its file is gone as soon as it runs");
    }
    let of = |numbers: &[usize]| numbers.iter().map(|n| &started[*n]).collect::<Vec<_>>();
    measure(&of(&[0, 1, 2, 3]));
    measure(&of(&[5, 2]));
    measure(&of(&[7, 6, 5, 4, 3, 2, 1, 0]));

    // A rank that dies costs a run, and its host goes on.
    let rank = || {
        let mut ranks = hosts.processes("h3").into_iter();
        ranks.rfind(|(_, words)| words.contains("__rank "))
    };
    let killed = measure_until(&of(&[0, 1, 2, 3]), || {
        kill(rank().expect("a rank").0, rustix::process::Signal::KILL);
    });
    let failure = killed.error.as_ref().expect("a failure");
    assert!(
        failure.message.contains("on h3 was killed by signal 9"),
        "{failure:?}"
    );
    assert_eq!(killed.blamed[0].rank, 3);
    measure(&of(&[3, 2]));

    // A host that dies costs itself.
    let lost = measure_until(&of(&[0, 1, 2, 3]), || hosts.crash("h2"));
    let failure = lost.error.as_ref().expect("a failure");
    assert!(failure.message.contains("host h2 is lost"), "{failure:?}");
    assert_eq!((lost.blamed[0].rank, lost.blamed[0].gone), (2, true));
    assert!(started[2].lost().is_some());
    measure(&of(&[0, 1, 3, 4]));
    let result = group(&of(&[0, 2])).run(
        &case(2, Stop::Iterations { count: 1 }),
        &mut |_| (),
        &StopFlag::new(),
    );
    assert!(result.error.unwrap().message.contains("host h2 is lost"));

    end_all(started);
    for number in [0, 1, 3, 4, 5, 6, 7] {
        assert_nothing_left(&hosts, &bridge.name(number), SOON);
    }
}

#[test]
fn a_host_that_fails_costs_itself_and_says_why() {
    let Some((hosts, _bridge)) = machines(4) else {
        return;
    };
    hosts.pretend_other_processor("h2");
    hosts.forget_one("h3");
    let names = ["h0", "nowhere.invalid", "h2", "10.77.0.99", "h1", "h3"];
    let wanted: Vec<_> = names.iter().map(|name| asked(&hosts, name)).collect();
    let started = start(&wanted);
    refused(&started[1], "nowhere.invalid", "check");
    refused(&started[2], "h2: error: its processor is riscv64", "leave it out");
    refused(&started[3], "10.77.0.99", "ssh 10.77.0.99 true");
    refused(&started[5], "verification failed", "accept it once: ssh h3 true");
    let well: Vec<_> = started.iter().flatten().collect();
    measure(&well);
    drop(well);
    end_all(started.into_iter().flatten());

    // One that runs another version, and one that does not know its address.
    let folder = tempfile::tempdir().unwrap();
    let other = |protocol: u32| {
        let hello = format!(
            r#"{{"hello":{{"hello":{{"protocol_min":{protocol},"protocol_max":{protocol},"build":"wirespeed 99"}},"#
        ) + r#""machine":"m","architecture":"a","address":null,"client_address":null}}"#;
        let text = format!(
            "#!/bin/sh\necho\necho wirespeed ranks, protocol 1\necho 0 $(echo '{hello}' | base64 -w0)\ncat >/dev/null\n"
        );
        let path = folder.path().join("program");
        std::fs::write(&path, text).unwrap();
        let program = RankProgram {
            path,
            ..rank_program()
        };
        let mut started = start_all(&wanted[..1], &program, &StopFlag::new(), &mut |_, _| ()).unwrap();
        started.remove(0)
    };
    refused(&other(900), "wirespeed 99 speaks control protocol 900", "update");
    refused(
        &other(PROTOCOL_VERSION),
        "h0 does not know its address",
        "address=IP",
    );
    for name in ["h0", "h1", "h2", "h3"] {
        assert_nothing_left(&hosts, name, SOON);
    }
}

#[test]
fn a_host_that_falls_silent_is_left_and_ends_by_itself() {
    let Some((hosts, bridge)) = machines(4) else {
        return;
    };
    let started = start(&all(&hosts, &bridge));
    let started: Vec<_> = started.into_iter().map(Result::unwrap).collect();
    let of = |numbers: &[usize]| numbers.iter().map(|n| &started[*n]).collect::<Vec<_>>();
    let lost = measure_until(&of(&[0, 1, 2, 3]), || bridge.cut(3).unwrap());
    assert_eq!((lost.blamed[0].rank, lost.blamed[0].gone), (3, true), "{lost:?}");
    measure(&of(&[0, 1]));
    assert!(reached(SILENT, || started[3].lost().is_some()));
    measure(&of(&[1, 2]));
    // Nobody can tell it to end; it does so by itself.
    assert_nothing_left(&hosts, "h3", SILENT);

    // The user stops while one that is cut off is being reached.
    let stop = StopFlag::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            stop.request();
        });
        let stopped = start_all(&all(&hosts, &bridge), &rank_program(), &stop, &mut |_, _| ());
        assert!(matches!(stopped, Err(ControlError::Interrupted)));
    });
    end_all(started);
    for name in ["h0", "h1", "h2"] {
        assert_nothing_left(&hosts, name, SOON);
    }
}
