//! `wirespeed byteio peers`: this project's ways and other people's movers of data, in turn on the same path, fetching or
//! sending.

mod movers;

use super::job::{self, Ends, size, time};
use super::pairs::this_program;
use super::runner::Transfers;
use crate::args::{ByteioMechanism, ByteioPeersArgs, ColorChoice, TransferArgs, Verify};
use crate::cmd::dry_run;
use crate::cmd::front::Front;
use crate::cmd::speed::speed;
use crate::errors::{Ended, Failure};
use crate::experiment::{How, Prepared, pin};
use crate::file;
use clap::ValueEnum as _;
use movers::Movers;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use wirespeed::Registry;
use wirespeed_byteio::client::{Target, TransferOptions, Way};
use wirespeed_byteio::peers::{FarEnd, FarServer, Mover, Room, Started, is_installed};
use wirespeed_report::byteio::BulkCase;
use wirespeed_schema::Finite;
use wirespeed_schema::case::TransportOptions;
use wirespeed_schema::plan::Plan;
use wirespeed_schema::test::Bulk;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Runs of each mover where the words do not say.
const REPEATS: u32 = 3;

/// Who fetches.
enum Who {
    Ours(Box<TransferOptions>),
    Theirs { mover: Mover, port: u16 },
}

/// A row of the table.
struct Row {
    name: String,
    /// Or why nobody does, and whether that is a failure.
    who: Result<Who, (String, bool)>,
}

/// What every row has in common.
struct Path<'a> {
    arguments: &'a ByteioPeersArgs,
    far: FarEnd,
    /// Bytes of the file, where it is on this machine.
    here_bytes: Option<u64>,
    block_bytes: u64,
    limit: Duration,
    nominal: Option<Finite>,
    /// 0 where a dry run does not know.
    total_bytes: u64,
}

/// Measure.
pub fn peers(arguments: &ByteioPeersArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let names = names(arguments)?;
    let mounted = Mover::Mounted.name();
    if arguments.mounted.is_some() && !names.iter().any(|name| name == mounted) {
        return Err(Failure::usage(
            format!("--mounted: --movers does not name {mounted}"),
            format!(
                "add it, --movers {},{mounted}, or leave --mounted out",
                arguments.movers.join(",")
            ),
        ));
    }
    let mut plan = Plan::default();
    let common = (&arguments.output, color);
    let how = How::of(&arguments.experiment, (&mut plan, REPEATS), common)?;
    let front = match arguments.experiment.dry_run {
        true => None,
        false => Some(Front::open(common, None)?),
    };
    let registry = crate::registry();
    let mut path = path(arguments)?;
    let mut servers = Vec::new();
    let rows = path.rows(&names, &mut servers)?;
    let cases = rows.iter().map(|row| path.prepared(row, &registry));
    let cases: Vec<Prepared> = cases.collect::<Result<_, _>>()?;
    let Some(mut front) = front else {
        return dry_run::show(&plan, how.listed(cases)?, arguments.output.json);
    };
    let ours = rows.iter().map(|row| match &row.who {
        Ok(Who::Ours(options)) => (std::slice::from_ref(&**options), path.nominal),
        _ => (&[][..], None),
    });
    let transfers = Transfers::new(&registry, ours.collect());
    let mut movers = Movers {
        path: &path,
        rows: &rows,
        transfers,
        room: room()?,
        host: front.draft.host().clone(),
    };
    let found = front.run(how, &mut movers, vec![cases])?;
    drop(servers);
    front.publish(found)
}

fn is_ours(name: &str) -> bool {
    Way::of_name(name).is_some()
}

