//! Who the survey makes suspect. It must never be the ground of a verdict: thresholds here are lenient, so that the slow
//! are among the suspects, and many healthy ones.

use super::pairs::PairSet;
use super::polish::{Cell, Effects, OF_MEDIAN};
use crate::Pair;
use std::collections::{BTreeMap, BTreeSet};
use wirespeed_report::stats::median;

/// Partners that a host needs before it can be told from its links.
pub const PARTNERS_MIN: usize = 3;
/// Partners that a suspected host is measured with in a look.
pub const PARTNERS: usize = 8;
/// Standard errors below the median from which on something is suspect: one healthy thing in 25 is.
pub const SUSPECT: f64 = -1.75;
/// The same of links: one in 18 is. A link has a figure or few, so that one at 0.8 is missed more easily than a host.
pub const SUSPECT_LINK: f64 = -1.6;
/// Hosts, and units, that a comparison of units needs.
const UNIT_MIN: usize = 3;

/// What is still suspect, and the number of things that were looked at.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Sides of hosts, 0 as sender and 1 as receiver.
    pub hosts: BTreeSet<(usize, usize)>,
    /// Sides of units.
    pub units: BTreeSet<(usize, usize)>,
    /// Sides of units that have a verdict: they go on explaining their hosts.
    pub named_units: BTreeSet<(usize, usize)>,
    /// Sides of hosts that have a verdict, and what it says of false alarms.
    pub named_hosts: BTreeMap<(usize, usize), f64>,
    /// Links, in order.
    pub links: Vec<Pair>,
    /// All links that ever were suspect.
    pub all_links: PairSet,
    /// Whether a host ever was suspect, as sender and as receiver.
    pub all_hosts: Vec<[bool; 2]>,
    /// Fresh figures between hosts and links that are above suspicion.
    pub controls: usize,
    /// Sides of hosts and units that were compared.
    pub looked_at: usize,
}

impl Candidates {
    /// The suspects of a survey.
    pub fn screen(effects: &Effects, cells: &[Cell], units: &[usize], material: f64) -> Candidates {
        let mut found = Candidates::default();
        // Two cells are explained by their hosts whatever they are.
        if cells.len() < 3 {
            return found;
        }
        let worth = (1.0 - material).ln() / 2.0;
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (host, unit) in units.iter().enumerate() {
            members.entry(*unit).or_default().push(host);
        }
        members.retain(|_, hosts| hosts.len() >= UNIT_MIN);
        for side in [0, 1] {
            let spread = effects.spread[side];
            let measured = (0..effects.hosts[side].len()).filter(|host| effects.counts[side][*host] > 0);
            for host in measured {
                found.looked_at += 1;
                let (effect, error) = (effects.hosts[side][host], effects.error(side, host));
                if effect < worth && effect <= SUSPECT * spread.hypot(error) {
                    found.hosts.insert((host, side));
                }
            }
            for (unit, hosts) in members.iter().filter(|_| members.len() >= UNIT_MIN) {
                found.looked_at += 1;
                let mut all: Vec<f64> = hosts.iter().map(|host| effects.hosts[side][*host]).collect();
                let count = all.len() as f64;
                let error = OF_MEDIAN * spread.hypot(effects.error(side, hosts[0])) / count.sqrt();
                let effect = median(&mut all);
                if effect < worth && effect <= SUSPECT * error {
                    found.units.insert((*unit, side));
                    found.hosts.extend(hosts.iter().map(|host| (*host, side)));
                }
            }
        }
        let judged = |cell: &Cell| {
            effects.counts[0][cell.from] >= PARTNERS_MIN && effects.counts[1][cell.to] >= PARTNERS_MIN
        };
        let left = cells.iter().zip(&effects.residuals);
        let suspect = left
            .filter(|(cell, left)| judged(cell) && **left < worth && **left <= SUSPECT_LINK * effects.noise);
        let hosts = effects.counts[0].len();
        found
            .all_links
            .extend(hosts, suspect.map(|(cell, _)| cell.pair()));
        found.links = found.all_links.as_slice().to_vec();
        found.all_hosts = vec![[false; 2]; hosts];
        for &(host, side) in &found.hosts {
            found.all_hosts[host][side] = true;
        }
        found
    }

    /// Whether nothing is suspect.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.units.is_empty() && self.links.is_empty()
    }
}
