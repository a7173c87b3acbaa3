//! Expansion from words to cases: what is filled in, and what is refused.

use super::*;
use crate::case::{Case, GroupKind, RankSpec, Role, Stop, TransportOptions};
use crate::kinds::{KINDS, Kind};
use crate::test::{Capability, Layout, Test};
use proptest::prelude::*;

/// Four CPUs; `shm` takes everything up to 1 MiB, `small` up to 32 KiB and no zcopy, `tagged` has tags first.
struct Machine;

impl Surroundings for Machine {
    fn transports(&self) -> Vec<String> {
        ["null", "shm", "small", "tagged"].map(str::to_owned).to_vec()
    }

    fn default_group(&self, transport: &str, _: &TransportOptions) -> (GroupKind, usize) {
        match transport {
            "null" => (GroupKind::Threads, 1),
            _ => (GroupKind::Processes, 2),
        }
    }

    fn has_capability(&self, transport: &str, capability: Capability) -> bool {
        match capability {
            Capability::Bulk => false,
            Capability::Tagged => transport != "null",
            Capability::Messages | Capability::OneSided => true,
        }
    }

    fn has_tags_first(&self, transport: &str) -> bool {
        transport == "tagged"
    }

    fn is_this_machine(&self, host: &str) -> bool {
        host == "here"
    }

    fn cpus_allowed(&self) -> Vec<u32> {
        vec![0, 1, 2, 3]
    }

    fn default_cpus(&self, ranks: usize) -> Vec<Option<u32>> {
        (0..ranks as u32).map(|r| (r < 4).then_some(r)).collect()
    }

    fn cache_bytes(&self, _: GroupKind, ranks: usize) -> u64 {
        (64 << 20) / ranks as u64
    }

    fn can_run(&self, case: &Case) -> bool {
        let small = case.transport == "small";
        let fits = case.test.size_bytes() <= if small { 32 << 10 } else { 1 << 20 };
        fits && !(small && case.test.layout() == Some(Layout::Zcopy))
    }
}

fn plan(words: &[(&str, &str)]) -> Result<Plan, PlanError> {
    let mut template = Template::default();
    for (key, text) in words {
        template.axes.insert((*key).to_owned(), split_axis(key, text)?);
    }
    Ok(Plan {
        repeats: 1,
        until: None,
        templates: vec![template],
    })
}

pub(super) fn cases(words: &[(&str, &str)]) -> Result<Vec<PlannedCase>, PlanError> {
    expand(&plan(words)?, &Machine)
}

pub(super) fn one(words: &[(&str, &str)]) -> Case {
    let cases = cases(words).unwrap();
    assert_eq!(cases.len(), 1);
    cases[0].case.clone()
}

#[test]
fn a_whole_of_a_service_is_a_case_of_one_rank() {
    let words = [
        ("test", "bulk_get"),
        ("via", "shm"),
        ("total", "20M"),
        ("size", "1M"),
    ];
    let at = |to: &'static str| [&words[..], &[("to", to)]].concat();
    let case = one(&at("https://far:1/file"));
    assert_eq!(case.stop, Stop::Iterations { count: 20 });
    assert_eq!((case.warmup_iterations, case.warmup_ns_max), (0, 0));
    let roles: Vec<Role> = case.ranks.iter().map(|rank| rank.role).collect();
    assert_eq!((roles, case.ranks[0].cpu), (vec![Role::Sink], None), "on any CPU");
    assert_eq!(case.options["encrypted"], "yes");
    assert!(one(&at("http://far:1/file")).options.is_empty());
    let swept = cases(
        &[
            at("http://far:1/file"),
            vec![("connections", "1,4"), ("outstanding", "1..4:x2")],
        ]
        .concat(),
    );
    assert_eq!(swept.unwrap().len(), 6);
    let refused = |words: &[(&str, &str)]| cases(words).unwrap_err().to_string();
    assert!(refused(&words).contains("no service is named"));
    for to in ["far", "far:7", "ftp://far/file"] {
        assert!(refused(&at(to)).contains("not the address of a service"), "{to}");
    }
    for strange in [
        "iters", "duration", "warmup", "procs", "threads", "check", "raw", "roles", "window",
    ] {
        let given = [at("http://far:1/file"), vec![(strange, "1")]].concat();
        let why = refused(&given);
        assert!(why.contains("takes no") || why.contains("contradict"), "{why}");
    }
    let without_total: Vec<_> = at("http://far:1/file")
        .into_iter()
        .filter(|(key, _)| *key != "total")
        .collect();
    assert!(refused(&without_total).contains("needs --total"));
}

