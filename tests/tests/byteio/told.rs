//! What web servers do that nobody asked for is told, by every verb alike: a file that comes coded, and blocks that are
//! refused after they were offered.

use crate::{home, run};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

const SIZE: usize = 300_000;

/// A server that offers ranges, with more headers; `refuses`: and then gives none.
fn server(more: &'static str, refuses: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/f", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream, more, refuses));
        }
    });
    url
}

fn answer(mut stream: &TcpStream, more: &str, refuses: bool) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut asked = None;
    while let Some(Ok(line)) = lines.next() {
        if let Some(range) = line.strip_prefix("Range: bytes=") {
            let (first, last) = range.split_once('-')?;
            asked = Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?));
        }
        if !line.is_empty() {
            continue;
        }
        let said = match asked.take() {
            None => format!("200 X\r\nAccept-Ranges: bytes\r\nContent-Length: {SIZE}\r\n{more}\r\n"),
            Some(_) if refuses => "403 X\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Some((first, last)) => {
                let body = "7".repeat(last + 1 - first);
                let range = format!("Content-Range: bytes {first}-{last}/{SIZE}");
                format!(
                    "206 X\r\n{range}\r\nContent-Length: {}\r\n{more}\r\n{body}",
                    body.len()
                )
            }
        };
        stream.write_all(format!("HTTP/1.1 {said}").as_bytes()).ok()?;
    }
    None
}

/// Every verb that fetches `url`, with more options.
fn verbs(url: &str, more: &str) -> [String; 4] {
    let bench = format!("byteio bench {url} --mechanism http");
    [
        format!("byteio get {url} copy --mechanism http --overwrite {more}"),
        format!("{bench} --repeats 1 {more}"),
        format!("run bulk_get --via byteio-http --to {url} --total {SIZE} {more}"),
        format!("ab --pairs 1 {more} -- {bench} -- {bench}"),
    ]
}

#[test]
fn a_file_that_comes_coded_is_stored_with_a_remark() {
    let home = home();
    let url = server("Content-Encoding: gzip\r\n", false);
    for line in verbs(&url, "-o coded.json --remarks") {
        let stored = run(&home, &line);
        // What a comparison finds is its own affair.
        assert!(matches!(stored.code, Some(0 | 3 | 4)), "{stored}");
        let document = std::fs::read_to_string(home.path("coded.json")).unwrap();
        assert!(document.contains("gzip"), "{line}: {document}");
        if line.starts_with("run") {
            continue;
        }
        for shown in [&stored.stdout, &run(&home, "report coded.json").code(0).stdout] {
            assert!(shown.contains("content_coded"), "{line}: {shown}");
        }
    }
    assert_eq!(std::fs::read(home.path("copy")).unwrap(), vec![b'7'; SIZE]);
    let refused = run(&home, &verbs(&url, "--strict")[0]);
    assert_ne!(refused.code, Some(0), "{refused}");
}

#[test]
fn a_transfer_that_breaks_has_the_remedy_of_its_cause_in_every_verb() {
    let home = home();
    let url = server("", true);
    for (line, as_json) in verbs(&url, "").iter().zip(verbs(&url, "--json")) {
        let (cause, remedy) = run(&home, line).code(1).complaint();
        assert!(
            cause.contains("HTTP 403") && remedy.contains("who may use it"),
            "{line}: {cause}: {remedy}"
        );
        let document = run(&home, &as_json).code(1).json();
        let case = &document["cases"][0];
        assert!(
            case["remedy"]
                .as_str()
                .is_some_and(|told| told.contains("who may use it")),
            "{line}: {case}"
        );
    }
}
