//! `wirespeed byteio`: words become options of the byteio crate, and what it saw becomes a document.

mod bench;
mod job;
mod pairs;
mod serve;
mod transfers;

pub use bench::speed;
pub use job::{size, time};

use crate::args::{ByteioArgs, ByteioVerb, ColorChoice};
use crate::document::Draft;
use crate::errors::{Ended, Failure, exit};
use crate::output::Output;
use wirespeed_byteio::client::TransferError;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::{ByteioSection, Pair, SECTION};
use wirespeed_schema::run::Status;

/// Do what the arguments say.
pub fn byteio(arguments: &ByteioArgs, color: ColorChoice) -> Result<Ended, Failure> {
    match &arguments.verb {
        ByteioVerb::Serve(arguments) => serve::serve(arguments),
        ByteioVerb::Get(arguments) => transfers::get(arguments, color),
        ByteioVerb::Put(arguments) => transfers::put(arguments, color),
        ByteioVerb::Bench(arguments) => bench::bench(arguments, color),
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        match error.usage {
            true => Failure::usage(error.cause, error.remedy),
            false => Failure::failed(error.cause, error.remedy),
        }
    }
}

/// Publish the pairs, and say how it ended.
fn publish(
    draft: Draft,
    output: &mut Output,
    section: &ByteioSection,
    interrupted: bool,
) -> Result<Ended, Failure> {
    let wrong = section
        .pairs
        .iter()
        .flat_map(|p| &p.runs)
        .any(|run| run.wrong_blocks_count > 0);
    let errors: Vec<String> = section.pairs.iter().filter_map(first_error).collect();
    let status = match (wrong, interrupted, errors.is_empty()) {
        (true, _, _) => Status::WrongData,
        (_, true, _) => Status::Interrupted,
        (_, _, false) => Status::Failed,
        _ => Status::Ok,
    };
    let mut draft = draft;
    let content =
        serde_json::to_value(section).map_err(|e| Failure::failed(e.to_string(), "please report it"))?;
    draft.section(SECTION, content);
    let run: Run = draft.conclude(status, errors.first().cloned());
    output.finish(&run)?;
    Ok(match status {
        Status::Ok => Ended::OK,
        Status::Interrupted => Ended::badly(Failure::with(
            exit::INTERRUPTED,
            "interrupted; what was measured is in the result",
            "give the same command again to go on",
        )),
        _ => Ended::badly(Failure::with(
            status.exit_code(),
            errors.first().map_or("the transfer failed", String::as_str),
            "look at the service, and give the same command again",
        )),
    })
}

fn first_error(pair: &Pair) -> Option<String> {
    let of_runs = pair.runs.iter().find_map(|run| run.error.clone());
    pair.error.clone().or(of_runs)
}
