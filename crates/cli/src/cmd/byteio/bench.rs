//! `wirespeed byteio bench`: repeated transfers, one pair or many, a known experiment, or a sweep over shapes.

use super::job::{self, Ends};
use super::offered::Offer;
use super::{emulated, pairs, publish};
use crate::args::{ByteioBenchArgs, ByteioMechanism, ColorChoice, Profile, TransferArgs};
use crate::document::Draft;
use crate::errors::{Ended, Failure};
use crate::interference;
use crate::output::{self, Output};
use std::cell::Cell;
use std::fmt::Write as _;
use wirespeed::load::Interference;
use wirespeed_byteio::client::{Target, TransferOptions};
use wirespeed_control::StopFlag;
use wirespeed_report::render;
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::{ByteioSection, Pair};
use wirespeed_schema::host::HostFingerprint;
use wirespeed_schema::units::format_size;

const REPEATS: u32 = 3;
/// The shape of M. Morgan's "ByteIO Performance Tests" (2009).
const SIZE_2009: &str = "1GiB";
const REPEATS_2009: u32 = 10;
/// What a sweep tries.
const SWEEP_THREADS: [u32; 3] = [1, 4, 8];
const SWEEP_BLOCKS: [&str; 2] = ["1M", "8M"];
const SWEEP_DEPTHS: [u32; 3] = [1, 2, 4];

/// Measure.
pub fn bench(arguments: &ByteioBenchArgs, color: ColorChoice) -> Result<Ended, Failure> {
    let words = shaped(arguments);
    let repeats = runs(arguments);
    if arguments.emulated {
        let (served, plan) = emulated::plan(&words)?;
        if !arguments.dry_run {
            served.warm()?;
        }
        return pairs::bench(arguments, &words, &plan, repeats, color);
    }
    if let Some(path) = &arguments.pairs {
        let plan = pairs::read(path, arguments.both)?;
        return pairs::bench(arguments, &words, &plan, repeats, color);
    }
    let url = arguments.url.as_deref().unwrap_or_default();
    let nominal = arguments.nominal.as_deref().map(speed).transpose()?;
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
    let loads = interference::parse(&arguments.interference)?;
    let offer = Offer::of(arguments, &jobs[0])?;
    if arguments.dry_run {
        let how = match &offer {
            Some(offer) => offer.about(),
            None => format!("{repeats} runs"),
        };
        return show(&jobs, &how);
    }
    let stop = crate::cmd::stop_on_signals()?;
    let table = match offer {
        Some(_) => render::load,
        None => render::byteio::byteio,
    };
    let mut output = Output::open(&arguments.output, color, table)?;
    let mut draft = Draft::begin(None, arguments.output.include_host_name);
    let measuring = Measuring {
        nominal,
        host: draft.host().clone(),
        repeats,
        stop: stop.clone(),
        quiet: arguments.output.quiet,
        one_stream: Cell::new(false),
    };
    let mut section = ByteioSection {
        profile: profile(arguments).map(str::to_owned),
        pairs: measuring.pairs(&jobs, &loads, offer.as_ref(), &mut draft)?,
    };
    if arguments.sweep {
        measuring.sweep_controls(&mut jobs, &mut section)?;
    }
    if measuring.one_stream.get() {
        draft.remark(job::no_ranges());
    }
    publish(
        draft,
        &mut output,
        &section,
        stop.is_requested(),
        arguments.output.strict,
    )
}

/// The known experiment that this is, if it is one.
fn profile(arguments: &ByteioBenchArgs) -> Option<&'static str> {
    match (arguments.profile, arguments.sweep) {
        (Some(Profile::Byteio2009), _) => Some(render::byteio::PROFILE_2009),
        (None, true) => Some(render::byteio::PROFILE_SWEEP),
        (None, false) => None,
    }
}

/// How often each transfer runs.
fn runs(arguments: &ByteioBenchArgs) -> u32 {
    let usual = match arguments.profile {
        Some(Profile::Byteio2009) => REPEATS_2009,
        None if arguments.sweep => 1,
        None if !arguments.interference.is_empty() => interference::ROUNDS,
        None => REPEATS,
    };
    arguments.repeats.unwrap_or(usual)
}

/// What every transfer here has in common.
pub(super) struct Measuring {
    nominal: Option<Finite>,
    host: HostFingerprint,
    pub(super) repeats: u32,
    pub(super) stop: StopFlag,
    pub(super) quiet: bool,
    /// A server knew no ranges.
    one_stream: Cell<bool>,
}

impl Measuring {
    /// What was asked for: at offered rates, alone, or under loads in turn; the sections beside them go into the draft.
    fn pairs(
        &self,
        jobs: &[TransferOptions],
        loads: &[Interference],
        offer: Option<&Offer>,
        draft: &mut Draft,
    ) -> Result<Vec<Pair>, Failure> {
        if let Some(offer) = offer {
            return self.offered(offer, draft);
        }
        if loads.is_empty() {
            return self.all(jobs);
        }
        let (pairs, found) = self.disturbed(jobs, loads)?;
        draft.section(wirespeed_report::interference::NAME, found.to_value());
        Ok(pairs)
    }

