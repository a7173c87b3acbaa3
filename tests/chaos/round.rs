//! Plays a round: begins its job, makes its trouble, waits for the end, and gathers what there is to judge. Every wait ends, and
//! nothing of a round is there when the next begins.

use crate::alone;
use crate::areas::{self, Scene};
use crate::disk::Disk;
use crate::expect::{End, Met, expect};
use crate::invariants::{EARLIER, Seen, judge};
use crate::plan::{Area, Round, Trouble};
use crate::trouble;
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};
use wirespeed_tests::deadline::reached;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::Running;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// What a look counts for at most: a machine that runs others only has not let us wait.
const LOOK_MAX: Duration = Duration::from_millis(60);
/// Processes of a job are gone this long after its end.
const GONE: Duration = Duration::from_secs(15);
/// The file of the result, beside whatever else the area writes.
pub const RESULT: &str = "disk/o.json";

/// What became of a round.
pub struct Played {
    /// What went wrong.
    pub what: String,
    /// How long the front lived on.
    pub took: Duration,
    /// What must not be.
    pub breaches: Vec<String>,
    /// For people: all that was seen.
    pub said: String,
}

/// Play `round`; its files are under `home`.
pub fn play(round: &Round, home: &Home) -> Result<Played, String> {
    let folder = home.path("disk");
    std::fs::create_dir(&folder).map_err(|e| e.to_string())?;
    let disk = match round.trouble {
        Trouble::FullDisk(room_kib) => Some(Disk::mount(&folder, Some(room_kib))?),
        Trouble::DiskFills => Some(Disk::mount(&folder, None)?),
        _ => None,
    };
    if round.earlier {
        std::fs::write(home.path(RESULT), EARLIER).map_err(|e| e.to_string())?;
    }
    let (front, scene) = areas::begin(round, home)?;
    let began = Instant::now();
    while began.elapsed() < round.moment && !front.has_ended() {
        std::thread::sleep(LOOK);
    }
    let made = trouble::make(round.trouble, (&front, home), &scene, disk.as_ref());
    let expected = expect(round, made.met);
    let took = wait(&front, expected.within * 2);
    if made.met == Met::Daemon
        && let Some(pid) = made.stopped
    {
        kill(pid, Signal::CONT);
    }
    let mut seen = Seen {
        took,
        earlier: round.earlier,
        ..Seen::default()
    };
    let has_ended = front.has_ended();
    seen.left = rest_of_job(&scene, &front, has_ended);
    let ended = front.end(GONE);
    if has_ended {
        seen.end = ended.code.map(End::Code).or(ended.signal.map(End::Signal));
    }
    (seen.stdout, seen.stderr) = (ended.stdout, ended.stderr);
    seen.result = std::fs::read(home.path(RESULT)).ok();
    seen.more = areas::after(round, home, scene, disk, &seen);
    // What a library of MPI has left is its own affair.
    let ours = |left: &String| round.area != Area::Mpi || left.contains("wirespeed");
    let left = || alone::left(home).into_iter().filter(ours).collect::<Vec<_>>();
    reached(GONE, || left().is_empty());
    seen.left.extend(left());
    alone::sweep();
    Ok(Played {
        breaches: judge(&expected, &seen),
        took,
        said: format!("{}\n{expected:?}\n{}", made.what, shown(&seen)),
        what: made.what,
    })
}

/// Wait for the front's end, for at most `patience`; how long it took.
fn wait(front: &Running, patience: Duration) -> Duration {
    let (mut looked, mut took) = (Instant::now(), Duration::ZERO);
    while !front.has_ended() && took < patience {
        std::thread::sleep(LOOK);
        took += looked.elapsed().min(LOOK_MAX);
        looked = Instant::now();
    }
    took
}
/// What is left of the job beside its daemons, though it had time to go. All of it is ended, and a front that did not end.
fn rest_of_job(scene: &Scene, front: &Running, has_ended: bool) -> Vec<String> {
    let rest = || {
        let mut all = alone::processes();
        all.retain(|process| process.pid != front.pid() && !scene.has_daemon(process.pid));
        all
    };
    if has_ended {
        reached(GONE, || rest().is_empty());
    }
    let left = rest();
    for process in &left {
        kill(process.pid, Signal::KILL);
    }
    if !has_ended {
        front.signal(Signal::KILL);
        return Vec::new();
    }
    let text =
        |process: &alone::Process| format!("after {GONE:?} process {}: {}", process.pid, process.words);
    left.iter().map(text).collect()
}

fn shown(seen: &Seen) -> String {
    format!(
        "end: {:?} after {:?}\n--- stdout\n{}\n--- stderr\n{}\n--- left\n{}\n--- more\n{}",
        seen.end,
        seen.took,
        seen.stdout,
        seen.stderr,
        seen.left.join("\n"),
        seen.more.join("\n")
    )
}

/// Keep what there is of a round that failed.
pub fn keep(folder: &Path, round: &Round, home: &Home, text: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let text = format!("{}\n{round:#?}\n{text}\n", round.again());
    std::fs::write(folder.join("round.txt"), text).map_err(|e| e.to_string())?;
    for name in [RESULT, "again.txt"] {
        // Not every round has each.
        let _ = std::fs::copy(
            home.path(name),
            folder.join(name.rsplit('/').next().unwrap_or(name)),
        );
    }
    Ok(())
}
