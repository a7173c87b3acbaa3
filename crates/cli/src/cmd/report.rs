//! `wirespeed report`: stored results as one page, or in the terminal.

use crate::args::{ColorChoice, ReportArgs};
use crate::errors::{Ended, Failure, exit};
use crate::terminal::{self, Stream};
use crate::{file, output, results, view};
use std::path::Path;
use wirespeed_report::Input;
use wirespeed_report::charts::Picture;
use wirespeed_report::render::{self, Extent};
use wirespeed_schema::Run;
use wirespeed_schema::units::counted;

/// Show stored results. What cannot be read is named, and the others are shown.
pub fn report(arguments: &ReportArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let form = arguments.output.as_deref().map(form_of).transpose()?;
    let (runs, unread) = load(&arguments.results)?;
    let inputs: Vec<Input> = runs.iter().map(|(name, run)| Input { name, run }).collect();
    if let Some(folder) = &arguments.charts {
        charts(folder, &view::of(&inputs).charts)?;
    }
    let style = terminal::style(Stream::Stdout, color);
    match (&arguments.output, form) {
        (Some(path), Some(form)) => {
            file::write(path, form(&inputs))?;
            output::print(&format!("wrote {}\n", file::shown(path)))?;
        }
        _ => output::print(&render::text(&view::of(&inputs), Extent::WHOLE, &style))?,
    }
    match unread {
        None => Ok(Ended::OK),
        Some((count, first)) => {
            let cause = format!(
                "{count} of {} could not be read; the first: {}",
                counted(arguments.results.len() as u64, "file"),
                first.cause
            );
            Ok(Ended::badly(Failure::with(exit::FAILED, cause, first.remedy)))
        }
    }
}

/// A report as a file.
type Form = fn(&[Input]) -> String;

/// The form that the ending of `path` asks for.
fn form_of(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(view::page),
        Some("md") => Ok(|inputs| render::markdown(&view::of(inputs))),
        Some("txt") => Ok(|inputs| render::text(&view::of(inputs), Extent::WHOLE, &terminal::PAPER)),
        _ => Err(Failure::ending(
            path,
            "a report is written as .html, .md or .txt",
            ".html, .md or .txt, or leave -o out for the terminal",
        )),
    }
}

type Loaded = (Vec<(String, Run)>, Option<(usize, Failure)>);

/// All results that can be read; how many cannot, and the first of them. The error is that of the first when none can.
fn load(paths: &[std::path::PathBuf]) -> Result<Loaded, Failure> {
    let mut runs = Vec::new();
    let mut unread: Option<(usize, Failure)> = None;
    let names = results::names(paths.iter().map(|path| path.as_path()));
    for (path, name) in paths.iter().zip(names) {
        match (results::load(path), &mut unread) {
            (Ok(run), _) => runs.push((name, run)),
            (Err(_), Some((count, _))) => *count += 1,
            (Err(failure), none) => *none = Some((1, failure)),
        }
    }
    match (runs.is_empty(), unread) {
        (true, Some((_, failure))) => Err(failure),
        (_, unread) => Ok((runs, unread)),
    }
}

fn charts(folder: &Path, pictures: &[Picture]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, &e))?;
    for picture in pictures {
        let chart = &picture.chart;
        let files = [
            (format!("{}.svg", chart.id), chart.standalone()),
            (
                format!("{}.vl.json", chart.id),
                format!("{:#}\n", render::vega_lite(chart)),
            ),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            file::write(&path, text)?;
        }
    }
    Ok(())
}
