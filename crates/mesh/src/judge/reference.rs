//! What healthy hosts do, as a sample that a suspect is compared with. It must never hold the suspect itself, nor what is
//! slower than it.

use super::polish::{Effects, OF_MEDIAN};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The share of the residuals' degrees of freedom that an M-estimate's error makes use of.
const EFFICIENCY: f64 = 0.7;
/// The share of normal values that Qn makes use of.
const EFFICIENCY_OF_QN: f64 = 0.82;
/// Healthy hosts that a spread can be taken from.
const HEALTHY_MIN: usize = 5;
/// Hosts below which their spread cannot be told from one slow host.
pub const FEW: usize = 8;
/// Robust standard deviations above the median from which on a host is of another kind and says nothing of the spread.
const FAST: f64 = 4.0;

/// A suspect's effect as a logarithm, and its standard error.
#[derive(Debug, Clone, Copy)]
pub struct Suspected {
    pub host: usize,
    pub effect: f64,
    pub error: f64,
}

/// The law of a healthy host's effect: Student's t around `mean`.
#[derive(Debug, Clone, Copy)]
pub struct Against {
    pub mean: f64,
    pub error: f64,
    pub freedom: f64,
}

/// The law by which a host slower than all but those that are `named` would be judged, whose effect has the standard error
/// `error`; `None` with too few hosts.
pub fn of_all(
    effects: &Effects,
    (side, error): (usize, f64),
    named: impl Fn(usize) -> bool,
) -> Option<Against> {
    let most = fastest(effects, side);
    let mut all = Sample::default();
    let values = effects.hosts[side].iter().zip(&effects.counts[side]);
    values
        .enumerate()
        .filter(|(host, (value, count))| **count > 0 && **value <= most && !named(*host))
        .for_each(|(_, (value, _))| all.add(*value));
    all.against(effects, side, error)
}

/// The effect above which a host is of another kind.
fn fastest(effects: &Effects, side: usize) -> f64 {
    FAST * effects.spread[side].hypot(effects.usual_error(side))
}

/// Probabilities of effects as low as those of `suspects` where these are healthy, in the order given.
///
/// Hosts differ, and how much is known from other hosts alone: a suspect is compared with the mean and standard deviation of
/// those that are neither slower suspects nor itself, by Student's t. Suspects are taken off from the slowest up, and what one
/// that is less slow shows holds for all slower ones: else two slow hosts would hide each other. That is the generalised
/// extreme Studentised deviate (Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25,
/// 1983), with the suspect's own value taken from fresh figures. Hosts that are `named` already are slow, and no sample of the healthy.
/// `explained` is what a unit makes of each host.
pub fn probabilities(
    effects: &Effects,
    side: usize,
    suspects: &[Suspected],
    named: impl Fn(usize) -> bool,
    explained: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let most = fastest(effects, side);
    let value = |host: usize| {
        let value = effects.hosts[side][host] - explained(host);
        (effects.counts[side][host] > 0 && value <= most).then_some(value)
    };
    let mut is_suspect = vec![false; effects.hosts[side].len()];
    suspects
        .iter()
        .for_each(|suspect| is_suspect[suspect.host] = true);
    let mut healthy = Sample::default();
    (0..is_suspect.len())
        .filter(|host| !is_suspect[*host] && !named(*host))
        .filter_map(value)
        .for_each(|value| healthy.add(value));
    let mut order: Vec<usize> = (0..suspects.len()).collect();
    order.sort_by(|a, b| suspects[*b].effect.total_cmp(&suspects[*a].effect));
    let (mut found, mut least) = (vec![1.0; suspects.len()], 1.0_f64);
    for at in order {
        least = least.min(healthy.probability(effects, side, suspects[at]));
        found[at] = least;
        value(suspects[at].host)
            .into_iter()
            .for_each(|value| healthy.add(value));
    }
    found
}

