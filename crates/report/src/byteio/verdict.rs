//! What limits a transfer, in one sentence. Rules in order; the first that holds speaks, and names its evidence.

use super::{rated, senders};
use crate::thresholds::{
    BUSY_SHARE, LIMIT_TOLERANCE, LINK_FULL_SHARE, LINK_QUEUED_TIMES, LONG_RTT_NS, LOSS_RATIO, PHASE_SHARE,
};
use crate::wording::percent;
use std::net::IpAddr;
use wirespeed_schema::byteio::{Pair, Summary, TcpInfo, Transfer, Verdict};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{counted_about, format_ns, significant};

/// The pair of a sweep that is recommended.
pub const RECOMMENDED: &str = "recommended";
/// And every other.
pub const TRIED: &str = "tried";

/// The verdict on the run in the middle.
pub(super) fn of(pair: &Pair, summary: &Summary) -> Option<Verdict> {
    let mut rated: Vec<&Transfer> = rated(pair).collect();
    rated.order_by(|a, b| {
        let rate = |run: &Transfer| run.rate_bytes_per_s().unwrap_or_default();
        rate(a).total_cmp(&rate(b))
    });
    let run = *rated.get(rated.len() / 2)?;
    let rules = [full, queued, loss, window, client, server, idle];
    let found = rules.iter().find_map(|rule| rule(pair, summary, run));
    let (limit, text) = found.unwrap_or_else(|| {
        let hint = match (pair.nominal_bytes_per_s, is_swept(pair)) {
            // The file of pairs has what a machine's link can do.
            (None, _) if pair.name.contains(" -> ") => {
                "give its machines their nominal speed, so that a full link can be told from a slow one"
            }
            (None, _) => "give --nominal, so that a full link can be told from a slow one",
            (Some(_), false) => "neither end, nor a window, nor loss stands out; try --sweep",
            (Some(_), true) => "neither end, nor a window, nor loss stands out",
        };
        ("unclear", format!("no single limit stands out: {hint}"))
    });
    Some(Verdict {
        limit: limit.to_owned(),
        text,
    })
}

/// Whether a sweep tried other shapes beside this one: advice to change it would contradict their figures. So would advice for
/// what ran under a load, which is there to be compared with the same without.
fn is_swept(pair: &Pair) -> bool {
    [RECOMMENDED, TRIED].contains(&pair.name.as_str()) || !pair.load.is_idle()
}

/// Advice to change the shape, where no sweep has tried that.
fn advised<'a>(pair: &Pair, advice: &'a str) -> &'a str {
    if is_swept(pair) { "" } else { advice }
}

