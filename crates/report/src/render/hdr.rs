//! HdrHistogram exports, so that its plotters and log tools read our samples: values in whole ns, 3 significant digits.
//!
//! Rounding to ns is the convention of those tools; the document's own histogram keeps picoseconds.

use super::RenderError;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use std::fmt::Write as _;
use wirespeed_schema::HistogramData;
use wirespeed_schema::histogram::bucket_middle;

/// Significant decimal digits of the export.
pub const DIGITS: u8 = 3;
/// Lines for each halving of the distance to 1 in the percentile text, as HdrHistogram's tools do by default.
const TICKS_PER_HALF: u32 = 5;

/// The histogram in HdrHistogram's V2 compressed form, base64: `HISTFAAA...`.
pub fn base64(data: &HistogramData) -> Result<String, RenderError> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&converted(data)?, &mut bytes)
        .map_err(failed)?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// HdrHistogram's percentile text (`.hgrm`): value in ns, percentile, count up to it, 1/(1 - percentile).
pub fn hgrm(data: &HistogramData) -> Result<String, RenderError> {
    let histogram = converted(data)?;
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut below = 0u64;
    for step in histogram.iter_quantiles(TICKS_PER_HALF) {
        below = below.saturating_add(step.count_since_last_iteration());
        let (value, quantile) = (step.value_iterated_to(), step.quantile_iterated_to());
        // Writing to a String cannot fail.
        let _ = write!(text, "{value:>12}.000 {quantile:>14.12} {below:>10}");
        let _ = match quantile < 1.0 {
            true => writeln!(text, " {:>14.2}", 1.0 / (1.0 - quantile)),
            false => writeln!(text),
        };
    }
    let _ = writeln!(
        text,
        "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]\n#[Max     = {:>12}.000, Total count    = {:>12}]",
        histogram.mean(),
        histogram.stdev(),
        histogram.max(),
        histogram.len()
    );
    Ok(text)
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
    RenderError {
        form: "HdrHistogram",
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn the_export_reads_back_with_the_same_figures() {
        let samples: Vec<f64> = (1..=10_000).map(|i| 500.0 + f64::from(i) * 3.0).collect();
        let data = HistogramData::from_samples_ns(&samples);
        let text = base64(&data).unwrap();
        assert!(text.starts_with("HISTFAAA"), "{}", &text[..12]);
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 10_000);
        for p in [0.5, 0.99, 0.999] {
            let (ours, theirs) = (data.quantile_ns(p).unwrap(), back.value_at_quantile(p) as f64);
            assert!((ours - theirs).abs() / ours < 0.004, "p {p}: {ours} and {theirs}");
        }
    }

    #[test]
    fn the_percentile_text_ends_with_the_maximum_and_all_samples() {
        let data = HistogramData::from_samples_ns(&[10.0, 20.0, 30.0, 40_000.0]);
        let text = hgrm(&data).unwrap();
        assert!(text.contains("1/(1-Percentile)"));
        let last = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
        assert!(last.contains("1.000000000000          4"), "{text}");
        assert!(hgrm(&HistogramData::default()).is_ok());
    }
}
