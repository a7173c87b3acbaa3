//! The options of `wirespeed byteio`.

use super::experiment::repeats;
use super::{ExperimentArgs, OpenLoopArgs, OutputArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;

/// `wirespeed byteio`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  there:  wirespeed byteio serve data
  here:   wirespeed byteio get http://THERE:7412/file --overwrite
  here:   wirespeed byteio bench http://THERE:7412/file --repeats 6

ByteIO (GFD.87) moves blocks of files in SOAP messages; other people's SOAP stacks can talk to this service and this \
client to theirs. The same data can also be moved by plain HTTP ranges and by wirespeed's own stream, so that the ways \
compare.")]
pub struct ByteioArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: ByteioVerb,
}

/// The verbs of byteio.
#[derive(Debug, Subcommand)]
pub enum ByteioVerb {
    /// Serve a file or a directory: RandomByteIO, StreamableByteIO, HTTP ranges, bulk stream
    Serve(Box<ByteioServeArgs>),
    /// Fetch a file, checked and resumable
    Get(Box<ByteioGetArgs>),
    /// Send a file, checked
    Put(Box<ByteioPutArgs>),
    /// Measure transfers: repeated, explained, pair by pair
    Bench(Box<ByteioBenchArgs>),
    /// Measure beside other movers of data on the same path: iperf3, curl, aria2, GridFTP, XRootD, a mounted path
    Peers(Box<ByteioPeersArgs>),
}

/// `wirespeed byteio serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed byteio serve data                  the files below data/, on loopback, to be read
  wirespeed byteio serve data --writable       they may be written, too
  wirespeed byteio serve data --listen all     for other machines, inside TLS; clients need the key file

A WSDL is at every file's address with ?wsdl. Links out of the directory are not followed. Ctrl-C ends it.")]
pub struct ByteioServeArgs {
    /// File to serve, or directory whose files are served
    pub path: PathBuf,

    /// Addresses to listen on: loopback, all (other machines too, inside TLS), or addresses of this machine
    #[arg(
        long,
        value_name = "ADDRESS[,..]",
        default_value = "loopback",
        value_delimiter = ','
    )]
    pub listen: Vec<String>,

    /// Port to listen on; 0 takes any free one, and prints it
    #[arg(short, long, value_name = "PORT", default_value_t = 7412)]
    pub port: u16,

    /// Let clients write and create files [default: read only]
    #[arg(long)]
    pub writable: bool,

    /// Ask for TLS and the token on loopback too, as beyond it
    #[arg(long)]
    pub tls: bool,

    /// Serve without TLS beyond loopback, to measure without its cost: whoever reaches the port can read
    #[arg(long, conflicts_with_all = ["writable", "tls"])]
    pub plain: bool,

    /// File of the key that both ends share, made on first use [default: WIRESPEED_KEY_FILE, else ~/.config/wirespeed/key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Print the secrets that clients without this home need: wirespeed's identity line, and a bearer token for others
    #[arg(long)]
    pub print_identity: bool,

    /// Most connections at the same time
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = "Limits")]
    pub connections_max: u32,

    /// Most bytes of one SOAP read
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Limits")]
    pub read_max: String,

    /// Most bytes of one SOAP write
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Limits")]
    pub write_max: String,

    /// Close a connection whose client sends or takes less than 1 KiB a second for this long
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Limits")]
    pub stall: String,

    /// Congestion control for what is sent: cubic, bbr, reno [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
}

/// How blocks are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mechanism {
    /// ByteIO, base64 in the envelope
    Simple,
    /// ByteIO, data as a part of a MIME package
    Mtom,
    /// ByteIO, data as a DIME record
    Dime,
    /// Plain HTTP with ranges
    Http,
    /// wirespeed's own stream
    Bulk,
}

/// Which digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Verify {
    /// Do not compare
    None,
    /// CRC-32C
    Crc32c,
    /// BLAKE3
    Blake3,
}

/// Options that every transfer has.
#[derive(Debug, Clone, Args)]
pub struct TransferArgs {
    /// How blocks are asked for, on the wire
    #[arg(short, long, value_enum, default_value_t = Mechanism::Mtom)]
    pub mechanism: Mechanism,

    /// Connections side by side
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), default_value_t = 4)]
    pub threads: u32,

    /// Bytes of a block, the unit that is asked for and checked
    #[arg(short, long, value_name = "SIZE", default_value = "8M")]
    pub block_size: String,

    /// Requests outstanding on each connection: more hide the round trip of a long path
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), default_value_t = 2)]
    pub depth: u32,

    /// Give up after this many failed attempts at one block
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 5)]
    pub attempts: u32,

    /// Drop a connection that carries less than 1 KiB a second for this long, and try its blocks again
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub stall: String,

    /// Congestion control of the sending end, where that is wirespeed: cubic, bbr, reno [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,

    /// Move the file as a stream (StreamableByteIO: seekRead, seekWrite), for services that have nothing else
    #[arg(long)]
    pub stream: bool,

    /// Move only the first SIZE bytes; needed where a service does not tell the length [default: the whole file]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,

    /// Credential for an https service: the line that its --print-identity shows [default: the key file's]
    #[arg(long, value_name = "TEXT", env = "WIRESPEED_IDENTITY", hide_env_values = true)]
    pub identity: Option<String>,

    /// File of the key that both ends share, made on first use [default: WIRESPEED_KEY_FILE, else ~/.config/wirespeed/key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

