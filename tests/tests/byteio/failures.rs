//! Transfers that are killed and go on, services that are killed, full disks, bad words.

use crate::{LONG, SIZE, content, home, run, serve, transfer};
use rustix::process::Signal;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::peak_bytes;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

#[test]
fn a_killed_transfer_goes_on_and_is_whole() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), content()).unwrap();
    let line =
        format!("byteio get {url}/f copy --block-size 16K --threads 2 --depth 1 --mechanism simple --json");
    let first = home.start(line.split(' '));
    let journal = home.path("copy.wirespeed-journal");
    first.wait_until("some blocks are there", PATIENCE, |_| {
        std::fs::metadata(&journal).is_ok_and(|m| m.len() > 2000)
    });
    first.signal(Signal::KILL);
    assert_eq!(first.end(PATIENCE).code, None);
    let second = run(&home, &line).code(0);
    let seen = transfer(&second);
    let (resumed, moved) = (
        seen["resumed_bytes"].as_u64().unwrap(),
        seen["payload_bytes"].as_u64().unwrap(),
    );
    assert!(
        resumed > 0 && resumed + moved == SIZE as u64,
        "{resumed} + {moved}"
    );
    assert_eq!(seen["verified"], true);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
    assert!(!journal.exists());
    // A second get of the same file is refused, with the way out.
    let (cause, remedy) = run(&home, &format!("byteio get {url}/f copy"))
        .code(2)
        .complaint();
    assert!(
        cause.contains("is there already") && remedy.contains("--overwrite"),
        "{cause} {remedy}"
    );
    run(
        &home,
        &format!("byteio get {url}/f copy --overwrite --map --verify blake3 -q -o r.json"),
    )
    .code(0);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
}

#[test]
fn a_killed_service_is_waited_for_or_told() {
    let home = home();
    let (server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), content()).unwrap();
    let line = format!("byteio get {url}/f copy --block-size 16K --threads 2 --mechanism simple --json");
    let client = home.start(line.split(' '));
    let journal = home.path("copy.wirespeed-journal");
    client.wait_until("some blocks are there", PATIENCE, |_| {
        std::fs::metadata(&journal).is_ok_and(|m| m.len() > 2000)
    });
    server.signal(Signal::KILL);
    server.end(PATIENCE);
    let broken = client.end(LONG).code(1);
    let seen = transfer(&broken);
    assert!(seen["error"].is_string());
    assert!(
        seen["connections"][0]["retries_count"].as_u64().unwrap() > 0,
        "{broken}"
    );
    // What was reported as done is right; the rest comes from a new service at the same port.
    let port = url.rsplit(':').next().unwrap();
    let line_serve = format!("byteio serve served --port {port}");
    let again = home.start(line_serve.split(' '));
    again.wait_until("listening", PATIENCE, |s| s.stdout().contains('\n'));
    let seen = transfer(&run(&home, &line).code(0));
    assert!(seen["resumed_bytes"].as_u64().unwrap() > 0);
    assert!(std::fs::read(home.path("copy")).unwrap() == content());
}

#[test]
fn a_full_disk_is_told_before_anything_moves() {
    let home = home();
    let (_server, url) = serve(&home, "");
    let large = std::fs::File::create(home.path("served/large")).unwrap();
    // More than any disk of a test machine has, and nothing of it is on this one.
    if large.set_len(1 << 50).is_err() && large.set_len(1 << 43).is_err() {
        return skip("a full disk: the file system knows no sparse file of 8 TiB");
    }
    let ended = run(
        &home,
        &format!("byteio get {url}/large copy --block-size 1G --json"),
    )
    .code(1);
    let said = ended.json()["error"].as_str().unwrap().to_owned();
    assert!(said.contains("reserve room"), "{said}");
}

/// A disk that is full at the service: told by every way that writes, the service goes on, and what was there stays.
#[test]
fn a_full_disk_of_the_service_is_told() {
    let home = home();
    std::fs::create_dir(home.path("served")).unwrap();
    std::fs::write(home.path("source"), &content()[..3_000_000]).unwrap();
    let program = home.program().display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=1m none served && exec {program} byteio serve served --port 0 --writable"
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]);
    home.adopt(&mut command);
    let server = Running::start(command);
    server.wait_until("its end or an address", PATIENCE, |s| {
        s.stdout().contains('\n') || peak_bytes(s.pid()).is_none()
    });
    let Some(line) = server.stdout().lines().next().map(str::to_owned) else {
        return skip("a full disk of the service: a file system of its own needs root");
    };
    let url = line
        .strip_prefix("listening on ")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    for mechanism in ["simple", "mtom", "dime", "http", "bulk"] {
        let ended = run(
            &home,
            &format!("byteio put source {url}/{mechanism} --mechanism {mechanism} --attempts 2 --json"),
        );
        let error = ended.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(ended.code == Some(1) && !error.is_empty(), "{mechanism}: {ended}");
    }
    // Room again: the service goes on.
    for mechanism in ["simple", "mtom", "dime", "http", "bulk"] {
        let clear = format!("byteio put empty {url}/{mechanism} --mechanism http --verify none -q -o r.json");
        std::fs::write(home.path("empty"), "").unwrap();
        run(&home, &clear).code(0);
    }
    std::fs::write(home.path("small"), &content()[..500_000]).unwrap();
    run(&home, &format!("byteio put small {url}/small -q -o r.json")).code(0);
}

/// A put writes a new version, so that a resource may even be sent onto itself.
#[test]
fn a_resource_that_is_put_onto_itself_stays() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    let content = &content()[..3_000_000];
    for mechanism in ["simple", "mtom", "dime", "http", "bulk"] {
        let path = home.path("served").join(mechanism);
        std::fs::write(&path, content).unwrap();
        let line =
            format!("byteio put served/{mechanism} {url}/{mechanism} --mechanism {mechanism} -q -o r.json");
        run(&home, &line).code(0);
        assert!(std::fs::read(&path).unwrap() == content, "{mechanism}");
    }
}

#[test]
fn bad_words_are_refused_with_a_way_out() {
    let home = home();
    for line in [
        "byteio get nonsense",
        "byteio get http://127.0.0.1:1/",
        "byteio get http://127.0.0.1:1/f --block-size 0",
        "byteio get http://127.0.0.1:1/f --stall 0s",
        "byteio get http://127.0.0.1:1/f --key file",
        "byteio put f http://127.0.0.1:1/f --identity x",
        "byteio bench",
        "byteio bench http://127.0.0.1:1/f --nominal fast",
        "byteio bench http://127.0.0.1:1/f --mechanism pigeon",
        "byteio serve x --plain --writable",
        "byteio put none http://127.0.0.1:1/f --threads 0",
        "lab --loss 2 -- true",
        "lab --delay 2h -- true",
        "lab --rate 1Gb/s",
        "lab --check --rate 1Gb/s",
        "lab --check -- true",
    ] {
        run(&home, line).code(2).complaint();
    }
    run(&home, "byteio get http://127.0.0.1:1/f").code(1).complaint();
    run(&home, "byteio serve none").code(1).complaint();
    run(&home, "byteio get https://127.0.0.1:1/f").code(5).complaint();
}
