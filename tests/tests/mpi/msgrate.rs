//! `mpirun -n N msgrate`: the original's test run, its two loops, and what is refused, over every library.

use crate::{document, home, turn};
use std::process::Command;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::product::share;
use wirespeed_tests::running::{Ended, Running};

/// `mpirun -n RANKS msgrate LINE`.
fn msgrate(mpi: &Installed, home: &Home, ranks: u32, line: &str) -> Ended {
    let link = home.path("msgrate");
    if !link.exists() {
        std::os::unix::fs::symlink(home.program(), &link).unwrap();
    }
    let with_program = mpi.command(home, ranks, line);
    let mut command = Command::new(with_program.get_program());
    for word in with_program.get_args() {
        let is_program = word == home.program().as_os_str();
        command.arg(if is_program { link.as_os_str() } else { word });
    }
    for (name, value) in with_program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(home.path("."));
    Running::start(command).end(PATIENCE)
}

#[test]
fn the_seeds_test_run_prints_the_originals_text() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        // The original takes 4096 iterations; on two cores ten tell as much about the text.
        let ended = msgrate(&mpi, &home, 8, "-n 1 -i 10").code(0);
        let names: Vec<&str> = ended
            .stdout
            .lines()
            .filter_map(|line| line.split(':').next())
            .collect();
        let expected = [
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
            " all-start",
        ];
        assert_eq!(names, expected, "{}: {ended}", mpi.name);
        let values: Vec<&str> = ended
            .stdout
            .lines()
            .filter_map(|l| l.split(':').nth(1))
            .map(str::trim)
            .collect();
        assert_eq!(
            values[..7],
            ["8", "6", "10", "128", "8", "8388608", "1"],
            "{}: {ended}",
            mpi.name
        );
        assert!(
            values[7..].iter().all(|rate| rate.parse::<f64>().unwrap() > 0.0),
            "{ended}"
        );
    }
}

#[test]
fn both_loops_of_the_seed_run_as_written() {
    let _turn = turn();
    let loops = [(8, 9, 1), (26, 27, 4096), (8, 9, 4096), (26, 27, 1)];
    for (number, mpi) in installed().into_iter().take(2).enumerate() {
        let home = home();
        for (peers, ranks, size) in share(&loops, number, 2) {
            let line = format!("-n 1 -p {peers} -c 65536 -s {size} -o -i 2 -m 16");
            let ended = msgrate(&mpi, &home, ranks, &line).code(0);
            let words: Vec<&str> = ended.stdout.trim_end().split(' ').collect();
            assert_eq!(words.len(), 11, "{}: {ended}", mpi.name);
            assert_eq!(words[..5].join(" "), format!("{ranks} {peers} 2 16 {size}"));
        }
    }
}

#[test]
fn data_and_definitions_are_right_over_every_library() {
    let _turn = turn();
    let lines = [
        (3, "msgrate -i 5 -m 16 -s 8,70000 -c 65536 --check --json"),
        (
            2,
            "run osu_latency,osu_bw,osu_bibw,osu_mbw_mr,osu_multi_lat,imb_pingpong,imb_uniband,imb_biband \
             --via mpi --size 8,70000 --iters 20 --check --json",
        ),
    ];
    for (number, mpi) in installed().into_iter().enumerate() {
        let home = home();
        for (ranks, line) in share(&lines, number / 2 + number % 2, 2) {
            let ended = mpi.run(&home, ranks, line).code(0);
            for case in &document(&ended).cases {
                assert_eq!(
                    case.status,
                    CaseStatus::Ok,
                    "{}: {}: {:?}",
                    mpi.name,
                    case.case.label(),
                    case.error
                );
            }
        }
    }
}

#[test]
fn what_makes_no_sense_ends_the_whole_job_with_one_complaint() {
    let _turn = turn();
    let lines = [
        "-n 1 -p abc",
        "-n 1 -i 0",
        "-n 1 -i -5",
        "-n 1 -p 1 -c 0",
        "-n 1 -p 0",
        "-n 1 -p 1 -m 0",
        "-n 1 -p 2",
        "-n 1 -p 1000000",
        "-n 3 -p 1",
        "-n 0 -p 1",
        "-n 1 -p 1 -s 4G",
        "-n 1 -p 1 -s 1G -m 4096",
        "-n 1 -p 1 -c 4096T",
        "-n 1 -p 1 --ranks 5",
        "-n 1 -p 1 -z",
    ];
    let all = installed();
    for (number, mpi) in all.iter().enumerate() {
        let home = home();
        // What is refused depends on no library, only how a job ends does.
        for line in share(&lines, number, all.len()) {
            let ended = msgrate(mpi, &home, 2, line);
            assert!(
                ended.code.is_some_and(|code| code != 0),
                "{}: {line}: {ended}",
                mpi.name
            );
            let complaints = ended.stderr.matches("error: ").count();
            assert_eq!(complaints, 1, "{}: {line}: {ended}", mpi.name);
            assert!(ended.stderr.contains("help: "), "{}: {line}: {ended}", mpi.name);
        }
    }
}

#[test]
fn ranks_per_node_that_contradict_the_nodes_are_refused() {
    let _turn = turn();
    let mut seen = 0;
    for mpi in share(&installed(), 0, 3) {
        let home = home();
        let line = "msgrate --format classic -p 1 -i 2 -m 4 -c 4096";
        let Some(command) = mpi.on_two_nodes(&home, &format!("{line} -n 2")) else {
            continue;
        };
        let refused = Running::start(command).end(PATIENCE);
        assert!(
            refused
                .stderr
                .contains("-n 2 contradicts the nodes found: 2 ranks are on 2 nodes, 1 on each"),
            "{}: {refused}",
            mpi.name
        );
        assert_eq!(
            refused.stderr.matches("error: ").count(),
            1,
            "{}: {refused}",
            mpi.name
        );
        let right = mpi.on_two_nodes(&home, &format!("{line} -n 1")).unwrap();
        let shown = Running::start(right).end(PATIENCE).code(0);
        assert!(shown.stdout.contains("ppn:        1"), "{}: {shown}", mpi.name);
        seen += 1;
    }
    assert!(seen > 0 || installed().is_empty());
}
