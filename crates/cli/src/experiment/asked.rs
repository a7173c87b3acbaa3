//! What the words of a measuring verb say about measuring as such. One place for every verb.

use super::cell::{Cell, Prepared};
use super::loads;
use crate::args::{ColorChoice, ExperimentArgs, OutputArgs};
use crate::errors::Failure;
use crate::experiment::budget::Budget;
use crate::experiment::order::fresh_seed;
use std::ops::Range;
use wirespeed::host::allowed_cpus;
use wirespeed::load::Interference;
use wirespeed_report::Goal;
use wirespeed_report::interference::Loaded;
use wirespeed_schema::Case;
use wirespeed_schema::case::GroupKind;
use wirespeed_schema::plan::{Plan, UNTIL_REPEATS, Until, parse_repeats};

/// Time between two pictures of the live view, where the user says nothing.
const LIVE_INTERVAL: &str = "500ms";

/// How cases are measured.
pub struct How {
    /// Rounds: so many, or at most so many where there is a goal.
    pub repeats: u32,
    /// When a case is known well enough.
    pub goal: Option<Goal>,
    /// Seed of the order.
    pub seed: u64,
    /// What every case is measured under in turn, besides nothing.
    pub loads: Vec<Interference>,
    /// What else every case is measured under in turn: something that the runner brings about by itself.
    pub storms: Vec<Loaded>,
    /// Cells that the live view shows, where there is one.
    pub live: Option<Range<u32>>,
    /// The time for all of it, where it is limited.
    pub budget: Option<Budget>,
    /// A case that fails is left out from then on in every arm, because half of a pair tells nothing.
    pub paired: bool,
    /// No progress lines.
    pub quiet: bool,
    /// When to colour.
    pub color: ColorChoice,
}

impl How {
    /// Put into `plan` what the words ask for, and say how its cases are measured; `usual` rounds where nothing says how
    /// many. Errors where words make no sense.
    pub fn of(
        words: &ExperimentArgs,
        (plan, usual): (&mut Plan, u32),
        (output, color): (&OutputArgs, ColorChoice),
    ) -> Result<How, Failure> {
        if words.live && output.quiet {
            return Err(Failure::usage(
                "--live shows the run, and --quiet shows nothing of it",
                "leave one of them out",
            ));
        }
        let repeats = words.repeats.as_deref();
        let repeats = repeats.map(|text| parse_repeats("--repeats", text)).transpose()?;
        if plan.repeats <= 1 && plan.until.is_none() {
            plan.repeats = match words.interference.is_empty() {
                true => usual,
                false => loads::ROUNDS,
            };
        }
        if let Some(until) = until(words)? {
            // What the plan file says besides its goal still holds.
            let of_file = plan.until.take();
            let time = of_file.as_ref().and_then(|until| until.time.clone());
            if of_file.is_none() || plan.repeats <= 1 {
                plan.repeats = UNTIL_REPEATS;
            }
            plan.until = Some(Until {
                time: until.time.or(time),
                ..until
            });
        } else if words.until_time.is_some() {
            let Some(until) = &mut plan.until else {
                return Err(Failure::usage(
                    "--until-time limits --until, which is not given",
                    "add a goal such as --until p50:2%, or leave --until-time out",
                ));
            };
            until.time.clone_from(&words.until_time);
        }
        plan.repeats = repeats.unwrap_or(plan.repeats);
        fill(words, plan)?;
        let goal = plan.until.as_ref().map(|until| Goal::new(until, plan.repeats));
        Ok(How {
            repeats: plan.repeats,
            goal: goal.transpose()?,
            seed: words.seed.unwrap_or_else(fresh_seed),
            loads: loads::parse(&words.interference)?,
            storms: Vec::new(),
            live: words.live.then_some(0..u32::MAX),
            budget: None,
            paired: false,
            quiet: output.quiet,
            color,
        })
    }
}

/// Pin the ranks of a case that no plan made, where the words say so.
pub fn pin(words: &ExperimentArgs, case: &mut Case) -> Result<(), Failure> {
    let local = match case.group {
        GroupKind::Hosts => 1,
        _ => case.ranks.len(),
    };
    let allowed = allowed_cpus();
    match words.cpus.last() {
        Some(text) => Ok(wirespeed_schema::plan::pin(
            text,
            &mut case.ranks,
            (local, &allowed),
        )?),
        None => Ok(()),
    }
}

