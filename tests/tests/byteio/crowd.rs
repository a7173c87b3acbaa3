//! Strangers in numbers: whoever asks properly is served, whoever drips is told so and sent away.

use crate::{home, serve};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;

/// More than the service has places.
const STRANGERS: usize = 260;

#[test]
fn strangers_that_drip_keep_nobody_out() {
    let home = home();
    // A service that keeps strangers as long as it may keeps them longer than anybody waits here.
    let (_server, url) = serve(&home, "--stall 1h");
    std::fs::write(home.path("served/f"), vec![7; 1_000_000]).unwrap();
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let mut strangers: Vec<TcpStream> = (0..STRANGERS)
        .map(|_| TcpStream::connect(&address).unwrap())
        .collect();
    let (_over, goes_on) = channel::<()>();
    std::thread::spawn(move || {
        while goes_on.recv_timeout(Duration::from_millis(500)) == Err(RecvTimeoutError::Timeout) {
            for stranger in &mut strangers {
                // Those that made room for others are gone.
                let _ = stranger.write_all(b"G");
            }
        }
    });
    std::thread::sleep(Duration::from_secs(1));
    let line = format!("byteio get {url}/f copy --mechanism http -q -o r.json");
    home.start(line.split(' ')).end(PATIENCE).code(0);
}

#[test]
fn requests_that_do_not_come_to_their_end_are_answered() {
    let home = home();
    let (_server, url) = serve(&home, "--writable --stall 1s");
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let stalled = [
        ("GET /f HTTP/1.1\r\nHost:", "a head that stops"),
        (
            "POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n<",
            "a body that stops",
        ),
        (
            "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\nabc",
            "a put that stops",
        ),
        (
            "PUT /f HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            "a chunk that stops",
        ),
    ];
    for (request, what) in stalled {
        for drips in [false, true] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut writer = stream.try_clone().unwrap();
            if drips {
                std::thread::spawn(move || {
                    // Until the service has enough.
                    while writer.write_all(b"a").is_ok() {
                        std::thread::sleep(Duration::from_millis(100));
                    }
                });
            }
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut answer = [0; 12];
            let read = stream.read_exact(&mut answer);
            let answer = String::from_utf8_lossy(&answer).into_owned();
            let expected = if drips && what == "a chunk that stops" {
                ["HTTP/1.1 400", "HTTP/1.1 408"]
            } else {
                ["HTTP/1.1 408"; 2]
            };
            assert!(
                read.is_ok() && expected.contains(&&*answer),
                "{what}, drips: {drips}: {read:?} {answer:?}"
            );
        }
    }
    assert!(
        !home.path("served/f").exists(),
        "nothing of a put that stopped is there"
    );
}
