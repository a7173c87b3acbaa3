//! One step of the ladder: a program with a name, a time limit, and two things that are never lost in its output:
//! `skipped: REASON` lines, and what failing tests said, which is shown again at the end.

use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a program prints in front of the reason when it leaves something out.
const SKIPPED: &str = "skipped: ";
const LIMIT_S: u64 = 900;
/// What the test harness prints before and after what failing tests said.
const FAILURES: &str = "failures:";
const FAILURES_END: &str = "test result: ";
/// What stands before the output of each of them.
const FAILED_TEST: &str = "---- ";
/// Lines that are shown again of each failing test: the last, for a test says what is wrong with it at its end.
const FAILED_LINES_MAX: usize = 30;

/// A program to run.
pub struct Step {
    name: String,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    limit_s: u64,
}

impl Step {
    /// A step that runs `words`.
    pub fn new(name: &str, words: &[&str]) -> Self {
        Step {
            name: name.to_owned(),
            words: words.iter().map(|&w| w.to_owned()).collect(),
            environment: Vec::new(),
            limit_s: LIMIT_S,
        }
    }

    /// A step that runs cargo.
    pub fn cargo(name: &str, arguments: &[&str]) -> Self {
        Step::new(name, &[&["cargo"], arguments].concat())
    }

    /// With an environment variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another time limit.
    pub fn within_s(mut self, limit_s: u64) -> Self {
        self.limit_s = limit_s;
        self
    }

