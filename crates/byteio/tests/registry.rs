//! The five mechanisms as entries of the registry, measured by the engine like every other transport: the same fields, filled
//! by every one of them; bytes that arrive; refusals before anything is opened; an end as soon as it is asked for.

mod common;

use common::{Running, data, get};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use wirespeed::transport::Service;
use wirespeed::transport::cancel::{Cancel, CancelReason};
use wirespeed::{MeasureError, Registry, ThreadBootstrap, measure};
use wirespeed_byteio::client::{Claim, Target, Way};
use wirespeed_byteio::transport::{case_options, join, service};
use wirespeed_schema::case::{Case, GroupKind, RankSpec, Role, Stop, TransportOptions};
use wirespeed_schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed_schema::test::{Bulk, Test};

const SIZE: u64 = 1_234_567;
const BLOCK: u64 = 100_000;

fn registry() -> Registry {
    join(Registry::empty())
}

fn case(way: Way, is_put: bool) -> Case {
    let shape = Bulk::new(BLOCK, SIZE, 3, 2);
    let (test, role) = match is_put {
        true => (Test::BulkPut(shape), Role::Source),
        false => (Test::BulkGet(shape), Role::Sink),
    };
    Case::new(test, way.transport())
        .with_group(GroupKind::Hosts)
        .with_ranks(vec![RankSpec::new(role)])
        .with_stop(Stop::Iterations {
            count: SIZE.div_ceil(BLOCK),
        })
        .with_warmup(0, 0)
}

fn run(case: &Case, service: Service) -> Result<Outcome, MeasureError> {
    let rank = ThreadBootstrap::group(1).remove(0).with_service(service);
    measure(case, &registry(), &rank, &mut |_| ())
}

fn at(running: &Running, path: &str) -> Service {
    Service::at(running.url(path).to_string())
}

fn served(folder: &Path) -> Running {
    std::fs::write(folder.join("f"), data(SIZE as usize)).unwrap();
    Running::start(folder, true, None)
}

/// Names of all fields that an outcome fills, however deep.
fn filled(outcome: &Outcome) -> BTreeSet<String> {
    fn walk(value: &serde_json::Value, path: &str, into: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(fields) => fields
                .iter()
                .for_each(|(name, value)| walk(value, &format!("{path}.{name}"), into)),
            serde_json::Value::Array(values) => {
                values.iter().take(1).for_each(|value| walk(value, path, into))
            }
            _ => {
                into.insert(path.to_owned());
            }
        }
    }
    let mut fields = BTreeSet::new();
    walk(&serde_json::to_value(outcome).unwrap(), "", &mut fields);
    fields
}

#[test]
fn every_entry_fills_what_the_engine_notes_and_the_same_fields_as_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let running = served(folder.path());
    let cpu = wirespeed::host::allowed_cpus()[0];
    for is_put in [false, true] {
        let mut first: Option<(Way, BTreeSet<String>)> = None;
        for way in Way::ALL {
            let mut case = case(way, is_put);
            case.ranks[0].cpu = Some(cpu);
            case.report_interval_ns = 1_000_000;
            let path = format!("/{}", way.name());
            let service = match is_put {
                true => at(&running, &path).with_file(folder.path().join("f")),
                false => at(&running, "/f"),
            };
            let outcome = run(&case, service).unwrap_or_else(|e| panic!("{}: {e}", way.name()));
            assert_eq!(
                (outcome.error.as_deref(), outcome.stop),
                (None, StopReason::Completed)
            );
            assert!(outcome.lacking.is_empty() && outcome.floor.is_some());
            assert!(outcome.noise.is_some() && outcome.noise_after.is_some());
            assert!(outcome.clock.step_ns.get() > 0.0, "{:?}", outcome.clock);
            assert!(
                outcome.disturbance.observed_ns >= outcome.elapsed_ns,
                "{outcome:?}"
            );
            assert!(outcome.connect_ns.is_some() && outcome.first_operation_ns.is_some());
            let moved = if is_put { outcome.sent } else { outcome.received };
            assert_eq!((moved.bytes, moved.messages), (SIZE, SIZE.div_ceil(BLOCK)));
            let told: u64 = outcome
                .intervals
                .iter()
                .map(|i| i.sent.bytes + i.received.bytes)
                .sum();
            assert_eq!(told, SIZE, "slices hold all of it once");
            let record = outcome.transfer.as_ref().unwrap();
            assert_eq!(
                (record.payload_bytes, record.elapsed_ns),
                (SIZE, outcome.elapsed_ns)
            );
            assert_eq!(record.connections.len(), 3);
            let fields = filled(&outcome);
            match &first {
                None => first = Some((way, fields)),
                Some((other, known)) => {
                    let differ: Vec<_> = known.symmetric_difference(&fields).collect();
                    assert!(
                        differ.is_empty(),
                        "{} and {}: {differ:?}",
                        way.name(),
                        other.name()
                    );
                }
            }
        }
    }
    for way in Way::ALL {
        assert_eq!(
            std::fs::read(folder.path().join(way.name())).unwrap(),
            data(SIZE as usize)
        );
    }
}

#[test]
fn what_comes_is_stored_where_the_service_says_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let running = served(folder.path());
    for (way, destination) in Way::ALL.into_iter().flat_map(|way| [(way, "file"), (way, "map")]) {
        let out = folder.path().join("out");
        let case = case(way, false)
            .with_option("destination", destination)
            .with_option("digest", "blake3");
        let outcome = run(&case, at(&running, "/f").with_file(&out)).unwrap();
        assert!(outcome.transfer.unwrap().verified);
        assert_eq!(std::fs::read(&out).unwrap(), data(SIZE as usize));
    }
}

