//! Slurm for real: two nodes, jobs of srun and sbatch, and nothing left of them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wirespeed_report::workers::WorkersSection;
use wirespeed_schema::run::Status;
use wirespeed_tests::skip;
use wirespeed_tests::slurm::Slurm;

/// Seconds for one job.
const JOB_SECONDS: &str = "60";

/// Start the cluster, or say why not.
fn cluster() -> Option<Slurm> {
    Slurm::start().map_err(|reason| skip(&reason)).ok()
}

/// What a command in the cluster says on stdout; it must end well within its time.
fn said(slurm: &Slurm, line: &str) -> String {
    let mut command = slurm.command("timeout");
    command.args(["--kill-after=5", JOB_SECONDS, "bash", "-c", line]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {}: {stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Processes whose command line names `word`.
fn processes_with(word: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(word))
        .collect()
}

#[test]
fn ranks_run_on_both_nodes_and_nothing_stays() {
    let Some(slurm) = cluster() else { return };
    let mut ranks: Vec<String> = said(
        &slurm,
        "srun -N 2 --ntasks-per-node=2 sh -c 'echo $SLURM_PROCID $SLURM_NTASKS $SLURMD_NODENAME'",
    )
    .lines()
    .map(str::to_owned)
    .collect();
    ranks.sort();
    assert_eq!(ranks, ["0 4 n1", "1 4 n1", "2 4 n2", "3 4 n2"]);
    let folder = slurm.folder().to_owned();
    let script = folder.join("job.sh");
    std::fs::write(
        &script,
        "#!/bin/sh\nsrun hostname >/dev/null && echo done by $SLURM_JOB_NUM_NODES\n",
    )
    .unwrap();
    let result = folder.join("job.out");
    said(
        &slurm,
        &format!(
            "sbatch --wait -N 2 -n 2 -o {} {}",
            result.display(),
            script.display()
        ),
    );
    assert_eq!(std::fs::read_to_string(result).unwrap(), "done by 2\n");
    // A job that is still at work when the cluster goes.
    let mut job = slurm.command("srun");
    job.args(["-N", "1", "sleep", "86431"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut job = job.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while processes_with("sleep 86431").len() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(slurm);
    job.wait().unwrap();
    let name = folder.display().to_string();
    while !processes_with(&name).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(processes_with("sleep 86431"), Vec::<String>::new());
    assert_eq!(processes_with(&name), Vec::<String>::new());
    assert!(!folder.exists(), "its folder is gone");
}

/// The program under test, started by srun's plugin on both nodes: the master reports for all, and finds the nodes.
fn measures_on_both_nodes(slurm: &Slurm, plugin: &str) {
    if let Err(reason) = slurm.has_mpi(plugin) {
        return skip(&format!("srun --mpi={plugin}: {reason}"));
    }
    let program = env!("CARGO_BIN_EXE_wirespeed-under-test");
    let srun = format!("srun --mpi={plugin} -N 2");
    let text = said(
        slurm,
        &format!("{srun} -n 3 {program} workers -p 10,1000 -n 10 --check --json"),
    );
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(run.status, Status::Ok, "{plugin}: {text}");
    let group = WorkersSection::of(&run).groups.remove(0);
    assert_eq!(
        (group.transport.as_str(), group.workers, group.cells.len()),
        ("mpi", 2, 2)
    );
    let hosts: Vec<&str> = group.hosts.iter().map(|row| row.host.as_str()).collect();
    assert_eq!(hosts, ["node 0", "node 1"], "{plugin}");
    let text = said(
        slurm,
        &format!("{srun} -n 3 {program} workers -n 5 --via tcp --include-host-name --json"),
    );
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    let group = WorkersSection::of(&run).groups.remove(0);
    let hosts: Vec<&str> = group.hosts.iter().map(|row| row.host.as_str()).collect();
    assert_eq!(
        (group.transport.as_str(), hosts),
        ("tcp", vec!["n1", "n2"]),
        "{plugin}"
    );
    // As a script that is queued.
    let script = slurm.folder().join(format!("{plugin}.sh"));
    let result = slurm.folder().join(format!("{plugin}.json"));
    let line = format!(
        "{srun} -n 2 {program} run tag_lat,am_lat --via mpi --iters 100 -q -o {}",
        result.display()
    );
    std::fs::write(&script, format!("#!/bin/sh\n{line}\n")).unwrap();
    said(
        slurm,
        &format!(
            "sbatch --wait -N 2 -n 2 -o {}.out {}",
            result.display(),
            script.display()
        ),
    );
    let run = wirespeed_report::read_run(&std::fs::read(&result).unwrap()).unwrap();
    assert_eq!((run.status, run.cases.len()), (Status::Ok, 2), "{plugin}");
}

#[test]
fn mpich_runs_under_srun_and_sbatch() {
    let Some(slurm) = cluster() else { return };
    measures_on_both_nodes(&slurm, "pmi2");
}

#[test]
fn open_mpi_runs_under_srun_and_sbatch() {
    let Some(slurm) = cluster() else { return };
    measures_on_both_nodes(&slurm, "pmix");
}

#[test]
fn a_job_on_one_node_starts_its_own_ranks() {
    let Some(slurm) = cluster() else { return };
    let program = env!("CARGO_BIN_EXE_wirespeed-under-test");
    let text = said(
        &slurm,
        &format!("srun -N 1 -n 1 {program} workers -w 2 -n 5 --via shm --json"),
    );
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap();
    assert_eq!(
        (run.status, WorkersSection::of(&run).groups[0].workers),
        (Status::Ok, 2)
    );
}

#[test]
fn the_launchers_plugins_are_there() {
    let Some(slurm) = cluster() else { return };
    // srun lists them on stderr.
    let listed = said(&slurm, "srun --mpi=list 2>&1");
    for plugin in ["pmi2", "none"] {
        assert!(listed.contains(plugin), "{listed}");
    }
    // No daemon of ours may answer outside.
    let outside = Command::new("sinfo")
        .env("SLURM_CONF", slurm.folder().join("slurm.conf"))
        .output();
    assert!(
        outside.is_ok_and(|output| !output.status.success()),
        "the cluster is reachable from outside"
    );
}
