//! Loads are started, counted, stopped and refused.

use super::*;
use crate::host::pin_thread;
use std::time::{Duration, Instant};

/// Load threads of this process; the tests that make some run one at a time, under `LOCK`.
fn load_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("tasks");
    let names = tasks.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "wirespeed-load").count()
}

static LOCK: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

fn alone() -> parking_lot::MutexGuard<'static, ()> {
    LOCK.lock()
}

/// A joined thread may stay listed for a moment.
fn no_threads_left() -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while load_threads() > 0 {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

fn busy() -> Load {
    Load {
        cpu_threads: 2,
        memory_bytes: 3 << 20,
        touch_bytes: (2 << 20) + 5,
        touch_once: false,
        log_threads: 2,
        bandwidth_threads: 1,
        cache_threads: 1,
        place: Place::Beside,
        ..Load::default()
    }
}

#[test]
fn every_part_works_and_ends() {
    let _alone = alone();
    let background = Background::start(&busy(), &Measuring::default()).expect("start");
    assert_eq!(
        load_threads(),
        7,
        "two burn, two log, one touches, one copies, one dirties"
    );
    let counts = background.stop();
    assert!(no_threads_left());
    let keys: Vec<_> = counts.keys().map(String::as_str).collect();
    let expected = [
        "cache_lines",
        "copied_bytes",
        "cpu_loops",
        "load_ns",
        "log_lines",
        "touched_bytes",
    ];
    assert_eq!(keys, expected);
    assert!(counts.values().all(|&count| count > 0), "{counts:?}");
}

#[test]
fn a_drop_ends_the_threads_too() {
    let _alone = alone();
    drop(Background::start(&busy(), &Measuring::alone(Some(0))).expect("start"));
    assert!(no_threads_left());
}

#[test]
fn an_idle_load_does_nothing() {
    let _alone = alone();
    let background = Background::start(&Load::default(), &Measuring::default()).expect("start");
    assert_eq!(load_threads(), 0);
    assert_eq!(background.stop(), BTreeMap::new());
}

#[test]
fn held_memory_costs_neither_threads_nor_pages() {
    let _alone = alone();
    let load = Load {
        memory_bytes: 64 << 20,
        ..Load::default()
    };
    let probe = crate::host::Probe::start(None);
    let background = Background::start(&load, &Measuring::default()).expect("start");
    assert_eq!(load_threads(), 0);
    let reserved: usize = background._memory.iter().map(Vec::capacity).sum();
    assert!(reserved >= 64 << 20);
    // 64 MiB have 16384 pages; starting touches a few of its own.
    assert!(probe.finish().minor_faults < 2_000);
    assert_eq!(background.stop(), BTreeMap::new());
}

#[test]
fn touching_once_is_done_before_start_returns() {
    let _alone = alone();
    let load = Load {
        memory_bytes: 8 << 20,
        touch_bytes: 4 << 20,
        touch_once: true,
        ..Load::default()
    };
    let background = Background::start(&load, &Measuring::default()).expect("start");
    assert_eq!(load_threads(), 0);
    assert_eq!(
        background.stop(),
        BTreeMap::from([("touched_bytes".to_owned(), 4 << 20)])
    );
}

#[test]
fn memory_beyond_the_available_is_refused_with_the_figure() {
    let _alone = alone();
    for wanted in [u64::MAX, 1 << 60] {
        let load = Load {
            cpu_threads: 1,
            memory_bytes: wanted,
            ..Load::default()
        };
        match Background::start(&load, &Measuring::default()) {
            Err(LoadError::Memory { wanted: w, available }) => {
                assert_eq!(w, wanted);
                assert!(available > 0 && available < wanted);
                let text = LoadError::Memory { wanted: w, available }.to_string();
                assert!(text.contains(&available.to_string()), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(load_threads(), 0);
}

#[test]
fn what_is_refused_in_one_piece_is_taken_in_smaller_ones() {
    let refusing_above = |limit: u64| {
        move |wanted: u64| match wanted > limit {
            true => Err(LoadError::Allocate { wanted }),
            false => Ok(vec![0; (wanted >> 20) as usize]),
        }
    };
    let sizes = |wanted, limit| -> Option<Vec<usize>> {
        let pieces = allocate_in_pieces(wanted, refusing_above(limit)).ok()?;
        Some(pieces.iter().map(Vec::len).collect())
    };
    assert_eq!(sizes(0, 0), Some(vec![]));
    assert_eq!(sizes(5 << 29, u64::MAX), Some(vec![1024, 1024, 512]));
    assert_eq!(sizes(1 << 30, 300 << 20), Some(vec![256; 4]));
    assert_eq!(sizes(100 << 20, 64 << 20), Some(vec![64, 36]));
    assert_eq!(sizes(2 << 20, 1 << 20), Some(vec![1, 1]));
    assert_eq!(sizes(2 << 20, (1 << 20) - 1), None);
}

/// As many times what the machine has, where its kernel overcommits as it does by default.
#[test]
fn more_memory_than_there_is_can_be_held_where_the_kernel_overcommits() {
    let _alone = alone();
    let policy = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    if policy.trim() == "2" {
        println!("skipped: this kernel does not overcommit");
        return;
    }
    let info = std::fs::read_to_string("/proc/meminfo").expect("meminfo");
    let kb = |key: &str| -> u64 {
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .expect("a line");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    };
    let there_is = (kb("MemTotal:") + kb("SwapTotal:")) << 10;
    let load = Load {
        memory_bytes: 2 * there_is,
        touch_bytes: 1 << 20,
        touch_once: true,
        ..Load::default()
    };
    let background = Background::start_beyond(&load, None, &LogTarget::Null).expect("start");
    assert_eq!(background.stop()["touched_bytes"], 1 << 20);
}

#[test]
fn contradictions_are_refused() {
    let touch = Load {
        memory_bytes: 10,
        touch_bytes: 11,
        ..Load::default()
    };
    assert!(matches!(
        Background::start(&touch, &Measuring::default()),
        Err(LoadError::TouchBeyondMemory { .. })
    ));
    let threads = Load {
        cpu_threads: u32::MAX,
        log_threads: u32::MAX,
        ..Load::default()
    };
    let refused = Background::start(&threads, &Measuring::default());
    assert!(matches!(refused, Err(LoadError::Threads { wanted }) if wanted == 2 * u64::from(u32::MAX)));
}

#[test]
fn a_log_that_cannot_be_opened_leaves_nothing() {
    let _alone = alone();
    let target = LogTarget::File("/proc/no/such/log".into());
    let refused = Background::start_logging_to(&busy(), None, &target);
    assert!(matches!(refused, Err(LoadError::Log { .. })));
    assert!(no_threads_left(), "the touching thread was running already");
}

#[test]
fn log_lines_are_counted_and_whole() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("log");
    std::fs::write(&path, "old\n").expect("old log");
    let load = Load {
        log_threads: 3,
        ..Load::default()
    };
    let background =
        Background::start_logging_to(&load, None, &LogTarget::File(path.clone())).expect("start");
    std::thread::sleep(Duration::from_millis(20));
    let lines = background.stop()["log_lines"];
    let text = std::fs::read_to_string(&path).expect("log");
    assert!(lines > 0);
    assert!(text.lines().all(|line| line.len() == 79));
    // Beyond this the file may have been emptied in between.
    if lines < 800_000 {
        assert_eq!(text.len() as u64, lines * 80);
    }
}

#[test]
fn a_pipe_that_nobody_reads_does_not_hang() {
    let _alone = alone();
    let (reader, writer) = std::io::pipe().expect("pipe");
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
    let load = Load {
        log_threads: 1,
        ..Load::default()
    };
    let background = Background::start_logging_to(&load, None, &LogTarget::File(path.into())).expect("start");
    std::thread::sleep(Duration::from_millis(50));
    let lines = background.stop()["log_lines"];
    assert!(lines > 0);
    drop(reader);
}

#[test]
fn threads_leave_the_measuring_cpu() {
    let _alone = alone();
    let allowed = allowed_cpus();
    let cpu = allowed[0];
    let _pin = pin_thread(cpu).expect("pin");
    let load = Load {
        cpu_threads: 1,
        ..Load::default()
    };
    let background = Background::start(&load, &Measuring::alone(Some(cpu))).expect("start");
    let status = std::fs::read_dir("/proc/self/task")
        .expect("tasks")
        .find_map(|task| {
            let folder = task.ok()?.path();
            let name = std::fs::read_to_string(folder.join("comm")).ok()?;
            (name.trim() == "wirespeed-load").then(|| std::fs::read_to_string(folder.join("status")).ok())?
        });
    let status = status.expect("the load thread");
    let list = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .expect("list");
    let cpus = crate::host::parse_cpu_list(list.trim()).expect("list");
    assert_eq!(cpus.contains(&cpu), allowed.len() == 1);
    assert!(cpus.iter().all(|cpu| allowed.contains(cpu)));
    background.stop();
}

#[test]
fn a_place_without_cpus_starts_nothing() {
    let _alone = alone();
    let load = Load {
        cpu_threads: 1,
        place: Place::Same,
        ..Load::default()
    };
    let refused = Background::start(&load, &Measuring::default());
    assert!(matches!(
        refused,
        Err(LoadError::Place {
            place: Place::Same,
            ..
        })
    ));
    assert_eq!(load_threads(), 0);
}

#[test]
fn memory_of_threads_counts() {
    let none = Load::default();
    assert_eq!(memory_bytes(&none), 0);
    for kind in [0u32, 1] {
        let load = |threads| Load {
            bandwidth_threads: threads * (1 - kind),
            cache_threads: threads * kind,
            ..Load::default()
        };
        assert!(memory_bytes(&load(1)) >= CACHED_BYTES_MIN);
        assert!(memory_bytes(&load(1000)) >= 1000 * CACHED_BYTES_MIN);
    }
}

/// A flood whose log takes nothing more still shows its lines, and ends at its word once there is room.
#[test]
fn a_flood_is_counted_while_it_goes_on_and_ends_when_told() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(writer));
    let watch = Arc::new(FloodWatch::default());
    let watched = watch.clone();
    let flooding = std::thread::spawn(move || flood(&file, 2, 1_000_000, &watched).unwrap());
    while watch.lines() < 100 {
        std::thread::yield_now();
    }
    watch.stop();
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut text).unwrap();
    let flood = flooding.join().unwrap();
    assert_eq!((flood.lines * 80, text.len() % 80), (text.len() as u64, 0));
    assert!((100..1_000_000).contains(&flood.lines), "{flood:?}");
}
