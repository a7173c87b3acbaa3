//! What a judgement says, as data. It must never hold words for people: those are those of the report, `wirespeed_report::mesh::words`.

use crate::Pair;
use std::collections::BTreeMap;

/// A direction of a host's traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// What the host sends.
    Sends,
    /// What the host receives.
    Receives,
    /// Both.
    Both,
}

/// What is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Culprit {
    /// All hosts of a unit (a rack).
    Unit {
        /// The unit's number.
        unit: usize,
        /// In which direction.
        side: Side,
    },
    /// A host, whoever its partner is.
    Host {
        /// The host's number.
        host: usize,
        /// In which direction.
        side: Side,
    },
    /// A link, whatever else its hosts do.
    Link {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// True: the other direction is slow, too.
        both: bool,
    },
    /// A host or its links: it had too few partners to tell.
    Undecided {
        /// The host's number.
        host: usize,
        /// In which direction.
        side: Side,
    },
}

/// A culprit with the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// What is slow.
    pub culprit: Culprit,
    /// Its performance over the median's: 0.8 is 20 % slower; of a link over what its hosts do with others. Of two directions,
    /// the slower.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: [f64; 2],
    /// Probability that anything in the mesh looked like this where nothing is slow.
    pub false_alarm: f64,
    /// Partners (of a link 1; of a unit its hosts) that show it.
    pub shown_by: usize,
    /// Partners that it was measured with.
    pub partners: usize,
}

/// The answer of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What is slow; empty where nothing is known to be.
    pub verdicts: Vec<Verdict>,
    /// Ordered pairs without any figure.
    pub unmeasured: usize,
    /// Measurements that gave no figure.
    pub failed: usize,
    /// Hosts that too few partners answer to be judged.
    pub not_judged: Vec<usize>,
    /// Links that seemed slow, and that looks neither confirmed nor cleared.
    pub unsettled: Vec<Pair>,
    /// Looks at fresh figures that were taken.
    pub looks: usize,
    /// Standard deviation of a figure, as a share of it.
    pub noise: f64,
    /// A host at this ratio to the median or below, in one direction, would have been named with a chance of
    /// [`POWER`](wirespeed_report::thresholds::POWER). Absent where no host would have been.
    pub detectable_host: Option<f64>,
    /// The same of one direction of a link.
    pub detectable_link: Option<f64>,
}

/// Both directions of the same thing as one verdict, with the figures of the slower.
pub fn merged(verdicts: &[Verdict]) -> Vec<Verdict> {
    let both = |culprit: Culprit| match culprit {
        Culprit::Unit { unit, .. } => Culprit::Unit {
            unit,
            side: Side::Both,
        },
        Culprit::Host { host, .. } => Culprit::Host {
            host,
            side: Side::Both,
        },
        Culprit::Undecided { host, .. } => Culprit::Undecided {
            host,
            side: Side::Both,
        },
        Culprit::Link { from, to, .. } => Culprit::Link {
            from: from.min(to),
            to: from.max(to),
            both: true,
        },
    };
    let mut found: BTreeMap<Culprit, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        found.entry(both(verdict.culprit)).or_default().push(verdict);
    }
    let one = |(culprit, all): (Culprit, Vec<&Verdict>)| {
        let slowest = all.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
        let culprit = if all.len() > 1 { culprit } else { slowest.culprit };
        Some(Verdict { culprit, ..**slowest })
    };
    found.into_iter().filter_map(one).collect()
}
