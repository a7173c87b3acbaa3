//! What the user asked for: templates whose every parameter may be a list, and their expansion to cases.
//!
//! A template is kept as the user's words (after splitting lists and ranges), so that a document repeats exactly.
//! Everything that can be known to be nonsense is refused here, before anything is opened.

mod error;
mod expand;
mod file;
mod keys;
mod posted;
mod ranks;
mod resolve;
mod surroundings;
#[cfg(test)]
mod tests;
mod until;

pub use error::{PlanError, nearest};
pub use expand::{CASES_MAX, PlannedCase, expand};
pub use file::{REPEATS_MAX, parse_plan, parse_repeats};
pub use keys::{
    EXCLUSIVE, FRIENDLY_NAMES, FriendlyName, canonical_key, canonical_test, friendly, split_axis, takes,
};
pub use ranks::pin;
pub use resolve::{WARMUP_ITERATIONS_MAX, WARMUP_NS_MAX};
pub use surroundings::Surroundings;
pub use until::{STATISTICS, UNTIL_REPEATS, Until};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The values of one parameter, in the user's order: one or many.
pub type Axis = Vec<String>;

/// One family of cases: the Cartesian product of its axes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Template {
    /// Parameters by their option names (`test`, `via`, `size`, `window`, `layout`, ...). The first key in
    /// [`crate::plan::KEYS`] varies slowest.
    pub axes: BTreeMap<String, Axis>,
    /// The transport's own options by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Axis>,
}

/// Everything asked for in one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Fresh repetitions of every case; at most so many where `until` is given.
    pub repeats: u32,
    /// Stop repeating a case as soon as it is known well enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Families of cases, in order.
    pub templates: Vec<Template>,
}

/// Keys of [`Template::axes`] in the order in which they vary, slowest first.
pub const KEYS: [&str; 28] = [
    "via",
    "test",
    "pattern",
    "grid",
    "peers",
    "stride",
    "cache_state",
    "cache_size",
    "buffers",
    "to",
    "threads",
    "procs",
    "layout",
    "size",
    "reply",
    "window",
    "outstanding",
    "pace",
    "fan_out",
    "roles",
    "cpus",
    "load",
    "iters",
    "duration",
    "warmup",
    "interval",
    "raw",
    "check",
];
