//! What the user asked for: templates whose every parameter may be a list, and their expansion to cases.
//!
//! A template is kept as the user's words (after splitting lists and ranges), so that a document repeats exactly.
//! Everything that can be known to be nonsense is refused here, before anything is opened.

mod cpus;
pub(crate) mod error;
mod expand;
mod file;
mod keys;
mod length;
mod load;
mod parameters;
mod ranks;
mod resolve;
mod surroundings;
#[cfg(test)]
mod tests;
mod until;

pub use cpus::{CPUS, pin};
pub use error::{PlanError, nearest};
pub use expand::{CASES_MAX, PlannedCase, expand};
pub use file::{PLAN_BYTES_MAX, REPEATS_MAX, parse_plan, parse_repeats};
pub use keys::{EXCLUSIVE, canonical_key, canonical_test, split_axis, takes};
pub use length::{WARMUP_ITERATIONS_MAX, WARMUP_NS_MAX};
pub use parameters::{parameter, parameters};
pub use ranks::host_fault;
pub use surroundings::Surroundings;
pub use until::{STATISTICS, UNTIL_REPEATS, Until};

use crate::parameter::Values;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The values of one parameter, in the user's order: one or many.
pub type Axis = Vec<String>;

/// One family of cases: the Cartesian product of its axes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Template {
    /// Parameters by their option names (`test`, `via`, `size`, `window`, `layout`, ...). The first of
    /// [`crate::plan::parameters`] varies slowest.
    pub axes: BTreeMap<String, Axis>,
    /// The transport's own options by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Axis>,
}

impl Template {
    /// The parameters `words` by their option names, each text split as [`Template::add`] does. Errors as there.
    pub fn of<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, PlanError> {
        let mut template = Template::default();
        for (key, text) in words {
            template.add(key, &[text.to_owned()])?;
        }
        Ok(template)
    }

    /// With this option of the transport, which takes each of `values` in turn.
    #[must_use]
    pub fn with_option(mut self, name: impl Into<String>, values: Axis) -> Self {
        self.options.insert(name.into(), values);
        self
    }

    /// Add the values of `texts` to the parameter `key`, each text split as its definition says. Errors where there is no such
    /// parameter, or a text is no list or range of its values.
    pub fn add(&mut self, key: &str, texts: &[String]) -> Result<(), PlanError> {
        let parameter = parameter(key)?;
        let mut values = Axis::new();
        match parameter.values {
            // Several say one thing together.
            Values::Clauses if !texts.is_empty() => values.extend(parameter.split(&texts.join(" "))?),
            _ => {
                for text in texts {
                    values.extend(parameter.split(text)?);
                }
            }
        }
        if !values.is_empty() {
            self.axes
                .entry(parameter.key.to_owned())
                .or_default()
                .extend(values);
        }
        Ok(())
    }

    /// As [`Template::add`], where nothing is said of `key` yet.
    pub fn add_default(&mut self, key: &str, text: &str) -> Result<(), PlanError> {
        match self.axes.contains_key(key) {
            true => Ok(()),
            false => self.add(key, &[text.to_owned()]),
        }
    }
}

/// Everything asked for in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Plan {
    /// Fresh repetitions of every case; at most so many where `until` is given.
    pub repeats: u32,
    /// Stop repeating a case as soon as it is known well enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Families of cases, in order.
    pub templates: Vec<Template>,
}

impl Plan {
    /// Each case of `templates` once.
    ///
    /// ```
    /// use wirespeed_schema::plan::{Plan, Template};
    ///
    /// let template = Template::of([("test", "am_lat"), ("via", "inproc"), ("size", "8..64:x2")])?;
    /// assert_eq!(template.axes["size"], ["8", "16", "32", "64"]);
    /// let plan = Plan::of(vec![template]).with_repeats(3);
    /// assert_eq!(plan.repeats, 3);
    /// # Ok::<(), wirespeed_schema::plan::PlanError>(())
    /// ```
    pub fn of(templates: Vec<Template>) -> Self {
        Self {
            repeats: 1,
            until: None,
            templates,
        }
    }

    /// With so many fresh repetitions of every case; at most so many where it also ends [`Plan::with_until`].
    #[must_use]
    pub fn with_repeats(mut self, repeats: u32) -> Self {
        self.repeats = repeats;
        self
    }

    /// Stops repeating a case as soon as it is known well enough.
    #[must_use]
    pub fn with_until(mut self, until: impl Into<Option<Until>>) -> Self {
        self.until = until.into();
        self
    }
}
