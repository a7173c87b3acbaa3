//! What users type, on both sides: a verb with no options beside the peer's program with none, and ucx_perftest's own command
//! lines under both programs that answer to that name, started in the ways in which people start them.
//!
//! No line here may have an option that the peer's lacks a counterpart of, but for the length of a run and the form of output; rows
//! of chosen options say so in their names.

mod bulk;
mod launched;
mod named;
mod sockets;

use super::byteio::{FILE, FILE_BYTES};
use super::groups::Group;
use super::launch::{Context, Server};
use super::mpi;
use super::programs;
use super::report::Report;
use super::side::Side;
use super::table::{Better, Comparison, Ucx};
use super::{documents, tools};
use crate::command;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Whose program answers to a name that both have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Ours comes first in the path.
    Ours,
    /// The one that is installed.
    Theirs,
}

/// How the figure is read from what the line prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Read {
    /// ucx_perftest's comma-separated line.
    Classic(Ucx),
    /// Our document's figure of this name.
    Tag(&'static str),
    /// iperf3's JSON: bytes a second.
    Iperf3,
    /// iperf3's JSON of datagrams: datagrams a second that arrived.
    Iperf3Datagrams,
    /// sockperf's median, as a round trip.
    Sockperf,
    /// The first number of a loop in C.
    Loop,
    /// How long the whole command took, in ns.
    Took,
    /// The file's bytes over how long the whole command took.
    Moved,
}

/// A line as it is typed, and the line of the other terminal that it needs.
#[derive(Clone, Copy)]
pub struct Typed {
    /// Whose program the names mean.
    pub whose: Whose,
    /// What is typed in the other terminal before, if anything.
    pub server: &'static str,
    /// What is typed.
    pub line: &'static str,
    /// How it is read.
    pub read: Read,
    /// What it needs beside our program, by the names that `tools` knows.
    pub needs: &'static [&'static str],
}

/// Longest time of a line.
const LIMIT: Duration = Duration::from_secs(60);
/// Time for a server to listen.
const LISTENS: Duration = Duration::from_millis(400);

impl Typed {
    /// Type it, in a folder of its own that has the file if it moves that, and read the figure.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        let folder = context.built.join("typed");
        let clear = || {
            if folder.exists() {
                fs::remove_dir_all(&folder)
            } else {
                Ok(())
            }
        };
        let made = clear().and_then(|()| fs::create_dir_all(&folder));
        made.with_context(|| format!("cannot make {}", folder.display()))?;
        if self.needs.contains(&tools::FILE) {
            let linked = fs::hard_link(context.built.join(FILE), folder.join("file"));
            linked.context("cannot link the file")?;
        }
        let figure = self.typed_in(&folder, context, report);
        clear().context("cannot remove what was moved")?;
        figure
    }

    fn typed_in(&self, folder: &Path, context: &Context, report: &mut Report) -> Result<f64> {
        let server = (!self.server.is_empty()).then(|| {
            let line = filled(self.server, context);
            // No limit of time between us and it: it is ended by its number.
            let mut listening = command::bound("bash");
            listening.args(["-c", &format!("exec {line}")]);
            self.place(&mut listening, context, folder);
            listening.stdout(Stdio::null()).stderr(Stdio::null());
            Server::start(&mut listening)
        });
        let _server = server.transpose()?;
        if !self.server.is_empty() {
            std::thread::sleep(LISTENS);
        }
        let line = filled(self.line, context);
        let mut command = command::bound("timeout");
        command.args(["--kill-after=5", &LIMIT.as_secs().to_string()]);
        if let Some(slurm) = context.slurm.as_ref().filter(|_| line.starts_with("srun ")) {
            command.arg("nsenter").args(slurm.way_in());
            slurm.configure(&mut command);
        }
        command.args(["bash", "-c", &format!("exec {line}")]);
        self.place(&mut command, context, folder);
        let begin = Instant::now();
        let output = command::capture(&mut command);
        let took = begin.elapsed();
        let output = match took < LIMIT {
            true => output?,
            false => output.with_context(|| format!("stopped after {} s", LIMIT.as_secs()))?,
        };
        let whose = match self.whose {
            Whose::Ours => "wirespeed's",
            Whose::Theirs => "the peer's",
        };
        let ahead = match self.server {
            "" => String::new(),
            server => format!("{} &\n$ ", filled(server, context)),
        };
        report.raw(
            &format!("{ahead}{line}  # {whose}"),
            &documents::condensed(&output),
        );
        match self.read {
            Read::Classic(value) => programs::ucx_figure(&output, value),
            Read::Tag(tag) => documents::figure(&output, tag),
            Read::Iperf3 => programs::iperf_figure(&output),
            Read::Iperf3Datagrams => programs::iperf_datagrams(&output),
            Read::Sockperf => programs::sockperf_figure(&output),
            Read::Took => Ok(took.as_nanos() as f64),
            Read::Moved => Ok(FILE_BYTES as f64 / took.as_secs_f64()),
            Read::Loop => {
                let first = output.split_whitespace().find_map(|word| word.parse().ok());
                first.with_context(|| format!("cannot read {output:?}"))
            }
        }
    }

    /// Where the names of programs lead, and the folder.
    fn place(&self, command: &mut Command, context: &Context, folder: &Path) {
        let rest = std::env::var("PATH").unwrap_or_default();
        let ours = context.binary.parent().unwrap_or(Path::new("."));
        let built = context.built.display();
        let path = match self.whose {
            Whose::Ours => format!("{built}/{}:{}:{rest}", tools::NAMED, ours.display()),
            // Our program is there too, behind all others: as a service that both sides ask.
            Whose::Theirs => format!("{built}:{rest}:{}", ours.display()),
        };
        command.env("PATH", path).current_dir(folder);
        mpi::let_root(command);
    }
}

