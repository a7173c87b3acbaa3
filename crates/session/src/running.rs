//! A computation that was started on this host: it is watched until it is gone, reaped, and told about. It must never
//! outlive whoever holds it.

use crate::groups::Group;
use crate::node::SetAside;
use crate::report::{ComputationReport, Logged};
use crate::say::{LogTo, Order, Said, Work, hear, say};
use parking_lot::{Condvar, Mutex};
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wirespeed::host::of_process_bytes;
use wirespeed_control::thread::spawn;
use wirespeed_control::{Failure, RankProcess};
use wirespeed_schema::Finite;
use wirespeed_schema::shown::without_numbers;

/// A computation must be ready by then.
const READY_TIME: Duration = Duration::from_secs(30);
/// A computation that was told to stop has so long to say its last words.
const STOP_TIME: Duration = Duration::from_secs(2);
/// Time for the kernel to end a killed process.
const KILL_TIME: Duration = Duration::from_secs(5);

/// What is known of a computation.
#[derive(Debug, Default)]
struct State {
    ready: bool,
    /// Why it could not go on, in its own words.
    own_words: Option<String>,
    went_at: Option<Instant>,
    /// Voluntary context switches of all threads at the go.
    switches_at_go: Option<u64>,
    told_to_stop: bool,
    /// It was ended by force, from here.
    killed: bool,
    ended: bool,
    report: ComputationReport,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    moved: Condvar,
}

