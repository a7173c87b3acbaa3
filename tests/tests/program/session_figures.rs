//! What sessions report of themselves: queues, phases of their lives, wake-ups, pictures; and the options that say when
//! they start and how long they stay.

use crate::sessions::{Site, assert_nothing_left, computations, measured, section};
use crate::{document, home, turn};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};
use wirespeed_schema::Run;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

#[test]
fn every_session_of_a_staggered_start_waits_its_turn() {
    let _turn = turn();
    let home = home();
    let began = Instant::now();
    let line =
        "session --sessions=3 --delay-start=0.4 --duration=0 --stay-connected=0.5 --requestMb=0 --json";
    let run = document(&home.run(line).code(0).stdout);
    // The third one begins 0.8 s after the first; all stay connected for half a second, which no phase counts.
    assert!(began.elapsed() >= Duration::from_millis(1300));
    for phase in section(&run)["phases"].as_array().unwrap() {
        assert!(phase["p50_ns"].as_f64().unwrap() > 0.0, "{phase}");
    }
    assert_nothing_left(&home);
}

#[test]
fn the_time_to_stay_connected_is_never_counted() {
    let _turn = turn();
    let home = home();
    let began = Instant::now();
    let line =
        "session --benchmarkPath=client_to_computation --bytes=1 --duration=0.3 --stay-connected=2 --json";
    let run = measured(&home.run(line).code(0));
    let measured = Duration::from_nanos(run.cases[0].repetitions[0].outcomes[0].elapsed_ns);
    assert!(measured >= Duration::from_millis(299), "{measured:?}");
    assert!(
        began.elapsed() >= measured + Duration::from_secs(2),
        "{measured:?}"
    );
    assert_nothing_left(&home);
}

#[test]
fn what_queues_is_told_on_every_path() {
    let _turn = turn();
    let home = home();
    for (path, credits) in [
        ("client_to_computation", 1),
        ("computation_to_client", 10),
        ("computation_to_computation", 1_000_000_000),
        ("computations_to_computations", 7),
    ] {
        let line = format!(
            "session --benchmarkPath={path} --computations 3 --bytes=16K --credits={credits} --duration=0.4 \
             --requestMb=0 --json"
        );
        let run = measured(&home.run(&line).code(0));
        let queue = &section(&run)["queues"][0];
        let behind = queue["unacknowledged_max_msgs"].as_u64().unwrap();
        assert!((1..=credits).contains(&behind), "{path}: {queue}");
        assert_eq!(queue["unacknowledged_max_bytes"], behind * (16 << 10));
        // Back-pressure, not memory, holds a flood.
        let resident = queue["resident_max_bytes"].as_u64().unwrap();
        assert!((1 << 20..200 << 20).contains(&resident), "{path}: {queue}");
        assert!(queue["ack_max_ns"].as_f64() > Some(0.0), "{path}: {queue}");
    }
    assert_nothing_left(&home);
}

#[test]
fn a_slow_client_holds_the_stream_up() {
    let _turn = turn();
    let home = home();
    let line = "session --benchmarkPath=computation_to_client --bytes=1 --credits=4 --requestMb=0 --json";
    // Seconds that do for some messages on a machine that is busy.
    let mut runs = ["0.5", "5", "50"].into_iter().map(|duration| {
        let line = format!("{line} --messageSleep=5000 --duration={duration}");
        measured(&home.run(&line).code(0))
    });
    let is_enough = |run: &Run| run.cases[0].repetitions[0].outcomes[0].received.messages > 8;
    let run = runs.find(is_enough).expect("more than eight messages in 50 s");
    let client = &run.cases[0].repetitions[0].outcomes[0];
    // Every message takes its 5 ms; the last ones, as many as there are credits, may be slept through after the end.
    let within = client.received.messages.saturating_sub(4);
    assert!(within * 5_000_000 <= client.elapsed_ns, "{within}: {client:?}");
    assert_nothing_left(&home);
}

#[test]
fn an_idle_computation_sleeps() {
    let _turn = turn();
    let home = home();
    let line = "session --computations=2 --requestMb=0 --duration=5 --json";
    let run = document(&home.run(line).code(0).stdout);
    for computation in computations(&run) {
        let seen = &computation["observed"];
        // Of its own there is none; the go itself is one, and noise of a busy machine adds none.
        assert!(seen["wakeups_per_s"].as_f64() <= Some(2.0), "{computation}");
        assert!(seen["cores_used"].as_f64() < Some(0.01), "{computation}");
    }
    assert_nothing_left(&home);
}

/// Embedded or at a node, one that has no part in a stream sleeps while the others have one.
#[test]
fn an_uninvolved_computation_sleeps_during_a_stream() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    for place in [String::new(), format!("--host localhost --port {}", site.port)] {
        for path in ["client_to_computation", "computation_to_client"] {
            let line =
                format!("session --benchmarkPath={path} {place} --bytes=1 --credits=10 --duration=2 --json");
            let run = measured(&home.run(&line).code(0));
            let seen = &computations(&run)[1]["observed"];
            // A tick of a millisecond would be a thousand; control has a word to say now and then.
            assert!(
                seen["wakeups_per_s"].as_f64() < Some(50.0),
                "{path} {place}: {seen}"
            );
        }
    }
    site.stop();
    assert_nothing_left(&home);
}

