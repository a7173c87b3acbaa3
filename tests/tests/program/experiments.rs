//! The options that belong to measuring as such, on every verb that measures.

use crate::{SOON, document, home, serve_file, turn};
use serde_json::Value;
use wirespeed_report::compare::Comparison;
use wirespeed_report::interference::Interference;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

/// A verb with the shortest thing that it measures; `@` is where its own options go.
const VERBS: [&str; 13] = [
    "run am_lat --via inproc -t 10ms --warmup 0 @",
    "sweep @ -- am_lat --via inproc -t 10ms --warmup 0 --size 8,64,512",
    "sweep --over window @ -- am_bw --via inproc -t 10ms --warmup 0 --window 1,4",
    "sweep --over loggp @ -- --via inproc -t 10ms --warmup 0 --size 8,64",
    "load --offered 1000,2000 @ -- --via inproc -t 20ms --warmup 0",
    "ab @ -- am_lat --via inproc -t 10ms -- am_lat --via inproc -t 10ms",
    "quick --via inproc --budget 60s @",
    "msgrate -t 10ms --pattern pair @",
    "workers -w 1 -n 5 -p 10 --via inproc @",
    "perftest --loopback -t am_lat -x inproc -n 1000 --format table @",
    "session --benchmarkPath=client_to_computation --bytes=64 --duration=0.02 @",
    "byteio bench URL @",
    "mesh --ranks 3 @ -- am_lat --via tcp -n 300 --warmup 0",
];

/// `ab` without a verdict, because two pairs tell nothing.
const NO_VERDICT: i32 = 4;
/// A mesh that found something slow: ranks of a busy machine are.
const SLOW: i32 = 3;

/// A user with a served file, and every verb with `options`.
fn each(options: &str) -> (Home, Running, Vec<String>) {
    let home = home();
    let (server, url) = serve_file(&home);
    let lines = VERBS.map(|verb| verb.replace('@', options).replace("URL", &url));
    (home, server, lines.into())
}

fn done(home: &Home, line: &str) -> wirespeed_tests::running::Ended {
    let ended = home.run(line);
    let slow = line.starts_with("mesh") && ended.code == Some(SLOW);
    assert!(slow || matches!(ended.code, Some(0 | NO_VERDICT)), "{ended}");
    ended
}

#[test]
fn repetitions_are_counted_and_their_order_has_a_seed() {
    let _turn = turn();
    let (home, _server, lines) = each("--repeats 2 --seed 7 --cpus none --live --json --output rows.csv");
    for line in lines {
        let ended = done(&home, &line);
        assert!(ended.stderr.contains("--live shows nothing"), "{ended}");
        let run = document(&ended.stdout);
        for case in run.cases.iter().filter(|case| case.status != CaseStatus::Skipped) {
            assert!(case.repetitions.len() >= 2, "{line}: {}", case.repetitions.len());
            assert!(case.case.ranks.iter().all(|rank| rank.cpu.is_none()), "{line}");
        }
        let seeds = ["order", "sweep", "load"].map(|name| {
            let section = run.sections.named(name);
            section.map(|section| section["seed"].clone())
        });
        assert!(seeds.iter().flatten().any(|seed| *seed == 7), "{line}: {seeds:?}");
        let rows = std::fs::read_to_string(home.path("rows.csv")).unwrap();
        assert!(rows.lines().count() > 1, "{line}");
        std::fs::remove_file(home.path("rows.csv")).unwrap();
    }
}

#[test]
fn cases_are_measured_without_and_with_load() {
    let _turn = turn();
    let (home, _server, lines) = each("--repeats 2 --interference=cpu=1@beside --json");
    for line in lines {
        let run = document(&done(&home, &line).stdout);
        let found = run
            .sections
            .get::<Interference>()
            .unwrap_or_else(|| panic!("{line}: no section"));
        assert!(
            !found.work.is_empty() || !found.rows.is_empty(),
            "{line}: {found:?}"
        );
        let loaded = |case: &&wirespeed_schema::run::CaseResult| {
            case.case.ranks.iter().any(|rank| !rank.load.is_idle())
        };
        assert!(run.cases.iter().any(|case| loaded(&case)), "{line}");
    }
}

