//! Verdicts on made runs: how often they are wrong, what they need, and the arithmetic of runs to the number.

use super::*;
use crate::stats::Random;
use proptest::prelude::*;

/// Runs of two sides on a machine whose drift both share: B is `ratio` times A.
fn pairs(random: &mut Random, n: usize, ratio: f64, noise: f64) -> Sides {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let drift = 1000.0 * (0.1 * random.normal()).exp();
        a.push(drift * (noise * random.normal()).exp());
        b.push(drift * ratio * (noise * random.normal()).exp());
    }
    Sides {
        label: "x".into(),
        tag: "rtt_p50_ns".into(),
        a,
        b,
        ..Sides::default()
    }
}

/// The bound for 200 comparisons of a thing with itself is 16 false verdicts; a sweep counts as one.
#[test]
fn a_against_a_is_seldom_called_different() {
    let mut random = Random::new(1);
    for (method, rows) in [(Method::Paired, 1), (Method::Unpaired, 1), (Method::Paired, 6)] {
        let mut wrong = 0;
        for _ in 0..200 {
            let sides: Vec<Sides> = (0..rows).map(|_| pairs(&mut random, 10, 1.0, 0.03)).collect();
            let different = |row: &Row| matches!(row.verdict, Verdict::Faster | Verdict::Slower);
            wrong += usize::from(judge(&sides, method, 0.001).0.iter().any(different));
        }
        assert!(wrong <= 16, "{method:?} {rows} rows: {wrong} of 200");
    }
}

#[test]
fn a_difference_or_none_is_found_with_the_pairs_announced() {
    let mut random = Random::new(2);
    for (ratio, within, verdict) in [
        (1.03, 0.01, Verdict::Slower),
        (1.0, 0.03, Verdict::Same),
        (1.003, 0.03, Verdict::Same),
    ] {
        let (mut found, mut asked) = (0, 0);
        for _ in 0..60 {
            let pilot = pairs(&mut random, 10, ratio, 0.03);
            let row = judge(std::slice::from_ref(&pilot), Method::Paired, within)
                .0
                .remove(0);
            // At the very edge of the margin it takes too many to try.
            let Some(more) = row.more_runs.filter(|more| *more < 500) else {
                continue;
            };
            asked += 1;
            let mut whole = pairs(&mut random, more as usize, ratio, 0.03);
            whole.a.extend(&pilot.a);
            whole.b.extend(&pilot.b);
            let again = judge(std::slice::from_ref(&whole), Method::Paired, within)
                .0
                .remove(0);
            found += usize::from(again.verdict == verdict);
        }
        assert!(
            asked > 20 && found * 100 >= 90 * asked,
            "{verdict:?}: {found} of {asked}"
        );
    }
}

#[test]
fn the_direction_follows_the_figure() {
    let mut random = Random::new(3);
    let slower = pairs(&mut random, 10, 1.2, 0.01);
    let rate = Sides {
        tag: "rate_msg_per_s".into(),
        ..slower.clone()
    };
    let rows = judge(&[slower, rate], Method::Paired, 0.02).0;
    assert_eq!(
        (rows[0].verdict, rows[1].verdict),
        (Verdict::Slower, Verdict::Faster)
    );
    assert!(rows[0].lower.unwrap().get() > 1.1 && (rows[0].ratio.get() - 1.2).abs() < 0.03);
    let same = judge(&[pairs(&mut random, 12, 1.0, 0.002)], Method::Paired, 0.02).0;
    assert_eq!(same[0].verdict, Verdict::Same);
}

#[test]
fn a_difference_that_may_be_within_the_margin_is_never_called_slower() {
    let mut random = Random::new(4);
    let edge = judge(&[pairs(&mut random, 40, 1.02, 0.01)], Method::Paired, 0.02)
        .0
        .remove(0);
    assert!(edge.lower.unwrap().get() > 1.0 && edge.upper.unwrap().get() > 1.02);
    assert_eq!(edge.verdict, Verdict::Inconclusive);
    // However sure it is that there is one.
    let small = judge(&[pairs(&mut random, 40, 1.005, 0.001)], Method::Paired, 0.02)
        .0
        .remove(0);
    assert_eq!((small.verdict, small.p_value.get()), (Verdict::Same, 1.0));
}

