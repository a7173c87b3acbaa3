//! Every transport of the library keeps the contract, between threads of this process.

use wirespeed::Registry;
use wirespeed::schema::case::TransportOptions;
use wirespeed::transport::inproc::Inproc;
use wirespeed::transport::shm::Shm;
use wirespeed::transport::tcp::Tcp;
use wirespeed::transport::unix::Unix;
use wirespeed::transport::{Messages, OneSided, Tagged};
use wirespeed_conformance::{Report, Verdict, failures, measured, messages, one_sided, run_all, tagged};

#[test]
fn every_builtin_transport_conforms() {
    let reports = run_all(&Registry::builtin());
    let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
    for report in reports.iter().filter(|r| r.verdict != Verdict::Passed) {
        println!("{report}");
    }
    assert_eq!(failures(&reports), Vec::<String>::new());
    // Skips alone would be a silent pass.
    assert!(passed > 200, "only {passed} checks ran");
    for transport in ["inproc", "shm", "unix", "tcp"] {
        let ran = reports
            .iter()
            .filter(|r| r.transport == transport && r.verdict == Verdict::Passed);
        assert!(ran.count() > 40, "{transport} was hardly checked");
    }
}

/// All suites of `T` with one option set.
fn with_option<T: Messages + Tagged + OneSided>(name: &str, value: &str) -> Vec<Report> {
    with_options::<T>(&[(name, value)])
}

/// All suites of `T` with some options set.
fn with_options<T: Messages + Tagged + OneSided>(options: &[(&str, &str)]) -> Vec<Report> {
    let words: Vec<String> = options
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let options: TransportOptions = options
        .iter()
        .map(|&(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
    let mut reports = messages::<T>(&options);
    reports.extend(tagged::<T>(&options));
    reports.extend(one_sided::<T>(&options));
    reports.extend(measured(&Registry::builtin(), T::NAME, &options));
    for report in reports.iter().filter(|r| r.verdict != Verdict::Passed) {
        println!("{}: {report}", words.join(" "));
    }
    reports
}

#[test]
fn ports_that_sleep_conform() {
    let mut reports = with_option::<Inproc>("wait", "block");
    reports.extend(with_option::<Shm>("wait", "block"));
    reports.extend(with_option::<Unix>("wait", "block"));
    reports.extend(with_option::<Tcp>("wait", "block"));
    reports.extend(with_option::<Tcp>("wait", "uring"));
    assert_eq!(failures(&reports), Vec::<String>::new());
    let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
    assert!(passed > 160, "only {passed} checks ran");
}

#[test]
fn encrypted_ports_conform() {
    let mut reports = with_option::<Tcp>("encrypt", "aes-256-gcm");
    reports.extend(with_option::<Unix>("encrypt", "chacha20-poly1305"));
    reports.extend(with_options::<Unix>(&[
        ("encrypt", "aes-256-gcm"),
        ("wait", "block"),
    ]));
    reports.extend(with_options::<Tcp>(&[
        ("encrypt", "chacha20-poly1305"),
        ("wait", "uring"),
    ]));
    assert_eq!(failures(&reports), Vec::<String>::new());
    let passed = reports.iter().filter(|r| r.verdict == Verdict::Passed).count();
    assert!(passed > 120, "only {passed} checks ran");
}

#[test]
fn a_ring_of_few_messages_conforms() {
    // Busy most of the time, and messages that wrap.
    let reports = with_option::<Shm>("ring", "512K");
    assert_eq!(failures(&reports), Vec::<String>::new());
}