#[test]
fn friendly_names_bring_their_defaults() {
    let latency = one(&[("test", "latency"), ("via", "shm")]);
    assert_eq!(latency.test.name(), "am_lat");
    assert_eq!(
        (latency.test.size_bytes(), latency.test.layout()),
        (8, Some(Layout::Short))
    );
    assert_eq!(latency.group, GroupKind::Processes);
    assert_eq!(
        latency.stop,
        Stop::Duration {
            duration_ns: 1_000_000_000
        }
    );
    assert_eq!(
        (latency.warmup_iterations, latency.warmup_ns_max),
        (10_000, 100_000_000)
    );
    let rate = one(&[("test", "rate"), ("via", "shm")]);
    assert_eq!((rate.test.size_bytes(), rate.test.window()), (8, 1024));
    let bandwidth = one(&[("test", "bandwidth"), ("via", "shm")]);
    assert_eq!(
        (bandwidth.test.size_bytes(), bandwidth.test.window()),
        (128 << 10, 64)
    );
    assert_eq!(bandwidth.test.layout(), Some(Layout::Zcopy));
}

#[test]
fn friendly_names_mean_tagged_tests_where_tags_come_first() {
    let over = |words: &[(&str, &str)]| one(&[words, &[("via", "tagged")]].concat()).test;
    assert_eq!(over(&[("test", "latency")]).name(), "tag_lat");
    for name in ["rate", "bandwidth"] {
        let (here, there) = (
            one(&[("test", name), ("via", "shm")]).test,
            over(&[("test", name)]),
        );
        assert_eq!(there.name(), "tag_bw");
        assert_eq!(there.size_bytes(), here.size_bytes());
    }
    // A window of posted messages is the test's own.
    assert_eq!(over(&[("test", "rate")]).window(), 128);
    // A test that is named is that test, and so is one whose parameters tagged messages lack.
    assert_eq!(over(&[("test", "am_lat")]).name(), "am_lat");
    assert_eq!(over(&[("test", "latency"), ("layout", "bcopy")]).name(), "am_lat");
    assert_eq!(over(&[("test", "rate"), ("pace", "1000")]).name(), "am_bw");
}

#[test]
fn open_sizes_and_layouts_fit_the_transport() {
    let case = one(&[("test", "bandwidth"), ("via", "small")]);
    assert_eq!(
        (case.test.size_bytes(), case.test.layout()),
        (32 << 10, Some(Layout::Bcopy))
    );
    // What the user named stays, even where it cannot run.
    let case = one(&[
        ("test", "bandwidth"),
        ("via", "small"),
        ("layout", "zcopy"),
        ("size", "1M"),
    ]);
    assert_eq!(
        (case.test.size_bytes(), case.test.layout()),
        (1 << 20, Some(Layout::Zcopy))
    );
}

#[test]
fn the_first_key_varies_slowest() {
    let labels: Vec<_> = cases(&[
        ("via", "shm,small"),
        ("test", "am_bw"),
        ("size", "8,16"),
        ("window", "1..2:+1"),
    ])
    .unwrap()
    .iter()
    .map(|c| {
        (
            c.case.transport.clone(),
            c.case.test.size_bytes(),
            c.case.test.window(),
        )
    })
    .collect();
    let expected: Vec<_> = ["shm", "small"]
        .iter()
        .flat_map(|via| [(8, 1), (8, 2), (16, 1), (16, 2)].map(|(s, w)| ((*via).to_owned(), s, w)))
        .collect();
    assert_eq!(labels, expected);
}

