//! Measures points that are chosen while the measurement goes on: one test, of which one parameter varies.

use super::run::prepare;
use crate::args::{Cli, ColorChoice, OutputArgs, RunArgs, Verb};
use crate::errors::Failure;
use crate::group::{Groups, Reach};

use crate::order::Step;
use crate::output::Output;
use crate::request;
use crate::session::{Prepared, Session};
use clap::Parser;
use wirespeed::{Machine, Registry};
use wirespeed_schema::plan::{Axis, Plan, expand};
use wirespeed_schema::run::{CaseResult, Repetition};

/// A test whose points are measured one by one.
pub struct Prober<'a> {
    registry: &'a Registry,
    machine: Machine<'a>,
    plan: Plan,
    /// What varies: a key of a plan.
    key: &'static str,
    session: Session<'a>,
    points: Vec<Point>,
}

struct Point {
    value: u64,
    prepared: Prepared,
    repetitions: Vec<Repetition>,
    failure: Option<Failure>,
}

/// The plan that words for `wirespeed run` mean; options that belong to the verb itself are refused.
pub fn plan_of(words: &[String]) -> Result<(Plan, RunArgs), Failure> {
    let argv = ["wirespeed", "run"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let parsed = Cli::try_parse_from(argv).map_err(Failure::from)?;
    let Verb::Run(run) = parsed.verb else {
        return Err(Failure::usage(
            "after `--` stands what `wirespeed run` takes",
            "see --help",
        ));
    };
    super::ab::own_options(&run)?;
    if run.live {
        return Err(Failure::usage(
            "--live shows the runs of `wirespeed run`, whose number is known beforehand",
            "leave --live out",
        ));
    }
    if run.what.ends_with(".toml") {
        return Err(Failure::usage(
            "a plan file has many tests",
            "name one test and its options",
        ));
    }
    Ok((request::plan(&run)?, *run))
}

impl<'a> Prober<'a> {
    /// A prober of the one test that `words` name, with `key` varying.
    pub fn new(
        registry: &'a Registry,
        (plan, run): (Plan, &RunArgs),
        key: &'static str,
        output: &'a mut Output,
        (arguments, color): (&OutputArgs, ColorChoice),
    ) -> Result<Self, Failure> {
        let stop = super::stop_on_signals()?;
        Ok(Prober {
            registry,
            machine: crate::job::machine(registry),
            plan,
            key,
            session: Session::new(
                Groups::new(registry, Reach::of(&run.group)?),
                output,
                stop,
                (color, arguments.quiet),
            ),
            points: Vec::new(),
        })
    }

    /// The values that the words themselves give for what varies.
    pub fn given(&self) -> Axis {
        self.plan
            .templates
            .first()
            .and_then(|template| template.axes.get(self.key))
            .cloned()
            .unwrap_or_default()
    }

    /// Whether the user wants to end.
    pub fn is_stopped(&self) -> bool {
        self.session.stop.is_requested()
    }

    /// The values of all points, rising.
    pub fn values(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.points.iter().map(|point| point.value).collect();
        values.sort_unstable();
        values
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Measure the point `value` once more. What it gave, unless it failed or the user wants to end.
    pub fn measure(&mut self, value: u64) -> Result<Option<&Repetition>, Failure> {
        let at = match self.points.iter().position(|point| point.value == value) {
            Some(at) => at,
            None => {
                let prepared = self.prepare(value)?;
                self.points.push(Point {
                    value,
                    prepared,
                    repetitions: Vec::new(),
                    failure: None,
                });
                self.points.len() - 1
            }
        };
        let total = self.points.len();
        let point = &mut self.points[at];
        if self.session.stop.is_requested() || point.failure.is_some() || point.prepared.skip.is_some() {
            return Ok(None);
        }
        let step = Step {
            repetition: u32::try_from(point.repetitions.len()).unwrap_or(u32::MAX),
            case: at,
        };
        let measured = self.session.measure(step, total, &point.prepared.planned)?;
        point.failure = measured.failure;
        point.repetitions.extend(measured.repetition);
        Ok(if point.failure.is_none() {
            point.repetitions.last()
        } else {
            None
        })
    }

    /// All runs of a point so far.
    pub fn repetitions(&self, value: u64) -> &[Repetition] {
        self.points
            .iter()
            .find(|point| point.value == value)
            .map_or(&[], |point| &point.repetitions)
    }

    fn prepare(&self, value: u64) -> Result<Prepared, Failure> {
        let mut plan = self.plan.clone();
        for template in &mut plan.templates {
            template.axes.insert(self.key.to_owned(), vec![value.to_string()]);
        }
        let cases = expand(&plan, &self.machine)?;
        if cases.len() != 1 {
            let cause = format!("these options are {} cases, not one", cases.len());
            return Err(Failure::usage(
                cause,
                "give each option but the one that varies a single value",
            ));
        }
        let mut prepared = prepare(self.registry, &self.machine, cases)?;
        prepared
            .pop()
            .ok_or_else(|| Failure::usage("no case is left", "see `wirespeed list`"))
    }

    /// The results of all points by rising value, and whether the far end refused one.
    pub fn finish(mut self) -> Result<Finished, Failure> {
        self.points.sort_by_key(|point| point.value);
        let mut results = Vec::new();
        for (number, point) in self.points.into_iter().enumerate() {
            let case = point.prepared.planned.case.clone();
            let result = match &point.prepared.skip {
                Some(reason) => crate::session::skipped(case, reason),
                None if point.repetitions.is_empty() && point.failure.is_none() => continue,
                None => self
                    .session
                    .assemble(case, point.repetitions, point.failure.as_ref()),
            };
            self.session.announce(number, &result)?;
            results.push((point.value, result));
        }
        Ok(Finished {
            results,
            stopped: self.session.stop.is_requested(),
        })
    }
}

/// What a prober leaves.
pub struct Finished {
    /// Value and result of every point, rising.
    pub results: Vec<(u64, CaseResult)>,
    /// Whether the user ended it.
    pub stopped: bool,
}
