//! `wirespeed byteio`: words become options of the byteio crate, and what it saw becomes a document.

mod ab;
mod bench;
mod emulated;
mod job;
mod offered;
mod pairs;
mod peers;
mod runner;
mod serve;
mod served;
mod transfers;

pub use ab::{ab, is_bench};
pub use job::{size, time};
pub use pairs::this_program;
pub use served::{NAME, Served};

use crate::args::{ByteioArgs, ByteioVerb, ColorChoice};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::output::Output;
use crate::remedies;
use wirespeed_byteio::client::TransferError;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::{ByteioSection, Pair};
use wirespeed_schema::run::{CaseResult, Status};

/// What helps where nothing is left to go on with.
const ANEW: &str = "give the same command again, which begins anew";

/// Do what the arguments say.
pub fn byteio(arguments: &ByteioArgs, color: ColorChoice) -> Result<Ended, Failure> {
    match &arguments.verb {
        ByteioVerb::Serve(arguments) => serve::serve(arguments),
        ByteioVerb::Get(arguments) => transfers::get(arguments, color),
        ByteioVerb::Put(arguments) => transfers::put(arguments, color),
        ByteioVerb::Bench(arguments) => bench::bench(arguments, color),
        ByteioVerb::Peers(arguments) => peers::peers(arguments, color),
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

/// Publish the pairs with their cases, each told of to whoever reads events, and say how it ended; `to_go_on`: what helps
/// where it was interrupted.
fn publish(
    draft: Draft,
    output: &mut Output,
    (section, cases): (&ByteioSection, Vec<CaseResult>),
    (interrupted, strict): (bool, bool),
    to_go_on: &'static str,
) -> Result<Ended, Failure> {
    let (run, cause) = document(draft, (section, cases), interrupted)?;
    for (number, case) in run.cases.iter().enumerate() {
        output.case_finished(number, case)?;
    }
    finish(&run, output, cause.as_deref(), (strict, to_go_on))
}

/// The document of the pairs, and the first thing that went wrong.
fn document(
    mut draft: Draft,
    (section, mut cases): (&ByteioSection, Vec<CaseResult>),
    interrupted: bool,
) -> Result<(Run, Option<String>), Failure> {
    let wrong = section
        .pairs
        .iter()
        .flat_map(|p| &p.runs)
        .any(|run| run.wrong_blocks_count > 0);
    let error = section.pairs.iter().find_map(first_error);
    let status = match (wrong, interrupted, &error) {
        (true, _, _) => Status::WrongData,
        (_, true, _) => Status::Interrupted,
        (_, _, Some(_)) => Status::Failed,
        _ => Status::Ok,
    };
    draft.put(section);
    cases
        .iter_mut()
        .for_each(|case| remedies::told(&mut case.remarks));
    let mut run: Run = draft.conclude(status, error.clone());
    run.cases = cases;
    run.remarks.extend(wirespeed_report::run_remarks(&run.cases));
    Ok((run, error))
}

/// Write the document, and say how it ended.
fn finish(
    run: &Run,
    output: &mut Output,
    cause: Option<&str>,
    (strict, to_go_on): (bool, &'static str),
) -> Result<Ended, Failure> {
    output.finish(run)?;
    Ok(match run.status {
        Status::Ok => crate::cmd::ended(run, strict),
        Status::Interrupted => Ended::badly(Failure::interrupted(to_go_on)),
        status => Ended::badly(Failure::with(
            status.exit_code(),
            cause.unwrap_or("the transfer failed"),
            "look at the service, and give the same command again",
        )),
    })
}

fn first_error(pair: &Pair) -> Option<String> {
    let of_runs = pair.runs.iter().find_map(|run| run.error.clone());
    pair.error.clone().or(of_runs)
}
