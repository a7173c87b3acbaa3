//! Latency against offered load: where waiting begins to dominate, and how much can be carried within a bound.

use crate::stats::{LEVEL, Resampling, nested};
use crate::thresholds::{
    CARRIED_MESSAGES_MIN, CARRIED_SHARE_MIN, FIT_RESIDUAL_MAX, KNEE_POINTS_MIN, KNEE_RISE_MIN,
};
use wirespeed_schema::Test;

/// One offered rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Messages offered a second.
    pub offered_per_s: f64,
    /// Messages carried a second.
    pub achieved_per_s: f64,
    /// Upper end of their interval over runs.
    pub achieved_upper_per_s: Option<f64>,
    /// Messages of one run.
    pub messages: u64,
    /// Mean time from the intended start to the end; where it is not known, the median.
    pub response_ns: f64,
    /// Its 99th percentile.
    pub response_p99_ns: Option<f64>,
}

/// Rates that nothing carries stand for "as fast as the window allows": nothing was offered.
pub const UNLIMITED_PER_S: u64 = 1_000_000_000;

/// The rate that a test offers, unless it stands for one without a limit.
pub fn rate_offered_per_s(test: &Test) -> Option<f64> {
    test.pace_per_s().filter(|pace| *pace < UNLIMITED_PER_S as f64)
}

impl LoadPoint {
    /// Whether the rate is carried. It is not, and the queue grows without end, where too small a share comes through and more
    /// than one message was left behind: a run of a few messages ends between two of them. `None` where only the interval
    /// over runs reaches the share, and where the run is too short to tell.
    pub fn is_carried(&self) -> Option<bool> {
        let least_per_s = CARRIED_SHARE_MIN * self.offered_per_s;
        if self.is_too_short() {
            return None;
        }
        if self.achieved_per_s >= least_per_s || self.behind() <= 1.0 {
            return Some(true);
        }
        match self.achieved_upper_per_s {
            Some(upper) if upper >= least_per_s => None,
            _ => Some(false),
        }
    }

    fn behind(&self) -> f64 {
        self.messages as f64 * (self.offered_per_s / self.achieved_per_s - 1.0)
    }

    /// Whether the rate was missed by no more than one message of very few, so that nobody can tell whether it is carried.
    pub(crate) fn is_too_short(&self) -> bool {
        let is_missed = self.achieved_per_s < CARRIED_SHARE_MIN * self.offered_per_s;
        is_missed && self.messages < CARRIED_MESSAGES_MIN && self.behind() <= 1.0
    }

    /// Whether it is surely not carried.
    pub fn is_saturated(&self) -> bool {
        self.is_carried() == Some(false)
    }
}

/// The load at which rate / response time is greatest: beyond it, more load buys mostly waiting (Kleinrock, "Power and
/// deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Offered rate at the knee.
    pub offered_per_s: f64,
    /// Rate at which the fit becomes infinite: what can be carried at all.
    pub limit_per_s: f64,
    /// Interval of the limit, from resampled residuals.
    pub limit_interval: Option<(f64, f64)>,
    /// Response time without load.
    pub unloaded_ns: f64,
    /// Root mean square of the fit's relative residuals.
    pub residual_ratio: f64,
}

/// Why a load curve has no knee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoKnee {
    /// Fewer rates than a fit needs are carried: so many.
    TooFew(usize),
    /// Response time hardly rises: the load was too light, or nothing waits.
    Flat,
    /// The fit misses by this part of the times.
    Residual(f64),
    /// The fit has it beyond the rates that are carried.
    Beyond,
}

