//! The repetitions of a case: those that came to their end, and those that did not. Which of them figures are over is decided
//! here alone.

use super::lacking;
use wirespeed_schema::run::Repetition;
use wirespeed_schema::{Case, Outcome};

/// The repetitions of a case, in order of time.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    whole: Vec<Repetition>,
    cut_short: Vec<Repetition>,
}

impl Runs {
    /// Those of `case`.
    pub fn of(case: &Case, repetitions: Vec<Repetition>) -> Runs {
        let mut runs = Runs::default();
        for repetition in repetitions {
            runs.keep(case, repetition, false);
        }
        runs
    }

    /// One more of `case`. `broke_off`: it did not come to its end, whatever its ranks say of themselves.
    pub fn keep(&mut self, case: &Case, repetition: Repetition, broke_off: bool) {
        match is_whole(case, &repetition) && !broke_off {
            true => self.whole.push(repetition),
            false => self.cut_short.push(repetition),
        }
    }

    /// Those that figures are over: the whole ones, or all where none came to its end.
    pub fn counting(&self) -> &[Repetition] {
        match self.whole.is_empty() {
            true => &self.cut_short,
            false => &self.whole,
        }
    }

    /// How many there are, whole or not.
    pub fn made(&self) -> u32 {
        u32::try_from(self.whole.len() + self.cut_short.len()).unwrap_or(u32::MAX)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counting().is_empty()
    }

    /// Those that figures are over, and those beside them that were cut short.
    pub(super) fn apart(self) -> (Vec<Repetition>, Vec<Repetition>) {
        match self.whole.is_empty() {
            true => (self.cut_short, Vec::new()),
            false => (self.whole, self.cut_short),
        }
    }
}

/// Whether a repetition came to its end: every rank with a part tells so.
pub(crate) fn is_whole(case: &Case, repetition: &Repetition) -> bool {
    repetition.outcomes.iter().all(Outcome::is_complete) && lacking(case, repetition).is_none()
}
