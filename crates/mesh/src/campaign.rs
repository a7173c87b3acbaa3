//! One probe of a mesh from its first round to its verdicts: which pairs to measure next, and what their figures come to. The
//! same for real hosts and for simulated ones. It must never measure, wait or decide when the user has had enough.

use crate::judge::{Culprit, Side, Verdict};
use crate::{Effect, Estimate, Figure, HostEffects, Judgement, MeshError, Options, Pair, Plan, Schedule};
use std::collections::BTreeMap;
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

/// What is known of an ordered pair.
#[derive(Debug, Clone, Default)]
struct Known {
    values: Vec<f64>,
    survey: u32,
    failed_count: u64,
    /// Of these, since the last figure.
    failed_since: u64,
    failed: Option<String>,
    wrong_data: Option<String>,
}

/// A probe under way.
#[derive(Debug)]
pub struct Campaign {
    setup: Setup,
    schedule: Schedule,
    known: BTreeMap<Pair, Known>,
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
        Ok(Campaign {
            setup,
            schedule,
            known: BTreeMap::new(),
            judgement: None,
            fresh: Vec::new(),
            is_partial: false,
        })
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

    /// What a pair was measured at in the survey, or why it was not. A figure that is not above zero is a failure.
    pub fn survey(&mut self, pair: Pair, measured: Result<f64, String>) {
        let (value, known) = self.keep(pair, measured);
        known.survey += u32::from(value.is_some());
    }

    /// What a pair was measured at in the look under way, or why it was not.
    pub fn look(&mut self, pair: Pair, measured: Result<f64, String>) {
        let (value, _) = self.keep(pair, measured);
        self.fresh.push(Figure { pair, value });
    }

    /// Data of a pair arrived other than they were sent: no good measurement makes up for that.
    pub fn wrong_data(&mut self, pair: Pair, how: String) {
        self.known.entry(pair).or_default().wrong_data = Some(how);
    }

    /// Whether a pair gave nothing each time that it was measured, and that twice at least: once may be chance.
    pub fn has_only_failed(&self, pair: Pair) -> bool {
        let known = self.known.get(&pair);
        known.is_some_and(|known| known.failed_count >= 2 && known.values.is_empty())
    }

