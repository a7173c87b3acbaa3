//! Answers of comparisons, to the word.

use super::super::{Difference, Side};
use super::*;
use wirespeed_schema::Finite;

fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

/// A row of ten runs a side with an interval of 1 % on each side of its ratio.
fn row(label: &str, ratio: f64, verdict: Verdict) -> Row {
    Row {
        label: label.into(),
        tag: "rtt_p50_ns".into(),
        a: finite(100.0),
        b: finite(100.0 * ratio),
        a_runs: 10,
        b_runs: 10,
        ratio: finite(ratio),
        lower: Some(finite(ratio - 0.01)),
        upper: Some(finite(ratio + 0.01)),
        verdict,
        ..Row::default()
    }
}

fn open(more_runs: u64) -> Row {
    Row {
        more_runs: Some(more_runs),
        ..row("x", 1.03, Verdict::Inconclusive)
    }
}

fn withheld(said: &[&str]) -> Row {
    Row {
        withheld: said.iter().map(|said| (*said).to_owned()).collect(),
        ..row("x", 2.0, Verdict::Inconclusive)
    }
}

fn of(method: Method, rows: Vec<Row>) -> Comparison {
    Comparison {
        method,
        within_ratio: finite(0.02),
        rows,
        ..Comparison::default()
    }
}

fn imported(tool: &str) -> Side {
    Side {
        imported: Some(tool.into()),
        ..Side::default()
    }
}

#[test]
fn one_row_is_told_in_full() {
    let said = |method, row| answer(&of(method, vec![row])).join("\n");
    let figure = "RTT p50 of B is 1.03 [1.02 .. 1.04] times that of A";
    for (verdict, words) in [
        (Verdict::Slower, "B is slower"),
        (Verdict::Faster, "B is faster"),
        (Verdict::Same, "B is the same as A within 2 %"),
    ] {
        assert_eq!(
            said(Method::Paired, row("x", 1.03, verdict)),
            format!("{words}: {figure}")
        );
    }
    let between = format!("inconclusive: {figure}, neither wholly within 2 % nor wholly beyond");
    assert_eq!(
        said(Method::Paired, open(190)),
        format!("{between}; about 200 pairs should tell: measure with --pairs 200")
    );
    assert_eq!(
        said(Method::Unpaired, open(20)),
        format!("{between}; about 30 runs a side should tell: measure both with --repeats 30")
    );
    let too_many = "more runs than anybody waits for would be needed";
    assert_eq!(
        said(Method::Paired, open(191)),
        format!(
            "{between}; {too_many} (about 201 pairs): measure each run longer, or tolerate more with --within"
        )
    );
    assert_eq!(
        said(Method::Unpaired, open(990)),
        format!(
            "{between}; {too_many} (about 1000 runs a side): measure in turn with `wirespeed ab`, each run longer, or tolerate more with \
             --within"
        )
    );
    assert_eq!(
        said(Method::Unpaired, row("x", 1.03, Verdict::Inconclusive)),
        format!("inconclusive: {figure}, too near to the margin of 2 % for more runs a side to tell")
    );
    let apart = row("shm am_lat 8 B / tcp am_lat 8 B", 1.03, Verdict::Slower);
    assert_eq!(
        said(Method::Paired, apart),
        "B is slower: RTT p50 of B (tcp am_lat 8 B) is 1.03 [1.02 .. 1.04] times that of A (shm am_lat 8 B)"
    );
}

