//! Figures against numbers worked out by hand.

use crate::fixture::*;
use wirespeed_report::{
    case_result, failed_case, repetition_metrics, run_status, skipped_case, without_outcomes,
};
use wirespeed_schema::Test;
use wirespeed_schema::case::{GroupKind, RankSpec, Role};
use wirespeed_schema::outcome::{Outcome, SampleKind, StopReason};
use wirespeed_schema::run::{CaseResult, CaseStatus, Severity, Status};
use wirespeed_schema::test::{Capability, Layout, Rma};

fn value(metrics: &std::collections::BTreeMap<String, wirespeed_schema::run::Metric>, tag: &str) -> f64 {
    metrics.get(tag).unwrap_or_else(|| panic!("no {tag}")).value.get()
}

#[test]
fn a_ping_pong_gives_round_trips_and_derived_halves() {
    let (metrics, withheld) =
        repetition_metrics(&case("tcp", am_lat(64), 1000), &ping_pong(64, 1000, 1000.0));
    assert!((value(&metrics, "rtt_p50_ns") - 1049.0).abs() < 3.0);
    assert_eq!(value(&metrics, "rtt_min_ns"), 1000.0);
    assert_eq!(value(&metrics, "rtt_max_ns"), 8000.0);
    assert_eq!(value(&metrics, "first_operation_ns"), 5000.0);
    let half = &metrics["one_way_p50_ns"];
    assert_eq!(half.value.get() * 2.0, value(&metrics, "rtt_p50_ns"));
    assert!(half.derived && !metrics["rtt_p50_ns"].derived);
    let names: Vec<_> = withheld
        .iter()
        .map(|w| (w.tag.as_str(), w.samples_needed, w.samples))
        .collect();
    assert_eq!(
        names,
        [("rtt_p999_ns", 3688, 1000), ("rtt_p9999_ns", 36887, 1000)]
    );
    assert!(!metrics.contains_key("rate_msg_per_s") && !metrics.contains_key("rtt_p999_ns"));
    // Both ends' whole time over the messages of both.
    let elapsed = ping_pong(64, 1000, 1000.0)[0].elapsed_ns as f64;
    assert!((value(&metrics, "cpu_ns_per_message") - elapsed / 1000.0).abs() < 1.0);
}

#[test]
fn a_stream_counts_what_was_delivered_over_the_senders_time() {
    let mut outcomes = one_way_stream(100, 1000, 1_000_000, 5_000.0);
    outcomes[1].received = count(900, 100);
    outcomes[1].faults.lost_messages = 100;
    let (metrics, _) = repetition_metrics(&case("udp", Test::AmBw(stream(100, 8)), 1000), &outcomes);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 900e3);
    assert_eq!(value(&metrics, "bandwidth_bytes_per_s"), 90e6);
    assert_eq!(value(&metrics, "sender_rate_msg_per_s"), 1e6);
    assert!((value(&metrics, "receiver_rate_msg_per_s") - 900e3 / 0.99).abs() < 1.0);
    assert_eq!(value(&metrics, "loss_ratio"), 0.1);
    assert!(metrics.contains_key("ack_p50_ns") && metrics.contains_key("send_interval_p99_ns"));
    assert!(!metrics.contains_key("forward_rate_msg_per_s"));
}

/// A receiver that times arrivals sees one interval less than it gets messages.
#[test]
fn what_came_before_the_first_mark_is_no_part_of_the_receivers_rate() {
    let mut outcomes = one_way_stream(10, 3, 3_000_000_000, 5_000.0);
    outcomes[1].elapsed_ns = 2_000_000_000;
    outcomes[1].samples = vec![samples(SampleKind::ReceiveInterval, &[1e9, 1e9])];
    let three = case("tcp", Test::AmBw(stream(10, 8).with_pace(1)), 3);
    let (metrics, _) = repetition_metrics(&three, &outcomes);
    for tag in [
        "rate_msg_per_s",
        "sender_rate_msg_per_s",
        "receiver_rate_msg_per_s",
    ] {
        assert_eq!(value(&metrics, tag), 1.0, "{tag}");
    }
    assert_eq!(value(&metrics, "receiver_bandwidth_bytes_per_s"), 10.0);
    // The first look may find several: the time is of those that came after them.
    let mut several = outcomes.clone();
    several[1].received_before_msgs = 2;
    let (metrics, _) = repetition_metrics(&three, &several);
    assert_eq!(value(&metrics, "receiver_rate_msg_per_s"), 0.5);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 1.0);
    let result = wirespeed_report::repetition(&three, 0, outcomes, 1, 0);
    let result = wirespeed_report::case_result(three, vec![result], &wirespeed_report::Limits::default());
    let codes: Vec<&str> = result.remarks.iter().map(|remark| remark.code.as_str()).collect();
    assert!(!codes.contains(&"elapsed_disagrees"), "{codes:?}");
}

