//! Tests of the engine over every library, checked to the byte, and what the result says of library and job.

use crate::{document, home, turn};
use wirespeed_schema::job::JobSection;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::busy::Busy;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::mpi::installed;
use wirespeed_tests::product::share;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

#[test]
fn tagged_messages_over_every_library() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        let line = "run tag_lat,tag_bw --via mpi -n 300 --warmup 10 --size 8,70000 --check --json";
        let ended = mpi.run(&home, 2, line).code(0);
        let run = document(&ended);
        assert_eq!(run.cases.len(), 4, "{}: {ended}", mpi.name);
        for case in &run.cases {
            assert_eq!(case.status, CaseStatus::Ok, "{}: {ended}", mpi.name);
            let facts = &case.repetitions[0].outcomes[0].transport_facts;
            assert_eq!(facts["path"], "intra_node", "{}", mpi.name);
            assert_eq!(facts["completion"], "MPI_Testall", "{}", mpi.name);
        }
        let section: JobSection = run.sections.get().unwrap();
        assert_eq!(
            (section.ranks.len(), &section.nodes[..]),
            (2, &["node0".to_owned()][..])
        );
        let family = if mpi.name.contains("Open MPI") {
            "Open MPI"
        } else {
            "MPICH"
        };
        let family = if mpi.name.contains("standard") {
            "MPI standard ABI"
        } else {
            family
        };
        assert_eq!(section.facts["abi"], family, "{}", mpi.name);
        home.assert_nothing_left(crate::SOON);
    }
}

#[test]
fn persistent_requests_and_blocking_waits_give_the_same_data() {
    let _turn = turn();
    let ways = [
        "-O requests=persistent",
        "-O wait=block",
        "-O requests=persistent,plain -O wait=block,poll",
    ];
    for (number, mpi) in installed().into_iter().enumerate() {
        let home = home();
        for options in share(&ways, number, 3) {
            let line = format!("run tag_lat,tag_bw --via mpi -n 300 --warmup 10 --check --json {options}");
            let ended = mpi.run(&home, 2, &line).code(0);
            let bad = document(&ended)
                .cases
                .into_iter()
                .find(|c| c.status != CaseStatus::Ok);
            assert!(bad.is_none(), "{}: {ended}", mpi.name);
        }
    }
}

#[test]
fn other_transports_work_between_the_ranks_of_a_job() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        let line = "run am_lat,tag_lat --via shm,tcp,unix,null -n 300 --warmup 10 --json";
        let ended = mpi.run(&home, 2, line).code(0);
        let run = document(&ended);
        let measured = run.cases.iter().filter(|c| c.status == CaseStatus::Ok);
        assert_eq!(measured.count(), 7, "{}: {ended}", mpi.name);
    }
}

/// All tests but those on tagged messages.
const OTHERS: &str = "am_lat,put_lat,add_lat,get,fadd,swap,cswap,am_bw,put_bw,add_mr,get_bw,am_bibw,hub_lat";

#[test]
fn every_other_test_over_every_library() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        // Open MPI 4 crashes in a compare-and-swap of 8 bytes, and is refused it.
        let size = if mpi.name.contains("Open MPI 4") { 4 } else { 8 };
        let line = format!("run {OTHERS} --via mpi -n 300 --warmup 10 --size {size} --check --json");
        let ended = mpi.run(&home, 2, &line).code(0);
        for case in document(&ended).cases {
            assert_eq!(
                case.status,
                CaseStatus::Ok,
                "{} {}: {ended}",
                mpi.name,
                case.case.label()
            );
        }
        let line = "run am_lat,put_lat,am_bw,put_bw,get_bw --via mpi -n 30 --warmup 2 --size 100001 \
                    --layout bcopy,zcopy --check --json";
        let ended = mpi.run(&home, 2, line).code(0);
        for case in document(&ended).cases {
            assert_eq!(
                case.status,
                CaseStatus::Ok,
                "{} {}: {ended}",
                mpi.name,
                case.case.label()
            );
        }
        home.assert_nothing_left(crate::SOON);
    }
}

#[test]
fn the_known_crash_of_open_mpi_4_is_refused_in_words() {
    let _turn = turn();
    for mpi in installed()
        .into_iter()
        .filter(|mpi| mpi.name.contains("Open MPI 4"))
    {
        let home = home();
        let ended = mpi.run(&home, 2, "run cswap --via mpi -n 10 --json").code(1);
        let error = document(&ended).cases[0].error.clone().unwrap_or_default();
        assert!(error.contains("OMPI_MCA_osc=sm"), "{error}");
        let mut command = mpi.command(&home, 2, "run cswap --via mpi -n 10 --warmup 0 --check --json");
        command.env("OMPI_MCA_osc", "sm");
        Running::start(command).end(PATIENCE).code(0);
    }
}

