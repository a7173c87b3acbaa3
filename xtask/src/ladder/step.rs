//! One step of the ladder: a program with a name, a time limit, and two things that are never lost in its output:
//! `skipped: REASON` lines, and what failing tests said, which is shown again at the end.

use crate::command;
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
}

struct Done {
    name: String,
    took: Duration,
    skipped: Vec<String>,
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
        println!("== {}: {}", step.name, step.words.join(" "));
        let started = Instant::now();
        let mut child = step
            .command(&self.root)
            .spawn()
            .with_context(|| format!("{}: cannot start step {}", self.title, step.name))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let seen = std::thread::scope(|scope| {
            let errors = scope.spawn(|| {
                stderr
                    .map(|s| echo(s, |line| eprintln!("{line}")))
                    .unwrap_or_default()
            });
            let mut seen = stdout
                .map(|s| echo(s, |line| println!("{line}")))
                .unwrap_or_default();
            seen.skipped.extend(errors.join().unwrap_or_default().skipped);
            seen
        });
        let status = child.wait()?;
        let took = started.elapsed();
        if !status.success() {
            // Other tests' output follows a failure; a log's end shall say what went wrong.
            if !seen.failed.is_empty() {
                println!("== {}: what failed, again", step.name);
            }
            for line in seen.failed.iter().flatten() {
                println!("{line}");
            }
            let late = if status.code() == Some(124) {
                " (it ran past its time limit)"
            } else {
                ""
            };
            bail!(
                "{} stopped: step {} failed after {:.1} s, {status}{late}; repeat it with `{}`",
                self.title,
                step.name,
                took.as_secs_f64(),
                repeat(&step)
            );
        }
        println!("== {}: passed in {:.1} s", step.name, took.as_secs_f64());
        self.done.push(Done {
            name: step.name,
            took,
            skipped: seen.skipped,
        });
        Ok(())
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
        let error = ladder.run(Step::new("b", &["false"])).unwrap_err().to_string();
        assert!(error.contains("step b failed"), "{error}");
        let error = ladder
            .run(Step::new("c", &["sleep", "20"]).within_s(1))
            .unwrap_err()
            .to_string();
        assert!(error.contains("time limit"), "{error}");
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
