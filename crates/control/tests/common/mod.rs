//! A transport that only meets: ranks exchange, wait at barriers, and behave as the case's options tell them.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::time::{Duration, Instant};
use wirespeed::MeasureError;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::null::Null;
use wirespeed::transport::registry::{Entry, Report};
use wirespeed::transport::{Limits, SizeLimit};
use wirespeed::{Bootstrap, Cancel, Registry};
use wirespeed_control::RankProgram;
use wirespeed_schema::case::{Case, GroupKind, IdlePolicy, RankSpec, Role, Stop};
use wirespeed_schema::circle::Circles;
use wirespeed_schema::outcome::{Count, Interval, Outcome, StopReason};
use wirespeed_schema::test::{Layout, PingPong, Test};

/// Set in the environment of processes that are ranks.
pub const RANK_VARIABLE: &str = "WIRESPEED_TEST_RANK";

/// The test binary itself, told to run only its `rank_entry` test.
pub fn program() -> RankProgram {
    RankProgram {
        path: std::env::current_exe().unwrap(),
        arguments: ["rank_entry", "--exact", "--nocapture", "--test-threads=1"]
            .map(Into::into)
            .to_vec(),
        environment: vec![(RANK_VARIABLE.into(), "1".into())],
    }
}

/// To be called by a test named `rank_entry` in every test binary that starts ranks.
pub fn rank_entry() {
    if std::env::var_os(RANK_VARIABLE).is_some() {
        std::process::exit(wirespeed_control::agent::run_stdio_agent(&registry()).into());
    }
}

/// Only the fake transport.
pub fn registry() -> Registry {
    let mut fake = Entry::of_messages::<Null>();
    fake.name = "fake";
    fake.summary = "meets and behaves as told";
    fake.runners.messages = Some(run);
    fake.check = |case| match case.options.get("check").map(String::as_str) {
        Some("usage") => Err(MeasureError::Usage("told to refuse".into())),
        _ => Ok(()),
    };
    fake.limits = |_| {
        let groups = &[GroupKind::Threads, GroupKind::Processes, GroupKind::Hosts];
        let messages = [const { SizeLimit::UpTo(1 << 20) }; 4];
        Ok(Limits::of_messages(groups, messages).with_ranks_max(64))
    };
    Registry::empty().with(fake)
}

/// A case of `size` ranks. `options`: `all=BEHAVIOUR` or `N=BEHAVIOUR` for rank N.
pub fn case(size: u32, options: &[(&str, &str)]) -> Case {
    let ranks = (0..size).map(|n| RankSpec::new(if n == 0 { Role::Source } else { Role::Sink }));
    Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "fake")
        .with_options(
            options
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
        .with_group(GroupKind::Processes)
        .with_ranks(ranks.collect())
        .with_stop(Stop::Iterations { count: 1 })
        .with_warmup(0, 0)
        .with_idle(IdlePolicy::Yield)
}

/// A barrier. Hundreds that look around in between leave no time to those who have something to do.
fn meet(bootstrap: &dyn Bootstrap, behaviour: &str) -> Result<(), MeasureError> {
    match behaviour {
        "apart" => bootstrap.barrier_asleep()?,
        _ => bootstrap.barrier(&mut || ())?,
    }
    Ok(())
}

/// Sleep until asked to stop, or until cancelled.
fn wait_to_be_told(cancel: &Cancel) {
    let started = Instant::now();
    while !cancel.stop_requested() && cancel.reason().is_none() {
        std::thread::sleep(Duration::from_millis(1));
        assert!(started.elapsed() < Duration::from_secs(60), "nobody stopped it");
    }
}

