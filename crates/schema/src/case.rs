//! One fully resolved measurement: a test on a transport between ranks with roles, and when it stops.

mod rank;

pub use rank::{Load, Place, RankSpec, Role};

use crate::plan::{WARMUP_ITERATIONS_MAX, WARMUP_NS_MAX};
use crate::test::Test;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How long a case lasts where nothing is said: one second.
pub const DURATION_NS: u64 = 1_000_000_000;
/// Operations before anything counts, where nothing is said.
pub const WARMUP_ITERATIONS: u64 = 10_000;
/// Time after which a warm-up ends, where nothing is said.
pub const WARMUP_NS: u64 = 100_000_000;

/// Options of a transport, by name, as the user gave them. Each transport parses its own and refuses unknown ones.
pub type TransportOptions = BTreeMap<String, String>;

/// When a run ends. Both ends agree on it in-band: the source marks its last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Stop {
    /// After so many operations.
    Iterations {
        /// At least 1.
        count: u64,
    },
    /// After so much time on the source's clock.
    Duration {
        /// At least 1 ms.
        duration_ns: u64,
    },
}

/// What a rank that polls does between two empty polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdlePolicy {
    /// Spin: lowest latency; needs a core for each rank.
    Spin,
    /// Give the core away at every empty poll.
    Yield,
}

impl IdlePolicy {
    /// Its name in plans and documents.
    pub const fn name(self) -> &'static str {
        match self {
            IdlePolicy::Spin => "spin",
            IdlePolicy::Yield => "yield",
        }
    }
}

/// Where the ranks of a group live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    /// Threads of one process.
    Threads,
    /// Processes on one machine.
    Processes,
    /// Processes on two machines.
    Hosts,
    /// Processes that a launcher started, on one node or several.
    Job,
}

/// One measurement, checked and complete. A rank gets as much of it as it must know.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Case {
    /// What is measured.
    #[serde(flatten)]
    pub test: Test,
    /// Name of the transport.
    pub transport: String,
    /// The transport's own options.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: TransportOptions,
    /// Where the ranks live.
    pub group: GroupKind,
    /// Where the far ranks are, as it is typed: `HOST`, `HOST:PORT` or the address of a service; absent where none are far, and
    /// in a mesh, whose hosts its section names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Name of the network that data take, where a mesh measures several networks of its hosts apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail: Option<String>,
    /// One entry a rank; index is the rank's number.
    pub ranks: Vec<RankSpec>,
    /// When to stop.
    pub stop: Stop,
    /// Operations before anything counts, at most; see `warmup_ns_max`.
    pub warmup_iterations: u64,
    /// Time after which warm-up ends even if its iterations are not done.
    pub warmup_ns_max: u64,
    /// Check every payload byte and every fetched value.
    #[serde(default)]
    pub check: bool,
    /// Time between interval reports; 0 for none.
    #[serde(default)]
    pub report_interval_ns: u64,
    /// Keep at most so many raw samples a rank; 0 for none.
    #[serde(default)]
    pub raw_samples_max: u64,
    /// What ranks do between two empty polls; absent where they decide it when they have met, by the CPUs that each may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdlePolicy>,
}

impl Case {
    /// `test` over `transport` between a source and its sink, two threads: for one second, after a warm-up of
    /// [`WARMUP_ITERATIONS`] operations or [`WARMUP_NS`], unchecked, without reports and raw samples.
    ///
    /// ```
    /// use wirespeed_schema::case::{Case, GroupKind, Stop};
    /// use wirespeed_schema::test::{Layout, PingPong, Test};
    ///
    /// let case = Case::new(Test::AmLat(PingPong::new(64, Layout::Short)), "tcp")
    ///     .with_group(GroupKind::Processes)
    ///     .with_option("wait", "block")
    ///     .with_stop(Stop::Iterations { count: 1000 });
    /// assert_eq!(case.label(), "tcp am_lat 64 B");
    /// assert_eq!(case.ranks.len(), 2);
    /// ```
    pub fn new(test: Test, transport: impl Into<String>) -> Self {
        Self {
            test,
            transport: transport.into(),
            options: TransportOptions::new(),
            group: GroupKind::Threads,
            to: None,
            rail: None,
            ranks: RankSpec::pair(),
            stop: Stop::Duration {
                duration_ns: DURATION_NS,
            },
            warmup_iterations: WARMUP_ITERATIONS,
            warmup_ns_max: WARMUP_NS,
            check: false,
            report_interval_ns: 0,
            raw_samples_max: 0,
            idle: None,
        }
    }

