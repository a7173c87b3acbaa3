//! A connection that falls silent while others go on, over real sockets: it is closed, and its blocks are taken over.

mod common;

use common::{Running, data, get};
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wirespeed_byteio::client::{Claim, Direction, Target, TransferOptions, Way, transfer};
use wirespeed_byteio::digest::DigestKind;
use wirespeed_byteio::soap::Mechanism;
use wirespeed_control::StopFlag;
use wirespeed_schema::byteio::Transfer;

const SIZE: usize = 12_000_000;
/// A connection carries this much at once, then pauses.
const PIECE_BYTES: usize = 32 << 10;
const PAUSE: Duration = Duration::from_millis(10);
/// After this much one connection falls silent.
const STALLS_AFTER_BYTES: u64 = 1_000_000;

/// Forwards connections, slowly; one of them falls silent, and whether it was closed then.
struct Relay {
    to: u16,
    stalled: AtomicBool,
    closed: AtomicBool,
}

impl Relay {
    fn start(to: u16) -> (Arc<Relay>, u16) {
        let relay = Arc::new(Relay {
            to,
            stalled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = relay.clone();
        std::thread::spawn(move || {
            while let Ok((near, _)) = listener.accept() {
                let far = TcpStream::connect(("127.0.0.1", own.to)).unwrap();
                let carried = Arc::new(AtomicU64::new(0));
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (relay, carried) = (own.clone(), carried.clone());
                    std::thread::spawn(move || relay.carry(from, to, &carried));
                }
            }
        });
        (relay, port)
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream, carried: &AtomicU64) {
        let mut buffer = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let sum = carried.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
            if sum > STALLS_AFTER_BYTES && !self.stalled.swap(true, Ordering::Relaxed) {
                self.wait_for_close(&from, &to);
                break;
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Silent until either end closes.
    fn wait_for_close(&self, from: &TcpStream, to: &TcpStream) {
        let ended = |end: &TcpStream| {
            let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
            let seen = socket2::SockRef::from(end).recv_with_flags(&mut [MaybeUninit::uninit()], flags);
            matches!(seen, Ok(0)) || seen.is_err_and(|e| e.kind() != std::io::ErrorKind::WouldBlock)
        };
        for _ in 0..6000 {
            if ended(from) || ended(to) {
                self.closed.store(true, Ordering::Relaxed);
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn go(options: &TransferOptions) -> Transfer {
    let result = transfer(options, &StopFlag::new(), &|_| ()).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(result.transfer.error, None, "{:?}", result.transfer);
    result.transfer
}

fn check(relay: &Relay, seen: &Transfer, name: &str) {
    assert!(relay.stalled.load(Ordering::Relaxed), "{name}: nothing stalled");
    assert!(seen.steals_count > 0, "{name}: {seen:?}");
    let failures: Vec<&String> = seen
        .connections
        .iter()
        .filter_map(|c| c.failure.as_ref())
        .collect();
    assert!(
        failures.iter().any(|why| why.contains("stalled")),
        "{name}: {failures:?}"
    );
    let repeated: u64 = seen.connections.iter().map(|c| c.repeated_bytes).sum();
    // Never more than what the connection had been asked for: two blocks.
    assert!(repeated < 1_100_000, "{name}: {repeated}");
    let bytes = seen.socket_bytes();
    assert!(
        bytes as f64 <= 1.02 * SIZE as f64 + repeated as f64,
        "{name}: {bytes} {repeated}"
    );
}

#[test]
fn a_get_takes_over_what_a_silent_connection_had() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let service = Running::start(folder.path(), false, None);
    for way in [Way::Http, Way::Soap(Mechanism::Mtom), Way::Bulk] {
        let (relay, port) = Relay::start(service.port);
        let mut url = service.url("/f");
        url.port = port;
        let out = folder.path().join(way.name());
        let mut options = get(url, way);
        options.client.patience = Duration::from_secs(3);
        options.block_bytes = 500_000;
        options.digest = Some(DigestKind::Crc32c);
        options.target = Target::File {
            path: out.clone(),
            claim: Claim::New,
        };
        let seen = go(&options);
        assert!(std::fs::read(&out).unwrap() == content, "{}", way.name());
        check(&relay, &seen, way.name());
        assert!(
            relay.closed.load(Ordering::Relaxed),
            "{}: it was not closed",
            way.name()
        );
    }
}

#[test]
fn a_put_takes_over_what_a_silent_connection_had() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    let source = folder.path().join("source");
    std::fs::write(&source, &content).unwrap();
    let service = Running::start(folder.path(), true, None);
    for way in [Way::Http, Way::Soap(Mechanism::Mtom)] {
        let (relay, port) = Relay::start(service.port);
        let mut url = service.url(&format!("/{}", way.name()));
        url.port = port;
        let mut options = get(url, way);
        options.client.direction = Direction::Put;
        options.client.patience = Duration::from_secs(3);
        options.block_bytes = 500_000;
        options.source = Some(source.clone());
        options.digest = Some(DigestKind::Crc32c);
        let seen = go(&options);
        assert!(
            std::fs::read(folder.path().join(way.name())).unwrap() == content,
            "{}",
            way.name()
        );
        check(&relay, &seen, way.name());
    }
}