#[test]
fn a_disturbed_file_needs_a_large_difference() {
    let sides = |ratio: f64, disturbed: &[&str]| Sides {
        disturbed: disturbed.iter().map(|said| (*said).to_owned()).collect(),
        ..pairs(&mut Random::new(5), 12, ratio, 0.01)
    };
    let verdict = |ratio, disturbed, method| {
        let row = judge(&[sides(ratio, disturbed)], method, 0.02).0.remove(0);
        assert_eq!(row.withheld.is_empty(), row.verdict != Verdict::Inconclusive);
        row.verdict
    };
    for (ratio, slow) in [(2.0, Verdict::Slower), (0.5, Verdict::Faster)] {
        assert_eq!(
            verdict(ratio, &["A: steal"], Method::Unpaired),
            Verdict::Inconclusive
        );
        assert_eq!(verdict(ratio, &[], Method::Unpaired), slow);
        assert_eq!(verdict(ratio, &["A: steal"], Method::Paired), slow);
    }
    assert_eq!(verdict(4.0, &["B: noise"], Method::Unpaired), Verdict::Slower);
}

#[test]
fn two_states_that_both_files_saw_are_no_difference() {
    let sides = |disturbed: &[&str], upper: f64| Sides {
        tag: "rtt_p50_ns".into(),
        a: vec![174.0, 462.0, 517.0, 521.0, 525.0, 528.0, 532.0, 542.0],
        b: vec![157.0, 159.0, 160.0, 163.0, 165.0, 169.0, 171.0, upper],
        disturbed: disturbed.iter().map(|said| (*said).to_owned()).collect(),
        ..Sides::default()
    };
    let of = |sides| judge(&[sides], Method::Unpaired, 0.02).0.remove(0).verdict;
    assert_eq!(of(sides(&["A: noise"], 495.0)), Verdict::Inconclusive);
    assert_eq!(of(sides(&[], 495.0)), Verdict::Faster, "nothing disturbed them");
    assert_eq!(
        of(sides(&["A: noise"], 172.0)),
        Verdict::Faster,
        "no run of one among the other's"
    );
}

#[test]
fn too_few_runs_say_how_many_are_needed() {
    let one = Sides {
        tag: "rtt_p50_ns".into(),
        a: vec![100.0],
        b: vec![200.0],
        ..Sides::default()
    };
    let rows = judge(std::slice::from_ref(&one), Method::Unpaired, 0.02).0;
    assert_eq!(
        (rows[0].verdict, rows[0].more_runs, rows[0].lower),
        (Verdict::Inconclusive, Some(3), None)
    );
    let rows = judge(&[one.clone(), one], Method::Paired, 0.02).0;
    assert_eq!(rows[0].more_runs, Some(6));
    let nothing = Sides {
        tag: "loss_ratio".into(),
        a: vec![0.0],
        b: vec![0.0],
        ..Sides::default()
    };
    assert!(judge(&[nothing], Method::Unpaired, 0.02).0.is_empty());
}

/// Whether there is nothing is asked of the same runs as everything else: of pairs, the whole ones.
#[test]
fn half_a_pair_is_no_part_of_an_agreement() {
    let told = |a: &[f64], b: &[f64], method| {
        let sides = [Sides {
            tag: "loss_ratio".into(),
            a: a.to_vec(),
            b: b.to_vec(),
            ..Sides::default()
        }];
        let unjudged = judge(&sides, method, 0.02).1;
        (noughts(&sides, method).len(), unjudged.len())
    };
    let with = |last: f64| [[0.0; 6].as_slice(), &[last]].concat();
    let (most, half) = (with(0.1), with(f64::NAN));
    assert_eq!(told(&most, &half, Method::Paired), (1, 0));
    assert_eq!(told(&most, &half, Method::Unpaired), (0, 1));
    // No pair is whole.
    let (first, second) = ([0.0, f64::NAN], [f64::NAN, 0.0]);
    assert_eq!(told(&first, &second, Method::Paired), (0, 1));
    assert_eq!(told(&first, &second, Method::Unpaired), (1, 0));
}

