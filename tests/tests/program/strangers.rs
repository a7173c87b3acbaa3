//! Whoever else comes to the port: garbage, half of something, a length of 4 GiB, hundreds that say nothing, a scan. The
//! next real client is served.

use crate::{SILENT, SOON, Server, home, turn};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(SILENT)).unwrap();
    stream.set_write_timeout(Some(SILENT)).unwrap();
    stream
}

#[test]
fn nothing_that_a_stranger_sends_stops_the_server() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let noise: Vec<u8> = (0..65536u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let hello_of_4_gib = [0xff, 0xff, 0xff, 0xff, b'{', b'"'];
    // The header of a TLS record of 16 KiB, and a handful of its bytes.
    let half_a_record = [0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc];
    let messages: [&[u8]; 6] = [
        &noise,
        &hello_of_4_gib,
        &half_a_record,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0",
        b"SSH-2.0-scan\r\n",
    ];
    let mut kept = Vec::new();
    for message in messages {
        let mut stream = connect(server.port);
        // The server may have hung up already.
        let _ = stream.write_all(message);
        let mut gone = connect(server.port);
        let _ = gone.write_all(message);
        let _ = gone.shutdown(Shutdown::Write);
        drop(gone);
        kept.push(stream);
    }
    server.assert_serves(&home);
    // Whoever is not through the handshake in time is shown out.
    for mut stream in kept {
        let mut rest = Vec::new();
        let read = stream.read_to_end(&mut rest);
        let timed_out = read.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!timed_out, "the server keeps a stranger");
    }
    server.assert_serves(&home);
    server.stop();
    home.assert_nothing_left(SOON);
}

#[test]
fn hundreds_of_silent_connections_and_a_scan_do_not_keep_a_client_out() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let idle: Vec<TcpStream> = (0..250).map(|_| connect(server.port)).collect();
    for _ in 0..500 {
        drop(connect(server.port));
    }
    server.assert_serves(&home);
    drop(idle);
    server.assert_serves(&home);
    let log = server.stop();
    assert!(!log.stderr.contains("internal"), "{log}");
}
