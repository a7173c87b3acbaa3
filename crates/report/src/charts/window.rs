//! The picture of a sweep over windows: what more messages under way buy, and what Little's law says of it.

use super::sweeps::{Swept, points};
use super::{Picture, behind, interval_label};
use crate::curve::{self, Enough, InUse, Little, WindowPoint};
use crate::figures::figure_text;
use crate::standings::{ends, is_close};
use crate::svg::{Axis, Chart, Look, Mark, Series, Unit};
use crate::thresholds::{REACHED_SHARE, WINDOW_FULL_SHARE};
use wirespeed_schema::units::{format_ns, format_rate, format_size, significant};

/// Rate against window, with the line of 95 % of the best.
pub fn against_window(swept: &Swept) -> Option<Picture> {
    let shown = points(swept, "rate_msg_per_s");
    let windows = window_points(swept);
    let enough = curve::enough(&windows, REACHED_SHARE)?;
    let mut words: Vec<String> = short(&windows, &enough).into_iter().collect();
    let size_bytes = swept
        .cases
        .first()
        .map_or(0, |(_, case)| case.case.test.size_bytes());
    words.extend(delay(&windows, &enough, size_bytes));
    words.extend(
        curve::little(&windows, &enough)
            .map(|little| little_words(&little))
            .unwrap_or_default(),
    );
    let chart = Chart {
        title: format!("rate against window: {}", swept.label),
        description: "How many messages may be under way at once, and what that buys.".into(),
        x: Axis::log("window in messages", Unit::Plain),
        y: Axis {
            from_zero: true,
            ..Axis::linear("rate", Unit::Si("msg/s"))
        },
        series: vec![Series::new(swept.label.clone(), Look::Line, shown)],
        marks: marks(&enough),
        interval_label: interval_label(swept.cases.iter().map(|(_, case)| *case)),
        ..Chart::new("")
    };
    let columns = [
        "window",
        "rate",
        "mean time to acknowledgement",
        "messages in flight, median of the runs (Little)",
    ];
    Some(
        Picture {
            chart,
            answer: vec![answer(&swept.label, &enough)],
            words,
            table: behind(&columns, windows.iter().map(row).collect()),
            is_curve: true,
            is_loggp: false,
        }
        .under_its_answer(),
    )
}

/// The window that is enough, or that none was shown to be.
fn answer(label: &str, enough: &Enough) -> String {
    let (best, with) = (
        format_rate(enough.peak_msg_per_s, "msg/s"),
        enough.peak_window_msgs,
    );
    match enough.is_open {
        true => format!(
            "{label}: {}: no window is shown to be enough.",
            enough.open_words("the largest window tried")
        ),
        false => format!(
            "{label}: a window of {} is enough for {} of the best rate ({best} with {with}){}.",
            enough.window_msgs,
            figure_text("_ratio", REACHED_SHARE),
            enough.doubt()
        ),
    }
}

fn marks(enough: &Enough) -> Vec<Mark> {
    let share = figure_text("_ratio", REACHED_SHARE);
    let mut marks = vec![Mark::Horizontal {
        y: REACHED_SHARE * enough.peak_msg_per_s,
        label: format!("{share} of the best"),
    }];
    if !enough.is_open {
        marks.push(Mark::Vertical {
            x: enough.window_msgs as f64,
            label: format!("{} is enough", enough.window_msgs),
        });
    }
    marks
}

fn row(point: &WindowPoint) -> Vec<String> {
    let used = |used: InUse| significant(used.median * point.window_msgs as f64, 3);
    vec![
        point.window_msgs.to_string(),
        format_rate(point.rate_msg_per_s, "msg/s"),
        point.acknowledged_mean_ns.map(format_ns).unwrap_or_default(),
        point.in_use.map(used).unwrap_or_default(),
    ]
}

/// Larger windows that carry less again: all of them, or the one that carries least.
fn short(windows: &[WindowPoint], enough: &Enough) -> Option<String> {
    let peak = windows
        .iter()
        .find(|point| point.window_msgs == enough.peak_window_msgs)?;
    let larger = windows
        .iter()
        .filter(|point| point.window_msgs > enough.window_msgs);
    let share = |point: &WindowPoint| point.rate_msg_per_s / enough.peak_msg_per_s;
    // What cannot be told from the best carries no less.
    let is_short =
        |point: &&WindowPoint| share(point) < REACHED_SHARE && !is_close(point.interval, peak.interval);
    let are_all_short = larger.clone().all(|point| is_short(&point));
    let least = larger
        .filter(is_short)
        .min_by(|a, b| a.rate_msg_per_s.total_cmp(&b.rate_msg_per_s))?;
    let (window, only) = (least.window_msgs, figure_text("_ratio", share(least)));
    Some(match are_all_short {
        true => format!("Larger windows carry less again: {window} only {only} of the best."),
        false => format!("A window of {window}, though larger, carries only {only} of the best."),
    })
}

