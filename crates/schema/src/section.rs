//! Sections of the run document: what only one kind of result has. Each is a type with a name, and goes in and comes out as that
//! type.
//!
//! The types stand with those who write them; here are two that no verb owns.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What may stand in a document beside its cases: plain data, whose keys are text and whose numbers are finite.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use wirespeed_schema::section::{Section, Sections};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Weather {
///     degrees: i64,
/// }
///
/// impl Section for Weather {
///     const NAME: &'static str = "weather";
/// }
///
/// let mut sections = Sections::default();
/// assert_eq!(sections.get::<Weather>(), None);
/// sections.put(&Weather { degrees: 21 });
/// assert_eq!(sections.get(), Some(Weather { degrees: 21 }));
/// assert!(sections.has::<Weather>());
/// ```
pub trait Section: Serialize + DeserializeOwned {
    /// Its key in the document.
    const NAME: &'static str;
}

/// All sections of a document by name; those of a later version are kept as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Sections(BTreeMap<String, Value>);

impl Sections {
    /// The section of this type, if there is one that can be read.
    pub fn get<S: Section>(&self) -> Option<S> {
        S::deserialize(self.0.get(S::NAME)?).ok()
    }

    /// Whether there is a section of this type, readable or not.
    pub fn has<S: Section>(&self) -> bool {
        self.0.contains_key(S::NAME)
    }

    /// Put a section in, in the place of one that is there.
    pub fn put<S: Section>(&mut self, section: &S) {
        // Plain data: this cannot fail.
        let value = serde_json::to_value(section).unwrap_or_default();
        self.0.insert(S::NAME.to_owned(), value);
    }

    /// Every section as it stands in the document.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A section as it stands in the document, for readers that do not have its type.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The order in which cases ran, where it was random.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Order {
    /// What repeats it.
    pub seed: u64,
    /// What was in random order: each `repetition`, each `block of two rounds`.
    pub within: String,
}

impl Section for Order {
    const NAME: &'static str = "order";
}

/// Where a result comes from, if not from wirespeed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Imported {
    /// The form that it was read from.
    pub format: String,
}

impl Section for Imported {
    const NAME: &'static str = "import";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_out_as_they_went_in() {
        let (order, import) = (
            Order {
                seed: 7,
                within: "each repetition".to_owned(),
            },
            Imported {
                format: "fio".to_owned(),
            },
        );
        let mut sections = Sections::default();
        assert!(sections.is_empty() && !sections.has::<Order>() && sections.get::<Order>().is_none());
        sections.put(&Order::default());
        sections.put(&order);
        assert!(!sections.is_empty() && sections.has::<Order>() && !sections.has::<Imported>());
        sections.put(&import);
        assert_eq!((sections.get(), sections.get()), (Some(order), Some(import)));
        let names: Vec<&str> = sections.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["import", "order"]);
        assert_eq!(sections.named("order").unwrap()["seed"], 7);
        assert_eq!(sections.named("mesh"), None);
        // One that cannot be read is there all the same.
        let torn: Sections = serde_json::from_str(r#"{"order": {"seed": -1}}"#).unwrap();
        assert!(torn.has::<Order>() && torn.get::<Order>().is_none());
    }
}
