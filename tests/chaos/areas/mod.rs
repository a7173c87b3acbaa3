//! The areas in which rounds play: what each draws, how its job begins, and what is looked at afterwards.

mod byteio;
mod runs;

use crate::disk::Disk;
use crate::invariants::Seen;
use crate::plan::{Area, Dice, Round};
use crate::proxy::Proxy;
use rustix::process::Signal;
use wirespeed_tests::deadline::{SOON, reached};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

/// What there is beside the front.
#[derive(Default)]
pub struct Scene {
    /// Programs that live on when the front has ended.
    pub daemons: Vec<Running>,
    /// The path from the front to them.
    pub proxy: Option<Proxy>,
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
    }
}

/// Begin the round's job.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    match round.area {
        Area::Runs => Ok((front(home, &round.line), Scene::default())),
        Area::Byteio => byteio::begin(round, home),
    }
}

/// Look at what the round has left to its area, and end its daemons: a line for each thing that must not be.
pub fn after(round: &Round, home: &Home, scene: Scene, disk: Option<Disk>, seen: &Seen) -> Vec<String> {
    match round.area {
        Area::Runs => runs::after(home, disk),
        Area::Byteio => byteio::after(round, home, scene, disk, seen),
    }
}

/// Start a front, with a process group of its own, as a shell does.
fn front(home: &Home, line: &str) -> Running {
    use std::os::unix::process::CommandExt as _;
    let mut command = home.command(line.split_whitespace());
    command.process_group(0);
    Running::start(command)
}

/// End a daemon; what is wrong with its end.
fn end_daemon(daemon: Running) -> Option<String> {
    daemon.signal(Signal::TERM);
    if !reached(SOON, || daemon.has_ended()) {
        return Some(format!("a daemon does not end when told to: {}", daemon.stderr()));
    }
    let ended = daemon.end(SOON);
    (ended.code != Some(0)).then(|| format!("a daemon ended badly: {ended}"))
}
