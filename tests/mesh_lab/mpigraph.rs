//! mpiGraph beside a mesh, on the same ranks of one Open MPI and with the same messages: what each takes, and by how much their
//! figures differ. It must never judge.

use crate::HOSTS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use wirespeed_report::stats::median;
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::mpi::{self, Installed};
use wirespeed_tests::running::Running;
use wirespeed_tests::ssh::SshHosts;

/// Where mpiGraph was built.
const PROGRAM: &str = "MPIGRAPH";
/// Bytes of a message, windows, and messages of a window.
type Messages = (u32, u32, u32);
/// What mpiGraph sends by default, and what its README proposes.
const ON_ONE: [Messages; 2] = [(16 << 10, 100, 50), (1 << 20, 10, 10)];
const BEHIND_LINKS: [Messages; 1] = [(1 << 20, 4, 5)];
const RATE: &str = "200mbit";

/// What each ordered pair moves, in bytes a second.
type Matrix = BTreeMap<(usize, usize), f64>;

/// One run of either.
struct Shown {
    matrix: Matrix,
    /// Until every pair is measured; mpiGraph shows none before its end.
    survey_s: f64,
    whole_s: f64,
}

/// What is compared, and how often.
struct Sides {
    open: Installed,
    wirespeed: PathBuf,
    graph: PathBuf,
    runs: usize,
}

/// Print a row for each size of message: on this machine, and on machines behind links of one rate.
pub fn print(program: &Path, runs: usize) -> Result<(), String> {
    let graph = std::env::var_os(PROGRAM).ok_or("say where mpiGraph is: MPIGRAPH=PATH")?;
    let open = mpi::installed().into_iter().find(|mpi| mpi.name == "Open MPI 5");
    let sides = Sides {
        open: open.ok_or("Open MPI 5 is not installed: tests/lab/install.sh")?,
        wirespeed: program.to_owned(),
        graph: graph.into(),
        runs,
    };
    println!(
        "mpigraph: seconds of mpiGraph, of the mesh until all pairs are measured, and with its checks (median, least and most of {runs});\n\
         what the mesh says of a pair over what mpiGraph says; how far two of mpiGraph, two of the mesh, and one of each differ beside that"
    );
    for messages in ON_ONE {
        sides.row("8 ranks on this machine", messages, |open| {
            let mut command = Command::new(&open.launcher);
            command.args(["--oversubscribe", "--bind-to", "none", "-n", &HOSTS.to_string()]);
            command
        })?;
    }
    let bridge = Bridge::new(HOSTS)?;
    let hosts = SshHosts::on(&bridge)?;
    for host in 0..HOSTS {
        bridge.limit_rate(host, RATE).map_err(|e| e.to_string())?;
    }
    for messages in BEHIND_LINKS {
        let place = format!("{HOSTS} machines behind {RATE}/s");
        sides.row(&place, messages, |open| over_links(open, (&bridge, &hosts)))?;
    }
    Ok(())
}