    /// Run it when nothing else wants a CPU.
    fn behind(mut self) -> Self {
        self.words.splice(0..0, ["nice", "-n", "19"].map(str::to_owned));
        self
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
            .current_dir(root)
            .envs(self.environment.iter().cloned());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run it to its end, with every line of its output given to `show`; an error says what to repeat.
    fn execute(self, root: &Path, show: &(impl Fn(&str) + Sync)) -> Result<Done> {
        show(&format!("== {}: {}", self.name, self.words.join(" ")));
        let started = Instant::now();
        let mut child = self
            .command(root)
            .spawn()
            .with_context(|| format!("cannot start step {}", self.name))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let seen = std::thread::scope(|scope| {
            let errors = scope.spawn(|| stderr.map(|stream| echo(stream, show)).unwrap_or_default());
            let mut seen = stdout.map(|stream| echo(stream, show)).unwrap_or_default();
            seen.skipped.extend(errors.join().unwrap_or_default().skipped);
            seen
        });
        let status = child.wait()?;
        let took = started.elapsed();
        if !status.success() {
            // Other tests' output follows a failure; a log's end shall say what went wrong.
            if !seen.failed.is_empty() {
                show(&format!("== {}: what failed, again", self.name));
            }
            seen.failed.iter().flatten().for_each(|line| show(line));
            let late = if status.code() == Some(124) {
                " (it ran past its time limit)"
            } else {
                ""
            };
            bail!(
                "step {} failed after {:.1} s, {status}{late}; repeat it with `{}`",
                self.name,
                took.as_secs_f64(),
                repeat(&self)
            );
        }
        show(&format!(
            "== {}: passed in {:.1} s",
            self.name,
            took.as_secs_f64()
        ));
        Ok(Done {
            name: self.name,
            took,
            skipped: seen.skipped,
        })
    }
}

struct Done {
    name: String,
    took: Duration,
    skipped: Vec<String>,
}

/// Steps that run behind others: what they did, in order, until the first that failed, and all that they printed.
struct Behind {
    done: Vec<Done>,
    failed: Option<anyhow::Error>,
    output: String,
}

impl Behind {
    fn run(root: &Path, steps: Vec<Step>) -> Self {
        let output = Mutex::new(String::new());
        let show = |line: &str| {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push_str(line);
            output.push('\n');
        };
        let (mut done, mut failed) = (Vec::new(), None);
        for step in steps {
            match step.behind().execute(root, &show) {
                Ok(one) => done.push(one),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        Behind {
            done,
            failed,
            output: output.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Steps run so far. The first that fails ends the ladder.
pub struct Ladder {
    root: PathBuf,
    title: &'static str,
    started: Instant,
    done: Vec<Done>,
}

impl Ladder {
    /// An empty ladder.
    pub fn new(root: &Path, title: &'static str) -> Self {
        Ladder {
            root: root.to_owned(),
            title,
            started: Instant::now(),
            done: Vec::new(),
        }
    }

    /// The workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Run `step`, showing its output as it comes.
    pub fn run(&mut self, step: Step) -> Result<()> {
        let done = step.execute(&self.root, &|line| println!("{line}"));
        self.done
            .push(done.with_context(|| format!("{} stopped", self.title))?);
        Ok(())
    }

    /// Run `step`, and meanwhile `others` one after the other with the CPU time that it leaves. Their output follows its own.
    pub fn run_before(&mut self, step: Step, others: Vec<Step>) -> Result<()> {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        println!("== meanwhile: {}", names.join(", "));
        let root = self.root.clone();
        let behind = std::thread::spawn(move || Behind::run(&root, others));
        // What still runs behind a step that failed ends with this process.
        self.run(step)?;
        let Ok(behind) = behind.join() else {
            bail!("{} stopped: a thread panicked", self.title);
        };
        print!("{}", behind.output);
        self.done.extend(behind.done);
        behind.failed.map_or(Ok(()), |error| {
            Err(error.context(format!("{} stopped", self.title)))
        })
    }

    /// Record that a step cannot run here.
    pub fn skip(&mut self, name: &str, reason: &str) -> Result<()> {
        println!("== {name}: {SKIPPED}{reason}");
        self.done.push(Done {
            name: name.to_owned(),
            took: Duration::ZERO,
            skipped: vec![reason.to_owned()],
        });
        Ok(())
    }

    /// Print the summary.
    pub fn finish(self) -> Result<()> {
        println!("\n{} summary", self.title);
        let (mut passed, mut skipped) = (0, 0);
        for step in &self.done {
            let whole = step.took.is_zero();
            let verdict = if whole { "skipped" } else { "passed" };
            println!(
                "  {:<14} {verdict:<8} {:>6.1} s",
                step.name,
                step.took.as_secs_f64()
            );
            for reason in &step.skipped {
                println!("      {SKIPPED}{reason}");
            }
            passed += usize::from(!whole);
            skipped += step.skipped.len();
        }
        let minutes = self.started.elapsed().as_secs_f64() / 60.0;
        println!(
            "{}: {passed} steps passed, {skipped} things skipped, {minutes:.1} min",
            self.title
        );
        Ok(())
    }
}

/// What an output said that must not be lost in it.
#[derive(Default)]
struct Seen {
    /// Reasons of what was skipped, each once.
    skipped: Vec<String>,
    /// What each failing test said at its end, [`FAILED_LINES_MAX`] lines at most.
    failed: Vec<VecDeque<String>>,
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
        if let Some((_, reason)) = line.split_once(SKIPPED) {
            let reason = reason.trim().to_owned();
            if !seen.skipped.contains(&reason) {
                seen.skipped.push(reason);
            }
        }
    }
    seen
}

fn repeat(step: &Step) -> String {
    let variables = step.environment.iter().map(|(n, v)| format!("{n}='{v}'"));
    variables
        .chain(step.words.iter().cloned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_kept_and_failures_stop() {
        let mut ladder = Ladder::new(Path::new("/"), "a ladder");
        ladder
            .run(Step::new("a", &["echo", "x skipped: no reason"]))
            .unwrap();
        assert_eq!(ladder.done[0].skipped, ["no reason"]);
        let said = |result: Result<()>| format!("{:#}", result.unwrap_err());
        let error = said(ladder.run(Step::new("b", &["false"])));
        assert!(error.contains("a ladder stopped: step b failed"), "{error}");
        let error = said(ladder.run(Step::new("c", &["sleep", "20"]).within_s(1)));
        assert!(error.contains("time limit"), "{error}");
    }

    #[test]
    fn what_runs_behind_a_step_counts_as_much() {
        let mut ladder = Ladder::new(Path::new("/"), "a ladder");
        let good = || Step::new("good", &["echo", "x skipped: no reason"]);
        ladder.run_before(good(), vec![good(), good()]).unwrap();
        let skipped: Vec<_> = ladder.done.iter().map(|done| done.skipped.concat()).collect();
        assert_eq!(skipped, ["no reason"; 3]);
        let behind = vec![good(), Step::new("bad", &["false"]), good()];
        let error = format!("{:#}", ladder.run_before(good(), behind).unwrap_err());
        assert!(error.contains("a ladder stopped: step bad failed"), "{error}");
        assert_eq!(ladder.done.len(), 5);
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
