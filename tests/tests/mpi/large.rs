//! One message of more bytes than an `int` counts: by the large counts of MPI 4.0, else by a datatype that spans it.

use crate::{document, home, turn};
use wirespeed_schema::run::CaseStatus;
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::mpi::installed;
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

/// 2 GiB and 8 KiB.
const BYTES: u64 = (2 << 30) + (8 << 10);
/// Both ranks have a place to send from and one to receive into; the rest is for all else.
const NEEDED: u64 = 5 * BYTES;
fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[test]
#[ignore = "takes 11 GB of memory and minutes"]
fn a_message_beyond_two_gibibytes_arrives_whole() {
    let _turn = turn();
    for mpi in installed() {
        let free = available_bytes();
        if free < NEEDED {
            return skip(&format!(
                "a message of {BYTES} bytes needs {NEEDED} bytes of memory, {free} are free"
            ));
        }
        let home = home();
        let line = format!(
            "run osu_latency --via mpi --iters 1 --warmup 0 --size {BYTES} --silence 60s --check --json"
        );
        let ended = Running::start(mpi.command(&home, 2, &line)).end(PATIENCE).code(0);
        let run = document(&ended);
        let case = &run.cases[0];
        assert_eq!(case.status, CaseStatus::Ok, "{}: {:?}", mpi.name, case.error);
        let outcome = &case.repetitions[0].outcomes[0];
        assert_eq!(outcome.sent.bytes, BYTES, "{}", mpi.name);
        let counts = &outcome.transport_facts["large_counts"];
        assert!(
            ["MPI_Isend_c", "a datatype that spans the message"].contains(&counts.as_str()),
            "{}: {counts}",
            mpi.name
        );
    }
}
