//! Where results go: one form on stdout, any number of files, each by its ending. A reader that closes stdout early is
//! not an error, but ends a run whose lines it was reading. A destination that fails never takes the others with it: it is told when all have their result.

use crate::args::{ColorChoice, OutputArgs};
use crate::errors::{Failure, READ_OR_OUTPUT, exit};
use crate::file::{self, Lines};
use crate::outlet::{self, STDOUT};
use crate::stderr;
use crate::terminal::{self, Stream};
use crate::view;
use crate::watch::Watch;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wirespeed_control::StopFlag;
use wirespeed_report::compare::Comparison;
use wirespeed_report::render::{self, CsvRows, JsonForm, Style};
use wirespeed_report::view::unreached;
use wirespeed_report::{Input, is_unreached};
use wirespeed_schema::run::{CaseResult, CaseStatus, Event, Status};
use wirespeed_schema::{Case, Run};

/// Words of the command by which a page is called.
const NAME_WORDS_MAX: usize = 12;

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Json,
    Ndjson,
    Csv,
    Hlog,
    Markdown,
    Page,
}

/// How an original shows its result, where its own form is asked for.
pub type Original = fn(&Run, &Style) -> String;

/// A form that is written on stdout while the run goes on.
pub trait Live {
    /// What an event adds.
    fn event(&mut self, event: &Event) -> String;

    /// What the end of case `number` adds.
    fn finished(&mut self, number: usize, result: &CaseResult) -> String;
}

/// All destinations of one run.
pub struct Output {
    stdout: Option<Form>,
    files: Vec<(Form, PathBuf)>,
    streams: Vec<Lines>,
    /// The first destination that failed.
    failed: Option<Failure>,
    live: Option<Box<dyn Live>>,
    watch: Option<Watch>,
    original: Option<Original>,
    /// Raised when nobody reads any more what is written on stdout while the run goes on.
    stop: Option<StopFlag>,
    remarks: bool,
    color: ColorChoice,
}

