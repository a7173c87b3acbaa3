//! Servers that drip, crawl, keep silent or take nothing: every verb ends by itself or at once when it is asked to, and
//! leaves no file under the name that was asked for. Servers that know no ranges are read in one piece.

use crate::{LONG, content, home, run, serve, transfer};
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;

/// What the servers here say they have.
const SIZE: usize = 50_000_000;

/// How a server answers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Manner {
    /// Not at all.
    Silent,
    /// The head, too, byte by byte.
    DripsHead,
    /// A byte a tenth of a second.
    DripsBody,
    /// 200 kB a second.
    Crawls,
    /// It takes the head of a put and nothing behind it.
    TakesNothing,
    /// It tells HEAD what it has, and wants a token for anything more.
    WantsToken,
    /// It sends the whole, whatever range is asked for, and speaks no SOAP.
    WholeOnly,
}

/// A server on loopback, and how often it was visited; its threads end with their connections.
fn server(manner: Manner) -> (String, Arc<AtomicUsize>) {
    let visits = Arc::new(AtomicUsize::new(0));
    let seen = visits.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            seen.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || answer(stream, manner));
        }
    });
    (format!("http://{address}/f"), visits)
}

fn answer(stream: TcpStream, manner: Manner) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).ok()? > 0 && line != "\r\n" {
            head.push_str(&std::mem::take(&mut line));
        }
        if head.is_empty() {
            return None;
        }
        let asks = head.starts_with("HEAD");
        let ranged = manner != Manner::WholeOnly;
        let (status, range) = match head.lines().find_map(|l| l.strip_prefix("Range: bytes=")) {
            Some(range) if ranged => ("206 Partial Content", Some(range.to_owned())),
            _ => ("200 OK", None),
        };
        let size = range.as_deref().map_or(SIZE, |range| {
            let (first, last) = range.split_once('-').unwrap();
            last.parse::<usize>().unwrap() + 1 - first.parse::<usize>().unwrap()
        });
        let carried = range.map_or(String::new(), |range| {
            format!("Content-Range: bytes {range}/{SIZE}\r\n")
        });
        let offers = if ranged { "Accept-Ranges: bytes\r\n" } else { "" };
        let said = format!("HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{offers}{carried}\r\n");
        match manner {
            Manner::WantsToken if !asks => {
                let asked = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                writer.write_all(asked.as_bytes()).ok()?;
                // What was on its way is taken, so that the answer is not lost with it.
                return std::io::copy(&mut reader, &mut std::io::sink()).ok().map(drop);
            }
            Manner::WholeOnly if head.starts_with("POST") => {
                writer
                    .write_all(b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n")
                    .ok()?;
                return None;
            }
            Manner::Silent => return reader.read_line(&mut line).ok().map(drop),
            Manner::DripsHead => drip(&mut writer, said.as_bytes())?,
            Manner::TakesNothing if head.starts_with("PUT") && !head.contains("Content-Length: 0") => {
                std::thread::sleep(LONG);
                return None;
            }
            Manner::TakesNothing if head.starts_with("PUT") => {
                writer
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    .ok()?;
                continue;
            }
            _ => writer.write_all(said.as_bytes()).ok()?,
        }
        if asks {
            continue;
        }
        match manner {
            Manner::WholeOnly => writer.write_all(&vec![7; size]).ok()?,
            Manner::Crawls => {
                for _ in 0..size / 20_000 {
                    writer.write_all(&[7; 20_000]).ok()?;
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
            _ => drip(&mut writer, &vec![7; size])?,
        }
    }
}

fn drip(writer: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    for byte in bytes {
        writer.write_all(&[*byte]).ok()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(())
}

/// Each goes on for longer than anybody waits here, unless it hears a signal.
fn verbs(home: &Home, url: &str) -> [String; 6] {
    [
        format!("byteio get {url} copy --mechanism http --stall 1h"),
        format!("byteio get {url} other --mechanism mtom --size 1M --stall 1h"),
        format!("byteio put source {url} --mechanism http --block-size 20M --stall 1h"),
        format!("byteio bench {url} --mechanism http --repeats 2 --stall 1h"),
        format!("byteio bench {url} --mechanism http --offered 10 --repeats 1 --stall 1h"),
        format!("{} --repeats 2 --stall 1h", pairs(home, [url, url])),
    ]
}

/// Both pairs of two machines that serve these: one reads here, one at the end of a path that passes no signal on.
fn pairs(home: &Home, urls: [&str; 2]) -> String {
    let program = home.program().display().to_string();
    let text = format!(
        "pairs = \"all\"\n[[machine]]\nname = \"a\"\nurl = \"{}\"\nrun = [\"setsid\", \"--wait\"]\nprogram = \"{program}\"\n\
         [[machine]]\nname = \"b\"\nurl = \"{}\"\n",
        urls[0], urls[1]
    );
    format!(
        "byteio bench --pairs {} --mechanism http",
        home.write("pairs.toml", &text)
    )
}

fn readers(home: &Home) -> usize {
    let all = home.processes().into_iter();
    all.filter(|(_, words)| words.contains("--stop-with-stdin"))
        .count()
}

fn assert_no_target(home: &Home) {
    for name in ["copy", "other"] {
        assert!(!home.path(name).exists(), "{name} is there and is not whole");
    }
}

#[test]
fn every_verb_hears_every_signal_in_every_wait() {
    let home = home();
    std::fs::write(home.path("source"), &content()[..20_000_000]).unwrap();
    for manner in [
        Manner::Silent,
        Manner::DripsHead,
        Manner::DripsBody,
        Manner::Crawls,
        Manner::TakesNothing,
    ] {
        let (url, visits) = server(manner);
        for (number, line) in verbs(&home, &url).into_iter().enumerate() {
            let signal = [Signal::INT, Signal::TERM][number % 2];
            let before = visits.load(Ordering::Relaxed);
            let client = home.start(line.split(' '));
            // It listens to signals before it asks anybody.
            client.wait_until("a connection", PATIENCE, |_| {
                visits.load(Ordering::Relaxed) > before
            });
            std::thread::sleep(Duration::from_millis(500));
            client.signal(signal);
            let ended = client.end(PATIENCE);
            // A service that speaks no SOAP, or none of it, may have been refused before.
            let codes = [Some(130), Some(1)];
            assert!(codes.contains(&ended.code), "{manner:?} {line}: {ended}");
            assert_no_target(&home);
            assert_eq!(readers(&home), 0, "{manner:?}: {ended}");
        }
    }
}

/// The signal may end the very wait that it interrupts, which must not be taken for an answer of the service.
#[test]
fn a_stop_while_a_silent_service_is_asked_is_no_answer_of_it() {
    let home = home();
    std::fs::write(home.path("source"), &content()[..20_000_000]).unwrap();
    let (url, visits) = server(Manner::Silent);
    let lines = ["http", "bulk", "mtom"]
        .map(|way| format!("byteio put source {url} --mechanism {way} --block-size 1M --stall 1h"));
    let clients: Vec<_> = (0..15).map(|n| home.start(lines[n % 3].split(' '))).collect();
    clients[0].wait_until("the connections", PATIENCE, |_| {
        visits.load(Ordering::Relaxed) >= 15
    });
    std::thread::sleep(Duration::from_millis(500));
    for client in clients {
        client.signal(Signal::TERM);
        let ended = client.end(PATIENCE);
        assert_eq!(ended.code, Some(130), "{ended}");
    }
}

/// Whoever runs readers hands the wish to stop on to them, and publishes what they have measured.
#[test]
fn readers_of_pairs_hand_over_what_they_have_when_only_their_parent_hears_the_stop() {
    let home = home();
    let (a, b) = (server(Manner::WholeOnly), server(Manner::WholeOnly));
    let line = pairs(&home, [&a.0, &b.0]);
    for (signal, at_once) in [(Signal::TERM, false), (Signal::INT, true)] {
        let more = if at_once { " --at-once" } else { "" };
        let client = home.start(format!("{line} --repeats 10000 --json{more}").split(' '));
        // Some runs of many, each of which asks more than once, however busy the machine is.
        let seen = || [&b, &a].map(|server| server.1.load(Ordering::Relaxed));
        let before = seen();
        client.wait_until("some runs", PATIENCE, |_| {
            let now = seen();
            now[0] > before[0] + 20 && (!at_once || now[1] > before[1] + 20)
        });
        client.signal(signal);
        let ended = client.end(PATIENCE);
        assert_eq!(ended.code, Some(130), "{ended}");
        let runs = |pair: &serde_json::Value| pair["runs"].as_array().map_or(0, Vec::len);
        let pairs = ended.json()["sections"]["byteio"]["pairs"].clone();
        let counts: Vec<usize> = pairs.as_array().unwrap().iter().map(runs).collect();
        assert_eq!(counts.len(), 2);
        assert!(counts[0] > 0 && (counts[1] > 0) == at_once, "{counts:?}: {ended}");
        assert_eq!(readers(&home), 0, "{ended}");
    }
}

/// A service that wants a token refuses, whatever it is asked and whoever asks.
#[test]
fn a_service_that_wants_a_token_refuses_every_verb() {
    let home = home();
    std::fs::write(home.path("source"), [7; 1000]).unwrap();
    let (url, _) = server(Manner::WantsToken);
    let pairs = pairs(&home, [&url, &url]);
    for line in [
        format!("byteio put source {url} --mechanism http"),
        format!("byteio bench {url} --put source --mechanism http --repeats 2"),
        format!("byteio get {url} copy --mechanism http"),
        format!("byteio get {url} copy --mechanism mtom"),
        format!("byteio bench {url} --mechanism simple --repeats 2"),
        format!("byteio bench {url} --mechanism http --offered 10 --repeats 1"),
        pairs,
    ] {
        let refused = run(&home, &line);
        assert_eq!(refused.code, Some(5), "{refused}");
        assert!(refused.complaint().0.contains("401"), "{refused}");
        assert_no_target(&home);
    }
}

/// Without a signal: less than next to nothing is silence.
#[test]
fn who_drips_is_given_no_more_time_than_who_is_silent() {
    let home = home();
    std::fs::write(home.path("source"), &content()[..20_000_000]).unwrap();
    for manner in [
        Manner::Silent,
        Manner::DripsHead,
        Manner::DripsBody,
        Manner::TakesNothing,
    ] {
        let (url, _) = server(manner);
        let verb = match manner {
            Manner::TakesNothing => "put source",
            _ => "get",
        };
        let file = if verb == "get" { "copy" } else { "" };
        let line = format!(
            "byteio {verb} {url} {file} --mechanism http --block-size 20M --threads 1 --attempts 1 --stall 500ms"
        );
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let client = home.start(words.split(' '));
        let ended = client.end(PATIENCE);
        assert_eq!(ended.code, Some(1), "{manner:?} {words}: {ended}");
        assert_no_target(&home);
    }
}

#[test]
fn a_server_without_ranges_is_read_in_one_piece() {
    let home = home();
    let (url, _) = server(Manner::WholeOnly);
    let ended = run(&home, &format!("byteio get {url} copy --mechanism http --json")).code(0);
    let seen = transfer(&ended);
    assert_eq!(seen["connections"].as_array().map(Vec::len), Some(1));
    let remarks = ended.json()["remarks"].to_string();
    assert!(remarks.contains("no_ranges"), "{remarks}");
    assert!(std::fs::read(home.path("copy")).unwrap() == vec![7; SIZE]);
    for line in [
        format!("byteio bench {url} --mechanism http --repeats 1 --json"),
        format!("run bulk_get --via byteio-http --to {url} --total {SIZE} --repeats 1 --json"),
    ] {
        let remarks = run(&home, &line).code(0).json()["remarks"].to_string();
        assert!(remarks.contains("no_ranges"), "{line}: {remarks}");
    }
    let part = format!("byteio get {url} part --mechanism http --size 1M");
    let (cause, remedy) = run(&home, &part).code(2).complaint();
    assert!(
        cause.contains("no ranges") && remedy.contains("all of its 50000000 bytes"),
        "{cause} {remedy}"
    );
}

#[test]
fn a_server_that_speaks_no_soap_is_asked_once_and_the_way_that_reads_it_is_named() {
    let home = home();
    for verb in [
        "get {} copy",
        "get {} copy --mechanism mtom --stream",
        "bench {} --repeats 1",
    ] {
        let (url, visits) = server(Manner::WholeOnly);
        let (cause, remedy) = run(&home, &format!("byteio {}", verb.replace("{}", &url)))
            .code(1)
            .complaint();
        assert_eq!(cause, "no ByteIO service is there: HTTP 501 to a SOAP request");
        assert_eq!(
            remedy,
            "any web server can be read by ranges, with mechanism http"
        );
        assert!(visits.load(Ordering::Relaxed) <= 2, "{verb}: {visits:?}");
    }
    assert_no_target(&home);
}

/// A put that is broken off leaves what was there, and nothing beside it.
#[test]
fn a_put_that_is_stopped_changes_nothing() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    // Too much for any machine to be done with before the signal; it has no blocks on the disk.
    let source = std::fs::File::create(home.path("source")).unwrap();
    source.set_len(16 << 30).unwrap();
    std::fs::write(home.path("served/f"), "what was there").unwrap();
    for signal in [Signal::INT, Signal::KILL] {
        for name in ["f", "new"] {
            let line = format!(
                "byteio put source {url}/{name} --mechanism simple --block-size 16K --threads 1 --depth 1"
            );
            let client = home.start(line.split(' '));
            std::thread::sleep(Duration::from_millis(400));
            client.signal(signal);
            let ended = client.end(PATIENCE);
            assert_ne!(ended.code, Some(0), "{ended}");
        }
    }
    assert_eq!(
        std::fs::read_to_string(home.path("served/f")).unwrap(),
        "what was there"
    );
    let names: Vec<_> = std::fs::read_dir(home.path("served")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}
