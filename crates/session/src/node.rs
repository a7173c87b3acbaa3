//! One host's part: it knows what is free here, starts computations as processes of their own within their limits,
//! watches them, and reaps every one. It must never grant what it does not have, nor leave anything behind.

use crate::definition::{Computation, Resources};
use crate::groups::{Group, Roots};
use crate::refused;
use crate::report::{ComputationReport, Granted, Logged};
use crate::say::{LogTo, Order, Said, Work, hear, say};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wirespeed_control::{Failure, RankProcess, RankProgram};
use wirespeed_schema::Finite;

/// A computation must be ready by then.
const READY_TIME: Duration = Duration::from_secs(10);
/// A computation that was told to stop has so long to say its last words.
const STOP_TIME: Duration = Duration::from_secs(2);
/// Time for the kernel to end a killed process.
const KILL_TIME: Duration = Duration::from_secs(5);

/// What of a host is not set aside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Free {
    /// Cores.
    pub cores: f64,
    /// Memory.
    pub memory_bytes: u64,
}

impl Free {
    /// Whether `resources` fit.
    pub fn holds(&self, resources: &Resources) -> bool {
        resources.cores.map_or(0.0, Finite::get) <= self.cores + 1e-9
            && resources.memory_bytes.unwrap_or(0) <= self.memory_bytes
    }

    /// Set `resources` aside.
    pub fn take(&mut self, resources: &Resources) {
        self.cores -= resources.cores.map_or(0.0, Finite::get);
        self.memory_bytes = self
            .memory_bytes
            .saturating_sub(resources.memory_bytes.unwrap_or(0));
    }

    /// Give `resources` back.
    pub fn give(&mut self, resources: &Resources) {
        self.cores += resources.cores.map_or(0.0, Finite::get);
        self.memory_bytes += resources.memory_bytes.unwrap_or(0);
    }
}

/// A host on which computations can be started.
#[derive(Debug)]
pub struct Node {
    name: String,
    program: RankProgram,
    roots: Roots,
    free: Arc<Mutex<Free>>,
}