/// Fit R = R0 + c·ρ/(1-ρ), ρ = λ/μ, to the points that are carried, and the greatest λ/R of the fit, which is at
/// ρ = 1/(1 + √(c/R0)). For M/D/1 c = R0/2, for M/M/1 c = R0.
pub fn knee(points: &[LoadPoint]) -> Result<Knee, NoKnee> {
    let used: Vec<LoadPoint> = points
        .iter()
        .copied()
        .filter(|p| p.is_carried() == Some(true) && p.offered_per_s > 0.0 && p.response_ns > 0.0)
        .collect();
    let responses = || used.iter().map(|point| point.response_ns);
    let (least, most) = (
        responses().fold(f64::MAX, f64::min),
        responses().fold(0.0, f64::max),
    );
    if used.len() < KNEE_POINTS_MIN {
        return Err(NoKnee::TooFew(used.len()));
    }
    if most < KNEE_RISE_MIN * least {
        return Err(NoKnee::Flat);
    }
    let fit = fit(&used).ok_or(NoKnee::Flat)?;
    if fit.residual_ratio > FIT_RESIDUAL_MAX {
        return Err(NoKnee::Residual(fit.residual_ratio));
    }
    let utilisation = 1.0 / (1.0 + (fit.waiting_ns / fit.unloaded_ns).sqrt());
    let offered_per_s = utilisation * fit.limit_per_s;
    let rates = || used.iter().map(|point| point.offered_per_s);
    let (lowest, highest) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    let fails = carried(points).fails_per_s.unwrap_or(f64::INFINITY);
    if !(lowest..=highest).contains(&offered_per_s) || offered_per_s >= fails {
        return Err(NoKnee::Beyond);
    }
    Ok(Knee {
        offered_per_s,
        limit_per_s: fit.limit_per_s,
        limit_interval: limit_interval(&used, &fit),
        unloaded_ns: fit.unloaded_ns,
        residual_ratio: fit.residual_ratio,
    })
}

#[derive(Debug, Clone, Copy)]
struct Fit {
    limit_per_s: f64,
    unloaded_ns: f64,
    waiting_ns: f64,
    residual_ratio: f64,
}

impl Fit {
    fn response_ns(&self, offered_per_s: f64) -> f64 {
        let utilisation = offered_per_s / self.limit_per_s;
        self.unloaded_ns + self.waiting_ns * utilisation / (1.0 - utilisation)
    }
}

/// For each limit on a fine grid the best line of R over ρ/(1-ρ), with relative weights; the best limit of all.
fn fit(points: &[LoadPoint]) -> Option<Fit> {
    let largest = points.iter().map(|p| p.offered_per_s).fold(0.0, f64::max);
    let grid = (1..=600).map(|step| largest * (1.0 + 0.00002 * 1.025f64.powi(step)));
    let fits = grid.filter_map(|limit| fit_at(points, limit));
    fits.min_by(|a, b| a.residual_ratio.total_cmp(&b.residual_ratio))
}

fn fit_at(points: &[LoadPoint], limit_per_s: f64) -> Option<Fit> {
    let (mut sw, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for point in points {
        let utilisation = point.offered_per_s / limit_per_s;
        let (x, y) = (utilisation / (1.0 - utilisation), point.response_ns);
        let weight = 1.0 / (y * y);
        sw += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
    }
    let determinant = sw * sxx - sx * sx;
    let waiting_ns = (sw * sxy - sx * sy) / determinant;
    let unloaded_ns = (sy - waiting_ns * sx) / sw;
    if !(waiting_ns > 0.0 && unloaded_ns > 0.0) {
        return None;
    }
    let mut fit = Fit {
        limit_per_s,
        unloaded_ns,
        waiting_ns,
        residual_ratio: 0.0,
    };
    let squares = points
        .iter()
        .map(|p| (fit.response_ns(p.offered_per_s) / p.response_ns - 1.0).powi(2));
    fit.residual_ratio = (squares.sum::<f64>() / points.len() as f64).sqrt();
    fit.residual_ratio.is_finite().then_some(fit)
}

/// Interval of the limit: refit with the relative residuals drawn anew onto the fitted curve.
fn limit_interval(points: &[LoadPoint], fit: &Fit) -> Option<(f64, f64)> {
    let residuals: Vec<f64> = points
        .iter()
        .map(|p| p.response_ns / fit.response_ns(p.offered_per_s))
        .collect();
    let how = Resampling {
        resamples: 100,
        seed: 1,
        level: LEVEL,
    };
    let refit = |drawn: &mut [f64]| {
        let moved: Vec<LoadPoint> = points
            .iter()
            .zip(drawn.iter())
            .map(|(point, residual)| LoadPoint {
                response_ns: fit.response_ns(point.offered_per_s) * residual,
                ..*point
            })
            .collect();
        self::fit(&moved).map_or(f64::NAN, |fit| fit.limit_per_s)
    };
    nested(std::slice::from_ref(&residuals), how, refit).map(|found| (found.lower, found.upper))
}

/// Up to which offered rate something holds. Every rate up to the one that passes keeps it or tells nothing; the one that
/// fails does not keep it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// The highest offered rate below the first that fails.
    pub passes_per_s: Option<f64>,
    /// The lowest offered rate that does not keep it; `None`: none fails.
    pub fails_per_s: Option<f64>,
    /// Rates that tell nothing.
    pub unknown: usize,
    /// Rates beyond the one that fails that keep it again: a disturbance, not an end.
    pub again: usize,
}

