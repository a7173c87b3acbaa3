//! `wirespeed mesh` on this machine and over servers: what is measured, what fails, what is refused.

use crate::{SOON, Server, document, file, home, turn};
use serde_json::Value;
use wirespeed_report::interference::Interference;
use wirespeed_report::mesh::outcome::is_open;
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshMode, MeshPairs, MeshSection};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::{Ended, Running};

/// Something is slow, as a loaded machine makes it seem: no failure of the mesh.
const SLOW: i32 = 3;
/// Nobody can tell, which is none either.
const CANNOT_TELL: i32 = 4;
/// The shortest thing to measure between two ranks; a count of operations has its figure on any machine.
const PROBE: &str = "-- am_lat --via tcp -n 400 --warmup 0";

fn measured(home: &Home, line: &str) -> (Ended, Run, MeshSection) {
    let ended = home.run(line);
    assert!(matches!(ended.code, Some(0 | SLOW | CANNOT_TELL)), "{ended}");
    let run = document(&ended.stdout);
    let section = run.sections.get::<MeshSection>().expect("a mesh");
    (ended, run, section)
}

#[test]
fn every_pair_is_measured_in_both_directions() {
    let _turn = turn();
    let home = home();
    let (ended, run, mesh) = measured(
        &home,
        &format!("mesh --ranks 4 --repeats 2 --seed 5 --json {PROBE}"),
    );
    assert_eq!((mesh.hosts.len(), mesh.cycles, mesh.seed), (4, 2, 5));
    assert_eq!(mesh.pairs, MeshPairs::All);
    let probe = &mesh.probes[0];
    assert!(
        probe.complete && probe.tag == "rtt_p50_ns" && !probe.higher_is_better,
        "{ended}"
    );
    assert_eq!(
        (probe.pairs.len(), probe.unmeasured_count, probe.failed_count),
        (12, 0, 0)
    );
    assert!(
        probe
            .pairs
            .iter()
            .all(|pair| pair.survey_count == 2 && pair.from != pair.to)
    );
    assert_eq!(run.cases[0].repetitions.len(), 2);
    assert!(run.cases[0].metrics["rtt_p50_ns"].value.get() > 0.0);
    let code = match (probe.verdicts.is_empty(), is_open(&mesh)) {
        (false, _) => SLOW,
        (true, true) => CANNOT_TELL,
        (true, false) => 0,
    };
    assert_eq!(ended.code, Some(code), "{ended}");
    home.assert_nothing_left(SOON);
}