/// `wirespeed byteio get`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed byteio get http://127.0.0.1:7412/file copy
  wirespeed byteio get http://127.0.0.1:7412/file copy --overwrite --mechanism bulk --verify blake3

A transfer that was interrupted or killed goes on where it was, when the same command is given again: a journal beside \
the file says which blocks are there. Afterwards every block is compared with the service's digest.")]
pub struct ByteioGetArgs {
    /// Address of the file: http://HOST:PORT/PATH, or https:// for a service behind TLS
    pub url: String,

    /// File to write to [default: the last part of the address, here]
    pub file: Option<PathBuf>,

    #[command(flatten)]
    pub transfer: TransferArgs,

    /// Replace an existing file, and start over instead of resuming an interrupted transfer
    #[arg(long)]
    pub overwrite: bool,

    /// Write the file through a memory map instead of write calls, to compare the two
    #[arg(long)]
    pub map: bool,

    /// Digest by which every block is compared afterwards, where the service is wirespeed
    #[arg(long, value_enum, value_name = "DIGEST", default_value_t = Verify::Crc32c)]
    pub verify: Verify,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `wirespeed byteio put`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wirespeed byteio put file http://127.0.0.1:7412/file
  wirespeed byteio put file http://127.0.0.1:7412/file --mechanism http --threads 1")]
pub struct ByteioPutArgs {
    /// File to send
    pub file: PathBuf,

    /// Address of the file: http://HOST:PORT/PATH, or https:// for a service behind TLS
    pub url: String,

    #[command(flatten)]
    pub transfer: TransferArgs,

    /// Digest by which every block is compared afterwards, where the service is wirespeed
    #[arg(long, value_enum, value_name = "DIGEST", default_value_t = Verify::Crc32c)]
    pub verify: Verify,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Experiments that are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// M. Morgan, ByteIO Performance Tests, 2009: 1 GiB, 7 threads, 8 MiB, MTOM, one request each, ten runs
    Byteio2009,
}

/// `wirespeed byteio bench`.
#[derive(Debug, Args)]
#[command(mut_arg("repeats", |option| repeats(option, "Runs [default: 3; 10 of a profile or with --interference, 1 of every shape of a sweep]")))]
#[command(after_long_help = "\
Examples:
  wirespeed byteio bench http://127.0.0.1:7412/file --repeats 6
  wirespeed byteio bench http://127.0.0.1:7412/file --mechanism bulk --depth 4 --json
  wirespeed byteio bench http://127.0.0.1:7412/file --sweep --size 4M
  wirespeed byteio bench http://127.0.0.1:7412/file --put file --both      fetch and send in turn
  wirespeed byteio bench --pairs pairs.toml --dry-run
  wirespeed byteio bench --profile byteio2009 --emulated --size 8M --dry-run

The clock runs from the first request byte to the last payload byte in user space; look-up, connecting, storing and \
comparing are phases of their own. --nominal lets the verdict tell a full link from a slow end.

A pairs file in TOML: one [[machine]] with name, url (where it serves the file) and run (the words that run a command \
there, such as ssh), and pairs, \"all\" or a list of \"reader -> server\". docs/byteio.md has one.")]
pub struct ByteioBenchArgs {
    /// Address of the file: http://HOST:PORT/PATH, or https:// for a service behind TLS
    #[arg(required_unless_present_any = ["pairs", "emulated"], conflicts_with_all = ["pairs", "emulated"])]
    pub url: Option<String>,

    #[command(flatten)]
    pub transfer: TransferArgs,

