//! The options of `run`. Every parameter of a case is kept as text here: lists and ranges are split by the schema.

use super::known::Known;
use super::parameters::{Form, Parameters, Taken};
use super::{ExperimentArgs, OutputArgs};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::fmt::Write as _;
use wirespeed_schema::kinds::{FRIENDLY_NAMES, KINDS};
use wirespeed_schema::parameter::Parameter;

/// `wirespeed run`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, after_help = "--help shows examples and explains every option.")]
#[command(mut_arg("repeats", |repeats| repeats.short('r')))]
pub struct RunArgs {
    /// A test (latency, rate, bandwidth, am_lat, put_bw, ...), a list of tests, or a plan file PLAN.toml
    #[arg(value_name = "TEST|PLAN.toml", long_help = tests_help())]
    #[arg(value_parser = Known::Tests, hide_possible_values = true)]
    pub what: String,

    #[command(flatten)]
    pub case: Parameters<OfRun>,

    /// Let the far end send to this one: the same as --roles sink,source
    #[arg(short = 'R', long, conflicts_with = "roles", help_heading = "Ranks")]
    pub reverse: bool,

    #[command(flatten)]
    pub far: FarArgs,

    #[command(flatten)]
    pub transport: TransportArgs,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `run` takes every parameter as it is defined.
#[derive(Debug, Clone)]
pub struct OfRun;

impl Taken for OfRun {
    fn form(parameter: &'static Parameter) -> Option<Form> {
        Some(Form::of(parameter))
    }
}

/// How the other end is reached.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Ranks")]
pub struct FarArgs {
    /// Port of `wirespeed serve`, where --to names none [default: 7411]
    #[arg(short, long, value_name = "PORT", requires = "to")]
    pub port: Option<u16>,

    /// Credential for the server: the line that `wirespeed serve --print-identity` shows there
    ///
    /// Better kept in WIRESPEED_IDENTITY, or in the key file that a shared home gives to both ends: a command line can
    /// be read by every user of a machine. It never enters a result.
    #[arg(long, value_name = "LINE", env = "WIRESPEED_IDENTITY", hide_env_values = true)]
    pub identity: Option<String>,

    /// Drop a rank or server that is silent this long [default: 10s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub silence: Option<String>,

    /// Use IPv4 only, where the server's name has both
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Use IPv6 only, where the server's name has both
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

/// Options of the transports themselves.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Transport options")]
pub struct TransportArgs {
    /// An option of the transport (see `wirespeed list TRANSPORT`); several values make a sweep
    #[arg(short = 'O', long = "option", value_name = "NAME=VALUE[,..]")]
    pub options: Vec<String>,

