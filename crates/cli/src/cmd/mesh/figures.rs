//! Figures of pairs: those of one pair from what its two ranks saw, and of a cycle over all pairs. It must never judge one.

use std::collections::BTreeMap;
use wirespeed_mesh::Lack;
use wirespeed_report::stats::median;
use wirespeed_schema::Outcome;
use wirespeed_schema::case::Case;
use wirespeed_schema::order::map_of;
use wirespeed_schema::run::{Metric, Repetition};

/// Figures of one pair by tag, and the samples behind each.
pub type Figures = BTreeMap<String, (f64, u64)>;
/// Figures of many pairs.
pub type All = BTreeMap<String, Vec<(f64, u64)>>;

/// The figures of a pair, as those of a run between these two ranks alone. Wrong data are told whatever else failed.
pub fn figures(case: &Case, ends: [Outcome; 2]) -> Result<Figures, Lack> {
    let error = ends.iter().find_map(|end| end.error.clone());
    let ranks = ends.each_ref().map(|end| case.ranks[end.rank as usize].clone());
    let [from, to] = ranks;
    let alone = case.clone().with_ranks(vec![from.with_peer(1), to.with_peer(0)]);
    let numbered = (0..).zip(ends).map(|(rank, end)| Outcome { rank, ..end });
    let repetition = wirespeed_report::repetition(&alone, 0, numbered.collect(), 0, 0);
    let broken = wirespeed_report::broken_law(&alone, &repetition);
    match (broken, error) {
        (Some(broken), _) if broken.is_wrong_data => return Err(Lack::WrongData(broken.why)),
        (_, Some(error)) => return Err(Lack::Failed(error)),
        (Some(broken), None) => return Err(Lack::NoFigure(broken.why)),
        (None, None) => {}
    }
    let metrics = repetition.metrics.into_iter();
    let of_pair = metrics.filter(|(tag, _)| tag != "setup_ns");
    Ok(map_of(of_pair.map(|(tag, metric)| {
        (tag, (metric.value.get(), metric.samples))
    })))
}

/// A cycle as one run: of each figure the median over pairs, which rests on no more samples than the pair with fewest has.
pub fn repetition(index: u32, figures: All) -> Repetition {
    let metric = |(tag, pairs): (String, Vec<(f64, u64)>)| {
        let samples = pairs.iter().map(|(_, samples)| *samples).min().unwrap_or(0);
        let mut values: Vec<f64> = pairs.iter().map(|(value, _)| *value).collect();
        Some((tag, Metric::of(median(&mut values), samples)?))
    };
    Repetition {
        index,
        outcomes: Vec::new(),
        metrics: map_of(figures.into_iter().filter_map(metric)),
        setup_ns: 0,
        overlapping_sessions: 0,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use wirespeed_schema::case::{RankSpec, Role};
    use wirespeed_schema::test::{Layout, Stream, Test};

    /// What a rank tells that moved one message of 4096 bytes in a second.
    pub fn outcome(rank: u32) -> Outcome {
        let text = format!(
            r#"{{"rank": {rank}, "role": "source", "stop": "completed", "elapsed_ns": 1000000000,
                "sent": {{"messages": 1, "bytes": 4096}}, "received": {{"messages": 0, "bytes": 0}},
                "warmup_operations": 0, "samples": [], "idle": "spin", "disturbance": {{}}, "clock": {{"source": "",
                "cost_ns": 0, "step_ns": 0, "ticks_per_ns": 0, "calibration_error_ppm": 0}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn wrong_data_are_told_whatever_else_failed() {
        let ranks = [Role::Source, Role::Sink].map(RankSpec::new).to_vec();
        let case = Case::new(Test::AmBw(Stream::new(4096, Layout::Short, 16)), "tcp").with_ranks(ranks);
        let lack = |change: fn(&mut Outcome)| {
            let mut ends = [0, 1].map(outcome);
            change(&mut ends[1]);
            figures(&case, ends).unwrap_err()
        };
        let broken = lack(|end| end.error = Some("its peer is gone".to_owned()));
        assert_eq!(broken, Lack::Failed("its peer is gone".to_owned()));
        let wrong = lack(|end| {
            end.error = Some("its peer is gone".to_owned());
            end.faults.corrupt_messages = 2;
        });
        assert!(
            matches!(&wrong, Lack::WrongData(why) if why.starts_with("2 messages")),
            "{wrong:?}"
        );
    }
}