/// Mean and squares of a sample (Welford, Technometrics 4, 1962).
#[derive(Default)]
struct Sample {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Sample {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let away = value - self.mean;
        self.mean += away / self.count;
        self.squares += away * (value - self.mean);
    }

    /// What a suspect whose effect has this standard error is compared with; `None` with too few healthy hosts.
    ///
    /// The sample's variance holds the spread of hosts and the survey's error; where the suspect's error is larger, what it is
    /// larger by is added. Never less than the survey's error: a spread below none is chance.
    fn against(&self, effects: &Effects, side: usize, error: f64) -> Option<Against> {
        if self.count < HEALTHY_MIN as f64 {
            return None;
        }
        let surveyed = effects.usual_error(side).powi(2);
        let between = (self.squares / (self.count - 1.0)).max(surveyed) * (1.0 + 1.0 / self.count);
        let more = (error.powi(2) - surveyed).max(0.0);
        let whole = between + more;
        let parts = between * between / (self.count - 1.0) + more * more / freedom(effects);
        let freedom = if parts > 0.0 {
            whole * whole / parts
        } else {
            freedom(effects)
        };
        Some(Against {
            mean: self.mean,
            error: whole.sqrt(),
            freedom,
        })
    }

    fn probability(&self, effects: &Effects, side: usize, suspect: Suspected) -> f64 {
        let against = self.against(effects, side, suspect.error);
        against.map_or(1.0, |Against { mean, error, freedom }| {
            lower_tail(suspect.effect - mean, error, freedom)
        })
    }
}

/// Degrees of freedom of the noise.
pub fn freedom(effects: &Effects) -> f64 {
    (EFFICIENCY * effects.free as f64).max(1.0)
}

/// Degrees of freedom of a median over hosts of a unit, of noise and spread together (Welch and Satterthwaite).
pub fn of_unit(effects: &Effects, side: usize, error: f64, spread: f64) -> f64 {
    let hosts = effects.measured(side);
    let of_spread = (EFFICIENCY_OF_QN * hosts.saturating_sub(1) as f64).max(1.0);
    let (noise, spread) = (error * error, spread * spread);
    let whole = noise + spread;
    if whole <= 0.0 {
        return freedom(effects);
    }
    whole * whole / (noise * noise / freedom(effects) + spread * spread / of_spread)
}

/// Probability of `effect` or less, of Student's t. Without any noise an effect is certain.
pub fn lower_tail(effect: f64, error: f64, freedom: f64) -> f64 {
    match error > 1e-9 {
        true => StudentsT::new(0.0, error, freedom).map_or(1.0, |law| law.cdf(effect)),
        false if effect < -1e-6 => 0.0,
        false => 1.0,
    }
}

impl Effects {
    /// Hosts with figures.
    pub fn measured(&self, side: usize) -> usize {
        self.counts[side].iter().filter(|count| **count > 0).count()
    }

    /// Standard error of a measured host's effect; the median of all.
    pub fn usual_error(&self, side: usize) -> f64 {
        let counts = &self.counts[side];
        let measured = (0..counts.len()).filter(|host| counts[*host] > 0);
        let mut errors: Vec<f64> = measured.map(|host| self.error(side, host)).collect();
        match errors.is_empty() {
            true => 0.0,
            false => wirespeed_report::stats::median(&mut errors),
        }
    }

    /// Standard error of an effect by `figures` fresh ones with `partners` partners beside `controls`: noise, the partners'
    /// own errors, and that of what all are compared with.
    pub fn fresh_error(&self, side: usize, [figures, partners, controls]: [usize; 3]) -> f64 {
        let one = self.single * self.single;
        let of_partners = self.usual_error(1 - side).powi(2);
        let of_controls = OF_MEDIAN * OF_MEDIAN * one / controls.max(1) as f64;
        (one / figures.max(1) as f64 + of_partners / partners.max(1) as f64 + of_controls).sqrt()
    }
}
