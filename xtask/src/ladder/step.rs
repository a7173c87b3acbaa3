//! One step of the ladder: a program with a name, a time limit, and two things that are never lost in its output:
//! `skipped: REASON` lines, and what failing tests said, which is shown again at the end.

use super::left::Pipes;
use crate::command;
use anyhow::{Context, Result, anyhow};
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// What a program prints in front of the reason when it leaves something out.
pub const SKIPPED: &str = "skipped: ";
const LIMIT_S: u64 = 900;
/// Tells tests that keep to some CPUs which others there are, as a list that `taskset` reads.
const EVERY_CPU: &str = "WIRESPEED_EVERY_CPU";
/// What the test harness prints before and after what failing tests said.
const FAILURES: &str = "failures:";
const FAILURES_END: &str = "test result: ";
/// What stands before the output of each of them.
const FAILED_TEST: &str = "---- ";
/// Lines that are shown again of each failing test: the last, for a test says what is wrong with it at its end.
const FAILED_LINES_MAX: usize = 30;

/// Where this program is. It is asked once: when a step has built it anew, the kernel tells of a file that is gone.
static HERE: LazyLock<Option<String>> = LazyLock::new(|| {
    let here = std::env::current_exe().ok()?;
    here.to_str().map(str::to_owned)
});

/// A program to run.
pub struct Step {
    name: String,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    /// Where it runs, from the root.
    folder: PathBuf,
    /// What a person types to run it again, where that is shorter than the program's own words.
    again: Option<String>,
    limit_s: u64,
}

impl Step {
    /// A step that runs `words`.
    pub fn new(name: &str, words: &[&str]) -> Self {
        Step {
            name: name.to_owned(),
            words: words.iter().map(|&w| w.to_owned()).collect(),
            environment: Vec::new(),
            folder: PathBuf::new(),
            again: None,
            limit_s: LIMIT_S,
        }
    }

    /// A step that runs cargo.
    pub fn cargo(name: &str, arguments: &[&str]) -> Self {
        Step::new(name, &[&["cargo"], arguments].concat())
    }

    /// A step that runs a task of this very program: cargo would compile it once more, with the features that it alone needs.
    pub fn task(name: &str, arguments: &[&str]) -> Self {
        let again = format!("cargo xtask {}", arguments.join(" "));
        match HERE.as_deref() {
            Some(here) => Step::new(name, &[&[here], arguments].concat()).repeated_by(&again),
            None => Step::cargo(name, &[&["xtask"], arguments].concat()),
        }
    }

    /// With an environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With an environment variable that a person has to set, too, to run it again.
    pub fn with_shown(mut self, name: &str, value: &str) -> Self {
        self.again = self.again.map(|line| format!("{name}='{value}' {line}"));
        self.with(name, value)
    }

    /// With another time limit.
    pub fn within_s(mut self, limit_s: u64) -> Self {
        self.limit_s = limit_s;
        self
    }

