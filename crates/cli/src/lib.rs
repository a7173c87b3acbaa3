//! The command line of wirespeed, as a library: a program with transports of its own is
//! `main_with(registry().with(Entry::of::<Mine>()))`.
//!
//! One verb is one file in `cmd`. Words become a plan here (`request`), the schema expands it to cases, `group`
//! starts the ranks, `experiment` is the one loop over cases, `document` and `output` publish it. Nothing here may time
//! a message, compute a statistic or touch a data socket.
#![forbid(unsafe_code)]

mod absent;
mod args;
mod behind;
mod calendar;
mod cmd;
mod document;
mod errors;
mod experiment;
mod file;
mod front;
mod group;
mod guesses;
mod input;
mod job;
mod mpi;
mod needs;
mod open_loop;
mod outlet;
mod output;
mod perftest;
mod progress;
mod remedies;
mod request;
mod results;
mod same;
mod stderr;
mod terminal;
mod typed;
mod version;
mod view;
mod watch;
mod words;

use args::{ColorChoice, Verb};
use clap::error::ErrorKind;
use errors::{Ended, Failure};
use job::Part;
use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use terminal::Stream;
use wirespeed::Registry;

/// Every transport that the program ships: those of the library, and those of libraries that are loaded at run time. One that
/// this build was made without is listed with the reason.
pub fn registry() -> Registry {
    let registry = Registry::builtin();
    #[cfg(feature = "ucx")]
    let registry = wirespeed_ucx::join(registry);
    #[cfg(feature = "mpi")]
    let registry = wirespeed_mpi::join(registry);
    wirespeed_byteio::transport::join(absent::join(registry))
}

/// The whole program: reads the command line, does what it says, and returns the exit code.
pub fn main_with(registry: Registry) -> ExitCode {
    let argv = front::argv();
    // Where it fails, whoever waits for a child says so.
    let _ = wirespeed_control::keep_children();
    wirespeed::host::tell_of_crashes(&job::name_of_process(&argv));
    // A defect is reported in two lines like any other error; the place is for whoever repairs it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|l| format!(" at {l}")).unwrap_or_default();
        let payload = panic.payload();
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let cause = format!("internal: {}{place}", said.unwrap_or("panic"));
        Failure::defect(cause).print(false, None);
    }));
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| run(&registry, &argv)));
    ExitCode::from(ended.unwrap_or(errors::exit::FAILED))
}

/// Parse and dispatch. `argv` begins with `wirespeed`, whatever name the program was called by.
fn run(registry: &Registry, argv: &[OsString]) -> u8 {
    #[cfg_attr(not(feature = "mpi"), allow(unused_mut))]
    let mut cli = match typed::read(argv) {
        Ok((cli, words)) => {
            if let Err(failure) = needs::refuse(&words).and_then(|()| same::refuse(&words)) {
                return if job::is_silent() {
                    0
                } else {
                    report(argv, cli.color, Err(failure))
                };
            }
            cli
        }
        // Every rank of a job was given the same words; one answer is enough.
        Err(error) if is_answer(&error) => return if job::is_silent() { 0 } else { print_answer(&error) },
        Err(_) if job::is_silent() => return 0,
        Err(error) => {
            let failure = typed::of_words(error, argv);
            perftest::refuse_words(registry, argv, &failure);
            return report(argv, ColorChoice::Auto, Err(failure));
        }
    };
    let color = cli.color;
    #[cfg(feature = "mpi")]
    let threads = || match &cli.verb {
        Verb::Perftest(arguments) => perftest::threads_most(arguments),
        _ => None,
    };
    #[cfg(feature = "mpi")]
    match job::prepare(&mut cli.mpi, threads) {
        Ok(()) => (),
        Err(_) if job::is_silent() => return 0,
        Err(failure) => return report(argv, color, Err(failure)),
    }
    match job::part(&cli.verb) {
        Part::Silent => 0,
        Part::Alone => report(argv, color, dispatch(registry, cli.verb, color)),
        Part::Member if !job::is_front() => job::run(registry, |failure| report(argv, color, Err(failure))),
        Part::Member => {
            let program = || {
                let ended =
                    std::panic::catch_unwind(AssertUnwindSafe(|| dispatch(registry, cli.verb, color)));
                ended.map_or(errors::exit::FAILED, |ended| report(argv, color, ended))
            };
            job::run_front(program, |failure| report(argv, color, Err(failure)))
        }
    }
}