/// Messages of `size`, by the words for it, with the memory that a session asks for by itself; their ends need `needed`.
fn large_messages(words: &str, size: u64, needed: u64) {
    let _turn = turn();
    let available = wirespeed::host::available_bytes();
    if available < needed {
        return skip(&format!(
            "{needed} bytes of memory are needed, {available} are available"
        ));
    }
    let home = home();
    for via in ["tcp", "unix"] {
        let line = format!(
            "session --benchmarkPath=client_to_computation --via={via} {words} --credits=1 --duration=0.1 --json"
        );
        let run = measured(&home.run(&line).code(0));
        assert_eq!(run.cases[0].case.test.size_bytes(), size);
        let asked = computations(&run)[0]["asked"]["memory_bytes"].as_u64().unwrap();
        assert!(asked > 2 << 30, "{asked}");
    }
    assert_nothing_left(&home);
}

#[test]
fn large_messages_fit_into_the_memory_that_is_asked_for() {
    large_messages("--mb=700", 700 << 20, 6 << 30);
}

#[test]
#[ignore = "moves messages of 4 GiB"]
fn the_largest_messages_fit_into_the_memory_that_is_asked_for() {
    large_messages("--mb=4095 --bytes=1048575", u64::from(u32::MAX), 18 << 30);
}

#[test]
fn a_sweep_of_sizes_is_one_picture() {
    let _turn = turn();
    let home = home();
    let line = "session --benchmarkPath=client_to_computation --mb=0,1 --bytes=1K,64K --credits=10 --duration=0.1 \
                --route direct,daemon --requestMb=0 --chart sizes.svg --json -o sizes.json";
    let run = measured(&home.run(line).code(0));
    assert_eq!(run.cases.len(), 8);
    let told = home.run("explain sizes.json --json").code(0);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    let sentences = told["sentences"].as_array().unwrap().iter();
    let all: Vec<&str> = sentences
        .map(|sentence| sentence["text"].as_str().unwrap())
        .collect();
    // Where the peak is, the machine decides; where it is the largest size, none was shown. Each curve says it once.
    for route in ["unix am_bw: ", "unix through the daemon am_bw: "] {
        let words = [
            "a peak of ",
            "the bandwidth still rises at the largest size tried, ",
            "the bandwidth is best at the largest size tried, ",
        ];
        let is_said = |text: &&&str| {
            words
                .iter()
                .any(|words| text.starts_with(&format!("{route}{words}")))
        };
        assert_eq!(all.iter().filter(is_said).count(), 1, "{route}{all:?}");
    }
    let picture = std::fs::read_to_string(home.path("sizes.svg")).unwrap();
    assert!(
        picture.starts_with("<svg") && picture.contains("through the daemon"),
        "{picture:.200}"
    );
    assert_nothing_left(&home);
}

#[test]
fn a_service_of_the_site_leads_to_the_coordinator() {
    let _turn = turn();
    let home = home();
    let site = Site::start(&home);
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", service.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 200 OK\r\n\r\nhttp://127.0.0.1:{}/coordinator/1/sessions",
        site.port
    );
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = service.accept().unwrap();
        let mut request = [0; 4096];
        let count = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let mut command = home.command("session --dc=gld --duration=0 --requestMb=0 --json".split(' '));
    command.env("DWA_CONFIG_SERVICE", url);
    let run = document(&Running::start(command).end(PATIENCE).code(0).stdout);
    assert_eq!(section(&run)["coordinator"], format!("127.0.0.1:{}", site.port));
    let asked = serving.join().unwrap();
    assert!(
        asked.starts_with("GET /serve/jose/arras/endpoints/gld/prod/coordinator/url "),
        "{asked}"
    );
    site.stop();
    assert_nothing_left(&home);
}

#[test]
fn storms_of_sessions_come_and_go() {
    let _turn = turn();
    let home = home();
    let line =
        "session --sessions=64 --repeat=2 --computations=2 --requestMb=0 --duration=0 --phased-start --json";
    let run = document(&home.run(line).code(0).stdout);
    let sessions = section(&run)["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 128);
    let phases = section(&run)["phases"].as_array().unwrap();
    let names: Vec<_> = phases
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["request_to_ready", "request_to_go", "end_to_gone"]);
    for phase in phases {
        let ns = |name: &str| phase[name].as_f64().unwrap();
        assert_eq!(phase["sessions"], 128);
        assert!(
            ns("p50_lower_ns") <= ns("p50_ns") && ns("p50_ns") <= ns("p90_ns"),
            "{phase}"
        );
        assert!(
            ns("p90_ns") <= ns("max_ns") && phase.get("p99_ns").is_none(),
            "{phase}"
        );
    }
    for session in sessions {
        assert!(session["life"]["ready_ns"].as_u64() > Some(0), "{session}");
        assert_eq!(session["computations"].as_array().map(Vec::len), Some(2));
    }
    assert_nothing_left(&home);
}

#[test]
fn credits_are_the_messages_under_way() {
    let _turn = turn();
    let home = home();
    let line = "session --benchmarkPath=client_to_computation --via unix --wait block --bytes=1 --json --duration=0.3";
    for (credits, most) in [("1", 1), ("10", 10), ("1000000000", 1_000_000)] {
        let run = measured(&home.run(&format!("{line} --credits={credits}")).code(0));
        let facts = &run.cases[0].repetitions[0].outcomes[0].transport_facts;
        let under_way: u64 = facts["unacknowledged_max_msgs"].parse().unwrap();
        assert!((1..=most).contains(&under_way), "{credits}: {under_way}");
    }
    assert_nothing_left(&home);
}
