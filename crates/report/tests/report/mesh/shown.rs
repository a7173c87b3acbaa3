//! What a mesh says, and in which form: sentences, tables, the map, lists, CSV.

use super::made::{Made, document};
use crate::fixture::{finite, page, screen, whole};
use wirespeed_report::Input;
use wirespeed_report::audit::violations;
use wirespeed_report::explain::explain;
use wirespeed_report::mesh::{drained, good};
use wirespeed_report::render::{CsvRows, Style, csv, markdown};
use wirespeed_report::view::{Part, View};
use wirespeed_schema::mesh::*;
use wirespeed_schema::run::Run;

fn said(run: &Run) -> Vec<String> {
    View::of(&[Input { name: "run", run }]).subjects.remove(0).answer
}

fn at(width: usize) -> Style {
    Style {
        width,
        ..Style::PLAIN
    }
}

/// Two probes, a slow unit, a slow link, a host that cannot be told, a lost one, failed pairs, a budget, interrupted.
fn everything() -> Run {
    let (rates, trips) = (
        Made {
            unit: 4,
            ..Made::of(16).slow(7, 0.61)
        },
        Made {
            latency: true,
            ..Made::of(16).slow(3, 0.5)
        },
    );
    let mut section = rates.section();
    let mut other = trips.section().probes.remove(0);
    other.case = 1;
    other.complete = false;
    section.probes.push(other);
    let verdict = |culprit| MeshVerdict {
        culprit,
        ..rates.verdict(7, 0.7)
    };
    let (unit, link, undecided) = (
        MeshCulprit::Unit {
            unit: 2,
            side: MeshSide::Both,
        },
        MeshCulprit::Link {
            from: 1,
            to: 2,
            both: true,
        },
        MeshCulprit::Undecided {
            host: 5,
            side: MeshSide::Sends,
        },
    );
    section.probes[0]
        .verdicts
        .extend([link, undecided, unit].map(verdict));
    section.probes[0].unmeasured_count = 12;
    section.probes[0].not_judged_hosts = vec![14, 15];
    let of_14 = section.probes[0].pairs.iter_mut();
    for pair in of_14.filter(|pair| [pair.from, pair.to].contains(&14)).skip(2) {
        pair.survey_count = 0;
    }
    section.pairs = MeshPairs::Matchings;
    section.hosts[15].lost = Some("killed".to_owned());
    for pair in section.probes[0].pairs.iter_mut().take(12) {
        pair.values.clear();
        pair.failed = Some("connection refused".to_owned());
    }
    document(section, vec![rates.case(), trips.case()])
}

#[test]
fn the_answer_says_which_host_by_how_much_and_with_whom() {
    let run = Made::of(16).slow(7, 0.61).run();
    let said = said(&run);
    assert_eq!(
        said[0],
        "node7 receives at 0.61 [0.58 .. 0.64] of the median with all 15 senders: the host, not a link."
    );
    assert!(
        said[1].contains("240 ordered pairs of 16 hosts") && said[1].contains("at most 1 %"),
        "{said:?}"
    );
    // A latency at 0.61 of the performance takes 1.64 times as long.
    let slow = Made {
        latency: true,
        ..Made::of(16).slow(7, 0.61)
    };
    let text = &self::said(&slow.run())[0];
    assert!(
        text.contains("node7 receives at 1.64 [1.56 .. 1.73] of the median latency"),
        "{text}"
    );
}

#[test]
fn every_kind_of_culprit_has_its_sentence_and_the_rest_is_counted() {
    let run = everything();
    let said = said(&run);
    let label = "tcp am_bw 64 KiB window 64";
    assert!(
        said[0].starts_with(&format!("{label}: rack2 sends and receives at 0.70")),
        "{said:?}"
    );
    assert!(
        said[0].ends_with("of its 15 hosts: the unit, not one host."),
        "{said:?}"
    );
    assert!(said[1].contains("node7 receives at 0.61"), "{said:?}");
    assert_eq!(
        said[2],
        format!("{label}: 1 undecided host and 1 link more are slow, see the table of suspects.")
    );
    let text = screen(&run, &at(200));
    for row in ["node1 <-> node2", "node5 sends", "host or links", "12.0 µs"]
        .iter()
        .take(3)
    {
        assert!(text.contains(row), "{row} in {text}");
    }
    let explained: Vec<String> = explain(&run).into_iter().map(|sentence| sentence.text).collect();
    let link =
        "node1 <-> node2 at 0.70 [0.66 .. 0.73] of what its hosts reach with others: the link, not a host.";
    assert!(explained.iter().any(|text| text.ends_with(link)), "{explained:?}");
}

