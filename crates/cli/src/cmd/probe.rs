//! Measures points that are chosen while the measurement goes on: one test, of which one parameter varies.

use super::run::prepare;
use crate::args::{Cli, ColorChoice, OutputArgs, RunArgs, Verb};
use crate::errors::Failure;
use crate::group::{Groups, Reach};
use crate::output::Output;
use crate::points::{Finished, Points};
use crate::request;
use crate::session::{Prepared, Session};
use clap::Parser;
use wirespeed::{Machine, Registry};
use wirespeed_schema::plan::{Axis, Plan, expand};
use wirespeed_schema::run::Repetition;

/// A test whose points are measured one by one.
pub struct Prober<'a> {
    registry: &'a Registry,
    machine: Machine<'a>,
    plan: Plan,
    /// What varies: a key of a plan.
    key: &'static str,
    points: Points<'a>,
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
            points: Points::new(Session::new(
                Groups::new(registry, Reach::of(&run.group)?),
                output,
                stop,
                (color, arguments.quiet),
            )),
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
        self.points.session.stop.is_requested()
    }

    /// The values of all points, rising.
    pub fn values(&self) -> Vec<u64> {
        self.points.values()
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.points.values().len()
    }

    /// Measure the point `value` once more. What it gave, unless it failed or the user wants to end.
    pub fn measure(&mut self, value: u64) -> Result<Option<&Repetition>, Failure> {
        let Prober {
            registry,
            machine,
            plan,
            key,
            points,
        } = self;
        points.measure(value, || prepared((registry, machine), plan, (key, value)))
    }

    /// All runs of a point so far.
    pub fn repetitions(&self, value: u64) -> &[Repetition] {
        self.points.repetitions(value)
    }

    /// The results of all points by rising value, and whether the user ended it.
    pub fn finish(self) -> Result<Finished, Failure> {
        self.points.finish()
    }
}

/// The one case that `plan` is with `key` at `value`.
fn prepared(
    (registry, machine): (&Registry, &Machine),
    plan: &Plan,
    (key, value): (&str, u64),
) -> Result<Prepared, Failure> {
    let mut plan = plan.clone();
    for template in &mut plan.templates {
        template.axes.insert(key.to_owned(), vec![value.to_string()]);
    }
    let cases = expand(&plan, machine)?;
    if cases.len() != 1 {
        let cause = format!("these options are {} cases, not one", cases.len());
        return Err(Failure::usage(
            cause,
            "give each option but the one that varies a single value",
        ));
    }
    let mut prepared = prepare(registry, machine, cases)?;
    prepared
        .pop()
        .ok_or_else(|| Failure::usage("no case is left", "see `wirespeed list`"))
}
