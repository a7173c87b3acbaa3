//! A place where documented commands are typed: an empty home, two machines where the test may make them, deadlines. It
//! must leave no process and no file behind.

use crate::pages::{Prompt, Shown};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use wirespeed_tests::deadline::{SOON, reached};
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::skip;
use wirespeed_tests::slurm::Slurm;
use wirespeed_tests::under_test::program;

/// Seconds for one documented command; on a busy machine a sweep takes its time.
const COMMAND_SECONDS: &str = "240";
/// What the runner of tests calls the CPUs that there are beside those that a test is kept to, as `taskset` reads them.
const EVERY_CPU: &str = "WIRESPEED_EVERY_CPU";
/// The far machine in the documents: an address for documentation, and the lab's second machine.
const FAR: &str = "192.0.2.2";

/// Lines that have been typed here, on whichever stage.
static TYPED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether the line has been typed before and leaves nothing for what follows it: a printed command runs once.
fn is_known(line: &str) -> bool {
    let writes = [">", "-o ", "--output", "--chart", "&"]
        .iter()
        .any(|word| line.contains(word));
    let mut typed = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    !typed.insert(line.to_owned()) && !writes
}

/// An empty home directory, and two machines where there can be two.
pub struct Stage {
    home: tempfile::TempDir,
    lab: Option<Lab>,
    /// Started by the first command that needs it.
    slurm: OnceCell<Option<Slurm>>,
    path: OsString,
}

