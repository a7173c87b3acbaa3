//! What results say, before anybody decides how it looks: the answer first, then tables, charts and remarks.
//!
//! ```text
//! Run documents --View::of--> View { answer, tables, charts, remarks } --render::{text, page, markdown}--> people
//! ```
//!
//! A View has no width, no colour and no markup, and its text is raw: whoever writes it escapes it. Sentences are derived
//! from the rows that are shown beside them. A kind of result is a row of `kinds::KINDS`, and a file of this folder.

mod answer;
mod bulk;
mod cases;
mod certainty;
mod comparison;
mod curves;
mod headline;
mod interference;
mod kinds;
mod mesh;
mod model;
mod movers;
mod msgrate;
mod quick;
mod remarks;
mod tables_2009;
mod trust;
mod workers;

pub use bulk::{PROFILE_2009, PROFILE_SWEEP};
pub use headline::{UNRECORDED, case_text};
pub use model::{Line, Part, Paste, Spread, Subject, View};
pub use quick::{QuickSection, QuickTransport};
pub use remarks::{Cause, NAMED_MAX, Told, by_cause, listed, unreached};

use crate::charts::{Picture, pictures};
use crate::labels::Input;
use kinds::{Kind, kind_of};

impl View {
    /// What `inputs` say. The same documents give the same View.
    pub fn of(inputs: &[Input]) -> View {
        let charts = pictures(inputs);
        let kinds: Vec<&Kind> = inputs.iter().map(|input| kind_of(input.run)).collect();
        let subject = |(input, kind): (&Input, &&Kind)| match inputs.len() {
            1 => Subject::of(input, kind, &charts),
            _ => Subject::of(input, kind, &pictures(&[*input])),
        };
        View {
            subjects: inputs.iter().zip(&kinds).map(subject).collect(),
            environment: certainty::environment(inputs),
            tells_curves: kinds.iter().any(|kind| kind.tells_curves),
            charts,
        }
    }
}

impl Subject {
    /// What one result says; `charts` are its own.
    fn of(input: &Input, kind: &Kind, charts: &[Picture]) -> Subject {
        let run = input.run;
        let rest = kind.rest(run);
        let answer = answer::answer(input, kind, (charts, rest.as_ref()));
        let mut parts = interference::parts(run);
        parts.extend(kind.all_parts(run, rest.as_ref()));
        let tables = cases::tables(kind.unshown(run).into_iter());
        let mut every_case: Vec<Part> = tables.into_iter().map(Part::Table).collect();
        match kind.tells_failures {
            true => every_case.extend(remarks::failures(&run.cases, &answer)),
            false => parts.extend(remarks::failures(&run.cases, &answer)),
        }
        Subject {
            name: input.name.to_owned(),
            answer,
            certainty: certainty::certainty(run),
            measured: certainty::measured(input),
            command: certainty::command(run),
            parts,
            every_case,
            trust: trust::trust_line(run),
            evidence: certainty::evidence(input),
            remarks: remarks::remarks(run),
            busy: remarks::busy(run),
            is_glance: kind.is_glance,
            is_observed: run
                .cases
                .iter()
                .flat_map(|case| &case.repetitions)
                .any(|run| !run.outcomes.is_empty()),
            end: remarks::end(run),
            next: (kind.next)(run),
        }
    }
}
