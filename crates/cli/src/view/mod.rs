//! What results say to people: the report's View, with the parts that only this program's own verbs know.

pub mod session;

use crate::version;
use wirespeed_report::Input;
use wirespeed_report::render::{self, Extent, Style};
use wirespeed_report::view::{Line, Part, Subject, View};
use wirespeed_schema::Run;

/// What `inputs` say.
pub fn of(inputs: &[Input]) -> View {
    let mut view = View::of(inputs);
    for (subject, input) in view.subjects.iter_mut().zip(inputs) {
        session::add(subject, input.run);
    }
    view
}

/// The screen of a verb that measured nothing: what it found in a sentence, then the rest.
pub fn told(answer: String, parts: Vec<Part>, style: &Style) -> String {
    let subject = Subject {
        answer: vec![answer],
        parts,
        ..Subject::default()
    };
    let view = View {
        subjects: vec![subject],
        ..View::default()
    };
    render::text(&view, Extent::SCREEN, style)
}

/// Lines of `text`, as they belong together.
pub fn lines(text: &str) -> Part {
    Part::Lines(text.lines().map(Line::plain).collect())
}

/// The screen of the verb that measured `run`; `remarks`: all of them.
pub fn screen(run: &Run, remarks: bool, style: &Style) -> String {
    let extent = Extent {
        remarks,
        ..Extent::SCREEN
    };
    render::text(
        &of(&[Input {
            name: "this run",
            run,
        }]),
        extent,
        style,
    )
}

/// The page of `inputs`.
pub fn page(inputs: &[Input]) -> String {
    render::page(
        &of(inputs),
        inputs,
        &format!("wirespeed {}", version::tool().version),
    )
}
