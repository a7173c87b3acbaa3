//! A file service, a client, and files: whatever fails, a file is absent, as before, or exactly right, and the same command
//! brings it home when the trouble is over.

use super::{Scene, end_daemon, front};
use crate::alone::names;
use crate::disk::Disk;
use crate::expect::End;
use crate::invariants::Seen;
use crate::plan::{Dice, Round, Trouble, Victim};
use crate::proxy::Proxy;
use crate::round::RESULT;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Running;

const MECHANISMS: [&str; 5] = ["simple", "mtom", "dime", "http", "bulk"];
const BLOCKS: [&str; 4] = ["16K", "64K", "256K", "1M"];
/// What is at the target before, where there is anything.
const OLD: &[u8] = b"an older version";
/// Where the daemon's address stands in a line.
const TO: &str = "{to}";

/// Words and trouble.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    let options = format!(
        "--mechanism {} --block-size {} --threads {} --depth {} --attempts 2 --stall 2s -q --ndjson --output {RESULT}",
        dice.one_of(&MECHANISMS),
        dice.one_of(&BLOCKS),
        1 + dice.below(3),
        1 + dice.below(2),
    );
    round.daemon = "byteio serve SERVED --writable --stall 3s".to_owned();
    let overwrite = if round.earlier { "--overwrite" } else { "" };
    let verify = dice.one_of(&["", "--verify crc32c", "--verify blake3"]);
    round.line = match dice.below(5) {
        0 | 1 => format!("byteio get {TO}/f disk/copy {options} {overwrite} {verify}"),
        2 | 3 => format!("byteio put source {TO}/f {options} {verify}"),
        _ => format!("byteio bench {TO}/f --repeats 3 {options}"),
    };
    // A folder that the service writes is on the disk that fails.
    let served = if round.line.starts_with("byteio put") {
        "disk"
    } else {
        "served"
    };
    round.daemon = round.daemon.replace("SERVED", served);
    round.trouble = match dice.below(10) {
        0 => Trouble::None,
        1 => Trouble::FullDisk(4 * (1 + dice.below(2000)) as u32),
        2 => Trouble::DiskFills,
        3..6 => Trouble::Link(dice.fault()),
        6 | 7 => Trouble::Signal(dice.blow(), Victim::Front),
        8 => Trouble::Signal(dice.blow(), Victim::Group),
        _ => Trouble::Signal(dice.blow(), Victim::Daemon(0)),
    };
    // Transfers are over sooner than runs.
    round.moment /= 3;
}

