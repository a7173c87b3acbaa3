//! Ends that nobody planned: a killed rank, Ctrl-C, a library that belongs to another launcher, an error of MPI. No run
//! hangs, nothing is left behind, and what was measured is kept where the launcher gives time for it.

use crate::{SOON, document, home, turn};
use rustix::process::Signal;
use std::time::Duration;
use wirespeed_schema::Run;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, crash, kill};
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::product::share;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

/// Verbs that measure, each longer than any of these tests lets it run.
const LONG: [&str; 3] = [
    "run tag_lat --via mpi --duration 60s --quiet --ndjson --interval 100ms -o result.json",
    "msgrate --pattern pre-post -c 64K -t 60s --quiet --ndjson --output result.json",
    "workers -n 1000000000 --quiet --ndjson --interval 100ms -o result.json",
];

/// A job in its measured phase.
fn measuring(mpi: &Installed, home: &Home, line: &str) -> Running {
    let job = Running::start(mpi.command(home, 2, line));
    let says = |event: &str| format!("\"event\":\"{event}\"");
    if line.contains("--interval") {
        job.wait_until("a first interval", PATIENCE, |job| {
            job.stdout().contains(&says("interval"))
        });
        return job;
    }
    job.wait_until("a case", PATIENCE, |job| {
        job.stdout().contains(&says("case_started"))
    });
    // Warm-up takes 100 ms; nothing outside tells when it is over, but that it is over after so much work.
    let ranks = mpi.ranks(home);
    let began: Vec<_> = ranks.iter().map(|(_, pid)| cpu_time(*pid)).collect();
    let worked = |((_, pid), began): (&(u32, u32), &Option<Duration>)| {
        cpu_time(*pid) > began.map(|time| time + Duration::from_secs(1))
    };
    job.wait_until("work", PATIENCE, |_| ranks.iter().zip(&began).all(worked));
    std::thread::sleep(Duration::from_millis(500));
    job
}

/// Time on a CPU of a process's first thread, which measures.
fn cpu_time(pid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let ns = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(ns))
}

/// What was written, when all processes are gone: rank 0 may write a little longer than its launcher lives.
fn result(home: &Home) -> Option<Run> {
    home.assert_nothing_left(SOON);
    let text = std::fs::read(home.path("result.json")).ok()?;
    wirespeed_report::read_run(&text[..]).ok()
}

fn no_trace(mpi: &Installed, ended: &Ended) {
    for word in ["panicked", "internal:", "Assertion"] {
        assert!(!ended.stderr.contains(word), "{}: {ended}", mpi.name);
    }
}

#[test]
fn a_killed_rank_ends_the_job_and_leaves_a_partial_result() {
    let _turn = turn();
    let crashes = [
        (LONG[0], 0, Signal::KILL),
        (LONG[0], 0, Signal::SEGV),
        (LONG[0], 1, Signal::SEGV),
    ];
    let ends = [&LONG.map(|line| (line, 1, Signal::KILL))[..], &crashes].concat();
    for (number, mpi) in installed().into_iter().enumerate() {
        for (line, victim, signal) in share(&ends, number, 3) {
            let home = home();
            let job = measuring(&mpi, &home, line);
            let pid = mpi.ranks(&home)[victim].1;
            match signal {
                Signal::SEGV => crash(pid),
                signal => kill(pid, signal),
            }
            let ended = job.end(PATIENCE);
            assert!(ended.code != Some(0), "{}: {line}: {ended}", mpi.name);
            no_trace(&mpi, &ended);
            let run = result(&home).unwrap_or_else(|| panic!("{}: {line}: no result: {ended}", mpi.name));
            let error = run.cases[0].error.clone().unwrap_or_default();
            assert_eq!(
                run.cases[0].status,
                CaseStatus::Partial,
                "{}: {line}: {error}: {ended}",
                mpi.name
            );
            // Launchers ask the other ranks to end, which may come first.
            match run.status {
                Status::Failed => {
                    let gone = format!("rank {victim} went away");
                    assert!(error.starts_with(&gone), "{}: {error}", mpi.name);
                }
                status => assert_eq!(status, Status::Interrupted, "{}: {line}: {error}", mpi.name),
            }
            assert!(!run.cases[0].metrics.is_empty(), "{}: {line}", mpi.name);
        }
    }
}

#[test]
fn ctrl_c_ends_every_rank() {
    let _turn = turn();
    for (number, mpi) in installed().into_iter().enumerate() {
        for line in share(&LONG, number, 3) {
            let home = home();
            let job = measuring(&mpi, &home, line);
            job.signal(Signal::INT);
            let ended = job.end(PATIENCE);
            no_trace(&mpi, &ended);
            let run = result(&home).unwrap_or_else(|| panic!("{}: {line}: no result: {ended}", mpi.name));
            // Hydra answers a Ctrl-C with a status of its own, which may be 0 though its ranks ended with 130.
            let said = mpi.is_hydra() && run.status == Status::Interrupted;
            assert!(ended.code != Some(0) || said, "{}: {line}: {ended}", mpi.name);
            let measured = run.cases.first().is_some_and(|case| !case.repetitions.is_empty());
            // Open MPI kills its ranks a second after it has asked them to end, which a busy machine may not suffice for.
            assert!(measured || !mpi.is_hydra(), "{}: {line}: {ended}", mpi.name);
        }
    }
}

#[test]
fn a_stopped_rank_zero_ends_the_job_in_order() {
    let _turn = turn();
    for mpi in installed() {
        let home = home();
        let job = measuring(&mpi, &home, LONG[0]);
        kill(mpi.ranks(&home)[0].1, Signal::INT);
        let ended = job.end(PATIENCE).code(130);
        let run = result(&home).unwrap_or_else(|| panic!("{}: {ended}", mpi.name));
        assert_eq!(run.status, Status::Interrupted, "{}", mpi.name);
        assert!(!run.cases[0].repetitions.is_empty(), "{}", mpi.name);
        home.assert_nothing_left(SOON);
    }
}

