//! The words of `wirespeed session` as a request: what to start, where, and which streams to measure. Everything is
//! checked here, before anything is started.

mod streams;

use crate::args::{SessionArgs, SessionFormat};
use crate::errors::Failure;
use crate::file;
use crate::input;
use crate::open_loop::{Asked, Rates};
use std::path::Path as FilePath;
use std::time::Duration;
pub use streams::{options, transports};
use streams::{route, streams};
use wirespeed_control::Identity;
use wirespeed_control::address::Address;
use wirespeed_control::launch::ssh::SshHost;
use wirespeed_schema::Finite;
use wirespeed_schema::case::Load;
use wirespeed_schema::units::parse_duration_ns;
use wirespeed_session::definition::{DEFINITION_BYTES_MAX, Definition};
use wirespeed_session::launched::Engine;
use wirespeed_session::live::Ask;
use wirespeed_session::memory::request_bytes;
use wirespeed_session::path::{self, Path, Route, Streaming};
use wirespeed_session::places::{self, Meant, Words};
use wirespeed_session::say::{LogFlood, LogTo, Work};

const MIB: u64 = 1 << 20;

/// Everything that was asked for.
pub struct Request {
    pub ask: Ask,
    /// The coordinator and the credential for it; embedded without.
    pub coordinator: Option<(Address, Identity)>,
    /// What starts the computations elsewhere.
    pub engine: Option<Engine>,
    /// Nothing was said of what carries messages: what can depends on where computations are.
    pub any_road: bool,
    pub path: Option<Path>,
    pub streams: Vec<Streaming>,
    pub hold: Duration,
    pub delay_start: Duration,
    pub stay_connected: Duration,
    /// At which rates the one stream is offered.
    pub offered: Option<Asked>,
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
    Identity::check(arguments.identity.as_deref())?;
    let mut work = work(arguments)?;
    let prepended = match &arguments.prepend {
        Some(directory) => Some(prepend(&mut work, directory)?),
        None => None,
    };
    if let Some(path) = path {
        path::check(path, &definition)?;
    }
    let duration = time("duration", &arguments.duration)?;
    if let Some(chart) = &arguments.chart
        && (path.is_none() || chart.extension().is_none_or(|ending| ending != "svg"))
    {
        return Err(Failure::usage(
            format!("--chart {}: no chart can be drawn there", file::shown(chart)),
            "name a path of messages, several sizes, and a file that ends with .svg",
        ));
    }
    let streams = streams(arguments, path, &routes, duration)?;
    ask_for_buffers(arguments, &streams, &mut definition);
    check_experiment(arguments, path, &streams)?;
    let engine = engine(arguments)?;
    let meant = places::resolve(&Words {
        dc: arguments.dc.clone(),
        env: arguments.env.clone(),
        host: arguments.host.clone(),
        port: arguments.port,
        local_only: arguments.local_only,
        site: arguments.site.clone(),
        dry: arguments.experiment.dry_run,
    })?;
    let identity = || Identity::find(arguments.identity.as_deref(), None);
    let coordinator = match meant {
        Meant::Here => None,
        Meant::At(address) => Some((address, identity()?)),
        Meant::Unasked => {
            identity()?;
            None
        }
    };
    Ok(Request {
        ask: Ask {
            definition,
            work,
            daemon: path.is_some() && routes.contains(&Route::Daemon),
        },
        coordinator,
        engine,
        any_road: arguments.via.is_empty(),
        path,
        hold: duration,
        delay_start: time("delay-start", &arguments.delay_start)?,
        stay_connected: time("stay-connected", &arguments.stay_connected)?,
        offered: offered(arguments, path, &streams)?,
        streams,
        prepended,
    })
}

/// CPUs are those of the ends of a path. A load beside messages needs messages, a table of its own, and ends without a load.
fn check_experiment(
    arguments: &SessionArgs,
    path: Option<Path>,
    streams: &[Streaming],
) -> Result<(), Failure> {
    if path.is_none() && !arguments.experiment.cpus.is_empty() {
        return Err(Failure::usage(
            "--cpus pins the ends of a path of messages, and none is named",
            "name a path with --benchmarkPath, or leave --cpus out",
        ));
    }
    if arguments.experiment.interference.is_empty() {
        return Ok(());
    }
    let cause = "--interference compares streams of messages, in a table of its own";
    if path.is_none() {
        return Err(Failure::usage(
            cause,
            "name a path of messages with --benchmarkPath",
        ));
    }
    if arguments.format == SessionFormat::Classic {
        return Err(Failure::usage(cause, "leave --format classic out"));
    }
    if streams.iter().any(|stream| stream.client_sleep_ns > 0) {
        return Err(Failure::usage(
            "--interference puts a load beside each end, and --messageSleep gave one end a load",
            "leave --messageSleep or --interference out",
        ));
    }
    Ok(())
}

