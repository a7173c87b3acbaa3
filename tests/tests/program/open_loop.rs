//! Offered rates from outside: sessions with a slow reader and transfers over slots of known number. What a bottleneck
//! carries has a bound that no machine exceeds, and a response takes at least as long as its acknowledgement. That the lower
//! of two rates is carried, and that times rise with load, the self-test shows in virtual time.

use crate::{SOON, document, file, home, serve_file, turn};
use wirespeed_report::curve::section::{LoadSection, Offers, load_point};
use wirespeed_schema::Run;
use wirespeed_schema::outcome::SampleKind;
use wirespeed_tests::deadline::PATIENCE;

const SLOW_READER: &str =
    "session --benchmarkPath=computation_to_client --bytes=64 --credits=4 --messageSleep=5ms";

fn figure(run: &Run, case: usize, tag: &str) -> f64 {
    let metric = run.cases[case].metrics.get(tag);
    metric
        .unwrap_or_else(|| panic!("case {case} has no {tag}: {:?}", run.cases[case].metrics.keys()))
        .value
        .get()
}

/// Answers to what was offered first.
fn responses(run: &Run) -> u64 {
    let outcomes = run.cases[0]
        .repetitions
        .iter()
        .flat_map(|repetition| &repetition.outcomes);
    let answers = outcomes.filter_map(|outcome| outcome.samples_of(SampleKind::Response));
    answers.map(|samples| samples.histogram.count).max().unwrap_or(0)
}

/// The section of a load curve, whose higher rate nothing can carry.
fn section(run: &Run, higher_per_s: f64) -> LoadSection {
    let section = run.sections.get::<LoadSection>().expect("a section");
    // A machine that stands still may not carry the lower one either.
    let saturated = section.saturated_msg_per_s.map(|rate| rate.get());
    assert!(saturated.is_some_and(|rate| rate <= higher_per_s), "{section:?}");
    let points: Vec<_> = run.cases.iter().filter_map(load_point).collect();
    assert!(
        matches!(&points[..], [_, high] if high.offered_per_s == higher_per_s && high.is_saturated()),
        "what is not held back is no point: {points:?}"
    );
    section
}

#[test]
fn a_session_at_offered_rates_finds_its_bottleneck() {
    let _turn = turn();
    let home = home();
    let line = format!(
        "{SLOW_READER} --duration=1 --repeat=1 --offered=50,2k --p99=1s --seed=7 -o curve.json --json"
    );
    let run = document(&home.run(&line).code(0).stdout);
    let section = section(&run, 2000.0);
    assert_eq!((section.seed, section.offers), (7, Offers::Messages));
    let answered = responses(&run);
    assert!(
        (1..=50).contains(&answered),
        "{answered} of the fifty that are due in a second"
    );
    // Five milliseconds a message: nothing carries more than 200 a second.
    let most = section.most_msg_per_s.get();
    assert!(most > 0.0 && most <= 200.0, "{section:?}");
    let achieved: Vec<f64> = run
        .cases
        .iter()
        .filter_map(load_point)
        .map(|point| point.achieved_per_s)
        .collect();
    assert!(achieved[1] <= 200.0, "{achieved:?}");
    // A sender that is held up sends late: only the response shows it.
    assert!(figure(&run, 1, "response_p50_ns") > figure(&run, 1, "ack_p50_ns"));
    assert!(
        figure(&run, 0, "ack_p50_ns") >= 5e6,
        "each waits for the reader's sleep"
    );
    let sessions = run.sections.named("session").unwrap()["sessions"]
        .as_array()
        .map(Vec::len);
    assert_eq!(sessions, Some(1), "all rates are in one session");
    assert_eq!(file(&home, "curve.json").cases.len(), 3);
    let told = home.run("explain curve.json").code(0);
    assert!(told.stdout.contains("msg/s with no rate set."), "{told}");
    let table = home
        .run(&format!(
            "{SLOW_READER} --duration=0.1 --repeat=1 --offered=50,100,150,2k"
        ))
        .code(0);
    for word in [
        "offered",
        "achieved",
        "response p50",
        "saturated",
        "session benchmark",
    ] {
        assert!(table.stdout.contains(word), "{word}: {table}");
    }
    // The same rates are the same question.
    home.run(&format!("{line} -o again.json -q")).code(0);
    let compared = home.run("compare curve.json again.json --json");
    let text = compared.stdout.clone();
    assert!(text.contains("response_p50_ns"), "{compared}");
    home.assert_nothing_left(SOON);
}

