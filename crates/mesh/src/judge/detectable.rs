//! How slow a host or link has to be for this judgement to have named it with a good chance, from the noise that it measured.
//! It must never depend on how slow a suspect is: it says what silence is worth.

use super::candidates::{Candidates, PARTNERS, PARTNERS_MIN, SUSPECT, SUSPECT_LINK};
use super::confirm::CLEARED;
use super::looks;
use super::polish::{CUT, Effects};
use super::reference::{self, Against, FEW};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::f64::consts::PI;
use wirespeed_report::thresholds::POWER;

/// What decides between suspects and verdicts.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Probability of a false alarm of all hosts, or of all links, in a look.
    pub family: f64,
    /// Logarithm of the share that is worth naming.
    pub worth: f64,
    /// Share of figures that fail.
    pub failing: f64,
    /// Figures of a pair in the survey.
    pub cycles: usize,
    /// Looks that a suspect has.
    pub looks: usize,
}

/// Standard deviations by which each of three steps has to be cleared, so that all three are with a chance of `POWER`: to be
/// suspect, to stay so after the first look, and to be named after the last.
fn margin(of: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - of)
}

/// The share of failures that a step may have.
const MISSED: f64 = (1.0 - POWER) / 3.0;

/// How much larger than measured the noise is taken to be: it has an error of its own, and from few figures a large one.
fn caution(effects: &Effects) -> f64 {
    1.0 + 1.0 / (2.0 * reference::freedom(effects)).sqrt()
}

/// The ratio to the median from which on down a host that is slow in one direction is named, of whichever direction is known
/// worse. `None`: no host can be named.
pub fn host(effects: &Effects, candidates: &Candidates, asked: Asked) -> Option<f64> {
    let sides = [0, 1].map(|side| of_side(effects, candidates, side, asked));
    Some((-sides[0]?.max(sides[1]?)).exp())
}

fn of_side(effects: &Effects, candidates: &Candidates, side: usize, asked: Asked) -> Option<f64> {
    let hosts = effects.measured(side);
    if hosts <= PARTNERS_MIN || effects.free == 0 || asked.looks == 0 {
        return None;
    }
    let (z, caution) = (margin(MISSED), caution(effects));
    let surveyed = caution * effects.usual_error(side);
    let spread = effects.spread_with_one_slow(side);
    let suspect = (-SUSPECT * spread.hypot(surveyed)).max(-asked.worth / 2.0) + z * surveyed;
    let named = |host: usize| candidates.named_hosts.contains_key(&(host, side));
    let after = |looks: usize, p: f64| {
        let of = |count: usize| ((count * looks) as f64 * (1.0 - asked.failing)) as usize;
        let figures = of(PARTNERS);
        let partners = figures.min(hosts - 1);
        let error = caution * effects.fresh_error(side, [figures, partners, of(PARTNERS - 1)]);
        let against = match hosts < FEW {
            true => Against {
                mean: asked.worth,
                error,
                freedom: reference::freedom(effects) + figures as f64 - 1.0,
            },
            false => reference::of_all(effects, (side, error), named)?,
        };
        let law = StudentsT::new(0.0, 1.0, against.freedom).ok()?;
        let beyond = -against.mean - law.inverse_cdf(p) * against.error;
        Some(beyond.max(-asked.worth) + z * error)
    };
    let kept = after(1, CLEARED)?;
    let named = after(asked.looks, asked.family / candidates.looked_at.max(1) as f64)?;
    Some(suspect.max(kept).max(named))
}

/// The same of one direction of a link. `None`: there are too few hosts above suspicion to compare its ends with.
pub fn link(effects: &Effects, candidates: &Candidates, asked: Asked) -> Option<f64> {
    let partners = effects.measured(0).min(effects.measured(1)).saturating_sub(1);
    let ends_and_others = 4;
    if looks::trusted(candidates, effects).len() < ends_and_others || effects.free == 0 || asked.looks == 0 {
        return None;
    }
    let (z, noise) = (margin(MISSED), caution(effects) * effects.noise);
    // One of its figures has to be suspect; what the fit makes of a figure far off is taken from it.
    let of_one = margin(MISSED.powf(1.0 / asked.cycles.max(1) as f64));
    let fitted = 2.0 * CUT * noise / (partners - 1) as f64;
    let suspect = (-SUSPECT_LINK * noise).max(-asked.worth / 2.0) + of_one * noise + fitted;
    // A contrast is of four figures; signed ranks make use of 3/π of normal ones.
    let after = |contrasts: usize| 2.0 * noise / (contrasts as f64 * 3.0 / PI).sqrt();
    let kept = -asked.worth / 2.0 + z * after(looks::contrasts(0));
    let error = after((0..asked.looks).map(looks::contrasts).sum());
    let links = candidates.all_links.as_slice().len().max(1) as f64;
    let named = (margin(asked.family / links) + z) * error;
    let shift = [suspect, kept, named, z * error - asked.worth];
    Some((-shift.into_iter().fold(0.0, f64::max)).exp())
}
