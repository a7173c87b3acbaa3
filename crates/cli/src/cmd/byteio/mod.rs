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
pub use emulated::far_service;
pub use job::{congestion, size, time};
pub use pairs::this_program;
pub use served::{NAME, Served};

use crate::args::{ByteioArgs, ByteioVerb, ColorChoice};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::output::Output;
use crate::remedies;
use wirespeed_byteio::client::{AGAIN, TransferError};
use wirespeed_report::byteio::was_reached;
use wirespeed_schema::Run;
use wirespeed_schema::byteio::{ByteioSection, Pair, Transfer};
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
        Failure::with(
            wirespeed_control::exit_code(error.class),
            error.cause,
            error.remedy,
        )
    }
}

/// What decides how it ended, beside what was transferred.
#[derive(Clone, Copy)]
struct Close {
    interrupted: bool,
    /// The pair whose service refused its reader: what to say of all, where there is one.
    refused: Option<usize>,
    /// A warning ends it with a code of its own.
    strict: bool,
}

/// Publish the pairs with their cases, each told of to whoever reads events, and say how it ended; `to_go_on`: what helps
/// where it was interrupted.
fn publish(
    draft: Draft,
    output: &mut Output,
    (section, cases): (&ByteioSection, Vec<CaseResult>),
    how: Close,
    to_go_on: &'static str,
) -> Result<Ended, Failure> {
    let (run, known) = document(draft, (section, cases), how)?;
    for (number, case) in run.cases.iter().enumerate() {
        output.case_finished(number, case)?;
    }
    finish(&run, output, known, (how.strict, to_go_on))
}

/// The document of the pairs, and the first thing that went wrong with what helps.
fn document(
    mut draft: Draft,
    (section, mut cases): (&ByteioSection, Vec<CaseResult>),
    how: Close,
) -> Result<(Run, Option<Known>), Failure> {
    let wrong = section
        .pairs
        .iter()
        .flat_map(|p| &p.runs)
        .any(|run| run.wrong_blocks_count > 0);
    let refused = how.refused.and_then(|at| section.pairs.get(at));
    let known = refused.into_iter().chain(&section.pairs).find_map(|pair| {
        let (cause, remedy) = first_error(pair)?;
        match section.pairs.len() {
            1 => Some((cause, remedy)),
            _ => Some((format!("{}: {cause}", pair.name), remedy)),
        }
    });
    let status = match &known {
        _ if wrong => Status::WrongData,
        _ if how.interrupted => Status::Interrupted,
        Some(_) if refused.is_some() => Status::Refused,
        Some(_) => Status::Failed,
        None => Status::Ok,
    };
    draft.put(section);
    for case in &mut cases {
        remedies::told(&mut case.remarks);
        case.remedy = case.remedy.as_deref().map(remedies::in_own_words);
    }
    let cause = known.as_ref().map(|(cause, _)| cause.clone());
    let mut run: Run = draft.conclude(status, cause);
    run.cases = cases;
    run.remarks.extend(wirespeed_report::run_remarks(&run.cases));
    Ok((run, known))
}

/// Write the document, and say how it ended.
fn finish(
    run: &Run,
    output: &mut Output,
    known: Option<Known>,
    (strict, to_go_on): (bool, &'static str),
) -> Result<Ended, Failure> {
    output.finish(run)?;
    let (cause, remedy) = known.unwrap_or_else(|| ("the transfer failed".to_owned(), None));
    Ok(match run.status {
        Status::Ok => crate::cmd::ended(run, strict),
        Status::Interrupted => Ended::badly(Failure::interrupted(to_go_on)),
        status => Ended::badly(Failure::with(
            status.exit_code(),
            cause,
            remedies::in_own_words(remedy.as_deref().unwrap_or(AGAIN)),
        )),
    })
}

/// A cause, and what helps if that is known.
type Known = (String, Option<String>);

fn first_error(pair: &Pair) -> Option<Known> {
    let of_runs = |run: &Transfer| Some((run.error.clone()?, run.remedy.clone()));
    let error = pair.error.clone().filter(|_| was_reached(pair));
    let of_pair = error.map(|error| (error, pair.remedy.clone()));
    of_pair.or_else(|| pair.runs.iter().find_map(of_runs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::exit;
    use wirespeed_schema::message::FailureClass;

    #[test]
    fn a_wrong_key_ends_a_transfer_as_it_ends_any_verb() {
        for (class, code) in [
            (FailureClass::Refused, exit::REFUSED),
            (FailureClass::Usage, exit::USAGE),
            (FailureClass::Failed, exit::FAILED),
        ] {
            let error = TransferError {
                cause: "cause".to_owned(),
                remedy: "remedy".to_owned(),
                class,
            };
            assert_eq!(Failure::from(error).code, code);
        }
    }
}
