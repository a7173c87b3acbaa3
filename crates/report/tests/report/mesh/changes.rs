//! Two meshes compared: which hosts and links changed, and no verdict where figures are too few.

use super::made::{Made, document};
use crate::fixture::{finite, run as empty, screen};
use wirespeed_report::audit::violations;
use wirespeed_report::compare::{Comparison, Question, Verdict, compare};
use wirespeed_report::render::Style;
use wirespeed_schema::mesh::*;
use wirespeed_schema::run::Run;

/// A mesh of 16 hosts with so many cycles, where node7 receives at `ratio` and the link from node1 to node2 is at half.
fn changed(cycles: u32, ratio: f64, seed: u64) -> Run {
    let made = Made {
        cycles,
        seed,
        ..Made::of(16).slow(7, ratio)
    };
    let mut section = made.section();
    for pair in &mut section.probes[0].pairs {
        if (pair.from, pair.to) == (1, 2) {
            pair.values
                .iter_mut()
                .for_each(|value| *value = finite(value.get() / 2.0));
        }
    }
    document(section, vec![made.case()])
}

fn healthy(cycles: u32) -> Run {
    Made {
        cycles,
        ..Made::of(16)
    }
    .run()
}

fn compared(a: &Run, b: &Run) -> Comparison {
    compare(("a", a), ("b", b), &Question::default(), 0.02).unwrap()
}

