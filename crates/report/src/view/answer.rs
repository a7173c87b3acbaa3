//! The answer of a result: that of its kind, and what load did to it where that was asked; never nothing.

use super::headline;
use super::kinds::Kind;
use super::remarks::{unreached, why_nothing};
use crate::charts::Picture;
use crate::interference::Interference;
use crate::interference::words::interference_answers;
use crate::labels::Input;
use wirespeed_schema::run::Status;

/// The sentences that come first in everything that is written about `input`.
pub fn answer(input: &Input, kind: &Kind, charts: &[Picture]) -> Vec<String> {
    let mut said: Vec<String> = input
        .run
        .sections
        .get::<Interference>()
        .map(|found| interference_answers(&found))
        .unwrap_or_default();
    said.extend((kind.answer)(input, charts));
    let measured = input.run.cases.iter().any(|case| !case.metrics.is_empty());
    if said.is_empty() && measured {
        // What the kind asks for is not among what was measured: then the cases themselves speak.
        said = headline::answers(input, charts);
    }
    if input.run.status == Status::Interrupted && measured {
        said.push(
            "Incomplete: the run was interrupted, and this is what was measured until then.".to_owned(),
        );
    }
    said.extend(unreached(&input.run.cases));
    // Why a run ended badly is said of every run, in words of its own.
    let told = input.run.status != Status::Ok && input.run.error.is_some();
    let why = why_nothing(&input.run.cases).filter(|_| said.is_empty() && !told);
    said.extend(why.map(|why| format!("Nothing was measured: {why}.")));
    said
}
