//! `wirespeed byteio get` and `put`: one transfer, and its report.

use super::job::{self, Ends};
use super::{ANEW, Close, publish};
use crate::args::{ByteioGetArgs, ByteioPutArgs, ColorChoice, OutputArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::output::Output;
use crate::remedies::in_own_words;
use crate::same::apart;
use std::path::PathBuf;
use wirespeed_byteio::client::{Claim, Target, TransferOptions};
use wirespeed_report::byteio::{case_of, manner_remarks, name_of_own, result_of};
use wirespeed_schema::byteio::ByteioSection;
use wirespeed_schema::run::Event;

/// Fetch.
pub fn get(arguments: &ByteioGetArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let path = match &arguments.file {
        Some(path) => path.clone(),
        None => last_part(&arguments.url)?,
    };
    apart(&path, &arguments.output.output)?;
    let claim = match arguments.overwrite {
        true => Claim::Replace,
        false => Claim::New,
    };
    let target = match arguments.map {
        true => Target::Map { path, claim },
        false => Target::File { path, claim },
    };
    let options = job::options(
        &arguments.url,
        &arguments.transfer,
        Ends::Get(target),
        arguments.verify,
    )?;
    once(&options, &arguments.output, color)
}

/// Send.
pub fn put(arguments: &ByteioPutArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let ends = Ends::Put(arguments.file.clone());
    let options = job::options(&arguments.url, &arguments.transfer, ends, arguments.verify)?;
    once(&options, &arguments.output, color)
}

fn last_part(url: &str) -> Result<PathBuf, Failure> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path
        .split_once("://")
        .and_then(|(_, rest)| Some(rest.split_once('/')?.1.rsplit('/').next()?.to_owned()));
    let name = name.filter(|name| !name.is_empty() && name != "." && name != "..");
    name.map(PathBuf::from).ok_or_else(|| {
        Failure::usage(
            "the address has no last part to name the file by",
            "name the file behind the address",
        )
    })
}

/// What helps a transfer that was interrupted.
fn to_go_on(options: &TransferOptions) -> &'static str {
    match &options.target {
        Target::File {
            claim: Claim::New, ..
        }
        | Target::Map {
            claim: Claim::New, ..
        } => "give the same command again to go on",
        _ => ANEW,
    }
}

fn once(options: &TransferOptions, arguments: &OutputArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let stop = crate::cmd::stop_on_signals()?;
    let mut output = Output::open(arguments, color)?;
    let mut draft = Draft::begin(None, arguments.include_host_name);
    let mut pair = job::pair(name_of_own(job::is_put(options)), options);
    pair.near = Some(Box::new(draft.host().clone()));
    output.event(&Event::CaseStarted {
        case: 0,
        cases: 1,
        label: case_of(&pair).label(),
        repetition: 0,
    })?;
    let manner = job::run(options, &mut pair, &stop, arguments.quiet)?;
    let told = manner_remarks(manner.one_stream, manner.coding.as_deref());
    told.into_iter().for_each(|remark| draft.remark(remark));
    wirespeed_report::byteio::complete(&mut pair);
    if let Some(verdict) = &mut pair.verdict {
        verdict.text = in_own_words(&verdict.text);
    }
    let section = ByteioSection {
        profile: None,
        pairs: vec![pair],
    };
    let cases = section.pairs.iter().map(result_of).collect();
    let how = Close {
        interrupted: stop.is_requested(),
        refused: None,
        strict: arguments.strict,
    };
    publish(draft, &mut output, (&section, cases), how, to_go_on(options))
}
