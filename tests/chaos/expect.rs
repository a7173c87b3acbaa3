//! How the front of a round may end, by what went wrong. Pure.

use crate::plan::{Area, Blow, Fault, Round, Trouble};
use std::fmt;
use std::time::Duration;

/// Within this long a program ends that is told to.
const STOP: Duration = Duration::from_secs(1);
/// Within this long a program ends whose peer is dead.
const DEATH: Duration = Duration::from_secs(5);
/// What a debug build may take longer on a machine that others use, too.
const MARGIN: Duration = Duration::from_secs(9);
/// What a front takes that nobody disturbs.
const LIFE: Duration = Duration::from_secs(60);
/// Ranks of a launcher that have not met by then give up.
const MEETING: Duration = Duration::from_secs(60);
/// Silence that counts as death, where a line does not say how much.
const SILENCE: Duration = Duration::from_secs(10);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Code(code) => write!(f, "exit code {code}"),
            End::Signal(number) => write!(f, "signal {number}"),
        }
    }
}

/// Whom the trouble met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// Nobody, or all had ended.
    Nobody,
    /// The front itself.
    Front,
    /// The front with its group.
    Group,
    /// A daemon.
    Daemon,
    /// Another process of the job.
    Other,
    /// A disk or a path.
    Things,
}

/// What may be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// Ends that are right.
    pub ends: Vec<End>,
    /// Whether any exit code is right as well.
    pub any_code: bool,
    /// Time from the trouble to the end.
    pub within: Duration,
    /// Whether the front's stdout and stderr are wirespeed's own alone.
    pub speaks: bool,
    /// Whether what was measured must be in the result.
    pub keeps: bool,
    /// Exit codes that are a verdict of a run that is well.
    pub verdicts: Vec<i32>,
}

/// What is right for this round, when the trouble met `met`.
pub fn expect(round: &Round, met: Met) -> Expect {
    let (codes, within) = ends(round, met);
    // `ab` has verdicts: slower, inconclusive.
    let verdicts = if round.line.starts_with("ab ") {
        vec![3, 4]
    } else {
        Vec::new()
    };
    let mut ends: Vec<End> = codes
        .iter()
        .chain(&verdicts)
        .map(|code| End::Code(*code))
        .collect();
    if let (Trouble::Signal(blow, _), Met::Front | Met::Group) = (round.trouble, met) {
        ends.extend(signal_of(blow).map(End::Signal));
        if blow == Blow::Kill {
            ends.retain(|end| matches!(end, End::Signal(_) | End::Code(0)));
        }
    }
    // What becomes of a rank's end is the launcher's to say; that there is an end is ours.
    let is_launched = round.area == Area::Mpi;
    let has_room = !matches!(round.trouble, Trouble::FullDisk(_) | Trouble::DiskFills);
    Expect {
        ends,
        any_code: is_launched && met != Met::Nobody,
        within,
        speaks: !is_launched,
        keeps: has_room && (!is_launched || met == Met::Nobody),
        verdicts,
    }
}

fn ends(round: &Round, met: Met) -> (&'static [i32], Duration) {
    let silence = silence(round);
    match (round.trouble, met) {
        (_, Met::Nobody) | (Trouble::None, _) => (&[0], LIFE),
        (Trouble::FullDisk(_) | Trouble::DiskFills, _) => (&[0, 1], LIFE),
        (Trouble::Signal(Blow::Pause(pause), _), _) => (&[0], LIFE + pause),
        (Trouble::Signal(blow, _), Met::Front | Met::Group) if blow.asks() => (&[0, 130], STOP + MARGIN),
        // The round goes on after a while, and kills it.
        (Trouble::Signal(Blow::Stop, _), Met::Front | Met::Group) => (&[], LIFE),
        (Trouble::Signal(Blow::Stop, _), _) => (&[0, 1], silence + DEATH + MARGIN),
        (Trouble::Signal(blow, _), Met::Daemon) if blow.asks() => (&[0, 1, 5], DEATH + MARGIN),
        // The coordinator misses a node after 8 s, and is asked every second.
        (Trouble::Signal(..), _) if round.area == Area::Sessions => (&[0, 1], silence + MARGIN),
        // Before the ranks have met, only the library knows who is missing.
        (Trouble::Signal(..), _) if round.area == Area::Mpi => (&[0, 1], MEETING + MARGIN),
        // A server whose rank ends before it has begun refuses.
        (Trouble::Signal(..), _) if round.area == Area::Serve => (&[0, 1, 5], DEATH + MARGIN),
        (Trouble::Signal(..), _) => (&[0, 1], DEATH + MARGIN),
        (Trouble::Link(Fault::Cut | Fault::Refuse), _) => (&[0, 1], DEATH + MARGIN + LIFE),
        (Trouble::Link(Fault::Stall), _) => (&[0, 1], silence + DEATH + MARGIN),
        (Trouble::Link(Fault::Hiccup(pause) | Fault::Drip(pause, _)), _) => (&[0], LIFE + pause),
    }
}

