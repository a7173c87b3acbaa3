//! Steps that run side by side: some lanes empty one queue, and behind them runs what only compiles. What a step printed is
//! shown when it has ended; of one in a lane that passed, only what it skipped.

use super::step::{Done, Failed, SKIPPED, Step};
use crate::command;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What steps did, in the order in which they ended.
#[derive(Default)]
pub struct Ran {
    pub done: Vec<Done>,
    pub failed: Vec<Failed>,
}

impl Ran {
    /// With what other steps did.
    pub fn add(&mut self, other: Ran) {
        self.done.extend(other.done);
        self.failed.extend(other.failed);
    }
}

/// Most lanes. What waits needs no CPU, and what measures disturbs others.
const LANES_MAX: usize = 4;

/// The CPUs of each lane: two where there are four or more, else one, so that what keeps a CPU busy in one lane slows nothing
/// in another. One lane that may use all of them where there is but one, or no way to keep to some.
pub fn cpus() -> Vec<Option<String>> {
    let cpus = listed(&allowed());
    if cpus.len() < 2 || command::find("taskset").is_none() {
        return vec![None];
    }
    let each = if cpus.len() < 4 { 1 } else { 2 };
    let names = |some: &[u32]| some.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    cpus.chunks_exact(each)
        .take(LANES_MAX)
        .map(|some| Some(names(some)))
        .collect()
}

/// The CPUs that this process may use, as a list.
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap_or_default().trim().to_owned()
}

/// The numbers of a list such as `0-2,5`.
fn listed(list: &str) -> Vec<u32> {
    let ranges = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Run `steps` to the end of the last, whatever fails; one at a time on each of `lanes`, which are lists of CPUs.
pub fn run(root: &Path, steps: Vec<Step>, lanes: Vec<Option<String>>) -> Ran {
    let queue = Mutex::new(VecDeque::from(steps));
    let ran = Mutex::new(Ran::default());
    let every = allowed();
    std::thread::scope(|scope| {
        for cpus in lanes {
            let (queue, ran, every) = (&queue, &ran, every.as_str());
            scope.spawn(move || {
                // The queue must not be held while a step runs.
                let next = || locked(queue).pop_front();
                while let Some(step) = next() {
                    let (result, output) = quietly(root, step.on(cpus.as_deref(), every));
                    let mut ran = locked(ran);
                    match result {
                        Ok(done) => {
                            let (took, cpu) = (done.took.as_secs_f64(), done.cpu.as_secs_f64());
                            println!("{took:7.1} s {cpu:7.1} s of CPU  {}", done.name);
                            let skipped = done.skipped.iter();
                            skipped.for_each(|reason| println!("{:11}{SKIPPED}{reason}", ""));
                            ran.done.push(done);
                        }
                        Err(failed) => {
                            print!("{output}");
                            ran.failed.push(failed);
                        }
                    }
                }
            });
        }
    });
    ran.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Steps that run one after the other with the CPU time that nobody else wants, until the first that fails.
pub struct Behind {
    thread: JoinHandle<Ran>,
    output: Arc<Mutex<String>>,
}

impl Behind {
    /// Begin. They end with this process.
    pub fn start(root: PathBuf, steps: Vec<Step>) -> Self {
        let output = Arc::new(Mutex::new(String::new()));
        let here = output.clone();
        let thread = std::thread::spawn(move || {
            let mut ran = Ran::default();
            for step in steps {
                let (result, said) = quietly(&root, step.behind());
                locked(&here).push_str(&said);
                match result {
                    Ok(done) => ran.done.push(done),
                    Err(failed) => {
                        ran.failed.push(failed);
                        break;
                    }
                }
            }
            ran
        });
        Behind { thread, output }
    }

    /// Wait for their end, and show what they printed; nothing where their thread panicked.
    pub fn end(self) -> Option<Ran> {
        let ran = self.thread.join().ok()?;
        print!("{}", locked(&self.output));
        Some(ran)
    }
}

/// Run a step; its output comes back.
fn quietly(root: &Path, step: Step) -> (Result<Done, Failed>, String) {
    let output = Mutex::new(String::new());
    let result = step.execute(root, &|line| {
        let mut output = locked(&output);
        output.push_str(line);
        output.push('\n');
    });
    (
        result,
        output.into_inner().unwrap_or_else(PoisonError::into_inner),
    )
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_and_no_cpu_is_in_two_lanes() {
        assert_eq!(listed("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(listed("7"), [7]);
        let lanes = cpus();
        let mut all: Vec<u32> = lanes.iter().flatten().flat_map(|lane| listed(lane)).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!((all.len(), lanes.is_empty()), (count, false), "{lanes:?}");
    }

    #[test]
    fn a_lane_keeps_to_its_cpus() {
        let Some(Some(lane)) = cpus().pop() else {
            return;
        };
        let words = ["sh", "-c", "echo skipped: $(taskset -pc $$ | sed 's/.*: //')"];
        let ran = run(
            Path::new("/"),
            vec![Step::new("shown", &words)],
            vec![Some(lane.clone())],
        );
        assert_eq!(listed(&ran.done[0].skipped[0]), listed(&lane));
    }
}
