//! Rounds of random trouble against the real program: each is drawn from a number, played in namespaces of their own, and judged
//! by what must hold whatever happens. It must never touch anything outside of those namespaces but the folder it is given.
#![forbid(unsafe_code)]

mod alone;
mod areas;
mod disk;
mod expect;
mod invariants;
mod plan;
mod proxy;
mod round;
mod trouble;

use plan::{Area, Round};
use round::Played;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use wirespeed_schema::units::parse_duration_ns;
use wirespeed_tests::home::Home;

const USAGE: &str = "usage: wirespeed-chaos PROGRAM FOLDER [--seed N] [--for TIME | --rounds N] [--only runs|byteio|serve|sessions|mpi]";
/// Without a word about it: rounds for this long.
const DURATION: Duration = Duration::from_secs(300);

/// What is asked for.
struct Asked {
    program: PathBuf,
    folder: PathBuf,
    seed: u64,
    duration: Option<Duration>,
    rounds: Option<u64>,
    only: Option<Area>,
}

fn asked(words: &[String]) -> Result<Asked, String> {
    let [program, folder, options @ ..] = words else {
        return Err(USAGE.to_owned());
    };
    // Any seed will do, and it is printed.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut asked = Asked {
        program: program.into(),
        folder: folder.into(),
        seed: since.map_or(0, |since| since.as_secs() % 1_000_000),
        duration: None,
        rounds: None,
        only: None,
    };
    for pair in options.chunks(2) {
        let bad = || format!("invalid {}\n{USAGE}", pair.join(" "));
        let [name, value] = pair else {
            return Err(bad());
        };
        match name.as_str() {
            "--seed" => asked.seed = value.parse().map_err(|_| bad())?,
            "--rounds" => asked.rounds = Some(value.parse().map_err(|_| bad())?),
            "--for" => {
                asked.duration = Some(Duration::from_nanos(parse_duration_ns(value).map_err(|_| bad())?))
            }
            "--only" => asked.only = Some(Area::named(value).ok_or_else(bad)?),
            _ => return Err(bad()),
        }
    }
    if asked.rounds.is_none() && asked.duration.is_none() {
        asked.duration = Some(DURATION);
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match asked(&words).and_then(|asked| rounds(&asked)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("chaos: {failed} rounds failed");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("chaos: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Play them; how many failed.
fn rounds(asked: &Asked) -> Result<u64, String> {
    if let [other, ..] = alone::processes().as_slice() {
        let words = &other.words;
        return Err(format!(
            "process {} is here, too ({words}): start it by `cargo xtask chaos`",
            other.pid
        ));
    }
    let lacking: Vec<Area> = Area::ALL.into_iter().filter(|area| lacks(*area)).collect();
    let began = Instant::now();
    let (mut drawn, mut failed) = (0, 0);
    let mut counts = [0; Area::ALL.len()];
    println!("chaos: seed {}", asked.seed);
    while asked.rounds.is_none_or(|rounds| drawn < rounds)
        && asked.duration.is_none_or(|duration| began.elapsed() < duration)
    {
        let round = Round::of(asked.seed.wrapping_add(drawn), asked.only);
        drawn += 1;
        if lacking.contains(&round.area) {
            continue;
        }
        failed += u64::from(!one(asked, &round));
        for (area, count) in Area::ALL.iter().zip(&mut counts) {
            *count += u64::from(*area == round.area);
        }
    }
    let by_area = Area::ALL.iter().zip(counts);
    let by_area: Vec<String> = by_area
        .map(|(area, count)| format!("{} {count}", area.name()))
        .collect();
    println!(
        "chaos: seed {}, {} rounds ({}) in {:.1} min, {failed} failed",
        asked.seed,
        counts.iter().sum::<u64>(),
        by_area.join(", "),
        began.elapsed().as_secs_f64() / 60.0
    );
    Ok(failed)
}

/// Whether rounds of this area cannot be played here, which is said.
fn lacks(area: Area) -> bool {
    let reason = areas::lacks(area);
    reason.inspect(|reason| wirespeed_tests::skip(&format!("{}: {reason}", area.name())));
    reason.is_some()
}

/// Play one; whether all was well.
fn one(asked: &Asked, round: &Round) -> bool {
    let home = Home::new(&asked.program);
    // Helpers of the tests panic where something cannot be begun: that is a failure of this round alone.
    let played = catch_unwind(AssertUnwindSafe(|| round::play(round, &home)));
    let played = match played {
        Ok(Ok(played)) => played,
        Ok(Err(why)) => broken(why),
        Err(_) => broken("a step of the round panicked; see above".to_owned()),
    };
    alone::sweep();
    let verdict = if played.breaches.is_empty() {
        "ok"
    } else {
        "FAILED"
    };
    println!(
        "{verdict:<6} {:>8} {:<8} {:>5.1} s  {}  [{} at {:.1} s: {}]",
        round.seed,
        round.area.name(),
        played.took.as_secs_f64(),
        round.line,
        round.trouble,
        round.moment.as_secs_f64(),
        played.what
    );
    if played.breaches.is_empty() {
        return true;
    }
    for breach in &played.breaches {
        println!("       {breach}");
    }
    let folder = asked.folder.join(round.seed.to_string());
    let text = format!("{}\n\n{}", played.breaches.join("\n"), played.said);
    match round::keep(&folder, round, &home, &text) {
        Ok(()) => println!("       see {}; repeat with `{}`", folder.display(), round.again()),
        Err(why) => println!("       nothing is kept: {why}; repeat with `{}`", round.again()),
    }
    false
}

/// A round that could not be played.
fn broken(why: String) -> Played {
    Played {
        what: "the round broke".to_owned(),
        took: Duration::ZERO,
        breaches: vec![why],
        said: String::new(),
    }
}
