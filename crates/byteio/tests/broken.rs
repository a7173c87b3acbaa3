//! Transfers that break in their middle, each in another way: the cause is told with a remedy, and where that is the same
//! command it does what it promises. Nothing that is left may end up in the file.

mod common;

use common::{data, get, head};
use parking_lot::Mutex;
use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use wirespeed_byteio::client::{Claim, Target, TransferOptions, Url, Way, transfer};
use wirespeed_control::StopFlag;
use wirespeed_schema::byteio::Transfer;

const SIZE: usize = 250_000;
/// Blocks that come before it breaks.
const GOOD: usize = 1;

/// What becomes of a request.
#[derive(Clone, Copy)]
enum Fault {
    /// This instead of a block, and the connection closes.
    Says(&'static str),
    /// A block of this tag and with these headers.
    Block(&'static str, &'static str),
    /// A head and silence.
    Silent,
    /// The service ends.
    Gone,
}

/// A web server; what it does after so many blocks, if anything, and how many it gave.
#[derive(Clone)]
struct Server {
    fault: Arc<Mutex<Option<Fault>>>,
    given: Arc<Mutex<usize>>,
    tag: Arc<Mutex<&'static str>>,
}

impl Server {
    fn start(fault: Fault) -> (Server, Url) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server {
            fault: Arc::new(Mutex::new(Some(fault))),
            given: Arc::default(),
            tag: Arc::new(Mutex::new("\"1\"")),
        };
        let own = server.clone();
        std::thread::spawn(move || {
            let mut listener = Some(listener);
            while let Some((stream, _)) = listener.as_ref().and_then(|listener| listener.accept().ok()) {
                if let Some(fault) = own.serve(&stream) {
                    if let Fault::Gone = fault {
                        // Before the answer ends, so that the next connection is refused and not left in the backlog.
                        listener = None;
                    }
                    broken(&stream, fault);
                }
            }
        });
        let url = Url::parse(&format!("http://127.0.0.1:{port}/f")).unwrap();
        (server, url)
    }

    /// Answer until the connection ends; the fault that is to end it.
    fn serve(&self, mut stream: &TcpStream) -> Option<Fault> {
        let mut reader = BufReader::new(stream);
        while let Some(head) = head(&mut reader) {
            let length = match head.split("Range: bytes=").nth(1) {
                None => format!("200 X\r\nAccept-Ranges: bytes\r\nContent-Length: {SIZE}"),
                Some(range) => {
                    let (first, last) = range.split_once("\r\n")?.0.split_once('-')?;
                    let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
                    let fault = self.fault.lock().filter(|_| *self.given.lock() >= GOOD);
                    let (tag, more) = match fault {
                        None => (*self.tag.lock(), ""),
                        Some(Fault::Block(tag, more)) => (tag, more),
                        Some(other) => return Some(other),
                    };
                    // A single byte is a question, not a block.
                    *self.given.lock() += usize::from(last > first);
                    let part = format!("206 X\r\nContent-Range: bytes {first}-{last}/{SIZE}\r\n");
                    let length = last + 1 - first;
                    let head =
                        format!("HTTP/1.1 {part}Content-Length: {length}\r\nETag: {tag}\r\n{more}\r\n");
                    let answer = [head.as_bytes(), &data(SIZE)[first..=last]].concat();
                    stream.write_all(&answer).ok()?;
                    continue;
                }
            };
            let answer = format!("HTTP/1.1 {length}\r\nETag: {}\r\n\r\n", self.tag.lock());
            stream.write_all(answer.as_bytes()).ok()?;
        }
        None
    }
}

fn broken(mut stream: &TcpStream, fault: Fault) {
    let said = match fault {
        Fault::Says(said) => said,
        _ => "HTTP/1.1 206 X\r\n",
    };
    // The client may be gone.
    let _ = stream.write_all(said.as_bytes());
    if let Fault::Silent = fault {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn went(options: &TransferOptions) -> Transfer {
    transfer(options, &StopFlag::new(), &|_| ()).unwrap().transfer
}

/// Fault, cause, remedy, and whether blocks are kept.
fn table() -> [(Fault, &'static str, &'static str, bool); 14] {
    let answer = |status| Fault::Says(status);
    let cut = "HTTP/1.1 206 X\r\nContent-Range: bytes 100000-199999/250000\r\nContent-Length: 100000\r\nETag: \"1\"\r\n\r\nx";
    let moved = "HTTP/1.1 206 X\r\nContent-Range: bytes 1-99999/250000\r\nContent-Length: 99999\r\nETag: \"1\"\r\n\r\n";
    let whole = "HTTP/1.1 200 X\r\nContent-Length: 250000\r\nETag: \"1\"\r\n\r\n";
    [
        (answer(cut), "in the middle of an answer", "still runs", true),
        (answer(""), "the connection was closed", "still runs", true),
        (answer("?\r\n\r\n"), "malformed", "HTTP is spoken", true),
        (answer(moved), "another range", "look at the service", true),
        (answer(whole), "does not serve ranges", "in one block", true),
        (
            answer("HTTP/1.1 500 X\r\n\r\noops"),
            "HTTP 500: oops",
            "look at the service",
            true,
        ),
        (
            answer("HTTP/1.1 503 X\r\n\r\n"),
            "HTTP 503",
            "fewer connections",
            true,
        ),
        (
            answer("HTTP/1.1 403 X\r\n\r\n"),
            "HTTP 403",
            "who may use it",
            true,
        ),
        (answer("HTTP/1.1 404 X\r\n\r\n"), "HTTP 404", "the path", true),
        (
            answer("HTTP/1.1 416 X\r\n\r\n"),
            "became shorter",
            "begins anew",
            false,
        ),
        (
            Fault::Block("\"2\"", ""),
            "changed while it was read",
            "begins anew",
            false,
        ),
        (
            Fault::Block("\"1\"", "Content-Encoding: br\r\n"),
            "now as br",
            "curl",
            true,
        ),
        (Fault::Silent, "nothing came within", "still answers", true),
        (Fault::Gone, "cannot connect", "whether the service runs", true),
    ]
}

#[test]
fn a_transfer_that_breaks_in_its_middle_says_why_and_what_helps() {
    for (fault, cause, remedy, is_kept) in table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let (server, url) = Server::start(fault);
        let mut options = get(url, Way::Http);
        options.client.patience = match fault {
            Fault::Silent => Duration::from_millis(300),
            _ => Duration::from_secs(10),
        };
        // Also where the cause is told as that of the last attempt.
        let attempts = if is_kept { 2 } else { 1 };
        (options.threads, options.depth, options.attempts_max) = (1, 1, attempts);
        let claim = Claim::New;
        options.target = Target::File {
            path: path.clone(),
            claim,
        };
        let seen = went(&options);
        let (error, told) = (seen.error.unwrap(), seen.remedy.unwrap());
        assert!(error.contains(cause), "{cause}: {error}");
        assert!(told.contains(remedy), "{error}: {told}");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left > 0, is_kept, "{error}: {left} files");
        if let Fault::Gone = fault {
            continue;
        }
        *server.fault.lock() = None;
        if let Fault::Block(tag, "") = fault {
            *server.tag.lock() = tag;
        }
        options.client.patience = Duration::from_secs(10);
        let again = went(&options);
        assert_eq!((again.error, again.remedy), (None, None), "after {error}");
        assert_eq!(again.resumed_bytes > 0, is_kept, "after {error}");
        assert!(std::fs::read(&path).unwrap() == data(SIZE), "after {error}");
    }
}