#[test]
fn a_row_without_an_interval_says_what_it_needs() {
    let mut short = open(3);
    (short.lower, short.upper, short.a_runs, short.b_runs) = (None, None, 3, 3);
    let said = |row: &Row| answer(&of(Method::Unpaired, vec![row.clone()])).remove(0);
    let figure = "no verdict: RTT p50 of B is 1.03 times that of A, without an interval";
    let needs = "it needs at least 6 runs a side, and there are";
    assert_eq!(
        said(&short),
        format!("{figure}: {needs} 3: measure both with --repeats 6")
    );
    short.b_runs = 5;
    assert_eq!(
        said(&short),
        format!("{figure}: {needs} 3 and 5: measure both with --repeats 6")
    );
    let mut several = of(Method::Paired, vec![short, open(7), row("y", 1.0, Verdict::Same)]);
    assert_eq!(
        answer(&several),
        [
            "B against A, 3 figures: 2 inconclusive, 1 same within 2 %",
            "1 without an interval, so without a verdict: at least 6 pairs are needed: measure with --pairs 6",
        ]
    );
    several.rows.remove(0);
    let told = "about 17 pairs should tell the inconclusive ones: measure with --pairs 17";
    assert_eq!(answer(&several)[1], told);
    several.rows.push(row("z", 1.02, Verdict::Inconclusive));
    let some = "about 17 pairs should tell 1 of the inconclusive ones: measure with --pairs 17";
    assert_eq!(answer(&several)[1], some);
    several.rows.push(open(191));
    assert_eq!(
        answer(&several)[1],
        "more runs than anybody waits for would be needed (about 201 pairs): measure each run longer, or tolerate more with \
         --within"
    );
}

#[test]
fn of_several_the_farthest_are_named() {
    let rows = vec![
        row("a", 1.1, Verdict::Slower),
        row("b", 1.4, Verdict::Slower),
        row("c", 0.5, Verdict::Faster),
        row("d", 1.2, Verdict::Slower),
        row("e", 1.0, Verdict::Same),
    ];
    assert_eq!(
        answer(&of(Method::Paired, rows)),
        [
            "B is slower, most of all at b: RTT p50 of B is 1.4 [1.39 .. 1.41] times that of A",
            "B is faster at c: RTT p50 of B is 0.5 [0.49 .. 0.51] times that of A",
            "B against A, 5 figures: 3 slower, 1 faster, 1 same within 2 %",
        ]
    );
}

#[test]
fn what_disturbed_the_sides_is_named_with_what_helps() {
    let figure = "inconclusive: RTT p50 of B is 2 [1.99 .. 2.01] times that of A, but";
    let turn = "measure both in turn with `wirespeed ab`";
    for (said, why) in [
        (
            &["A: steal", "A: run_queue_wait"][..],
            "A was disturbed while it was measured (steal, run queue wait)",
        ),
        (&["B: noise"], "B was disturbed while it was measured (noise)"),
        (
            &["A: noise", "B: noise"],
            "A and B were disturbed while they were measured (noise)",
        ),
        (
            &["A: noise", "B: steal"],
            "A and B were disturbed while they were measured (A: noise; B: steal)",
        ),
    ] {
        let one = of(Method::Unpaired, vec![withheld(said)]);
        assert_eq!(answer(&one), [format!("{figure} {why}: {turn}")]);
        // By itself, for a workflow is shown no answer.
        assert_eq!(one.remedy(), format!("{turn}, or pass --allow-inconclusive"));
    }
    let rows = vec![withheld(&["A: noise"]), row("y", 1.0, Verdict::Same)];
    let mut two = of(Method::Unpaired, rows);
    two.a = imported("iperf3");
    let alone = "measure both again while nothing else runs";
    let why = "A was disturbed while it was measured (noise)";
    assert_eq!(answer(&two)[1], format!("1 figure differs, but {why}: {alone}"));
    two.rows.push(withheld(&["A: noise"]));
    assert_eq!(answer(&two)[1], format!("2 figures differ, but {why}: {alone}"));
    two.rows.push(withheld(&["B: steal"]));
    let other = "B was disturbed while it was measured (steal)";
    assert_eq!(
        answer(&two)[1],
        format!("3 figures differ, but {why} and {other}: {alone}"),
        "each reason"
    );
}

#[test]
fn what_helps_depends_on_who_measured() {
    let mut one = of(Method::Unpaired, vec![open(20)]);
    let said = |one: &Comparison| answer(one)[0].split("should tell: ").nth(1).unwrap().to_owned();
    one.a = imported("iperf3");
    assert_eq!(
        said(&one),
        "put the outputs of 30 runs of iperf3 into one file, and run wirespeed with --repeats 30"
    );
    one.b = imported("iperf3");
    assert_eq!(said(&one), "put the outputs of 30 runs of iperf3 into one file");
    one.b = imported("sockperf");
    assert_eq!(
        said(&one),
        "put the outputs of 30 runs of iperf3 and sockperf into one file"
    );
}