fn shown(comparison: &Comparison) -> String {
    let mut document = empty(Vec::new());
    document.sections.put(comparison);
    assert_eq!(violations(&document), Vec::<String>::new());
    let text = screen(&document, &Style::PLAIN);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn labels(comparison: &Comparison, verdict: Verdict) -> Vec<&str> {
    let found = comparison.rows.iter().filter(|row| row.verdict == verdict);
    found.map(|row| row.label.as_str()).collect()
}

#[test]
fn the_host_and_the_link_that_changed_are_named_and_no_other() {
    let comparison = compared(&healthy(12), &changed(12, 0.7, 8));
    let slower = labels(&comparison, Verdict::Slower);
    assert!(
        slower.contains(&"node7 receives") && slower.contains(&"node1 -> node2"),
        "{slower:?}"
    );
    // Beside them the links to node7, and nothing else.
    let others = slower
        .iter()
        .filter(|label| !label.contains("node7") && **label != "node1 -> node2");
    assert_eq!(others.count(), 0, "{slower:?}");
    assert!(labels(&comparison, Verdict::Faster).is_empty());
    let row = comparison
        .rows
        .iter()
        .find(|row| row.label == "node7 receives")
        .unwrap();
    assert!(
        (0.66..0.74).contains(&row.ratio.get()) && row.lower.is_some() && row.a_runs == 12,
        "{row:?}"
    );
    let text = shown(&comparison);
    assert!(text.contains("Slower in B: node7 receives (0.7"), "{text}");
    assert!(
        text.contains("Judged slow in B alone, of the median: node7 receives (0.70)."),
        "{text}"
    );
    assert!(
        text.contains("links without a difference that can be told have no row."),
        "{text}"
    );
    // The other way round it is better.
    let back = compared(&changed(12, 0.7, 8), &healthy(12));
    assert!(labels(&back, Verdict::Faster).contains(&"node7 receives"));
    assert!(shown(&back).contains("Judged slow in A alone"));
}

#[test]
fn too_few_repetitions_are_no_verdict_and_say_how_many_it_takes() {
    for cycles in [1, 3] {
        let comparison = compared(&healthy(cycles), &changed(cycles, 0.3, 8));
        assert!(labels(&comparison, Verdict::Slower).is_empty(), "{cycles}");
        let row = comparison
            .rows
            .iter()
            .find(|row| row.label == "node7 receives")
            .unwrap();
        assert!(row.verdict == Verdict::Inconclusive && row.lower.is_none() && row.more_runs.is_some());
        assert!(shown(&comparison).contains("without an interval, so without a verdict"));
    }
}

/// A healthy mesh whose section is changed.
fn with(change: impl Fn(&mut MeshSection)) -> Run {
    let made = Made {
        cycles: 12,
        ..Made::of(16)
    };
    let mut section = made.section();
    change(&mut section);
    document(section, vec![made.case()])
}

#[test]
fn a_link_that_died_and_a_host_that_was_lost_are_told() {
    let a = with(|section| {
        section.probes[0]
            .pairs
            .retain(|pair| (pair.from, pair.to) != (3, 4))
    });
    let b = with(|section| {
        for pair in &mut section.probes[0].pairs {
            // What A was not to measure is no loss, and what fails with a host is told as that host's.
            if [(1, 2), (2, 1), (3, 4)].contains(&(pair.from, pair.to)) || pair.to == 9 {
                pair.values.clear();
                pair.failed = Some("no answer".to_owned());
            }
        }
        section.hosts[9].lost = Some("killed".to_owned());
    });
    let gone = [
        "host node9 (lost in B: killed)",
        "link node1 <-> node2 (failed in B: no answer)",
    ];
    let comparison = compared(&a, &b);
    assert_eq!(
        (comparison.told()[0].as_slice(), comparison.only_b.len()),
        (gone.map(str::to_owned).as_slice(), 0)
    );
    let told = format!("only in A, not compared: {}", gone.join(", "));
    assert!(shown(&comparison).contains(&told), "{}", shown(&comparison));
    let back = compared(&b, &a);
    assert_eq!(
        (back.only_a.len(), back.told()[1].as_slice()),
        (0, gone.map(|name| name.replace("in B", "in A")).as_slice())
    );
    // Lost on both sides is no difference.
    let same = compared(&b, &b);
    assert_eq!(same.only_a.len() + same.only_b.len(), 0);
}

/// What A has and B lacks where the pairs failed in B that `fails` holds of, of each of two probes.
fn lacking(fails: [&dyn Fn(u32, u32) -> bool; 2]) -> Vec<String> {
    let made = [false, true].map(|latency| Made {
        cycles: 12,
        latency,
        ..Made::of(16)
    });
    let of = |fails: Option<[&dyn Fn(u32, u32) -> bool; 2]>| {
        let mut section = made[0].section();
        section.probes.extend(made[1].section().probes);
        for (number, probe) in section.probes.iter_mut().enumerate() {
            probe.case = number as u32;
            let fails = fails.map(|fails| fails[number]);
            let failed = |pair: &&mut MeshPair| fails.is_some_and(|fails| fails(pair.from, pair.to));
            for pair in probe.pairs.iter_mut().filter(failed) {
                pair.values.clear();
                // Of a host that is set aside the first few pairs were tried.
                pair.failed_count = u64::from(pair.from.max(pair.to) < 12);
                let why = if pair.failed_count > 0 {
                    "silent"
                } else {
                    "left out"
                };
                pair.failed = Some(why.to_owned());
            }
        }
        document(section, made.each_ref().map(Made::case).to_vec())
    };
    let (whole, part) = (of(None), of(Some(fails)));
    let lacking = compared(&whole, &part);
    let back = compared(&part, &whole);
    let [of_a, ..] = lacking.told();
    assert_eq!(
        back.told()[1],
        of_a.iter()
            .map(|one| one.replace("in B", "in A"))
            .collect::<Vec<_>>()
    );
    assert!(shown(&lacking).contains("only in A, not compared: "));
    of_a
}

#[test]
fn a_host_that_answers_nobody_is_told_once_and_not_link_by_link() {
    let of = |host: u32| move |from: u32, to: u32| [from, to].contains(&host);
    let both = |from: u32, to: u32| of(5)(from, to) || of(6)(from, to);
    let fifth = "host node5 (has no figure in B: silent)";
    assert_eq!(lacking([&of(5), &of(5)]), [fifth]);
    let sixth = "host node6 (has no figure in B: silent)";
    assert_eq!(lacking([&both, &both]), [fifth, sixth]);
    // In one of two probes.
    assert_eq!(
        lacking([&of(5), &both]),
        [fifth.to_owned(), format!("tcp am_lat 8 B: {sixth}")]
    );
}

#[test]
fn a_mesh_that_is_cut_in_two_is_told_as_such() {
    let cut = |from: u32, to: u32| (from < 8) != (to < 8);
    let one_way = |from: u32, to: u32| from < 8 && to >= 8;
    let halves = [
        "node0, node1, node2 and 5 more",
        "node8, node9, node10 and 5 more",
    ];
    assert_eq!(
        lacking([&cut, &one_way]),
        [
            format!(
                "tcp am_bw 64 KiB window 64: 128 links of {} with {} (failed in B: silent)",
                halves[0], halves[1]
            ),
            format!(
                "tcp am_lat 8 B: 64 links from {} to {} (failed in B: silent)",
                halves[0], halves[1]
            ),
        ]
    );
    // Where nobody answers, nobody is to blame; the case itself has no figure then.
    let whole = "tcp am_bw 64 KiB window 64";
    assert_eq!(
        lacking([&|_, _| true, &|_, _| false]),
        [
            format!("{whole} (not measured in B: no pair was measured)"),
            format!("{whole}: all 240 links (failed in B: silent)")
        ]
    );
}

#[test]
fn a_verdict_of_both_directions_meets_that_of_one_and_a_link_itself_in_whatever_order() {
    let judged = |culprits: [MeshCulprit; 2], backwards: bool| {
        with(|section| {
            let verdicts = culprits.map(|culprit| MeshVerdict {
                culprit,
                ..Made::of(16).verdict(0, 0.5)
            });
            section.probes[0].verdicts = verdicts.to_vec();
            if backwards {
                section.hosts.reverse();
            }
        })
    };
    let host = |host, side| MeshCulprit::Host { host, side };
    let link = |from, to, both| MeshCulprit::Link { from, to, both };
    let a = judged([host(1, MeshSide::Sends), link(3, 4, true)], false);
    // Of hosts in another order, the same link from its other end.
    let b = judged([host(14, MeshSide::Both), link(11, 12, true)], true);
    let change = compared(&a, &b).mesh.unwrap();
    let told = |a: bool, b: bool| -> Vec<&str> {
        let found = change.judged.iter();
        let found = found.filter(|one| (one.a.is_some(), one.b.is_some()) == (a, b));
        found.map(|one| one.name.as_str()).collect()
    };
    assert_eq!(
        told(true, true),
        ["node1 sends", "node3 -> node4", "node4 -> node3"]
    );
    assert_eq!(told(false, true), ["node1 receives"]);
    assert_eq!(told(true, false), Vec::<&str>::new());
}

#[test]
fn hosts_are_matched_by_name_and_those_of_one_side_are_named() {
    let a = healthy(12);
    let mut section = a.sections.get::<MeshSection>().unwrap();
    // The same hosts in another order, one of them new.
    section.hosts.reverse();
    let last = section.hosts.len() as u32 - 1;
    for pair in &mut section.probes[0].pairs {
        (pair.from, pair.to) = (last - pair.from, last - pair.to);
    }
    section.hosts[0].name = "other".to_owned();
    let b = document(section, vec![Made::of(16).case()]);
    let comparison = compared(&a, &b);
    assert_eq!(
        [comparison.only_a.clone(), comparison.only_b.clone()],
        [["host node15"], ["host other"]]
    );
    // Every figure is the same one.
    let apart = comparison
        .rows
        .iter()
        .filter(|row| (row.ratio.get() - 1.0).abs() > 1e-9);
    assert_eq!(
        apart.map(|row| &row.label).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!(comparison.rows.len(), 1 + 2 * 15);
    assert!(shown(&comparison).contains("only in A, not compared: host node15"));
}
