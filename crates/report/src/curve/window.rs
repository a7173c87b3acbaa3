//! The smallest window that is enough: diminishing returns of credits.

use crate::stats::{LEVEL, summarize};
use crate::thresholds::{IN_FLIGHT_TOLERANCE, WINDOW_FULL_SHARE};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::format_rate;

/// A stream measured with a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowPoint {
    /// Messages that may be unacknowledged at once.
    pub window_msgs: u64,
    /// Rate, in messages a second.
    pub rate_msg_per_s: f64,
    /// Interval of the rate over runs.
    pub interval: Option<(f64, f64)>,
    /// Mean time from sending a message to its acknowledgement.
    pub acknowledged_mean_ns: Option<f64>,
    /// Messages in flight over the window; `None` where no run tells.
    pub in_use: Option<InUse>,
}

/// Messages in flight on average over the window, by Little's law within each run: rates and times of different runs are
/// never multiplied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InUse {
    /// Least of all runs.
    pub least: f64,
    /// Median over runs.
    pub median: f64,
    /// Greatest of all runs.
    pub most: f64,
}

impl InUse {
    /// The use of a window in the runs of `case`; `None` where no run has enough samples for it.
    pub fn of(case: &CaseResult) -> Option<InUse> {
        let window = case.case.test.window() as f64;
        const TAG: &str = "in_flight_mean_msgs";
        let runs = case.repetitions.iter().filter_map(|run| run.figure(TAG));
        let only = case.figure(TAG).filter(|_| case.repetitions.is_empty());
        let uses = runs.chain(only).map(|in_flight| in_flight / window);
        let uses: Vec<f64> = uses.filter(|used| used.is_finite()).collect();
        Some(InUse {
            least: uses.iter().copied().reduce(f64::min)?,
            median: summarize(&uses, LEVEL)?.median,
            most: uses.iter().copied().reduce(f64::max)?,
        })
    }

    /// Every run had the window full.
    pub fn is_full(&self) -> bool {
        self.least >= WINDOW_FULL_SHARE
    }
}

/// What a sweep over windows shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enough {
    /// Best rate of all windows.
    pub peak_msg_per_s: f64,
    /// Window of the best rate.
    pub peak_window_msgs: u64,
    /// Smallest window that reaches the share of the peak.
    pub window_msgs: u64,
    /// Its rate.
    pub rate_msg_per_s: f64,
    /// True where the rate rises up to the largest window that was tried: either no smaller one reaches the share, or the largest
    /// is better than the one before it by more than their intervals. Larger windows may then carry more, so none is enough.
    pub is_open: bool,
    /// Of an open one: the rate rises to the largest window for sure. Else the runs differ too much to tell.
    pub rises: bool,
    /// A smaller window that may be enough as well: the upper end of its interval reaches the share of the peak's lower end.
    pub perhaps_msgs: Option<u64>,
}

impl Enough {
    /// Why none is enough; `largest` names the largest that was tried.
    pub fn open_words(&self, largest: &str) -> String {
        let (best, with) = (format_rate(self.peak_msg_per_s, "msg/s"), self.peak_window_msgs);
        match self.rises {
            true => format!("the rate still rises at {largest}, {with} ({best})"),
            false => format!(
                "the rate is best at {largest}, {with} ({best}), and the runs cannot tell whether less does"
            ),
        }
    }

    /// What follows `so many are enough` where the runs leave it open.
    pub fn doubt(&self) -> String {
        let doubt = |window| format!("; the runs cannot tell whether {window} would be");
        self.perhaps_msgs.map(doubt).unwrap_or_default()
    }
}

/// The smallest window whose rate reaches `share` of the best one: with the lower end of its interval where it has one,
/// so that a lucky run is not enough. `None` below three windows.
pub fn enough(points: &[WindowPoint], share: f64) -> Option<Enough> {
    let mut points: Vec<WindowPoint> = points
        .iter()
        .copied()
        .filter(|p| p.rate_msg_per_s > 0.0)
        .collect();
    points.order_by_key(|point| point.window_msgs);
    let peak = *points
        .iter()
        .max_by(|a, b| a.rate_msg_per_s.total_cmp(&b.rate_msg_per_s))?;
    let [smaller @ .., last] = points.as_slice() else {
        return None;
    };
    if points.len() < 3 {
        return None;
    }
    let sure = |point: &WindowPoint| point.interval.map_or(point.rate_msg_per_s, |(lower, _)| lower);
    let goal = share * peak.rate_msg_per_s;
    let found = points
        .iter()
        .find(|point| sure(point) >= goal || point.window_msgs == peak.window_msgs)?;
    let most = |point: &WindowPoint| point.interval.map_or(point.rate_msg_per_s, |(_, upper)| upper);
    // Every smaller window is surely below the largest; where nothing is known of the runs, the figures decide.
    let is_below = |point: &WindowPoint| most(point) < sure(last);
    let rises = last.window_msgs == peak.window_msgs && smaller.iter().all(is_below);
    let perhaps = points
        .iter()
        .find(|point| point.window_msgs < found.window_msgs && most(point) >= share * sure(&peak));
    Some(Enough {
        peak_msg_per_s: peak.rate_msg_per_s,
        peak_window_msgs: peak.window_msgs,
        window_msgs: found.window_msgs,
        rate_msg_per_s: found.rate_msg_per_s,
        is_open: found.window_msgs == last.window_msgs || rises,
        rises,
        perhaps_msgs: perhaps.map(|point| point.window_msgs),
    })
}