#[test]
fn both_directions_and_their_sum() {
    let mut outcomes = one_way_stream(10, 1000, 1_000_000, 5_000.0);
    outcomes[1].elapsed_ns = 1_000_000;
    outcomes[1].sent = count(500, 10);
    outcomes[0].received = count(500, 10);
    let (metrics, _) = repetition_metrics(&case("tcp", Test::AmBibw(stream(10, 8)), 1000), &outcomes);
    assert_eq!(value(&metrics, "forward_rate_msg_per_s"), 1e6);
    assert_eq!(value(&metrics, "backward_rate_msg_per_s"), 0.5e6);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 1.5e6);
    assert_eq!(value(&metrics, "bandwidth_bytes_per_s"), 15e6);
    // Either end has the time of what it sent.
    assert!(!metrics.contains_key("receiver_rate_msg_per_s"));
}

#[test]
fn one_end_alone_has_its_own_rates_and_no_others() {
    let rates = |test: Test, outcomes: &[Outcome]| -> Vec<String> {
        let (metrics, _) = repetition_metrics(&case("tcp", test, 1000), outcomes);
        let is_rate = |tag: &String| tag.ends_with("rate_msg_per_s");
        metrics.into_keys().filter(is_rate).collect()
    };
    let mut ends = one_way_stream(10, 1000, 1_000_000, 5_000.0);
    let one_way = || Test::AmBw(stream(10, 8));
    assert_eq!(rates(one_way(), &ends[..1]), ["sender_rate_msg_per_s"]);
    assert_eq!(rates(one_way(), &ends[1..]).len(), 0, "nothing is sent there");
    ends[1].sent = count(500, 10);
    ends[0].received = count(500, 10);
    for end in &ends {
        let alone = rates(Test::AmBibw(stream(10, 8)), std::slice::from_ref(end));
        assert!(alone.is_empty(), "{alone:?}");
    }
    let pair = one_way_stream(10, 1000, 1_000_000, 5_000.0);
    let second = pair.into_iter().map(|end| Outcome {
        rank: end.rank + 2,
        ..end
    });
    let both: Vec<Outcome> = one_way_stream(10, 1000, 1_000_000, 5_000.0)
        .into_iter()
        .chain(second)
        .collect();
    let mut two_pairs = case("tcp", one_way(), 1000);
    let pairs = [
        (Role::Source, 1),
        (Role::Sink, 0),
        (Role::Source, 3),
        (Role::Sink, 2),
    ];
    two_pairs.ranks = pairs
        .map(|(role, peer)| RankSpec::new(role).with_peer(peer))
        .to_vec();
    for present in [&both[..1], &both[..2], &both[..3]] {
        let (metrics, _) = repetition_metrics(&two_pairs, present);
        assert!(!metrics.contains_key("rate_msg_per_s"), "{}", present.len());
        let senders = metrics.contains_key("sender_rate_msg_per_s");
        assert_eq!(senders, present.len() == 3);
    }
    let without_a_source = [0, 1, 3].map(|at| both[at].clone());
    let (metrics, _) = repetition_metrics(&two_pairs, &without_a_source);
    assert!(metrics.keys().all(|tag| !tag.ends_with("rate_msg_per_s")));
    let (metrics, _) = repetition_metrics(&two_pairs, &both);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 2e6);
    assert!(metrics.contains_key("receiver_rate_msg_per_s"));
}