    /// All runs of all jobs, in turn. A run that fails is kept with its reason; the pair ends there. A pair of which not
    /// even the first run could begin is an error.
    fn all(&self, jobs: &[TransferOptions]) -> Result<Vec<Pair>, Failure> {
        let mut pairs: Vec<Pair> = jobs.iter().map(|options| self.begun(options)).collect();
        for _ in 0..self.repeats {
            for (options, pair) in jobs.iter().zip(&mut pairs) {
                if self.stop.is_requested() || pair.error.is_some() {
                    continue;
                }
                self.once(pair, |pair| self.run(options, pair))?;
            }
        }
        pairs.retain(|pair| !pair.runs.is_empty());
        pairs.iter_mut().for_each(wirespeed_report::byteio::complete);
        Ok(pairs)
    }

    /// A pair of which nothing has run.
    pub(super) fn begun(&self, options: &TransferOptions) -> Pair {
        Pair {
            nominal_bytes_per_s: self.nominal,
            near: Some(Box::new(self.host.clone())),
            ..job::pair(job::name_of(options), options)
        }
    }

    /// The best of a sweep again under every other congestion control.
    fn sweep_controls(
        &self,
        jobs: &mut [TransferOptions],
        section: &mut ByteioSection,
    ) -> Result<(), Failure> {
        let best = name_best(&mut section.pairs);
        let best = best.and_then(|at| jobs.get_mut(at));
        if let Some(options) = best.filter(|_| !self.stop.is_requested()) {
            options.client.stop = self.stop.clone();
            section.pairs.extend(self.all(&controls(options))?);
            name_best(&mut section.pairs);
        }
        Ok(())
    }

    /// One transfer.
    pub(super) fn run(&self, options: &TransferOptions, pair: &mut Pair) -> Result<(), Failure> {
        if job::run(options, pair, &self.stop, self.quiet)? {
            self.one_stream.set(true);
        }
        Ok(())
    }

    /// One run; a failure of the first is an error, of a later one ends the pair.
    pub(super) fn once(
        &self,
        pair: &mut Pair,
        run: impl FnOnce(&mut Pair) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match run(pair) {
            Ok(()) => {}
            Err(failure) if pair.runs.is_empty() => return Err(failure),
            Err(failure) => pair.error = Some(failure.cause),
        }
        Ok(())
    }
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
            overwrite: true,
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

/// The best shape is named, and the cheapest that comes within 5 % of it: fewer connections, fewer outstanding, the
/// system's congestion control. Which one it is.
fn name_best(pairs: &mut [Pair]) -> Option<usize> {
    let rate = |pair: &Pair| pair.summary.as_ref().map_or(0.0, |s| s.median_bytes_per_s.get());
    let best = pairs.iter().map(rate).fold(0.0, f64::max);
    let near = pairs
        .iter()
        .enumerate()
        .filter(|(_, pair)| rate(pair) >= 0.95 * best && best > 0.0);
    let cost = |pair: &Pair| {
        (
            pair.threads * pair.depth_ops,
            pair.threads,
            pair.congestion.is_some(),
        )
    };
    let cheapest = near.min_by_key(|(_, pair)| cost(pair)).map(|(at, _)| at);
    for (at, pair) in pairs.iter_mut().enumerate() {
        pair.name = match Some(at) == cheapest {
            true => render::byteio::RECOMMENDED.to_owned(),
            false => "tried".to_owned(),
        };
    }
    cheapest
}

/// A link's speed: `100Mb/s`, `1 Gb/s`; powers of ten, as the field writes it. The figure is in bytes.
pub fn speed(text: &str) -> Result<Finite, Failure> {
    let bad = || {
        Failure::usage(
            format!("{text:?} is not the speed of a link"),
            "write it like 100Mb/s or 1Gb/s",
        )
    };
    let short = text
        .trim()
        .trim_end_matches("/s")
        .trim_end_matches("ps")
        .trim_end_matches(['b', 'B']);
    let (number, factor) = match short.chars().last() {
        Some('k' | 'K') => (&short[..short.len() - 1], 1e3),
        Some('M') => (&short[..short.len() - 1], 1e6),
        Some('G') => (&short[..short.len() - 1], 1e9),
        _ => (short, 1.0),
    };
    let value: f64 = number.trim().replace(',', "").parse().map_err(|_| bad())?;
    Finite::maybe(value * factor / 8.0)
        .filter(|v| v.get() > 0.0)
        .ok_or_else(bad)
}

fn show(jobs: &[TransferOptions], how: &str) -> Result<Ended, Failure> {
    let mut text = String::new();
    for options in jobs {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{} {} {}: {} connections x {} x {} outstanding, {how}",
            options.client.direction.name(),
            options.client.way.name(),
            options.client.url,
            options.threads,
            format_size(options.block_bytes),
            options.depth
        );
    }
    output::print(&text).map(|()| Ended::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_of_links() {
        for (text, bytes) in [
            ("100Mb/s", 12.5e6),
            ("1 Gb/s", 125e6),
            ("10,000 Mb/s", 1.25e9),
            ("8", 1.0),
            ("64kbps", 8e3),
        ] {
            assert_eq!(speed(text).unwrap().get(), bytes, "{text}");
        }
        for bad in ["", "fast", "-1Mb/s", "0", "1e400Gb/s", "Mb/s"] {
            assert_eq!(speed(bad).unwrap_err().code, 2, "{bad}");
        }
    }
}