/// A far end; ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    pub fn new() -> Stage {
        let home = tempfile::tempdir().unwrap();
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(bin_in(home.path())).chain(std::env::split_paths(&rest));
        let lab = Lab::new()
            .map_err(|reason| {
                skip(&format!(
                    "two machines: {reason}; both ends run on loopback instead"
                ))
            })
            .ok();
        wirespeed_tests::mpi::stay_here_in(&home.path().join("stay-here"));
        Stage {
            home,
            lab,
            slurm: OnceCell::new(),
            path: std::env::join_paths(folders).unwrap(),
        }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Whether there are two machines: networks can be made here.
    pub fn has_networks(&self) -> bool {
        self.lab.is_some()
    }

    /// What `line` gives on the lab's first machine, or on this one where there is no lab.
    pub fn output(&self, line: &str) -> Output {
        self.shell(line).output().unwrap()
    }

    /// Type all of `shown`, which stand together: a server lives until the next one or the end; a node joins the one
    /// that is there. Problems are returned.
    pub fn play(&self, shown: &[Shown]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut servers: Vec<Server> = Vec::new();
        for one in shown {
            let line = self.adapted(&one.line);
            if line.starts_with("mpirun ") && !self.has_launcher() {
                skip(&format!("{}: {line}: no mpirun on this machine", one.place));
                continue;
            }
            if one.prompt == Prompt::Here && is_known(&line) {
                continue;
            }
            let start = Instant::now();
            let problem = match one.prompt {
                Prompt::Server => {
                    let joins = line.starts_with("wirespeed node");
                    let ended = if joins { None } else { stop_all(&mut servers) };
                    match self.serve(&line) {
                        Ok(started) => servers.push(started),
                        Err(why) => problems.push(format!("{}: {line}: {why}", one.place)),
                    }
                    ended
                }
                Prompt::Client | Prompt::Here => self.exits(&line, one.exits),
                Prompt::Cluster => self.exits_in_cluster(&line, one.exits),
            };
            // Seen with --nocapture: which commands take long.
            println!("{:5.1} s  {line}", start.elapsed().as_secs_f64());
            problems.extend(problem.map(|why| format!("{}: {line}: {why}", one.place)));
        }
        problems.extend(stop_all(&mut servers));
        problems
    }

    fn has_launcher(&self) -> bool {
        let asked = self.shell("command -v mpirun").output();
        asked.is_ok_and(|output| output.status.success())
    }

    /// Type `line` on a cluster; without one it is left out, and that is said.
    fn exits_in_cluster(&self, line: &str, expected: i32) -> Option<String> {
        let start = || {
            Slurm::start()
                .map_err(|reason| skip(&format!("commands of a cluster: {reason}")))
                .ok()
        };
        let slurm = self.slurm.get_or_init(start).as_ref()?;
        for plugin in ["pmi2", "pmix"] {
            let needed = line.contains(&format!("--mpi={plugin}"));
            if let Err(reason) = slurm.has_mpi(plugin)
                && needed
            {
                skip(&format!("{line}: {reason}"));
                return None;
            }
        }
        let mut command = slurm.command("timeout");
        self.set_up(&mut command);
        command.args(["--kill-after=5", COMMAND_SECONDS, "bash", "-c", line]);
        judged(&command.output().unwrap(), expected)
    }

    fn exits(&self, line: &str, expected: i32) -> Option<String> {
        let output = self.shell(line).output().unwrap();
        // A verdict is an answer, whichever it is: on a busy machine nobody can promise one.
        let verdict = [
            "wirespeed compare ",
            "wirespeed ab ",
            "wirespeed doctor",
            "wirespeed mesh ",
        ]
        .iter()
        .any(|verb| line.starts_with(verb))
            && matches!(output.status.code(), Some(3 | 4));
        judged(&output, expected).filter(|_| !verdict)
    }

    /// Start a far end, and wait until it listens.
    fn serve(&self, line: &str) -> Result<Server, String> {
        let mut command = self.bare(Side::B, "bash");
        command.args(["-c", &format!("exec {line}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Server(command.spawn().map_err(|e| e.to_string())?);
        let mut first = String::new();
        let stdout = server.0.stdout.as_mut().ok_or("no stdout")?;
        BufReader::new(stdout)
            .read_line(&mut first)
            .map_err(|e| e.to_string())?;
        let listens = first.starts_with("listening on ") || first.starts_with("Waiting for connection");
        match listens {
            true => Ok(server),
            false => Err(format!("it says {first:?} instead of listening")),
        }
    }

    /// The first machine is the stage's own: stages side by side type the same ports.
    fn shell(&self, line: &str) -> Command {
        let mut command = self.bare(Side::A, "timeout");
        command.args(["--kill-after=5", COMMAND_SECONDS]);
        // This test may be kept to some of the CPUs that a page names.
        if let Ok(every) = std::env::var(EVERY_CPU)
            && names_cpus(line)
        {
            command.args(["taskset", "-c", &every]);
        }
        command.args(["bash", "-c", line]);
        command
    }

    fn bare(&self, side: Side, program: &str) -> Command {
        let mut command = match &self.lab {
            Some(lab) => lab.command(side, program),
            None => Command::new(program),
        };
        self.set_up(&mut command);
        command
    }

    /// The user's environment and folder.
    fn set_up(&self, command: &mut Command) {
        for name in [
            "WIRESPEED_IDENTITY",
            "WIRESPEED_KEY_FILE",
            "XDG_CONFIG_HOME",
            "COLUMNS",
        ] {
            command.env_remove(name);
        }
        // Open MPI asks root to confirm, and counts CPUs before ranks.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"] {
            command.env(name, "1").env(format!("{name}_CONFIRM"), "1");
        }
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        // Its other hosts are this machine, where the first rank of each would be bound to the same core.
        command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
        command.env("OMPI_MCA_plm_rsh_agent", self.home.path().join("stay-here"));
        command
            .env("PATH", &self.path)
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .stdin(Stdio::null());
    }

    /// The line for this stage: one machine where there are not two, and runs that name no length of their own are
    /// short, for what is tested is that they are right.
    fn adapted(&self, line: &str) -> String {
        let mut line = line.to_owned();
        if self.lab.is_none() {
            line = line
                .replace(FAR, "127.0.0.1")
                .replace("--listen all", "--listen loopback");
        }
        let timed = [
            "--duration",
            "--iters",
            "--total",
            " -t ",
            " -n ",
            ".toml",
            "--dry-run",
            "--help",
        ];
        // A launcher's own words say nothing about that.
        let own = line.split_once("wirespeed run ").map(|(_, own)| own);
        if own.is_some_and(|own| !timed.iter().any(|word| own.contains(word))) {
            line = line.replace("wirespeed run ", "wirespeed run --duration 20ms ");
        }
        // The original's number of iterations is a million.
        if line.contains("perftest -l ") && ![" -n ", " -b "].iter().any(|word| line.contains(word)) {
            line = line.replace("perftest -l ", "perftest -l -n 1000 ");
        }
        if line.contains("wirespeed msgrate ") && ![" -t ", " -i "].iter().any(|word| line.contains(word)) {
            line = line.replace("wirespeed msgrate ", "wirespeed msgrate -t 50ms ");
        }
        for longer in ["--budget 5s", "--budget 10s"] {
            line = line.replace(longer, "--budget 2s");
        }
        if line.contains("wirespeed quick") && !line.contains("--budget") {
            line = line.replace("wirespeed quick", "wirespeed quick --budget 2s");
        }
        if line.contains("wirespeed selftest") && !line.contains("--quick") {
            line = line.replace("wirespeed selftest", "wirespeed selftest --quick");
        }
        line = line.replace("--iters 10k", "--iters 500");
        // What is compared keeps its time: a run that hardly got a CPU in 20 ms has no quantile, and then there is none.
        let is_compared = line.contains("--repeats") && !line.contains("--until");
        if !is_compared {
            for longer in [" -t 50ms", " -t 60ms", " -t 100ms", " -t 200ms"] {
                line = line.replace(longer, " -t 20ms");
            }
        }
        // Seconds of a session.
        for digit in '1'..='9' {
            line = line.replace(&format!(" --duration={digit}"), " --duration=0.3");
        }
        line
    }
}

/// Whether a command says which CPUs it wants.
fn names_cpus(line: &str) -> bool {
    line.contains("--cpus ") || line.contains("perftest ") && line.contains(" -c ")
}

/// What is wrong with how a command ended, if anything.
fn judged(output: &Output, expected: i32) -> Option<String> {
    let said = || {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last: Vec<&str> = text.lines().rev().take(4).collect();
        last.into_iter().rev().collect::<Vec<_>>().join("\n    ")
    };
    (output.status.code() != Some(expected))
        .then(|| format!("{} instead of {expected}\n    {}", output.status, said()))
}

/// A folder in `home` where the program under test has its own name.
fn bin_in(home: &Path) -> PathBuf {
    let folder = home.join(".bin");
    std::fs::create_dir(&folder).unwrap();
    let program = program(env!("CARGO_BIN_EXE_wirespeed-under-test"));
    std::os::unix::fs::symlink(program, folder.join("wirespeed")).unwrap();
    folder
}

/// The last one first; the first problem.
fn stop_all(servers: &mut Vec<Server>) -> Option<String> {
    let mut problem = None;
    while let Some(server) = servers.pop() {
        problem = problem.or(stop(server).err());
    }
    problem
}

/// Ctrl-C, and a good end.
fn stop(mut server: Server) -> Result<(), String> {
    let interrupted = Command::new("kill")
        .args(["-INT", &server.0.id().to_string()])
        .status()
        .is_ok_and(|s| s.success());
    let mut ended = None;
    reached(SOON, || {
        ended = server.0.try_wait().transpose();
        ended.is_some()
    });
    match ended {
        Some(Ok(status)) if status.success() && interrupted => Ok(()),
        Some(Ok(status)) => Err(format!("the server ended with {status}")),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the server does not end".to_owned()),
    }
}