#[test]
fn several_pairs_add_their_rates_and_merge_their_samples() {
    let mut four = case("shm", Test::AmBw(stream(10, 8)), 1000);
    let rank = |role, peer| RankSpec::new(role).with_peer(peer);
    four.ranks = vec![
        rank(Role::Source, 1),
        rank(Role::Sink, 0),
        rank(Role::Source, 3),
        rank(Role::Sink, 2),
    ];
    let mut outcomes = one_way_stream(10, 1000, 1_000_000, 5_000.0);
    for mut end in one_way_stream(10, 1000, 2_000_000, 5_000.0) {
        end.rank += 2;
        outcomes.push(end);
    }
    let (metrics, _) = repetition_metrics(&four, &outcomes);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 1.5e6);
    assert_eq!(metrics["ack_p50_ns"].samples, 4000);
    // A pair whose receiver is missing leaves no delivered rate at all, rather than too low a one.
    outcomes.pop();
    let (metrics, _) = repetition_metrics(&four, &outcomes);
    assert!(!metrics.contains_key("rate_msg_per_s") && metrics.contains_key("sender_rate_msg_per_s"));
}

#[test]
fn one_sided_operations_count_when_complete_at_the_origin() {
    let put = Test::PutBw(Rma::new(64, Layout::Short, 32));
    assert_eq!(put.capability(), Capability::OneSided);
    let mut source = outcome(0, Role::Source, 1_000_000);
    source.sent = count(2000, 64);
    let (metrics, _) = repetition_metrics(&case("shm", put, 2000), &[source, outcome(1, Role::Sink, 0)]);
    assert_eq!(value(&metrics, "rate_msg_per_s"), 2e6);
    assert!(!metrics.contains_key("receiver_rate_msg_per_s"));
}

#[test]
fn a_fan_out_hub_has_no_one_way() {
    for (fan_out, expected) in [(true, false), (false, true)] {
        let mut hub_rank = outcome(0, Role::Hub, 10_000_000);
        hub_rank
            .samples
            .push(samples(SampleKind::RoundTrip, &ladder(500, 2000.0, 1.0)));
        let (metrics, _) = repetition_metrics(&case("shm", hub(fan_out), 500), &[hub_rank]);
        assert!(metrics.contains_key("rtt_p50_ns"));
        assert_eq!(metrics.contains_key("one_way_p50_ns"), expected);
    }
}

#[test]
fn seven_runs_give_the_median_with_an_interval_over_runs() {
    let result = result(case("tcp", am_lat(64), 1000), 7, |index| {
        ping_pong(64, 1000, 1000.0 + 10.0 * f64::from(index))
    });
    let median = &result.metrics["rtt_p50_ns"];
    let of_run = |index: usize| result.repetitions[index].metrics["rtt_p50_ns"].value;
    assert_eq!(
        (median.value, median.lower, median.upper),
        (of_run(3), Some(of_run(0)), Some(of_run(6)))
    );
    // 1 - 2·0.5^7.
    assert_eq!(median.level, Some(finite(0.984375)));
    assert_eq!(median.samples, 7000);
    assert_eq!(value(&result.metrics, "rtt_min_ns"), 1000.0);
    assert_eq!(value(&result.metrics, "rtt_max_ns"), 8480.0);
    let middle: f64 = (1..6).map(|index| of_run(index).get()).sum::<f64>() / 5.0;
    assert!((value(&result.metrics, "rtt_p50_trimmed_mean_ns") - middle).abs() < 1e-6);
    let spread = (of_run(6).get() - of_run(0).get()) / of_run(3).get();
    assert_eq!(value(&result.metrics, "rtt_p50_between_runs_ratio"), spread);
    assert_eq!(result.status, CaseStatus::Ok);
}

#[test]
fn three_runs_give_a_spread_without_a_level_and_one_run_its_own_interval() {
    let three = result(case("tcp", am_lat(64), 1000), 3, |index| {
        ping_pong(64, 1000, 1000.0 + f64::from(index))
    });
    let median = &three.metrics["rtt_p50_ns"];
    assert!(median.lower.is_some() && median.upper.is_some() && median.level.is_none());
    let one = result(case("tcp", am_lat(64), 1000), 1, |_| ping_pong(64, 1000, 1000.0));
    assert!(one.metrics["rtt_p50_ns"].level.is_some());
    assert!(!one.metrics.contains_key("rtt_p50_between_runs_ratio"));
}

#[test]
fn a_quantile_that_one_run_lacks_the_case_lacks() {
    let result = result(case("tcp", am_lat(64), 1000), 2, |index| {
        ping_pong(64, if index == 0 { 300 } else { 1000 }, 1000.0)
    });
    assert!(!result.metrics.contains_key("rtt_p99_ns") && !result.metrics.contains_key("one_way_p99_ns"));
    assert!(
        result
            .withheld
            .iter()
            .any(|w| w.tag == "rtt_p99_ns" && w.samples == 300 && w.samples_needed == 368)
    );
}

