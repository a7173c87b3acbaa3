//! What a mesh says of what it does not name: that it is well only where it would have been named.

use super::made::{Made, document};
use crate::fixture::{finite, screen, whole};
use wirespeed_report::Input;
use wirespeed_report::audit::violations;
use wirespeed_report::explain::explain;
use wirespeed_report::mesh::outcome::is_open;
use wirespeed_report::mesh::{drained, good};
use wirespeed_report::render::{CsvRows, Style, csv};
use wirespeed_report::view::View;
use wirespeed_schema::mesh::*;
use wirespeed_schema::run::Run;

/// The document of `made` with another section, and its first sentences.
fn changed(made: &Made, change: impl Fn(&mut MeshSection)) -> (Run, MeshSection, Vec<String>) {
    let mut section = made.section();
    change(&mut section);
    let run = document(section.clone(), vec![made.case()]);
    assert_eq!(violations(&run), Vec::<String>::new());
    let said = View::of(&[Input {
        name: "run",
        run: &run,
    }]);
    let said = said.subjects.into_iter().next().unwrap().answer;
    (run, section, said)
}

#[test]
fn noise_that_hides_a_slow_host_is_no_evidence_of_health() {
    let noisy = |section: &mut MeshSection| {
        let probe = &mut section.probes[0];
        probe.noise_ratio = finite(0.3);
        probe.detectable_host_ratio = Some(finite(0.437));
        probe.detectable_link_ratio = None;
    };
    let (run, section, said) = changed(&Made::of(4), noisy);
    assert!(
        said[0].starts_with(
            "Cannot tell whether a host is slow: with 3 partners each and figures that vary by 30 %, only one at 0.43 of the \
             median or slower would be named in 90 % of such meshes; the median pair moves"
        ) && said[0].ends_with("Measure each pair longer (--duration or -n behind the `--`), on quieter hosts, or more hosts."),
        "{said:?}"
    );
    assert!(is_open(&section) && good(&section).is_empty() && drained(&section).is_empty());
    assert!(!said.join("\n").contains("No host"), "{said:?}");
    assert!(screen(&run, &Style::PLAIN).contains("not known"));
    let explained = explain(&run)
        .into_iter()
        .find(|sentence| sentence.rule == "mesh")
        .unwrap();
    assert!(
        explained.text.starts_with("Cannot tell whether a host is slow"),
        "{explained:?}"
    );
    // What is named is slow all the same, and the others are not well for it.
    let (_, section, said) = changed(&Made::of(4).slow(2, 0.3), noisy);
    assert!(said[0].starts_with("node2 receives at 0.30"), "{said:?}");
    assert!(
        said[1].starts_with("Cannot tell whether another host is slow: with"),
        "{said:?}"
    );
    assert_eq!(
        (drained(&section), good(&section)),
        (vec!["node2".to_owned()], Vec::new())
    );
    // A latency at 0.437 of the performance is 2.29 times as long.
    let latency = Made {
        latency: true,
        ..Made::of(4)
    };
    let (_, _, said) = changed(&latency, noisy);
    assert!(
        said[0].contains("only one at 2.29 of the median latency or slower"),
        "{said:?}"
    );
}

#[test]
fn a_host_that_its_figures_show_slow_and_no_verdict_names_is_not_well() {
    let doubtful = |section: &mut MeshSection| {
        section.probes[0].effects[3].receives_ratio = Some(finite(0.52));
    };
    let (_, _, said) = changed(&Made::of(16), doubtful);
    assert!(
        said[0].contains("at 0.52 of the median, which was not checked;"),
        "{said:?}"
    );
    let (_, section, said) = changed(&Made::of(16), |section| {
        doubtful(section);
        section.probes[0].looks_count = 2;
    });
    assert!(
        said[0].starts_with(
            "Cannot tell whether node3 is slow: at 0.52 of the median, which the checks did not confirm; the median pair moves"
        ),
        "{said:?}"
    );
    assert!(is_open(&section) && !good(&section).contains(&"node3".to_owned()));
    assert_eq!(good(&section).len(), 15);
}