fn context(method: Method, margin: f64, rows: usize) -> Context {
    Context {
        method,
        margin,
        rows,
        p_adjusted: 0.001,
    }
}

fn found(estimate: f64, lower: f64, upper: f64) -> Shift {
    Shift {
        estimate,
        interval: Some((lower, upper, LEVEL)),
        p_value: 0.001,
    }
}

/// z(2.5 %) is 1.95996, z(10 %) 1.28155, z(0.625 %) 2.49771: the interval must shrink to the distance from the margin, and by
/// (z of the level + z of the power) / z of the interval.
#[test]
fn runs_that_would_tell_are_computed() {
    let more = |shift: Shift, runs, margin, rows| {
        more_runs(&shift, (runs, runs), &context(Method::Paired, margin, rows))
    };
    // 10 x 1.65387^2 = 27.4.
    assert_eq!(more(found(0.1, 0.02, 0.18), 10, 0.02, 1), Some(18));
    // The wider half counts, on whichever side it is; 10 x (0.1 / 0.08 x 1.65387)^2 = 42.7.
    assert_eq!(more(found(0.1, 0.0, 0.18), 10, 0.02, 1), Some(33));
    assert_eq!(more(found(-0.1, -0.2, -0.02), 10, 0.02, 1), Some(33));
    // Four rows: 10 x 1.92823^2 = 37.2.
    assert_eq!(more(found(0.1, 0.02, 0.18), 10, 0.02, 4), Some(28));
    // Within the margin each row is tested for itself; the far end adds nothing to 10 x (0.08 / 0.01 x 1.65387)^2 = 1750.5.
    for rows in [1, 4] {
        assert_eq!(more(found(0.04, -0.04, 0.12), 10, 0.05, rows), Some(1741));
    }
    // In its middle both ends are as near: z(5 %) is 1.64485, and 10 x (0.08 / 0.05 x 1.83923)^2 = 86.6.
    assert_eq!(more(found(0.0, -0.08, 0.08), 10, 0.05, 1), Some(77));
    // 5 and 20 runs are as good as 8 and 8: 8 x 1.65387^2 = 21.9.
    let uneven = |runs| more_runs(&found(0.1, 0.02, 0.18), runs, &context(Method::Unpaired, 0.02, 1));
    assert_eq!((uneven((5, 20)), uneven((20, 5))), (Some(17), Some(17)));
    // What is told by the interval already needs one more at least, and never fewer than can be significant.
    assert_eq!(more(found(0.5, 0.49, 0.51), 10, 0.02, 1), Some(1));
    assert_eq!(more(found(0.5, 0.49, 0.51), 4, 0.02, 1), Some(2));
    // On the edge of the margin no number helps.
    assert_eq!(more(found(0.02, 0.0, 0.04), 10, 0.02, 1), None);
    assert_eq!(more(found(0.0201, -0.2, 0.24), 10, 0.02, 1), None, "too many");
    let without = Shift {
        interval: None,
        ..found(0.1, 0.0, 0.0)
    };
    assert_eq!(more(without, 2, 0.02, 1), Some(4));
    assert_eq!(more(without, 6, 0.02, 1), Some(1));
}

/// Paired, 2 / 2^n: 0.031 at 6. Unpaired, 2 / (2n choose n): 0.029 at 4.
#[test]
fn the_fewest_runs_that_can_be_significant() {
    for (method, rows, least) in [
        (Method::Paired, 0, 6),
        (Method::Paired, 1, 6),
        (Method::Paired, 2, 7),
        (Method::Paired, 100, 12),
        (Method::Unpaired, 1, 4),
        (Method::Unpaired, 2, 5),
        (Method::Unpaired, 100, 8),
    ] {
        assert_eq!(least_runs(method, rows), least, "{method:?} {rows}");
    }
    assert_eq!(least_runs(Method::Paired, usize::MAX), 60);
}

