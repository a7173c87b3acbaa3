//! The loop with a runner that measures nothing: what runs how often and in which order, what ends it, what is published.

use super::*;
use crate::args::{ColorChoice, ExperimentArgs, OutputArgs};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wirespeed::{Machine, Registry};
use wirespeed_schema::case::Stop;
use wirespeed_schema::plan::{Plan, PlannedCase, expand, parse_plan};
use wirespeed_schema::run::{CaseStatus, Status};

/// What happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Did {
    Begin(u32),
    Run(usize, usize, u32),
    End,
}

#[derive(Default)]
struct Fake {
    did: Vec<Did>,
    /// Cells that fail, and in which round.
    fails: BTreeMap<usize, u32>,
    /// A run that is left out.
    left_out: Option<(usize, u32)>,
    /// A run that does not come to its end, whatever its ranks say.
    broke_off: Option<(usize, u32)>,
    /// A run that is the last of all.
    last: Option<(usize, u32)>,
    /// A round that cannot begin.
    refused: Option<u32>,
    /// How long each run waits for others.
    queued: Duration,
    /// The user's wish to end comes after so many runs.
    stopped: Option<(usize, StopFlag)>,
}

fn broken(what: &str) -> Failure {
    Failure::failed(what, "none")
}

impl Runner for Fake {
    fn begin(&mut self, round: u32) -> Result<(), Failure> {
        self.did.push(Did::Begin(round));
        match self.refused == Some(round) {
            true => Err(broken("no room")),
            false => Ok(()),
        }
    }

    fn measure(&mut self, visit: Visit, planned: &PlannedCase, _: &StopFlag, _: super::OnSeen) -> Measured {
        self.did.push(Did::Run(visit.subject, visit.cell, visit.round));
        let runs = self.did.iter().filter(|did| matches!(did, Did::Run(..))).count();
        if let Some((after, stop)) = &self.stopped
            && runs >= *after
        {
            stop.request();
        }
        if self.left_out == Some((visit.cell, visit.round)) {
            return Measured::default();
        }
        let fails = self.fails.get(&visit.cell) == Some(&visit.round);
        let is_last = self.last == Some((visit.cell, visit.round));
        let mut repetition = wirespeed_report::repetition(&planned.case, visit.round, Vec::new(), 0, 0);
        let exact = serde_json::from_value(serde_json::json!({"value": 100.0, "samples": 1000}));
        repetition.metrics.insert("rtt_p50_ns".to_owned(), exact.unwrap());
        Measured {
            repetition: (!fails).then_some(repetition),
            broke_off: self.broke_off == Some((visit.cell, visit.round)),
            failure: (fails || is_last).then(|| broken("it broke")),
            queued: self.queued,
            is_last,
            ..Measured::default()
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.did.push(Did::End);
        Ok(())
    }
}

fn cases(count: usize) -> Vec<Prepared> {
    let registry = Registry::builtin();
    let sizes: Vec<String> = (0..count).map(|n| format!("\"{}\"", 8 << n)).collect();
    let text = format!(
        "[[case]]\ntest = \"am_lat\"\nvia = \"inproc\"\nsize = [{}]\nduration = \"10ms\"\n",
        sizes.join(", ")
    );
    let planned = expand(&parse_plan(&text).unwrap(), &Machine::new(&registry)).unwrap();
    planned.into_iter().map(Prepared::planned).collect()
}

fn how(repeats: &str, words: ExperimentArgs) -> How {
    let words = ExperimentArgs {
        repeats: Some(repeats.to_owned()),
        seed: Some(7),
        ..words
    };
    let quiet = OutputArgs {
        quiet: true,
        ..OutputArgs::default()
    };
    How::of(&words, (&mut Plan::default(), 1), (&quiet, ColorChoice::Never)).unwrap()
}

fn output() -> (tempfile::TempDir, Output) {
    let dir = tempfile::tempdir().unwrap();
    let arguments = OutputArgs {
        quiet: true,
        output: vec![dir.path().join("events.ndjson")],
        ..OutputArgs::default()
    };
    let output = Output::open(&arguments, ColorChoice::Never).unwrap();
    (dir, output)
}

/// Runs `arms`; what was found, and what the runner did.
fn ran(how: How, mut fake: Fake, arms: Vec<Vec<Prepared>>) -> (Found, Vec<Did>) {
    let (_dir, mut output) = output();
    let stop = fake
        .stopped
        .as_ref()
        .map_or_else(StopFlag::new, |(_, stop)| stop.clone());
    let experiment = Experiment::new(how, &mut fake, &mut output, &stop)
        .with(arms)
        .unwrap();
    let found = experiment.run().unwrap();
    (found, fake.did)
}

fn runs(did: &[Did]) -> Vec<(usize, usize, u32)> {
    let runs = did.iter().filter_map(|did| match did {
        Did::Run(subject, cell, round) => Some((*subject, *cell, *round)),
        _ => None,
    });
    runs.collect()
}

#[test]
fn a_single_round_keeps_the_order_and_more_are_whole_and_shuffled() {
    let (found, did) = ran(
        how("1", ExperimentArgs::default()),
        Fake::default(),
        vec![cases(5)],
    );
    let cells: Vec<usize> = runs(&did).iter().map(|(_, cell, _)| *cell).collect();
    assert_eq!((cells, found.results.len()), (vec![0, 1, 2, 3, 4], 5));
    let (_, did) = ran(
        how("4", ExperimentArgs::default()),
        Fake::default(),
        vec![cases(5)],
    );
    let runs = runs(&did);
    assert_eq!(runs.len(), 20);
    assert!(runs.is_sorted_by_key(|(_, _, round)| *round));
    assert!(
        !runs.is_sorted_by_key(|(_, cell, round)| (*round, *cell)),
        "{runs:?}"
    );
    let mut sorted = runs.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 20);
    assert_eq!(did.first(), Some(&Did::Begin(0)));
    assert_eq!(did.last(), Some(&Did::End));
}

