//! Small meshes with known faults, judged to the end. It must never assert a share that chance decides.

use wirespeed_mesh::simulate::{Fault, Mesh};
use wirespeed_mesh::{
    Culprit, Figure, HostEffects, Judgement, Mode, Options, Pair, Plan, Report, Schedule, Side,
};
use wirespeed_report::stats::Random;

fn survey(hosts: usize, mut value: impl FnMut(Pair) -> Option<f64>) -> Vec<Figure> {
    let schedule = Schedule::new(hosts, Plan::All, Mode::Loaded, 1).unwrap();
    let pairs = schedule.rounds().flatten();
    pairs
        .map(|pair| Figure {
            pair,
            value: value(pair),
        })
        .collect()
}

/// Judge a survey to the end.
fn judged(hosts: usize, figures: &[Figure], mut measure: impl FnMut(Pair) -> Option<f64>) -> Report {
    let mut judgement = Judgement::new(hosts, &[], Options::default(), figures).unwrap();
    while let Some(looks) = judgement.next_looks() {
        let pairs = looks.rounds.into_iter().flatten();
        let figures: Vec<Figure> = pairs
            .map(|pair| Figure {
                pair,
                value: measure(pair),
            })
            .collect();
        judgement.look(&figures).unwrap();
    }
    judgement.report()
}

/// What `share` leaves of a rate, with noise of 5 %.
fn noisy(share: impl Fn(Pair) -> Option<f64>) -> impl FnMut(Pair) -> Option<f64> {
    let mut random = Random::new(3);
    move |pair| Some(share(pair)? * (0.05 * random.normal()).exp())
}

fn named(report: &Report) -> Vec<Culprit> {
    report.verdicts.iter().map(|verdict| verdict.culprit).collect()
}

fn culprits(fault: Fault) -> Vec<Culprit> {
    let mut mesh = Mesh::healthy(16, 8);
    mesh.faults = vec![fault];
    named(&mesh.judged(Plan::All, Options::default()).unwrap())
}

#[test]
fn hosts_and_links_are_told_apart() {
    let host = |side| vec![Culprit::Host { host: 5, side }];
    assert_eq!(culprits(Fault::Sender(5, 0.7)), host(Side::Sends));
    assert_eq!(culprits(Fault::Receiver(5, 0.7)), host(Side::Receives));
    assert_eq!(culprits(Fault::Host(5, 0.7)), host(Side::Both));
    let link = culprits(Fault::Link(Pair { from: 3, to: 9 }, 0.6));
    assert_eq!(
        link,
        [Culprit::Link {
            from: 3,
            to: 9,
            both: false
        }]
    );
}

#[test]
fn a_very_slow_host_hides_no_other() {
    let mut mesh = Mesh::healthy(10, 8);
    mesh.faults = vec![Fault::Sender(1, 0.2), Fault::Sender(7, 0.90)];
    mesh.cycles = 3;
    let host = |host| Culprit::Host {
        host,
        side: Side::Sends,
    };
    let both = (0..20).filter(|seed| {
        mesh.seed = *seed;
        let named = named(&mesh.judged(Plan::All, Options::default()).unwrap());
        named.contains(&host(1)) && named.contains(&host(7))
    });
    assert!(both.count() >= 17);
}

#[test]
fn scale_and_order_do_not_matter() {
    // No two differences are equal: ties would be broken by rounding.
    let noise =
        |pair: Pair| 1.0 + ((pair.from * 31 + pair.to * 17) as f64 * 0.618_033_988_749_895).fract() / 8.0;
    let slow = |pair: Pair| if pair.from == 4 { 0.5 } else { 1.0 };
    let culprits = |scale: f64, reversed: bool| {
        let measure = |pair: Pair| Some(scale * noise(pair) * slow(pair));
        let mut figures = survey(12, measure);
        if reversed {
            figures.reverse();
        }
        named(&judged(12, &figures, measure))
    };
    let first = culprits(1.0, false);
    assert!(
        first.contains(&Culprit::Host {
            host: 4,
            side: Side::Sends
        }),
        "{first:?}"
    );
    assert_eq!(first, culprits(1.0, true));
    assert_eq!(first, culprits(1024.0, false));
}

