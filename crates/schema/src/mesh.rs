//! The section `mesh` of the run document: many hosts, what each pair of them was measured at, and which host, link or unit is
//! slow. It must never hold a sentence: those are derived from it wherever it is shown.

use crate::case::TransportOptions;
use crate::finite::Finite;
use crate::section::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much of a mesh runs at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshMode {
    /// All pairs of a round.
    #[default]
    Loaded,
    /// One pair.
    Isolated,
}

impl MeshMode {
    /// Its name for people and documents.
    pub fn name(self) -> &'static str {
        match self {
            MeshMode::Loaded => "loaded",
            MeshMode::Isolated => "isolated",
        }
    }
}

/// Which pairs were to be measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshPairs {
    /// Every pair, in both directions.
    #[default]
    All,
    /// Those of some matchings, in both directions.
    Matchings,
    /// Those that a file names.
    Given,
}

/// A host of the mesh; its number is its place in [`MeshSection::hosts`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshHost {
    /// Its name, as it was given or as the launcher calls it; a number where names were not to be published.
    pub name: String,
    /// Number of its unit, where there are units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<u32>,
    /// Options of the transport that its rank had in place of those of the case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: TransportOptions,
    /// Why it was lost, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// What an ordered pair of hosts was measured at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshPair {
    /// Number of the host that sends, or starts operations.
    pub from: u32,
    /// Number of the host that receives, or answers.
    pub to: u32,
    /// Its figures, in the unit of the probe's tag, in the order in which they were measured: first those of the survey, then
    /// those of checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Finite>,
    /// How many of the values are of the survey.
    pub survey_count: u32,
    /// How many of its measurements gave no figure.
    #[serde(skip_serializing_if = "crate::byteio::is_zero")]
    pub failed_count: u64,
    /// Why the last of those gave none, where others may have given some, or why it was not measured at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// How many cycles left it out, since it or one of its hosts had fallen silent.
    #[serde(skip_serializing_if = "crate::byteio::is_zero")]
    pub left_out_count: u64,
    /// How data arrived other than they were sent, where any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_data: Option<String>,
    /// It seemed slow, and what was measured again neither confirmed nor cleared that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
}

impl MeshPair {
    /// Why it failed: nothing where it has a figure, whatever became of other measurements.
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref().filter(|_| self.values.is_empty())
    }
}

/// A direction of a host's traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshSide {
    /// What it sends.
    Sends,
    /// What it receives.
    Receives,
    /// Both.
    #[default]
    Both,
}

/// What is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "culprit", rename_all = "snake_case")]
pub enum MeshCulprit {
    /// All hosts of a unit.
    Unit {
        /// Number of the unit.
        unit: u32,
        /// In which direction.
        side: MeshSide,
    },
    /// A host, whoever its partner is.
    Host {
        /// Number of the host.
        host: u32,
        /// In which direction.
        side: MeshSide,
    },
    /// A link, whatever else its hosts do.
    Link {
        /// Number of the host that sends.
        from: u32,
        /// Number of the host that receives.
        to: u32,
        /// Whether the other direction is slow, too.
        both: bool,
    },
    /// A host or its links: it had too few partners to tell.
    Undecided {
        /// Number of the host.
        host: u32,
        /// In which direction.
        side: MeshSide,
    },
}

/// A culprit with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshVerdict {
    /// What is slow.
    #[serde(flatten)]
    pub culprit: MeshCulprit,
    /// Its performance over the median's: 0.8 is 20 % slower, of a latency as of a rate; of a link over what its hosts do with
    /// others. Of two directions, the slower.
    pub ratio: Finite,
    /// Lower end of the 95 % interval of the ratio.
    pub lower_ratio: Finite,
    /// Upper end.
    pub upper_ratio: Finite,
    /// Probability that anything in the mesh looked like this where nothing is slow.
    pub false_alarm_ratio: Finite,
    /// Partners that show it: of a link 1, of a unit its hosts.
    pub shown_by_partners: u32,
    /// Partners that it was measured with.
    pub partners: u32,
}