impl How {
    /// Whether cases are measured under anything besides nothing.
    pub fn has_loads(&self) -> bool {
        !self.loads.is_empty() || !self.storms.is_empty()
    }

    /// Leave what is seen of a run that goes on to the verb's own lines; whether those may be drawn.
    pub fn shows_its_own(&mut self) -> bool {
        !std::mem::replace(&mut self.quiet, true) && self.live.is_none()
    }

    /// Every case as it will run, with its loads behind it.
    pub fn listed(&self, cases: Vec<Prepared>) -> Result<Vec<Prepared>, Failure> {
        let mut all = Vec::new();
        for prepared in cases {
            let cells = Cell::all_of(prepared, (0, all.len()), self)?;
            all.extend(cells.into_iter().map(|cell| Prepared {
                planned: cell.planned,
                skip: cell.skip,
                failure: cell.failure,
            }));
        }
        Ok(all)
    }
}

/// Put into `plan`, before its cases are made, what the words say of every case: its CPUs, and the reports that a live view
/// is drawn from.
pub fn fill(words: &ExperimentArgs, plan: &mut Plan) -> Result<(), Failure> {
    add(plan, "interval", words.live.then_some(LIVE_INTERVAL))?;
    let cpus = (!words.cpus.is_empty()).then(|| words.cpus.join(";"));
    add(plan, "cpus", cpus.as_deref())
}

/// Give every template that says nothing of `key` these values.
fn add(plan: &mut Plan, key: &str, text: Option<&str>) -> Result<(), Failure> {
    for template in &mut plan.templates {
        if let Some(text) = text {
            template.add_default(key, text)?;
        }
    }
    Ok(())
}

/// What `--until` and `--until-time` ask for.
fn until(words: &ExperimentArgs) -> Result<Option<Until>, Failure> {
    let Some(text) = &words.until else {
        return Ok(None);
    };
    let until = Until {
        time: words.until_time.clone(),
        ..Until::parse(text)?
    };
    until.time_ns()?;
    Ok(Some(until))
}

impl ExperimentArgs {
    /// The first option that was given, for verbs whose words hold those of another verb.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--repeats", self.repeats.is_some()),
            ("--until", self.until.is_some()),
            ("--until-time", self.until_time.is_some()),
            ("--seed", self.seed.is_some()),
            ("--interference", !self.interference.is_empty()),
            ("--dry-run", self.dry_run),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn how(words: &[&str]) -> Result<(How, Plan), Failure> {
        let argv = ["wirespeed", "run", "latency"].iter().chain(words);
        let Verb::Run(run) = Cli::try_parse_from(argv)?.verb else {
            panic!("{words:?} are words of run")
        };
        let mut plan = crate::request::plan(&run)?;
        let how = How::of(&run.experiment, (&mut plan, 3), (&run.output, ColorChoice::Never))?;
        Ok((how, plan))
    }

    #[test]
    fn what_is_not_said_is_the_verbs_own() {
        assert_eq!(how(&[]).unwrap().0.repeats, 3);
        assert_eq!(how(&["--repeats", "1"]).unwrap().0.repeats, 1);
        assert_eq!(how(&["--interference"]).unwrap().0.repeats, loads::ROUNDS);
        assert_eq!(how(&["--interference", "--repeats", "4"]).unwrap().0.repeats, 4);
        assert_eq!(how(&["--until", "p50:2%"]).unwrap().0.repeats, UNTIL_REPEATS);
        let (how, plan) = how(&["--cpus", "0,1;0,none", "--live", "--seed", "5"]).unwrap();
        assert_eq!(plan.templates[0].axes["cpus"], ["0,1", "0,none"]);
        assert_eq!(plan.templates[0].axes["interval"], [LIVE_INTERVAL]);
        assert_eq!((how.seed, how.live), (5, Some(0..u32::MAX)));
    }

    #[test]
    fn nonsense_is_refused() {
        for words in [
            &["--repeats", "0"][..],
            &["--repeats", "x"],
            &["--until", "p50"],
            &["--until", "p50:2%", "--until-time", "5"],
            &["--until-time", "5s"],
            &["--interference=disk"],
            &["--live", "--quiet"],
            &["--cpus", ""],
        ] {
            assert_eq!(how(words).map(|_| ()).unwrap_err().code, 2, "{words:?}");
        }
    }
}