impl Output {
    /// Check every destination before anything is measured: endings are known, files can be written.
    pub fn open(arguments: &OutputArgs, color: ColorChoice) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut streams = Vec::new();
        for path in &arguments.output {
            let form = form_of(path)?;
            match form {
                Form::Ndjson => streams.push(Lines::open(path)?),
                _ => {
                    file::check(path)?;
                    files.push((form, path.clone()));
                }
            }
        }
        let to_file = !arguments.output.is_empty();
        let stdout = match arguments {
            OutputArgs { json: true, .. } => Some(Form::Json),
            OutputArgs { ndjson: true, .. } => Some(Form::Ndjson),
            OutputArgs { csv: true, .. } => Some(Form::Csv),
            OutputArgs { quiet: true, .. } if to_file => None,
            _ => Some(Form::Table),
        };
        Ok(Output {
            stdout,
            files,
            streams,
            failed: None,
            live: None,
            watch: None,
            original: None,
            stop: None,
            remarks: arguments.remarks,
            color,
        })
    }

    /// Write text for people as an original would.
    pub fn show_as(&mut self, original: Original) {
        self.original = Some(original);
    }

    /// End the run, by `stop`, when whoever reads its lines on stdout goes away.
    pub fn stop_without_reader(&mut self, stop: &StopFlag) {
        self.stop = Some(stop.clone());
    }

    /// Whether stdout has the table, and no form for programs.
    pub fn shows_table(&self) -> bool {
        self.stdout == Some(Form::Table)
    }

    /// Write `live` on stdout as the run goes on, instead of the table at its end.
    pub fn show_live(&mut self, live: Box<dyn Live>) {
        self.live = Some(live);
        self.stdout = None;
    }

    /// Whether results are written on stdout as the run goes on.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Show the run that goes on with `watch`, beside everything else.
    pub fn watch_with(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    /// These runs come next, in whatever order.
    pub fn expect<'a>(&mut self, runs: impl Iterator<Item = &'a Case>) {
        let is_live = self.stdout == Some(Form::Ndjson) || self.live.is_some();
        if let Some(stop) = self.stop.as_ref().filter(|_| is_live) {
            outlet::end_with_reader(stop);
        }
        // What the view expects it counts.
        if let Some(watch) = &mut self.watch {
            watch.expect(runs);
        }
    }

    /// Whether anybody wants events while the run goes on.
    fn wants_lines(&self) -> bool {
        self.stdout == Some(Form::Ndjson) || !self.streams.is_empty()
    }

    /// A case is done: tell whoever listens.
    pub fn case_finished(&mut self, number: usize, result: &CaseResult) -> Result<(), Failure> {
        let said = self.live.as_mut().map(|live| live.finished(number, result));
        self.say(said);
        if let Some(watch) = &mut self.watch {
            watch.finished(result);
        }
        if !self.wants_lines() {
            return Ok(());
        }
        self.event(&Event::CaseFinished {
            case: number as u32,
            result: Box::new(wirespeed_report::without_outcomes(result)),
        })
    }

    /// An event: one line, flushed, so that a reader has it at once.
    pub fn event(&mut self, event: &Event) -> Result<(), Failure> {
        let said = self.live.as_mut().map(|live| live.event(event));
        self.say(said);
        let told = self.lines(event);
        // Last: what is written to the terminal wipes the view.
        if let Some(watch) = &mut self.watch {
            watch.event(event);
        }
        told
    }

    /// The event as a line, where lines are wanted.
    fn lines(&mut self, event: &Event) -> Result<(), Failure> {
        if !self.wants_lines() {
            return Ok(());
        }
        let line = render::event_line(event).map_err(Failure::defect)?;
        for mut stream in std::mem::take(&mut self.streams) {
            // One that failed gets nothing more: its lines are whole, and end there.
            match stream.append(&line) {
                Ok(()) => self.streams.push(stream),
                Err(failure) => self.note(Err(failure)),
            }
        }
        if self.stdout == Some(Form::Ndjson) {
            self.say(Some(line));
        }
        Ok(())
    }

    /// Print what there is to say while the run goes on.
    fn say(&mut self, text: Option<String>) {
        match text.map_or(Ok(true), |text| is_taken(&text)) {
            Ok(true) => {}
            Ok(false) => self.lose_reader(),
            Err(failure) => self.note(Err(failure)),
        }
    }

    /// Nothing more goes to stdout. A run that was asked to end already is not hurried.
    fn lose_reader(&mut self) {
        (self.stdout, self.live) = (None, None);
        outlet::leave();
        if let Some(stop) = self.stop.take().filter(|stop| !stop.is_requested()) {
            stop.request();
        }
    }

    /// Keep the first failure for the end.
    fn note(&mut self, done: Result<(), Failure>) {
        if let Err(failure) = done {
            self.failed.get_or_insert(failure);
        }
    }

    /// The whole result, everywhere. The last event ends the streams.
    pub fn finish(&mut self, run: &Run) -> Result<(), Failure> {
        self.event(&Event::RunFinished {
            status: run.status,
            error: run.error.clone(),
        })?;
        for (form, path) in std::mem::take(&mut self.files) {
            let text = self.text(form, run, terminal::PAPER, true);
            self.note(text.and_then(|text| file::write(&path, text)));
        }
        if let Some(form @ (Form::Table | Form::Json | Form::Csv)) = self.stdout {
            let text = self.text(
                form,
                run,
                terminal::style(Stream::Stdout, self.color),
                self.remarks,
            );
            self.note(text.and_then(|text| print(&text)));
        }
        let is_original = self.original.is_some() && self.shows_table();
        if is_original {
            left_out(run).iter().for_each(|text| stderr::say(text));
        }
        if is_original || self.live.is_some() {
            goals_missed(run).iter().for_each(|text| stderr::say(text));
        }
        match self.failed.take() {
            // Stdout has its document, or cannot have any.
            Some(failure) => Err(failure.documented()),
            None if outlet::is_left() && run.status == Status::Interrupted => Err(unread().documented()),
            None => Ok(()),
        }
    }

    fn text(&self, form: Form, run: &Run, style: Style, remarks: bool) -> Result<String, Failure> {
        match form {
            Form::Table => Ok(match self.original {
                Some(original) => original(run, &style),
                None => view::screen(run, remarks, &style),
            }),
            Form::Markdown => Ok(render::markdown(&view::of(&[Input { name: "", run }]))),
            Form::Page => {
                let words = run.command.iter().skip(1).take(NAME_WORDS_MAX);
                let name = words.map(String::as_str).collect::<Vec<_>>().join(" ");
                Ok(view::page(&[Input { name: &name, run }]))
            }
            Form::Csv => render::csv(run, CsvRows::Cases).map_err(Failure::defect),
            Form::Json => render::json(run, JsonForm::Pretty).map_err(Failure::defect),
            Form::Ndjson => Ok(String::new()),
            Form::Hlog => render::hdr::log(run).map_err(Failure::defect),
        }
    }
}

