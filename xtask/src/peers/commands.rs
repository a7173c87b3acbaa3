//! Starts both sides of a comparison and reads their figures. Every command line and output goes into the archive.

use super::mpi::{Figure, Mpi};
use super::report::Report;
use super::session;
use super::setup::{Whose, case_ns};
use super::table::Ucx;
use crate::command;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What every command needs to know.
pub struct Context {
    /// Our program.
    pub binary: PathBuf,
    /// Where programs of our own in C are, once built.
    pub built: PathBuf,
    /// The two CPUs in use.
    pub cores: [u32; 2],
    /// What launches under MPI printed in this pair: rows that ask for the mean and the median of one launch share it.
    pub launched: RefCell<HashMap<String, String>>,
}

impl Context {
    /// What `command` prints, run once a pair.
    pub fn launch(&self, mut command: Command) -> Result<(String, String)> {
        let shown = command::shown(&command);
        if let Some(output) = self.launched.borrow().get(&shown) {
            return Ok((shown, output.clone()));
        }
        let output = command::capture(&mut command)?;
        self.launched.borrow_mut().insert(shown.clone(), output.clone());
        Ok((shown, output))
    }
}

/// One side of a comparison.
#[derive(Clone)]
pub enum Side {
    /// `wirespeed ARGUMENTS --cpus A,B --json`, and the tag of the figure; over several cases, the largest.
    Ours {
        /// Arguments.
        arguments: &'static str,
        /// Tag.
        tag: &'static str,
    },
    /// ucx_perftest over posix shared memory; over several sizes, the largest.
    Ucx {
        /// Test.
        test: &'static str,
        /// Layout.
        layout: &'static str,
        /// Sizes in bytes.
        sizes: &'static [u64],
        /// Iterations.
        iterations: u64,
        /// Column.
        value: Ucx,
    },
    /// `LAUNCHER -n 2 wirespeed ARGUMENTS --json` under an MPI library, and the tag of the figure.
    OursUnder {
        /// The library.
        mpi: &'static Mpi,
        /// Arguments.
        arguments: &'static str,
        /// Tag.
        tag: &'static str,
    },
    /// A loop in C under an MPI library; it prints the figure of the mean, then that of the median.
    Loop {
        /// The library.
        mpi: &'static Mpi,
        /// Arguments.
        arguments: &'static str,
        /// Which of the two numbers.
        which: Figure,
    },
    /// ucx_perftest with these arguments; within one process where it is a loopback.
    UcxRoad {
        /// Arguments.
        arguments: &'static str,
        /// One process.
        is_loopback: bool,
        /// Column.
        value: Ucx,
    },
    /// A bulk transfer, on loopback or in the lab; several rows share one launch.
    Bulk(super::byteio::Bulk),
    /// A number that stands by itself: what follows from the set-up, or an aim.
    Number(f64),
    /// `wirespeed ARGUMENTS --json` of a session, on so many of the two cores.
    Session {
        /// Arguments.
        arguments: &'static str,
        /// Which number.
        figure: session::Figure,
        /// 1 or 2.
        cores: usize,
    },
    /// What each further test of a batch costs.
    SetUp {
        /// Which program's.
        whose: Whose,
        /// The road, as ucx_perftest names it.
        road: &'static str,
    },
    /// iperf3 over loopback, one stream.
    Iperf3 {
        /// Bytes of each write.
        size_bytes: u64,
        /// Congestion control.
        congestion: &'static str,
        /// Duration.
        seconds: u32,
    },
    /// sockperf ping-pong over loopback TCP; round trip of the median.
    Sockperf {
        /// Bytes of each message.
        size_bytes: u64,
        /// Non-blocking sockets polled without pause, instead of blocking ones.
        busy: bool,
        /// Duration.
        seconds: u32,
    },
}

