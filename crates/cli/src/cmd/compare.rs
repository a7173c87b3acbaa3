//! `wirespeed compare`: two stored results, figure by figure.

use super::front::Front;
use crate::args::{ColorChoice, CompareArgs, GateArgs, OutputArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::experiment::Found;
use crate::file;
use crate::output::Output;
use crate::results;
use std::path::Path;
use wirespeed_report::compare::{self, CompareError, Comparison, Question, Verdict};
use wirespeed_report::read::newer_of;
use wirespeed_report::render;
use wirespeed_schema::Run;
use wirespeed_schema::plan::Until;
use wirespeed_schema::run::Status;

/// Compare two stored results.
pub fn compare(arguments: &CompareArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let gate = Gate::of(&arguments.gate, &arguments.across)?;
    let only = |path: &Path| {
        matches!(
            path.extension().and_then(|e| e.to_str()),
            Some("json" | "txt" | "md" | "html")
        )
    };
    if let Some(path) = arguments.output.iter().find(|path| !only(path)) {
        return Err(Failure::ending(
            path,
            "a comparison is written as .json, .txt, .md or .html",
            ".json, .txt, .md or .html",
        ));
    }
    let destinations = OutputArgs {
        json: arguments.json,
        output: arguments.output.clone(),
        ..OutputArgs::default()
    };
    let mut output = Output::open(&destinations, color)?;
    gate.show(&mut output);
    let (a, b) = (results::load(&arguments.a)?, results::load(&arguments.b)?);
    let names = results::names([arguments.a.as_path(), arguments.b.as_path()].into_iter());
    let mut draft = Draft::begin(None, false);
    if let Some(remark) = newer_of([("A", &a), ("B", &b)]) {
        draft.remark(remark);
    }
    let found = compare::compare(
        (&names[0], &a),
        (&names[1], &b),
        &gate.question,
        gate.within_ratio,
    );
    let comparison = found.map_err(refused)?;
    let mut run = draft.finish(Vec::new(), false);
    gate.publish(&mut run, &mut output, &comparison)?;
    Ok(gate.ended(&comparison))
}

/// What counts as a difference, and who is told of it.
pub struct Gate<'a> {
    arguments: &'a GateArgs,
    /// What is compared.
    pub question: Question,
    /// Ratios within 1 ± this are the same.
    pub within_ratio: f64,
}

impl<'a> Gate<'a> {
    /// Errors where the arguments make no sense, or a file cannot be written.
    pub fn of(arguments: &'a GateArgs, across: &[String]) -> Result<Self, Failure> {
        let width = Until {
            within: arguments.within.clone(),
            ..Until::default()
        };
        let within_ratio = width.half_width_ratio().map_err(|error| {
            Failure::usage(error.to_string().replace("--until", "--within"), error.remedy)
        })?;
        let unknown = arguments
            .figure
            .iter()
            .find(|name| compare::matching::candidates(name).is_empty());
        if let Some(name) = unknown {
            let error = CompareError::UnknownFigure { name: name.clone() };
            return Err(Failure::usage(error.to_string(), error.remedy()));
        }
        if let Some(path) = &arguments.junit {
            file::check(path)?;
        }
        Ok(Gate {
            arguments,
            question: Question {
                figures: arguments.figure.clone(),
                across: across.to_vec(),
                allow_shared: arguments.allow_shared,
            },
            within_ratio,
        })
    }

    /// Show the comparison to a workflow instead of people, where that was asked for.
    pub fn show(&self, output: &mut Output) {
        if self.arguments.github {
            output.show_as(|run, _| {
                run.sections
                    .get::<Comparison>()
                    .map(|found| render::github(&found))
                    .unwrap_or_default()
            });
        }
    }

    /// Put the comparison into the document, and everything where it was asked for.
    pub fn publish(
        &self,
        run: &mut Run,
        output: &mut Output,
        comparison: &Comparison,
    ) -> Result<(), Failure> {
        run.sections.put(comparison);
        let published = output.finish(run);
        self.write_junit(&render::junit(comparison, self.arguments.allow_inconclusive))?;
        published
    }

    /// A run that measured leaves no earlier one's verdicts where its own are looked for; one that is refused changes nothing.
    fn write_junit(&self, text: &str) -> Result<(), Failure> {
        match &self.arguments.junit {
            Some(path) => file::write(path, text).map_err(Failure::documented),
            None => Ok(()),
        }
    }

    /// Compare the two arms of an experiment, and publish what was found; `control`: both are the same.
    pub fn conclude(
        &self,
        front: Front,
        found: Found,
        words: &[String; 2],
        control: bool,
    ) -> Result<Ended, Failure> {
        let Front {
            mut output,
            draft,
            strict,
            ..
        } = front;
        let mut run = found.into_run(draft);
        if run.status != Status::Ok {
            let ended = super::ended(&run, strict);
            // Whatever ended the pairs, those that were measured are an answer all the same.
            if let Ok(comparison) = self.arms(&run, words, control) {
                run.sections.put(&comparison);
            }
            let published = output.finish(&run);
            let said = ended.failure.as_ref().map_or("", |failure| &failure.cause);
            self.write_junit(&render::junit_error(run.error.as_deref().unwrap_or(said)))?;
            return published.map(|()| ended);
        }
        let comparison = match self.arms(&run, words, control) {
            Ok(comparison) => comparison,
            // What cannot be compared is not lost.
            Err(error) => {
                let published = output.finish(&run);
                self.write_junit(&render::junit_error(&error.to_string()))?;
                published?;
                return Err(refused(error).documented());
            }
        };
        self.publish(&mut run, &mut output, &comparison)?;
        let ended = self.ended(&comparison);
        match ended.code == Ended::OK.code {
            true => Ok(super::ended(&run, strict)),
            false => Ok(ended),
        }
    }

    /// What B is against A, by the pairs of runs that both have; `control`: both are the same.
    fn arms(&self, run: &Run, [a, b]: &[String; 2], control: bool) -> Result<Comparison, CompareError> {
        let compared = compare::compare_arms(run, (a, b), &self.question, self.within_ratio)?;
        Ok(Comparison { control, ..compared })
    }

    /// The exit code that a verdict means.
    pub fn ended(&self, comparison: &Comparison) -> Ended {
        let count = |verdict| comparison.verdicts().filter(|one| *one == verdict).count();
        let of = comparison.verdicts().count();
        match comparison.worst() {
            Some(Verdict::Slower) => {
                let mut cause = match of {
                    1 => "B is slower than A".to_owned(),
                    _ => format!("B is slower than A in {} of {of} figures", count(Verdict::Slower)),
                };
                if comparison.control {
                    cause.push_str(", but is A itself: the machine is not steady enough to compare");
                }
                let remedy = comparison.remedy();
                Ended::badly(Failure::with(exit::GATE, cause, remedy))
            }
            Some(Verdict::Inconclusive) if !self.arguments.allow_inconclusive => {
                let cause = match of {
                    1 => "the comparison is inconclusive".to_owned(),
                    _ => format!(
                        "nothing is slower, but inconclusive: {} of {of} figures",
                        count(Verdict::Inconclusive)
                    ),
                };
                Ended::badly(Failure::with(exit::INCONCLUSIVE, cause, comparison.remedy()))
            }
            _ => Ended::OK,
        }
    }
}

/// A comparison that must not be made.
fn refused(error: CompareError) -> Failure {
    Failure::with(exit::REFUSED, error.to_string(), error.remedy())
}