/// A computation that was started. Dropped, it is ended by force and reaped.
#[derive(Debug)]
pub struct Running {
    name: String,
    pid: u32,
    channel: Mutex<Option<UnixStream>>,
    talk: UnixStream,
    shared: Arc<Shared>,
    watcher: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    pub(crate) fn watch(
        child: Child,
        channel: UnixStream,
        talk: UnixStream,
        group: Group,
        report: ComputationReport,
        work: Work,
        set_aside: SetAside,
    ) -> Result<Self, Failure> {
        let (name, pid) = (report.name.clone(), child.id());
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                report,
                ..State::default()
            }),
            moved: Condvar::new(),
        });
        let broken = |e: io::Error| crate::failed(format!("{name}: {e}"), "close some files and run again");
        let reader = BufReader::new(talk.try_clone().map_err(broken)?);
        let here = shared.clone();
        let watcher = spawn("computation", move || {
            watch(child, reader, group, &here, &work, set_aside)
        });
        let watcher = watcher.map_err(broken)?;
        Ok(Running {
            name,
            pid,
            channel: Mutex::new(Some(channel)),
            talk,
            shared,
            watcher: Some(watcher),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The control channel of its rank; there is one.
    pub fn take_channel(&self) -> Option<UnixStream> {
        self.channel.lock().take()
    }

    /// Wait until it is ready.
    pub fn wait_ready(&self) -> Result<(), Failure> {
        let waiting = |state: &mut State| !state.ready && !state.ended;
        let mut state = self.shared.state.lock();
        self.shared.moved.wait_while_for(&mut state, waiting, READY_TIME);
        match (state.ready, state.ended) {
            (true, false) => Ok(()),
            (_, true) => Err(died(&self.name, &state)),
            _ => Err(crate::failed(
                format!("{} was not ready within {} s", self.name, READY_TIME.as_secs()),
                "look at its log, and at the load of its host",
            )),
        }
    }

    /// Everybody is ready: go.
    pub fn go(&self) {
        let switches = voluntary_switches(self.pid);
        let mut state = self.shared.state.lock();
        (state.went_at, state.switches_at_go) = (Some(Instant::now()), switches);
        drop(state);
        // One that is gone is noticed by its watcher.
        let _ = say(&self.talk, &Order::Go);
    }

    /// Why it ended before it was told to, if it did.
    pub fn early_end(&self) -> Option<Failure> {
        let state = self.shared.state.lock();
        (state.ended && state.report.early).then(|| died(&self.name, &state))
    }

    /// Wait for its end, or for `time`; whether it has ended.
    pub fn wait_ended(&self, time: Duration) -> bool {
        let mut state = self.shared.state.lock();
        self.shared
            .moved
            .wait_while_for(&mut state, |state| !state.ended, time);
        state.ended
    }

    /// Sleeps until it has ended, without holding it; why, where that was before it was told to.
    pub fn end_watch(&self) -> impl FnOnce() -> Option<Failure> + Send + use<> {
        let (name, shared) = (self.name.clone(), self.shared.clone());
        move || {
            let mut state = shared.state.lock();
            shared.moved.wait_while(&mut state, |state| !state.ended);
            state.report.early.then(|| died(&name, &state))
        }
    }

    /// Tell it to stop; [`Running::finish`] waits for it.
    pub fn stop(&self) {
        self.look();
        self.shared.state.lock().told_to_stop = true;
        let _ = say(&self.talk, &Order::Stop);
    }

    /// Note how much memory it has, and how often it woke.
    fn look(&self) {
        let bytes = |key: &str| of_process_bytes(self.pid, key);
        let switches = voluntary_switches(self.pid);
        let mut state = self.shared.state.lock();
        let since = state.went_at.map(|at| at.elapsed().as_secs_f64());
        let woken = switches.zip(state.switches_at_go).zip(since);
        let seen = &mut state.report.observed;
        if let Some(((now, before), seconds)) = woken {
            seen.wakeups_per_s = Finite::maybe(now.saturating_sub(before) as f64 / seconds);
        }
        seen.resident_max_bytes = bytes("VmHWM").or(seen.resident_max_bytes);
        seen.virtual_max_bytes = bytes("VmPeak").or(seen.virtual_max_bytes);
    }

    /// How its process ended, in words, once it has.
    pub fn ended(&self) -> Option<String> {
        let state = self.shared.state.lock();
        state.ended.then(|| state.report.exit.clone())
    }

    /// End it by force, because it no longer answers.
    pub fn kill(&self) {
        self.shared.state.lock().killed = true;
        self.kill_now();
    }

    fn kill_now(&self) {
        let state = self.shared.state.lock();
        if !state.ended
            && let Some(pid) = rustix::process::Pid::from_raw(self.pid.cast_signed())
        {
            // Not reaped before the watcher has seen its end, so the number is still its own.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    /// Tell all of them to stop, and everything about each. Launchers may hold some yet; a group that is gone has let go of them.
    pub fn end_all(all: Vec<Arc<Running>>) -> Vec<ComputationReport> {
        all.iter().for_each(|running| running.stop());
        let owned = all.into_iter().filter_map(Arc::into_inner);
        owned.map(Running::finish).collect()
    }

    /// Wait for its end, by force when it takes too long, and tell everything about it.
    pub fn finish(mut self) -> ComputationReport {
        self.end();
        let mut report = std::mem::take(&mut self.shared.state.lock().report);
        report.judge();
        report
    }

    fn end(&mut self) {
        if !self.wait_ended(STOP_TIME) {
            self.kill();
            self.wait_ended(KILL_TIME);
        }
        if let Some(watcher) = self.watcher.take() {
            // It has no reason to panic; its report is then what was known before.
            let _ = watcher.join();
        }
    }
}

fn died(name: &str, state: &State) -> Failure {
    let why = state.report.exit.clone();
    let when = if state.went_at.is_some() { "" } else { " at start" };
    crate::failed(format!("{name} died{when}: {why}"), state.report.remedy())
}

/// How often the threads of process `pid` have gone to sleep so far; format: proc_pid_status(5).
fn voluntary_switches(pid: u32) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let of_thread = |folder: std::path::PathBuf| {
        let status = std::fs::read_to_string(folder.join("status")).ok()?;
        let count = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        count.trim().parse::<u64>().ok()
    };
    Some(
        threads
            .flatten()
            .filter_map(|thread| of_thread(thread.path()))
            .sum(),
    )
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.watcher.is_some() {
            self.kill_now();
            self.end();
        }
    }
}

/// Hear what it says until it is gone, then reap it and note how it ended.
fn watch(
    mut child: Child,
    mut reader: BufReader<UnixStream>,
    group: Group,
    shared: &Shared,
    work: &Work,
    set_aside: SetAside,
) {
    let (mut said_done, mut usage) = (false, None);
    while let Ok(Some(said)) = hear::<Said>(&mut reader) {
        let is_last = matches!(said, Said::Done { .. } | Said::Failed { .. });
        said_done |= matches!(said, Said::Done { .. });
        let mut state = shared.state.lock();
        note(&mut state, said, work);
        shared.moved.notify_all();
        drop(state);
        if is_last {
            // It waits to be ended, so that its group still counts it.
            usage = Some(group.usage());
            RankProcess::kill(&mut child);
        }
    }
    let heard_end = Instant::now();
    // Nothing more will be heard: what still runs has closed its socket, and is ended.
    let mut how = RankProcess::ended(&mut child);
    while how.is_none() && heard_end.elapsed() < Duration::from_millis(200) {
        std::thread::sleep(Duration::from_millis(1));
        how = RankProcess::ended(&mut child);
    }
    if how.is_none() {
        RankProcess::kill(&mut child);
        let status = child.wait();
        how = status.ok().map(wirespeed_control::launch::seam::describe);
    }
    let usage = usage.unwrap_or_else(|| group.usage());
    drop(group);
    let mut state = shared.state.lock();
    let since_go = state
        .went_at
        .map(|at| heard_end.saturating_duration_since(at).as_nanos() as u64);
    let (told, killed, words) = (state.told_to_stop, state.killed, state.own_words.take());
    let report = &mut state.report;
    let seen = &mut report.observed;
    seen.throttled_ns = usage.throttled_ns;
    seen.charged_max_bytes = usage.memory_max_bytes;
    if let (None, Some(cpu_ns), Some(ns @ 1..)) = (seen.cores_used, usage.cpu_ns, since_go) {
        seen.cores_used = Finite::maybe(cpu_ns as f64 / ns as f64);
    }
    if usage.oom_kills > 0 {
        seen.out_of_memory_after_ns = since_go;
    }
    report.early = !said_done && (!told || words.is_some());
    report.exit = match (usage.oom_kills > 0, words) {
        (true, _) => ComputationReport::OUT_OF_MEMORY.into(),
        (_, Some(words)) => words,
        (_, None) if killed && !said_done => "it no longer answered, and was killed for that".into(),
        (_, None) if said_done || told => "ended when told to".into(),
        (_, None) => how.unwrap_or_else(|| "it is gone".into()),
    };
    state.ended = true;
    drop(set_aside);
    shared.moved.notify_all();
}

fn note(state: &mut State, said: Said, work: &Work) {
    match said {
        Said::Ready => state.ready = true,
        Said::Working => {}
        Said::Environment { variables } => state.report.environment = variables,
        Said::Logged { lines, elapsed_ns } => {
            state.report.logged = Some(Logged {
                threads: work.log.threads,
                lines,
                lines_asked: work.log.lines,
                elapsed_ns,
                to: LogTo::name(&work.log.to),
            });
        }
        Said::Failed { why } => state.own_words = Some(without_numbers(why)),
        Said::Done {
            cpu_ns,
            elapsed_ns,
            load_done,
            resident_max_bytes,
        } => {
            let seen = &mut state.report.observed.resident_max_bytes;
            *seen = resident_max_bytes.max(*seen);
            state.report.load_done = load_done;
            if elapsed_ns > 0 {
                state.report.observed.cores_used = Finite::maybe(cpu_ns as f64 / elapsed_ns as f64);
            }
        }
    }
}