#[test]
fn requests_of_a_transfer_are_offered_and_timed_from_when_they_were_due() {
    let _turn = turn();
    let home = home();
    let (_server, url) = serve_file(&home);
    // Two blocks: the four requests that are under way at once are more than it has, however slow they are.
    let small = "x".repeat(6000);
    home.write("served/small", &small);
    let of_small = url.replace("/f", "/small");
    for mechanism in ["http", "bulk", "mtom"] {
        let line = format!(
            "byteio bench {of_small} --mechanism {mechanism} --block-size 4K --threads 2 --depth 2 --duration 400ms \
             --repeats 1 --offered 100,100000000 --p99 10s --json -o {mechanism}.json"
        );
        let run = document(&home.run(&line).code(0).stdout);
        assert_eq!(section(&run, 1e8).offers, Offers::Requests);
        // More than the resource has: it goes round.
        let received = run.cases[2].repetitions[0].outcomes[0].received.bytes;
        assert!(received > small.len() as u64, "{mechanism}: {received} bytes");
        let bulk = run.cases[0].case.test.bulk().cloned().unwrap();
        assert_eq!(bulk.pace_interval_ns, Some(10_000_000), "rising rates");
        let answered = responses(&run);
        assert!(
            (1..=40).contains(&answered),
            "{mechanism}: {answered} of the forty that are due"
        );
        assert!(figure(&run, 1, "response_p50_ns") > figure(&run, 1, "completion_p50_ns"));
        let runs = &run.sections.named("byteio").unwrap()["pairs"][0]["runs"][0]["answers"];
        assert!(
            runs["count"] == answered && runs.get("samples").is_none(),
            "{runs}"
        );
    }
    let page = home.run("report http.json bulk.json -o page.html").code(0);
    let page = std::fs::read_to_string(home.path("page.html")).unwrap_or_else(|e| panic!("{e}: {page}"));
    assert!(page.contains("req/s with no rate set."));
    home.write("source", &"x".repeat(300_000));
    let put = format!(
        "byteio bench {url} --put source --mechanism http --block-size 64K --duration 200ms --repeats 1 --offered 50 --csv"
    );
    let rows = home.run(&put).code(0).stdout;
    assert!(
        rows.lines().nth(1).is_some_and(|row| row.contains("bulk_put")),
        "{rows}"
    );
    let dry = home
        .run(&format!("byteio bench {url} --offered auto --points 5 --dry-run"))
        .code(0);
    assert!(
        dry.stdout
            .contains("5 rates up to what is carried, 3 runs of each, 2 s each"),
        "{dry}"
    );
}

#[test]
fn an_interruption_keeps_the_rates_that_were_measured() {
    let _turn = turn();
    let home = home();
    let (server, url) = serve_file(&home);
    let lines = [
        format!("{SLOW_READER} --duration=0.3 --repeat=100 --offered=20,40 --ndjson -o result.json"),
        format!("byteio bench {url} --duration 300ms --repeats 100 --offered 20,40 --ndjson -o result.json"),
    ];
    for line in lines {
        let running = home.start(line.split_whitespace());
        // What is not held back comes first, a run after the other.
        running.wait_until("the third run", PATIENCE, |running| {
            running.stdout().matches("\"event\":\"case_started\"").count() >= 3
        });
        running.signal(rustix::process::Signal::INT);
        let ended = running.end(PATIENCE).code(130);
        let run = file(&home, "result.json");
        assert!(
            run.sections
                .get::<LoadSection>()
                .is_some_and(|s| s.most_msg_per_s.get() > 0.0),
            "{ended}"
        );
    }
    drop(server);
    home.assert_nothing_left(SOON);
}

#[test]
fn rates_that_cannot_be_offered_are_refused_before_anything_runs() {
    let home = home();
    let path = "session --benchmarkPath=client_to_computation";
    let bench = "byteio bench http://127.0.0.1:1/f";
    for (line, said) in [
        (format!("{path} --offered=0"), "no rate that can be offered"),
        (format!("{path} --offered=-5"), "no rate"),
        (format!("{path} --offered=0.5"), "no rate"),
        (format!("{path} --offered=1e99"), "no rate"),
        (format!("{path} --offered=5G"), "no rate"),
        (format!("{path} --offered=1,,2"), "no rates"),
        (format!("{path} --offered=9..1"), "no rates"),
        (format!("{path} --offered=1..1000:+1"), "100 rates"),
        (format!("{path} --offered=soon"), "no rate"),
        (format!("{path} --offered=10 --points=5"), "--points"),
        (format!("{path} --p99=1ms"), "--offered"),
        (format!("{path} --offered=auto --p99=soon"), "--p99"),
        (format!("{path} --offered=auto --p99=0s"), "--p99"),
        (format!("{path} --offered=auto --bytes=1,2"), "2 streams"),
        (format!("{path} --offered=auto --format=classic"), "--format"),
        (
            format!("{path} --offered=auto --chart=x.svg"),
            "cannot be used with",
        ),
        ("session --offered=auto".to_owned(), "nothing sends"),
        (
            "session --benchmarkPath=computations_to_computations --offered=auto".to_owned(),
            "no response times",
        ),
        (format!("{bench} --offered 0"), "no rate"),
        (format!("{bench} --offered inf"), "no rate"),
        (format!("{bench} --offered 0.5"), "not even two requests"),
        (format!("{bench} --offered auto --duration 0s"), "--duration"),
        (format!("{bench} --offered auto --duration 2d"), "--duration"),
        (format!("{bench} --offered auto --duration 48h"), "--duration"),
        (format!("{bench} --duration 1s"), "--offered"),
        (format!("{bench} --offered auto --verify crc32c"), "--verify"),
        (format!("{bench} --offered auto --sweep"), "cannot be used with"),
        (format!("{bench} --offered auto --into x"), "cannot be used with"),
        ("load -- --via inproc --interference".to_owned(), "--interference"),
        ("load --offered 0 -- --via inproc".to_owned(), "no rate"),
        (
            "load --offered 10 --points 4 -- --via inproc".to_owned(),
            "--points",
        ),
    ] {
        let ended = home.run(&line).code(2);
        let (cause, remedy) = ended.complaint();
        assert!(cause.contains(said) || remedy.contains(said), "{line}: {ended}");
    }
}

#[test]
fn named_rates_of_load_meet_in_a_comparison() {
    let _turn = turn();
    let home = home();
    for name in ["a.json", "b.json"] {
        let line =
            format!("load --trials 2 --offered 500,1k -q -o {name} -- --via unix -t 60ms --warmup 5ms");
        home.run(&line).code(0);
    }
    let run = file(&home, "a.json");
    let rates: Vec<f64> = run
        .cases
        .iter()
        .filter_map(load_point)
        .map(|p| p.offered_per_s)
        .collect();
    assert_eq!(rates, [500.0, 1000.0]);
    let compared = home.run("compare a.json b.json --json");
    assert!(compared.stdout.contains("response_p50_ns"), "{compared}");
}
