//! Who ends the lab ends its command as it would end without the lab, in order where that can; the path is there until it has
//! ended, and nothing after.

use crate::{home, run};
use rustix::process::Signal;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use wirespeed_tests::deadline::{PATIENCE, SOON, reached};
use wirespeed_tests::home::{Home, is_heard};
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;
use wirespeed_tests::terminal::Keyboard;

/// A home in which the lab works; none where that is left out.
fn with_lab() -> Option<Home> {
    let home = home();
    let works = run(&home, "lab --delay 1ms -- true").code == Some(0);
    if !works {
        skip("the lab: network namespaces and tunnels need root and /dev/net/tun");
    }
    works.then_some(home)
}

/// What the lab runs at its near end.
fn near(script: &str) -> [&str; 7] {
    ["lab", "--delay", "1ms", "--", "sh", "-c", script]
}

/// A program of the home's own, which stands in for the one that is installed.
fn stand_in(home: &Home, name: &str, script: &str) -> String {
    let folder = home.path("bin");
    // It is there for the second one.
    let _ = std::fs::create_dir(&folder);
    std::fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn is_ready(lab: &Running) {
    lab.wait_until("its command", PATIENCE, |lab| lab.stdout().contains("ready"));
}

#[test]
fn a_signal_to_the_lab_is_the_commands_and_nothing_is_left() {
    let Some(home) = with_lab() else { return };
    // Some have one that knows no signal at a parent's death.
    let path = stand_in(&home, "setpriv", "exit 1");
    let in_order = "trap 'ip link show eth0 >/dev/null && echo the path is there; exit 7' INT TERM HUP; echo ready; \
                    while :; do sleep 0.1; done";
    let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL];
    for signal in signals.into_iter().filter(|signal| is_heard(*signal)) {
        let words = [
            "lab",
            "--delay",
            "1ms",
            "--far",
            "sh -c 'sleep 1000 & sleep 1000'",
        ];
        let words = words
            .into_iter()
            .chain(["--far-ready", "100ms", "--", "sh", "-c"]);
        let deaf = "trap '' TERM; echo ready; sleep 1000 & sleep 1000";
        let mut command = home.command(words.chain([match signal {
            Signal::KILL => deaf,
            _ => in_order,
        }]));
        // In front of no terminal, wherever the tests are.
        command.env("PATH", &path).process_group(0);
        let lab = Running::start(command);
        is_ready(&lab);
        lab.signal(signal);
        let ended = lab.end(SOON);
        if signal != Signal::KILL {
            assert_eq!(ended.code, Some(7), "{signal:?}: {ended}");
            assert!(ended.stdout.contains("the path is there"), "{signal:?}: {ended}");
        }
        home.assert_nothing_left(SOON);
    }
}

/// A stopped process takes no signal that could be handled.
#[test]
fn a_command_that_is_stopped_ends_with_the_lab() {
    let Some(home) = with_lab() else { return };
    let lab = home.start(near("echo ready; kill -STOP $$"));
    is_ready(&lab);
    lab.signal(Signal::TERM);
    let ended = lab.end(SOON);
    assert_eq!(ended.code, Some(128 + 15), "{ended}");
    home.assert_nothing_left(SOON);
}

#[test]
fn what_the_lab_was_started_to_ignore_its_command_ignores_too() {
    let Some(home) = with_lab() else { return };
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' INT TERM; exec \"$0\" \"$@\""])
        .arg(home.program())
        .args(near(
            "echo ready; while [ ! -e go ]; do sleep 0.1; done; kill -INT $$; echo whole",
        ));
    home.adopt(&mut command);
    let lab = Running::start(command);
    is_ready(&lab);
    lab.signal(Signal::INT);
    lab.signal(Signal::TERM);
    home.write("go", "");
    let ended = lab.end(SOON).code(0);
    assert!(ended.stdout.contains("whole"), "{ended}");
}

/// Whoever ignores SIGCHLD hands that on, and the kernel would then keep no child for who waits for it.
#[test]
fn a_lab_that_was_started_to_ignore_its_children_waits_for_them() {
    let Some(home) = with_lab() else { return };
    let mut command = Command::new("env");
    command.arg("--ignore-signal=CHLD").arg("true");
    if !command.status().is_ok_and(|status| status.success()) {
        return skip("children that are ignored: env of coreutils 8.31 or later");
    }
    let mut command = Command::new("env");
    command.arg("--ignore-signal=CHLD").arg(home.program());
    home.adopt(command.args(near("exit 7")));
    Running::start(command).end(SOON).code(7);
}

/// A terminal's Ctrl-C fails the tools that set the path up.
#[test]
fn a_lab_that_is_interrupted_as_it_is_set_up_says_so() {
    let Some(home) = with_lab() else { return };
    let tool = ": > at_work; while [ ! -e go ]; do sleep 0.1; done; exit 1";
    let path = stand_in(&home, "ip", tool);
    let mut command = home.command(near("true"));
    command.env("PATH", path);
    let lab = Running::start(command);
    assert!(reached(PATIENCE, || home.path("at_work").exists()));
    lab.signal(Signal::INT);
    home.write("go", "");
    let (cause, _) = lab.end(SOON).code(130).complaint();
    assert_eq!(cause, "interrupted before the command was started");
    home.assert_nothing_left(SOON);
}

/// Wherever its streams go: what it asks at the terminal is answered, and what that says it is told once.
#[test]
fn a_command_in_front_of_a_terminal_is_part_of_it() {
    let Some(home) = with_lab() else { return };
    let Ok(keyboard) = Keyboard::new() else {
        return skip("a command in front of a terminal: there is no terminal to be had");
    };
    let told = "trap 'echo told; sleep 0.3; exit 7' INT; echo ready; while :; do sleep 0.1; done";
    let start = |script| {
        let mut command = keyboard.before(home.program()).unwrap();
        home.adopt(command.args(near(script)));
        let lab = Running::start(command);
        is_ready(&lab);
        lab
    };
    let lab = start("echo ready; read word < /dev/tty; echo it says $word");
    keyboard.press("aye\n").unwrap();
    let ended = lab.end(SOON).code(0);
    assert!(ended.stdout.contains("it says aye"), "{ended}");
    // The terminal says it to one that is stopped, too.
    let lab = start("echo ready; kill -STOP $$");
    keyboard.press("\x03").unwrap();
    lab.end(SOON).code(128 + 2);
    // By the terminal, and by a process.
    let by_terminal = |_: &Running| keyboard.press("\x03").unwrap();
    let by_process = |lab: &Running| lab.signal(Signal::INT);
    for interrupt in [&by_terminal as &dyn Fn(&Running), &by_process] {
        let lab = start(told);
        interrupt(&lab);
        let ended = lab.end(SOON).code(7);
        assert_eq!(ended.stdout.matches("told").count(), 1, "{ended}");
    }
    home.assert_nothing_left(SOON);
}