#[test]
fn a_verdict_is_of_the_interval_beside_the_margin() {
    let of = |lower: f64, upper: f64, p_adjusted: f64, more_is_better: bool| {
        let context = Context {
            p_adjusted,
            ..context(Method::Paired, 0.02, 1)
        };
        verdict(
            &found((lower + upper) / 2.0, lower, upper),
            &context,
            more_is_better,
        )
    };
    use Verdict::{Faster, Inconclusive, Same, Slower};
    for (lower, upper, expected) in [
        (0.03, 0.05, Slower),
        (-0.05, -0.03, Faster),
        (-0.01, 0.01, Same),
        (0.01, 0.05, Inconclusive),
        (-0.05, 0.01, Inconclusive),
        (-0.05, 0.05, Inconclusive),
        // An end on the margin is neither beyond nor within.
        (0.02, 0.05, Inconclusive),
        (-0.05, -0.02, Inconclusive),
        (-0.02, 0.01, Inconclusive),
        (-0.01, 0.02, Inconclusive),
    ] {
        assert_eq!(of(lower, upper, 0.049, false), expected, "{lower} {upper}");
        let swapped = match expected {
            Slower => Faster,
            Faster => Slower,
            other => other,
        };
        assert_eq!(
            of(lower, upper, 0.049, true),
            swapped,
            "of a rate: {lower} {upper}"
        );
    }
    assert_eq!(of(0.03, 0.05, 0.051, false), Inconclusive, "by chance");
    let without = Shift {
        interval: None,
        ..found(0.5, 0.0, 0.0)
    };
    assert_eq!(
        verdict(&without, &context(Method::Paired, 0.02, 1), false),
        Inconclusive
    );
}

#[test]
fn a_row_has_what_was_measured() {
    let sides = Sides {
        label: "x".into(),
        tag: "rtt_p50_ns".into(),
        a: vec![100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, f64::NAN],
        b: vec![200.0, 202.0, 204.0, 206.0, 208.0, 210.0, 212.0],
        remarks: vec!["A: steal".into()],
        ..Sides::default()
    };
    let rows = judge(std::slice::from_ref(&sides), Method::Unpaired, 0.02).0;
    let [row] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (row.a.get(), row.b.get(), row.a_runs, row.b_runs),
        (103.0, 206.0, 7, 7)
    );
    assert_eq!(
        (row.verdict, row.more_runs, &row.remarks),
        (Verdict::Slower, None, &sides.remarks)
    );
    // Every one of B is above every one of A: 2 in (14 choose 7).
    assert!(
        (row.p_value.get() - 2.0 / 3432.0).abs() < 1e-9,
        "{}",
        row.p_value.get()
    );
    assert_eq!(row.p_adjusted, row.p_value);
    assert!(row.level.unwrap().get() >= 0.95 && row.level.unwrap().get() < 1.0);
    // Of two families each p-value counts twice.
    let pair = [&[sides.clone()][..], &[sides.clone()][..]];
    let [one, _] = judge_families(pair, Method::Unpaired, 0.02);
    let (of_one, of_two) = (row.p_value.get(), one[0].as_ref().unwrap().p_adjusted.get());
    assert!((of_two / of_one - 2.0).abs() < 1e-9);
    // An empty one costs nothing.
    let [one, none] = judge_families([&[sides][..], &[]], Method::Unpaired, 0.02);
    assert_eq!(
        (one[0].as_ref().unwrap().p_adjusted.get(), none.len()),
        (of_one, 0)
    );
}

