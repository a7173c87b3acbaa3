//! The smallest window that is enough: diminishing returns of credits.

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
    /// True when the largest window is still the best by more than its neighbour's interval: the peak may lie beyond.
    pub still_rising: bool,
}

/// The smallest window whose rate reaches `share` of the best one: with the lower end of its interval where it has one,
/// so that a lucky run is not enough. `None` below three windows.
pub fn enough(points: &[WindowPoint], share: f64) -> Option<Enough> {
    let mut points: Vec<WindowPoint> = points
        .iter()
        .copied()
        .filter(|p| p.rate_msg_per_s > 0.0)
        .collect();
    points.sort_by_key(|point| point.window_msgs);
    let peak = *points
        .iter()
        .max_by(|a, b| a.rate_msg_per_s.total_cmp(&b.rate_msg_per_s))?;
    let [.., before, last] = points.as_slice() else {
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
    let beyond = before.interval.map_or(before.rate_msg_per_s, |(_, upper)| upper);
    Some(Enough {
        peak_msg_per_s: peak.rate_msg_per_s,
        peak_window_msgs: peak.window_msgs,
        window_msgs: found.window_msgs,
        rate_msg_per_s: found.rate_msg_per_s,
        still_rising: sure(last) > beyond * (2.0 - share) && last.window_msgs == peak.window_msgs,
    })
}

/// Messages in flight by Little's law (rate × mean time to the acknowledgement) over the window: at most 1 but for noise.
pub fn window_use_ratio(point: &WindowPoint) -> Option<f64> {
    let in_flight = point.rate_msg_per_s * point.acknowledged_mean_ns? / 1e9;
    (point.window_msgs > 0).then(|| in_flight / point.window_msgs as f64)
}

/// Above this share of a window more is under way than the window allows: times or counts are wrong.
const BROKEN: f64 = 1.05;
/// A window that holds the rate back is in use at least by this share.
const FULL: f64 = 0.75;

/// A sweep over windows by Little's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Mean time to the acknowledgement at the least window: the road without a queue.
    pub unloaded_ns: f64,
    /// Best rate times that: messages that fill the road.
    pub fill_msgs: f64,
    /// Least share in use of the windows that hold the rate back.
    pub least_use: f64,
    /// Greatest share in use of these.
    pub most_use: f64,
    /// The window with the greatest share in use, where that is more than there can be.
    pub broken: Option<(u64, f64)>,
    /// The window that holds the rate back although least of it is in use, where that is little.
    pub slack: Option<(u64, f64)>,
}

/// Rate times time against the window, at every window up to the one that is enough: those must be full, and none can be
/// more than full (Little, "A proof for the queuing formula L = λW", Operations Research 9, 1961). `None` where times to
/// acknowledgements are not known.
pub fn little(points: &[WindowPoint], enough: &Enough) -> Option<Little> {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.window_msgs);
    let unloaded_ns = points.first()?.acknowledged_mean_ns?;
    let used = |point: &WindowPoint| Some((point.window_msgs, window_use_ratio(point)?));
    let by_use = |a: &(u64, f64), b: &(u64, f64)| a.1.total_cmp(&b.1);
    let most = points.iter().filter_map(used).max_by(by_use)?;
    // The one that is enough need not be full any more.
    let holding = || {
        points
            .iter()
            .filter(|point| point.window_msgs < enough.window_msgs)
    };
    let least = holding().filter_map(used).min_by(by_use).unwrap_or(most);
    let most_holding = holding().filter_map(used).max_by(by_use).unwrap_or(most);
    Some(Little {
        unloaded_ns,
        fill_msgs: enough.peak_msg_per_s * unloaded_ns / 1e9,
        least_use: least.1,
        most_use: most_holding.1,
        broken: Some(most).filter(|(_, used)| *used > BROKEN),
        slack: Some(least).filter(|(window, used)| *used < FULL && *window < enough.window_msgs),
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
                }
            })
            .collect()
    }

    #[test]
    fn the_bandwidth_delay_product_is_found() {
        // 1 M messages a second, 50 µs: 50 messages are in flight, so 64 is the first power of two that is enough.
        let found = enough(&pipe(1e6, 50e-6), 0.95).unwrap();
        assert_eq!((found.window_msgs, found.still_rising), (64, false));
        assert_eq!(found.peak_msg_per_s, 1e6);
        let short = enough(&pipe(1e9, 50e-6), 0.95).unwrap();
        assert_eq!((short.window_msgs, short.still_rising), (512, true));
        assert!(
            pipe(1e6, 50e-6)
                .iter()
                .all(|p| (window_use_ratio(p).unwrap() - 1.0).abs() < 1e-9)
        );
        assert_eq!(enough(&pipe(1e6, 50e-6)[..2], 0.95), None);
    }

    #[test]
    fn littles_law_is_held_broken_or_slack() {
        let points = pipe(1e6, 50e-6);
        let found = little(&points, &enough(&points, 0.95).unwrap()).unwrap();
        assert!(
            (found.fill_msgs - 50.0).abs() < 1e-6 && (found.least_use - 1.0).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!((found.broken, found.slack), (None, None));
        let with = |window: u64, factor: f64| {
            let mut points = pipe(1e6, 50e-6);
            for point in points.iter_mut().filter(|point| point.window_msgs == window) {
                point.acknowledged_mean_ns = point.acknowledged_mean_ns.map(|ns| ns * factor);
            }
            little(&points, &enough(&points, 0.95).unwrap()).unwrap()
        };
        assert_eq!(with(256, 1.2).broken.unwrap().0, 256);
        assert_eq!(with(8, 0.5).slack.unwrap().0, 8);
        assert_eq!(with(256, 0.5).slack, None);
        let unknown = points.iter().map(|point| WindowPoint {
            acknowledged_mean_ns: None,
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
                window_msgs: i as u64 + 1, rate_msg_per_s: rate, interval: None, acknowledged_mean_ns: None,
            }).collect();
            let found = enough(&points, 0.95).unwrap();
            prop_assert!(found.rate_msg_per_s >= 0.95 * found.peak_msg_per_s);
            let smaller = points.iter().filter(|p| p.window_msgs < found.window_msgs);
            for point in smaller {
                prop_assert!(point.rate_msg_per_s < 0.95 * found.peak_msg_per_s);
            }
        }
    }
}