/// At which rates the one stream is offered, where any are.
fn offered(
    arguments: &SessionArgs,
    path: Option<Path>,
    streams: &[Streaming],
) -> Result<Option<Asked>, Failure> {
    let Some(asked) = Asked::of(&arguments.open_loop, Rates::Whole)? else {
        return Ok(None);
    };
    let refused = |why: &str, remedy: &str| Err(Failure::usage(format!("--offered: {why}"), remedy));
    if arguments.format == SessionFormat::Classic {
        return refused("the curve is a table of its own", "leave --format out");
    }
    match (path, streams) {
        (None, _) => refused("nothing sends messages", "name a path, with --benchmarkPath"),
        (Some(Path::ComputationsToComputations), _) => refused(
            "between many computations messages have no response times",
            "take a path with one sender, such as --benchmarkPath=computation_to_computation",
        ),
        (Some(_), [_]) => Ok(Some(asked)),
        (Some(_), many) => refused(
            &format!("these options are {} streams, not one", many.len()),
            "give --bytes, --mb, --credits, --via and --route a single value each",
        ),
    }
}

/// Who starts the computations, where that is neither this process nor a coordinator.
fn engine(arguments: &SessionArgs) -> Result<Option<Engine>, Failure> {
    let Some(word) = arguments.launch.as_deref() else {
        return match arguments.on.is_empty() && arguments.ssh_config.is_none() {
            true => Ok(None),
            false => Err(Failure::usage(
                "--on and --ssh-config say how ssh launches",
                "add --launch ssh",
            )),
        };
    };
    let elsewhere = [&arguments.host, &arguments.dc, &arguments.env, &arguments.site];
    let elsewhere = elsewhere.iter().any(|word| word.is_some());
    if elsewhere || arguments.local_only {
        return Err(Failure::usage(
            format!("--launch {word} starts the computations itself, without a coordinator"),
            "leave --host, --dc, --env, --site and --local-only out",
        ));
    }
    match word {
        "slurm" if arguments.on.is_empty() && arguments.ssh_config.is_none() => Ok(Some(Engine::Slurm)),
        "slurm" => Err(Failure::usage(
            "Slurm chooses the hosts itself",
            "leave --on and --ssh-config out; a definition may name a node",
        )),
        "ssh" if arguments.on.is_empty() => Err(Failure::usage(
            "--launch ssh needs hosts",
            "add --on HOST[,HOST..]",
        )),
        "ssh" => {
            let host = |name: &String| SshHost::parse(name, arguments.ssh_config.clone());
            let hosts: Result<Vec<SshHost>, _> = arguments.on.iter().map(host).collect();
            Ok(Some(Engine::Ssh(hosts?)))
        }
        _ => Err(Failure::usage(
            format!("there is no launcher {word:?}"),
            "choose from: slurm, ssh",
        )),
    }
}

