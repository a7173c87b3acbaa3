//! Two ends: who waits for whom, who serves how many, which CPUs they use.

use crate::{SOON, Server, home, is_listening, turn};
use rustix::process::Signal;
use serde_json::Value;
use std::net::ToSocketAddrs as _;
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::ports;
use wirespeed_tests::product::share;
use wirespeed_tests::running::Running;

#[test]
fn every_transport_of_ours_runs_between_the_two_ends() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "-l");
    for words in [
        "-t am_lat -x shm",
        "-t put_bw -x shm -D bcopy -s 1K",
        "-t tag_lat -x unix",
        "-t cswap -x tcp -s 4",
        "-t am_bibw -x tcp",
        "-t am_bw -x udp -E sleep",
        "-t ucp_am_bw -x shm -s 4K",
        "-t ucp_am_lat -x udp",
        "-t ucp_put_lat -x tcp",
        "-t am_bw -x shm -V -W 5000 -s 100",
        "-t am_lat -x shm -T 2 -c 0",
    ] {
        let ended = server
            .client(&home, &format!("{words} -n 300"))
            .end(PATIENCE)
            .code(0);
        assert!(
            ended
                .stdout
                .lines()
                .last()
                .is_some_and(|line| line.starts_with("Final:")),
            "{ended}"
        );
    }
    server.running.signal(Signal::TERM);
    server.end().code(0);
    home.assert_nothing_left(SOON);
}

#[test]
fn a_client_that_comes_first_waits_for_its_server() {
    let _turn = turn();
    let home = home();
    let port = ports::free(1);
    let client =
        home.start(format!("perftest -p {port} 127.0.0.1 -t am_lat -x shm -n 100").split_whitespace());
    std::thread::sleep(Duration::from_millis(500));
    let server = home.start(format!("perftest -p {port}").split_whitespace());
    client.end(PATIENCE).code(0);
    server.end(SOON).code(0);
}

#[test]
fn one_client_and_for_ever() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "--forever");
    for _ in 0..3 {
        server
            .client(&home, "-t am_lat -x shm -n 100")
            .end(PATIENCE)
            .code(0);
    }
    server.running.signal(Signal::INT);
    server.end().code(0);
    let server = Server::start(&home, "");
    let port = server.port;
    server
        .client(&home, "-t am_lat -x shm -n 100")
        .end(PATIENCE)
        .code(0);
    server.end().code(0);
    let gone = home
        .run(&format!("perftest -p {port} localhost -t am_lat -x shm -n 100"))
        .code(1);
    let (cause, remedy) = gone.complaint();
    assert!(
        cause.contains("refused") && remedy.contains("wirespeed perftest"),
        "{gone}"
    );
}

#[test]
fn both_ends_have_their_cpus() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "-c 0");
    let run = server
        .client(&home, "-t am_lat -x shm -n 100 -c 0 --json")
        .end(PATIENCE)
        .code(0)
        .json();
    server.end().code(0);
    let outcomes = &run["cases"][0]["repetitions"][0]["outcomes"];
    assert_eq!((&outcomes[0]["cpu"], &outcomes[1]["cpu"]), (&0.into(), &0.into()));
    let server = Server::start(&home, "");
    let run = server
        .client(&home, "-t am_lat -x shm -n 100 --json")
        .end(PATIENCE)
        .code(0)
        .json();
    server.end().code(0);
    let outcomes = &run["cases"][0]["repetitions"][0]["outcomes"];
    assert!(
        outcomes[0]["cpu"].is_null() && outcomes[1]["cpu"].is_null(),
        "off unless asked for"
    );
}

#[test]
fn the_control_connection_may_be_ipv6() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "-6");
    let port = server.port;
    let words = format!("perftest -p {port} ::1 -6 -t am_lat -x tcp -n 100");
    home.start(words.split_whitespace()).end(PATIENCE).code(0);
    server.end().code(0);
}

/// Addresses and names of this machine beside localhost.
fn of_this_machine() -> Vec<String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().to_owned();
    let mut names: Vec<String> = ["127.0.0.1", "127.0.1.1", "127.255.7.9"]
        .map(str::to_owned)
        .to_vec();
    match (host.as_str(), 0u16).to_socket_addrs() {
        Ok(_) => names.push(host),
        Err(why) => println!("skipped: {host}: {why}"),
    }
    names
}

