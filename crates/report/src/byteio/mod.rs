//! Figures and verdict of bulk transfers: fills the section `byteio` of a document from its runs.

mod cases;
mod figures;
mod manner;
mod pairs;
mod verdict;
mod wire;

pub use cases::{BulkCase, BulkRun, case_of, repetition, result_of};
pub(crate) use figures::add;
pub use manner::manner_remarks;
pub(crate) use manner::{CODING, NO_RANGES, RANGES, told as manner_told};
pub(crate) use pairs::ends_of;
pub use pairs::{name_of_own, take_pairs, was_reached};
pub(crate) use verdict::connection_time;
pub use verdict::{RECOMMENDED, TRIED};
pub use wire::CODE as WIRE_OVERHEAD;
pub(crate) use wire::look as look_at_wire;

use crate::stats::{self, LEVEL};
use wirespeed_schema::Finite;
use wirespeed_schema::byteio::{Connection, Pair, Summary, TcpInfo, Transfer};

/// Headers of Ethernet, IPv4 and TCP with timestamps. Preamble, check sequence and gap, another 24 bytes on a real wire,
/// are left out, so that no path can exceed its ceiling.
const HEADERS_BYTES: f64 = 66.0;

/// The kernel's word for "not known": 2^32 - 1 µs. Nothing near it is a round trip.
const UNKNOWN_RTT_NS: u64 = 4_000_000_000_000;

/// Fill the figures and the verdict of a pair from its runs.
pub fn complete(pair: &mut Pair) {
    pair.summary = summary(pair);
    // What is held back on purpose has no limit to find.
    let unpaced = pair.summary.as_ref().filter(|_| pair.pace_interval_ns.is_none());
    pair.verdict = unpaced.and_then(|summary| verdict::of(pair, summary));
}

/// The runs that came to their end.
pub(super) fn whole(pair: &Pair) -> impl Iterator<Item = &Transfer> + Clone {
    pair.runs.iter().filter(|run| run.error.is_none())
}

/// Those of them that moved something: where nothing moved there is no rate, and nothing that limits it.
pub(super) fn rated(pair: &Pair) -> impl Iterator<Item = &Transfer> + Clone {
    whole(pair).filter(|run| run.rate_bytes_per_s().is_some())
}

/// Their connections.
fn connections(pair: &Pair) -> impl Iterator<Item = &Connection> + Clone {
    whole(pair).flat_map(|run| &run.connections)
}

/// The counters of the end that sends.
pub(super) fn senders(pair: &Pair) -> Vec<&TcpInfo> {
    let put = pair.direction == "put";
    let connections = connections(pair);
    let end = connections.filter_map(|c| if put { c.near.as_ref() } else { c.far.as_ref() });
    end.collect()
}

fn summary(pair: &Pair) -> Option<Summary> {
    let rates: Vec<f64> = rated(pair).filter_map(Transfer::rate_bytes_per_s).collect();
    let over = stats::summarize(&rates, LEVEL)?;
    let mut sorted = rates.clone();
    sorted.sort_by(f64::total_cmp);
    let kept = sorted.get(1..sorted.len().saturating_sub(1)).unwrap_or_default();
    let finite = |value: f64| Finite::maybe(value).unwrap_or_default();
    let senders = senders(pair);
    let nears = connections(pair).filter_map(|c| c.near.as_ref());
    let mut rtts: Vec<f64> = match senders.is_empty() {
        false => senders.iter().map(|info| info.rtt_ns as f64).collect(),
        true => nears.clone().map(|info| info.rtt_ns as f64).collect(),
    };
    let least = senders
        .iter()
        .copied()
        .chain(nears.clone())
        .map(|info| info.min_rtt_ns);
    let least = least.filter(|rtt| (1..UNKNOWN_RTT_NS).contains(rtt)).min();
    let mss = senders
        .iter()
        .copied()
        .chain(nears)
        .map(|info| info.mss_bytes)
        .find(|mss| *mss > 0);
    let nominal = pair.nominal_bytes_per_s.map(Finite::get);
    let ceiling = nominal.zip(mss).map(|(nominal, mss)| ceiling(nominal, mss));
    let wire: Vec<f64> = whole(pair).filter_map(Transfer::wire_ratio).collect();
    let sent: u64 = senders.iter().map(|info| info.sent_bytes).sum();
    let again: u64 = senders.iter().map(|info| info.retransmitted_bytes).sum();
    Some(Summary {
        runs_count: rates.len() as u64,
        median_bytes_per_s: finite(over.median),
        lower_bytes_per_s: finite(over.lower),
        upper_bytes_per_s: finite(over.upper),
        level_ratio: over.level.and_then(Finite::maybe),
        mean_bytes_per_s: finite(mean(&rates)),
        sd_bytes_per_s: sample_sd(&rates).and_then(Finite::maybe),
        trimmed_mean_bytes_per_s: stats::trimmed_mean(&rates).and_then(Finite::maybe),
        trimmed_sd_bytes_per_s: sample_sd(kept).and_then(Finite::maybe),
        least_bytes_per_s: finite(sorted[0]),
        greatest_bytes_per_s: finite(sorted[sorted.len() - 1]),
        nominal_ratio: nominal.and_then(|nominal| Finite::maybe(over.median / nominal)),
        ceiling_bytes_per_s: ceiling.and_then(Finite::maybe),
        ceiling_ratio: ceiling.and_then(|ceiling| Finite::maybe(over.median / ceiling)),
        rtt_ns: (!rtts.is_empty()).then(|| stats::median(&mut rtts) as u64),
        min_rtt_ns: least,
        retransmitted_ratio: (sent > 0).then(|| finite(again as f64 / sent as f64)),
        wire_ratio: stats::summarize(&wire, LEVEL).and_then(|over| Finite::maybe(over.median)),
        congestion: senders.first().map(|info| info.congestion.clone()),
    })
}

