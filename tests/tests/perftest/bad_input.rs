//! What is typed, sent or killed wrongly: every case ends by itself on both sides, with a cause, a remedy and a code.
//! The cases are those in which the original hangs, crashes, or goes on silently.

use crate::{SOON, Server, home, turn};
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use wirespeed_tests::deadline::{PATIENCE, SILENT};
use wirespeed_tests::home::kill;

/// Words of a test over shm, and what cause and remedy name.
const NONSENSE: &[(&str, &str, &str)] = &[
    ("-t am_lta", "am_lta", "am_lat"),
    ("", "no test", "-t"),
    ("-t am_lat -D fast", "fast", "zcopy"),
    ("-t am_lat -R 101", "101", "0 to 100"),
    ("-t am_lat -R abc", "abc", "0 to 100"),
    ("-t am_lat -s abc", "abc", "64"),
    ("-t am_lat -s 8x", "8x", "64"),
    ("-t am_lat -s -1", "-1", "64"),
    ("-t am_lat -s 8,,8", "8,,8", "64"),
    ("-t am_lat -s 8..4", "8..4", "8..1M"),
    ("-t am_lat -n 0", "-n 0", "unlimited"),
    ("-t am_lat -n abc", "abc", "1000"),
    ("-t am_lat -n -5", "-5", "1000"),
    ("-t am_lat -n 1e400", "1e400", "1000"),
    ("-t am_lat -w -1", "-1", "count"),
    ("-t am_bw -W 0", "-W 0", "at least 1"),
    ("-t am_bw -W abc", "abc", "at least 1"),
    ("-t get -O -1", "-1", "at least 0"),
    ("-t am_lat -T 0", "-T 0", "1 to 512"),
    ("-t am_lat -T 100000", "100000", "1 to 512"),
    ("-t am_lat -c 9999", "9999", "choose from"),
    ("-t am_lat -c abc", "abc", "choose from"),
    ("-t am_lat -E never", "never", "sleep"),
    ("-t tag_lat -M all", "all", "multi"),
    ("-t am_lat -H abc", "-H abc", "8"),
    ("-t am_lat -C", "-C", "leave it out"),
    ("-t tag_lat -r recv", "stream", "leave it out"),
    ("-t get -D short", "short", "bcopy"),
    ("-t fadd -D bcopy", "bcopy", "-D out"),
    ("-t add_mr -D zcopy", "zcopy", "-D out"),
    ("-t put_lat -D shortiov", "shortiov", "bcopy"),
    ("-t fadd -s 16", "4 or 8", "-s 8"),
    ("-t put_bw -s 0", "0 bytes", "1 or more"),
    ("-t am_lat -s 99999999999999", "1 TiB", "64"),
    ("-t am_lat -s 900G", "memory", "smaller"),
    ("-t am_lat --set 5 -b x", "--set", "SIZE=64"),
    ("-t tag_lat -s 99999999999999", "1 TiB", "64"),
    ("-t am_lat -s 0", "-s 0", "-s 8"),
    ("-t am_lat -s 4", "-s 4", "-s 8"),
    ("-t am_lat -o", "-o", "leave it out"),
    ("-t put_lat -o out.json", "out.json", "--output out.json"),
    ("-t am_lat far", "\"far\"", "leave -l out"),
    ("-t am_lat --forever", "--forever", "leave --forever out"),
    ("-t tag_bw -A signal", "-A", "leave it out"),
    ("-t am_lat -y", "-y", "leave it out"),
    ("-t am_lat -A never", "never", "signal"),
    ("-t tag_lat -D bcopy", "bcopy", "contig"),
    ("-t tag_lat -D iov,iov,iov", "iov,iov,iov", "SEND,RECV"),
];

