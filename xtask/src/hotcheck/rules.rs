//! What a hot loop may call, by transport. The names are as the disassembler demangles them.

use anyhow::{Context, Result};
use std::path::Path;

/// Allowed everywhere: plain memory routines, the clock, giving the core away, and the ways into a panic, which end
/// the run.
const COMMON: [&str; 13] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "clock_gettime",
    "sched_yield",
    "std::thread::yield_now",
    "std::thread::functions::yield_now",
    "core::panicking::",
    "core::option::",
    "core::result::unwrap_failed",
    "[u8]>::copy_within",
];
/// What the standard library makes of plain memory, and leaves without `#[inline]`.
const PLAIN: [&str; 4] = [
    "[u8]>::fill",
    "[u64]>::fill",
    "core::ptr::swap_nonoverlapping_bytes::",
    "core::iter::adapters::zip::",
];
/// More ways into a panic.
const BOUNDS: [&str; 4] = [
    "core::slice::index::",
    "core::slice::copy_from_slice_impl::",
    "core::str::slice_error_fail",
    "core::cell::panic_",
];
/// Long gaps between paced datagrams: slept through on purpose, so that a slow schedule does not hold a core.
const PACED: [&str; 2] = ["std::thread::sleep", "std::thread::functions::sleep"];
/// Loops that keep to a schedule.
const PACED_LOOPS: &str = "engine::datagram::";
/// Sleeping on a word of memory.
const FUTEX: [&str; 3] = ["syscall", "rustix::thread::futex", "rustix::backend::thread::"];
/// Moving data through a socket, or waiting for it.
const SOCKET: [&str; 27] = [
    "send",
    "recv",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "sendmmsg",
    "recvmmsg",
    "read",
    "write",
    "readv",
    "writev",
    "poll",
    "ppoll",
    "epoll_wait",
    "syscall",
    "__errno_location",
    "rustix::net::",
    "rustix::io::",
    "rustix::event::",
    "rustix::backend::",
    "core::net::socket_addr::SocketAddr as rustix::net::",
    "io_uring::",
    // Fields that their libraries read without `#[inline]`.
    "socket2::socket::Socket>::as_raw",
    "socket2::socket::Socket as std::os::fd::owned::AsFd>::as_fd",
    "socket2::sockaddr::SockAddr>::as_socket",
    "libc::unix::linux_like::CMSG_",
];
/// Lists that a folder takes by their name.
const NAMED: [(&str, &[&str]); 3] = [("nothing", &[]), ("futex", &FUTEX), ("sockets", &SOCKET)];
/// The line at the top of a folder's `mod.rs` that says what its loops may call beyond [`COMMON`].
const LINE: &str = "//! Loops may call: ";
/// Crates whose functions are followed instead of judged by name.
const OWN: [&str; 5] = [
    "wirespeed::",
    "wirespeed_schema::",
    "wirespeed_ucx::",
    "wirespeed_ucx_sys::",
    "wirespeed_mpi::",
];
/// Ports over libraries that are loaded at run time: the name in a hot loop's type, and the transport. What they call of
/// the library goes through its own tables of functions, so an indirect call there is expected; nothing else is.
const LOADED: [(&str, &str); 3] = [
    ("wirespeed_ucx::uct::", "uct"),
    ("wirespeed_ucx::ucp::", "ucp"),
    ("wirespeed_mpi::", "mpi"),
];
/// Functions with names of their own that are not followed: cold ones, and the system's clock, which reaches the vDSO
/// through a pointer. So does the library of the ciphers, which chooses its code by the CPU.
const EXITS: [&str; 6] = [
    "seal::cipher::encrypt",
    "seal::cipher::decrypt",
    "Waiter>::look",
    "Waiter::look",
    "clock::monotonic_ns",
    "clock::other_ns",
];

/// Ports whose operations take less than a microsecond.
const FAST: [&str; 3] = ["transport::local::", "transport::null::", "wirespeed_ucx::uct::"];
/// Functions of the library that loops of such ports call: where a loop waits, begins or ends, where payloads are checked, and
/// what is too long to stand in a loop. All others must become a part of it.
const APART: [&str; 37] = [
    "acknowledge",
    "acknowledge_now",
    "await_acknowledgement",
    "await_room",
    "close",
    "deliver",
    "differs",
    "drain",
    "end_phase",
    "fence",
    "fill",
    "fill_marked",
    "flush",
    "give_way",
    "hot_exchange",
    "keep",
    "look",
    "matches",
    "next",
    "note_answers",
    "out_of_order",
    "pace",
    "put_control",
    "put_inline_whole",
    "ready",
    "receive_first",
    "refill",
    "search",
    "send_empty",
    "send_waiting",
    "send_zcopy",
    "settle_apart",
    "sleep",
    "take_early",
    "verify",
    "wait_apart",
    "wake",
];