#[test]
fn arms_and_loads_of_a_case_follow_each_other() {
    let loads = ExperimentArgs {
        interference: vec!["cpu=1@same".to_owned()],
        ..ExperimentArgs::default()
    };
    let (found, did) = ran(how("2", loads), Fake::default(), vec![cases(2), cases(2)]);
    // A's cases, each with its load behind it, then B's.
    assert_eq!(found.subjects, [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(found.cells, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(found.results[0].under.is_none() && found.results[1].under.as_deref() == Some("cpu=1@same"));
    let runs = runs(&did);
    assert_eq!(runs.len(), 16);
    for block in runs.chunks(4) {
        assert!(
            block.iter().all(|run| (run.0, run.2) == (block[0].0, block[0].2)),
            "{runs:?}"
        );
    }
    let of = |round| -> Vec<usize> {
        let first = runs.iter().filter(|run| run.0 == 0 && run.2 == round);
        first.map(|run| run.1).collect()
    };
    assert!(of(0).iter().eq(of(1).iter().rev()), "{runs:?}");
    let section = found.interference().unwrap();
    assert_eq!((section.rounds, section.seed), (2, 7));
}

#[test]
fn a_failure_ends_its_case_alone_and_of_pairs_both_halves() {
    let fails = || Fake {
        fails: BTreeMap::from([(1, 1)]),
        ..Fake::default()
    };
    let (found, did) = ran(how("4", ExperimentArgs::default()), fails(), vec![cases(3)]);
    let count = |did: &[Did], cell| runs(did).iter().filter(|run| run.1 == cell).count();
    assert_eq!([count(&did, 0), count(&did, 1), count(&did, 2)], [4, 2, 4]);
    assert_eq!(found.results[1].status, CaseStatus::Partial);
    assert_eq!(found.results[1].error.as_deref(), Some("it broke"));
    let paired = || How {
        paired: true,
        ..how("4", ExperimentArgs::default())
    };
    let (_, did) = ran(paired(), fails(), vec![cases(1), cases(1)]);
    assert!(count(&did, 1) == 2 && count(&did, 0) <= 2, "{did:?}");
    // Whichever half is lost, and before or after the other ran: both are in the document, at their places.
    for cell in [0, 1] {
        let first = Fake {
            fails: BTreeMap::from([(cell, 0)]),
            ..Fake::default()
        };
        let (found, _) = ran(paired(), first, vec![cases(1), cases(1)]);
        let arms: Vec<_> = found.results.iter().map(|result| result.arm.as_deref()).collect();
        assert_eq!(arms, [Some("A"), Some("B")]);
        assert_eq!(found.results[cell].status, CaseStatus::Failed);
    }
}

#[test]
fn a_failure_stands_where_nothing_was_measured_since() {
    let (_dir, mut output) = output();
    let mut fake = Fake {
        fails: BTreeMap::from([(0, 0)]),
        left_out: Some((0, 1)),
        ..Fake::default()
    };
    let how = how("2", ExperimentArgs::default());
    let experiment = Experiment::new(how, &mut fake, &mut output, &StopFlag::new());
    let mut experiment = experiment.with(vec![cases(1)]).unwrap();
    experiment.measure(&[0]).unwrap();
    let found = experiment.finish().unwrap();
    let told: Vec<_> = found.results.iter().map(|result| result.status).collect();
    assert_eq!(told, [CaseStatus::Failed]);
}

#[test]
fn what_all_cases_share_ends_them_all() {
    let last = Fake {
        last: Some((0, 1)),
        ..Fake::default()
    };
    let (found, did) = ran(how("5", ExperimentArgs::default()), last, vec![cases(2)]);
    assert!(runs(&did).len() <= 4, "{did:?}");
    assert_eq!(found.failure.as_ref().map(|f| f.cause.as_str()), Some("it broke"));
    let refused = Fake {
        refused: Some(0),
        ..Fake::default()
    };
    let (found, did) = ran(how("5", ExperimentArgs::default()), refused, vec![cases(2)]);
    assert_eq!(did, [Did::Begin(0), Did::End]);
    let run = found.into_run(crate::document::Draft::begin(None, false));
    assert_eq!(
        (run.status, run.error.as_deref()),
        (Status::Failed, Some("no room"))
    );
}

#[test]
fn the_wish_to_end_leaves_what_was_measured() {
    let stop = StopFlag::new();
    let stopped = Fake {
        stopped: Some((3, stop.clone())),
        ..Fake::default()
    };
    let (found, did) = ran(how("5", ExperimentArgs::default()), stopped, vec![cases(2)]);
    assert_eq!(runs(&did).len(), 3);
    assert!(found.stopped);
    assert_eq!(found.results.len(), 2);
    assert_eq!(
        found.into_run(crate::document::Draft::begin(None, false)).status,
        Status::Interrupted
    );
}

/// Whatever ends a run before all of it was measured: the document has every case, and the screen says which were not.
#[test]
fn what_the_end_of_a_run_left_unmeasured_is_named() {
    let stop = StopFlag::new();
    let stopped = Fake {
        stopped: Some((2, stop.clone())),
        ..Fake::default()
    };
    let broken = Fake {
        last: Some((0, 0)),
        ..Fake::default()
    };
    let mut arms = how("1", ExperimentArgs::default());
    arms.paired = true;
    let once = || how("1", ExperimentArgs::default());
    for (how, fake, asked, rest) in [
        (once(), stopped, vec![cases(5)], "3 of 5 cases not measured"),
        (once(), broken, vec![cases(3)], "2 of 3 cases not measured"),
        (
            arms,
            Fake {
                stopped: Some((1, StopFlag::new())),
                ..Fake::default()
            },
            vec![cases(1), cases(1)],
            "1 of 2 cases not measured, for the run ended before it: inproc am_lat 8 B arm ",
        ),
    ] {
        let (found, _) = ran(how, fake, asked);
        let run = found.into_run(crate::document::Draft::begin(None, false));
        assert_ne!(run.status, Status::Ok, "{rest}");
        let told = crate::view::screen(&run, false, &crate::terminal::PAPER);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(rest), "{told}");
        assert_eq!(told.matches("the run ended before").count(), 1, "{told}");
    }
    let stopped = Fake {
        stopped: Some((0, StopFlag::new())),
        ..Fake::default()
    };
    stopped.stopped.as_ref().unwrap().1.request();
    let (found, did) = ran(once(), stopped, vec![cases(2)]);
    assert_eq!((found.results.len(), runs(&did).len()), (2, 0));
}

#[test]
fn a_goal_ends_each_case_and_rounds_without_cases_are_the_runners() {
    let goal = ExperimentArgs {
        until: Some("p50:5%".to_owned()),
        ..ExperimentArgs::default()
    };
    let (found, did) = ran(how("40", goal), Fake::default(), vec![cases(2)]);
    let count = runs(&did).len();
    assert!((12..40).contains(&count), "{count}");
    assert!(
        found
            .results
            .iter()
            .all(|result| result.convergence.as_ref().is_some_and(|c| c.reached))
    );
    let (_, did) = ran(
        how("3", ExperimentArgs::default()),
        Fake::default(),
        vec![Vec::new()],
    );
    assert_eq!(did.len(), 6, "{did:?}");
}

#[test]
fn a_run_that_broke_off_stands_apart_and_is_one_of_those_that_were_allowed() {
    let goal = ExperimentArgs {
        until: Some("p99:5%".to_owned()),
        ..ExperimentArgs::default()
    };
    let fake = Fake {
        broke_off: Some((0, 4)),
        ..Fake::default()
    };
    let (found, did) = ran(how("12", goal), fake, vec![cases(1)]);
    assert_eq!(runs(&did).len(), 12);
    let result = &found.results[0];
    assert_eq!((result.repetitions.len(), result.cut_short.len()), (11, 1));
    assert_eq!(result.cut_short[0].index, 4);
    let why = result.convergence.as_ref().unwrap().why.clone().unwrap();
    assert!(why.starts_with("the most runs"), "{why}");
}

#[test]
fn a_goal_without_time_names_the_cases_that_it_left_out() {
    let goal = ExperimentArgs {
        until: Some("p50:5%".to_owned()),
        until_time: Some("1ns".to_owned()),
        ..ExperimentArgs::default()
    };
    let (found, did) = ran(how("40", goal), Fake::default(), vec![cases(3)]);
    assert_eq!(runs(&did).len(), 1, "the first run is always measured");
    let why = found.results.iter().map(|result| result.error.as_deref());
    assert_eq!(why.filter(|why| *why == Some(GOAL_TIME)).count(), 2);
}

#[test]
fn a_queue_at_a_server_uses_up_no_time_of_a_goal() {
    let goal = ExperimentArgs {
        until: Some("p50:5%".to_owned()),
        until_time: Some("1ns".to_owned()),
        ..ExperimentArgs::default()
    };
    let fake = Fake {
        queued: Duration::from_secs(3600),
        ..Fake::default()
    };
    let (found, did) = ran(how("40", goal), fake, vec![cases(3)]);
    assert!(runs(&did).len() >= 12, "{did:?}");
    assert!(found.results.iter().all(|result| result.error.is_none()));
}

#[test]
fn a_budget_shortens_all_runs_of_a_case_alike() {
    let mut tight = how("3", ExperimentArgs::default());
    // Six runs of ten seconds; the first is fitted before anybody knows that these take no time at all.
    tight.budget = Some(Budget::until(Instant::now() + Duration::from_secs(21), "more"));
    let mut long = cases(2);
    for case in &mut long {
        case.planned.case.stop = Stop::Duration {
            duration_ns: 10_000_000_000,
        };
    }
    let (found, did) = ran(tight, Fake::default(), vec![long]);
    assert_eq!(runs(&did).len(), 6);
    for result in &found.results {
        let Stop::Duration { duration_ns } = result.case.stop else {
            panic!("{:?}", result.case.stop);
        };
        // 3.35 s and 4.2 s; later rounds make neither shorter.
        assert!(
            (1_200_000_000..5_000_000_000).contains(&duration_ns),
            "{duration_ns}"
        );
    }
}

#[test]
fn a_budget_shortens_cases_and_skips_what_has_no_time() {
    let mut spent = how("1", ExperimentArgs::default());
    spent.budget = Some(Budget::until(Instant::now(), "more"));
    let (found, did) = ran(spent, Fake::default(), vec![cases(2)]);
    assert!(runs(&did).is_empty());
    assert!(
        found
            .results
            .iter()
            .all(|result| result.status == CaseStatus::Skipped)
    );
    let mut enough = how("3", ExperimentArgs::default());
    enough.budget = Some(Budget::until(Instant::now() + Duration::from_secs(60), "more"));
    let (_, did) = ran(enough, Fake::default(), vec![cases(2)]);
    assert_eq!(runs(&did).len(), 6);
}

#[test]
fn the_most_is_known_although_a_later_run_failed() {
    let (_dir, mut output) = output();
    let mut fake = Fake {
        fails: BTreeMap::from([(0, 1)]),
        ..Fake::default()
    };
    let how = how("2", ExperimentArgs::default());
    let experiment = Experiment::new(how, &mut fake, &mut output, &StopFlag::new());
    let mut points = Points::new(experiment, |_| Ok(cases(1).swap_remove(0)));
    points.measure(&[1.0]).unwrap();
    let p50 = |run: &Repetition| Some(run.metrics.get("rtt_p50_ns")?.value.get());
    assert!(points.figures(1.0, p50).is_empty());
    assert_eq!(points.most(1.0, p50), Some(100.0));
}

#[test]
fn points_are_added_while_it_goes_on_and_published_by_value() {
    let (_dir, mut output) = output();
    let mut fake = Fake::default();
    let experiment = Experiment::new(
        how("2", ExperimentArgs::default()),
        &mut fake,
        &mut output,
        &StopFlag::new(),
    );
    let mut points = Points::new(experiment, |value| {
        let mut all = cases(4);
        Ok(all.swap_remove(value as usize))
    });
    points.measure(&[3.0, 1.0]).unwrap();
    points.measure(&[2.0]).unwrap();
    points.rounds(&[1.0, 3.0], 4).unwrap();
    assert_eq!(points.values(), [1.0, 2.0, 3.0]);
    assert_eq!(
        (points.repetitions(1.0).len(), points.repetitions(2.0).len()),
        (6, 2)
    );
    let indices: Vec<u32> = points.repetitions(3.0).iter().map(|run| run.index).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5], "a run's number is never given twice");
    let p50 = |run: &Repetition| Some(run.metrics.get("rtt_p50_ns")?.value.get());
    assert_eq!(points.most(1.0, p50), Some(100.0));
    assert_eq!(points.most(0.0, p50), None, "never measured");
    let found = points.finish().unwrap();
    // The cell of 3.0 was the first to be measured.
    assert_eq!(found.cells, [1, 2, 0]);
    let sizes: Vec<u64> = found
        .results
        .iter()
        .map(|result| result.case.test.size_bytes())
        .collect();
    assert_eq!(sizes, [16, 32, 64]);
}
