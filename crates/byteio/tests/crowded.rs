//! Strangers who hold every place and move next to nothing, each kind in another way: whoever asks properly is served, and
//! whoever moves what is moved steadily, or waits for the service, keeps its place.

mod common;

use common::{Running, data, head, names};
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wirespeed_byteio::service::Limits;

const PLACES: usize = 24;
/// Until everybody who is slow has been seen to be so.
const SEEN: Duration = Duration::from_secs(3);
/// How long an honest get may take among strangers.
const PROMPT: Duration = Duration::from_secs(2);
/// Steady ones move so much at a time: 64 KiB a second.
const PIECE_BYTES: usize = 8 << 10;
const PIECE: Duration = Duration::from_millis(125);
const PIECES: usize = 64;
/// Nobody's bytes: it only has to be long.
const LARGE_BYTES: u64 = 512 << 20;

/// What a stranger begins with, what it adds each second, and whether it reads instead.
struct Stranger {
    begins: &'static str,
    drip: &'static [u8],
    reads: bool,
}

const WITH_LENGTH: Stranger = Stranger {
    begins: "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
    drip: b"a",
    reads: false,
};
const CHUNKED: Stranger = Stranger {
    begins: "PUT /f HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    drip: b"1\r\na\r\n",
    reads: false,
};
const READER: Stranger = Stranger {
    begins: "GET /large HTTP/1.1\r\nHost: h\r\n\r\n",
    drip: b"",
    reads: true,
};
const UPGRADED: Stranger = Stranger {
    begins: "GET /large HTTP/1.1\r\nHost: h\r\nUpgrade: wirespeed-bulk/1\r\nConnection: Upgrade\r\n\r\n",
    drip: b"\x01",
    reads: false,
};

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn is_200(stream: &TcpStream) -> bool {
    head(&mut BufReader::with_capacity(1, stream)).is_some_and(|head| head.starts_with("HTTP/1.1 200 "))
}

/// A put that brings a piece after the other, and whether it was taken.
fn steady_put(port: u16) -> JoinHandle<bool> {
    let mut stream = connect(port);
    std::thread::spawn(move || {
        let size = PIECE_BYTES * PIECES;
        let head = format!("PUT /steady HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        for piece in data(size).chunks(PIECE_BYTES) {
            if stream.write_all(piece).is_err() {
                return false;
            }
            std::thread::sleep(PIECE);
        }
        is_200(&stream)
    })
}

/// A get that takes a piece after the other, and whether it got them.
fn steady_get(port: u16) -> JoinHandle<bool> {
    let mut stream = connect(port);
    std::thread::spawn(move || {
        stream.write_all(READER.begins.as_bytes()).unwrap();
        let mut piece = vec![0; PIECE_BYTES];
        let mut takes = || {
            std::thread::sleep(PIECE);
            stream.read_exact(&mut piece).is_ok()
        };
        // What is buffered on the way comes even from a connection that has ended.
        (0..PIECES).all(|_| takes()) && stream.write(b"G").is_ok() && {
            std::thread::sleep(PIECE);
            stream.take_error().unwrap().is_none() && stream.write(b"G").is_ok()
        }
    })
}

/// A digest that the service is busy with, and whether it came.
fn computed(port: u16) -> JoinHandle<bool> {
    let mut stream = connect(port);
    std::thread::spawn(move || {
        let asks = format!(
            "GET /large?digest=blake3&offset=0&size={LARGE_BYTES} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(asks.as_bytes()).unwrap();
        is_200(&stream)
    })
}

/// One after the other on connections of their own: how long the longest took. Only answers that are right count.
fn honest_gets(port: u16) -> Duration {
    let get = |_| {
        let began = Instant::now();
        let mut stream = connect(port);
        let asks = b"GET /small HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        stream.write_all(asks).unwrap();
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        assert!(answer.ends_with("\r\n\r\nsmall"), "{read:?} {answer:?}");
        began.elapsed()
    };
    (0..4).map(get).max().unwrap()
}

/// More than there are places, each of which drips until it is over.
fn strangers(port: u16, kind: &'static Stranger, over: &Arc<AtomicBool>) -> JoinHandle<()> {
    let begin = |_| {
        let mut stranger = connect(port);
        // Whoever is more than there are places is sent away; and nobody makes room because its request is not read yet.
        let _ = stranger.write_all(kind.begins.as_bytes());
        std::thread::sleep(Duration::from_millis(5));
        stranger
    };
    let mut all: Vec<TcpStream> = (0..PLACES + 4).map(begin).collect();
    let over = over.clone();
    std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            for stranger in &mut all {
                stranger.set_nonblocking(true).unwrap();
                let _ = match kind.reads {
                    true => stranger.read(&mut [0; 1]),
                    false => stranger.write(kind.drip),
                };
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    })
}

fn keep_nobody_out(kind: &'static Stranger) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small"), "small").unwrap();
    let large = std::fs::File::create(folder.path().join("large")).unwrap();
    large.set_len(LARGE_BYTES).unwrap();
    let limits = Limits {
        connections_max: PLACES,
        // Longer than anybody waits here.
        patience: Duration::from_secs(3600),
        ..Limits::default()
    };
    let service = Running::with(folder.path(), true, None, limits);
    let honest = [steady_put, steady_get, computed].map(|begin| begin(service.port));
    std::thread::sleep(Duration::from_secs(1));
    let over = Arc::<AtomicBool>::default();
    // The second wave takes the places of the first, and would take more.
    let waves = [(); 2].map(|()| {
        let wave = strangers(service.port, kind, &over);
        std::thread::sleep(SEEN);
        let longest = honest_gets(service.port);
        assert!(longest < PROMPT, "{longest:?}");
        wave
    });
    let kept = honest.map(|honest| honest.join().unwrap());
    assert_eq!(kept, [true; 3], "a put, a get and a digest keep their places");
    over.store(true, Ordering::Relaxed);
    waves.into_iter().for_each(|wave| wave.join().unwrap());
    let deadline = Instant::now() + Duration::from_secs(10);
    while names(folder.path()) != ["large", "small", "steady"] {
        assert!(Instant::now() < deadline, "{:?}", names(folder.path()));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn bodies_that_drip_keep_nobody_out() {
    keep_nobody_out(&WITH_LENGTH);
}

#[test]
fn chunks_that_drip_keep_nobody_out() {
    keep_nobody_out(&CHUNKED);
}

#[test]
fn readers_that_hardly_read_keep_nobody_out() {
    keep_nobody_out(&READER);
}

#[test]
fn bulk_streams_whose_requests_drip_keep_nobody_out() {
    keep_nobody_out(&UPGRADED);
}