type Found = Option<(&'static str, String)>;

/// Time in which connections waited with nothing under way. The data of a put are on their way while their answer is awaited:
/// it waits while nothing of it is (as its sender's kernel counts), and for at least a round trip of the path with each block.
fn waited(pair: &Pair, summary: &Summary, run: &Transfer) -> f64 {
    let round_trip = summary.min_rtt_ns.unwrap_or(0);
    let waits = run.connections.iter().map(|c| {
        let blocks = c.payload_bytes.div_ceil(pair.block_bytes.max(1));
        let quiet = c.near.as_ref().map_or(0, |sender| {
            let busy = sender
                .busy_ns
                .saturating_add(c.idle_ns)
                .saturating_add(c.digest_ns);
            run.elapsed_ns.saturating_sub(busy)
        });
        let first = match pair.direction.as_str() {
            "put" => c.first_byte_ns.min(blocks.saturating_mul(round_trip).max(quiet)),
            _ => c.first_byte_ns,
        };
        c.idle_ns.saturating_add(first)
    });
    waits.map(|ns| ns as f64).sum()
}

/// Whether the address is one of the machine that reads: no link is between its ends.
fn is_loopback(url: &str) -> bool {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Time of all connections together, or of all their requests where these overlap: no part is more than that.
pub(crate) fn connection_time(pair: &Pair, run: &Transfer) -> f64 {
    let connections = run.elapsed_ns.max(1) as f64 * pair.threads.max(1) as f64;
    let parts = run.connections.iter().map(|c| {
        let parts = [
            c.request_ns,
            c.first_byte_ns,
            c.stream_ns,
            c.store_ns,
            c.digest_ns,
            c.idle_ns,
        ];
        parts.map(|ns| ns as f64).iter().sum::<f64>()
    });
    connections.max(parts.sum())
}

fn full(_: &Pair, summary: &Summary, _: &Transfer) -> Found {
    let ratio = summary.ceiling_ratio?.get();
    if ratio > LIMIT_TOLERANCE {
        let text = format!(
            "{} of what the nominal speed leaves for payload: the nominal speed is not that of this path",
            percent(ratio)
        );
        return Some(("unclear", text));
    }
    (ratio >= LINK_FULL_SHARE).then(|| {
        (
            "network",
            format!(
                "the link is full: {} of what its nominal speed leaves for payload",
                percent(ratio)
            ),
        )
    })
}

/// Packets queue only for a link that carries all it can, and the queue overflows for that reason: what is then sent again
/// shows no loss. Nothing may have held the senders back. On loopback late packets only show that the CPUs were busy.
fn queued(pair: &Pair, summary: &Summary, run: &Transfer) -> Found {
    let (rtt, least) = (summary.rtt_ns?, summary.min_rtt_ns?);
    let is_queued = rtt >= least + LONG_RTT_NS && rtt as f64 >= least as f64 * LINK_QUEUED_TIMES;
    let is_idle = waited(pair, summary, run) / connection_time(pair, run) >= PHASE_SHARE;
    let held = client(pair, summary, run).or_else(|| server(pair, summary, run));
    if !is_queued || held.is_some() || is_idle || is_loopback(&pair.url) {
        return None;
    }
    let share = summary.ceiling_ratio.map_or(String::new(), |ratio| {
        format!(
            ", {} of what the nominal speed leaves for payload",
            percent(ratio.get())
        )
    });
    Some((
        "network",
        format!(
            "the slowest link is full{share}: packets queue for it, so that a round trip takes {} instead of {}",
            format_ns(rtt as f64),
            format_ns(least as f64)
        ),
    ))
}

/// Whether the path itself is long: without the queues that a transfer makes.
fn is_long(summary: &Summary) -> bool {
    let rtt = summary.min_rtt_ns.or(summary.rtt_ns);
    rtt.is_some_and(|rtt| rtt > LONG_RTT_NS)
}

/// A control that does not slow down for loss is not limited by it.
fn loss(pair: &Pair, summary: &Summary, _: &Transfer) -> Found {
    let ratio = summary.retransmitted_ratio?.get();
    let congestion = summary.congestion.as_deref();
    let slows_down = !congestion.is_some_and(|name| name.starts_with("bbr"));
    (ratio >= LOSS_RATIO && is_long(summary) && slows_down).then(|| {
        let congestion = congestion.unwrap_or("the sender's congestion control");
        let sent_again = percent(ratio);
        let advice = advised(pair, "; more connections help, and so does bbr");
        (
            "loss",
            format!(
                "loss: {sent_again} of the payload was sent again, and {congestion} slows down for it{advice}"
            ),
        )
    })
}

fn window(pair: &Pair, summary: &Summary, _: &Transfer) -> Found {
    let senders = senders(pair);
    let busy = senders.iter().map(|info| info.busy_ns).sum::<u64>() as f64;
    if busy == 0.0 {
        return None;
    }
    let share = |part: fn(&TcpInfo) -> u64| {
        let held = senders.iter().map(|info| part(info)).sum::<u64>() as f64;
        // The kernel counts the two in steps of its own.
        (held / busy).min(1.0)
    };
    let (receiver, sender) = (
        share(|info| info.receiver_limited_ns),
        share(|info| info.sender_limited_ns),
    );
    // On a path without delay a full window is only a reader that takes its time.
    let long = is_long(summary);
    let advice = advised(pair, ", or use more connections");
    match (receiver > PHASE_SHARE, sender > PHASE_SHARE) {
        (true, _) if long => Some((
            "window",
            format!(
                "the receiver's window held the sender back for {} of its time; raise net.ipv4.tcp_rmem there{advice}",
                percent(receiver)
            ),
        )),
        (_, true) if long => Some((
            "window",
            format!(
                "the sender's buffer held it back for {} of its time; raise net.ipv4.tcp_wmem there{advice}",
                percent(sender)
            ),
        )),
        _ => None,
    }
}

fn client(pair: &Pair, _: &Summary, run: &Transfer) -> Found {
    let cores = pair
        .near
        .as_ref()
        .map_or(1, |host| host.cpus_allowed.len().max(1));
    let able = (cores as f64).min(pair.threads.max(1) as f64);
    let stored: u64 = run.connections.iter().map(|c| c.store_ns).sum();
    let store = stored as f64 / connection_time(pair, run);
    if store > PHASE_SHARE {
        return Some((
            "client",
            format!(
                "the client stored for {} of its time: its disk or page cache is the limit",
                percent(store)
            ),
        ));
    }
    // The load beside a transfer runs in the client's process: its time is not the transfer's.
    let used = pair
        .load
        .is_idle()
        .then(|| run.cores_of(run.cpu_near_ns))
        .flatten()?;
    busy(used, able).map(|used| ("client", format!("the client {used}")))
}

fn server(pair: &Pair, _: &Summary, run: &Transfer) -> Found {
    let cores = pair.far.as_ref().map_or(1, |host| host.cpus_allowed.len().max(1));
    let used = run.cores_of(run.cpu_far_ns?)?;
    let able = (cores as f64).min(pair.threads.max(1) as f64);
    busy(used, able).map(|used| ("server", format!("the service {used}")))
}

/// That an end's connections had no core left. Other threads of it may have used more beside them.
fn busy(used: f64, able: f64) -> Option<String> {
    (used / able >= BUSY_SHARE).then(|| {
        let (used, able) = (counted_about(used, 2, "core"), significant(able, 2));
        format!("used {used}, and its connections can keep {able} busy")
    })
}

fn idle(pair: &Pair, summary: &Summary, run: &Transfer) -> Found {
    let waited = waited(pair, summary, run) / connection_time(pair, run);
    if waited < PHASE_SHARE {
        return None;
    }
    let rtt = summary.rtt_ns.map_or(String::new(), |rtt| {
        format!(" (round trip {})", format_ns(rtt as f64))
    });
    let remedy = match pair.depth_ops {
        0 | 1 => "; keep two or more requests outstanding (--depth 2)",
        _ => "; use more connections or larger blocks",
    };
    let remedy = advised(pair, remedy);
    Some((
        "idle",
        format!(
            "connections waited for first bytes for {} of their time{rtt}{remedy}",
            percent(waited)
        ),
    ))
}

#[cfg(test)]
mod tests;