#[test]
fn what_is_not_known_is_said() {
    let said = said(&everything()).join("\n");
    for sentence in [
        "The run ended early: the judgement of tcp am_lat 8 B is of the part that was measured.",
        "12 of 240 ordered pairs have no figure (some matchings of them were to be measured): slow links among them stay unseen.",
        "12 pairs failed: connection refused (12).",
        "1 host lost: node15 (killed).",
        "1 host not judged, with too few partners: node14.",
    ] {
        assert!(said.contains(sentence), "{sentence} in {said}");
    }
    let nothing_slow = self::said(&Made::of(16).run());
    assert!(
        nothing_slow[0].starts_with("No host or link of 16 hosts is slow: the median pair moves 1.2")
            && nothing_slow[0].ends_with(
                "; a host at 0.91 of the median or slower would have been named, a link at 0.86, in 90 % of such meshes."
            ),
        "{nothing_slow:?}"
    );
    let budget = Made {
        every: 3,
        ..Made::of(16)
    };
    let text = self::said(&budget.run()).join("\n");
    assert!(
        text.starts_with("No host and no measured link of 16 hosts is slow"),
        "{text}"
    );
    assert!(
        text.contains("of 240 ordered pairs have no figure: slow links"),
        "{text}"
    );
}

#[test]
fn a_mesh_without_figures_says_why() {
    let empty = |hosts| Made {
        cycles: 0,
        ..Made::of(hosts)
    };
    let first = |made: &Made, change: &dyn Fn(&mut MeshSection)| {
        let mut section = made.section();
        change(&mut section);
        let run = document(section, vec![made.case()]);
        assert_eq!(violations(&run), Vec::<String>::new());
        said(&run).remove(0)
    };
    let refused = |section: &mut MeshSection| {
        for pair in &mut section.probes[0].pairs {
            pair.failed = Some("connection refused".to_owned());
        }
    };
    let lost = |section: &mut MeshSection| {
        section
            .hosts
            .iter_mut()
            .for_each(|host| host.lost = Some("no answer".to_owned()));
    };
    assert_eq!(
        first(&empty(0), &|_| {}),
        "Nothing was measured: the mesh has no host."
    );
    assert_eq!(
        first(&empty(1), &|_| {}),
        "Nothing was measured: the mesh has one host, node0, and a pair needs two."
    );
    assert_eq!(
        first(&empty(4), &refused),
        "Nothing was measured: all 12 pairs failed: connection refused (12)."
    );
    assert_eq!(
        first(&empty(4), &lost),
        "Nothing was measured: all 4 hosts were lost: no answer (4)."
    );
    assert_eq!(
        first(&empty(4), &|_| {}),
        "Nothing was measured: the run ended before any pair of 4 hosts was."
    );
}

#[test]
fn nothing_that_cannot_be_is_said_of_any_mesh() {
    let units = Made {
        unit: 8,
        ..Made::of(96).slow(7, 0.5)
    };
    let latency = Made {
        latency: true,
        ..Made::of(20).slow(3, 0.25)
    };
    for run in [
        Made::of(2).run(),
        Made::of(16).run(),
        units.run(),
        latency.run(),
        everything(),
    ] {
        assert_eq!(violations(&run), Vec::<String>::new());
    }
}

