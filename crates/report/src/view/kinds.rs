//! The kinds of results: how each is recognised, what it answers, and which tables and lines it has.

use super::model::Part;
use super::{bulk, cases, comparison, curves, headline, mesh, movers, msgrate, quick, workers};
use crate::charts::Picture;
use crate::compare;
use crate::curve::section;
use crate::interference::undisturbed;
use crate::labels::Input;
use crate::workers::WorkersSection;
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::mesh::MeshSection;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::{Run, Test};

/// A kind of result.
pub struct Kind {
    /// Whether a run is of it.
    is: fn(&Run) -> bool,
    /// Whether cases of a test are of this kind: what others found is told as that of a run of any cases, behind it.
    covers: fn(&Test) -> bool,
    /// The answer: a sentence each, none where nothing was found.
    pub answer: fn(&Input, &[Picture]) -> Vec<String>,
    /// Tables and lines.
    pub parts: fn(&Run) -> Vec<Part>,
    /// Whether these are the cases themselves; else everything that is written about the result has them too.
    pub shows_cases: bool,
    /// Whether these say which cases failed, so far as the screen needs it.
    pub tells_failures: bool,
    /// Whether what was asked for is a curve.
    pub tells_curves: bool,
    /// Whether it is asked for at a glance, and must fit a small screen.
    pub is_glance: bool,
    /// What to do next.
    pub next: fn(&Run) -> Vec<String>,
}

/// Every kind; the first that fits is meant. The last fits every run.
pub const KINDS: [Kind; 10] = [
    Kind {
        is: |run| run.sections.has::<compare::section::Comparison>(),
        answer: comparison::answers,
        parts: comparison::parts,
        ..OTHER
    },
    Kind {
        is: |run| run.sections.has::<MeshSection>(),
        answer: mesh::answers,
        parts: mesh::parts,
        tells_failures: true,
        ..OTHER
    },
    Kind {
        is: |run| run.sections.has::<section::LoadSection>(),
        answer: curves::load_answers,
        parts: curves::load_parts,
        tells_curves: true,
        ..OTHER
    },
    Kind {
        is: |run| run.sections.get::<ByteioSection>().is_some(),
        answer: bulk::answers,
        parts: bulk::parts,
        tells_failures: true,
        ..OTHER
    },
    Kind {
        is: |run| run.sections.has::<section::SweepSection>(),
        answer: curves::sweep_answers,
        parts: curves::sweep_parts,
        shows_cases: true,
        tells_curves: true,
        ..OTHER
    },
    Kind {
        is: |run| {
            !WorkersSection::of(run)
                .groups
                .iter()
                .all(|group| group.cells.is_empty())
        },
        covers: |test| test.hub().is_some(),
        answer: workers::answers,
        parts: workers::parts,
        ..OTHER
    },
    Kind {
        is: |run| run.sections.has::<quick::QuickSection>(),
        answer: quick::answers,
        parts: quick::parts,
        tells_failures: true,
        is_glance: true,
        next: quick::next,
        ..OTHER
    },
    Kind {
        is: |run| any_case(run, is_msgrate),
        covers: is_msgrate,
        answer: msgrate::answers,
        parts: msgrate::parts,
        shows_cases: true,
        ..OTHER
    },
    Kind {
        is: |run| any_case(run, is_bulk),
        covers: is_bulk,
        answer: movers::answers,
        parts: movers::parts,
        ..OTHER
    },
    PLAIN,
];

/// A run of any cases.
const PLAIN: Kind = Kind {
    shows_cases: true,
    ..OTHER
};

/// What kinds without cases of their own share.
const OTHER: Kind = Kind {
    is: |_| true,
    covers: |_| true,
    answer: headline::answers,
    parts: |run| {
        let found = undisturbed(run);
        let mut parts = headline::parts(&found);
        parts.extend(cases::tables(found.iter()).into_iter().map(Part::Table));
        parts
    },
    shows_cases: false,
    tells_failures: false,
    tells_curves: false,
    is_glance: false,
    next: |_| Vec::new(),
};

impl Kind {
    /// The cases of `run` that are of other kinds, as a run of their own; `None` where all are of this one.
    pub fn rest(&self, run: &Run) -> Option<Run> {
        let is_other = |result: &&CaseResult| !(self.covers)(&result.case.test);
        let cases: Vec<CaseResult> = run.cases.iter().filter(is_other).cloned().collect();
        (!cases.is_empty()).then(|| Run { cases, ..run.clone() })
    }

    /// Tables and lines, with those of its [`Kind::rest`].
    pub fn all_parts(&self, run: &Run, rest: Option<&Run>) -> Vec<Part> {
        let mut parts = (self.parts)(run);
        if let Some(rest) = rest.filter(|_| !self.shows_cases) {
            parts.extend((OTHER.parts)(rest));
        }
        parts
    }

    /// The cases of which its parts show no rows.
    pub fn unshown<'a>(&self, run: &'a Run) -> Vec<&'a CaseResult> {
        let is_unshown = |result: &&CaseResult| !self.shows_cases && (self.covers)(&result.case.test);
        run.cases.iter().filter(is_unshown).collect()
    }
}

fn is_msgrate(test: &Test) -> bool {
    test.msgrate().is_some()
}

fn is_bulk(test: &Test) -> bool {
    test.bulk().is_some()
}

fn any_case(run: &Run, is: fn(&Test) -> bool) -> bool {
    run.cases.iter().any(|result| is(&result.case.test))
}

/// The kind of `run`.
pub fn kind_of(run: &Run) -> &'static Kind {
    KINDS.iter().find(|kind| (kind.is)(run)).unwrap_or(&PLAIN)
}
