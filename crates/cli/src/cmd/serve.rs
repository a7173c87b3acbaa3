//! `wirespeed serve`: the far end; and the hidden verbs of a rank's process and of what starts ranks on a host.

use crate::args::{RanksArgs, ServeArgs};
use crate::errors::{Ended, Failure};
use crate::file;
use crate::output;
use crate::stderr;
use crate::terminal::{self, Stream};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use wirespeed::Registry;
use wirespeed_control::auth::keyfile::{self, KeyFile};
use wirespeed_control::job::INVITATION_VARIABLE;
use wirespeed_control::serve::{Daemon, Listen, Log, LogLine, RANK_BYTES_MIN, ServeOptions};
use wirespeed_control::{DEFAULT_PORT, Identity, RankProgram, Timing};
use wirespeed_schema::message::ServerLimits;
use wirespeed_schema::units;

/// Serve until stopped. The ranks are processes of this program, so they know the same transports.
pub fn serve(arguments: &ServeArgs) -> Result<Ended, Failure> {
    let options = ServeOptions {
        once: false,
        cpus: None,
        listen: listen(&arguments.listen)?,
        port: arguments.port.unwrap_or(DEFAULT_PORT),
        limits: limits(arguments)?,
        timing: Timing::default(),
        program: RankProgram::this()?,
    };
    let beyond_loopback = options.listen != Listen::Loopback;
    let path = keyfile::path(arguments.key.as_deref())?;
    let key = KeyFile::load_or_make(&path)?;
    let stop = super::stop_on_signals()?;
    let daemon = Daemon::bind(options, &key, &stop, log(arguments.quiet))?;
    // A secret goes into no log file unless somebody asks for it there.
    let shown = beyond_loopback && terminal::is_terminal(Stream::Stdout);
    output::print(&greeting(&daemon, &path, shown || arguments.print_identity))?;
    daemon.run()?;
    Ok(Ended::OK)
}

/// Be a rank, until the coordinator has no more work.
pub fn rank(registry: &Registry) -> Result<Ended, Failure> {
    if let Some(invitation) = std::env::var(INVITATION_VARIABLE)
        .ok()
        .filter(|text| !text.is_empty())
    {
        // What becomes of a rank is said by whoever had the job started.
        let ended = crate::job::launched_rank(registry, &invitation);
        return Ok(ended.map_or_else(Ended::badly, |()| Ended::OK));
    }
    // The coordinator says why; a rank's own last words would only come between its lines.
    Ended::hidden(
        wirespeed_control::agent::run_stdio_agent(registry),
        "__rank is started by wirespeed itself",
        "use `wirespeed run`, which starts ranks",
    )
}

/// Start ranks on this host, for whoever is at the other end of standard input and output.
pub fn ranks(arguments: &RanksArgs) -> Result<Ended, Failure> {
    let code = wirespeed_control::launch::starter::run(arguments.travelled);
    Ended::hidden(
        code,
        "__ranks is started by ssh or srun",
        "use `wirespeed mesh --hosts`",
    )
}

/// Where to listen, from the words of --listen.
pub fn listen(words: &[String]) -> Result<Listen, Failure> {
    let address = |word: &String| {
        word.parse::<IpAddr>().map_err(|_| {
            let (cause, remedy) = (
                format!("--listen {word}: not an address"),
                "write loopback, all, or IP addresses of this machine",
            );
            match word.parse::<SocketAddr>() {
                Ok(at) => Failure::usage(cause, format!("write --listen {} --port {}", at.ip(), at.port())),
                Err(_) if word.contains(':') => {
                    Failure::usage(cause, format!("{remedy}, and the port behind --port"))
                }
                Err(_) => Failure::usage(cause, remedy),
            }
        })
    };
    match words {
        [word] if word == "loopback" => Ok(Listen::Loopback),
        [word] if word == "all" => Ok(Listen::Everywhere),
        words if words.iter().any(|word| word == "all") => Err(alone(words, "all".to_owned())),
        words if words.iter().any(|word| word == "loopback") => {
            let mut addresses = words.to_vec();
            addresses
                .iter_mut()
                .filter(|word| *word == "loopback")
                .for_each(|word| *word = "127.0.0.1".to_owned());
            Err(alone(words, addresses.join(",")))
        }
        addresses => Ok(Listen::Addresses(
            addresses.iter().map(address).collect::<Result<_, _>>()?,
        )),
    }
}

fn alone(words: &[String], instead: String) -> Failure {
    Failure::usage(
        format!("--listen {}: loopback and all stand alone", words.join(",")),
        format!("write --listen {instead}"),
    )
}

fn limits(arguments: &ServeArgs) -> Result<ServerLimits, Failure> {
    type Read = fn(&str) -> Result<u64, units::UnitError>;
    let read = |option: &str, text: &Option<String>, read: Read| {
        let number = text.as_deref().map(read).transpose();
        number.map_err(|e| Failure::usage(format!("--{option}: {e}"), "see `wirespeed serve --help`"))
    };
    let duration_ns = read("duration-max", &arguments.duration_max, units::parse_duration_ns)?;
    let message_bytes = read("size-max", &arguments.size_max, units::parse_size)?;
    let memory_bytes = read("memory-max", &arguments.memory_max, units::parse_size)?;
    let rate_bytes_per_s = read("rate-max", &arguments.rate_max, units::parse_size)?;
    for (name, bytes, least) in [
        ("memory", memory_bytes, RANK_BYTES_MIN),
        ("rate", rate_bytes_per_s, 1),
    ] {
        if bytes.is_some_and(|bytes| bytes < least) {
            return Err(Failure::usage(
                format!("--{name}-max: nothing can run within it"),
                format!("give {least} or more"),
            ));
        }
    }
    let mut limits = ServerLimits::default();
    limits.clients_max = arguments.share.unwrap_or(limits.clients_max);
    limits.queue_clients_max = arguments.queue.unwrap_or(limits.queue_clients_max);
    limits.ranks_max = arguments.ranks_max.unwrap_or(limits.ranks_max);
    limits.load_threads_max = arguments.load_threads_max.unwrap_or(limits.load_threads_max);
    limits.duration_ns_max = duration_ns.unwrap_or(limits.duration_ns_max);
    limits.message_bytes_max = message_bytes.unwrap_or(limits.message_bytes_max);
    limits.memory_bytes_max = memory_bytes.unwrap_or(limits.memory_bytes_max);
    limits.rate_bytes_per_s_max = rate_bytes_per_s.or(limits.rate_bytes_per_s_max);
    Ok(limits)
}

fn log(quiet: bool) -> Log {
    Arc::new(move |line: LogLine| {
        if !quiet {
            stderr::say(&line.to_string());
        }
    })
}

/// Where it listens, and how others get in.
fn greeting(daemon: &Daemon, key: &Path, print_identity: bool) -> String {
    let mut text = String::new();
    for address in daemon.addresses() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "listening on {address}");
    }
    let key = file::shown(key);
    if print_identity {
        text.push_str(&secrets(daemon.identity()));
    } else {
        let _ = writeln!(
            text,
            "key file {key}; without a shared home, --print-identity shows what the other machine needs"
        );
    }
    text
}

/// The line that another machine of ours needs.
pub fn secrets(identity: &Identity) -> String {
    let identity = identity.to_text();
    format!("on the other machine: export WIRESPEED_IDENTITY={identity}\n")
}

/// The header by which a client of HTTP that is not ours proves that it may ask.
pub fn bearer(identity: &Identity) -> String {
    let bearer = identity.bearer();
    format!("for other people's clients: Authorization: Bearer {bearer}\n")
}
