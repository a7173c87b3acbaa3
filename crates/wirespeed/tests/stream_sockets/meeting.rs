//! How ports find each other, and what strangers get.

use crate::harness::*;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;
use wirespeed::schema::test::Layout;
use wirespeed::transport::bootstrap::BootstrapError;
use wirespeed::transport::cancel::CancelReason;
use wirespeed::transport::options::OptionError;
use wirespeed::transport::port::LinkError;
use wirespeed::transport::tcp::Tcp;
use wirespeed::transport::unix::Unix;
use wirespeed::transport::{Connect, ConnectError, Messages, Needs, Transport};
use wirespeed::{Bootstrap, Cancel, ThreadBootstrap};

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Bytes of the token before the address.
pub const TOKEN_BYTES: usize = 16;

type Meddling<'a> = Box<dyn Fn(&mut Vec<Vec<u8>>) + 'a>;

/// A bootstrap that sees, and may change, what the ranks tell each other.
struct Meddler<'a> {
    honest: &'a ThreadBootstrap,
    meddle: Meddling<'a>,
}

impl Bootstrap for Meddler<'_> {
    fn size(&self) -> u32 {
        self.honest.size()
    }
    fn rank(&self) -> u32 {
        self.honest.rank()
    }
    fn barrier(&self, progress: &mut dyn FnMut()) -> Result<(), BootstrapError> {
        self.honest.barrier(progress)
    }
    fn exchange(&self, blob: &[u8]) -> Result<Vec<Vec<u8>>, BootstrapError> {
        let mut blobs = self.honest.exchange(blob)?;
        (self.meddle)(&mut blobs);
        Ok(blobs)
    }
    fn cancel(&self) -> Cancel {
        self.honest.cancel()
    }
    fn bind_address(&self) -> IpAddr {
        self.honest.bind_address()
    }
}

fn tcp_address(blob: &[u8]) -> String {
    String::from_utf8(blob[TOKEN_BYTES..].to_vec()).unwrap()
}

/// Ranks 0 and 1 of `T`; `meddle` stands between rank 0 and what it hears. Both results come back.
pub fn pair<T: Messages>(
    options: &[(&str, &str)],
    meddle: impl Fn(&mut Vec<Vec<u8>>) + Sync,
    on_connected: impl Fn(u32, &mut dyn AnyPort) + Sync,
) -> [Result<(), ConnectError>; 2] {
    let case = case(T::NAME, options, 2, Layout::Short);
    let results: Mutex<[Option<Result<(), ConnectError>>; 2]> = Mutex::default();
    group(2, LOCAL, |ranks| {
        std::thread::scope(|scope| {
            for rank in ranks {
                let (case, results, meddle, on_connected) = (&case, &results, &meddle, &on_connected);
                scope.spawn(move || {
                    let number = rank.rank();
                    let meddle: Meddling = if number == 0 {
                        Box::new(meddle)
                    } else {
                        Box::new(|_| ())
                    };
                    let bootstrap = Meddler { honest: rank, meddle };
                    let result = open::<T, _>(&bootstrap, case, &[1 - number], 64, |port| {
                        on_connected(number, port)
                    });
                    if result.is_err() {
                        // As the library's entry does, so that the other rank need not wait in vain.
                        rank.cancel().cancel(CancelReason::PeerLost);
                    }
                    results.lock().unwrap()[number as usize] = Some(result);
                });
            }
        });
    });
    results.into_inner().unwrap().map(Option::unwrap)
}

fn say_hello(rank: u32, port: &mut dyn AnyPort) {
    let mut received = Received::default();
    send(port, 0, u64::from(rank), b"hello", &mut received);
    receive(port, &mut received, 1);
    flush(port, &mut received);
}

#[test]
fn a_wrong_token_is_not_let_in() {
    fn refused<T: Messages>() {
        let [caller, listener] = pair::<T>(&[], |blobs| blobs[1][3] ^= 1, |_, _| panic!("connected"));
        assert!(
            matches!(caller, Err(ConnectError::BadPeer { rank: 1, .. })),
            "{caller:?}"
        );
        assert!(
            matches!(listener, Err(ConnectError::Bootstrap(BootstrapError::Cancelled))),
            "{listener:?}"
        );
    }
    refused::<Tcp>();
    refused::<Unix>();
}

#[test]
fn an_unusable_address_is_named() {
    for forged in [&b""[..], b"short", b"0123456789abcdefnot an address"] {
        let [caller, _] = pair::<Tcp>(
            &[],
            |blobs| blobs[1] = forged.to_vec(),
            |_, _| panic!("connected"),
        );
        assert!(
            matches!(caller, Err(ConnectError::BadPeer { rank: 1, .. })),
            "{caller:?}"
        );
    }
}

