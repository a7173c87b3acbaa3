//! Figures from counts and times: rates and bandwidths by direction, losses, processor time a message.
//!
//! A flow is what one receiver gets from its senders. Its delivered rate is the headline: what arrived, over the time
//! that the sender needed from its first message to the last acknowledgement.

use super::{Metrics, are_all_there, insert};
use wirespeed_schema::case::Role;
use wirespeed_schema::kinds::Roles;
use wirespeed_schema::outcome::{Count, Faults, SampleKind};
use wirespeed_schema::test::Capability;
use wirespeed_schema::{Case, Outcome};

/// Data from the senders of one receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// From a source to its sink; false for the way back.
    pub forward: bool,
    /// What the senders sent.
    pub sent: Count,
    /// What arrived: the receiver's count or, for one-sided operations, those complete at the origin. `None` when the
    /// receiver delivered no result.
    pub delivered: Option<Count>,
    /// The longest of the senders' times, first operation to last completion.
    pub sender_elapsed_ns: u64,
    /// What the receiver took in within its time, where it took part.
    pub taken_in: Option<TakenIn>,
    /// Faults that the receiver found.
    pub faults: Faults,
}

/// What came to receivers within the longest of their times. One that times arrivals does so from the first to the last, and the
/// first came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenIn {
    /// What came within that time.
    pub count: Count,
    /// The time.
    pub elapsed_ns: u64,
}

impl TakenIn {
    /// Of one receiver.
    pub fn by(case: &Case, receiver: &Outcome) -> Self {
        // Documents before 1.6 do not say how many the first look found: one at least. Tagged receives are posted before.
        let is_timed = receiver.samples_of(SampleKind::ReceiveInterval).is_some()
            && case.test.capability() != Capability::Tagged;
        let before = receiver.received_before_msgs.max(u64::from(is_timed));
        let Count { messages, bytes } = receiver.received;
        let within = messages.saturating_sub(before);
        TakenIn {
            count: Count {
                messages: within,
                bytes: (bytes as f64 * within as f64 / messages.max(1) as f64) as u64,
            },
            elapsed_ns: receiver.elapsed_ns,
        }
    }

    fn and(self, other: TakenIn) -> Self {
        TakenIn {
            count: [self.count, other.count].into_iter().sum(),
            elapsed_ns: self.elapsed_ns.max(other.elapsed_ns),
        }
    }
}

/// The flows of a streaming test, sources' first. Empty for round-trip tests.
pub fn flows(case: &Case, outcomes: &[Outcome]) -> Vec<Flow> {
    // The far end of a bulk transfer may be anybody's: there is one end alone.
    if case.test.is_round_trip() || case.test.capability() == Capability::Bulk {
        return Vec::new();
    }
    if case.test.is_posted() {
        let all = outcomes.len() == case.ranks.len();
        return vec![together(outcomes.iter(), all)];
    }
    if case.test.capability() == Capability::OneSided {
        return one_sided(outcomes);
    }
    if case.test.roles() == Some(Roles::Everybody) {
        let members = outcomes.iter().filter(|outcome| outcome.role == Role::Source);
        let is_nobody = members.clone().next().is_none();
        return (!is_nobody)
            .then(|| together(members, true))
            .into_iter()
            .collect();
    }
    let both_ways = case.test.is_both_ways();
    let mut flows = two_sided(case, outcomes, Role::Source);
    if both_ways
        && outcomes
            .iter()
            .any(|outcome| outcome.role == Role::Sink && outcome.sent.messages > 0)
    {
        flows.extend(two_sided(case, outcomes, Role::Sink));
    }
    flows
}

/// One flow of `members`, each of which is a sender and a receiver: everything sent and everything received, over the longest of
/// their times.
fn together<'a>(members: impl Iterator<Item = &'a Outcome> + Clone, are_all: bool) -> Flow {
    let elapsed_ns = members.clone().map(|member| member.elapsed_ns).max();
    Flow {
        forward: true,
        sent: members.clone().map(|member| member.sent).sum(),
        delivered: are_all.then(|| members.clone().map(|member| member.received).sum()),
        sender_elapsed_ns: elapsed_ns.unwrap_or(0),
        taken_in: None,
        faults: members.map(|member| member.faults).sum(),
    }
}

/// One-sided operations are complete at the origin, with their flush inside its time.
fn one_sided(outcomes: &[Outcome]) -> Vec<Flow> {
    let sources = outcomes.iter().filter(|outcome| outcome.role == Role::Source);
    sources
        .map(|source| Flow {
            forward: true,
            sent: source.sent,
            delivered: Some(source.sent),
            sender_elapsed_ns: source.elapsed_ns,
            taken_in: None,
            faults: Faults::default(),
        })
        .collect()
}

