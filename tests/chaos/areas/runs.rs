//! Verbs that measure between threads and processes of this machine.

use super::OUTPUT;
use crate::plan::{Dice, Round, Trouble, Victim};

/// Tests that every transport has; then those that datagrams cannot carry.
const TESTS: [&str; 10] = [
    "am_lat", "am_bw", "am_bibw", "put_lat", "put_bw", "tag_lat", "tag_bw", "get", "add_lat", "fadd",
];
const TESTS_OF_ALL: usize = 3;
/// Transports between processes; `inproc` has one process alone.
const VIAS: [&str; 6] = [
    "shm",
    "shm --wait block",
    "unix",
    "tcp",
    "tcp --wait block",
    "inproc",
];

/// Lines of verbs that have a life of their own, of a second or a few.
const LINES: [&str; 8] = [
    "quick --via inproc,shm,tcp --budget 3s",
    "ab --pairs 3 -- am_lat --via unix -t 200ms -- am_lat --via shm -t 200ms",
    "sweep --repeats 1 -- am_bw --via tcp -t 200ms --size 8..4K:x4",
    "load --trials 1 --points 3 --p99 5ms -- --via unix --size 64 -t 200ms",
    "workers --via tcp -w 2 -n 20000 --silence 2s",
    "workers --via shm -w 3 -n 20000 --silence 2s --fan-out",
    "msgrate --via shm -t 300ms --pattern pre-post",
    "perftest -l -x tcp -t am_lat -n 20000",
];

/// Words and trouble.
pub fn draw(round: &mut Round, dice: &mut Dice) {
    round.line = match dice.below(3) {
        0 => {
            let line = dice.one_of(&LINES);
            let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
            format!("{verb} {OUTPUT} {rest}")
        }
        _ => run(dice),
    };
    let others = Victim::Other(dice.below(8) as usize);
    round.trouble = match dice.below(10) {
        0 => Trouble::None,
        1 => Trouble::FullDisk(4 * (1 + dice.below(40)) as u32),
        2 => Trouble::DiskFills,
        3 => Trouble::Signal(dice.blow(), Victim::Group),
        4 | 5 => Trouble::Signal(dice.blow(), Victim::Front),
        _ => Trouble::Signal(dice.blow(), others),
    };
}

fn run(dice: &mut Dice) -> String {
    let mut line = format!("run {OUTPUT} --interval 100ms --silence 2s ");
    line += &match dice.below(6) {
        0 => format!("hub_lat --via {} --procs 3", dice.one_of(&["shm", "tcp", "unix"])),
        1 => format!(
            "am_alltoall --via {} --procs 4",
            dice.one_of(&["shm", "tcp", "unix"])
        ),
        2 => format!("{} --via udp", dice.one_of(&TESTS[..TESTS_OF_ALL])),
        _ => format!("{} --via {}", dice.one_of(&TESTS), dice.one_of(&VIAS)),
    };
    line += dice.one_of::<&str>(&[
        " -t 1500ms",
        " -t 1500ms",
        " -t 700ms --repeats 2",
        " -t 300ms --repeats 2 --interference=cpu,none",
    ]);
    for (times, words) in [(3, " --check"), (5, " --raw 1000")] {
        if dice.chance(times) {
            line += words;
        }
    }
    line
}
