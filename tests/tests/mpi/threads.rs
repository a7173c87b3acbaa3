//! Thread levels, and several threads of a process that are ranks of their own.

use crate::{SOON, document, home, turn};
use wirespeed_schema::job::JobSection;
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::product::share;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

const LEVELS: [&str; 4] = ["single", "funneled", "serialized", "multiple"];

#[test]
fn every_thread_level_is_granted_and_stated() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        for (asked, level) in LEVELS.iter().enumerate() {
            let line = format!("run tag_lat --via mpi -n 50 --warmup 2 --json --mpi-threads {level}");
            let run = document(&mpi.run(&home, 2, &line).code(0));
            let facts = &run.cases[0].repetitions[0].outcomes[0].transport_facts;
            let got = LEVELS.iter().position(|level| *level == facts["thread_level"]);
            assert!(
                got.is_some_and(|got| got >= asked),
                "{}: {level}: {facts:?}",
                mpi.name
            );
        }
    }
}

/// What grants one thread, whatever is asked.
const ONE_THREAD: &str = "int PMPI_Init_thread(int *, char ***, int, int *);\n\
    int MPI_Init_thread(int *c, char ***v, int asked, int *got)\n\
    { int code = PMPI_Init_thread(c, v, asked, got); *got = 0; return code; }\n";

#[test]
fn a_lower_level_than_asked_for_is_an_error_with_the_remedy() {
    let _turn = turn();
    for mpi in installed().into_iter().take(2) {
        let home = home();
        let library = match mpi.behind(&home, ONE_THREAD) {
            Ok(library) => library,
            Err(why) => return skip(&format!("a library for one thread needs a C compiler: {why}")),
        };
        let run = |level: &str| {
            let line = format!("run tag_lat --via mpi -n 50 --warmup 2 --json --mpi-threads {level}");
            let mut command = mpi.command(&home, 2, &line);
            command.env("WIRESPEED_MPI", &library);
            Running::start(command).end(PATIENCE)
        };
        let refused = run("multiple").code(2);
        assert!(
            refused
                .stderr
                .contains("offers thread level single, not multiple"),
            "{}: {refused}",
            mpi.name
        );
        assert!(
            refused.stderr.contains("help: ask for less with --mpi-threads"),
            "{refused}"
        );
        assert_eq!(refused.stderr.matches("error: ").count(), 1, "{refused}");
        let facts = document(&run("single").code(0)).cases[0].repetitions[0].outcomes[0]
            .transport_facts
            .clone();
        assert_eq!(facts["thread_level"], "single", "{}", mpi.name);
    }
}

#[test]
fn threads_of_a_process_are_ranks_with_communicators_of_their_own() {
    let _turn = turn();
    for (number, mpi) in installed().into_iter().enumerate() {
        let home = home();
        let tests = "run osu_mbw_mr,osu_multi_lat,tag_lat,tag_bw --via mpi --size 8,70000 --iters 20 \
                     --warmup 2 --check --json --mpi-threads-per-process 2";
        let rates = "msgrate -i 3 -m 16 -s 8,5000 -c 64K --check --json --mpi-threads-per-process 3";
        for (line, threads) in share(&[(tests, 2), (rates, 3)], number / 2 + number % 2, 2) {
            let run = document(&mpi.run(&home, 2, line).code(0));
            let section: JobSection = run.sections.get().unwrap();
            assert_eq!(section.ranks.len(), 2 * threads, "{}", mpi.name);
            for case in &run.cases {
                let label = case.case.label();
                assert_eq!(
                    case.status,
                    CaseStatus::Ok,
                    "{}: {label}: {:?}",
                    mpi.name,
                    case.error
                );
                assert_eq!(case.case.ranks.len(), 2 * threads, "{label}");
                let facts = &case.repetitions[0].outcomes[0].transport_facts;
                assert_eq!(facts["thread_level"], "multiple", "{}: {label}", mpi.name);
                assert_eq!(facts["threads_per_process"], threads.to_string(), "{label}");
            }
        }
        // Started by wirespeed itself: two processes.
        let mut command = home.command(
            "run osu_mbw_mr --via mpi --procs 4 --size 8 --iters 20 --json --mpi-threads-per-process 2"
                .split(' '),
        );
        command.env("WIRESPEED_MPI", &mpi.library);
        mpi.surround(&mut command);
        let run = document(&Running::start(command).end(PATIENCE).code(0));
        assert_eq!(run.cases[0].status, CaseStatus::Ok, "{}", mpi.name);
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn what_threads_cannot_do_is_said_once() {
    let _turn = turn();
    // Hydra ends a refused job at once, Open MPI a second later.
    let Some(mpi) = installed().into_iter().find(Installed::is_hydra) else {
        return;
    };
    let home = home();
    for (line, cause, code) in [
        (
            "run tag_lat --via mpi --mpi-threads-per-process 0",
            "is not a number of threads",
            2,
        ),
        (
            "run tag_lat --via mpi --mpi-threads-per-process -2",
            "is not a number of threads",
            2,
        ),
        (
            "run tag_lat --via mpi --mpi-threads-per-process two",
            "is not a number of threads",
            2,
        ),
        (
            "run tag_lat --via mpi --mpi-threads-per-process 2 --mpi-threads funneled",
            "cannot call MPI at thread level funneled",
            2,
        ),
        (
            "run am_lat --via mpi -n 10 --mpi-threads-per-process 2",
            "matched messages only",
            1,
        ),
    ] {
        let ended = mpi.run(&home, 2, line).code(code);
        assert_eq!(ended.stderr.matches("error: ").count(), 1, "{line}: {ended}");
        assert!(ended.stderr.contains(cause), "{line}: {ended}");
    }
    let odd = home
        .run("run tag_lat --via mpi --procs 3 --roles source,sink,idle --mpi-threads-per-process 2")
        .code(1);
    assert!(odd.stderr.contains("no whole number of processes"), "{odd}");
}
