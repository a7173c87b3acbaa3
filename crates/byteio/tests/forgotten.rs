//! What clients leave behind at a service that nobody visits any more is given back.

mod common;

use common::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};
use wirespeed_byteio::service::Limits;
use wirespeed_byteio::soap::write::{Data, request};
use wirespeed_byteio::soap::{Mechanism, Operation};

const LIFE: Duration = Duration::from_secs(5);
/// Longest that any of these may take.
const SOON: Duration = Duration::from_secs(30);

fn answer(service: &Running, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Files in `folder` that this process, and so the service in it, has open.
fn open_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = open.filter_map(|one| std::fs::read_link(one.path()).ok());
    targets.filter(|target| target.parent() == Some(&*folder)).count()
}

/// A version that was begun, and one that a stream writes: the stream lives longer and does not keep it.
#[test]
fn what_a_killed_put_leaves_goes_without_another_visit() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        version_life: LIFE,
        ..Limits::default()
    };
    let service = Running::with(folder.path(), true, None, limits);
    let begin =
        "PUT /f?wirespeed=stage HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let begun: Vec<String> = (0..2).map(|_| answer(&service, begin)).collect();
    let id = begun[0].rsplit("\r\n\r\n").next().unwrap();
    let body = request(
        &Operation::OpenStream,
        Mechanism::Simple,
        Data::Elsewhere,
        "http://h",
        "urn:1",
    )
    .whole();
    let opened = answer(
        &service,
        &format!(
            "POST /f?stage={id} HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
    );
    assert!(opened.contains("?stream="), "{opened}");
    assert_ne!(open_in(folder.path()), 0);
    let began = Instant::now();
    while open_in(folder.path()) > 0 {
        assert!(began.elapsed() < SOON, "{} are kept", open_in(folder.path()));
        std::thread::sleep(LIFE / 20);
    }
}
