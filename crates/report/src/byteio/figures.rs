//! The figures of a bulk transfer, from what its rank recorded. It must never look at a case's name.

use super::{UNKNOWN_RTT_NS, ceiling_ratio_of};
use crate::assemble::{Metrics, insert};
use crate::stats::median;
use wirespeed_schema::Outcome;
use wirespeed_schema::byteio::{Answers, TcpInfo, Transfer};
use wirespeed_schema::case::Role;

/// Add what the outcome of a bulk transfer tells; nothing where it was none.
pub(crate) fn add(metrics: &mut Metrics, outcomes: &[Outcome]) {
    let Some((outcome, run)) = outcomes
        .iter()
        .find_map(|outcome| Some((outcome, outcome.transfer.as_deref()?)))
    else {
        return;
    };
    let is_put = outcome.role == Role::Source;
    let moved = if is_put { outcome.sent } else { outcome.received };
    if run.error.is_none() {
        if run.elapsed_ns > 0 && run.payload_bytes > 0 {
            let rate = run.payload_bytes as f64 * 1e9 / run.elapsed_ns as f64;
            insert(metrics, "bandwidth_bytes_per_s", rate, moved.messages);
        }
        for (tag, value) in figures(run, is_put) {
            insert(metrics, tag, value, 1);
        }
    }
    let answers = run.answers.as_ref();
    if let Some((rate, count)) = answers.and_then(|answers| Some((answered_per_s(answers)?, answers.count))) {
        insert(metrics, "rate_msg_per_s", rate, count);
    }
}

/// Requests answered a second: those after the first, over the time between the first answer and the last. The last
/// answers come after the last request was due; over the time of the whole run the rate would look smaller than it was.
fn answered_per_s(answers: &Answers) -> Option<f64> {
    let after_first = answers.count.checked_sub(1).filter(|count| *count > 0)?;
    (answers.spread_ns > 0).then(|| after_first as f64 * 1e9 / answers.spread_ns as f64)
}

fn figures(run: &Transfer, is_put: bool) -> Vec<(&'static str, f64)> {
    let ends = || {
        let ends = run
            .connections
            .iter()
            .flat_map(|c| [c.far.as_ref(), c.near.as_ref()]);
        ends.flatten()
    };
    let end =
        |c: &'_ wirespeed_schema::byteio::Connection| if is_put { c.near.clone() } else { c.far.clone() };
    let senders: Vec<TcpInfo> = run.connections.iter().filter_map(end).collect();
    let known = ends().map(|info| info.rtt_ns).filter(|rtt| *rtt > 0);
    let mut rtts: Vec<f64> = known.map(|rtt| rtt as f64).collect();
    let sent: u64 = senders.iter().map(|info| info.sent_bytes).sum();
    let again: u64 = senders.iter().map(|info| info.retransmitted_bytes).sum();
    let mut figures = vec![
        ("lookup_ns", run.lookup_ns as f64),
        ("connect_ns", run.connect_ns as f64),
    ];
    if run.verified {
        figures.push(("verify_ns", run.verify_ns as f64));
    }
    if !rtts.is_empty() {
        figures.push(("tcp_rtt_ns", median(&mut rtts)));
    }
    let least = ends().map(|info| info.min_rtt_ns);
    let least = least.filter(|rtt| (1..UNKNOWN_RTT_NS).contains(rtt)).min();
    figures.extend(least.map(|rtt| ("tcp_min_rtt_ns", rtt as f64)));
    if sent > 0 {
        figures.push(("retransmitted_ratio", again as f64 / sent as f64));
    }
    figures.extend(run.wire_ratio().map(|ratio| ("wire_ratio", ratio)));
    let nominal = run
        .between
        .as_ref()
        .and_then(|between| between.nominal_bytes_per_s);
    if let Some((nominal, rate)) = nominal.zip(run.rate_bytes_per_s()) {
        figures.push(("nominal_ratio", rate / nominal.get()));
        let mss = ends().map(|info| info.mss_bytes).find(|mss| *mss > 0);
        figures.extend(mss.map(|mss| ("ceiling_ratio", ceiling_ratio_of(rate, nominal.get(), mss))));
    }
    figures
}
