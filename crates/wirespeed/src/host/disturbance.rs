//! What disturbed a measuring thread between two points: switches, faults, migrations, steal, waiting for a CPU.
//!
//! Files are opened at the start, outside the timed region. It must never run inside it.

use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use wirespeed_schema::host::Disturbance;

const NS_PER_S: u64 = 1_000_000_000;
/// The line of a CPU in `/proc/stat` comes before everything that grows; room for some thousand CPUs.
const FILE_BYTES_MAX: usize = 1 << 19;
/// Position of "steal" among the numbers of a CPU's line (proc_stat(5)).
const STEAL_FIELD: usize = 7;

/// Counters of the calling thread at the start of a run.
#[derive(Debug)]
pub struct Probe {
    sources: Sources,
    start: Counters,
    /// The counters belong to the thread that started the probe.
    not_send: PhantomData<*const ()>,
}

impl Probe {
    /// Read the counters of the calling thread. `cpu`: the CPU it is pinned to, whose steal counts; all CPUs otherwise.
    pub fn start(cpu: Option<u32>) -> Self {
        let mut probe = Probe {
            sources: Sources::open(cpu),
            start: Counters::default(),
            not_send: PhantomData,
        };
        probe.restart_files();
        probe.restart_usage();
        probe
    }

    /// What is in files counts from now on. Reading them takes some ten microseconds of the thread: before its own usage.
    pub fn restart_files(&mut self) {
        self.start = self.sources.read();
    }

    /// The thread's own usage counts from now on, at the cost of one system call.
    pub fn restart_usage(&mut self) {
        self.start.usage = usage();
    }

    /// Differences since the start.
    pub fn finish(self) -> Disturbance {
        let usage = usage();
        let end = Counters {
            usage,
            ..self.sources.read()
        };
        difference(&self.start, &end)
    }
}

/// Where the counters come from; absent where the kernel does not offer them.
#[derive(Debug)]
struct Sources {
    schedstat: Option<File>,
    sched: Option<File>,
    stat: Option<File>,
    /// First word of the line in `/proc/stat`.
    stat_key: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    usage: Usage,
    migrations: Option<u64>,
    steal_ns: Option<u64>,
    run_queue_wait_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Usage {
    voluntary_switches: u64,
    involuntary_switches: u64,
    minor_faults: u64,
    major_faults: u64,
    user_ns: u64,
    system_ns: u64,
}

impl Sources {
    fn open(cpu: Option<u32>) -> Self {
        let open = |path| File::open(path).ok();
        Sources {
            schedstat: open("/proc/thread-self/schedstat"),
            sched: open("/proc/thread-self/sched"),
            stat: open("/proc/stat"),
            stat_key: cpu.map_or_else(|| "cpu".to_owned(), |number| format!("cpu{number}")),
        }
    }

