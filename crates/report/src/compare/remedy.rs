//! What helps after a comparison that ends badly. It must name no row that is not there, no verb that cannot measure the sides, and
//! not the answer: a workflow is shown none.

use super::words::{how, runs_asked};
use super::{Comparison, Method, Row, Verdict};
use crate::thresholds::ROUNDS_WORTH_MAX;

impl Comparison {
    /// What to do about its worst verdict.
    pub fn remedy(&self) -> String {
        match self.worst() {
            Some(Verdict::Slower) => self.of_slower(),
            _ => format!("{}, or pass --allow-inconclusive", self.of_open()),
        }
    }

    /// Where to look, and what tells whether it is the machine.
    fn of_slower(&self) -> String {
        if self.control {
            return "stop what else runs on the machine, or tolerate more with --within".to_owned();
        }
        let where_to_look = match self.rows.iter().any(|row| row.verdict == Verdict::Slower) {
            true => "see the rows with the verdict slower",
            false => "see the figures without a ratio",
        };
        let how = match self.method {
            Method::Paired => "`--aa` shows what the machine alone does",
            Method::Unpaired if self.is_of_ab() => "`wirespeed ab` measures both side by side",
            Method::Unpaired => "measure both again to see whether it stays so",
        };
        format!("{where_to_look}; {how}")
    }

    /// What helps where figures have no verdict.
    fn of_open(&self) -> String {
        let open = || {
            self.unjudged
                .iter()
                .filter(|one| one.verdict == Verdict::Inconclusive)
        };
        let rows: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| row.verdict == Verdict::Inconclusive)
            .collect();
        let most = open().filter_map(|one| one.runs_min).max().max(runs_asked(&rows));
        // No tolerance gives a verdict to a row without an interval.
        let is_short = rows.iter().any(|row| row.lower.is_none());
        match most {
            _ if rows.iter().any(|row| !row.withheld.is_empty()) => calmer(self).to_owned(),
            None if open().next().is_some() => "look at the runs without that figure".to_owned(),
            Some(runs) if is_short || runs <= ROUNDS_WORTH_MAX => how(self, runs),
            _ => "tolerate more with --within".to_owned(),
        }
    }

    /// Whether `ab` can measure the sides: it starts no other tool, and measures no mesh, no session and nothing of a job.
    fn is_of_ab(&self) -> bool {
        let mut sides = [&self.a, &self.b].into_iter();
        sides.all(|side| side.imported.is_none() && !side.is_no_arm) && self.mesh.is_none()
    }
}

/// What to do about a disturbance.
pub(super) fn calmer(comparison: &Comparison) -> &'static str {
    match comparison.is_of_ab() {
        true => "measure both in turn with `wirespeed ab`",
        false => "measure both again while nothing else runs",
    }
}

/// What helps where no number of runs that anybody waits for does.
pub(super) fn other_ways(comparison: &Comparison) -> &'static str {
    match (comparison.method, comparison.is_of_ab()) {
        (Method::Unpaired, true) => {
            "measure in turn with `wirespeed ab`, each run longer, or tolerate more with --within"
        }
        (Method::Unpaired, false) | (Method::Paired, _) => {
            "measure each run longer, or tolerate more with --within"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{MeshChange, Unjudged};

    /// A comparison with slower figures: in a row, without a ratio, or both.
    fn slower(method: Method, (rows, unjudged): (usize, usize)) -> Comparison {
        let row = Row {
            verdict: Verdict::Slower,
            ..Row::default()
        };
        let one = Unjudged {
            verdict: Verdict::Slower,
            ..Unjudged::default()
        };
        Comparison {
            method,
            rows: vec![row; rows],
            unjudged: vec![one; unjudged],
            ..Comparison::default()
        }
    }

    #[test]
    fn only_rows_that_are_there_are_named() {
        for method in [Method::Paired, Method::Unpaired] {
            for of in [(1, 0), (1, 1), (0, 1)] {
                let said = slower(method, of).remedy();
                assert_eq!(said.contains("see the rows"), of.0 > 0, "{of:?}: {said}");
                assert_eq!(said.contains("without a ratio"), of.0 == 0, "{of:?}: {said}");
            }
        }
    }

    #[test]
    fn ab_is_advised_where_it_can_measure_both() {
        let with = |change: fn(&mut Comparison)| {
            let mut one = slower(Method::Unpaired, (1, 0));
            change(&mut one);
            [one.remedy(), calmer(&one).to_owned(), other_ways(&one).to_owned()]
        };
        let names_ab = |said: &String| said.contains("wirespeed ab");
        assert!(with(|_| {}).iter().all(names_ab));
        for change in [
            (|one: &mut Comparison| one.a.imported = Some("iperf3".to_owned())) as fn(&mut Comparison),
            |one| one.b.imported = Some("iperf3".to_owned()),
            |one| one.mesh = Some(MeshChange::default()),
            |one| one.a.is_no_arm = true,
            |one| one.b.is_no_arm = true,
        ] {
            let said = with(change);
            assert!(!said.iter().any(names_ab), "{said:?}");
        }
        let control = Comparison {
            control: true,
            ..slower(Method::Paired, (1, 0))
        };
        assert!(control.remedy().contains("--within") && !control.remedy().contains("--aa"));
    }
}
