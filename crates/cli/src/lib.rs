//! The command line of wirespeed, as a library: a program with transports of its own is
//! `main_with(Registry::builtin().with(Entry::of::<Mine>()))`.
//!
//! One verb is one file in `cmd`. Words become a plan here (`request`), the schema expands it to cases, `group`
//! starts the ranks, `session` collects what they saw, `document` and `output` publish it. Nothing here may time
//! a message, compute a statistic or touch a data socket.
#![forbid(unsafe_code)]

mod args;
mod calendar;
mod cmd;
mod document;
mod errors;
mod group;
mod machine;
mod order;
mod output;
mod progress;
mod request;
mod session;
mod terminal;
mod version;

use args::{Cli, ColorChoice, Verb};
use clap::Parser;
use clap::error::ErrorKind;
use errors::{Ended, Failure};
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use terminal::Stream;
use wirespeed::Registry;

/// The whole program: reads the command line, does what it says, and returns the exit code.
pub fn main_with(registry: Registry) -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    // A defect is reported in two lines like any other error; the place is for whoever repairs it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
        let payload = panic.payload();
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let cause = format!("internal: {}{place}", said.unwrap_or("panic"));
        Failure::failed(cause, "this is a defect of wirespeed; please report it").print(false);
    }));
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| run(&registry, &argv)));
    ExitCode::from(ended.unwrap_or(errors::exit::FAILED))
}

/// Parse and dispatch. The name that the program is called by does not matter yet: every name is `wirespeed`.
fn run(registry: &Registry, argv: &[OsString]) -> u8 {
    let (ended, color) = match Cli::try_parse_from(argv) {
        Ok(cli) => (dispatch(registry, cli.verb, cli.color), cli.color),
        Err(error) if is_answer(&error) => return print_answer(&error),
        Err(error) => (Err(Failure::from(error)), ColorChoice::Auto),
    };
    let color = terminal::style(Stream::Stderr, color).color;
    match ended {
        Ok(ended) => {
            if let Some(failure) = &ended.failure {
                failure.print(color);
            }
            ended.code
        }
        Err(failure) => {
            cmd::failure_document(argv, &failure);
            failure.print(color);
            failure.code
        }
    }
}

fn dispatch(registry: &Registry, verb: Verb, color: ColorChoice) -> Result<Ended, Failure> {
    match verb {
        Verb::Quick(arguments) => cmd::quick::quick(registry, &arguments, color),
        Verb::Run(arguments) => cmd::run::run(registry, &arguments, color),
        Verb::List(arguments) => cmd::list::list(registry, &arguments, color),
        Verb::Serve(arguments) => cmd::serve::serve(&arguments),
        Verb::Calibrate(arguments) => cmd::calibrate::calibrate(registry, &arguments),
        Verb::Completions(arguments) => cmd::shell::completions(&arguments),
        Verb::Man => cmd::shell::man(),
        Verb::Rank => cmd::serve::rank(registry),
        Verb::ManAll(arguments) => cmd::shell::man_all(&arguments),
    }
}

/// Help and version come out of clap as errors, but are answers.
fn is_answer(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

fn print_answer(error: &clap::Error) -> u8 {
    let text = error.render();
    let shown = match terminal::style(Stream::Stdout, ColorChoice::Auto).color {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    match output::print(&shown) {
        Ok(()) => 0,
        Err(failure) => failure.code,
    }
}
