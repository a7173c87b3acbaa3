//! Puts to a web server that is not ours and that, as many do, takes whatever is put for the whole file.

mod common;

use common::{data, get};
use parking_lot::Mutex;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use wirespeed_byteio::client::{Direction, TransferOptions, Url, Way, transfer};
use wirespeed_control::StopFlag;
use wirespeed_schema::message::FailureClass;

const SIZE: usize = 250_000;

/// What the server has, and how many requests changed it.
type Kept = Arc<Mutex<(Vec<u8>, u32)>>;

/// One that refuses bodies of more bytes.
fn server(limit_bytes: usize) -> (Url, Kept) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept: Kept = Arc::new(Mutex::new((b"what was there".to_vec(), 0)));
    let own = kept.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = own.clone();
            std::thread::spawn(move || serve(&stream, &kept, limit_bytes));
        }
    });
    (Url::parse(&format!("http://127.0.0.1:{port}/f")).unwrap(), kept)
}

fn serve(stream: &TcpStream, kept: &Kept, limit_bytes: usize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let head = common::head(&mut reader)?;
        let mut status = "200 OK";
        if head.starts_with("PUT") {
            let length = head.split("Content-Length: ").nth(1)?.split("\r\n").next()?;
            let mut body = vec![0; length.parse().ok()?];
            reader.read_exact(&mut body).ok()?;
            match body.len() <= limit_bytes {
                true => {
                    let mut kept = kept.lock();
                    *kept = (body, kept.1 + 1);
                }
                false => status = "413 X",
            }
        }
        let mut writer = stream;
        writer
            .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes())
            .ok()?;
    }
}

fn put(url: Url, way: Way, block_bytes: u64, source: &Path) -> TransferOptions {
    let mut options = get(url, way);
    options.client.direction = Direction::Put;
    options.block_bytes = block_bytes;
    options.source = Some(source.to_owned());
    options
}

#[test]
fn a_web_server_is_sent_a_file_in_one_request_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::write(&source, data(SIZE)).unwrap();
    let before = (b"what was there".to_vec(), 0);
    for (way, remedy) in [(Way::Http, "one block of 250000 bytes"), (Way::Bulk, "mechanism")] {
        let (url, kept) = server(SIZE);
        let options = put(url, way, 100_000, &source);
        let refused = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
        assert!(
            refused.class == FailureClass::Usage && refused.remedy.contains(remedy),
            "{refused:?}"
        );
        assert_eq!(*kept.lock(), before, "{}", way.name());
    }
    let (url, kept) = server(SIZE);
    for content in [data(SIZE), Vec::new(), data(1)] {
        std::fs::write(&source, &content).unwrap();
        let changes = kept.lock().1;
        let options = put(url.clone(), Way::Http, SIZE as u64, &source);
        let seen = transfer(&options, &StopFlag::new(), &|_| ()).unwrap().transfer;
        assert_eq!((seen.error, seen.verified), (None, false));
        assert!(*kept.lock() == (content, changes + 1), "in one request");
    }
}

/// It takes a file in one block alone: smaller blocks would lead nowhere.
#[test]
fn a_file_that_is_too_large_for_a_web_server_is_not_told_to_come_in_smaller_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::write(&source, data(SIZE)).unwrap();
    let (url, kept) = server(SIZE - 1);
    let options = put(url, Way::Http, SIZE as u64, &source);
    let seen = transfer(&options, &StopFlag::new(), &|_| ()).unwrap().transfer;
    let (error, remedy) = (seen.error.unwrap(), seen.remedy.unwrap());
    assert!(error.contains("HTTP 413"), "{error}");
    assert!(
        remedy.contains("larger bodies") && !remedy.contains("smaller"),
        "{remedy}"
    );
    assert_eq!(kept.lock().1, 0);
}
