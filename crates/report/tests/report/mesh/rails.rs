//! Hosts with two networks: each is a case of its own, and what is slow on one of them only is said to be.

use super::made::{Made, document};
use wirespeed_report::Input;
use wirespeed_report::compare::{Question, compare};
use wirespeed_report::render::{CsvRows, csv};
use wirespeed_report::view::View;
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
