//! Makes the trouble of a round at its moment: signals, a disk that fills up, a path that fails. It must never choose: the
//! round says what and whom, the machine only which process that is.

use crate::alone;
use crate::areas::Scene;
use crate::disk::Disk;
use crate::expect::Met;
use crate::plan::{Blow, Trouble, Victim};
use rustix::process::{Pid, Signal, kill_process_group};
use std::time::Duration;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::Running;

/// A front that was stopped for good is killed after this long: time enough for the others to miss it.
const MISSED: Duration = Duration::from_secs(4);

/// Whom it met, and who it was.
pub struct Made {
    /// Whom.
    pub met: Met,
    /// For people.
    pub what: String,
    /// Whom to wake at the end.
    pub stopped: Option<u32>,
}

/// Make it.
pub fn make(trouble: Trouble, (front, home): (&Running, &Home), scene: &Scene, disk: Option<&Disk>) -> Made {
    let made = |met, what: String| Made {
        met,
        what,
        stopped: None,
    };
    match trouble {
        Trouble::FullDisk(_) => made(Met::Things, "the disk was full".to_owned()),
        _ if front.has_ended() => made(Met::Nobody, "it had ended".to_owned()),
        Trouble::None => made(Met::Nobody, "nothing".to_owned()),
        Trouble::DiskFills => {
            disk.inspect(|disk| disk.fill());
            made(Met::Things, "the disk filled up".to_owned())
        }
        Trouble::Link(fault) => {
            scene.proxy.iter().for_each(|proxy| proxy.fail(fault));
            made(Met::Things, format!("the path: {fault:?}"))
        }
        Trouble::Signal(blow, victim) => strike(blow, victim, (front.pid(), home), scene),
    }
}

fn strike(blow: Blow, victim: Victim, (front, home): (u32, &Home), scene: &Scene) -> Made {
    let daemon = |number: usize| {
        let count = scene.daemons.len();
        scene.daemons.get(number % count.max(1)).map(Running::pid)
    };
    let others: Vec<u32> = match &scene.mpi {
        // What a launcher has between itself and the ranks is its own affair.
        Some(mpi) => mpi.ranks(home).into_iter().map(|(_, pid)| pid).collect(),
        None => {
            let all = alone::processes().into_iter().map(|process| process.pid);
            all.filter(|pid| *pid != front && !scene.has_daemon(*pid))
                .collect()
        }
    };
    let other = |number: usize| others.get(number % others.len().max(1)).copied();
    let (met, pid) = match victim {
        Victim::Front => (Met::Front, Some(front)),
        Victim::Group => (Met::Group, Some(front)),
        Victim::Daemon(number) => (Met::Daemon, daemon(number)),
        Victim::Other(number) => (Met::Other, other(number)),
    };
    let Some(pid) = pid else {
        return Made {
            met: Met::Nobody,
            what: "nobody was there".to_owned(),
            stopped: None,
        };
    };
    let words = alone::processes().into_iter().find(|process| process.pid == pid);
    let words = words.map(|process| process.words).unwrap_or_default();
    let send = |signal| match victim {
        Victim::Group => {
            // It may have ended meanwhile.
            let group = Pid::from_raw(pid.cast_signed());
            let _ = group.map(|group| kill_process_group(group, signal));
        }
        _ => kill(pid, signal),
    };
    let mut stopped = None;
    match blow {
        Blow::Kill => send(Signal::KILL),
        Blow::Term => send(Signal::TERM),
        Blow::Int => send(Signal::INT),
        Blow::Hup => send(Signal::HUP),
        Blow::Twice(pause) => {
            send(Signal::INT);
            std::thread::sleep(pause);
            send(Signal::INT);
        }
        Blow::Stop => {
            send(Signal::STOP);
            if matches!(victim, Victim::Front | Victim::Group) {
                std::thread::sleep(MISSED);
                send(Signal::KILL);
            } else {
                stopped = Some(pid);
            }
        }
        Blow::Pause(pause) => {
            send(Signal::STOP);
            std::thread::sleep(pause);
            send(Signal::CONT);
        }
    }
    Made {
        met,
        what: format!("{blow:?} to {met:?}, process {pid}: {words}"),
        stopped,
    }
}
