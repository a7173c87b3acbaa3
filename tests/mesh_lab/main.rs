//! How often a mesh of real machines names the right thing and nothing else: machines on a bridge, each with its sshd, one thing
//! slow among them. It prints a row a kind of trouble; for `start`, how long a mesh takes to begin; and for `mpigraph`, only where it is
//! named, how that compares. It must never decide whether an aim is met.
//!
//! `wirespeed-mesh-lab PROGRAM [RUNS] [KIND ..]`

mod mpigraph;
mod start;
mod trouble;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use trouble::{Expected, KINDS, Kind, Machines};
use wirespeed_report::read_run;
use wirespeed_schema::mesh::{MeshCulprit, MeshSection};
use wirespeed_tests::bridge::Bridge;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::Running;
use wirespeed_tests::ssh::SshHosts;

/// Machines of a mesh.
const HOSTS: usize = 8;
/// Meshes of a kind where nothing is said.
const RUNS: usize = 20;
/// What is said in place of a kind, for how long it takes to start.
const START: &str = "start";
/// The same for mpiGraph beside a mesh.
const MPIGRAPH: &str = "mpigraph";

/// What a mesh named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// What is slow, and nothing else.
    Right,
    /// That, and more.
    More,
    /// Nothing.
    Nothing,
    /// Something that is not slow, and not what is.
    Wrong,
    /// Nothing could be measured.
    Failed,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match of_words(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn of_words(words: &[String]) -> Result<(), String> {
    let (program, rest) = words
        .split_first()
        .ok_or("usage: wirespeed-mesh-lab PROGRAM [RUNS] [KIND ..]")?;
    let program = Path::new(program);
    let runs = rest.first().and_then(|word| word.parse().ok());
    let names = &rest[usize::from(runs.is_some())..];
    let runs = runs.unwrap_or(RUNS);
    let is_named = |name: &str| names.iter().any(|named| named == name);
    let known = |name: &str| [START, MPIGRAPH].contains(&name) || KINDS.iter().any(|kind| kind.name == name);
    if let Some(stranger) = names.iter().find(|name| !known(name)) {
        return Err(format!("no kind is called {stranger:?}"));
    }
    if names.is_empty() || is_named(START) {
        start::print(program, runs)?;
    }
    if is_named(MPIGRAPH) {
        mpigraph::print(program, runs)?;
    }
    let mut is_first = true;
    for kind in KINDS
        .iter()
        .filter(|kind| names.is_empty() || is_named(kind.name))
    {
        if std::mem::take(&mut is_first) {
            println!(
                "kind: meshes, the right thing alone, with more, nothing, something else, failed; seconds a mesh"
            );
        }
        judge(program, kind, runs)?;
    }
    Ok(())
}

/// Print how `runs` meshes of a kind are judged.
fn judge(program: &Path, kind: &Kind, runs: usize) -> Result<(), String> {
    let began = Instant::now();
    let found = (0..runs).map(|run| measure(program, kind, run));
    let found = found.collect::<Result<Vec<Named>, String>>();
    let found = found.map_err(|why| format!("{}: {why}", kind.name))?;
    let of = |named: Named| found.iter().filter(|one| **one == named).count();
    println!(
        "{}: {runs}, {}, {}, {}, {}, {}; {:.0}",
        kind.name,
        of(Named::Right),
        of(Named::More),
        of(Named::Nothing),
        of(Named::Wrong),
        of(Named::Failed),
        began.elapsed().as_secs_f64() / runs.max(1) as f64
    );
    Ok(())
}

/// A mesh of all machines of the bridge, to which its options are added.
fn over_ssh(program: &Path, (bridge, hosts): Machines) -> Command {
    let names: Vec<String> = (0..bridge.count()).map(|host| bridge.name(host)).collect();
    let mut command = bridge.at_desk(program);
    command.args(["mesh", "--hosts", &names.join(",")]);
    command.args(["--ssh-config", &hosts.config()]);
    command
}

/// One mesh, on machines of its own.
fn measure(program: &Path, kind: &Kind, run: usize) -> Result<Named, String> {
    let bridge = Bridge::new(HOSTS)?;
    let hosts = SshHosts::on(&bridge)?;
    // Another host and link each time.
    let at = (run % HOSTS, (run + 1 + run / HOSTS % (HOSTS - 1)) % HOSTS);
    let trouble = (kind.make)((&bridge, &hosts), at)?;
    let mut command = over_ssh(program, (&bridge, &hosts));
    command.args([
        "--isolated",
        "--repeats",
        "2",
        "--json",
        "--quiet",
        "--seed",
        &run.to_string(),
        "--",
    ]);
    command.args(kind.probe.split_whitespace());
    let ended = Running::start(command).end(PATIENCE);
    drop(trouble);
    let Some(mesh) = read_run(ended.stdout.trim().as_bytes())
        .ok()
        .and_then(|run| run.sections.get::<MeshSection>())
    else {
        eprintln!("{ended}");
        return Ok(Named::Failed);
    };
    let verdicts: Vec<MeshCulprit> = mesh
        .probes
        .iter()
        .flat_map(|probe| &probe.verdicts)
        .map(|verdict| verdict.culprit)
        .collect();
    let is_right = |culprit: &MeshCulprit| kind.expected.is(*culprit, (at.0 as u32, at.1 as u32));
    let right = verdicts.iter().filter(|culprit| is_right(culprit)).count();
    let named = match (kind.expected, right, verdicts.len()) {
        (Expected::Nothing, _, 0) => Named::Right,
        (_, 0, 0) => Named::Nothing,
        (_, 0, _) => Named::Wrong,
        (_, right, all) if right == all => Named::Right,
        _ => Named::More,
    };
    if named != Named::Right {
        eprintln!("{} {run}, at {at:?}: {named:?}, {verdicts:?}", kind.name);
    }
    Ok(named)
}
