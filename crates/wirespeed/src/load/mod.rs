//! Background load that a rank puts on its machine beside the measurement: threads that burn CPU, fill the memory's
//! bandwidth or the caches, memory that is held and touched, threads that write log lines; and the same as interference,
//! to be switched on and off between runs.
//!
//! It must never run in the measuring thread once started, run elsewhere than it was told to, or outlive its
//! [`Background`].

mod crew;
mod interference;
mod place;
mod work;

pub use interference::{Disturber, Interference};
pub use place::Measuring;

use crate::host::{HostError, allowed_cpus, available_bytes, cache_bytes};
use crew::Crew;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;
use wirespeed_schema::case::{Load, Place};
use wirespeed_schema::units::format_size_exact;

/// Most threads of one load; more is a mistyped number.
pub const THREADS_MAX: u32 = 1024;

/// Key of the time that the threads had.
const LOAD_NS: &str = "load_ns";
/// Least memory of a thread that copies, and of one that dirties lines.
const COPIED_BYTES_MIN: u64 = 8 << 20;
const CACHED_BYTES_MIN: u64 = 1 << 20;
/// Pieces of memory that is held: few, because each costs a page; smaller ones where the kernel refuses large ones.
const PIECE_BYTES_MAX: u64 = 1 << 30;
const PIECE_BYTES_MIN: u64 = 1 << 20;

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
    /// A load thread cannot run where it should.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The place has no CPU here.
    #[error("no load can run {}: {why}", place_words(*.place))]
    Place {
        /// Where it was to run.
        place: Place,
        /// Why it cannot.
        why: &'static str,
    },
    /// A load is to be added to a rank that has one already.
    #[error("rank {rank} has a load of its own already")]
    Twice {
        /// The rank.
        rank: usize,
    },
}

/// A running load. Stops and joins its threads, and frees its memory, on [`stop`](Background::stop) or on drop.
#[derive(Debug)]
pub struct Background {
    stop: Arc<AtomicBool>,
    began: Instant,
    threads: Vec<Worker>,
    counts: BTreeMap<String, u64>,
    /// Held, not touched any more; memory that is touched again and again belongs to its thread.
    _memory: Vec<Vec<u8>>,
}

/// A thread, and the name under which its count is reported.
#[derive(Debug)]
struct Worker {
    key: &'static str,
    handle: JoinHandle<u64>,
}

impl Background {
    /// Start `load` of a rank whose group measures on `measuring`; its log goes nowhere. On return its memory is allocated
    /// (and touched, if once), and every thread runs where the load's place says.
    pub fn start(load: &Load, measuring: &Measuring) -> Result<Self, LoadError> {
        check_memory(load)?;
        Self::begin(load, measuring, &LogTarget::Null)
    }

    /// The same of a lone process, of which `avoid_cpu` alone is measured on, with a log.
    pub fn start_logging_to(load: &Load, avoid_cpu: Option<u32>, log: &LogTarget) -> Result<Self, LoadError> {
        check_memory(load)?;
        Self::begin(load, &Measuring::alone(avoid_cpu), log)
    }

    /// As `start_logging_to`, but more memory may be asked for than is available: to see what enforces a limit. The
    /// kernel may end this process for it.
    pub fn start_beyond(load: &Load, avoid_cpu: Option<u32>, log: &LogTarget) -> Result<Self, LoadError> {
        check(load)?;
        Self::begin(load, &Measuring::alone(avoid_cpu), log)
    }

