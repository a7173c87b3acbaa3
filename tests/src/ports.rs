//! Ports for servers that are told theirs by number. They must not be of the range from which the kernel serves whoever asks
//! for any port: between the asking and the server's start somebody else could get one of those.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// First port that is handed out here; those of well-known services are below.
const FIRST: u32 = 20_000;

/// The first of `count` ports in a row that nobody listens on, handed out once.
///
/// # Panics
/// Where none are left.
pub fn free(count: u16) -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let range = ours();
    let count = u32::from(count);
    let places = (range.end - range.start) / count;
    for _ in 0..places {
        // Another test program that runs at the same time begins elsewhere.
        let place = NEXT.fetch_add(count, Ordering::Relaxed) + std::process::id().wrapping_mul(61) % 10_000;
        let first = range.start + place % (range.end - range.start - count);
        let ports = (first..first + count).map(|port| port as u16);
        if ports
            .clone()
            .all(|port| TcpListener::bind(("0.0.0.0", port)).is_ok())
        {
            return first as u16;
        }
    }
    panic!("no {count} ports in a row are free in {range:?}");
}

/// Ports that the kernel gives to nobody by itself.
fn ours() -> Range<u32> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let kernels: Vec<u32> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match kernels[..] {
        [low, _] if low > FIRST + 1000 => FIRST..low,
        [_, high] if high < 64_000 => high + 1..65_536,
        _ => FIRST..32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_handed_out_once_and_never_by_the_kernel() {
        let firsts: Vec<u16> = (0..20).map(|_| free(5)).collect();
        let mut all: Vec<u16> = firsts.iter().flat_map(|&first| first..first + 5).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 100);
        let any = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!ours().contains(&u32::from(any.local_addr().unwrap().port())));
    }
}