/// One flow for each rank that ranks of role `from` name as their peer, and one for those who name none.
fn two_sided(case: &Case, outcomes: &[Outcome], from: Role) -> Vec<Flow> {
    let mut flows: Vec<(Option<u32>, Flow)> = Vec::new();
    for sender in outcomes.iter().filter(|outcome| outcome.role == from) {
        let peer = peer_of(case, sender.rank);
        let index = flows.iter().position(|(to, _)| *to == peer).unwrap_or_else(|| {
            flows.push((peer, empty_flow(case, outcomes, peer, from)));
            flows.len() - 1
        });
        let flow = &mut flows[index].1;
        flow.sent = [flow.sent, sender.sent].into_iter().sum();
        flow.sender_elapsed_ns = flow.sender_elapsed_ns.max(sender.elapsed_ns);
    }
    flows.into_iter().map(|(_, flow)| flow).collect()
}

fn empty_flow(case: &Case, outcomes: &[Outcome], peer: Option<u32>, from: Role) -> Flow {
    // What goes to a relay is received by whoever is behind it.
    let behind = |rank: u32| outcomes.iter().any(|o| o.rank == rank && o.role == Role::Relay);
    let receivers: Vec<&Outcome> = match peer.filter(|peer| !behind(*peer)) {
        Some(peer) => outcomes
            .iter()
            .filter(|outcome| outcome.rank == peer)
            .take(1)
            .collect(),
        None => outcomes
            .iter()
            .filter(|o| o.role != from && !matches!(o.role, Role::Idle | Role::Relay))
            .collect(),
    };
    Flow {
        forward: from == Role::Source,
        sent: Count::default(),
        delivered: (!receivers.is_empty()).then(|| receivers.iter().map(|receiver| receiver.received).sum()),
        sender_elapsed_ns: 0,
        taken_in: receivers
            .iter()
            // Who sends as well has the time of what it sent.
            .filter(|_| !case.test.is_both_ways())
            .map(|receiver| TakenIn::by(case, receiver))
            .reduce(TakenIn::and),
        faults: receivers.iter().map(|receiver| receiver.faults).sum(),
    }
}

/// The rank that `rank` exchanges data with: as the case says, or the other one of two.
pub(crate) fn peer_of(case: &Case, rank: u32) -> Option<u32> {
    let named = case.ranks.get(rank as usize).and_then(|spec| spec.peer);
    named.or_else(|| (case.ranks.len() == 2 && rank < 2).then(|| 1 - rank))
}

/// Messages in flight on average at a sender: its rate times the mean time to completion or acknowledgement (Little's
/// law, L = λW). `None` without such samples, where a sample covers a batch, or where the samples are too thin: a sender
/// that times one message after the other meets a stall more often than its messages do, so that the mean stands for
/// all of them only with a sample for every window.
pub fn in_flight_mean_msgs(outcome: &Outcome, window: u64) -> Option<f64> {
    let kinds = [SampleKind::Acknowledged, SampleKind::Completion];
    let samples = kinds.iter().find_map(|&kind| outcome.samples_of(kind))?;
    let histogram = &samples.histogram;
    // Who fetches sends nothing.
    let operations = match outcome.sent.messages {
        0 => outcome.received.messages,
        sent => sent,
    };
    let dense = histogram.count.saturating_mul(window) >= operations;
    if samples.batch_ops > 1 || histogram.is_empty() || outcome.elapsed_ns == 0 || !dense {
        return None;
    }
    Some(operations as f64 / outcome.elapsed_ns as f64 * histogram.mean_ns())
}

/// Publish rates, bandwidths, losses and processor time.
pub(super) fn add(metrics: &mut Metrics, case: &Case, outcomes: &[Outcome]) {
    let flows = flows(case, outcomes);
    let is_whole = are_all_there(case, outcomes, None);
    // The origin of one-sided operations knows that they are complete.
    let are_known = match case.test.capability() {
        Capability::OneSided => are_all_there(case, outcomes, Some(Role::Source)),
        _ => is_whole,
    };
    if !case.test.is_posted() {
        // Where both ways are used, either end is a sender and a receiver.
        let both_ways = case.test.is_both_ways();
        add_rates_by_side(metrics, &flows, |role| match role.filter(|_| !both_ways) {
            None => are_known,
            role => are_all_there(case, outcomes, role),
        });
    }
    let delivered: Option<Count> = flows.iter().map(|flow| flow.delivered).sum();
    if let Some(Count { messages, .. }) = delivered.filter(|_| are_known && !flows.is_empty()) {
        insert(metrics, "delivered_msgs", messages as f64, messages);
    }
    let in_flight: Vec<f64> = outcomes
        .iter()
        .filter_map(|outcome| in_flight_mean_msgs(outcome, case.test.window()))
        .collect();
    if !in_flight.is_empty() && !case.test.is_round_trip() {
        let mean = in_flight.iter().sum::<f64>() / in_flight.len() as f64;
        insert(metrics, "in_flight_mean_msgs", mean, in_flight.len() as u64);
    }
    add_pooled(metrics, outcomes.iter());
    if is_whole {
        add_cpu(metrics, outcomes);
    }
}

