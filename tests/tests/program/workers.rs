//! `wirespeed workers` from outside: the grid and its files, the log, a busy machine that stands out, bad input, and what
//! is left when somebody dies or interrupts.

use crate::{SOON, Server, document, file, home, turn, wait_until_it_measures};
use rustix::process::Signal;
use serde_json::Value;
use wirespeed_report::workers::WorkersSection;
use wirespeed_schema::Run;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::Running;

fn lines(home: &Home, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(home.path(name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The group of a run over one transport.
fn group(run: &Run) -> wirespeed_report::workers::Workers {
    assert!(run.sections.has::<WorkersSection>());
    WorkersSection::of(run).groups.remove(0)
}

#[test]
fn every_transport_and_order_measures_every_round_trip() {
    let _turn = turn();
    for (via, more) in [
        ("tcp", ""),
        ("shm", "--fan-out"),
        ("unix", "--one-way"),
        ("inproc", "--check"),
    ] {
        let home = home();
        let line = format!("workers -w 3 --via {via} -p 250 -n 20 --log trips.log -o result.json -q {more}");
        home.run(&line).code(0);
        let run = file(&home, "result.json");
        assert_eq!(run.status, Status::Ok);
        let trips = lines(&home, "trips.log");
        let group = group(&run);
        assert_eq!((group.workers, group.cells[0].size_bytes), (3, 1000), "{via}");
        assert_eq!(group.both_ways, more != "--one-way");
        assert_eq!(group.fan_out, more == "--fan-out");
        assert_eq!(
            group.divisor(),
            if matches!(more, "" | "--check") { 2.0 } else { 1.0 }
        );
        assert!(trips.iter().all(|line| line.parse::<u64>().is_ok()), "{trips:?}");
        assert_eq!(trips.len() as u64, group.cells[0].trips, "{via}");
        assert_eq!(group.rows.len(), 3);
        assert!(
            group.rows.iter().all(|row| row.first_ns.is_some()),
            "{:?}",
            group.rows
        );
        let master = &run.cases[0].repetitions[0].outcomes[0];
        assert_eq!(master.sent.bytes, 3 * 20 * 1000);
        assert_eq!(
            master.received.bytes,
            if more == "--one-way" { 0 } else { 3 * 20 * 1000 }
        );
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn the_grid_prints_its_tables_and_draws_its_figures() {
    let _turn = turn();
    let home = home();
    let ended = home
        .run("workers -w 2 --grid -p 10..10000:x10 -n 2,10,50 --log trips.csv --via shm")
        .code(0);
    for heading in [
        "Figure 1: average latency in ns (round trip / 2)",
        "Figure 2: bandwidth at 50 tests per worker",
        // A busy machine's figures may follow no line, which is then said.
        "T = a + s/b",
        "each worker at",
    ] {
        assert!(ended.stdout.contains(heading), "{heading}: {ended}");
    }
    for figure in ["workers-figures/figure3.svg", "workers-figures/figure4.svg"] {
        let svg = std::fs::read_to_string(home.path(figure)).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.contains("ws-line") && !svg.contains("nothing to show"),
            "{svg}"
        );
    }
    let log = lines(&home, "trips.csv");
    assert!(log[0].starts_with("case,repetition,transport,"), "{}", log[0]);
    // Two workers, four payloads, 62 tests.
    assert_eq!(log.len(), 1 + 2 * 4 * 62);
    let workers: std::collections::BTreeSet<&str> = log[1..]
        .iter()
        .map(|line| line.split(',').nth(7).unwrap())
        .collect();
    assert_eq!(workers.into_iter().collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn a_worker_on_a_busy_cpu_stands_out() {
    let _turn = turn();
    if wirespeed::host::allowed_cpus().len() < 2 {
        wirespeed_tests::skip("a busy CPU beside others: there is one CPU only");
        return;
    }
    let home = home();
    let cpus = wirespeed::host::allowed_cpus();
    // The master's load keeps off its own CPU, so that it meets worker 2 alone.
    let (here, there) = (cpus[0], cpus[1]);
    let line = format!(
        "workers -w 3 -n 20 --warmup 0 --via tcp --cpus {here},{here},{there},{here} --load 0:cpu=30 --json"
    );
    let slow = |run: &Run| -> Vec<u32> {
        let rows = group(run).rows;
        rows.iter().filter(|row| row.slow).map(|row| row.worker).collect()
    };
    // The kernel lets a worker in at once now and then, and what else runs here slows the others.
    const ATTEMPTS: usize = 10;
    let run = (0..ATTEMPTS)
        .map(|_| document(&home.run(&line).code(0).stdout))
        .find(|run| slow(run) == [2])
        .expect("it stands out in one of ten runs");
    let remark = run.cases[0]
        .remarks
        .iter()
        .find(|remark| remark.code == "slow_worker")
        .unwrap();
    assert!(
        remark.message.starts_with("in this cell worker 2 takes "),
        "{remark:?}"
    );
    // With --strict a warning counts.
    let line = line.replace("--json", "--strict");
    let codes: Vec<_> = (0..ATTEMPTS).map(|_| home.run(&line).code).collect();
    assert!(codes.contains(&Some(4)) && codes.iter().all(|code| [Some(0), Some(4)].contains(code)));
}

#[test]
fn nonsense_is_refused_before_anything_is_measured() {
    let home = home();
    home.write("plain", "");
    for (line, cause, remedy) in [
        ("workers -w 0", "--workers 0", "from 1 to"),
        ("workers -w -2", "--workers -2", "from 1 to"),
        ("workers -w 5000", "--workers 5000", "from 1 to"),
        ("workers -p -10", "--payload -10", "integers"),
        ("workers -p ten", "--payload ten", "integers"),
        ("workers -p 1e18", "above 1 TiB", "1MiB"),
        ("workers -s 3x", "-s: \"3x\"", "8K"),
        ("workers -p 1 -s 4", "--payload", "one of them"),
        ("workers -n 0", "-n 0", "at least 1"),
        ("workers -n -1", "-n -1", "at least 1"),
        ("workers --via elephant", "elephant", "tcp"),
        ("workers --via udp", "datagrams may be lost", "list udp"),
        ("workers -w 2 --cpus 0", "3 ranks", "one CPU a rank"),
        ("workers -w 2 --load 9:cpu=1", "no such rank", "cpu=N"),
        ("workers --warmup soon", "--warmup soon", "100ms"),
        ("workers --repeats 0", "0", ""),
        ("workers --silence never", "--silence", "10s"),
    ] {
        let ended = home.run(line).code(2);
        let (said, advice) = ended.complaint();
        assert!(said.contains(cause) && advice.contains(remedy), "{ended}");
        assert_eq!(ended.stdout, "", "{ended}");
    }
    for (line, cause) in [
        (
            "workers --log no/such/trips.log",
            "cannot write no/such/trips.log",
        ),
        ("workers --figures plain/figures", "cannot create plain/figures"),
        ("workers -o result.xml", "result.xml"),
    ] {
        let ended = home.run(line);
        assert!(matches!(ended.code, Some(1 | 2)), "{ended}");
        assert!(ended.complaint().0.contains(cause), "{ended}");
    }
}

/// Start a cell that lasts far longer than any test, with a log as long as may be, and wait until it measures.
fn endless(home: &Home) -> Running {
    let line = "workers -w 3 -n 166666 -p 1000000 --interval 100ms --ndjson -o result.json --log trips.csv";
    let running = home.start(line.split_whitespace());
    wait_until_it_measures(&running);
    running
}

#[test]
fn a_killed_worker_leaves_what_was_measured() {
    let _turn = turn();
    let home = home();
    let running = endless(&home);
    let ranks = home.ranks_of(running.pid());
    assert_eq!(ranks.len(), 4);
    kill(ranks[2], Signal::KILL);
    let ended = running.end(SOON).code(1);
    ended.complaint();
    let run = file(&home, "result.json");
    assert_eq!(
        (run.status, run.cases[0].status),
        (Status::Failed, CaseStatus::Partial),
        "{ended}"
    );
    assert!(lines(&home, "trips.csv").len() > 1, "{ended}");
    assert!(!group(&run).rows.is_empty());
    home.assert_nothing_left(SOON);
}

#[test]
fn ctrl_c_leaves_table_log_and_document_of_what_was_measured() {
    let _turn = turn();
    let home = home();
    let running = endless(&home);
    running.signal(Signal::INT);
    let ended = running.end(SOON).code(130);
    let run = file(&home, "result.json");
    assert_eq!(
        (run.status, run.cases[0].status),
        (Status::Interrupted, CaseStatus::Partial),
        "{ended}"
    );
    assert!(lines(&home, "trips.csv").len() > 1, "{ended}");
    assert!(group(&run).cells[0].trips > 0);
    home.assert_nothing_left(SOON);
}

#[test]
fn a_dry_run_shows_the_cells_and_writes_nothing() {
    let home = home();
    let ended = home
        .run("workers --grid --dry-run --log trips.log --json")
        .code(0);
    let Value::Object(shown) = ended.json() else {
        panic!("{ended}");
    };
    assert_eq!(shown["cases"].as_array().map(Vec::len), Some(48), "{ended}");
    assert!(!home.path("trips.log").exists() && !home.path("workers-figures").exists());
}

#[test]
fn workers_of_another_host_are_measured_from_here() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    for (via, more) in [("tcp", ""), ("tcp", "--fan-out --check"), ("tcp", "--one-way")] {
        let line = format!(
            "workers -w 3 --via {via} -p 10,1000 -n 20 --log trips.csv {} {more} --json",
            server.to()
        );
        let run = document(&home.run(&line).code(0).stdout);
        assert_eq!(run.status, Status::Ok, "{line}");
        assert_eq!(run.cases[0].case.group, GroupKind::Hosts, "{line}");
        let group = group(&run);
        assert_eq!((group.workers, group.rows.len()), (3, 3), "{line}");
        assert_eq!(
            group.cells.iter().map(|cell| cell.trips).collect::<Vec<_>>(),
            [60, 60],
            "{line}"
        );
        assert_eq!(lines(&home, "trips.csv").len(), 1 + 2 * 60, "{line}");
    }
    // Shared memory does not reach another machine.
    let refused = home
        .run(&format!("workers -w 2 --via shm {}", server.to()))
        .code(2);
    assert!(refused.complaint().0.contains("shm"), "{refused}");
    let several = home.run("workers -w 2 --to one,two").code(2);
    assert!(several.complaint().0.contains("more than one host"), "{several}");
    // A killed worker: what was measured is kept, and the server goes on.
    let line = format!(
        "workers -w 3 -n 1000000000 --interval 100ms --ndjson -o result.json {}",
        server.to()
    );
    let running = home.start(line.split_whitespace());
    wait_until_it_measures(&running);
    let ranks = home.ranks_of(server.running.pid());
    assert_eq!(ranks.len(), 3, "{}", running.stderr());
    kill(ranks[1], Signal::KILL);
    let ended = running.end(PATIENCE).code(1);
    assert_eq!(
        file(&home, "result.json").cases[0].status,
        CaseStatus::Partial,
        "{ended}"
    );
    server.assert_serves(&home);
    server.stop();
    home.assert_nothing_left(SOON);
}