    /// In a folder of its own.
    pub fn from(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// A person types `line` to run it again.
    pub fn repeated_by(mut self, line: &str) -> Self {
        self.again = Some(line.to_owned());
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Run it when nothing else wants a CPU.
    pub fn behind(mut self) -> Self {
        self.words.splice(0..0, ["nice", "-n", "19"].map(str::to_owned));
        self
    }

    /// Run it on these CPUs alone; on any where none are named. What names CPUs of its own may use all of `every`.
    pub fn on(mut self, cpus: Option<&str>, every: &str) -> Self {
        let Some(cpus) = cpus else { return self };
        self.words
            .splice(0..0, ["taskset", "-c", cpus].map(str::to_owned));
        self.with(EVERY_CPU, every)
    }

    /// The program under `timeout`, which ends the whole tree of processes; and, where possible, ended when we are.
    fn command(&self, root: &Path) -> Command {
        let limit = [
            String::from("timeout"),
            "--kill-after=10".to_owned(),
            self.limit_s.to_string(),
        ];
        let tied = ["setpriv", "--pdeathsig", "TERM"].map(str::to_owned);
        let tied = if command::find("setpriv").is_some() {
            tied.as_slice()
        } else {
            &[]
        };
        let words: Vec<String> = [tied, &limit, &self.words].concat();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(root.join(&self.folder))
            .envs(self.environment.iter().cloned());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run it to its end, with every line of its output given to `show`.
    pub fn execute(self, root: &Path, show: &(impl Fn(&str) + Sync)) -> std::result::Result<Done, Failed> {
        show(&format!("== {}: {}", self.name, self.line()));
        let started = Instant::now();
        let Watched {
            status,
            cpu,
            seen,
            left,
        } = self.watched(root, show).map_err(|error| Failed {
            error,
            said: Vec::new(),
        })?;
        let took = started.elapsed();
        if status.success() && left.is_empty() {
            let done = Done {
                name: self.name,
                took,
                cpu,
                skipped: seen.skipped,
                tests: seen.tests,
            };
            show(&format!("== {}: passed in {}", done.name, done.time()));
            return Ok(done);
        }
        let late = match status.code() {
            Some(124) => " (it ran past its time limit)".to_owned(),
            _ if left.is_empty() => String::new(),
            _ => format!(" (it left behind: {})", left.join(", ")),
        };
        let error = anyhow!(
            "step {} failed after {:.1} s, {status}{late}; repeat it with `{}`",
            self.name,
            took.as_secs_f64(),
            self.line()
        );
        Err(Failed {
            error,
            said: seen.failed.into_iter().flatten().collect(),
        })
    }

    fn watched(&self, root: &Path, show: &(impl Fn(&str) + Sync)) -> Result<Watched> {
        let mut child = self
            .command(root)
            .spawn()
            .with_context(|| format!("cannot start step {}", self.name))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(anyhow!("step {} has no output", self.name));
        };
        let pipes = Pipes::of([&stdout as &dyn AsRawFd, &stderr]);
        std::thread::scope(|scope| {
            let readers = [
                scope.spawn(move || echo(stdout, show)),
                scope.spawn(move || echo(stderr, show)),
            ];
            let cpu = cpu_until_end(child.id());
            let status = child.wait()?;
            let left = pipes.released(&readers);
            let [mut seen, errors] = readers.map(|reader| reader.join().unwrap_or_default());
            seen.skipped.extend(errors.skipped);
            Ok(Watched {
                status,
                cpu,
                seen,
                left,
            })
        })
    }

    /// What a person types to run it again.
    fn line(&self) -> String {
        if let Some(again) = &self.again {
            return again.clone();
        }
        let variables = self.environment.iter().map(|(n, v)| format!("{n}='{v}'"));
        let words: Vec<String> = variables.chain(self.words.iter().cloned()).collect();
        words.join(" ")
    }
}

/// What became of a program.
struct Watched {
    status: ExitStatus,
    cpu: Duration,
    seen: Seen,
    /// Command lines of what it left behind.
    left: Vec<String>,
}

/// Wait for the end of a child, which somebody else collects: the CPU time of it and of all that it waited for, which /proc
/// tells until then. None where it does not say.
fn cpu_until_end(child: u32) -> Duration {
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    let ended = pid.map(|pid| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
    let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    match ended {
        Some(Ok(_)) => Duration::from_secs_f64(cpu_ticks(&stat) as f64 / clock_ticks_per_second() as f64),
        _ => Duration::ZERO,
    }
}

/// The four times in a line of `/proc/PID/stat`, behind a name that may hold anything: its own and its children's, in user
/// space and in the kernel (proc_pid_stat(5), fields 14 to 17).
fn cpu_ticks(stat: &str) -> u64 {
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let times = fields.split(' ').skip(11).take(4);
    times.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// A step that passed.
pub struct Done {
    pub name: String,
    pub took: Duration,
    /// CPU time of its processes.
    pub cpu: Duration,
    /// Reasons of what it skipped.
    pub skipped: Vec<String>,
    /// Tests that passed in it.
    pub tests: u64,
}

impl Done {
    /// How long it took, and how much CPU time.
    pub fn time(&self) -> String {
        let (took, cpu) = (self.took.as_secs_f64(), self.cpu.as_secs_f64());
        format!("{took:.1} s, {cpu:.1} s of CPU time")
    }
}

/// A step that failed.
#[derive(Debug)]
pub struct Failed {
    /// What happened, and how to repeat it.
    pub error: anyhow::Error,
    /// The last that its failing tests said. It is shown again at the end: other tests' output follows a failure.
    pub said: Vec<String>,
}

/// What an output said that must not be lost in it.
#[derive(Default)]
struct Seen {
    /// Reasons of what was skipped, each once.
    skipped: Vec<String>,
    /// What each failing test said at its end, [`FAILED_LINES_MAX`] lines at most.
    failed: Vec<VecDeque<String>>,
    /// Tests that passed.
    tests: u64,
}

impl Seen {
    fn keep(&mut self, line: &str) {
        if line.starts_with(FAILED_TEST) {
            self.failed.push(VecDeque::from([line.to_owned()]));
        } else if let Some(test) = self.failed.last_mut() {
            test.push_back(line.to_owned());
            if test.len() > FAILED_LINES_MAX {
                // The second line: the first is the test's name.
                test.remove(1);
            }
        }
    }
}

/// Show every line of `stream` and return what must not be lost.
fn echo(stream: impl Read, show: impl Fn(&str)) -> Seen {
    let mut seen = Seen::default();
    let mut failing = false;
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        show(&line);
        failing = (failing || line == FAILURES) && !line.starts_with(FAILURES_END);
        if failing {
            seen.keep(&line);
        }
        seen.tests += passed(&line).unwrap_or(0);
        if let Some((_, reason)) = line.split_once(SKIPPED) {
            let reason = reason.trim().to_owned();
            if !seen.skipped.contains(&reason) {
                seen.skipped.push(reason);
            }
        }
    }
    seen
}

/// How many tests passed, by the harness's line `test result: ok. 3 passed; 0 failed; ..`.
fn passed(line: &str) -> Option<u64> {
    let (_, counts) = line.strip_prefix(FAILURES_END)?.split_once(". ")?;
    counts.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_leaves_a_process_behind_fails_and_ends_it() {
        let step = Step::new("careless", &["sh", "-c", "sleep 999 & echo $!"]);
        let said = std::sync::Mutex::new(Vec::new());
        let ended = step.execute(Path::new("/"), &|line| said.lock().unwrap().push(line.to_owned()));
        let error = ended.err().unwrap().error.to_string();
        assert!(error.contains("(it left behind: sleep 999)"), "{error}");
        let said = said.into_inner().unwrap();
        let process = said.iter().find_map(|line| line.parse::<u32>().ok()).unwrap();
        let gone = !Path::new(&format!("/proc/{process}/cmdline")).exists()
            || std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| line.is_empty());
        assert!(gone, "{process} is still there");
    }

    #[test]
    fn a_task_runs_what_is_there_already() {
        let step = Step::task("listed", &["--list"]);
        assert_eq!(step.line(), "cargo xtask --list");
        // This program is its tests.
        let said = std::sync::Mutex::new(Vec::new());
        let ended = step.execute(Path::new("/"), &|line| said.lock().unwrap().push(line.to_owned()));
        assert!(ended.is_ok());
        let said = said.into_inner().unwrap();
        assert!(
            said.iter()
                .any(|line| line.contains("a_task_runs_what_is_there_already")),
            "{said:?}"
        );
    }

    #[test]
    fn cpu_time_counts_what_a_step_waited_for() {
        let busy = Step::new(
            "busy",
            &["sh", "-c", "sh -c 'while [ $((i+=1)) -lt 300000 ]; do :; done'"],
        );
        let busy = busy.execute(Path::new("/"), &|_| ()).unwrap();
        let idle = Step::new("idle", &["sleep", "0.3"]).execute(Path::new("/"), &|_| ());
        let idle = idle.unwrap();
        assert!(busy.cpu > 3 * idle.cpu, "{} against {}", busy.time(), idle.time());
        assert_eq!(cpu_ticks("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"), 50);
    }

    #[test]
    fn what_failing_tests_said_is_kept() {
        let chatter = "a check that passed\n".repeat(500);
        let output = format!(
            "running 2 tests\n.F\nfailures:\n\n---- a stdout ----\n{chatter}1 is not 2\n\n---- b stdout ----\n\
             no\n\nfailures:\n    a\n    b\n\ntest result: FAILED. 1 passed\nrunning 9 tests\n"
        );
        let failed = echo(output.as_bytes(), |_| ()).failed;
        assert_eq!(failed.len(), 2, "{failed:?}");
        assert!(failed[0].contains(&"1 is not 2".to_owned()), "{failed:?}");
        assert!(failed[1].contains(&"no".to_owned()), "{failed:?}");
        let others = |line: &&String| line.starts_with("running") || line.starts_with("test result");
        assert_eq!(failed.iter().flatten().find(others), None);
        assert!(
            failed.iter().all(|test| test.len() <= FAILED_LINES_MAX),
            "{failed:?}"
        );
    }
}
