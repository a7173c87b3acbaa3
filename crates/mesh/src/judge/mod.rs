//! Which host, link or unit is slow. A survey raises suspicions and names nobody; verdicts rest on figures that were
//! measured afterwards, because of a suspicion. It must never name what it has seen once.

mod candidates;
mod confirm;
mod detectable;
mod links;
mod looks;
mod pairs;
mod polish;
mod reference;
mod standing;
mod verdict;

use crate::{MeshError, Mode, Pair};
use candidates::{Candidates, PARTNERS_MIN};
use links::{Contrast, Differences};
use looks::Failing;
use pairs::PairSet;
use polish::{Cell, Effects, polish};
pub use standing::{Effect, HostEffects};
use std::collections::BTreeSet;
pub use verdict::{Culprit, Report, Side, Verdict};
use wirespeed_report::stats::Random;

/// Looks after the survey. The probability of a false alarm is spent on them in equal parts.
pub const LOOKS_MAX: usize = 4;

/// How a mesh is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Whether a larger figure is better: a rate and not a latency.
    pub higher_is_better: bool,
    /// Probability that a mesh without anything slow gets a verdict.
    pub false_alarm: f64,
    /// How much slower than the median, as a share, is worth naming.
    pub material: f64,
    /// How the survey ran; looks run the same way.
    pub mode: Mode,
    /// Chooses the partners of suspects.
    pub seed: u64,
}

impl Options {
    /// Errors where a share is out of range.
    pub fn check(&self) -> Result<(), MeshError> {
        let shares = [("false alarm", self.false_alarm), ("material", self.material)];
        match shares
            .into_iter()
            .find(|(_, value)| !(*value > 0.0 && *value < 1.0))
        {
            Some((name, value)) => Err(MeshError::Share { name, value }),
            None => Ok(()),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            higher_is_better: true,
            false_alarm: 0.01,
            material: 0.05,
            mode: Mode::Loaded,
            seed: 0,
        }
    }
}

/// A measurement of an ordered pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Who sent to whom.
    pub pair: Pair,
    /// In any unit, the same for all; `None` where it failed.
    pub value: Option<f64>,
}

/// What to measure next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks {
    /// How the rounds run, as the survey did. Of `Isolated`, each has one pair.
    pub mode: Mode,
    /// One after the other; each host is in one pair of a round at most.
    pub rounds: Vec<Vec<Pair>>,
}

/// A judgement under way.
#[derive(Debug)]
pub struct Judgement {
    options: Options,
    hosts: usize,
    /// The unit of each host; empty without units.
    units: Vec<usize>,
    random: Random,
    measured: PairSet,
    failed: usize,
    failing_pairs: Failing,
    /// Share of the survey's figures that failed, of hosts that have any.
    failing: f64,
    effects: Effects,
    candidates: Candidates,
    fresh: Vec<Cell>,
    /// Contrasts of links that the look under way asked for, and what earlier ones said.
    asked: Vec<Contrast>,
    differences: Differences,
    /// Suspects that could not be looked at.
    barred_hosts: BTreeSet<usize>,
    looks: usize,
    /// A look was asked for whose figures have not come.
    is_waiting: bool,
    /// Figures of a pair in the survey.
    cycles: usize,
    verdicts: Vec<Verdict>,
}

impl Judgement {
    /// Begin with the figures of a survey. `units`: the unit (rack) of each host, or nothing.
    ///
    /// # Errors
    /// Options out of range, units of another number of hosts, figures of unknown hosts or that are not above zero.
    pub fn new(
        hosts: usize,
        units: &[usize],
        options: Options,
        survey: &[Figure],
    ) -> Result<Judgement, MeshError> {
        options.check()?;
        if !units.is_empty() && units.len() != hosts {
            let given = units.len();
            return Err(MeshError::Units { given, hosts });
        }
        let mut judgement = Judgement {
            options,
            hosts,
            units: units.to_vec(),
            random: Random::new(options.seed),
            measured: PairSet::default(),
            failed: 0,
            failing_pairs: Failing::default(),
            failing: 0.0,
            effects: polish(hosts, &[]),
            candidates: Candidates::default(),
            fresh: Vec::new(),
            asked: Vec::new(),
            differences: Differences::new(),
            barred_hosts: BTreeSet::new(),
            looks: 0,
            is_waiting: false,
            cycles: 0,
            verdicts: Vec::new(),
        };
        let mut cells = judgement.cells(survey)?;
        // Sums are rounded by their order: what came first must not matter.
        cells.sort_unstable_by(|a, b| (a.from, a.to).cmp(&(b.from, b.to)).then(a.log.total_cmp(&b.log)));
        judgement.cycles = cells.len() / judgement.measured.as_slice().len().max(1);
        judgement.effects = polish(hosts, &cells);
        judgement.failing = judgement.failing(survey);
        judgement.candidates = Candidates::screen(&judgement.effects, &cells, units, options.material);
        Ok(judgement)
    }

    /// Further rounds to be measured: suspects with other partners, and partners without the suspects, but no pair that is
    /// dead. `None`: nothing more would help.
    pub fn next_looks(&mut self) -> Option<Looks> {
        if self.looks == LOOKS_MAX || self.candidates.is_empty() {
            return None;
        }
        let failures = (&self.failing_pairs, &self.measured, self.failing);
        let wanted = looks::wanted(
            &self.candidates,
            &self.effects,
            (self.looks, failures),
            &mut self.random,
        );
        links::add_unknown(&mut self.differences, wanted.barred);
        self.barred_hosts.extend(wanted.barred_hosts);
        let pairs = wanted.pairs;
        if pairs.is_empty() {
            return None;
        }
        self.asked = wanted.contrasts;
        self.is_waiting = true;
        let rounds = crate::schedule::pack(self.hosts, &pairs).into_iter();
        let rounds = rounds.map(|round| round.into_iter().map(|at| pairs[at]).collect::<Vec<Pair>>());
        let mode = self.options.mode;
        let rounds = match mode {
            Mode::Loaded => rounds.collect(),
            Mode::Isolated => rounds.flatten().map(|pair| vec![pair]).collect(),
        };
        Some(Looks { mode, rounds })
    }

