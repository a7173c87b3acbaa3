//! `wirespeed msgrate` and the program called `msgrate`, between local processes: text, line, table, sweeps, and what is
//! refused.

use crate::{document, home, turn};
use std::process::Command;
use wirespeed_schema::Test;
use wirespeed_schema::posted::Pattern;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, peak_bytes};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::under_test::program;

/// The program under the original's name.
fn msgrate(home: &Home, line: &str) -> Ended {
    let link = home.path("msgrate");
    if !link.exists() {
        std::os::unix::fs::symlink(program(env!("CARGO_BIN_EXE_wirespeed-under-test")), &link).unwrap();
    }
    let mut command = Command::new(&link);
    command.args(line.split_whitespace());
    home.adopt(&mut command);
    Running::start(command).end(PATIENCE)
}

/// The names before the colons, and that every rate is a positive number with two decimals.
fn shape(text: &str) -> Vec<String> {
    let rates = ["single direction", "pair-based", "  pre-post", " all-start"];
    text.lines()
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("{line:?}"));
            if rates.contains(&name) {
                let (_, decimals) = value.rsplit_once('.').unwrap();
                assert!(
                    decimals.len() == 2 && value.trim().parse::<f64>().unwrap() > 0.0,
                    "{line}"
                );
            }
            name.to_owned()
        })
        .collect()
}

#[test]
fn the_original_name_gives_the_original_text() {
    let _turn = turn();
    let home = home();
    let ended = msgrate(&home, "-n 1 -p 2 -i 5 -c 64K --ranks 3").code(0);
    assert_eq!(
        shape(&ended.stdout),
        [
            "job size",
            "npeers",
            "niters",
            "nmsgs",
            "nbytes",
            "cache size",
            "ppn",
            "single direction",
            "pair-based",
            "  pre-post",
            " all-start"
        ]
    );
    let parameters: Vec<&str> = ended.stdout.lines().take(7).collect();
    assert_eq!(parameters[0], "job size:   3");
    assert_eq!(parameters[2], "niters:     5");
    assert_eq!(parameters[5], "cache size: 65536");
    let also = home
        .run("msgrate --format classic -n 1 -p 2 -i 5 -c 64K --ranks 3")
        .code(0);
    assert_eq!(shape(&also.stdout), shape(&ended.stdout));
}

#[test]
fn both_loops_over_sizes_give_a_line_each() {
    let _turn = turn();
    let home = home();
    for (peers, ranks) in [(8, 9), (26, 27)] {
        for size in [1, 1 << 12] {
            let line = format!("-n 1 -p {peers} -c 4096 -s {size} -o -i 2 -m 8 --ranks {ranks}");
            let ended = msgrate(&home, &line).code(0);
            let words: Vec<&str> = ended.stdout.trim_end().split(' ').collect();
            assert_eq!(words.len(), 11, "{ended}");
            let expected = format!("{ranks} {peers} 2 8 {size} 4096 1");
            assert_eq!(words[..7].join(" "), expected, "{ended}");
            assert!(
                words[7..].iter().all(|rate| rate.parse::<f64>().unwrap() > 0.0),
                "{ended}"
            );
            assert!(ended.stdout.ends_with(" \n"));
        }
        // The last sizes of the loops need more than this machine has; the figure says how much.
        let large = format!("-n 1 -p {peers} -s 16777216 -m 4096 -o -i 2 --ranks {ranks}");
        let ended = msgrate(&home, &large).code(2);
        let figure = format!("2 x {peers} peers x 4096 messages x 16 MiB");
        assert!(ended.stderr.contains(&figure), "{ended}");
    }
}

#[test]
fn every_pattern_runs_over_shm_and_tcp_with_the_data_checked() {
    let _turn = turn();
    let home = home();
    for via in ["shm", "tcp"] {
        for ranks in [2, 5] {
            let line = format!("msgrate --via {via} --ranks {ranks} -i 10 -s 8,5000 -c 64K --check --json");
            let run = document(&home.run(&line).code(0).stdout);
            assert_eq!(run.cases.len(), 8);
            for case in &run.cases {
                assert_eq!(case.status, CaseStatus::Ok, "{:?}", case.error);
                for tag in [
                    "rate_msg_per_s",
                    "rank_rate_msg_per_s",
                    "classic_rate_msg_per_s",
                    "first_operation_ns",
                ] {
                    assert!(case.metrics.contains_key(tag), "{tag} of {}", case.case.label());
                }
            }
        }
    }
}

#[test]
fn a_sweep_is_one_table_and_one_plot() {
    let _turn = turn();
    let home = home();
    let line = "msgrate --ranks 9 --grid ring,2d,3d -s 8..512:x8 --pattern pre-post -t 20ms --cache-state hot,flushed -c 64K";
    let ended = home.run(line).code(0);
    assert!(
        ended
            .stdout
            .starts_with("9 ranks over shm, pattern pre-post: at most ")
            && ended.stdout.contains("\nmessage rate against message size"),
        "{ended}"
    );
    let is_row = |line: &&str| ["ring ", "2d ", "3d "].iter().any(|grid| line.starts_with(grid));
    assert_eq!(ended.stdout.lines().filter(is_row).count(), 18, "{ended}");
    let json = home.run(&format!("{line} --json")).code(0);
    let peers: Vec<u32> = document(&json.stdout)
        .cases
        .iter()
        .filter_map(|case| match &case.case.test {
            Test::Msgrate(test) if test.pattern == Pattern::PrePost => Some(test.peers),
            _ => None,
        })
        .collect();
    assert!(peers.contains(&6) && peers.contains(&8), "{peers:?}");
}

