//! The server of `perftest`: the daemon of `wirespeed serve`, with the original's port, and its words on stdout. It
//! serves one client, or with --forever one after the other.

use super::case::test_of;
use super::numbers::{self, cpu_list, cpus_asked};
use super::ucx;
use crate::args::PerftestArgs;
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
    let test = &arguments.test;
    let given = [
        (test.test.is_some(), "-t"),
        (test.transport.is_some(), "-x"),
        (test.device.is_some(), "-d"),
        (test.layout.is_some(), "-D"),
        (test.size.is_some(), "-s"),
        (test.iters.is_some(), "-n"),
        (test.threads.is_some(), "-T"),
        (!arguments.batch.is_empty(), "-b"),
    ];
    let letters: Vec<&str> = given
        .iter()
        .filter(|(given, _)| *given)
        .map(|(_, letter)| *letter)
        .collect();
    if !letters.is_empty() {
        tell(&format!(
            "note: the client's {} hold, not those given here",
            letters.join(" ")
        ));
    }
}

/// A line on stderr.
pub fn tell(line: &str) {
    stderr::say(line);
}
