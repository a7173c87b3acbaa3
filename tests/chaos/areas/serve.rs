//! A server, and clients that measure against it by way of a path that may fail. Whatever becomes of one, the server serves the
//! next.

use super::{OUTPUT, Scene, end_daemon, front};
use crate::disk::Disk;
use crate::plan::{Blow, Dice, Round, Trouble, Victim};
use crate::proxy::Proxy;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

/// Tests and transports.
const RUNS: [&str; 9] = [
    "am_lat --via tcp",
    "am_lat --via udp",
    "am_bw --via tcp --wait block",
    "am_bw --via udp --reverse",
    "am_bw --via tcp -O encrypt=aes-256-gcm",
    "am_bibw --via tcp",
    "put_lat --via tcp",
    "tag_bw --via tcp",
    "get --via tcp --wait block",
];
/// Where the daemon's address stands in a line.
const TO: &str = "{to}";

/// Words and trouble.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    round.daemon = format!(
        "serve --port 0{}",
        dice.one_of(&["", " --share 2", " --duration-max 1s"])
    );
    let seconds = if round.daemon.contains("max") {
        "900ms"
    } else {
        "1500ms"
    };
    round.line = format!(
        "run {} --to 127.0.0.1:{TO} {OUTPUT} --interval 100ms --silence 2s -t {seconds}{}",
        dice.one_of(&RUNS),
        dice.one_of(&["", " --check", " --repeats 2"]),
    );
    round.moment = round.moment * 3 / 4;
    round.trouble = match dice.below(12) {
        0 => Trouble::None,
        1 => Trouble::DiskFills,
        2..5 => Trouble::Link(dice.fault()),
        5 => Trouble::Signal(dice.blow(), Victim::Group),
        6 | 7 => Trouble::Signal(dice.blow(), Victim::Front),
        8 | 9 => Trouble::Signal(dice.blow(), Victim::Daemon(0)),
        _ => Trouble::Signal(dice.blow(), Victim::Other(dice.below(8) as usize)),
    };
}

/// The server, the path to it, and the client.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    let server = home.start(round.daemon.split_whitespace());
    let port = super::port_of(&server)?;
    let proxy = Proxy::to(port).map_err(|e| e.to_string())?;
    let front = front(home, &round.line.replace(TO, &proxy.port().to_string()));
    let scene = Scene {
        daemons: vec![server],
        proxy: Some(proxy),
        ..Scene::default()
    };
    Ok((front, scene))
}

/// The server serves the next, unless it was ended, and ends in order.
pub fn after(round: &Round, home: &Home, mut scene: Scene, disk: Option<Disk>) -> Vec<String> {
    let mut found = super::strangers(home, disk.is_some());
    let (Some(proxy), Some(server)) = (scene.proxy.take(), scene.daemons.pop()) else {
        return found;
    };
    let struck = super::struck(round, 0, 1);
    if struck.is_none_or(|blow| matches!(blow, Blow::Pause(_) | Blow::Stop)) {
        let line = format!(
            "run am_lat --via tcp --to 127.0.0.1:{} -n 50 -q --ndjson",
            proxy.far_port()
        );
        let next = front(home, &line).end(PATIENCE);
        if next.code != Some(0) {
            found.push(format!("the server does not serve the next: {next}"));
        }
    }
    found.extend(end_daemon(server, struck));
    found
}
