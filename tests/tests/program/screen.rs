//! What the terminal gets: nothing but text when nobody watches, and no panic when nobody reads.

use crate::{home, turn};
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

/// Run a line of shell; `$W` is the program.
fn shell(home: &wirespeed_tests::home::Home, line: &str) -> Ended {
    let mut command = Command::new("bash");
    command.args(["-c", line]);
    home.adopt(&mut command);
    command.env("W", home.program());
    Running::start(command).end(PATIENCE)
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let _turn = turn();
    let home = home();
    for (verb, code) in [
        ("list", 0),
        ("list tcp", 0),
        ("run am_lat --via inproc --iters 40", 0),
        ("run am_lat --via inproc --iters 40 --json", 0),
        // Whoever watched has seen enough: the run, long enough for any reader to be gone, ends as if it were interrupted.
        (
            "run am_bw --via inproc --duration 10m --interval 20ms --ndjson",
            130,
        ),
        ("completions bash", 0),
        ("--help", 0),
    ] {
        let ended = shell(&home, &format!("\"$W\" {verb} | true; exit ${{PIPESTATUS[0]}}")).code(code);
        assert!(!ended.stderr.contains("internal"), "{ended}");
        assert!(!ended.stderr.contains("panic"), "{ended}");
    }
}

#[test]
fn colour_only_when_asked_for_or_watched() {
    let _turn = turn();
    let home = home();
    let line = "run am_lat,am_bw --via inproc --iters 40";
    let plain = home.run(line).code(0);
    assert!(
        !plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'),
        "{plain}"
    );
    let forced = home.run(&format!("{line} --color always")).code(0);
    assert!(forced.stdout.contains('\u{1b}'), "{forced}");
    let never = shell(&home, &format!("CLICOLOR_FORCE=1 NO_COLOR=1 \"$W\" {line}")).code(0);
    assert!(!never.stdout.contains('\u{1b}'), "{never}");
    let json = home.run(&format!("{line} --color always --json")).code(0);
    json.json();
}

#[test]
fn a_narrow_terminal_is_enough() {
    let _turn = turn();
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("script") || !has("stty") {
        return skip("script or stty is not installed");
    }
    let home = home();
    for columns in [1, 20, 40, 500] {
        let inner = format!(
            "stty cols {columns}; \"$W\" run am_lat,am_bw --via inproc,shm --iters 40; \"$W\" list; \"$W\" run --iters"
        );
        let ended = shell(
            &home,
            &format!("COLUMNS={columns} script -qec '{inner}' /dev/null"),
        );
        assert!(ended.stdout.contains("am_lat"), "{ended}");
        assert!(ended.stdout.contains("error:"), "{ended}");
        assert!(!ended.stdout.contains("internal:"), "{ended}");
    }
}

#[test]
fn a_full_disk_is_said() {
    let home = home();
    let ended = shell(
        &home,
        "\"$W\" run am_lat --via inproc --iters 40 --json > /dev/full",
    )
    .code(1);
    assert!(ended.complaint().0.contains("stdout"), "{ended}");
    let ended = home.run("run am_lat --via inproc --iters 40 -o no/such/folder.json");
    assert_ne!(ended.code, Some(0));
    ended.complaint();
}
