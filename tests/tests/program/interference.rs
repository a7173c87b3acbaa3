//! `--interference` from outside: the result says what each load did, and nothing is left running.

use crate::{SOON, document, file, home, turn};
use wirespeed_report::interference::Interference;
use wirespeed_tests::deadline::PATIENCE;

#[test]
fn each_case_is_measured_without_and_with_each_load() {
    let _turn = turn();
    let home = home();
    let line = "run am_lat,am_bw --via inproc -t 20ms --warmup 0 --repeats 2 --seed 5 \
                --interference=cpu@beside,cache=1@beside,none --json";
    let run = document(&home.run(line).code(0).stdout);
    assert_eq!(run.cases.len(), 8, "two cases, each without load and with three");
    let found = run.sections.get::<Interference>().expect("a section");
    assert_eq!((found.seed, found.rounds), (5, 2));
    let loads: Vec<&str> = found.work.iter().map(|work| work.loaded.load.as_str()).collect();
    assert_eq!(
        loads,
        ["cpu@beside", "cache=1@beside", "cpu@beside", "cache=1@beside"]
    );
    for work in &found.work {
        assert!(work.per_s.values().all(|per_s| per_s.get() > 0.0), "{work:?}");
    }
    assert!(!found.rows.is_empty());
    for case in &run.cases {
        assert_eq!(case.repetitions.len(), 2);
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn an_interruption_keeps_what_was_measured_and_leaves_no_load() {
    let _turn = turn();
    let home = home();
    let line = "run am_lat --via shm -t 200ms --warmup 0 --interference=cpu --cpus none --repeats 500 --ndjson -o a.json";
    let running = home.start(line.split_whitespace());
    // Two of four runs are with load: by then there is one of each, whatever their order.
    running.wait_until("the fourth run", PATIENCE, |running| {
        running.stdout().matches("\"event\":\"case_started\"").count() >= 4
    });
    running.signal(rustix::process::Signal::INT);
    let ended = running.end(PATIENCE).code(130);
    let run = file(&home, "a.json");
    let found = run.sections.get::<Interference>().expect("a section");
    assert!(!found.work.is_empty(), "{ended}");
    home.assert_nothing_left(SOON);
}

#[test]
fn streams_of_one_session_are_compared_with_load_inside_of_their_ends() {
    let _turn = turn();
    let home = home();
    let line = "session --benchmarkPath=computation_to_client --bytes=64 --credits=1 --duration=0.05 --repeat=2 \
                --interference=cpu=1@beside,none -o result.json --json";
    let run = document(&home.run(line).code(0).stdout);
    assert_eq!(run.cases.len(), 3, "one stream, without load and with two");
    let found = run.sections.get::<Interference>().expect("a section");
    assert_eq!((found.rounds, found.work.len()), (2, 1));
    assert!(found.work[0].per_s["cpu_loops"].get() > 0.0, "{:?}", found.work);
    assert!(!found.rows.is_empty());
    let sessions = run.sections.named("session").unwrap()["sessions"]
        .as_array()
        .map(Vec::len);
    assert_eq!(sessions, Some(1), "all rounds are in one session");
    let page = home.run("report result.json -o page.html").code(0);
    let page = std::fs::read_to_string(home.path("page.html")).unwrap_or_else(|e| panic!("{e}: {page}"));
    assert!(page.contains("With load against without"));
    let told = home.run("explain result.json").code(0);
    assert!(told.stdout.contains("under cpu=1@beside"), "{told}");
    for (words, said) in [
        ("--duration=1", "streams of messages"),
        (
            "--benchmarkPath=client_to_computation --format classic",
            "streams of messages",
        ),
    ] {
        let ended = home.run(&format!("session --interference=cpu {words}")).code(2);
        assert!(ended.complaint().0.contains(said), "{words}: {ended}");
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_runs() {
    let home = home();
    for (words, said) in [
        ("--interference=disk", "no such load"),
        ("--interference=cpu@there", "no such place"),
        ("--interference=cpu,cpu", "twice"),
        ("--interference=cpu=0", "threads"),
        ("--interference=cpu@same --cpus none", "not pinned"),
        ("--interference=cpu --load cpu=1", "a load of its own"),
    ] {
        let ended = home
            .run(&format!("run am_lat --via inproc --iters 10 {words}"))
            .code(2);
        assert!(ended.complaint().0.contains(said), "{words}: {ended}");
    }
    let ended = home
        .run("ab --pairs 1 --aa -- am_lat --via inproc --interference=cpu")
        .code(2);
    assert!(ended.complaint().0.contains("--interference"), "{ended}");
}
