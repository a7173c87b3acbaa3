//! Sessions from outside: embedded and placed by a coordinator, every path and route, limits and load, and every bad
//! end. After each nothing is left: no process, no control group, and the daemons go on.

mod vanished;

use crate::{SILENT, SOON, document, home, turn};
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use wirespeed_schema::Run;
use wirespeed_schema::case::Role;
use wirespeed_schema::run::Status;
use wirespeed_tests::deadline::{PATIENCE, reached};
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

/// A coordinator and a node of one home.
pub struct Site {
    coordinator: Running,
    node: Running,
    pub port: u16,
    node_port: u16,
}

pub fn port_of(daemon: &Running) -> u16 {
    daemon.wait_until("it listens", PATIENCE, |r| r.stdout().contains("listening on"));
    let greeting = daemon.stdout();
    let first = greeting.lines().next().unwrap();
    first.rsplit_once(':').unwrap().1.parse().unwrap()
}

pub fn node(home: &Home, port: u16) -> Running {
    let to = format!("127.0.0.1:{port}");
    home.start(["node", "--name", "here", "--coordinator", to.as_str()])
}

impl Site {
    pub fn start(home: &Home) -> Site {
        let coordinator = home.start(["coordinator", "--port", "0"]);
        let port = port_of(&coordinator);
        let node = node(home, port);
        let node_port = port_of(&node);
        Site {
            coordinator,
            node,
            port,
            node_port,
        }
    }

    fn line(&self, more: &str) -> String {
        format!("session --host localhost --port {} {more}", self.port)
    }

    /// It still runs sessions for whoever comes next.
    fn assert_serves(&self, home: &Home) {
        let line = self.line("--benchmarkPath=client_to_computation --bytes=1 --duration=0.2 --json");
        measured(&home.run(&line).code(0));
    }

    pub fn stop(self) {
        for daemon in [self.node, self.coordinator] {
            daemon.signal(Signal::TERM);
            daemon.end(SOON).code(0);
        }
    }
}

/// The one stream's messages, sent and received, which agree.
pub fn measured(ended: &Ended) -> Run {
    let run = document(&ended.stdout);
    for case in &run.cases {
        let outcomes = &case.repetitions[0].outcomes;
        let sent: u64 = outcomes.iter().map(|o| o.sent.messages).sum();
        let received: u64 = outcomes.iter().map(|o| o.received.messages).sum();
        assert!(sent > 0 && sent == received, "{ended}");
    }
    run
}

pub fn section(run: &Run) -> &Value {
    run.sections.named("session").unwrap()
}

pub fn computations(run: &Run) -> &Vec<Value> {
    section(run)["sessions"][0]["computations"].as_array().unwrap()
}

/// Who made the control groups of this machine that are named as wirespeed names them, `wirespeed-PID-START-NUMBER`: the
/// makers' process ids and starts, in clock ticks since boot. Makers older than this process are somebody else's.
fn makers_of_groups() -> Vec<(u32, u64)> {
    fn collect(folder: &Path, makers: &mut Vec<(u32, u64)>) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let mut words = name.strip_prefix("wirespeed-").unwrap_or_default().split('-');
            let pid = words.next().and_then(|word| word.parse().ok());
            let start = words.next().and_then(|word| word.parse().ok());
            makers.extend(pid.zip(start));
            collect(&entry.path(), makers);
        }
    }
    let mut makers = Vec::new();
    collect(Path::new("/sys/fs/cgroup"), &mut makers);
    let since = started("self").unwrap();
    makers.retain(|(_, start)| *start >= since);
    makers
}

/// Groups whose maker runs no more. Those of makers that run belong to a test beside this one: this one's own are gone.
fn groups_left() -> usize {
    let is_left = |(pid, start): &(u32, u64)| started(&pid.to_string()) != Some(*start);
    makers_of_groups().iter().filter(|maker| is_left(maker)).count()
}