/// The simulated transport: its loops run in virtual time, where nothing costs anything.
const SIMULATED: &str = "wirespeed_selftest::";

/// Whether the function is a hot loop of something real.
pub fn is_hot(name: &str) -> bool {
    last_segment(name).starts_with("hot_") && !name.contains(SIMULATED)
}

/// Whether the function is a loop's exit, which is not followed.
pub fn is_exit(name: &str) -> bool {
    last_segment(name).starts_with("cold_") || EXITS.iter().any(|e| without_parameters(name).ends_with(e))
}

/// Whether `hot` may call `callee`, a function of the library, instead of holding it.
pub fn may_stand_apart(hot: &str, callee: &str) -> bool {
    let plain = without_parameters(callee);
    let mut names = plain
        .rsplit("::")
        .filter(|name| !name.starts_with('{') && !name.is_empty());
    let is_known = |name: &str| APART.contains(&name);
    !FAST.iter().any(|port| hot.contains(port)) || names.next().is_none_or(is_known)
}

/// Whether `hot` may call through a pointer.
pub fn may_call_indirectly(hot: &str) -> bool {
    LOADED.iter().any(|(port, _)| hot.contains(port))
}

/// Whether the function belongs to the library.
pub fn is_own(name: &str) -> bool {
    let name = name.trim_start_matches(['<', '&']);
    OWN.iter().any(|o| name.starts_with(o)) || OWN.iter().any(|o| name.contains(&format!(" as {o}")))
}

/// What the `mod.rs` of a folder lets its loops call: named lists, and functions; nothing where it does not say.
pub fn listed(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.strip_prefix(LINE))?;
    let word = |word: &str| match NAMED.iter().find(|(name, _)| *name == word) {
        Some((_, list)) => list.iter().map(|&function| function.to_owned()).collect(),
        None => vec![word.to_owned()],
    };
    Some(line.trim_end_matches('.').split(", ").flat_map(word).collect())
}

/// What loops may call, by folder of transports; folders that two of them share have lists too.
#[derive(Default)]
pub struct Lists(Vec<(String, Vec<String>)>);

impl Lists {
    /// As the folders of the tree say.
    pub fn read(root: &Path) -> Result<Self> {
        let folder = root.join("crates/wirespeed/src/transport");
        let mut lists = Vec::new();
        for entry in folder.read_dir().context("cannot list the transports")? {
            let entry = entry?;
            let text = std::fs::read_to_string(entry.path().join("mod.rs")).unwrap_or_default();
            let name = entry.file_name().to_string_lossy().into_owned();
            lists.extend(listed(&text).map(|list| (name, list)));
        }
        Ok(Lists(lists))
    }

    /// Whether `hot` may call `callee`.
    pub fn allow(&self, hot: &str, callee: &str) -> bool {
        let of_folders = self
            .0
            .iter()
            .filter(|(name, _)| hot.contains(&format!("transport::{name}::")))
            .flat_map(|(_, list)| list.iter().map(String::as_str));
        let of_schedule = PACED.iter().filter(|_| hot.contains(PACED_LOOPS));
        let everywhere = COMMON.iter().chain(&PLAIN).chain(&BOUNDS);
        let everywhere = everywhere.chain(of_schedule).copied();
        everywhere.chain(of_folders).any(|rule| matches(rule, callee))
    }

    /// The transport whose port the function is compiled for.
    pub fn transport(&self, name: &str) -> String {
        let named = name
            .split("transport::")
            .skip(1)
            .filter_map(|rest| rest.split_once("::"));
        if let Some((_, name)) = LOADED.iter().find(|(port, _)| name.contains(port)) {
            return (*name).to_owned();
        }
        let known = |t: &&str| self.0.iter().any(|(k, _)| k == t);
        named.map(|(t, _)| t).find(known).unwrap_or("-").to_owned()
    }
}

/// A rule that ends with `::` or `_` is a prefix; others are whole names.
fn matches(rule: &str, callee: &str) -> bool {
    let callee = callee.split("@").next().unwrap_or(callee).trim_start_matches('<');
    if rule.ends_with("::") || rule.ends_with('_') {
        callee.starts_with(rule)
    } else {
        without_parameters(callee) == rule
    }
}

