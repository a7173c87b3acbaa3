//! Every test on every transport between two threads, data checked: the loops and the ports hold together.

use std::time::Duration;
use wirespeed::schema::case::{Case, IdlePolicy, Stop};
use wirespeed::schema::outcome::{Outcome, StopReason};
use wirespeed::schema::test::{Atomic, Capability, Layout, PingPong, Rma, Stream, Tagged, Test};
use wirespeed::transport::{Support, Transport};
use wirespeed::{Bootstrap, MeasureError, Registry, ThreadBootstrap, measure};

/// Longer than any of these runs can take on a loaded machine; a hang fails here instead of hanging the suite.
const DEADLINE: Duration = Duration::from_secs(60);

fn case(transport: &str, test: Test, iterations: u64) -> Case {
    Case::new(test, transport)
        .with_stop(Stop::Iterations { count: iterations })
        .with_warmup(50, 50_000_000)
        .with_check(true)
        .with_idle(IdlePolicy::Yield)
}

/// Run `case` between threads; cancels and fails when it takes longer than the deadline.
fn run(case: &Case) -> Vec<Result<Outcome, MeasureError>> {
    let registry = Registry::builtin();
    let group = ThreadBootstrap::group(case.ranks.len() as u32);
    let cancel = group[0].cancel();
    let (done, waits) = std::sync::mpsc::channel::<()>();
    let label = case.label();
    let watchdog = std::thread::spawn(move || {
        if waits.recv_timeout(DEADLINE).is_err() {
            eprintln!("{label}: deadline passed, cancelled");
            cancel.cancel(wirespeed::transport::cancel::CancelReason::PeerLost);
        }
    });
    let results = std::thread::scope(|scope| {
        let ranks: Vec<_> = group
            .iter()
            .map(|b| scope.spawn(|| measure(case, &registry, b, &mut |_| ())))
            .collect();
        ranks.into_iter().map(|r| r.join().unwrap()).collect()
    });
    let _ = done.send(());
    watchdog.join().unwrap();
    results
}

fn tests_of(size: u64) -> Vec<Test> {
    let mut tests = Vec::new();
    for layout in Layout::ALL {
        let stream = |window_msgs| Stream::new(size, layout, window_msgs);
        let rma = |outstanding_ops| Rma::new(size, layout, outstanding_ops);
        tests.push(Test::AmLat(PingPong::new(size, layout)));
        tests.push(Test::AmBw(stream(1)));
        tests.push(Test::AmBw(stream(1000)));
        tests.push(Test::AmBibw(stream(64)));
        if size > 0 {
            tests.push(Test::PutLat(PingPong::new(size, layout)));
            tests.push(Test::PutBw(rma(32)));
            tests.push(Test::Get(rma(1)));
            tests.push(Test::GetBw(rma(32)));
        }
    }
    let tagged = |window_msgs| Tagged::new(size, window_msgs);
    tests.extend([
        Test::TagLat(tagged(1)),
        Test::TagBw(tagged(1)),
        Test::TagBw(tagged(64)),
    ]);
    if size == 4 || size == 8 {
        for outstanding_ops in [1, 16] {
            let atomic = Atomic::new(size, outstanding_ops);
            tests.extend([
                Test::AddLat(atomic.clone()),
                Test::Fadd(atomic.clone()),
                Test::Swap(atomic.clone()),
                Test::Cswap(atomic.clone()),
                Test::AddMr(atomic),
            ]);
        }
    }
    tests
}

fn check_outcomes(case: &Case, outcomes: &[Outcome], iterations: u64) {
    let label = format!(
        "{} {:?} window {}",
        case.label(),
        case.test.layout(),
        case.test.window()
    );
    for outcome in outcomes {
        assert_eq!(outcome.error, None, "{label} rank {}", outcome.rank);
        assert_eq!(outcome.stop, StopReason::Completed, "{label}");
        assert_eq!(
            outcome.faults,
            Default::default(),
            "{label} rank {}",
            outcome.rank
        );
    }
    let (source, sink) = (&outcomes[0], &outcomes[1]);
    assert_eq!(source.sent.messages, iterations, "{label}");
    assert_eq!(sink.received.messages, iterations, "{label}: {sink:?}");
    assert_eq!(
        sink.received.bytes,
        iterations * case.test.size_bytes(),
        "{label}"
    );
    assert!(source.elapsed_ns > 0, "{label}");
    assert!(!source.samples.is_empty(), "{label}");
}

fn matrix(transport: &str) {
    matrix_with(transport, &[]);
}

fn matrix_with(transport: &str, options: &[(&str, &str)]) {
    let registry = Registry::builtin();
    let entry = registry.find(transport).unwrap();
    let mut ran = 0;
    for size in [0, 1, 4, 8, 13, 64, 1000, 70_000] {
        for test in tests_of(size) {
            let iterations = if size > 10_000 { 60 } else { 300 };
            let case = case(transport, test, iterations)
                .with_options(options.iter().map(|&(k, v)| (k.into(), v.into())).collect());
            let lacks = matches!(entry.support(case.test.capability()), Support::Lacks(_));
            match (entry.check)(&case) {
                Err(MeasureError::Unsupported(why)) => assert!(!why.is_empty()),
                Err(other) => panic!("{}: {other}", case.label()),
                Ok(()) => {
                    assert!(!lacks);
                    let outcomes: Vec<_> = run(&case).into_iter().map(|r| r.unwrap()).collect();
                    check_outcomes(&case, &outcomes, iterations);
                    ran += 1;
                }
            }
        }
    }
    assert!(ran > 20, "only {ran} cases ran on {transport}");
    let one_sided = !matches!(entry.support(Capability::OneSided), Support::Lacks(_));
    assert!(!one_sided || ran > 60, "only {ran} cases ran on {transport}");
}

#[test]
fn encrypted_tcp() {
    matrix_with("tcp", &[("encrypt", "aes-256-gcm"), ("wait", "block")]);
}

#[test]
fn encrypted_unix() {
    matrix_with("unix", &[("encrypt", "chacha20-poly1305"), ("wait", "block")]);
}

// A test a line of the list; what has messages alone loses them, or carries none.
macro_rules! tests {
    () => {};
    (of $folder:ident::$transport:ident, $($rest:tt)*) => {
        #[test]
        fn $folder() {
            matrix(<wirespeed::transport::$folder::$transport as Transport>::NAME);
        }
        tests!($($rest)*);
    };
    (of_messages $folder:ident::$transport:ident, $($rest:tt)*) => {
        tests!($($rest)*);
    };
}
wirespeed::transports!(tests);
