//! What is seen of a mesh while it runs: round, pairs done, what failed, time left. It must never write when nobody watches.

use crate::progress::Progress;
use wirespeed_schema::Case;
use wirespeed_schema::units::counted;

/// The line of a mesh that runs.
pub struct Shown {
    quiet: bool,
    /// Runs of all cases that come, for a line that says which this is.
    runs: usize,
    run: usize,
    progress: Option<Progress>,
    rounds: usize,
    round: usize,
    pairs: usize,
    failed: usize,
    is_look: bool,
}

impl Shown {
    /// For `runs` cycles; nothing is drawn when `quiet`.
    pub fn new(runs: usize, quiet: bool) -> Shown {
        Shown {
            quiet,
            runs,
            run: 0,
            progress: None,
            rounds: 0,
            round: 0,
            pairs: 0,
            failed: 0,
            is_look: false,
        }
    }

    /// `rounds` of `case` begin: a cycle of the survey, or a look.
    pub fn begin(&mut self, case: &Case, rounds: usize, is_look: bool) {
        // Cycles are alike, and all of them are still to come.
        let cycles = match is_look {
            true => 1,
            false => self.runs.saturating_sub(self.run).max(1),
        };
        let to_come = std::iter::repeat_n(case, rounds * cycles);
        // How many looks there will be nobody knows: each is counted by itself, so that no total grows.
        if is_look || self.is_look {
            self.progress = None;
        }
        self.progress = Some(Progress::also_in_files(self.progress.take(), to_come, self.quiet));
        (self.rounds, self.round, self.pairs, self.is_look) = (rounds, 0, 0, is_look);
        self.run += usize::from(!is_look);
    }

    /// A round begins, or is left out; so many hosts were lost until now.
    pub fn round(&mut self, label: &str, lost: usize) {
        self.round += 1;
        let stage = match (self.is_look, self.runs) {
            (true, _) => "checking what seems slow, ".to_owned(),
            (false, 0 | 1) => String::new(),
            (false, runs) => format!("cycle {} of {runs}, ", self.run),
        };
        let mut words = format!(
            "{label}: {stage}round {} of {}, {} done",
            self.round,
            self.rounds,
            counted(self.pairs as u64, "pair")
        );
        for (count, what) in [(self.failed, "failed"), (lost, "hosts lost")] {
            if count > 0 {
                words += &format!(", {count} {what}");
            }
        }
        if let Some(progress) = &mut self.progress {
            progress.start_as(&words);
        }
    }

    /// A pair was measured, or could not be.
    pub fn pair(&mut self, well: bool) {
        self.pairs += 1;
        self.failed += usize::from(!well);
    }

    /// The rounds have ended.
    pub fn end(&mut self) {
        if let Some(progress) = &self.progress {
            progress.finish();
        }
    }
}