/// When a process began, in clock ticks since boot: field 22 of proc_pid_stat(5), counted behind the name, which may hold
/// blanks.
fn started(pid: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

pub fn assert_nothing_left(home: &Home) {
    home.assert_nothing_left(SOON);
    reached(SOON, || groups_left() == 0);
    assert_eq!(groups_left(), 0, "control groups stayed behind");
}

/// A stream that lasts far longer than any test, once its computations run and it is measured.
fn endless(home: &Home, line: &str, computations: usize) -> Running {
    let line = format!("{line} --duration 600 --report-frequency=0.2 --ndjson -o result.json");
    let client = home.start(line.split_whitespace());
    client.wait_until("its computations", PATIENCE, |_| {
        let ours = home.processes();
        let is_made = |(maker, _): (u32, u64)| ours.iter().any(|(pid, _)| *pid == maker);
        workers(home).len() == computations && makers_of_groups().into_iter().any(is_made)
    });
    crate::wait_until_it_measures(&client);
    client
}

pub fn workers(home: &Home) -> Vec<u32> {
    let all = home.processes().into_iter();
    all.filter(|(_, words)| words.contains("__computation"))
        .map(|(pid, _)| pid)
        .collect()
}

#[test]
fn every_path_route_and_road_delivers_what_was_sent() {
    let _turn = turn();
    let home = home();
    for path in [
        "client_to_computation",
        "computation_to_client",
        "computation_to_computation",
        "computations_to_computations",
    ] {
        let ended = home.run(&format!(
            "session --benchmarkPath={path} --via shm,unix,tcp --route direct,daemon --bytes=8 --credits=1,7 \
             --computations 3 --duration=0.1 --check --json"
        ));
        let run = measured(&ended.code(0));
        assert_eq!(run.cases.len(), 12);
        assert_eq!(section(&run)["path"], path);
        assert_eq!(section(&run)["daemon_cost"].as_array().unwrap().len(), 6);
    }
    assert_nothing_left(&home);
}

#[test]
fn under_the_original_name_reports_have_the_original_form() {
    let _turn = turn();
    let home = home();
    let link = home.path("arras4benchmark");
    std::os::unix::fs::symlink(home.program(), &link).unwrap();
    let reports = || {
        let mut command = std::process::Command::new(&link);
        home.adopt(&mut command);
        command.args(
            "--bandwidthPath=client_to_computation --bytes=1 --credits=5 --duration=1 --report-frequency=0.4 \
             --stay-connected=0"
                .split_whitespace(),
        );
        Running::start(command).end(PATIENCE).code(0)
    };
    // A machine that stands still from the first report to the end of the run leaves one line.
    let several = |ended: &Ended| ended.stdout.lines().count() >= 2;
    let ended = std::iter::repeat_with(reports).take(5).find(several);
    let ended = ended.expect("five runs of a second with one report each");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    for (place, line) in lines.iter().enumerate() {
        let words = [
            "Time: ",
            "s Msgs: ",
            " Rate: ",
            "msg/s (",
            "µs) ",
            "MB/s TOTALS: Time: ",
        ];
        assert!(
            line.starts_with("Time: ") && words.iter().all(|word| line.contains(word)),
            "{ended}"
        );
        // However long a busy machine makes the run: no report before its time but the last one.
        let seconds: f64 = line["Time: ".len()..].split('s').next().unwrap().parse().unwrap();
        assert!(place + 1 == lines.len() || seconds >= 0.4, "{ended}");
    }
    // Without a path there are no such lines: what became of the resources is the answer.
    let mut command = std::process::Command::new(&link);
    home.adopt(&mut command);
    command.args("--threads=1 --cores=1 --requestMb=64 --duration=0.3 --stay-connected=0".split(' '));
    let ended = Running::start(command).end(PATIENCE).code(0);
    for words in [
        "benchcomp0",
        "cores: asked 1",
        "memory: asked 64 MiB",
        "request to go",
    ] {
        assert!(ended.stdout.contains(words), "{words}: {ended}");
    }
    assert_nothing_left(&home);
}

/// However a session ends, its control groups have told what they counted before they went.
#[test]
fn throttling_and_charged_memory_are_told_of_every_end() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let held = "--threads=2 --cores=0.2 --requestMb=128 --allocateMb=64 --touchMb=64 --duration=1";
    let stream = "--benchmarkPath=client_to_computation --bytes=1 --credits=10";
    let dead = "--threads=2 --cores=0.5 --requestMb=64 --allocateMb=300 --touchMb=300 --duration=60";
    for (more, ends_well) in [
        (String::new(), true),
        (stream.to_owned(), true),
        (String::new(), false),
    ] {
        let work = if ends_well { held } else { dead };
        for place in [String::new(), format!("--host localhost --port {}", site.port)] {
            let ended = home.run(&format!("session {place} {more} {work} --json"));
            let run = document(&ended.stdout);
            let main = &computations(&run)[0];
            let by = [&main["granted"]["cores_by"], &main["granted"]["memory_by"]];
            if by.iter().any(|by| !by.as_str().unwrap().starts_with("cgroup")) {
                site.stop();
                return skip("no control groups can be made here");
            }
            assert_eq!(ended.code, Some(i32::from(!ends_well)), "{ended}");
            let seen = &main["observed"];
            // One that ends well may have had no time to touch it all; a killed one tells of no load.
            let touched = main["load_done"]["touched_bytes"].as_u64().unwrap_or(32 << 20);
            assert!(
                seen["charged_max_bytes"].as_u64() >= Some(touched.min(32 << 20)),
                "{ended}"
            );
            // Killed for memory, or starved by others, it may not have used up a period's quota.
            let has_used_it = ends_well && seen["cores_used"].as_f64() > Some(0.18);
            assert!(!has_used_it || seen["throttled_ns"].as_u64() > Some(0), "{ended}");
            assert!(seen["throttled_ns"].is_u64(), "{ended}");
            let verdict = main["verdict"].to_string();
            assert!(verdict.contains("charged"), "{verdict}");
        }
    }
    site.stop();
    assert_nothing_left(&home);
}

