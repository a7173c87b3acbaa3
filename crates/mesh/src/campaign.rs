//! One probe of a mesh from its first round to its verdicts: which pairs to measure next, and what their figures come to. The
//! same for real hosts and for simulated ones. It must never measure, wait or decide when the user has had enough.

#[cfg(test)]
mod tests;

use crate::judge::{Culprit, Side, Verdict};
use crate::kept::{Kept, Known, Lack};
use crate::{Effect, Estimate, Figure, HostEffects, Judgement, MeshError, Options, Pair, Plan, Schedule};
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::{MeshCulprit, MeshEffect, MeshPair, MeshProbe, MeshSide, MeshVerdict};

/// What is to be measured, and how it is judged.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Number of hosts.
    pub hosts: usize,
    /// The unit of each host; empty without units.
    pub units: Vec<usize>,
    /// Which pairs.
    pub plan: Plan,
    /// How figures are judged, and how rounds run.
    pub options: Options,
}

/// A probe under way.
#[derive(Debug)]
pub struct Campaign {
    setup: Setup,
    schedule: Schedule,
    kept: Kept,
    judgement: Option<Judgement>,
    /// The figures of the look under way.
    fresh: Vec<Figure>,
    /// Something that was to be measured was not.
    is_partial: bool,
}

impl Campaign {
    /// Nothing is measured yet.
    ///
    /// # Errors
    /// A plan that is invalid for this many hosts.
    pub fn new(setup: Setup) -> Result<Campaign, MeshError> {
        setup.options.check()?;
        let schedule = Schedule::new(
            setup.hosts,
            setup.plan.clone(),
            setup.options.mode,
            setup.options.seed,
        )?;
        Ok(Campaign::of(setup, schedule))
    }

    fn of(setup: Setup, schedule: Schedule) -> Campaign {
        Campaign {
            setup,
            schedule,
            kept: Kept::default(),
            judgement: None,
            fresh: Vec::new(),
            is_partial: false,
        }
    }

    /// One of the same pairs, of which nothing is measured yet.
    #[must_use]
    pub fn anew(&self) -> Campaign {
        Campaign::of(self.setup.clone(), self.schedule.clone())
    }

    /// Rounds and pairs of one cycle.
    pub fn estimate(&self) -> Estimate {
        self.schedule.estimate()
    }

    /// The rounds of one cycle of the survey.
    pub fn all_rounds(&self) -> Vec<Vec<Pair>> {
        let mut rounds = Vec::with_capacity(self.schedule.estimate().rounds);
        rounds.extend(self.schedule.rounds());
        rounds
    }

    /// Something that was to be measured will not be: the user stopped, or nothing can be measured any more.
    pub fn break_off(&mut self) {
        self.is_partial = true;
    }

    /// What a pair was measured at in the survey, or why it was not. A figure that is not above zero is none.
    pub fn survey(&mut self, pair: Pair, measured: Result<f64, Lack>) {
        let is_figure = self.kept.keep(pair, measured).is_some();
        self.kept.of(pair).told.survey_count += u32::from(is_figure);
    }

    /// What a pair was measured at in the look under way, or why it was not.
    pub fn look(&mut self, pair: Pair, measured: Result<f64, Lack>) {
        let value = self.kept.keep(pair, measured);
        self.fresh.push(Figure { pair, value });
    }

    /// Whether a pair is to be measured in this cycle: not one that is silent, or of a host that is set aside.
    pub fn asks(&self, pair: Pair) -> bool {
        !self.kept.is_silent(pair) && !self.kept.is_of_one_aside(pair)
    }

    /// A cycle of the survey begins: hosts that were set aside are tried again.
    pub fn begin_cycle(&mut self) {
        self.kept.begin_cycle();
    }

    /// All rounds of the cycle ran: pairs that nobody asked for were left out. One that is broken off has no end.
    pub fn end_cycle(&mut self) {
        self.kept.end_cycle();
    }

    /// Tell of the pairs that nobody asked for why they have no figure.
    fn tell_set_aside(&mut self) {
        let hosts = (0..self.setup.hosts).map(|host| self.kept.answered_none_of(host));
        let hosts: Vec<Option<usize>> = hosts.collect();
        if hosts.iter().all(Option::is_none) {
            return;
        }
        for pair in self.schedule.rounds().flatten() {
            let ends = [("sender", hosts[pair.from]), ("receiver", hosts[pair.to])];
            let aside = ends.iter().find_map(|(end, tried)| Some((end, (*tried)?)));
            if let Some((end, tried)) = aside {
                let why = || format!("left out: its {end} answered none of {tried} hosts");
                self.kept.of(pair).told.failed.get_or_insert_with(why);
            }
        }
    }

    /// What became of the pairs, for `case` of the document, without any judgement.
    pub fn told(mut self, case: u32) -> MeshProbe {
        self.tell_set_aside();
        let pairs = self.kept.told();
        let with_figure = pairs.iter().filter(|pair| !pair.values.is_empty());
        let all = self.setup.hosts * self.setup.hosts.saturating_sub(1);
        MeshProbe {
            case,
            failed_count: pairs.iter().map(|pair| pair.failed_count).sum(),
            unmeasured_count: (all - with_figure.count()) as u64,
            complete: !self.is_partial && self.fresh.is_empty(),
            pairs,
            ..MeshProbe::default()
        }
    }

