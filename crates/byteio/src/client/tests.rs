//! A service in a test that answers what it is told to, whatever it is asked.

use super::{ClientOptions, Direction, Url, Way};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wirespeed_control::StopFlag;

/// The longest silence that its client bears where it is to give up; else it is [`LONG`].
pub(super) const PATIENCE: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(20);

/// A put to a service with these answers, one a connection, each after a pause, the last one again and again; and how many
/// were given.
pub(super) fn scripted(answers: Vec<(u16, String)>, pause: Duration) -> (ClientOptions, Arc<AtomicUsize>) {
    let whole = |(status, body): (u16, String)| {
        format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    answering(answers.into_iter().map(whole).collect(), pause)
}

/// The same with answers word by word.
pub(super) fn answering(answers: Vec<String>, pause: Duration) -> (ClientOptions, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let given = Arc::new(AtomicUsize::new(0));
    let counted = given.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            if !lines.any(|line| line.is_ok_and(|line| line.is_empty())) {
                continue;
            }
            let answer = &answers[counted.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)];
            std::thread::sleep(pause);
            let closing = answer.replacen("\r\n", "\r\nConnection: close\r\n", 1);
            // The client may be gone.
            let _ = (&stream).write_all(closing.as_bytes());
        }
    });
    let options = ClientOptions {
        url: Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap(),
        identity: None,
        direction: Direction::Put,
        way: Way::Http,
        stream: false,
        patience: LONG,
        stop: StopFlag::new(),
        congestion: None,
    };
    (options, given)
}