    /// The figures of the rounds that `next_looks` asked for.
    ///
    /// # Errors
    /// Figures of unknown hosts or that are not above zero.
    pub fn look(&mut self, figures: &[Figure]) -> Result<(), MeshError> {
        let mut cells = self.cells(figures)?;
        links::add(&mut self.differences, &std::mem::take(&mut self.asked), &cells);
        confirm::rebase(&mut cells, &self.effects, &mut self.candidates);
        self.fresh.extend(cells);
        self.looks += 1;
        self.is_waiting = false;
        let limits = self.limits();
        let candidates = &mut self.candidates;
        let mut found = confirm::confirm(&self.effects, &self.fresh, &self.units, candidates, limits);
        found.extend(links::confirm(&self.differences, candidates, limits));
        // What a verdict states is the share of the whole mesh's false alarms, not of this look's.
        self.verdicts.extend(found.into_iter().map(|verdict| Verdict {
            false_alarm: (verdict.false_alarm * 2.0 * LOOKS_MAX as f64).min(1.0),
            ..verdict
        }));
        Ok(())
    }

    /// Probability of a false alarm of all hosts, or all links, in a look, and the logarithm of the share that is worth naming.
    fn limits(&self) -> (f64, f64) {
        let family = self.options.false_alarm / LOOKS_MAX as f64 / 2.0;
        (family, (1.0 - self.options.material).ln())
    }

    /// The share of figures that failed, but for those of hosts without any and of pairs that are known to be dead: nobody asks
    /// for these again.
    fn failing(&self, survey: &[Figure]) -> f64 {
        let counts = &self.effects.counts;
        let of_living = survey.iter().filter(|figure| {
            let Pair { from, to } = figure.pair;
            counts[0][from] > 0
                && counts[1][to] > 0
                && !self.failing_pairs.has_only_failed(figure.pair, &self.measured)
        });
        let (failed, all) = of_living.fold((0.0, 0.0), |(failed, all), figure| {
            (failed + f64::from(u8::from(figure.value.is_none())), all + 1.0)
        });
        if all > 0.0 { failed / all } else { 0.0 }
    }

    /// What each host does as sender and as receiver beside the median one, by its number: for tables and pages. Verdicts do
    /// not follow from it.
    pub fn effects(&self) -> Vec<HostEffects> {
        let controls = self.candidates.controls;
        standing::standing(&self.effects, &self.fresh, controls, &self.partners())
    }

    /// Receivers and senders that each host was measured with.
    fn partners(&self) -> Vec<[usize; 2]> {
        let mut partners = vec![[0; 2]; self.hosts];
        for pair in self.measured.as_slice() {
            partners[pair.from][0] += 1;
            partners[pair.to][1] += 1;
        }
        partners
    }

    /// What is known now.
    pub fn report(&self) -> Report {
        let partners = self.partners();
        let too_few = |host: &usize| {
            let sides = (0..2).map(|side| self.effects.counts[side][*host].min(partners[*host][side]));
            sides.min() < Some(PARTNERS_MIN) || self.barred_hosts.contains(host)
        };
        let not_judged: Vec<usize> = (0..self.hosts).filter(too_few).collect();
        let (family, worth) = self.limits();
        let asked = detectable::Asked {
            family,
            worth,
            failing: self.failing,
            cycles: self.cycles,
            // Who was to be looked at again and was not had as many looks as there were.
            looks: match self.is_waiting {
                true => self.looks,
                false => LOOKS_MAX,
            },
        };
        let known = (not_judged.len() < self.hosts).then_some((&self.effects, &self.candidates));
        Report {
            detectable_host: known.and_then(|(effects, found)| detectable::host(effects, found, asked)),
            detectable_link: known.and_then(|(effects, found)| detectable::link(effects, found, asked)),
            verdicts: verdict::merged(&self.verdicts),
            unmeasured: self.hosts * self.hosts.saturating_sub(1) - self.measured.as_slice().len(),
            failed: self.failed,
            not_judged,
            unsettled: links::unsettled(&self.differences, &self.candidates),
            looks: self.looks,
            noise: self.effects.noise.exp_m1(),
        }
    }

    /// Cells of the figures that there are, larger ones better.
    fn cells(&mut self, figures: &[Figure]) -> Result<Vec<Cell>, MeshError> {
        let mut cells = Vec::with_capacity(figures.len());
        for figure in figures {
            let Pair { from, to } = figure.pair;
            let hosts = self.hosts;
            if let Some(host) = [from, to].into_iter().find(|host| *host >= hosts) {
                return Err(MeshError::UnknownHost { host, hosts });
            }
            if from == to {
                return Err(MeshError::SelfPair { host: from });
            }
            self.failing_pairs.add(figure);
            let Some(value) = figure.value else {
                self.failed += 1;
                continue;
            };
            if !(value.is_finite() && value > 0.0) {
                return Err(MeshError::Figure { from, to, value });
            }
            let log = if self.options.higher_is_better {
                value.ln()
            } else {
                -value.ln()
            };
            cells.push(Cell { from, to, log });
        }
        let pairs = cells.iter().map(|cell| cell.pair());
        self.measured.extend(self.hosts, pairs);
        Ok(cells)
    }
}