impl Side {
    /// The foreign program that it needs.
    pub fn program(&self) -> Option<&'static str> {
        match self {
            Side::Ours { .. }
            | Side::Number(_)
            | Side::SetUp {
                whose: Whose::Ours, ..
            } => None,
            Side::Session {
                figure: session::Figure::SystemCalls,
                ..
            } => Some("strace"),
            Side::Session { .. } => None,
            Side::OursUnder { mpi, .. } | Side::Loop { mpi, .. } => Some(mpi.loops),
            Side::Ucx { .. } | Side::UcxRoad { .. } | Side::SetUp { .. } => Some("ucx_perftest"),
            Side::Bulk(bulk) => bulk.program(),
            Side::Iperf3 { .. } => Some("iperf3"),
            Side::Sockperf { .. } => Some("sockperf"),
        }
    }

    /// Run it once and return the figure.
    pub fn run(&self, context: &Context, report: &mut Report) -> Result<f64> {
        match *self {
            Side::Ours { arguments, tag } => from_document(context, report, arguments, &|d| d(tag)),
            Side::OursUnder { mpi, arguments, tag } => ours_under(mpi, context, report, arguments, tag),
            Side::Loop {
                mpi,
                arguments,
                which,
            } => loop_figure(mpi, context, report, arguments, which),
            Side::Ucx {
                test,
                layout,
                sizes,
                iterations,
                value,
            } => {
                let figures = sizes.iter().map(|&size| {
                    let output = ucx(context, report, test, layout, size, iterations)?;
                    ucx_figure(&output, value)
                });
                figures.reduce(|a, b| Ok(a?.max(b?))).context("no sizes")?
            }
            Side::UcxRoad {
                arguments,
                is_loopback,
                value,
            } => ucx_figure(&ucx_road(context, report, arguments, is_loopback)?, value),
            Side::Number(value) => Ok(value),
            Side::Bulk(bulk) => bulk.run(context, report),
            Side::Session {
                arguments,
                figure,
                cores,
            } => session::run(context, report, arguments, figure, cores),
            Side::SetUp { whose, road } => case_ns(context, report, whose, road),
            Side::Iperf3 {
                size_bytes,
                congestion,
                seconds,
            } => iperf3(context, report, size_bytes, congestion, seconds),
            Side::Sockperf {
                size_bytes,
                busy,
                seconds,
            } => sockperf(context, report, size_bytes, busy, seconds),
        }
    }
}

/// ucx_perftest over one of its transports.
fn ucx_road(context: &Context, report: &mut Report, arguments: &str, is_loopback: bool) -> Result<String> {
    let words: Vec<&str> = arguments.split(' ').collect();
    if is_loopback {
        let words = [&["-l", "-v", "-f"], &words[..]].concat();
        return alone(context, report, "ucx_perftest", &words);
    }
    let server = [&words[..], &["-p", "13399"]].concat();
    let client = [&["127.0.0.1", "-v", "-f"], &server[..]].concat();
    pair(context, report, "ucx_perftest", &server, &client).map(|(output, _)| output)
}

fn iperf3(
    context: &Context,
    report: &mut Report,
    size_bytes: u64,
    congestion: &str,
    seconds: u32,
) -> Result<f64> {
    let server = "-s -1 -p 13500 -B 127.0.0.1";
    let client = format!("-c 127.0.0.1 -p 13500 -t {seconds} -l {size_bytes} -C {congestion} -J");
    let (server, client): (Vec<&str>, Vec<&str>) = (server.split(' ').collect(), client.split(' ').collect());
    iperf_figure(&pair(context, report, "iperf3", &server, &client)?.0)
}

fn sockperf(
    context: &Context,
    report: &mut Report,
    size_bytes: u64,
    busy: bool,
    seconds: u32,
) -> Result<f64> {
    let polling = if busy { " --nonblocked" } else { "" };
    let server = format!("sr --tcp -i 127.0.0.1 -p 13600{polling}");
    let client = format!("pp --tcp -i 127.0.0.1 -p 13600 -m {size_bytes} -t {seconds}{polling}");
    let (server, client): (Vec<&str>, Vec<&str>) = (server.split(' ').collect(), client.split(' ').collect());
    sockperf_figure(&pair(context, report, "sockperf", &server, &client)?.0)
}

/// wirespeed under an MPI library.
fn ours_under(mpi: &Mpi, context: &Context, report: &mut Report, arguments: &str, tag: &str) -> Result<f64> {
    let mut command = mpi.launch(&context.binary);
    command.args(arguments.split(' ')).arg("--json");
    let (shown, output) = context.launch(command)?;
    figure_of(&shown, &output, report, arguments, &|d| d(tag))
}