fn definition(arguments: &SessionArgs, path: Option<Path>) -> Result<Definition, Failure> {
    let mut definition = match &arguments.session {
        Some(file) => {
            let text = input::whole(file, "session definition", DEFINITION_BYTES_MAX)?;
            Definition::from_json(&text)?
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

/// Where nobody says how much memory the main computation asks for, it is enough for the messages.
fn ask_for_buffers(arguments: &SessionArgs, streams: &[Streaming], definition: &mut Definition) {
    if arguments.session.is_some() || arguments.request_mb.is_some() {
        return;
    }
    let request = request_bytes(streams, definition.computations.len());
    if let Some(main) = definition.computations.first_mut() {
        main.resources.memory_bytes = Some(request);
    }
}

fn work(arguments: &SessionArgs) -> Result<Work, Failure> {
    let touch_once = match arguments.touch_once.as_str() {
        "1" | "true" => true,
        "0" | "false" => false,
        other => {
            return Err(Failure::usage(
                format!("invalid --touchOnce={other}"),
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
        ..Load::default()
    };
    if arguments.log_count > 0 && !(1..=1024).contains(&arguments.log_threads) || arguments.threads > 1024 {
        return Err(Failure::usage(
            "--threads or --logThreads: there may be 1 to 1024 threads of a kind",
            "give a number in that range; --logCount=0 writes no log",
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
        prepend: Vec::new(),
    })
}

/// Put `directory` before the search paths of every computation; what it was put before.
fn prepend(work: &mut Work, directory: &FilePath) -> Result<String, Failure> {
    let directory = std::path::absolute(directory).map_err(|e| Failure::file("find", directory, &e))?;
    if !directory.is_dir() {
        return Err(Failure::usage(
            format!("--prepend {} is no directory", file::shown(&directory)),
            "name a package directory",
        ));
    }
    let shown = file::text(&directory)?;
    let before = |variable: &str, first: String| (variable.to_owned(), first);
    let rez = std::env::var_os("REZ_PACKAGES_PATH").is_some() || std::env::var_os("REZ_USED").is_some();
    work.prepend = match rez {
        true => vec![before("REZ_PACKAGES_PATH", shown.clone())],
        false => vec![
            before("LD_LIBRARY_PATH", format!("{shown}/lib:{shown}")),
            before("PATH", format!("{shown}/bin:{shown}")),
        ],
    };
    let names: Vec<&str> = work.prepend.iter().map(|(name, _)| name.as_str()).collect();
    Ok(format!("{shown} before {}", names.join(" and ")))
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
    fn messages_of_any_size_are_carried_by_the_memory_that_is_asked_for() {
        let asks = |line: &str| {
            let request = asked(&format!("--benchmarkPath=client_to_computation {line}")).unwrap();
            let main = &request.ask.definition.computations[0].resources;
            (request.streams[0].size_bytes, main.memory_bytes)
        };
        assert_eq!(asks("--mb=1"), (MIB, Some(2048 * MIB)));
        let (size, memory) = asks("--mb=4095 --bytes=1048575");
        assert_eq!(size, u64::from(u32::MAX));
        assert!(memory >= Some(3 * size), "{memory:?}");
        assert_eq!(asks("--mb=1024 --requestMb=100").1, Some(100 * MIB));
        assert_eq!(asks("--mb=1024 --requestMb=0").1, None);
    }

    #[test]
    fn sizes_and_credits_are_swept() {
        let line = "--benchmarkPath client_to_computation --mb=0,1 --bytes=0,1,1M --credits=1..100:x10";
        let request = asked(line).unwrap();
        let mut sizes: Vec<u64> = request.streams.iter().map(|s| s.size_bytes).collect();
        sizes.dedup();
        assert_eq!(sizes, [0, 1, MIB, MIB + 1, 2 * MIB]);
        assert_eq!(request.streams.len(), 15);
    }

    #[test]
    fn the_rest_of_the_options_mean_what_they_say() {
        let request = asked("--delay-start=0.5 --phased-start --stay-connected=2 --duration=7").unwrap();
        assert_eq!(request.delay_start, Duration::from_millis(500));
        assert_eq!(request.stay_connected, Duration::from_secs(2));
        assert_eq!(request.hold, Duration::from_secs(7));
        assert!(request.path.is_none() && request.any_road && request.engine.is_none());
        assert_eq!(asked("").unwrap().stay_connected, Duration::ZERO);
        let slow = asked("--benchmarkPath=computation_to_client --messageSleep=50").unwrap();
        assert_eq!(slow.streams[0].client_sleep_ns, 50_000);
        // Under the original's name the default stands before what was typed.
        let twice = asked("--stay-connected=10 --stay-connected=0").unwrap();
        assert_eq!(twice.stay_connected, Duration::ZERO);
        let launched = asked("--launch=ssh --on=a,me@b --via=tcp").unwrap();
        assert!(!launched.any_road && launched.coordinator.is_none());
        assert!(matches!(launched.engine, Some(Engine::Ssh(hosts)) if hosts.len() == 2));
        assert_eq!(asked("--launch=slurm").unwrap().engine, Some(Engine::Slurm));
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
            // What is said of messages is wrong without any, too.
            ("--via=shmm", "shmm"),
            ("--wait=foo", "foo"),
            ("-O foo", "foo"),
            ("--credits=0", "credits"),
            ("--bytes=x", "bytes"),
            ("--mb=x", "mb"),
            ("--route=x", "route"),
            ("--messageSleep=x", "messageSleep"),
            ("--benchmarkPath=client_to_computation --duration=0", "duration"),
            ("--allocateMb=1 --touchMb=2", "touchMb"),
            ("--benchmarkPath=client_to_computation --mb=1..", "mb"),
            (
                "--benchmarkPath=client_to_computation --mb=18446744073709551615",
                "mb",
            ),
            ("--benchmarkPath=client_to_computation --chart=x.svg", "chart"),
            (
                "--benchmarkPath=client_to_computation --bytes=1,2 --chart=x.png",
                "chart",
            ),
            ("--chart=x.svg", "chart"),
            (
                "--benchmarkPath=client_to_computation --messageSleep=1",
                "messageSleep",
            ),
            (
                "--benchmarkPath=computation_to_client --messageSleep=1s",
                "messageSleep",
            ),
            (
                "--benchmarkPath=computation_to_client --messageSleep=x",
                "messageSleep",
            ),
            (
                "--benchmarkPath=computation_to_client --messageSleep=1ms --interference=cpu",
                "messageSleep",
            ),
            ("--launch=slurm --on=a", "Slurm"),
            ("--launch=ssh", "hosts"),
            ("--launch=ssh --on=-x", "-x"),
            ("--launch=x", "x"),
            ("--on=a", "--on"),
            ("--launch=slurm --local-only", "--launch"),
            ("--launch=slurm --host=a", "--launch"),
            ("--launch=slurm --site=a", "--launch"),
            ("--site=/nonexistent/site", "/nonexistent/site"),
            ("--env=stb --site=/nonexistent/site", "/nonexistent/site"),
            ("--touchOnce=maybe", "touchOnce"),
            ("--env=nowhere", "nowhere"),
            ("--cores=0", "cores"),
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
