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
        Some(Turn {
            stage,
            rounds: self.cycle(visit.subject),
        })
    }

    /// The rounds of a cycle, without pairs that never gave a figure: a silent one would cost its time in every further cycle,
    /// and under every load.
    fn cycle(&self, subject: usize) -> Vec<Vec<Pair>> {
        let campaign = &self.campaigns[subject];
        let mut rounds = campaign.all_rounds();
        for round in &mut rounds {
            round.retain(|pair| !campaign.has_only_failed(*pair));
        }
        rounds.retain(|round| !round.is_empty());
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::super::allowance::Allowance;
    use super::*;
    use std::time::Instant;
    use wirespeed_mesh::{Campaign, Mode, Options, Plan, Setup};

    const PAIRS: [Pair; 2] = [Pair { from: 0, to: 1 }, Pair { from: 1, to: 0 }];

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
        let load = Some("incast");
        let stage = |known: &mut Known, visit| Some(known.turn(visit)?.stage);
        let looks = vec![vec![PAIRS[0]]];
        known.looks = Some(looks.clone());
        assert_eq!(known.turn(visit(0, load, 3)), None, "before it");
        let look = known.turn(visit(0, None, 3)).unwrap();
        assert_eq!((look.stage, look.rounds), (Stage::Look, looks));
        assert_eq!(known.turn(visit(0, load, 3)), None, "after it");
        assert_eq!(
            stage(&mut known, visit(1, load, 3)),
            Some(Stage::UnderLoad),
            "another case"
        );
        assert_eq!(
            stage(&mut known, visit(0, load, 4)),
            Some(Stage::UnderLoad),
            "another block"
        );
        assert_eq!(stage(&mut known, visit(0, None, 4)), Some(Stage::Survey));
    }

    #[test]
    fn a_pair_that_never_answers_is_left_out_from_the_third_cycle_on() {
        let mut known = known(1);
        let [dead, well] = PAIRS;
        let mut turn = |cycle: u32| {
            let rounds = |load| known.turn(visit(0, load, cycle)).unwrap().rounds.concat();
            let both = [None, Some("incast")].map(rounds);
            known.campaigns[0].survey(dead, Err("silent".to_owned()));
            known.campaigns[0].survey(well, Ok(1.0));
            both.map(|mut pairs| {
                pairs.sort_unstable();
                pairs
            })
        };
        for cycle in 0..2 {
            assert_eq!(turn(cycle), [PAIRS; 2], "a failure alone is none for good");
        }
        assert_eq!(turn(2), [[well]; 2]);
    }
}
