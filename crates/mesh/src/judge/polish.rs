//! Median polish over a sparse matrix: what a host does as sender, as receiver, and what is left. It must never be moved
//! by the order of its cells, nor by a minority of slow ones.

use crate::Pair;
use wirespeed_report::stats::median;

/// A measured figure of an ordered pair.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub from: usize,
    pub to: usize,
    /// Logarithm of the figure; larger is better.
    pub log: f64,
}

impl Cell {
    /// Whose figure it is.
    pub fn pair(self) -> Pair {
        Pair {
            from: self.from,
            to: self.to,
        }
    }
}

/// Sweeps over rows and columns; the effects of a sparse matrix settle within a few.
const SWEEPS: usize = 12;
/// Steps from medians to Huber's estimates.
const REFINED: usize = 3;
/// Standard deviations at which Huber's estimate cuts figures off.
pub const CUT: f64 = 1.345;
/// The standard deviation of a normal law over its median absolute deviation.
const NORMAL: f64 = 1.4826;
/// Values up to which distances between all of them are looked at.
const MANY: usize = 256;
/// The standard error of a median over that of a mean, of a normal law.
pub const OF_MEDIAN: f64 = 1.2533;

/// What the cells consist of, as logarithms.
#[derive(Debug, Clone)]
pub struct Effects {
    /// The grand median.
    pub grand: f64,
    /// Of each host as sender `[0]` and as receiver `[1]`.
    pub hosts: [Vec<f64>; 2],
    /// Cells of each host as sender and as receiver.
    pub counts: [Vec<usize>; 2],
    /// What is left of each cell.
    pub residuals: Vec<f64>,
    /// Cells beyond as many as there are effects.
    pub free: usize,
    /// Standard deviation of one cell.
    pub noise: f64,
    /// What one figure gives to the standard error of an effect: that of k figures is this over √k.
    pub single: f64,
    /// How much more the variance of a host's effect is for its partners' own errors.
    pub of_partners: [f64; 2],
    /// Standard deviation of the effects of healthy hosts beyond what noise explains, as sender and as receiver.
    pub spread: [f64; 2],
}

impl Effects {
    /// Standard error of a host's effect, that of its partners' effects included. Infinite without cells.
    pub fn error(&self, side: usize, host: usize) -> f64 {
        self.single * (self.of_partners[side] / self.counts[side][host] as f64).sqrt()
    }

    /// The effects of hosts with figures.
    fn measured_effects(&self, side: usize) -> Vec<f64> {
        let all = self.hosts[side].iter().zip(&self.counts[side]);
        all.filter(|(_, count)| **count > 0)
            .map(|(effect, _)| *effect)
            .collect()
    }

    /// What the spread would be taken for if one of these hosts were very slow.
    pub fn spread_with_one_slow(&self, side: usize) -> f64 {
        let mut values = self.measured_effects(side);
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if let Some(value) = values.get_mut(middle) {
            *value = f64::MIN / 4.0;
        }
        beyond_noise(self, side, &values)
    }
}

/// A robust standard deviation of `values` around zero. 0 without values.
fn scale(values: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = values.map(f64::abs).collect();
    if sizes.is_empty() {
        0.0
    } else {
        NORMAL * median(&mut sizes)
    }
}

/// A robust standard deviation of few values, from the distances between them: Qn of Rousseeuw and Croux (Alternatives to
/// the median absolute deviation, JASA 88, 1993), which makes use of 82 % of normal values where the median deviation
/// makes use of 37 %. For many the median deviation does.
fn between(values: &[f64]) -> f64 {
    let count = values.len();
    if !(2..=MANY).contains(&count) {
        return scale(values.iter().copied());
    }
    let from = |at: usize| {
        values[at + 1..]
            .iter()
            .map(move |other| (other - values[at]).abs())
    };
    let mut distances: Vec<f64> = (0..count).flat_map(from).collect();
    let half = count / 2 + 1;
    let (_, quarter, _) = distances.select_nth_unstable_by(half * (half - 1) / 2 - 1, f64::total_cmp);
    let small = if count.is_multiple_of(2) { 3.8 } else { 1.4 };
    2.2219 * *quarter * count as f64 / (count as f64 + small)
}

/// Cells of each host on one side: `order[starts[h]..starts[h + 1]]`.
struct Index {
    starts: Vec<usize>,
    order: Vec<usize>,
}

impl Index {
    fn new(hosts: usize, cells: &[Cell], end: impl Fn(&Cell) -> usize) -> Index {
        let mut starts = vec![0; hosts + 1];
        for cell in cells {
            starts[end(cell) + 1] += 1;
        }
        for host in 0..hosts {
            starts[host + 1] += starts[host];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; cells.len()]);
        for (at, cell) in cells.iter().enumerate() {
            order[next[end(cell)]] = at;
            next[end(cell)] += 1;
        }
        Index { starts, order }
    }

    /// Take what `middle` says of each host's cells off them, and add it to the host's effect.
    fn sweep(
        &self,
        logs: &mut [f64],
        effects: &mut [f64],
        room: &mut Vec<f64>,
        middle: impl Fn(&mut [f64]) -> f64,
    ) {
        for (host, effect) in effects.iter_mut().enumerate() {
            let mine = self.of(host);
            if mine.is_empty() {
                continue;
            }
            room.clear();
            room.extend(mine.iter().map(|at| logs[*at]));
            let middle = middle(room);
            *effect += middle;
            mine.iter().for_each(|at| logs[*at] -= middle);
        }
    }

    fn of(&self, host: usize) -> &[usize] {
        &self.order[self.starts[host]..self.starts[host + 1]]
    }
}

