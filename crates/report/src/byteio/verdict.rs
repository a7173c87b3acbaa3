//! What limits a transfer, in one sentence. Rules in order; the first that holds speaks, and names its evidence.

use super::{senders, whole};
use crate::thresholds::{
    BUSY_SHARE, LIMIT_TOLERANCE, LINK_FULL_SHARE, LINK_QUEUED_TIMES, LONG_RTT_NS, LOSS_RATIO, PHASE_SHARE,
};
use crate::wording::percent;
use wirespeed_schema::byteio::{Pair, Summary, TcpInfo, Transfer, Verdict};
use wirespeed_schema::order::InOrder;
use wirespeed_schema::units::{format_ns, significant};

/// The verdict on the run in the middle.
pub(super) fn of(pair: &Pair, summary: &Summary) -> Option<Verdict> {
    let mut whole: Vec<&Transfer> = whole(pair).collect();
    whole.order_by(|a, b| {
        a.bandwidth_bytes_per_s
            .get()
            .total_cmp(&b.bandwidth_bytes_per_s.get())
    });
    let run = *whole.get(whole.len() / 2)?;
    let rules = [full, queued, loss, window, client, server, idle];
    let found = rules.iter().find_map(|rule| rule(pair, summary, run));
    let (limit, text) = found.unwrap_or_else(|| {
        let hint = match pair.nominal_bytes_per_s {
            None => "give --nominal, so that a full link can be told from a slow one",
            Some(_) => "neither end, nor a window, nor loss stands out; try --sweep",
        };
        ("unclear", format!("no single limit stands out: {hint}"))
    });
    Some(Verdict {
        limit: limit.to_owned(),
        text,
    })
}