#[test]
fn sixty_four_ranks_of_a_small_machine_end_well() {
    let _turn = turn();
    let home = home();
    for transport in ["tcp", "shm"] {
        let (ended, _, mesh) = measured(
            &home,
            &format!(
                "mesh --ranks 64 --loaded --budget 2 --repeats 1 --json -- am_lat --via {transport} -n 50 --warmup 0"
            ),
        );
        let probe = &mesh.probes[0];
        // Whoever is suspected is checked beside others, too.
        let surveyed = probe.pairs.iter().filter(|pair| pair.survey_count > 0);
        assert_eq!((surveyed.count(), probe.failed_count), (128, 0), "{ended}");
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn pairs_are_told_as_they_end_and_have_a_row_each() {
    let _turn = turn();
    let home = home();
    let line = format!("mesh --ranks 3 --isolated --repeats 1 --ndjson -o mesh.csv -o mesh.json {PROBE}");
    let ended = home.run(&line);
    assert!(matches!(ended.code, Some(0 | SLOW)), "{ended}");
    let events = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let pairs: Vec<Value> = events.filter(|event| event["event"] == "pair_measured").collect();
    assert!(pairs.len() >= 6, "{ended}");
    assert!(
        pairs
            .iter()
            .all(|pair| pair["tag"] == "rtt_p50_ns" && pair["value"].as_f64() > Some(0.0))
    );
    let mesh = file(&home, "mesh.json").sections.get::<MeshSection>().unwrap();
    assert_eq!(mesh.mode, MeshMode::Isolated);
    let rows = std::fs::read_to_string(home.path("mesh.csv")).unwrap();
    assert!(rows.lines().count() > 6, "{rows}");
    let shown = home.run("report mesh.json").code(0);
    for host in &mesh.hosts {
        assert!(shown.stdout.contains(&host.name), "{shown}");
    }
}

#[test]
fn a_schedule_is_shown_and_nothing_measured() {
    let home = home();
    let line = format!("mesh --ranks 5 --loaded --budget 2 --repeats 4 --seed 1 --dry-run --json {PROBE}");
    let shown = home.run(&line).code(0).json();
    let rounds = shown["mesh"]["rounds_of_a_cycle"].as_array().unwrap();
    assert_eq!(
        (rounds.len(), shown["mesh"]["cycles"].as_u64()),
        (4, Some(4)),
        "two matchings, both ways"
    );
    assert!(
        rounds.iter().all(|round| round.as_array().unwrap().len() == 2),
        "one of five rests"
    );
    assert!(shown["mesh"]["survey_ns"].as_u64() > Some(0));
    // A budget of time has room for the checks, and for fewer cycles rather than for partners too few to judge by.
    let line = "mesh --ranks 4 --isolated --budget 15s --dry-run --json -- am_lat,am_bw --via shm";
    let shown = home.run(line).code(0).json();
    assert!(
        shown["mesh"]["survey_ns"].as_u64() < Some(9_000_000_000),
        "{shown}"
    );
    assert_eq!(
        shown["mesh"]["rounds_of_a_cycle"].as_array().unwrap().len(),
        12,
        "all pairs"
    );
    let text = home.run(&format!("mesh --ranks 6 --dry-run {PROBE}")).code(0);
    assert!(text.stdout.contains("6 hosts, 30 ordered pairs"), "{text}");
    let counted = "mesh --ranks 4 --repeats 1 --dry-run -- am_lat --via tcp -n 1000";
    let text = home.run(counted).code(0);
    let words: Vec<&str> = text.stdout.split_whitespace().collect();
    let said = "1 cycle of 12,000 operations takes";
    assert!(words.join(" ").contains(said), "{text}");
}

#[test]
fn pairs_of_a_file_are_measured_alone() {
    let _turn = turn();
    let home = home();
    home.write("pairs", "rank0 rank2 # one\nrank2 -> rank1\n");
    let line = format!("mesh --ranks 3 --cpus none --repeats 1 --pairs pairs --json {PROBE}");
    let (_, _, mesh) = measured(&home, &line);
    let pairs: Vec<(u32, u32)> = mesh.probes[0]
        .pairs
        .iter()
        .map(|pair| (pair.from, pair.to))
        .collect();
    assert_eq!((mesh.pairs, pairs), (MeshPairs::Given, vec![(0, 2), (2, 1)]));
}

#[test]
fn a_storm_is_measured_with_what_it_does() {
    let _turn = turn();
    let home = home();
    let line = format!("mesh --ranks 4 --pattern incast,permutation --repeats 2 --json {PROBE}");
    let (ended, run, mesh) = measured(&home, &line);
    let loads: Vec<&str> = mesh.storms.iter().map(|storm| storm.load.as_str()).collect();
    assert_eq!(loads, ["incast", "permutation"], "{ended}");
    for storm in &mesh.storms {
        assert!(!storm.streams.is_empty(), "{storm:?}");
        for stream in &storm.streams {
            assert_eq!(stream.rates_bytes_per_s.len(), 2, "a run each: {storm:?}");
        }
    }
    let found = run.sections.get::<Interference>().unwrap();
    assert!(
        found.rows.iter().any(|row| row.loaded.load == "incast"),
        "{found:?}"
    );
    assert_eq!(run.cases.len(), 3, "without, and in each storm");
    home.assert_nothing_left(SOON);
}

#[test]
fn a_storm_shares_the_turn_that_the_measured_ranks_have_at_servers() {
    let _turn = turn();
    let home = home();
    let servers: Vec<Server> = (0..3).map(|_| Server::start(&home, "")).collect();
    let to: Vec<String> = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port))
        .collect();
    let line = format!(
        "mesh --to {} --pattern permutation --repeats 2 --isolated --json {PROBE}",
        to.join(",")
    );
    let (ended, run, mesh) = measured(&home, &line);
    assert_eq!((run.cases.len(), mesh.storms.len()), (2, 1), "{ended}");
    for stream in &mesh.storms[0].streams {
        assert_eq!(stream.rates_bytes_per_s.len(), 2, "{ended}");
    }
    for server in servers {
        server.assert_serves(&home);
        server.stop();
    }
}

#[test]
fn a_server_that_is_not_there_costs_its_own_pairs() {
    let _turn = turn();
    let home = home();
    let servers: Vec<Server> = (0..3).map(|_| Server::start(&home, "")).collect();
    let missing = format!("127.0.0.1:{}", wirespeed_tests::ports::free(1));
    let mut to: Vec<String> = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port))
        .collect();
    to.push(missing.clone());
    let ended = home
        .run(&format!("mesh --to {} --repeats 1 --json {PROBE}", to.join(",")))
        .code(1);
    let mesh = document(&ended.stdout).sections.get::<MeshSection>().unwrap();
    let lost: Vec<bool> = mesh.hosts.iter().map(|host| host.lost.is_some()).collect();
    assert_eq!(lost, [false, false, false, true], "{ended}");
    let well = mesh.probes[0].pairs.iter().filter(|pair| !pair.values.is_empty());
    assert_eq!(well.count(), 6, "{ended}");
    assert!(ended.stderr.contains(&format!("{missing} is lost")), "{ended}");
    for server in servers {
        server.stop();
    }
}