/// Cases that were not measured: an original's form leaves them out, a comparison names them itself.
fn left_out(run: &Run) -> Vec<String> {
    if run.sections.has::<Comparison>() {
        return Vec::new();
    }
    let skipped = run
        .cases
        .iter()
        .filter(|result| result.status == CaseStatus::Skipped && !is_unreached(result));
    let told = |result: &CaseResult| {
        let why = result.error.as_deref().unwrap_or_default();
        format!("{}: skipped: {why}", result.case.label())
    };
    skipped.map(told).chain(unreached(&run.cases)).collect()
}

/// What `--until` asked for and did not get: an original's form has no place for it.
fn goals_missed(run: &Run) -> Vec<String> {
    let missed = |result: &CaseResult| {
        let mut remarks = result.remarks.iter();
        let remark = remarks.find(|remark| remark.code == "not_converged")?;
        let remedy = remark.remedy.as_deref().unwrap_or_default();
        let (label, message) = (result.case.label(), &remark.message);
        let arm = result.arm.as_ref().map(|arm| format!(" arm {arm}"));
        let arm = arm.unwrap_or_default();
        Some(format!("warning: {label}{arm}: {message}\n  remedy: {remedy}"))
    };
    run.cases.iter().filter_map(missed).collect()
}

/// Whoever read what a run writes on stdout as it goes on is gone.
pub fn unread() -> Failure {
    Failure::with(
        exit::INTERRUPTED,
        "stdout was closed by its reader, which ended the run",
        READ_OR_OUTPUT,
    )
}

/// Write to stdout; a reader that went away is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    is_taken(text).map(drop)
}

/// Write to stdout; whether it has a reader.
pub fn is_taken(text: &str) -> Result<bool, Failure> {
    if text.is_empty() {
        return Ok(true);
    }
    match stderr::around(|| STDOUT.write(std::io::stdout(), text.as_bytes())) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure::stdout(&e)),
    }
}

/// Whether a result can be written to a file of this name.
pub fn has_form(path: &Path) -> bool {
    form_of(path).is_ok()
}

fn form_of(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("json") => Ok(Form::Json),
        Some("ndjson") => Ok(Form::Ndjson),
        Some("csv") => Ok(Form::Csv),
        Some("txt") => Ok(Form::Table),
        Some("hlog") => Ok(Form::Hlog),
        Some("md") => Ok(Form::Markdown),
        Some("html" | "htm") => Ok(Form::Page),
        _ => Err(Failure::ending(
            path,
            "the ending does not say what to write",
            ".json, .csv, .ndjson, .txt, .md, .html or .hlog (HdrHistogram)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Draft;
    use wirespeed_schema::test::{Layout, Stream, Test};

    #[test]
    fn endings_decide_and_strangers_are_refused() {
        assert_eq!(form_of(Path::new("a.json")).unwrap(), Form::Json);
        assert_eq!(form_of(Path::new("b/a.ndjson")).unwrap(), Form::Ndjson);
        for bad in ["a", "a.xml", ".json/"] {
            assert_eq!(form_of(Path::new(bad)).map_err(|e| e.code), Err(2), "{bad}");
        }
    }

    #[test]
    fn what_a_comparison_names_is_not_told_beside_it() {
        let case = Case::new(Test::AmBw(Stream::new(8, Layout::Short, 1)), "shm");
        let mut skipped = wirespeed_report::failed_case(case, "no memory", None);
        skipped.status = CaseStatus::Skipped;
        let mut run = Draft::begin(None, false).finish(vec![skipped], false);
        assert_eq!(left_out(&run), ["shm am_bw 8 B: skipped: no memory"]);
        run.sections.put(&Comparison::default());
        assert_eq!(left_out(&run), Vec::<String>::new());
    }

    #[test]
    fn an_old_result_survives_a_check() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, "old").unwrap();
        let arguments = OutputArgs {
            output: vec![path.clone()],
            ..OutputArgs::default()
        };
        Output::open(&arguments, ColorChoice::Never).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        let nowhere = OutputArgs {
            output: vec![dir.path().join("no/such.json")],
            ..OutputArgs::default()
        };
        assert!(Output::open(&nowhere, ColorChoice::Never).is_err());
    }
}