/// A step from `from` to Huber's estimate of the middle of `values`, whose standard deviation is `noise`: the mean of what is
/// left of them, cut off at 1.345 deviations, over the share that is not cut (Huber, Robust estimation of a location parameter,
/// Annals of Mathematical Statistics 35, 1964). From a median it keeps the median's sturdiness, and makes use of 95 % of normal
/// values where a median makes use of 64 %.
fn step(values: &[f64], from: f64, noise: f64) -> f64 {
    let limit = CUT * noise;
    let whole: f64 = values
        .iter()
        .map(|value| (value - from).clamp(-limit, limit))
        .sum();
    let within = values
        .iter()
        .filter(|value| (*value - from).abs() <= limit)
        .count();
    match within {
        0 => from,
        within => from + whole / within as f64,
    }
}

/// The middle of `values`, whose standard deviation is `noise`: steps from their median.
pub fn middle(values: &mut [f64], noise: f64) -> f64 {
    let first = median(values);
    (0..REFINED).fold(first, |from, _| step(values, from, noise))
}

/// The standard error that one cell gives: √(E ψ²) / E ψ′ of the residuals, with the degrees of freedom that the fit took
/// (Huber, Robust statistics, 1981, chapter 7.6).
fn single(residuals: &[f64], noise: f64, fitted: usize) -> f64 {
    let (count, free) = (residuals.len() as f64, (residuals.len() - fitted) as f64);
    let limit = CUT * noise;
    let squares: f64 = residuals.iter().map(|left| left.abs().min(limit).powi(2)).sum();
    let within = residuals.iter().filter(|left| left.abs() <= limit).count() as f64;
    if free < 1.0 || within < 1.0 {
        return noise;
    }
    ((squares / free).sqrt() * count / within).max(noise)
}

/// Polish `cells`; a sweep costs as much as there are cells.
pub fn polish(hosts: usize, cells: &[Cell]) -> Effects {
    let index = [
        Index::new(hosts, cells, |cell| cell.from),
        Index::new(hosts, cells, |cell| cell.to),
    ];
    let counts = [0, 1].map(|side: usize| {
        (0..hosts)
            .map(|host| index[side].of(host).len())
            .collect::<Vec<_>>()
    });
    let mut logs: Vec<f64> = cells.iter().map(|cell| cell.log).collect();
    let mut grand = if logs.is_empty() {
        0.0
    } else {
        median(&mut logs.clone())
    };
    logs.iter_mut().for_each(|log| *log -= grand);
    let mut effects = [vec![0.0; hosts], vec![0.0; hosts]];
    let mut room = Vec::new();
    for sweep in 0..2 * SWEEPS {
        let side = sweep % 2;
        index[side].sweep(&mut logs, &mut effects[side], &mut room, median);
    }
    let measured = counts.iter().flatten().filter(|count| **count > 0).count();
    let fitted = measured.saturating_sub(1).min(cells.len());
    let noise = noise(&logs, fitted);
    for sweep in 0..2 * REFINED {
        let side = sweep % 2;
        index[side].sweep(&mut logs, &mut effects[side], &mut room, |values| {
            step(values, 0.0, noise)
        });
    }
    for side in [0, 1] {
        room.clear();
        room.extend(
            (0..hosts)
                .filter(|host| counts[side][*host] > 0)
                .map(|host| effects[side][host]),
        );
        if !room.is_empty() {
            let middle = median(&mut room);
            effects[side].iter_mut().for_each(|effect| *effect -= middle);
            grand += middle;
        }
    }
    let single = single(&logs, noise, fitted);
    let of_partners = [1, 0].map(|side: usize| {
        let hosts = counts[side].iter().filter(|count| **count > 0).count();
        1.0 + hosts as f64 / cells.len().max(1) as f64
    });
    let mut found = Effects {
        grand,
        hosts: effects,
        counts,
        free: logs.len() - fitted,
        residuals: logs,
        noise,
        single,
        of_partners,
        spread: [0.0; 2],
    };
    found.spread = [0, 1].map(|side| spread(&found, side));
    found
}

/// Standard deviation of a cell. A fit by medians leaves as many residuals near zero as it fits effects, so that these say
/// nothing of the noise: they are left out (McKean and Schrader, Least absolute errors analysis of variance, 1987). With them
/// the noise of a full mesh of 16 hosts would be 9 % too small, that of 64 hosts under a budget of four matchings a half.
fn noise(residuals: &[f64], fitted: usize) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|left| left.abs()).collect();
    if fitted >= sizes.len() {
        return 0.0;
    }
    let (_, _, rest) = sizes.select_nth_unstable_by(fitted.saturating_sub(1), f64::total_cmp);
    NORMAL * median(rest)
}

/// The spread of hosts that noise does not explain.
fn spread(effects: &Effects, side: usize) -> f64 {
    beyond_noise(effects, side, &effects.measured_effects(side))
}

fn beyond_noise(effects: &Effects, side: usize, values: &[f64]) -> f64 {
    let (all, error) = (between(values), effects.usual_error(side));
    (all * all - error * error).max(0.0).sqrt()
}
