//! Campaigns from the first round to the document, with figures that are made up. They must never measure.

use super::*;
use crate::Mode;
use std::collections::BTreeSet;
use wirespeed_report::stats::Random;

fn gone() -> Result<f64, Lack> {
    Err(Lack::Failed("gone".to_owned()))
}

fn setup(hosts: usize) -> Setup {
    Setup {
        hosts,
        units: Vec::new(),
        plan: Plan::All,
        options: Options {
            seed: 3,
            ..Options::default()
        },
    }
}

/// Measure as `value` says until the judgement wants nothing more.
fn run(mut campaign: Campaign, mut value: impl FnMut(Pair) -> Result<f64, Lack>) -> MeshProbe {
    let rounds = campaign.all_rounds();
    for pair in rounds.concat() {
        campaign.survey(pair, value(pair));
    }
    while let Some(rounds) = campaign.next_looks().unwrap() {
        for pair in rounds.concat() {
            campaign.look(pair, value(pair));
        }
    }
    campaign.finish(0, "bandwidth_bytes_per_s").unwrap()
}

#[test]
fn a_slow_receiver_is_named_with_its_numbers() {
    let mut random = Random::new(9);
    let probe = run(Campaign::new(setup(8)).unwrap(), |pair| {
        let slow = if pair.to == 5 { 0.6 } else { 1.0 };
        Ok(1e9 * slow * (0.02 * random.normal()).exp())
    });
    let receives = MeshCulprit::Host {
        host: 5,
        side: MeshSide::Receives,
    };
    assert_eq!(probe.verdicts.len(), 1, "{:?}", probe.verdicts);
    let verdict = &probe.verdicts[0];
    assert_eq!(verdict.culprit, receives);
    assert!((verdict.ratio.get() - 0.6).abs() < 0.03, "{verdict:?}");
    assert!(verdict.lower_ratio < verdict.ratio && verdict.ratio < verdict.upper_ratio);
    let effect = probe.effects[5].receives_ratio.unwrap().get();
    assert!((effect - 0.6).abs() < 0.05, "{effect}");
    assert!(probe.looks_count > 0 && probe.complete);
    assert_eq!(probe.pairs.len(), 56);
    let more = |pair: &&MeshPair| pair.values.len() > pair.survey_count as usize;
    assert!(
        probe.pairs.iter().any(|pair| more(&pair)),
        "looks are kept beside the survey"
    );
}

#[test]
fn failures_and_lost_hosts_are_told_and_nobody_is_blamed() {
    let campaign = Campaign::new(setup(6)).unwrap();
    let mut random = Random::new(4);
    let probe = run(campaign, |pair| match pair {
        Pair { from: 2, .. } | Pair { to: 2, .. } => gone(),
        Pair { from: 0, to: 1 } => Ok(f64::NAN),
        _ => Ok(1e9 * (0.02 * random.normal()).exp()),
    });
    assert!(probe.verdicts.is_empty(), "{:?}", probe.verdicts);
    assert_eq!((probe.failed_count, probe.unmeasured_count), (11, 11));
    assert_eq!(probe.not_judged_hosts, [2]);
    let failed: Vec<&str> = probe
        .pairs
        .iter()
        .filter_map(|pair| pair.failed.as_deref())
        .collect();
    assert_eq!(failed.iter().filter(|why| **why == "gone").count(), 10);
    assert!(probe.effects[2].sends_ratio.is_none() && probe.effects[1].sends_ratio.is_some());
}

#[test]
fn what_failed_once_is_told_however_well_the_rest_went() {
    let mut campaign = Campaign::new(setup(6)).unwrap();
    let mut random = Random::new(4);
    let (flaky, dead) = (Pair { from: 0, to: 1 }, Pair { from: 2, to: 3 });
    for cycle in 0..3 {
        for pair in campaign.all_rounds().concat() {
            let measured = match cycle {
                0 if pair == flaky => Err(Lack::WrongData("other data than sent".to_owned())),
                _ if pair == dead => gone(),
                _ => Ok(1e9 * (0.02 * random.normal()).exp()),
            };
            campaign.survey(pair, measured);
        }
    }
    let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
    assert_eq!(probe.failed_count, 4);
    let of = |Pair { from, to }: Pair| {
        let mut pairs = probe.pairs.iter();
        let found = pairs.find(|pair| (pair.from, pair.to) == (from as u32, to as u32));
        found.unwrap()
    };
    let (flaky, dead) = (of(flaky), of(dead));
    assert_eq!(
        (flaky.failed_count, flaky.values.len(), flaky.failure()),
        (1, 2, None)
    );
    assert_eq!(
        flaky.failed.as_deref(),
        Some("other data than sent"),
        "why one of its measurements gave nothing"
    );
    assert_eq!(flaky.wrong_data, flaky.failed);
    assert_eq!((dead.failed_count, dead.failure()), (3, Some("gone")));
    assert_eq!(dead.wrong_data, None);
}

