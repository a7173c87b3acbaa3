//! `wirespeed byteio bench`: repeated transfers, one pair or many, a known experiment, or a sweep over shapes.

use super::job::{self, Ends};
use super::offered::Offer;
use super::runner::Transfers;
use super::{Served, emulated, pairs};
use crate::args::{ByteioBenchArgs, ByteioMechanism, ColorChoice, Profile, TransferArgs};
use crate::cmd::dry_run;
use crate::cmd::front::Front;
use crate::cmd::speed::speed;
use crate::errors::{Ended, Failure};
use crate::experiment::{Experiment, Found, How, Prepared};
use crate::open_loop::TRIALS;
use crate::output;
use std::fmt::Write as _;
use wirespeed_byteio::client::{Claim, Target, TransferOptions};
use wirespeed_control::auth::IDENTITY_VARIABLE;
use wirespeed_report::byteio::{RECOMMENDED, TRIED, complete, take_pairs};
use wirespeed_report::stats::{LEVEL, summarize};
use wirespeed_report::view;
use wirespeed_schema::byteio::{ByteioSection, Pair};
use wirespeed_schema::plan::Plan;
use wirespeed_schema::units::{counted, format_asked_size};

const REPEATS: u32 = 3;
/// The shape of M. Morgan's "ByteIO Performance Tests" (2009).
const SIZE_2009: &str = "1GiB";
const REPEATS_2009: u32 = 10;
/// What a dry run calls the folder that it does not make.
const FOLDER: &str = "FOLDER";
/// What a sweep tries.
const SWEEP_THREADS: [u32; 3] = [1, 4, 8];
const SWEEP_BLOCKS: [&str; 2] = ["1M", "8M"];
const SWEEP_DEPTHS: [u32; 3] = [1, 2, 4];

/// Measure.
pub fn bench(arguments: &ByteioBenchArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let words = shaped(arguments);
    let mut plan = Plan::default();
    let common = (&arguments.output, color);
    let how = How::of(&arguments.experiment, (&mut plan, runs(arguments)), common)?;
    if let Some(machines) = machines(arguments, &words)? {
        at_the_reader(arguments, std::env::var(IDENTITY_VARIABLE).ok())?;
        return pairs::bench(arguments, &words, &machines.pairs, how.repeats, color);
    }
    let mut jobs = jobs(arguments, words)?;
    let offer = Offer::of(arguments)?;
    let registry = crate::registry();
    if arguments.experiment.dry_run && arguments.output.json {
        let (cases, about) = match &offer {
            Some(offer) => (
                offer.known((arguments, &registry), &jobs[0])?,
                offer.about(how.repeats),
            ),
            None => (
                job::cases(&registry, &arguments.experiment, &jobs)?,
                String::new(),
            ),
        };
        return dry_run::show_about(&plan, how.listed(cases)?, true, &about);
    }
    if arguments.experiment.dry_run {
        let how = match &offer {
            Some(offer) => offer.about(how.repeats),
            None => counted(u64::from(how.repeats), "run"),
        };
        return show(&jobs, &how);
    }
    let mut front = Front::open(common, None)?;
    if arguments.stop_with_stdin {
        stop_with_stdin(&front)?;
    }
    let nominal = arguments.nominal.as_deref().map(speed).transpose()?;
    let known = job::known(&mut jobs, &front.stop, how.quiet);
    let mut transfers = Transfers::new(&registry, vec![(&jobs, nominal)]);
    match known {
        Ok(true) if offer.is_some() => return Err(job::needs_ranges()),
        Ok(_) => {}
        Err(failure) => transfers.refused = Some(failure),
    }
    let cases = job::cases(&registry, &arguments.experiment, &jobs)?;
    let found = match offer {
        Some(offer) => offer.run(
            (arguments, &registry),
            (how, &jobs[0]),
            &mut front,
            &mut transfers,
        )?,
        None if arguments.sweep => {
            let more = |options: &TransferOptions| {
                let one = std::slice::from_ref(options);
                Ok(job::cases(&registry, &arguments.experiment, one)?.remove(0))
            };
            sweep(&jobs, cases, front.experiment(how, &mut transfers), more)?
        }
        None => front.run(how, &mut transfers, vec![cases])?,
    };
    publish(front, found, profile(arguments))
}

/// Whoever holds stdin can end this, from wherever.
fn stop_with_stdin(front: &Front) -> Result<(), Failure> {
    let watched = front.stop.at_end_of(std::io::stdin());
    watched.map_err(|e| Failure::failed(format!("cannot watch stdin: {e}"), "leave out --stop-with-stdin"))
}

