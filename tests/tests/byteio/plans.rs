//! Transfers as cases of `run` and of plan files: what every test has, they have.

use super::{content, home, run, serve};
use wirespeed_schema::run::{CaseStatus, Run};

const SIZE: usize = 8_000_000;

fn document(text: &str) -> Run {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_plan_sweeps_over_mechanisms_and_connections() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), &content()[..SIZE]).unwrap();
    let plan = format!(
        "repeats = 2\n[[case]]\ntest = \"bulk_get\"\nvia = [\"byteio-mtom\", \"byteio-http\"]\nto = \"{url}/f\"\n\
         total = \"{SIZE}\"\nsize = \"1M\"\nconnections = [1, 3]\noptions.digest = \"crc32c\"\n"
    );
    let plan = home.write("plan.toml", &plan);
    let ended = run(&home, &format!("run {plan} --json"));
    let run = document(&ended.code(0).stdout);
    assert_eq!(run.cases.len(), 4);
    for case in &run.cases {
        assert_eq!(case.status, CaseStatus::Ok, "{:?}", case.error);
        assert_eq!(case.repetitions.len(), 2);
        let outcome = &case.repetitions[0].outcomes[0];
        let record = outcome.transfer.as_ref().expect("a record");
        assert!(record.verified && outcome.floor.is_some() && outcome.lacking.is_empty());
        assert!(outcome.received.bytes == SIZE as u64);
        let shape = case.case.test.bulk().unwrap();
        assert_eq!(record.connections.len() as u64, shape.connections);
        assert!(case.metrics.contains_key("bandwidth_bytes_per_s"));
        assert!(case.metrics.contains_key("first_operation_ns"));
    }
}

/// What `byteio bench` and `run` measure is the same question.
#[test]
fn a_case_of_run_is_that_of_the_bench() {
    let home = home();
    let (_server, url) = serve(&home, "");
    std::fs::write(home.path("served/f"), &content()[..SIZE]).unwrap();
    let shape = "--repeats 2 -q -o";
    run(
        &home,
        &format!("byteio bench {url}/f --threads 2 --block-size 1M {shape} a.json"),
    )
    .code(0);
    let line =
        format!("run bulk_get --via byteio-mtom --to {url}/f --total {SIZE} --size 1M --connections 2");
    run(&home, &format!("{line} {shape} b.json")).code(0);
    let compared = run(&home, "compare a.json b.json --json");
    assert!(matches!(compared.code, Some(0 | 3 | 4)), "{compared}");
    let document: Run = document(&std::fs::read_to_string(home.path("a.json")).unwrap());
    let outcome = &document.cases[0].repetitions[0].outcomes[0];
    assert!(
        outcome.transfer.is_none(),
        "the record stands in the section, once"
    );
}

#[test]
fn what_run_cannot_know_of_a_transfer_is_refused_with_a_remedy() {
    let home = home();
    let (_server, url) = serve(&home, "--writable");
    std::fs::write(home.path("served/f"), &content()[..SIZE]).unwrap();
    let get = format!("run bulk_get --via byteio-bulk --to {url}/f");
    for (line, cause, remedy) in [
        (get.clone(), "needs --total", "byteio bench"),
        (
            format!("{get} --total 1M --procs 2"),
            "takes no --procs",
            "leave it out",
        ),
        (
            format!("{get} --total 1M --iters 5"),
            "takes no --iters",
            "leave it out",
        ),
        (
            "run bulk_get --via byteio-bulk --total 1M".to_owned(),
            "no service is named",
            "--to http://",
        ),
        (
            "run bulk_get --via byteio-bulk --total 1M --to node7".to_owned(),
            "not the address of a service",
            "--to http://",
        ),
        (
            format!("run bulk_put --via byteio-bulk --total 1M --to {url}/new"),
            "names no file",
            "byteio bench",
        ),
        (
            format!("{get} --total 1M -O destination=file"),
            "names no file",
            "byteio bench",
        ),
        (
            format!("run bulk_get --via shm --total 1M --to {url}/f"),
            "no bulk",
            "list shm",
        ),
    ] {
        let ended = run(&home, &line);
        assert!(matches!(ended.code, Some(1 | 2)), "{ended}");
        let (said, help) = ended.complaint();
        assert!(
            said.contains(cause) && help.contains(remedy),
            "{line}: {said}: {help}"
        );
    }
    let larger = run(&home, &format!("{get} --total 1G"));
    let (said, _) = larger.code(1).complaint();
    assert!(said.contains("fewer than"), "{said}");
    assert!(!home.path("served/new").exists());
}
