//! `wirespeed import`: results of other tools as run documents.

use crate::args::ImportArgs;
use crate::errors::{Ended, Failure, exit};
use crate::{file, output, results};
use wirespeed_report::import::{self, Format, Told};
use wirespeed_report::read_run;
use wirespeed_report::render::{self, JsonForm};
use wirespeed_schema::units::{parse_count, parse_size};

/// Read a file of another tool and write it as a result.
pub fn import(arguments: &ImportArgs) -> Result<Ended, Failure> {
    if let Some(path) = &arguments.output
        && path.extension().is_none_or(|ending| ending != "json")
    {
        return Err(Failure::ending(
            path,
            "a result is written as .json here",
            ".json; `wirespeed report` makes pages and tables of it",
        ));
    }
    let format = arguments.format.as_deref().map(format_of).transpose()?;
    let bytes = results::bytes(&arguments.file)?;
    let told = Told {
        test: arguments.test.clone(),
        size_bytes: arguments.size.as_deref().map(size).transpose()?,
        window_msgs: arguments.window.as_deref().map(count).transpose()?,
        transport: arguments.transport.clone(),
    };
    let (_, run) = import::import_told(&bytes, format, &told).map_err(|error| {
        let cause = format!("{}: {error}", file::shown(&arguments.file));
        let remedy = match read_run(&bytes).is_ok() {
            true => {
                "it is a result of wirespeed itself: `wirespeed report`, explain and compare read it as it is"
                    .to_owned()
            }
            false => error.remedy().to_owned(),
        };
        Failure::with(exit::USAGE, cause, remedy)
    })?;
    let text = render::json(&run, JsonForm::Pretty).map_err(Failure::defect)?;
    match &arguments.output {
        Some(path) => file::write(path, text)?,
        None => output::print(&text)?,
    }
    Ok(Ended::OK)
}

fn size(text: &str) -> Result<u64, Failure> {
    parse_size(text)
        .map_err(|error| Failure::usage(format!("--size: {error}"), "write a size such as 64 or 4K"))
}

fn count(text: &str) -> Result<u64, Failure> {
    parse_count(text)
        .map_err(|error| Failure::usage(format!("--window: {error}"), "write a number such as 64 or 10k"))
}

fn format_of(name: &str) -> Result<Format, Failure> {
    let names = Format::ALL.map(Format::name);
    Format::ALL
        .into_iter()
        .find(|format| format.name() == name)
        .ok_or_else(|| {
            Failure::usage(
                format!("--format: there is no tool {name:?}"),
                format!("choose from: {}", names.join(", ")),
            )
        })
}