/// A loop in C under an MPI library.
fn loop_figure(
    mpi: &Mpi,
    context: &Context,
    report: &mut Report,
    arguments: &str,
    which: Figure,
) -> Result<f64> {
    let mut command = mpi.launch(&context.built.join(mpi.loops));
    command.args(arguments.split(' '));
    let (shown, output) = context.launch(command)?;
    report.raw(&shown, &output);
    let numbers: Vec<f64> = output.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let figure = numbers.get(which as usize).copied();
    figure.with_context(|| format!("cannot read {output:?}"))
}

/// A look-up of a figure by its tag in one document.
pub type Lookup<'a> = dyn Fn(&str) -> Option<f64> + 'a;

/// Run wirespeed and compute a figure from its document.
pub fn from_document(
    context: &Context,
    report: &mut Report,
    arguments: &str,
    figure: &dyn Fn(&Lookup) -> Option<f64>,
) -> Result<f64> {
    let [a, b] = context.cores;
    let one_rank = arguments.contains("--via null") || arguments.contains("tl=self");
    let cpus = if one_rank {
        a.to_string()
    } else {
        format!("{a},{b}")
    };
    let mut command = Command::new(&context.binary);
    command
        .args(arguments.split(' '))
        .args(["--cpus", &cpus, "--json"]);
    let output = command::capture(&mut command)?;
    figure_of(&command::shown(&command), &output, report, arguments, figure)
}

/// Archive a document of wirespeed and compute a figure from it.
fn figure_of(
    command: &str,
    output: &str,
    report: &mut Report,
    arguments: &str,
    figure: &dyn Fn(&Lookup) -> Option<f64>,
) -> Result<f64> {
    report.raw(command, &condensed(output));
    let document: Value = serde_json::from_str(output).context("wirespeed printed no JSON")?;
    figure(&|tag| largest(&document, tag))
        .with_context(|| format!("{arguments}: the figure is not in the document"))
}

/// The largest number that `document` holds under `tag`: bare, or as the value of a metric. Figures of single
/// repetitions are left out where the case has one over all of them.
pub fn largest(document: &Value, tag: &str) -> Option<f64> {
    match document {
        Value::Object(map) => {
            let own = map
                .get(tag)
                .and_then(|v| v.as_f64().or_else(|| v["value"].as_f64()));
            let children = || {
                let inner = map.iter().filter(|(key, _)| *key != "repetitions");
                let found = inner.filter_map(|(_, v)| largest(v, tag)).reduce(f64::max);
                found.or_else(|| map.get("repetitions").and_then(|r| largest(r, tag)))
            };
            own.or_else(children)
        }
        Value::Array(items) => items.iter().filter_map(|v| largest(v, tag)).reduce(f64::max),
        _ => None,
    }
}

/// The document without single repetitions and their histograms: the archive stays readable.
pub fn condensed(output: &str) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(output) else {
        return output.to_owned();
    };
    for case in document["cases"].as_array_mut().into_iter().flatten() {
        if let Some(case) = case.as_object_mut() {
            case.remove("repetitions");
        }
    }
    document.to_string()
}

