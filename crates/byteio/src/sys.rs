//! What only the kernel can tell or do: `TCP_INFO`, tunnels and network namespaces of the lab. The one file of this crate
//! with unsafe code; it must never keep a pointer beyond the call.

use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use wirespeed_schema::byteio::TcpInfo;

/// `struct tcp_info` grows at its end; what a kernel lacks stays zero.
const INFO_BYTES: usize = 256;

/// What the kernel says of this end of a connection; nothing where it will not say.
pub fn tcp_info(socket: &TcpStream) -> Option<TcpInfo> {
    let raw = raw_info(socket)?;
    let congestion = socket2::SockRef::from(socket).tcp_congestion().ok();
    let congestion = congestion.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned());
    Some(read(&raw, congestion.unwrap_or_default()))
}

/// Payload that the far end has acknowledged, and payload that has come: neither grows by what is sent again.
pub fn moved_bytes(socket: &TcpStream) -> Option<u64> {
    let raw = raw_info(socket)?;
    Some(long(&raw, 120) + long(&raw, 128))
}

/// What became of what was sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    /// Payload that the far end has acknowledged.
    pub acknowledged_bytes: u64,
    /// Some is on its way, or waits for room there.
    pub is_owed: bool,
}

/// What became of what was sent, as far as the kernel will say.
pub fn sent(socket: &TcpStream) -> Sent {
    raw_info(socket).map_or(Sent::default(), |raw| Sent {
        acknowledged_bytes: long(&raw, 120),
        is_owed: word(&raw, 24) > 0 || word(&raw, 144) > 0,
    })
}

fn raw_info(socket: &TcpStream) -> Option<[u8; INFO_BYTES]> {
    let mut raw = [0u8; INFO_BYTES];
    let mut len = INFO_BYTES as libc::socklen_t;
    // SAFETY: `raw` is writable for `len` bytes, both live until the call returns, and the kernel writes at most `len`.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            raw.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    (status == 0).then_some(raw)
}

fn long(raw: &[u8; INFO_BYTES], at: usize) -> u64 {
    u64::from_ne_bytes(wirespeed::sync::take(raw, at))
}

fn word(raw: &[u8; INFO_BYTES], at: usize) -> u64 {
    u64::from(u32::from_ne_bytes(wirespeed::sync::take(raw, at)))
}

/// Offsets of `struct tcp_info` (linux/tcp.h, stable ABI).
fn read(raw: &[u8; INFO_BYTES], congestion: String) -> TcpInfo {
    let word = |at: usize| word(raw, at);
    let long = |at: usize| long(raw, at);
    let mss_bytes = word(16);
    TcpInfo {
        congestion,
        mss_bytes,
        rtt_ns: word(68) * 1000,
        cwnd_bytes: word(80) * mss_bytes,
        received_bytes: long(128),
        min_rtt_ns: word(148) * 1000,
        delivery_rate_bytes_per_s: long(160),
        busy_ns: long(168) * 1000,
        receiver_limited_ns: long(176) * 1000,
        sender_limited_ns: long(184) * 1000,
        sent_bytes: long(200),
        retransmitted_bytes: long(208),
    }
}

/// CPU time of this process so far.
pub fn cpu_ns() -> u64 {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs()
}

/// A layer-3 tunnel of the calling thread's network namespace, non-blocking. `offload`: packets carry a
/// `virtio_net_hdr` and may hold many segments, which the kernel then need not cut.
pub fn open_tun(name: &str, offload: bool) -> io::Result<File> {
    const SET_INTERFACE: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;
    const SET_OFFLOAD: libc::Ioctl = 0x4004_54d0_u32 as libc::Ioctl;
    const CHECKSUM_AND_TSO: libc::c_ulong = 0x01 | 0x02 | 0x04;
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // `struct ifreq`: the name, then flags; 40 bytes in all.
    let mut request = [0u8; 40];
    if name.len() > 15 {
        return Err(io::Error::other(
            "a name of an interface has at most 15 characters",
        ));
    }
    request[..name.len()].copy_from_slice(name.as_bytes());
    let header = if offload { libc::IFF_VNET_HDR } else { 0 };
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | header) as i16;
    request[16..18].copy_from_slice(&flags.to_ne_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, for which `request` has the room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), SET_INTERFACE, request.as_mut_ptr()) })?;
    if offload {
        // SAFETY: TUNSETOFFLOAD takes its flags by value.
        check(unsafe { libc::ioctl(file.as_raw_fd(), SET_OFFLOAD, CHECKSUM_AND_TSO) })?;
    }
    Ok(file)
}

/// Give the calling thread a network namespace of its own. It ends with the last thread and process inside.
pub fn new_network_namespace() -> io::Result<()> {
    // SAFETY: CLONE_NEWNET changes the network namespace of this thread alone; no memory or descriptor is affected.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) })
}

/// The calling thread runs before every ordinary one, and its timers fire within a microsecond instead of 50: a wire does
/// not wait for a CPU. Where that is not permitted, the emulated path is less exact on a busy machine.
pub fn keep_time() {
    let priority = libc::sched_param { sched_priority: 10 };
    // SAFETY: `priority` is read during the call; 0 is the calling thread.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    // SAFETY: PR_SET_TIMERSLACK takes a number of nanoseconds by value. Without it timers are only coarser.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000 as libc::c_ulong) };
}

fn check(status: libc::c_int) -> io::Result<()> {
    match status {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    #[test]
    fn a_connection_counts_what_it_carried() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut far = listener.accept().unwrap().0;
        near.write_all(&[7; 5000]).unwrap();
        far.read_exact(&mut [0; 5000]).unwrap();
        far.write_all(&[8; 10]).unwrap();
        near.read_exact(&mut [0; 10]).unwrap();
        let info = tcp_info(&near).unwrap();
        assert_eq!((info.sent_bytes, info.received_bytes), (5000, 10));
        // The connection's first packet may count as a byte.
        let moved = moved_bytes(&near).unwrap();
        assert!(
            (5010..=5011).contains(&moved),
            "acknowledged by the answer: {moved}"
        );
        assert!(!info.congestion.is_empty());
        assert!(info.rtt_ns > 0 && info.mss_bytes > 500, "{info:?}");
    }
}
