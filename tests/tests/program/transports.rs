//! Every test on every transport, checked to the byte, between processes and between threads; and the ways of running
//! them.

use crate::{document, home, turn};
use serde_json::Value;
use wirespeed_schema::kinds::KINDS;
use wirespeed_schema::run::CaseStatus;
use wirespeed_schema::test::Capability;

/// Every test whose both ends are ranks.
fn between_ranks() -> Vec<&'static str> {
    let kinds = KINDS.iter().filter(|kind| kind.capability() != Capability::Bulk);
    kinds.map(|kind| kind.name).collect()
}

/// Run every test on `via`; the case's status by test.
fn every_test(via: &str, group: &str) -> Vec<(String, CaseStatus)> {
    let home = home();
    let line = format!(
        "run {} --via {via} {group} --iters 100 --warmup 0 --check --json",
        between_ranks().join(",")
    );
    let ended = home.run(&line).code(0);
    let run = document(&ended.stdout);
    assert_eq!(run.cases.len(), between_ranks().len(), "{ended}");
    for case in &run.cases {
        if case.status == CaseStatus::Skipped {
            assert!(case.error.as_deref().is_some_and(|why| !why.is_empty()));
        }
    }
    home.assert_nothing_left(crate::SOON);
    let status = |c: &wirespeed_schema::run::CaseResult| (c.case.test.name().to_owned(), c.status);
    run.cases.iter().map(status).collect()
}

/// Operations that take less than a clock step are timed in batches: a run of fewer is one batch.
#[test]
fn a_few_operations_have_a_figure() {
    let _turn = turn();
    let home = home();
    let tests = "am_lat,get,fadd,am_bw,put_bw,add_mr,am_bibw,tag_lat,tag_bw,hub_lat,am_alltoall,osu_latency";
    for iters in [1, 3] {
        // What has no figure is a violation in itself.
        let line = format!("run {tests} --via inproc --warmup 500 --iters {iters} --json");
        let run = document(&home.run(&line).code(0).stdout);
        assert!(run.cases.iter().any(|case| case.status == CaseStatus::Ok));
        let line = format!("run am_lat,am_bw --via null --iters {iters} --json");
        let run = document(&home.run(&line).code(0).stdout);
        assert!(run.cases.iter().all(|case| case.status == CaseStatus::Ok));
    }
}

/// A worker that waits for its turn on a CPU of many must not be asked, by polls, before each message of another.
#[test]
fn ranks_that_wait_for_their_turn_sleep_where_a_cpu_has_many_of_them() {
    let _turn = turn();
    let home = home();
    let cpu = wirespeed::host::allowed_cpus()[0];
    for (ranks, more, way) in [(9, "", "block"), (9, "--fan-out", "poll"), (3, "", "poll")] {
        let cpus = vec![cpu.to_string(); ranks].join(",");
        for group in ["inproc --threads", "shm --procs"] {
            let line = format!("run hub_lat --via {group} {ranks} --cpus {cpus} {more} --iters 20 --json");
            let run = document(&home.run(&line).code(0).stdout);
            let outcomes = run.cases[0].outcomes();
            let ways: Vec<&str> = outcomes.map(|one| one.transport_facts["wait"].as_str()).collect();
            assert_eq!(ways, vec![way; ranks], "{line}");
        }
    }
}

