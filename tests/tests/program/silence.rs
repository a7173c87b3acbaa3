//! Hosts that answer nothing: a port whose queue is full, and one behind which nobody speaks. Whatever a verb asks of one, a
//! signal ends it at once, before the host's time is over, and nothing is left.

use crate::{SOON, Server, home, turn};
use rustix::process::Signal;
use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::Running;

/// More than the second within which a signal is heard, and less than any verb waits for a host.
const AT_ONCE: Duration = Duration::from_secs(3);

/// A port of loopback that answers nothing.
struct Silent {
    listener: TcpListener,
    /// Connections: those that fill the queue, or those that were taken.
    held: RefCell<Vec<TcpStream>>,
    is_full: bool,
}

impl Silent {
    /// Connections are taken, and nothing is said in them.
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Silent {
            listener,
            held: RefCell::default(),
            is_full: false,
        }
    }

    /// No connection comes about.
    fn full() -> Self {
        let silent = Silent::open();
        rustix::net::listen(&silent.listener, 0).unwrap();
        let connect = || TcpStream::connect_timeout(&silent.address(), Duration::from_millis(100)).ok();
        let queue: Vec<_> = std::iter::from_fn(connect).take(8).collect();
        assert!(queue.len() < 8, "the queue has an end");
        Silent {
            held: RefCell::new(queue),
            is_full: true,
            ..silent
        }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Whether `client` waits: for its connection, or for a word.
    fn keeps(&self, client: &Running) -> bool {
        if self.is_full {
            return threads(client.pid()).any(|name| name.trim() == "reach");
        }
        let mut held = self.held.borrow_mut();
        held.extend(self.listener.accept().map(|(stream, _)| stream));
        !held.is_empty()
    }
}

/// The names of a process's threads.
pub fn threads(pid: u32) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok())
}

/// Command lines that ask something of `at`, and with what they end when they are told to: by that code, or by the signal
/// itself where nothing has begun.
fn verbs(at: SocketAddr) -> Vec<(String, Option<i32>)> {
    let (host, port) = (at.ip(), at.port());
    let named = [
        (format!("run latency --via tcp --to {at}"), Some(130)),
        (
            format!("run latency --via tcp,udp --to {at} --ipv4 --json"),
            Some(130),
        ),
        (
            format!("sweep --repeats 1 -- latency --via tcp --to {at}"),
            Some(130),
        ),
        (format!("load --repeats 1 -- --via tcp --to {at}"), Some(130)),
        (
            format!("ab --pairs 6 -- latency --via tcp --to {at} -- latency --via tcp"),
            Some(130),
        ),
        (format!("workers --to {at}"), Some(130)),
        (
            format!("mesh --to {at},127.0.0.2:{port} -- latency --via tcp"),
            Some(130),
        ),
        (format!("perftest {host} -p {port} -t tag_lat -x tcp"), Some(130)),
        (format!("session --host {host} --port {port}"), Some(130)),
        (format!("session --site http://{at} --dc gld --env prod"), None),
        (format!("node --coordinator {at}"), Some(0)),
        (format!("byteio get http://{at}/file copy"), Some(130)),
        (format!("byteio bench http://{at}/file"), Some(130)),
    ];
    named.into()
}

#[test]
fn every_verb_hears_a_signal_while_a_host_is_silent() {
    let _turn = turn();
    let home = home();
    // The key that both ends would know each other by.
    Server::start(&home, "").stop();
    for make in [Silent::open as fn() -> Silent, Silent::full] {
        let count = verbs(make().address()).len();
        for number in 0..count {
            let silent = make();
            let (line, code) = verbs(silent.address()).swap_remove(number);
            let signal = [Signal::INT, Signal::TERM][number % 2];
            let client = home.start(line.split(' '));
            client.wait_until("a wait", PATIENCE, |client| silent.keeps(client));
            client.signal(signal);
            let ended = client.end(AT_ONCE);
            assert_eq!(ended.code, code, "{line}: {ended}");
            assert!(!ended.stderr.contains("panicked"), "{line}: {ended}");
        }
    }
    assert!(!home.path("copy").exists());
    home.assert_nothing_left(SOON);
}