#[test]
fn ranks_pair_across_the_middle() {
    let case = one(&[("test", "am_lat"), ("via", "shm"), ("threads", "4")]);
    let seen: Vec<_> = case.ranks.iter().map(|r| (r.role, r.peer, r.cpu)).collect();
    use Role::{Sink, Source};
    assert_eq!(
        seen,
        [
            (Source, Some(2), Some(0)),
            (Source, Some(3), Some(1)),
            (Sink, Some(0), Some(2)),
            (Sink, Some(1), Some(3)),
        ]
    );
    // How they wait is decided when they have met.
    assert_eq!(case.idle, None);
}

#[test]
fn named_roles_and_load() {
    let case = one(&[
        ("test", "am_bw"),
        ("via", "shm"),
        ("roles", "idle,sink,source"),
        ("load", "0:cpu=2,touch=1M log=1 0:cpu=1,touch=2M"),
        ("cpus", "none"),
    ]);
    let seen: Vec<_> = case.ranks.iter().map(|r| (r.role, r.peer)).collect();
    assert_eq!(
        seen,
        [(Role::Idle, None), (Role::Sink, Some(2)), (Role::Source, Some(1))]
    );
    assert_eq!(
        (case.ranks[0].load.cpu_threads, case.ranks[0].load.memory_bytes),
        (3, 3 << 20),
        "they add up"
    );
    assert_eq!(
        (case.ranks[1].load.cpu_threads, case.ranks[1].load.log_threads),
        (0, 1)
    );
    assert!(case.ranks.iter().all(|r| r.cpu.is_none()));
    let hub = one(&[
        ("test", "hub_lat"),
        ("via", "shm"),
        ("procs", "3"),
        ("fan_out", "true"),
    ]);
    assert_eq!(hub.ranks[0].role, Role::Hub);
    assert!(hub.ranks[1..].iter().all(|r| r.role == Role::Worker));
    let alone = one(&[("test", "am_lat"), ("via", "null")]);
    assert_eq!((alone.ranks.len(), alone.ranks[0].peer), (1, Some(0)));
}

#[test]
fn hosts_are_two_ranks() {
    let cases = cases(&[
        ("test", "am_lat"),
        ("via", "shm"),
        ("to", "far:7000,[::1]:7,fe80::1"),
    ])
    .unwrap();
    assert_eq!(cases[0].case.to.as_deref(), Some("far:7000"));
    assert!(
        cases
            .iter()
            .all(|c| c.case.group == GroupKind::Hosts && c.case.ranks.len() == 2)
    );
    assert_eq!(cases[0].case.ranks[1].cpu, None);
}

#[test]
fn nonsense_is_refused_with_cause_and_remedy() {
    let base = [("test", "am_bw"), ("via", "shm")];
    for (key, value) in [
        ("iters", "0"),
        ("iters", "-1"),
        ("iters", "8x"),
        ("size", "8..4"),
        ("size", "-1"),
        ("size", "2T"),
        ("window", "0"),
        ("duration", "0s"),
        ("duration", "10"),
        ("duration", "-1s"),
        ("layout", "long"),
        ("threads", "0"),
        ("threads", "3"),
        ("threads", "5000"),
        ("procs", "x"),
        ("cpus", "0"),
        ("cpus", "0,1,2"),
        ("cpus", "0,9"),
        ("cpus", "3-0"),
        ("roles", "source"),
        ("roles", "hub,worker"),
        ("roles", "boss"),
        ("load", "cpu"),
        ("load", "9:cpu=1"),
        ("load", "gpu=1"),
        ("load", "memory=1,touch=2"),
        ("outstanding", "2"),
        ("fan_out", "true"),
        ("pace", "0"),
        ("check", "maybe"),
        ("raw", "-1"),
        ("warmup", "lots"),
        ("interval", "5"),
        ("to", "a:0"),
        ("to", "a b"),
        ("via", "shn"),
        ("test", "am_bwx"),
        ("via", ""),
        ("to", "host:99999"),
    ] {
        let mut words: Vec<_> = base.iter().copied().filter(|(k, _)| *k != key).collect();
        words.push((key, value));
        let error = cases(&words).expect_err(&format!("{key}={value}"));
        assert!(
            !error.cause.contains('\n') && !error.remedy.is_empty(),
            "{key}={value}: {error:?}"
        );
    }
}