#[test]
fn ratios_over_runs_come_from_the_sums() {
    let result = result(case("udp", Test::AmBw(stream(10, 8)), 1000), 3, |index| {
        let mut ends = one_way_stream(10, 1000, 20_000_000, 5_000.0);
        if index == 0 {
            ends[1].received = count(700, 10);
            ends[1].faults.lost_messages = 300;
        }
        ends
    });
    assert_eq!(value(&result.metrics, "loss_ratio"), 0.1);
}

/// What whole runs found is neither taken away nor moved by one that was cut after its first sample, or that lost a rank.
#[test]
fn a_run_that_was_cut_short_stands_apart_from_whole_ones() {
    type Cut = fn(&mut Vec<Outcome>);
    let cut_at = |whole: u32, cut: Cut| {
        result(case("tcp", am_lat(64), 1000), whole + 1, |run| {
            if run < whole {
                return ping_pong(64, 1000, 1000.0);
            }
            let mut ends = ping_pong(64, 1, 9000.0);
            cut(&mut ends);
            ends
        })
    };
    let ways: [(Cut, _); 3] = [
        (|ends| ends[1].stop = StopReason::Interrupted, "interrupted"),
        (|ends| ends[0].error = Some("killed".into()), "partial"),
        (|ends| ends.truncate(1), "partial"),
    ];
    for (cut, word) in ways {
        let several = cut_at(6, cut);
        let whole = result(case("tcp", am_lat(64), 1000), 6, |_| ping_pong(64, 1000, 1000.0));
        assert_eq!(several.metrics, whole.metrics, "{word}");
        assert_eq!(several.resampled, whole.resampled, "{word}");
        assert_eq!(several.withheld, whole.withheld, "{word}");
        assert_eq!(several.status, CaseStatus::Partial);
        assert_eq!(wirespeed_report::unfinished(&several), Some(word));
        assert_eq!((several.repetitions.len(), several.cut_short.len()), (6, 1));
        assert_eq!(several.cut_short[0].index, 6);
        let order: Vec<u32> = several.seen().map(|run| run.index).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        let bare = without_outcomes(&several);
        assert!(bare.cut_short[0].outcomes.is_empty() && !bare.cut_short[0].metrics.is_empty());
        let one = cut_at(1, cut);
        assert_eq!(one.metrics["rtt_p50_ns"].samples, 1000);
        // Where there is nothing else, a part is better than nothing.
        let none = cut_at(0, cut);
        assert_eq!((none.repetitions.len(), none.cut_short.len()), (1, 0));
        assert!(none.metrics.contains_key("rtt_min_ns") && !none.metrics.contains_key("rtt_p50_ns"));
        assert_eq!(none.status, CaseStatus::Partial);
    }
    // One in the middle keeps its place among all that were seen.
    let middle = result(case("tcp", am_lat(64), 1000), 3, |run| {
        let mut ends = ping_pong(64, 1000, 1000.0);
        ends[0].error = (run == 1).then(|| "cut".into());
        ends
    });
    let order: Vec<u32> = middle.seen().map(|run| run.index).collect();
    assert_eq!((order, middle.cut_short.len()), (vec![0, 1, 2], 1));
    // No figure counts it, so what is odd in it is no remark on those that count.
    let odd = |whole| {
        cut_at(whole, |ends| {
            ends[0].stop = StopReason::Interrupted;
            ends[0].elapsed_ns = 1;
        })
    };
    let suspects = |result: &CaseResult| {
        let remarks = result.remarks.iter();
        remarks
            .filter(|remark| remark.severity == Severity::Suspect)
            .count()
    };
    assert_eq!((suspects(&odd(6)), suspects(&odd(0))), (0, 1));
    // Wrong data are wrong wherever they came.
    let wrong = cut_at(1, |ends| {
        ends[0].faults.corrupt_messages = 1;
        ends[0].stop = StopReason::Interrupted;
    });
    assert_eq!(wrong.status, CaseStatus::WrongData);
}

