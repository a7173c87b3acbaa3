//! Points of a curve, chosen while the measurement goes on: each is a case, known by the value of what varies.

use super::{Experiment, Found, Prepared};
use crate::errors::Failure;
use wirespeed_schema::run::Repetition;

/// The case at a value.
type At<'a> = Box<dyn Fn(f64) -> Result<Prepared, Failure> + 'a>;

/// Points by the value of what varies.
pub struct Points<'a> {
    experiment: Experiment<'a>,
    at: At<'a>,
    /// The value of each subject.
    values: Vec<f64>,
}

impl<'a> Points<'a> {
    /// No point yet; `at` tells the case of a value.
    pub fn new(experiment: Experiment<'a>, at: impl Fn(f64) -> Result<Prepared, Failure> + 'a) -> Self {
        Points {
            experiment,
            at: Box::new(at),
            values: Vec::new(),
        }
    }

    /// The values of all points, rising.
    pub fn values(&self) -> Vec<f64> {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Measure the points of these values as often as asked, in random order.
    pub fn measure(&mut self, values: &[f64]) -> Result<(), Failure> {
        let subjects = self.subjects(values)?;
        self.experiment.measure(&subjects)
    }

    /// Measure the points of these values in `count` rounds, whatever is known of them.
    pub fn rounds(&mut self, values: &[f64], count: u32) -> Result<(), Failure> {
        let subjects = self.subjects(values)?;
        self.experiment.rounds(&subjects, count)
    }

    fn subjects(&mut self, values: &[f64]) -> Result<Vec<usize>, Failure> {
        let mut subjects = Vec::with_capacity(values.len());
        for value in values {
            subjects.push(match self.known(*value) {
                Some(subject) => subject,
                None => {
                    self.values.push(*value);
                    self.experiment.add((self.at)(*value)?)?
                }
            });
        }
        Ok(subjects)
    }

    /// All runs of a point so far; none of one that failed.
    pub fn repetitions(&self, value: f64) -> &[Repetition] {
        self.known(value)
            .map_or(&[], |subject| self.experiment.repetitions(subject))
    }

    /// One figure of all runs of a point so far.
    pub fn figures(&self, value: f64, figure: impl Fn(&Repetition) -> Option<f64>) -> Vec<f64> {
        self.repetitions(value).iter().filter_map(figure).collect()
    }

    /// The highest figure of the good runs of a point so far, whatever failed after them.
    pub fn most(&self, value: f64, figure: impl Fn(&Repetition) -> Option<f64>) -> Option<f64> {
        let figures = self.experiment.good_runs(self.known(value)?).filter_map(figure);
        figures.reduce(f64::max)
    }

    /// The subject of a value that was measured.
    fn known(&self, value: f64) -> Option<usize> {
        self.values.iter().position(|known| *known == value)
    }

    /// Whether nothing further will be measured.
    pub fn is_over(&self) -> bool {
        self.experiment.is_over()
    }

    /// The results of all points by rising value.
    pub fn finish(self) -> Result<Found, Failure> {
        let values = self.values;
        let found = self.experiment.finish()?;
        Ok(found.sorted_by(|subject| values.get(subject).copied().unwrap_or(f64::NAN)))
    }
}