/// What a host does beside the median host, as survey and checks have it: ratios of performances, 1 is the median.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshEffect {
    /// As sender; absent where it sent nothing that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sends_ratio: Option<Finite>,
    /// The 95 % interval of that; absent with too few partners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sends_interval: Option<[Finite; 2]>,
    /// As receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receives_ratio: Option<Finite>,
    /// The 95 % interval of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receives_interval: Option<[Finite; 2]>,
}

/// One case, measured between pairs of hosts, and what is judged of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshProbe {
    /// Number of the case in the document: one pair's.
    pub case: u32,
    /// Tag of the figure that pairs are compared by, which ends with its unit.
    pub tag: String,
    /// Whether a larger figure is better: a rate, not a latency.
    pub higher_is_better: bool,
    /// Every pair that was to be measured in this case, by sender and receiver.
    pub pairs: Vec<MeshPair>,
    /// Each host's effect, by number.
    pub effects: Vec<MeshEffect>,
    /// What is slow; empty where nothing is known to be.
    pub verdicts: Vec<MeshVerdict>,
    /// Ordered pairs of hosts without any figure.
    pub unmeasured_count: u64,
    /// Measurements that gave no figure.
    pub failed_count: u64,
    /// Numbers of hosts that could not be judged, since too few partners answer them.
    pub not_judged_hosts: Vec<u32>,
    /// How often what seemed slow was measured again.
    pub looks_count: u32,
    /// Standard deviation of a figure, as a share of it.
    pub noise_ratio: Finite,
    /// A host at this ratio to the median or slower, in one direction, would have been named with a chance of 90 %, by the noise
    /// that was measured. Absent where none would have been, or nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable_host_ratio: Option<Finite>,
    /// The same of one direction of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable_link_ratio: Option<Finite>,
    /// Whether everything that was to be measured was, or failed by itself: else the judgement is of a part.
    pub complete: bool,
}

/// One stream of a storm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshStream {
    /// Number of the host that sends.
    pub from: u32,
    /// Number of the host that receives.
    pub to: u32,
    /// Its rate over each run of the storm.
    pub rates_bytes_per_s: Vec<Finite>,
    /// Its rate in each slice of time, a list for each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slices_bytes_per_s: Vec<Vec<Finite>>,
}

/// A figure with its interval over runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshShare {
    /// The figure.
    pub value: Finite,
    /// Lower end of the interval; absent with fewer than three runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<Finite>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<Finite>,
}

/// Traffic of other hosts beside a case, and how it was shared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshStorm {
    /// As it was asked for: `incast`, `outcast@node3`. The section `interference` has what it did to the case.
    pub load: String,
    /// Number of the case in the document.
    pub case: u32,
    /// Its streams, all at once.
    pub streams: Vec<MeshStream>,
    /// Length of a slice of time.
    pub slice_ns: u64,
    /// Jain's index of the streams' rates: 1 where all get the same, 1/n where one of n gets everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_ratio: Option<MeshShare>,
    /// The least stream's share of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_ratio: Option<MeshShare>,
    /// The greatest stream's share of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greatest_ratio: Option<MeshShare>,
    /// Jain's index within slices, the median over all: below the index where streams take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_slices_ratio: Option<Finite>,
}

/// `Run::sections["mesh"]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeshSection {
    /// The hosts.
    pub hosts: Vec<MeshHost>,
    /// Names of the units (racks, switches), by number; empty without units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<String>,
    /// How much ran at the same time.
    pub mode: MeshMode,
    /// Which pairs were to be measured.
    pub pairs: MeshPairs,
    /// Rounds of one cycle of the schedule.
    pub rounds: u64,
    /// Cycles that the survey was to have.
    pub cycles: u32,
    /// Seed of who meets whom when.
    pub seed: u64,
    /// Probability that a mesh without anything slow gets a verdict, as the judgement was asked to keep it, a probe.
    pub false_alarm_ratio: Finite,
    /// How much slower than the median, as a share, was worth naming.
    pub material_ratio: Finite,
    /// What was measured, a case each.
    pub probes: Vec<MeshProbe>,
    /// Traffic beside cases, where some was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<MeshStorm>,
}