#[test]
fn nonsense_is_told_before_anything_is_connected() {
    let _turn = turn();
    let home = home();
    for (words, cause, remedy) in NONSENSE {
        // Without a test -l is a server.
        let place = if words.is_empty() { "far.invalid" } else { "-l" };
        let ended = home.run(&format!("perftest {place} -x shm {words}")).code(2);
        let (said, help) = ended.complaint();
        assert!(said.contains(cause), "{words}: {ended}");
        assert!(help.contains(remedy), "{words}: {ended}");
        assert_eq!(ended.stdout, "", "{words}: nothing was begun");
        assert_eq!(
            ended.stderr.lines().count(),
            2,
            "{words}: the error does not scroll away: {ended}"
        );
    }
    for (words, cause) in [
        ("-p 99999 far -t am_lat -x shm", "99999"),
        ("-p 0", "0"),
        ("-o out.json", "out.json"),
        ("far -t put_lat -x shm -o out.json", "out.json"),
        ("far -t am_lat -x posix -d memory -m cuda", "cuda"),
        ("far -t am_lat -x posix", "-d"),
        ("far -t am_lat", "-x"),
        ("localhost -t am_lat -x shm -D zcopy", "no such layout"),
        ("far -t am_lat -x shm -D shortiov", "scatter-gather"),
        ("far -t put_lat -x shm -o", "-o"),
        ("far -t put_lat -x shm -i 64", "-i"),
        ("far -t am_lat -x shm -s 64 -H 16", "header of another size"),
        ("far -t am_lat -x posix -d memory -H 4", "header of 4"),
        ("far -t ucp_am_lat -H 3", "header of 3"),
        ("far -t tag_lat -x shm -M multi", "-M"),
        ("far -t stream_lat -x shm", "byte stream"),
        ("far -t am_lat -x tcp -d lo -i 4 -D zcopy -s 16,16", "-i 4"),
        ("far -t am_lat -x tcp -d lo -i far -D zcopy -s 16,16", "-i far"),
        (
            "far -t am_lat -x tcp -d lo -D zcopy -s 4,16",
            "no room for the header",
        ),
        (
            "far -t ucp_am_lat -D contig,iov",
            "active messages received into pieces",
        ),
        ("far -t am_lat -x posix -d memory -E sleep", "-E"),
        ("localhost -t am_lat -x shm -s 1T", "memory"),
        ("far -l -t am_lat -x shm", "-l"),
        ("far --forever", "--forever"),
        ("-l -t am_lat -x udp -s 100K", "above the limit"),
        ("far -t am_lat -x tcp -epeer", "no -e"),
        ("far -t ucp_am_lat -eall", "invalid -e all"),
        ("-W abc", "-W abc"),
        ("-O -1 -t am_lat", "-O -1"),
        ("-D fast", "fast"),
    ] {
        let ended = home.run(&format!("perftest {words}")).code(2);
        ended.complaint();
        assert!(ended.stderr.contains(cause), "{words}: {ended}");
    }
}

#[test]
fn an_unknown_host_and_a_silent_port_are_told() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    // Whatever the transport could do between machines.
    for transport in ["tcp", "shm", "null", "posix -d memory"] {
        let ended = home
            .run(&format!("perftest no-such-host.invalid -t am_lat -x {transport}"))
            .code(1);
        assert!(ended.complaint().0.contains("no-such-host.invalid"), "{ended}");
    }
    server.running.signal(Signal::INT);
    server.end().code(0);
}

#[test]
fn what_the_server_refuses_is_told_at_both_ends() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    // Above the server's limit on memory.
    let client = server
        .client(&home, "-t am_bw -x tcp -W 4000000000 -n 1")
        .end(PATIENCE);
    let server = server.end();
    assert_eq!(client.code, Some(5), "{client}\n{server}");
    assert!(client.complaint().0.contains("limit"), "{client}");
    assert_eq!(server.code, Some(1), "{server}");
    assert!(server.stderr.contains("refused"), "{server}");
}

#[test]
fn what_the_client_refuses_ends_both_ends() {
    let _turn = turn();
    let home = home();
    home.write(
        "skipped",
        "gpu -t am_lat -m cuda\natomic -t fadd -s 16\nzcopy -t am_lat -D zcopy\n",
    );
    home.write("failed", "unknown -t am_lta\n");
    for (words, code) in [
        ("-t am_lta -x shm", 2),
        ("-t am_lat -x shm -n 0", 2),
        ("-t fadd -x shm -s 16", 2),
        ("-t am_lat -x shm -D zcopy", 2),
        ("-t am_lat -x shm --output no/such/folder.json", 1),
        ("-t am_lat -x shm --interference=cpu", 2),
        ("-t am_lat -x shm -P 1", 2),
        ("-t am_lat -x shm -k", 2),
        ("-t am_lat -x shm -l", 2),
        ("-t am_lat -x shm --no-such-option", 2),
        ("-b missing -x shm", 2),
        ("-b skipped -x shm", 1),
        ("-b failed -x shm", 1),
    ] {
        let server = Server::start(&home, "");
        let client = server.client(&home, words).end(PATIENCE);
        let server = server.end();
        assert_eq!(
            (client.code, server.code),
            (Some(code), Some(1)),
            "{client}\n{server}"
        );
        client.complaint();
        assert!(server.stderr.contains("refuses its test"), "{words}: {server}");
    }
}

#[test]
fn whoever_is_killed_the_other_ends_soon_with_what_it_has() {
    let _turn = turn();
    let home = home();
    for transport in ["shm", "tcp", "unix"] {
        for (signal, victim) in [
            (Signal::KILL, "client"),
            (Signal::KILL, "server"),
            (Signal::INT, "client"),
            (Signal::INT, "server"),
        ] {
            let server = Server::start(&home, "");
            let client = server.client(&home, &format!("-t am_bw -x {transport} -n unlimited -v"));
            let lines = |r: &wirespeed_tests::running::Running| r.stdout().lines().count() > 1;
            client.wait_until("a line of a running test", PATIENCE, lines);
            let what = format!("{transport} {signal:?} {victim}");
            match victim {
                "client" => kill(client.pid(), signal),
                _ => kill(server.running.pid(), signal),
            }
            let (client, server) = (client.end(SOON), server.end());
            let codes = match (signal, victim) {
                (Signal::KILL, "client") => (None, Some(1)),
                (Signal::KILL, _) => (Some(1), None),
                // An orderly end: the client's result is partial, the server did as it was told.
                (_, "client") => (Some(130), Some(0)),
                _ => (Some(1), Some(0)),
            };
            let told = (client.code, server.code);
            assert!(
                told == codes || victim == "server" && told == (Some(5), codes.1),
                "{what}: {told:?}\n{client}\n{server}"
            );
            if victim == "server" {
                client.complaint();
            }
            home.assert_nothing_left(SOON);
        }
    }
}

