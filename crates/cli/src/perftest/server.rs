//! The server of `perftest`: the daemon of `wirespeed serve`, with the original's port, and its words on stdout. It
//! serves one client, or with --forever one after the other.

use super::case::test_of;
use super::numbers::{self, cpu_list, cpus_asked};
use super::ucx;
use crate::args::{PerftestArgs, TestArgs};
use crate::cmd::serve::listen;
use crate::cmd::serve::secrets;
use crate::cmd::stop_on_signals;
use crate::errors::{Ended, Failure};
use crate::file;
use crate::output;
use crate::stderr;
use crate::{front, typed};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command};
use std::sync::Arc;
use wirespeed_control::auth::keyfile::{self, KeyFile};
use wirespeed_control::serve::{Daemon, Listen, Log, LogEvent, LogLine, ServeOptions};
use wirespeed_control::{RankProgram, Timing};
use wirespeed_report::perftest::box_of;
use wirespeed_schema::message::ServerLimits;

/// The rule that ends a box.
const RULE: &str = "+----------------------------------------------------------------------------------------------------------+\n";

/// Letters of a test that mean something to a server, or nothing to anybody.
const OF_BOTH: [char; 3] = ['l', 'q', 'S'];

/// Serve until the client has left, or until stopped.
pub fn serve(arguments: &PerftestArgs) -> Result<Ended, Failure> {
    if let Some(option) = of_client(arguments) {
        return Err(Failure::usage(
            format!("{option}: without SERVER this is the server, and the client has the result"),
            "give it to the client, or name the server here",
        ));
    }
    for (_, options) in arguments.test.unrolled()? {
        if options.test.is_some() {
            test_of(&options)?;
        }
        numbers::check(&options)?;
        ucx::check_words(&options)?;
    }
    let forever = arguments.forever || arguments.test.loopback;
    let mut limits = ServerLimits::default();
    // Messages are as large as memory allows.
    limits.memory_bytes_max = wirespeed::host::available_bytes();
    limits.message_bytes_max = limits.memory_bytes_max;
    if !forever {
        limits.queue_clients_max = 0;
    }
    let asked = listen(&arguments.listen)?;
    let beyond_loopback = asked != Listen::Loopback;
    let listen = match (asked, arguments.ipv6) {
        (Listen::Loopback, true) => Listen::Addresses(vec![std::net::Ipv6Addr::LOCALHOST.into()]),
        (listen, _) => listen,
    };
    let options = ServeOptions {
        listen,
        port: arguments.port,
        limits,
        timing: Timing::default(),
        program: RankProgram::this()?,
        once: !forever,
        cpus: cpus_asked(&arguments.experiment.cpus).map(cpu_list).transpose()?,
    };
    let path = keyfile::path(None)?;
    let key = KeyFile::load_or_make(&path)?;
    let stop = stop_on_signals()?;
    let daemon = Daemon::bind(options, &key, &stop, log())?;
    note_ignored();
    if arguments.print_identity {
        tell(secrets(daemon.identity()).trim_end());
    } else if beyond_loopback {
        tell(&format!(
            "key file {}; without a shared home, --print-identity shows what the other machine needs",
            file::shown(&path)
        ));
    }
    output::print("Waiting for connection...\n")?;
    let served = daemon.run()?;
    let failure = Failure::failed(
        "a test did not end well",
        "look at the messages above and at those of the client, and run again",
    );
    Ok(match served.failed && !forever {
        true => Ended {
            code: failure.code,
            // It would wait for ever to be read.
            failure: (!served.unread).then_some(failure),
        },
        false => Ended::OK,
    })
}

/// The original's words for the client and its tests; everything else goes to stderr.
fn log() -> Log {
    Arc::new(|line: LogLine| {
        let said = match (&line.event, line.client) {
            (LogEvent::Accepted, Some(client)) => {
                output::print(&format!("Accepted connection from {client}\n"))
            }
            (LogEvent::Runs(case), _) => output::print(&(box_of(case) + RULE)),
            _ => {
                tell(&line.to_string());
                Ok(())
            }
        };
        // A server whose stdout is gone goes on serving.
        drop(said);
    })
}

/// What the client sends holds for both ends; words of the same kind here change nothing.
fn note_ignored() {
    let typed = typed::read(&front::argv()).ok();
    let words = typed
        .as_ref()
        .and_then(|(_, words)| words.subcommand_matches("perftest"));
    let letters = words.map(ignored).unwrap_or_default();
    if !letters.is_empty() {
        tell(&format!(
            "note: the client's {} hold, not those given here",
            letters.join(" ")
        ));
    }
}

/// The letters of a test, and that of its files, that `words` of the server have, in the order of help.
fn ignored(words: &ArgMatches) -> Vec<String> {
    let tests = TestArgs::augment_args(Command::new("test"));
    let options = tests.get_arguments();
    let letters = options.filter_map(|option| Some((option.get_id().as_str(), option.get_short()?)));
    let is_given = |id: &str| words.value_source(id) == Some(ValueSource::CommandLine);
    let given = letters
        .filter(|(_, letter)| !OF_BOTH.contains(letter))
        .chain([("batch", 'b')])
        .filter(|(id, _)| is_given(id));
    given.map(|(_, letter)| format!("-{letter}")).collect()
}

/// An option that would change the result, which a server does not have.
fn of_client(arguments: &PerftestArgs) -> Option<&'static str> {
    let (output, experiment) = (&arguments.output, &arguments.experiment);
    let given = [
        ("--output", !output.output.is_empty()),
        ("--json", output.json),
        ("--ndjson", output.ndjson),
        ("--csv", output.csv),
        ("--live", experiment.live),
    ];
    let given = given.iter().find(|(_, given)| *given);
    given.map(|(name, _)| *name).or(experiment.given())
}

/// A line on stderr.
pub fn tell(line: &str) {
    stderr::say(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// A letter of a test that a server does not look at is noted; -l, -q and -S are no matter of the client's.
    #[test]
    fn whatever_a_server_ignores_it_notes() {
        let tests = TestArgs::augment_args(Command::new("test"));
        let letters: Vec<char> = tests
            .get_arguments()
            .filter_map(|option| option.get_short())
            .collect();
        assert!(letters.len() > 30, "{letters:?}");
        for letter in letters.into_iter().filter(|letter| !"lqS".contains(*letter)) {
            let (bare, with_value) = (format!("-{letter}"), format!("-{letter}=1"));
            let words = |word: &String| {
                let argv = ["wirespeed", "perftest", word].map(OsString::from);
                typed::read(&argv).map(|(_, words)| words)
            };
            let typed = words(&bare).or_else(|_| words(&with_value)).unwrap();
            assert_eq!(ignored(typed.subcommand_matches("perftest").unwrap()), [bare]);
        }
    }
}
