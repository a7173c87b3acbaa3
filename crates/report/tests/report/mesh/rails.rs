//! Hosts with two networks: each is a case of its own, and what is slow on one of them only is said to be.

use super::made::{Made, document};
use wirespeed_report::Input;
use wirespeed_report::compare::{Question, compare};
use wirespeed_report::render::{CsvRows, csv};
use wirespeed_report::view::View;
use wirespeed_schema::mesh::*;
use wirespeed_schema::run::Run;

/// Rails `a` and `b`; node7 is slow on `b`, and on `a` where that is asked for.
fn on_rails(on_both: bool) -> Run {
    let (slow, well) = (Made::of(16).slow(7, 0.6), Made::of(16));
    let mut section = slow.section();
    section.probes[0].case = 1;
    let other = if on_both { slow.section() } else { well.section() };
    section.probes.splice(0..0, other.probes);
    let case = |rail: &str| slow.case().with_rail(Some(rail.to_owned()));
    document(section, vec![case("a"), case("b")])
}

fn answer(run: &Run) -> Vec<String> {
    View::of(&[Input { name: "run", run }]).subjects.remove(0).answer
}

#[test]
fn a_host_that_is_slow_on_one_rail_is_said_to_be() {
    let said = answer(&on_rails(false));
    let slow: Vec<&String> = said
        .iter()
        .filter(|line| line.contains("node7 receives"))
        .collect();
    let [line] = slow[..] else {
        panic!("{said:#?}");
    };
    assert!(
        line.contains("on rail b") && line.ends_with("; on this rail only."),
        "{line}"
    );
    let both = answer(&on_rails(true)).join("\n");
    assert!(
        both.matches("node7 receives").count() == 2 && !both.contains("only"),
        "{both}"
    );
}

/// The link from node1 to node2 is slow on `b`, in both directions where that is asked for; `a` is changed.
fn slow_link(both: bool, change: impl Fn(&mut MeshProbe)) -> String {
    let made = Made::of(16);
    let mut section = made.section();
    let mut slow = MeshProbe {
        case: 1,
        ..section.probes[0].clone()
    };
    slow.verdicts.push(MeshVerdict {
        culprit: MeshCulprit::Link { from: 1, to: 2, both },
        ..made.verdict(0, 0.5)
    });
    change(&mut section.probes[0]);
    section.probes.push(slow);
    let case = |rail: &str| made.case().with_rail(Some(rail.to_owned()));
    answer(&document(section, vec![case("a"), case("b")])).join("\n")
}

#[test]
fn a_link_is_slow_on_one_rail_only_where_it_was_found_well_on_the_other() {
    let dead = |from, to| {
        move |probe: &mut MeshProbe| {
            let is_it = |pair: &&mut MeshPair| (pair.from, pair.to) == (from, to);
            let pair = probe.pairs.iter_mut().find(is_it).unwrap();
            pair.values.clear();
            pair.failed = Some("no answer".to_owned());
        }
    };
    let noisy = |probe: &mut MeshProbe| probe.detectable_link_ratio = None;
    let said = "on this rail only";
    for both in [false, true] {
        assert!(slow_link(both, |_| {}).contains(said), "both {both}");
        assert!(!slow_link(both, dead(1, 2)).contains(said), "both {both}");
        assert!(!slow_link(both, noisy).contains(said), "both {both}");
        // The other direction is asked for where it is slow, too.
        assert_eq!(slow_link(both, dead(2, 1)).contains(said), !both);
    }
}

#[test]
fn rails_are_rows_and_comparisons_of_their_own() {
    let run = on_rails(false);
    let rows = csv(&run, CsvRows::Cases).unwrap();
    let header = rows.lines().next().unwrap();
    let column = header.split(',').position(|name| name == "rail").unwrap();
    for rail in ["a", "b"] {
        let is = |line: &&str| line.split(',').nth(column) == Some(rail);
        assert_eq!(rows.lines().filter(is).count(), 240, "rail {rail}");
    }
    let compared = compare(("a", &run), ("b", &on_rails(true)), &Question::default(), 0.02).unwrap();
    assert!(compared.only_a.is_empty() && compared.only_b.is_empty());
    let whole = |rail: &str| {
        let name = format!("on rail {rail}");
        compared
            .rows
            .iter()
            .filter(|row| row.label.contains(&name))
            .count()
    };
    assert!(whole("a") > 0 && whole("a") == whole("b"));
}
