//! A mesh as a job of Slurm: its nodes, their switches, and what is refused. It must never assert how fast anything is.

use crate::{assert_no_session_left, job_seconds, processes_with, under_test};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Output, Stdio};
use wirespeed_schema::Run;
use wirespeed_schema::mesh::{MeshPair, MeshSection};
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;
use wirespeed_tests::slurm::Slurm;

/// A cluster of so many nodes, four on each switch, whose `srun` has the plugin; or why not.
fn cluster(nodes: usize, plugin: &str) -> Option<Slurm> {
    let slurm = Slurm::of(nodes, 4).and_then(|slurm| slurm.has_mpi(plugin).map(|()| slurm));
    slurm.map_err(|reason| skip(&reason)).ok()
}

/// `srun .. wirespeed mesh WORDS` with a task on each of so many nodes.
fn mesh(slurm: &Slurm, plugin: &str, nodes: usize, words: &str) -> Output {
    // Nodes that the job before has just left are waited for.
    let srun = format!("srun --mpi={plugin} -N {nodes} -n {nodes} -w 'n[1-{nodes}]'");
    let line = format!("{srun} {} mesh {words}", under_test());
    let mut command = slurm.command("timeout");
    command.args(["--kill-after=5", &job_seconds(), "bash", "-c", &line]);
    command.stdin(Stdio::null()).output().unwrap()
}

/// What it measured; the exit code is that of its verdict.
fn measured(output: &Output) -> (Run, MeshSection) {
    let (text, said) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    let run = wirespeed_report::read_run(&text[..]).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    let mesh: MeshSection = run.sections.get().unwrap_or_else(|| panic!("no mesh: {said}"));
    // A loaded machine may make something seem slow.
    let is_slow = mesh.probes.iter().any(|probe| !probe.verdicts.is_empty());
    let code = match (is_slow, wirespeed_report::mesh::outcome::is_open(&mesh)) {
        (true, _) => 3,
        (false, true) => 4,
        (false, false) => 0,
    };
    assert_eq!(output.status.code(), Some(code), "{said}");
    (run, mesh)
}

/// The unit of each host, by name.
fn units(mesh: &MeshSection) -> Vec<String> {
    let unit = |unit: Option<u32>| unit.map_or_else(String::new, |unit| mesh.unit_name(unit));
    let hosts = mesh.hosts.iter();
    hosts
        .map(|host| format!("{}@{}", host.name, unit(host.unit)))
        .collect()
}

#[test]
fn sixteen_nodes_on_four_switches_are_measured_pair_by_pair() {
    let Some(slurm) = cluster(16, "pmi2") else { return };
    let words =
        "--budget 2 --repeats 1 --seed 86433 --json -- am_lat --via tcp -O wait=block -n 50 --warmup 0";
    let (_, mesh) = measured(&self::mesh(&slurm, "pmi2", 16, words));
    let expected: Vec<String> = (0..16).map(|n| format!("n{}@s{}", n + 1, n / 4 + 1)).collect();
    assert_eq!(units(&mesh), expected);
    // Two matchings of eight pairs, in both directions.
    let probe = &mesh.probes[0];
    let surveyed = || probe.pairs.iter().filter(|pair| pair.survey_count > 0);
    assert_eq!((mesh.rounds, mesh.cycles, surveyed().count()), (4, 1, 32));
    for host in 0..16 {
        let of = |is: fn(&MeshPair) -> u32| surveyed().filter(|pair| is(pair) == host).count();
        assert_eq!((of(|pair| pair.from), of(|pair| pair.to)), (2, 2), "host {host}");
    }
    assert!(
        probe.complete && probe.failed_count == 0,
        "{} failed",
        probe.failed_count
    );
    assert!(reached(SOON, || processes_with("--seed 86433").is_empty()));
    assert_no_session_left(&slurm);
}

#[test]
fn a_file_of_hosts_names_other_units_and_mpi_carries_a_mesh() {
    let Some(slurm) = cluster(8, "pmix") else { return };
    let file = slurm.folder().join("racks");
    let racks: String = (1..=4).map(|n| format!("n{n} unit=r{}\n", n % 2)).collect();
    std::fs::write(&file, racks).unwrap();
    let probe = "--isolated --repeats 1 --json -- tag_lat,tag_bw --via mpi -n 50 --warmup 0";
    let words = format!("--hostfile {} {probe}", file.display());
    let (run, mesh) = measured(&self::mesh(&slurm, "pmix", 4, &words));
    assert_eq!(units(&mesh), ["n1@r1", "n2@r0", "n3@r1", "n4@r0"]);
    assert!(run.cases.iter().all(|case| case.case.transport == "mpi"));
    for probe in &mesh.probes {
        assert!(probe.complete && probe.pairs.len() == 12, "{:?}", probe.pairs);
    }
    let dry = self::mesh(&slurm, "pmix", 4, &format!("--dry-run {probe}"));
    let shown: serde_json::Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!(
        shown["mesh"]["hosts"],
        serde_json::json!(["n1", "n2", "n3", "n4"])
    );
    // All on one switch: there is nothing to compare it with.
    let (_, mesh) = measured(&self::mesh(&slurm, "pmix", 4, probe));
    assert_eq!(units(&mesh), ["n1@", "n2@", "n3@", "n4@"]);
}

