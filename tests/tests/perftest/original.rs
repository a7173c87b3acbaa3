//! Beside the real ucx_perftest: the same words, the same columns, once numbers are masked.

use crate::{SOON, Server, home, pair, turn};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::Home;
use wirespeed_tests::ports;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

/// `text` with blanks for the digits of numbers and a mark where each ends, so that only columns and words count.
fn masked(text: &str) -> String {
    let mut out = String::new();
    // The original divides by no iteration where a line of a running test fell onto the last one.
    let finite = text.replace("  inf", "0.000").replace(",inf", ",0.000");
    let bytes: Vec<char> = finite.chars().collect();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_digit() || ".,".contains(bytes[at])) {
            at += 1;
        }
        // A comma at the end separates fields.
        while ".,".contains(bytes[at - 1]) {
            at -= 1;
        }
        let number: String = bytes[start..at].iter().collect();
        let decimals = number.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
        let mark = match decimals {
            0 => "#".to_owned(),
            _ => format!("#.{}", "#".repeat(decimals)),
        };
        out.push_str(&format!("{mark:>width$}", width = number.len()));
    }
    out
}

/// Masked, without the lines that a test writes while it runs: how many there are is a matter of time.
fn final_lines(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("[thread "));
    masked(&lines.map(|line| format!("{line}\n")).collect::<String>())
}

/// Of CSV the fields count, and of each test its last line, which alone has all of its name and iterations.
fn csv_of(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.contains("[thread "));
    let fields = |line: &str| {
        line.split(',')
            .map(|field| masked(field).replace(' ', ""))
            .collect::<Vec<_>>()
    };
    lines.map(|line| fields(line).join(",")).collect()
}

fn csv_lines(text: &str) -> String {
    csv_of(text).into_iter().collect::<Vec<_>>().join("\n")
}

fn is_there() -> bool {
    let there = Command::new("ucx_perftest")
        .arg("-h")
        .output()
        .is_ok_and(|o| o.status.success());
    if !there {
        skip("ucx_perftest is not installed, nothing to compare with");
    }
    there
}

/// The real tool's client and server.
fn real(home: &Home, server: &str, words: &str) -> (Ended, Ended) {
    let server = Server::of_the_original(home, server);
    let mut command = Command::new("ucx_perftest");
    command.args(["-p", &server.port.to_string(), "127.0.0.1"]);
    command.args(words.split_whitespace());
    home.adopt(&mut command);
    let client = Running::start(command).end(PATIENCE);
    (client, server.end())
}

const REAL: &str = "-x posix -d memory";
const OURS: &str = REAL;

/// The transport of the tests of UCX's transport layer; its protocol layer chooses by itself.
fn transport(words: &str) -> &'static str {
    match words.contains("-t ucp_") || words.contains("-t tag_") {
        true => "",
        false => REAL,
    }
}

/// Both tools with these words, and how they end.
fn both(words: &str, mask: fn(&str) -> String) -> (String, String) {
    let home = home();
    let words = format!("{words} {}", transport(words));
    let (theirs, _) = real(&home, "", &words);
    let (ours, _) = pair(&home, &words);
    assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{theirs}\n{ours}");
    (mask(&theirs.stdout), mask(&ours.stdout))
}

#[test]
fn tables_of_every_kind_of_test_are_the_same() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    // On one CPU each message of a ping-pong of the original waits until its other end has polled enough.
    for words in [
        "-t am_lat -n 30",
        "-t put_lat -n 30 -D bcopy",
        "-t add_lat -n 30",
        "-t get -n 300 -D bcopy -s 64",
        "-t fadd -n 300",
        "-t swap -n 300 -s 4",
        "-t cswap -n 300",
        "-t am_bw -n 300 -s 64",
        "-t put_bw -n 300 -s 64",
        "-t add_mr -n 300",
        "-t put_lat -n 30 -f",
        "-t am_bw -n 300 -R 99.5",
        "-t am_bw -n 300 -R 5",
        "-t am_bw -n 300 -R 100",
        "-t am_bw -n 300 -R 0 -f",
        "-t am_bw -n 300 -s 16,16 -D shortiov",
        "-t tag_lat -n 30",
        "-t tag_bw -n 300 -C",
        "-t tag_sync_lat -n 30",
        "-t tag_sync_bw -n 300 -U",
        "-t ucp_put_lat -n 30",
        "-t ucp_put_bw -n 300 -z",
        "-t ucp_get -n 300",
        "-t ucp_add -n 300",
        "-t ucp_fadd -n 300",
        "-t ucp_swap -n 300",
        "-t ucp_cswap -n 300",
        "-t ucp_am_lat -n 30 -s 16,16 -D iov",
        "-t ucp_am_bw -n 300 -E sleep",
    ] {
        let (theirs, ours) = both(words, final_lines);
        assert_eq!(ours, theirs, "{words}");
    }
}

