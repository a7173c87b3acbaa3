//! What TCP itself says of its connections (`TCP_INFO`). Cold: read after the run.

use crate::transport::stream_socket::Link;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `struct tcp_info` of linux/tcp.h as raw bytes: the kernel only ever appends to it, and older kernels fill less.
struct Info {
    bytes: [u8; 256],
    filled: usize,
}

impl Info {
    fn of(fd: BorrowedFd<'_>) -> Option<Self> {
        let mut bytes = [0; 256];
        let mut filled = bytes.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `filled` bytes, the size of the buffer, and says in it how many.
        let result = unsafe {
            libc::getsockopt(
                fd.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &mut filled,
            )
        };
        (result == 0).then_some(Info {
            bytes,
            filled: filled as usize,
        })
    }

    fn field<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.bytes[..self.filled.min(self.bytes.len())]
            .get(offset..)?
            .first_chunk()
            .copied()
    }

    fn u32_at(&self, offset: usize) -> Option<u32> {
        self.field(offset).map(u32::from_ne_bytes)
    }

    fn u64_at(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(u64::from_ne_bytes)
    }
}

// Offsets of fields in `struct tcp_info`.
const RTT_US: usize = 68;
const RTT_VARIATION_US: usize = 72;
const CWND_SEGMENTS: usize = 80;
const TOTAL_RETRANSMITS: usize = 100;
const MIN_RTT_US: usize = 148;
const DELIVERY_RATE: usize = 160;

/// Figures of the connections: retransmitted segments of all of them, the others of the first.
pub fn path_figures(links: &[&Link]) -> Vec<(&'static str, String)> {
    let infos: Vec<Info> = links.iter().filter_map(|link| Info::of(link.tx())).collect();
    let Some(first) = infos.first() else {
        return Vec::new();
    };
    let retransmits: u64 = infos
        .iter()
        .filter_map(|info| info.u32_at(TOTAL_RETRANSMITS))
        .map(u64::from)
        .sum();
    let mut figures = vec![("tcp_retransmits", retransmits.to_string())];
    let mut put = |name, value: Option<u64>| figures.extend(value.map(|v| (name, v.to_string())));
    put("tcp_rtt_us", first.u32_at(RTT_US).map(u64::from));
    put(
        "tcp_rtt_variation_us",
        first.u32_at(RTT_VARIATION_US).map(u64::from),
    );
    put("tcp_min_rtt_us", first.u32_at(MIN_RTT_US).map(u64::from));
    put("tcp_cwnd_segments", first.u32_at(CWND_SEGMENTS).map(u64::from));
    put("tcp_delivery_rate_bytes_per_s", first.u64_at(DELIVERY_RATE));
    figures
}
