//! The examples run as they stand, over the library's transports and over UCX's where it is installed.

use std::process::Command;
use wirespeed::Registry;
use wirespeed::transport::Availability;

/// Transports of UCX, unless this machine has no UCX.
fn of_ucx() -> &'static [&'static str] {
    let registry = wirespeed_ucx::join(Registry::builtin());
    match (registry.find("ucp").unwrap().probe)() {
        Availability::Ready => &["uct", "ucp"],
        _ => {
            println!("skipped: UCX is not installed (`make test` installs it)");
            &[]
        }
    }
}

#[test]
fn every_example_measures_over_every_kind_of_transport() {
    let test = std::env::current_exe().unwrap();
    let examples = test.parent().unwrap().with_file_name("examples");
    for example in ["two_threads", "own_bootstrap"] {
        for via in ["shm", "tcp"].iter().chain(of_ucx()) {
            let output = Command::new(examples.join(example)).arg(via).output().unwrap();
            let out = String::from_utf8_lossy(&output.stdout);
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{example} {via}: {err}");
            assert!(out.contains(via), "{example} {via}: {out}");
        }
    }
}