#[test]
fn a_link_that_its_checks_could_not_settle_leaves_the_answer_open() {
    let unsettled = |section: &mut MeshSection| {
        let pair = &mut section.probes[0].pairs[0];
        pair.unsettled = true;
        pair.values.push(pair.values[0]);
    };
    let (_, section, said) = changed(&Made::of(16), unsettled);
    let why = "it seemed so, and its checks neither confirmed nor cleared that; the median pair moves";
    assert!(
        said[0].starts_with(&format!("Cannot tell whether node0 -> node1 is slow: {why}")),
        "{said:?}"
    );
    assert!(
        is_open(&section) && good(&section).len() == 16,
        "a link is no host"
    );
    let (_, _, said) = changed(&Made::of(16).slow(2, 0.5), unsettled);
    assert!(
        said[1].starts_with("Cannot tell whether node0 -> node1 is slow"),
        "{said:?}"
    );
}

#[test]
fn a_link_that_could_not_be_checked_is_not_said_to_have_been() {
    let first = |complete: bool| {
        let (_, _, said) = changed(&Made::of(16), |section| {
            section.probes[0].pairs[0].unsettled = true;
            section.probes[0].complete = complete;
        });
        said.into_iter().next().unwrap()
    };
    let why = "slow: it seemed so and could not be checked, since pairs that this takes do not answer;";
    assert!(first(true).contains(why), "{}", first(true));
    // Of a part, nobody knows whether it could have been.
    assert!(!first(false).contains("do not answer"), "{}", first(false));
}

#[test]
fn a_judgement_that_ended_early_or_says_nothing_of_itself_tells_nothing() {
    for (complete, why) in [
        (true, "this result does not say how slow"),
        (false, "the run ended before what seemed slow was measured again"),
    ] {
        let (_, section, said) = changed(&Made::of(16), |section| {
            section.probes[0].complete = complete;
            section.probes[0].detectable_host_ratio = None;
        });
        assert!(
            said[0].starts_with("Cannot tell whether a host is slow") && said[0].contains(why),
            "{said:?}"
        );
        assert!(is_open(&section) && good(&section).is_empty());
    }
    // Few hosts, and pairs that somebody chose, were not to be judged.
    let (_, few, _) = changed(&Made::of(3), |section| {
        section.probes[0].detectable_host_ratio = None
    });
    let (_, given, _) = changed(&Made::of(16), |section| {
        section.pairs = MeshPairs::Given;
        section.probes[0].detectable_host_ratio = None;
    });
    assert!(!is_open(&few) && !is_open(&given) && !is_open(&Made::of(16).section()));
}

#[test]
fn links_are_well_only_where_they_would_have_been_named() {
    let (_, _, said) = changed(&Made::of(6), |section| {
        section.probes[0].detectable_link_ratio = None
    });
    assert!(said[0].starts_with("No host of 6 hosts is slow:"), "{said:?}");
    assert!(said[0].ends_with("; links could not be judged."), "{said:?}");
    let (_, _, said) = changed(&Made::of(6), |section| {
        section.probes[0].detectable_link_ratio = Some(finite(0.5));
    });
    assert!(said[0].starts_with("No host of 6 hosts is slow:"), "{said:?}");
    assert!(
        said[0].contains("; of links only one at 0.50, in 90 % of such meshes."),
        "{said:?}"
    );
}

#[test]
fn a_pair_that_has_a_figure_is_no_failed_one_and_what_failed_of_it_is_told() {
    let (run, _, said) = changed(&Made::of(4), |section| {
        let probe = &mut section.probes[0];
        probe.pairs[0].failed = Some("gone since".to_owned());
        probe.pairs[0].failed_count = 2;
        probe.failed_count = 2;
    });
    let told = "2 measurements of pairs with other figures failed: gone since.";
    assert!(said.contains(&told.to_owned()), "{said:?}");
    let shown = [screen(&run, &Style::PLAIN), csv(&run, CsvRows::Cases).unwrap()];
    for text in shown {
        assert!(!text.contains("pair failed:"), "{text}");
        assert_eq!(
            text.matches("gone since").count(),
            text.matches("other figures").count()
        );
    }
}

