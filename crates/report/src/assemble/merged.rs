//! One histogram of all ranks' samples.

use wirespeed_schema::outcome::SampleKind;
use wirespeed_schema::{HistogramData, Outcome};

/// All samples of `kind` of all ranks in one histogram, or `None` when there are none. Histograms whose parts
/// contradict each other are left out.
pub fn merged_samples(outcomes: &[Outcome], kind: SampleKind) -> Option<HistogramData> {
    let mut merged = HistogramData::default();
    let samples = outcomes.iter().flat_map(|outcome| &outcome.samples);
    for samples in samples.filter(|samples| samples.kind == kind && samples.histogram.check().is_ok()) {
        merged.merge(&samples.histogram);
    }
    (!merged.is_empty()).then_some(merged)
}
