//! The words of `wirespeed session` as a request: what to start, where, and which streams to measure. Everything is
//! checked here, before anything is started.

use crate::args::SessionArgs;
use crate::errors::Failure;
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::time::Duration;
use wirespeed_control::Identity;
use wirespeed_control::address::Address;
use wirespeed_schema::Finite;
use wirespeed_schema::case::Load;
use wirespeed_schema::units::{expand_counts, expand_list, parse_count, parse_duration_ns, parse_size};
use wirespeed_session::definition::{DEFINITION_BYTES_MAX, Definition};
use wirespeed_session::live::Ask;
use wirespeed_session::path::{self, Path, Route, Streaming};
use wirespeed_session::places::{self, Words};
use wirespeed_session::say::{LogFlood, LogTo, Work};

const MIB: u64 = 1 << 20;
/// Roads that sessions offer.
const ROADS: [&str; 3] = ["shm", "unix", "tcp"];

/// Everything that was asked for.
pub struct Request {
    pub ask: Ask,
    /// The coordinator and who we are to it; embedded without.
    pub coordinator: Option<(Address, Identity)>,
    pub path: Option<Path>,
    pub streams: Vec<Streaming>,
    pub hold: Duration,
    pub delay_start: Duration,
    pub stay_connected: Duration,
    /// What a prepended directory was put before.
    pub prepended: Option<String>,
}

/// Read and check the words.
pub fn request(arguments: &SessionArgs) -> Result<Request, Failure> {
    let path = arguments.path.as_deref().map(Path::parse).transpose()?;
    let routes: Vec<Route> = arguments
        .route
        .iter()
        .map(|r| route(r))
        .collect::<Result<_, _>>()?;
    let mut definition = definition(arguments, path)?;
    let prepended = arguments
        .prepend
        .as_deref()
        .map(|dir| prepend(&mut definition, dir))
        .transpose()?;
    if let Some(path) = path {
        path::check(path, &definition)?;
    }
    let duration = time("duration", &arguments.duration)?;
    let streams = match path {
        Some(path) => streams(arguments, path, &routes, duration)?,
        None => Vec::new(),
    };
    let coordinator = places::resolve(&Words {
        dc: arguments.dc.clone(),
        env: arguments.env.clone(),
        host: arguments.host.clone(),
        port: arguments.port,
        local_only: arguments.local_only,
        site: arguments.site.clone(),
    })?;
    let coordinator = match coordinator {
        Some(address) => Some((address, Identity::find(arguments.identity.as_deref(), None)?)),
        None => None,
    };
    Ok(Request {
        ask: Ask {
            definition,
            work: work(arguments)?,
            daemon: path.is_some() && routes.contains(&Route::Daemon),
        },
        coordinator,
        path,
        streams,
        hold: duration,
        delay_start: time("delay-start", &arguments.delay_start)?,
        stay_connected: time("stay-connected", &arguments.stay_connected)?,
        prepended,
    })
}

fn definition(arguments: &SessionArgs, path: Option<Path>) -> Result<Definition, Failure> {
    let mut definition = match &arguments.session {
        Some(file) => {
            let facts = std::fs::metadata(file).map_err(|e| Failure::file("read", file, &e))?;
            if facts.len() > DEFINITION_BYTES_MAX {
                return Err(Failure::usage(
                    format!("{} is too long for a session definition", file.display()),
                    "name the right file",
                ));
            }
            Definition::from_json(&std::fs::read(file).map_err(|e| Failure::file("read", file, &e))?)?
        }
        None => {
            let count = path.map_or(arguments.computations.unwrap_or(1), |p| {
                p.computations(arguments.computations)
            });
            Definition::benchmark(count)
        }
    };
    if let Some(main) = definition.computations.first_mut() {
        if let Some(cores) = arguments.cores {
            main.resources.cores = Finite::maybe(cores);
        }
        match arguments.request_mb {
            Some(0) => main.resources.memory_bytes = None,
            Some(mb) => main.resources.memory_bytes = Some(mb.saturating_mul(MIB)),
            None => {}
        }
    }
    definition.check()?;
    Ok(definition)
}