#[test]
fn a_slow_link_that_fails_now_and_then_is_named() {
    let mut random = Random::new(5);
    let mut slow = |pair: Pair| match pair {
        Pair { from: 0, to: 1 } => 0.4 * (0.02 * random.normal()).exp(),
        _ => (0.02 * random.normal()).exp(),
    };
    let mut campaign = Campaign::new(setup(8)).unwrap();
    for cycle in 0..10 {
        for pair in campaign.all_rounds().concat() {
            let fails = (pair.from, pair.to, cycle % 2) == (0, 1, 0);
            let measured = if fails { gone() } else { Ok(slow(pair)) };
            campaign.survey(pair, measured);
        }
    }
    while let Some(rounds) = campaign.next_looks().unwrap() {
        for pair in rounds.concat() {
            campaign.look(pair, Ok(slow(pair)));
        }
    }
    let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
    let found: Vec<&MeshCulprit> = probe.verdicts.iter().map(|verdict| &verdict.culprit).collect();
    let is_it = |culprit: &&MeshCulprit| matches!(culprit, MeshCulprit::Link { from: 0, to: 1, .. });
    assert!(found.len() == 1 && found.iter().all(is_it), "{found:?}");
}

/// A mesh whose link 0 -> 1 is slow, and gives no figure after the first `figures`.
fn dying(figures: usize) -> MeshProbe {
    let (mut random, mut left) = (Random::new(9), figures);
    run(Campaign::new(setup(8)).unwrap(), |pair| {
        let value = 1e9 * (0.01 * random.normal()).exp();
        match (pair.from, pair.to) {
            (0, 1) if left == 0 => gone(),
            (0, 1) => {
                left -= 1;
                Ok(0.3 * value)
            }
            _ => Ok(value),
        }
    })
}

#[test]
fn a_slow_link_that_dies_before_its_checks_is_not_cleared() {
    let unsettled = |probe: &MeshProbe| -> Vec<(u32, u32)> {
        let pairs = probe.pairs.iter().filter(|pair| pair.unsettled);
        pairs.map(|pair| (pair.from, pair.to)).collect()
    };
    // Of the survey alone, and of its first checks.
    for figures in [1, 3] {
        let probe = dying(figures);
        assert_eq!(
            (probe.verdicts.len(), probe.complete),
            (0, true),
            "{:?}",
            probe.verdicts
        );
        assert_eq!(unsettled(&probe), [(0, 1)]);
        assert!(probe.failed_count > 0 && probe.detectable_link_ratio.is_some());
    }
    let well = dying(usize::MAX);
    assert_eq!((well.verdicts.len(), unsettled(&well)), (1, Vec::new()));
}

#[test]
fn a_look_of_which_nothing_came_is_none() {
    let mut campaign = Campaign::new(setup(8)).unwrap();
    for pair in campaign.all_rounds().concat() {
        let value = if pair.from == 3 { 0.5 } else { 1.0 };
        campaign.survey(pair, Ok(value + 0.001 * pair.to as f64));
    }
    assert!(campaign.next_looks().unwrap().is_some());
    assert!(campaign.next_looks().unwrap().is_none());
    let probe = campaign.finish(0, "bandwidth_bytes_per_s").unwrap();
    assert_eq!((probe.looks_count, probe.complete), (0, false));
    assert_eq!(probe.detectable_host_ratio, None);
}

#[test]
fn a_host_that_answers_nobody_is_set_aside_and_its_pairs_say_why() {
    let mut campaign = Campaign::new(setup(12)).unwrap();
    let mut tried = Vec::new();
    for cycle in 1..=2 {
        campaign.begin_cycle();
        for pair in campaign.all_rounds().concat() {
            let is_dead = [pair.from, pair.to].contains(&7);
            if campaign.asks(pair) {
                tried.extend(is_dead.then_some(pair));
                campaign.survey(pair, if is_dead { gone() } else { Ok(1.0) });
            }
        }
        campaign.end_cycle();
        let in_cycle = 6 * cycle..=9 * cycle;
        assert!(in_cycle.contains(&tried.len()), "cycle {cycle}: {tried:?}");
    }
    let fresh = campaign.anew();
    assert!(
        fresh.asks(Pair { from: 7, to: 0 }),
        "under a load it is tried by itself"
    );
    let probe = campaign.finish(0, "rtt_p50_ns").unwrap();
    let of_host = probe
        .pairs
        .iter()
        .filter(|pair| [pair.from, pair.to].contains(&7));
    let why: Vec<&str> = of_host.filter_map(MeshPair::failure).collect();
    assert_eq!((probe.pairs.len(), why.len()), (132, 22));
    let left_out = why.iter().filter(|why| why.starts_with("left out: its "));
    let asked = tried.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(
        (left_out.count(), probe.failed_count),
        (22 - asked, tried.len() as u64)
    );
    assert_eq!((probe.not_judged_hosts, probe.complete), (vec![7], true));
}