#[test]
fn contradictions_are_refused() {
    for words in [
        &[("test", "get"), ("via", "shm"), ("layout", "short")][..],
        &[("test", "fadd"), ("via", "shm"), ("layout", "bcopy")],
        &[("test", "fadd"), ("via", "shm"), ("size", "16")],
        &[("test", "put_bw"), ("via", "shm"), ("size", "0")],
        &[("test", "am_lat"), ("via", "shm"), ("window", "4")],
        &[
            ("test", "am_lat"),
            ("via", "shm"),
            ("iters", "4"),
            ("duration", "1s"),
        ],
        &[
            ("test", "am_lat"),
            ("via", "shm"),
            ("threads", "2"),
            ("procs", "2"),
        ],
        &[("test", "hub_lat"), ("via", "shm"), ("threads", "1")],
        &[
            ("test", "am_lat"),
            ("via", "shm"),
            ("threads", "2"),
            ("roles", "source,sink,idle"),
        ],
        &[("test", "am_lat")],
        &[("via", "shm")],
        &[],
    ] {
        assert!(cases(words).is_err(), "{words:?}");
    }
}

#[test]
fn a_product_that_explodes_is_refused_at_once() {
    let huge = [
        ("test", "am_bw"),
        ("via", "shm"),
        ("size", "1..9000:+1"),
        ("window", "1..9000:+1"),
        ("iters", "1..9000:+1"),
        ("raw", "1..9000:+1"),
        ("pace", "1..9000:+1"),
    ];
    assert!(cases(&huge).unwrap_err().cause.contains("10000"));
}

#[test]
fn a_plan_file_expands() {
    let plan = parse_plan(
        r#"
repeats = 3
[defaults]
duration = "500ms"
window = 64
procs = 2
[[case]]
test = ["latency", "am_bw"]
via = "shm"
size = [8, "64..128:x2"]
threads = 2
[[case]]
test = "am_lat"
via = "small"
iters = 1_000
option.congestion = ["cubic", "reno"]
[case.options]
"#,
    );
    // `option` and `options` are two tables that TOML keeps apart; both may be given.
    let plan = plan.unwrap();
    assert_eq!(plan.repeats, 3);
    assert_eq!(plan.templates[0].axes["size"], ["8", "64", "128"]);
    assert!(!plan.templates[0].axes.contains_key("procs"));
    let second = &plan.templates[1];
    assert!(!second.axes.contains_key("duration") && !second.axes.contains_key("window"));
    assert_eq!(second.options["congestion"], ["cubic", "reno"]);
    let only_second = Plan {
        repeats: 1,
        until: None,
        templates: vec![second.clone()],
    };
    let cases = expand(&only_second, &Machine).unwrap();
    assert_eq!(cases.len(), 2);
    assert_eq!(cases[1].case.options["congestion"], "reno");
    assert!(matches!(cases[0].case.stop, Stop::Iterations { count: 1000 }));
}

#[test]
fn a_default_that_only_some_tests_take_is_not_dropped_silently() {
    let plan =
        parse_plan("[defaults]\nwindow = 8\n[[case]]\ntest=[\"am_lat\",\"am_bw\"]\nvia=\"shm\"").unwrap();
    assert!(
        expand(&plan, &Machine)
            .unwrap_err()
            .cause
            .contains("am_lat takes no --window")
    );
}

#[test]
fn errors_in_a_plan_file_name_the_line() {
    for (text, line) in [
        ("[[case]]\ntest = \"am_lat\"\nsise = 8\n", 3),
        ("repeats = 0", 1),
        ("\nrepeat = 2", 2),
        ("[[case]]\nsize = \"8..4\"", 2),
        ("[[case]]\nsize = [8,\n \"9x..4\"]", 3),
        ("[[case]]\ntest = \"am_lta\"", 2),
        ("[[case]]\ntest = = 3", 2),
        ("[[case]]\nsize = []", 2),
        ("[[case]]\nsize = { a = 1 }", 2),
        ("\ncase = 3", 2),
        ("[[case]]\noption = 3", 2),
        ("[[case]]\nfan_out = true\nfan-out = true", 2),
    ] {
        let error = parse_plan(text).expect_err(text);
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert!(!error.remedy.is_empty());
    }
}