    /// With one more option of the transport; one of the same name is replaced.
    #[must_use]
    pub fn with_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.insert(name.into(), value.into());
        self
    }

    /// With these options of the transport and no others.
    #[must_use]
    pub fn with_options(mut self, options: TransportOptions) -> Self {
        self.options = options;
        self
    }

    /// The options of the transport at a rank: the case's, but for those of its own.
    ///
    /// ```
    /// use wirespeed_schema::case::{Case, TransportOptions};
    /// use wirespeed_schema::test::{Layout, PingPong, Test};
    ///
    /// let mut case = Case::new(Test::AmLat(PingPong::new(8, Layout::Short)), "uct").with_option("device", "mlx5_0:1");
    /// case.ranks[1].options = TransportOptions::from([("device".to_owned(), "mlx5_1:1".to_owned())]);
    /// assert_eq!(case.options_at(0)["device"], "mlx5_0:1");
    /// assert_eq!(case.options_at(1)["device"], "mlx5_1:1");
    /// ```
    pub fn options_at(&self, rank: u32) -> Cow<'_, TransportOptions> {
        let own = self.ranks.get(rank as usize).map(|rank| &rank.options);
        let Some(own) = own.filter(|own| !own.is_empty()) else {
            return Cow::Borrowed(&self.options);
        };
        let mut options = self.options.clone();
        options.extend(own.clone());
        Cow::Owned(options)
    }

    /// The ranks live there.
    #[must_use]
    pub fn with_group(mut self, group: GroupKind) -> Self {
        self.group = group;
        self
    }

    /// The far ranks are there.
    #[must_use]
    pub fn with_to(mut self, to: impl Into<Option<String>>) -> Self {
        self.to = to.into();
        self
    }

    /// Over the network of this name; over the one by which each host is reached, where nothing is said.
    #[must_use]
    pub fn with_rail(mut self, rail: Option<String>) -> Self {
        self.rail = rail;
        self
    }

    /// Between these ranks; index is the rank's number.
    #[must_use]
    pub fn with_ranks(mut self, ranks: Vec<RankSpec>) -> Self {
        self.ranks = ranks;
        self
    }

    /// Ends then.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// `iterations` operations before anything counts, or as many as `ns_max` nanoseconds allow.
    #[must_use]
    pub fn with_warmup(mut self, iterations: u64, ns_max: u64) -> Self {
        (self.warmup_iterations, self.warmup_ns_max) = (iterations, ns_max);
        self
    }

    /// Whether every payload byte and every fetched value is checked.
    #[must_use]
    pub fn with_check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }

    /// Reports at this interval, in nanoseconds; 0 for none.
    #[must_use]
    pub fn with_report_interval_ns(mut self, interval_ns: u64) -> Self {
        self.report_interval_ns = interval_ns;
        self
    }

    /// Keeps at most so many raw samples a rank; 0 for none.
    #[must_use]
    pub fn with_raw_samples(mut self, samples_max: u64) -> Self {
        self.raw_samples_max = samples_max;
        self
    }

    /// Does this between two empty polls, whatever the ranks find when they meet. Ranks that spin need a CPU each.
    #[must_use]
    pub fn with_idle(mut self, idle: IdlePolicy) -> Self {
        self.idle = idle.into();
        self
    }

    /// The transport's options as they follow a name, like any parameter: ` wait block`; nothing where there are none.
    pub fn options_text(&self) -> String {
        let options = self.options.iter();
        options.map(|(name, value)| format!(" {name} {value}")).collect()
    }

    /// The warm-up as it is typed, `10000` or `100ms`, or the count within the time: `10000<100 ms`.
    pub fn warmup_text(&self) -> String {
        let (count, limit) = (
            self.warmup_iterations,
            crate::units::format_ns(self.warmup_ns_max as f64),
        );
        match (count, self.warmup_ns_max) {
            (0, _) => "0".to_owned(),
            (WARMUP_ITERATIONS_MAX, _) => limit.replace(' ', ""),
            (_, WARMUP_NS_MAX) => count.to_string(),
            _ => format!("{count}<{}", limit.replace(' ', "")),
        }
    }

    /// Short label for progress lines and errors: `tcp am_lat 64 B`, `tcp am_lat 64 B on rail ib1`.
    pub fn label(&self) -> String {
        let size = crate::units::format_asked_size(self.test.size_bytes());
        let rail = self.rail.as_ref().map(|rail| format!("on rail {rail}"));
        let rail = rail.unwrap_or_default();
        let words = [
            &self.transport,
            self.test.name(),
            &self.test.variant(),
            &size,
            &rail,
        ];
        words
            .iter()
            .filter(|word| !word.is_empty())
            .cloned()
            .collect::<Vec<&str>>()
            .join(" ")
    }
}

#[cfg(test)]
mod tests;