    #[command(flatten)]
    pub shortcuts: Shortcuts,
}

/// A transport's option that has an argument of its own.
struct Shortcut {
    name: &'static str,
    letter: Option<char>,
    value_name: &'static str,
    help: &'static str,
}

const fn shortcut(name: &'static str, value_name: &'static str, help: &'static str) -> Shortcut {
    Shortcut {
        name,
        letter: None,
        value_name,
        help,
    }
}

const SHORTCUTS: [Shortcut; 8] = [
    shortcut(
        "source",
        "ADDRESS",
        "tcp, udp: send from this address of this machine [default: the system's choice]",
    ),
    Shortcut {
        letter: Some('C'),
        ..shortcut(
            "congestion",
            "NAME",
            "tcp: congestion control: cubic, bbr, reno [default: the system's]",
        )
    },
    shortcut(
        "sndbuf",
        "SIZE",
        "Sockets: bytes of the send buffer [default: the system's]",
    ),
    shortcut(
        "rcvbuf",
        "SIZE",
        "Sockets: bytes of the receive buffer [default: the system's]",
    ),
    Shortcut {
        letter: Some('M'),
        ..shortcut(
            "mss",
            "BYTES",
            "tcp: maximum segment size, 88 to 32767 [default: that of the path]",
        )
    },
    shortcut(
        "dscp",
        "DSCP",
        "tcp, udp: DSCP code point, to measure a class of traffic: 0 to 63 [default: 0]",
    ),
    shortcut(
        "wait",
        "MODE",
        "How a rank waits: poll (spin), block (sleep in the kernel), uring [default: auto: poll where every rank has a CPU]",
    ),
    shortcut(
        "busy_poll",
        "MICROSECONDS",
        "Sockets: let the kernel poll the device this long before it sleeps [default: 0]",
    ),
];

/// Transports' options with an argument of their own, as typed.
#[derive(Debug, Default)]
pub struct Shortcuts {
    given: Vec<(&'static str, Vec<String>)>,
}

impl Shortcuts {
    /// The options that were given, by the transports' names for them.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.given.iter().map(|(name, texts)| (*name, &texts[..]))
    }
}

impl Args for Shortcuts {
    fn augment_args(command: Command) -> Command {
        command.args(SHORTCUTS.iter().map(|shortcut| {
            Arg::new(shortcut.name)
                .long(shortcut.name.replace('_', "-"))
                .short(shortcut.letter)
                .value_name(shortcut.value_name)
                .action(ArgAction::Append)
                .help(shortcut.help)
                .help_heading("Transport options")
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Shortcuts {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found = Shortcuts::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let texts = |name: &str| Some(matches.get_many(name)?.cloned().collect());
        let given = SHORTCUTS
            .iter()
            .filter_map(|one| Some((one.name, texts(one.name)?)));
        self.given = given.collect();
        Ok(())
    }
}

/// What `--help` says of the word that names a test: every test of the table.
fn tests_help() -> String {
    let friendly = FRIENDLY_NAMES.iter().map(|friendly| friendly.name);
    let mut text = format!(
        "A test, a list of tests, or a plan file PLAN.toml\n\nFriendly names: {}. latency is am_lat with 8 bytes; rate is \
         am_bw with 8 bytes and a window of 1024; bandwidth is am_bw with 128 KiB, or the largest half of it that the \
         transport takes. Over MPI, whose own messages are tagged, they are tag_lat and tag_bw with its own window.\n\nTests, with the defaults of each in docs/options.md:\n",
        friendly.collect::<Vec<_>>().join(", ")
    );
    for kind in &KINDS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {:<13}  {}", kind.name, kind.summary);
    }
    text.trim_end().to_owned()
}

const AFTER_HELP: &str = "\
Examples:
  wirespeed run latency --via shm                              a ping-pong between two processes
  wirespeed run latency --via inproc --threads 2               the same between two threads
  wirespeed run bandwidth --via tcp,unix --size 4K..1M:x4      a sweep: every size on both
  wirespeed run am_bw --via tcp --window 1..256:x2 --dry-run   what would be measured
  wirespeed run latency --via tcp --repeats 10 -o result.json  fresh connections, ten times
  wirespeed run latency --via shm -t 100ms --until p50:5%      repeats until the median is known within 5 %
  wirespeed run latency --via tcp --to node7 -C cubic,reno     to another machine, two congestion controls
  wirespeed run hub_lat --via shm --procs 3 --fan-out          a hub and two workers
  wirespeed run latency --via shm --procs 3 --roles source,sink,idle --load 2:cpu=1,memory=64M,touch=64M
  wirespeed run latency --via shm -t 50ms --repeats 6 --interference=cpu,memory   what does a busy machine do to it?
  wirespeed run plan.toml --json                               many cases from a file, one document

A plan file has the same keys; defaults hold for the cases that take them:
  repeats = 3

  [defaults]
  duration = \"200ms\"

  [[case]]
  test = [\"latency\", \"bandwidth\"]
  via = [\"shm\", \"tcp\"]

  [[case]]
  test = \"am_bw\"
  via = \"tcp\"
  size = \"8..8K:x32\"
  window = 64
  option.congestion = [\"cubic\", \"reno\"]

Lists and ranges make a Cartesian product. A case that a transport cannot do is recorded as skipped, a case that fails \
as failed, and the others go on. Ctrl-C ends the running case and writes what was measured; a second Ctrl-C \
aborts.

Exit codes: 0 ok, 1 a run failed, 2 usage, 4 inconclusive (--strict), 5 refused, 6 wrong data, 130 interrupted.";
