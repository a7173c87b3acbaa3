//! The picture of an open loop: response times against the offered rate.

use super::{Picture, interval_label, titled};
use crate::curve::load_words;
use crate::curve::section::{LoadSection, Offers, load_missing, load_point};
use crate::curve::{self, LoadPoint};
use crate::standings::ends;
use crate::svg::{Axis, Chart, Look, Mark, Point, Series, Unit};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::run::CaseResult;

/// Response times against offered rate, with the knee and the rates that are not carried.
pub fn against_load(label: &str, cases: &[CaseResult], section: &LoadSection) -> Option<Picture> {
    let unit = section.offers.unit();
    let service_tag = format!("{}_p50_ns", section.offers.service());
    let mut curve: Vec<(LoadPoint, &CaseResult)> = cases
        .iter()
        .filter_map(|case| Some((load_point(case)?, case)))
        .collect();
    curve.order_by(|a, b| a.0.offered_per_s.total_cmp(&b.0.offered_per_s));
    if curve.len() < 4 {
        return None;
    }
    let rows: Vec<LoadPoint> = curve.iter().map(|(point, _)| *point).collect();
    let said = load_words(section, &rows, load_missing(cases));
    let line = |tag: &str, name: &str| {
        let points = curve.iter().filter_map(|(point, case)| {
            let metric = case.metrics.get(tag)?;
            Some(Point {
                x: point.offered_per_s,
                y: metric.value.get(),
                interval: ends(metric),
            })
        });
        Series::new(name, Look::Line, points.collect())
    };
    let chart = Chart {
        // What is carried without a schedule comes first, then what of the offered rates is.
        title: said
            .get(1)
            .or(said.first())
            .map_or_else(String::new, |line| titled(line)),
        subtitle: format!("response time against offered load: {label}"),
        description: match section.offers {
            Offers::Messages => "From the moment at which a message was due to its acknowledgement.",
            Offers::Requests => "From the moment at which a request was due to its last payload byte.",
        }
        .into(),
        x: Axis {
            from_zero: true,
            ..Axis::linear("offered rate", Unit::Si(unit))
        },
        y: Axis::log("response time", Unit::Nanoseconds),
        series: [
            line("response_p50_ns", "response p50"),
            line("response_p99_ns", "response p99"),
            line(&service_tag, "service p50"),
        ]
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect(),
        marks: load_marks(&rows, section),
        interval_label: interval_label(curve.iter().map(|(_, case)| *case)),
        ..Chart::new("")
    };
    Some(Picture {
        chart,
        is_curve: true,
        ..Picture::default()
    })
}

/// The knee, the bound, and where the load is no longer carried.
fn load_marks(rows: &[LoadPoint], section: &LoadSection) -> Vec<Mark> {
    let mut marks = Vec::new();
    if let Ok(knee) = curve::knee(rows) {
        marks.push(Mark::Vertical {
            x: knee.offered_per_s,
            label: "knee".into(),
        });
    }
    if let Some(bound) = section.p99_max_ns {
        marks.push(Mark::Horizontal {
            y: bound.get(),
            label: "bound of p99".into(),
        });
    }
    // A disturbance may fail one rate below others that are carried: only where all above fail is the end.
    let saturated = rows.iter().rev().take_while(|point| point.is_saturated());
    if let (Some(first), Some(last)) = (saturated.last(), rows.last()) {
        marks.push(Mark::Shade {
            from: first.offered_per_s,
            to: last.offered_per_s,
            label: "saturated".into(),
        });
    }
    marks
}