#[test]
fn nothing_is_named_where_all_are_equal_or_failed() {
    for (value, failed) in [(Some(7.0), 0), (None, 30)] {
        let mut judgement = Judgement::new(6, &[], Options::default(), &survey(6, |_| value)).unwrap();
        assert_eq!(judgement.next_looks(), None);
        let report = judgement.report();
        assert_eq!((report.verdicts.len(), report.failed), (0, failed));
        assert_eq!(report.unmeasured, failed);
        assert_eq!(report.not_judged.len(), if failed > 0 { 6 } else { 0 });
    }
    for hosts in 0..3 {
        let mut judgement =
            Judgement::new(hosts, &[], Options::default(), &survey(hosts, |_| Some(1.0))).unwrap();
        assert_eq!(judgement.next_looks(), None);
        assert_eq!(judgement.report().not_judged.len(), hosts);
    }
}

#[test]
fn a_slow_unit_is_named_without_its_hosts() {
    for seed in 1..=3 {
        let mut mesh = Mesh::healthy(32, seed);
        (mesh.unit, mesh.faults) = (4, vec![Fault::Unit(2, 0.7)]);
        let report = mesh.judged(Plan::All, Options::default()).unwrap();
        let side = Side::Both;
        assert_eq!(named(&report), [Culprit::Unit { unit: 2, side }], "seed {seed}");
    }
}

#[test]
fn two_partners_are_too_few_to_tell_a_host_from_its_links() {
    let measure = |pair: Pair| Some(if pair.from == 0 { 0.5 } else { 1.0 });
    let report = judged(3, &survey(3, measure), measure);
    let side = Side::Sends;
    assert_eq!(named(&report), [Culprit::Undecided { host: 0, side }]);
    let verdict = report.verdicts[0];
    assert_eq!((verdict.shown_by, verdict.partners), (2, 2));
}

#[test]
fn what_fails_costs_its_own_cells_only() {
    let mut measure = noisy(|Pair { from, to }| match (from, to) {
        (3, _) | (_, 3) | (5, 8) => None,
        (5, _) => Some(0.7),
        _ => Some(1.0),
    });
    let figures = survey(16, &mut measure);
    let report = judged(16, &figures, &mut measure);
    let side = Side::Sends;
    assert_eq!(named(&report), [Culprit::Host { host: 5, side }]);
    assert_eq!(
        (report.not_judged.as_slice(), report.unmeasured),
        ([3].as_slice(), 31)
    );
}

#[test]
fn a_survey_may_measure_a_pair_several_times() {
    let (from, to) = (3, 9);
    let mut measure = noisy(|pair| Some(if pair == (Pair { from, to }) { 0.8 } else { 1.0 }));
    let figures: Vec<Figure> = (0..3).flat_map(|_| survey(16, &mut measure)).collect();
    let report = judged(16, &figures, &mut measure);
    let both = false;
    assert_eq!(named(&report), [Culprit::Link { from, to, both }]);
    assert_eq!((report.unmeasured, report.failed), (0, 0));
}

#[test]
fn looks_run_as_the_survey_did() {
    let measure = |pair: Pair| Some(if pair.from == 4 { 0.5 } else { 1.0 });
    for mode in [Mode::Loaded, Mode::Isolated] {
        let options = Options {
            mode,
            ..Options::default()
        };
        let mut judgement = Judgement::new(12, &[], options, &survey(12, measure)).unwrap();
        let looks = judgement.next_looks().unwrap();
        let alone = looks.rounds.iter().all(|round| round.len() == 1);
        assert_eq!((looks.mode, alone), (mode, mode == Mode::Isolated));
    }
}

