//! HdrHistogram interval log, so that its plotters and log tools read our samples: values in whole ns, 3 significant
//! digits, histograms in the V2 compressed form.
//!
//! Rounding to ns is the convention of those tools; the document's own histogram keeps picoseconds.

use super::RenderError;
use super::csv::word;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::time::Duration;
use wirespeed_schema::histogram::bucket_middle;
use wirespeed_schema::run::Run;
use wirespeed_schema::{Case, HistogramData};

/// Significant decimal digits of the export.
pub const DIGITS: u8 = 3;

/// All samples that the figures of a run are over: one line a series, tagged `case.repetition.rank.kind` (numbers from 0);
/// comments at the top name the cases. Times are seconds since the start of the measured phases, end to end.
pub fn log(run: &Run) -> Result<String, RenderError> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]");
    builder.add_comment("tags: case.repetition.rank.kind; values in ns");
    builder.add_comment(&format!("started at {}", run.started_at));
    for (number, result) in run.cases.iter().enumerate() {
        builder.add_comment(&format!("case {number}: {}", label(&result.case)));
    }
    let mut writer = builder
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(failed)?;
    let mut start = Duration::ZERO;
    for (number, result) in run.cases.iter().enumerate() {
        for repetition in &result.repetitions {
            let mut longest = Duration::ZERO;
            for outcome in &repetition.outcomes {
                let elapsed = Duration::from_nanos(outcome.elapsed_ns);
                longest = longest.max(elapsed);
                for samples in &outcome.samples {
                    let kind = word(&samples.kind);
                    let tag = format!("{number}.{}.{}.{kind}", repetition.index, outcome.rank);
                    writer
                        .write_histogram(&converted(&samples.histogram)?, start, elapsed, Tag::new(&tag))
                        .map_err(failed)?;
                }
            }
            start += longest;
        }
    }
    String::from_utf8(bytes).map_err(failed)
}

/// A case's label; a line break, which only a foreign document can have, would end the comment.
fn label(case: &Case) -> String {
    case.label().replace(['\n', '\r'], " ")
}

fn converted(data: &HistogramData) -> Result<Histogram<u64>, RenderError> {
    data.check().map_err(failed)?;
    let max_ns = (data.max_ns.get().ceil() as u64).max(2);
    let mut histogram = Histogram::<u64>::new_with_bounds(1, max_ns, DIGITS).map_err(failed)?;
    for &(index, count) in &data.buckets {
        let ns = (bucket_middle(index as usize) as f64 / 1000.0).round() as u64;
        // The outermost buckets' middles may lie beyond the exact extremes.
        let ns = ns.min(max_ns).max(data.min_ns.get().floor() as u64);
        histogram.record_n(ns, count).map_err(failed)?;
    }
    Ok(histogram)
}

fn failed(error: impl std::fmt::Display) -> RenderError {
    RenderError::of("HdrHistogram", &error)
}