/// Rates as sender and receiver saw them, and of either way where both are used; each only where it is `known`: by the ranks of
/// that role, or by all.
fn add_rates_by_side(metrics: &mut Metrics, flows: &[Flow], is_known: impl Fn(Option<Role>) -> bool) {
    let forward: Vec<&Flow> = flows.iter().filter(|flow| flow.forward).collect();
    let backward: Vec<&Flow> = flows.iter().filter(|flow| !flow.forward).collect();
    let all: Vec<&Flow> = flows.iter().collect();
    if is_known(None) {
        add_rate(metrics, "", &all, delivered_per_sender_time);
    }
    if is_known(Some(Role::Source)) {
        add_rate(metrics, "sender_", &all, |flow| {
            Some((flow.sent, flow.sender_elapsed_ns))
        });
    }
    // A receiver whose sender is not there has no flow.
    if is_known(Some(Role::Source)) && is_known(Some(Role::Sink)) {
        add_rate(metrics, "receiver_", &all, |flow| {
            flow.taken_in.map(|taken| (taken.count, taken.elapsed_ns))
        });
    }
    if !backward.is_empty() && is_known(None) {
        add_rate(metrics, "forward_", &forward, delivered_per_sender_time);
        add_rate(metrics, "backward_", &backward, delivered_per_sender_time);
    }
}

fn delivered_per_sender_time(flow: &&Flow) -> Option<(Count, u64)> {
    Some((flow.delivered?, flow.sender_elapsed_ns))
}

/// The sum over flows of count / time; nothing at all when one flow's count or time is unknown.
fn add_rate(
    metrics: &mut Metrics,
    prefix: &str,
    flows: &[&Flow],
    count_and_ns: impl Fn(&&Flow) -> Option<(Count, u64)>,
) {
    let (mut messages_per_s, mut bytes_per_s, mut samples) = (0.0, 0.0, 0u64);
    for flow in flows {
        match count_and_ns(flow) {
            Some((count, ns)) if ns > 0 => {
                messages_per_s += count.messages as f64 * 1e9 / ns as f64;
                bytes_per_s += count.bytes as f64 * 1e9 / ns as f64;
                samples = samples.saturating_add(count.messages);
            }
            _ => return,
        }
    }
    if !flows.is_empty() {
        insert(
            metrics,
            &format!("{prefix}rate_msg_per_s"),
            messages_per_s,
            samples,
        );
        insert(
            metrics,
            &format!("{prefix}bandwidth_bytes_per_s"),
            bytes_per_s,
            samples,
        );
    }
}

/// Publish the ratios of faults to messages received or lost; over repetitions from the sum of all their outcomes.
pub(super) fn add_pooled<'a>(metrics: &mut Metrics, outcomes: impl Iterator<Item = &'a Outcome>) {
    let (mut expected, mut lost, mut reordered, mut duplicate) = (0u64, 0u64, 0u64, 0u64);
    for outcome in outcomes {
        let faults = &outcome.faults;
        lost = lost.saturating_add(faults.lost_messages);
        reordered = reordered.saturating_add(faults.reordered_messages);
        duplicate = duplicate.saturating_add(faults.duplicate_messages);
        expected = expected
            .saturating_add(outcome.received.messages)
            .saturating_add(faults.lost_messages);
    }
    if expected > 0 {
        for (tag, count) in [
            ("loss_ratio", lost),
            ("reorder_ratio", reordered),
            ("duplicate_ratio", duplicate),
        ] {
            insert(metrics, tag, count as f64 / expected as f64, expected);
        }
    }
}

fn add_cpu(metrics: &mut Metrics, outcomes: &[Outcome]) {
    let messages = outcomes
        .iter()
        .fold(0u64, |sum, outcome| sum.saturating_add(outcome.sent.messages));
    let cpu_ns: f64 = outcomes
        .iter()
        .map(|outcome| outcome.disturbance.user_ns as f64 + outcome.disturbance.system_ns as f64)
        .sum();
    // All zero means that the system did not say.
    if messages > 0 && cpu_ns > 0.0 {
        insert(metrics, "cpu_ns_per_message", cpu_ns / messages as f64, messages);
    }
}