type Found = Option<(&'static str, String)>;

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
/// shows no loss. Nothing may have held the senders back.
fn queued(pair: &Pair, summary: &Summary, run: &Transfer) -> Found {
    let (rtt, least) = (summary.rtt_ns?, summary.min_rtt_ns?);
    let is_queued = rtt >= least + LONG_RTT_NS && rtt as f64 >= least as f64 * LINK_QUEUED_TIMES;
    let time = connection_time(pair, run);
    let waited: u64 = run.connections.iter().map(|c| c.idle_ns + c.first_byte_ns).sum();
    let held = client(pair, summary, run).or_else(|| server(pair, summary, run));
    if !is_queued || held.is_some() || waited as f64 / time >= PHASE_SHARE {
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

fn loss(_: &Pair, summary: &Summary, _: &Transfer) -> Found {
    let ratio = summary.retransmitted_ratio?.get();
    (ratio >= LOSS_RATIO && is_long(summary)).then(|| {
        let congestion = summary.congestion.as_deref().unwrap_or("the sender's congestion control");
        (
            "loss",
            format!("loss: {} of the payload was sent again, and {congestion} slows down for it; more connections help loss-based controls, bbr helps itself", percent(ratio)),
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
    match (receiver > PHASE_SHARE, sender > PHASE_SHARE) {
        (true, _) if long => Some((
            "window",
            format!(
                "the receiver's window held the sender back for {} of its time; raise net.ipv4.tcp_rmem there, or use more connections",
                percent(receiver)
            ),
        )),
        (_, true) if long => Some((
            "window",
            format!(
                "the sender's buffer held it back for {} of its time; raise net.ipv4.tcp_wmem there, or use more connections",
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
        let (used, able) = (significant(used, 2), significant(able, 2));
        format!("used {used} cores, and its connections can keep {able} busy")
    })
}

fn idle(pair: &Pair, summary: &Summary, run: &Transfer) -> Found {
    let time = connection_time(pair, run);
    let sum = |part: fn(&wirespeed_schema::byteio::Connection) -> u64| {
        run.connections.iter().map(part).sum::<u64>() as f64 / time
    };
    let (idle, first) = (sum(|c| c.idle_ns), sum(|c| c.first_byte_ns));
    if idle + first < PHASE_SHARE {
        return None;
    }
    let rtt = summary.rtt_ns.map_or(String::new(), |rtt| {
        format!(" (round trip {})", format_ns(rtt as f64))
    });
    let remedy = match pair.depth_ops {
        0 | 1 => "keep two or more requests outstanding (--depth 2)",
        _ => "use more connections or larger blocks",
    };
    Some((
        "idle",
        format!(
            "connections waited for first bytes for {} of their time{rtt}; {remedy}",
            percent(idle + first)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirespeed_schema::Finite;
    use wirespeed_schema::byteio::Connection;

    fn limit(change: impl FnOnce(&mut Pair)) -> String {
        let far = TcpInfo {
            mss_bytes: 1448,
            rtt_ns: 30_000_000,
            sent_bytes: 1_000_000,
            busy_ns: 100,
            congestion: "cubic".into(),
            ..TcpInfo::default()
        };
        let mut pair = Pair {
            direction: "get".into(),
            threads: 1,
            depth_ops: 1,
            nominal_bytes_per_s: Finite::maybe(1e6),
            runs: vec![Transfer {
                elapsed_ns: 1000,
                bandwidth_bytes_per_s: Finite::maybe(5e5).unwrap(),
                connections: vec![Connection {
                    far: Some(far),
                    stream_ns: 450,
                    ..Connection::default()
                }],
                ..Transfer::default()
            }],
            ..Pair::default()
        };
        change(&mut pair);
        crate::byteio::complete(&mut pair);
        pair.verdict.unwrap().limit
    }

    fn far(pair: &mut Pair) -> &mut TcpInfo {
        pair.runs[0].connections[0].far.as_mut().unwrap()
    }

    #[test]
    fn each_limit_is_told_by_its_own_evidence() {
        assert_eq!(limit(|_| ()), "unclear");
        assert_eq!(limit(|p| p.nominal_bytes_per_s = Finite::maybe(5.3e5)), "network");
        assert_eq!(limit(|p| far(p).retransmitted_bytes = 200), "loss");
        assert_eq!(limit(|p| far(p).receiver_limited_ns = 60), "window");
        assert_eq!(limit(|p| far(p).sender_limited_ns = 60), "window");
        assert_eq!(limit(|p| p.runs[0].cpu_near_ns = 950), "client");
        let beside_load = |p: &mut Pair| {
            p.runs[0].cpu_near_ns = 950;
            p.load.cpu_threads = 1;
        };
        assert_eq!(limit(beside_load), "unclear");
        let broken = |p: &mut Pair| {
            let mut run = p.runs[0].clone();
            run.error = Some("cut".into());
            run.connections[0].far.as_mut().unwrap().retransmitted_bytes = 200;
            p.runs.push(run);
        };
        assert_eq!(limit(broken), "unclear");
        assert_eq!(limit(|p| p.runs[0].connections[0].store_ns = 400), "client");
        assert_eq!(limit(|p| p.runs[0].cpu_far_ns = Some(950)), "server");
        assert_eq!(limit(|p| p.runs[0].connections[0].first_byte_ns = 500), "idle");
    }

    /// A bucket of 20 ms on a cable: packets are dropped, because the link is full.
    #[test]
    fn a_full_link_that_drops_is_no_loss() {
        let queue = |p: &mut Pair| {
            far(p).retransmitted_bytes = 5000;
            far(p).rtt_ns = 22_000_000;
            far(p).min_rtt_ns = 100_000;
        };
        assert_eq!(limit(queue), "network");
        let nominal_unknown = |p: &mut Pair| {
            queue(p);
            p.nominal_bytes_per_s = None;
        };
        assert_eq!(limit(nominal_unknown), "network");
        // On a long path without a queue the same is loss.
        let lossy = |p: &mut Pair| {
            queue(p);
            far(p).min_rtt_ns = 21_500_000;
        };
        assert_eq!(limit(lossy), "loss");
        // A client without a core to spare answers late; so does one that asks late.
        let busy = |p: &mut Pair| {
            queue(p);
            p.runs[0].cpu_near_ns = 950;
        };
        assert_eq!(limit(busy), "client");
        let waits = |p: &mut Pair| {
            queue(p);
            p.runs[0].connections[0].idle_ns = 500;
        };
        assert_eq!(limit(waits), "idle");
    }
}