impl Section for MeshSection {
    const NAME: &'static str = "mesh";
}

impl MeshSection {
    /// The name of host `number`; its number where it has none.
    pub fn host_name(&self, number: u32) -> String {
        let host = self.hosts.get(number as usize).map(|host| host.name.clone());
        host.filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("host{number}"))
    }

    /// Whether host `number` was lost.
    pub fn is_lost(&self, number: u32) -> bool {
        self.hosts
            .get(number as usize)
            .is_some_and(|host| host.lost.is_some())
    }

    /// The same with names as short as tables want them: without the port, where one host alone has the address.
    pub fn with_short_names(mut self) -> MeshSection {
        let addresses: Vec<String> = self
            .hosts
            .iter()
            .map(|host| address(&host.name).to_owned())
            .collect();
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for address in &addresses {
            *counts.entry(address).or_default() += 1;
        }
        for (host, address) in self.hosts.iter_mut().zip(&addresses) {
            if counts[address.as_str()] == 1 {
                host.name.clone_from(address);
            }
        }
        self
    }

    /// The name of unit `number`.
    pub fn unit_name(&self, number: u32) -> String {
        let name = self.units.get(number as usize).cloned();
        name.unwrap_or_else(|| format!("unit{number}"))
    }
}

/// `10.0.0.1` of `10.0.0.1:7411`, `::1` of `[::1]:7411`; a name without a port as it is.
fn address(name: &str) -> &str {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once(':') {
        Some((host, port)) if is_port(port) => match host.strip_prefix('[') {
            Some(inner) => inner.strip_suffix(']').unwrap_or(name),
            None if host.is_empty() || host.contains(':') => name,
            None => host,
        },
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(names: &[&str]) -> Vec<String> {
        let host = |name: &&str| MeshHost {
            name: (*name).to_owned(),
            ..MeshHost::default()
        };
        let section = MeshSection {
            hosts: names.iter().map(host).collect(),
            ..MeshSection::default()
        };
        let hosts = section.with_short_names().hosts.into_iter();
        hosts.map(|host| host.name).collect()
    }

    #[test]
    fn names_lose_a_port_that_tells_nothing() {
        let short = shortened(&["10.0.0.1:7411", "10.0.0.2:7411", "[fe80::1]:7411", "node4"]);
        assert_eq!(short, ["10.0.0.1", "10.0.0.2", "fe80::1", "node4"]);
        let mixed = shortened(&["10.0.0.1:7411", "10.0.0.1:7412", "10.0.0.2:7411", "fe80::2"]);
        assert_eq!(mixed, ["10.0.0.1:7411", "10.0.0.1:7412", "10.0.0.2", "fe80::2"]);
        for unlike in [&["a", "a:7000", ":1"][..], &["a:", "db:main", "[::1]"]] {
            assert_eq!(shortened(unlike), unlike);
        }
    }

    #[test]
    fn a_pair_with_a_figure_has_not_failed() {
        let mut pair = MeshPair {
            failed: Some("gone".to_owned()),
            ..MeshPair::default()
        };
        assert_eq!(pair.failure(), Some("gone"));
        pair.values.push(Finite::default());
        assert_eq!(pair.failure(), None);
    }

    #[test]
    fn hosts_and_units_have_names_or_numbers() {
        let host = |name: &str, lost: Option<&str>| MeshHost {
            name: name.to_owned(),
            lost: lost.map(str::to_owned),
            ..MeshHost::default()
        };
        let section = MeshSection {
            hosts: vec![host("a", None), host("", Some("gone"))],
            units: vec!["node7".to_owned()],
            ..MeshSection::default()
        };
        assert_eq!([section.unit_name(0), section.unit_name(1)], ["node7", "unit1"]);
        assert_eq!(
            [0, 1, 2].map(|host| section.host_name(host)),
            ["a", "host1", "host2"]
        );
        assert_eq!([0, 1, 2].map(|host| section.is_lost(host)), [false, true, false]);
    }
}