#[test]
fn pairs_hubs_and_more_ranks_than_cpus() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        let ended = mpi
            .run(
                &home,
                6,
                "run tag_lat,hub_lat,am_bw --via mpi -n 50 --warmup 2 --check --json",
            )
            .code(0);
        let run = document(&ended);
        assert!(
            run.cases.iter().all(|c| c.status == CaseStatus::Ok),
            "{}: {ended}",
            mpi.name
        );
        assert_eq!(run.cases[0].case.ranks.len(), 6);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let crowded = run.remarks.iter().any(|r| r.code == "oversubscribed");
        assert_eq!(crowded, cpus < 6, "{}: {:?}", mpi.name, run.remarks);
        home.assert_nothing_left(crate::SOON);
    }
}

#[test]
fn outside_of_a_job_the_matching_launcher_is_started() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        let mut command =
            home.command("run tag_lat --via mpi --procs 3 --roles source,sink,idle -n 50 --json".split(' '));
        command.env("WIRESPEED_MPI", &mpi.library);
        if mpi.name.contains("Intel") {
            command.env("I_MPI_FABRICS", "shm");
        }
        let ended = Running::start(command).end(PATIENCE).code(0);
        let run = document(&ended);
        assert_eq!(run.cases[0].status, CaseStatus::Ok, "{}: {ended}", mpi.name);
        let facts = &run.cases[0].repetitions[0].outcomes[0].transport_facts;
        assert!(!facts["library"].is_empty());
        home.assert_nothing_left(crate::SOON);
    }
}

#[test]
fn nodes_are_discovered_and_pairs_labelled() {
    let _turn = turn();
    // Where the CPUs are busy, the last answers that a rank gave are still under way when it is done.
    let _busy = Busy::start();
    let mut nodes_seen = 0;
    for mpi in installed() {
        let home = home();
        let line = "run tag_lat,am_lat,put_lat --via mpi,tcp,shm -n 100 --warmup 5 --check --json";
        if mpi.name.contains("Intel") {
            skip("Intel MPI sees that both nodes are one machine");
            continue;
        }
        let Some(command) = mpi.on_two_nodes(&home, line) else {
            skip(&format!(
                "{} starts ranks on other nodes through ssh alone",
                mpi.name
            ));
            continue;
        };
        let ended = Running::start(command).end(PATIENCE);
        let run = document(&ended.code(0));
        let section: JobSection = run.sections.get().unwrap();
        assert_eq!(section.nodes, ["node0", "node1"], "{}", mpi.name);
        for case in &run.cases {
            if case.case.transport == "shm" {
                let why = case.error.clone().unwrap_or_default();
                assert_eq!(
                    (case.status, why.contains("node to node")),
                    (CaseStatus::Skipped, true),
                    "{why}"
                );
                continue;
            }
            assert_eq!(
                case.status,
                CaseStatus::Ok,
                "{}: {}: {:?}",
                mpi.name,
                case.case.label(),
                case.error
            );
            let facts = &case.repetitions[0].outcomes[0].transport_facts;
            assert_eq!(facts["path"], "inter_node", "{}: {}", mpi.name, case.case.label());
        }
        nodes_seen += 1;
        home.assert_nothing_left(crate::SOON);
    }
    assert!(nodes_seen > 0 || installed().is_empty());
}

#[test]
fn no_colour_goes_to_a_launchers_terminal_unless_asked_for() {
    let _turn = turn();
    let lines = [
        "run tag_lat --via mpi -n 50 --warmup 2",
        "list",
        "run tag_lot --via mpi",
    ];
    for (number, mpi) in installed().into_iter().enumerate() {
        let home = home();
        for line in share(&lines, number, 3) {
            let with = |more: &str| {
                let mut command = mpi.command(&home, 2, &format!("{line} {more}"));
                command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
                let ended = Running::start(command).end(PATIENCE);
                format!("{}{}", ended.stdout, ended.stderr)
            };
            let plain = with("");
            assert!(!plain.contains('\x1b'), "{}: {line}: {plain:?}", mpi.name);
            if line != "run tag_lot --via mpi" {
                continue;
            }
            let colored = with("--color always");
            assert!(colored.contains("\x1b["), "{}: {line}: {colored:?}", mpi.name);
        }
    }
}
