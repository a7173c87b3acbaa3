//! The picture of a sweep over windows: what more messages under way buy, and what Little's law says of it.

use super::Picture;
use super::sweeps::{Swept, interval, points};
use crate::curve::{self, Little, WindowPoint};
use crate::render::figure_text;
use crate::svg::{Axis, Chart, Look, Mark, Series, Unit};
use wirespeed_schema::units::{format_ns, format_rate, format_size, significant};

/// Rate against window, with the line of 95 % of the best.
pub fn against_window(swept: &Swept) -> Option<Picture> {
    let shown = points(swept, "rate_msg_per_s");
    let windows = window_points(swept);
    let enough = curve::enough(&windows, 0.95)?;
    let mut words = vec![format!(
        "{}: a window of {} is enough for 95 % of the best rate ({} with {}).",
        swept.label,
        enough.window_msgs,
        format_rate(enough.peak_msg_per_s, "msg/s"),
        enough.peak_window_msgs
    )];
    if enough.still_rising {
        words.push("The rate still rises at the largest window: the best may lie beyond.".to_owned());
    }
    let size_bytes = swept
        .cases
        .first()
        .map_or(0, |(_, case)| case.case.test.size_bytes());
    words.extend(
        curve::little(&windows, &enough)
            .map(|little| little_words(&little, size_bytes))
            .unwrap_or_default(),
    );
    let rows = windows
        .iter()
        .map(|point| {
            let used = curve::window::window_use_ratio(point);
            vec![
                point.window_msgs.to_string(),
                format_rate(point.rate_msg_per_s, "msg/s"),
                point.acknowledged_mean_ns.map(format_ns).unwrap_or_default(),
                used.map(|used| figure_text("_ratio", used)).unwrap_or_default(),
            ]
        })
        .collect();
    let chart = Chart {
        title: format!("rate against window: {}", swept.label),
        description: "How many messages may be under way at once, and what that buys.".into(),
        x: Axis::log("window in messages", Unit::Plain),
        y: Axis {
            from_zero: true,
            ..Axis::linear("rate", Unit::Si("msg/s"))
        },
        series: vec![Series::new(swept.label.clone(), Look::Line, shown)],
        marks: vec![
            Mark::Horizontal {
                y: 0.95 * enough.peak_msg_per_s,
                label: "95 % of the best".into(),
            },
            Mark::Vertical {
                x: enough.window_msgs as f64,
                label: format!("{} is enough", enough.window_msgs),
            },
        ],
        interval_label: "interval over runs".into(),
        ..Chart::new("")
    };
    let columns = [
        "window",
        "rate",
        "mean time to acknowledgement",
        "share of the window in flight (Little)",
    ];
    Some(Picture {
        chart,
        words,
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    })
}

/// What Little's law says of a sweep over windows of messages of `size_bytes`.
fn little_words(little: &Little, size_bytes: u64) -> Vec<String> {
    let percent = |ratio: f64| figure_text("_ratio", ratio);
    let mut words = vec![format!(
        "Bandwidth-delay: the best rate times the time to an acknowledgement at the least window ({}) is {} messages ({}) \
         under way.",
        format_ns(little.unloaded_ns),
        significant(little.fill_msgs, 3),
        format_size((little.fill_msgs * size_bytes as f64) as u64)
    )];
    words.push(match (little.broken, little.slack) {
        (Some((window, used)), _) => format!(
            "Little's law is broken: with a window of {window}, rate times time is {} of it. Times or counts are wrong; do not \
             use this sweep.",
            percent(used)
        ),
        (None, Some((window, used))) => format!(
            "Little's law: a window of {window} holds the rate back, yet only {} of it is under way: the sender is idle \
             between acknowledgement and next message.",
            percent(used)
        ),
        (None, None) => format!(
            "Little's law holds: rate times time is {} to {} of each window that holds the rate back.",
            percent(little.least_use),
            percent(little.most_use)
        ),
    });
    words
}

/// The points of a sweep over windows.
pub fn window_points(swept: &Swept) -> Vec<WindowPoint> {
    let with = swept
        .cases
        .iter()
        .filter_map(|(window, case)| Some((*window, *case, case.metrics.get("rate_msg_per_s")?)));
    with.map(|(window_msgs, case, rate)| WindowPoint {
        window_msgs,
        rate_msg_per_s: rate.value.get(),
        interval: interval(rate),
        acknowledged_mean_ns: case.metrics.get("ack_mean_ns").map(|metric| metric.value.get()),
    })
    .collect()
}