/// What only one side has in every run needs no ratio, where it is no time and the runs are enough.
#[test]
fn what_one_side_alone_has_is_judged() {
    let of = |tag: &str, a: [f64; 2], b: [f64; 2], runs: usize| {
        let values = |[first, rest]: [f64; 2]| [vec![first], vec![rest; runs - 1]].concat();
        let sides = Sides {
            tag: tag.to_owned(),
            a: values(a),
            b: values(b),
            ..Sides::default()
        };
        judge(&[sides], Method::Unpaired, 0.02).1[0].verdict
    };
    let (none, some) = ([0.0; 2], [0.3, 0.1]);
    for (tag, a, b, runs, expected) in [
        ("loss_ratio", none, some, 4, Verdict::Slower),
        ("loss_ratio", some, none, 4, Verdict::Faster),
        ("loss_ratio", none, some, 3, Verdict::Inconclusive),
        ("loss_ratio", none, [0.0, 0.1], 9, Verdict::Inconclusive),
        ("rate_msg_per_s", some, none, 9, Verdict::Slower),
        ("rate_msg_per_s", none, some, 9, Verdict::Faster),
        ("rtt_p50_ns", some, none, 9, Verdict::Inconclusive),
        ("cpu_ns_per_message", none, some, 9, Verdict::Inconclusive),
    ] {
        assert_eq!(of(tag, a, b, runs), expected, "{tag} {a:?} {b:?} {runs}");
    }
}

/// Of pairs the whole ones count alone: what a run without a partner has tells nothing.
#[test]
fn what_one_side_alone_has_is_judged_by_whole_pairs() {
    let lacks = |from: usize| -> Vec<f64> {
        let run = |number| if number < from { 0.1 } else { f64::NAN };
        (0..9).map(run).collect()
    };
    let judged = |b: Vec<f64>| {
        let sides = Sides {
            tag: "loss_ratio".to_owned(),
            a: vec![0.0; 9],
            b,
            ..Sides::default()
        };
        judge(&[sides], Method::Paired, 0.02).1.remove(0)
    };
    let few = judged(lacks(5));
    assert_eq!((few.verdict, few.runs_min), (Verdict::Inconclusive, Some(6)));
    assert_eq!(few.why, "0 for A in 5 of 5 pairs, at least 6 pairs would tell");
    let enough = judged(lacks(6));
    assert_eq!((enough.verdict, enough.runs_min), (Verdict::Slower, None));
    assert_eq!(judged(lacks(0)).why, "no run of one is beside one of the other");
    // A run that has nothing, and no partner, costs the whole pairs nothing.
    let mut alone = pairs(&mut Random::new(6), 8, 1.5, 0.001);
    (alone.a[0], alone.b[0]) = (0.0, f64::NAN);
    let rows = judge(&[alone], Method::Paired, 0.02).0;
    assert_eq!((rows[0].a_runs, rows[0].verdict), (7, Verdict::Slower));
}

#[test]
fn rates_are_better_when_they_are_more() {
    for (tag, expected) in [
        ("rate_msg_per_s", true),
        ("bandwidth_bytes_per_s", true),
        ("rtt_p50_ns", false),
        ("loss_ratio", false),
    ] {
        assert_eq!(more_is_better(tag), expected, "{tag}");
    }
}

proptest! {
    #[test]
    fn any_values_give_finite_rows(
        a in prop::collection::vec(prop_oneof![Just(0.0), Just(-1.0), 1e-9..1e18f64], 0..12),
        b in prop::collection::vec(prop_oneof![Just(0.0), 1e-9..1e18f64], 0..12),
        paired: bool,
    ) {
        let method = if paired { Method::Paired } else { Method::Unpaired };
        let sides = Sides { tag: "rtt_p50_ns".into(), a, b, ..Sides::default() };
        for row in judge(&[sides], method, 0.02).0 {
            if let (Some(lower), Some(upper)) = (row.lower, row.upper) {
                prop_assert!(lower <= row.ratio && row.ratio <= upper);
            }
            prop_assert!((0.0..=1.0).contains(&row.p_adjusted.get()));
        }
    }
}

/// A run that one side lacks is in no ratio, so it is in neither median, and counts for nothing.
#[test]
fn what_has_no_partner_is_in_no_row() {
    let mut random = Random::new(5);
    let mut sides = pairs(&mut random, 8, 1.0, 0.001);
    sides.a[0] = f64::NAN;
    sides.b[1] = f64::NAN;
    sides.b[0] = 1e9;
    let row = judge(std::slice::from_ref(&sides), Method::Paired, 0.01)
        .0
        .remove(0);
    assert_eq!((row.a_runs, row.b_runs), (6, 6));
    assert!((0.5..2.0).contains(&(row.b.get() / row.a.get())), "{row:?}");
}
