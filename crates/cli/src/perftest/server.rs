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
use std::sync::Arc;
use wirespeed_control::auth::keyfile::{self, KeyFile};
use wirespeed_control::serve::{Daemon, Listen, Log, LogEvent, LogLine, ServeOptions};
use wirespeed_control::{RankProgram, Timing};
use wirespeed_report::perftest::box_of;
use wirespeed_schema::message::ServerLimits;

/// The rule that ends a box.
const RULE: &str = "+----------------------------------------------------------------------------------------------------------+\n";

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
    let listen = match (listen(&arguments.listen)?, arguments.ipv6) {
        (Listen::Loopback, true) => Listen::Addresses(vec![std::net::Ipv6Addr::LOCALHOST.into()]),
        (listen, _) => listen,
    };
    let beyond_loopback = listen == Listen::Everywhere;
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
    note_ignored(arguments);
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
fn note_ignored(arguments: &PerftestArgs) {
    let letters = ignored(arguments);
    if !letters.is_empty() {
        tell(&format!(
            "note: the client's {} hold, not those given here",
            letters.join(" ")
        ));
    }
}

fn ignored(arguments: &PerftestArgs) -> Vec<&'static str> {
    let test = &arguments.test;
    let batch = [(!arguments.batch.is_empty(), "-b")];
    let given = [&letters_of_shape(test)[..], &letters_of_ucx(test), &batch].concat();
    let given = given.into_iter().filter(|(given, _)| *given);
    given.map(|(_, letter)| letter).collect()
}

/// What a test is.
fn letters_of_shape(test: &TestArgs) -> [(bool, &'static str); 15] {
    [
        (test.test.is_some(), "-t"),
        (test.transport.is_some(), "-x"),
        (test.device.is_some(), "-d"),
        (test.layout.is_some(), "-D"),
        (test.size.is_some(), "-s"),
        (test.iters.is_some(), "-n"),
        (test.warmup.is_some(), "-w"),
        (test.window.is_some(), "-W"),
        (test.outstanding.is_some(), "-O"),
        (test.header.is_some(), "-H"),
        (test.percentile.is_some(), "-R"),
        (test.threads.is_some(), "-T"),
        (test.wait.is_some(), "-E"),
        (test.check, "-V"),
        (test.one_sided, "-o"),
    ]
}

/// What only UCX knows.
fn letters_of_ucx(test: &TestArgs) -> [(bool, &'static str); 16] {
    [
        (test.stride.is_some(), "-i"),
        (test.nonblock, "-B"),
        (test.async_mode.is_some(), "-A"),
        (test.thread_mode.is_some(), "-M"),
        (test.wildcard, "-C"),
        (test.unexpected, "-U"),
        (test.stream_recv.is_some(), "-r"),
        (test.error_mode.is_some(), "-e"),
        (test.preregistered, "-z"),
        (test.wakeup, "-I"),
        (test.receive_copy, "-y"),
        (test.memory.is_some(), "-m"),
        (test.gpu_devices.is_some(), "-a"),
        (test.gpu_level.is_some(), "-L"),
        (test.gpu_completions.is_some(), "-F"),
        (test.gpu_channel.is_some(), "-Y"),
    ]
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
    use crate::args::{Cli, Verb};
    use clap::{Args as _, Command, Parser as _};

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
            let parsed =
                [&bare, &with_value].map(|word| Cli::try_parse_from(["wirespeed", "perftest", word]));
            let parsed = parsed.into_iter().flatten().next().unwrap();
            let Verb::Perftest(arguments) = parsed.verb else {
                panic!("a verb of its own");
            };
            assert_eq!(ignored(&arguments), [bare.as_str()]);
        }
    }
}