impl Node {
    /// This host under `name`; `program` becomes a computation (`wirespeed __computation`).
    pub fn new(name: impl Into<String>, program: RankProgram) -> Self {
        let free = Free {
            cores: wirespeed::host::allowed_cpus().len() as f64,
            memory_bytes: wirespeed::host::available_bytes(),
        };
        Node {
            name: name.into(),
            program,
            roots: Roots::find(),
            free: Arc::new(Mutex::new(free)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is free.
    pub fn free(&self) -> Free {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Start a computation; on return it runs, but is not ready yet. What does not fit is refused.
    pub fn start(&self, what: &Computation, work: Work) -> Result<Running, Failure> {
        let set_aside = self.set_aside(&what.resources)?;
        let launched = self.launch(what);
        let (child, channel, talk) = launched.map_err(|e| {
            crate::failed(
                format!("{}: cannot start {}: {e}", what.name, self.program.path.display()),
                "check that processes may be started",
            )
        })?;
        let cores = what.resources.cores.map(Finite::get);
        let mut group = Group::make(&self.roots, cores, what.resources.memory_bytes);
        group.hold(child.id());
        let (granted, cpus) = granted(&what.resources, &group);
        let be = Order::Be {
            work: work.clone(),
            cpus,
            groups: group.folders().to_vec(),
        };
        // A computation that is gone already shows as the end of its socket.
        let _ = say(&talk, &be);
        let report = ComputationReport {
            name: what.name.clone(),
            node: self.name.clone(),
            asked: what.resources,
            granted,
            ..ComputationReport::default()
        };
        Running::watch(child, channel, talk, group, report, work, set_aside)
    }

    fn set_aside(&self, resources: &Resources) -> Result<SetAside, Failure> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if !free.holds(resources) {
            return Err(too_much(resources, &[(&self.name, *free)]));
        }
        free.take(resources);
        Ok(SetAside {
            free: self.free.clone(),
            resources: *resources,
        })
    }

    fn launch(&self, what: &Computation) -> io::Result<(Child, UnixStream, UnixStream)> {
        let (channel, its_channel) = UnixStream::pair()?;
        let (talk, its_talk) = UnixStream::pair()?;
        let child = Command::new(&self.program.path)
            .args(&self.program.arguments)
            .envs(self.program.environment.iter().map(|(k, v)| (k, v)))
            .envs(&what.environment)
            .env("WIRESPEED_COMPUTATION", &what.name)
            .stdin(Stdio::from(OwnedFd::from(its_channel)))
            .stdout(Stdio::from(OwnedFd::from(its_talk)))
            .process_group(0)
            .spawn()?;
        Ok((child, channel, talk))
    }
}

/// More was asked for than there is; names what is free.
pub(crate) fn too_much(resources: &Resources, nodes: &[(&str, Free)]) -> Failure {
    use wirespeed_schema::units::{format_size, significant};
    let free: Vec<String> = nodes
        .iter()
        .map(|(name, free)| {
            let cores = significant(free.cores.max(0.0), 3);
            format!(
                "{name} has {cores} cores and {} free",
                format_size(free.memory_bytes)
            )
        })
        .collect();
    let cores = resources
        .cores
        .map(|c| format!("{} cores", significant(c.get(), 3)));
    let memory = resources.memory_bytes.map(format_size);
    let asked: Vec<String> = cores.into_iter().chain(memory).collect();
    refused(
        format!("no node has {}: {}", asked.join(" and "), free.join(", ")),
        "ask for less with --cores and --requestMb, or end other sessions",
    )
}

/// What is enforced by the group, and the CPUs where affinity must do.
fn granted(asked: &Resources, group: &Group) -> (Granted, Option<Vec<u32>>) {
    let nothing = || "nothing".to_owned();
    let mut granted = Granted {
        cores_by: nothing(),
        memory_by: nothing(),
        refusals: group.refusals.clone(),
        ..Granted::default()
    };
    if group.memory_enforced {
        granted.memory_bytes = asked.memory_bytes;
        granted.memory_by = group.means().to_owned();
    }
    if group.cores_enforced {
        granted.cores = asked.cores;
        granted.cores_by = group.means().to_owned();
        return (granted, None);
    }
    let cpus = asked.cores.map(|cores| {
        let allowed = wirespeed::host::allowed_cpus();
        let count = (cores.get().ceil() as usize).clamp(1, allowed.len().max(1));
        granted.cores = Finite::maybe(count as f64);
        granted.cores_by = "affinity".to_owned();
        allowed[..count.min(allowed.len())].to_vec()
    });
    (granted, cpus)
}

/// Resources of a computation, given back when dropped.
#[derive(Debug)]
struct SetAside {
    free: Arc<Mutex<Free>>,
    resources: Resources,
}

impl Drop for SetAside {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.give(&self.resources);
    }
}

/// What is known of a computation.
#[derive(Debug, Default)]
struct State {
    ready: bool,
    /// Why it could not go on, in its own words.
    own_words: Option<String>,
    went_at: Option<Instant>,
    told_to_stop: bool,
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
    fn watch(
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
        let watcher = {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name("computation".into())
                .spawn(move || watch(child, reader, group, &shared, &work, set_aside))
                .map_err(broken)?
        };
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
        self.channel.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Wait until it is ready.
    pub fn wait_ready(&self) -> Result<(), Failure> {
        let waiting = |state: &mut State| !state.ready && !state.ended;
        let state = self
            .shared
            .moved
            .wait_timeout_while(self.state(), READY_TIME, waiting);
        let (state, _) = state.unwrap_or_else(PoisonError::into_inner);
        match (state.ready, state.ended) {
            (true, false) => Ok(()),
            (_, true) => Err(self.died(&state)),
            _ => Err(crate::failed(
                format!("{} was not ready within {} s", self.name, READY_TIME.as_secs()),
                "look at its log, and at the load of its host",
            )),
        }
    }

    fn died(&self, state: &State) -> Failure {
        let why = state.report.exit.clone();
        let when = if state.went_at.is_some() { "" } else { " at start" };
        crate::failed(
            format!("{} died{when}: {why}", self.name),
            "look at its log; --requestMb and --cores bound it",
        )
    }

    /// Everybody is ready: go.
    pub fn go(&self) {
        self.state().went_at = Some(Instant::now());
        // One that is gone is noticed by its watcher.
        let _ = say(&self.talk, &Order::Go);
    }

    /// Why it ended before it was told to, if it did.
    pub fn early_end(&self) -> Option<Failure> {
        let state = self.state();
        (state.ended && state.report.early).then(|| self.died(&state))
    }

    /// Wait for its end, or for `time`; whether it has ended.
    pub fn wait_ended(&self, time: Duration) -> bool {
        let waited = self
            .shared
            .moved
            .wait_timeout_while(self.state(), time, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    /// Tell it to stop; [`Running::finish`] waits for it.
    pub fn stop(&self) {
        self.look();
        self.state().told_to_stop = true;
        let _ = say(&self.talk, &Order::Stop);
    }

    /// Note how much memory it has.
    fn look(&self) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let bytes = |key: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            let kb: u64 = line
                .trim_start_matches(':')
                .trim()
                .strip_suffix("kB")?
                .trim()
                .parse()
                .ok()?;
            Some(kb * 1024)
        };
        let mut state = self.state();
        let seen = &mut state.report.observed;
        seen.resident_max_bytes = bytes("VmHWM").or(seen.resident_max_bytes);
        seen.virtual_max_bytes = bytes("VmPeak").or(seen.virtual_max_bytes);
    }

    /// How its process ended, in words, once it has.
    pub fn ended(&self) -> Option<String> {
        let state = self.state();
        state.ended.then(|| state.report.exit.clone())
    }

    /// End it by force.
    pub fn kill(&self) {
        if !self.state().ended
            && let Some(pid) = rustix::process::Pid::from_raw(self.pid.cast_signed())
        {
            // Not reaped before the watcher has seen its end, so the number is still its own.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    /// Wait for its end, by force when it takes too long, and tell everything about it.
    pub fn finish(mut self) -> ComputationReport {
        self.end();
        let mut report = std::mem::take(&mut self.state().report);
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.watcher.is_some() {
            self.kill();
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
    let mut said_done = false;
    while let Ok(Some(said)) = hear::<Said>(&mut reader) {
        said_done |= matches!(said, Said::Done { .. });
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut state, said, work);
        shared.moved.notify_all();
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
    let usage = group.usage();
    drop(group);
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    let since_go = state
        .went_at
        .map(|at| heard_end.saturating_duration_since(at).as_nanos() as u64);
    let (told, words) = (state.told_to_stop, state.own_words.take());
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
    report.early = !said_done && !told;
    report.exit = match (usage.oom_kills > 0, words) {
        (true, _) => "the kernel killed it for memory".into(),
        (_, Some(words)) => words,
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
                elapsed_ns,
                to: LogTo::name(&work.log.to),
            });
        }
        Said::Failed { why } => state.own_words = Some(why),
        Said::Done {
            cpu_ns,
            elapsed_ns,
            load_done,
        } => {
            state.report.load_done = load_done;
            if elapsed_ns > 0 {
                state.report.observed.cores_used = Finite::maybe(cpu_ns as f64 / elapsed_ns as f64);
            }
        }
    }
}