fn work(arguments: &SessionArgs) -> Result<Work, Failure> {
    let touch_once = match arguments.touch_once.as_str() {
        "1" | "true" => true,
        "0" | "false" => false,
        other => {
            return Err(Failure::usage(
                format!("--touchOnce={other} makes no sense"),
                "write --touchOnce or --touchOnce=1",
            ));
        }
    };
    if arguments.touch_mb > arguments.allocate_mb {
        return Err(Failure::usage(
            format!(
                "--touchMb {} is more than --allocateMb {}",
                arguments.touch_mb, arguments.allocate_mb
            ),
            "allocate at least what is to be touched",
        ));
    }
    let load = Load {
        cpu_threads: arguments.threads,
        memory_bytes: arguments.allocate_mb.saturating_mul(MIB),
        touch_bytes: arguments.touch_mb.saturating_mul(MIB),
        touch_once,
        log_threads: 0,
        ..Load::default()
    };
    if arguments.log_count > 0 && !(1..=1024).contains(&arguments.log_threads) || arguments.threads > 1024 {
        return Err(Failure::usage(
            "there may be 1 to 1024 threads of a kind",
            "use fewer",
        ));
    }
    let to = match arguments.log_to.as_str() {
        "stderr" => LogTo::Stderr,
        "null" => LogTo::Null,
        path => LogTo::File(path.into()),
    };
    Ok(Work {
        load,
        log: LogFlood {
            threads: arguments.log_threads,
            lines: arguments.log_count,
            to,
        },
        print_environment: arguments.print_env,
    })
}

/// Put `directory` before the search paths of every computation; what it was put before.
fn prepend(definition: &mut Definition, directory: &FilePath) -> Result<String, Failure> {
    let directory = std::path::absolute(directory).map_err(|e| Failure::file("find", directory, &e))?;
    if !directory.is_dir() {
        return Err(Failure::usage(
            format!("--prepend {} is no directory", directory.display()),
            "name a package directory",
        ));
    }
    let shown = directory.display().to_string();
    let before = |variable: &str, first: String| {
        let rest = std::env::var(variable).unwrap_or_default();
        (
            variable.to_owned(),
            if rest.is_empty() {
                first
            } else {
                format!("{first}:{rest}")
            },
        )
    };
    let rez = std::env::var_os("REZ_PACKAGES_PATH").is_some() || std::env::var_os("REZ_USED").is_some();
    let variables: BTreeMap<String, String> = match rez {
        true => [before("REZ_PACKAGES_PATH", shown.clone())].into(),
        false => [
            before("PATH", format!("{shown}/bin:{shown}")),
            before("LD_LIBRARY_PATH", format!("{shown}/lib:{shown}")),
        ]
        .into(),
    };
    for computation in &mut definition.computations {
        computation.environment.extend(variables.clone());
    }
    let names: Vec<&str> = variables.keys().map(String::as_str).collect();
    Ok(format!("{shown} before {}", names.join(" and ")))
}

fn streams(
    arguments: &SessionArgs,
    path: Path,
    routes: &[Route],
    duration: Duration,
) -> Result<Vec<Streaming>, Failure> {
    let bad = |what: &str, why: String| {
        Failure::usage(format!("--{what}: {why}"), "see `wirespeed session --help`")
    };
    let sizes = expand_list(&arguments.bytes).map_err(|e| bad("bytes", e.to_string()))?;
    let credits = expand_counts(&arguments.credits).map_err(|e| bad("credits", e.to_string()))?;
    let report = time("report-frequency", &arguments.report_frequency)?;
    if duration < Duration::from_millis(1) || report < Duration::from_millis(1) {
        return Err(Failure::usage(
            "a stream needs a duration and reports of at least 1 ms",
            "give --duration and --report-frequency in seconds, or with a unit",
        ));
    }
    let mut streams = Vec::new();
    for via in &arguments.via {
        if !ROADS.contains(&via.as_str()) {
            return Err(Failure::usage(
                format!("--via {via}: sessions have no such road"),
                format!("choose from: {}", ROADS.join(", ")),
            ));
        }
        for size in &sizes {
            let bytes = parse_size(size).map_err(|e| bad("bytes", e.to_string()))?;
            for credit in &credits {
                let credits = match parse_count(credit) {
                    Ok(credits @ 1..=1_000_000_000_000) => credits,
                    _ => {
                        return Err(Failure::usage(
                            format!("--credits {credit} lets no message out"),
                            "give at least 1, which is a synchronous round trip",
                        ));
                    }
                };
                for route in routes {
                    streams.push(Streaming {
                        path,
                        route: *route,
                        via: via.clone(),
                        size_bytes: arguments.mb.saturating_mul(MIB).saturating_add(bytes),
                        credits,
                        duration_ns: duration.as_nanos() as u64,
                        report_ns: report.as_nanos() as u64,
                        block: block(arguments.wait.as_deref())?,
                        check: arguments.check,
                        options: options(&arguments.options)?,
                    });
                }
            }
        }
    }
    Ok(streams)
}