#[test]
fn every_address_and_name_of_this_machine_reaches_its_server() {
    let _turn = turn();
    let home = home();
    for listen in ["", "--listen all"] {
        let server = Server::start(&home, &format!("--forever {listen}"));
        for host in of_this_machine() {
            for transport in ["shm", "unix", "tcp", "udp"] {
                let words = format!(
                    "perftest -p {} {host} -t am_lat -x {transport} -n 300 --json",
                    server.port
                );
                let ended = home.start(words.split_whitespace()).end(PATIENCE).code(0);
                let group = &ended.json()["cases"][0]["case"]["group"];
                assert_eq!(group, "processes", "{listen} {host}: {ended}");
            }
        }
        server.running.signal(Signal::TERM);
        server.end().code(0);
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn a_server_that_nobody_reads_serves_to_the_end() {
    let _turn = turn();
    let home = home();
    let lines: Vec<String> = (0..100)
        .map(|n| format!("test{n} -t put_lat -n 2 -w 0"))
        .collect();
    home.write("tests", &lines.join("\n"));
    for unread in [[true, false], [false, true], [true, true]] {
        let port = ports::free(1);
        let words = format!("perftest -p {port}");
        let running = Running::start_unread(home.command(words.split_whitespace()), unread);
        running.wait_until("it listens", PATIENCE, |_| is_listening(port));
        let server = Server { running, port };
        let ended = server.client(&home, "-b tests -x shm -f").end(PATIENCE).code(0);
        assert_eq!(ended.stdout.matches("test99").count(), 1, "{unread:?}: {ended}");
        server.end().code(0);
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn a_batch_with_and_without_threads_runs_in_one_job() {
    let _turn = turn();
    let home = home();
    let all = "one -t am_lat\ntwo -t am_bw -T 2\nthree -t put_lat -T 2\nfour -t tag_lat\n";
    let matched = "one -t tag_lat\ntwo -t tag_bw -T 2\nthree -t tag_lat -T 2\nfour -t tag_bw\n";
    // A process for each thread, or one for each end; threads of a process exchange matched messages alone by MPI.
    let jobs = [
        (4, "shm", all),
        (4, "mpi", all),
        (2, "shm", all),
        (2, "tcp", all),
        (2, "mpi", matched),
    ];
    for (number, mpi) in wirespeed_tests::mpi::installed().into_iter().enumerate() {
        for (ranks, transport, tests) in share(&jobs, number / 2 + number % 2, 2) {
            home.write("tests", tests);
            let words = format!("perftest -P 1 -b tests -x {transport} -n 300 --json");
            let run = mpi.run(&home, ranks, &words).code(0).json();
            let roles = |case: &Value| -> String {
                let ranks = case["case"]["ranks"].as_array().unwrap();
                ranks
                    .iter()
                    .map(|rank| &rank["role"].as_str().unwrap()[..2])
                    .collect()
            };
            let cases = run["cases"].as_array().unwrap();
            let seen: Vec<String> = cases.iter().map(roles).collect();
            assert_eq!(
                seen,
                ["soidsiid", "sososisi", "sososisi", "soidsiid"],
                "{ranks} {transport}"
            );
            assert!(cases.iter().all(|case| case["status"] == "ok"), "{run}");
        }
    }
}

#[test]
fn the_letter_for_a_launcher_is_obeyed() {
    let _turn = turn();
    let home = home();
    let ended = home.run("perftest -P 1 -t am_lat -x shm").code(2);
    assert!(ended.complaint().0.contains("-P 1"), "{ended}");
    home.run("perftest -P 2 -t am_lat -x shm").code(2);
    home.run("perftest -P 0 -l -t am_lat -x inproc -n 300").code(0);
    let Some(mpi) = wirespeed_tests::mpi::installed().into_iter().next() else {
        return;
    };
    // Each rank is a program of its own.
    let ended = mpi
        .run(&home, 2, "perftest -P 0 -l -t am_lat -x inproc -n 300 -f")
        .code(0);
    assert_eq!(ended.stdout.matches("| API:").count(), 2, "{ended}");
}

#[test]
fn a_launcher_may_start_both_ends() {
    let _turn = turn();
    let Some(mpi) = wirespeed_tests::mpi::installed().into_iter().next() else {
        return;
    };
    let home = home();
    let ended = mpi.run(&home, 2, "perftest -t put_lat -x shm -n 300").code(0);
    assert_eq!(
        ended.stdout.matches("Final:").count(),
        1,
        "one rank prints: {ended}"
    );
    let run = mpi
        .run(&home, 2, "perftest -t tag_lat -x mpi -n 300 --json")
        .code(0)
        .json();
    assert_eq!(run["cases"][0]["case"]["group"], "job");
    let ended = mpi.run(&home, 3, "perftest -t put_lat -x shm -n 300").code(2);
    assert!(ended.stderr.contains("the job has 3 ranks"), "{ended}");
}

#[test]
fn a_loopback_of_one_rank_is_not_halved() {
    let _turn = turn();
    let home = home();
    let ended = home.run("perftest -l -t am_lat -x null -n 200000 --json").code(0);
    let run = ended.json();
    let outcome = &run["cases"][0]["repetitions"][0]["outcomes"][0];
    let (ns, count) = (
        outcome["elapsed_ns"].as_f64().unwrap(),
        outcome["sent"]["messages"].as_f64().unwrap(),
    );
    let classic = wirespeed_report::read_run(ended.stdout.as_bytes()).unwrap();
    let original = wirespeed_report::perftest::original("am_lat").unwrap();
    let figures = wirespeed_report::perftest::Figures::of(
        original,
        &classic.cases[0].case,
        wirespeed_report::perftest::Generation::Today,
        50.0,
        &classic.cases[0].repetitions[0].outcomes,
    )
    .unwrap();
    assert!((figures.overall.latency_us - ns / count / 1e3).abs() < 1e-9);
    assert!((figures.overall.rate_msg_per_s - count * 1e9 / ns).abs() < 1.0);
}
