//! `--live` from outside, on a pseudo-terminal: it draws while the run goes on, in any width, and leaves the result alone.

use crate::{SOON, document, home, turn};
use rustix::process::Signal;
use std::process::Command;
use wirespeed_schema::run::Status;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::home::{Home, kill};
use wirespeed_tests::running::{Ended, Running};
use wirespeed_tests::skip;

const RUN: &str = "run am_lat --via inproc -t 900ms --warmup 0 --interval 100ms --live";
/// Moves up over the lines of the last picture, as the first half of every redrawing does.
const UP: &str = "F\u{1b}[J";

fn has_script() -> bool {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    has("script") && has("stty")
}

/// Run a line of shell on a terminal; `$W` is the program.
fn on_terminal(home: &Home, line: &str) -> Ended {
    start_on_terminal(home, line).end(PATIENCE)
}

fn start_on_terminal(home: &Home, line: &str) -> Running {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]);
    home.adopt(&mut command);
    command.env("W", home.program());
    command.env("TERM", "xterm");
    Running::start(command)
}

#[test]
fn a_long_run_is_seen_while_it_goes_on() {
    let _turn = turn();
    if !has_script() {
        return skip("script or stty is not installed");
    }
    let home = home();
    let ended = on_terminal(&home, &format!("stty cols 70; $W {RUN} --repeats 2 -o out.json")).code(0);
    assert!(ended.stdout.matches(UP).count() >= 4, "several pictures: {ended}");
    for word in ["case 1 of 1", "run 2", "left", "rate", "p50", "p99", "max"] {
        assert!(ended.stdout.contains(word), "{word}: {ended}");
    }
    let last = ended.stdout.rfind(UP).expect("a picture");
    let after = &ended.stdout[last..];
    assert!(
        !after.contains(" left"),
        "the view is gone when the table comes: {ended}"
    );
    assert!(after.contains("RTT"), "{ended}");
    let run = document(&std::fs::read_to_string(home.path("out.json")).unwrap());
    let slices = &run.cases[0].repetitions[0].outcomes[0].intervals;
    assert!(slices.iter().any(|slice| slice.p99_ns.is_some()), "{slices:?}");
}

#[test]
fn any_width_a_resize_and_no_colour_are_enough() {
    let _turn = turn();
    if !has_script() {
        return skip("script or stty is not installed");
    }
    let home = home();
    let resize = "stty cols 100; (sleep 0.4; stty cols 12; sleep 0.2; stty cols 90) <&0 & ";
    for before in ["stty cols 1;", "stty cols 20;", resize] {
        let ended = on_terminal(&home, &format!("{before} NO_COLOR=1 $W {RUN}; wait")).code(0);
        assert!(ended.stdout.contains(UP), "{ended}");
        assert!(!ended.stdout.contains("\u{1b}[1m"), "{ended}");
        assert!(!ended.stdout.contains("internal"), "{ended}");
    }
}

#[test]
fn an_interruption_wipes_the_view_and_keeps_the_result() {
    let _turn = turn();
    if !has_script() {
        return skip("script or stty is not installed");
    }
    let home = home();
    let line = "$W run am_lat --via inproc -t 600s --interval 100ms --live; echo code $?";
    let terminal = start_on_terminal(&home, line);
    terminal.wait_until("pictures", PATIENCE, |terminal| terminal.stdout().contains(UP));
    let is_ours = |words: &str| words.starts_with(&home.program().display().to_string());
    let ours = home.processes().into_iter().find(|(_, words)| is_ours(words));
    kill(ours.expect("it still runs").0, Signal::INT);
    let ended = terminal.end(SOON);
    assert!(ended.stdout.contains("interrupted"), "{ended}");
    assert!(ended.stdout.contains("code 130"), "{ended}");
    home.assert_nothing_left(SOON);
}

#[test]
fn without_a_terminal_it_says_so_and_measures_all_the_same() {
    let _turn = turn();
    let home = home();
    let ended = home.run("run am_lat --via inproc -t 50ms --live --json").code(0);
    assert_eq!(
        ended.stderr.trim(),
        "note: --live shows nothing: stderr is no terminal"
    );
    let run = document(&ended.stdout);
    assert_eq!(run.cases[0].case.report_interval_ns, 500_000_000);
    home.run("run am_lat --via inproc --iters 9 --live --quiet")
        .code(2);
    let ended = home.run("sweep -- am_lat --via inproc --live").code(2);
    assert!(ended.complaint().0.contains("--live"), "{ended}");
}

