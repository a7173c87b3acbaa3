//! Points of a curve, chosen while the measurement goes on: each is a case and all of its runs so far.

use crate::errors::Failure;
use crate::order::Step;
use crate::session::{Prepared, Session, skipped};
use wirespeed_schema::run::{CaseResult, Repetition};

/// Points by the value of what varies, over one session.
pub struct Points<'a> {
    /// Runs the cases.
    pub session: Session<'a>,
    points: Vec<Point>,
}

struct Point {
    value: u64,
    prepared: Prepared,
    repetitions: Vec<Repetition>,
    failure: Option<Failure>,
}

impl<'a> Points<'a> {
    /// No point yet.
    pub fn new(session: Session<'a>) -> Self {
        Points {
            session,
            points: Vec::new(),
        }
    }

    /// The values of all points, rising.
    pub fn values(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.points.iter().map(|point| point.value).collect();
        values.sort_unstable();
        values
    }

    /// Measure the point `value` once more, as `prepare` has it where it is new. What it gave, unless it failed or the
    /// user wants to end.
    pub fn measure(
        &mut self,
        value: u64,
        prepare: impl FnOnce() -> Result<Prepared, Failure>,
    ) -> Result<Option<&Repetition>, Failure> {
        let at = match self.points.iter().position(|point| point.value == value) {
            Some(at) => at,
            None => {
                self.points.push(Point {
                    value,
                    prepared: prepare()?,
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

    /// The first failure of all points.
    pub fn failure(&self) -> Option<&Failure> {
        self.points.iter().find_map(|point| point.failure.as_ref())
    }

    /// The results of all points by rising value, and whether the user ended it.
    pub fn finish(mut self) -> Result<Finished, Failure> {
        self.points.sort_by_key(|point| point.value);
        let mut results = Vec::new();
        for (number, point) in self.points.into_iter().enumerate() {
            let case = point.prepared.planned.case.clone();
            let result = match &point.prepared.skip {
                Some(reason) => skipped(case, reason),
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

/// What the points leave.
pub struct Finished {
    /// Value and result of every point, rising.
    pub results: Vec<(u64, CaseResult)>,
    /// Whether the user ended it.
    pub stopped: bool,
}
