//! The steps of a ladder that have run, and what is said of them at the end. The first that fails ends the ladder.

use super::lanes::{self, Behind};
use super::step::{Done, Failed, SKIPPED, Step};
use anyhow::{Result, anyhow, bail};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Shards of the tests that the summary names: those that took most CPU time.
const DEAREST_SHOWN: usize = 8;

/// Parts of one step.
#[derive(Default)]
pub struct Shards {
    /// Those that want the whole machine.
    pub alone: Vec<Step>,
    /// Those that mostly wait, and disturb nobody.
    pub waiting: Vec<Step>,
    /// Those that can run beside others, those that take longest first.
    pub beside: Vec<Step>,
}

/// Steps run so far.
pub struct Ladder {
    root: PathBuf,
    title: &'static str,
    started: Instant,
    done: Vec<Done>,
    /// Sentences about what ran side by side.
    notes: Vec<String>,
}

impl Ladder {
    /// An empty ladder.
    pub fn new(root: &Path, title: &'static str) -> Self {
        Ladder {
            root: root.to_owned(),
            title,
            started: Instant::now(),
            done: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Run `step`, showing its output as it comes.
    pub fn run(&mut self, step: Step) -> Result<()> {
        match step.execute(&self.root, &|line| println!("{line}")) {
            Ok(done) => {
                self.done.push(done);
                Ok(())
            }
            Err(failed) => self.stop(vec![failed]),
        }
    }

    /// Begin `steps`, one after the other, with the CPU time that the steps until [`Ladder::end`] leave. They end with this
    /// process, too.
    pub fn begin(&self, steps: Vec<Step>) -> Behind {
        let names: Vec<&str> = steps.iter().map(Step::name).collect();
        println!("== meanwhile: {}", names.join(", "));
        Behind::start(self.root.clone(), steps)
    }

    /// Wait for what [`Ladder::begin`] began.
    pub fn end(&mut self, behind: Behind) -> Result<()> {
        let Some(ran) = behind.end() else {
            bail!("{} stopped: a thread panicked", self.title);
        };
        self.done.extend(ran.done);
        self.stop(ran.failed)
    }

    /// Run `shards` of what is called `name` to the end of the last: first those that want the machine for themselves, then the
    /// others in lanes, and all the while those that mostly wait.
    pub fn run_shards(&mut self, name: &str, shards: Shards) -> Result<()> {
        let lanes = lanes::cpus();
        println!(
            "== {name}: {} shards one by one, {} in {} lanes, {} that mostly wait meanwhile",
            shards.alone.len(),
            shards.beside.len(),
            lanes.len(),
            shards.waiting.len()
        );
        let started = Instant::now();
        let root = self.root.as_path();
        let mut ran = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lanes::run(root, shards.waiting, vec![None]));
            let mut ran = lanes::run(root, shards.alone, vec![None]);
            ran.add(lanes::run(root, shards.beside, lanes));
            let waited = waiting.join();
            waited.map(|more| ran.add(more)).map(|()| ran)
        })
        .map_err(|_| anyhow!("{} stopped: a thread panicked", self.title))?;
        ran.done.sort_by_key(|one| std::cmp::Reverse(one.cpu));
        let (count, dearest) = (ran.done.len(), dearest(&ran.done));
        let whole = together(name, started.elapsed(), ran.done);
        self.notes.push(format!(
            "{name}: {} passed in {count} shards; most CPU time: {dearest}",
            whole.tests
        ));
        self.done.push(whole);
        self.stop(ran.failed)
    }

    /// The end of the ladder where something failed: what its tests said is shown once more.
    fn stop(&self, failed: Vec<Failed>) -> Result<()> {
        if failed.is_empty() {
            return Ok(());
        }
        let mut errors = Vec::new();
        for one in failed {
            if !one.said.is_empty() {
                println!("== what failed, again");
            }
            one.said.iter().for_each(|line| println!("{line}"));
            errors.push(one.error.to_string());
        }
        Err(anyhow!("{} stopped: {}", self.title, errors.join("\n  ")))
    }

    /// Record that a step cannot run here.
    pub fn skip(&mut self, name: &str, reason: &str) -> Result<()> {
        println!("== {name}: {SKIPPED}{reason}");
        self.done.push(Done {
            name: name.to_owned(),
            took: Duration::ZERO,
            cpu: Duration::ZERO,
            skipped: vec![reason.to_owned()],
            tests: 0,
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
            let (took, cpu) = (step.took.as_secs_f64(), step.cpu.as_secs_f64());
            println!(
                "  {:<14} {verdict:<8} {took:>6.1} s {cpu:>7.1} s of CPU time",
                step.name
            );
            for reason in &step.skipped {
                println!("      {SKIPPED}{reason}");
            }
            passed += usize::from(!whole);
            skipped += step.skipped.len();
        }
        self.notes.iter().for_each(|note| println!("{note}"));
        let minutes = self.started.elapsed().as_secs_f64() / 60.0;
        let cpu: Duration = self.done.iter().map(|step| step.cpu).sum();
        let cpu_minutes = cpu.as_secs_f64() / 60.0;
        println!(
            "{}: {passed} steps passed, {skipped} things skipped, {minutes:.1} min, {cpu_minutes:.1} min of CPU time",
            self.title
        );
        Ok(())
    }
}

