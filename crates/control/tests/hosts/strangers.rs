//! Strangers at the port.

use crate::common::{deadline, eventually};
use crate::daemon::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use wirespeed_control::Timing;
use wirespeed_schema::message::ServerLimits;

#[test]
fn strangers_never_hold_anybody_up() {
    let _deadline = deadline(90);
    let timing = Timing {
        handshake: Duration::from_secs(5),
        ..Timing::default()
    };
    let daemon = Running::start(ServerLimits::default(), timing);
    let idle: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(daemon.address).unwrap())
        .collect();
    daemon.assert_serves();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 4096],
        &[0xff; 4096],
        // A frame of 4 GiB, half a frame, and a TLS record that promises more than it brings.
        &[1, 0xff, 0xff, 0xff, 0xff],
        &[1, 100, 0, 0, 0, b'{'],
        &[0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc],
    ];
    let mut noisy = Vec::new();
    for bytes in garbage {
        let mut stream = TcpStream::connect(daemon.address).unwrap();
        stream.write_all(bytes).unwrap();
        noisy.push(stream);
    }
    // Port scanners: connect and go, with and without a reset.
    for _ in 0..50 {
        drop(TcpStream::connect(daemon.address).unwrap());
    }
    daemon.assert_serves();
    for stream in idle.iter().chain(&noisy) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut left = Vec::new();
        // Shown out: the end of the stream or a reset, after an alert at most.
        let ended = (&mut &*stream).read_to_end(&mut left);
        assert!(
            !matches!(ended, Err(e) if e.kind() == std::io::ErrorKind::WouldBlock),
            "a stranger stayed"
        );
        assert!(left.len() < 64);
    }
    daemon.assert_serves();
    assert!(daemon.logged("turned away: it does not speak wirespeed's protocol"));
}

#[test]
fn a_trickling_stranger_is_shown_out_by_the_deadline() {
    let _deadline = deadline(60);
    let timing = Timing {
        handshake: Duration::from_secs(3),
        ..Timing::default()
    };
    let daemon = Running::start(ServerLimits::default(), timing);
    let stream = TcpStream::connect(daemon.address).unwrap();
    // The head of a TLS record, then its body byte by byte: each read of the server succeeds.
    (&stream)
        .write_all(&[0x16, 3, 1, 0x02, 0, 1, 0, 0x01, 0xfc, 3, 3])
        .unwrap();
    eventually("the end of patience", || {
        std::thread::sleep(Duration::from_millis(20));
        (&stream).write_all(&[0]).is_err() || daemon.logged("turned away")
    });
    daemon.assert_serves();
}