#[test]
fn cases_are_repeated_until_they_are_known() {
    let _turn = turn();
    let (home, _server, lines) = each("--until rate:90% --repeats 5 --json");
    for line in lines {
        // A goal that a case has no figure for is never reached, and said so.
        let run = document(&done(&home, &line).stdout);
        let measured = run.cases.iter().filter(|case| case.status != CaseStatus::Skipped);
        for case in measured {
            assert!(case.convergence.is_some(), "{line}: {}", case.case.label());
        }
    }
}

#[test]
fn events_name_the_cases_that_they_belong_to() {
    let _turn = turn();
    let (home, _server, lines) = each("--repeats 2 --ndjson");
    for line in lines {
        let ended = done(&home, &line);
        let events = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let events: Vec<Value> = events.collect();
        let numbers = |name: &str| -> Vec<u64> {
            let of = events.iter().filter(|event| event["event"] == name);
            let mut numbers: Vec<u64> = of.map(|event| event["case"].as_u64().unwrap()).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        assert!(!numbers("case_started").is_empty(), "{ended}");
        assert_eq!(numbers("case_started"), numbers("case_finished"), "{line}");
        assert_eq!(events.last().unwrap()["event"], "run_finished", "{line}");
    }
}

#[test]
fn cases_are_shown_and_nothing_is_measured() {
    let _turn = turn();
    let (home, _server, lines) = each("--repeats 3 --dry-run");
    for line in lines {
        let ended = home.run(&line).code(0);
        assert!(
            !ended.stdout.is_empty() && !ended.stdout.contains("p50"),
            "{ended}"
        );
    }
}

#[test]
fn cases_are_shown_as_json() {
    let _turn = turn();
    let (home, _server, lines) = each("--repeats 3 --dry-run --json");
    for line in lines {
        let ended = home.run(&line).code(0);
        let shown: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {ended}"));
        let count = shown["cases"].as_array().map_or(0, Vec::len);
        assert!(count > 0, "{ended}");
    }
}

#[test]
fn the_wish_to_end_is_heard() {
    let _turn = turn();
    let (home, server, lines) = each("--repeats 10000 --ndjson --output result.json");
    for line in lines {
        let running = home.start(line.split_whitespace());
        running.wait_until("a case", PATIENCE, |r| {
            r.stdout().contains("\"event\":\"case_started\"")
        });
        running.signal(rustix::process::Signal::INT);
        running.end(PATIENCE).code(130);
        assert_eq!(
            crate::file(&home, "result.json").status,
            Status::Interrupted,
            "{line}"
        );
    }
    drop(server);
    home.assert_nothing_left(SOON);
}

/// An interruption takes no answer away that the pairs before it give.
#[test]
fn pairs_before_the_wish_to_end_are_compared() {
    let home = home();
    let arm = "-- latency --via inproc --threads 2 -n 1k --warmup 1";
    let line = format!("ab --pairs 10000 --ndjson --output result.json {arm} {arm}");
    let running = home.start(line.split_whitespace());
    running.wait_until("pairs", PATIENCE, |r| r.stdout().contains("\"repetition\":12"));
    running.signal(rustix::process::Signal::INT);
    running.end(PATIENCE).code(130);
    let run = crate::file(&home, "result.json");
    assert_eq!(run.status, Status::Interrupted);
    let found = run.sections.get::<Comparison>().expect("the arms are compared");
    assert!(found.rows.iter().all(|row| row.lower.is_some()), "{found:?}");
    let told = home.run("report result.json").code(0).stdout;
    assert!(
        told.contains(" of B is ") && told.contains("Incomplete: "),
        "{told}"
    );
}

#[test]
fn pairs_of_machines_refuse_what_does_not_reach_their_readers() {
    let home = home();
    home.write(
        "pairs.toml",
        "pairs = [\"a -> b\"]\n[[machine]]\nname = \"a\"\n[[machine]]\nname = \"b\"\nurl = \"http://b/f\"\n",
    );
    for option in [
        "--until rate:5%",
        "--interference=cpu",
        "--seed 7",
        "--cpus 0",
        "--live",
        "--put pairs.toml",
        "--into copy",
        "--nominal 1Gb/s",
        "--key key",
        "--identity text",
    ] {
        let ended = home
            .run(&format!("byteio bench --pairs pairs.toml {option}"))
            .code(2);
        assert!(ended.complaint().0.contains("at its reader"), "{ended}");
    }
}

#[test]
fn nonsense_is_refused_by_all() {
    for nonsense in [
        "--repeats 0",
        "--repeats many",
        "--until soon",
        "--until p50:2% --until-time 5",
        "--until-time 5s",
        "--interference=disk",
        "--interference=cpu,cpu",
        "--seed -1",
        "--cpus 0,x",
        "--live --quiet",
    ] {
        for verb in VERBS {
            let line = verb.replace('@', nonsense).replace("URL", "http://127.0.0.1:1/f");
            let ended = home().run(&line).code(2);
            assert!(!ended.complaint().1.is_empty(), "{ended}");
        }
    }
}

/// An original's form on stdout is the original's alone; whether a goal was reached is told beside it.
#[test]
fn a_goal_that_was_missed_is_told_beside_every_original() {
    let _turn = turn();
    for verb in [
        "perftest -l -t am_lat -x inproc -n 100 -f",
        "msgrate --format classic -i 3 -c 64K",
        "msgrate --format classic -o -i 3 -c 64K",
        "session --format classic --benchmarkPath=client_to_computation --bytes=1 --duration=0.1",
    ] {
        let goal = "--until rate:0.01% --until-time 1ms";
        let goal = match verb.starts_with("perftest") {
            true => goal.replace("rate", "p50"),
            false => goal.to_owned(),
        };
        let ended = home().run(&format!("{verb} {goal}")).code(0);
        assert!(ended.stderr.contains("not reached after 1 run"), "{ended}");
        assert!(ended.stderr.contains("remedy: allow more time"), "{ended}");
        assert!(!ended.stdout.contains("not reached"), "{ended}");
        // One of the four patterns had time to run.
        if verb.starts_with("msgrate") {
            assert_eq!(
                ended.stderr.matches("skipped: the time of the goal").count(),
                3,
                "{ended}"
            );
        }
        if verb.contains(" -o ") {
            assert!(ended.stdout.ends_with(" partial\n"), "{ended}");
        }
    }
}

/// What `ab` measured is whole, and one document, whatever else fails.
#[test]
fn what_two_arms_gave_is_not_lost() {
    let _turn = turn();
    let home = home();
    let arms = "-- latency --via inproc -t 5ms -- latency --via inproc -t 5ms";
    std::os::unix::fs::symlink("/dev/full", home.path("verdict.xml")).unwrap();
    let ended = home
        .run(&format!("ab --pairs 3 -q --junit verdict.xml -o ab.json {arms}"))
        .code(1);
    assert!(ended.complaint().0.contains("verdict.xml"), "{ended}");
    assert_eq!(crate::file(&home, "ab.json").cases.len(), 2);
    let ended = home.run(&format!("ab --pairs 3 --json --figure rate {arms}"));
    assert_eq!(crate::document(&ended.stdout).cases.len(), 2, "{ended}");
    assert!(
        ended.code != Some(0) && !ended.complaint().1.is_empty(),
        "{ended}"
    );
    std::fs::write(
        home.path("a.toml"),
        "repeats = 9\n[[case]]\ntest = \"latency\"\nvia = \"inproc\"\n",
    )
    .unwrap();
    let ended = home.run("ab -- a.toml -- a.toml").code(2);
    assert!(ended.complaint().0.contains("repeats"), "{ended}");
}