#[test]
fn what_was_left_out_for_silence_is_told_with_the_names_of_its_pairs() {
    let (_, _, said) = changed(&Made::of(4), |section| {
        for (pair, count) in section.probes[0].pairs.iter_mut().zip([1, 0, 2]) {
            pair.left_out_count = count;
        }
    });
    let told = "3 measurements were left out, since pairs or their hosts had fallen silent: node0 -> node1, node0 -> node3.";
    assert!(said.contains(&told.to_owned()), "{said:?}");
}

#[test]
fn why_a_host_was_not_judged_is_told_as_it_is() {
    let (_, _, said) = changed(&Made::of(9), |section| {
        let probe = &mut section.probes[0];
        probe.not_judged_hosts = vec![3, 5, 7];
        let mut few = 0;
        for pair in &mut probe.pairs {
            let is_of = |host| [pair.from, pair.to].contains(&host);
            few += u32::from(is_of(5));
            if is_of(3) || is_of(5) && few > 4 {
                pair.values.clear();
                pair.survey_count = 0;
                pair.failed = is_of(3).then(|| "silent".to_owned());
            }
        }
    });
    for sentence in [
        "1 host not judged, which nobody answers: node3.",
        "1 host not judged, with too few partners: node5.",
        "1 host not judged, which seemed slow and nobody answers any more: node7.",
    ] {
        assert!(said.contains(&sentence.to_owned()), "{sentence} in {said:?}");
    }
    let (_, _, said) = changed(&Made::of(4), |section| {
        let probe = &mut section.probes[0];
        probe.not_judged_hosts = vec![0, 1, 2, 3];
        for pair in probe
            .pairs
            .iter_mut()
            .filter(|pair| pair.from == 3 || pair.to == 3)
        {
            pair.values.clear();
            pair.failed = Some("silent".to_owned());
        }
    });
    assert!(
        said[0].starts_with("No host could be judged, each has too few partners that answer; the"),
        "{said:?}"
    );
}

#[test]
fn tables_have_short_names_and_lists_those_that_were_given() {
    let (run, section, _) = changed(&Made::of(4).slow(2, 0.5), |section| {
        for (number, host) in (1..).zip(&mut section.hosts) {
            host.name = format!("10.0.0.{number}:7411");
        }
    });
    let text = screen(&run, &Style::PLAIN);
    assert!(text.contains("10.0.0.3 receives at 0.50"), "{text}");
    assert!(text.contains("leave these out (1):\n10.0.0.3:7411\n"), "{text}");
    assert_eq!(text.matches(":7411").count(), 1, "{text}");
    assert_eq!(drained(&section), ["10.0.0.3:7411"]);
}

#[test]
fn what_helps_is_said_once_and_tables_without_a_place_are_counted() {
    let made = Made::of(4);
    let noisy = |section: &mut MeshSection| {
        let probe = &mut section.probes[0];
        probe.noise_ratio = finite(0.3);
        probe.detectable_host_ratio = Some(finite(0.437));
        let again = (1..3).map(|case| MeshProbe {
            case,
            ..probe.clone()
        });
        let again: Vec<MeshProbe> = again.collect();
        section.probes.extend(again);
    };
    let mut section = made.section();
    noisy(&mut section);
    let run = document(section, vec![made.case(), made.case(), made.case()]);
    let shown = screen(&run, &Style::PLAIN);
    let once = |text: &str| assert_eq!(shown.matches(text).count(), 1, "{text}\n{shown}");
    assert_eq!(shown.matches("cannot tell whether").count(), 3, "{shown}");
    once("Measure each pair longer");
    // The hosts of the third probe, and the pairs of all.
    once("4 more tables: `wirespeed report`");
    assert!(
        !whole(
            &[Input {
                name: "run",
                run: &run
            }],
            &Style::PLAIN
        )
        .contains("more table")
    );
}

#[test]
fn hosts_with_too_few_partners_are_told_what_helps_once() {
    let made = Made::of(3);
    let mut section = made.section();
    section.probes[0].not_judged_hosts = vec![0, 1, 2];
    let again = MeshProbe {
        case: 1,
        ..section.probes[0].clone()
    };
    section.probes.push(again);
    let shown = screen(&document(section, vec![made.case(), made.case()]), &Style::PLAIN);
    assert_eq!(shown.matches("no host could be judged").count(), 2, "{shown}");
    assert_eq!(shown.matches("A host needs three").count(), 1, "{shown}");
}