    /// Everything but the thread's usage.
    fn read(&self) -> Counters {
        Counters {
            usage: Usage::default(),
            migrations: text(&self.sched).and_then(|t| migrations(&t)),
            steal_ns: text(&self.stat).and_then(|t| steal_ns(&t, &self.stat_key)),
            run_queue_wait_ns: text(&self.schedstat).and_then(|t| run_queue_wait_ns(&t)),
        }
    }
}

/// The file from its start: the kernel makes the content anew for each reading.
fn text(file: &Option<File>) -> Option<String> {
    let file = file.as_ref()?;
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 4096];
    while bytes.len() < FILE_BYTES_MAX {
        match file.read_at(&mut chunk, bytes.len() as u64).ok()? {
            0 => break,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `se.nr_migrations : 3` in `/proc/thread-self/sched`.
fn migrations(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

/// The second of three numbers; all of them stay zero in kernels that do not count.
fn run_queue_wait_ns(text: &str) -> Option<u64> {
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [ran, waited, slices] if ran > 0 || slices > 0 => Some(waited),
        _ => None,
    }
}

fn steal_ns(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(key))?;
    let ticks: u64 = line.split_whitespace().skip(1).nth(STEAL_FIELD)?.parse().ok()?;
    let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
    Some(ticks.saturating_mul(NS_PER_S / ticks_per_s))
}

fn difference(start: &Counters, end: &Counters) -> Disturbance {
    let (a, b) = (&start.usage, &end.usage);
    let optional = |start: Option<u64>, end: Option<u64>| Some(end?.saturating_sub(start?));
    Disturbance {
        observed_ns: 0,
        voluntary_switches: b.voluntary_switches.saturating_sub(a.voluntary_switches),
        involuntary_switches: b.involuntary_switches.saturating_sub(a.involuntary_switches),
        migrations: optional(start.migrations, end.migrations),
        minor_faults: b.minor_faults.saturating_sub(a.minor_faults),
        major_faults: b.major_faults.saturating_sub(a.major_faults),
        user_ns: b.user_ns.saturating_sub(a.user_ns),
        system_ns: b.system_ns.saturating_sub(a.system_ns),
        steal_ns: optional(start.steal_ns, end.steal_ns),
        run_queue_wait_ns: optional(start.run_queue_wait_ns, end.run_queue_wait_ns),
    }
}

fn usage() -> Usage {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writes of one `rusage`; a structure of integers is initialised by its zeroes
    // already, so that it may be read even if the call failed (it cannot: RUSAGE_THREAD is known since Linux 2.6.26).
    let raw = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, raw.as_mut_ptr());
        raw.assume_init()
    };
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let ns = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let micros = u64::try_from(time.tv_usec).unwrap_or(0);
        seconds.saturating_mul(NS_PER_S).saturating_add(micros * 1000)
    };
    Usage {
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        user_ns: ns(raw.ru_utime),
        system_ns: ns(raw.ru_stime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A run is charged with what it takes itself: not with the reading of these files, nor with what came before.
    #[test]
    fn what_comes_before_the_start_is_not_counted() {
        let mut probe = Probe::start(None);
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_millis(200) {}
        probe.restart_files();
        probe.restart_usage();
        let found = probe.finish();
        assert!(found.user_ns + found.system_ns < 100_000_000, "{found:?}");
    }

    #[test]
    fn parses_what_the_kernel_writes() {
        let sched = "x (1, #threads: 1)\nse.nr_migrations       :        17\nnr_switches : 3\n";
        assert_eq!(migrations(sched), Some(17));
        assert_eq!(migrations("nr_switches : 3"), None);
        assert_eq!(run_queue_wait_ns("1000 77 4\n"), Some(77));
        assert_eq!(run_queue_wait_ns("0 0 0\n"), None, "a kernel that does not count");
        assert_eq!(run_queue_wait_ns("1000 77"), None);
        let stat =
            "cpu  1 0 1 9 0 0 0 30 0 0\ncpu1 1 0 1 9 0 0 0 20 0 0\ncpu10 1 0 1 9 0 0 0 10 0 0\nintr 5\n";
        let tick_ns = NS_PER_S / rustix::param::clock_ticks_per_second();
        assert_eq!(steal_ns(stat, "cpu"), Some(30 * tick_ns));
        assert_eq!(steal_ns(stat, "cpu1"), Some(20 * tick_ns));
        assert_eq!(steal_ns(stat, "cpu10"), Some(10 * tick_ns));
        assert_eq!(steal_ns(stat, "cpu2"), None);
        assert_eq!(steal_ns("cpu 1 2 3", "cpu"), None);
    }

    #[test]
    fn differences_never_underflow_and_need_both_ends() {
        let low = Counters {
            migrations: Some(1),
            run_queue_wait_ns: Some(5),
            ..Counters::default()
        };
        let high = Counters {
            usage: Usage {
                voluntary_switches: 3,
                ..Usage::default()
            },
            migrations: Some(4),
            steal_ns: Some(9),
            run_queue_wait_ns: Some(2),
        };
        let found = difference(&low, &high);
        assert_eq!((found.voluntary_switches, found.migrations), (3, Some(3)));
        assert_eq!((found.steal_ns, found.run_queue_wait_ns), (None, Some(0)));
        assert_eq!(difference(&high, &low).voluntary_switches, 0);
    }

    #[test]
    fn a_sleep_is_a_voluntary_switch() {
        let probe = Probe::start(None);
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(probe.finish().voluntary_switches >= 5);
    }

    #[test]
    fn fresh_memory_is_a_fault() {
        let probe = Probe::start(Some(0));
        let mut memory = vec![0u8; 8 << 20];
        for page in memory.chunks_mut(4096) {
            page[0] = 1;
        }
        std::hint::black_box(&memory);
        // Huge pages may cover everything but the edges.
        assert!(probe.finish().minor_faults >= 1);
    }

    #[test]
    fn other_threads_do_not_count() {
        let probe = Probe::start(None);
        let other = std::thread::spawn(|| {
            for _ in 0..50 {
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        // A join sleeps on a futex once or a few times, not fifty times.
        other.join().expect("thread");
        assert!(probe.finish().voluntary_switches < 50);
    }
}