/// In words: what is wrong with calling it.
pub fn why_not(callee: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|w| callee.contains(w));
    if has(&[
        "alloc",
        "RawVec",
        "raw_vec",
        "malloc",
        "free",
        "drop_in_place",
        "Box<",
    ]) {
        "allocation"
    } else if has(&["Mutex", "mutex", "RwLock", "Condvar", "futex", "pthread"]) {
        "lock"
    } else if has(&["fmt", "print", "log"]) {
        "formatting"
    } else {
        "not on the list of what this transport's loops may call"
    }
}

/// The name without its type parameters, for the report.
pub fn short(name: &str) -> String {
    without_parameters(name.split('@').next().unwrap_or(name))
}

/// The last segment of the path, without type parameters.
fn last_segment(name: &str) -> String {
    let plain = without_parameters(name);
    plain.rsplit("::").next().unwrap_or_default().to_owned()
}

/// `a::b::<c::D>` becomes `a::b`; `<a::B as c::D>::e` stays, for it begins with a bracket.
fn without_parameters(name: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0usize;
    let mut previous = ' ';
    for c in name.chars() {
        match c {
            '<' if !plain.is_empty() && (depth > 0 || plain.ends_with("::")) => depth += 1,
            '>' if depth > 0 && previous != '-' => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
        previous = c;
    }
    plain.replace("::::", "::").trim_end_matches("::").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHM: &str = "wirespeed::engine::pingpong::hot_source::<wirespeed::transport::shm::link::Port>";

    #[test]
    fn names_are_read() {
        assert!(is_hot(SHM));
        assert!(is_hot("a::hot_x"));
        assert!(!is_hot("wirespeed::engine::cold_x::<a::hot_y>"));
        assert!(is_exit("wirespeed::engine::cold_report::<a::B>"));
        assert!(is_exit("<wirespeed::transport::waiter::Waiter>::look"));
        assert!(is_own(
            "<wirespeed::transport::shm::link::Port as wirespeed::transport::port::MessagePort>::poll"
        ));
        assert_eq!(without_parameters("a::b::<c::D<e>>::f"), "a::b::f");
    }

    #[test]
    fn transports_have_lists_of_their_own() {
        let listed = |line: &str| listed(line).unwrap();
        let lists = Lists(vec![
            ("shm".to_owned(), listed("//! x\n//! Loops may call: futex.\n")),
            ("tcp".to_owned(), listed("//! Loops may call: sockets, spin.")),
            ("null".to_owned(), listed("//! Loops may call: nothing.")),
        ]);
        assert_eq!(super::listed("//! Loops."), None);
        let is_allowed = |hot: &str, callee: &str| lists.allow(hot, callee);
        let tcp = SHM.replace("shm", "tcp");
        assert!(is_allowed(&tcp, "spin") && !is_allowed(SHM, "spin"));
        assert!(!is_allowed(&SHM.replace("shm", "null"), "syscall"));
        assert!(is_allowed(&tcp, "send@GLIBC_2.2.5"));
        assert!(!is_allowed(SHM, "send"));
        assert!(is_allowed(SHM, "memcpy@plt"));
        assert_eq!(lists.transport(SHM), "shm");
        assert!(is_allowed(SHM, "core::panicking::panic_bounds_check"));
        assert!(!is_allowed(SHM, "malloc"));
        assert!(!is_allowed(&tcp, "sendfile"));
        assert!(!is_allowed(&tcp, "std::thread::sleep"));
        assert!(is_allowed(
            &tcp.replace("pingpong", "datagram::stream"),
            "std::thread::sleep"
        ));
        assert_eq!(why_not("__rustc::__rust_alloc"), "allocation");
        let uct = "wirespeed::engine::pingpong::hot_x::<wirespeed_ucx::uct::link_messages::UctMessages>";
        assert!(may_call_indirectly(uct) && !may_call_indirectly(SHM));
        assert!(!is_allowed(uct, "malloc") && !is_allowed(uct, "send"));
        assert_eq!(lists.transport(uct), "uct");
    }

    #[test]
    fn fast_loops_hold_what_is_short() {
        let ring = "wirespeed::engine::stream::hot_send::<wirespeed::transport::local::link_messages::RingPort<false>>";
        let short = "wirespeed::sync::ring::payload_max";
        assert!(!may_stand_apart(ring, short) && may_stand_apart(SHM, short));
        assert!(may_stand_apart(
            ring,
            "wirespeed::engine::stream::await_room::<a::B>"
        ));
        assert!(may_stand_apart(
            ring,
            "<a::Consumer<b::C>>::next::<d::E>::{closure#1}"
        ));
    }
}