#[test]
fn early_ends_are_partial_or_failed_with_cause_and_remedy() {
    let cut = result(case("tcp", am_lat(64), 1000), 1, |_| {
        let mut ends = ping_pong(64, 1000, 1000.0);
        ends[0].stop = StopReason::PeerLost;
        ends[1].stop = StopReason::Failed;
        ends[1].error = Some("killed".into());
        ends
    });
    assert_eq!(
        (cut.status, cut.error.as_deref()),
        (CaseStatus::Partial, Some("rank 1: killed"))
    );
    assert!(cut.remedy.is_some());
    let missing = result(case("tcp", am_lat(64), 1000), 1, |_| Vec::new());
    assert_eq!(missing.status, CaseStatus::Failed);
    assert_eq!(
        missing.error.as_deref(),
        Some("repetition 0: 0 of 2 ranks delivered a result")
    );
    // A rank without a part has nothing to deliver that could be missed or could stand for the others.
    let idle = |mut ends: Vec<Outcome>| {
        ends.truncate(1);
        (ends[0].rank, ends[0].role) = (2, Role::Idle);
        ends[0].samples.clear();
        ends
    };
    let mut three = case("tcp", am_lat(64), 1000);
    three.ranks.push(RankSpec::new(Role::Idle));
    let alone = result(three.clone(), 1, |_| idle(ping_pong(64, 1000, 1000.0)));
    assert_eq!(
        alone.error.as_deref(),
        Some("repetition 0: 0 of 2 ranks delivered a result")
    );
    let whole = result(three, 1, |_| ping_pong(64, 1000, 1000.0));
    assert_eq!((whole.status, whole.error), (CaseStatus::Ok, None));
    let none = case_result(case("tcp", am_lat(64), 1), Vec::new(), &Default::default());
    assert_eq!(none.status, CaseStatus::Failed);
}

#[test]
fn the_worst_case_decides_the_status_of_the_run() {
    let ok = result(case("tcp", am_lat(64), 1000), 1, |_| ping_pong(64, 1000, 1000.0));
    let failed = failed_case(case("tcp", am_lat(64), 1), "refused", None);
    let skipped = skipped_case(case("udp", get(8), 1), "cannot", None);
    let wrong = result(case("tcp", am_lat(64), 1000), 1, |_| {
        let mut ends = ping_pong(64, 1000, 1000.0);
        ends[0].faults.corrupt_messages = 1;
        ends
    });
    assert_eq!(run_status(&[ok.clone(), skipped.clone()], false), Status::Ok);
    assert_eq!(run_status(&[skipped], false), Status::Failed);
    assert_eq!(run_status(&[ok.clone(), failed], false), Status::Failed);
    assert_eq!(run_status(std::slice::from_ref(&ok), true), Status::Interrupted);
    assert_eq!(run_status(&[wrong, ok.clone()], true), Status::WrongData);
    assert!(
        without_outcomes(&ok)
            .repetitions
            .iter()
            .all(|r| r.outcomes.is_empty() && !r.metrics.is_empty())
    );
}

/// Rates of pairs that ran one after the other make no sum.
#[test]
fn pairs_that_were_not_under_way_at_once_are_told() {
    let of = |began: [Option<u64>; 2], group| {
        let mut four = case("shm", Test::AmBw(stream(8, 64)), 1000);
        four.group = group;
        four.ranks.extend(four.ranks.clone());
        let pairs = (0..2).flat_map(|pair| {
            let ends = one_way_stream(8, 1000, 1_000_000_000, 5_000.0);
            ends.into_iter().map(move |mut end| {
                // Only a sender's times count.
                let began_ns = began[pair as usize].filter(|_| end.sent.messages > 0);
                (end.rank, end.began_ns) = (end.rank + 2 * pair, began_ns);
                end
            })
        });
        let result = wirespeed_report::repetition(&four, 0, pairs.collect(), 1, 0);
        let result = wirespeed_report::case_result(four, vec![result], &wirespeed_report::Limits::default());
        let told = result
            .remarks
            .into_iter()
            .find(|remark| remark.code == "not_at_once");
        told.map(|remark| remark.message)
    };
    let second = 1_000_000_000;
    let processes = GroupKind::Processes;
    let said = of([Some(second), Some(2 * second)], processes).unwrap();
    assert!(said.starts_with("all senders were under way in 0 %"), "{said}");
    assert!(of([Some(second), Some(second + second / 2)], processes).is_some());
    for (began, group) in [
        ([Some(second), Some(second + second / 4)], processes),
        ([Some(second), None], processes),
        // Hosts have clocks of their own.
        ([Some(second), Some(3 * second)], GroupKind::Hosts),
    ] {
        assert_eq!(of(began, group), None, "{began:?}");
    }
}