/// Each pair is measured by a program at its reader: what this one would do itself is refused. The environment's `identity`
/// is not: readers on this machine have it too.
fn at_the_reader(arguments: &ByteioBenchArgs, identity: Option<String>) -> Result<(), Failure> {
    let words = &arguments.experiment;
    let credential = job::credential(&arguments.transfer, identity);
    let given = [
        ("--put", arguments.put.is_some()),
        ("--into", arguments.into.is_some()),
        ("--nominal", arguments.nominal.is_some()),
        (credential.unwrap_or_default(), credential.is_some()),
        ("--until", words.until.is_some()),
        ("--interference", !words.interference.is_empty()),
        ("--seed", words.seed.is_some()),
        ("--cpus", !words.cpus.is_empty()),
        ("--live", words.live),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::usage(
            format!("{option}: each pair of machines is measured at its reader"),
            "leave it out, or measure one pair: wirespeed byteio bench URL",
        )),
        None => Ok(()),
    }
}

/// Pairs of machines, and the file that they serve where they are emulated.
struct Machines {
    pairs: Vec<pairs::Planned>,
    _served: Option<Served>,
}

/// The pairs of machines that were asked for.
fn machines(arguments: &ByteioBenchArgs, words: &TransferArgs) -> Result<Option<Machines>, Failure> {
    if arguments.emulated {
        let size_bytes = emulated::size_bytes(words)?;
        let _served = match arguments.experiment.dry_run {
            true => None,
            false => Some(Served::warm(size_bytes)?),
        };
        let folder = _served.as_ref().map(Served::folder).transpose()?;
        let pairs = emulated::plan(folder.as_deref().unwrap_or(FOLDER))?;
        return Ok(Some(Machines { pairs, _served }));
    }
    let Some(path) = &arguments.pairs else {
        return Ok(None);
    };
    let pairs = pairs::read(path, arguments.both)?;
    Ok(Some(Machines { pairs, _served: None }))
}

/// What is to be moved: one transfer, one for each direction, or one for each shape of a sweep.
fn jobs(arguments: &ByteioBenchArgs, words: TransferArgs) -> Result<Vec<TransferOptions>, Failure> {
    let url = arguments.url.as_deref().unwrap_or_default();
    let shapes = match arguments.sweep {
        true => swept(&words),
        false => vec![words],
    };
    let mut jobs = Vec::new();
    for words in &shapes {
        for ends in ends(arguments) {
            jobs.push(job::options(url, words, ends, arguments.verify)?);
        }
    }
    Ok(jobs)
}

/// The known experiment that this is, if it is one.
fn profile(arguments: &ByteioBenchArgs) -> Option<&'static str> {
    match (arguments.profile, arguments.sweep) {
        (Some(Profile::Byteio2009), _) => Some(view::PROFILE_2009),
        (None, true) => Some(view::PROFILE_SWEEP),
        (None, false) => None,
    }
}

/// How often each transfer runs where the words do not say.
fn runs(arguments: &ByteioBenchArgs) -> u32 {
    match arguments.profile {
        Some(Profile::Byteio2009) => REPEATS_2009,
        None if arguments.sweep => 1,
        None if arguments.open_loop.offered.is_some() => TRIALS,
        None => REPEATS,
    }
}

/// Every shape, then the best of them under every other congestion control.
fn sweep(
    jobs: &[TransferOptions],
    cases: Vec<Prepared>,
    experiment: Experiment,
    case: impl Fn(&TransferOptions) -> Result<Prepared, Failure>,
) -> Result<Found, Failure> {
    let mut experiment = experiment.with(vec![cases])?;
    let shapes: Vec<usize> = (0..jobs.len()).collect();
    experiment.measure(&shapes)?;
    let rate = |shape: &usize| {
        let runs = experiment.repetitions(*shape).iter();
        let rates: Vec<f64> = runs
            .filter_map(|run| run.figure("bandwidth_bytes_per_s"))
            .collect();
        summarize(&rates, LEVEL).map_or(0.0, |summary| summary.median)
    };
    let rates: Vec<f64> = shapes.iter().map(rate).collect();
    let cost = |shape: usize| cost_of(jobs[shape].threads as u64, jobs[shape].depth as u64, false);
    if let Some(best) = cheapest(&rates, cost).filter(|_| !experiment.is_over()) {
        let mut more = Vec::new();
        for options in controls(&jobs[best]) {
            more.push(experiment.add(case(&options)?)?);
        }
        experiment.measure(&more)?;
    }
    experiment.finish()
}

/// The same shape under every other congestion control that the sender's end permits.
fn controls(options: &TransferOptions) -> Vec<TransferOptions> {
    let allowed = wirespeed_byteio::client::congestion_controls(&options.client);
    let others = allowed.others(options.client.congestion.as_deref());
    let with = |name: String| {
        let mut options = options.clone();
        options.client.congestion = Some(name);
        options
    };
    others.into_iter().map(with).collect()
}

/// What is to be moved: one way, or both in turn.
pub fn ends(arguments: &ByteioBenchArgs) -> Vec<Ends> {
    let get = Ends::Get(match &arguments.into {
        None => Target::Discard,
        Some(path) => Target::File {
            path: path.clone(),
            claim: Claim::Measure,
        },
    });
    match (&arguments.put, arguments.both) {
        (None, _) => vec![get],
        (Some(source), true) => vec![get, Ends::Put(source.clone())],
        (Some(source), false) => vec![Ends::Put(source.clone())],
    }
}

