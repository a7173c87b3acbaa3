//! What is known of a mesh while it is measured: figures and lost hosts, in the campaigns. It must never start anything.

use super::allowance::Allowance;
use super::figures::{All, Block};
use super::plan::refused;
use super::storm::Moved;
use super::turn::Stage;
use crate::errors::Failure;
use crate::experiment::Visit;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wirespeed_mesh::{Campaign, Lack, Pair};
use wirespeed_schema::run::Repetition;

/// What is known so far; the verb asks it for looks, and the rounds feed it.
pub struct Known {
    /// A campaign for each case.
    pub campaigns: Vec<Campaign>,
    /// What became of cases under loads, by cell: nobody is judged by that.
    pub under_load: BTreeMap<usize, Campaign>,
    /// For each cell under a load the runs without it and with it, over the same pairs.
    pub alike: BTreeMap<usize, [Vec<Repetition>; 2]>,
    block: Block,
    /// Why each host was lost, where it was.
    pub lost: Vec<Option<String>>,
    /// The rounds of the look that comes next, where it is one.
    pub looks: Option<Vec<Vec<Pair>>>,
    /// The block of runs that the last look was in: its case, and its number.
    pub look_block: Option<(usize, u32)>,
    /// What each run of a storm moved: the case, the storm's number, and its streams.
    pub moved: Vec<(usize, usize, Moved)>,
    /// What there is time for.
    pub allowance: Allowance,
    began: Instant,
}

impl Known {
    /// Nothing yet; the verb began at `began`.
    pub fn new(hosts: usize, campaigns: Vec<Campaign>, (allowance, began): (Allowance, Instant)) -> Known {
        Known {
            campaigns,
            under_load: BTreeMap::new(),
            alike: BTreeMap::new(),
            block: Block::default(),
            lost: vec![None; hosts],
            looks: None,
            look_block: None,
            moved: Vec::new(),
            allowance,
            began,
        }
    }

    /// Time since the verb began.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether the next run of a case is to be a closer look.
    pub fn wants_look(&mut self, subject: usize) -> Result<bool, Failure> {
        let looks = self.campaigns[subject].next_looks();
        self.looks = looks.map_err(|error| refused(&error))?;
        let Some(rounds) = self.looks.as_ref().map(Vec::len) else {
            return Ok(false);
        };
        if self.allowance.check(self.now(), subject, rounds).is_none() {
            self.campaigns[subject].break_off();
            self.looks = None;
        }
        Ok(self.looks.is_some())
    }

    /// What a run feeds: the campaign of its case, or that of the case under a load.
    pub fn campaign(&mut self, visit: Visit, stage: Stage) -> &mut Campaign {
        let of_case = &mut self.campaigns[visit.subject];
        match stage {
            Stage::UnderLoad => self
                .under_load
                .entry(visit.cell)
                .or_insert_with(|| of_case.anew()),
            Stage::Survey | Stage::Look => of_case,
        }
    }

    /// The rounds of a run have ended; unless all of them ran, the case, or the case under a load, is not measured whole.
    pub fn end(&mut self, (visit, stage): (Visit, Stage), is_through: bool) {
        let campaign = self.campaign(visit, stage);
        match (stage, is_through) {
            (_, false) => campaign.break_off(),
            (Stage::Look, true) => {}
            (Stage::Survey | Stage::UnderLoad, true) => campaign.end_cycle(),
        }
    }

    /// What a pair was measured at, or why it was not.
    pub fn keep(&mut self, (visit, stage): (Visit, Stage), pair: Pair, measured: Result<f64, Lack>) {
        let campaign = self.campaign(visit, stage);
        match stage {
            Stage::Look => campaign.look(pair, measured),
            Stage::Survey | Stage::UnderLoad => campaign.survey(pair, measured),
        }
    }

    /// What a run gave, as far as it came, to be compared with those of its block.
    pub fn compare(&mut self, visit: Visit, figures: All) {
        for (cell, [without, with]) in self.block.add(visit, figures) {
            let [all_without, all_with] = self.alike.entry(cell).or_default();
            all_without.push(without);
            all_with.push(with);
        }
    }

    /// A host is gone for good; whether that is new.
    pub fn lose(&mut self, host: usize, reason: &str) -> bool {
        let is_new = self.lost[host].is_none();
        if is_new {
            self.lost[host] = Some(reason.to_owned());
        }
        is_new
    }

    /// Hosts that were lost until now.
    pub fn lost_count(&self) -> usize {
        self.lost.iter().flatten().count()
    }
}
