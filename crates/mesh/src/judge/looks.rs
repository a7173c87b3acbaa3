//! What to measure next. It must never depend on how slow a suspect is, only on whether it still is one.

use super::candidates::Candidates;
use crate::Pair;
use wirespeed_report::stats::Random;

/// Partners of a suspected host in a look.
const PARTNERS: usize = 8;

/// Pairs of a look; a pair stands as often as it is to be measured.
pub fn pairs(candidates: &Candidates, hosts: usize, look: usize, random: &mut Random) -> Vec<Pair> {
    let suspect =
        |host: usize| candidates.all_hosts.contains(&(host, 0)) || candidates.all_hosts.contains(&(host, 1));
    let mut healthy: Vec<usize> = (0..hosts).filter(|host| !suspect(*host)).collect();
    if healthy.len() < hosts / 2 {
        healthy = (0..hosts).collect();
    }
    let mut pairs = Vec::new();
    let mut partners = |apart: [usize; 2], count: usize| -> Vec<usize> {
        let mut others: Vec<usize> = (0..4 * count)
            .map(|_| healthy[random.below(healthy.len())])
            .collect();
        others.retain(|host| !apart.contains(host));
        others.truncate(count);
        others
    };
    for &(host, side) in &candidates.hosts {
        let others = partners([host, host], PARTNERS);
        for other in &others {
            let sent = Pair {
                from: host,
                to: *other,
            };
            pairs.push(if side == 0 { sent } else { sent.back() });
        }
        // The partners without the suspect.
        let between = others.windows(2).filter(|ends| ends[0] != ends[1]);
        pairs.extend(between.map(|ends| Pair {
            from: ends[0],
            to: ends[1],
        }));
    }
    for &link in &candidates.links {
        pairs.extend(std::iter::repeat_n(link, 2 << look));
        for other in partners([link.from, link.to], 2 << look) {
            pairs.push(Pair {
                from: link.from,
                to: other,
            });
            pairs.push(Pair {
                from: other,
                to: link.to,
            });
        }
    }
    pairs
}