/// More than the machine has can be allocated, as long as nobody touches it.
#[test]
fn memory_may_be_overcommitted() {
    let _turn = turn();
    let home = home();
    let policy = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap();
    if policy.trim() == "2" {
        return skip("this kernel does not overcommit");
    }
    let info = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kb = |key: &str| -> u64 {
        let line = info.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let mb = (kb("MemTotal:") + kb("SwapTotal:")) / 1024 + 7_000;
    let line =
        format!("session --allocateMb={mb} --touchMb=8 --touchOnce --requestMb=0 --duration=0.5 --json");
    let run = document(&home.run(&line).code(0).stdout);
    let seen = &computations(&run)[0]["observed"];
    assert!(seen["virtual_max_bytes"].as_u64() > Some(mb << 20), "{seen}");
    assert!(seen["resident_max_bytes"].as_u64() < Some(1 << 30), "{seen}");
    let shown = home
        .run(
            &line
                .replace(" --json", "")
                .replace(" --touchMb=8 --touchOnce", ""),
        )
        .code(0);
    assert!(shown.stdout.contains("allocated"), "{shown}");
    assert_nothing_left(&home);
}

#[test]
fn load_environment_and_log_are_reported() {
    let _turn = turn();
    let home = home();
    let folder = home.path("packages");
    std::fs::create_dir(&folder).unwrap();
    let run = |duration| {
        // What an earlier one wrote; there may be none.
        let _ = std::fs::remove_file(home.path("log"));
        let ended = home.run(&format!(
            "session --threads=2 --allocateMb=64 --touchMb=32 --touchOnce --logThreads=3 --logCount=1000 --log-to=log \
             --printEnv --prepend={} --duration={duration} --json",
            folder.display()
        ));
        document(&ended.code(0).stdout)
    };
    // A machine that has other work may need longer for the log.
    let has_logged = |run: &Run| computations(run)[0]["logged"]["lines"] == 1000;
    let run = ["0.5", "5", "50"].into_iter().map(run).find(has_logged);
    let run = run.expect("a log of 1000 lines");
    let main = &computations(&run)[0];
    assert!(main["load_done"]["cpu_loops"].as_u64() > Some(0), "{main}");
    assert_eq!(main["load_done"]["touched_bytes"], 32 << 20);
    let log = std::fs::read_to_string(home.path("log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.len() == 79).count(), 1000);
    let resident = main["observed"]["resident_max_bytes"].as_u64().unwrap();
    let reserved = main["observed"]["virtual_max_bytes"].as_u64().unwrap();
    assert!(
        (32 << 20..64 << 20).contains(&resident) && reserved >= 64 << 20,
        "{main}"
    );
    let variables = main["environment"].as_array().unwrap();
    let path = variables.iter().find_map(|v| v.as_str()?.strip_prefix("PATH="));
    assert!(
        path.is_some_and(|path| path.starts_with(&format!("{}/bin", folder.display()))),
        "{main}"
    );
    assert_nothing_left(&home);
}

#[test]
fn a_computation_has_its_own_search_path_and_no_secret() {
    let _turn = turn();
    let home = home();
    let packages = home.path("packages");
    std::fs::create_dir(&packages).unwrap();
    let text = r#"{"name": "x", "computations": [
        {"name": "a", "environment": {"PATH": "/opt/tool/bin"}}, {"name": "b"}]}"#;
    let file = home.write("d.json", text);
    let line = format!(
        "session --session {file} --printEnv --prepend {} --duration=0 --json",
        packages.display()
    );
    let mut command = home.command(line.split_whitespace());
    command.env("WIRESPEED_IDENTITY", "WS1:secret");
    let ended = Running::start(command).end(SOON).code(0);
    assert!(!ended.stdout.contains("WS1:secret"), "{ended}");
    let run = document(&ended.stdout);
    let path = format!("PATH={0}/bin:{0}:/opt/tool/bin", packages.display());
    let variables = computations(&run)[0]["environment"].as_array().unwrap().clone();
    assert!(variables.contains(&path.clone().into()), "{path}: {variables:?}");
    assert_nothing_left(&home);
}

#[test]
fn sessions_that_are_to_begin_later_hear_the_stop_and_a_failure() {
    let _turn = turn();
    let home = home();
    let line = "session --sessions=3 --delay-start=5m --duration=1";
    let waiting = home.start(line.split_whitespace());
    waiting.wait_until("the first session", PATIENCE, |_| workers(&home).len() == 1);
    waiting.signal(Signal::INT);
    assert_eq!(waiting.end(SOON).code, Some(130));
    let ended = home.run(&format!("{line} --requestMb=99999999"));
    assert!(
        ended.code == Some(5) && ended.complaint().0.contains("free"),
        "{ended}"
    );
    assert_nothing_left(&home);
}

#[test]
fn memory_beyond_the_limit_is_killed_where_it_is_enforced_and_told_where_not() {
    let _turn = turn();
    let home = home();
    let line = "session --requestMb=64 --allocateMb=300 --touchMb=300 --duration=2 --json";
    let ended = home.run(line);
    let run = document(&ended.stdout);
    let main = &computations(&run)[0];
    if main["granted"]["memory_by"] == "nothing" {
        let verdict = main["verdict"].to_string();
        assert!(
            ended.code == Some(0) && verdict.contains("NOT enforced"),
            "{ended}"
        );
        assert_nothing_left(&home);
        return;
    }
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.complaint().0.contains("memory"), "{ended}");
    assert!(
        main["observed"]["out_of_memory_after_ns"].as_u64() > Some(0),
        "{main}"
    );
    assert_nothing_left(&home);
}