/// The line with the two CPUs in place of `{0}` and `{1}`.
fn filled(line: &str, context: &Context) -> String {
    let [first, second] = context.cores.map(|core| core.to_string());
    line.replace("{0}", &first).replace("{1}", &second)
}

/// What is typed: in the other terminal before, if anything, and in this one.
type Lines = (&'static str, &'static str);

/// Peers with no options but how long, and how their figures are read.
const IPERF3: (Lines, Read) = (("iperf3 -s -1", "iperf3 -c 127.0.0.1 -t 2 -J"), Read::Iperf3);
const SOCKPERF: (Lines, Read) = (("sockperf sr --tcp", "sockperf pp --tcp -t 2"), Read::Sockperf);
/// Ours, where bytes are moved.
const BANDWIDTH: Read = Read::Tag("bandwidth_bytes_per_s");

/// A row of two sides that type different lines.
struct Row {
    name: &'static str,
    unit: &'static str,
    ours: (Lines, Read),
    theirs: (Lines, Read),
    needs: &'static [&'static str],
    bound: (Better, f64),
}

impl Row {
    fn comparison(&self) -> Comparison {
        let side = |whose, ((server, line), read): (Lines, Read)| {
            Side::Typed(Typed {
                whose,
                server,
                line,
                read,
                needs: self.needs,
            })
        };
        let (better, aim) = self.bound;
        Comparison {
            name: self.name,
            unit: self.unit,
            ours: side(Whose::Ours, self.ours),
            theirs: side(Whose::Theirs, self.theirs),
            aim,
            better,
        }
    }
}

/// Every group.
pub fn groups() -> Vec<Group> {
    let rows = |rows: &[Row]| rows.iter().map(Row::comparison).collect();
    let group = |name, pair_s, rows| Group { name, pair_s, rows };
    let mut groups = named::groups();
    groups.extend([
        group("tcp", 6.0, rows(&sockets::TCP)),
        group("udp", 6.0, rows(&sockets::UDP)),
    ]);
    groups.extend(launched::groups());
    groups.extend([
        group("session", 6.0, rows(&bulk::SESSIONS)),
        group("byteio", 5.0, rows(&bulk::BYTEIO)),
    ]);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_type_the_same_of_the_original_and_every_program_of_a_line_is_needed() {
        for row in groups().iter().flat_map(|group| &group.rows) {
            let (Side::Typed(ours), Side::Typed(theirs)) = (&row.ours, &row.theirs) else {
                panic!("{} is not typed", row.name);
            };
            if theirs.needs.contains(&"ucx_perftest") {
                assert_eq!(
                    (ours.server, ours.line),
                    (theirs.server, theirs.line),
                    "{}",
                    row.name
                );
            }
            for line in [ours.server, ours.line, theirs.server, theirs.line] {
                let first = line.split(' ').next().unwrap_or_default();
                let known = ["", "wirespeed", "taskset"].contains(&first) || theirs.needs.contains(&first);
                let launcher = first.strip_prefix("mpirun.");
                let known =
                    known || launcher.is_some_and(|name| theirs.needs.iter().any(|n| n.ends_with(name)));
                assert!(known, "{}: {first} is not among what it needs", row.name);
            }
        }
    }
}