/// The rates within which the bound `p99_max_ns` stops being kept, by the rows as they are shown. A row with too few samples
/// for a 99th percentile tells nothing, unless it is saturated.
pub fn capacity(rows: &[LoadPoint], p99_max_ns: f64) -> Capacity {
    bracket(rows, |row| match (row.is_saturated(), row.response_p99_ns) {
        (true, _) => Some(false),
        (false, p99) => p99.map(|p99| p99 <= p99_max_ns),
    })
}

/// The rates within which the load stops being carried, whatever a message waits.
pub fn carried(rows: &[LoadPoint]) -> Capacity {
    bracket(rows, LoadPoint::is_carried)
}

fn bracket(rows: &[LoadPoint], keeps: impl Fn(&LoadPoint) -> Option<bool> + Copy) -> Capacity {
    let with = |wanted: Option<bool>| {
        let found = rows.iter().filter(move |row| keeps(row) == wanted);
        found.map(|row| row.offered_per_s).collect::<Vec<f64>>()
    };
    let (kept, failed, unknown) = (with(Some(true)), with(Some(false)), with(None).len());
    let fails_per_s = failed.into_iter().reduce(f64::min);
    let (below, beyond): (Vec<f64>, Vec<f64>) = kept
        .into_iter()
        .partition(|rate| fails_per_s.is_none_or(|fails| *rate < fails));
    Capacity {
        passes_per_s: below.into_iter().reduce(f64::max),
        fails_per_s,
        unknown,
        again: beyond.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    /// M/D/1 with a service time of 1 µs: mean response s·(1 + ρ/(2(1-ρ))).
    fn m_d_1(noise: f64, seed: u64) -> Vec<LoadPoint> {
        let mut random = Random::new(seed);
        (1..=11)
            .map(|tenth| {
                let offered = f64::from(tenth) * 1e5;
                let utilisation: f64 = offered / 1e6;
                let response = match utilisation < 0.99 {
                    true => 1000.0 * (1.0 + utilisation / (2.0 * (1.0 - utilisation))),
                    false => 1e6,
                };
                LoadPoint {
                    offered_per_s: offered,
                    achieved_per_s: offered.min(0.985e6),
                    achieved_upper_per_s: None,
                    messages: 60_000,
                    response_ns: response * (noise * random.normal()).exp(),
                    response_p99_ns: Some(response * 3.0),
                }
            })
            .collect()
    }

    #[test]
    fn the_knee_of_m_d_1_is_where_theory_has_it() {
        for seed in 0..20 {
            let found = knee(&m_d_1(0.01, seed)).unwrap();
            let truth = (2.0 - 2f64.sqrt()) * 1e6;
            assert!(
                (found.offered_per_s / truth - 1.0).abs() < 0.05,
                "seed {seed}: {found:?}"
            );
            assert!(
                (found.limit_per_s / 1e6 - 1.0).abs() < 0.05,
                "seed {seed}: {found:?}"
            );
            let (lower, upper) = found.limit_interval.unwrap();
            assert!(lower <= found.limit_per_s && found.limit_per_s <= upper);
            let width = (upper - lower) / found.limit_per_s;
            assert!((0.001..0.1).contains(&width), "seed {seed}: {width}");
        }
    }

    #[test]
    fn points_without_a_rate_or_a_time_are_no_part_of_the_fit() {
        let points = m_d_1(0.01, 3);
        let found = knee(&points).unwrap();
        for (offered_per_s, response_ns) in [(0.0, 1000.0), (1e5, 0.0), (1e5, -1.0)] {
            let bad = LoadPoint {
                offered_per_s,
                response_ns,
                ..points[0]
            };
            assert_eq!(knee(&[&[bad][..], &points].concat()), Ok(found));
        }
    }

    /// One response that is too long pulls the limit down wherever it is drawn.
    #[test]
    fn the_limit_is_uncertain_on_the_side_of_the_residual() {
        for (times, is_below) in [(1.1, true), (0.9, false)] {
            let mut points = m_d_1(0.0, 1);
            points[4].response_ns *= times;
            let found = knee(&points).unwrap();
            let (lower, upper) = found.limit_interval.unwrap();
            let (below, above) = (found.limit_per_s - lower, upper - found.limit_per_s);
            assert_eq!(below > above, is_below, "{below} {above}");
        }
    }

    #[test]
    fn responses_that_do_not_rise_have_no_limit() {
        let at = |offered_per_s, response_ns| LoadPoint {
            offered_per_s,
            achieved_per_s: offered_per_s,
            achieved_upper_per_s: None,
            messages: 1000,
            response_ns,
            response_p99_ns: None,
        };
        assert!(fit_at(&[at(1e5, 1.0), at(5e5, 1.0)], 1e6).is_none());
        assert!(fit_at(&[at(1e5, 2.0), at(5e5, 1.0)], 1e6).is_none());
        let found = fit_at(&[at(2e5, 1025.0), at(5e5, 1100.0)], 1e6).unwrap();
        assert!((found.unloaded_ns - 1000.0).abs() < 1e-6, "{found:?}");
        assert!((found.waiting_ns - 100.0).abs() < 1e-6, "{found:?}");
        assert!(found.residual_ratio < 1e-9, "{found:?}");
        // Errors count by their share: the slow points do not outweigh the others.
        let found = fit_at(&[at(2e5, 1025.0), at(5e5, 1100.0), at(9e5, 4000.0)], 1e6).unwrap();
        assert!((862.0..863.0).contains(&found.unloaded_ns), "{found:?}");
        assert!((336.0..336.5).contains(&found.waiting_ns), "{found:?}");
        assert!((0.0699..0.07).contains(&found.residual_ratio), "{found:?}");
    }

    #[test]
    fn a_run_of_a_few_messages_is_not_saturated_by_the_end_of_one() {
        let few = LoadPoint {
            offered_per_s: 20.0,
            achieved_per_s: 19.5,
            achieved_upper_per_s: None,
            messages: 8,
            response_ns: 1e6,
            response_p99_ns: None,
        };
        assert_eq!(few.is_carried(), None, "2.5 % less than what was offered");
        for achieved_per_s in [19.9, 20.0] {
            let enough = LoadPoint {
                achieved_per_s,
                ..few
            };
            assert_eq!(enough.is_carried(), Some(true));
        }
        assert_eq!(LoadPoint { messages: 20, ..few }.is_carried(), Some(true));
        assert!(LoadPoint { messages: 80, ..few }.is_saturated());
        let nothing = LoadPoint {
            achieved_per_s: 0.0,
            ..few
        };
        assert!(nothing.is_saturated());
    }

    #[test]
    fn a_rate_within_the_noise_of_the_runs_is_neither_carried_nor_saturated() {
        let near = |upper| LoadPoint {
            offered_per_s: 481.0,
            achieved_per_s: 475.0,
            achieved_upper_per_s: upper,
            messages: 2000,
            response_ns: 1e6,
            response_p99_ns: None,
        };
        assert_eq!(near(Some(480.0)).is_carried(), None);
        assert_eq!(near(Some(476.0)).is_carried(), Some(false));
        assert_eq!(near(None).is_carried(), Some(false));
        let found = carried(&[near(Some(480.0))]);
        assert_eq!(
            (found.passes_per_s, found.fails_per_s, found.unknown),
            (None, None, 1)
        );
    }

    #[test]
    fn a_load_that_is_too_light_has_no_knee() {
        let flat: Vec<LoadPoint> = m_d_1(0.0, 1)
            .into_iter()
            .map(|p| LoadPoint {
                response_ns: 1000.0,
                ..p
            })
            .collect();
        assert_eq!(knee(&flat), Err(NoKnee::Flat));
        assert_eq!(knee(&m_d_1(0.0, 1)[..4]), Err(NoKnee::TooFew(4)));
        let mut random = Random::new(2);
        let noise: Vec<LoadPoint> = m_d_1(0.0, 1)
            .into_iter()
            .map(|p| LoadPoint {
                response_ns: 1000.0 * random.normal().exp(),
                ..p
            })
            .collect();
        assert!(knee(&noise).is_err());
    }

    #[test]
    fn no_knee_is_told_where_the_load_is_not_carried() {
        // The knee of this M/D/1 is at 586 k.
        let spoilt = |from: usize| {
            let mut points = m_d_1(0.0, 1);
            points[from].achieved_per_s = 0.5 * points[from].offered_per_s;
            points
        };
        assert!(knee(&spoilt(6)).is_ok());
        assert_eq!(
            knee(&spoilt(4)),
            Err(NoKnee::Beyond),
            "one below it is not carried"
        );
        let mut light = m_d_1(0.0, 1);
        light.truncate(5);
        assert!(light[4].response_ns > KNEE_RISE_MIN * light[0].response_ns);
        assert_eq!(knee(&light), Err(NoKnee::Beyond));
        light.push(LoadPoint {
            achieved_per_s: 1e5,
            ..m_d_1(0.0, 1)[9]
        });
        assert_eq!(
            knee(&light),
            Err(NoKnee::Beyond),
            "a rate offered beyond it is not carried"
        );
    }

    #[test]
    fn the_bound_is_bracketed() {
        let points = m_d_1(0.0, 1);
        // p99 is three times the mean: at 0.7 it is 6.5 µs, at 0.8 it is 9 µs.
        let found = capacity(&points, 8000.0);
        assert_eq!((found.passes_per_s, found.fails_per_s), (Some(7e5), Some(8e5)));
        assert_eq!(capacity(&points, 10.0).passes_per_s, None);
        assert_eq!(capacity(&points[..5], 1e9).fails_per_s, None);
        let all = carried(&points);
        assert_eq!((all.passes_per_s, all.fails_per_s), (Some(9e5), Some(1e6)));
        // Too few samples for a percentile at low rates: they neither keep the bound nor break it.
        let mut few = points.clone();
        few[..3].iter_mut().for_each(|point| point.response_p99_ns = None);
        assert_eq!(capacity(&few, 8000.0), Capacity { unknown: 3, ..found });
        let nothing = Capacity {
            passes_per_s: None,
            fails_per_s: None,
            unknown: 0,
            again: 0,
        };
        assert_eq!(capacity(&[], 1.0), nothing);
        // One rate is disturbed: the bracket ends there, and those beyond are counted.
        let mut one = points.clone();
        one[2].achieved_per_s = 0.5 * one[2].offered_per_s;
        let found = carried(&one);
        assert_eq!(
            (found.passes_per_s, found.fails_per_s, found.again),
            (Some(2e5), Some(3e5), 6)
        );
    }
}