#[test]
fn csv_is_the_same() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    for words in [
        "-t am_lat -n 300 -v",
        "-t am_bw -n 500 -v -f",
        "-t put_bw -n 500 -v -N -R 75",
    ] {
        let (theirs, ours) = both(words, csv_lines);
        assert_eq!(ours, theirs, "{words}");
    }
}

#[test]
fn lines_of_a_running_test_are_the_same() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    let home = home();
    let server = Server::of_the_original(&home, "");
    let mut command = Command::new("ucx_perftest");
    command.args([
        "-p",
        &server.port.to_string(),
        "127.0.0.1",
        "-n",
        "2000000000",
        "-t",
        "put_lat",
    ]);
    command.args(REAL.split_whitespace());
    home.adopt(&mut command);
    let theirs = running_lines(&Running::start(command), "[thread 0]");
    drop(server);
    let server = Server::start(&home, "");
    let client = server.client(&home, &format!("-t put_lat -n unlimited {OURS}"));
    let ours = running_lines(&client, "[thread 0]");
    assert_eq!(masked(&ours), masked(&theirs));
    // The user ends it; what was measured is told.
    client.signal(rustix::process::Signal::INT);
    let ended = client.end(SOON).code(130);
    let last = ended.stdout.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("Partial: ") && last.ends_with("interrupted"),
        "{ended}"
    );
    server.end().code(0);
}

#[test]
fn every_line_of_the_classic_csv_is_csv() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let client = server.client(&home, &format!("-t put_lat -n unlimited -v {OURS}"));
    client.wait_until("a line after the header", PATIENCE, |r| {
        r.stdout().lines().count() > 2
    });
    client.signal(rustix::process::Signal::INT);
    // In the real tool's, the number of the thread is glued to that of the iterations. The line of an unfinished test says so.
    let ended = client.end(SOON).code(130);
    let last = ended.stdout.lines().count() - 1;
    for (number, line) in ended.stdout.lines().enumerate() {
        let fields = line.strip_suffix(",interrupted").unwrap_or(line);
        assert_eq!(fields != line, number == last, "{ended}");
        assert_eq!(fields.split(',').count(), 8, "{line}");
    }
}

/// The lines up to the first of a running test.
fn running_lines(client: &Running, mark: &str) -> String {
    let whole = |r: &Running| {
        r.stdout()
            .split_once(mark)
            .is_some_and(|(_, rest)| rest.contains('\n'))
    };
    client.wait_until("a line of a running test", PATIENCE, whole);
    let said = client.stdout();
    let to = said
        .lines()
        .position(|line| line.starts_with(mark))
        .unwrap_or_default();
    said.lines()
        .take(to + 1)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn threads_are_summed_up_in_the_same_line() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    let home = home();
    let words = "-t tag_bw -n 2000 -T 2 -f";
    let ours = "-x shm";
    let mut server = Command::new("ucx_perftest");
    let port = ports::free(1);
    server
        .args(["-p", &port.to_string()])
        .env("UCX_TLS", "posix,self");
    home.adopt(&mut server);
    let server = Server {
        running: Running::start(server),
        port,
    };
    server
        .running
        .wait_until("it listens", PATIENCE, |_| crate::is_listening(port));
    let mut client = Command::new("ucx_perftest");
    client
        .args(["-p", &port.to_string(), "127.0.0.1"])
        .args(words.split_whitespace());
    client.env("UCX_TLS", "posix,self");
    home.adopt(&mut client);
    let theirs = Running::start(client).end(PATIENCE);
    drop(server);
    let (ours, _) = pair(&home, &format!("{words} {ours}"));
    assert_eq!(masked(&ours.stdout), masked(&theirs.stdout));
    let (ours, _) = pair(&home, &format!("-t am_bw -n 2000 -T 2 -v -f {OURS}"));
    let fields: Vec<usize> = ours.stdout.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(fields, [8, 8], "a row has the columns of its header: {ours}");
}

#[test]
fn batches_of_files_are_the_same() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    let home = home();
    home.write(
        "tests",
        "# two tests\nshort -t am_bw -D short\n\na_name_longer_than_its_column\t-t am_bw  -D bcopy\n",
    );
    home.write("sizes", "8 -s 8 -n 200\n64 -s 64 -n 1000\n");
    for (files, words, mask) in [
        ("-b tests -b sizes", "", final_lines as fn(&str) -> String),
        ("-b tests -b sizes", "-f", final_lines),
        ("-b tests", "-n 100", final_lines),
        ("-b tests", "-n 100 -f", final_lines),
        ("-b tests -b sizes", "-v", csv_lines),
        ("-b tests", "-n 100 -v -f", csv_lines),
    ] {
        let (theirs, _) = real(&home, files, &format!("{files} {words} {REAL}"));
        let (ours, _) = pair(&home, &format!("{files} {words} {OURS}"));
        assert_eq!(mask(&ours.stdout), mask(&theirs.stdout), "{files} {words}");
    }
}

