//! What became of the pairs of a case under a load, to be told beside its result: nobody is judged by that. It must never be taken
//! for what the case is without the load.

use std::collections::BTreeMap;
use wirespeed_mesh::Pair;
use wirespeed_schema::Finite;
use wirespeed_schema::mesh::{MeshPair, MeshProbe};

/// A case under a load.
#[derive(Debug, Default)]
pub struct UnderLoad {
    pairs: BTreeMap<Pair, MeshPair>,
    is_partial: bool,
}

impl UnderLoad {
    /// What a pair was measured at, or why it was not, and how its data were wrong. A figure that is not above zero is a failure.
    pub fn keep(&mut self, pair: Pair, measured: &Result<f64, String>, wrong_data: Option<&str>) {
        let known = self.pairs.entry(pair).or_insert_with(|| MeshPair {
            from: pair.from as u32,
            to: pair.to as u32,
            ..MeshPair::default()
        });
        if let Some(wrong) = wrong_data {
            known.wrong_data = Some(wrong.to_owned());
        }
        let why = match measured {
            Ok(value) => match Finite::maybe(*value).filter(|_| *value > 0.0) {
                Some(value) => return known.values.push(value),
                None => format!("its figure is {value}"),
            },
            Err(why) => why.clone(),
        };
        known.failed_count += 1;
        known.failed = Some(why);
    }

    /// There was no time for all pairs.
    pub fn break_off(&mut self) {
        self.is_partial = true;
    }

    /// The same as a probe, for `case` of the document.
    pub fn told(self, case: u32) -> MeshProbe {
        let pairs: Vec<MeshPair> = self.pairs.into_values().collect();
        MeshProbe {
            case,
            failed_count: pairs.iter().map(|pair| pair.failed_count).sum(),
            pairs,
            complete: !self.is_partial,
            ..MeshProbe::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_with_their_reasons() {
        let [flaky, broken] = [(0, 1), (1, 0)].map(|(from, to)| Pair { from, to });
        let mut known = UnderLoad::default();
        known.keep(flaky, &Ok(2.0), None);
        known.keep(flaky, &Err("silent".to_owned()), None);
        known.keep(broken, &Ok(0.0), Some("2 messages"));
        let probe = known.told(7);
        assert_eq!((probe.case, probe.failed_count, probe.complete), (7, 2, true));
        let [flaky, broken] = &probe.pairs[..] else {
            panic!("{:?}", probe.pairs);
        };
        assert_eq!((flaky.values.len(), flaky.failed.as_deref()), (1, Some("silent")));
        assert_eq!(
            (broken.failure(), broken.wrong_data.as_deref()),
            (Some("its figure is 0"), Some("2 messages"))
        );
    }
}