#[test]
fn one_server_by_two_addresses_is_told_and_waited_for_by_nobody() {
    let _turn = turn();
    let home = home();
    let servers: Vec<Server> = (0..2).map(|_| Server::start(&home, "--listen all")).collect();
    let [first, second] = [servers[0].port, servers[1].port];
    let to = format!("127.0.0.1:{first},127.0.0.1:{second},127.0.0.2:{first}");
    let ended = home
        .run(&format!("mesh --to {to} --repeats 1 --json {PROBE}"))
        .code(1);
    let mesh = document(&ended.stdout).sections.get::<MeshSection>().unwrap();
    let why = mesh.hosts[2].lost.as_deref().unwrap_or_default();
    assert!(
        why.contains(&format!("is the same server as 127.0.0.1:{first}")),
        "{ended}"
    );
    let well = mesh.probes[0].pairs.iter().filter(|pair| !pair.values.is_empty());
    assert_eq!(well.count(), 2, "{ended}");
    for server in servers {
        server.stop();
    }
}

#[test]
fn what_is_no_mesh_is_refused_with_a_remedy() {
    let home = home();
    home.write("twice", "a\nb\na\n");
    home.write("nonsense", "a\nb\nc colour=red\n");
    home.write("half", "a unit=x\nb\n");
    home.write("rails", "a rail=a:10.0.0.1 rail=b:10.1.0.1\nb rail=a:10.0.0.2\n");
    home.write("rail", "a\nb\nc rail=10.0.0.3\n");
    home.write("pairs", "rank0 rank9\n");
    home.write("empty", "# nothing\n");
    for (words, said) in [
        ("--hosts a", "two hosts at least"),
        ("--hosts a,b,a", "named twice"),
        ("--hosts a,,b", "no name"),
        ("--to 127.0.0.1:1,127.0.0.1:1", "named twice"),
        ("--ranks 3 --rail a", "--rail"),
        ("--hosts a,b --rail a", "rail \"a\""),
        ("--hostfile rails --rail b", "b has no address on rail b"),
        ("--hostfile rail", "line 3"),
        ("--hostfile twice", "line 3"),
        ("--hostfile nonsense", "line 3"),
        ("--hostfile half", "no unit"),
        ("--hostfile missing", "missing"),
        ("--ranks 1", "ranks"),
        ("--ranks 3 --pairs pairs", "rank9"),
        ("--ranks 3 --pairs empty", "no pair"),
        ("--ranks 3 --budget 1", "at least 2"),
        ("--ranks 3 --budget soon", "--budget"),
        ("--ranks 3 --budget 1ms", "too short"),
        ("--ranks 3 --false-alarm 0", "false alarm"),
        ("--ranks 3 --material 200%", "--material"),
        ("--ranks 3 --pattern storm", "no pattern"),
        ("--ranks 3 --pattern incast@rank7", "rank7"),
        ("--ranks 3 --pattern bisection@rank1", "turns on"),
        ("--ranks 3 --victims rank0", "--pattern"),
        ("--ranks 3 --isolated --loaded", "--loaded"),
    ] {
        let ended = home.run(&format!("mesh {words} {PROBE}")).code(2);
        let (cause, remedy) = ended.complaint();
        assert!(cause.contains(said) && !remedy.is_empty(), "{words}: {ended}");
    }
    for (probe, said) in [
        ("-- am_lat --via inproc", "one process"),
        ("-- am_lat --via tcp --to far", "--to"),
        ("-- hub_lat --via tcp", "between two ranks"),
        ("-- am_lat --via tcp --repeats 3", "--repeats"),
        ("-- am_lat --via nowhere", "nowhere"),
    ] {
        let ended = home.run(&format!("mesh --ranks 3 {probe}")).code(2);
        assert!(ended.complaint().0.contains(said), "{probe}: {ended}");
    }
}

#[test]
fn more_ranks_than_files_are_refused_before_any_is_started() {
    let _turn = turn();
    let home = home();
    for words in [
        &format!("mesh --ranks 200 {PROBE}"),
        "run hub_lat --via shm --procs 200",
    ] {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", "ulimit -n 256; exec \"$@\"", "bash"]);
        command.arg(home.program()).args(words.split(' '));
        home.adopt(&mut command);
        let ended = Running::start(command).end(SOON).code(1);
        let (cause, remedy) = ended.complaint();
        assert!(
            cause.ends_with("200 ranks need 928 open files, this process may have 256"),
            "{ended}"
        );
        assert_eq!(remedy, "raise the limit: ulimit -n 928; or have fewer ranks");
    }
    home.assert_nothing_left(SOON);
}