#[test]
fn strangers_do_not_keep_a_peer_out() {
    let strangers = Mutex::new(Vec::new());
    let intrude = |blobs: &mut Vec<Vec<u8>>| {
        let address = tcp_address(&blobs[1]);
        for i in 0..300 {
            let mut stranger = TcpStream::connect(&address).unwrap();
            match i % 3 {
                // Silent, half a greeting, garbage.
                0 => {}
                1 => stranger.write_all(&b"wirespd1"[..5]).unwrap(),
                _ => stranger.write_all(&[0xa5; 4096]).unwrap(),
            }
            strangers.lock().unwrap().push(stranger);
        }
    };
    let results = pair::<Tcp>(&[], intrude, say_hello);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[test]
fn a_stranger_with_a_rank_but_no_token_is_dropped() {
    let intrude = |blobs: &mut Vec<Vec<u8>>| {
        let mut stranger = TcpStream::connect(tcp_address(&blobs[1])).unwrap();
        let greeting = [&b"wirespd1"[..], &[0; TOKEN_BYTES], &0u32.to_le_bytes()].concat();
        stranger.write_all(&greeting).unwrap();
        stranger.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert!(
            matches!(stranger.read(&mut [0; 4]), Ok(0) | Err(_)),
            "let in without a token"
        );
    };
    let results = pair::<Tcp>(&[], intrude, say_hello);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Let rank 1 of a tcp pair talk to a peer that greets properly and then sends `wire`.
fn speaks(wire: &[u8], wait: &str) -> LinkError {
    let case = case("tcp", &[("wait", wait)], 2, Layout::Short);
    let mut error = None;
    group(2, LOCAL, |ranks| {
        std::thread::scope(|scope| {
            let victim = scope.spawn(|| {
                open::<Tcp, _>(&ranks[1], &case, &[0], 64, |port| {
                    let mut received = Received::default();
                    loop {
                        if let Err(error) = port.wait_into(&mut received) {
                            return (error, received.0.len());
                        }
                    }
                })
                .unwrap()
            });
            let forger = Connect::new(&ranks[0], &case, &[1], Needs::default());
            let blobs = forger.exchange(&[]).unwrap();
            let mut forger = TcpStream::connect(tcp_address(&blobs[1])).unwrap();
            let greeting = [&b"wirespd1"[..], &blobs[1][..TOKEN_BYTES], &0u32.to_le_bytes()].concat();
            forger.write_all(&greeting).unwrap();
            let mut welcome = [0; 4];
            forger.read_exact(&mut welcome).unwrap();
            forger.write_all(wire).unwrap();
            forger.shutdown(std::net::Shutdown::Write).unwrap();
            error = Some(victim.join().unwrap());
        });
    });
    let (error, messages) = error.unwrap();
    assert_eq!(messages, 0);
    error
}

#[test]
fn malformed_frames_are_corrupt_and_half_a_header_is_a_dead_peer() {
    for wait in ["poll", "block", "uring"] {
        if wait == "uring" && !uring_works() {
            continue;
        }
        assert!(matches!(speaks(&[0x5a; 64], wait), LinkError::Corrupt(_)));
        assert!(matches!(speaks(&[0; 16], wait), LinkError::Corrupt(_)));
        assert!(matches!(speaks(&[0xff; 16], wait), LinkError::Corrupt(_)));
        assert_eq!(speaks(&[0x57; 7], wait), LinkError::Closed);
    }
}

#[test]
fn a_fixed_port_and_source_are_used_and_can_be_used_again() {
    let free = std::net::TcpListener::bind((LOCAL, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
        .to_string();
    for _ in 0..2 {
        let check = |blobs: &mut Vec<Vec<u8>>| assert!(tcp_address(&blobs[1]).ends_with(&format!(":{free}")));
        let results = pair::<Tcp>(&[("port", &free), ("source", "127.0.0.9")], check, say_hello);
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }
}

#[test]
fn nonsense_options_are_refused_by_name() {
    let refused = |name: &str, value: &str| {
        let options = [(name.to_owned(), value.to_owned())].into();
        match Tcp::parse(&options) {
            Err(OptionError::Value {
                name: named,
                expected,
                ..
            }) => {
                assert_eq!(named, name);
                expected
            }
            other => panic!("{name}={value}: {other:?}"),
        }
    };
    for (name, value) in [
        ("wait", "sleep"),
        ("nodelay", "yes"),
        ("sndbuf", "0"),
        ("rcvbuf", "4G"),
        ("coalesce", "many"),
        ("mss", "87"),
        ("mss", "1.5"),
        ("dscp", "64"),
        ("dscp", "-1"),
        ("port", "0"),
        ("port", "65536"),
        ("source", "localhost"),
        ("busy_poll", "1s"),
        ("quickack", ""),
        ("congestion", ""),
    ] {
        refused(name, value);
    }
    assert!(refused("congestion", "no-such-control").contains("reno"));
    assert!(matches!(
        Unix::parse(&[("nodelay".to_owned(), "on".to_owned())].into()),
        Err(OptionError::Unknown { .. })
    ));
}