/// The first of `done` with their CPU times.
fn dearest(done: &[Done]) -> String {
    let named = done.iter().take(DEAREST_SHOWN);
    let named: Vec<String> = named
        .map(|one| format!("{} {:.0} s", one.name, one.cpu.as_secs_f64()))
        .collect();
    named.join(", ")
}

/// Shards as one step.
fn together(name: &str, took: Duration, shards: Vec<Done>) -> Done {
    let mut skipped = Vec::new();
    let tests = shards.iter().map(|one| one.tests).sum();
    let cpu = shards.iter().map(|one| one.cpu).sum();
    for reason in shards.into_iter().flat_map(|one| one.skipped) {
        if !skipped.contains(&reason) {
            skipped.push(reason);
        }
    }
    Done {
        name: name.to_owned(),
        took,
        cpu,
        skipped,
        tests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: Result<()>) -> String {
        format!("{:#}", result.unwrap_err())
    }

    fn good() -> Step {
        Step::new("good", &["echo", "x skipped: no reason"])
    }

    #[test]
    fn skips_are_kept_and_failures_stop() {
        let mut ladder = Ladder::new(Path::new("/"), "a ladder");
        ladder.run(good()).unwrap();
        assert_eq!(ladder.done[0].skipped, ["no reason"]);
        let error = said(ladder.run(Step::new("b", &["false"])));
        assert!(error.contains("a ladder stopped: step b failed"), "{error}");
        let error = said(ladder.run(Step::new("c", &["sleep", "20"]).within_s(1)));
        assert!(error.contains("time limit"), "{error}");
    }

    #[test]
    fn what_runs_side_by_side_counts_as_one_step() {
        let mut ladder = Ladder::new(Path::new("/"), "a ladder");
        let line = "test result: ok. 3 passed; 0 failed";
        let counted = Step::new("counted", &["echo", line]);
        let shards = Shards {
            alone: vec![good()],
            waiting: vec![good()],
            beside: vec![counted],
        };
        let behind = ladder.begin(vec![good(), good()]);
        ladder.run_shards("tests", shards).unwrap();
        ladder.end(behind).unwrap();
        let skipped: Vec<_> = ladder.done.iter().map(|done| done.skipped.concat()).collect();
        assert_eq!(skipped, ["no reason"; 3]);
        assert_eq!(ladder.done[0].tests, 3);
        assert!(ladder.notes[0].starts_with("tests: 3 passed in 3 shards"));
    }

    #[test]
    fn every_shard_runs_though_one_fails() {
        let mut ladder = Ladder::new(Path::new("/"), "a ladder");
        let bad = |name| Step::new(name, &["false"]);
        let shards = Shards {
            alone: vec![bad("first"), good()],
            waiting: vec![bad("slow")],
            beside: vec![bad("last"), good()],
        };
        let error = said(ladder.run_shards("tests", shards));
        assert!(error.contains("step first failed"), "{error}");
        assert!(error.contains("step slow failed"), "{error}");
        assert!(error.contains("step last failed"), "{error}");
        let behind = ladder.begin(vec![good(), bad("bad"), good()]);
        let error = said(ladder.end(behind));
        assert!(error.contains("a ladder stopped: step bad failed"), "{error}");
        assert_eq!(ladder.done.len(), 2);
    }
}
