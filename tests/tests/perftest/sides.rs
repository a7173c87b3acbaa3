//! Two ends: who waits for whom, who serves how many, which CPUs they use.

use crate::{SOON, Server, home, turn};
use rustix::process::Signal;
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::ports;

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
