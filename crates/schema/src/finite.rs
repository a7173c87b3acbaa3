//! A floating-point number that is neither NaN nor infinite, so that no document can ever hold one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A finite `f64`. Construction maps NaN and infinities to an error, never to a silent zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Finite(f64);

/// The number was NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a finite number")]
pub struct NotFinite;

impl Finite {
    /// Zero.
    pub const ZERO: Finite = Finite(0.0);

    /// Wrap `value`; errors when it is NaN or infinite.
    pub fn new(value: f64) -> Result<Self, NotFinite> {
        if value.is_finite() {
            Ok(Finite(value))
        } else {
            Err(NotFinite)
        }
    }

    /// Wrap `value`, or `None` when it is NaN or infinite.
    pub fn maybe(value: f64) -> Option<Self> {
        Self::new(value).ok()
    }

    /// Whether it is 0, of either sign: fields where that means unknown are left out of documents.
    pub fn is_zero(&self) -> bool {
        self.0 == 0.0
    }

    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Finite {
    type Error = NotFinite;
    fn try_from(value: f64) -> Result<Self, NotFinite> {
        Finite::new(value)
    }
}

impl From<u32> for Finite {
    fn from(value: u32) -> Self {
        Finite(f64::from(value))
    }
}

impl From<u64> for Finite {
    /// Rounds above 2^53.
    fn from(value: u64) -> Self {
        Finite(value as f64)
    }
}

impl<'de> Deserialize<'de> for Finite {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Finite::new(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_nan_and_infinities() {
        assert!(Finite::new(f64::NAN).is_err());
        assert!(Finite::new(f64::INFINITY).is_err());
        assert_eq!(Finite::new(1.5).unwrap().get(), 1.5);
        assert!(serde_json::from_str::<Finite>("1e999").is_err());
        for value in [0.0, -0.25, 1e300] {
            let text = serde_json::to_string(&Finite::new(value).unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<Finite>(&text).unwrap().get(), value);
        }
        let of_table = |text: &str| toml::from_str::<std::collections::BTreeMap<String, Finite>>(text);
        assert!(of_table("a = 1.5").is_ok() && of_table("a = nan").is_err() && of_table("a = inf").is_err());
    }

    #[test]
    fn nought_has_either_sign() {
        let of = |value| Finite::new(value).unwrap().is_zero();
        assert_eq!(
            [of(0.0), of(-0.0), of(1.0), of(-1e-300)],
            [true, true, false, false]
        );
    }
}
