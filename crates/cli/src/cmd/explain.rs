//! `wirespeed explain`: what the figures of a result say.

use crate::args::{ColorChoice, ExplainArgs};
use crate::errors::{Ended, Failure};
use crate::terminal::{self, Stream};
use crate::{output, results};
use wirespeed_report::explain::explain as sentences;
use wirespeed_report::render;

/// Read a result aloud.
pub fn explain(arguments: &ExplainArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let run = results::load(&arguments.result)?;
    let found = sentences(&run);
    let text = match arguments.json {
        true => format!("{:#}\n", serde_json::json!({ "sentences": found })),
        false => render::sentences(&found, &terminal::style(Stream::Stdout, color)),
    };
    output::print(&text).map(|()| Ended::OK)
}
