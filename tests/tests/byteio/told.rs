//! What web servers do that nobody asked for is told, by every verb alike: a file that comes coded, and blocks that are
//! refused after they were offered.

use crate::{home, run};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use wirespeed_tests::home::Home;
use wirespeed_tests::running::Ended;

const SIZE: usize = 300_000;
/// A result with a warning, where that was not to be.
const WARNED: i32 = 4;

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
    let mut reader = BufReader::new(stream);
    loop {
        let (mut asked, mut body_bytes) = (None, 0);
        let mut line = String::new();
        while reader.read_line(&mut line).ok()? > 0 && line != "\r\n" {
            if let Some(range) = line.trim().strip_prefix("Range: bytes=") {
                let (first, last) = range.split_once('-')?;
                asked = Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?));
            }
            if let Some(length) = line.trim().strip_prefix("Content-Length: ") {
                body_bytes = length.parse().ok()?;
            }
            line.clear();
        }
        if line.is_empty() {
            return None;
        }
        reader.read_exact(&mut vec![0; body_bytes]).ok()?;
        let said = match asked {
            None if body_bytes > 0 => format!("200 X\r\nContent-Length: 0\r\n{more}\r\n"),
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
}

/// Every verb that fetches `url`, with more options in which `VERB` is its name.
fn verbs(home: &Home, url: &str, more: &str) -> [(&'static str, String); 5] {
    let machines = format!("[[machine]]\nname = \"a\"\n[[machine]]\nname = \"b\"\nurl = \"{url}\"\n");
    std::fs::write(
        home.path("pairs.toml"),
        format!("pairs = [\"a -> b\"]\n{machines}"),
    )
    .unwrap();
    let bench = format!("byteio bench {url} --mechanism http");
    [
        (
            "get",
            format!("byteio get {url} copy --mechanism http --overwrite {more}"),
        ),
        ("bench", format!("{bench} --repeats 1 {more}")),
        (
            "run",
            format!("run bulk_get --via byteio-http --to {url} --total {SIZE} {more}"),
        ),
        (
            "pairs",
            format!("byteio bench --pairs pairs.toml --mechanism http --repeats 1 {more}"),
        ),
        ("ab", format!("ab --pairs 1 {more} -- {bench} -- {bench}")),
    ]
    .map(|(verb, line)| (verb, line.replace("VERB", verb)))
}

/// `ended` came to its end; what a comparison finds is its own affair.
fn ended_well(verb: &str, ended: &Ended) {
    let codes: &[i32] = if verb == "ab" { &[0, 3, 4] } else { &[0] };
    assert!(
        ended.code.is_some_and(|code| codes.contains(&code)),
        "{verb}: {ended}"
    );
}

#[test]
fn a_file_that_comes_coded_is_stored_with_a_remark() {
    let home = home();
    let url = server("Content-Encoding: gzip\r\n", false);
    for (verb, line) in verbs(&home, &url, "-o VERB.json --remarks") {
        let stored = run(&home, &line);
        ended_well(verb, &stored);
        let document = std::fs::read_to_string(home.path(&format!("{verb}.json"))).unwrap();
        assert!(document.contains("coded as gzip"), "{verb}: {document}");
        let report = run(&home, &format!("report {verb}.json")).code(0).stdout;
        for shown in [&stored.stdout, &report] {
            assert!(shown.contains("content_coded"), "{verb}: {shown}");
        }
    }
    assert_eq!(std::fs::read(home.path("copy")).unwrap(), vec![b'7'; SIZE]);
    let refused = run(&home, &verbs(&home, &url, "--strict")[0].1).code(WARNED);
    let (cause, _) = refused.complaint();
    assert!(cause.contains("--strict was given"), "{cause}");
}

/// What is sent has no coding, whatever the service says of what it has; and what comes as it is has none either.
#[test]
fn nothing_is_said_of_a_coding_that_nothing_has() {
    let home = home();
    let plain = server("", false);
    for (verb, line) in verbs(&home, &plain, "-o VERB.json") {
        ended_well(verb, &run(&home, &line));
        let document = std::fs::read_to_string(home.path(&format!("{verb}.json"))).unwrap();
        assert!(!document.contains("content_cod"), "{verb}: {document}");
    }
    let coded = server("Content-Encoding: gzip\r\n", false);
    std::fs::write(home.path("source"), vec![b'7'; SIZE]).unwrap();
    let words = "--mechanism http --block-size 1M --json";
    for line in [
        format!("byteio put source {coded} {words}"),
        format!("byteio bench {coded} --put source --repeats 1 {words}"),
    ] {
        let document = run(&home, &line).code(0).stdout;
        assert!(!document.contains("gzip"), "{line}: {document}");
    }
}

#[test]
fn a_transfer_that_breaks_has_the_remedy_of_its_cause_in_every_verb() {
    let home = home();
    let url = server("", true);
    let as_json = verbs(&home, &url, "--json");
    for ((verb, line), (_, as_json)) in verbs(&home, &url, "").into_iter().zip(as_json) {
        let (cause, remedy) = run(&home, &line).code(1).complaint();
        assert!(
            cause.contains("HTTP 403") && remedy.contains("who may use it"),
            "{verb}: {cause}: {remedy}"
        );
        let document = run(&home, &as_json).code(1).json();
        // Which arm of a comparison fails is random.
        let cases = document["cases"].as_array().unwrap();
        let failed = cases.iter().find(|case| case["error"].is_string());
        let told = failed.and_then(|case| case["remedy"].as_str());
        assert!(
            told.is_some_and(|told| told.contains("who may use it")),
            "{verb}: {document}"
        );
    }
}
