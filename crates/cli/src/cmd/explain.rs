//! `wirespeed explain`: what the figures of a result say.

use crate::args::{ColorChoice, ExplainArgs};
use crate::errors::{Ended, Failure};
use crate::terminal::{self, Stream};
use crate::{output, remedies, results, view};
use wirespeed_report::Input;
use wirespeed_report::explain::explain as sentences;
use wirespeed_report::read::newer_remark;
use wirespeed_report::render;

/// Read a result aloud.
pub fn explain(arguments: &ExplainArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let run = results::load(&arguments.result)?;
    let mut found = sentences(&run);
    let mut view = view::of(&[Input {
        name: "this result",
        run: &run,
    }]);
    let answers = view.subjects.iter_mut().flat_map(|subject| &mut subject.answer);
    for text in answers.chain(found.iter_mut().map(|sentence| &mut sentence.text)) {
        *text = remedies::retold(text, &run.command);
    }
    let text = match arguments.json {
        true => {
            let answer: Vec<&String> = view.subjects.iter().flat_map(|subject| &subject.answer).collect();
            let end = view.subjects.iter().find_map(|subject| subject.end.as_ref());
            let mut told = serde_json::json!({ "answer": answer, "end": end, "sentences": found });
            if let Some(newer) = newer_remark(&run) {
                told["remarks"] = serde_json::json!([newer]);
            }
            format!("{told:#}\n")
        }
        false => render::sentences(&view, &found, &terminal::style(Stream::Stdout, color)),
    };
    output::print(&text).map(|()| Ended::OK)
}