/// A rank on every machine: the launcher reaches them by ssh, and ranks meet over TCP on the bridge.
fn over_links(open: &Installed, (bridge, hosts): (&Bridge, &SshHosts)) -> Command {
    let names: Vec<String> = (0..HOSTS)
        .map(|host| format!("{}:1", bridge.name(host)))
        .collect();
    let network = format!("{}/24", bridge.desk_address());
    let mut command = bridge.at_desk(&open.launcher);
    command.args([
        "--prtemca",
        "plm_ssh_agent",
        &format!("ssh -F {}", hosts.config()),
    ]);
    command.args(["--prtemca", "prte_if_include", &network]);
    command.args(["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]);
    command.args(["--mca", "btl_tcp_if_include", &network]);
    command.args([
        "--host",
        &names.join(","),
        "-n",
        &HOSTS.to_string(),
        "-x",
        "WIRESPEED_MPI",
    ]);
    command
}

impl Sides {
    /// Both in turn, as `launch` starts them.
    fn row(
        &self,
        place: &str,
        (size, windows, window): Messages,
        launch: impl Fn(&Installed) -> Command,
    ) -> Result<(), String> {
        let prepared = |rank: &Path| {
            let mut command = launch(&self.open);
            command.arg(rank);
            self.open.surround(&mut command);
            command.env("WIRESPEED_MPI", &self.open.library);
            command
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..self.runs {
            let mut command = prepared(&self.graph);
            command.args([size, windows, window].map(|number| number.to_string()));
            theirs.push(graph(command)?);
            let mut command = prepared(&self.wirespeed);
            command
                .args("mesh --loaded --repeats 1 --ndjson --quiet -- tag_bw --via mpi --warmup 0".split(' '));
            command.args(["--size", &size.to_string(), "--window", &window.to_string()]);
            command.args(["-n", &(windows * window).to_string()]);
            ours.push(mesh(command)?);
        }
        let all = || {
            ours.iter()
                .flat_map(|ours| theirs.iter().map(move |theirs| (ours, theirs)))
        };
        let [ratio, apart] = compared(all());
        println!(
            "{place}, {windows} x {window} messages of {size} B: {}, {}, {}; {:.2}; {:.1} %, {:.1} %, {:.1} %",
            seconds(&theirs, |shown| shown.whole_s),
            seconds(&ours, |shown| shown.survey_s),
            seconds(&ours, |shown| shown.whole_s),
            ratio.exp(),
            100.0 * compared(with_itself(&theirs))[1],
            100.0 * compared(with_itself(&ours))[1],
            100.0 * apart,
        );
        Ok(())
    }
}

/// Every two of them.
fn with_itself(shown: &[Shown]) -> impl Iterator<Item = (&Shown, &Shown)> {
    let earlier = |(place, one)| shown[..place].iter().map(move |other| (one, other));
    shown.iter().enumerate().flat_map(earlier)
}

/// Their median, least and most, as text.
fn seconds(shown: &[Shown], of: fn(&Shown) -> f64) -> String {
    let mut seconds: Vec<f64> = shown.iter().map(of).collect();
    let median = median(&mut seconds);
    seconds.sort_by(f64::total_cmp);
    match seconds[..] {
        [least, .., most] => format!("{median:.2} ({least:.2} .. {most:.2})"),
        _ => format!("{median:.2}"),
    }
}

/// Of the logarithms of what the same pair has in two matrices: their median, and how far the median pair is from it; each the
/// median over all matrices that are compared.
fn compared<'a>(matrices: impl Iterator<Item = (&'a Shown, &'a Shown)>) -> [f64; 2] {
    let (mut ratios, mut distances) = (Vec::new(), Vec::new());
    for (one, other) in matrices {
        let ratio = |(pair, value): (_, &f64)| Some((value / other.matrix.get(pair)?).ln());
        let cells = one.matrix.iter().filter_map(ratio);
        let mut cells: Vec<f64> = cells.collect();
        let ratio = median(&mut cells);
        let mut apart: Vec<f64> = cells.iter().map(|cell| (cell - ratio).abs()).collect();
        ratios.push(ratio);
        distances.push(median(&mut apart));
    }
    [median(&mut ratios), median(&mut distances)]
}

/// Run mpiGraph. Of its two tables, what the receivers saw.
fn graph(command: Command) -> Result<Shown, String> {
    let began = Instant::now();
    let ended = Running::start(command).end(PATIENCE);
    let whole_s = began.elapsed().as_secs_f64();
    let rows = ended.stdout.lines().filter(|line| line.contains(" from\t"));
    let cells = rows.enumerate().flat_map(|(to, line)| {
        let cells = line
            .split('\t')
            .skip(1)
            .filter_map(|cell| cell.parse::<f64>().ok());
        let cells: Vec<f64> = cells.collect();
        cells
            .into_iter()
            .enumerate()
            .map(move |(from, mib_per_s)| ((from, to), mib_per_s * 1048576.0))
    });
    let shown = Shown {
        matrix: cells.filter(|((from, to), _)| from != to).collect(),
        survey_s: whole_s,
        whole_s,
    };
    complete(shown).ok_or_else(|| ended.to_string())
}

/// Run a mesh. Of its figures, those of the survey.
fn mesh(command: Command) -> Result<Shown, String> {
    let pairs = |said: &str| {
        let events = said
            .lines()
            .filter(|line| line.starts_with("{\"event\":\"pair_measured\""));
        let events = events.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let survey = events.filter(|event| event["repetition"] == 0);
        let cells = survey.filter_map(|event| {
            let rank = |name: &str| event[name].as_str()?.rsplit([':', 'h']).next()?.parse().ok();
            Some(((rank("from")?, rank("to")?), event["value"].as_f64()?))
        });
        cells.collect::<Matrix>()
    };
    let began = Instant::now();
    let running = Running::start(command);
    running.wait_until("all pairs are measured", PATIENCE, |running| {
        pairs(&running.stdout()).len() == HOSTS * (HOSTS - 1)
    });
    let survey_s = began.elapsed().as_secs_f64();
    let ended = running.end(PATIENCE);
    let shown = Shown {
        matrix: pairs(&ended.stdout),
        survey_s,
        whole_s: began.elapsed().as_secs_f64(),
    };
    complete(shown).ok_or_else(|| ended.to_string())
}

fn complete(shown: Shown) -> Option<Shown> {
    (shown.matrix.len() == HOSTS * (HOSTS - 1)).then_some(shown)
}