#[test]
fn what_falls_silent_is_asked_more_rarely_and_the_result_counts_what_was_left_out() {
    const CYCLES: usize = 8;
    let mut campaign = Campaign::new(setup(12)).unwrap();
    let falls = Pair { from: 0, to: 1 };
    let (mut of_pair, mut of_host) = (Vec::new(), 0);
    for cycle in 1..=CYCLES {
        campaign.begin_cycle();
        for pair in campaign.all_rounds().concat() {
            let is_host = [pair.from, pair.to].contains(&7);
            if campaign.asks(pair) {
                of_pair.extend((pair == falls).then_some(cycle));
                of_host += usize::from(is_host);
                let is_silent = cycle > 1 && (pair == falls || is_host);
                campaign.survey(pair, if is_silent { gone() } else { Ok(1.0) });
            }
        }
        campaign.end_cycle();
    }
    assert_eq!(of_pair, [1, 2, 3, 5]);
    assert!((22 + 6 * 7..=22 + 9 * 7).contains(&of_host), "{of_host}");
    // One that there is no time for leaves nothing out.
    campaign.begin_cycle();
    let probe = campaign.finish(0, "rtt_p50_ns").unwrap();
    let left_out = |is: &dyn Fn(&MeshPair) -> bool| -> usize {
        let pairs = probe.pairs.iter().filter(|pair| is(pair));
        pairs.map(|pair| pair.left_out_count as usize).sum()
    };
    assert_eq!(
        left_out(&|pair| (pair.from, pair.to) == (0, 1)),
        CYCLES - of_pair.len()
    );
    assert_eq!(
        left_out(&|pair| [pair.from, pair.to].contains(&7)),
        22 * CYCLES - of_host
    );
    let all = left_out(&|_| true);
    assert_eq!(all, 22 * CYCLES - of_host + CYCLES - of_pair.len());
}

#[test]
fn looks_ask_for_nothing_that_fell_silent_though_cycles_left_it_out() {
    let mut campaign = Campaign::new(setup(12)).unwrap();
    // A host that is set aside, and a pair that is asked more and more rarely.
    let is_silent = |pair: Pair| [pair.from, pair.to].contains(&7) || pair == Pair { from: 0, to: 1 };
    for cycle in 1..=5 {
        campaign.begin_cycle();
        for pair in campaign.all_rounds().concat() {
            if campaign.asks(pair) {
                let value = if pair.from == 3 { 0.5 } else { 1.0 };
                let figure = Ok(value + 0.001 * pair.to as f64);
                campaign.survey(
                    pair,
                    if cycle > 1 && is_silent(pair) {
                        gone()
                    } else {
                        figure
                    },
                );
            }
        }
        campaign.end_cycle();
    }
    let mut asked = Vec::new();
    while let Some(rounds) = campaign.next_looks().unwrap() {
        for pair in rounds.concat() {
            asked.push(pair);
            campaign.look(pair, if is_silent(pair) { gone() } else { Ok(1.0) });
        }
    }
    assert!(!asked.is_empty());
    asked.retain(|pair| is_silent(*pair));
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn a_part_is_judged_and_said_to_be_one() {
    let mut campaign = Campaign::new(setup(4)).unwrap();
    campaign.survey(Pair { from: 0, to: 1 }, Ok(1.0));
    campaign.break_off();
    let probe = campaign.finish(0, "rtt_p50_ns").unwrap();
    assert!(!probe.complete && probe.verdicts.is_empty());
    assert_eq!((probe.pairs.len(), probe.unmeasured_count), (1, 11));
    let latency = Setup {
        options: Options {
            mode: Mode::Isolated,
            higher_is_better: false,
            ..Options::default()
        },
        ..setup(3)
    };
    let campaign = Campaign::new(latency).unwrap();
    assert_eq!((campaign.estimate().rounds, campaign.all_rounds().len()), (6, 6));
}