#[test]
fn a_library_of_another_launcher_is_named_with_the_remedy() {
    let _turn = turn();
    let all = installed();
    let open_mpi = all.iter().find(|mpi| !mpi.is_hydra());
    let mpich = all.iter().find(|mpi| mpi.is_hydra());
    let (Some(open_mpi), Some(mpich)) = (open_mpi, mpich) else {
        return skip("a mismatch needs Open MPI and MPICH");
    };
    for (launcher, library) in [(open_mpi, mpich), (mpich, open_mpi)] {
        let home = home();
        let start = || {
            let mut command = launcher.command(&home, 2, "run tag_lat --via mpi -n 10");
            command.env("WIRESPEED_MPI", &library.library);
            Running::start(command).end(PATIENCE)
        };
        let mut ended = start();
        // Two ranks that Open MPI 4 takes for jobs of their own start a daemon each, and those race to make one folder.
        for _ in 0..5 {
            if ended.stderr.contains("session_dir.c") {
                ended = start();
            }
        }
        let ended = ended.code(2);
        assert!(
            ended
                .stderr
                .contains("launcher and library do not belong together"),
            "{ended}"
        );
        assert!(ended.stderr.contains("help: start the ranks with "), "{ended}");
        assert_eq!(
            ended.stderr.matches("error: ").count(),
            1,
            "one rank speaks: {ended}"
        );
    }
}

#[test]
fn an_error_of_mpi_is_one_line_or_a_stated_emulation() {
    let _turn = turn();
    let Some(mpi) = installed().into_iter().find(|mpi| !mpi.is_hydra()) else {
        return skip("needs Open MPI, whose windows can be switched off");
    };
    let run = |options: &str| {
        let home = home();
        let line = format!("run put_lat --via mpi -n 100 --warmup 0 --json {options}");
        let mut command = mpi.command(&home, 2, &line);
        // Without any component, no window can be made.
        command.env("OMPI_MCA_osc", "^rdma,sm,pt2pt,ucx");
        Running::start(command).end(PATIENCE)
    };
    let refused = run("-O windows=native").code(1);
    let error = document(&refused).cases[0].error.clone().unwrap_or_default();
    assert!(error.contains("MPI_Win_allocate"), "{error}");
    assert!(!refused.stderr.contains("MPI_ERRORS_ARE_FATAL"), "{refused}");
    let emulated = document(&run("").code(0));
    let facts = &emulated.cases[0].repetitions[0].outcomes[0].transport_facts;
    assert!(facts["one_sided"].contains("active messages"), "{facts:?}");
}

#[test]
fn words_that_make_no_sense_are_answered_once() {
    let _turn = turn();
    let lines = [
        (2, "run tag_lot --via mpi", "tag_lot"),
        (2, "run tag_lat --via mpi --size -1", "-1"),
        (2, "run --via", "--via"),
        (2, "run tag_lat", "--via TRANSPORT: shm, unix, tcp, uct, ucp, mpi"),
        (1, "run tag_lat --via mpi", "the job has one rank"),
        (3, "run tag_lat --via mpi -n 10", "needs pairs of ranks"),
    ];
    let all = installed();
    for (number, mpi) in all.iter().enumerate() {
        let home = home();
        // What is refused depends on no library, only how a job ends does.
        for (ranks, line, word) in share(&lines, number, all.len()) {
            let ended = mpi.run(&home, ranks, line);
            assert_eq!(
                ended.stderr.matches("error: ").count(),
                1,
                "{}: {ended}",
                mpi.name
            );
            assert!(ended.stderr.contains(word), "{}: {ended}", mpi.name);
            assert_eq!(ended.stdout, "", "{}: {ended}", mpi.name);
            assert_ne!(ended.code, Some(0), "{}: {ended}", mpi.name);
        }
        home.assert_nothing_left(SOON);
    }
}

/// Libraries in which no rank ever returns, and in which one does not while the other waits for it within the library.
const HANGING: [&str; 2] = [
    "#include <unistd.h>\nint MPI_Finalize(void) { for (;;) pause(); }\n",
    "#include <stdlib.h>\n#include <unistd.h>\nint PMPI_Finalize(void);\nint MPI_Finalize(void)\n\
     { const char *rank = getenv(\"PMI_RANK\");\n\
     if (!rank) rank = getenv(\"OMPI_COMM_WORLD_RANK\");\n\
     while (rank && atoi(rank) == 1) pause();\n\
     return PMPI_Finalize(); }\n",
];

/// The result is whole by then, and the launcher hears that the ranks leave.
#[test]
fn a_library_that_hangs_at_the_end_makes_no_failure_of_a_good_run() {
    let _turn = turn();
    let mut jobs = Vec::new();
    for (number, mpi) in installed().into_iter().enumerate() {
        for text in share(&HANGING, number + number / 2, 2) {
            let home = home();
            let library = match mpi.behind(&home, text) {
                Ok(library) => library,
                Err(why) => return skip(&format!("a library that hangs needs a C compiler: {why}")),
            };
            let mut command = mpi.command(&home, 2, "run am_lat --via shm,mpi -n 50 --warmup 2 --json");
            command.env("WIRESPEED_MPI", &library);
            jobs.push((mpi.name, home, Running::start(command)));
        }
    }
    for (name, home, job) in jobs {
        let ended = job.end(PATIENCE);
        assert_eq!(ended.code, Some(0), "{name}: {ended}");
        assert_eq!(document(&ended).status, Status::Ok, "{name}");
        home.assert_nothing_left(SOON);
    }
}