#[test]
fn the_server_and_a_loopback_show_the_same_box() {
    let _turn = turn();
    if !is_there() {
        return;
    }
    let home = home();
    for words in [
        "-t put_lat -n 20 -s 100 -D bcopy",
        "-t am_bw -n 200 -s 64",
        "-t fadd -n 200",
        "-t am_bw -n 200 -s 32 -D shortiov",
        "-t tag_lat -n 20",
        "-t tag_sync_bw -n 200",
        "-t ucp_fadd -n 200",
        "-t ucp_am_bw -n 200 -s 100",
    ] {
        let words = format!("{words} {}", transport(words));
        let (_, theirs) = real(&home, "", &words);
        let (_, ours) = pair(&home, &words);
        assert_eq!(masked(&ours.stdout), masked(&theirs.stdout), "{words}");
    }
    // So many that the original's clock moves meanwhile: a process is its own peer in nanoseconds.
    for words in ["-t put_lat -n 2000 -s 100 -D bcopy", "-t am_bw -n 2000 -s 64"] {
        let mut loopback = Command::new("ucx_perftest");
        loopback.args(format!("-l {words} -x self -d memory0").split_whitespace());
        home.adopt(&mut loopback);
        let theirs = Running::start(loopback).end(PATIENCE);
        let ours = home.run(&format!("perftest -l {words} -x self -d memory0"));
        assert_eq!(masked(&ours.stdout), masked(&theirs.stdout), "{words}");
    }
}

#[test]
fn called_by_the_name_of_the_original_it_is_the_original() {
    let _turn = turn();
    let home = home();
    let name = home.path("ucx_perftest");
    symlink(home.program(), &name).unwrap();
    let port = ports::free(1).to_string();
    let command = |words: &str| {
        let mut command = Command::new(&name);
        command.args(["-p", &port]).args(words.split_whitespace());
        home.adopt(&mut command);
        Running::start(command)
    };
    let server = Server::listening(command(""), port.parse().unwrap());
    let client = command("localhost -t am_lat -x tcp -n 100 --json")
        .end(PATIENCE)
        .code(0);
    server.end().code(0);
    let run = client.json();
    assert_eq!(run["cases"][0]["case"]["transport"], "tcp");
    assert_eq!(
        run["command"][1], "perftest",
        "the command repeats it under wirespeed's own name"
    );
}

#[test]
fn thousands_are_separated_whatever_the_locale() {
    let _turn = turn();
    let home = home();
    let plain = home.run("perftest -l -t am_bw -x inproc -n 20000 -f").code(0);
    let grouped = home.run("perftest -l -t am_bw -x inproc -n 20000 -f -N").code(0);
    assert!(grouped.stdout.contains(" 20,000 "), "{grouped}");
    assert_eq!(masked(&grouped.stdout), masked(&plain.stdout));
}

#[test]
fn the_table_of_2015_has_its_columns_and_defaults() {
    let _turn = turn();
    let home = home();
    let ended = home
        .run("perftest -l --generation 2015 -t put_lat -x inproc -n 200")
        .code(0);
    let lines: Vec<String> = masked(&ended.stdout).lines().skip(7).map(str::to_owned).collect();
    let (last, heading) = lines.split_last().unwrap();
    // How wide the figures are is for the machine to say.
    let figures: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(
        figures,
        ["#", "#.###", "#.###", "#.###", "#.##", "#.##", "#", "#"]
    );
    assert_eq!(
        heading,
        [
            "+--------------+-----------------------------+---------------------+-----------------------+",
            "|              |       latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |",
            "+--------------+---------+---------+---------+----------+----------+-----------+-----------+",
            "| # iterations | typical | average | overall |  average |  overall |   average |   overall |",
            "+--------------+---------+---------+---------+----------+----------+-----------+-----------+",
        ]
    );
    let json = home
        .run("perftest -l --generation 2015 -t am_bw -x inproc -n 200 --json")
        .code(0)
        .json();
    assert_eq!(json["cases"][0]["case"]["window_msgs"], 128);
    assert_eq!(json["cases"][0]["case"]["warmup_iterations"], 20);
    let csv = home
        .run("perftest -l --generation 2015 -t am_bw -x inproc -n 200 -v")
        .code(0);
    assert!(csv.stdout.contains("iterations,typical_lat,avg_lat,"), "{csv}");
}

#[test]
fn masks_keep_columns() {
    assert_eq!(masked("a   0.044  12"), "a   #.###   #");
    assert_eq!(masked("a  43.849   9"), "a   #.###   #");
    assert_eq!(masked("a     inf   9"), "a   #.###   #");
    assert_eq!(masked("9,inf,1.5"), masked("9,0.044,1.5"));
    assert_eq!(masked("1,000,a"), "    #,a");
    assert_ne!(masked("a  0.044"), masked("a   0.044"));
}