#[test]
fn repetitions_give_an_interval_over_runs() {
    let _turn = turn();
    let home = home();
    let line = "msgrate --pattern pre-post -t 10ms -c 64K --repeats 6 --json";
    let run = document(&home.run(line).code(0).stdout);
    let rate = &run.cases[0].metrics["rate_msg_per_s"];
    assert!(rate.level.is_some_and(|level| level.get() > 0.95), "{rate:?}");
    assert!(run.cases[0].metrics.contains_key("rate_between_runs_ratio"));
}

#[test]
fn definitions_of_the_incumbents_are_tests_of_their_own() {
    let _turn = turn();
    let home = home();
    let line = "run osu_latency,osu_bw,osu_bibw,osu_mbw_mr,osu_multi_lat,imb_pingpong,imb_uniband,imb_biband --via shm \
                --size 8 --iters 500 --check --json";
    let run = document(&home.run(line).code(0).stdout);
    for case in &run.cases {
        assert_eq!(case.status, CaseStatus::Ok, "{:?}", case.error);
        let (sound, classic) = match case.case.test.is_round_trip() {
            true => ("one_way_p50_ns", "classic_latency_ns"),
            false => ("rate_msg_per_s", "classic_rate_msg_per_s"),
        };
        assert!(
            case.metrics.contains_key(sound) && case.metrics.contains_key(classic),
            "{}",
            case.case.label()
        );
    }
    let pairs = "run osu_mbw_mr,osu_multi_lat,imb_uniband --via tcp --procs 4 --size 8 --iters 10 --json";
    assert_eq!(document(&home.run(pairs).code(0).stdout).cases.len(), 3);
    let own = document(
        &home
            .run("run osu_bw --via shm --size 8,64K --json")
            .code(0)
            .stdout,
    );
    let counts: Vec<u64> = own
        .cases
        .iter()
        .map(|c| c.repetitions[0].outcomes[0].sent.messages)
        .collect();
    assert_eq!(counts, [100 * 64, 20 * 64]);
}

#[test]
fn what_makes_no_sense_is_refused_in_two_lines() {
    let _turn = turn();
    let home = home();
    for line in [
        "-n 1 -p abc",
        "-n 1 -i 0",
        "-n 1 -i -5",
        "-n 1 -p 1 -s 4G",
        "-n 1 -p 1 -c 0",
        "-n 1 -c -1",
        "-n 1 -p 2",
        "-n 1 -p 0",
        "-n 3 -p 1",
        "-n 2 -p 1",
        "-n 1 -p 1 -m 0",
        "-n 1 -p 1 -z",
        "-n 1 -p 1 more",
        "-n 1 -p 1 --ranks 0",
    ] {
        let ended = msgrate(&home, line);
        assert_eq!(ended.code, Some(2), "{line}: {ended}");
        let said: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(said.len(), 2, "{line}: {ended}");
        assert!(
            said[0].starts_with("error: ") && said[1].starts_with("help: "),
            "{line}: {ended}"
        );
        assert!(!ended.stdout.contains("pre-post: "), "{line}: {ended}");
    }
}

#[test]
fn many_ranks_share_two_cores_and_every_pattern_ends() {
    let _turn = turn();
    let home = home();
    for ranks in [16, 64] {
        let line = format!("msgrate --ranks {ranks} -i 3 -m 16 -c 4096 --json");
        let run = document(&home.run(&line).code(0).stdout);
        assert!(
            run.cases.iter().all(|case| case.status == CaseStatus::Ok),
            "{ranks}"
        );
    }
}

/// The most memory that any of `ranks` ranks took while they exchanged `messages` messages of `size` bytes with each of
/// two peers.
fn peak(home: &Home, ranks: u32, messages: u64, size: u64) -> u64 {
    let line = format!(
        "msgrate --ranks {ranks} -p 2 -m {messages} -s {size} -c 4096 --pattern pre-post,all-start -t 400ms --json"
    );
    let running = home.start(line.split_whitespace());
    let parent = running.pid();
    let mut most = 0;
    let watch = || {
        let now = home.ranks_of(parent).into_iter().filter_map(peak_bytes).max();
        most = most.max(now.unwrap_or(0));
    };
    document(&running.end_watched(PATIENCE, watch).code(0).stdout);
    most
}

#[test]
fn memory_of_a_rank_grows_with_its_messages_only() {
    let _turn = turn();
    let home = home();
    let (size, few, many) = (64 << 10, 64, 256);
    // 2 x peers x messages x size, and once more what comes early.
    let own = 2 * 2 * (many - few) * size;
    // Nobody looks at a rank that ends while the machine stands still: the most of up to three runs.
    let (mut less, mut more) = (0, 0);
    let is_right = |_| {
        less = peak(&home, 4, few, size).max(less);
        more = peak(&home, 4, many, size).max(more);
        (own / 2..=2 * own).contains(&more.saturating_sub(less))
    };
    let found = (0..3).any(is_right);
    assert!(found, "{less}, {more}: not {own} more");
    let crowd = peak(&home, 12, few, size);
    assert!(crowd <= 2 * less, "4 ranks {less}, 12 ranks {crowd}");
}
