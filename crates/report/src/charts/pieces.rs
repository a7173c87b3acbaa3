//! The pieces of a curve over sizes and the thresholds between them: what is marked, what is said, which fits are drawn. Where
//! thresholds were probed, those that the probes confirm are the only ones.

use super::sweeps::Swept;
use crate::curve::section::Probe;
use crate::curve::sizes::is_change;
use crate::curve::{self, Change, Model, Segment, Segments, SizePoint};
use crate::figures::figure_text;
use crate::labels::ratio;
use crate::standings::ends;
use crate::svg::{Look, Mark, Point, Series};
use crate::thresholds::FIT_POINTS_MIN;
use wirespeed_schema::run::CaseResult;
use wirespeed_schema::units::{format_ns, format_rate, format_size};

/// The edges of a threshold, in bytes.
type Edges = (u64, u64);

/// The thresholds that were probed in a sweep.
pub struct Probed<'a> {
    probes: Vec<&'a Probe>,
}

impl<'a> Probed<'a> {
    /// Those whose edges are sizes of `swept`: its result may hold other sweeps.
    pub fn of(swept: &'a Swept) -> Probed<'a> {
        let is_size = |bytes: u64| swept.cases.iter().any(|(size, _)| *size == bytes);
        let of_sweep = swept
            .probes
            .iter()
            .filter(|probe| is_size(probe.above_bytes) && is_size(probe.until_bytes));
        Probed {
            probes: of_sweep.collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    fn confirmed(&self) -> Vec<Edges> {
        let confirmed = self.probes.iter().filter(|probe| probe.confirmed);
        confirmed
            .map(|probe| (probe.above_bytes, probe.until_bytes))
            .collect()
    }

    /// The curve in pieces: between the confirmed thresholds, else as its own shape tells.
    pub fn segments(&self, points: &[SizePoint]) -> Option<Segments> {
        match self.is_empty() {
            true => curve::segments(points),
            false => curve::sizes::segments_between(points, &self.confirmed()),
        }
    }

    /// Lines at the confirmed thresholds; where nothing was probed, at the changes between pieces that have models.
    pub fn marks(&self, found: Option<&Segments>) -> Vec<Mark> {
        if !self.is_empty() {
            let confirmed = self.confirmed();
            return confirmed
                .iter()
                .map(|edges| threshold(*edges, ", confirmed"))
                .collect();
        }
        let told = found.into_iter().flat_map(changes);
        told.filter(|(_, models)| models.is_some())
            .map(|(change, _)| threshold((change.above_bytes, change.until_bytes), ""))
            .collect()
    }

    /// What the pieces say; of their changes too where no probe has the say.
    pub fn words(&self, label: &str, found: &Segments) -> Vec<String> {
        let mut words = pieces_in_words(label, found);
        if self.is_empty() {
            words.extend(changes_in_words(label, found));
        }
        words
    }

    /// `confirmed threshold between 3.748 and 4 KiB`.
    pub fn answer(&self) -> Option<String> {
        let between: Vec<String> = self.confirmed().into_iter().map(between).collect();
        Some(match between.as_slice() {
            [] => return None,
            [only] => format!("confirmed threshold {only}"),
            [all @ .., last] => format!("confirmed thresholds {} and {last}", all.join(", ")),
        })
    }
}

/// `between 3.748 and 4 KiB`, `between 1023 B and 1 KiB`.
fn between((above, until): Edges) -> String {
    let (from, to) = (format_size(above), format_size(until));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match (from.split_once(' '), unit(&to)) {
        (Some((number, unit)), Some(other)) if unit == other => format!("between {number} and {to}"),
        _ => format!("between {from} and {to}"),
    }
}

fn threshold((above, until): Edges, state: &str) -> Mark {
    Mark::Vertical {
        x: (above as f64 * until as f64).sqrt(),
        label: format!("above {}{state}", format_size(above)),
    }
}

/// What interleaved probes say of a threshold.
pub fn probe_words(probe: &Probe) -> String {
    format!(
        "Threshold {}: {}. Interleaved probes take [{}, {}] times as long at its upper end as at its lower; had the curve gone \
         on, it would be {} times.",
        between((probe.above_bytes, probe.until_bytes)),
        if probe.confirmed {
            "confirmed"
        } else {
            "not confirmed"
        },
        ratio(probe.lower_ratio.get()),
        ratio(probe.upper_ratio.get()),
        ratio(probe.smooth_ratio.get())
    )
}

/// Times of the sizes: as measured, or the time a message takes at the bandwidth. How well a time is known only several runs
/// tell: the interval within one says nothing of the next.
pub fn size_points(swept: &Swept, tag: &str) -> Vec<SizePoint> {
    let is_bandwidth = tag.ends_with("_bytes_per_s");
    let point = |(size, case): &(u64, &CaseResult)| {
        let metric = case.metrics.get(tag)?;
        let (x, y) = (*size as f64, metric.value.get());
        let over_runs = ends(metric).filter(|_| case.repetitions.len() > 1);
        (x > 0.0 && y > 0.0).then(|| SizePoint {
            size_bytes: *size,
            time_ns: if is_bandwidth { x * 1e9 / y } else { y },
            uncertainty_ratio: over_runs.map(|(low, high)| (high - low) / 2.0 / y),
        })
    };
    swept.cases.iter().filter_map(point).collect()
}

/// The models of the pieces that have one.
pub fn fits(found: &Segments, bandwidth: bool, color: usize) -> Vec<Series> {
    let told = found
        .pieces
        .iter()
        .filter_map(|piece| Some((piece, piece.model()?.0)));
    told.map(|(piece, model)| {
        let (from, to) = ((piece.from_bytes.max(1)) as f64, piece.to_bytes as f64);
        let points = (0..=24).map(|step| {
            let size = from * (to / from).powf(f64::from(step) / 24.0);
            let time = model.time_ns(size);
            Point::new(size, if bandwidth { size * 1e9 / time } else { time })
        });
        Series::new("", Look::Fit, points.filter(|p| p.y > 0.0).collect()).colored(color)
    })
    .collect()
}

/// The changes, each with the models on both of its sides; none where either side has no model.
fn changes(found: &Segments) -> Vec<(&Change, Option<(Model, Model)>)> {
    let sides = found.pieces.windows(2).map(|pair| {
        let (before, after) = (pair[0].model()?, pair[1].model()?);
        Some((before.0, after.0))
    });
    found.changes.iter().zip(sides).collect()
}

/// What the pieces say, as far as a model holds.
fn pieces_in_words(label: &str, found: &Segments) -> Vec<String> {
    let mut words = Vec::new();
    let range = |piece: &Segment| {
        format!(
            "{label}, {} to {}",
            format_size(piece.from_bytes),
            format_size(piece.to_bytes)
        )
    };
    for piece in &found.pieces {
        let Some((model, residual)) = piece.model() else {
            continue;
        };
        let rest = figure_text("_ratio", residual);
        let (range, rate) = (range(piece), |bandwidth| format_rate(bandwidth, "B/s"));
        words.push(match model {
            Model::Line {
                latency_ns,
                bandwidth_bytes_per_s,
            } => format!(
                "{range}: T = {} + s / {}, half of that speed at {}; residuals {rest}.",
                format_ns(latency_ns),
                rate(bandwidth_bytes_per_s),
                format_size((latency_ns * bandwidth_bytes_per_s / 1e9).round() as u64)
            ),
            Model::Proportional {
                bandwidth_bytes_per_s,
            } => format!(
                "{range}: time grows in proportion to size, at {}; residuals {rest}.",
                rate(bandwidth_bytes_per_s)
            ),
            Model::Flat { latency_ns } => {
                format!(
                    "{range}: size hardly matters, always about {}; residuals {rest}.",
                    format_ns(latency_ns)
                )
            }
        });
    }
    if let ([piece], true) = (found.pieces.as_slice(), words.is_empty()) {
        let (range, sizes) = (range(piece), piece.points.len());
        words.push(match sizes < FIT_POINTS_MIN {
            true => format!(
                "{range}: {sizes} sizes are too few for a line T = a + s/b; it takes {FIT_POINTS_MIN}."
            ),
            false => format!(
                "{range}: no line T = a + s/b fits: residuals {} over {sizes} sizes.",
                figure_text("_ratio", piece.residual_ratio)
            ),
        });
    }
    words
}

/// What happens between pieces that both have a model.
fn changes_in_words(label: &str, found: &Segments) -> Vec<String> {
    let told = changes(found)
        .into_iter()
        .filter_map(|(change, models)| Some((change, models?)));
    told.map(|(change, (before, after))| {
        let at = change.until_bytes as f64;
        let how = change_in_words(before, after, after.time_ns(at) / before.time_ns(at));
        let between = between((change.above_bytes, change.until_bytes));
        format!("{label}: a threshold {between}: beyond it {how}.")
    })
    .collect()
}

/// What changes from one model to the next; `step` is the time after it over that which the piece before would take.
fn change_in_words(before: Model, after: Model, step: f64) -> String {
    let bandwidths = (before.bandwidth_bytes_per_s(), after.bandwidth_bytes_per_s());
    match (is_change(step), step > 1.0, bandwidths) {
        (true, true, _) => format!(
            "a message takes {} times as long as the smaller sizes suggest",
            ratio(step)
        ),
        (true, false, _) => format!(
            "a message takes {} of the time that the smaller sizes suggest",
            figure_text("_ratio", step)
        ),
        (_, _, (Some(before), Some(after))) => {
            format!("the bandwidth is {} times what it was", ratio(after / before))
        }
        (_, _, (None, Some(_))) => "time grows with size".to_owned(),
        (_, _, (Some(_), None)) => "size hardly matters".to_owned(),
        (_, _, (None, None)) => "the time is slightly another".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_by_the_models_on_both_sides() {
        let flat = Model::Flat { latency_ns: 100.0 };
        let line = |bandwidth_bytes_per_s| Model::Line {
            latency_ns: 100.0,
            bandwidth_bytes_per_s,
        };
        for (before, after, step, said) in [
            (flat, line(1e9), 1.0, "time grows with size"),
            (line(1e9), flat, 1.0, "size hardly matters"),
            (line(1e9), line(3e9), 1.0, "the bandwidth is 3 times what it was"),
            (
                flat,
                line(1e9),
                2.0,
                "a message takes 2 times as long as the smaller sizes suggest",
            ),
        ] {
            assert_eq!(change_in_words(before, after, step), said);
        }
    }
}