/// Intervals of hosts hold the truth 95 times in 100, whether the mesh is large or small, complete or under a budget, and
/// whether looks added figures.
#[test]
fn intervals_of_hosts_hold_what_they_do() {
    for (hosts, plan, cycles) in [
        (5, Plan::All, 1),
        (8, Plan::All, 3),
        (24, Plan::All, 1),
        (64, Plan::Budget(12), 1),
    ] {
        let (mut held, mut count) = (0, 0);
        for seed in 1..=2000 / hosts as u64 {
            let mut random = Random::new(seed);
            let own: Vec<[f64; 2]> = (0..hosts)
                .map(|_| [0.05 * random.normal(), 0.05 * random.normal()])
                .collect();
            let schedule = Schedule::new(hosts, plan.clone(), Mode::Loaded, seed).unwrap();
            let mut measure = |pair: Pair| Figure {
                pair,
                value: Some((own[pair.from][0] + own[pair.to][1] + 0.05 * random.normal()).exp()),
            };
            let cycles = (0..cycles).flat_map(|_| schedule.rounds().flatten());
            let survey: Vec<Figure> = cycles.map(&mut measure).collect();
            let mut judgement = Judgement::new(hosts, &[], Options::default(), &survey).unwrap();
            while let Some(looks) = judgement.next_looks() {
                let figures: Vec<Figure> = looks.rounds.into_iter().flatten().map(&mut measure).collect();
                judgement.look(&figures).unwrap();
            }
            let effects = judgement.effects();
            for side in [0, 1] {
                let mut truth: Vec<f64> = own.iter().map(|own| own[side]).collect();
                let middle = wirespeed_report::stats::median(&mut truth);
                for (own, effects) in own.iter().zip(&effects) {
                    let effect = [effects.sends, effects.receives][side].unwrap();
                    let [lower, upper] = effect.interval.unwrap();
                    let truth = (own[side] - middle).exp();
                    held += usize::from(lower <= truth && truth <= upper);
                    count += 1;
                }
            }
        }
        assert!(held * 100 >= 93 * count, "{hosts} hosts: {held} of {count}");
        assert!(held * 1000 <= 995 * count, "{hosts} hosts: {held} of {count}");
    }
}

#[test]
fn effects_are_there_for_every_host_with_figures() {
    let mut measure = noisy(|Pair { from, to }| match (from, to) {
        (3, _) | (_, 3) => None,
        (5, _) => Some(0.7),
        _ => Some(1.0),
    });
    let survey = survey(12, &mut measure);
    let effects = Judgement::new(12, &[], Options::default(), &survey)
        .unwrap()
        .effects();
    assert_eq!((effects.len(), effects[3]), (12, HostEffects::default()));
    let slow = effects[5].sends.unwrap();
    assert!((slow.ratio - 0.7).abs() < 0.05 && slow.figures == 10, "{slow:?}");
    assert!((effects[5].receives.unwrap().ratio - 1.0).abs() < 0.1);
}

/// Also where all hosts were looked at again, on a machine that had become slow: nothing was beside them that tells so.
#[test]
fn hosts_stand_beside_the_median_host_of_the_same_figures() {
    for seed in 1..=60 {
        let mut random = Random::new(seed);
        let mut speed = |pair| Figure {
            pair,
            value: Some(random.normal().exp()),
        };
        let schedule = Schedule::new(5, Plan::All, Mode::Isolated, seed).unwrap();
        let survey: Vec<Figure> = schedule.rounds().flatten().map(&mut speed).collect();
        let mut judgement = Judgement::new(5, &[], Options::default(), &survey).unwrap();
        while let Some(looks) = judgement.next_looks() {
            let slower = |pair| Figure {
                value: speed(pair).value.map(|value| 0.1 * value),
                pair,
            };
            let figures: Vec<Figure> = looks.rounds.into_iter().flatten().map(slower).collect();
            judgement.look(&figures).unwrap();
        }
        let effects = judgement.effects();
        for side in [0, 1] {
            let of_side = effects
                .iter()
                .map(|host| [host.sends, host.receives][side].unwrap().ratio);
            let ratios: Vec<f64> = of_side.collect();
            let beside = |is_it: fn(&f64) -> bool| ratios.iter().any(is_it);
            assert!(
                beside(|ratio| *ratio <= 1.0) && beside(|ratio| *ratio >= 1.0),
                "seed {seed}: {ratios:?}"
            );
        }
    }
}

#[test]
fn a_slow_host_of_four_is_named() {
    for seed in 1..=20 {
        for cycles in [1, 3] {
            let mut mesh = Mesh::healthy(4, seed);
            (mesh.faults, mesh.cycles) = (vec![Fault::Host(1, 0.5)], cycles);
            let report = mesh.judged(Plan::All, Options::default()).unwrap();
            let host = Culprit::Host {
                host: 1,
                side: Side::Both,
            };
            assert_eq!(named(&report), [host], "seed {seed}, {cycles} cycles");
        }
    }
}

