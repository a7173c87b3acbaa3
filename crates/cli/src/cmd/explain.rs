//! `wirespeed explain`: what the figures of a result say.

use crate::args::{ColorChoice, ExplainArgs};
use crate::errors::{Ended, Failure};
use crate::terminal::{self, Stream};
use crate::{output, results, view};
use wirespeed_report::Input;
use wirespeed_report::explain::explain as sentences;
use wirespeed_report::render;

/// Read a result aloud.
pub fn explain(arguments: &ExplainArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let run = results::load(&arguments.result)?;
    let found = sentences(&run);
    let view = view::of(&[Input {
        name: "this result",
        run: &run,
    }]);
    let text = match arguments.json {
        true => {
            let answer: Vec<&String> = view.subjects.iter().flat_map(|subject| &subject.answer).collect();
            format!(
                "{:#}\n",
                serde_json::json!({ "answer": answer, "sentences": found })
            )
        }
        false => render::sentences(&view, &found, &terminal::style(Stream::Stdout, color)),
    };
    output::print(&text).map(|()| Ended::OK)
}