    /// Repeat a published experiment with its connections, block size, mechanism and depth; only --repeats and --size may differ
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["mechanism", "threads", "block_size", "depth"])]
    pub profile: Option<Profile>,

    /// Measure between pairs of machines, which FILE lists in TOML (see below)
    #[arg(long, value_name = "FILE", conflicts_with = "offered")]
    pub pairs: Option<PathBuf>,

    /// Emulate the profile's own pairs on this machine, one after the other, as `wirespeed lab` does; needs root
    #[arg(long, requires = "profile", conflicts_with_all = ["offered", "pairs", "nominal", "put", "into", "both"])]
    pub emulated: bool,

    /// Measure both directions in turn: fetch, and send the file of --put; with --pairs, each pair both ways
    #[arg(long, conflicts_with = "offered")]
    pub both: bool,

    /// Measure all pairs at once, to find links that they share [default: one after the other]
    #[arg(long, requires = "pairs")]
    pub at_once: bool,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    #[command(flatten)]
    pub open_loop: OpenLoopArgs,

    /// Offer each rate for this long, reading the file again and again [default: 2s]
    #[arg(long, value_name = "TIME", requires = "offered", help_heading = "Open loop")]
    pub duration: Option<String>,

    /// Speed of the slowest link on the way, so that the verdict can tell a full link from a slow end: 100Mb/s, 1Gb/s
    #[arg(long, value_name = "SPEED")]
    pub nominal: Option<String>,

    /// Send FILE to the service instead of fetching from it
    #[arg(long, value_name = "FILE")]
    pub put: Option<PathBuf>,

    /// Store what comes in FILE at every run, to include the disk [default: drop it]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["put", "offered"])]
    pub into: Option<PathBuf>,

    /// Digest by which every block is compared afterwards, where the service is wirespeed
    #[arg(long, value_enum, value_name = "DIGEST", default_value_t = Verify::None)]
    pub verify: Verify,

    /// Find the best connections, block size, depth and congestion control of this path, with one run of each
    #[arg(long, conflicts_with_all = ["pairs", "profile", "put", "into", "both", "offered", "threads", "block_size", "depth"])]
    pub sweep: bool,

    /// Stop, as at Ctrl-C, when stdin ends, if anything came from it before; --pairs gives this to its readers
    #[arg(long, conflicts_with_all = ["pairs", "emulated"])]
    pub stop_with_stdin: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `wirespeed byteio peers`.
#[derive(Debug, Args)]
#[command(mut_arg("repeats", |option| repeats(option, "Runs of each [default: 3]")))]
#[command(after_long_help = "\
Examples:
  wirespeed byteio peers file --threads 2                                      everything on loopback
  wirespeed byteio peers file --movers mtom,bulk,curl --repeats 6

For a far end on another machine add --run 'ssh HOST' --at ADDRESS, and name FILE as that machine does. As the command of \
`wirespeed lab` it measures over the lab's path.

At the far end wirespeed, iperf3, nginx, GridFTP and XRootD are started on FILE, each on a port of its own, and end with \
this command; what is not installed at either end is skipped with the reason. Every mover fetches the file as often as \
--repeats says, in random order within each round, and drops it. The servers of others know no token: whoever reaches \
--at can read FILE meanwhile.

The clock is the mover's own from request to last byte where it tells, else the time of its whole command; the table says \
which.")]
pub struct ByteioPeersArgs {
    /// File to move, as the far end names it
    pub file: PathBuf,

    /// Address of the far end [default: 127.0.0.1; within `wirespeed lab`, its far end]
    #[arg(long, value_name = "ADDRESS", env = "WIRESPEED_LAB_FAR")]
    pub at: Option<IpAddr>,

    /// Words that run a command at the far end, such as ssh [default: none, this machine; within `wirespeed lab`, its far end]
    #[arg(long, value_name = "WORDS", env = "WIRESPEED_LAB_RUN")]
    pub run: Option<String>,

    /// Name of wirespeed at the far end [default: wirespeed; without --run, this program]
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,

    /// First of the far end's ports to listen on, one for each mover
    #[arg(short, long, value_name = "PORT", default_value_t = 7420, value_parser = clap::value_parser!(u16).range(1..=65000))]
    pub port: u16,

    /// Movers to measure, of mtom, simple, dime, http, bulk, iperf3, curl, aria2, gridftp, xrootd, mounted
    #[arg(
        long,
        value_name = "NAME[,..]",
        value_delimiter = ',',
        default_value = "mtom,http,bulk,iperf3,curl,aria2,gridftp,xrootd,mounted"
    )]
    pub movers: Vec<String>,

    /// The same file through a mount on this machine (NFS, Lustre), as one more mover
    #[arg(long, value_name = "FILE")]
    pub mounted: Option<PathBuf>,

    /// Send the file instead of fetching it, to servers on this machine that keep it in memory
    #[arg(long, conflicts_with = "mounted")]
    pub put: bool,

    /// Connections of each mover
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=128), default_value_t = 4)]
    pub threads: u32,

    /// Bytes of a block, where a mover has blocks
    #[arg(short, long, value_name = "SIZE", default_value = "8M")]
    pub block_size: String,

    /// Requests outstanding on each connection of wirespeed
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), default_value_t = 2)]
    pub depth: u32,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Stop a run that takes longer than this, and count it as failed
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub limit: String,

    /// Speed of the slowest link on the way, so that the verdict can tell a full link from a slow end: 100Mb/s, 1Gb/s
    #[arg(long, value_name = "SPEED")]
    pub nominal: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,
}
