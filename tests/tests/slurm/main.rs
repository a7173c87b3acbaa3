//! Slurm for real: some nodes, jobs of srun and sbatch, and nothing left of them.

mod mesh;

use std::process::{Command, Stdio};
use std::time::Duration;
use wirespeed_report::workers::WorkersSection;
use wirespeed_schema::run::Status;
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::skip;
use wirespeed_tests::slurm::Slurm;
use wirespeed_tests::under_test::program;

/// Start the cluster, or say why not.
fn cluster() -> Option<Slurm> {
    Slurm::start().map_err(|reason| skip(&reason)).ok()
}

/// Time for one job, as `timeout` reads it.
fn job_seconds() -> String {
    PATIENCE.as_secs().to_string()
}

/// What a command in the cluster says on stdout; it must end well within its time.
fn said(slurm: &Slurm, line: &str) -> String {
    let mut command = slurm.command("timeout");
    command.args(["--kill-after=5", &job_seconds(), "bash", "-c", line]);
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
    reached(PATIENCE, || processes_with("sleep 86431").len() >= 2);
    drop(slurm);
    job.wait().unwrap();
    let name = folder.display().to_string();
    let words = ["sleep 86431", name.as_str()];
    let left = || words.map(processes_with).concat();
    // Who is killed with its namespace of processes is gone a moment after the first of them.
    reached(SOON, || left().is_empty());
    assert_eq!(left(), Vec::<String>::new());
    assert!(!folder.exists(), "its folder is gone");
}

/// The program under test.
fn under_test() -> &'static str {
    program(env!("CARGO_BIN_EXE_wirespeed-under-test"))
}

/// The program under test, started by srun's plugin on both nodes: the master reports for all, and finds the nodes.
fn measures_on_both_nodes(slurm: &Slurm, plugin: &str) {
    if let Err(reason) = slurm.has_mpi(plugin) {
        return skip(&format!("srun --mpi={plugin}: {reason}"));
    }
    let program = under_test();
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

/// A library that keeps rank `LATE_RANK` in each fence of its initialisation; why not, where it cannot be made.
fn late_fence(slurm: &Slurm) -> Result<String, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/late_fence.c");
    let library = slurm.folder().join("late_fence.so").display().to_string();
    let made = Command::new("cc")
        .args([
            "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", &library, source,
        ])
        .args(["-ldl", "-lpthread"])
        .output()
        .map_err(|e| format!("cc: {e}"))?;
    match made.status.success() {
        true => Ok(library),
        false => panic!("{}", String::from_utf8_lossy(&made.stderr)),
    }
}

#[test]
fn a_rank_that_is_late_in_its_initialisation_is_waited_for() {
    let Some(slurm) = cluster() else { return };
    if let Err(reason) = slurm.has_mpi("pmix") {
        return skip(&format!("srun --mpi=pmix: {reason}"));
    }
    let library = match late_fence(&slurm) {
        Ok(library) => library,
        Err(reason) => return skip(&reason),
    };
    let program = under_test();
    // Rank 2 is alone on its node: rank 0 and 1 are ahead, and would send to it too early.
    let text = said(
        &slurm,
        &format!(
            "srun --mpi=pmix -N 2 -n 3 env LATE_RANK=2 LD_PRELOAD={library} \
             {program} workers -p 10,1000 -n 10 --check --json"
        ),
    );
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(run.status, Status::Ok, "{text}");
    assert_eq!(WorkersSection::of(&run).groups[0].transport, "mpi");
}

