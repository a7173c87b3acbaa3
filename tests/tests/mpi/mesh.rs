//! A mesh of the ranks of a launcher's job: who is measured over what, congestion beside the job, and a rank that dies.

use crate::{SOON, document, home, turn};
use rustix::process::Signal;
use wirespeed_report::mesh::outcome::is_open;
use wirespeed_schema::Run;
use wirespeed_schema::mesh::MeshSection;
use wirespeed_schema::run::{CaseStatus, Status};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::kill;
use wirespeed_tests::mpi::{Installed, installed};
use wirespeed_tests::running::{Ended, Running};

/// Exit code where something is slow, as a loaded machine makes it seem.
const SLOW: i32 = 3;
/// Exit code where nobody can tell.
const CANNOT_TELL: i32 = 4;

/// One library of each launcher.
fn of_each_launcher() -> Vec<Installed> {
    let mut found: Vec<Installed> = Vec::new();
    for mpi in installed() {
        if found.iter().all(|known| known.is_hydra() != mpi.is_hydra()) {
            found.push(mpi);
        }
    }
    found
}

fn section(mpi: &Installed, run: &Run) -> MeshSection {
    let section = run.sections.get();
    section.unwrap_or_else(|| panic!("{}: no mesh", mpi.name))
}

/// What a job of four ranks measured; the exit code is that of its verdict, where the launcher passes it on.
fn measured(mpi: &Installed, words: &str) -> (Ended, Run, MeshSection) {
    let home = home();
    let line = format!("mesh --isolated --material 99% --json {words}");
    let ended = mpi.run(&home, 4, &line);
    let run = document(&ended);
    let mesh = section(mpi, &run);
    let is_slow = mesh.probes.iter().any(|probe| !probe.verdicts.is_empty());
    let code = match (is_slow, is_open(&mesh)) {
        (true, _) => SLOW,
        (false, true) => CANNOT_TELL,
        (false, false) => 0,
    };
    assert_eq!(ended.code, Some(code), "{}: {ended}", mpi.name);
    home.assert_nothing_left(SOON);
    (ended, run, mesh)
}

#[test]
fn every_pair_of_a_job_is_measured_over_mpi_and_tcp() {
    let _turn = turn();
    for mpi in of_each_launcher() {
        let words = "--repeats 1 -- tag_bw,put_lat --via mpi,tcp -n 100 --warmup 0";
        let (ended, run, mesh) = measured(&mpi, words);
        let slots: Vec<&str> = mesh
            .hosts
            .iter()
            .filter_map(|host| Some(host.name.rsplit_once(':')?.1))
            .collect();
        assert_eq!(slots, ["0", "1", "2", "3"], "{}: {ended}", mpi.name);
        let over = |transport: &str| {
            let cases = run.cases.iter().filter(|case| case.case.transport == transport);
            cases.filter(|case| case.status == CaseStatus::Ok).count()
        };
        assert_eq!((over("mpi"), over("tcp")), (2, 2), "{}: {ended}", mpi.name);
        for probe in &mesh.probes {
            assert!(probe.complete && probe.pairs.len() == 12, "{}: {ended}", mpi.name);
        }
    }
}