/// Silence after which the round's front takes a peer for dead.
fn silence(round: &Round) -> Duration {
    let words: Vec<&str> = round.line.split_whitespace().collect();
    let said = |name: &str| {
        let pair = words.windows(2).find(|pair| pair[0] == name)?;
        let seconds = pair[1].strip_suffix('s')?.parse().ok()?;
        Some(Duration::from_secs(seconds))
    };
    let attempts = |name| {
        words.windows(2).find(|pair| pair[0] == name)?[1]
            .parse::<u32>()
            .ok()
    };
    let silence = said("--silence").or(said("--stall")).unwrap_or(SILENCE);
    match round.area {
        // Each attempt may be silent for as long.
        Area::Byteio => silence * attempts("--attempts").unwrap_or(1).max(1) + silence,
        // Daemons ask after each other in seconds, and some do so for others.
        Area::Sessions => silence + silence / 2,
        Area::Mpi => silence + MEETING,
        Area::Runs | Area::Serve => silence,
    }
}

/// The number of the signal by which a process dies that has no handler.
fn signal_of(blow: Blow) -> Option<i32> {
    match blow {
        Blow::Kill | Blow::Stop => Some(9),
        Blow::Term => Some(15),
        Blow::Int | Blow::Twice(_) => Some(2),
        Blow::Hup => Some(1),
        Blow::Pause(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Victim;

    fn round(line: &str, trouble: Trouble) -> Round {
        let mut round = Round::of(1, Some(Area::Runs));
        round.line = line.to_owned();
        round.trouble = trouble;
        round
    }

    #[test]
    fn each_trouble_has_its_ends() {
        let signal = |blow| Trouble::Signal(blow, Victim::Front);
        let ends = |trouble, met| expect(&round("run am_lat --silence 2s", trouble), met).ends;
        let codes = |codes: &[i32]| codes.iter().map(|code| End::Code(*code)).collect::<Vec<_>>();
        assert_eq!(ends(Trouble::None, Met::Nobody), codes(&[0]));
        assert_eq!(
            ends(signal(Blow::Kill), Met::Front),
            [End::Code(0), End::Signal(9)]
        );
        assert_eq!(ends(signal(Blow::Kill), Met::Other), codes(&[0, 1]));
        assert!(ends(signal(Blow::Int), Met::Front).contains(&End::Code(130)));
        assert!(!ends(signal(Blow::Int), Met::Front).contains(&End::Code(1)));
        assert!(!ends(signal(Blow::Kill), Met::Other).contains(&End::Signal(9)));
        // Who came too late has changed nothing.
        assert_eq!(ends(signal(Blow::Kill), Met::Nobody), codes(&[0]));
    }

    #[test]
    fn silence_is_read_from_the_line() {
        let stop = Trouble::Signal(Blow::Stop, Victim::Other(0));
        let short = expect(&round("run x --silence 2s", stop), Met::Other).within;
        let long = expect(&round("ab x", stop), Met::Other);
        assert_eq!(long.within - short, Duration::from_secs(8));
        assert!(long.ends.contains(&End::Code(4)), "a verdict");
    }
}
