//! What load threads do until they are told to stop: each does a piece, then looks at the flag, so that no count stays
//! zero. It must look at least every few milliseconds.

use super::FloodWatch;
use crate::host::work;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, ErrorKind, Write};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Key of the count of [`burn_until`].
pub(super) const CPU_LOOPS: &str = "cpu_loops";
/// Key of the count of [`touch_once`] and [`touch_until`].
pub(super) const TOUCHED_BYTES: &str = "touched_bytes";
/// Key of the count of [`log_until`].
pub(super) const LOG_LINES: &str = "log_lines";
/// Key of the count of [`copy_until`].
pub(super) const COPIED_BYTES: &str = "copied_bytes";
/// Key of the count of [`evict_until`].
pub(super) const CACHE_LINES: &str = "cache_lines";

/// Steps of work in one counted loop.
const LOOP_STEPS: u64 = 10_000;
/// Loops between two looks at the flag.
const LOOPS_PER_LOOK: u64 = 16;
/// Memory touched between two looks at the flag.
const TOUCH_CHUNK_BYTES: usize = 1 << 20;
/// One write each so many bytes: every cache line of x86-64 and most of Arm.
const TOUCH_STRIDE_BYTES: usize = 64;
/// Lines dirtied between two looks at the flag.
const LINES_PER_LOOK: u64 = 4096;
/// Length of a log line with its end.
const LINE_BYTES: usize = 80;
/// A thread empties a regular file after so much, so that a long run cannot fill the disk.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// Pause before another try at a full pipe.
const PIPE_RETRY: Duration = Duration::from_millis(1);

/// Burn CPU; returns the loops done.
pub(super) fn burn_until(stop: &AtomicBool) -> u64 {
    let mut loops = 0;
    loop {
        for _ in 0..LOOPS_PER_LOOK {
            work(LOOP_STEPS);
        }
        loops += LOOPS_PER_LOOK;
        if stop.load(Ordering::Relaxed) {
            return loops;
        }
    }
}

/// Touch the first `bytes` of `memory` once.
pub(super) fn touch_once(memory: &mut [Vec<u8>], bytes: usize) {
    for chunk in chunks(memory, bytes) {
        touch(chunk, MaybeUninit::new(1));
    }
}

/// Touch the first `bytes` (at least one) of `memory` again and again; returns the bytes covered, repetitions included.
pub(super) fn touch_until(stop: &AtomicBool, memory: &mut [Vec<u8>], bytes: usize) -> u64 {
    let mut touched = 0u64;
    loop {
        for chunk in chunks(memory, bytes) {
            touch(chunk, MaybeUninit::new(1));
            touched = touched.saturating_add(chunk.len() as u64);
            if stop.load(Ordering::Relaxed) {
                return touched;
            }
        }
    }
}

/// The first `bytes` of what the pieces of `memory` have reserved, as much at a time as is touched between two looks.
fn chunks(memory: &mut [Vec<u8>], bytes: usize) -> impl Iterator<Item = &mut [MaybeUninit<u8>]> {
    let mut left = bytes;
    memory.iter_mut().flat_map(move |piece| {
        let reserved = piece.spare_capacity_mut();
        let length = reserved.len().min(left);
        left -= length;
        reserved[..length].chunks_mut(TOUCH_CHUNK_BYTES)
    })
}

/// Copy one half of the reserved memory to the other, then back, again and again; returns the bytes copied (each is read
/// once and written once).
pub(super) fn copy_until(stop: &AtomicBool, memory: &mut Vec<u8>) -> u64 {
    memory.resize(memory.capacity(), 1);
    let half = memory.len() / 2;
    let (mut from, mut to) = memory.split_at_mut(half);
    let mut copied = 0u64;
    if half == 0 {
        return copied;
    }
    loop {
        for (source, target) in from
            .chunks(TOUCH_CHUNK_BYTES)
            .zip(to.chunks_mut(TOUCH_CHUNK_BYTES))
        {
            let length = source.len().min(target.len());
            target[..length].copy_from_slice(&source[..length]);
            copied = copied.saturating_add(length as u64);
            // Nobody ever reads it: keep the writes.
            black_box(target.as_mut_ptr());
            if stop.load(Ordering::Relaxed) {
                return copied;
            }
        }
        std::mem::swap(&mut from, &mut to);
    }
}

/// Write to cache lines of the reserved memory in an order that no prefetcher foresees; returns the lines written.
pub(super) fn evict_until(stop: &AtomicBool, memory: &mut Vec<u8>, seed: u32) -> u64 {
    memory.resize(memory.capacity(), 1);
    let lines = (memory.len() / TOUCH_STRIDE_BYTES).max(1) as u64;
    let mut state = u64::from(seed).wrapping_mul(2) + 1;
    let mut written = 0;
    loop {
        for _ in 0..LINES_PER_LOOK {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The upper half of such a generator is the random one.
            let at = (((state >> 32) * lines) >> 32) as usize * TOUCH_STRIDE_BYTES;
            if let Some(byte) = memory.get_mut(at) {
                *byte = byte.wrapping_add(1);
            }
        }
        written += LINES_PER_LOOK;
        black_box(memory.as_mut_ptr());
        if stop.load(Ordering::Relaxed) {
            return written;
        }
    }
}

