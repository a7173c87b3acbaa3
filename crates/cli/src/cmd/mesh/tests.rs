//! What a run under a load leaves behind. Ranks are threads of a program without any transport, so each of them fails at once.

use super::allowance::Allowance;
use super::ground::Ground;
use super::known::Known;
use super::roster::Roster;
use super::rounds::Rounds;
use super::shown::Shown;
use super::turn::Stage;
use crate::experiment::{Measured, Runner as _, Visit};
use crate::group::{Groups, Reach};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use wirespeed::Registry;
use wirespeed_control::StopFlag;
use wirespeed_mesh::{Campaign, Lack, Options, Pair, Plan, Setup};
use wirespeed_schema::case::{Case, RankSpec, Role};
use wirespeed_schema::mesh::MeshProbe;
use wirespeed_schema::plan::PlannedCase;
use wirespeed_schema::test::{Layout, Stream, Test};

const PAIRS: [Pair; 2] = [Pair { from: 0, to: 1 }, Pair { from: 2, to: 3 }];
const VISIT: Visit = Visit {
    cell: 1,
    subject: 0,
    load: Some("incast"),
    arm: 0,
    round: 0,
};

struct Nowhere<'a>(&'a Registry);

impl<'a> Ground<'a> for Nowhere<'a> {
    fn groups(&self, _: &[usize], _: Option<&str>) -> Groups<'a> {
        Groups::new(self.0, Reach::default())
    }

    fn beside(&self, seats: &[usize], rail: Option<&str>) -> Groups<'a> {
        self.groups(seats, rail)
    }

    fn gone(&self, _: usize) -> Option<String> {
        None
    }

    fn goes_on(&self, _: &Case) -> bool {
        true
    }
}

/// One case over four hosts, with so much time for it.
fn known(budget: Option<Duration>) -> Known {
    let campaign = Campaign::new(Setup {
        hosts: 4,
        units: Vec::new(),
        plan: Plan::Given(PAIRS.to_vec()),
        options: Options::default(),
    });
    let allowance = Allowance::new(budget, &[Duration::from_secs(1)], 2);
    Known::new(4, vec![campaign.unwrap()], (allowance, Instant::now()))
}

/// What the case ends as, and the case under the load.
fn ended(known: &mut Known) -> [MeshProbe; 2] {
    let campaign = known.campaigns.remove(0);
    let under_load = known.under_load.remove(&VISIT.cell).unwrap();
    [
        campaign.finish(0, "bandwidth_bytes_per_s").unwrap(),
        under_load.told(1),
    ]
}

/// The same after a run under the load.
fn ran(budget: Option<Duration>) -> [MeshProbe; 2] {
    ran_after(known(budget))
}

/// The same, with what is known before it.
fn ran_after(known: Known) -> [MeshProbe; 2] {
    let known = Rc::new(RefCell::new(known));
    measured(&known);
    ended(&mut known.borrow_mut())
}

/// A run under the load.
fn measured(known: &Rc<RefCell<Known>>) -> Measured {
    let registry = Registry::empty();
    let ground = Nowhere(&registry);
    let roster = Roster::named(&["a", "b", "c", "d"]);
    let tags = vec!["bandwidth_bytes_per_s"];
    let mut rounds = Rounds::new(
        (&ground, Vec::new()),
        &roster,
        (known.clone(), tags),
        Shown::new(1, true),
    );
    let ranks = [Role::Source, Role::Sink].map(RankSpec::new).to_vec();
    let case = Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp").with_ranks(ranks);
    let planned = PlannedCase { case, template: 0 };
    rounds.measure(VISIT, &planned, &StopFlag::new(), &mut |_| ())
}

#[test]
fn pairs_that_fail_under_a_load_are_counted_under_it() {
    let [case, under_load] = ran(None);
    assert_eq!((case.failed_count, case.complete), (0, true));
    assert_eq!((under_load.pairs.len(), under_load.failed_count), (2, 2));
    let reason = |pair: &wirespeed_schema::mesh::MeshPair| pair.failure().is_some();
    assert!(under_load.complete && under_load.pairs.iter().all(reason));
}

#[test]
fn a_cycle_under_a_load_that_has_no_time_is_no_part_of_the_survey() {
    let [case, under_load] = ran(Some(Duration::ZERO));
    assert!(case.complete && !under_load.complete);
    let broke_off = |budget| measured(&Rc::new(RefCell::new(known(budget)))).broke_off;
    assert_eq!([None, Some(Duration::ZERO)].map(broke_off), [false, true]);
}

#[test]
fn a_silent_pair_is_left_out_by_cycles_that_ran_alone() {
    let left_out = |budget: Option<Duration>| {
        let mut known = known(budget);
        let campaign = known.campaign(VISIT, Stage::UnderLoad);
        let silent = || Err(Lack::Failed("silent".to_owned()));
        for measured in [Ok(1.0), silent(), silent()] {
            campaign.begin_cycle();
            campaign.survey(PAIRS[0], measured);
        }
        let [_, under_load] = ran_after(known);
        under_load.pairs[0].left_out_count
    };
    assert_eq!([None, Some(Duration::ZERO)].map(left_out), [1, 0]);
}

#[test]
fn wrong_data_under_a_load_are_told_under_it() {
    let mut known = known(None);
    let wrong = "2 messages";
    let lack = Lack::WrongData(wrong.to_owned());
    known.keep((VISIT, Stage::UnderLoad), PAIRS[0], Err(lack));
    let [case, under_load] = ended(&mut known);
    assert!(case.pairs.is_empty());
    assert_eq!(under_load.pairs[0].wrong_data.as_deref(), Some(wrong));
}