/// Ends a server that did not end by itself.
pub struct Server(pub Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Run `program` on the first core.
fn alone(context: &Context, report: &mut Report, program: &str, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("timeout");
    let core = context.cores[0].to_string();
    command
        .args(["--kill-after=5", "60", "taskset", "-c", &core, program])
        .args(arguments);
    let output = command::capture(&mut command)?;
    report.raw(&command::shown(&command), &output);
    Ok(output)
}

/// Start `program` as server on the first core, wait until it listens, run the client on the second. What the client
/// printed, and how long it took.
pub fn pair(
    context: &Context,
    report: &mut Report,
    program: &str,
    server: &[&str],
    client: &[&str],
) -> Result<(String, Duration)> {
    let pinned = |core: u32, arguments: &[&str]| {
        let mut command = Command::new("taskset");
        command
            .args(["-c", &core.to_string(), program])
            .args(arguments)
            .stdin(Stdio::null());
        command
    };
    let mut listening = pinned(context.cores[0], server);
    let _server = Server(
        listening
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?,
    );
    std::thread::sleep(Duration::from_millis(400));
    let mut command = pinned(context.cores[1], client);
    let mut limited = Command::new("timeout");
    limited
        .args(["--kill-after=5", "60"])
        .arg(command.get_program())
        .args(command.get_args());
    command = limited;
    let begin = Instant::now();
    let output = command::capture(&mut command)?;
    let time = begin.elapsed();
    report.raw(
        &format!("{} &\n$ {}", command::shown(&listening), command::shown(&command)),
        &output,
    );
    Ok((output, time))
}

fn ucx(
    context: &Context,
    report: &mut Report,
    test: &str,
    layout: &str,
    size: u64,
    iterations: u64,
) -> Result<String> {
    let arguments =
        format!("-x posix -d memory -t {test} -D {layout} -s {size} -n {iterations} -w 10000 -p 13399");
    let server: Vec<&str> = arguments.split(' ').collect();
    let client = [&["127.0.0.1", "-v", "-f"], server.as_slice()].concat();
    pair(context, report, "ucx_perftest", &server, &client).map(|(output, _)| output)
}

/// `iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr`; times in microseconds,
/// bandwidth in MiB/s.
fn ucx_figure(output: &str, value: Ucx) -> Result<f64> {
    let line = output
        .lines()
        .rfind(|l| l.starts_with(|c: char| c.is_ascii_digit()));
    let fields: Vec<f64> = line
        .unwrap_or_default()
        .split(',')
        .map_while(|f| f.parse().ok())
        .collect();
    let &[_, p50, _, mean, _, bandwidth, _, rate] = fields.as_slice() else {
        bail!("cannot read ucx_perftest's output");
    };
    Ok(match value {
        Ucx::RoundTripNs => p50 * 2.0 * 1e3,
        Ucx::MeanRoundTripNs => mean * 2.0 * 1e3,
        Ucx::Rate => rate,
        Ucx::Bandwidth => bandwidth * f64::from(1 << 20),
    })
}

fn iperf_figure(output: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(output).context("iperf3 printed no JSON")?;
    let bits = document["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(bits.context("cannot read iperf3's output")? / 8.0)
}

/// `sockperf: ---> percentile 50.000 =   28.722`, in microseconds, half a round trip.
fn sockperf_figure(output: &str) -> Result<f64> {
    let line = output.lines().find(|l| l.contains("percentile 50.000"));
    let value = line
        .and_then(|l| l.rsplit('=').next())
        .and_then(|v| v.trim().parse::<f64>().ok());
    Ok(value.context("cannot read sockperf's output")? * 2.0 * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_peers_are_read() {
        let ucx = "iterations,50.0_percentile_lat,avg_lat\n1000000,0.010,0.009,0.009,826.23,512.0,108296106,108296100\n";
        assert_eq!(ucx_figure(ucx, Ucx::RoundTripNs).unwrap(), 20.0);
        assert_eq!(ucx_figure(ucx, Ucx::Rate).unwrap(), 108296100.0);
        assert_eq!(ucx_figure(ucx, Ucx::Bandwidth).unwrap(), 512.0 * 1048576.0);
        let iperf = r#"{"end": {"sum_received": {"bits_per_second": 80}}}"#;
        assert_eq!(iperf_figure(iperf).unwrap(), 10.0);
        let sockperf = "sockperf: ---> percentile 50.000 =   28.722\n";
        assert_eq!(sockperf_figure(sockperf).unwrap(), 57444.0);
        assert!(ucx_figure("error", Ucx::Rate).is_err());
        assert!(iperf_figure("{}").is_err());
        assert!(sockperf_figure("").is_err());
    }

    #[test]
    fn figures_of_ours_are_found_by_tag() {
        let document = serde_json::json!({"cases": [
            {"metrics": {"a_ns": {"value": 3}}, "repetitions": [{"metrics": {"a_ns": {"value": 9}}}]},
            {"metrics": {"a_ns": {"value": 4}}},
            {"metrics": {}, "repetitions": [{"outcomes": [{"floor": {"record_ns": 2.5}}]}]},
        ]});
        assert_eq!(largest(&document, "a_ns"), Some(4.0));
        assert_eq!(largest(&document, "record_ns"), Some(2.5));
        assert_eq!(largest(&document, "b_ns"), None);
        assert!(!condensed(&document.to_string()).contains("repetitions"));
    }
}
