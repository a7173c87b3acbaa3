//! What is known of a mesh while it is measured: figures and lost hosts, in the campaigns. It must never start anything.

use super::allowance::Allowance;
use super::plan::refused;
use super::storm::Moved;
use crate::errors::Failure;
use std::time::{Duration, Instant};
use wirespeed_mesh::{Campaign, Pair};

/// What is known so far; the verb asks it for looks, and the rounds feed it.
pub struct Known {
    /// A campaign for each case.
    pub campaigns: Vec<Campaign>,
    /// Why each host was lost, where it was.
    pub lost: Vec<Option<String>>,
    /// The rounds of the look that comes next, where it is one.
    pub looks: Option<Vec<Vec<Pair>>>,
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
            lost: vec![None; hosts],
            looks: None,
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