/// Exchange with all and with the own circle, each time before a barrier.
fn meet_thrice(case: &Case, bootstrap: &dyn Bootstrap, behaviour: &str) -> Result<(), MeasureError> {
    let rank = bootstrap.rank();
    let circles = Circles::of(case);
    for round in 0..3u8 {
        // In the last round each circle keeps to itself; in all of them where it is told to.
        let is_apart = round == 2 || behaviour == "apart";
        let blob = [rank as u8, round];
        let blobs = match is_apart {
            true => bootstrap.exchange_among(u64::from(circles.of_rank(rank)), &blob)?,
            false => bootstrap.exchange(&blob)?,
        };
        for (other, blob) in (0..).zip(&blobs) {
            let has_part = case.ranks[other as usize].role != Role::Idle;
            let is_near = circles.of_rank(other) == circles.of_rank(rank);
            // A rank without a part is not there, and one of another circle may look like it.
            match has_part && is_near {
                true => assert_eq!(*blob, [other as u8, round]),
                false => assert!(blob.is_empty() || !is_apart && *blob == [other as u8, round]),
            }
        }
        meet(bootstrap, behaviour)?;
    }
    Ok(())
}

fn run(case: &Case, bootstrap: &dyn Bootstrap, report: Report) -> Result<Outcome, MeasureError> {
    let rank = bootstrap.rank();
    let own = case
        .options
        .get(&rank.to_string())
        .or_else(|| case.options.get("all"));
    let behaviour = own.map_or("normal", String::as_str);
    if behaviour == "late" {
        wait_to_be_told(&bootstrap.cancel());
    }
    meet_thrice(case, bootstrap, behaviour)?;
    report(&interval(u64::from(rank)));
    let mut outcome = outcome(rank, case.ranks[rank as usize].role);
    outcome
        .transport_facts
        .insert("bind".into(), bootstrap.bind_address().to_string());
    outcome
        .transport_facts
        .insert("pid".into(), std::process::id().to_string());
    let cancel = bootstrap.cancel();
    match behaviour {
        "normal" | "apart" => meet(bootstrap, behaviour)?,
        "fail" => return Err(MeasureError::System("told to fail".into())),
        "panic" => panic!("told to panic"),
        "leave" => {}
        "stubborn" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "die" => std::process::abort(),
        // Runs until asked to stop, or until cancelled.
        "run" => {
            wait_to_be_told(&cancel);
            outcome.stop = StopReason::Interrupted;
            if cancel.reason() == Some(CancelReason::PeerLost) {
                outcome.stop = StopReason::PeerLost;
                outcome.error = Some("cancelled".into());
            }
        }
        // Does not listen to requests, only to a cancel.
        "deaf" => {
            while cancel.reason().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            outcome.stop = StopReason::Interrupted;
        }
        // Their peer is still waited for, elsewhere.
        "late" => {}
        "short" => std::thread::sleep(Duration::from_millis(300)),
        other => return Err(MeasureError::Usage(format!("no behaviour {other:?}"))),
    }
    Ok(outcome)
}

fn interval(number: u64) -> Interval {
    Interval {
        start_ns: number,
        duration_ns: 1,
        sent: Count::default(),
        received: Count::default(),
        p50_ns: None,
        p99_ns: None,
        max_ns: None,
    }
}

fn outcome(rank: u32, role: Role) -> Outcome {
    Outcome {
        rank,
        role,
        stop: StopReason::Completed,
        elapsed_ns: 1,
        sent: Count::default(),
        received: Count::default(),
        received_before_msgs: 0,
        began_ns: None,
        faults: Default::default(),
        warmup_operations: 0,
        first_operation_ns: None,
        connect_ns: None,
        samples: Vec::new(),
        intervals: Vec::new(),
        peers: Vec::new(),
        clock: Default::default(),
        floor: None,
        cpu: None,
        idle: IdlePolicy::Yield,
        disturbance: Default::default(),
        noise: None,
        noise_after: None,
        load_done: Default::default(),
        lacking: Default::default(),
        transfer: None,
        transport_facts: Default::default(),
        host: Default::default(),
        error: None,
    }
}

/// Fail the test, and the process, when it takes longer than any sane run.
pub fn deadline(seconds: u64) -> Deadline {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        let timeout = Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if waiting.recv_timeout(Duration::from_secs(seconds)) == timeout {
            eprintln!("the test hangs");
            std::process::exit(101);
        }
    });
    Deadline(done)
}

/// Ends the deadline when dropped.
pub struct Deadline(#[allow(dead_code, reason = "its drop is its use")] std::sync::mpsc::Sender<()>);

/// Wait until `condition` holds.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < until, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}
