//! Encrypted connections through a relay that looks at every byte, and changes, repeats, swaps or leaves out what it likes.

use crate::harness::*;
use crate::meeting::{TOKEN_BYTES, pair};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use wirespeed::transport::ConnectError;
use wirespeed::transport::port::LinkError;
use wirespeed::transport::tcp::Tcp;
use wirespeed::transport::unix::Unix;

const AES: (&str, &str) = ("encrypt", "aes-256-gcm");
const CHACHA: (&str, &str) = ("encrypt", "chacha20-poly1305");

/// Bytes of a greeting, and of a frame's header.
const GREETING_BYTES: usize = 28;
const HEADER_BYTES: usize = 16;

/// What the tests send; nothing else looks like it.
const SECRET: &[u8] = b"attack the northern gate at dawn";

/// What the relay does with the frames that one rank sends after its greeting.
type Evil = fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>;

/// Everything that passed, both ways.
type Seen = Arc<Mutex<Vec<u8>>>;

/// A relay to `target` for one connection. Frames of the caller go through `evil` once `frames` of them are there.
fn relay(target: SocketAddr, seen: &Seen, frames: usize, evil: Evil) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let seen = seen.clone();
    std::thread::spawn(move || {
        let (caller, _) = listener.accept().unwrap();
        let callee = TcpStream::connect(target).unwrap();
        let (back, answers, log) = (
            caller.try_clone().unwrap(),
            callee.try_clone().unwrap(),
            seen.clone(),
        );
        std::thread::spawn(move || {
            pass(answers, back, &log);
        });
        attack(caller, callee, &seen, frames, evil);
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: &Seen) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        seen.lock().unwrap().extend_from_slice(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
    // Whoever is gone already need not be told.
    let _ = to.shutdown(Shutdown::Write);
}

fn attack(mut from: TcpStream, mut to: TcpStream, seen: &Seen, count: usize, evil: Evil) {
    let mut greeting = [0; GREETING_BYTES];
    from.read_exact(&mut greeting).unwrap();
    to.write_all(&greeting).unwrap();
    let mut frames = Vec::new();
    for _ in 0..count {
        let mut frame = vec![0; HEADER_BYTES];
        from.read_exact(&mut frame).unwrap();
        let len = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
        frame.resize(HEADER_BYTES + len, 0);
        from.read_exact(&mut frame[HEADER_BYTES..]).unwrap();
        frames.push(frame);
    }
    seen.lock().unwrap().extend(frames.concat());
    for frame in evil(frames) {
        // The peer may have gone at the first of them.
        if to.write_all(&frame).is_err() {
            return;
        }
    }
    pass(from, to, seen);
}

/// Rank 0 sends `count` messages to rank 1 through the relay. What rank 1 got, how it ended, and every byte that passed.
fn through_relay(
    options: &[(&str, &str)],
    count: usize,
    evil: Evil,
) -> (Vec<Message>, Result<(), LinkError>, Vec<u8>) {
    let seen = Seen::default();
    let got: Mutex<(Vec<Message>, Result<(), LinkError>)> = Mutex::new((Vec::new(), Ok(())));
    let divert = |blobs: &mut Vec<Vec<u8>>| {
        let (token, address) = blobs[1].split_at(TOKEN_BYTES.min(blobs[1].len()));
        let target = std::str::from_utf8(address).ok().and_then(|a| a.parse().ok());
        if let Some(target) = target {
            let relayed = relay(target, &seen, count, evil).to_string();
            blobs[1] = [token, relayed.as_bytes()].concat();
        }
    };
    let results = pair::<Tcp>(options, divert, |rank, port| {
        let mut received = Received::default();
        if rank == 0 {
            for number in 0..count as u64 {
                send(port, 0, number, SECRET, &mut received);
            }
            flush(port, &mut received);
            // Until the other rank answers, or goes.
            while received.0.is_empty() && port.wait_into(&mut received).is_ok() {}
            return;
        }
        let mut ended = Ok(());
        while ended.is_ok() && received.0.len() < count {
            ended = port.wait_into(&mut received).map(drop);
        }
        if ended.is_ok() {
            send(port, 0, 0, SECRET, &mut Received::default());
            flush(port, &mut Received::default());
        }
        *got.lock().unwrap() = (received.0.into(), ended);
    });
    for result in results {
        result.unwrap();
    }
    let (messages, ended) = got.into_inner().unwrap();
    let bytes = std::mem::take(&mut *seen.lock().unwrap());
    (messages, ended, bytes)
}

fn honest(frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    frames
}

fn all_of(count: u64) -> Vec<Message> {
    (0..count).map(|number| (0, number, SECRET.to_vec())).collect()
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

#[test]
fn plain_bytes_pass_in_the_clear_and_never_encrypted() {
    let (messages, ended, bytes) = through_relay(&[], 3, honest);
    assert_eq!((messages, ended), (all_of(3), Ok(())));
    assert!(holds(&bytes, SECRET), "the relay sees what passes");
    for cipher in [AES, CHACHA] {
        for wait in ["poll", "block"] {
            let (messages, ended, bytes) = through_relay(&[cipher, ("wait", wait)], 3, honest);
            assert_eq!((messages, ended), (all_of(3), Ok(())), "{cipher:?} {wait}");
            assert!(bytes.len() > 4 * SECRET.len());
            for piece in SECRET.windows(6) {
                assert!(!holds(&bytes, piece), "{cipher:?} {wait}: {piece:?} passed");
            }
        }
    }
}

/// Rank 1 gets the messages before the `whole`-th, and an error of its own words after them.
fn assert_refused(evil: Evil, whole: u64, why: &str) {
    for cipher in [AES, CHACHA] {
        let (messages, ended, _) = through_relay(&[cipher], 4, evil);
        assert_eq!(messages, all_of(whole), "{cipher:?}");
        let error = ended.expect_err("it was taken").to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_changed_byte_is_refused_wherever_it_is() {
    // The header's check, the message's number, its first and last byte, its tag.
    let changed: [(Evil, &str); 5] = [
        (|f| flip(f, 5), "not a frame header"),
        (|f| flip(f, 9), "not a frame header"),
        (|f| flip(f, HEADER_BYTES), "changed on its way"),
        (
            |f| flip(f, HEADER_BYTES + 8 + SECRET.len() - 1),
            "changed on its way",
        ),
        (
            |f| flip(f, HEADER_BYTES + 8 + SECRET.len() + 15),
            "changed on its way",
        ),
    ];
    for (evil, why) in changed {
        assert_refused(evil, 2, why);
    }
}

fn flip(mut frames: Vec<Vec<u8>>, at: usize) -> Vec<Vec<u8>> {
    frames[2][at] ^= 0x10;
    frames
}

/// `frame` under another number, with the check that belongs to it.
fn renumbered(mut frame: Vec<u8>, number: u8) -> Vec<u8> {
    frame[4] ^= frame[8] ^ number;
    frame[8] = number;
    frame
}

#[test]
fn what_comes_twice_late_or_never_is_refused() {
    assert_refused(
        |f| vec![f[0].clone(), f[0].clone(), f[1].clone()],
        1,
        "out of its place",
    );
    assert_refused(
        |f| vec![f[0].clone(), f[2].clone(), f[1].clone()],
        1,
        "out of its place",
    );
    assert_refused(|f| f[1..].to_vec(), 0, "out of its place");
    assert_refused(
        |f| vec![f[0].clone(), renumbered(f[0].clone(), 1)],
        1,
        "changed on its way",
    );
    assert_refused(
        |f| vec![f[0].clone(), renumbered(f[3].clone(), 1)],
        1,
        "changed on its way",
    );
}

#[test]
fn an_end_that_knows_of_no_encryption_is_refused() {
    let unready = |blobs: &mut Vec<Vec<u8>>| {
        let has_keys = blobs[1].len() == 36;
        if has_keys {
            blobs[1].clear();
        }
    };
    let [caller, _] = pair::<Tcp>(&[AES], unready, |rank, _| {
        assert_eq!(rank, 1, "it opened with what it was told");
    });
    let error = caller.unwrap_err().to_string();
    assert!(error.contains("no key for this rank"), "{error}");
    let forged = |blobs: &mut Vec<Vec<u8>>| {
        let has_keys = blobs[1].len() == 36;
        if has_keys {
            blobs[1][4..].fill(0);
        }
    };
    let [caller, _] = pair::<Unix>(&[CHACHA], forged, |rank, _| {
        assert_eq!(rank, 1, "it opened with what it was told");
    });
    assert!(
        matches!(caller, Err(ConnectError::BadPeer { rank: 1, .. })),
        "{caller:?}"
    );
}

#[test]
fn keys_are_others_each_time() {
    let pass = || through_relay(&[AES], 1, honest).2;
    let (first, second) = (pass(), pass());
    let sealed = |bytes: &[u8]| {
        let at = bytes
            .windows(4)
            .position(|w| w == (SECRET.len() as u32 + 24).to_le_bytes());
        bytes[at.unwrap() + HEADER_BYTES..][..SECRET.len()].to_vec()
    };
    assert_ne!(sealed(&first), sealed(&second));
}