#[test]
fn lists_name_the_hosts_to_use_and_to_leave_out_and_leave_out_what_is_not_known() {
    let section = everything().sections.get::<MeshSection>().unwrap();
    let names = |numbers: &[u32]| {
        numbers
            .iter()
            .map(|host| format!("node{host}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(drained(&section), names(&[3, 7, 8, 9, 10, 11, 15]));
    // Not among them: 5, whose links may be slow instead, and 14, which was not judged. A slow link drains nobody.
    assert_eq!(good(&section), names(&[0, 1, 2, 4, 6, 12, 13]));
    let run = everything();
    let text = whole(
        &[Input {
            name: "run",
            run: &run,
        }],
        &at(80),
    );
    assert!(
        text.contains("\nnode12\nnode13\n"),
        "each name is a line of its own"
    );
    let shown = screen(&run, &at(80));
    assert!(
        shown.contains("Slow or lost hosts, leave these out (7):\nnode3\nnode7\n"),
        "{shown}"
    );
}

/// The rows of the map in letters: a name and a letter a column.
fn rows(text: &str) -> Vec<String> {
    let is_map = |line: &&str| {
        let word = line.trim_start().split("  ").nth(1).unwrap_or_default();
        word.len() > 9 && word.chars().all(|c| ('a'..='j').contains(&c) || c == ' ')
    };
    text.lines().filter(is_map).map(str::to_owned).collect()
}

#[test]
fn the_map_fits_every_terminal_and_shows_the_slow_column_without_colour() {
    for hosts in [16u32, 64] {
        let run = Made::of(hosts).slow(7, 0.5).run();
        let found = rows(&screen(&run, &at(80)));
        assert_eq!(found.len(), hosts as usize);
        let column: Vec<char> = found
            .iter()
            .filter_map(|row| row.split("  ").nth(1)?.chars().next())
            .collect();
        // The slowest host is the first column: everybody sends slowly to it.
        assert_eq!(
            column.iter().filter(|letter| **letter == 'a').count(),
            hosts as usize - 1,
            "{found:#?}"
        );
    }
    let run = Made::of(64).slow(7, 0.5).run();
    let narrow = screen(
        &run,
        &Style {
            unicode: false,
            ..at(40)
        },
    );
    assert!(narrow.is_ascii() && !narrow.contains('\x1b'));
    let found = rows(&narrow);
    assert!(
        !found.is_empty() && found.len() <= 32 && found[0].contains("node7 +"),
        "{found:#?}"
    );
    assert!(narrow.contains("in each block"), "{narrow}");
    // Values stand in the cells where there is room for them.
    assert!(screen(&Made::of(8).slow(7, 0.5).run(), &at(200)).contains("node7  "));
    assert!(rows(&screen(&Made::of(8).slow(7, 0.5).run(), &at(200))).is_empty());
}

#[test]
fn more_hosts_than_can_be_read_are_folded_by_units_or_in_blocks() {
    let units = Made {
        unit: 8,
        ..Made::of(96)
    };
    let text = screen(&units.run(), &at(200));
    assert!(
        text.contains("rack11  ") && !text.contains("node12  gg"),
        "{text}"
    );
    let blocks = screen(&Made::of(96).run(), &at(200));
    assert!(blocks.contains(" +1  "), "{blocks}");
}

#[test]
fn csv_has_a_row_a_pair_that_stands_alone() {
    let run = everything();
    let text = csv(&run, CsvRows::Cases).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 480);
    let field = |row: usize, name: &str| {
        let at = header.iter().position(|column| column == name).unwrap();
        rows[row][at].to_owned()
    };
    assert_eq!(
        [field(0, "from"), field(0, "to"), field(0, "failed")],
        ["node0", "node1", "connection refused"]
    );
    assert_eq!([field(0, "median"), field(0, "values_count")], ["", "0"]);
    let slow = (0..rows.len())
        .find(|row| [field(*row, "from"), field(*row, "to")] == ["node3", "node7"])
        .unwrap();
    let median: f64 = field(slow, "median").parse().unwrap();
    assert!((0.6e9..0.9e9).contains(&median), "{median}");
    let values: Vec<f64> = field(slow, "values")
        .split(';')
        .map(|value| value.parse().unwrap())
        .collect();
    assert!(values.len() == 3 && values.contains(&median));
    assert_eq!(
        field(slow, "parameters"),
        "size_bytes=65536;layout=bcopy;window_msgs=64"
    );
    assert_eq!([field(479, "tag"), field(479, "test")], ["rtt_p50_ns", "am_lat"]);
}

#[test]
fn csv_says_what_failed_beside_figures_and_has_all_ratios_of_performances() {
    let made = Made {
        latency: true,
        ..Made::of(16).slow(7, 0.5)
    };
    let mut section = made.section();
    let pair = &mut section.probes[0].pairs[0];
    (pair.failed_count, pair.left_out_count, pair.unsettled) = (2, 3, true);
    pair.wrong_data = Some("byte 3 is 0".to_owned());
    let text = csv(&document(section, vec![made.case()]), CsvRows::Cases).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let fields = |row: &::csv::StringRecord, names: [&str; 3]| {
        names.map(|name| row[header.iter().position(|column| column == name).unwrap()].to_owned())
    };
    let beside = ["failed_count", "wrong_data", "unsettled"];
    assert_eq!(fields(&rows[0], beside), ["2", "byte 3 is 0", "true"]);
    assert_eq!(fields(&rows[1], beside), ["0", "", "false"]);
    let left_out = ["from", "to", "left_out_count"];
    assert_eq!(fields(&rows[0], left_out), ["node0", "node1", "3"]);
    // A latency of twice the median is half the performance, of the pair as of its host.
    for row in &rows {
        let [to, of_pair, of_host] = fields(row, ["to", "of_median_ratio", "to_receives_ratio"]);
        let usual = if to == "node7" { 0.5 } else { 1.0 };
        for ratio in [of_pair, of_host] {
            let ratio: f64 = ratio.parse().unwrap();
            assert!((0.85..1.15).contains(&(ratio / usual)), "{to} at {ratio}");
        }
    }
}

/// A host is slow in bandwidth, which says that no other is; latency is too noisy to say anything.
#[test]
fn each_probe_says_where_hosts_stand_in_it_and_lists_say_the_worst() {
    let (rates, trips) = (
        Made::of(48).slow(3, 0.5),
        Made {
            latency: true,
            ..Made::of(48)
        },
    );
    let mut section = rates.section();
    let noisy = MeshProbe {
        case: 1,
        detectable_host_ratio: Some(finite(0.4)),
        ..trips.section().probes.remove(0)
    };
    section.probes.push(noisy);
    assert_eq!(
        (drained(&section), good(&section)),
        (vec!["node3".to_owned()], Vec::new())
    );
    let run = document(section, vec![rates.case(), trips.case()]);
    let inputs = [Input {
        name: "run",
        run: &run,
    }];
    let parts = View::of(&inputs)
        .subjects
        .into_iter()
        .flat_map(|subject| subject.parts);
    let words: Vec<Vec<String>> = parts
        .filter_map(|part| match part {
            Part::Table(table) if table.title.starts_with("Hosts, the slowest first") => Some(table),
            _ => None,
        })
        .map(|table| {
            table
                .rows
                .iter()
                .filter_map(|row| row.cells.last().cloned())
                .collect()
        })
        .collect();
    let [of_rates, of_trips] = words.as_slice() else {
        panic!("{words:?}");
    };
    assert_eq!(
        (of_rates[0].as_str(), of_rates[1..].concat().as_str()),
        ("slow", "")
    );
    assert!(of_trips.iter().all(|word| word == "not known"), "{of_trips:?}");
    // A page holds a row a host of so many.
    let page = page(&inputs, "test");
    let rows = page.split("Every host as CSV").last().unwrap();
    let rows = rows.split("</pre>").next().unwrap().lines();
    let rows: Vec<&str> = rows.filter(|row| row.contains(",node")).collect();
    let count = |tag: &str, host: &str, standing: &str| {
        let is = |row: &&&str| row.contains(tag) && row.contains(host) && row.trim_end().ends_with(standing);
        rows.iter().filter(is).count()
    };
    assert_eq!(count("bandwidth_bytes_per_s", ",node3,", ",slow"), 1, "{rows:#?}");
    assert_eq!(count("bandwidth_bytes_per_s", ",node", ",good"), 47);
    assert_eq!(count("rtt_p50_ns", ",node", ",not known"), 48);
}

#[test]
fn names_from_outside_stay_text_in_every_form() {
    let evil = "</pre><script>alert(1)</script>\u{1b}[2J\u{202e}=1";
    let made = Made {
        unit: 4,
        ..Made::of(16).slow(7, 0.61)
    };
    let mut section = made.section();
    for host in &mut section.hosts {
        host.name = format!("{evil}{}", host.name);
    }
    section.units.iter_mut().for_each(|name| name.insert_str(0, evil));
    section.hosts[2].lost = Some(evil.to_owned());
    section.probes[0].pairs[3].failed = Some(evil.to_owned());
    let run = document(section, vec![made.case()]);
    let inputs = [Input {
        name: evil,
        run: &run,
    }];
    let html = page(&inputs, "test");
    assert_eq!(html.matches("<script").count(), 1);
    let forms = [
        html,
        screen(&run, &at(40)),
        whole(&inputs, &at(200)),
        markdown(&View::of(&inputs)),
        csv(&run, CsvRows::Cases).unwrap(),
    ];
    for form in forms {
        assert!(!form.contains(['\u{1b}', '\u{202e}']), "{form}");
    }
    assert!(!markdown(&View::of(&inputs)).contains("\n<"));
}

#[test]
fn numbers_beyond_the_lists_and_ratios_of_nothing_are_no_error() {
    let made = Made::of(4);
    let mut section = made.section();
    section.hosts[0].unit = Some(9);
    section.probes[0].effects.truncate(1);
    section.probes[0].effects[0].sends_ratio = Some(finite(0.0));
    section.probes[0].not_judged_hosts = vec![77];
    section.probes[0].pairs[0].from = 88;
    section.probes[0].verdicts.push(MeshVerdict {
        culprit: MeshCulprit::Host {
            host: 99,
            side: MeshSide::Sends,
        },
        ..made.verdict(0, 0.0)
    });
    let run = document(section, vec![made.case()]);
    let text = screen(&run, &at(80));
    assert!(text.contains("host99 sends at 0.00"), "{text}");
    csv(&run, CsvRows::Cases).unwrap();
    page(
        &[Input {
            name: "run",
            run: &run,
        }],
        "test",
    );
    explain(&run);
}