#[test]
fn every_case_of_a_plan_is_valid_json_that_reads_back() {
    for planned in cases(&[
        ("test", "latency,fadd,hub_lat,tag_bw"),
        ("via", "shm"),
        ("warmup", "0,1k,1s"),
    ])
    .unwrap()
    {
        let text = serde_json::to_string(&planned.case).unwrap();
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), planned.case);
        assert!(!matches!(planned.case.test, Test::GetBw(_)));
    }
}

fn key_of(number: usize) -> &'static str {
    parameters().nth(number).unwrap().key
}

proptest! {
    #[test]
    fn no_words_panic(key in 0..parameters().count(), value in ".{0,24}", test in 0..KINDS.len()) {
        let words = [("via", "shm"), ("test", KINDS[test].name), (key_of(key), value.as_str())];
        let _ = cases(&words);
    }

    #[test]
    fn plausible_words_do_not_panic(key in 0..parameters().count(), value in "[0-9a-z:,.=;+x-]{0,16}") {
        let _ = cases(&[("via", "shm"), ("test", "am_bw"), (key_of(key), value.as_str())]);
    }

    #[test]
    fn no_file_panics(text in ".{0,80}") {
        let _ = parse_plan(&text);
        let _ = parse_plan(&format!("[[case]]\n{text}"));
    }
}