#[test]
fn definitions_are_data_and_filters_hold() {
    let _turn = turn();
    let home = home();
    let text = r#"{"name": "render", "computations": [
        {"name": "mcrt", "array": 2, "environment": {"PART": "$index"}},
        {"name": "merge", "accepts": ["mcrt"]}]}"#;
    let file = home.write("render.json", text);
    let line = format!("session --session {file} --duration=0.1 --bytes=1 --json");
    let run = measured(
        &home
            .run(&format!("{line} --benchmarkPath=computation_to_computation"))
            .code(0),
    );
    let names: Vec<_> = computations(&run)
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["mcrt_0", "mcrt_1", "merge"]);
    let all = format!("{line} --benchmarkPath=computations_to_computations");
    measured(&home.run(&all).code(0));
    home.write("render.json", &text.replace(r#"["mcrt"]"#, r#"["client"]"#));
    let (cause, _) = home.run(&all).code(2).complaint();
    assert!(
        cause.contains("merge does not accept messages of mcrt_0"),
        "{cause}"
    );
    let schema: Value = serde_json::from_str(&home.run("session --schema").code(0).stdout).unwrap();
    assert!(schema["properties"]["computations"].is_object());
    assert_nothing_left(&home);
}

#[test]
fn messages_of_a_session_are_encrypted_on_request() {
    let _turn = turn();
    let home = home();
    let line = "session --benchmarkPath=computation_to_computation --via=unix,tcp --route=direct,daemon --bytes=100 \
                --credits=10 --duration=0.2 --check -O encrypt=chacha20-poly1305 --json";
    let run = document(&home.run(line).code(0).stdout);
    assert_eq!(run.cases.len(), 4);
    let outcomes = run.cases.iter().flat_map(|case| &case.repetitions[0].outcomes);
    for outcome in outcomes.filter(|outcome| outcome.role != Role::Idle) {
        assert_eq!(outcome.transport_facts["data_encryption"], "chacha20-poly1305");
    }
    assert_nothing_left(&home);
}

#[test]
fn nonsense_is_refused_in_one_line_with_its_code() {
    let _turn = turn();
    let home = home();
    let path = "session --benchmarkPath=client_to_computation";
    let defined = |name: &str, computation: &str| {
        let text = format!(r#"{{"name": "x", "computations": [{computation}]}}"#);
        format!("session --duration=0 --session {}", home.write(name, &text))
    };
    let elsewhere = defined("node.json", r#"{"name": "a", "node": "render7"}"#);
    let taken = defined("name.json", r#"{"name": "router"}"#);
    for (line, code, word) in [
        ("session --benchmarkPath=client_to_moon", 2, "client_to_moon"),
        (&format!("{path} --credits=0"), 2, "credits"),
        (&format!("{path} --mb=100000 --via=shm"), 2, "limit"),
        ("session --logCount=9 --logThreads=0", 2, "--logThreads"),
        ("session --requestMb=9", 2, "9 MiB of memory are too little"),
        ("session --cores=4000 --duration=1", 5, "this host has"),
        ("session --requestMb=99999999 --duration=1", 5, "free"),
        (&elsewhere, 5, "no node \"render7\""),
        (&taken, 2, "\"router\""),
        ("session --allocateMb=1 --touchMb=2", 2, "touchMb"),
        (&format!("{path} --mb=18446744073709551615"), 2, "mb"),
        (&format!("{path} --bytes=1K..1"), 2, "bytes"),
        (&format!("{path} --via=tcp -O encrypt=rot13"), 2, "aes-256-gcm"),
        (
            &format!("{path} --via=shm -O encrypt=aes-256-gcm"),
            2,
            "for tcp, unix and udp",
        ),
        (&format!("{path} --messageSleep=5"), 2, "messageSleep"),
        (&format!("{path} --chart=one.svg"), 2, "chart"),
        ("session --dc=gld --site=http://127.0.0.1:1", 1, "127.0.0.1:1"),
        ("session --dc=gld --env=moon", 2, "moon"),
        (&format!("{path} --host 127.0.0.1 --port 1"), 1, "127.0.0.1:1"),
        ("session --dc=somewhere", 2, "somewhere"),
        ("session --env=elsewhere", 2, "elsewhere"),
    ] {
        if line.contains("--host") {
            // A client without a key is told about the key first.
            port_of(&home.start(["coordinator", "--port", "0"]));
        }
        let ended = home.run(line);
        let (cause, remedy) = ended.complaint();
        assert!(ended.code == Some(code) && cause.contains(word), "{ended}");
        assert!(!remedy.is_empty());
    }
    assert_nothing_left(&home);
}

#[test]
fn a_computation_that_dies_in_mid_stream_ends_the_session() {
    let _turn = turn();
    // One that had to be killed because it hung was killed by nobody else.
    for (path, wait, signal, told) in [
        ("client_to_computation", "poll", Signal::KILL, "signal 9"),
        ("computation_to_computation", "block", Signal::KILL, "signal 9"),
        (
            "computation_to_computation",
            "poll",
            Signal::STOP,
            "no longer answered",
        ),
    ] {
        let home = home();
        let line =
            format!("session --benchmarkPath={path} --wait {wait} --route daemon --bytes=1 --credits=10");
        let client = endless(&home, &line, 3);
        kill(workers(&home)[0], signal);
        let ended = client.end(SILENT);
        assert_eq!(ended.code, Some(1), "{ended}");
        assert!(ended.complaint().0.contains(told), "{ended}");
        assert!(section(&crate::file(&home, "result.json"))["sessions"].is_array());
        assert_nothing_left(&home);
    }
}

#[test]
fn a_computation_killed_at_its_node_is_told_with_its_signal() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let client = endless(&home, &site.line("--benchmarkPath=client_to_computation"), 2);
    kill(workers(&home)[0], Signal::KILL);
    let ended = client.end(SOON);
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.complaint().0.contains("signal 9"), "{ended}");
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn a_client_killed_outright_leaves_nothing() {
    let _turn = turn();
    let home = home();
    let client = endless(
        &home,
        "session --benchmarkPath=client_to_computation --cores=1",
        2,
    );
    client.signal(Signal::KILL);
    assert!(client.end(SOON).code.is_none());
    assert_nothing_left(&home);
}

#[test]
fn a_coordinator_places_sessions_and_outlives_everything() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let line = site.line(
        "--benchmarkPath=computation_to_computation --via shm,tcp --route direct,daemon --bytes=1 --credits=10 \
         --duration=0.2 --cores=1 --stay-connected=0.1 --json",
    );
    let run = measured(&home.run(&line).code(0));
    assert_eq!(computations(&run)[0]["node"], "here");
    assert_eq!(computations(&run).len(), 3);
    let (cause, _) = home
        .run(&site.line("--cores=4000 --duration=1"))
        .code(5)
        .complaint();
    assert!(cause.contains("here has"), "{cause}");
    let dead = home.run(&site.line("--requestMb=64 --allocateMb=300 --touchMb=300 --duration=2 --json"));
    let granted = computations(&document(&dead.stdout))[0]["granted"]["memory_by"] != "nothing";
    assert_eq!(dead.code, Some(i32::from(granted)), "{dead}");
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn a_client_of_a_coordinator_that_vanishes_ends_its_session_there() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let line = site.line("--benchmarkPath=client_to_computation");
    let client = endless(&home, &line, 2);
    client.signal(Signal::KILL);
    client.end(SOON);
    reached(SOON, || workers(&home).is_empty());
    assert_eq!(workers(&home), Vec::<u32>::new());
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn a_session_at_a_coordinator_that_is_interrupted_accounts_for_its_computations() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let line = site.line("--benchmarkPath=client_to_computation");
    let client = endless(&home, &line, 2);
    client.signal(Signal::INT);
    client.end(SOON).code(130);
    let run = crate::file(&home, "result.json");
    assert_eq!(run.status, Status::Interrupted);
    assert_eq!(computations(&run).len(), 2);
    assert!(
        computations(&run)
            .iter()
            .all(|c| c["exit"] == "ended when told to")
    );
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn a_node_killed_in_mid_run_ends_the_run_and_another_one_takes_its_place() {
    let _turn = turn();
    let home = home();
    let mut site = Site::start(&home);
    let client = endless(&home, &site.line("--benchmarkPath=client_to_computation"), 2);
    site.node.signal(Signal::KILL);
    let ended = client.end(SOON);
    assert_eq!(ended.code, Some(1), "{ended}");
    ended.complaint();
    site.node = node(&home, site.port);
    port_of(&site.node);
    // Its name is the same, so that it takes the dead one's place at once.
    site.node.wait_until("its registration", PATIENCE, |node| {
        node.stderr().contains("registered as here")
    });
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn strangers_and_garbage_get_nothing_from_the_daemons() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    for port in [site.port, site.node_port] {
        for garbage in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            &[0; 4096],
            &[255; 100_000],
            b"\x16\x03\x01\xff\xff",
        ] {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            // The daemon may hang up before all is written.
            let _ = stream.write_all(garbage);
        }
    }
    site.assert_serves(&home);
    // Somebody with a key of his own.
    let stranger = crate::home();
    stranger
        .start(["coordinator", "--port", "0"])
        .wait_until("its key", PATIENCE, |r| r.stdout().contains("listening"));
    let ended = stranger.run(&site.line("--duration=1"));
    assert_eq!(ended.code, Some(5), "{ended}");
    site.assert_serves(&home);
    site.stop();
    assert_nothing_left(&home);
}

/// A log that takes no more lines holds its flood, and neither the computation's end nor what it has done.
#[test]
fn a_log_that_nobody_reads_holds_up_the_flood_alone() {
    let _turn = turn();
    let home = home();
    let pipe = home.path("log");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // Without a reader it is no log.
    let ended = home.run("session --logCount=5 --log-to=log --duration=0 --requestMb=0");
    let (cause, remedy) = ended.complaint();
    assert!(
        cause.contains("cannot write its log log: ") && remedy.starts_with("mend what it names"),
        "{ended}"
    );
    let both = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    let ended = home.run("session --logCount=1000000 --log-to=log --duration=0.3 --requestMb=0 --json");
    let run = document(&ended.code(0).stdout);
    let main = &computations(&run)[0];
    assert_eq!(main["exit"], "ended when told to", "{main}");
    let lines = main["logged"]["lines"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&lines), "{main}");
    drop(both);
    assert_nothing_left(&home);
}

#[test]
fn a_computation_that_cannot_start_and_a_coordinator_that_dies_are_one_line_each() {
    let _turn = turn();
    let home = home();
    // Where its log cannot be, none is started.
    let ended = home.run("session --logCount=5 --log-to=/nonexistent/log --duration=5 --requestMb=0");
    let (cause, remedy) = ended.complaint();
    assert!(
        ended.code == Some(1) && cause.contains("write /nonexistent/log") && !remedy.is_empty(),
        "{ended}"
    );
    let site = Site::start(&home);
    site.coordinator.signal(Signal::KILL);
    site.coordinator.end(SOON);
    let (cause, _) = home
        .run(&format!(
            "session --host localhost --port {} --duration=0",
            site.port
        ))
        .code(1)
        .complaint();
    assert!(cause.contains(&site.port.to_string()), "{cause}");
    site.node.signal(Signal::TERM);
    site.node.end(SOON).code(0);
    assert_nothing_left(&home);
}
