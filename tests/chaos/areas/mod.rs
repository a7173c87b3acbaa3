//! The areas in which rounds play: what each draws, how its job begins, and what is looked at afterwards.

mod byteio;
mod mpi;
mod runs;
mod serve;
mod sessions;

use crate::alone::names;
use crate::disk::Disk;
use crate::invariants::Seen;
use crate::plan::{Area, Blow, Dice, Round, Trouble, Victim};
use crate::proxy::Proxy;
use rustix::process::Signal;
use std::time::Duration;
use wirespeed_tests::deadline::{PATIENCE, reached};
use wirespeed_tests::home::Home;
use wirespeed_tests::mpi::Installed;
use wirespeed_tests::running::Running;

/// Words of a front that measures: events on stdout, the result in a file.
const OUTPUT: &str = "-q --ndjson --output disk/o.json";

/// Within this long a daemon ends that is told to, on a machine that others use, too.
const STOP: Duration = Duration::from_secs(10);

/// What there is beside the front.
#[derive(Default)]
pub struct Scene {
    /// Programs that live on when the front has ended.
    pub daemons: Vec<Running>,
    /// The path from the front to them.
    pub proxy: Option<Proxy>,
    /// The library whose launcher the front is.
    pub mpi: Option<Installed>,
}

impl Scene {
    /// Whether this process is a daemon.
    pub fn has_daemon(&self, pid: u32) -> bool {
        self.daemons.iter().any(|daemon| daemon.pid() == pid)
    }
}

/// Draw what belongs to the round's area: words and trouble.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    match round.area {
        Area::Runs => runs::draw(round, dice),
        Area::Byteio => byteio::draw(round, dice),
        Area::Serve => serve::draw(round, dice),
        Area::Sessions => sessions::draw(round, dice),
        Area::Mpi => mpi::draw(round, dice),
    }
}

/// Why rounds of this area cannot be played here.
pub fn lacks(area: Area) -> Option<&'static str> {
    (area == Area::Mpi && mpi::is_absent()).then_some("no MPI library is installed")
}

/// Begin the round's job.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    match round.area {
        Area::Runs => Ok((front(home, &round.line), Scene::default())),
        Area::Byteio => byteio::begin(round, home),
        Area::Serve => serve::begin(round, home),
        Area::Sessions => sessions::begin(round, home),
        Area::Mpi => mpi::begin(round, home),
    }
}

/// Look at what the round has left to its area, and end its daemons: a line for each thing that must not be.
pub fn after(round: &Round, home: &Home, scene: Scene, disk: Option<Disk>, seen: &Seen) -> Vec<String> {
    match round.area {
        Area::Runs | Area::Mpi => strangers(home, disk.is_some()),
        Area::Byteio => byteio::after(round, home, scene, disk, seen),
        Area::Serve => serve::after(round, home, scene, disk),
        Area::Sessions => sessions::after(round, home, scene, disk),
    }
}

/// Files beside the result, where nothing else may be.
fn strangers(home: &Home, may_be_full: bool) -> Vec<String> {
    let mut names = names(&home.path("disk"));
    names.retain(|name| name != "o.json" && !(may_be_full && name == ".filler"));
    let left = names.iter().map(|name| format!("left beside the result: {name}"));
    left.collect()
}

/// The port of a daemon, once it listens.
fn port_of(daemon: &Running) -> Result<u16, String> {
    daemon.wait_until("it listens", PATIENCE, |daemon| daemon.stdout().contains('\n'));
    let greeting = daemon.stdout();
    let address = greeting.lines().next().unwrap_or_default().trim_end_matches('/');
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    port.ok_or(format!("no port in {greeting:?}"))
}

/// Start a front, with a process group of its own, as a shell does.
fn front(home: &Home, line: &str) -> Running {
    use std::os::unix::process::CommandExt as _;
    let mut command = home.command(line.split_whitespace());
    command.process_group(0);
    Running::start(command)
}

/// What the round did to the daemon of this number, of so many.
fn struck(round: &Round, number: usize, count: usize) -> Option<Blow> {
    match round.trouble {
        Trouble::Signal(blow, Victim::Daemon(victim)) if victim % count == number => Some(blow),
        _ => None,
    }
}

/// End a daemon that is not dead: what is wrong with it, where it died by itself, does not end when told to, or ends badly.
fn end_daemon(daemon: Running, struck: Option<Blow>) -> Option<String> {
    let is_dead = daemon.has_ended();
    daemon.signal(Signal::TERM);
    if !reached(STOP, || daemon.has_ended()) {
        return Some(format!("a daemon does not end when told to: {}", daemon.stderr()));
    }
    let ended = daemon.end(STOP);
    match struck {
        Some(Blow::Kill) if ended.signal == Some(9) => None,
        Some(blow) if blow.asks() && ended.code == Some(0) => None,
        _ if is_dead => Some(format!("a daemon died by itself: {ended}")),
        _ => (ended.code != Some(0)).then(|| format!("a daemon ended badly: {ended}")),
    }
}