#[test]
fn an_arm_may_be_watched_and_the_other_not() {
    let _turn = turn();
    if !has_script() {
        return skip("script or stty is not installed");
    }
    let home = home();
    let arm = "am_lat --via inproc -t 300ms --warmup 0";
    let line = format!("$W ab --pairs 1 -- {arm} -- {arm} --interval 50ms --live; echo code $?");
    let ended = on_terminal(&home, &line);
    assert!(
        ended.stdout.contains("case 2 of 2") && !ended.stdout.contains("case 1 of 2"),
        "{ended}"
    );
    assert!(ended.stdout.contains("code 4"), "one pair tells nothing: {ended}");
}

/// Whoever reads the lines of a run and goes away ends it: `| head -1` returns with its line.
#[test]
fn a_run_whose_lines_nobody_reads_any_more_ends() {
    let _turn = turn();
    for line in [
        "session --benchmarkPath=client_to_computation --requestMb=0 --duration=600 --report-frequency=0.1 --format=classic",
        "session --benchmarkPath=client_to_computation --requestMb=0 --duration=600 --report-frequency=0.1 --ndjson",
        "run am_lat --via inproc -t 600s --interval 100ms --ndjson",
        "run am_lat --via inproc -t 600s --ndjson",
        "workers -w 1 -n 1000000000 --via inproc --ndjson",
        "run am_lat --via inproc -t 20ms --repeats 10000 --ndjson",
        "msgrate -t 20ms --repeats 10000 --ndjson",
        "workers -w 1 -n 10 --via inproc --repeats 10000 --ndjson",
        "ab --pairs 10000 --ndjson -- am_lat --via inproc -t 20ms -- am_lat --via inproc -t 20ms",
        "perftest -l -x shm -t am_lat -n 1000000000000",
    ] {
        let home = home();
        let mut command = Command::new("sh");
        let output = match line.starts_with("ab ") {
            true => line.replacen("ab ", "ab --output out.json ", 1),
            false => format!("{line} --output out.json"),
        };
        command.args(["-c", &format!("$W {output} | head -1")]);
        home.adopt(&mut command);
        command.env("W", home.program());
        let ended = Running::start(command).end(SOON).code(0);
        assert_eq!(ended.stdout.lines().count(), 1, "{ended}");
        let (cause, remedy) = ended.complaint();
        assert!(
            cause.contains("stdout was closed") && remedy.contains("--output"),
            "{ended}"
        );
        let run = document(&std::fs::read_to_string(home.path("out.json")).unwrap());
        assert_eq!(run.status, Status::Interrupted, "{ended}");
        home.assert_nothing_left(SOON);
    }
}

/// A pipe that is full, of which nobody reads, holds up no end: a write must hear the signal.
#[test]
fn whoever_writes_to_a_full_pipe_hears_the_stop() {
    let _turn = turn();
    for (number, line) in [
        "run am_lat --via shm -t 20ms --interval 1ms --repeats 10000 --ndjson",
        "workers -w 1 -n 10 --via inproc --repeats 10000 --ndjson",
        "msgrate -t 20ms --repeats 10000 --ndjson",
        "session --benchmarkPath=client_to_computation --requestMb=0 --duration=600 --report-frequency=0.01 --format=classic",
        "session --requestMb=0 --duration=600 --logCount=1000000",
    ]
    .into_iter()
    .enumerate()
    {
        let home = home();
        let command = home.command(line.split_whitespace());
        let running = Running::start_unread(command, [true, true]);
        running.wait_until("its pipe is full", PATIENCE, |r| waits_for_room(r.pid()));
        running.signal([Signal::INT, Signal::TERM][number % 2]);
        running.end(SOON).code(130);
        home.assert_nothing_left(SOON);
    }
}

/// Whether stdout or stderr of a process takes nothing more.
fn waits_for_room(pid: u32) -> bool {
    [1, 2].into_iter().any(|fd| is_full(pid, fd))
}

fn is_full(pid: u32, fd: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let Ok(pipe) = options.open(format!("/proc/{pid}/fd/{fd}")) else {
        return false;
    };
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::new(&pipe, PollFlags::OUT)], Some(&now)) == Ok(0)
}