#[test]
fn whoever_is_stopped_is_given_up() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let client = server.client(&home, "-t am_lat -x shm -n unlimited -v");
    client.wait_until("a line of a running test", PATIENCE, |r| {
        r.stdout().lines().count() > 1
    });
    let ranks = home.ranks_of(server.running.pid());
    for pid in ranks.iter().copied().chain([server.running.pid()]) {
        kill(pid, Signal::STOP);
    }
    let ended = client.end(SILENT).code(1);
    ended.complaint();
    for pid in ranks.iter().copied().chain([server.running.pid()]) {
        kill(pid, Signal::CONT);
    }
    let server = server.running.end(SILENT);
    assert_eq!(server.code, Some(1), "{server}");
    home.assert_nothing_left(SOON);
}

#[test]
fn counts_are_read_as_they_are_written() {
    let _turn = turn();
    let home = home();
    for (text, count) in [("1e3", 1000), ("2k", 2000), ("300", 300)] {
        let ended = home
            .run(&format!("perftest -l -t am_bw -x inproc -n {text} --json"))
            .code(0);
        assert_eq!(
            ended.json()["cases"][0]["case"]["stop"]["count"],
            count,
            "{ended}"
        );
    }
}

#[test]
fn words_and_files_of_the_server_do_no_harm() {
    let _turn = turn();
    let home = home();
    // Other tests, sizes and batches than the client's: the client's count, and the server says so.
    home.write("other", "one -t put_lat -s 64 -n 5\n");
    let long = "n".repeat(300);
    home.write(
        "tests",
        &format!("{long} -t am_lat -n 100\nsecond -t am_bw -n 100\n"),
    );
    for words in ["-t put_bw -s 4K -n 7 -x tcp", "-b other"] {
        let server = Server::start(&home, words);
        let client = server
            .client(&home, "-b tests -x shm --json")
            .end(PATIENCE)
            .code(0);
        assert_eq!(client.json()["cases"].as_array().unwrap().len(), 2);
        let server = server.end().code(0);
        assert!(server.stderr.contains("client"), "{words}: {server}");
    }
}

#[test]
fn an_ipv6_address_needs_no_option() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let port = server.port;
    let words = format!("perftest -p {port} ::1 -t am_lat -x tcp -n 100");
    home.start(words.split_whitespace()).end(PATIENCE).code(0);
    server.end().code(0);
}

#[test]
fn garbage_on_the_port_keeps_nobody_out() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(SILENT)).unwrap();
        stream
    };
    drop(connect());
    let mut held = Vec::new();
    for garbage in [&b"GET /"[..], &[0; 4096], &[0xff; 65536]] {
        let mut stream = connect();
        // The server may have hung up already.
        let _ = stream.write_all(garbage);
        held.push(stream);
        let mut gone = connect();
        let _ = gone.write_all(garbage);
        let _ = gone.shutdown(Shutdown::Both);
    }
    server
        .client(&home, "-t am_lat -x shm -n 100")
        .end(PATIENCE)
        .code(0);
    for mut stream in held {
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let server = server.end().code(0);
    assert!(!server.stderr.contains("internal"), "{server}");
}

#[test]
fn a_second_client_is_told() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let first = server.client(&home, "-t am_lat -x shm -n unlimited -v");
    first.wait_until("a line of a running test", PATIENCE, |r| {
        r.stdout().lines().count() > 1
    });
    let second = server
        .client(&home, "-t am_lat -x shm -n 100")
        .end(PATIENCE)
        .code(5);
    let (cause, _) = second.complaint();
    assert!(cause.contains("1 client and"), "{second}");
    first.signal(Signal::INT);
    first.end(SOON).code(130);
    server.end().code(0);
}

#[test]
fn a_server_that_cannot_listen_says_so() {
    let _turn = turn();
    let home = home();
    let server = Server::start(&home, "");
    let ended = home.run(&format!("perftest -p {}", server.port)).code(1);
    assert!(ended.complaint().0.contains("listen"), "{ended}");
    let ended = home.run("perftest --listen nowhere").code(2);
    assert!(ended.complaint().0.contains("nowhere"), "{ended}");
    server.running.signal(Signal::INT);
    server.end().code(0);
}

#[test]
fn errors_of_a_program_that_wants_json_are_json() {
    let _turn = turn();
    let home = home();
    let ended = home.run("perftest far -t am_lta -x shm --json").code(2);
    let run = ended.json();
    assert_eq!(run["status"], "failed");
    assert!(run["error"].as_str().unwrap().contains("am_lta"), "{ended}");
}
