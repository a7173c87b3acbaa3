//! Verdicts as plain sentences. It must never decide anything.

use crate::judge::{Culprit, Side, Verdict};

/// One sentence about a verdict; `host` and `unit` give the names. `higher_is_better` is the option that the mesh was judged
/// with: the ratio of a latency is said as one.
pub fn sentence(
    verdict: &Verdict,
    host: impl Fn(usize) -> String,
    unit: impl Fn(usize) -> String,
    higher_is_better: bool,
) -> String {
    let ratio = |performance: f64| {
        if higher_is_better {
            performance
        } else {
            1.0 / performance
        }
    };
    let [a, b] = verdict.interval.map(ratio);
    let figure = format!(
        "at {:.2} [{:.2} .. {:.2}] of the median",
        ratio(verdict.ratio),
        a.min(b),
        a.max(b)
    );
    let does = |side: Side| match side {
        Side::Sends => "sends",
        Side::Receives => "receives",
        Side::Both => "sends and receives",
    };
    let partners = |side: Side| {
        let kind = match side {
            Side::Sends => "receivers",
            Side::Receives => "senders",
            Side::Both => "partners",
        };
        match verdict.shown_by == verdict.partners {
            true => format!("all {} {kind}", verdict.partners),
            false => format!("{} of {} {kind}", verdict.shown_by, verdict.partners),
        }
    };
    match verdict.culprit {
        Culprit::Unit { unit: at, side } => format!(
            "{} {} {figure}, {} of its {} hosts: the unit, not one host",
            unit(at),
            does(side),
            verdict.shown_by,
            verdict.partners
        ),
        Culprit::Host { host: at, side } => format!(
            "{} {} {figure} with {}: the host, not a link",
            host(at),
            does(side),
            partners(side)
        ),
        Culprit::Link { from, to, both } => format!(
            "{} {} {} moves data {figure}: the link, not a host",
            host(from),
            if both { "<->" } else { "->" },
            host(to)
        ),
        Culprit::Undecided { host: at, side } => format!(
            "{} {} {figure} with {}: the host or its links, too few partners to tell",
            host(at),
            does(side),
            partners(side)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_what_how_much_and_from_whom() {
        let mut verdict = Verdict {
            culprit: Culprit::Host {
                host: 7,
                side: Side::Receives,
            },
            ratio: 0.61,
            interval: [0.58, 0.64],
            false_alarm: 0.001,
            shown_by: 15,
            partners: 15,
        };
        let name = |host: usize| format!("node{host}");
        let said = |verdict: &Verdict, higher| sentence(verdict, name, name, higher);
        let host =
            "node7 receives at 0.61 [0.58 .. 0.64] of the median with all 15 senders: the host, not a link";
        assert_eq!(said(&verdict, true), host);
        verdict.culprit = Culprit::Link {
            from: 1,
            to: 2,
            both: true,
        };
        let link = "node1 <-> node2 moves data at 1.64 [1.56 .. 1.72] of the median: the link, not a host";
        assert_eq!(said(&verdict, false), link);
    }
}
