//! What every measuring verb does around its experiment: destinations before, the document and how it ended after.

use super::ended;
use crate::args::{ColorChoice, OutputArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::experiment::{Experiment, Found, How, Prepared, Runner};
use crate::output::Output;
use wirespeed_control::StopFlag;
use wirespeed_schema::Run;
use wirespeed_schema::plan::Plan;

/// A verb that is about to measure.
pub struct Front {
    /// Where results go.
    pub output: Output,
    /// The document.
    pub draft: Draft,
    /// The user's wish to end.
    pub stop: StopFlag,
    /// Whether a warning ends it with a code of its own.
    pub strict: bool,
}

impl Front {
    /// Check every destination, and begin the document.
    pub fn open(
        (arguments, color): (&OutputArgs, ColorChoice),
        plan: Option<Plan>,
    ) -> Result<Front, Failure> {
        let stop = super::stop_on_signals()?;
        let mut output = Output::open(arguments, color)?;
        output.stop_without_reader(&stop);
        Ok(Front {
            output,
            draft: Draft::begin(plan, arguments.include_host_name),
            stop,
            strict: arguments.strict,
        })
    }

    /// An experiment with nothing to measure yet.
    pub fn experiment<'a>(&'a mut self, how: How, runner: &'a mut dyn Runner) -> Experiment<'a> {
        Experiment::new(how, runner, &mut self.output, &self.stop)
    }

    /// Measure `arms` as often as asked.
    pub fn run(
        &mut self,
        how: How,
        runner: &mut dyn Runner,
        arms: Vec<Vec<Prepared>>,
    ) -> Result<Found, Failure> {
        self.experiment(how, runner).with(arms)?.run()
    }

    /// Measure `arms` as often as asked, and publish what was found.
    pub fn measure(
        mut self,
        how: How,
        runner: &mut dyn Runner,
        arms: Vec<Vec<Prepared>>,
    ) -> Result<Ended, Failure> {
        let found = self.run(how, runner, arms)?;
        self.publish(found)
    }

    /// Publish what was found, and say how it ended.
    pub fn publish(mut self, found: Found) -> Result<Ended, Failure> {
        let failure = found.failure.clone();
        let run = found.into_run(self.draft);
        self.output.finish(&run)?;
        Ok(ended_with(&run, failure, self.strict))
    }
}

/// How a published run ended, and what to say last: of a `failure` that all cases share, that.
pub fn ended_with(run: &Run, failure: Option<Failure>, strict: bool) -> Ended {
    match failure {
        Some(failure) if run.status == failure.status() => Ended::badly(failure),
        _ => ended(run, strict),
    }
}