/// The messages that fill the path: two figures of different windows, and therefore about.
fn delay(windows: &[WindowPoint], enough: &Enough, size_bytes: u64) -> Option<String> {
    let least = windows.iter().min_by_key(|point| point.window_msgs)?;
    let unloaded_ns = least.acknowledged_mean_ns?;
    let fill = enough.peak_msg_per_s * unloaded_ns / 1e9;
    Some(format!(
        "Bandwidth-delay: the best rate times the mean time to an acknowledgement with a window of {} ({}) is about {} \
         messages ({}) under way.",
        least.window_msgs,
        format_ns(unloaded_ns),
        significant(fill, 3),
        format_size((fill * size_bytes as f64) as u64)
    ))
}

/// What Little's law says of a sweep over windows.
fn little_words(little: &Little) -> Vec<String> {
    let percent = |ratio: f64| figure_text("_ratio", ratio);
    let said = match (little.broken, little.slack, little.least_use.zip(little.most_use)) {
        (Some((window, used)), ..) => format!(
            "Little's law is broken: in a run with a window of {window}, {} as many messages are in flight as it lets out. \
             Times or counts are wrong; do not use this sweep.",
            percent(used)
        ),
        (None, Some((window, used)), _) => format!(
            "Little's law: a window of {window} holds the rate back, yet in no run more than {} of it is under way: the sender \
             is idle between acknowledgement and next message.",
            percent(used)
        ),
        (None, None, Some((least, most))) => {
            let (least_text, most_text) = (significant(least, 2), significant(most, 2));
            let range = match least_text == most_text {
                true => least_text,
                false => format!("{least_text} to {most_text}"),
            };
            let used = format!(
                "in the runs with a window that holds the rate back, {range} times that window is in flight"
            );
            match least >= WINDOW_FULL_SHARE {
                true => format!("Little's law holds: {used}."),
                false => format!("Little's law: {used}; where it is less, the sender was idle at times."),
            }
        }
        (None, None, None) => return Vec::new(),
    };
    vec![said]
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
        interval: ends(rate),
        acknowledged_mean_ns: case.figure("ack_mean_ns"),
        in_use: InUse::of(case),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_all_larger_windows_carry_less_is_it_said_of_all() {
        let within = |rates: &[f64], width: Option<f64>| {
            let point = |(n, rate): (usize, &f64)| WindowPoint {
                window_msgs: 1 << n,
                rate_msg_per_s: *rate,
                interval: width.map(|width| (rate - width, rate + width)),
                acknowledged_mean_ns: None,
                in_use: None,
            };
            let windows: Vec<_> = rates.iter().enumerate().map(point).collect();
            let enough = Enough {
                peak_msg_per_s: 100.0,
                peak_window_msgs: 2,
                window_msgs: 2,
                rate_msg_per_s: 100.0,
                is_open: false,
                rises: false,
                perhaps_msgs: None,
            };
            short(&windows, &enough).unwrap_or_default()
        };
        let said = |rates: &[f64]| within(rates, None);
        assert_eq!(said(&[50.0, 100.0, 99.0]), "");
        let all = "Larger windows carry less again: 8 only 80 % of the best.";
        assert_eq!(said(&[50.0, 100.0, 90.0, 80.0]), all);
        let one = "A window of 4, though larger, carries only 93 % of the best.";
        assert_eq!(said(&[50.0, 100.0, 93.0, 99.0]), one);
        // What runs cannot tell from the best carries no less.
        let far = "A window of 8, though larger, carries only 80 % of the best.";
        assert_eq!(within(&[50.0, 100.0, 90.0, 80.0], Some(6.0)), far);
        assert_eq!(within(&[50.0, 100.0, 90.0, 80.0], Some(1.0)), all);
        assert_eq!(within(&[50.0, 100.0, 90.0, 80.0], Some(11.0)), "");
    }

    #[test]
    fn a_share_that_all_runs_have_is_one_number() {
        let said = |least, most| {
            let uses = Little {
                least_use: Some(least),
                most_use: Some(most),
                broken: None,
                slack: None,
            };
            little_words(&uses).join(" ")
        };
        assert!(said(0.95, 0.951).contains("back, 0.95 times that window"));
        assert!(said(0.77, 0.91).contains("back, 0.77 to 0.91 times that window"));
    }
}