#[test]
fn requests_at_a_rate_have_times_from_when_they_were_due() {
    let folder = tempfile::tempdir().unwrap();
    let running = served(folder.path());
    for way in Way::ALL {
        let mut case = case(way, false).with_stop(Stop::Duration {
            duration_ns: 200_000_000,
        });
        case.test = Test::BulkGet(Bulk::new(1000, SIZE, 2, 1).with_pace_interval_ns(10_000_000));
        // The last of the 20 is asked for unless a busy machine lets both workers come too late for it.
        let asked = || run(&case, at(&running, "/f")).unwrap();
        let answers = |outcome: &Outcome| outcome.samples_of(SampleKind::Response).unwrap().histogram.count;
        let outcome = std::iter::repeat_with(asked)
            .take(5)
            .find(|outcome| answers(outcome) == 20);
        let outcome = outcome.expect("all of one of five offers");
        assert!(outcome.samples_of(SampleKind::Completion).is_some());
        assert!(
            outcome.disturbance.observed_ns >= 190_000_000,
            "two workers each watched throughout"
        );
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_moves() {
    let folder = tempfile::tempdir().unwrap();
    let running = served(folder.path());
    let there = || at(&running, "/f");
    let refused = |case: &Case, service: Service| run(case, service).unwrap_err().to_string();
    for way in Way::ALL {
        let get = case(way, false);
        let entry = registry();
        let entry = entry.find(way.transport()).unwrap();
        for (name, value) in [
            ("stall", "soon"),
            ("attempts", "0"),
            ("digest", "md5"),
            ("colour", "red"),
        ] {
            let odd = get.clone().with_option(name, value);
            assert!((entry.check)(&odd).is_err(), "{name}={value}");
        }
        let mut two = get.clone();
        two.ranks.push(RankSpec::new(Role::Source));
        assert!((entry.check)(&two).is_err(), "one rank alone");
        assert!((entry.check)(&get.clone().with_group(GroupKind::Threads)).is_err());
        assert!(refused(&get.clone().with_option("encrypted", "yes"), there()).contains("http"));
        assert!(
            refused(&get.clone().with_option("destination", "file"), there()).contains("no file is named")
        );
        let mut short = case(way, true);
        short.test = Test::BulkPut(Bulk::new(BLOCK, SIZE + 1, 1, 1));
        let put = at(&running, "/new").with_file(folder.path().join("f"));
        assert!(refused(&short, put).contains("the case moves"));
        assert!(!folder.path().join("new").exists(), "what failed changed nothing");
        let nobody = measure(&get, &registry(), &ThreadBootstrap::group(1)[0], &mut |_| ());
        assert!(nobody.unwrap_err().to_string().contains("no service is named"));
    }
}

/// A port that takes connections and never says anything.
#[test]
fn a_silent_service_ends_as_soon_as_it_is_asked_for() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/f", silent.local_addr().unwrap());
    for (way, cancels) in Way::ALL.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let cancel = Cancel::new();
        let rank = ThreadBootstrap::group_with(1, cancel.clone(), std::net::Ipv4Addr::LOCALHOST.into());
        let rank = rank
            .into_iter()
            .next()
            .unwrap()
            .with_service(Service::at(&address));
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                match cancels {
                    true => cancel.cancel(CancelReason::Interrupted),
                    false => cancel.request_stop(),
                }
            });
            // A SOAP service that says nothing to HEAD is asked for blocks all the same: that is a transfer, broken off.
            let patient = case(way, false).with_option("stall", "60s");
            if let Ok(outcome) = measure(&patient, &registry(), &rank, &mut |_| ()) {
                assert_eq!(outcome.stop, StopReason::Interrupted, "{outcome:?}");
                assert!(outcome.error.is_some());
            }
        });
        // Silence is borne for a minute; the wish to stop is heard at once.
        assert!(began.elapsed() < Duration::from_secs(30), "{}", way.name());
    }
}

/// A transfer's options, its case and service, and the transfer that they make again, are the same.
#[test]
fn options_survive_being_a_case() {
    let running = served(tempfile::tempdir().unwrap().path());
    let mut options = get(running.url("/f"), Way::ALL[0]);
    assert_eq!(case_options(&options)["stall"], "3s");
    assert_eq!(case_options(&options)["attempts"], "3");
    options.client.patience = Duration::from_secs(10);
    options.attempts_max = 5;
    assert_eq!(
        case_options(&options),
        TransportOptions::new(),
        "what is usual is not said"
    );
    options.client.stream = true;
    options.client.congestion = Some("reno".into());
    options.target = Target::File {
        path: "x".into(),
        claim: Claim::Replace,
    };
    let words = case_options(&options);
    assert_eq!(
        (words["stream"].as_str(), words["congestion"].as_str()),
        ("yes", "reno")
    );
    assert_eq!((words["destination"].as_str(), words.len()), ("file", 3));
    let there = service(&options);
    assert_eq!(
        (there.file, there.address),
        (Some("x".into()), running.url("/f").to_string())
    );
    let entry = registry();
    let case = case(options.client.way, false).with_options(words);
    (entry.find(options.client.way.transport()).unwrap().check)(&case).unwrap();
}