/// What a nominal speed leaves for payload in segments of this size.
pub fn ceiling(nominal_bytes_per_s: f64, mss_bytes: u64) -> f64 {
    nominal_bytes_per_s * mss_bytes as f64 / (mss_bytes as f64 + HEADERS_BYTES)
}

pub(super) fn ceiling_ratio_of(rate: f64, nominal: f64, mss: u64) -> f64 {
    rate / ceiling(nominal, mss)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// sqrt(Σ(x - mean)² / (n - 1)); `None` below two values.
fn sample_sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::byteio::Connection;

    fn pair(rates: &[f64]) -> Pair {
        let info = TcpInfo {
            rtt_ns: 30_000_000,
            mss_bytes: 1448,
            sent_bytes: 1000,
            retransmitted_bytes: 1,
            congestion: "cubic".into(),
            ..TcpInfo::default()
        };
        let run = |rate: &f64| Transfer {
            bandwidth_bytes_per_s: Finite::maybe(*rate),
            connections: vec![Connection {
                far: Some(info.clone()),
                ..Connection::default()
            }],
            ..Transfer::default()
        };
        Pair {
            direction: "get".into(),
            nominal_bytes_per_s: Finite::maybe(125e6),
            runs: rates.iter().map(run).collect(),
            ..Pair::default()
        }
    }

    /// Ten runs 1..10: median 5.5, interval of the order 2nd..9th, trimmed mean 5.5, sd of all 3.0277, of the middle
    /// eight 2.4495 (numpy.std(ddof=1)).
    #[test]
    fn the_experiment_of_2009_and_what_it_left_out() {
        let rates: Vec<f64> = (1..=10).map(|n| f64::from(n) * 1e7).collect();
        let summary = summary(&pair(&rates)).unwrap();
        let mega = |value: Finite| (value.get() / 1e3).round() / 1e4;
        assert_eq!(mega(summary.median_bytes_per_s), 5.5);
        assert_eq!(
            (mega(summary.lower_bytes_per_s), mega(summary.upper_bytes_per_s)),
            (2.0, 9.0)
        );
        assert_eq!(mega(summary.trimmed_mean_bytes_per_s.unwrap()), 5.5);
        assert_eq!(mega(summary.sd_bytes_per_s.unwrap()), 3.0277);
        assert_eq!(mega(summary.trimmed_sd_bytes_per_s.unwrap()), 2.4495);
        assert!((summary.nominal_ratio.unwrap().get() - 0.44).abs() < 1e-9);
        assert!((summary.ceiling_bytes_per_s.unwrap().get() - 125e6 * 1448.0 / 1514.0).abs() < 1.0);
        assert_eq!(
            (summary.rtt_ns, summary.congestion.as_deref()),
            (Some(30_000_000), Some("cubic"))
        );
        assert!((summary.retransmitted_ratio.unwrap().get() - 0.001).abs() < 1e-12);
    }

    #[test]
    fn broken_runs_do_not_count() {
        let mut one = pair(&[1e6, 2e6]);
        one.runs[1].error = Some("cut".into());
        let summary = summary(&one).unwrap();
        assert_eq!(
            (
                summary.runs_count,
                summary.median_bytes_per_s.get(),
                summary.sd_bytes_per_s
            ),
            (1, 1e6, None)
        );
        one.runs[0].error = Some("cut".into());
        assert_eq!(super::summary(&one), None);
        let mut none = Pair::default();
        complete(&mut none);
        assert_eq!(none.verdict, None);
    }
}