#[test]
fn the_remedy_of_an_open_verdict_can_be_followed() {
    let remedy = |rows| of(Method::Paired, rows).remedy();
    let runs = "measure with --pairs 200, or pass --allow-inconclusive";
    let margin = "tolerate more with --within, or pass --allow-inconclusive";
    assert_eq!(remedy(vec![open(190)]), runs);
    assert_eq!(remedy(vec![open(191)]), margin);
    assert_eq!(remedy(vec![open(1), open(191)]), margin);
    assert_eq!(remedy(vec![row("x", 1.02, Verdict::Inconclusive)]), margin);
    // A row without an interval gets a verdict by runs alone, whatever the others lack.
    let short = Row {
        lower: None,
        ..open(4)
    };
    let few = "measure with --pairs 14, or pass --allow-inconclusive";
    assert_eq!(remedy(vec![short, open(191)]), few);
    // Of a row with a verdict nothing is asked.
    let told = Row {
        more_runs: Some(5),
        ..row("x", 0.5, Verdict::Faster)
    };
    assert_eq!(remedy(vec![told]), margin);
}

#[test]
fn changes_of_a_mesh_are_named() {
    let judged = |name: &str, a: Option<&str>, b: Option<&str>| Difference {
        name: name.into(),
        a: a.map(str::to_owned),
        b: b.map(str::to_owned),
    };
    let change = MeshChange {
        judged: vec![
            judged("n1", Some("1.4"), None),
            judged("n2", None, Some("1.5")),
            judged("n3", Some("1.6"), Some("1.7")),
        ],
        unlisted_links: 12,
    };
    let mut rows: Vec<Row> = ["n2", "n4", "n5", "n6"]
        .map(|name| row(name, 1.5, Verdict::Slower))
        .into();
    rows.push(row("n1", 0.8, Verdict::Faster));
    let mut mesh = of(Method::Unpaired, rows);
    mesh.mesh = Some(change);
    assert_eq!(
        answer(&mesh),
        [
            "B against A, 5 figures: 4 slower, 1 faster",
            "Slower in B: n2 (1.5 [1.49 .. 1.51] of A), n4 (1.5 [1.49 .. 1.51] of A), n5 (1.5 [1.49 .. 1.51] of A) and 1 more.",
            "Faster in B: n1 (0.8 [0.79 .. 0.81] of A).",
            "Judged slow in A alone, of the median: n1 (1.4).",
            "Judged slow in B alone, of the median: n2 (1.5).",
            "Judged slow in both, of the median: n3 (1.6, 1.7).",
            "12 links without a difference that can be told have no row.",
        ]
    );
    mesh.mesh.as_mut().unwrap().unlisted_links = 0;
    assert_eq!(answer(&mesh).len(), 6);
}

#[test]
fn a_ratio_is_explained_where_its_row_contradicts_it() {
    let with = |ratio: f64, b: f64| Row {
        b: finite(b),
        ..row("x", ratio, Verdict::Same)
    };
    let said = |method, row: Row| of_ratios(method, "B/A", [&row]);
    for (ratio, b) in [(1.0, 104.9), (1.0, 95.3), (1.5, 150.0), (1.5, 0.0)] {
        assert_eq!(said(Method::Paired, with(ratio, b)), None, "{ratio} {b}");
    }
    for b in [105.1, 95.2] {
        assert_eq!(
            said(Method::Paired, with(1.0, b)).unwrap(),
            "B/A: the middle of the ratio within each pair of runs, which is not the quotient of the two medians"
        );
    }
    let unpaired = said(Method::Unpaired, with(1.0, 150.0)).unwrap();
    assert!(unpaired.contains("every run of one side over every run of the other"));
}