#[test]
fn slow_hosts_do_not_hide_each_other_where_healthy_ones_differ() {
    for seed in 1..=10 {
        let mut mesh = Mesh::healthy(16, seed);
        mesh.spread = 0.02;
        mesh.faults = (0..4).map(|host| Fault::Host(host, 0.75)).collect();
        let report = mesh.judged(Plan::All, Options::default()).unwrap();
        let side = Side::Both;
        let hosts: Vec<Culprit> = (0..4).map(|host| Culprit::Host { host, side }).collect();
        assert_eq!(named(&report), hosts, "seed {seed}");
    }
}

#[test]
fn failures_leave_contrasts_enough() {
    let link = Pair { from: 3, to: 9 };
    let mut found = 0;
    for seed in 1..=20 {
        let mut mesh = Mesh::healthy(16, seed);
        (mesh.faults, mesh.failing) = (vec![Fault::Link(link, 0.7)], 0.2);
        let report = mesh.judged(Plan::All, Options::default()).unwrap();
        let culprit = Culprit::Link {
            from: 3,
            to: 9,
            both: false,
        };
        // Where the survey's own figure of the link failed, nothing makes it suspect.
        found += usize::from(named(&report) == [culprit]);
    }
    assert!(found >= 12, "{found} of 20");
}

/// What is dead costs a look the time in which nobody answers: once is enough to know it.
#[test]
fn a_pair_that_never_answers_is_not_looked_at() {
    let dead = [Pair { from: 1, to: 4 }, Pair { from: 4, to: 1 }];
    let (from, to) = (0, 1);
    let mut measure = noisy(|pair| match pair {
        pair if dead.contains(&pair) => None,
        pair if pair == Pair { from, to } => Some(0.5),
        Pair { from: 5, .. } => Some(0.6),
        _ => Some(1.0),
    });
    for cycles in [1, 3] {
        let figures: Vec<Figure> = (0..cycles).flat_map(|_| survey(8, &mut measure)).collect();
        let report = judged(8, &figures, |pair| {
            assert!(!dead.contains(&pair), "{pair:?} is looked at");
            measure(pair)
        });
        let (side, both) = (Side::Sends, false);
        let slow = [Culprit::Host { host: 5, side }, Culprit::Link { from, to, both }];
        assert_eq!(named(&report), slow, "{cycles} cycles");
    }
}

#[test]
fn a_suspect_that_only_dead_pairs_could_clear_is_not_cleared() {
    let link = Pair { from: 0, to: 1 };
    let mut measure = noisy(|pair| match pair {
        pair if pair == link => Some(0.3),
        Pair { from: 4.., to: 1 } | Pair { from: 0, to: 4.. } => None,
        Pair { from: 2, to: 3 } | Pair { from: 3, to: 2 } => None,
        _ => Some(1.0),
    });
    let figures: Vec<Figure> = (0..3).flat_map(|_| survey(8, &mut measure)).collect();
    let report = judged(8, &figures, measure);
    let of_link = report
        .verdicts
        .iter()
        .filter(|verdict| matches!(verdict.culprit, Culprit::Link { .. }));
    assert_eq!((of_link.count(), report.unsettled), (0, vec![link]));
}

/// Two partners are left, of which one direction is dead: the other one tells.
#[test]
fn a_contrast_is_found_where_there_is_one() {
    let (from, to) = (0, 1);
    let mut measure = noisy(|pair| match pair {
        Pair { from: 0, to: 1 } => Some(0.4),
        Pair { from: 2, to: 3 } => None,
        _ => Some(1.0),
    });
    let figures: Vec<Figure> = (0..3).flat_map(|_| survey(4, &mut measure)).collect();
    for seed in 0..8 {
        let options = Options {
            seed,
            ..Options::default()
        };
        let mut judgement = Judgement::new(4, &[], options, &figures).unwrap();
        let looks = judgement.next_looks().map(|looks| looks.rounds.concat());
        let looks = looks.unwrap_or_default();
        assert!(looks.contains(&Pair { from, to }), "seed {seed}: {looks:?}");
        assert!(
            !looks.contains(&Pair { from: 2, to: 3 }),
            "seed {seed}: {looks:?}"
        );
    }
}