    /// The rounds of the next look, where one would help: the judgement begins with the figures of the survey so far, and goes
    /// on with those that came since. Where none came of a look, it ends there.
    ///
    /// # Errors
    /// Options out of range.
    pub fn next_looks(&mut self) -> Result<Option<Vec<Vec<Pair>>>, MeshError> {
        let looked = std::mem::take(&mut self.fresh);
        let mut judgement = match self.judgement.take() {
            Some(judgement) if looked.is_empty() => {
                self.break_off();
                self.judgement = Some(judgement);
                return Ok(None);
            }
            Some(mut judgement) => {
                judgement.look(&looked)?;
                judgement
            }
            None => {
                let survey = self.surveyed();
                Judgement::new(self.setup.hosts, &self.setup.units, self.setup.options, &survey)?
            }
        };
        let looks = judgement.next_looks();
        self.judgement = Some(judgement);
        Ok(looks.map(|looks| looks.rounds))
    }

    /// Figures and failures of the survey, before anything is looked at closer; those failures last that no figure followed,
    /// and with them the cycles that left a silent pair out.
    fn surveyed(&self) -> Vec<Figure> {
        let of = |(pair, known): (&Pair, &Known)| {
            let failed = |count: u64| (0..count).map(|_| None);
            let values = known.told.values.iter().map(|value| Some(value.get()));
            let before = failed(known.told.failed_count - known.failed_since);
            let all = before
                .chain(values)
                .chain(failed(known.failed_since + known.left_out_since));
            all.map(|value| Figure { pair: *pair, value }).collect::<Vec<_>>()
        };
        self.kept.pairs().flat_map(of).collect()
    }

    /// What there is to publish of it, for `case` of the document, whose figures have `tag`.
    ///
    /// # Errors
    /// Options out of range, where nothing was judged yet.
    pub fn finish(mut self, case: u32, tag: &str) -> Result<MeshProbe, MeshError> {
        if self.judgement.is_none() {
            // What was measured so far is judged; suspects that nobody looked at closer make it a part.
            self.is_partial |= self.next_looks()?.is_some();
        }
        let judgement = self.judgement.take();
        let mut probe = MeshProbe {
            tag: tag.to_owned(),
            higher_is_better: self.setup.options.higher_is_better,
            ..self.told(case)
        };
        if let Some(judgement) = judgement {
            let report = judgement.report();
            probe.verdicts = report.verdicts.iter().filter_map(verdict).collect();
            probe.not_judged_hosts = report.not_judged.iter().map(|host| *host as u32).collect();
            probe.looks_count = report.looks as u32;
            probe.detectable_host_ratio = report.detectable_host.and_then(Finite::maybe);
            probe.detectable_link_ratio = report.detectable_link.and_then(Finite::maybe);
            probe.noise_ratio = Finite::maybe(report.noise).unwrap_or_default();
            probe.effects = judgement.effects().iter().map(effect).collect();
            for Pair { from, to } in report.unsettled {
                let is_it = |pair: &&mut MeshPair| (pair.from, pair.to) == (from as u32, to as u32);
                let link = probe.pairs.iter_mut().find(is_it);
                link.into_iter().for_each(|link| link.unsettled = true);
            }
        }
        Ok(probe)
    }
}

fn effect(effects: &HostEffects) -> MeshEffect {
    let ratio = |effect: Option<Effect>| Finite::maybe(effect?.ratio);
    let interval = |effect: Option<Effect>| {
        let [lower, upper] = effect?.interval?;
        Some([Finite::maybe(lower)?, Finite::maybe(upper)?])
    };
    MeshEffect {
        sends_ratio: ratio(effects.sends),
        sends_interval: interval(effects.sends),
        receives_ratio: ratio(effects.receives),
        receives_interval: interval(effects.receives),
    }
}

fn side(side: Side) -> MeshSide {
    match side {
        Side::Sends => MeshSide::Sends,
        Side::Receives => MeshSide::Receives,
        Side::Both => MeshSide::Both,
    }
}

/// `None` where a ratio is no number.
fn verdict(verdict: &Verdict) -> Option<MeshVerdict> {
    let culprit = match verdict.culprit {
        Culprit::Unit { unit, side: at } => MeshCulprit::Unit {
            unit: unit as u32,
            side: side(at),
        },
        Culprit::Host { host, side: at } => MeshCulprit::Host {
            host: host as u32,
            side: side(at),
        },
        Culprit::Link { from, to, both } => MeshCulprit::Link {
            from: from as u32,
            to: to as u32,
            both,
        },
        Culprit::Undecided { host, side: at } => MeshCulprit::Undecided {
            host: host as u32,
            side: side(at),
        },
    };
    let [lower, upper] = verdict.interval;
    Some(MeshVerdict {
        culprit,
        ratio: Finite::maybe(verdict.ratio)?,
        lower_ratio: Finite::maybe(lower)?,
        upper_ratio: Finite::maybe(upper)?,
        false_alarm_ratio: Finite::maybe(verdict.false_alarm)?,
        shown_by_partners: verdict.shown_by as u32,
        partners: verdict.partners as u32,
    })
}