/// Write log lines; returns the lines written whole. Ends early when the log cannot be written any more.
pub(super) fn log_until(stop: &AtomicBool, mut file: File, number: u32) -> u64 {
    let line = log_line(number);
    let (mut lines, mut bytes) = (0, 0);
    let mut rest: &[u8] = &line;
    loop {
        match file.write(rest) {
            Ok(written) => rest = &rest[written.min(rest.len())..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A full pipe: its reader is slower than we are.
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PIPE_RETRY),
            Err(_) => return lines,
        }
        if rest.is_empty() {
            rest = &line;
            lines += 1;
            bytes += LINE_BYTES as u64;
        }
        if bytes >= LOG_BYTES_MAX {
            bytes = 0;
            if empty(&file).is_err() {
                return lines;
            }
        }
        if stop.load(Ordering::Relaxed) {
            return lines;
        }
    }
}

/// Write `count` log lines, one system call each, until the log refuses one or `watch` has had enough.
pub(super) fn log_lines(mut file: File, number: u32, count: u64, watch: &FloodWatch) {
    let line = log_line(number);
    for _ in 0..count {
        if file.write_all(&line).is_err() || !watch.line() {
            return;
        }
    }
}

/// Empty a regular file; leave devices and pipes as they are.
pub(super) fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(())
}

fn touch<T: Copy>(memory: &mut [T], mark: T) {
    for line in memory.iter_mut().step_by(TOUCH_STRIDE_BYTES) {
        *line = mark;
    }
    // Nobody ever reads it: keep the writes.
    black_box(memory.as_mut_ptr());
}

/// 79 characters and a line feed.
fn log_line(number: u32) -> [u8; LINE_BYTES] {
    let mut line = [b'.'; LINE_BYTES];
    let head = format!("wirespeed background log, thread {number} ");
    for (place, byte) in line.iter_mut().zip(head.bytes()) {
        *place = byte;
    }
    line[LINE_BYTES - 1] = b'\n';
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_eighty_bytes_and_one_end() {
        for number in [0, 7, u32::MAX] {
            let line = log_line(number);
            assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
            assert_eq!(line.last(), Some(&b'\n'));
            assert!(line.starts_with(format!("wirespeed background log, thread {number} ").as_bytes()));
        }
    }

    #[test]
    fn touch_writes_once_a_cache_line() {
        let mut memory = [0u8; 200];
        touch(&mut memory, 1);
        let written: Vec<usize> = (0..memory.len()).filter(|&at| memory[at] == 1).collect();
        assert_eq!(written, [0, 64, 128, 192]);
    }

    #[test]
    fn touching_stays_inside_and_counts_partial_chunks() {
        let pieces = [TOUCH_CHUNK_BYTES + 10, 100];
        let mut memory: Vec<Vec<u8>> = pieces.map(Vec::with_capacity).into();
        let stop = AtomicBool::new(true);
        assert_eq!(touch_until(&stop, &mut memory, 1000), 1000);
        assert_eq!(
            touch_until(&stop, &mut memory, usize::MAX),
            TOUCH_CHUNK_BYTES as u64
        );
        for (bytes, expected) in [
            (TOUCH_CHUNK_BYTES, &[TOUCH_CHUNK_BYTES][..]),
            (TOUCH_CHUNK_BYTES + 5, &[TOUCH_CHUNK_BYTES, 5]),
            (TOUCH_CHUNK_BYTES + 60, &[TOUCH_CHUNK_BYTES, 10, 50]),
        ] {
            let found: Vec<usize> = chunks(&mut memory, bytes).map(|chunk| chunk.len()).collect();
            assert_eq!(found, expected);
        }
        assert!(memory.iter().all(Vec::is_empty));
    }

    #[test]
    fn every_worker_does_a_piece_before_it_stops() {
        let stop = AtomicBool::new(true);
        assert_eq!(burn_until(&stop), LOOPS_PER_LOOK);
        let sink = File::options().write(true).open("/dev/null").expect("/dev/null");
        assert_eq!(log_until(&stop, sink, 0), 1);
        let sink = File::options().write(true).open("/dev/null").expect("/dev/null");
        let watch = FloodWatch::default();
        log_lines(sink.try_clone().expect("a copy"), 0, 7, &watch);
        let read_only = File::open("/dev/null").expect("/dev/null");
        log_lines(read_only.try_clone().expect("a copy"), 0, 7, &watch);
        assert_eq!(watch.lines(), 7, "a log that refuses has none");
        watch.stop();
        log_lines(sink, 0, 7, &watch);
        assert_eq!(watch.lines(), 8);
        assert_eq!(
            log_until(&AtomicBool::new(false), read_only, 0),
            0,
            "a log that refuses ends the thread"
        );
    }
}