    fn begin(load: &Load, measuring: &Measuring, log: &LogTarget) -> Result<Self, LoadError> {
        let mut memory = allocate_in_pieces(load.memory_bytes, allocate)?;
        let mut background = Background {
            stop: Arc::new(AtomicBool::new(false)),
            began: Instant::now(),
            threads: Vec::new(),
            counts: BTreeMap::new(),
            _memory: Vec::new(),
        };
        let touch_bytes = load.touch_bytes as usize;
        let crew = Crew::new(measuring.cpus(load.place, &allowed_cpus())?);
        if touch_bytes > 0 && load.touch_once {
            work::touch_once(&mut memory, touch_bytes);
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
        let each = copied_bytes_each(load);
        for _ in 0..load.bandwidth_threads {
            let mut pages = allocate(each)?;
            crew.hire(&mut background, work::COPIED_BYTES, move |stop| {
                work::copy_until(stop, &mut pages)
            })?;
        }
        let each = cached_bytes_each(load);
        for number in 0..load.cache_threads {
            let mut lines = allocate(each)?;
            crew.hire(&mut background, work::CACHE_LINES, move |stop| {
                work::evict_until(stop, &mut lines, number)
            })?;
        }
        crew.wait_for_all()?;
        background.began = Instant::now();
        Ok(background)
    }

    /// Stop all threads, wait for them, and tell what was done: `cpu_loops` (of 10,000 steps of xorshift),
    /// `touched_bytes`, `log_lines`, `copied_bytes`, `cache_lines`, only what the load asked for; and, where threads worked,
    /// for how long together: `load_ns`.
    pub fn stop(mut self) -> BTreeMap<String, u64> {
        self.join();
        std::mem::take(&mut self.counts)
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if !self.threads.is_empty() {
            let ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.counts.insert(LOAD_NS.to_owned(), ns);
        }
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

/// A finished flood of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    /// Lines of 80 characters that were written whole.
    pub lines: u64,
    /// From the first thread's start to the last one's end.
    pub elapsed_ns: u64,
}

/// What others see of a flood under way: its lines so far, and their word that it end.
#[derive(Debug, Default)]
pub struct FloodWatch {
    lines: AtomicU64,
    stop: AtomicBool,
}

impl FloodWatch {
    /// Let each thread end behind its line; one that a full pipe holds writes no other.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Lines that were written whole so far.
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Count a line; whether another is wanted.
    fn line(&self) -> bool {
        self.lines.fetch_add(1, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Write `lines` log lines of 80 characters to `file` with `threads` threads at once, each its share, as quickly as it
/// takes them; returns when all are written, nothing takes them any more, or `watch` was told to stop.
pub fn flood(file: &File, threads: u32, lines: u64, watch: &FloodWatch) -> Result<Flood, LoadError> {
    let wanted = u64::from(threads);
    if wanted == 0 || wanted > u64::from(THREADS_MAX) {
        return Err(LoadError::Threads { wanted });
    }
    let mut writers = Vec::new();
    for number in 0..wanted {
        let share = lines / wanted + u64::from(number < lines % wanted);
        writers.push((number as u32, share, file.try_clone().map_err(LoadError::Spawn)?));
    }
    let begin = Instant::now();
    std::thread::scope(|scope| -> io::Result<()> {
        for (number, share, file) in writers {
            let builder = Builder::new().name("wirespeed-log".to_owned());
            builder.spawn_scoped(scope, move || work::log_lines(file, number, share, watch))?;
        }
        Ok(())
    })
    .map_err(LoadError::Spawn)?;
    Ok(Flood {
        lines: watch.lines(),
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
    let wanted = load.threads();
    if wanted > u64::from(THREADS_MAX) {
        return Err(LoadError::Threads { wanted });
    }
    Ok(())
}

fn check_memory(load: &Load) -> Result<(), LoadError> {
    check(load)?;
    let (wanted, available) = (memory_bytes(load), available_bytes());
    match wanted > available {
        true => Err(LoadError::Memory { wanted, available }),
        false => Ok(()),
    }
}

/// Memory that `load` takes on this machine, that of its threads included.
pub fn memory_bytes(load: &Load) -> u64 {
    let of_threads = |threads: u32, each: u64| u64::from(threads).saturating_mul(each);
    load.memory_bytes
        .max(load.touch_bytes)
        .saturating_add(of_threads(load.bandwidth_threads, copied_bytes_each(load)))
        .saturating_add(of_threads(load.cache_threads, cached_bytes_each(load)))
}

/// What one thread copies, from one half to the other: all threads together walk at least twice the largest cache.
fn copied_bytes_each(load: &Load) -> u64 {
    match load.bandwidth_threads {
        0 => 0,
        threads => cache_bytes(threads as usize).max(COPIED_BYTES_MIN),
    }
}

/// What one thread dirties: all of them together as much as the largest cache holds.
fn cached_bytes_each(load: &Load) -> u64 {
    match load.cache_threads {
        0 => 0,
        threads => (cache_bytes(threads as usize) / 2).max(CACHED_BYTES_MIN),
    }
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

/// As `allocate`, a piece after the other: a kernel that overcommits refuses a single piece of more than the machine has, and
/// lets go of as much in pieces. What is refused is tried again in smaller ones.
fn allocate_in_pieces(
    wanted: u64,
    mut allocate: impl FnMut(u64) -> Result<Vec<u8>, LoadError>,
) -> Result<Vec<Vec<u8>>, LoadError> {
    let (mut pieces, mut left, mut piece) = (Vec::new(), wanted, PIECE_BYTES_MAX);
    while left > 0 {
        match allocate(left.min(piece)) {
            Ok(memory) => {
                left -= left.min(piece);
                pieces.push(memory);
            }
            Err(_) if piece > PIECE_BYTES_MIN => piece /= 2,
            Err(_) => return Err(LoadError::Allocate { wanted }),
        }
    }
    Ok(pieces)
}

/// For people: `apart from the measuring cores`.
fn place_words(place: Place) -> &'static str {
    match place {
        Place::Beside => "beside the measuring CPU",
        Place::Apart => "apart from the measuring cores",
        Place::Sibling => "on the sibling threads of the measuring cores",
        Place::Same => "on the measuring CPU itself",
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
