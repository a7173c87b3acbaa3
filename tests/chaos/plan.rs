//! What a round does, drawn from its seed: area, command line, trouble and the moment it comes. It must never look at the
//! machine: the same seed is the same round everywhere.

use crate::areas;
use std::fmt;
use std::time::Duration;

/// Where a round plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Verbs that measure between processes of this machine.
    Runs,
    /// File services, their clients, and files on disk.
    Byteio,
    /// A server and its clients.
    Serve,
    /// Sessions, embedded and at a coordinator.
    Sessions,
    /// Jobs of MPI's launchers.
    Mpi,
}

impl Area {
    /// Every area, in the order in which they are drawn.
    pub const ALL: [Area; 5] = [Area::Runs, Area::Byteio, Area::Serve, Area::Sessions, Area::Mpi];

    /// Its name at the command line.
    pub fn name(self) -> &'static str {
        match self {
            Area::Runs => "runs",
            Area::Byteio => "byteio",
            Area::Serve => "serve",
            Area::Sessions => "sessions",
            Area::Mpi => "mpi",
        }
    }

    /// The area of this name.
    pub fn named(name: &str) -> Option<Area> {
        Area::ALL.into_iter().find(|area| area.name() == name)
    }
}

/// Signals that are sent.
///
/// Those that ask a program to end are one kind: see [`Blow::asks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL.
    Kill,
    /// SIGTERM.
    Term,
    /// SIGINT.
    Int,
    /// SIGINT, and again after this long.
    Twice(Duration),
    /// SIGHUP.
    Hup,
    /// SIGSTOP, for good.
    Stop,
    /// SIGSTOP, and SIGCONT after this long.
    Pause(Duration),
}

impl Blow {
    /// Whether a program that gets it is asked to end.
    pub fn asks(self) -> bool {
        matches!(self, Blow::Term | Blow::Int | Blow::Twice(_) | Blow::Hup)
    }
}

/// Whom a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// The process that the user started.
    Front,
    /// The front and everything in its process group, as a terminal's Ctrl-C.
    Group,
    /// The daemon of this number, counted round.
    Daemon(usize),
    /// Any other process of the job, counted round by process number.
    Other(usize),
}

/// What becomes of the connections between the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// All are closed; later ones are let through.
    Cut,
    /// All are closed, and later ones at once.
    Refuse,
    /// No byte moves any more, on any of them.
    Stall,
    /// No byte moves for this long.
    Hiccup(Duration),
    /// For this long, this many bytes at a time, 20 times a second.
    Drip(Duration, usize),
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing: the round must end well.
    None,
    /// A signal.
    Signal(Blow, Victim),
    /// From the start there is this much room for files, in KiB.
    FullDisk(u32),
    /// The disk fills up at the moment.
    DiskFills,
    /// The path between the ends.
    Link(Fault),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// One round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// What it is drawn from.
    pub seed: u64,
    /// Where it plays.
    pub area: Area,
    /// The front's words; `{to}` stands for a daemon's address.
    pub line: String,
    /// Words of the daemon, where the area has one.
    pub daemon: String,
    /// What goes wrong.
    pub trouble: Trouble,
    /// When, counted from the front's start.
    pub moment: Duration,
    /// Whether a file of the output's name is there before.
    pub earlier: bool,
}

impl Round {
    /// The round of this seed, in `only` this area where it is named.
    pub fn of(seed: u64, only: Option<Area>) -> Round {
        let mut dice = Dice::new(seed);
        let drawn = *dice.one_of(&Area::ALL);
        let area = only.unwrap_or(drawn);
        // What begins is hit as often as what measures.
        let latest_ms = *dice.one_of(&[150, 600, 1900]);
        let moment = Duration::from_millis(dice.below(latest_ms));
        let mut round = Round {
            seed,
            area,
            line: String::new(),
            daemon: String::new(),
            trouble: Trouble::None,
            moment,
            earlier: dice.chance(2),
        };
        areas::draw(&mut round, &mut dice);
        round
    }

    /// The command that plays it alone.
    pub fn again(&self) -> String {
        format!(
            "cargo xtask chaos --seed {} --rounds 1 --only {}",
            self.seed,
            self.area.name()
        )
    }
}

/// Numbers that a seed decides (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One time in `times`.
    pub fn chance(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these, of which there is at least one.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// A signal: death more often than the others.
    pub fn blow(&mut self) -> Blow {
        match self.below(8) {
            0 | 1 => Blow::Kill,
            2 => Blow::Term,
            3 => Blow::Int,
            4 => Blow::Twice(self.pause() / 8),
            5 => Blow::Hup,
            6 => Blow::Stop,
            _ => Blow::Pause(self.pause()),
        }
    }

    /// Shorter than any silence that counts as death.
    fn pause(&mut self) -> Duration {
        Duration::from_millis(100 + self.below(1400))
    }

    /// A fault of a path.
    pub fn fault(&mut self) -> Fault {
        match self.below(5) {
            0 => Fault::Cut,
            1 => Fault::Refuse,
            2 => Fault::Stall,
            3 => Fault::Hiccup(self.pause()),
            _ => Fault::Drip(self.pause(), 1 + self.below(2000) as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_round() {
        for seed in 0..500 {
            let round = Round::of(seed, None);
            assert_eq!(round, Round::of(seed, None));
            // The command that plays it alone names its area.
            assert_eq!(round, Round::of(seed, Some(round.area)));
            assert!(round.again().contains(&format!("--seed {seed} ")));
        }
    }

    #[test]
    fn every_area_and_trouble_comes_up() {
        let rounds: Vec<Round> = (0..2000).map(|seed| Round::of(seed, None)).collect();
        for area in Area::ALL {
            let here = || rounds.iter().filter(|round| round.area == area);
            assert!(here().count() > 100, "{}", area.name());
            let any = |is: fn(&Trouble) -> bool| here().any(|round| is(&round.trouble));
            assert!(any(|trouble| *trouble == Trouble::None), "{}", area.name());
            assert!(any(|trouble| matches!(
                trouble,
                Trouble::Signal(Blow::Kill, Victim::Front)
            )));
            assert!(any(|trouble| matches!(
                trouble,
                Trouble::Signal(Blow::Stop, Victim::Other(_) | Victim::Daemon(_))
            )));
        }
        let any = |is: fn(&Trouble) -> bool| rounds.iter().any(|round| is(&round.trouble));
        assert!(any(|trouble| matches!(trouble, Trouble::FullDisk(_))));
        assert!(any(|trouble| matches!(trouble, Trouble::DiskFills)));
        for fault in [Fault::Cut, Fault::Refuse, Fault::Stall] {
            assert!(
                rounds.iter().any(|round| round.trouble == Trouble::Link(fault)),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn areas_are_named_once() {
        for area in Area::ALL {
            assert_eq!(Area::named(area.name()), Some(area));
        }
        assert_eq!(Area::named("moon"), None);
    }
}