#[test]
fn cpus_are_pinned_one_a_rank() {
    let pinned = |text: &str, count: usize| {
        let mut ranks = vec![RankSpec::new(Role::Source); count];
        let result = super::cpus::pin(text, &mut ranks, (count, &[]));
        result
            .map(|()| ranks.iter().map(|rank| rank.cpu).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    assert_eq!(pinned("1-3", 3).unwrap(), [Some(1), Some(2), Some(3)]);
    assert_eq!(pinned("5, none", 2).unwrap(), [Some(5), None]);
    assert_eq!(pinned("none", 2).unwrap(), [None, None]);
    assert_eq!(pinned("7-7", 1).unwrap(), [Some(7)]);
    assert!(
        pinned("0-1023", 2)
            .unwrap_err()
            .contains("names 1,024 CPUs for 2 ranks")
    );
    for text in ["3-1", "0-1024", "x", "1,,2", "1-", "-1"] {
        let error = pinned(text, 2).unwrap_err();
        assert!(error.contains("is not a list of CPUs"), "{text}: {error}");
    }
    // Only of this machine is it known which ones there are.
    let within = |local: usize| {
        let mut ranks = vec![RankSpec::new(Role::Source); 2];
        super::cpus::pin("3,9", &mut ranks, (local, &[3, 4]))
    };
    assert_eq!((within(0), within(1)), (Ok(()), Ok(())));
    let error = within(2).unwrap_err();
    assert_eq!(error.cause, "--cpus: CPU 9 is not one that this process may use");
    assert_eq!(error.remedy, "choose from: 3,4");
}

#[test]
fn tests_have_names_and_summaries_of_their_own() {
    let mut names = std::collections::BTreeSet::new();
    let mut summaries = std::collections::BTreeSet::new();
    for kind in &KINDS {
        assert!(
            !kind.summary.is_empty() && names.insert(kind.name),
            "{}",
            kind.name
        );
        assert!(summaries.insert(kind.summary), "{}: {}", kind.name, kind.summary);
    }
    for capability in crate::test::Capability::ALL {
        let written = serde_json::to_value(capability).unwrap();
        assert_eq!(written, capability.name(), "as in the document");
        assert!(names.insert(capability.in_words()), "{}", capability.in_words());
    }
}

#[test]
fn builders_keep_what_they_are_given() {
    let until = Until::parse("p50:2%").unwrap();
    let plan = Plan::default().with_repeats(3).with_until(until.clone());
    assert_eq!((plan.repeats, plan.until), (3, Some(until)));
}

#[test]
fn values_are_added_and_clauses_are_one_value_together() {
    let added = |key: &str, texts: &[&str]| {
        let mut template = Template::default();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        template.add(key, &texts).unwrap();
        template.add_default(key, "7").unwrap();
        template.axes.remove(key).unwrap()
    };
    assert_eq!(added("load", &["0:cpu=1", "1:cpu=2"]), ["0:cpu=1 1:cpu=2"]);
    assert_eq!(added("size", &["8..16", "64"]), ["8", "16", "64"]);
    assert_eq!(
        (added("load", &[]), added("size", &[])),
        (vec!["7".to_owned()], vec!["7".to_owned()])
    );
}

#[test]
fn a_plan_file_has_a_largest_length() {
    let most = usize::try_from(PLAN_BYTES_MAX).unwrap();
    for (over, refused) in [(0, false), (1, true), (2, true)] {
        let cause = parse_plan(&"#".repeat(most + over))
            .err()
            .map(|error| error.cause);
        assert_eq!(cause.is_some(), refused, "{over}: {cause:?}");
    }
}

#[test]
fn what_there_is_is_named_where_no_name_is_near() {
    let remedy = |known: &[&str]| PlanError::unknown("layout", "x", known).remedy;
    assert_eq!(remedy(&["short", "zcopy"]), "choose from: short, zcopy");
    assert_eq!(remedy(&[]), "there is no layout at all");
}

#[test]
fn grids_and_neighbours_tell_cases_of_msgrate_apart() {
    let variant = |pattern: &str, more: &[(&str, &str)]| {
        let words = [
            ("test", "msgrate"),
            ("via", "shm"),
            ("procs", "2"),
            ("pattern", pattern),
        ];
        one(&[&words[..], more].concat()).test.variant()
    };
    assert_eq!(variant("single", &[("cache_state", "hot")]), "single hot");
    let pair = variant("pair", &[("cache_state", "hot"), ("peers", "1")]);
    assert!(pair.starts_with("pair ") && pair.ends_with(" p=1 hot"), "{pair}");
    let peers = |pattern: &str| {
        let words = [
            ("test", "msgrate"),
            ("via", "shm"),
            ("threads", "9"),
            ("cpus", "none"),
        ];
        let grid = [("grid", "2d"), ("pattern", pattern)];
        match one(&[&words[..], &grid].concat()).test {
            Test::Msgrate(test) => test.peers,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(peers("pair"), 8, "a cell of a plane has as many");
    assert_eq!(peers("single"), 6, "there they say nothing");
}

/// Sentences, plan files and documents spell them alike.
#[test]
fn names_are_those_of_the_document() {
    use crate::case::{IdlePolicy, Place};
    use crate::job::PairPath;
    use crate::mesh::MeshMode;
    use crate::posted::{Buffers, CacheState, Grid, Pattern};
    fn written<T: serde::Serialize>(
        names: &mut Vec<(serde_json::Value, &str)>,
        values: &[T],
        name: fn(&T) -> &'static str,
    ) {
        let pairs = values
            .iter()
            .map(|value| (serde_json::to_value(value).unwrap(), name(value)));
        names.extend(pairs);
    }
    let roles = [
        Role::Source,
        Role::Sink,
        Role::Hub,
        Role::Worker,
        Role::Relay,
        Role::Neighbour,
        Role::Idle,
    ];
    let mut names = Vec::new();
    written(&mut names, &roles, |role| role.name());
    written(&mut names, &[IdlePolicy::Spin, IdlePolicy::Yield], |idle| {
        idle.name()
    });
    written(&mut names, &Place::ALL, |place| place.name());
    written(&mut names, &Layout::ALL, |layout| layout.name());
    written(&mut names, &Buffers::ALL, |buffers| buffers.name());
    written(&mut names, &CacheState::ALL, |state| state.name());
    written(&mut names, &Grid::ALL, |grid| grid.name());
    written(&mut names, &Pattern::ALL, |pattern| pattern.name());
    written(&mut names, &[MeshMode::Loaded, MeshMode::Isolated], |mode| {
        mode.name()
    });
    written(&mut names, &[PairPath::IntraNode, PairPath::InterNode], |path| {
        path.name()
    });
    for (document, name) in names {
        assert_eq!(document, name);
    }
    for place in Place::ALL {
        assert_eq!(Place::of_name(place.name()), Some(place));
    }
    assert_eq!(Place::of_name("nowhere"), None);
}

#[test]
fn a_rate_is_offered_where_one_is_given() {
    let offered = |test: &str, more: &[(&str, &str)]| {
        one(&[&[("test", test), ("via", "shm")], more].concat())
            .test
            .pace_per_s()
    };
    assert_eq!(offered("am_bw", &[("pace", "10k")]), Some(10_000.0));
    assert_eq!(offered("am_bw", &[("pace", "none")]), None);
    for test in ["am_lat", "am_bw", "get", "fadd", "tag_bw", "osu_bw"] {
        assert_eq!(offered(test, &[]), None, "{test}");
    }
}

#[test]
fn roles_of_pairs_are_as_many_sources_as_sinks() {
    for roles in [
        "idle,idle",
        "source,source,sink",
        "source,sink,sink",
        "source,sink,hub",
        "source,sink,worker",
        "source,sink,neighbour",
    ] {
        let error = cases(&[("test", "am_bw"), ("via", "shm"), ("roles", roles)]).unwrap_err();
        assert!(
            error.cause.contains("as many sinks as sources"),
            "{roles}: {error}"
        );
    }
}

#[test]
fn roles_that_are_not_as_many_as_ranks_are_refused_with_what_to_write() {
    let remedy = |roles: &str| {
        let words = [
            ("test", "am_bw"),
            ("via", "shm"),
            ("threads", "2"),
            ("roles", roles),
        ];
        cases(&words).unwrap_err().remedy
    };
    assert_eq!(remedy("source"), "name a role for each rank: --roles source,sink");
    assert!(remedy("source,sink,idle").starts_with("name one role a rank, or leave --threads"));
}

#[test]
fn transports_are_offered_for_what_they_can_do() {
    let remedy = |words: &[(&str, &str)]| cases(words).unwrap_err().remedy;
    let offered = "add --via TRANSPORT: null, shm, small, tagged";
    assert_eq!(remedy(&[("test", "am_lat")]), offered);
    let tagged = "add --via TRANSPORT: shm, small, tagged";
    assert_eq!(remedy(&[("test", "tag_lat")]), tagged);
    let service = [("test", "bulk_get"), ("to", "http://far:1/file"), ("total", "1M")];
    assert!(!remedy(&service).contains("shm"), "shm reaches no service");
}

#[test]
fn tests_say_what_a_sample_is_and_who_sends() {
    for (name, round_trip, posted, both_ways) in [
        ("am_lat", true, false, false),
        ("add_lat", true, false, false),
        ("am_bw", false, false, false),
        ("get", false, false, false),
        ("am_bibw", false, false, true),
        ("msgrate", false, true, false),
        ("osu_latency", true, true, false),
        ("osu_bibw", false, true, true),
        ("imb_uniband", false, true, false),
    ] {
        let test = one(&[("test", name), ("via", "shm"), ("procs", "2"), ("size", "8")]).test;
        let found = (test.is_round_trip(), test.is_posted(), test.is_both_ways());
        assert_eq!(found, (round_trip, posted, both_ways), "{name}");
        assert_eq!(test.largest_message_bytes(), 8, "{name}");
    }
}

#[test]
fn each_word_that_a_remedy_offers_is_taken() {
    let mut offered = 0;
    for parameter in parameters().filter(|parameter| parameter.key != "via") {
        for word in parameter.choices() {
            let taken =
                |kind: &Kind| plan(&[("test", kind.name), ("via", "shm"), (parameter.key, word)]).is_ok();
            assert!(KINDS.iter().any(taken), "{}: {word}", parameter.option());
            offered += 1;
        }
    }
    assert!(offered > 15, "{offered}");
}
