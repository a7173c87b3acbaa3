//! Background load that a rank puts on its machine beside the measurement: threads that burn CPU, memory that is held
//! and touched, threads that write log lines.
//!
//! It must never run in the measuring thread once started, stay on its CPU while there are others, or outlive its
//! [`Background`].

mod work;

use crate::host::{HostError, allowed_cpus, available_bytes, restrict_thread};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};
use wirespeed_schema::case::Load;
use wirespeed_schema::units::format_size_exact;

/// Most threads of one load; more is a mistyped number.
pub const THREADS_MAX: u32 = 1024;

/// Where log threads write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LogTarget {
    /// To `/dev/null`: the system call without the device.
    #[default]
    Null,
    /// To this file, emptied first, and again whenever a thread has written 64 MiB to it.
    File(PathBuf),
}

/// Why a load was not started. Nothing of it is left then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The load contradicts itself: a usage error.
    #[error("the load is to touch {} of {} of memory", format_size_exact(*.touch_bytes), format_size_exact(*.memory_bytes))]
    TouchBeyondMemory {
        /// What is to be touched.
        touch_bytes: u64,
        /// What is to be allocated.
        memory_bytes: u64,
    },
    /// More threads than [`THREADS_MAX`]: a usage error.
    #[error("{wanted} load threads are more than the {THREADS_MAX} that a rank may have")]
    Threads {
        /// CPU and log threads together.
        wanted: u64,
    },
    /// More memory than is available; refused before allocating.
    #[error("{} of memory are more than the {available} bytes available", format_size_exact(*.wanted))]
    Memory {
        /// What the load asks for.
        wanted: u64,
        /// What can be used.
        available: u64,
    },
    /// The system refused memory that seemed available.
    #[error("cannot allocate {} of memory", format_size_exact(*.wanted))]
    Allocate {
        /// What the load asks for.
        wanted: u64,
    },
    /// The log cannot be opened.
    #[error("cannot write the load's log to {}: {source}", path.display())]
    Log {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system refused a thread.
    #[error("cannot start a load thread: {0}")]
    Spawn(#[source] io::Error),
    /// A load thread cannot leave the measuring CPU.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// A running load. Stops and joins its threads, and frees its memory, on [`stop`](Background::stop) or on drop.
#[derive(Debug)]
pub struct Background {
    stop: Arc<AtomicBool>,
    threads: Vec<Worker>,
    counts: BTreeMap<String, u64>,
    /// Held, not touched any more; memory that is touched again and again belongs to its thread.
    _memory: Vec<u8>,
}

/// A thread, and the name under which its count is reported.
#[derive(Debug)]
struct Worker {
    key: &'static str,
    handle: JoinHandle<u64>,
}

impl Background {
    /// Start `load`; its log goes nowhere. See [`start_logging_to`](Background::start_logging_to).
    pub fn start(load: &Load, avoid_cpu: Option<u32>) -> Result<Self, LoadError> {
        Self::start_logging_to(load, avoid_cpu, &LogTarget::Null)
    }

    /// Start `load`. On return its memory is allocated (and touched, if once), and every thread runs: on all CPUs that
    /// the calling thread is allowed (a live pin does not count) except `avoid_cpu`, unless that is the only one.
    pub fn start_logging_to(load: &Load, avoid_cpu: Option<u32>, log: &LogTarget) -> Result<Self, LoadError> {
        check(load)?;
        let available = available_bytes();
        if load.memory_bytes > available {
            return Err(LoadError::Memory {
                wanted: load.memory_bytes,
                available,
            });
        }
        Self::start_beyond(load, avoid_cpu, log)
    }

    /// As `start_logging_to`, but more memory may be asked for than is available: to see what enforces a limit. The
    /// kernel may end this process for it.
    pub fn start_beyond(load: &Load, avoid_cpu: Option<u32>, log: &LogTarget) -> Result<Self, LoadError> {
        check(load)?;
        let mut memory = allocate(load.memory_bytes)?;
        let mut background = Background {
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
            counts: BTreeMap::new(),
            _memory: Vec::new(),
        };
        let touch_bytes = load.touch_bytes as usize;
        let crew = Crew::new(cpus_beside(&allowed_cpus(), avoid_cpu));
        if touch_bytes > 0 && load.touch_once {
            work::touch_reserved(&mut memory, 0..touch_bytes);
            background
                .counts
                .insert(work::TOUCHED_BYTES.to_owned(), load.touch_bytes);
        }
        if touch_bytes > 0 && !load.touch_once {
            crew.hire(&mut background, work::TOUCHED_BYTES, move |stop| {
                work::touch_until(stop, &mut memory, touch_bytes)
            })?;
        } else {
            background._memory = memory;
        }
        if load.log_threads > 0 {
            let file = open_log(log)?;
            for number in 0..load.log_threads {
                let file = file.try_clone().map_err(LoadError::Spawn)?;
                crew.hire(&mut background, work::LOG_LINES, move |stop| {
                    work::log_until(stop, file, number)
                })?;
            }
        }
        for _ in 0..load.cpu_threads {
            crew.hire(&mut background, work::CPU_LOOPS, work::burn_until)?;
        }
        crew.wait_for_all()?;
        Ok(background)
    }

    /// Stop all threads, wait for them, and tell what was done: `cpu_loops` (of 10,000 multiplications),
    /// `touched_bytes`, `log_lines`; only what the load asked for.
    pub fn stop(mut self) -> BTreeMap<String, u64> {
        self.join();
        std::mem::take(&mut self.counts)
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for worker in self.threads.drain(..) {
            // A worker has nothing to panic about; if one did, its count is lost and the others still end.
            let count = worker.handle.join().unwrap_or(0);
            let sum = self.counts.entry(worker.key.to_owned()).or_insert(0);
            *sum = sum.saturating_add(count);
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.join();
    }
}

/// Threads being started: each reports once whether it got its CPUs.
struct Crew {
    cpus: Arc<[u32]>,
    ready: Sender<Result<(), HostError>>,
    reports: std::sync::mpsc::Receiver<Result<(), HostError>>,
}

impl Crew {
    fn new(cpus: Vec<u32>) -> Self {
        let (ready, reports) = channel();
        Crew {
            cpus: cpus.into(),
            ready,
            reports,
        }
    }

    /// Start a thread that counts what it does until it is told to stop.
    fn hire(
        &self,
        background: &mut Background,
        key: &'static str,
        task: impl FnOnce(&AtomicBool) -> u64 + Send + 'static,
    ) -> Result<(), LoadError> {
        let (stop, cpus, ready) = (background.stop.clone(), self.cpus.clone(), self.ready.clone());
        let body = move || {
            let placed = restrict_thread(&cpus);
            let good = placed.is_ok();
            // Nobody listens any more when another thread could not be started.
            let _ = ready.send(placed);
            drop(ready);
            if good { task(&stop) } else { 0 }
        };
        let builder = Builder::new().name("wirespeed-load".to_owned());
        let handle = builder.spawn(body).map_err(LoadError::Spawn)?;
        background.threads.push(Worker { key, handle });
        Ok(())
    }

    /// Return when every thread is at work, or with the first one's error.
    fn wait_for_all(self) -> Result<(), LoadError> {
        drop(self.ready);
        self.reports.iter().collect::<Result<(), HostError>>()?;
        Ok(())
    }
}

/// A finished flood of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    /// Lines of 80 characters that were written whole.
    pub lines: u64,
    /// From the first thread's start to the last one's end.
    pub elapsed_ns: u64,
}

/// Write `lines` log lines of 80 characters to `file` with `threads` threads at once, each its share, as quickly as it
/// takes them; returns when all are written, or nothing takes them any more.
pub fn flood(file: &File, threads: u32, lines: u64) -> Result<Flood, LoadError> {
    let wanted = u64::from(threads);
    if wanted == 0 || wanted > u64::from(THREADS_MAX) {
        return Err(LoadError::Threads { wanted });
    }
    let mut writers = Vec::new();
    for number in 0..wanted {
        let share = lines / wanted + u64::from(number < lines % wanted);
        writers.push((number as u32, share, file.try_clone().map_err(LoadError::Spawn)?));
    }
    let begin = std::time::Instant::now();
    let written = std::thread::scope(|scope| -> io::Result<u64> {
        let mut started = Vec::new();
        for (number, share, file) in writers {
            let builder = Builder::new().name("wirespeed-log".to_owned());
            started.push(builder.spawn_scoped(scope, move || work::log_lines(file, number, share))?);
        }
        // A writer has nothing to panic about; if one did, its lines are not counted.
        Ok(started.into_iter().map(|writer| writer.join().unwrap_or(0)).sum())
    });
    Ok(Flood {
        lines: written.map_err(LoadError::Spawn)?,
        elapsed_ns: u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
    })
}

fn check(load: &Load) -> Result<(), LoadError> {
    if load.touch_bytes > load.memory_bytes {
        return Err(LoadError::TouchBeyondMemory {
            touch_bytes: load.touch_bytes,
            memory_bytes: load.memory_bytes,
        });
    }
    let wanted = u64::from(load.cpu_threads) + u64::from(load.log_threads);
    if wanted > u64::from(THREADS_MAX) {
        return Err(LoadError::Threads { wanted });
    }
    Ok(())
}

/// Address space only: no page of it is touched.
fn allocate(wanted: u64) -> Result<Vec<u8>, LoadError> {
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let mut memory = Vec::new();
    let size = usize::try_from(wanted).map_err(|_| LoadError::Allocate { wanted })?;
    memory
        .try_reserve_exact(size)
        .map_err(|_| LoadError::Allocate { wanted })?;
    Ok(memory)
}

/// All of `allowed` but `avoid`; all of them when nothing would be left.
fn cpus_beside(allowed: &[u32], avoid: Option<u32>) -> Vec<u32> {
    let others: Vec<u32> = allowed
        .iter()
        .copied()
        .filter(|&cpu| Some(cpu) != avoid)
        .collect();
    if others.is_empty() {
        allowed.to_vec()
    } else {
        others
    }
}

fn open_log(target: &LogTarget) -> Result<File, LoadError> {
    let path = match target {
        LogTarget::Null => Path::new("/dev/null"),
        LogTarget::File(path) => path,
    };
    // Never block on a pipe that nobody reads: a load must end when told to.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .custom_flags(flags)
        .open(path);
    let emptied = opened.and_then(|file| work::empty(&file).map(|()| file));
    emptied.map_err(|source| LoadError::Log {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;
