//! Sessions: embedded, and at a coordinator with a node. Whoever vanishes, the daemons that are left serve the next, and no
//! computation and no control group stays.

use super::{OUTPUT, Scene, end_daemon, front, port_of};
use crate::disk::Disk;
use crate::plan::{Blow, Dice, Round, Trouble, Victim};
use crate::proxy::Proxy;
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

const PATHS: [&str; 4] = [
    "client_to_computation",
    "computation_to_client",
    "computation_to_computation",
    "computations_to_computations",
];
/// Where the coordinator's port stands in a line.
const TO: &str = "{to}";

/// Words and trouble.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    let is_embedded = dice.chance(3);
    let place = if is_embedded {
        String::new()
    } else {
        format!("--host localhost --port {TO}")
    };
    let path = match dice.below(6) {
        0 => String::new(),
        _ => format!(
            "--benchmarkPath={} --bytes={}",
            dice.one_of(&PATHS),
            dice.one_of(&["8", "64", "4096"])
        ),
    };
    round.line = format!(
        "session {place} {path} --duration 1.5 --report-frequency=0.2 --threads=1 --requestMb=64 {OUTPUT} {}",
        dice.one_of(&[
            "",
            "--route daemon",
            "--computations 3",
            "--allocateMb=32 --touchMb=16"
        ]),
    );
    let daemon = if is_embedded {
        Victim::Front
    } else {
        Victim::Daemon(dice.below(2) as usize)
    };
    round.trouble = match dice.below(10) {
        0 => Trouble::None,
        1 => Trouble::DiskFills,
        2 | 3 if !is_embedded => Trouble::Link(dice.fault()),
        2..5 => Trouble::Signal(dice.blow(), Victim::Front),
        5 | 6 => Trouble::Signal(dice.blow(), daemon),
        _ => Trouble::Signal(dice.blow(), Victim::Other(dice.below(8) as usize)),
    };
}

/// The daemons, where the session wants some, and the client.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    if !round.line.contains(TO) {
        return Ok((front(home, &round.line), Scene::default()));
    }
    let coordinator = home.start(["coordinator", "--port", "0"]);
    let port = port_of(&coordinator)?;
    let to = format!("127.0.0.1:{port}");
    let node = home.start(["node", "--name", "here", "--coordinator", to.as_str()]);
    port_of(&node)?;
    node.wait_until("it is registered", PATIENCE, |node| {
        node.stderr().contains("registered as here")
    });
    let proxy = Proxy::to(port).map_err(|e| e.to_string())?;
    let front = front(home, &round.line.replace(TO, &proxy.port().to_string()));
    let scene = Scene {
        daemons: vec![coordinator, node],
        proxy: Some(proxy),
        ..Scene::default()
    };
    Ok((front, scene))
}

/// The daemons serve the next where both are alive, and end in order; no control group is left.
pub fn after(round: &Round, home: &Home, mut scene: Scene, disk: Option<Disk>) -> Vec<String> {
    let mut found = super::strangers(home, disk.is_some());
    let struck = |number| super::struck(round, number, 2);
    let is_harmed = |blow: Blow| !matches!(blow, Blow::Pause(_));
    let unharmed = ![0, 1].into_iter().filter_map(struck).any(is_harmed);
    if let (Some(proxy), true) = (scene.proxy.take(), unharmed) {
        let line = format!(
            "session --host localhost --port {} --benchmarkPath=client_to_computation --bytes=1 --duration=0.2 -q --ndjson",
            proxy.far_port()
        );
        let next = front(home, &line).end(PATIENCE);
        if next.code != Some(0) {
            found.push(format!("the daemons do not serve the next: {next}"));
        }
    }
    // The node first: it leaves its coordinator in order.
    while let Some(daemon) = scene.daemons.pop() {
        found.extend(end_daemon(daemon, struck(scene.daemons.len())));
    }
    // Who is killed before its computation knows of the group that it has made leaves that to the next node's start.
    if let Trouble::Signal(Blow::Kill | Blow::Stop, Victim::Front | Victim::Group | Victim::Daemon(_)) =
        round.trouble
    {
        front(home, "session --duration=0 --requestMb=0 -q --ndjson").end(PATIENCE);
    }
    reached(SOON, || groups().is_empty());
    found.extend(
        groups()
            .iter()
            .map(|name| format!("left behind: control group {name}")),
    );
    found
}

/// Control groups inside those that this program was given for its own. Where it was given none, sessions make none.
fn groups() -> Vec<String> {
    let own = std::env::var_os("WIRESPEED_CHAOS_GROUPS").unwrap_or_default();
    let folders = std::env::split_paths(&own).filter(|folder| !folder.as_os_str().is_empty());
    let entries = folders.flat_map(std::fs::read_dir).flatten().flatten();
    let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    inner.map(|entry| entry.path().display().to_string()).collect()
}