#[test]
fn storms_are_between_steps_beside_the_job() {
    let Some(slurm) = cluster(5, "pmi2") else { return };
    let words = "--pattern incast,outcast@n2 --victims n1,n2 --isolated --repeats 2 --json";
    let probe = "am_lat --via tcp -O wait=block -n 200 --warmup 0";
    let (run, mesh) = measured(&self::mesh(&slurm, "pmi2", 5, &format!("{words} -- {probe}")));
    let loads: Vec<&str> = mesh.storms.iter().map(|storm| storm.load.as_str()).collect();
    assert_eq!((loads, run.cases.len()), (vec!["incast", "outcast@n2"], 3));
    for stream in mesh.storms.iter().flat_map(|storm| &storm.streams) {
        assert_eq!(stream.rates_bytes_per_s.len(), 2, "a run each: {stream:?}");
        assert!(
            stream.rates_bytes_per_s.iter().any(|rate| rate.get() > 0.0),
            "{stream:?}"
        );
    }
    let starter = format!("{} __ranks", under_test());
    let left = || processes_with(&starter).len();
    assert!(reached(SOON, || left() == 0), "{} starters stay", left());
    assert_no_session_left(&slurm);
    let refused = mesh_over_mpi(&slurm);
    assert!(refused.contains("mpi has none but those of the job"), "{refused}");
}

/// What a storm over MPI is answered with.
fn mesh_over_mpi(slurm: &Slurm) -> String {
    let output = mesh(slurm, "pmi2", 5, "--pattern incast -- tag_lat --via mpi");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The processes of a task of the job whose command line names `word`.
fn processes_of_task(word: &str, task: u32) -> Vec<Pid> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    let is_of_task = |number: &i32| {
        let read = |what: &str| std::fs::read(format!("/proc/{number}/{what}")).unwrap_or_default();
        let words = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let wanted = format!("SLURM_PROCID={task}");
        words.contains(word)
            && read("environ")
                .split(|byte| *byte == 0)
                .any(|one| one == wanted.as_bytes())
    };
    numbers.filter(is_of_task).filter_map(Pid::from_raw).collect()
}

#[test]
fn a_rank_that_dies_costs_its_own_pairs() {
    let Some(slurm) = cluster(4, "pmi2") else { return };
    let (file, seed) = (slurm.folder().join("mesh.json"), "--seed 30417");
    // Enough rounds that the death is among them, however late it comes.
    let words = format!(
        "{seed} --isolated --repeats 6 --ndjson -o {} -- am_lat --via tcp -O wait=block -n 1000 --warmup 0",
        file.display()
    );
    let mut command = slurm.command("bash");
    let line = format!(
        "srun --mpi=pmi2 -N 4 -n 4 -w 'n[1-4]' {} mesh {words}",
        under_test()
    );
    command.args(["-c", &line]);
    let running = Running::start(command);
    running.wait_until("a pair", PATIENCE, |running| {
        running.stdout().contains("\"from\"")
    });
    let dead = processes_of_task(seed, 2);
    assert!(!dead.is_empty(), "task 2 has no process");
    for process in dead {
        // It may have ended with the one before it.
        let _ = kill_process(process, Signal::KILL);
    }
    let ended = running.end(PATIENCE);
    // What srun ends with is the killed task's.
    assert_ne!(ended.code, Some(0));
    let text = std::fs::read(&file).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr));
    let run = wirespeed_report::read_run(&text[..]).unwrap();
    assert_eq!(wirespeed_report::audit::violations(&run), Vec::<String>::new());
    let mesh: MeshSection = run.sections.get().unwrap();
    let lost: Vec<bool> = mesh.hosts.iter().map(|host| host.lost.is_some()).collect();
    assert_eq!(lost, [false, false, true, false], "{}", ended.stderr);
    let between_others = |pair: &&MeshPair| ![pair.from, pair.to].contains(&2);
    let pairs: Vec<&MeshPair> = mesh.probes[0].pairs.iter().filter(between_others).collect();
    assert_eq!(pairs.len(), 6, "{pairs:?}");
    assert!(pairs.iter().all(|pair| pair.survey_count > 0), "{pairs:?}");
    assert!(reached(SOON, || processes_with(seed).is_empty()));
    assert_no_session_left(&slurm);
}
