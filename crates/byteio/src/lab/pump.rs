//! Moves packets between two tunnels, each direction in a thread of its own, at the times that the model says.

use super::model::{Counts, Direction, Shape, on_the_wire};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wirespeed_control::thread::spawn;

/// Bytes of the header that uncut packets carry.
const HEADER_BYTES: usize = 10;
/// The largest packet and its header.
const PACKET_BYTES_MAX: usize = 65_536 + HEADER_BYTES;
/// Packets taken in before it is looked at what is due.
const BURST: usize = 64;
/// Longest sleep, so that the end is noticed.
const LOOK_NS: u64 = 50_000_000;

/// Both directions at work.
pub(super) struct Pumps {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Counts>>,
}

impl Pumps {
    /// Join two tunnels. `offload`: both carry headers of uncut packets.
    pub fn start(a: &File, b: &File, shapes: [Shape; 2], offload: bool) -> std::io::Result<Pumps> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for (number, (from, to)) in [(a, b), (b, a)].into_iter().enumerate() {
            let (from, to, stop) = (from.try_clone()?, to.try_clone()?, stop.clone());
            let direction = Direction::new(shapes[number], number as u64 + 1);
            let pump = move || pump(&from, &to, direction, offload, &stop);
            threads.push(spawn("wire", pump)?);
        }
        Ok(Pumps { stop, threads })
    }

    /// End both; what became of the packets of each direction.
    pub fn finish(self) -> Vec<Counts> {
        self.stop.store(true, Ordering::Release);
        let ends = self.threads.into_iter().map(JoinHandle::join);
        ends.map(Result::unwrap_or_default).collect()
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

fn pump(from: &File, to: &File, mut direction: Direction, offload: bool, stop: &AtomicBool) -> Counts {
    crate::sys::keep_time();
    let (mut from_file, mut to_file) = (from, to);
    let mut under_way: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
    let mut spare: Vec<Vec<u8>> = Vec::new();
    let mut packet = vec![0; PACKET_BYTES_MAX];
    while !stop.load(Ordering::Acquire) {
        for _ in 0..BURST {
            let len = match from_file.read(&mut packet) {
                Ok(len @ 1..) => len,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                _ => break,
            };
            let (bytes, packets) = wire_size(&packet[..len], offload);
            if let Some(due) = direction.admit(now_ns(), bytes, packets) {
                let mut kept = spare.pop().unwrap_or_default();
                kept.clear();
                kept.extend_from_slice(&packet[..len]);
                under_way.push_back((due, kept));
            }
        }
        let now = now_ns();
        while under_way.front().is_some_and(|(due, _)| *due <= now)
            && let Some((_, packet)) = under_way.pop_front()
        {
            // A tunnel that takes no more drops, as a full interface does.
            let _ = to_file.write(&packet);
            spare.push(packet);
        }
        let wait = under_way
            .front()
            .map_or(LOOK_NS, |(due, _)| due.saturating_sub(now_ns()).min(LOOK_NS));
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait as i64,
        };
        // Interrupted or not, the loop looks again.
        let _ = poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&timeout));
    }
    direction.counts
}

fn wire_size(packet: &[u8], offload: bool) -> (u64, u64) {
    match packet.split_first_chunk::<HEADER_BYTES>() {
        Some((header, rest)) if offload => on_the_wire(header, rest.len() as u64),
        _ => on_the_wire(&[0; HEADER_BYTES], packet.len() as u64),
    }
}