    fn keep(&mut self, pair: Pair, measured: Result<f64, String>) -> (Option<f64>, &mut Known) {
        let known = self.known.entry(pair).or_default();
        let why = match measured {
            Ok(value) if value.is_finite() && value > 0.0 => {
                known.values.push(value);
                known.failed_since = 0;
                return (Some(value), known);
            }
            Ok(value) => format!("its figure is {value}"),
            Err(why) => why,
        };
        known.failed_count += 1;
        known.failed_since += 1;
        known.failed = Some(why);
        (None, known)
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

    /// Figures and failures of the survey, before anything is looked at closer; those failures last that no figure followed.
    fn surveyed(&self) -> Vec<Figure> {
        let of = |(pair, known): (&Pair, &Known)| {
            let failed = |count: u64| (0..count).map(|_| None);
            let values = known.values.iter().map(|value| Some(*value));
            let before = failed(known.failed_count - known.failed_since);
            let all = before.chain(values).chain(failed(known.failed_since));
            all.map(|value| Figure { pair: *pair, value }).collect::<Vec<_>>()
        };
        self.known.iter().flat_map(of).collect()
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
        let unmeasured = self.fresh.len();
        let mut probe = MeshProbe {
            case,
            tag: tag.to_owned(),
            higher_is_better: self.setup.options.higher_is_better,
            complete: !self.is_partial && unmeasured == 0,
            pairs: self.known.into_iter().map(published).collect(),
            ..MeshProbe::default()
        };
        if let Some(judgement) = self.judgement {
            let report = judgement.report();
            probe.verdicts = report.verdicts.iter().filter_map(verdict).collect();
            probe.unmeasured_count = report.unmeasured as u64;
            probe.failed_count = report.failed as u64;
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

fn published((pair, known): (Pair, Known)) -> MeshPair {
    MeshPair {
        from: pair.from as u32,
        to: pair.to as u32,
        values: known.values.into_iter().filter_map(Finite::maybe).collect(),
        survey_count: known.survey,
        failed_count: known.failed_count,
        failed: known.failed,
        wrong_data: known.wrong_data,
        unsettled: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use wirespeed_report::stats::Random;

    fn setup(hosts: usize) -> Setup {
        Setup {
            hosts,
            units: Vec::new(),
            plan: Plan::All,
            options: Options {
                seed: 3,
                ..Options::default()
            },
        }
    }

    /// Measure as `value` says until the judgement wants nothing more.
    fn run(mut campaign: Campaign, mut value: impl FnMut(Pair) -> Result<f64, String>) -> MeshProbe {
        let rounds = campaign.all_rounds();
        for pair in rounds.concat() {
            campaign.survey(pair, value(pair));
        }
        while let Some(rounds) = campaign.next_looks().unwrap() {
            for pair in rounds.concat() {
                campaign.look(pair, value(pair));
            }
        }
        campaign.finish(0, "bandwidth_bytes_per_s").unwrap()
    }

    #[test]
    fn a_slow_receiver_is_named_with_its_numbers() {
        let mut random = Random::new(9);
        let probe = run(Campaign::new(setup(8)).unwrap(), |pair| {
            let slow = if pair.to == 5 { 0.6 } else { 1.0 };
            Ok(1e9 * slow * (0.02 * random.normal()).exp())
        });
        let receives = MeshCulprit::Host {
            host: 5,
            side: MeshSide::Receives,
        };
        assert_eq!(probe.verdicts.len(), 1, "{:?}", probe.verdicts);
        let verdict = &probe.verdicts[0];
        assert_eq!(verdict.culprit, receives);
        assert!((verdict.ratio.get() - 0.6).abs() < 0.03, "{verdict:?}");
        assert!(verdict.lower_ratio < verdict.ratio && verdict.ratio < verdict.upper_ratio);
        let effect = probe.effects[5].receives_ratio.unwrap().get();
        assert!((effect - 0.6).abs() < 0.05, "{effect}");
        assert!(probe.looks_count > 0 && probe.complete);
        assert_eq!(probe.pairs.len(), 56);
        let more = |pair: &&MeshPair| pair.values.len() > pair.survey_count as usize;
        assert!(
            probe.pairs.iter().any(|pair| more(&pair)),
            "looks are kept beside the survey"
        );
    }

    #[test]
    fn failures_and_lost_hosts_are_told_and_nobody_is_blamed() {
        let campaign = Campaign::new(setup(6)).unwrap();
        let mut random = Random::new(4);
        let probe = run(campaign, |pair| match pair {
            Pair { from: 2, .. } | Pair { to: 2, .. } => Err("gone".to_owned()),
            Pair { from: 0, to: 1 } => Ok(f64::NAN),
            _ => Ok(1e9 * (0.02 * random.normal()).exp()),
        });
        assert!(probe.verdicts.is_empty(), "{:?}", probe.verdicts);
        assert_eq!((probe.failed_count, probe.unmeasured_count), (11, 11));
        assert_eq!(probe.not_judged_hosts, [2]);
        let failed: Vec<&str> = probe
            .pairs
            .iter()
            .filter_map(|pair| pair.failed.as_deref())
            .collect();
        assert_eq!(failed.iter().filter(|why| **why == "gone").count(), 10);
        assert!(probe.effects[2].sends_ratio.is_none() && probe.effects[1].sends_ratio.is_some());
    }

    #[test]
    fn what_failed_once_is_told_however_well_the_rest_went() {
        let mut campaign = Campaign::new(setup(6)).unwrap();
        let mut random = Random::new(4);
        let (flaky, dead) = (Pair { from: 0, to: 1 }, Pair { from: 2, to: 3 });
        for cycle in 0..3 {
            for pair in campaign.all_rounds().concat() {
                let measured = match cycle {
                    0 if pair == flaky => Err("other data than sent".to_owned()),
                    _ if pair == dead => Err("gone".to_owned()),
                    _ => Ok(1e9 * (0.02 * random.normal()).exp()),
                };
                if let (true, Err(why)) = (pair == flaky, &measured) {
                    campaign.wrong_data(pair, why.clone());
                }
                campaign.survey(pair, measured);
            }
        }
        let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
        assert_eq!(probe.failed_count, 4);
        let of = |Pair { from, to }: Pair| {
            let mut pairs = probe.pairs.iter();
            let found = pairs.find(|pair| (pair.from, pair.to) == (from as u32, to as u32));
            found.unwrap()
        };
        let (flaky, dead) = (of(flaky), of(dead));
        assert_eq!(
            (flaky.failed_count, flaky.values.len(), flaky.failure()),
            (1, 2, None)
        );
        assert_eq!(flaky.wrong_data.as_deref(), Some("other data than sent"));
        assert_eq!((dead.failed_count, dead.failure()), (3, Some("gone")));
        assert_eq!(dead.wrong_data, None);
    }

    #[test]
    fn a_slow_link_that_fails_now_and_then_is_named() {
        let mut random = Random::new(5);
        let mut slow = |pair: Pair| match pair {
            Pair { from: 0, to: 1 } => 0.4 * (0.02 * random.normal()).exp(),
            _ => (0.02 * random.normal()).exp(),
        };
        let mut campaign = Campaign::new(setup(8)).unwrap();
        for cycle in 0..10 {
            for pair in campaign.all_rounds().concat() {
                let fails = (pair.from, pair.to, cycle % 2) == (0, 1, 0);
                let measured = if fails {
                    Err("gone".to_owned())
                } else {
                    Ok(slow(pair))
                };
                campaign.survey(pair, measured);
            }
        }
        while let Some(rounds) = campaign.next_looks().unwrap() {
            for pair in rounds.concat() {
                campaign.look(pair, Ok(slow(pair)));
            }
        }
        let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
        let found: Vec<&MeshCulprit> = probe.verdicts.iter().map(|verdict| &verdict.culprit).collect();
        let is_it = |culprit: &&MeshCulprit| matches!(culprit, MeshCulprit::Link { from: 0, to: 1, .. });
        assert!(found.len() == 1 && found.iter().all(is_it), "{found:?}");
    }

    /// A mesh whose link 0 -> 1 is slow, and gives no figure after the first `figures`.
    fn dying(figures: usize) -> MeshProbe {
        let (mut random, mut left) = (Random::new(9), figures);
        run(Campaign::new(setup(8)).unwrap(), |pair| {
            let value = 1e9 * (0.01 * random.normal()).exp();
            match (pair.from, pair.to) {
                (0, 1) if left == 0 => Err("gone".to_owned()),
                (0, 1) => {
                    left -= 1;
                    Ok(0.3 * value)
                }
                _ => Ok(value),
            }
        })
    }

    #[test]
    fn a_slow_link_that_dies_before_its_checks_is_not_cleared() {
        let unsettled = |probe: &MeshProbe| -> Vec<(u32, u32)> {
            let pairs = probe.pairs.iter().filter(|pair| pair.unsettled);
            pairs.map(|pair| (pair.from, pair.to)).collect()
        };
        // Of the survey alone, and of its first checks.
        for figures in [1, 3] {
            let probe = dying(figures);
            assert_eq!(
                (probe.verdicts.len(), probe.complete),
                (0, true),
                "{:?}",
                probe.verdicts
            );
            assert_eq!(unsettled(&probe), [(0, 1)]);
            assert!(probe.failed_count > 0 && probe.detectable_link_ratio.is_some());
        }
        let well = dying(usize::MAX);
        assert_eq!((well.verdicts.len(), unsettled(&well)), (1, Vec::new()));
    }

    #[test]
    fn a_look_of_which_nothing_came_is_none() {
        let mut campaign = Campaign::new(setup(8)).unwrap();
        for pair in campaign.all_rounds().concat() {
            let value = if pair.from == 3 { 0.5 } else { 1.0 };
            campaign.survey(pair, Ok(value + 0.001 * pair.to as f64));
        }
        assert!(campaign.next_looks().unwrap().is_some());
        assert!(campaign.next_looks().unwrap().is_none());
        let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
        assert_eq!((probe.looks_count, probe.complete), (0, false));
        assert_eq!(probe.detectable_host_ratio, None);
    }

    #[test]
    fn a_pair_has_only_failed_that_did_so_twice_and_never_gave_a_figure() {
        let mut campaign = Campaign::new(setup(4)).unwrap();
        let (dead, flaky) = (Pair { from: 0, to: 1 }, Pair { from: 2, to: 3 });
        campaign.survey(flaky, Ok(1.0));
        for expected in [false, true] {
            for pair in [dead, flaky] {
                campaign.survey(pair, Err("silent".to_owned()));
            }
            assert_eq!(campaign.has_only_failed(dead), expected);
        }
        assert!(!campaign.has_only_failed(flaky) && !campaign.has_only_failed(dead.back()));
    }

    #[test]
    fn a_part_is_judged_and_said_to_be_one() {
        let mut campaign = Campaign::new(setup(4)).unwrap();
        campaign.survey(Pair { from: 0, to: 1 }, Ok(1.0));
        campaign.break_off();
        let probe = campaign.finish(0, "rtt_p50_ns").unwrap();
        assert!(!probe.complete && probe.verdicts.is_empty());
        assert_eq!((probe.pairs.len(), probe.unmeasured_count), (1, 11));
        let latency = Setup {
            options: Options {
                mode: Mode::Isolated,
                higher_is_better: false,
                ..Options::default()
            },
            ..setup(3)
        };
        let campaign = Campaign::new(latency).unwrap();
        assert_eq!((campaign.estimate().rounds, campaign.all_rounds().len()), (6, 6));
    }
}