fn names(arguments: &ByteioPeersArgs) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for name in &arguments.movers {
        if !is_ours(name) && Mover::of_name(name).is_none() {
            let ours = Way::ALL.map(Way::name);
            let known: Vec<&str> = ours.into_iter().chain(Mover::ALL.map(Mover::name)).collect();
            return Err(Failure::usage(
                format!("--movers: there is no mover {name:?}"),
                format!("choose from: {}", known.join(", ")),
            ));
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

fn path(arguments: &ByteioPeersArgs) -> Result<Path<'_>, Failure> {
    let run: Vec<String> = arguments
        .run
        .iter()
        .flat_map(|words| words.split_whitespace())
        .map(str::to_owned)
        .collect();
    // The lab's far end has this machine's files.
    let in_lab = std::env::var("WIRESPEED_LAB_RUN").ok();
    let is_here = run.is_empty() || (in_lab.is_some() && in_lab == arguments.run);
    let (file, here_bytes) = match is_here {
        true => {
            let file = std::fs::canonicalize(&arguments.file);
            let file = file.map_err(|e| Failure::file("find", &arguments.file, &e))?;
            let here = std::fs::metadata(&file).map_err(|e| Failure::file("find", &file, &e))?;
            (file, Some(here.len()))
        }
        false => (arguments.file.clone(), None),
    };
    let at = arguments.at.unwrap_or(LOOPBACK);
    if arguments.put && !(run.is_empty() && at.is_loopback()) {
        return Err(Failure::usage(
            "--put: a service that anybody may write to is not opened beyond loopback",
            "leave --at and --run out, outside of `wirespeed lab`; for another machine use `wirespeed byteio bench --put`",
        ));
    }
    let block_bytes = size("block-size", &arguments.block_size)?;
    if block_bytes == 0 {
        return Err(Failure::usage(
            "--block-size: a block has at least one byte",
            "write it like 8M",
        ));
    }
    Ok(Path {
        far: FarEnd {
            program: match (&arguments.program, is_here) {
                (Some(program), _) => program.clone(),
                (None, true) => this_program()?,
                (None, false) => "wirespeed".to_owned(),
            },
            run,
            file: file::text(&file)?,
            at,
            takes: arguments.put,
        },
        arguments,
        here_bytes,
        block_bytes,
        limit: time("limit", &arguments.limit)?,
        nominal: arguments.nominal.as_deref().map(speed).transpose()?,
        total_bytes: 0,
    })
}

fn room() -> Result<Room, Failure> {
    Room::make().map_err(|e| {
        Failure::failed(
            format!("cannot make a folder: {e}"),
            "point TMPDIR to a folder with room",
        )
    })
}

impl Path<'_> {
    /// Every row with its server, in the order asked for. `servers` live as long as the caller keeps them; a dry run starts none.
    fn rows(&mut self, names: &[String], servers: &mut Vec<FarServer>) -> Result<Vec<Row>, Failure> {
        let port = self.arguments.port;
        let file_bytes = match self.arguments.experiment.dry_run {
            true => self.here_bytes,
            false => Some(self.serve(port, servers)?),
        };
        if file_bytes == Some(0) {
            return Err(Failure::usage(
                "the file is empty",
                "serve a file of at least some hundred MB",
            ));
        }
        self.total_bytes = file_bytes.unwrap_or(0);
        let mut rows = Vec::new();
        let mut nginx: Option<Result<u16, (String, bool)>> = None;
        for (name, offset) in names.iter().zip(1u16..) {
            let Some(mover) = Mover::of_name(name) else {
                rows.push(self.ours(name, port)?);
                continue;
            };
            let mut server = || self.server(mover, port + offset, servers);
            let started = match self.why_not(mover) {
                Some(why) => Err((why, false)),
                // Both speak with nginx.
                None if matches!(mover, Mover::Curl | Mover::Aria2) => {
                    nginx.get_or_insert_with(server).clone()
                }
                None => server(),
            };
            rows.push(match started {
                Ok(port) => Row {
                    name: name.clone(),
                    who: Ok(Who::Theirs { mover, port }),
                },
                Err(why) => Row {
                    name: name.clone(),
                    who: Err(why),
                },
            });
        }
        Ok(rows)
    }

    /// Start our own service; bytes of the file that it serves.
    fn serve(&self, port: u16, servers: &mut Vec<FarServer>) -> Result<u64, Failure> {
        match self.far.start(None, port) {
            Ok(Started::Ready(server)) => {
                let file_bytes = server.file_bytes;
                servers.push(server);
                Ok(file_bytes)
            }
            Ok(Started::Absent(why)) | Err(why) => Err(Failure::failed(
                why,
                "name a file that the far end can read, and with --program wirespeed there",
            )),
        }
    }

    /// Why a mover is of no use here, whatever the far end has.
    fn why_not(&self, mover: Mover) -> Option<String> {
        let near = mover.near_program();
        if self.arguments.put && !mover.sends() {
            return Some(format!("{} is only fetched with here", mover.name()));
        }
        if !is_installed(near) {
            return Some(format!("{near} is not installed here"));
        }
        self.far.why_not(mover).map(str::to_owned)
    }

    /// The port of a mover's server, or why there is none, and whether that is a failure.
    fn server(&self, mover: Mover, port: u16, servers: &mut Vec<FarServer>) -> Result<u16, (String, bool)> {
        if mover == Mover::Mounted {
            return match &self.arguments.mounted {
                Some(_) => Ok(0),
                None => Err(("no path is given with --mounted".to_owned(), false)),
            };
        }
        if self.arguments.experiment.dry_run {
            return Ok(port);
        }
        match self.far.start(Some(mover), port) {
            Ok(Started::Ready(server)) => {
                servers.push(server);
                Ok(port)
            }
            Ok(Started::Absent(why)) => Err((why, false)),
            Err(why) => Err((why, true)),
        }
    }

    fn ours(&self, name: &str, port: u16) -> Result<Row, Failure> {
        let mechanism = ByteioMechanism::from_str(name, false).unwrap_or(ByteioMechanism::Mtom);
        let words = TransferArgs {
            mechanism,
            threads: self.arguments.threads,
            block_size: self.arguments.block_size.clone(),
            depth: self.arguments.depth,
            attempts: 1,
            stall: self.arguments.limit.clone(),
            congestion: None,
            stream: false,
            size: None,
            identity: None,
            key: None,
        };
        let at = std::net::SocketAddr::new(self.far.at, port);
        // The service has one file, at its root; or a folder, and makes the file.
        let (url, ends) = match self.arguments.put {
            false => (format!("http://{at}/"), Ends::Get(Target::Discard)),
            true => {
                let source = self.far.file.clone().into();
                (format!("http://{at}/file"), Ends::Put(source))
            }
        };
        let mut options = job::options(&url, &words, ends, Verify::None)?;
        options.size_bytes = Some(self.total_bytes);
        Ok(Row {
            name: name.to_owned(),
            who: Ok(Who::Ours(Box::new(options))),
        })
    }

    /// A row as a case, or why there is none.
    fn prepared(&self, row: &Row, registry: &Registry) -> Result<Prepared, Failure> {
        let arguments = self.arguments;
        if let Ok(Who::Ours(options)) = &row.who {
            let one = std::slice::from_ref(&**options);
            return Ok(job::cases(registry, &arguments.experiment, one)?.remove(0));
        }
        let mut shape = Bulk::new(self.block_bytes, self.total_bytes, arguments.threads.into(), 1);
        let mut options = TransportOptions::new();
        if let Ok(Who::Theirs { mover, .. }) = &row.who {
            shape.connections = arguments.threads.min(mover.threads_max()).into();
            options.insert("clock".to_owned(), mover.clock().to_owned());
        }
        let bulk = BulkCase {
            transport: row.name.clone(),
            options,
            is_put: arguments.put,
            shape,
            load: Default::default(),
        };
        let mut case = bulk.case();
        pin(&arguments.experiment, &mut case)?;
        let mut prepared = Prepared::of(case);
        if let Err((why, failed)) = &row.who {
            let remedy = "install it at both ends, or leave it out with --movers".to_owned();
            match failed {
                true => prepared.failure = Some(broken(why.clone())),
                false => prepared.skip = Some((why.clone(), remedy)),
            }
        }
        Ok(prepared)
    }
}

fn broken(why: String) -> Failure {
    Failure::failed(why, "try its command by hand, or leave it out with --movers")
}