/// The profile's shape is the default of what was not typed.
pub fn shaped(arguments: &ByteioBenchArgs) -> TransferArgs {
    let mut words = arguments.transfer.clone();
    if arguments.profile.is_some() {
        words.mechanism = ByteioMechanism::Mtom;
        (words.threads, words.depth) = (7, 1);
        "8M".clone_into(&mut words.block_size);
        words.size.get_or_insert_with(|| SIZE_2009.to_owned());
    }
    words
}

fn swept(words: &TransferArgs) -> Vec<TransferArgs> {
    let mut shapes = Vec::new();
    for threads in SWEEP_THREADS {
        for block in SWEEP_BLOCKS {
            for depth in SWEEP_DEPTHS {
                let mut shape = words.clone();
                (shape.threads, shape.depth) = (threads, depth);
                block.clone_into(&mut shape.block_size);
                shapes.push(shape);
            }
        }
    }
    shapes
}

/// What a shape costs: fewer connections, fewer outstanding, the system's own congestion control are cheaper.
fn cost_of(threads: u64, depth: u64, has_control: bool) -> (u64, u64, bool) {
    (threads * depth, threads, has_control)
}

/// The cheapest shape that comes within 5 % of the best.
fn cheapest(rates: &[f64], cost: impl Fn(usize) -> (u64, u64, bool)) -> Option<usize> {
    let best = rates.iter().copied().fold(0.0, f64::max);
    let near = (0..rates.len()).filter(|at| rates[*at] >= 0.95 * best && best > 0.0);
    near.min_by_key(|at| cost(*at))
}

/// Name the shape that a sweep recommends; what ran under load keeps its name.
fn name_best(pairs: &mut [Pair]) {
    let mut tried: Vec<&mut Pair> = pairs.iter_mut().filter(|pair| pair.load.is_idle()).collect();
    let rate = |pair: &&mut Pair| pair.summary.as_ref().map_or(0.0, |s| s.median_bytes_per_s.get());
    let rates: Vec<f64> = tried.iter().map(rate).collect();
    let cost = |at: usize| {
        cost_of(
            tried[at].threads,
            tried[at].depth_ops,
            tried[at].congestion.is_some(),
        )
    };
    let recommended = cheapest(&rates, cost);
    for (at, pair) in tried.iter_mut().enumerate() {
        pair.name = match Some(at) == recommended {
            true => RECOMMENDED.to_owned(),
            false => TRIED.to_owned(),
        };
        // What a sweep has tried it does not advise.
        complete(pair);
    }
}

/// Publish what was found, with the section of its pairs.
fn publish(mut front: Front, mut found: Found, profile: Option<&'static str>) -> Result<Ended, Failure> {
    let mut pairs = take_pairs(&mut found.results, front.draft.host());
    if profile == Some(view::PROFILE_SWEEP) {
        name_best(&mut pairs);
    }
    let section = ByteioSection {
        profile: profile.map(str::to_owned),
        pairs,
    };
    front.draft.put(&section);
    front.publish(found)
}

fn show(jobs: &[TransferOptions], how: &str) -> Result<Ended, Failure> {
    let mut text = String::new();
    for options in jobs {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{} {} {}: {} x {} x {} outstanding, {how}",
            options.client.direction.name(),
            options.client.way.name(),
            options.client.url,
            counted(options.threads as u64, "connection"),
            format_asked_size(options.block_bytes),
            options.depth
        );
    }
    output::print(&text).map(|()| Ended::OK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{ByteioVerb, Cli, Verb};
    use clap::Parser as _;

    fn refused(option: &str, identity: Option<&str>) -> Option<String> {
        let line = format!("wirespeed byteio bench --pairs pairs.toml {option}");
        let words = Cli::try_parse_from(line.split_whitespace()).unwrap();
        let Verb::Byteio(words) = words.verb else {
            unreachable!("the verb is byteio");
        };
        let ByteioVerb::Bench(arguments) = words.verb else {
            unreachable!("the verb is byteio bench");
        };
        let refused = at_the_reader(&arguments, identity.map(str::to_owned)).err();
        refused.map(|failure| failure.cause)
    }

    #[test]
    fn pairs_refuse_what_does_not_reach_their_readers() {
        for option in [
            "--put f",
            "--into f",
            "--nominal 1Gb/s",
            "--key f",
            "--identity x",
        ] {
            let name = option.split(' ').next().unwrap();
            let cause = refused(option, None).unwrap();
            assert!(cause.starts_with(name), "{cause}");
        }
        assert_eq!(refused("--both --at-once", None), None);
        assert_eq!(refused("--identity x", Some("x")), None, "the environment's");
    }
}