fn route(word: &str) -> Result<Route, Failure> {
    match word {
        "direct" => Ok(Route::Direct),
        "daemon" => Ok(Route::Daemon),
        _ => Err(Failure::usage(
            format!("there is no route {word:?}"),
            "choose from: direct, daemon",
        )),
    }
}

fn block(word: Option<&str>) -> Result<Option<bool>, Failure> {
    match word {
        None => Ok(None),
        Some("poll") => Ok(Some(false)),
        Some("block") => Ok(Some(true)),
        Some(word) => Err(Failure::usage(
            format!("--wait {word}: no such way"),
            "choose from: poll, block",
        )),
    }
}

fn options(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    words
        .iter()
        .map(|word| {
            pair(word).ok_or_else(|| Failure::usage(format!("-O {word}: no value"), "write NAME=VALUE"))
        })
        .collect()
}

/// Seconds, or a number with a unit.
fn time(option: &str, text: &str) -> Result<Duration, Failure> {
    let plain = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|s| (0.0..=1e7).contains(s));
    let ns = match plain {
        Some(seconds) => return Ok(Duration::from_secs_f64(seconds)),
        None => parse_duration_ns(text),
    };
    ns.map(Duration::from_nanos).map_err(|_| {
        Failure::usage(
            format!("--{option} {text} is no time"),
            "give seconds, or a number with its unit: 30, 0.5, 500ms, 2m",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser as _;

    fn asked(line: &str) -> Result<Request, Failure> {
        let words = ["wirespeed", "session"]
            .into_iter()
            .chain(line.split_whitespace());
        match Cli::try_parse_from(words)?.verb {
            Verb::Session(arguments) => request(&arguments),
            _ => unreachable!("the verb is session"),
        }
    }

    #[test]
    fn the_seed_lines_are_understood() {
        let all = "--bandwidthPath=client_to_computation --mb=1 --bytes=1 --credits=5 --duration=15 \
                   --report-frequency=15 --cores=2 --requestMb=512 --threads=3 --allocateMb=9 --touchMb=8 --touchOnce \
                   --logthreads=2 --logCount=7 --printEnv --stay-connected=1 --env=local";
        let request = asked(all).unwrap();
        let stream = &request.streams[0];
        assert_eq!((stream.size_bytes, stream.credits), (MIB + 1, 5));
        assert_eq!(request.hold, Duration::from_secs(15));
        let main = &request.ask.definition.computations[0].resources;
        assert_eq!(
            (main.cores.map(Finite::get), main.memory_bytes),
            (Some(2.0), Some(512 * MIB))
        );
        let work = &request.ask.work;
        assert!(work.load.touch_once && work.print_environment && request.coordinator.is_none());
        assert_eq!(
            (work.load.cpu_threads, work.log.threads, work.log.lines),
            (3, 2, 7)
        );
        let defaults = asked("--benchmarkPath computation_to_computation").unwrap();
        assert_eq!(defaults.hold, Duration::from_secs(30));
        assert_eq!(defaults.streams[0].report_ns, 5_000_000_000);
        assert_eq!(defaults.streams[0].credits, 1);
        assert_eq!(asked("--touchOnce=1").unwrap().ask.work.log.threads, 12);
    }

    #[test]
    fn nonsense_is_named() {
        for (line, word) in [
            ("--benchmarkPath=client_to_client", "client_to_client"),
            ("--benchmarkPath=client_to_computation --credits=0", "credits"),
            ("--benchmarkPath=client_to_computation --credits=-1", "credits"),
            ("--benchmarkPath=client_to_computation --bytes=x", "bytes"),
            ("--benchmarkPath=client_to_computation --via=udp", "udp"),
            ("--benchmarkPath=client_to_computation --route=x", "route"),
            ("--benchmarkPath=client_to_computation --duration=0", "duration"),
            ("--allocateMb=1 --touchMb=2", "touchMb"),
            ("--touchOnce=maybe", "touchOnce"),
            ("--env=nowhere", "nowhere"),
            ("--cores=0", "resources"),
            ("--duration=soon", "soon"),
            ("--session=/nonexistent.json", "nonexistent"),
            ("--prepend=/nonexistent", "nonexistent"),
        ] {
            let failure = asked(line).err().unwrap_or_else(|| panic!("{line} is taken"));
            assert!(failure.cause.contains(word), "{line}: {failure:?}");
            assert!(failure.code == 2 || word == "nonexistent", "{line}: {failure:?}");
        }
    }
}