/// Say how it ended; the exit code.
fn report(argv: &[OsString], color: ColorChoice, ended: Result<Ended, Failure>) -> u8 {
    let color = terminal::style(Stream::Stderr, color).color;
    // A file or pipe has each line whole.
    let columns = terminal::is_terminal(Stream::Stderr)
        .then(|| terminal::seen_columns(Stream::Stderr))
        .flatten();
    match ended {
        Ok(ended) => {
            if let Some(failure) = &ended.failure {
                failure.print(color, columns);
            }
            ended.code
        }
        Err(failure) => {
            cmd::failure_document(argv, &failure);
            failure.print(color, columns);
            failure.code
        }
    }
}

fn dispatch(registry: &Registry, verb: Verb, color: ColorChoice) -> Result<Ended, Failure> {
    match verb {
        Verb::Quick(arguments) => cmd::quick::quick(registry, &arguments, color),
        Verb::Run(arguments) => cmd::run::run(registry, &arguments, color),
        Verb::Compare(arguments) => cmd::compare::compare(&arguments, color),
        Verb::Ab(arguments) => cmd::ab::ab(registry, &arguments, color),
        Verb::Report(arguments) => cmd::report::report(&arguments, color),
        Verb::Explain(arguments) => cmd::explain::explain(&arguments, color),
        Verb::Import(arguments) => cmd::import::import(&arguments),
        Verb::Doctor(arguments) => cmd::doctor::doctor(&arguments, color),
        Verb::Selftest(arguments) => cmd::selftest::selftest(&arguments, color),
        Verb::Sweep(arguments) => cmd::sweep::sweep(registry, &arguments, color),
        Verb::Load(arguments) => cmd::load::load(registry, &arguments, color),
        Verb::Msgrate(arguments) => cmd::msgrate::msgrate(registry, &arguments, color),
        Verb::Workers(arguments) => cmd::workers::workers(registry, &arguments, color),
        Verb::Mesh(arguments) => cmd::mesh::mesh(registry, &arguments, color),
        Verb::List(arguments) => cmd::list::list(registry, &arguments, color),
        Verb::Perftest(arguments) => perftest::perftest(registry, &arguments, color),
        Verb::Serve(arguments) => cmd::serve::serve(&arguments),
        Verb::Session(arguments) => cmd::session::session(registry, &arguments, color),
        Verb::Coordinator(arguments) => cmd::daemons::coordinator(&arguments),
        Verb::Node(arguments) => cmd::daemons::node(&arguments),
        Verb::Lab(arguments) => cmd::lab::lab(&arguments),
        Verb::Byteio(arguments) => cmd::byteio::byteio(&arguments, color),
        Verb::Calibrate(arguments) => cmd::calibrate::calibrate(registry, &arguments, color),
        Verb::Completions(arguments) => cmd::shell::completions(&arguments),
        Verb::Man => cmd::shell::man(),
        Verb::Rank => cmd::serve::rank(registry),
        Verb::Ranks(arguments) => cmd::serve::ranks(&arguments),
        Verb::Computation => cmd::daemons::computation(registry),
        Verb::StdioNode(arguments) => cmd::daemons::stdio_node(&arguments),
        Verb::ManAll(arguments) => cmd::shell::man_all(&arguments),
    }
}

/// Help and version come out of clap as errors, but are answers; so is the help for whoever names no verb.
fn is_answer(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
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
