//! Small meshes with known faults, judged to the end. It must never assert a share that chance decides.

use wirespeed_mesh::simulate::{Fault, Mesh};
use wirespeed_mesh::{Culprit, Figure, Judgement, Mode, Options, Pair, Plan, Schedule, Side};

fn survey(hosts: usize, value: impl Fn(Pair) -> Option<f64>) -> Vec<Figure> {
    let schedule = Schedule::new(hosts, Plan::All, Mode::Loaded, 1).unwrap();
    let pairs = schedule.rounds().flatten();
    pairs
        .map(|pair| Figure {
            pair,
            value: value(pair),
        })
        .collect()
}

fn culprits(fault: Fault) -> Vec<Culprit> {
    let mut mesh = Mesh::healthy(16, 8);
    mesh.faults = vec![fault];
    let report = mesh.judged(Plan::All, Options::default()).unwrap();
    report.verdicts.iter().map(|verdict| verdict.culprit).collect()
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
fn scale_and_order_do_not_matter() {
    let noise = |pair: Pair| 1.0 + ((pair.from * 31 + pair.to * 17) % 13) as f64 / 100.0;
    let slow = |pair: Pair| if pair.from == 4 { 0.5 } else { 1.0 };
    let named = |scale: f64, reversed: bool| {
        let measure = |pair: Pair| Some(scale * noise(pair) * slow(pair));
        let mut figures = survey(12, measure);
        if reversed {
            figures.reverse();
        }
        let mut judgement = Judgement::new(12, &[], Options::default(), &figures).unwrap();
        while let Some(rounds) = judgement.next_looks() {
            let pairs = rounds.into_iter().flatten();
            let figures: Vec<Figure> = pairs
                .map(|pair| Figure {
                    pair,
                    value: measure(pair),
                })
                .collect();
            judgement.look(&figures).unwrap();
        }
        let report = judgement.report();
        report
            .verdicts
            .iter()
            .map(|verdict| verdict.culprit)
            .collect::<Vec<_>>()
    };
    let first = named(1.0, false);
    assert!(
        first.contains(&Culprit::Host {
            host: 4,
            side: Side::Sends
        }),
        "{first:?}"
    );
    assert_eq!(first, named(1.0, true));
    assert_eq!(first, named(1024.0, false));
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