#[test]
fn a_job_on_one_node_starts_its_own_ranks() {
    let Some(slurm) = cluster() else { return };
    let program = under_test();
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

/// Sessions of our own on this cluster: the program, as `run` says where.
fn session(slurm: &Slurm, before: &str, more: &str) -> (Option<i32>, String, String) {
    let program = under_test();
    let line = format!("{before} {program} session --launch slurm {more}");
    let mut command = slurm.command("timeout");
    command.args(["--kill-after=5", &job_seconds(), "bash", "-c", &line]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// No step, job or computation is left, within a few seconds.
fn assert_no_session_left(slurm: &Slurm) {
    let left = || processes_with("__computation").len() + processes_with("__node").len();
    let jobs = || said(slurm, "squeue --noheader").trim().to_owned();
    let gone = reached(SOON, || left() == 0 && jobs().is_empty());
    assert!(gone, "{} processes are left, and jobs: {}", left(), jobs());
}

fn delivered(text: &str) -> wirespeed_schema::Run {
    let run = wirespeed_report::read_run(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(run.status, Status::Ok, "{text}");
    for case in &run.cases {
        let outcomes = &case.repetitions[0].outcomes;
        let sent: u64 = outcomes.iter().map(|o| o.sent.messages).sum();
        let received: u64 = outcomes.iter().map(|o| o.received.messages).sum();
        assert!(
            sent > 0 && sent == received && case.case.transport == "tcp",
            "{text}"
        );
    }
    run
}

#[test]
fn sessions_are_placed_by_srun_inside_and_outside_of_an_allocation() {
    let Some(slurm) = cluster() else { return };
    let file = slurm.folder().join("render.json");
    let definition = r#"{"name": "render", "computations": [
        {"name": "mcrt", "node": "n1", "resources": {"cores": 1, "memory_bytes": 134217728}},
        {"name": "merge", "node": "n2", "resources": {"cores": 1}}]}"#;
    std::fs::write(&file, definition).unwrap();
    let more = format!(
        "--session {} --benchmarkPath=computation_to_computation --route direct,daemon --bytes=1 --credits=10 \
         --duration=0.3 --threads=1 --json",
        file.display()
    );
    for before in [
        "",
        "salloc --quiet -N 2 --ntasks-per-node=1 --cpus-per-task=2 --mem=500",
    ] {
        let (code, text, words) = session(&slurm, before, &more);
        assert_eq!(code, Some(0), "{before}: {words}");
        let run = delivered(&text);
        let section = run.sections.named("session").unwrap();
        assert_eq!(section["coordinator"], "slurm");
        let policy = section["launcher_policy"].as_str().unwrap();
        assert!(policy.contains("TaskPlugin="), "{policy}");
        let computations = section["sessions"][0]["computations"].as_array().unwrap();
        let nodes: Vec<_> = computations.iter().map(|c| c["node"].as_str().unwrap()).collect();
        assert_eq!(
            nodes,
            ["n1", "n2", "n1"],
            "the daemon beside the main computation"
        );
        let granted = &computations[0]["granted"];
        assert_ne!(granted["cores_by"], "nothing", "{granted}");
        assert_no_session_left(&slurm);
    }
}

#[test]
fn what_slurm_has_not_is_refused_with_what_is_free() {
    let Some(slurm) = cluster() else { return };
    for more in [
        "--cores=64 --requestMb=0 --duration=1",
        "--requestMb=99999 --duration=1",
    ] {
        let (code, _, words) = session(&slurm, "", more);
        assert!(
            code == Some(5) && words.contains("n1 has 4 cores"),
            "{more}: {code:?} {words}"
        );
    }
    let (code, _, words) = session(&slurm, "PATH=/nonexistent", "--duration=1");
    assert!(code == Some(1) && words.contains("srun"), "{code:?} {words}");
    assert_no_session_left(&slurm);
}

#[test]
fn a_killed_client_of_slurm_leaves_no_job() {
    let Some(slurm) = cluster() else { return };
    let program = under_test();
    let mut client = slurm.command(program);
    client.args(["session", "--launch", "slurm", "--requestMb=0", "--duration=600"]);
    client.args(["--benchmarkPath=client_to_computation", "--bytes=1"]);
    client
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut client = client.spawn().unwrap();
    let come = reached(PATIENCE, || processes_with("__computation").len() >= 2);
    assert!(come, "its computations do not come");
    std::thread::sleep(Duration::from_secs(1));
    // nsenter has become the program, or waits for it as its child.
    for pid in children_of(client.id()).into_iter().chain([client.id()]) {
        wirespeed_tests::home::kill(pid, rustix::process::Signal::KILL);
    }
    client.wait().unwrap();
    assert_no_session_left(&slurm);
}

fn children_of(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}