/// A sweep over windows by Little's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Least use of the windows that hold the rate back, in any of their runs; `None` where none holds it back.
    pub least_use: Option<f64>,
    /// Greatest use of these.
    pub most_use: Option<f64>,
    /// The window of which more is in use in some run than there can be.
    pub broken: Option<(u64, f64)>,
    /// The window that holds the rate back although no run has it full.
    pub slack: Option<(u64, f64)>,
}

/// The use of every window up to the one that is enough: those must be full, and none can be more than full (Little, "A
/// proof for the queuing formula L = λW", Operations Research 9, 1961). `None` where no use is known.
pub fn little(points: &[WindowPoint], enough: &Enough) -> Option<Little> {
    let used = || {
        points
            .iter()
            .filter_map(|point| Some((point.window_msgs, point.in_use?)))
    };
    let most = used()
        .map(|(window, used)| (window, used.most))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // The one that is enough need not be full any more.
    let holding = || used().filter(|(window, _)| *window < enough.window_msgs);
    let slack = holding()
        .map(|(window, used)| (window, used.most))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    Some(Little {
        least_use: holding().map(|(_, used)| used.least).reduce(f64::min),
        most_use: holding().map(|(_, used)| used.most).reduce(f64::max),
        broken: Some(most).filter(|(_, used)| *used > IN_FLIGHT_TOLERANCE),
        slack: slack.filter(|(_, used)| *used < WINDOW_FULL_SHARE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A pipe of `capacity` messages a second and a round trip of `rtt_s`: rate = min(capacity, window / rtt).
    fn pipe(capacity: f64, rtt_s: f64) -> Vec<WindowPoint> {
        (0..10)
            .map(|exponent| {
                let window_msgs = 1u64 << exponent;
                let rate = capacity.min(window_msgs as f64 / rtt_s);
                WindowPoint {
                    window_msgs,
                    rate_msg_per_s: rate,
                    interval: Some((rate * 0.99, rate * 1.01)),
                    acknowledged_mean_ns: Some(window_msgs as f64 / rate * 1e9),
                    in_use: Some(InUse {
                        least: 0.97,
                        median: 1.0,
                        most: 1.02,
                    }),
                }
            })
            .collect()
    }

    #[test]
    fn the_bandwidth_delay_product_is_found() {
        // 1 M messages a second, 50 µs: 50 messages are in flight, so 64 is the first power of two that is enough.
        let found = enough(&pipe(1e6, 50e-6), 0.95).unwrap();
        assert_eq!((found.window_msgs, found.is_open), (64, false));
        assert_eq!(found.peak_msg_per_s, 1e6);
        let short = enough(&pipe(1e9, 50e-6), 0.95).unwrap();
        assert_eq!((short.window_msgs, short.is_open), (512, true));
        assert_eq!(enough(&pipe(1e6, 50e-6)[..2], 0.95), None);
    }

    #[test]
    fn a_rate_that_rises_to_the_last_window_shows_none_to_be_enough() {
        let of = |rates: [f64; 4], width: f64| {
            let points = rates.into_iter().zip(0..).map(|(rate, exponent)| WindowPoint {
                window_msgs: 1 << exponent,
                rate_msg_per_s: rate,
                interval: Some((rate * (1.0 - width), rate * (1.0 + width))),
                acknowledged_mean_ns: None,
                in_use: None,
            });
            let found = enough(&points.collect::<Vec<_>>(), 0.95).unwrap();
            (found.is_open, found.rises)
        };
        // Only the last reaches 95 % of itself, however little it rises above that.
        assert_eq!(of([100.0, 150.0, 180.0, 192.0], 0.001), (true, true));
        assert_eq!(
            of([100.0, 150.0, 180.0, 192.0], 0.2),
            (true, false),
            "no interval reaches it, nor is any rise beyond the intervals"
        );
        // The one before reaches it, but the rise goes on for sure.
        assert_eq!(of([100.0, 150.0, 188.0, 192.0], 0.001), (true, true));
        assert_eq!(of([100.0, 150.0, 188.0, 192.0], 0.011), (false, false));
        assert_eq!(of([100.0, 192.0, 191.0, 190.0], 0.001), (false, false));
    }

    #[test]
    fn a_rate_rises_to_the_last_window_only_where_no_smaller_one_may_be_as_good() {
        let of = |second: (f64, f64)| {
            let rows = [
                (1, 100.0, (99.0, 101.0)),
                (2, 150.0, second),
                (4, 180.0, (179.0, 181.0)),
            ];
            let points = rows.map(|(window_msgs, rate_msg_per_s, interval)| WindowPoint {
                window_msgs,
                rate_msg_per_s,
                interval: Some(interval),
                acknowledged_mean_ns: None,
                in_use: None,
            });
            let last = WindowPoint {
                window_msgs: 8,
                rate_msg_per_s: 200.0,
                interval: Some((199.0, 201.0)),
                ..points[2]
            };
            enough(&[&points[..], &[last]].concat(), 0.95).unwrap().rises
        };
        assert!(of((140.0, 160.0)));
        assert!(!of((100.0, 210.0)), "one that is not the largest but one");
    }

    #[test]
    fn a_smaller_window_that_may_be_enough_is_named() {
        let of = |width: f64| {
            let rates = [(1, 20.0), (2, 70.0), (4, 90.0), (8, 100.0), (16, 80.0)];
            let points = rates.map(|(window_msgs, rate)| WindowPoint {
                window_msgs,
                rate_msg_per_s: rate,
                interval: Some((rate * (1.0 - width), rate * (1.0 + width))),
                acknowledged_mean_ns: None,
                in_use: None,
            });
            enough(&points, 0.95).unwrap()
        };
        let sure = of(0.01);
        assert_eq!(
            (sure.window_msgs, sure.perhaps_msgs, sure.doubt().as_str()),
            (8, None, "")
        );
        assert_eq!((of(0.04).window_msgs, of(0.04).perhaps_msgs), (8, Some(4)));
        let wide = of(0.2);
        assert_eq!((wide.window_msgs, wide.perhaps_msgs), (8, Some(2)));
        assert_eq!(wide.doubt(), "; the runs cannot tell whether 2 would be");
    }

    #[test]
    fn a_window_is_full_where_every_run_had_it_full() {
        let full = |least| {
            let used = InUse {
                least,
                median: 1.0,
                most: 1.0,
            };
            used.is_full()
        };
        assert!(full(WINDOW_FULL_SHARE) && !full(WINDOW_FULL_SHARE - 0.01));
    }

    #[test]
    fn littles_law_is_held_broken_or_slack() {
        let points = pipe(1e6, 50e-6);
        let found = little(&points, &enough(&points, 0.95).unwrap()).unwrap();
        assert_eq!((found.least_use, found.most_use), (Some(0.97), Some(1.02)));
        assert_eq!((found.broken, found.slack), (None, None));
        let with = |window: u64, factor: f64| {
            let mut points = pipe(1e6, 50e-6);
            for point in points.iter_mut().filter(|point| point.window_msgs == window) {
                point.in_use = point.in_use.map(|used| InUse {
                    least: used.least * factor,
                    median: used.median * factor,
                    most: used.most * factor,
                });
            }
            little(&points, &enough(&points, 0.95).unwrap()).unwrap()
        };
        assert_eq!(with(256, 1.3).broken.unwrap().0, 256);
        assert_eq!(with(8, 0.5).slack.unwrap().0, 8);
        assert_eq!(with(256, 0.5).slack, None);
        let unknown = points.iter().map(|point| WindowPoint {
            in_use: None,
            ..*point
        });
        assert_eq!(
            little(&unknown.collect::<Vec<_>>(), &enough(&points, 0.95).unwrap()),
            None
        );
    }

    proptest! {
        #[test]
        fn what_is_enough_reaches_the_share(rates in prop::collection::vec(1.0..1e9f64, 3..20)) {
            let points: Vec<WindowPoint> = rates.iter().enumerate().map(|(i, &rate)| WindowPoint {
                window_msgs: i as u64 + 1, rate_msg_per_s: rate, interval: None, acknowledged_mean_ns: None, in_use: None,
            }).collect();
            let found = enough(&points, 0.95).unwrap();
            prop_assert!(found.rate_msg_per_s >= 0.95 * found.peak_msg_per_s);
            // What is said to be enough has a larger window beside it that carries less.
            prop_assert_eq!(found.is_open, found.peak_window_msgs as usize == rates.len());
            let smaller = points.iter().filter(|p| p.window_msgs < found.window_msgs);
            for point in smaller {
                prop_assert!(point.rate_msg_per_s < 0.95 * found.peak_msg_per_s);
            }
        }
    }
}