fn assert_all_ok(results: &[(String, CaseStatus)]) {
    let bad: Vec<_> = results.iter().filter(|(_, s)| *s != CaseStatus::Ok).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn every_test_over_inproc() {
    let _turn = turn();
    assert_all_ok(&every_test("inproc", "--threads 2"));
}

#[test]
fn every_test_over_shm() {
    let _turn = turn();
    assert_all_ok(&every_test("shm", "--procs 2"));
    assert_all_ok(&every_test("shm", "--threads 2"));
}

#[test]
fn every_test_over_unix() {
    let _turn = turn();
    assert_all_ok(&every_test("unix", "--procs 2"));
    assert_all_ok(&every_test("unix", "--threads 2"));
}

#[test]
fn every_test_over_tcp() {
    let _turn = turn();
    assert_all_ok(&every_test("tcp", "--procs 2"));
    assert_all_ok(&every_test("tcp", "--threads 2"));
}

#[test]
fn every_test_encrypted() {
    let _turn = turn();
    assert_all_ok(&every_test("tcp -O encrypt=aes-256-gcm", "--procs 2"));
    assert_all_ok(&every_test("unix -O encrypt=chacha20-poly1305", "--procs 2"));
}

#[test]
fn a_cipher_is_a_part_of_the_case_and_of_the_result() {
    let _turn = turn();
    let home = home();
    let line =
        "run am_lat,bandwidth --via tcp,udp --size 8,4K --iters 50 --check --json -O encrypt=off,aes-256-gcm";
    let run = document(&home.run(line).code(0).stdout);
    for case in &run.cases {
        let name = case.case.label();
        assert_eq!(case.status, CaseStatus::Ok, "{name}: {:?}", case.error);
        let cipher = case.case.options["encrypt"].as_str();
        let encrypted = cipher != "off";
        for outcome in &case.repetitions[0].outcomes {
            let stated = outcome.transport_facts.get("data_encryption").map(String::as_str);
            assert_eq!(stated, encrypted.then_some(cipher), "{name}");
        }
        let remarked = case.remarks.iter().any(|remark| remark.code == "encrypted");
        assert_eq!(remarked, encrypted, "{name}");
    }
    // Another cipher is another case: nothing of the two results is on both sides.
    for (file, cipher) in [("clear.json", "off"), ("sealed.json", "aes-256-gcm")] {
        home.run(&format!(
            "run am_lat --via unix --iters 50 -O encrypt={cipher} -o {file}"
        ))
        .code(0);
    }
    let refused = home.run("compare clear.json sealed.json").code(5).complaint();
    assert!(
        refused.0.contains("no case is on both sides") || refused.0.contains("encrypt"),
        "{refused:?}"
    );
}

#[test]
fn udp_does_what_datagrams_can_and_says_why_not_the_rest() {
    let _turn = turn();
    for group in ["--procs 2", "--threads 2"] {
        for (test, status) in every_test("udp", group) {
            let expected = match test.as_str() {
                "am_lat" | "am_bw" | "am_bibw" => CaseStatus::Ok,
                _ => CaseStatus::Skipped,
            };
            assert_eq!(status, expected, "{test} {group}");
        }
    }
}

#[test]
fn null_measures_and_what_it_cannot_check_is_refused_beforehand() {
    let home = home();
    let ended = home.run("run am_lat --via null --iters 1000 --json").code(0);
    assert_eq!(document(&ended.stdout).cases.len(), 1);
    let ended = home.run("run am_lat --via null --iters 1000 --check").code(2);
    assert!(ended.complaint().0.contains("check"), "{ended}");
}

#[test]
fn ways_of_running_a_case() {
    let _turn = turn();
    let home = home();
    for line in [
        "run am_lat --via tcp,udp -6 --iters 50",
        "run am_bw --via tcp,udp -4 --iters 50",
        "run am_lat --via shm,unix,tcp,udp --wait block --iters 50",
        "run am_lat --via shm,unix,tcp,udp --wait poll --iters 50",
        "run am_bw --via shm --layout short,bcopy --size 8,64 --window 1,3,1024 --iters 500",
        "run am_lat --via shm,tcp --procs 3 --roles sink,idle,source --iters 50",
        "run am_bw --via tcp --reverse --iters 50",
        "run hub_lat --via inproc --threads 4 --iters 50",
        "run hub_lat --via shm,tcp,unix --procs 4 --fan-out --iters 50",
        "run am_lat --via shm --procs 3 --roles source,sink,idle --load 2:cpu=1,memory=8M,touch=1M,log=1 --iters 50",
        "run am_bw --via shm --pace 1000 --duration 50ms",
        "run am_lat --via shm --raw 10 --iters 50",
        "run get_bw,put_bw --via inproc --iters 50 --outstanding 1,8",
    ] {
        let ended = home.run(&format!("{line} --check --json")).code(0);
        let run = document(&ended.stdout);
        for case in &run.cases {
            assert_eq!(
                case.status,
                CaseStatus::Ok,
                "{}: {:?}",
                case.case.label(),
                case.error
            );
        }
    }
    home.assert_nothing_left(crate::SOON);
}

#[test]
fn more_ranks_than_cpus_yield_and_say_so() {
    let _turn = turn();
    let home = home();
    let ranks = 2 * std::thread::available_parallelism().unwrap().get();
    let ended = home
        .run(&format!(
            "run am_lat --via shm --procs {ranks} --iters 100 --json"
        ))
        .code(0);
    let json = ended.json();
    let outcomes = json["cases"][0]["repetitions"][0]["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), ranks);
    assert!(outcomes.iter().all(|rank| rank["idle"] == "yield"), "{ended}");
    let remarks: Vec<Value> = ended.json()["cases"][0]["remarks"].as_array().unwrap().clone();
    let told = remarks.iter().any(|r| r.to_string().contains("yield"));
    assert!(told, "the result says so: {remarks:?}");
}
