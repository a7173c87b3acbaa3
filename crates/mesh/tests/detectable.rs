//! What a judgement says it would have named: simulated meshes in which something is exactly that slow. Seeds are fixed, so
//! that nothing here is left to chance.

use wirespeed_mesh::simulate::{Fault, Mesh};
use wirespeed_mesh::{Culprit, Figure, Judgement, Mode, Options, Pair, Plan, Report, Schedule};
use wirespeed_report::stats::Random;

const MESHES: u64 = 100;

fn judged(hosts: usize, noise: f64, faults: Vec<Fault>, seed: u64) -> Report {
    let mesh = Mesh {
        noise,
        cycles: 3,
        faults,
        ..Mesh::healthy(hosts, seed)
    };
    let options = Options {
        seed,
        ..Options::default()
    };
    mesh.judged(Plan::All, options).unwrap()
}

/// The share of meshes in which what is as slow as the judgement of a healthy mesh says is detectable gets named, and the mean
/// of that ratio; of meshes that claim anything.
fn named(
    (hosts, noise): (usize, f64),
    claimed: impl Fn(&Report) -> Option<f64>,
    fault: impl Fn(f64) -> Fault,
    is_it: impl Fn(Culprit) -> bool,
) -> (f64, f64) {
    let (mut found, mut all, mut sum) = (0.0, 0.0, 0.0);
    for seed in 0..MESHES {
        let Some(ratio) = claimed(&judged(hosts, noise, Vec::new(), seed)) else {
            continue;
        };
        let report = judged(hosts, noise, vec![fault(ratio)], 1000 + seed);
        (all, sum) = (all + 1.0, sum + ratio);
        found += f64::from(u8::from(report.verdicts.iter().any(|one| is_it(one.culprit))));
    }
    (found / all, sum / all)
}

#[test]
fn a_host_as_slow_as_is_said_to_be_detectable_is_named() {
    for hosts in [4, 6, 8, 16] {
        for noise in [0.01, 0.05, 0.2] {
            let is_it = |culprit| {
                matches!(
                    culprit,
                    Culprit::Host { host: 1, .. } | Culprit::Undecided { host: 1, .. }
                )
            };
            let fault = |ratio| Fault::Sender(1, ratio);
            let (share, ratio) = named((hosts, noise), |report| report.detectable_host, fault, is_it);
            assert!(
                share >= 0.85,
                "{hosts} hosts, {noise}: at {ratio:.3} named in {share:.2}"
            );
        }
    }
}

#[test]
fn what_was_not_checked_would_not_have_been_named() {
    let slow = |pair: Pair| if pair.from == 1 { 0.5 } else { 1.0 };
    let mut random = Random::new(5);
    let mut figure = |pair: Pair| Figure {
        pair,
        value: Some(slow(pair) * (0.02 * random.normal()).exp()),
    };
    let schedule = Schedule::new(8, Plan::All, Mode::Loaded, 1).unwrap();
    let survey: Vec<Figure> = (0..3)
        .flat_map(|_| schedule.rounds().flatten())
        .map(&mut figure)
        .collect();
    let mut judgement = Judgement::new(8, &[], Options::default(), &survey).unwrap();
    assert!(judgement.next_looks().is_some());
    let unchecked = judgement.report();
    assert_eq!(
        (unchecked.detectable_host, unchecked.detectable_link),
        (None, None)
    );
    assert!(unchecked.verdicts.is_empty());
    let mut judgement = Judgement::new(8, &[], Options::default(), &survey).unwrap();
    while let Some(looks) = judgement.next_looks() {
        let figures: Vec<Figure> = looks.rounds.into_iter().flatten().map(&mut figure).collect();
        judgement.look(&figures).unwrap();
    }
    assert!(judgement.report().detectable_host > Some(0.8));
}

#[test]
fn a_link_as_slow_as_is_said_to_be_detectable_is_named() {
    for hosts in [6, 8, 16] {
        for noise in [0.01, 0.05, 0.2] {
            let slow = Pair { from: 0, to: 2 };
            let is_it = |culprit| matches!(culprit, Culprit::Link { from: 0, to: 2, .. });
            let fault = |ratio| Fault::Link(slow, ratio);
            let (share, ratio) = named((hosts, noise), |report| report.detectable_link, fault, is_it);
            assert!(
                share >= 0.85,
                "{hosts} hosts, {noise}: at {ratio:.3} named in {share:.2}"
            );
        }
    }
}