/// Some megabytes that the seed decides.
fn content(round: &Round) -> Vec<u8> {
    let size = 4_000_000 + (round.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 24_000_000;
    (0..size)
        .map(|at| ((at ^ round.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

fn is_put(round: &Round) -> bool {
    round.line.starts_with("byteio put")
}

/// The file that the line writes.
fn target(round: &Round) -> Option<&'static str> {
    match round.line.split_whitespace().nth(1) {
        Some("get") => Some("disk/copy"),
        Some("put") => Some("disk/f"),
        _ => None,
    }
}

/// Start a service, and wait until it listens; its port.
fn serve(round: &Round, home: &Home, port: u16) -> Result<(Running, u16), String> {
    let line = format!("{} --port {port}", round.daemon);
    let service = home.start(line.split_whitespace());
    let port = super::port_of(&service)?;
    Ok((service, port))
}

/// The service, the path to it, and the client.
pub fn begin(round: &Round, home: &Home) -> Result<(Running, Scene), String> {
    let content = content(round);
    std::fs::create_dir(home.path("served")).map_err(|e| e.to_string())?;
    let source = if is_put(round) { "source" } else { "served/f" };
    std::fs::write(home.path(source), &content).map_err(|e| e.to_string())?;
    if let (true, Some(target)) = (round.earlier, target(round)) {
        std::fs::write(home.path(target), OLD).map_err(|e| e.to_string())?;
    }
    let (service, port) = serve(round, home, 0)?;
    let proxy = Proxy::to(port).map_err(|e| e.to_string())?;
    let front = front(home, &line(round, &proxy));
    let scene = Scene {
        daemons: vec![service],
        proxy: Some(proxy),
        ..Scene::default()
    };
    Ok((front, scene))
}

fn line(round: &Round, proxy: &Proxy) -> String {
    round
        .line
        .replace(TO, &format!("http://127.0.0.1:{}", proxy.port()))
}

/// The files are right, and the same command brings them home now.
pub fn after(round: &Round, home: &Home, scene: Scene, disk: Option<Disk>, seen: &Seen) -> Vec<String> {
    let mut found = Vec::new();
    let content = content(round);
    found.extend(wrong_bytes(round, home, &content, seen));
    found.extend(strangers(round, home, seen));
    if let Some(Err(error)) = disk.as_ref().map(Disk::clear) {
        found.push(error);
    }
    found.extend(brought_home(round, home, scene, &content).err());
    found
}

/// The target is absent, as before, or right; after exit code 0 it is right.
fn wrong_bytes(round: &Round, home: &Home, content: &[u8], seen: &Seen) -> Option<String> {
    let target = target(round)?;
    let file = std::fs::read(home.path(target)).ok();
    let is_whole = file.as_deref() == Some(content);
    let as_before = match &file {
        None => !round.earlier,
        Some(bytes) => round.earlier && bytes == OLD,
    };
    // What is there before on a disk without any room may be no more than a name.
    let cramped = matches!(round.trouble, Trouble::FullDisk(_)) && file.as_ref().is_some_and(Vec::is_empty);
    let good = is_whole || (as_before || cramped) && seen.end != Some(End::Code(0));
    (!good).then(|| {
        let bytes = file.map(|file| file.len());
        format!(
            "wrong bytes in {target}: {bytes:?} of {} bytes, {:?}",
            content.len(),
            seen.end
        )
    })
}

/// Files that must not be there: anything but the target, the result, and what a broken `get` needs to go on.
fn strangers(round: &Round, home: &Home, seen: &Seen) -> Vec<String> {
    let mut known = vec!["o.json", "copy", "f", ".filler"];
    if seen.end != Some(End::Code(0)) && !is_put(round) {
        known.extend(["copy.wirespeed-part", "copy.wirespeed-journal"]);
    }
    let folders = ["disk", "served"].map(|folder| home.path(folder));
    let names = folders.iter().flat_map(|folder| names(folder));
    names
        .filter(|name| !known.contains(&name.as_str()))
        .map(|name| format!("left behind: {name}"))
        .collect()
}

/// The trouble is over: the same command works against the same service, or against one at its port where it is dead, and the
/// service ends in order.
fn brought_home(round: &Round, home: &Home, mut scene: Scene, content: &[u8]) -> Result<(), String> {
    let (Some(proxy), Some(mut service)) = (scene.proxy.take(), scene.daemons.pop()) else {
        return Ok(());
    };
    proxy.heal();
    let mut struck = super::struck(round, 0, 1);
    if service.has_ended() {
        if let Some(wrong) = end_daemon(service, struck.take()) {
            return Err(wrong);
        }
        service = serve(round, home, proxy.far_port())?.0;
    }
    // A file that is there is asked for again only by those who want it so.
    let is_whole = target(round)
        .is_some_and(|target| std::fs::read(home.path(target)).is_ok_and(|file| file == content));
    if !is_whole || round.earlier || is_put(round) {
        let again = front(home, &line(round, &proxy)).end(PATIENCE);
        // What went wrong is told by this, too, and kept.
        let _ = std::fs::write(home.path("again.txt"), again.to_string());
        if again.code != Some(0) {
            return Err(format!(
                "the same command fails when the trouble is over: {again}"
            ));
        }
        if let Some(target) = target(round)
            && std::fs::read(home.path(target)).ok().as_deref() != Some(content)
        {
            return Err(format!(
                "wrong bytes in {target} when the trouble is over: {again}"
            ));
        }
    }
    end_daemon(service, struck).map_or(Ok(()), Err)
}