#[test]
fn a_rank_whose_transport_does_not_open_costs_its_own_pairs() {
    let _turn = turn();
    // Of the addresses for documentation (RFC 5737): no machine has it.
    const NOBODYS: &str = "192.0.2.7";
    for mpi in of_each_launcher() {
        let home = home();
        let mesh_of = |mode: &str, name: &str| {
            let file = home.path("hosts");
            std::fs::write(&file, format!("{name} option=source={NOBODYS}\n")).unwrap();
            let line = format!(
                "mesh {mode} --material 99% --json --repeats 1 --hostfile {} -- am_lat --via udp -n 200 --warmup 0",
                file.display()
            );
            mpi.run(&home, 4, &line)
        };
        let refused = mesh_of("--isolated", "nobody").code(2);
        let name = refused
            .stderr
            .split_whitespace()
            .find_map(|word| word.strip_suffix(":0"));
        let node = name.unwrap_or_else(|| panic!("{}: {refused}", mpi.name));
        for mode in ["--isolated", "--loaded"] {
            let ended = mesh_of(mode, &format!("{node}:2")).code(1);
            let mesh = section(&mpi, &document(&ended));
            assert_eq!(mesh.hosts[2].options["source"], NOBODYS);
            let pairs = &mesh.probes[0].pairs;
            let failed = pairs.iter().filter(|pair| pair.failed.is_some());
            let of_it = pairs.iter().filter(|pair| pair.from == 2 || pair.to == 2);
            assert!(pairs.len() == 12 && failed.eq(of_it), "{}: {ended}", mpi.name);
        }
    }
}

#[test]
fn congestion_in_a_job_is_made_by_processes_beside_it() {
    let _turn = turn();
    for mpi in of_each_launcher() {
        let words = "--pattern incast --repeats 2 -- am_lat --via tcp -n 300 --warmup 0";
        let (ended, run, mesh) = measured(&mpi, words);
        assert_eq!(
            (mesh.storms.len(), run.cases.len()),
            (1, 2),
            "{}: {ended}",
            mpi.name
        );
        for stream in &mesh.storms[0].streams {
            assert_eq!(stream.rates_bytes_per_s.len(), 2, "{}: {ended}", mpi.name);
        }
        let home = home();
        let refused = mpi
            .run(&home, 4, "mesh --pattern incast -- tag_lat --via mpi")
            .code(2);
        let said = "mpi has none but those of the job";
        assert!(refused.stderr.contains(said), "{}: {refused}", mpi.name);
    }
}

#[test]
fn a_killed_rank_leaves_the_pairs_that_were_measured() {
    let _turn = turn();
    for mpi in of_each_launcher() {
        let home = home();
        let line = "mesh --isolated --repeats 10000 --quiet --ndjson -o result.json -- \
                    am_lat --via tcp -n 300 --warmup 0";
        let job = Running::start(mpi.command(&home, 4, line));
        job.wait_until("some pairs", PATIENCE, |job| {
            job.stdout().matches("pair_measured").count() > 12
        });
        kill(mpi.ranks(&home)[2].1, Signal::KILL);
        let ended = job.end(SOON);
        assert!(ended.code != Some(0), "{}: {ended}", mpi.name);
        home.assert_nothing_left(SOON);
        let text = std::fs::read(home.path("result.json"));
        let text = text.unwrap_or_else(|e| panic!("{}: no result: {e}: {ended}", mpi.name));
        let run = wirespeed_report::read_run(&text[..]).unwrap();
        let mesh = section(&mpi, &run);
        // A stop that comes between two pairs cuts none of them, and one between two cycles no cycle.
        let is_cut = run.cases[0].status == CaseStatus::Partial;
        let is_stopped = (run.status, run.cases[0].status) == (Status::Interrupted, CaseStatus::Ok);
        assert!(is_cut || is_stopped, "{}: {ended}", mpi.name);
        assert!(!(is_cut && mesh.probes[0].complete), "{}: {ended}", mpi.name);
        let well = mesh.probes[0].pairs.iter().filter(|pair| !pair.values.is_empty());
        assert!(well.count() > 0, "{}: {ended}", mpi.name);
        // Launchers ask the other ranks to end, which may come first.
        if run.status == Status::Failed {
            let lost: Vec<bool> = mesh.hosts.iter().map(|host| host.lost.is_some()).collect();
            // Hydra kills all, and any of them is heard of first.
            let as_told = lost == [false, false, true, false] || (mpi.is_hydra() && lost.contains(&true));
            assert!(as_told, "{}: {lost:?}: {ended}", mpi.name);
        }
    }
}
