//! A machine that is short of something.

use crate::{SOON, home, turn};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

#[test]
fn a_full_dev_shm_does_not_matter_or_is_said() {
    let _turn = turn();
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip("a /dev/shm of one's own needs root");
    }
    let home = home();
    let fill = "mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 77; \
                head -c 64k /dev/zero > /dev/shm/full; exec \"$0\" run am_bw,put_bw --via shm --iters 100 --check --json";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "bash", "-c", fill]);
    command.arg(home.program());
    home.adopt(&mut command);
    let ended = Running::start(command).end(PATIENCE);
    if ended.code == Some(77) || ended.stderr.contains("unshare failed") {
        return skip("no mount namespace can be made here");
    }
    match ended.code {
        Some(0) => assert_eq!(ended.json()["status"], "ok", "{ended}"),
        Some(1) => {
            ended.complaint();
        }
        _ => panic!("{ended}"),
    }
    home.assert_nothing_left(SOON);
}

#[test]
fn more_memory_than_there_is_is_refused_before_it_is_taken() {
    let _turn = turn();
    let home = home();
    for (line, figure) in [
        ("run am_lat --via shm --size 1T", "limit of"),
        ("run am_bw --via inproc --size 64G --iters 1", "limit of"),
        ("run put_bw --via tcp --size 1T --iters 1", "limit of"),
        ("run am_lat --via shm --iters 10 --load 0:memory=1000T", "1000T"),
        (
            "run am_bw --via shm --window 1000000000000 --iters 10",
            "1000000000000",
        ),
        (
            "run am_lat --via shm --iters 10 --raw 1000000000000000",
            "1000000000000000",
        ),
    ] {
        let ended = home.run(line);
        assert!(matches!(ended.code, Some(1 | 2)), "{ended}");
        let (cause, _) = ended.complaint();
        assert!(cause.contains(figure) && !cause.contains("internal"), "{ended}");
    }
    home.assert_nothing_left(SOON);
}
