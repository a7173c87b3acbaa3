//! What a run of a case is for, and its rounds: a cycle over all pairs that answer, or a closer look, which is never taken under a
//! load. It must never run one.

use super::known::Known;
use crate::experiment::Visit;
use wirespeed_mesh::Pair;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// To compare all pairs.
    Survey,
    /// To measure again what seems slow.
    Look,
    /// A mesh under a load is compared with itself, and nobody in it judged.
    UnderLoad,
}

/// One run of a case.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    /// What it is for.
    pub stage: Stage,
    /// Its rounds.
    pub rounds: Vec<Vec<Pair>>,
}

impl Known {
    /// What `visit` is to run; `None` where its case is looked at closer, and this is a run under a load.
    pub fn turn(&mut self, visit: Visit) -> Option<Turn> {
        // A look is of the whole block, and loads come before the run without any as well as after it.
        let block = (visit.subject, visit.round);
        let stage = match (visit.load, self.looks.take()) {
            (None, Some(rounds)) => {
                self.look_block = Some(block);
                return Some(Turn {
                    stage: Stage::Look,
                    rounds,
                });
            }
            (Some(_), looks @ Some(_)) => {
                self.looks = looks;
                return None;
            }
            (Some(_), None) if self.look_block == Some(block) => return None,
            (Some(_), None) => Stage::UnderLoad,
            (None, None) => Stage::Survey,
        };
        self.campaign(visit, stage).begin_cycle();
        let rounds = self.campaigns[visit.subject].all_rounds().into_iter();
        let rounds = rounds.map(|round| self.asked((visit, stage), round));
        Some(Turn {
            stage,
            rounds: rounds.filter(|round| !round.is_empty()).collect(),
        })
    }

    /// A round without pairs that never answer and hosts that are set aside: a silent one would cost its time in every further
    /// cycle, and under every load. What a look asks for its judgement has chosen.
    pub fn asked(&self, (visit, stage): (Visit, Stage), mut round: Vec<Pair>) -> Vec<Pair> {
        let under_load = self.under_load.get(&visit.cell);
        let campaigns = under_load.into_iter().chain([&self.campaigns[visit.subject]]);
        round.retain(|pair| stage == Stage::Look || campaigns.clone().all(|campaign| campaign.asks(*pair)));
        round
    }
}

#[cfg(test)]
mod tests {
    use super::super::allowance::Allowance;
    use super::*;
    use std::time::Instant;
    use wirespeed_mesh::{Campaign, Lack, Mode, Options, Plan, Setup};

    const PAIRS: [Pair; 2] = [Pair { from: 0, to: 1 }, Pair { from: 1, to: 0 }];
    const LOAD: Option<&str> = Some("incast");

    /// A mesh of two hosts with so many cases, whose pairs are measured one after the other.
    fn known(cases: usize) -> Known {
        let campaign = |_| {
            let setup = Setup {
                hosts: 2,
                units: Vec::new(),
                plan: Plan::Given(PAIRS.to_vec()),
                options: Options {
                    mode: Mode::Isolated,
                    ..Options::default()
                },
            };
            Campaign::new(setup).unwrap()
        };
        let time = (Allowance::new(None, &[], 0), Instant::now());
        Known::new(2, (0..cases).map(campaign).collect(), time)
    }

    fn visit(subject: usize, load: Option<&str>, round: u32) -> Visit<'_> {
        Visit {
            cell: 0,
            subject,
            load,
            arm: 0,
            round,
        }
    }

    #[test]
    fn a_closer_look_runs_under_no_load_whichever_comes_first() {
        let mut known = known(2);
        let stage = |known: &mut Known, visit| Some(known.turn(visit)?.stage);
        let looks = vec![vec![PAIRS[0]]];
        known.looks = Some(looks.clone());
        assert_eq!(known.turn(visit(0, LOAD, 3)), None, "before it");
        let look = known.turn(visit(0, None, 3)).unwrap();
        assert_eq!((look.stage, look.rounds), (Stage::Look, looks));
        assert_eq!(known.turn(visit(0, LOAD, 3)), None, "after it");
        assert_eq!(
            stage(&mut known, visit(1, LOAD, 3)),
            Some(Stage::UnderLoad),
            "another case"
        );
        assert_eq!(
            stage(&mut known, visit(0, LOAD, 4)),
            Some(Stage::UnderLoad),
            "another block"
        );
        assert_eq!(stage(&mut known, visit(0, None, 4)), Some(Stage::Survey));
    }

    /// The pairs of a cycle without a load, and under one, with a cell each; all fail as `lack` says but for the last pair.
    fn cycle(known: &mut Known, number: u32, lack: impl Fn(Option<&str>) -> Option<Lack>) -> [Vec<Pair>; 2] {
        [None, LOAD].map(|load| {
            let visit = Visit {
                cell: usize::from(load.is_some()),
                ..visit(0, load, number)
            };
            let Turn { stage, rounds } = known.turn(visit).unwrap();
            let mut pairs = rounds.concat();
            pairs.sort_unstable();
            for &pair in &pairs {
                let lack = lack(load).filter(|_| pair == PAIRS[0]);
                known.keep((visit, stage), pair, lack.map_or(Ok(1.0), Err));
            }
            pairs
        })
    }

    fn silent() -> Option<Lack> {
        Some(Lack::Failed("silent".to_owned()))
    }

    #[test]
    fn a_pair_that_never_answers_is_left_out_from_the_third_cycle_on() {
        let [mut known, mut under_load] = [known(1), known(1)];
        let (all, well) = (PAIRS.to_vec(), vec![PAIRS[1]]);
        let both = |known: &mut Known, number| cycle(known, number, |_| silent());
        assert_eq!(
            both(&mut known, 0),
            [all.clone(), all.clone()],
            "a failure alone is none for good"
        );
        assert_eq!(
            both(&mut known, 1),
            [all.clone(), well.clone()],
            "twice is, under every load too"
        );
        assert_eq!(both(&mut known, 2), [well.clone(), well.clone()]);
        // One that dies under a load lives without it.
        let mut dies = |number| cycle(&mut under_load, number, |load| load.and_then(|_| silent()));
        let found = [0, 1, 2].map(|number| dies(number)[1].len());
        assert_eq!((found, dies(3)), ([2, 2, 1], [all, well]));
    }

    #[test]
    fn a_pair_with_too_few_samples_for_its_figure_answers() {
        let mut known = known(1);
        for number in 0..4 {
            let few = |_: Option<&str>| Some(Lack::NoFigure("too few samples".to_owned()));
            assert_eq!(cycle(&mut known, number, few), [0, 1].map(|_| PAIRS.to_vec()));
        }
    }
}
