//! Daemons of sessions: what they say of each other, and what gets others in.

use crate::sessions::{Site, node, port_of, workers};
use crate::{home, turn};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::running::Running;

/// Wait until it has said `words` on stderr `times` times.
fn says(daemon: &Running, words: &str, times: usize) {
    daemon.wait_until(words, PATIENCE, |daemon| {
        daemon.stderr().matches(words).count() >= times
    });
}

#[test]
fn a_node_that_cannot_register_says_so_and_goes_on_trying() {
    let _turn = turn();
    let home = home();
    // A port that was free a moment ago.
    let coordinator = home.start(["coordinator", "--port", "0"]);
    let port = port_of(&coordinator);
    coordinator.signal(Signal::TERM);
    coordinator.end(SOON).code(0);
    let node = node(&home, port);
    says(&node, "not registered: ", 1);
    // The remedy is a line of its own.
    says(&node, "start `wirespeed coordinator` there", 1);
    // Somebody else's coordinator.
    let other = crate::home();
    let number = port.to_string();
    let stranger = other.start(["coordinator", "--port", number.as_str()]);
    says(&node, "not registered: ", 2);
    assert!(!stranger.stderr().contains("node"), "{}", stranger.stderr());
    stranger.signal(Signal::TERM);
    stranger.end(SOON).code(0);
    // Its own at last.
    let coordinator = home.start(["coordinator", "--port", number.as_str()]);
    says(&node, "registered as here with the coordinator at 127.0.0.1", 1);
    says(&coordinator, "node here is there, at 127.0.0.1:", 1);
    // A node that is killed is missed by its coordinator, a coordinator by its node.
    node.signal(Signal::KILL);
    node.end(SOON);
    says(&coordinator, "node here is gone", 1);
    let again = crate::sessions::node(&home, port);
    says(&again, "registered as here", 1);
    says(&coordinator, "node here is there", 2);
    coordinator.signal(Signal::KILL);
    coordinator.end(SOON);
    says(&again, "not registered: ", 1);
    // Said once, not every two seconds.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(again.stderr().matches("not registered: ").count(), 1);
    again.signal(Signal::TERM);
    again.end(SOON).code(0);
    home.assert_nothing_left(SOON);
}

#[test]
fn the_identity_is_printed_on_request_and_opens_the_interface() {
    let _turn = turn();
    let home = home();
    for verb in ["coordinator", "node"] {
        let quiet = home.start([verb, "--port", "0"]);
        port_of(&quiet);
        assert!(!quiet.stdout().contains("WS1:"), "{}", quiet.stdout());
        let daemon = home.start([verb, "--port", "0", "--print-identity"]);
        daemon.wait_until("its secrets", PATIENCE, |d| d.stdout().contains("Bearer"));
        let said = daemon.stdout();
        let of = |before: &str| {
            let found = said.lines().find_map(|line| line.split_once(before));
            found.unwrap().1.to_owned()
        };
        // As docs/session.md describes them: 32 and 64 bytes.
        let identity = of("WIRESPEED_IDENTITY=WS1:");
        let bearer = of("Authorization: Bearer ");
        assert_eq!((bearer.len(), identity.len()), (43, 86), "{said}");
        let good = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!(bearer.chars().chain(identity.chars()).all(good), "{said}");
        for daemon in [quiet, daemon] {
            daemon.signal(Signal::TERM);
            daemon.end(SOON).code(0);
        }
    }
    // A client without the key file gets in with it.
    let site = Site::start(&home);
    let shown = home.start(["coordinator", "--port", "0", "--print-identity"]);
    shown.wait_until("its secrets", PATIENCE, |d| d.stdout().contains("Bearer"));
    let said = shown.stdout();
    let identity = said
        .lines()
        .find_map(|line| line.split_once("WIRESPEED_IDENTITY="))
        .unwrap()
        .1;
    let stranger = crate::home();
    let line = format!(
        "session --host localhost --port {} --duration=0 --requestMb=0 --json",
        site.port
    );
    assert_ne!(stranger.run(&line).code, Some(0));
    stranger.run(&format!("{line} --identity {identity}")).code(0);
    shown.signal(Signal::TERM);
    shown.end(SOON).code(0);
    site.stop();
    home.assert_nothing_left(SOON);
}

/// Ask a coordinator over its interface, as any program may.
fn ask(port: u16, bearer: &str, method: &str, path: &str, body: &str) -> Value {
    let mut curl = Command::new("curl");
    curl.args(["-sSk", "--http1.1", "-X", method, "-H"])
        .arg(format!("Authorization: Bearer {bearer}"))
        .args(["-H", "Content-Type: application/json"])
        .arg(format!("https://127.0.0.1:{port}/coordinator/1/sessions{path}"));
    if !body.is_empty() {
        curl.args(["--data-binary", body]);
    }
    let answer = curl.output().unwrap();
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text} {}", String::from_utf8_lossy(&answer.stderr)))
}

#[test]
fn a_session_lives_while_somebody_asks_for_it() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: a client of the interface: curl is not installed");
        return;
    }
    let _turn = turn();
    let home = home();
    let coordinator = home.start(["coordinator", "--port", "0", "--print-identity"]);
    coordinator.wait_until("its secrets", PATIENCE, |d| d.stdout().contains("Bearer"));
    let said = coordinator.stdout();
    let bearer = said
        .lines()
        .find_map(|line| line.split_once("Bearer "))
        .unwrap()
        .1;
    let port = port_of(&coordinator);
    let node = node(&home, port);
    says(&node, "registered as here", 1);
    let definition = r#"{"definition": {"name": "x", "computations": [{"name": "a"}]}}"#;
    let create = || {
        let created = ask(port, bearer, "POST", "", definition);
        let id = created["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{created}"))
            .to_owned();
        ask(port, bearer, "PUT", &format!("/{id}/go"), "");
        format!("/{id}")
    };
    let (kept, left) = (create(), create());
    assert!(
        reached(PATIENCE, || workers(&home).len() == 2),
        "a computation of each"
    );
    // One is asked for until the other has ended by itself, which takes the longer the more often the machine stands still.
    for _ in 0..PATIENCE.as_secs() {
        std::thread::sleep(Duration::from_secs(1));
        let seen = ask(port, bearer, "GET", &kept, "");
        assert_eq!(seen["nodes"], json!(["here"]), "{seen}");
        if workers(&home).len() < 2 {
            break;
        }
    }
    let gone = ask(port, bearer, "GET", &left, "");
    assert!(
        gone["error"]
            .as_str()
            .is_some_and(|why| why.contains("no session")),
        "{gone}"
    );
    let report = ask(port, bearer, "DELETE", &kept, "");
    assert_eq!(report["computations"][0]["name"], "a", "{report}");
    for daemon in [node, coordinator] {
        daemon.signal(Signal::TERM);
        daemon.end(SOON).code(0);
    }
    home.assert_nothing_left(SOON);
}
